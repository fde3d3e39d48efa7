"""Which doc should the next worker label? The one whose uncertainty still moves a comparison of runs.

The difference of two runs by a measure that is a weighted sum of gains is Σ v·g over the docs, v the difference of the
docs' weights in the two lists. n labels of a doc with variance s² leave v²·s²/n of it uncertain. The next label goes
where it lowers the chance most that a pair of runs stands in the wrong order; docs that all runs rank alike, and pairs
that are decided, get none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from assay.agreement.ratings import single
from assay.agreement.scales import Scale, scale_for
from assay.core.arrays import Bools, Floats, Ints
from assay.core.errors import DataError, UsageError
from assay.core.results import Result
from assay.core.tables import Table
from assay.data import Labels, Qrels, Run
from assay.measures import parse
from assay.scoring import evaluate

WEIGHTED = ("DCG", "RBP", "SDCG", "INSQ")
"""Measures that are a sum of gains with weights that depend on the rank alone."""
PRIOR_LABELS = 4
"""How many labels the variance common to all docs counts as, beside a doc's own."""
MOST_RANKS = 1000
"""Docs below this rank have next to no weight."""
PARTS = ("next", "pairs")
"""The tables of an allocation, by name."""


@dataclass(frozen=True, eq=False)
class Stakes:
    """What hangs on each doc: items × pairs of runs, the difference of the doc's weights over the number of topics."""

    items: tuple[tuple[str, str], ...]
    weights: Floats
    """items × runs."""
    runs: tuple[str, ...]
    pairs: tuple[tuple[int, int], ...]

    @property
    def differences(self) -> Floats:
        """items × pairs."""
        first = [a for a, _ in self.pairs]
        second = [b for _, b in self.pairs]
        return self.weights[:, first] - self.weights[:, second]

    @property
    def matters(self) -> Bools:
        """The docs that some pair of runs does not rank alike."""
        return np.abs(self.differences).max(axis=1) > 0

    @classmethod
    def of(
        cls, runs: Sequence[Run], items: Sequence[tuple[str, str]], measure: str, *, baseline: str | None = None
    ) -> Stakes:
        """The stakes of these (topic, doc) in the comparison of all pairs of runs, or of all with a baseline."""
        if len(runs) < 2:
            raise DataError(f"{len(runs)} run; a comparison needs two or more")
        names = tuple(run.name for run in runs)
        topics = list(dict.fromkeys(topic for topic, _ in items))
        place = {pair: i for i, pair in enumerate(items)}
        by_rank = rank_weights(measure, max(_longest(run, topics) for run in runs))
        weights = np.zeros((len(items), len(runs)))
        for r, run in enumerate(runs):
            for topic in topics:
                if topic not in run.topics:
                    continue
                for rank, doc in enumerate(run.ranking(topic)[: len(by_rank)]):
                    at = place.get((topic, doc))
                    if at is not None:
                        weights[at, r] = by_rank[rank]
        return cls(tuple(items), weights / len(topics), names, _pairs(names, baseline))


def _pairs(runs: Sequence[str], baseline: str | None) -> tuple[tuple[int, int], ...]:
    if baseline is None:
        return tuple(combinations(range(len(runs)), 2))
    if baseline not in runs:
        raise UsageError(f"no run {baseline!r} to compare with; the runs are: {', '.join(runs[:10])}")
    at = runs.index(baseline)
    return tuple((other, at) for other in range(len(runs)) if other != at)


def _longest(run: Run, topics: Sequence[str]) -> int:
    return max((len(run.ranking(topic)) for topic in topics if topic in run.topics), default=0)


def rank_weights(measure: str, depth: int) -> Floats:
    """The weight of each rank down to `depth`, as the measure scores one doc of the top gain there.

    >>> rank_weights("RBP(p=0.5)", 3).tolist()
    [0.5, 0.25, 0.125]
    """
    parsed = parse(measure)
    if parsed.entry.name not in WEIGHTED:
        raise UsageError(f"{measure} is no sum of gains by rank; take one of: {', '.join(WEIGHTED)}, e.g. DCG@10")
    ranks = min(depth, MOST_RANKS)
    docs = [f"d{i}" for i in range(ranks)]
    lists = {str(rank): docs for rank in range(ranks)}
    alone = {str(rank): {doc: int(i == rank) for i, doc in enumerate(docs)} for rank in range(ranks)}
    scores = evaluate([Run.from_lists("one", lists)], Qrels.from_dict(alone), [measure], top=1)[0]
    in_order = [scores.topics.index(str(rank)) for rank in range(ranks)]
    weights = scores.values[0, in_order]
    # Ranks below the cutoff of the measure have no weight.
    return np.asarray(weights[: np.flatnonzero(weights)[-1] + 1])


