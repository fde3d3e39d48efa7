"""Laws that every method without judgments obeys, and scales."""

from __future__ import annotations

import numpy as np
import pytest

from assay.core.errors import UsageError
from assay.data import Qrels, Run
from assay.data.lists import collected
from assay.data.scores import ScoreMatrix
from assay.nojudgments.basis import comparable
from assay.nojudgments.predictors import METHODS, SCALES, predicted, predictions, scaled

BY_ORDER_OF_RUNS = {"spoerri-single", "spoerri-all", "spoerri-difference"}
"""Their trials are drawn by the places of the runs."""


def made(runs: int = 8, topics: int = 3, seed: int = 0, prefix: str = "d") -> list[Run]:
    """Runs of different lengths and quality; the last lacks the last topic."""
    rng = np.random.default_rng(seed)
    found = []
    for r in range(runs):
        lists = {}
        for t in range(topics):
            merit = rng.normal(size=30) + np.linspace(r / 3, 0, 30)
            size = 0 if (r, t) == (runs - 1, topics - 1) else 10 + r
            lists[str(t)] = [f"{prefix}{i:02d}" for i in np.argsort(-merit)[:size]]
        found.append(Run.from_lists(f"r{r}", lists))
    return found


def test_the_seventeen_and_one() -> None:
    """Roitero 2020, Table 5.1, and EMAP."""
    assert [e.facts["short"] for e in METHODS] == [
        "SNC", "WUCv0", "WUCv1", "WUCv2", "WUCv3", "WUCv4", "AS", "NC-NRP", "NC-NB", "NC-NC", "NC-BRP", "NC-BB",
        "NC-BC", "SL", "SPO-S", "SPO-A", "SPO-SA", "EMAP",
    ]  # fmt: skip
    assert {e.name for e in METHODS if not e.facts["higher"]} == {"spoerri-single", "spoerri-difference"}
    assert all(e.summary and e.facts["paper"] for e in METHODS)


@pytest.mark.parametrize("method", METHODS.names())
def test_matrix_of_runs_and_topics(method: str) -> None:
    found = predicted(made(), method, seed=1)
    assert found.shape == (8, 3)
    assert found.measure == method
    assert METHODS[method].facts["paper"] in found.signature
    np.testing.assert_array_equal(found.values, predicted(made(), method, seed=1).values)


@pytest.mark.parametrize("method", METHODS.names())
def test_a_list_that_is_empty_is_never_the_best(method: str) -> None:
    found = predicted(made(), method).values[:, 2]
    assert found[-1] == found.min()


@pytest.mark.parametrize("method", METHODS.names())
def test_names_of_docs_do_not_matter(method: str) -> None:
    """Any renaming that keeps the order of ids: ties are broken by id."""
    np.testing.assert_allclose(
        predicted(made(), method).values, predicted(made(prefix="other-"), method).values, rtol=1e-12
    )


@pytest.mark.parametrize("method", sorted(set(METHODS.names()) - BY_ORDER_OF_RUNS))
def test_order_of_runs_does_not_matter(method: str) -> None:
    runs = made()
    order = [3, 1, 7, 0, 2, 6, 5, 4]
    turned = predicted([runs[i] for i in order], method)
    np.testing.assert_allclose(turned.values, predicted(runs, method).values[order], rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("method", METHODS.names())
def test_runs_that_are_the_same_score_the_same(method: str) -> None:
    docs = {"1": list("abcdef"), "2": list("fed")}
    found = predicted([Run.from_lists(n, docs) for n in "uvwxyz"], method).values
    assert np.ptp(found, axis=0).max() < 1e-9


@pytest.mark.parametrize("method", METHODS.names())
def test_a_slice_of_runs_is_as_good_as_reading_fewer(method: str) -> None:
    runs = made()
    some = [runs[i] for i in (1, 4, 6)]
    sliced = predicted(comparable(runs).select([r.name for r in some]), method)
    np.testing.assert_allclose(sliced.values, predicted(some, method).values, rtol=1e-12)


@pytest.mark.parametrize("method", METHODS.names())
def test_a_topic_of_one_run_and_no_overlap_have_finite_scores(method: str) -> None:
    runs = [Run.from_lists("a", {"1": ["x"], "2": ["x", "y"]}), Run.from_lists("b", {"1": ["z"], "2": []})]
    assert predicted(runs, method).topics == ("1",)
    lists = comparable([*runs, Run.from_lists("c", {"2": ["y"], "1": []})])
    assert predicted(lists.select(["a", "b"]), method).topics == ("1", "2")


@pytest.mark.parametrize("method", METHODS.names())
def test_two_runs_suffice(method: str) -> None:
    found = predicted(made(runs=2), method)
    # The second run lacks the last topic, which is left out.
    assert found.shape == (2, 2)


def test_jobs_do_not_change_results() -> None:
    runs = made()
    for one, two in zip(predictions(runs, jobs=1), predictions(runs, jobs=2), strict=True):
        np.testing.assert_array_equal(one.values, two.values)


@pytest.mark.parametrize("scale", SCALES)
def test_scales(scale: str) -> None:
    v = scaled(predicted(made(), "wu-crestani-v3"), scale).values
    axis = 0 if scale.endswith("topic") else None
    if scale.startswith("min-max"):
        np.testing.assert_allclose([v.min(axis=axis).min(), v.max(axis=axis).max()], [0, 1])
    if scale.startswith("z"):
        np.testing.assert_allclose(v.mean(axis=axis), 0, atol=1e-12)
        np.testing.assert_allclose(v.std(axis=axis), 1)


def test_equal_scores_scale_to_zero() -> None:
    same = ScoreMatrix.of(np.full((3, 2), 0.7))
    for scale in SCALES[1:]:
        assert (scaled(same, scale).values == 0).all()
    with pytest.raises(UsageError, match="no scale 'zz'"):
        scaled(same, "zz")


def test_unknown_methods_and_parameters_are_named() -> None:
    with pytest.raises(UsageError, match="did you mean soboroff"):
        predicted(made(), "soborof")
    with pytest.raises(UsageError, match="no parameter 'deep'"):
        predicted(made(), "sakai-lin(deep=3)")


@pytest.mark.parametrize("method", [e.name for e in METHODS if "depth" in e.parameters])
def test_a_list_is_cut_at_one_doc_or_deeper(method: str) -> None:
    with pytest.raises(UsageError, match="depth must be at least 1"):
        predicted(made(), f"{method}(depth=0)")


@pytest.mark.parametrize("method", METHODS.names())
def test_judgments_in_the_lists_change_nothing(method: str) -> None:
    """Lists that were collected with qrels hold docs that no run retrieved, or none within the depth of a method."""
    runs = made()
    topics = {topic: {"d00": 1, "d01": 0, "a doc of no run": 1, "z doc of no run": 0} for topic in runs[0].topics}
    without = collected(runs, topics=tuple(topics))
    judged = collected(runs, Qrels.from_dict(topics))
    shallow = f"{method}(depth=5)" if "depth" in METHODS[method].parameters else method
    for name in (method, shallow):
        np.testing.assert_array_equal(predicted(judged, name).values, predicted(without, name).values)
