"""How good are sessions? Runs whose topics are the queries of sessions, scored session by session.

A topic of such a run is called `session-query`, `12-1`, `12-2` …; the judgments are those of the session, `12`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.core.errors import DataError, UsageError
from assay.core.groups import natural_order
from assay.data import Qrels, Run
from assay.data.scores import ScoreMatrix, Scores
from assay.measures import SESSION_MEASURES, Session

SEPARATOR = "-"
"""What stands between the session and the number of the query."""
MEASURES = ("sDCG", "nsDCG", "esnDCG")


def evaluate_sessions(
    runs: Sequence[Run], qrels: Qrels, measures: Sequence[str] = MEASURES, *, separator: str = SEPARATOR
) -> Scores:
    """Scores of runs by sessions: the topics of the scores are the sessions of the judgments.

    What stands before the last separator of a topic of a run is its session; queries are in natural order. A session
    that a run lacks scores 0; a topic of no judged session is left out. Unjudged docs are not relevant.

    >>> run = Run.from_lists("mine", {"s1-1": ["a", "b"], "s1-2": ["c", "a"]})
    >>> judged = Qrels.from_dict({"s1": {"b": 1, "c": 2}})
    >>> round(float(evaluate_sessions([run], judged, ["nsDCG(k=2)"])[0].values[0, 0]), 6)
    0.386277
    """
    if not measures:
        raise UsageError(f"no measure; give at least one of {', '.join(SESSION_MEASURES.names())}")
    if not separator:
        raise UsageError("the separator is empty; give what stands between session and query, e.g. '-'")
    sessions = [_sessions(run, qrels, separator) for run in runs]
    matrices = []
    for measure in measures:
        score = SESSION_MEASURES.bound(measure)
        values = [[score(session) for session in of_run] for of_run in sessions]
        names = [run.name for run in runs]
        array = np.array(values, dtype=np.float64).reshape(len(runs), len(qrels.topics))
        signature = f"{measure}|sessions:{separator}|missing:zero|unjudged:0"
        matrices.append(ScoreMatrix.of(array, runs=names, topics=qrels.topics, measure=measure, signature=signature))
    return Scores(tuple(matrices))


def _sessions(run: Run, qrels: Qrels, separator: str) -> list[Session]:
    """The sessions of the judgments as a run has them; an error where it has none of them."""
    queries: dict[str, list[str]] = {}
    for topic in natural_order(run.topics):
        session, found, _ = topic.rpartition(separator)
        if found:
            queries.setdefault(session, []).append(topic)
    if not set(queries) & set(qrels.topics):
        some = run.topics[0] if run.topics else "none"
        raise DataError(
            f"run {run.name!r} has no session of {qrels.name}; its topics are written session{separator}query, "
            f"and there is {some!r}"
        )
    grades = qrels.to_dict()
    made = []
    for session in qrels.topics:
        judged = grades[session]
        docs = [run.ranking(topic) for topic in queries.get(session, ())]
        lists = [[max(0.0, float(judged.get(doc, 0))) for doc in ranking] for ranking in docs]
        known = [float(grade) for grade in judged.values() if grade >= 0]
        made.append(Session(lists, judged=known, docs=docs))
    return made