@dataclass(frozen=True, eq=False)
class Known:
    """What is known of each doc: how many labels, their mean and their sum of squares about it."""

    count: Ints
    mean: Floats
    squares: Floats

    def grown(self, item: int, label: float) -> None:
        """Add a label of a doc, in place."""
        self.count[item] += 1
        step = label - self.mean[item]
        self.mean[item] += step / self.count[item]
        self.squares[item] += step * (label - self.mean[item])

    def variances(self) -> tuple[Floats, float]:
        """The variance of a label of each doc, drawn towards that of all; and the variance between docs.

        Where no doc has two labels all of the variance may lie within docs.
        """
        freedom = np.maximum(self.count - 1, 0)
        seen = self.count > 0
        total = float(np.var(self.mean[seen])) if seen.sum() > 1 else 1 / 12
        within = total
        if freedom.sum() > 0:
            within = float(self.squares.sum() / freedom.sum())
        own = (PRIOR_LABELS * within + self.squares) / (PRIOR_LABELS + freedom)
        return np.maximum(own, 1e-6), max(total, 1e-6)

    def estimates(self) -> tuple[Floats, Floats, Floats]:
        """Mean of each doc, its variance now, and its variance after one more label."""
        label_variance, between = self.variances()
        seen = self.count > 0
        # A doc without a label may be worth what any doc is worth.
        middle = float(self.mean[seen].mean()) if seen.any() else 0.5
        mean = np.where(seen, self.mean, middle)
        now = np.where(seen, label_variance / np.maximum(self.count, 1), between + label_variance)
        then = label_variance / (self.count + 1)
        return mean, now, np.minimum(then, now)


def gains(labels: Labels, scale: Scale) -> Floats:
    """Labels as gains from 0 to 1."""
    if not np.isfinite(scale.high):
        raise UsageError(f"labels on the scale {scale.name} have no upper end; take a scale from 0 to something")
    return (labels.label - scale.low) / (scale.high - scale.low)


def usefulness(stakes: Stakes, known: Known) -> tuple[Floats, Floats, Floats]:
    """For each doc how much one more label lowers the chance of wrong orders, summed over the pairs of runs.

    Also each pair's difference and its error: P(wrong) = Φ(−|Δ|/e), of which the slope in e² is φ(Δ/e)·|Δ|/(2e³).
    """
    mean, now, then = known.estimates()
    v = stakes.differences
    delta = mean @ v
    error = np.sqrt(np.maximum(now @ v**2, 1e-18))
    z = np.abs(delta) / error
    slope = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi) * z / (2 * error**2)
    return (now - then) * (v**2 @ slope), delta, error


def wrong_order(delta: Floats, error: Floats) -> Floats:
    """The chance that each pair of runs stands in the wrong order, from the uncertainty of labels alone."""
    from scipy.special import ndtr

    return np.asarray(ndtr(-np.abs(delta) / error))


@dataclass(frozen=True, eq=False)
class Allocation(Result):
    """The docs that the next labels should go to, and how sure each comparison of runs is."""

    unit = "worker"

    items: tuple[tuple[str, str], ...]
    labels: Ints
    useful: Floats
    order: Ints
    runs: tuple[str, ...]
    pairs: tuple[tuple[int, int], ...]
    delta: Floats
    error: Floats
    measure: str

    def table(self) -> Table:
        """Docs, the most useful first: labels so far, and the share of all usefulness."""
        rows = []
        total = max(float(self.useful.sum()), 1e-300)
        for i in self.order.tolist():
            rows.append((*self.items[i], int(self.labels[i]), float(self.useful[i]) / total))
        formats = {"topic": "", "doc": "", "labels": "d", "usefulness": ".4f"}
        idle = int((self.useful <= 0).sum())
        note = (
            f"Usefulness: how much one more label lowers the chance of a wrong order of two runs, as a share of that "
            f"of all {len(self.items)} docs; {idle} docs cannot change any."
        )
        return Table.of(formats, rows, caption=f"Where the next labels matter ({self.measure})", notes=(note,))

    def pair_table(self) -> Table:
        """Pairs of runs, the least certain first."""
        wrong = wrong_order(self.delta, self.error)
        rows = []
        for p in np.argsort(-wrong, kind="stable").tolist():
            first, second = self.pairs[p]
            rows.append((self.runs[first], self.runs[second], self.delta[p], self.error[p], wrong[p]))
        formats = {"run": "", "other": "", "Δ": "+.4f", "error": ".4f", "wrong order": ".3f"}
        note = "Error and chance of a wrong order are those of the labels alone, not of the topics."
        return Table.of(formats, rows, caption=f"Comparisons by {self.measure} of labels from 0 to 1", notes=(note,))

    def parts(self) -> dict[str, Table]:
        """The tables by the names of PARTS."""
        return {"next": self.table(), "pairs": self.pair_table()}

    def tables(self) -> list[Table]:
        """Both."""
        return list(self.parts().values())


