"""Query variants against statsmodels, by hand, by simulation, and with bad input."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from statsmodels.formula.api import mixedlm, ols

from assay.core.errors import AssayError
from assay.data import ScoreMatrix
from assay.hierarchy import by_group, query_variants, topic_groups
from assay.standard import variance_components
from assay.stats.t_power import topics_needed, whole


def made(
    systems: int,
    sizes: list[int],
    seed: int,
    sds: tuple[float, float, float, float, float] = (0.1, 0.2, 0.1, 0.08, 0.05),
) -> ScoreMatrix:
    """Scores with known components: system, topic, variant, system × topic, and the rest."""
    rng = np.random.default_rng(seed)
    place = np.repeat(np.arange(len(sizes)), sizes)
    queries = len(place)
    values = 0.5 + rng.normal(0, sds[0], (systems, 1)) + rng.normal(0, sds[1], len(sizes))[place]
    values = values + rng.normal(0, sds[2], queries) + rng.normal(0, sds[3], (systems, len(sizes)))[:, place]
    values = values + rng.normal(0, sds[4], (systems, queries))
    ids = [f"{topic}/{variant}" for topic, size in enumerate(sizes) for variant in range(size)]
    return ScoreMatrix.of(values, topics=ids, measure="AP")


def long_frame(matrix: ScoreMatrix) -> pd.DataFrame:
    rows = []
    for run, scores in matrix.to_dict().items():
        for topic, score in scores.items():
            rows.append({"y": score, "system": run, "topic": "t" + topic.split("/")[0], "query": "q" + topic})
    frame = pd.DataFrame(rows)
    frame["cell"] = frame["system"] + frame["topic"]
    frame["all"] = 1
    return frame


@pytest.mark.filterwarnings("ignore:The design matrix is rank-deficient")
@pytest.mark.parametrize("sizes", [[3] * 5, [2, 4, 1, 3, 2]])
def test_sums_of_squares_are_those_of_statsmodels(sizes: list[int]) -> None:
    """What each model leaves unexplained beside the model before it; queries are nested in topics."""
    matrix = made(4, sizes, seed=1)
    found = query_variants(matrix)
    frame = long_frame(matrix)
    models = ["y ~ 1", "y ~ C(topic)", "y ~ C(query)", "y ~ C(query) + C(system)", "y ~ C(query) + C(cell)"]
    fits = [ols(model, data=frame).fit() for model in models]
    for name, before, after in zip(("topic", "variant", "system", "system_topic"), fits, fits[1:], strict=False):
        assert found[name].squares == pytest.approx(before.ssr - after.ssr)
        assert found[name].df == before.df_resid - after.df_resid
    whole_model = fits[-1]
    assert found["system_variant"].squares == pytest.approx(whole_model.ssr)
    assert found["system_variant"].df == whole_model.df_resid
    compared = whole_model.compare_f_test(fits[-2])
    assert found["system_topic"].f == pytest.approx(compared[0])
    assert found["system_topic"].p == pytest.approx(compared[1])


@pytest.mark.filterwarnings("ignore")
def test_balanced_components_are_those_of_a_mixed_model() -> None:
    """REML of a balanced design is the method of moments where no component is negative."""
    matrix = made(5, [3] * 6, seed=3)
    parts = {"system": "0 + C(system)", "topic": "0 + C(topic)", "query": "0 + C(query)", "cell": "0 + C(cell)"}
    fit = mixedlm("y ~ 1", long_frame(matrix), groups="all", vc_formula=parts).fit(reml=True, method="lbfgs")
    theirs = dict(zip(fit.model.exog_vc.names, fit.vcomp, strict=True))
    found = query_variants(matrix)
    for ours, name in {"system": "system", "topic": "topic", "variant": "query", "system_topic": "cell"}.items():
        assert found[ours].component == pytest.approx(theirs[name], rel=0.02)
    assert found["system_variant"].component == pytest.approx(fit.scale, rel=0.02)


def test_components_are_unbiased_with_different_numbers_of_variants() -> None:
    truth = np.array([0.1, 0.2, 0.1, 0.08, 0.05]) ** 2
    estimates = []
    for seed in range(300):
        found = query_variants(made(8, [1, 2, 6, 3, 2, 4, 1, 5], seed))
        estimates.append([source.estimate for source in found.sources])
    means = np.mean(estimates, axis=0)
    errors = np.std(estimates, axis=0) / np.sqrt(len(estimates))
    assert (np.abs(means - truth) < 4 * errors).all()


def test_one_variant_more_or_less_makes_the_two_way_layout() -> None:
    """Variants that are copies of each other: no variance of variants, and the rest is 0."""
    base = made(4, [1] * 6, seed=2)
    doubled = ScoreMatrix.of(
        np.repeat(base.values, 2, axis=1), topics=[f"{t}/{v}" for t in range(6) for v in range(2)], measure="AP"
    )
    found = query_variants(doubled)
    plain = variance_components(base)
    assert found["variant"].component == found["system_variant"].component == 0
    assert found["system"].component == pytest.approx(plain.run)
    assert found["topic"].component == pytest.approx(plain.topic)
    assert found["system_topic"].component == pytest.approx(plain.interaction)


def test_by_hand() -> None:
    """Two systems, two topics with two variants each; the grand mean is .5, and only systems and variants differ."""
    matrix = ScoreMatrix.of([[0.7, 0.5, 0.7, 0.5], [0.5, 0.3, 0.5, 0.3]], topics=["1/a", "1/b", "2/a", "2/b"])
    found = query_variants(matrix)
    assert found["system"].squares == pytest.approx(8 * 0.1**2)
    assert found["variant"].squares == pytest.approx(8 * 0.1**2)
    assert found["topic"].squares == found["system_topic"].squares == found["system_variant"].squares == 0
    assert found["variant"].component == pytest.approx(0.02)
    assert "variants make 50% of the variance" in found.verdict


def test_worst_best_and_mean_are_matrices_and_rank_the_systems() -> None:
    matrix = ScoreMatrix.of([[0.9, 0.1, 0.8], [0.5, 0.4, 0.5]], runs="ab", topics=["1/x", "1/y", "2/x"], measure="AP")
    worst = by_group(matrix, per="worst")
    assert worst.to_dict() == {"a": {"1": 0.1, "2": 0.8}, "b": {"1": 0.4, "2": 0.5}}
    assert worst.measure == "worst(AP)"
    assert by_group(matrix, per="best").of_run("a").tolist() == [0.9, 0.8]
    assert by_group(matrix).of_run("b").tolist() == pytest.approx([0.45, 0.5])
    found = query_variants(made(5, [3] * 4, 0))
    assert sorted(found.systems_table().column("rank by worst")) == [1, 2, 3, 4, 5]


def test_the_plan_is_that_of_the_t_test() -> None:
    found = query_variants(made(6, [4] * 10, 5), difference=0.06, power=0.9)
    rows = found.plan_table().record()["rows"]
    both, rest = found["system_topic"].component, found["system_variant"].component
    for row in rows:
        sigma = np.sqrt(2 * (both + rest / row["variants"]))
        assert row["sigma"] == pytest.approx(sigma)
        assert row["topics"] == whole(topics_needed(0.06 / sigma, power=0.9))
        assert row["queries"] == row["topics"] * row["variants"]


def test_simulated_differences_have_the_planned_spread() -> None:
    """sd over topics of the difference of two systems whose scores are means of 4 variants."""
    matrix = made(2, [4] * 4000, 7, sds=(0.1, 0.2, 0.1, 0.08, 0.05))
    difference = by_group(matrix).values[0] - by_group(matrix).values[1]
    assert difference.std() == pytest.approx(query_variants(matrix).sigma(4), rel=0.02)


def test_groups_of_ids() -> None:
    assert topic_groups(["31_1", "31_2", "32_1"]).sizes.tolist() == [2, 1]
    assert topic_groups(["a-1_2", "b-1_2"]).names == ("a-1", "b-1")
    assert topic_groups(["q:1/2", "q:2/2"], separator=":").names == ("q",)
    assert topic_groups(["1_1", "2_1", "1_2"]).places.tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("matrix", "given", "message"),
    [
        (ScoreMatrix.of(np.ones((2, 2)), topics=["1", "2"]), {}, "topics such as 1, 2 have no separator in common"),
        (ScoreMatrix.of(np.ones((2, 2)), topics=["1/a", "2_b"]), {"separator": "/"}, "'2_b' is not of the form group/"),
        (ScoreMatrix.of(np.ones((2, 2)), topics=["1/a", "/b"]), {}, "'/b' is not of the form group/member"),
        (ScoreMatrix.of(np.ones((2, 2)), topics=["1/a", "2/a"]), {}, "no topic has two variants"),
        (ScoreMatrix.of(np.ones((2, 2)), topics=["1/a", "1/b"]), {}, "1 topic with variants; two or more"),
        (ScoreMatrix.of(np.ones((1, 3)), topics=["1/a", "1/b", "2/a"]), {}, "1 system; variants are compared over two"),
        (made(2, [2, 2], 0), {"separator": ""}, "the separator is empty"),
        (made(2, [2, 2], 0), {"difference": 0.0}, "difference: must be above 0"),
        (made(2, [2, 2], 0), {"per_topic": [0]}, "variants per topic are whole numbers from 1 on"),
    ],
)
def test_bad_input(matrix: ScoreMatrix, given: dict[str, Any], message: str) -> None:
    with pytest.raises(AssayError, match=r"^[^\n]*$") as error:
        query_variants(matrix, **given)
    assert message in str(error.value)


def test_scores_that_do_not_vary() -> None:
    found = query_variants(ScoreMatrix.of(np.full((2, 4), 0.5), topics=["1/a", "1/b", "2/a", "2/b"]))
    assert [source.component for source in found.sources] == [0] * 5
    assert found["system"].p == 1
    assert found.plan_table().column("topics") == [None] * 5


def test_components_say_that_they_have_no_intervals() -> None:
    notes = query_variants(made(5, [3] * 26, seed=2)).table().notes
    assert any("0.36 to 8.3 times that (5 systems), 0.62 to 1.9 times that (26 topics; 95 %)" in n for n in notes)
