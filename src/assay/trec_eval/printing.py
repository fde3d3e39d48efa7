"""trec_eval's rows: each topic, and all topics together."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from assay.core.arrays import Floats
from assay.core.errors import DataError
from assay.data import Run
from assay.measures.trec_names import Line
from assay.trec_eval.asked import Options, lines_asked
from assay.trec_eval.judged import Judgments
from assay.trec_eval.topic_values import TopicValues, checked_against, topic_values

FLOOR = 1e-5
NO_ZSCORE = -1000000.0


def output(run: Run, judgments: Judgments, options: Options) -> str:
    """What trec_eval prints for a run."""
    checked_against(judgments, options)
    lines = lines_asked(options)
    scored = topic_values(run, judgments, lines, options)
    if not scored.present.any():
        raise DataError(f"run {run.name!r} has none of the topics of the judgments")
    text: list[str] = []
    if options.per_topic:
        text += _topic_rows(scored, lines, options)
    if options.summary:
        text += _summary_rows(scored, lines, options, run.name)
    return "".join(text)


def _topic_rows(scored: TopicValues, lines: Sequence[Line], options: Options) -> list[str]:
    out = []
    for t, topic in enumerate(scored.topics):
        if not scored.present[t] and not options.scores_missing:
            continue
        for line, values, strings in zip(lines, scored.values, scored.strings, strict=True):
            if not line.topics:
                continue
            if strings is not None:
                out.append(_row(line.name, topic, f"'{strings[t]}'"))
            else:
                value = _standardized(line, topic, float(values[t]), options)
                out.append(_number_row(line, topic, value, options))
    return out


def _summary_rows(scored: TopicValues, lines: Sequence[Line], options: Options, run: str) -> list[str]:
    out = []
    asked = len(scored.topics) if options.complete else int(scored.present.sum())
    for line, values in zip(lines, scored.values, strict=True):
        if line.name == "runid":
            out.append(_row("runid", "all", run))
        elif line.name == "num_q":
            out.append(_number_row(line, "all", float(asked), options))
        elif line.total != "none":
            out.append(_number_row(line, "all", _total(line, values, scored, options, asked), options))
    return out


def _total(line: Line, values: Floats, scored: TopicValues, options: Options, asked: int) -> float:
    """The `all` value of a line. Topics that the run lacks add nothing in 9, and count as 0 with -c."""
    if line.name == "num_rel" and options.complete:
        # Both programs then count every judgment above 0, whatever -l says.
        return float(scored.positive)
    counted = np.ones(len(scored.topics), bool) if options.scores_missing else scored.present
    topics = [topic for topic, counts in zip(scored.topics, counted.tolist(), strict=True) if counts]
    kept = values[counted]
    if line.total == "geometric":
        kept = np.log(np.maximum(kept, FLOOR))
    total = sum(_standardized(line, topic, x, options) for topic, x in zip(topics, kept.tolist(), strict=True))
    if line.total == "sum":
        return total
    if line.total == "geometric":
        missing = asked - len(topics)
        return math.exp((total + missing * math.log(FLOOR)) / asked)
    return total / asked


def _standardized(line: Line, topic: str, value: float, options: Options) -> float:
    """A value as the -Z file standardizes it; a value without mean and sd is marked by a very low number."""
    if not options.zscores:
        return value
    mean, sd = options.zscores.get((topic, line.name), (None, None))
    if mean is None or sd is None:
        return NO_ZSCORE
    if sd:
        return (value - mean) / sd
    return 0.0 if value == mean else NO_ZSCORE


def _number_row(line: Line, topic: str, value: float, options: Options) -> str:
    if options.zscores:
        return "Z" + _row(line.name, topic, f"{value:6.4f}")
    return _row(line.name, topic, f"{round(value)}" if line.whole else f"{value:6.4f}")


def _row(name: str, topic: str, value: str) -> str:
    return f"{name:<22}\t{topic}\t{value}\n"
