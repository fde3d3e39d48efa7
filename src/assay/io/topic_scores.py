"""Scores of millions of topics: a folder of Parquet files by run and part, and scores.json, which says what they are.

    scores/scores.json                     measures, signatures, runs, number of topics
    scores/means.csv                       the score of every run over all topics
    scores/run=bm25/part-00000.parquet     columns topic, missing and one for each measure

All runs have the same topics in the same order, part by part. What is read back is one ScoreMatrix per measure: eight
bytes for each score, and the names of the topics as one column of bytes.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from assay.core.arrays import Bools, Floats, sealed
from assay.core.errors import DataError, UsageError
from assay.core.ids import Ids
from assay.data.quantities import canonical
from assay.data.scores import ScoreMatrix
from assay.data.topic_names import TopicNames

SCORES_FILE = "scores.json"
MEANS_FILE = "means.csv"
TOPIC, MISSING = "topic", "missing"
FEW = 1_000_000
"""At most this many topics have names as usual; more are held as bytes."""


def is_topic_scores(path: str | Path) -> bool:
    """Whether a path is a folder of scores of topics."""
    return (Path(path) / SCORES_FILE).is_file()


def run_scores_folder(folder: Path, run: str) -> Path:
    """The folder of the scores of a run."""
    return folder / f"run={quote(run, safe=' +,@~')}"


def write_part(
    folder: Path, run: str, part: int, topics: Sequence[str], missing: Bools, measures: Sequence[str], values: Floats
) -> None:
    """Write the scores of a run on some topics (measures × topics) as one Parquet file."""
    import polars

    columns: dict[str, Any] = {TOPIC: polars.Series(list(topics), dtype=polars.String), MISSING: missing}
    columns |= dict(zip(measures, values, strict=True))
    own = run_scores_folder(folder, run)
    own.mkdir(exist_ok=True)
    polars.DataFrame(columns).write_parquet(own / f"part-{part:05}.parquet", compression="zstd")


def write_description(
    folder: Path, *, runs: Sequence[str], measures: Sequence[str], signatures: Sequence[str], topics: int, parts: int
) -> None:
    """Write what the scores of a folder are."""
    known = {
        "format": "assay topic scores 1",
        "runs": list(runs),
        "measures": list(measures),
        "signatures": list(signatures),
        "topics": topics,
        "parts": parts,
    }
    (folder / SCORES_FILE).write_text(json.dumps(known, indent=1) + "\n")


def read_topic_scores(path: str | Path, *, measures: Sequence[str | Sequence[str]] = ()) -> list[ScoreMatrix]:
    """The scores of a folder, one matrix per measure: of all measures, or of those named, each by one or several names.

    A part that is missing, or whose topics are not those of the other runs, is an error.
    """
    folder = Path(path)
    known = _description(folder)
    names = [_chosen(name, known["measures"], folder) for name in measures] or known["measures"]
    names = list(dict.fromkeys(names))
    shape = (len(known["runs"]), known["topics"])
    values = {name: np.empty(shape) for name in names}
    columns: list[Ids] = []
    for number, run in enumerate(known["runs"]):
        first = 0
        for part in range(known["parts"]):
            frame, topics = _part(run_scores_folder(folder, run) / f"part-{part:05}.parquet", names)
            after = first + len(topics)
            if number == 0:
                columns.append(topics)
            elif len(topics) != len(columns[part]) or not topics.same_as(columns[part]).all():
                what = f"part {part} of run {run!r} has other topics than that of {known['runs'][0]!r}"
                raise DataError(f"{folder}: {what}; score the runs together")
            if after > known["topics"]:
                raise _wrong_number(folder, after, known["topics"])
            for name in names:
                values[name][number, first:after] = frame[name].to_numpy()
            first = after
        if first != known["topics"]:
            raise _wrong_number(folder, first, known["topics"])
    topics_of_all = TopicNames.joined(columns)
    shown: Any = tuple(topics_of_all) if len(topics_of_all) <= FEW else topics_of_all
    signatures = dict(zip(known["measures"], known["signatures"], strict=True))
    runs = tuple(known["runs"])
    return [ScoreMatrix(runs, shown, sealed(values.pop(name)), name, signatures[name]) for name in names]


def _wrong_number(folder: Path, seen: int, known: int) -> DataError:
    return DataError(f"{folder}: there are {seen} topics or more, and {SCORES_FILE} says {known}; score the runs again")


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
        for key in ("runs", "measures", "signatures"):
            known[key] = [str(text) for text in known[key]]
        for key in ("topics", "parts"):
            known[key] = int(known[key])
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"{path}: this does not describe scores of topics ({error}); score the runs again") from None
    return known


def _part(path: Path, measures: Sequence[str]) -> tuple[Any, Ids]:
    """The columns of the measures of a part, and its topics."""
    import polars

    from assay.io._parser import texts

    try:
        frame = polars.read_parquet(path, columns=[TOPIC, *measures])
        for name in measures:
            if frame[name].dtype != polars.Float64 or frame[name].null_count():
                raise DataError(f"{path}: column {name!r} is no column of scores; score the runs again")
        joined, sizes = texts(frame[TOPIC].cast(polars.String))
    except FileNotFoundError:
        raise DataError(f"{path}: the part is not there; copy it from where it was written") from None
    except (polars.exceptions.PolarsError, OSError) as error:
        first_line = str(error).splitlines()[0]
        raise DataError(f"{path}: not a part of scores of topics ({first_line}); score the runs again") from None
    lengths = np.frombuffer(sizes, dtype=np.int64)
    buffer = np.frombuffer(joined + bytes(16), dtype=np.uint8)
    return frame, Ids(buffer, np.cumsum(lengths) - lengths, lengths)
