"""The values of trec_eval's lines on each topic, from judgments of every format of -R."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from assay.core.arrays import Bools, Floats
from assay.core.errors import UsageError
from assay.data import Qrels, Run
from assay.data.aligned import match
from assay.data.grades import UNJUDGED, Grades
from assay.io.judgment_groups import Preferences
from assay.measures import Measure, parse
from assay.measures.preferred import PREFERENCES, groups_of_topic
from assay.measures.trec_names import Line
from assay.trec_eval.asked import Options
from assay.trec_eval.judged import Judgments


@dataclass(frozen=True, eq=False)
class TopicValues:
    """The values of each line on each topic, topics in the order of their bytes."""

    topics: Sequence[str]
    present: Bools
    """Whether the run has the topic."""
    values: Sequence[Floats]
    """One array per line."""
    strings: Sequence[Sequence[str] | None]
    """One text per topic for a line that prints texts."""
    positive: int = 0
    """Judgments above 0, over all topics."""


def topic_values(run: Run, judgments: Judgments, lines: Sequence[Line], options: Options) -> TopicValues:
    """Every line on every topic of the judgments."""
    if isinstance(judgments, Qrels):
        return _of_qrels(run, judgments, lines, options)
    if options.judgments == "qrels_jg":
        by_group = {group: qrels for group, qrels in judgments.items() if isinstance(qrels, Qrels)}
        return _of_groups(run, by_group, lines, options)
    preferences = {topic: groups for topic, groups in judgments.items() if not isinstance(groups, Qrels)}
    return _of_preferences(run, preferences, lines, options)


def _of_qrels(run: Run, qrels: Qrels, lines: Sequence[Line], options: Options) -> TopicValues:
    grades, present = _grades(run, qrels, options)
    order = _byte_order(grades.topics)
    values = [_values(line, grades, options)[order] for line in lines]
    strings: list[list[str] | None] = []
    for i, line in enumerate(lines):
        strings.append(_relstrings(line, grades, order) if line.name.startswith("relstring") else None)
        if options.scores_missing and _cleared(line):
            values[i][~present[order]] = 0.0
            strings[i] = _emptied(strings[i], present[order])
    topics = [grades.topics[t] for t in order]
    return TopicValues(topics, present[order], values, strings, positive=int((grades.ideal > 0).sum()))


def _grades(run: Run, qrels: Qrels, options: Options) -> tuple[Grades, Bools]:
    """The grades as the options want them, and which topics the run has."""
    joined = match(run.ordered("docid", compat=options.compat), qrels)
    grades = joined.grades()
    present = joined.topic_in_run >= 0
    if options.scores_missing:
        grades = _with_unknown_doc(grades, ~present)
    if options.depth is not None:
        grades = grades.cut(options.depth)
    return grades.condensed() if options.judged_only else grades, present


def _with_unknown_doc(grades: Grades, missing: Bools) -> Grades:
    """One unjudged doc on topics that the run lacks: what 10.0 scores there with -c."""
    if not grades.depth:
        ranked = np.full((len(missing), 1), UNJUDGED, dtype=grades.ranked.dtype)
        grades = replace(grades, ranked=ranked)
    return replace(grades, retrieved=np.where(missing, 1, grades.retrieved))


def _cleared(line: Line) -> bool:
    """Whether 10.0 takes back what this line got for the unknown doc. It knows them by the names without parameters."""
    return line.name in ("num_ret", "utility", "relstring", "rbp_resid") or line.name.startswith("unj")


def _emptied(strings: list[str] | None, present: Bools) -> list[str] | None:
    if strings is None:
        return None
    return [text if there else "" for text, there in zip(strings, present.tolist(), strict=True)]


def _values(line: Line, grades: Grades, options: Options) -> Floats:
    if not line.measure:
        return np.zeros(len(grades.topics))
    measure = parse(line.measure)
    given = dict(measure.parameters)
    if "rel" in measure.entry.parameters:
        given["rel"] = options.rel
    if "docs" in measure.entry.parameters:
        given["docs"] = options.collection_size
    if "rounding" in measure.entry.parameters and options.version == 10:
        given["rounding"] = "nearest"
    return Measure(measure.name, tuple(given.items()))(grades)


def _relstrings(line: Line, grades: Grades, order: Sequence[int]) -> list[str]:
    """The grades at the first ranks as characters: digit, > above 9, - not pooled, . pooled but not judged."""
    k = int(line.name.partition("_")[2] or 10)
    out = []
    for t in order:
        shown = min(k, int(grades.retrieved[t]))
        out.append("".join(map(_character, grades.ranked[t, :shown].tolist())))
    return out


def _character(grade: float) -> str:
    if grade == UNJUDGED:
        return "-"
    if grade < 0:
        return "."
    return ">" if grade > 9 else str(int(grade))


def _of_groups(run: Run, by_group: Mapping[str, Qrels], lines: Sequence[Line], options: Options) -> TopicValues:
    """Means over the groups that judged a topic."""
    topics = _by_bytes({topic for qrels in by_group.values() for topic in qrels.topics})
    number = {topic: t for t, topic in enumerate(topics)}
    judging = np.zeros(len(topics))
    totals = [np.zeros(len(topics)) for _ in lines]
    for qrels in by_group.values():
        grades, _ = _grades(run, qrels, options)
        at = [number[topic] for topic in grades.topics]
        judging[at] += 1
        for total, line in zip(totals, lines, strict=True):
            total[at] += _values(line, grades, options)
    values = [total / judging for total in totals]
    return TopicValues(topics, _present(run, topics), values, [None] * len(lines))


def _of_preferences(run: Run, preferences: Preferences, lines: Sequence[Line], options: Options) -> TopicValues:
    """The measures of preferences, for which trec_eval breaks ties by doc id in ascending order."""
    topics = _by_bytes(preferences)
    present = _present(run, topics)
    ordered = run.ordered("docid-asc", compat=options.compat)
    values = np.zeros((len(lines), len(topics)))
    for t, topic in enumerate(topics):
        if not present[t] and not options.scores_missing:
            continue
        ranking = ordered.ranking(topic)[: options.depth] if present[t] else []
        groups = groups_of_topic(preferences[topic], ranking)
        for i, line in enumerate(lines):
            if line.judgments == "prefs":
                values[i, t] = PREFERENCES[line.name].function(groups)
    return TopicValues(topics, present, list(values), [None] * len(lines))


def _present(run: Run, topics: Sequence[str]) -> Bools:
    there = set(run.topics)
    return np.array([topic in there for topic in topics])


def _by_bytes(topics: Iterable[str]) -> list[str]:
    return sorted(topics, key=str.encode)


def _byte_order(topics: Sequence[str]) -> list[int]:
    return sorted(range(len(topics)), key=lambda t: topics[t].encode())


def checked_against(judgments: Judgments, options: Options) -> None:
    """An error if the judgments are not of the format that the options name."""
    if isinstance(judgments, Qrels) != (options.judgments == "qrels"):
        raise UsageError(f"these judgments are not of the format -R {options.judgments}; read them with read_judgments")
