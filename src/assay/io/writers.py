"""`write`: a run, judgments, labels, scores or topics to a file, in the format of its ending or in a named one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from assay.core.errors import UsageError
from assay.core.registry import did_you_mean
from assay.data import Labels, Qrels, Run, ScoreMatrix, Topics
from assay.io import trec
from assay.io.files import TABLES, table_format

FORMATS: Mapping[str, tuple[str, ...]] = {
    "run": ("trec", "msmarco", "ranx", *TABLES),
    "qrels": ("trec", "ntcir", "beir", "msmarco", "ranx", *TABLES),
    "intents": ("trec",),
    "labels": tuple(TABLES),
    "scores": ("tot", "ir_measures", "trec_eval", *TABLES),
    "topics": ("trec", "lines", "beir", *TABLES),
    "docs": ("beir", "lines", *TABLES),
}
"""The formats in which each kind of thing can be written."""
UNLESS_NAMED = {"run": "trec", "qrels": "trec", "intents": "trec", "labels": "csv", "scores": "csv"}
UNLESS_NAMED |= {"topics": "trec", "docs": "beir"}
"""The format of each kind where neither the ending nor the person names one."""
ALL_FORMATS = tuple(dict.fromkeys(format for formats in FORMATS.values() for format in formats))


def format_of(path: str | Path, what: str, to: str | None = None) -> str:
    """The format in which a thing of that kind is written to a path.

    >>> format_of("bm25.run", "run"), format_of("bm25.csv.gz", "run"), format_of("dev.tsv", "qrels", "beir")
    ('trec', 'csv', 'beir')
    """
    if to is not None and to not in FORMATS[what]:
        known = did_you_mean(to, FORMATS[what])
        raise UsageError(f"{path}: {_PLURAL[what]} are not written as {to!r}{known}")
    if to is not None:
        return to
    named = table_format(path)
    return named if named in FORMATS[what] else UNLESS_NAMED[what]


_PLURAL = {
    "run": "runs", "qrels": "judgments", "intents": "judgments by intent", "labels": "labels", "scores": "scores",
    "topics": "topics", "docs": "docs",
}  # fmt: skip


def write_run(path: str | Path, run: Run, *, format: str | None = None) -> None:
    """A run in that format, or in the one of the file's ending."""
    how = format_of(path, "run", format)
    if how == "trec":
        trec.write_run(path, run)
        return
    from assay.io import msmarco, nested, ranx, tabular

    if how == "msmarco":
        msmarco.write_run(path, run)
    elif how == "ranx":
        ranx.write_run(path, run)
    elif how == "json":
        nested.write_nested(path, run)
    else:
        tabular.write_run(path, run, format=how)


def write_qrels(path: str | Path, qrels: Qrels, *, format: str | None = None) -> None:
    """Judgments in that format, or in the one of the file's ending."""
    how = format_of(path, "qrels", format)
    if how == "trec":
        trec.write_qrels(path, qrels)
        return
    from assay.io import beir, msmarco, nested, ntcir, ranx, tabular

    own: dict[str, Callable[[str | Path, Qrels], None]] = {
        "msmarco": msmarco.write_qrels,
        "ntcir": ntcir.write_qrels,
        "beir": beir.write_qrels,
        "ranx": ranx.write_qrels,
        "json": nested.write_nested,
    }
    if how in own:
        own[how](path, qrels)
    else:
        tabular.write_qrels(path, qrels, format=how)


def refuse_unfit(path: str | Path, table: Run | Qrels) -> None:
    """An error if the format of the file's ending cannot hold these ids; for whoever writes other things first."""
    if table_format(path) is None:
        trec.refuse_blanks(path, table)


Written = Run | Qrels | Labels | Topics | ScoreMatrix | Sequence[ScoreMatrix]


def write(path: str | Path, thing: Written, *, format: str | None = None) -> None:
    """A run, judgments, labels, scores or topics to a file, whole or not at all.

    The format is that of the ending (.csv, .tsv, .jsonl, .json, .parquet, .arrow), or the one that is named: "beir",
    "msmarco", "ntcir", "ranx" …. Otherwise runs, judgments and topics are TREC files, labels and scores CSV. A second
    ending .gz, .xz or .zst compresses. What was written is read back by `read_run`, `read_qrels`, `read_labels`,
    `read_scores` and `read_topics`.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> write(folder / "qrels.txt", Qrels.from_dict({"1": {"a": 2, "b": 0.5}}))
    >>> (folder / "qrels.txt").read_text()
    '1 0 a 2.0\\n1 0 b 0.5\\n'
    """
    if isinstance(thing, Run):
        write_run(path, thing, format=format)
    elif isinstance(thing, Qrels):
        write_qrels(path, thing, format=format)
    elif isinstance(thing, Labels):
        from assay.io.labels import write_labels

        write_labels(path, thing, format=format_of(path, "labels", format))
    elif isinstance(thing, Topics):
        from assay.io.topics import write_topics

        write_topics(path, thing, format=format_of(path, "topics", format))
    else:
        _write_scores(path, thing, format)


def _write_scores(path: str | Path, thing: Any, format: str | None) -> None:
    from assay.io.scores import write_scores

    matrices = [thing] if isinstance(thing, ScoreMatrix) else thing
    if not isinstance(matrices, Sequence) or not all(isinstance(m, ScoreMatrix) for m in matrices):
        known = "Run, Qrels, Labels, Topics, ScoreMatrix or several of the last"
        raise UsageError(f"{path}: {type(thing).__name__} cannot be written; what can be is {known}")
    write_scores(path, matrices, format=format_of(path, "scores", format))
