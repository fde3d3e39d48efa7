"""Which runs should be believed, after a few judgments? Multiplicative weights (Carterette & Allan 2007, §6).

In each round the most probable unjudged doc of every topic is judged, runs whose preferences the judgments confirm gain
weight, those contradicted lose it, and the probabilities are fitted anew with the weights. The judging order
`reweighting` (`pooling.doc_strengths`) weighs the runs in the same way, for as long as somebody judges;
`reweighted_emap` says where they differ.
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
        emap = self.expected.averages()
        map_judged_only = self.judged_only.averages()
        rows = list(zip(self.expected.runs, self.weights, emap, map_judged_only, strict=True))
        best_first = np.argsort(-emap, kind="stable")
        return Table.of(
            {"run": "", "weight": ".4f", "EMAP": ".4f", "AP, judged only": ".4f"},
            [rows[i] for i in best_first],
            caption="Runs reweighted",
            notes=[self.expected.signature],
            keys={"EMAP": "emap", "AP, judged only": "map_judged_only"},
        )


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

    With the same judgments the order `reweighting` has the same weights. It scales them to mean 1 in the fit, because
    products over hundreds of judgments would drown the prior or overflow; here they count as they are, as in the paper
    (Eq. 6), for the few docs at which it stops. All topics are judged before any weight changes, and each fit is made
    to the end; the order takes a Newton step or two after every judgment.

    >>> from assay.nojudgments import comparable
    >>> from assay.studies import simulate
    >>> small = simulate(topics=6, docs=100, depth=30, runs_per_group=1, manual_runs=0)
    >>> reweighted_emap(comparable(small.runs), small.qrels).judged
    Qrels('judged', 6 topics, 6 docs, grades 1–3)
    """
    cut = lists.cut(depth)
    ask = judge if callable(judge) else _from_qrels(judge)
    graded = cut if judged is None else cut.graded(judged)
    grades = graded.grades.copy()
    total = int(np.log(len(cut.runs))) if rounds is None else rounds
    nothing_earlier = np.zeros(0, dtype=np.int64)
    weights, _ = reweighted(np.ones(len(cut.runs)), costs(cut, nothing_earlier, grades, rel), epsilon)
    p = relevance(cut, weights=weights, judged=_as_qrels(cut, grades), rel=rel)
    for i in range(total):
        p_of_unjudged = np.where(grades < 0, p, -1.0)
        chosen = _most_probable(cut, p_of_unjudged)
        earlier = np.flatnonzero(grades >= 0)
        grades[chosen] = _answers(cut, ask, chosen)
        weights, _ = reweighted(weights, costs(cut, earlier, grades, rel), epsilon)
        p = relevance(cut, weights=weights, judged=_as_qrels(cut, grades), rel=rel)
        progress(i + 1, total)
    recipe = f"rounds={total}, epsilon={epsilon}, depth={depth}, judged={int(np.sum(grades >= 0))}"
    emap = expected_ap(cut, p)
    ap = average_precision(cut, grades >= rel)
    return Reweighted(
        weights=weights,
        judged=_as_qrels(cut, grades),
        expected=ScoreMatrix(cut.runs, cut.topics, emap, "EMAP", f"EMAP reweighted|{recipe}"),
        judged_only=ScoreMatrix(cut.runs, cut.topics, ap, "AP", f"AP, judged only|{recipe}"),
    )


def _answers(lists: Lists, ask: Judge, items: Ints) -> Codes:
    """The grades that a judge gives these items."""
    topics = [lists.topics[t] for t in lists.topic_of_item[items]]
    docs = lists.docs.take(items).tolist()
    answers = ask(list(zip(topics, docs, strict=True)))
    lowest = min(answers, default=0)
    if lowest < 0:
        raise UsageError(f"a judge answered {lowest}; a grade is at least 0")
    return np.asarray(answers, dtype=np.int32)


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
    factors = np.where(costs > 0, 1 - epsilon, 1.0)
    factors[costs < 0] = 1 + epsilon
    with np.errstate(over="ignore", invalid="ignore"):
        after_events = np.cumprod(factors, axis=0)
        course = weights * np.vstack([np.ones_like(weights), after_events])
    if not np.isfinite(course).all():
        raise UsageError("too many judgments: the weights overflow; judge fewer docs, or use the order reweighting")
    before_event = course[:-1]
    share = before_event / before_event.sum(axis=1, keepdims=True)
    expected_cost = float((share * costs).sum())
    return np.asarray(course[-1]), expected_cost


def costs(lists: Lists, earlier: Ints, grades: Codes, rel: float) -> Floats:
    """What each run says of every pair of a relevant and a not relevant judged doc, pairs × runs: −1 right, 1 wrong, 0.

    Pairs that stood in `earlier` (places of items) already are left out.
    """
    is_earlier = np.zeros(lists.items, dtype=bool)
    is_earlier[earlier] = True
    judged = np.flatnonzero(grades >= 0)
    is_relevant = grades[judged] >= rel
    relevant = np.flatnonzero(is_relevant)
    others = np.flatnonzero(~is_relevant)
    # Every pair of a relevant and another judged doc, as places among the judged docs.
    good = np.repeat(relevant, len(others))
    bad = np.tile(others, len(relevant))
    topic = lists.topic_of_item[judged]
    same_topic = topic[good] == topic[bad]
    counted_before = is_earlier[judged[good]] & is_earlier[judged[bad]]
    new_pair = same_topic & ~counted_before
    ranks = _ranks(lists, judged)
    rank_of_good = ranks[good[new_pair]]
    rank_of_bad = ranks[bad[new_pair]]
    has_both = (rank_of_good > 0) & (rank_of_bad > 0)
    cost = np.sign(rank_of_good - rank_of_bad)
    return np.where(has_both, cost, 0).astype(np.float64)


def _ranks(lists: Lists, items: Ints) -> Ints:
    """The rank of each of these items in every run, items × runs; 0 where it was not retrieved."""
    place_of_item = np.full(lists.items, -1)
    place_of_item[items] = np.arange(len(items))
    place = place_of_item[lists.item]
    wanted = np.flatnonzero(place >= 0)
    ranks = np.zeros((len(items), len(lists.runs)), dtype=np.int64)
    ranks[place[wanted], lists.run[wanted]] = lists.rank[wanted]
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
    grades: Mapping[str, Mapping[str, int]] = qrels.to_dict()

    def judge(pairs: Sequence[tuple[str, str]]) -> list[int]:
        answers = []
        for topic, doc in pairs:
            grade = grades.get(topic, {}).get(doc, 0)
            answers.append(max(0, grade))
        return answers

    return judge


def _as_qrels(lists: Lists, grades: Codes) -> Qrels:
    """The judged items as qrels."""
    judged = np.flatnonzero(grades >= 0)
    topic_numbers = np.arange(len(lists.topics) + 1)
    bounds = np.searchsorted(lists.topic_of_item[judged], topic_numbers)
    docs = lists.docs.take(judged)
    whole_grades = grades[judged].astype(np.int64)
    return Qrels(lists.topics, bounds, docs, whole_grades, name="judged")
