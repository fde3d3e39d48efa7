"""Collections by their name: `irds:ID` stands for a dataset of the package ir_datasets wherever a path is taken.

Its qrels are judgments (by intent where they have subtopics), its queries are topics, its scored docs are a run, its
docs are docs, and give their lengths. The package downloads what it does not have, or says how to get it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.core.dataframes import AnyFrame
from assay.core.errors import DataError, MissingExtra, UsageError
from assay.core.registry import did_you_mean
from assay.data import IntentQrels, Qrels, Run, Topics

if TYPE_CHECKING:
    import logging

PREFIX = "irds:"
PARTS = {"qrels": "judgments", "queries": "topics", "scoreddocs": "run", "docs": "docs"}
"""What a dataset may have, and what that is here."""
MOST_WORDS = 160
"""Characters of a reason that somebody else's package gives."""


def is_irds(path: object) -> bool:
    """Whether a path is the name of a dataset.

    >>> is_irds("irds:cranfield"), is_irds(Path("irds:beir/scifact/test")), is_irds("qrels.txt")
    (True, True, False)
    """
    return isinstance(path, str | Path) and str(path).startswith(PREFIX)


def judgments(path: str | Path) -> Qrels | IntentQrels:
    """The qrels of a dataset; with subtopics, judgments by intent. Probabilities of sampled qrels are left out."""
    from assay.io.frame_tables import qrels_in

    dataset = _dataset(path, "qrels")
    columns = {"topic": "query_id", "doc": "doc_id", "grade": "relevance"}
    if "subtopic_id" in dataset.qrels_cls()._fields:
        columns["intent"] = "subtopic_id"
    table = _columns(path, "qrels", dataset.qrels_iter, columns)
    return qrels_in(table, name=str(path))


def plain_judgments(path: str | Path) -> Qrels:
    """As `judgments`, where judgments by intent are of no use."""
    found = judgments(path)
    if isinstance(found, IntentQrels):
        raise UsageError(f"{path}: these are judgments by intent; give them as --intents, or read_intent_qrels")
    return found


def intent_judgments(path: str | Path) -> IntentQrels:
    """As `judgments`, where judgments by intent are needed."""
    found = judgments(path)
    if isinstance(found, Qrels):
        raise UsageError(f"{path}: these judgments have no intents; give them as --qrels, or read_qrels")
    return found


def run(path: str | Path) -> Run:
    """The scored docs of a dataset, as a run that is called as the dataset."""
    from assay.io.frame_tables import runs_in

    dataset = _dataset(path, "scoreddocs")
    columns = {"topic": "query_id", "doc": "doc_id", "score": "score"}
    table = _columns(path, "scoreddocs", dataset.scoreddocs_iter, columns)
    [found] = runs_in(table, name=str(path).removeprefix(PREFIX))
    return found


def topics(path: str | Path) -> Topics:
    """The queries of a dataset with those of their fields that are texts; a field `text` is called `title`."""
    dataset = _dataset(path, "queries")
    ids = []
    fields = []
    with _one_line(path, "queries"):
        for query in dataset.queries_iter():
            own = query._asdict()
            ids.append(str(own.pop("query_id")))
            texts = {name: value for name, value in own.items() if isinstance(value, str)}
            fields.append({"title" if name == "text" else name: text for name, text in texts.items()})
    if not ids:
        raise DataError(f"{path}: there is no topic")
    return Topics(tuple(ids), tuple(fields))


def docs(path: str | Path, wanted: Collection[str] | None = None) -> dict[str, dict[str, str]]:
    """{doc: {field: text}} of all docs of a dataset, or of those wanted that it has."""
    dataset = _dataset(path, "docs")
    found: dict[str, dict[str, str]] = {}
    with _one_line(path, "docs"):
        for doc in dataset.docs_iter():
            if wanted is not None and doc.doc_id not in wanted:
                continue
            own = doc._asdict()
            own.pop("doc_id")
            found[doc.doc_id] = {name: value for name, value in own.items() if isinstance(value, str) and value}
            if wanted is not None and len(found) == len(wanted):
                break
    return found


def lengths(path: str | Path) -> dict[str, float]:
    """{doc: words} of all docs of a dataset, words as blanks separate them."""
    dataset = _dataset(path, "docs")
    with _one_line(path, "docs"):
        return {doc.doc_id: float(len(doc.default_text().split())) for doc in dataset.docs_iter()}


def _dataset(path: str | Path, part: str) -> Any:
    """The dataset of that name, which has the part that is needed."""
    try:
        import ir_datasets
    except ImportError:
        raise MissingExtra("ir_datasets", "irds") from None
    name = str(path).removeprefix(PREFIX)
    try:
        dataset = ir_datasets.load(name)
    except KeyError:
        near = did_you_mean(name, ir_datasets.registry)
        raise DataError(f"{path}: ir_datasets has no dataset {name!r}{near}") from None
    if not dataset.has(part):
        has = [other for other in PARTS if dataset.has(other)]
        wanted = PARTS[part]
        what = f"the dataset has no {part}, which would be the {wanted}"
        raise DataError(f"{path}: {what}; it has {', '.join(has) or 'nothing of use'}{_with(part, name)}")
    return dataset


def _with(part: str, name: str) -> str:
    """Datasets below this one that have the part: the collection itself rarely has judgments."""
    import ir_datasets

    below = [other for other in ir_datasets.registry if other.startswith(f"{name}/")]
    fit = [other for other in below if ir_datasets.load(other).has(part)]
    return f"; try {PREFIX}{fit[0]}" if fit else ""


def _columns(path: str | Path, part: str, rows: Any, columns: dict[str, str]) -> AnyFrame:
    """Those fields of all rows, as columns under our names."""
    found: dict[str, list[Any]] = {ours: [] for ours in columns}
    with _one_line(path, part):
        for row in rows():
            for ours, theirs in columns.items():
                found[ours].append(getattr(row, theirs))
    return AnyFrame.of_columns(found, str(path))


@contextmanager
def _one_line(path: str | Path, part: str) -> Iterator[None]:
    """What goes wrong in the package (no network, no disk, no permission) as one line; its retries are not told."""
    import logging

    log = logging.getLogger("ir_datasets")
    log.addFilter(_is_news)
    try:
        yield
    except Exception as error:  # whatever their download, archive and format code raises
        what = f"ir_datasets cannot give its {part} ({_reason(error)})"
        raise DataError(f"{path}: {what}; check the network, or put the file where ir_datasets looks for it") from None
    finally:
        log.removeFilter(_is_news)


def _is_news(record: logging.LogRecord) -> bool:
    """Whether a line of their log says more than that a download is tried again: terms of use, progress."""
    return not record.getMessage().lower().startswith(("download error", "download failed"))


def _reason(error: Exception) -> str:
    """Why it failed, in one line: of several sources that failed, the first."""
    first = error
    if len(error.args) > 1 and isinstance(error.args[1], list):
        attempts = _errors_of(error.args[1])
        first = next(attempts, error)
    words = str(first).split()
    text = " ".join(words) or type(first).__name__
    if len(text) <= MOST_WORDS:
        return text
    return text[: MOST_WORDS - 1] + "…"


def _errors_of(attempts: Iterable[Any]) -> Iterator[Exception]:
    """The errors of (source, error) pairs."""
    for attempt in attempts:
        for part in attempt if isinstance(attempt, tuple) else ():
            if isinstance(part, Exception):
                yield part
