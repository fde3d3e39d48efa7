"""Runs, judgments, labels and scores from data frames: which column holds what, and the rows grouped.

A column is found by its usual names, or by the one that the person says.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.core.arrays import Floats, Ints
from assay.core.dataframes import AnyFrame, is_missing
from assay.core.errors import DataError
from assay.core.groups import coded_names, natural_order
from assay.core.ids import Ids
from assay.data import IntentQrels, Labels, Qrels, Run
from assay.data.given import id_texts, numbers
from assay.data.quantities import UNNAMED
from assay.data.scores import ScoreMatrix
from assay.data.topic_rows import bounds_of
from assay.io.column_names import (
    OF_LABELS,
    OF_QRELS,
    OF_RUNS,
    OF_SCORES,
    USUAL,
    Named,
    column_places,
    names_runs,
)
from assay.io.ranked import scores_of_ranks, shared_rank


@dataclass(frozen=True, eq=False)
class Places:
    """Where each of our columns stands in a frame."""

    frame: AnyFrame
    at: dict[str, int]
    what: str

    @classmethod
    def of(cls, frame: AnyFrame, wanted: Sequence[str], columns: Named, what: str) -> Places:
        """Those of the wanted columns that are there; the names that a person gives must be."""
        at = column_places(frame.names, wanted, columns, what, frame.where)
        if not len(frame):
            raise DataError(f"{frame.where}: there is no row in it; {what} need at least one")
        return cls(frame, at, what)

    def __contains__(self, ours: str) -> bool:
        return ours in self.at

    def needs(self, *wanted: str) -> None:
        """An error where a column is missing."""
        missing = [ours for ours in wanted if ours not in self.at]
        if missing:
            raise self.missing(missing[0])

    def missing(self, ours: str) -> DataError:
        """The error for a column that is not there."""
        usual = ", ".join(USUAL[ours])
        have = ", ".join(self.frame.names)
        return DataError(
            f"{self.frame.where}: no column for the {ours} of {self.what} (usual names: {usual}); it has {have}; "
            f"rename one, or say which with columns={{{ours!r}: ...}}"
        )

    def texts(self, ours: str) -> list[str]:
        """A column of ids, as texts."""
        return id_texts(self.frame.ids(self.at[ours], ours), ours, self.frame.where)

    def numbers(self, ours: str) -> Floats:
        """A column of numbers, none missing."""
        return numbers(self.frame.numbers(self.at[ours]), ours, self.frame.where)

    def wholes(self, ours: str) -> Ints:
        """A column of whole numbers, none missing."""
        values = self.numbers(ours)
        odd = np.flatnonzero((values != np.floor(values)) | (np.abs(values) > 2**53))
        if len(odd):
            row = int(odd[0])
            raise DataError(f"{self.frame.where}: the {ours} in row {row + 1} is {values[row]}; give whole numbers")
        return values.astype(np.int64)

    def numbers_or_nan(self, ours: str) -> Floats:
        """A column of numbers; an empty cell is NaN."""
        cells = self.frame.values(self.at[ours])
        empty = np.array([is_missing(cell) for cell in cells])
        filled = [0.0 if is_missing(cell) else cell for cell in cells]
        return np.where(empty, np.nan, numbers(filled, ours, self.frame.where))


def runs_in(frame: AnyFrame, *, columns: Named = None, name: str = "run") -> list[Run]:
    """The runs of a frame: one for each name in its column `run`, else one of the given name.

    Without scores the docs are taken in the order of their ranks.
    """
    places = Places.of(frame, OF_RUNS, columns, "runs")
    places.needs("topic", "doc")
    if "score" not in places and "rank" not in places:
        raise places.missing("score")
    names, run = [name], np.zeros(len(frame), dtype=np.int64)
    topic_texts, doc_texts = places.texts("topic"), places.texts("doc")
    if "run" in places and _has_runs(places, columns, zip(topic_texts, doc_texts, strict=True)):
        names, run = _first_seen(places.texts("run"))
    topics, topic = _first_seen(topic_texts)
    docs = Ids.of(doc_texts)
    ranks = places.wholes("rank") if "rank" in places else None
    scores = places.numbers("score") if "score" in places else None
    if scores is None:
        assert ranks is not None
        lists = run * len(topics) + topic
        _refuse_shared_ranks(frame, lists, ranks, topics)
        scores = scores_of_ranks(lists, ranks)
    order = np.lexsort((topic, run))
    runs = []
    for r, rows in _groups(run[order], len(names)):
        mine = order[rows]
        present, sizes = np.unique(topic[mine], return_counts=True)
        runs.append(
            Run.from_rows(
                names[r],
                [topics[t] for t in present.tolist()],
                bounds_of(sizes),
                docs.take(mine),
                scores[mine],
                ranks=None if ranks is None else ranks[mine],
            )
        )
    return runs


def _has_runs(places: Places, columns: Named, pairs: Iterable[tuple[str, str]]) -> bool:
    """Whether the column `run` tells runs apart, and does not name docs."""
    column = places.at["run"]
    cells = list(map(str, places.frame.values(column)))
    return names_runs(places.frame.names, column, columns, cells, pairs)


def _refuse_shared_ranks(frame: AnyFrame, lists: Ints, ranks: Ints, topics: Sequence[str]) -> None:
    """An error if two docs of a list have one rank: then the ranks do not say their order."""
    row = shared_rank(lists, ranks)
    if row is not None:
        topic = topics[int(lists[row]) % len(topics)]
        what = f"two docs of topic {topic!r} have rank {ranks[row]}, and there are no scores"
        raise DataError(f"{frame.where}: {what}; every doc needs a rank of its own")


def _first_seen(texts: Sequence[str]) -> tuple[list[str], Ints]:
    """Distinct texts in the order in which they first appear, and each text's place among them."""
    distinct = list(dict.fromkeys(texts))
    place = {text: i for i, text in enumerate(distinct)}
    return distinct, np.fromiter(map(place.__getitem__, texts), np.int64, len(texts))


