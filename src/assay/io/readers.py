"""read_run, read_runs and read_qrels: a file is recognised by its content, and read by the module of its format.

Modules are imported where they are needed: most runs are TREC files.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from assay.core.errors import DataError
from assay.data import Qrels, Run
from assay.io import irds, trec
from assay.io.addresses import address_of
from assay.io.column_names import Named, SharedColumns, has_usual
from assay.io.content import Content
from assay.io.files import is_compressed, kind, table_format
from assay.io.json_values import refuse_overflow
from assay.io.recognition import looked_at
from assay.io.rows import BLANKS
from assay.io.samples import Sample, binary_format, separator_of

TREC_LINES = frozenset({"trec", "lines", "empty", "sgml"})
"""Formats that the reader of TREC files reads, or says what is wrong with."""
LARGE_TABLE = 1 << 22
"""Bytes from which on a Parquet or Arrow file of judgments is read some rows at a time."""
BLOCK = 4096
"""Bytes at the beginning and at the end of a file that say whether it may hold several runs."""


def read_run(path: str | Path, *, ranks: bool = False, threads: int = 1, columns: Named = None) -> Run:
    """A run from a file of any format; `-` is standard input. A file with several runs is an error.

    Formats: TREC's, MS MARCO's and NTCIR's files, tables (CSV, TSV, JSON, JSONL, Parquet, Arrow) and nested JSON. The
    content says which, whatever the ending. A file without scores is in the order of its ranks.
    ranks: keep the rank column, for ties="rank". columns: our column → that of a table, e.g. {"topic": "question"}.

    `irds:ID` is the scored docs of a dataset of ir_datasets.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "bm25.run"
    >>> _ = path.write_text("1 Q0 a 1 2.5 bm25\\n1 Q0 b 2 1.5 bm25\\n")
    >>> read_run(path).ranking("1")
    ['a', 'b']
    """
    return only_run(read_runs(path, ranks=ranks, threads=threads, columns=columns), path)


def only_run(runs: list[Run], path: str | Path) -> Run:
    """The run of a file; an error if there are several."""
    refuse_several([run.name for run in runs], path)
    return runs[0]


def refuse_several(names: Sequence[str], path: str | Path) -> None:
    """An error if a file has several runs where one is expected."""
    if len(names) > 1:
        first = ", ".join(names[:5])
        what = f"there are {len(names)} runs in this file ({first}{' …' if len(names) > 5 else ''})"
        raise DataError(f"{path}: {what}, and one is expected; give one, or several as .json, .csv or .parquet")


def read_runs(path: str | Path, *, ranks: bool = False, threads: int = 1, columns: Named = None) -> list[Run]:
    """All runs of a file: as `read_run`, and several where a table has a column `run` or JSON names them."""
    if irds.is_irds(path):
        refuse_columns(str(path), columns)
        return [irds.run(path)]
    return runs_in(Content.of(path, threads=threads), ranks=ranks, threads=threads, columns=columns)


def runs_in(content: Content, *, ranks: bool = False, threads: int = 1, columns: Named = None) -> list[Run]:
    """All runs of a file whose content was read."""
    looked = looked_at(content, columns)
    format = looked.as_kind(content, "run")
    if format in TREC_LINES:
        refuse_columns(content.where, columns)
        return [trec.run_in(content, ranks=ranks, threads=threads)]
    return _runs_of_format(content, looked.sample, format, columns, ranks)


def _runs_of_format(content: Content, sample: Sample, format: str, columns: Named, ranks: bool) -> list[Run]:
    from assay.io import msmarco, nested, ntcir, tabular

    if format == "msmarco":
        refuse_columns(content.where, columns)
        return [msmarco.run_in(content)]
    if format == "ntcir":
        refuse_columns(content.where, columns)
        return [ntcir.run_in(content, ranks=ranks)]
    if nested.is_nested(sample):
        refuse_columns(content.where, columns)
        runs = nested.runs_in(content, sample)
    else:
        runs = tabular.runs_in(content, sample, columns)
    if sample.syntax in ("json", "jsonl") and any(np.isinf(run.scores).any() for run in runs):
        refuse_overflow(content.where, content.bytes(), "score")
    return runs


def read_qrels(path: str | Path, *, columns: Named = None) -> Qrels:
    """Judgments from a file of any format; `-` is standard input. Grades may be fractions.

    Formats: files of TREC, NTCIR, MS MARCO and BEIR, tables (CSV, TSV, JSON, JSONL, Parquet, Arrow), nested JSON. The
    content says which, whatever the ending. columns: our column → that of a table, e.g. {"grade": "stars"}.

    `irds:ID` is the qrels of a dataset of ir_datasets.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "qrels.txt"
    >>> _ = path.write_text("1 0 a 2\\n1 0 b 0\\n")
    >>> read_qrels(path).to_dict()
    {'1': {'a': 2, 'b': 0}}
    """
    if irds.is_irds(path):
        refuse_columns(str(path), columns)
        return irds.plain_judgments(path)
    large = _large_qrels(path, columns)
    if large is not None:
        return large
    content = Content.of(path)
    looked = looked_at(content, columns)
    format = looked.as_kind(content, "qrels")
    if format in TREC_LINES:
        refuse_columns(content.where, columns)
        return trec.qrels_in(content)
    from assay.io import nested, ntcir, tabular

    if format == "ntcir":
        refuse_columns(content.where, columns)
        return ntcir.qrels_in(content)
    if nested.is_nested(looked.sample):
        refuse_columns(content.where, columns)
        return nested.qrels_in(content, looked.sample)
    return tabular.qrels_in(content, looked.sample, columns)


def _large_qrels(path: str | Path, columns: Named) -> Qrels | None:
    """The judgments of a large Parquet or Arrow file, read some rows at a time; None of any other file."""
    where = str(path)
    if not os.path.isfile(where) or os.path.getsize(where) < LARGE_TABLE:
        return None
    with open(where, "rb") as file:
        how = binary_format(file.read(8))
    if how is None:
        return None
    from assay.io.large_qrels import large_qrels

    return large_qrels(where, how, columns)


def refuse_columns(where: str, columns: Named) -> None:
    """An error if columns are named for this file alone, and it has none."""
    if columns and not isinstance(columns, SharedColumns):
        ours, theirs = next(iter(columns.items()))
        what = f"columns are named ({ours}={theirs}), and the file is no table"
        raise DataError(f"{where}: {what}; leave them out")


def holds_several(path: str | Path) -> bool:
    """Whether a file may hold several runs, as far as its beginning and its end tell.

    Only files with the ending of a table or of JSON are opened for that: most files are TREC runs, and pipes can be
    read only once.
    """
    if table_format(path) is None:
        return False
    if address_of(path) is not None:  # it is fetched as a whole anyway
        return True
    if not Path(path).is_file():
        return False
    with open(path, "rb") as file:
        head = file.read(BLOCK)
        size = os.fstat(file.fileno()).st_size
        file.seek(max(0, size - BLOCK))
        tail = file.read()
    if is_compressed(head):  # what is within would have to be unpacked first
        return True
    if binary_format(head) is not None or head.lstrip(BLANKS)[:1] in (b"{", b"["):
        return True
    return _names_change(head.decode(errors="replace"), tail.decode(errors="replace"), kind(path))


def _names_change(head: str, tail: str, ending: str) -> bool:
    """Whether the first and the last row of a table with a column `run` are of different runs."""
    header, _, rest = head.partition("\n")
    separator = separator_of(header, ending)
    names = header.split(separator)
    if not rest or not has_usual(names, "run"):
        return False
    place = next(at for at, name in enumerate(names) if has_usual([name], "run"))
    first_row = rest.partition("\n")[0].split(separator)
    last_row = tail.rstrip().rpartition("\n")[2].split(separator)
    return first_row[place : place + 1] != last_row[place : place + 1]