def next_labels(
    labels: Labels,
    runs: Sequence[Run],
    measure: str = "DCG@10",
    *,
    scale: Scale | str | None = None,
    baseline: str | None = None,
    most: int = 20,
) -> Allocation:
    """The `most` docs to which the next labels should go; docs of the runs that have no label yet are among them.

    measure: DCG, RBP, SDCG or INSQ. baseline: only comparisons with this run matter.

    >>> given = {"a": (1, 1, 1), "b": (0, 1, 0), "c": (1, 0, 1)}
    >>> labels = Labels.from_rows([("1", d, w, g) for d, own in given.items() for w, g in zip("uvw", own)])
    >>> runs = [Run.from_lists("x", {"1": ["a", "b", "c"]}), Run.from_lists("y", {"1": ["a", "c", "b"]})]
    >>> found = next_labels(labels, runs, "DCG@2", scale="S2")
    >>> [found.items[i] for i in found.order.tolist()]
    [('1', 'b'), ('1', 'c')]
    """
    chosen = scale_for(labels, scale)
    kept = single(chosen.checked(labels), "first")
    item, labelled = kept.items()
    items = list(labelled)
    known_pairs = set(items)
    depth = len(rank_weights(measure, max(_longest(run, kept.topics) for run in runs))) if runs else 0
    topics = dict.fromkeys(topic for topic, _ in items)
    for run in runs:
        for topic in topics:
            if topic in run.topics:
                new = [(topic, doc) for doc in run.ranking(topic)[:depth] if (topic, doc) not in known_pairs]
                items += new
                known_pairs.update(new)
    stakes = Stakes.of(runs, items, measure, baseline=baseline)
    known = _known(len(items), item, gains(kept, chosen))
    useful, delta, error = usefulness(stakes, known)
    best_first = np.argsort(-useful, kind="stable")
    order = best_first[useful[best_first] > 0][:most]
    return Allocation(
        stakes.items, known.count, useful, order, stakes.runs, stakes.pairs, delta, error, measure
    )  # fmt: skip


def _known(items: int, item: Ints, gain: Floats) -> Known:
    """What labels say of each of these docs."""
    count = np.bincount(item, minlength=items)
    mean = np.bincount(item, gain, items) / np.maximum(count, 1)
    squares = np.bincount(item, (gain - mean[item]) ** 2, items)
    return Known(count, mean.astype(np.float64), squares.astype(np.float64))


def allocated(
    stakes: Stakes, labels_of_doc: Sequence[Floats], budgets: Sequence[int], *, first: int = 1, batch: int = 20
) -> list[Floats]:
    """The runs' scores when labels are given one after the other where they matter, at each of the budgets.

    labels_of_doc: the labels that each doc gives, in the order in which they come; one that has none left is passed
    over. first: labels that each doc with a stake gets before anything is estimated. batch: labels between estimates.
    """
    n = len(stakes.items)
    known = Known(np.zeros(n, dtype=np.int64), np.zeros(n), np.zeros(n))
    room = np.array([len(own) for own in labels_of_doc])
    has_stake = stakes.matters
    spent = 0
    for i in np.flatnonzero(has_stake).tolist():
        for label in labels_of_doc[i][:first]:
            known.grown(i, float(label))
            spent += 1
    found = []
    for budget in budgets:
        while spent < budget:
            useful, _, _ = usefulness(stakes, known)
            is_open: Bools = (known.count < room) & has_stake
            if not is_open.any():
                break
            best_first = np.argsort(-np.where(is_open, useful, -1.0), kind="stable")
            for i in best_first[: min(batch, budget - spent, int(is_open.sum()))].tolist():
                known.grown(i, float(labels_of_doc[i][known.count[i]]))
                spent += 1
        found.append(known.estimates()[0] @ stakes.weights)
    return found
