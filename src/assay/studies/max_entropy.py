"""How much does a score say of the list behind it? The maximum entropy method of Aslam, Yilmaz & Pavlu.

Of all lists that have a score, take the least committed one: the probabilities of relevance at the ranks that have the
largest entropy. The better the measure, the nearer is the precision-recall curve of that guess to the real one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assay.core.arrays import Bools, Floats
from assay.core.engine import Progress, silent
from assay.core.errors import DataError, UsageError
from assay.core.results import Result
from assay.core.tables import Table
from assay.data import Qrels, Run, align
from assay.data.grades import Grades
from assay.measures import Measure

NEWTON_STEPS = 60
LINEARIZED_STEPS = 80
"""AP is not linear in the probabilities: it is made so where they stand, solved, and made so again."""
FAR = 40.0
"""Largest log-odds: a probability of 1 − 4e-18."""
LISTS_AT_ONCE = 2000


@dataclass(frozen=True, eq=False)
class EntropyStudy(Result):
    """Distance between the curve that a score suggests and the real one, for each measure and list."""

    measures: tuple[str, ...]
    errors: Floats
    """Measures × lists: root mean square difference of precision at the levels of recall that the list reaches."""
    depth: int
    runs: int
    topics: int

    def table(self) -> Table:
        """One row per measure, the one that says most first."""
        means = self.errors.mean(axis=1)
        rows = []
        for i in np.argsort(means, kind="stable"):
            quartiles = np.quantile(self.errors[i], [0.25, 0.5, 0.75])
            rows.append((self.measures[i], means[i], *quartiles))
        columns = {"measure": "", "mean error": ".4f", "first quartile": ".4f", "median": ".4f"}
        columns["third quartile"] = ".4f"
        notes = [
            "error: root mean square difference of precision, at the recall of each relevant doc that was retrieved, "
            "between the list and the most uncertain probabilities of relevance that give the same score",
            f"{self.errors.shape[1]} lists of {self.runs} runs on {self.topics} topics, first {self.depth} docs, with "
            "the numbers of relevant docs known; lists without relevant docs are left out",
        ]
        return Table.of(columns, rows, caption="How much a score says of its list", notes=notes)


def entropy_study(
    runs: Sequence[Run],
    qrels: Qrels,
    measures: Sequence[Measure],
    *,
    depth: int = 100,
    rel: float = 1,
    progress: Progress = silent,
) -> EntropyStudy:
    """How well precision at each recall follows from one score, under binary relevance.

    Known are the score, the number of relevant docs R and how many of them the first `depth` ranks hold. Measures are
    AP, and those that are weighted sums over the ranks given R (P, Rprec, DCG, nDCG, RBP). Aslam, Yilmaz & Pavlu 2005.

    >>> from assay.measures import parse
    >>> qrels = Qrels.from_dict({"1": {"a": 1, "b": 0, "c": 1, "d": 0}})
    >>> found = entropy_study([Run.from_lists("r", {"1": "abcd"})], qrels, [parse("AP"), parse("P@2")], depth=4)
    >>> found.errors.shape
    (2, 1)
    """
    if not measures or depth < 2:
        raise UsageError("name at least one measure, and look at two ranks or more")
    for measure in measures:
        is_sum = measure.entry.facts.get("linear") or measure.entry.name == "Rprec"
        if measure.condensed or not (is_sum or str(measure) == "AP"):
            raise UsageError(f"{measure} is neither AP nor a weighted sum over the ranks; name AP, Rprec, P@10, RBP …")
    lists, relevant, topics = _binary_lists(runs, qrels, depth, rel)
    errors = np.empty((len(measures), len(lists)))
    for i, measure in enumerate(measures):
        for start in range(0, len(lists), LISTS_AT_ONCE):
            part = slice(start, start + LISTS_AT_ONCE)
            guessed = most_uncertain(lists[part], relevant[part], measure)
            errors[i, part] = curve_errors(lists[part], guessed)
        progress(i + 1, len(measures))
    return EntropyStudy(tuple(map(str, measures)), errors, depth, len(runs), topics)


def _binary_lists(runs: Sequence[Run], qrels: Qrels, depth: int, rel: float) -> tuple[Bools, Floats, int]:
    """lists × depth: whether a doc is relevant; the relevant docs of each list's topic; and the number of topics."""
    lists = []
    relevant = []
    topics = 0
    for run in runs:
        graded = align(run.cut(depth), qrels)
        topics = max(topics, len(graded.topics))
        hits = np.zeros((len(graded.topics), depth), dtype=bool)
        seen = np.asarray(graded.ranked >= rel)[:, :depth]
        hits[:, : seen.shape[1]] = seen
        some = hits.any(axis=1)
        lists.append(hits[some])
        relevant.append(graded.relevant(rel)[some])
    joined = np.concatenate(lists) if lists else np.zeros((0, depth), dtype=bool)
    if not len(joined):
        raise DataError(f"no list has a doc of grade {rel:g} or more in its first {depth} docs; there is no curve")
    return joined, np.concatenate(relevant), topics


