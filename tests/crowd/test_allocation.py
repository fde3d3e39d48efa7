"""Labels where they matter: against plain loops, by laws, and replayed on real labels."""

from __future__ import annotations

from math import erf, sqrt

import numpy as np
import pytest

from assay.core.errors import DataError, UsageError
from assay.crowd.allocation import Known, Stakes, allocated, next_labels, rank_weights, usefulness
from assay.crowd.allocation_replay import noisy_runs, replay_allocation
from assay.data import Labels, Qrels, Run
from assay.io import read_labels, read_qrels
from assay.scoring import evaluate
from tests.conftest import real_data


def made() -> tuple[Stakes, Known, list[Run]]:
    rng = np.random.default_rng(4)
    docs = [f"d{i}" for i in range(12)]
    lists = [{t: [docs[i] for i in rng.permutation(12).tolist()] for t in ("1", "2")} for _ in range(3)]
    runs = [Run.from_lists(f"r{i}", of_run) for i, of_run in enumerate(lists)]
    items = [(t, doc) for t in ("1", "2") for doc in docs]
    known = Known(np.zeros(24, dtype=np.int64), np.zeros(24), np.zeros(24))
    for i in range(24):
        for label in rng.uniform(0, 1, 1 + i % 4):
            known.grown(i, float(label))
    return Stakes.of(runs, items, "DCG@5"), known, runs


def test_scores_are_those_of_the_measure() -> None:
    """Weights times gains are what `evaluate` gives for judgments of those gains."""
    stakes, known, runs = made()
    judged: dict[str, dict[str, float]] = {}
    for (topic, doc), gain in zip(stakes.items, known.mean.tolist(), strict=True):
        judged.setdefault(topic, {})[doc] = gain
    scores = evaluate(runs, Qrels.from_dict(judged), ["DCG@5"])[0]
    assert known.mean @ stakes.weights == pytest.approx(scores.averages())
    assert len(rank_weights("DCG@5", 12)) == 5


def test_usefulness_is_the_slope_of_the_chance_of_a_wrong_order() -> None:
    """Plain loops: P(wrong) of every pair before, and after a small step towards one more label of a doc."""
    stakes, known, _ = made()
    useful, delta, error = usefulness(stakes, known)
    mean, now, then = known.estimates()

    def wrong(variance: np.ndarray) -> float:
        total = 0.0
        for first, second in stakes.pairs:
            difference = 0.0
            of_difference = 0.0
            for i in range(len(stakes.items)):
                v = stakes.weights[i, first] - stakes.weights[i, second]
                difference += v * mean[i]
                of_difference += v * v * variance[i]
            total += 0.5 * (1 - erf(abs(difference) / sqrt(of_difference) / sqrt(2)))
        return total

    assert delta == pytest.approx([mean @ (stakes.weights[:, a] - stakes.weights[:, b]) for a, b in stakes.pairs])
    for i in range(len(stakes.items)):
        step = 1e-5
        moved = now.copy()
        moved[i] -= step * (now[i] - then[i])
        assert useful[i] == pytest.approx((wrong(now) - wrong(moved)) / step, rel=1e-3, abs=1e-9)
    assert (error > 0).all()


def test_running_means_and_squares() -> None:
    labels = [0.2, 0.9, 0.4, 0.4]
    known = Known(np.zeros(1, dtype=np.int64), np.zeros(1), np.zeros(1))
    for label in labels:
        known.grown(0, label)
    assert (known.count[0], known.mean[0]) == (4, pytest.approx(np.mean(labels)))
    assert known.squares[0] == pytest.approx(np.var(labels) * 4)


def test_docs_that_all_runs_rank_alike_get_no_label() -> None:
    lists = {"1": ["same", "x", "y"]}, {"1": ["same", "y", "x"]}
    runs = [Run.from_lists(name, of_run) for name, of_run in zip("ab", lists, strict=True)]
    labels = Labels.from_rows([("1", d, w, 50.0 + 10 * w) for d in ("same", "x", "y") for w in range(2)])
    found = next_labels(labels, runs, "DCG@3", scale="S100")
    assert {found.items[i][1] for i in found.order.tolist()} <= {"x", "y"}
    assert found.useful[[doc for _, doc in found.items].index("same")] == 0
    # With all labels spent the scores are those of all labels.
    rng = np.random.default_rng(0)
    given = [rng.uniform(0, 1, 5) for _ in found.items]
    stakes = Stakes.of(runs, found.items, "DCG@3")
    scores = allocated(stakes, given, [1000])[0]
    means = np.array([own.mean() for own in given])
    assert scores[0] - scores[1] == pytest.approx(means @ (stakes.weights[:, 0] - stakes.weights[:, 1]))


def test_a_doc_without_a_label_comes_first() -> None:
    runs = [Run.from_lists("a", {"1": ["new", "x", "y"]}), Run.from_lists("b", {"1": ["x", "y", "new"]})]
    labels = Labels.from_rows([("1", d, w, v) for d, v in (("x", 20.0), ("y", 30.0)) for w in "uvw"])
    found = next_labels(labels, runs, "DCG@3", scale="S100")
    assert found.items[int(found.order[0])] == ("1", "new")
    only = next_labels(labels, [*runs, Run.from_lists("c", {"1": ["y", "x"]})], "DCG@3", scale="S100", baseline="c")
    assert len(only.pairs) == 2


def test_what_it_saves_on_the_labels_of_trec8() -> None:
    folder = real_data("crowd-s100-trec8")
    labels = read_labels(folder / "judgments.tsv.xz", times=100)
    runs = noisy_runs(read_qrels(folder / "trec8-qrels.txt"), 10)
    found = replay_allocation(labels, runs, scale="S100", most_labels=5, repeats=6)
    again = replay_allocation(labels, runs, scale="S100", most_labels=5, repeats=6)
    assert again.rows == found.rows
    last = found.rows[-1]
    assert (last.labels, last.staked) == (19405, 5565)
    assert last.wrong_allocated < last.wrong_for_all
    assert last.needed is not None
    assert last.needed < last.staked < last.labels
    assert last.error_allocated < last.error_for_all


def test_what_makes_no_sense_is_refused() -> None:
    _, _, runs = made()
    labels = Labels.from_rows([("1", "d0", "w", 1.0), ("1", "d1", "w", 0.0)])
    with pytest.raises(UsageError, match="nDCG is no sum of gains by rank; take one of: DCG"):
        next_labels(labels, runs, "nDCG", scale="S2")
    with pytest.raises(UsageError, match="no run 'x' to compare with; the runs are: r0, r1, r2"):
        next_labels(labels, runs, scale="S2", baseline="x")
    with pytest.raises(DataError, match="1 run; a comparison needs two or more"):
        next_labels(labels, runs[:1], scale="S2")
    with pytest.raises(UsageError, match="no upper end"):
        next_labels(Labels.from_rows([("1", "d0", "w", 3.0)]), runs, scale="magnitude")
    same = [Run.from_lists(name, {"1": ["d0", "d1"]}) for name in "ab"]
    with pytest.raises(DataError, match="the same score"):
        replay_allocation(labels, same, scale="S2")
