from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from assay.core.errors import DataError, UsageError
from assay.data import Run
from assay.rankings.rank_biased import rbo
from assay.similarity.matrix import rbo_matrix, similarity_matrix
from assay.similarity.overlap import LIST_SIMILARITIES
from tests.oracles import similarity as plain


def made_runs(seed: int = 0, runs: int = 5, topics: int = 4, longest: int = 40) -> list[Run]:
    """Runs of different lengths; one lacks a topic."""
    rng = np.random.default_rng(seed)
    made = []
    for r in range(runs):
        lists = {
            str(t): [f"d{x}" for x in rng.permutation(60)[: rng.integers(1, longest)]]
            for t in range(topics)
            if (r, t) != (1, 2)
        }
        made.append(Run.from_lists(f"r{r}", lists))
    return made


@pytest.mark.parametrize("score", ["ext", "min", "max"])
@pytest.mark.parametrize("p", [0.5, 0.9, 0.98])
def test_rbo_matrix_is_rbo_of_every_pair(score: str, p: float) -> None:
    runs = made_runs()
    matrix = rbo_matrix(runs, p=p, score=score)
    for i, a in enumerate(runs):
        for j, b in enumerate(runs):
            common = [t for t in a.topics if t in b.topics]
            values = [getattr(rbo(a.ranking(t), b.ranking(t), p), score) for t in common]
            assert matrix.mean[i, j] == pytest.approx(np.mean(values), abs=1e-12)
            assert matrix.sd[i, j] == pytest.approx(np.std(values, ddof=1), abs=1e-7)
            assert matrix.topics[i, j] == len(common)


@pytest.mark.parametrize(
    "measure",
    [
        *LIST_SIMILARITIES.names(),
        "overlap(k=7)",
        "average-overlap(k=7)",
        "rbo(p=0.7)",
        "kendall-top-k(k=5, penalty=.5)",
    ],
)
def test_similarity_matrix_is_the_measure_of_every_pair(measure: str) -> None:
    runs = made_runs(seed=1)
    entry, given = LIST_SIMILARITIES.parse(measure)
    if entry.name == "gamma-top-k":
        runs = [Run.from_lists(r.name, {t: [*r.ranking(t), *"uvw"] for t in r.topics}) for r in runs]
    matrix = similarity_matrix(runs, measure)
    for i, a in enumerate(runs):
        for j, b in enumerate(runs):
            values = [entry.function(a.ranking(t), b.ranking(t), **given) for t in a.topics if t in b.topics]
            assert matrix.mean[i, j] == pytest.approx(np.mean(values), abs=1e-12)


def test_depth_cuts_the_lists_first() -> None:
    runs = made_runs(seed=2)
    cut = [r.cut(3) for r in runs]
    assert rbo_matrix(runs, depth=3).mean == pytest.approx(rbo_matrix(cut).mean)


def test_runs_without_a_common_topic_have_no_value() -> None:
    a, b = Run.from_lists("a", {"1": ["x"]}), Run.from_lists("b", {"2": ["x"]})
    matrix = rbo_matrix([a, b])
    assert np.isnan(matrix.mean[0, 1])
    assert "–" in matrix.table().text()
    assert "nan" not in matrix.pairs().text()


def test_a_run_that_can_be_compared_with_none_is_last_in_the_summary() -> None:
    matrix = rbo_matrix([*made_runs(runs=13), Run.from_lists("odd", {"other": ["x"]})])
    assert matrix.table().rows[-1] == ("odd", None, None, None, None, None)
    assert np.isnan(matrix.to_others()[-1])
    assert "–: no topic in common" in matrix.table().text()


def test_topics_without_a_value_are_left_out() -> None:
    a, b = (Run.from_lists(n, {"1": ["x"], "2": docs}) for n, docs in [("a", ["x", "y"]), ("b", ["y", "x"])])
    matrix = similarity_matrix([a, b], "gamma-top-k")
    assert matrix.mean[0, 1] == -1
    assert matrix.topics[0, 1] == 1


def test_many_runs_get_a_summary_and_few_a_matrix() -> None:
    few, many = rbo_matrix(made_runs(runs=4)), rbo_matrix(made_runs(runs=14))
    assert few.table().columns == ("run", "r0", "r1", "r2", "r3")
    assert many.table().columns[:2] == ("run", "to others")
    d = many.to_others()
    assert many.table().rows[0][1] == pytest.approx(d.max())
    off = many.mean[~np.eye(14, dtype=bool)].reshape(14, 13)
    assert d == pytest.approx(off.mean(axis=1))


def test_bad_runs_are_refused() -> None:
    runs = made_runs()
    twice = replace(runs[0], name="twice", docs=runs[0].docs.take(np.zeros(len(runs[0]), dtype=int)))
    with pytest.raises(DataError, match="run 'twice': doc 'd16' is there twice on topic '0'"):
        rbo_matrix([runs[0], twice])
    with pytest.raises(DataError, match="two runs or more"):
        rbo_matrix(runs[:1])
    with pytest.raises(DataError, match="there twice"):
        rbo_matrix([runs[0], runs[0]])
    with pytest.raises(DataError, match="is empty"):
        rbo_matrix([runs[0], Run.from_lists("e", {})])
    with pytest.raises(UsageError, match="no score"):
        rbo_matrix(runs, score="mean")
    with pytest.raises(UsageError, match="strictly between"):
        rbo_matrix(runs, p=1)
    with pytest.raises(UsageError, match="k must be at least 1"):
        similarity_matrix(runs, "overlap(k=0)")
    with pytest.raises(UsageError, match="in the order of the run"):
        similarity_matrix(runs, "rbo(ties=b)")
    with pytest.raises(UsageError, match="did you mean"):
        similarity_matrix(runs, "overlaps")


def test_real_runs_of_uneven_length(covid_runs: list[Run]) -> None:
    """TREC-COVID round 1: eight of the 143 runs, all of different lengths, against the plain loop."""
    of_length = {len(run): run for run in covid_runs}
    runs = [of_length[n] for n in sorted(of_length)][:: len(of_length) // 7][:8]
    assert len(runs) == 8
    matrix = rbo_matrix(runs, p=0.9)
    for i, a in enumerate(runs):
        for j, b in enumerate(runs[:i]):
            topics = [t for t in a.topics if t in b.topics]
            values = [plain.rbo_ext(a.ranking(t), b.ranking(t), 0.9) for t in topics]
            assert matrix.mean[i, j] == pytest.approx(np.mean(values), abs=1e-12)
