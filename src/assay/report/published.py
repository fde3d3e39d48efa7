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
from assay.core.results import Result
from assay.core.tables import Table
from assay.report.figure import Figure, altair, chart, drawn, rows_of
from assay.report.figures import draws
from assay.report.shapes import amount, classes, tips
from assay.report.theme import ACCENT, MAIN, MUTED

KINDS = ("baseline", "improved")
LINES = (("best run of the track", 1.0), ("third quartile", 0.75), ("median", 0.5))


@dataclass(frozen=True, eq=False)
class Published(Result):
    """Reported scores: year, kind (baseline or improved) and pair of each, and the means of the original runs."""

    years: npt.NDArray[np.float64]
    scores: npt.NDArray[np.float64]
    kinds: tuple[str, ...]
    pairs: tuple[str, ...]
    runs: npt.NDArray[np.float64]
    measure: str = "AP"

    def lines(self) -> list[tuple[str, float]]:
        """Best, third quartile and median of the original runs; none without runs."""
        if not len(self.runs):
            return []
        return [(name, float(np.quantile(self.runs, share))) for name, share in LINES]

    def table(self) -> Table:
        """Per kind: how many scores, their mean, and how many reach each line of the original track."""
        lines = self.lines()
        columns = {"scores": "", "n": "d", "mean": ".4f", "highest": ".4f"}
        for name, _ in lines:
            columns[f"≥ {name}"] = "d"

        rows = []
        for kind in KINDS:
            is_kind = np.array([k == kind for k in self.kinds], dtype=bool)
            scores = self.scores[is_kind]
            if len(scores):
                reached = [(scores >= value).sum() for _, value in lines]
                rows.append((kind, len(scores), scores.mean(), scores.max(), *reached))

        note = "no original runs to compare with"
        if lines:
            values = "; ".join(f"{name} {value:.4f}" for name, value in lines)
            note = f"{len(self.runs)} original runs: {values}"
        return Table.of(columns, rows, caption=f"Published {self.measure} over the years", notes=[note])


def published(
    rows: Sequence[tuple[float, float, str, str]], *, runs: Sequence[float] = (), measure: str = "AP"
) -> Published:
    """Published scores from rows (year, score, kind, pair); kind is baseline, improved, or run (of the original track).

    Rows of one pair (a paper, an experiment) belong together; an empty pair stands alone.

    >>> scores = published([(2004, 0.20, "baseline", "a"), (2004, 0.24, "improved", "a")], runs=[0.1, 0.2, 0.3])
    >>> scores.table().cells()[1]
    ['improved', '1', '0.2400', '0.2400', '0', '0', '1']
    """
    means = list(runs)
    years = []
    scores = []
    kinds = []
    pairs = []
    for year, score, kind, pair in rows:
        if kind not in (*KINDS, "run"):
            raise DataError(f"kind is {kind!r}; write baseline, improved, or run for a run of the original track")
        if kind == "run":
            means.append(score)
            continue
        years.append(year)
        scores.append(score)
        kinds.append(kind)
        pairs.append(pair)
    if not kinds:
        raise DataError("there is no published score; rows of kind baseline or improved are needed")
    if not (np.isfinite(years).all() and np.isfinite(scores).all()):
        raise DataError("a year or a score is not a finite number")
    return Published(
        years=np.array(years, dtype=np.float64),
        scores=np.array(scores, dtype=np.float64),
        kinds=tuple(kinds),
        pairs=tuple(pairs),
        runs=np.array(means),
        measure=measure,
    )


def read_published(path: str | Path, *, runs: Sequence[float] = (), measure: str = "AP") -> Published:
    """Published scores from a table with the columns year, score, kind and, if there are pairs, pair."""
    from assay.io.sheet import read_sheet

    sheet = read_sheet(path)
    score_at = sheet.place("score", "value")
    kind_at = sheet.place("kind")
    year_at = sheet.find("year")
    pair_at = sheet.find("pair", "paper")
    rows = []
    for i, cells in enumerate(sheet.rows):
        kind = cells[kind_at].strip()
        year = 0.0  # a run of the original track needs none
        if kind != "run":
            year = sheet.number(i, sheet.place("year") if year_at is None else year_at)
        score = sheet.number(i, score_at)
        pair = "" if pair_at is None else cells[pair_at]
        rows.append((year, score, kind, pair))
    try:
        return published(rows, runs=runs, measure=measure)
    except DataError as error:
        raise DataError(f"{path}: {error}") from None


@draws("report.Published")
def chart_of(result: Published) -> Figure:
    """Scores over years, pairs joined, the original runs as lines."""
    rows = rows_of(year=result.years, score=result.scores, kind=result.kinds, pair=result.pairs)
    levels = [{"line": name, "at": round(value, 6)} for name, value in result.lines()]
    layers = [_joining_lines(), _points(result)]
    if levels:
        layers = [*_level_lines(), *layers]
    made = altair().layer(*layers).properties(height=360)
    title = f"Published {result.measure} over the years: baselines and what improved on them"
    return drawn(
        made,
        name="published",
        title=title,
        description=_in_words(result),
        rows=rows,
        pairs=_joined(result),
        levels=levels,
    )


def _points(result: Published) -> Any:
    """Each score at its year, baselines and improved scores in colours of their own."""
    x = amount("X", "year", "year of publication", form="d", room=14)
    y = amount("Y", "score", f"mean {result.measure}")
    tip = tips(
        [
            ("year", "year", "d"),
            ("kind", "kind", ""),
            ("score", result.measure, ".4f"),
            ("pair", "pair", ""),
        ]
    )
    by_kind = classes("kind", None, KINDS, [MAIN, ACCENT])
    points = chart().mark_point(filled=True, size=65, opacity=0.85)
    return points.encode(x=x, y=y, tooltip=tip, **by_kind)


def _joining_lines() -> Any:
    """A line from the baseline to the improved score of each row of the data `pairs`."""
    rule = chart("pairs").mark_rule(color=MUTED, opacity=0.7)
    return rule.encode(x="from:Q", x2="to:Q", y="low:Q", y2="high:Q")


def _level_lines() -> list[Any]:
    """A dashed line across, with its name, for each row of the data `levels`."""
    base = chart("levels").encode(y="at:Q")
    rule = base.mark_rule(strokeDash=[5, 4], opacity=0.8)
    text = base.mark_text(align="left", dx=4, dy=-6, fontSize=11)
    return [rule, text.encode(x=altair().value(0), text="line:N")]


def _joined(result: Published) -> list[dict[str, float]]:
    """Where the line of each pair that has both scores starts and ends."""
    by_pair: dict[str, dict[str, tuple[float, float]]] = {}
    for year, score, kind, pair in zip(result.years, result.scores, result.kinds, result.pairs, strict=True):
        if pair:
            by_pair.setdefault(pair, {})[kind] = (float(year), float(score))
    joined = []
    for points in by_pair.values():
        if len(points) == len(KINDS):
            start, low = points["baseline"]
            end, high = points["improved"]
            joined.append({"from": start, "to": end, "low": low, "high": high})
    return joined


def _in_words(result: Published) -> str:
    baselines = result.kinds.count("baseline")
    improved = [score for score, kind in zip(result.scores, result.kinds, strict=True) if kind == "improved"]
    counts = f"{baselines} baselines and {len(improved)} improved scores"
    if not len(result.runs):
        return f"{counts}."
    best = float(result.runs.max())
    better = sum(score > best for score in improved)
    return f"{counts}; {better} of the improved scores beat the best original run ({best:.4f})."