def most_uncertain(lists: Bools, relevant: Floats, measure: Measure) -> Floats:
    """The probabilities of relevance with the largest entropy that give each list's score and its relevant docs."""
    wanted = lists.sum(axis=1).astype(np.float64)
    hits = lists.astype(np.float64)
    if str(measure) != "AP":
        weights = _weights(measure, lists.shape[1], relevant)
        score = (weights * hits).sum(axis=1)
        return _solved(weights, wanted, score)
    score = _ap(hits, relevant)
    p = np.repeat((wanted / lists.shape[1])[:, None], lists.shape[1], axis=1)
    for _ in range(LINEARIZED_STEPS):
        slope = _ap_slope(p, relevant)
        target = score - _ap(p, relevant) + (slope * p).sum(axis=1)
        step = _solved(slope, wanted, target) - p
        p = p + 0.5 * step  # half steps: whole ones may swing
        if np.abs(step).max() < 1e-6:
            break
    return p


def _weights(measure: Measure, depth: int, relevant: Floats) -> Floats:
    """lists × ranks: what a relevant doc at each rank adds, for topics with that many relevant docs."""
    of_count = {}
    for count in np.unique(relevant).astype(int).tolist():
        one_doc_each = Grades(
            topics=tuple(str(rank) for rank in range(1, depth + 1)),
            ranked=np.eye(depth, dtype=np.int64),
            retrieved=np.full(depth, depth, dtype=np.int64),
            ideal=np.ones((depth, count), dtype=np.int64),
        )
        of_count[count] = measure(one_doc_each)
    return np.array([of_count[int(count)] for count in relevant])


def _ap(p: Floats, relevant: Floats) -> Floats:
    """Expected AP of independent probabilities: Σ p_i/i · (1 + Σ_{j<i} p_j) / R."""
    ranks = np.arange(1, p.shape[1] + 1)
    above = p.cumsum(axis=1) - p
    return np.asarray((p * (1 + above) / ranks).sum(axis=1) / relevant)


def _ap_slope(p: Floats, relevant: Floats) -> Floats:
    """How AP changes with each probability: (1 + those above)/i, and what it adds to those below."""
    ranks = np.arange(1, p.shape[1] + 1)
    above = p.cumsum(axis=1) - p
    per_rank = p / ranks
    below = per_rank.sum(axis=1, keepdims=True) - per_rank.cumsum(axis=1)
    return np.asarray(((1 + above) / ranks + below) / relevant[:, None])


def _solved(weights: Floats, wanted: Floats, score: Floats) -> Floats:
    """p_i = 1/(1 + exp(−a − b·w_i)) with Σ p = wanted and Σ w·p = score, by Newton's method on the convex dual."""
    scale = np.maximum(weights.std(axis=1), 1e-12)
    w = (weights - weights.mean(axis=1, keepdims=True)) / scale[:, None]
    target = (score - weights.mean(axis=1) * wanted) / scale
    n = weights.shape[1]
    share = np.clip(wanted / n, 1e-9, 1 - 1e-9)
    a = np.log(share / (1 - share))
    b = np.zeros(len(w))
    p = _logistic(a, b, w)
    for _ in range(NEWTON_STEPS):
        spread = p * (1 - p) + 1e-12
        gap_a = p.sum(axis=1) - wanted
        gap_b = (w * p).sum(axis=1) - target
        if max(np.abs(gap_a).max(), np.abs(gap_b).max()) < 1e-9:
            break
        aa = spread.sum(axis=1)
        ab = (spread * w).sum(axis=1)
        bb = (spread * w**2).sum(axis=1)
        determinant = np.maximum(aa * bb - ab**2, 1e-12)
        # Long steps, where a probability runs to 0 or 1, are cut; near the answer they are short.
        step_a = np.clip((bb * gap_a - ab * gap_b) / determinant, -2.0, 2.0)
        step_b = np.clip((aa * gap_b - ab * gap_a) / determinant, -2.0, 2.0)
        a = np.clip(a - step_a, -FAR, FAR)
        b = np.clip(b - step_b, -FAR, FAR)
        p = _logistic(a, b, w)
    return p


def _logistic(a: Floats, b: Floats, w: Floats) -> Floats:
    odds = np.clip(a[:, None] + b[:, None] * w, -FAR, FAR)
    return np.asarray(1 / (1 + np.exp(-odds)))


def curve_errors(lists: Bools, guessed: Floats) -> Floats:
    """Root mean square difference of precision where the list, and the guess, reach each relevant doc.

    The list has k relevant docs at the rank of its kth one, the guess where its expected number reaches k.
    """
    errors = np.empty(len(lists))
    for i, (hits, p) in enumerate(zip(lists, guessed, strict=True)):
        ranks = np.flatnonzero(hits) + 1
        found = np.arange(1, len(ranks) + 1)
        expected = np.concatenate([[0.0], p.cumsum()])
        # The last one is reached within rounding, or at the end of the list.
        expected[-1] = max(expected[-1], float(len(ranks)))
        after = np.searchsorted(expected, found - 1e-9)
        before = expected[after - 1]
        reached = after - 1 + (found - before) / (expected[after] - before)
        difference = found / ranks - found / np.maximum(reached, found)
        errors[i] = np.sqrt(np.mean(difference**2))
    return errors
