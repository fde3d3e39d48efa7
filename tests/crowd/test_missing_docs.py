"""Where S100 departs from print: what the 388 docs that the release lacks can do to α at cut 0 and to the best cuts."""

from __future__ import annotations

import numpy as np
import pytest

from assay.agreement.scales import S100
from assay.core.arrays import Floats, Ints
from assay.crowd.cuts import CutSearch, best_cuts
from assay.crowd.effort import run_out
from assay.crowd.units import units
from assay.data import Labels
from tests.crowd.peers import nist, s100

PRINTED_LOW = [2355, 803, 694, 689, 736, 786, 641, 355]
PRINTED_HIGH = [3796, 1808, 846, 398, 133, 55, 19, 4]
"""Table 9.1 of Roitero 2020: tasks with 0, 1, … 7 labels at 0, and at 100."""
MISSING = 3882
GOLD = 50
"""Docs with so many labels and more are the two gold docs of each topic."""


def test_more_than_half_of_the_missing_labels_are_zeros() -> None:
    found, count = run_out(s100(), scale=S100), np.arange(8)
    zeros = int((count * PRINTED_LOW).sum() - (count * found.low[:8]).sum())
    hundreds = int((count * PRINTED_HIGH).sum() - (count * found.high[:8]).sum())
    assert 8 * found.tasks - len(s100()) == MISSING
    assert (zeros, hundreds) == (2088, 33)
    assert zeros / MISSING == pytest.approx(0.538, abs=5e-4)
    assert (s100().label == 0).mean() == pytest.approx(0.292, abs=5e-4)


def test_stand_ins_that_give_table_9_1_give_the_printed_alpha() -> None:
    whole = completed(s100(), 0.1)
    assert len(whole) == 7059 * 8
    table = run_out(whole, scale=S100)
    assert table.low[:8].tolist() == pytest.approx(PRINTED_LOW, abs=25)
    assert table.potential == pytest.approx((12759, 2380), abs=10)
    assert alphas(whole) == pytest.approx([0.21, 0.51], abs=0.01)


def test_what_the_missing_docs_leave_open() -> None:
    # At 54 % zeros the majority of a doc at cut 0 hangs on a vote or two. α at 0 depends on how far the missing docs
    # differ in their shares of zeros: .19 where all are alike, .25 where they differ as the released docs that are not
    # relevant do. But then zeros must come from workers who give none otherwise, and Table 9.1 does not come out.
    assert alphas(completed(s100(), 0.0)) == pytest.approx([0.19, 0.50], abs=0.005)
    unlike = completed(s100(), released_spread())
    assert alphas(unlike) == pytest.approx([0.247, 0.50], abs=0.005)
    assert PRINTED_LOW[0] - run_out(unlike, scale=S100).low[0] > 80


def alphas(labels: Labels) -> list[float]:
    """α of H_t+a at cuts 0 and 99, tasks without variation as full agreement; the best cut is 58."""
    found = searched(labels, "H_t+a", undefined="one")
    assert found.curves is not None
    assert found.cuts[0].points == (58,)
    return [float(found.curves[0][c]) for c in (0, 99)]


@pytest.mark.parametrize(("way", "here", "printed", "least"), [("H", 59, 58, 11), ("D_t+a", 56, 55, 1)])
def test_printed_cut_is_next_to_the_best_and_388_docs_decide(way: str, here: int, printed: int, least: int) -> None:
    curves = searched(s100(), way).curves
    assert curves is not None
    curve = curves[0]
    assert np.argsort(-curve)[:2].tolist() == [here, printed]
    assert curve[here] - curve[printed] < 0.0005
    # Leaving out as many docs again (not relevant, as those that are missing) moves the best cut to the printed one.
    labels = s100()
    item, _ = labels.items()
    spare = np.flatnonzero((np.bincount(item) < GOLD) & (grades(labels) == 0))
    gone = [np.random.default_rng(s).choice(spare, 388, replace=False) for s in range(20)]
    moved = [searched(labels.select(~np.isin(item, g)), way).cuts[0].points[0] for g in gone]
    assert moved.count(printed) >= least
    assert here in moved


def searched(labels: Labels, way: str, *, undefined: str = "skip") -> CutSearch:
    """One cut for the whole set by the mean of the topics."""
    return best_cuts(labels, way, source=S100, target=nist(), scope="mean", undefined=undefined)


def grades(labels: Labels) -> Ints:
    """The NIST grade of each item."""
    known = nist().to_dict()
    return np.array([known[t][d] for t, d in labels.items()[1]])


def released_spread() -> float:
    """Standard deviation of the shares of zeros of released docs that are not relevant, within topics."""
    labels = s100()
    item, pairs = labels.items()
    share = np.bincount(item, labels.label == 0) / np.bincount(item)
    rest = (np.bincount(item) < GOLD) & (grades(labels) == 0)
    topic = np.array([t for t, _ in pairs])
    return float(np.mean([share[rest & (topic == t)].std() for t in labels.topics]))


def completed(labels: Labels, spread: float, *, seed: int = 0) -> Labels:
    """The release with a stand-in for each missing label, so that every task has 8 docs and Table 9.1 comes out.

    Missing docs have shares of zeros with mean .538 and this standard deviation. Zeros come from the workers of the doc
    in whose tasks zeros are most frequent; other labels are drawn from those that the topic's docs that are not
    relevant have above 0.
    """
    rng = np.random.default_rng(seed)
    task = units(labels)
    size, item = np.bincount(task), labels.items()[0]
    lavish = np.bincount(task, labels.label == 0) / size
    one = np.unique(task, return_index=True)[1]
    worker, topic = labels.worker[one], labels.topic[one]
    low = (labels.label > 0) & (grades(labels)[item] == 0) & (np.bincount(item)[item] < GOLD)
    rows = [(labels.topics[t], labels.docs[d], labels.workers[w], v) for t, d, w, v in _columns(labels)]
    for t, name in enumerate(labels.topics):
        slots = np.repeat(np.flatnonzero(topic == t), (8 - size)[topic == t])
        docs = len(slots) // 10
        doc = np.arange(len(slots)) % docs
        for d, share in enumerate(rng.permutation(_shares(docs, spread))):
            at = slots[doc == d]
            zeros = min(len(at), int(share * len(at) + rng.random()))
            rest = rng.choice(labels.label[low & (labels.topic == t)], len(at) - zeros)
            giving = at[np.argsort(-lavish[at] + rng.normal(0, 0.08, len(at)))]
            values = np.concatenate([np.zeros(zeros), rest])
            rows += [(name, f"missing {d}", labels.workers[worker[a]], v) for a, v in zip(giving, values, strict=True)]
    return Labels.from_rows(rows)


def _columns(labels: Labels) -> zip[tuple[int, int, int, float]]:
    return zip(labels.topic.tolist(), labels.doc.tolist(), labels.worker.tolist(), labels.label.tolist(), strict=True)


def _shares(docs: int, spread: float) -> Floats:
    """Quantiles of a beta distribution with mean .538 and this standard deviation, one per doc."""
    from scipy.stats import beta

    if not spread:
        return np.full(docs, 0.538)
    weight = 0.538 * (1 - 0.538) / spread**2 - 1
    quantiles: Floats = beta.ppf((np.arange(docs) + 0.5) / docs, 0.538 * weight, (1 - 0.538) * weight)
    return quantiles
