"""How good are answers in words? Runs of answers scored by measures of text, topic by topic."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from assay.core.errors import DataError, UsageError
from assay.core.groups import natural_order
from assay.data.scores import ScoreMatrix, Scores
from assay.io.answers import MatchedNugget, Matches
from assay.io.ntcir import read_units
from assay.measures import TEXT_MEASURES, Nugget, NuggetMatch
from assay.measures.text import PyramidMatch

OF_UNITS = ("T", "UnitRecall")
OF_MATCHES = ("NuggetR", "NuggetP", "NuggetF")
OF_TEXTS = ("ROUGE", "POURPRE")
"""Measures where none is named, by what they need."""

Texts = Mapping[str, Sequence[tuple[str, bool]]]
"""{topic: (text, whether it is vital)}."""


def evaluate_units(
    nuggets: str | Path, answers: Mapping[str, str | Path], measures: Sequence[str] = OF_UNITS
) -> Scores:
    """Scores of direct answers by the units that they convey: S, T, S#, UnitRecall.

    nuggets: the file of units, lines `topic unit weight length`; answers: the file of each run, as `read_units` reads.
    """
    by_run = {run: read_units(nuggets, path) for run, path in answers.items()}
    topics = natural_order({topic for units in by_run.values() for topic in units})

    def score(measure: str, run: str, topic: str) -> float:
        return float(TEXT_MEASURES.call(measure, by_run[run][topic]))

    return _scores(measures, "units", list(by_run), topics, score)


def evaluate_matches(matches: Matches, measures: Sequence[str] = OF_MATCHES) -> Scores:
    """Scores of answers by the nuggets that assessors found in them: NuggetR, NuggetP, NuggetF, PyramidF.

    A topic that a run does not answer scores 0.

    >>> rows = [MatchedNugget(True, 1, True, 150), MatchedNugget(True, 1, False, 150)]
    >>> [m.values.round(6).tolist() for m in evaluate_matches({"mine": {"1": rows}}, ["NuggetR", "NuggetF(beta=1)"])]
    [[[0.5]], [[0.571429]]]
    """
    topics = natural_order({topic for of_run in matches.values() for topic in of_run})

    def score(measure: str, run: str, topic: str) -> float:
        nuggets = matches[run].get(topic)
        if nuggets is None:
            return 0.0
        pyramid = TEXT_MEASURES.entry(measure).facts["takes"] == "pyramid"
        record: Any = _pyramid(nuggets) if pyramid else _matched(nuggets)
        return float(TEXT_MEASURES.call(measure, record))

    return _scores(measures, "matches", list(matches), topics, score)


def evaluate_texts(key: Texts, answers: Mapping[str, Texts], measures: Sequence[str] = OF_TEXTS) -> Scores:
    """Scores of answers by their overlap with texts of the key: ROUGE with references, POURPRE with nuggets.

    A topic that a run does not answer scores 0.

    >>> key = {"1": [("founded in 1911", True)]}
    >>> evaluate_texts(key, {"mine": {"1": [("It was founded in 1911.", True)]}}, ["POURPRE"])[0].values.tolist()
    [[1.0]]
    """
    topics = natural_order(key)
    for run, texts in answers.items():
        if not set(texts) & set(topics):
            raise DataError(f"run {run!r} answers none of the {len(topics)} topics of the key; check their names")

    def score(measure: str, run: str, topic: str) -> float:
        given = [text for text, _ in answers[run].get(topic, ())]
        if not given:
            return 0.0
        if TEXT_MEASURES.entry(measure).name == "POURPRE":
            nuggets = [Nugget(text, vital) for text, vital in key[topic]]
            return float(TEXT_MEASURES.call(measure, nuggets, given))
        references = [text for text, _ in key[topic]]
        return float(TEXT_MEASURES.call(measure, references, "\n".join(given)))

    return _scores(measures, "texts", list(answers), topics, score)


def _matched(nuggets: Sequence[MatchedNugget]) -> NuggetMatch:
    vital = sum(nugget.matched and nugget.vital for nugget in nuggets)
    okay = sum(nugget.matched and not nugget.vital for nugget in nuggets)
    return NuggetMatch(vital, okay, sum(nugget.vital for nugget in nuggets), nuggets[0].length)


def _pyramid(nuggets: Sequence[MatchedNugget]) -> PyramidMatch:
    votes = [nugget.votes for nugget in nuggets]
    return PyramidMatch(votes, [nugget.matched for nugget in nuggets], nuggets[0].length)


def _scores(
    measures: Sequence[str],
    takes: str,
    runs: Sequence[str],
    topics: Sequence[str],
    score: Callable[[str, str, str], float],
) -> Scores:
    """A matrix for each measure; a measure of something else than these answers is an error."""
    kinds = (takes, "pyramid") if takes == "matches" else (takes,)
    known = [entry.name for entry in TEXT_MEASURES if entry.facts["takes"] in kinds]
    if not measures:
        raise UsageError(f"no measure; give at least one of {', '.join(known)}")
    matrices = []
    for measure in measures:
        if TEXT_MEASURES.entry(measure).name not in known:
            raise UsageError(f"{measure} cannot be computed from {takes}; take one of {', '.join(known)}")
        values = [[score(measure, run, topic) for topic in topics] for run in runs]
        array = np.array(values, dtype=np.float64).reshape(len(runs), len(topics))
        signature = f"{measure}|answers:{takes}|missing:zero"
        matrices.append(ScoreMatrix.of(array, runs=runs, topics=topics, measure=measure, signature=signature))
    return Scores(tuple(matrices))
