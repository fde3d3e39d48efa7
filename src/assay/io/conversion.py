"""From one format to another: a file is recognised, read and written again, and nothing gets lost without a word."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.core.errors import DataError, UsageError
from assay.core.files_read import one_command
from assay.core.registry import did_you_mean
from assay.core.results import Result
from assay.core.tables import Table
from assay.data import Labels, Qrels, Run, Topics
from assay.io.column_names import Named, shared_columns
from assay.io.content import Content
from assay.io.recognition import KINDS, looked_at
from assay.io.writers import FORMATS, format_of, write

CONVERTED: tuple[str, ...] = tuple(FORMATS)
"""The kinds of thing that can be converted."""
WITHOUT_SCORES = frozenset({"msmarco"})
WITHOUT_NAMES = frozenset({"msmarco", "json", "ranx"})


@dataclass(frozen=True)
class Conversion(Result):
    """What was converted: from which file and format to which, what it is, and how much; what the target leaves out."""

    source: str
    target: str
    kind: str
    format: str
    rows: int
    remarks: tuple[str, ...] = ()

    def table(self) -> Table:
        """One row that says it all, and the remarks below."""
        columns = {"from": "", "to": "", "kind": "", "format": "", "rows": ",d"}
        row = (self.source, self.target, self.kind, self.format, self.rows)
        return Table.of(columns, [row], notes=list(self.remarks))


def convert(
    source: str | Path,
    target: str | Path,
    *,
    to: str | None = None,
    kind: str | None = None,
    columns: Named = None,
    levels: Mapping[str, float] | None = None,
) -> Conversion:
    """Write what a file holds to another file in another format.

    What it holds (a run, judgments, labels …) is recognised; where it can be several things, `kind` says which. The
    ending of the target says its format, or `to` does: trec, ntcir, beir, msmarco, ranx, csv, tsv, jsonl, json,
    parquet, arrow …. What the target cannot hold is an error, but a run may go to a format of ranks: then its scores
    are left out, which the remarks say. columns: our column → that of a table; levels: words of labels → numbers.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "qrels.txt").write_text("1 0 a 2\\n1 0 b 0\\n")
    >>> convert(folder / "qrels.txt", folder / "qrels.tsv", to="beir").rows
    2
    >>> (folder / "qrels.tsv").read_text()
    'query-id\\tcorpus-id\\tscore\\n1\\ta\\t2\\n1\\tb\\t0\\n'
    """
    with one_command(force=True):
        return _converted(source, target, to, kind, columns, levels)


def _converted(
    source: str | Path,
    target: str | Path,
    to: str | None,
    kind: str | None,
    columns: Named,
    levels: Mapping[str, float] | None,
) -> Conversion:
    shared = shared_columns(columns)
    what = _kind(source, kind, shared)
    format = format_of(target, what, to)
    if levels and what != "labels":
        raise UsageError(f"grades of words go with labels, and {source} is {KINDS[what]}; leave them out")
    thing = _READERS[what](source, shared, levels)
    if shared is not None:
        shared.refuse_unused()
    remarks: tuple[str, ...] = ()
    if isinstance(thing, list) and what == "run":
        if len(thing) > 1 and format not in ("csv", "tsv", "jsonl", "parquet", "arrow", "json"):
            raise DataError(f"{target}: there are {len(thing)} runs in {source}, and {format} holds one; write a table")
        remarks = _left_out(thing, format)
    _write(target, thing, what, format)
    return Conversion(str(source), str(target), what, format, _size(thing), remarks)


def _kind(source: str | Path, kind: str | None, columns: Named) -> str:
    """What the file is taken to be."""
    if kind is not None:
        if kind not in CONVERTED:
            raise UsageError(f"no kind {kind!r}{did_you_mean(kind, CONVERTED)}")
        return kind
    if str(source) == "-":
        raise UsageError(f"what is on standard input must be said: kind= (--kind), one of {', '.join(CONVERTED)}")
    content = Content.of(source)
    looked = looked_at(content, columns)
    possible = list(dict.fromkeys(known.kind for known in looked.possible))
    if looked.sample.syntax in ("parquet", "arrow"):
        possible = _kinds_of_columns(content, looked.sample, columns)
    if not possible:
        raise UsageError(
            f"{source}: it cannot be seen what this is; say it with kind= (--kind): {', '.join(CONVERTED)}"
        )
    if possible[0] not in CONVERTED:
        raise UsageError(f"{source} is {KINDS[possible[0]]}, which is not converted; kinds are {', '.join(CONVERTED)}")
    is_settled = len(possible) == 1 or looked.sample.syntax in ("lines", "table")
    if not is_settled:
        choice = " or ".join(KINDS[known] for known in possible)
        raise UsageError(f"{source}: this can be {choice}; say which with kind= (--kind): {', '.join(possible)}")
    return possible[0]


def _kinds_of_columns(content: Content, sample: Any, columns: Named) -> list[str]:
    from assay.io.recognition import kinds_of_table
    from assay.io.sheet import sheet_in

    sheet = sheet_in(content, sample)
    return kinds_of_table(sheet.header, sheet.rows[:50], columns)


def _runs(source: str | Path, columns: Named, levels: Any) -> list[Run]:
    from assay.io.readers import read_runs

    return read_runs(source, columns=columns)


def _qrels(source: str | Path, columns: Named, levels: Any) -> Qrels:
    from assay.io.readers import read_qrels

    return read_qrels(source, columns=columns)


def _intents(source: str | Path, columns: Named, levels: Any) -> Any:
    from assay.io.intents import intent_rows

    if columns:
        raise UsageError("judgments by intent are lines without columns; leave their names out")
    return list(intent_rows(source))


def _labels(source: str | Path, columns: Named, levels: Mapping[str, float] | None) -> Labels:
    from assay.io.labels import read_labels

    return read_labels(source, columns=columns, levels=levels)


def _scores(source: str | Path, columns: Named, levels: Any) -> Any:
    from assay.io.scores import read_scores

    return read_scores(source, columns=columns)


def _topics(source: str | Path, columns: Named, levels: Any) -> Topics:
    from assay.io.topics import read_topics

    return read_topics(source, columns=columns)


def _docs(source: str | Path, columns: Named, levels: Any) -> Any:
    from assay.io.docs import read_docs

    return read_docs(source, columns=columns)


_READERS: dict[str, Callable[[str | Path, Named, Any], Any]] = {
    "run": _runs,
    "qrels": _qrels,
    "intents": _intents,
    "labels": _labels,
    "scores": _scores,
    "topics": _topics,
    "docs": _docs,
}


def _left_out(runs: list[Run], format: str) -> tuple[str, ...]:
    """What a format of runs does not hold."""
    remarks = []
    if format in WITHOUT_SCORES:
        remarks.append(f"{format} holds ranks: the scores are left out")
    if format in WITHOUT_NAMES and len(runs) == 1:
        remarks.append(f"{format} has no name of the run: {runs[0].name!r} is left out, and the file is called for it")
    return tuple(remarks)


def _write(target: str | Path, thing: Any, what: str, format: str) -> None:
    if what == "docs":
        from assay.io.docs import write_docs

        write_docs(target, thing, format=format)
    elif what == "intents":
        from assay.io.intents import write_intent_qrels

        write_intent_qrels(target, thing)
    elif what == "run":
        _write_runs(target, thing, format)
    else:
        write(target, thing, format=format)


def _write_runs(target: str | Path, runs: list[Run], format: str) -> None:
    """One run, or several in one file."""
    if len(runs) == 1:
        write(target, runs[0], format=format)
        return
    from assay.io.nested import write_several
    from assay.io.tabular import write_runs

    if format == "json":
        write_several(target, runs)
    else:
        write_runs(target, runs, format=format)


def _size(thing: Any) -> int:
    """How many rows a thing has: docs of runs, judgments, labels, scores, topics."""
    if isinstance(thing, list) and thing and not isinstance(thing[0], tuple):
        return sum(one.values.size if hasattr(one, "values") else len(one) for one in thing)
    return len(thing.label) if isinstance(thing, Labels) else len(thing)
