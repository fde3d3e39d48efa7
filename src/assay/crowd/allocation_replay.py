"""What would sending labels where they matter have saved? Real labels, given again one by one, against k for all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assay.agreement.ratings import single
from assay.agreement.scales import Scale, scale_for
from assay.core.arrays import Floats
from assay.core.engine import Progress, generator, silent
from assay.core.errors import DataError, UsageError
from assay.core.results import Result
from assay.core.tables import Table
from assay.crowd.allocation import Stakes, allocated, gains
from assay.data import Labels, Qrels, Run


@dataclass(frozen=True)
class ReplayRow:
    """With k labels for every doc: pairs of runs in the wrong order, and the same with those labels sent where they
    matter; and how many labels sent so are as good as k for all."""

    k: int
    labels: int
    staked: int
    """The same number of labels for those docs alone that some pair of runs does not rank alike."""
    wrong_for_all: float
    wrong_allocated: float
    error_for_all: float
    error_allocated: float
    needed: int | None
    """Labels, sent where they matter, from which on no more pairs are wrong than with k for all; None: not reached."""

    @property
    def saved(self) -> float | None:
        """The share of the labels that were not needed."""
        return None if self.needed is None else 1 - self.needed / self.labels

    @property
    def saved_of_staked(self) -> float | None:
        """The share that was not needed of the labels of docs that can change a comparison."""
        return None if self.needed is None else 1 - self.needed / self.staked


@dataclass(frozen=True, eq=False)
class AllocationReplay(Result):
    """Both ways of giving labels against the runs' differences with all labels; means over repetitions."""

    rows: tuple[ReplayRow, ...]
    budgets: tuple[int, ...]
    wrong: Floats
    """Share of wrong pairs by budget, sent where they matter."""
    docs: int
    all_labels: int
    runs: int
    repeats: int
    measure: str
    seed: int

    def table(self) -> Table:
        """One row per number of labels for all."""
        formats = {
            "labels per doc": "d", "labels": "d", "wrong pairs": ".4f", "allocated: wrong pairs": ".4f",
            "labels needed": "d", "saved": ".3f", "labels of docs with a stake": "d", "saved of these": ".3f",
        }  # fmt: skip
        rows = []
        for row in self.rows:
            wrong = (row.wrong_for_all, row.wrong_allocated)
            saved = (row.needed, row.saved, row.staked, row.saved_of_staked)
            rows.append((row.k, row.labels, *wrong, *saved))
        notes = (
            f"{self.docs} docs, {self.all_labels} labels, {self.runs} runs, {self.measure}; means over {self.repeats} "
            f"orders of the labels, seed {self.seed}.",
            "Wrong pairs: share of the pairs of runs in another order than with all labels. Allocated: the same number "
            "of labels, sent where they matter. Labels needed: sent so, for no more wrong pairs than with that many "
            "labels per doc. A doc has a stake if some pair of runs does not rank it alike.",
        )
        return Table.of(formats, rows, caption="Labels where they matter, against as many for all", notes=notes)


