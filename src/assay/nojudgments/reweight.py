"""Which runs should be believed, after a few judgments? Multiplicative weights (Carterette & Allan 2007, §6).

In each round the most probable unjudged doc of every topic is judged, runs whose preferences the judgments confirm gain
weight, those contradicted lose it, and the probabilities are fitted again with the weights. The weights are those of
the judging order `reweighting` (`pooling.run_weights`), which continues for as long as somebody judges.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from assay.core.arrays import Bools, Codes, Floats, Ints
from assay.core.engine import Progress, silent
from assay.core.errors import UsageError
from assay.core.results import Result
from assay.core.tables import Table
from assay.data import Qrels
from assay.data.lists import Lists
from assay.data.scores import ScoreMatrix
from assay.nojudgments.basis import average_precision
from assay.nojudgments.expected import expected_ap, relevance
from assay.pooling.run_weights import check_epsilon, fit_weights, log_change
from assay.rankings.stated_preferences import RETRIEVED, preferred

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
    preferences: str = RETRIEVED,
    rel: float = 1,
    depth: int = 100,
    progress: Progress = silent,
) -> Reweighted:
    """EMAP after a few judged docs per topic, ⌊ln(number of runs)⌋ by default, with runs weighted by their success.

    judge: qrels (a doc without judgment counts as not relevant) or a function that is asked for grades. judged: what
    has been judged before; those docs are not asked again and their preferences count first. Each pair of a relevant
    and a not relevant judged doc moves the weight of a run once: × (1 + ε) if it prefers the relevant one, × (1 − ε) if
    the other; a run that has no preference keeps its weight. preferences: `retrieved`, only a run that retrieved
    neither doc has none, or `both`, a run has one only if it retrieved both.

    All topics are judged before any weight changes, and each fit is made to the end. With the same judgments the order
    `reweighting` has the same weights; it takes a Newton step or two after every judgment.

    >>> from assay.nojudgments import comparable
    >>> from assay.studies import simulate
    >>> small = simulate(topics=6, docs=100, depth=30, runs_per_group=1, manual_runs=0)
    >>> reweighted_emap(comparable(small.runs), small.qrels).judged
    Qrels('judged', 6 topics, 6 docs, grades 1–3)
    """
    check_epsilon(epsilon)
    cut = lists.cut(depth)
    ask = judge if callable(judge) else _from_qrels(judge)
    graded = cut if judged is None else cut.graded(judged)
    grades = graded.grades.copy()
    total = usual_rounds(len(cut.runs)) if rounds is None else rounds

    log_weights = np.zeros(len(cut.runs))
    earlier = np.zeros(cut.items, dtype=bool)

    def weighed() -> Floats:
        """The probabilities after the weights have followed the judgments since the last time."""
        for t in range(len(cut.topics)):
            log_weights[:] += log_change(opinions(cut, t, earlier, grades, rel, preferences), epsilon)
        earlier[:] = grades >= 0
        known = _as_qrels(cut, grades)
        return relevance(cut, preferences=preferences, weights=fit_weights(log_weights), judged=known, rel=rel)

    p = weighed()
    for i in range(total):
        p_of_unjudged = np.where(grades < 0, p, -1.0)
        chosen = _most_probable(cut, p_of_unjudged)
        grades[chosen] = _answers(cut, ask, chosen)
        p = weighed()
        progress(i + 1, total)
    docs = int(np.sum(grades >= 0))
    recipe = f"preferences={preferences}, rounds={total}, epsilon={epsilon}, depth={depth}, judged={docs}"
    emap = expected_ap(cut, p)
    ap = average_precision(cut, grades >= rel)
    return Reweighted(
        weights=fit_weights(log_weights),
        judged=_as_qrels(cut, grades),
        expected=ScoreMatrix(cut.runs, cut.topics, emap, "EMAP", f"EMAP reweighted|{recipe}"),
        judged_only=ScoreMatrix(cut.runs, cut.topics, ap, "AP", f"AP, judged only|{recipe}"),
    )


def usual_rounds(runs: int) -> int:
    """⌊ln(number of runs)⌋: the rounds that keep the expected number of errors smallest.

    >>> usual_rounds(143), usual_rounds(10), usual_rounds(2)
    (4, 2, 0)
    """
    return int(np.log(runs))


def _answers(lists: Lists, ask: Judge, items: Ints) -> Codes:
    """The grades that a judge gives these items."""
    topics = [lists.topics[t] for t in lists.topic_of_item[items]]
    docs = lists.docs.take(items).tolist()
    answers = ask(list(zip(topics, docs, strict=True)))
    lowest = min(answers, default=0)
    if lowest < 0:
        raise UsageError(f"a judge answered {lowest}; a grade is at least 0")
    return np.asarray(answers, dtype=np.int32)


def opinions(lists: Lists, topic: int, earlier: Bools, grades: Codes, rel: float, preferences: str = RETRIEVED) -> Ints:
    """What each run says of every pair of a relevant and a not relevant judged doc, pairs × runs: 1 right, −1 wrong, 0.

    Pairs of two docs that were judged `earlier` are left out.
    """
    first = lists.item_bounds[topic]
    after = lists.item_bounds[topic + 1]
    judged = first + np.flatnonzero(grades[first:after] >= 0)
    is_relevant = grades[judged] >= rel
    relevant = np.flatnonzero(is_relevant)
    others = np.flatnonzero(~is_relevant)
    # Every pair of a relevant and another judged doc, as places among the judged docs.
    good = np.repeat(relevant, len(others))
    bad = np.tile(others, len(relevant))
    new_pair = ~(earlier[judged[good]] & earlier[judged[bad]])
    ranks = _ranks(lists, judged)
    return preferred(ranks[good[new_pair]], ranks[bad[new_pair]], preferences)


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
