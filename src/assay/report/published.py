"""Do published improvements add up? Scores that papers report on one collection, year by year.

Baseline and improved score of a paper are joined; the best, third-quartile and median run of the original track are
lines across (Armstrong, Moffat, Webber & Zobel 2009; Webber 2010, Figs 8.4 and 8.5).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.core.errors import DataError
from assay.core.tables import Table
from assay.report.figure import Figure, altair, chart, drawn, rows_of
from assay.report.figures import draws
from assay.report.shapes import amount, classes, tips
from assay.report.theme import ACCENT, MAIN, MUTED

KINDS = ("baseline", "improved")
LINES = (("best run of the track", 1.0), ("third quartile", 0.75), ("median", 0.5))


@dataclass(frozen=True, eq=False)
class Published:
    """Reported scores: year, kind (baseline or improved) and pair of each, and the means of the original runs."""

    years: npt.NDArray[np.float64]
    scores: npt.NDArray[np.float64]
    kinds: tuple[str, ...]
    pairs: tuple[str, ...]
    runs: npt.NDArray[np.float64]
    measure: str = "AP"

    def lines(self) -> list[tuple[str, float]]:
        """Best, third quartile and median of the original runs; none without runs."""
        return [(name, float(np.quantile(self.runs, q))) for name, q in LINES] if len(self.runs) else []

    def table(self) -> Table:
        """Per kind: how many scores, their mean, and how many reach each line of the original track."""
        columns = {"scores": "", "n": "d", "mean": ".4f", "highest": ".4f"} | {f"≥ {n}": "d" for n, _ in self.lines()}
        rows = []
        for kind in KINDS:
            mine = self.scores[np.array([k == kind for k in self.kinds], dtype=bool)]
            if len(mine):
                rows.append((kind, len(mine), mine.mean(), mine.max(), *((mine >= v).sum() for _, v in self.lines())))
        lines = "; ".join(f"{name} {value:.4f}" for name, value in self.lines())
        notes = [f"{len(self.runs)} original runs: {lines}"] if lines else ["no original runs to compare with"]
        return Table.of(columns, rows, caption=f"Published {self.measure} over the years", notes=notes)


def published(
    rows: Sequence[tuple[float, float, str, str]], *, runs: Sequence[float] = (), measure: str = "AP"
) -> Published:
    """Published scores from rows (year, score, kind, pair); kind is baseline, improved, or run (of the original track).

    Rows of one pair (a paper, an experiment) belong together; an empty pair stands alone.

    >>> found = published([(2004, 0.20, "baseline", "a"), (2004, 0.24, "improved", "a")], runs=[0.1, 0.2, 0.3])
    >>> found.table().cells()[1]
    ['improved', '1', '0.2400', '0.2400', '0', '0', '1']
    """
    for _, _, kind, _ in rows:
        if kind not in (*KINDS, "run"):
            raise DataError(f"kind is {kind!r}; write baseline, improved, or run for a run of the original track")
    kept = [r for r in rows if r[2] != "run"]
    if not kept:
        raise DataError("there is no published score; rows of kind baseline or improved are needed")
    means = [*runs, *(score for _, score, kind, _ in rows if kind == "run")]
    years, scores = (np.array([r[i] for r in kept], dtype=np.float64) for i in (0, 1))
    if not (np.isfinite(years).all() and np.isfinite(scores).all()):
        raise DataError("a year or a score is not a finite number")
    return Published(years, scores, tuple(r[2] for r in kept), tuple(r[3] for r in kept), np.array(means), measure)


def read_published(path: str | Path, *, runs: Sequence[float] = (), measure: str = "AP") -> Published:
    """Published scores from a table with the columns year, score, kind and, if there are pairs, pair."""
    from assay.io.sheet import read_sheet

    sheet = read_sheet(path)
    score, kind = sheet.place("score", "value"), sheet.place("kind")
    year, pair = sheet.find("year"), sheet.find("pair", "paper")
    rows = []
    for i, cells in enumerate(sheet.rows):
        what = cells[kind].strip()
        dated = 0.0 if what == "run" else sheet.number(i, sheet.place("year") if year is None else year)
        rows.append((dated, sheet.number(i, score), what, "" if pair is None else cells[pair]))
    try:
        return published(rows, runs=runs, measure=measure)
    except DataError as error:
        raise DataError(f"{path}: {error}") from None


@draws("report.Published")
def chart_of(result: Published) -> Figure:
    """Scores over years, pairs joined, the original runs as lines."""
    alt = altair()
    whole = rows_of(year=result.years, score=result.scores, kind=result.kinds, pair=result.pairs)
    tip = tips([("year", "year", "d"), ("kind", "kind", ""), ("score", result.measure, ".4f"), ("pair", "pair", "")])
    x = amount("X", "year", "year of publication", form="d", room=14)
    y = amount("Y", "score", f"mean {result.measure}")
    marks = classes("kind", None, KINDS, [MAIN, ACCENT])
    points = chart().mark_point(filled=True, size=65, opacity=0.85).encode(x=x, y=y, tooltip=tip, **marks)
    joined = chart("pairs").mark_rule(color=MUTED, opacity=0.7).encode(x="from:Q", x2="to:Q", y="low:Q", y2="high:Q")
    layers: list[Any] = [joined, points]
    levels = [{"line": name, "at": round(value, 6)} for name, value in result.lines()]
    if levels:
        base = chart("levels").encode(y="at:Q")
        text = base.mark_text(align="left", dx=4, dy=-6, fontSize=11).encode(x=alt.value(0), text="line:N")
        layers = [base.mark_rule(strokeDash=[5, 4], opacity=0.8), text, *layers]
    title = f"Published {result.measure} over the years: baselines and what improved on them"
    return drawn(
        alt.layer(*layers).properties(height=360), name="published", title=title, description=_said(result),
        rows=whole, pairs=_joined(result), levels=levels,
    )  # fmt: skip


def _joined(result: Published) -> list[dict[str, Any]]:
    """One line from the baseline to the improved score of each pair."""
    found: dict[str, dict[str, tuple[float, float]]] = {}
    for year, score, kind, pair in zip(result.years, result.scores, result.kinds, result.pairs, strict=True):
        if pair:
            found.setdefault(pair, {})[kind] = (float(year), float(score))
    both = [(p["baseline"], p["improved"]) for p in found.values() if len(p) == 2]
    return [{"from": a[0], "to": b[0], "low": a[1], "high": b[1]} for a, b in both]


def _said(result: Published) -> str:
    counts = {kind: result.kinds.count(kind) for kind in KINDS}
    said = f"{counts['baseline']} baselines and {counts['improved']} improved scores"
    if not len(result.runs):
        return said + "."
    best = float(result.runs.max())
    over = sum(s > best for s, k in zip(result.scores, result.kinds, strict=True) if k == "improved")
    return f"{said}; {over} of the improved scores beat the best original run ({best:.4f})."
