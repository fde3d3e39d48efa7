"""read_run, read_qrels and `write`: the ending of the file says the format, and TREC's own is taken where it does not.

Tables are read by `tabular`, which is imported only where there is one: most runs are TREC files.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from assay.core.errors import UsageError
from assay.data import Labels, Qrels, Run, ScoreMatrix
from assay.io import irds, trec
from assay.io.files import TABULAR, kind


def has_lines(path: str | Path) -> bool:
    """Whether this is a file of TREC's own lines: neither a table nor a dataset of ir_datasets.

    >>> has_lines("bm25.run"), has_lines("bm25.parquet"), has_lines("irds:cranfield")
    (True, False, False)
    """
    return kind(path) not in TABULAR and not irds.is_irds(path)


def read_run(path: str | Path, *, ranks: bool = False, threads: int = 1) -> Run:
    """A run from a TREC file or a table; `-` is standard input. See `trec.read_run` for the options.

    `irds:ID` is the scored docs of a dataset of ir_datasets.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "bm25.run"
    >>> _ = path.write_text("1 Q0 a 1 2.5 bm25\\n1 Q0 b 2 1.5 bm25\\n")
    >>> read_run(path).ranking("1")
    ['a', 'b']
    """
    if has_lines(path):
        return trec.read_run(path, ranks=ranks, threads=threads)
    if irds.is_irds(path):
        return irds.run(path)
    from assay.io import tabular

    return tabular.read_run(path)


def read_qrels(path: str | Path) -> Qrels:
    """Judgments from a TREC file or a table; `-` is standard input. Grades may be fractions.

    `irds:ID` is the qrels of a dataset of ir_datasets.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "qrels.txt"
    >>> _ = path.write_text("1 0 a 2\\n1 0 b 0\\n")
    >>> read_qrels(path).to_dict()
    {'1': {'a': 2, 'b': 0}}
    """
    if has_lines(path):
        return trec.read_qrels(path)
    if irds.is_irds(path):
        return irds.plain_judgments(path)
    from assay.io import tabular

    return tabular.read_qrels(path)


def write_run(path: str | Path, run: Run) -> None:
    """A run in the format of the file's ending."""
    if kind(path) not in TABULAR:
        trec.write_run(path, run)
        return
    from assay.io import tabular

    tabular.write_run(path, run)


def refuse_unfit(path: str | Path, table: Run | Qrels) -> None:
    """An error if the format of the file's ending cannot hold these ids; for whoever writes other things first."""
    if kind(path) not in TABULAR:
        trec.refuse_blanks(path, table)


def write_qrels(path: str | Path, qrels: Qrels) -> None:
    """Judgments in the format of the file's ending."""
    if kind(path) not in TABULAR:
        trec.write_qrels(path, qrels)
        return
    from assay.io import tabular

    tabular.write_qrels(path, qrels)


def write(path: str | Path, thing: Run | Qrels | Labels | ScoreMatrix | Sequence[ScoreMatrix]) -> None:
    """A run, judgments, labels or scores to a file, in the format of its ending, whole or not at all.

    Runs and judgments are TREC files unless the ending is .csv, .tsv, .jsonl or .parquet; labels and scores are always
    tables. A second ending .gz, .xz or .zst compresses. What was written is read back by `read_run`, `read_qrels`,
    `read_labels` and `read_scores`.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> write(folder / "qrels.txt", Qrels.from_dict({"1": {"a": 2, "b": 0.5}}))
    >>> (folder / "qrels.txt").read_text()
    '1 0 a 2.0\\n1 0 b 0.5\\n'
    """
    if isinstance(thing, Run):
        write_run(path, thing)
    elif isinstance(thing, Qrels):
        write_qrels(path, thing)
    elif isinstance(thing, Labels):
        from assay.io.labels import write_labels

        write_labels(path, thing)
    else:
        _write_scores(path, thing)


def _write_scores(path: str | Path, thing: ScoreMatrix | Sequence[ScoreMatrix]) -> None:
    from assay.io.scores import write_scores

    matrices = [thing] if isinstance(thing, ScoreMatrix) else thing
    if not isinstance(matrices, Sequence) or not all(isinstance(m, ScoreMatrix) for m in matrices):
        known = "Run, Qrels, Labels, ScoreMatrix or several of the last"
        raise UsageError(f"{path}: {type(thing).__name__} cannot be written; what can be is {known}")
    write_scores(path, matrices)
