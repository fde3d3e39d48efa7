"""Published scores from a table: one row for each score, or one for each experiment with both of its scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from assay.core.errors import DataError
from assay.core.registry import did_you_mean
from assay.data.published import KINDS, PublishedScore
from assay.io.sheet import Sheet, read_sheet

NAMES = {
    "paper": ("paper", "pair", "publication", "reference"),
    "venue": ("venue", "conference"),
    "year": ("year",),
    "collection": ("collection", "test collection", "dataset"),
    "query_type": ("query type", "query_type", "query-type", "queries"),
    "measure": ("measure", "metric"),
    "significant": ("significant", "significance", "significance claimed"),
    "excluded": ("excluded", "exclude"),
}
"""What the columns may be called; none of them has to be there."""
OF_SCORES = {"score": ("score", "value"), "kind": ("kind",), **NAMES}
OF_EXPERIMENTS = {"baseline": ("baseline",), "improved": ("improved",), **NAMES}
YES = ("yes", "y", "true", "1")
NO = ("no", "n", "false", "0")


def read_published(path: str | Path) -> list[PublishedScore]:
    """The scores of a table of published results.

    With a column `score` each row is one score, and its column `kind` says baseline, improved or run (a run of the
    original track). Without it each row is an experiment, with the columns `baseline` and `improved`; one of the two
    may be empty. Further columns: paper, venue, year, collection, query type, measure, significant (yes or no),
    excluded (the reason, or yes).

    >>> import tempfile
    >>> table = Path(tempfile.mkdtemp()) / "papers.csv"
    >>> _ = table.write_text("paper,year,collection,baseline,improved\\nSmith,2004,TREC-8,.21,.24\\n")
    >>> [(score.kind, score.score) for score in read_published(table)]
    [('baseline', 0.21), ('improved', 0.24)]
    """
    sheet = read_sheet(path)
    one_score_a_row = sheet.find("score", "value") is not None
    _refuse_unknown(sheet, OF_SCORES if one_score_a_row else OF_EXPERIMENTS)
    scores = []
    for row in range(len(sheet.rows)):
        found = _one_score(sheet, row) if one_score_a_row else _experiment(sheet, row)
        for kind, score in found:
            scores.append(_published(sheet, row, kind, score))
    return scores


def _refuse_unknown(sheet: Sheet, columns: Mapping[str, Sequence[str]]) -> None:
    """An error for a column that nothing would be read from: unknown, or a second name of the same thing."""
    lowered = [name.strip().lower() for name in sheet.header]
    known = [name for names in columns.values() for name in names]
    for shown, name in zip(sheet.header, lowered, strict=True):
        if name not in known:
            kinds = "one score a row" if columns is OF_SCORES else "one experiment a row"
            what = f"{sheet.where}: no column {shown!r} is known in a table of {kinds}"
            raise DataError(f"{what}{did_you_mean(name, known)}")
    for names in columns.values():
        there = [shown for shown, name in zip(sheet.header, lowered, strict=True) if name in names]
        if len(there) > 1:
            raise DataError(f"{sheet.where}: {' and '.join(map(repr, there))} are one column; keep one of them")


def _one_score(sheet: Sheet, row: int) -> Iterator[tuple[str, float]]:
    """The score of a row that has one."""
    kind = sheet.rows[row][sheet.place("kind")].strip().lower()
    yield kind, sheet.number(row, sheet.place("score", "value"))


def _experiment(sheet: Sheet, row: int) -> Iterator[tuple[str, float]]:
    """Baseline and improved score of a row; one of them may be empty."""
    given = [kind for kind in KINDS[:2] if sheet.rows[row][sheet.place(kind)].strip()]
    if not given:
        raise DataError.at(sheet.where, sheet.lines[row], "neither a baseline nor an improved score; give one of them")
    for kind in given:
        yield kind, sheet.number(row, sheet.place(kind))


def _published(sheet: Sheet, row: int, kind: str, score: float) -> PublishedScore:
    """A score with what its row says of it."""
    cells = {}
    for field, names in NAMES.items():
        at = sheet.find(*names)
        cells[field] = "" if at is None else sheet.rows[row][at].strip()
    try:
        return PublishedScore(
            kind,
            score,
            paper=cells["paper"],
            venue=cells["venue"],
            year=_year(sheet, row, cells["year"]),
            collection=cells["collection"],
            query_type=cells["query_type"],
            measure=cells["measure"] or "AP",
            significant=_claim(cells["significant"]),
            excluded=_reason(cells["excluded"]),
        )
    except DataError as error:
        raise DataError.at(sheet.where, sheet.lines[row], str(error)) from None


def _year(sheet: Sheet, row: int, text: str) -> float | None:
    return sheet.number(row, sheet.place("year")) if text else None


def _claim(text: str) -> bool | None:
    """Whether significance is claimed; None where the cell is empty."""
    word = text.lower()
    if word and word not in (*YES, *NO):
        raise DataError(f"significant is {text!r}; write yes or no, or leave the cell empty")
    return word in YES if word else None


def _reason(text: str) -> str:
    """Why a score is excluded; a plain yes has no reason, and no means that it counts."""
    if text.lower() in NO:
        return ""
    return "no reason given" if text.lower() in YES else text