def _groups(codes: Ints, count: int) -> Iterator[tuple[int, slice]]:
    """Each code with its rows, where equal codes stand together."""
    bounds = np.searchsorted(codes, np.arange(count + 1)).tolist()
    for code in range(count):
        yield code, slice(bounds[code], bounds[code + 1])


def qrels_in(frame: AnyFrame, *, columns: Named = None, name: str = "qrels") -> Qrels | IntentQrels:
    """The judgments of a frame; with a column `intent`, judgments by intent."""
    lowered = [theirs.strip().lower() for theirs in frame.names]
    places = Places.of(frame, OF_QRELS, columns, "judgments")
    places.needs("topic", "doc", "grade")
    if "rank" in lowered and lowered[places.at["grade"]] == "score":
        raise DataError(
            f"{frame.where}: it has ranks and scores and no grade, so it looks like a run; give judgments "
            "with a column grade, or say which column holds it with columns={'grade': ...}"
        )
    if "intent" in places:
        if "probability" in places:
            raise DataError(
                f"{frame.where}: judgments by intent take no column {frame.names[places.at['probability']]!r}"
            )
        cells = (places.texts("topic"), places.texts("intent"), places.texts("doc"), places.numbers("grade").tolist())
        return IntentQrels.from_rows(zip(*cells, strict=True), name=name)
    topics, topic = coded_names(places.texts("topic"))
    order = np.argsort(topic, kind="stable")
    probabilities = None
    if "probability" in places:
        probabilities = places.numbers("probability")[order]
        if not ((probabilities > 0) & (probabilities <= 1)).all():
            raise DataError(f"{frame.where}: a probability is not in (0, 1]; give the chance to be sampled")
    return Qrels.from_rows(
        topics,
        bounds_of(np.bincount(topic, minlength=len(topics))),
        Ids.of(places.texts("doc")).take(order),
        places.numbers("grade")[order],
        probabilities,
        name=name,
    )


def labels_in(frame: AnyFrame, *, columns: Named = None, name: str = "labels") -> Labels:
    """The labels of a frame, with those of the optional columns that it has."""
    places = Places.of(frame, OF_LABELS, columns, "labels")
    places.needs("topic", "doc", "worker", "label")
    extra: dict[str, Any] = {}
    if "task" in places:
        extra["task"] = np.array(places.texts("task"), dtype=object)
    for ours in ("position", "attempt", "back"):
        if ours in places:
            extra[ours] = places.wholes(ours)
    for ours in ("seconds", "gold", "tested"):
        if ours in places:
            extra[ours] = places.numbers_or_nan(ours)
    if "seconds" in extra and (extra["seconds"] < 0).any():
        raise DataError(f"{frame.where}: seconds are below 0; give the time that a label took")
    ids = (places.texts("topic"), places.texts("doc"), places.texts("worker"))
    rows = zip(*ids, places.numbers("label").tolist(), strict=True)
    return Labels.from_rows(rows, name=name, **extra)


def scores_in(frame: AnyFrame, *, columns: Named = None) -> list[ScoreMatrix]:
    """The scores of a frame with the columns run, topic and score (and measure, signature), a matrix per measure."""
    places = Places.of(frame, OF_SCORES, columns, "scores")
    places.needs("run", "topic", "score")
    count = len(frame)
    measures = places.texts("measure") if "measure" in places else [UNNAMED] * count
    signatures = places.texts("signature") if "signature" in places else [""] * count
    runs, topics = places.texts("run"), places.texts("topic")
    values = places.numbers("score").tolist()
    nested: dict[tuple[str, str], dict[str, dict[str, float]]] = {}
    for measure, signature, run, topic, value in zip(measures, signatures, runs, topics, values, strict=True):
        of_run = nested.setdefault((measure, signature), {}).setdefault(run, {})
        if topic in of_run:
            raise DataError(f"{frame.where}: run {run!r} has two scores of {measure} on topic {topic!r}; keep one")
        of_run[topic] = value
    return [matrix_of(scores, measure, signature) for (measure, signature), scores in nested.items()]


def matrix_of(scores: Mapping[Any, Mapping[Any, Any]], measure: str = UNNAMED, signature: str = "") -> ScoreMatrix:
    """The matrix of {run: {topic: score}}, topics in natural order; a run that lacks a topic is an error.

    >>> matrix_of({"a": {"10": 0.1, "9": 0.2}, "b": {"9": 0.3, "10": 0.4}}, "AP").values.tolist()
    [[0.2, 0.1], [0.3, 0.4]]
    """
    runs = id_texts(scores, "run", measure)
    by_text = []
    for run, of_run in zip(runs, scores.values(), strict=True):
        by_text.append(dict(zip(id_texts(of_run, "topic", run), of_run.values(), strict=True)))
    topics = natural_order({topic for of_run in by_text for topic in of_run})
    for run, of_run in zip(runs, by_text, strict=True):
        lacking = next((topic for topic in topics if topic not in of_run), None)
        if lacking is not None:
            raise DataError(f"{measure}: run {run!r} has no score for topic {lacking!r}; every run needs every topic")
    values = [
        numbers([of_run[topic] for topic in topics], "score", run) for run, of_run in zip(runs, by_text, strict=True)
    ]
    return ScoreMatrix.of(
        np.array(values).reshape(len(runs), -1), runs=runs, topics=topics, measure=measure, signature=signature
    )
