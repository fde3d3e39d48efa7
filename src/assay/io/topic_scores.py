"""Scores of millions of topics: a folder of Parquet files by run and part, and scores.json, which says what they are.

    scores/scores.json                     measures, signatures, runs, number of topics
    scores/means.csv                       the score of every run over all topics
    scores/run=bm25/part-00000.parquet     columns topic, missing and one for each measure

All runs have the same topics in the same order, part by part. `TopicScores` reads them block by block, so that memory
holds one block; `read_topic_scores` reads them whole, one ScoreMatrix per measure: eight bytes for each score, and the
names of the topics as one column of bytes.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np

from assay.core.arrays import Bools, Floats, sealed
from assay.core.errors import DataError, UsageError
from assay.core.ids import Ids
from assay.data.quantities import canonical
from assay.data.scores import ScoreMatrix
from assay.data.topic_names import TopicNames
from assay.io.files import write_whole
from assay.io.sheet import LARGEST

if TYPE_CHECKING:
    import polars

SCORES_FILE = "scores.json"
MEANS_FILE = "means.csv"
FORMAT = "assay topic scores 1"
TOPIC, MISSING = "topic", "missing"
FEW = 1_000_000
"""At most this many topics have names as usual; more are held as bytes."""
SCORES_AT_ONCE = 1 << 23
"""Scores of a block, of all runs and measures together: 64 MB."""


def is_topic_scores(path: str | Path) -> bool:
    """Whether a path is a folder of scores of topics."""
    return (Path(path) / SCORES_FILE).is_file()


def run_scores_folder(folder: Path, run: str) -> Path:
    """The folder of the scores of a run."""
    return folder / f"run={quote(run, safe=' +,@~')}"


def write_part(
    folder: Path,
    run: str,
    part: int,
    topics: Sequence[str] | polars.Series,
    missing: Bools | polars.Series,
    measures: Sequence[str],
    values: Floats | Sequence[Floats],
) -> None:
    """Write the scores of a run on some topics (measures × topics) as one Parquet file."""
    import polars

    names = topics if isinstance(topics, polars.Series) else polars.Series(list(topics), dtype=polars.String)
    columns: dict[str, Any] = {TOPIC: names, MISSING: missing}
    columns |= dict(zip(measures, values, strict=True))
    own = run_scores_folder(folder, run)
    own.mkdir(exist_ok=True)
    with said_by_system():
        polars.DataFrame(columns).write_parquet(_part_path(own, part), compression="zstd")


def _part_path(own: Path, part: int) -> Path:
    """The file of a part in the folder of a run."""
    return own / f"part-{part:05}.parquet"


def write_description(
    folder: Path, *, runs: Sequence[str], measures: Sequence[str], signatures: Sequence[str], topics: int, parts: int
) -> None:
    """Write what the scores of a folder are."""
    known = {
        "format": FORMAT,
        "runs": list(runs),
        "measures": list(measures),
        "signatures": list(signatures),
        "topics": topics,
        "parts": parts,
    }
    write_whole(folder / SCORES_FILE, json.dumps(known, indent=1) + "\n")


@dataclass(frozen=True, eq=False)
class TopicBlock:
    """The scores of all runs on some topics that follow each other."""

    rows: slice
    """Where its topics stand among all."""
    topics: polars.Series
    missing: dict[str, polars.Series]
    """Of each run, whether it lacks the topic; empty where nobody asked."""
    values: dict[str, Floats]
    """Runs × topics, by measure."""


@dataclass(frozen=True)
class TopicScores:
    """A folder of scores of topics, as its scores.json describes it; scores are read when they are asked for."""

    folder: Path
    runs: tuple[str, ...]
    measures: tuple[str, ...]
    signatures: tuple[str, ...]
    topics: int
    parts: int
    columns: tuple[str, ...]
    """What the measures are called in the files."""

    @classmethod
    def of(cls, path: str | Path, *, measures: Sequence[str | Sequence[str]] = ()) -> TopicScores:
        """The folder, with all its measures or those named, each by one or several names."""
        folder = Path(path)
        known = _description(folder)
        names = [_chosen(name, known["measures"], folder) for name in measures] or known["measures"]
        names = tuple(dict.fromkeys(names))
        signature_of = dict(zip(known["measures"], known["signatures"], strict=True))
        signatures = tuple(signature_of[name] for name in names)
        runs = tuple(known["runs"])
        return cls(folder, runs, names, signatures, known["topics"], known["parts"], names)

    def of_runs(self, runs: Sequence[str]) -> TopicScores:
        """The same folder, of which only these runs are read."""
        return replace(self, runs=tuple(runs))

    def renamed(self, measure: str) -> TopicScores:
        """The scores of the only measure taken for another, because a person says so."""
        if len(self.measures) != 1:
            names = ", ".join(self.measures)
            raise UsageError(f"{self.folder}: {names} cannot all be {measure}; choose one of them with -m")
        return replace(self, measures=(measure,), signatures=(f"{measure}|forced:{self.measures[0]}",))

    @cached_property
    def names(self) -> TopicNames:
        """The names of the topics, each of which is there once."""
        found = []
        for part in range(self.parts):
            column = _read(self._path(self.runs[0], part), [TOPIC])[TOPIC]
            found.append(ids_of(column))
        names = TopicNames.joined(found)
        if len(names) != self.topics:
            what = f"there are {len(names)} topics, and {SCORES_FILE} says {self.topics}"
            raise DataError(f"{self.folder}: {what}; score the runs again")
        if names.repeated is not None:
            raise DataError(f"{self.folder}: topic {names.repeated!r} is there twice; score the runs again")
        return names

    def blocks(self, *, missing: bool = False) -> Iterator[TopicBlock]:
        """The scores, block by block; with `missing` also which topics each run lacks.

        A part that is missing, or whose topics are not those of the other runs, is an error.
        """
        scores_of_a_topic = max(1, len(self.runs) * len(self.measures))
        step = max(1, SCORES_AT_ONCE // scores_of_a_topic)
        columns = [TOPIC, *([MISSING] if missing else []), *self.columns]
        first = 0
        for part in range(self.parts):
            size = self._size(part)
            if first + size > self.topics:
                raise self._wrong_number(first + size)
            for start in range(0, size, step):
                rows = slice(first + start, first + min(start + step, size))
                yield self._block(part, start, rows, columns)
            first += size
        if first != self.topics:
            raise self._wrong_number(first)

    def row(self, run: str, measure: str) -> Floats:
        """The scores of one run by one measure, over all topics."""
        column = self.columns[self.measures.index(measure)]
        parts = [_read(self._path(run, part), [column])[column].to_numpy() for part in range(self.parts)]
        return np.concatenate([np.zeros(0), *parts])

    def _path(self, run: str, part: int) -> Path:
        return _part_path(run_scores_folder(self.folder, run), part)

    def _size(self, part: int) -> int:
        """The topics of a part, of which every run has as many."""
        sizes = {run: _count(self._path(run, part)) for run in self.runs}
        for run, size in sizes.items():
            if size != sizes[self.runs[0]]:
                raise self._other_topics(part, run)
        return sizes[self.runs[0]]

    def _block(self, part: int, start: int, rows: slice, columns: Sequence[str]) -> TopicBlock:
        """The scores of the topics of a part from `start` on."""
        size = rows.stop - rows.start
        values = {name: np.empty((len(self.runs), size)) for name in self.measures}
        missing: dict[str, polars.Series] = {}
        topics: polars.Series | None = None
        for number, run in enumerate(self.runs):
            frame = _read(self._path(run, part), columns, start, size)
            if topics is None:
                topics = frame[TOPIC]
            elif not frame[TOPIC].equals(topics):
                raise self._other_topics(part, run)
            if MISSING in columns:
                missing[run] = frame[MISSING]
            for name, column in zip(self.measures, self.columns, strict=True):
                values[name][number] = frame[column].to_numpy()
        assert topics is not None
        return TopicBlock(rows, topics, missing, values)

    def _other_topics(self, part: int, run: str) -> DataError:
        what = f"part {part} of run {run!r} has other topics than that of {self.runs[0]!r}"
        return DataError(f"{self.folder}: {what}; score the runs together")

    def _wrong_number(self, seen: int) -> DataError:
        what = f"there are {seen} topics or more, and {SCORES_FILE} says {self.topics}"
        return DataError(f"{self.folder}: {what}; score the runs again")


def read_topic_scores(path: str | Path, *, measures: Sequence[str | Sequence[str]] = ()) -> list[ScoreMatrix]:
    """The scores of a folder, one matrix per measure: of all measures, or of those named, each by one or several names.

    A part that is missing, or whose topics are not those of the other runs, is an error.
    """
    scores = TopicScores.of(path, measures=measures)
    shape = (len(scores.runs), scores.topics)
    values = {name: np.empty(shape) for name in scores.measures}
    columns: list[Ids] = []
    for block in scores.blocks():
        columns.append(ids_of(block.topics))
        for name in scores.measures:
            values[name][:, block.rows] = block.values[name]
    topics = TopicNames.joined(columns)
    shown: Any = tuple(topics) if len(topics) <= FEW else topics
    matrices = []
    for name, signature in zip(scores.measures, scores.signatures, strict=True):
        matrices.append(ScoreMatrix(scores.runs, shown, sealed(values.pop(name)), name, signature))
    return matrices


def _chosen(names: str | Sequence[str], known: Sequence[str], folder: Path) -> str:
    """The measure of the folder that has one of these names."""
    spellings = [names] if isinstance(names, str) else names
    for name in spellings:
        for measure in known:
            if canonical(name) == canonical(measure):
                return measure
    have = ", ".join(known)
    raise UsageError(f"{folder}: no measure {spellings[0]!r}; the folder has: {have}")


def _description(folder: Path) -> dict[str, Any]:
    path = folder / SCORES_FILE
    try:
        known: dict[str, Any] = json.loads(path.read_text())
        if known["format"] != FORMAT:
            raise ValueError(f"its format is {known['format']!r}, not {FORMAT!r}")
        for key in ("runs", "measures", "signatures"):
            _refuse_other_texts(key, known[key])
        for key in ("topics", "parts"):
            if type(known[key]) is not int or known[key] < 0:
                raise ValueError(f"{key} is {known[key]!r}")
        if len(known["measures"]) != len(known["signatures"]):
            raise ValueError("every measure needs a signature")
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"{path}: this does not describe scores of topics ({error}); score the runs again") from None
    return known


def _refuse_other_texts(key: str, texts: Any) -> None:
    """An error where what stands under a key is not a list of texts, or has none."""
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
        raise ValueError(f"{key} is no list of texts")
    if key != "signatures" and len(set(texts)) < len(texts):
        raise ValueError(f"{key} has a name twice")


def _count(path: Path) -> int:
    """The topics of a part."""
    import polars

    with _said_of_parts(path):
        return int(polars.scan_parquet(path, glob=False).select(polars.len()).collect().item())


def _read(path: Path, columns: Sequence[str], start: int = 0, size: int | None = None) -> polars.DataFrame:
    """These columns of a part, all its topics or some; scores are numbers and nothing is left empty."""
    import polars

    with _said_of_parts(path):
        frame = polars.scan_parquet(path, glob=False).select(columns).slice(start, size).collect()
    kinds = {TOPIC: polars.String, MISSING: polars.Boolean}
    for column in frame.get_columns():
        kind = kinds.get(column.name, polars.Float64)
        if column.dtype != kind or column.null_count():
            what = f"column {column.name!r} has empty cells or is of type {column.dtype}, not {kind}"
            raise DataError(f"{path}: {what}; score the runs again")
        if kind == polars.Float64:
            _refuse_large(path, column)
    return frame


def _refuse_large(path: Path, column: polars.Series) -> None:
    """An error where a score is too large to compute with: bytes that were changed decode to such numbers."""
    scores = column.to_numpy()
    largest = max(scores.max(initial=0.0), -scores.min(initial=0.0))
    if np.isfinite(largest) and largest > LARGEST:
        what = f"column {column.name!r} has a score of {largest:g} in size, and at most {LARGEST:g} is possible"
        raise DataError(f"{path}: {what}; copy the part again, or score the runs again")


@contextmanager
def _said_of_parts(path: Path) -> Iterator[None]:
    """What polars says of a part that cannot be read, in one line that says what to do."""
    import polars

    try:
        yield
    except FileNotFoundError:
        raise DataError(f"{path}: the part is not there; copy it from where it was written") from None
    except (polars.exceptions.PolarsError, OSError) as error:
        first_line = str(error).splitlines()[0]
        raise DataError(f"{path}: not a part of scores of topics ({first_line}); score the runs again") from None


@contextmanager
def said_by_system() -> Iterator[None]:
    """What polars says of a file that it cannot write, as the error of the system that it is."""
    import polars

    try:
        yield
    except polars.exceptions.PolarsError as error:
        number = re.search(r"\(os error (\d+)\)", str(error))
        if number is None:
            raise
        raise OSError(int(number[1]), os.strerror(int(number[1]))) from None


def ids_of(topics: polars.Series) -> Ids:
    """The names of topics as a column of bytes."""
    from assay.io._parser import texts

    joined, sizes = texts(topics)
    lengths = np.frombuffer(sizes, dtype=np.int64)
    buffer = np.frombuffer(joined + bytes(16), dtype=np.uint8)
    return Ids(buffer, np.cumsum(lengths) - lengths, lengths)