def replay_allocation(
    labels: Labels,
    runs: Sequence[Run],
    measure: str = "DCG@10",
    *,
    scale: Scale | str | None = None,
    baseline: str | None = None,
    most_labels: int = 5,
    repeats: int = 10,
    first: int = 1,
    steps: int = 24,
    seed: int = 0,
    progress: Progress = silent,
) -> AllocationReplay:
    """Labels given again in random order: k = 1 … `most_labels` for every doc, and as many sent where they matter.

    The truth is the comparison with all labels. first: labels of each doc with a stake before the allocator decides.
    steps: budgets at which the allocator is looked at between none and `most_labels` per doc.
    """
    if most_labels < 1 or repeats < 1 or first < 1 or steps < 2:
        given = f"most_labels={most_labels}, repeats={repeats}, first={first}, steps={steps}"
        raise UsageError(f"{given}: one, one, one and two are the least")
    chosen = scale_for(labels, scale)
    kept = single(chosen.checked(labels), "first")
    item, items = kept.items()
    stakes = Stakes.of(runs, items, measure, baseline=baseline)
    gain = gains(kept, chosen)
    count = np.bincount(item)
    truth = (np.bincount(item, gain) / count) @ stakes.weights
    if np.ptp(truth) == 0:
        raise DataError("all runs have the same score with all labels; there is nothing to compare")
    uniform = [int(np.minimum(count, k).sum()) for k in range(1, most_labels + 1)]
    with_stake = count[stakes.matters]
    staked = [int(np.minimum(with_stake, k).sum()) for k in range(1, most_labels + 1)]
    budgets = _budgets(first * len(with_stake), staked[-1], uniform, steps)
    rng = generator(seed)
    by_doc = np.split(gain[np.argsort(item, kind="stable")], np.cumsum(count)[:-1])
    for_all = np.zeros((repeats, most_labels, 2))
    sent = np.zeros((repeats, len(budgets), 2))
    for r in range(repeats):
        shuffled = [own[rng.permutation(len(own))] for own in by_doc]
        for k in range(1, most_labels + 1):
            means = np.array([own[:k].mean() for own in shuffled])
            for_all[r, k - 1] = _faults(means @ stakes.weights, truth, stakes)
        for b, scores in enumerate(allocated(stakes, shuffled, budgets, first=first)):
            sent[r, b] = _faults(scores, truth, stakes)
        progress(r + 1, repeats)
    rows = _rows(uniform, staked, budgets, for_all.mean(axis=0), sent.mean(axis=0))
    wrong = sent.mean(axis=0)[:, 0]
    return AllocationReplay(
        rows, tuple(budgets), wrong, len(items), len(kept), len(stakes.runs), repeats, measure, seed
    )  # fmt: skip


def _budgets(least: int, most: int, uniform: Sequence[int], steps: int) -> list[int]:
    """Numbers of labels at which the allocator is looked at, those of k for all among them."""
    spread = np.linspace(min(least, most), most, steps).round().astype(np.int64).tolist()
    return sorted({*spread, *uniform})


def _faults(scores: Floats, truth: Floats, stakes: Stakes) -> tuple[float, float]:
    """The share of pairs in the wrong order, and the root mean square error of the differences."""
    first = [a for a, _ in stakes.pairs]
    second = [b for _, b in stakes.pairs]
    delta = scores[first] - scores[second]
    true_delta = truth[first] - truth[second]
    ordered = true_delta != 0
    wrong = np.sign(delta[ordered]) != np.sign(true_delta[ordered])
    return float(wrong.mean()), float(np.sqrt(((delta - true_delta) ** 2).mean()))


def _rows(
    uniform: Sequence[int], staked: Sequence[int], budgets: Sequence[int], for_all: Floats, sent: Floats
) -> tuple[ReplayRow, ...]:
    rows = []
    for k, total in enumerate(uniform, 1):
        wrong, error = for_all[k - 1].tolist()
        at = budgets.index(total)
        # From this budget on all are as good: a lucky one among worse ones does not count.
        is_worse = np.flatnonzero(sent[:, 0] > wrong + 1e-12)
        enough = int(is_worse[-1]) + 1 if len(is_worse) else 0
        needed = budgets[enough] if enough < len(budgets) else None
        rows.append(ReplayRow(k, total, staked[k - 1], wrong, float(sent[at, 0]), error, float(sent[at, 1]), needed))
    return tuple(rows)


def noisy_runs(reference: Qrels, count: int, *, seed: int = 0) -> list[Run]:
    """Runs for labels that have none: each ranks the judged docs by grade times its quality plus noise.

    Qualities lie evenly from .5 to 2 standard deviations of the noise.

    >>> [run.name for run in noisy_runs(Qrels.from_dict({"1": {"a": 1, "b": 0}}), 2)]
    ['made1', 'made2']
    """
    if count < 2:
        raise UsageError(f"{count} runs; a comparison needs two or more")
    rng = generator(seed)
    runs = []
    for number, quality in enumerate(np.linspace(0.5, 2.0, count), 1):
        lists = {}
        for topic, judged in reference.to_dict().items():
            docs = list(judged)
            grade = np.array([judged[doc] for doc in docs], dtype=np.float64)
            score = quality * grade + rng.normal(0, 1, len(docs))
            lists[topic] = [docs[i] for i in np.argsort(-score, kind="stable").tolist()]
        runs.append(Run.from_lists(f"made{number}", lists))
    return runs
