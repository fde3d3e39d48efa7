"""Learning from a few judgments which runs to believe: multiplicative weights (Carterette & Allan 2007, §6).

In each round the most probable unjudged doc of every topic is judged, runs whose preferences the judgments confirm gain
weight, those contradicted lose it, and the probabilities are fitted anew with the weights. The judging order
`reweighting` (`pooling.doc_strengths`) weighs the runs alike, for judging on and on; `reweighted_emap` says where they
differ.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from assay.core.arrays import Codes, Floats, Ints
from assay.core.engine import Progress, silent
from assay.core.errors import UsageError
from assay.core.results import Result
from assay.core.tables import Table
from assay.data import Qrels
from assay.data.lists import Lists
from assay.data.scores import ScoreMatrix
from assay.nojudgments.basis import average_precision
from assay.nojudgments.expected import expected_ap, relevance

Judge = Callable[[Sequence[tuple[str, str]]], Sequence[int]]
"""Asked with (topic, doc) pairs; answers with a grade each."""


@dataclass(frozen=True, eq=False)
class Reweighted(Result):
    """Weights of the runs, what was judged, and the scores by EMAP and by AP on the judged docs alone."""

    weights: Floats
    judged: Qrels
    expected: ScoreMatrix
    judged_only: ScoreMatrix

    def table(self) -> Table:
        """One row per run, the best by EMAP first: its weight, EMAP, and mean AP on the judged docs alone."""
        means = self.expected.means()
        every = list(zip(self.expected.runs, self.weights, means, self.judged_only.means(), strict=True))
        rows = [every[i] for i in np.argsort(-means, kind="stable")]
        formats = {"run": "", "weight": ".4f", "EMAP": ".4f", "AP, judged only": ".4f"}
        keys = {"EMAP": "emap", "AP, judged only": "map_judged_only"}
        return Table.of(formats, rows, caption="Runs reweighted", notes=[self.expected.signature], keys=keys)


def reweighted_emap(
    lists: Lists,
    judge: Qrels | Judge,
    *,
    judged: Qrels | None = None,
    rounds: int | None = None,
    epsilon: float = 0.1,
    rel: float = 1,
    depth: int = 100,
    progress: Progress = silent,
) -> Reweighted:
    """EMAP after a few judged docs per topic, ⌊ln(number of runs)⌋ by default, with runs weighted by their success.

    judge: qrels (a doc without judgment counts as not relevant) or a function that is asked for grades. judged: what
    has been judged before; those docs are not asked again and their preferences count first. Each pair of a relevant
    and a not relevant judged doc moves the weight of a run once: × (1 + ε) if it ranks the relevant one higher,
    × (1 − ε) if lower; a run that did not retrieve both has no say.

    Told the same judgments the order `reweighting` has the same weights. It scales them to mean 1 in the fit, because
    products over hundreds of judgments would drown the prior or overflow; here they count as they are, as in the paper
    (Eq. 6), for the few docs at which it stops. All topics are judged before any weight moves, and each fit is made to
    the end; the order moves after every judgment by a Newton step or two.

    >>> from assay.nojudgments import comparable
    >>> from assay.studies import simulate
    >>> small = simulate(topics=6, docs=100, depth=30, runs_per_group=1, manual_runs=0)
    >>> reweighted_emap(comparable(small.runs), small.qrels).judged
    Qrels('judged', 6 topics, 6 docs, grades 1–3)
    """
    cut = lists.cut(depth)
    ask = judge if callable(judge) else _from_qrels(judge)
    grades = (cut if judged is None else cut.graded(judged)).grades.copy()
    weights, _ = reweighted(np.ones(len(cut.runs)), costs(cut, np.zeros(0, dtype=np.int64), grades, rel), epsilon)
    total = int(np.log(len(cut.runs))) if rounds is None else rounds
    p = relevance(cut, weights=weights, judged=_as_qrels(cut, grades), rel=rel)
    for i in range(total):
        chosen = _most_probable(cut, np.where(grades < 0, p, -1.0))
        answers = ask([(cut.topics[cut.topic_of_item[k]], cut.docs[k]) for k in chosen.tolist()])
        if min(answers, default=0) < 0:
            raise UsageError(f"a judge answered {min(answers)}; a grade is at least 0")
        earlier = np.flatnonzero(grades >= 0)
        grades[chosen] = np.asarray(answers, dtype=np.int32)
        weights, _ = reweighted(weights, costs(cut, earlier, grades, rel), epsilon)
        p = relevance(cut, weights=weights, judged=_as_qrels(cut, grades), rel=rel)
        progress(i + 1, total)
    names = {"runs": cut.runs, "topics": cut.topics}
    note = f"rounds={total}, epsilon={epsilon}, depth={depth}, judged={int(np.sum(grades >= 0))}"
    return Reweighted(
        weights,
        _as_qrels(cut, grades),
        ScoreMatrix.of(expected_ap(cut, p), measure="EMAP", signature=f"EMAP reweighted|{note}", **names),
        ScoreMatrix.of(
            average_precision(cut, grades >= rel), measure="AP", signature=f"AP, judged only|{note}", **names
        ),
    )


def reweighted(weights: Floats, costs: Floats, epsilon: float = 0.1) -> tuple[Floats, float]:
    """Weights after a sequence of events, and the expected cost of following the weighted runs.

    costs: events × runs, 1 for a mistaken preference, −1 for a right one, 0 for none. A weight is multiplied by 1 − ε
    for each mistake and 1 + ε for each success; the expected cost of an event is the mean of its costs by the weights
    before it. Starting from equal weights, for every run: sum of expected costs ≤ ln(runs)/ε + mistakes · (1 + ε) −
    successes · (1 − ε) (Arora, Hazan & Kale 2006; Carterette & Allan 2007, Theorem 2). Weights that overflow: an error.

    >>> after, cost = reweighted(np.ones(2), np.array([[1.0, -1.0], [1.0, 0.0]]))
    >>> after.round(4).tolist(), round(cost, 4)
    ([0.81, 1.1], 0.45)
    """
    if not 0 < epsilon <= 0.5:
        raise UsageError(f"epsilon: must lie in (0, 1/2], not {epsilon}")
    factors = np.where(costs > 0, 1 - epsilon, np.where(costs < 0, 1 + epsilon, 1.0))
    with np.errstate(over="ignore", invalid="ignore"):
        at = weights * np.vstack([np.ones_like(weights), np.cumprod(factors, axis=0)])
    if not np.isfinite(at).all():
        raise UsageError("so many judgments that the weights overflow; for judging on take the order reweighting")
    share = at[:-1] / at[:-1].sum(axis=1, keepdims=True)
    return np.asarray(at[-1]), float((share * costs).sum())


def costs(lists: Lists, earlier: Ints, grades: Codes, rel: float) -> Floats:
    """What each run says of every pair of a relevant and a not relevant judged doc, pairs × runs: −1 right, 1 wrong, 0.

    Pairs that stood in `earlier` (places of items) already are left out.
    """
    old = np.zeros(lists.items, dtype=bool)
    old[earlier] = True
    known = np.flatnonzero(grades >= 0)
    relevant = known[grades[known] >= rel]
    others = known[grades[known] < rel]
    good = np.repeat(relevant, len(others))
    bad = np.tile(others, len(relevant))
    same_topic = lists.topic_of_item[good] == lists.topic_of_item[bad]
    counted_before = old[good] & old[bad]
    fresh = same_topic & ~counted_before
    ranks = _ranks(lists, known)
    place = np.zeros(lists.items, dtype=np.int64)
    place[known] = np.arange(len(known))
    rank_of_good = ranks[place[good[fresh]]]
    rank_of_bad = ranks[place[bad[fresh]]]
    has_both = (rank_of_good > 0) & (rank_of_bad > 0)
    return np.where(has_both, np.sign(rank_of_good - rank_of_bad), 0).astype(np.float64)


def _ranks(lists: Lists, items: Ints) -> Ints:
    """The rank of each of these items in every run, items × runs; 0 where it was not retrieved."""
    place = np.full(lists.items, -1)
    place[items] = np.arange(len(items))
    rows = np.flatnonzero(place[lists.item] >= 0)
    ranks = np.zeros((len(items), len(lists.runs)), dtype=np.int64)
    ranks[place[lists.item[rows]], lists.run[rows]] = lists.rank[rows]
    return ranks


def _most_probable(lists: Lists, p: Floats) -> Ints:
    """The item of highest p ≥ 0 of each topic; topics without any are left out."""
    order = np.lexsort((-p.round(12), lists.topic_of_item))
    if not len(order):
        return order
    begins_topic = np.diff(lists.topic_of_item[order], prepend=-1) > 0
    first = order[begins_topic]
    return np.asarray(first[p[first] >= 0])


def _from_qrels(qrels: Qrels) -> Judge:
    known: Mapping[str, Mapping[str, int]] = qrels.to_dict()
    return lambda pairs: [max(0, known.get(t, {}).get(d, 0)) for t, d in pairs]


def _as_qrels(lists: Lists, grades: Codes) -> Qrels:
    """The judged items as qrels."""
    known = np.flatnonzero(grades >= 0)
    bounds = np.searchsorted(lists.topic_of_item[known], np.arange(len(lists.topics) + 1))
    return Qrels(lists.topics, bounds, lists.docs.take(known), grades[known].astype(np.int64), name="judged")
