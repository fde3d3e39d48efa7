"""Pictures of comparisons: who leads and how surely, where two runs differ, how many pairs are told apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Floats
from assay.core.tables import p_value
from assay.core.tables import shown as as_shown
from assay.report.figure import Figure, altair, chart, drawn, rows_of
from assay.report.figures import draws
from assay.report.shapes import (
    amount,
    bars,
    lines,
    mark_at,
    names,
    ranges,
    shortened,
    some_of,
    tall,
    tips,
)
from assay.report.theme import ACCENT, MAIN, MUTED

if TYPE_CHECKING:
    from assay.data.scores import ScoreMatrix
    from assay.stats.crossed import Factorial
    from assay.stats.leaderboard import Leaderboard
    from assay.stats.pair_tests import PairsResult
    from assay.stats.shape import Density
    from assay.stats.topic_sets import TopicSets
    from assay.stats.two_runs import Comparison

TOP, MOST_TOPICS = 40, 100
"""Runs and topics that a picture shows at most unless told."""
MOST_LETTERS = 10
"""Letters that are written beside an interval; more are left to the table."""
MOST_PAIRS = 400
"""Points of one curve; of more pairs only some are drawn, evenly spaced."""
VERDICTS = ("significantly different", "not significantly different")


@draws("stats.Leaderboard")
def leaderboard(board: Leaderboard, *, top: int | None = None) -> Figure:
    """Means with intervals, best first; colour tells which runs are significantly different from the baseline.

    Letters rest on tests of all pairs, colours on tests against the baseline: a run may share a letter with the
    baseline and yet differ from it. Both are shown only where one test of all pairs at once decides both.
    """
    matrix, alt = board.matrix, altair()
    shown = board.shown(top or board.top or TOP)
    rows = _board_rows(board, shown)
    scale = alt.Scale(domain=["baseline", *VERDICTS], range=[MUTED, ACCENT, MAIN])
    legend = alt.Legend(title=f"compared with {shortened(board.baseline, 24)}")
    colour = alt.Color("kind", type="nominal", scale=scale, legend=legend)
    tip = [("run", "run", ""), ("mean", "mean", ".4f"), ("low", "low", ".4f"), ("high", "high", ".4f")]
    tip += [("p", board.versus.p_name(board.correction), ".4f")]
    y, longest = names("Y", "run", None), max(len(row["all_letters"]) for row in rows)
    one_family = board.versus.simultaneous and 0 < longest <= MOST_LETTERS
    text = chart().mark_text(align="left", dx=6, fontSize=11).encode(y=y, x=alt.X("high:Q"), text="letters:N")
    over = [text] if one_family else []
    x = amount("X", "mean", _mean_of(matrix), room=5 * min(6, longest) if over else 0)
    made = ranges(y, x, "low", "high", tip=tip, over=over, color=colour)
    level, count = round(100 * (1 - board.alpha)), some_of(len(shown), len(matrix.runs))
    same = sum(row["kind"] == VERDICTS[1] for row in rows)
    said = (
        f"Best is {matrix.runs[0]} with {matrix.means()[0]:.4f}; {same} of the runs shown are not significantly "
        f"different from {board.baseline}."
    )
    return drawn(
        tall(made, len(shown)), name=f"leaderboard-{matrix.measure}", rows=rows,
        title=f"{matrix.measure} of {count} runs with {level} % intervals", description=said,
    )  # fmt: skip


def _board_rows(board: Leaderboard, shown: Sequence[int]) -> list[dict[str, Any]]:
    """One row per run that is shown; the baseline has no p."""
    runs, means, ends = board.matrix.runs, board.matrix.means(), board.interval
    p = dict(zip(board.versus.first.tolist(), board.versus.corrected(board.correction).tolist(), strict=True))
    kinds = [_verdict(p[i], board.alpha) if i in p else "baseline" for i in shown]
    letters = [board.letters.labels[i] if board.letters else "" for i in shown]
    return rows_of(
        run=[runs[i] for i in shown], mean=means[shown], low=ends.low[shown], high=ends.high[shown], kind=kinds,
        letters=[shortened(t) for t in letters], all_letters=letters, p=[p.get(i) for i in shown],
    )  # fmt: skip


def _mean_of(matrix: ScoreMatrix) -> str:
    return f"mean {matrix.measure} over {len(matrix.topics)} topics"


def _verdict(p: float, alpha: float) -> str:
    return VERDICTS[0] if p < alpha else VERDICTS[1]


def differences(
    values: npt.ArrayLike, *, topics: Sequence[str], runs: tuple[str, str], measure: str = "score"
) -> Figure:
    """The difference of two runs on every topic, as bars from the greatest gain to the greatest loss."""
    alt = altair()
    d = np.asarray(values, dtype=np.float64)
    order = np.argsort(-d, kind="stable")
    better = [f"{shortened(runs[0], 24)} better", f"{shortened(runs[1], 24)} better", "equal"]
    kind = [better[0] if v > 0 else better[1] if v < 0 else better[2] for v in d[order]]
    rows = rows_of(topic=[topics[i] for i in order], place=range(1, len(d) + 1), difference=d[order], kind=kind)
    tip = [("topic", "topic", ""), ("difference", "difference", "+.4f")]
    axis = alt.Axis(title="topics, by difference", labelAngle=-90, labelOverlap="greedy", ticks=False, labelFontSize=10)
    x = alt.X("topic", type="nominal", sort=None, axis=axis)
    y = amount("Y", "difference", f"Δ {measure}", zero=True, form="+.2f")
    colour = alt.Color("kind", type="nominal", legend=alt.Legend(title=None))
    colour.scale = alt.Scale(domain=better[: 2 if (d != 0).all() else 3], range=[MAIN, ACCENT, MUTED])
    made = chart().mark_bar().encode(x=x, y=y, color=colour, tooltip=tips(tip)).properties(height=260)
    wins, losses = int((d > 0).sum()), int((d < 0).sum())
    mean = as_shown(float(d.mean()), "+.4f")
    said = f"{runs[0]} is better on {wins} of {len(d)} topics, {runs[1]} on {losses}; mean difference {mean}."
    return drawn(
        made, name="differences", title=f"{measure} of {runs[0]} minus {runs[1]}, topic by topic", description=said,
        rows=rows,
    )  # fmt: skip


@draws("stats.Comparison")
def comparison(result: Comparison) -> Figure:
    """The differences of two runs that were compared on the same topics; else their means."""
    if result.differences is None:
        rows = rows_of(run=result.names, mean=result.means)
        tip = [("run", "run", ""), ("mean", "mean", ".4f")]
        made = tall(bars(names("Y", "run", None), amount("X", "mean", "mean score", zero=True), tip=tip), 2)
        d, low, high = (as_shown(v, "+.4f") for v in (result.mean_difference, result.low, result.high))
        said = f"Difference {d} [{low}, {high}], {p_value(result.p)}."
        title = f"Means of {result.names[0]} and {result.names[1]}"
        return drawn(made, name="comparison", title=title, description=said, rows=rows)
    numbers = [str(i + 1) for i in range(len(result.differences))]
    return differences(result.differences, topics=numbers, runs=result.names)


@draws("stats.TopicSets")
def set_differences(result: TopicSets, *, top: int = TOP) -> Figure:
    """How much better each run did on one topic set than on the other, with intervals, the greatest gain first."""
    alt = altair()
    order = np.argsort([-c.mean_difference for c in result.comparisons], kind="stable")[:top]
    found = [result.comparisons[i] for i in order]
    kinds = [_verdict(float(result.p[i]), result.alpha) for i in order]
    rows = rows_of(
        run=[c.names[0] for c in found], difference=[c.mean_difference for c in found], low=[c.low for c in found],
        high=[c.high for c in found], p=result.p[order], kind=kinds,
    )  # fmt: skip
    scale = alt.Scale(domain=list(VERDICTS), range=[ACCENT, MAIN])
    colour = alt.Color("kind", type="nominal", scale=scale, legend=alt.Legend(title=None))
    tip = [("run", "run", ""), ("difference", "difference", "+.4f"), ("low", "low", "+.4f"), ("high", "high", "+.4f")]
    tip += [("p", "p corrected", ".4f")]
    zero, at = mark_at(0.0, axis="x")
    x = amount("X", "difference", f"difference in mean {result.measure}", form="+.2f")
    made = tall(ranges(names("Y", "run", None), x, "low", "high", tip=tip, over=[zero], color=colour), len(rows))
    said = f"{kinds.count(VERDICTS[0])} of the {len(rows)} runs shown are significantly different between the sets."
    some = some_of(len(rows), len(result.comparisons))
    title = f"{result.measure} of {some} runs: first topic set minus second"
    return drawn(made, name="topic-sets", title=title, description=said, rows=rows, mark=at)


@draws("stats.Factorial")
def factor_levels(result: Factorial) -> Figure:
    """Means of the levels of each factor with intervals that overlap where levels are not significantly different."""
    alt = altair()
    rows = [
        row | {"factor": f.factor}
        for f in result.factors
        for row in rows_of(level=f.levels, mean=f.means, low=f.means - f.half, high=f.means + f.half, letters=f.letters)
    ]
    tip = [("factor", "factor", ""), ("level", "level", ""), ("mean", "mean", ".4f"), ("letters", "letters", "")]
    for row in rows:
        row["label"] = f"{row['factor']}: {row['level']}"
    y = names("Y", "label", None)
    colour = alt.Color("factor", type="nominal", legend=alt.Legend(title="factor"))
    made = tall(ranges(y, amount("X", "mean", "mean score"), "low", "high", tip=tip, color=colour), len(rows))
    said = "; ".join(f"best {f.factor}: {f.levels[0]} ({f.means[0]:.4f})" for f in result.factors) + "."
    return drawn(made, name="factors", title="Levels of each factor, mean score", description=said, rows=rows)


@draws("stats.Density")
def density(result: Density) -> Figure:
    """A smoothed distribution of differences, with zero marked."""
    alt = altair()
    rows = rows_of(value=result.points, density=result.density)
    x, y = amount("X", "value", "value"), amount("Y", "density", "density", zero=True)
    area = chart().mark_area(color=MAIN, opacity=0.35, line={"color": MAIN}).encode(x=x, y=y)
    zero, at = mark_at(0.0, axis="x")
    made = alt.layer(area, zero).properties(height=220)
    peak = float(result.points[int(result.density.argmax())])
    said = f"{result.n} values, bandwidth {result.bandwidth:.4g}; the density is highest at {peak:.4g}."
    return drawn(made, name="density", title="Distribution of the values", description=said, rows=rows, mark=at)


@draws("stats.PairsResult")
def pair_curve(result: PairsResult) -> Figure:
    """The same for one family of tests."""
    return pair_curves({result.test: result})


def pair_curves(results: Mapping[str, PairsResult], *, alpha: float = 0.05) -> Figure:
    """The same for families of tests by name, e.g. by measure."""
    some = next(iter(results.values()))
    below = ", ".join(f"{name} {100 * r.share(alpha):.1f} %" for name, r in results.items())
    title = f"p-values of {len(some.p):,} pairs of runs, {some.n} topics"
    said = f"Pairs with p < {alpha:g} (dashed), not corrected: {below}. {some.recipe[:1].upper()}{some.recipe[1:]}."
    return asl_chart({name: -np.sort(-r.p) for name, r in results.items()}, alpha, title, said)


def asl_chart(curves: dict[str, Floats], alpha: float, title: str, said: str) -> Figure:
    """Descending p-values of all pairs of runs, one line per measure or test, and the level that is asked for."""
    rows = []
    for name, p in curves.items():
        step = -(-len(p) // MOST_PAIRS)
        place = 100 * (np.arange(len(p)) + 1) / max(1, len(p))
        rows += [{"measure": name, **row} for row in rows_of(share=place[::step], p=p[::step])]
    alt = altair()
    tip = [("measure", "measure", ""), ("share", "% of pairs", ".1f"), ("p", "p", ".4f")]
    x, y = amount("X", "share", "% of the pairs, largest p first", domain=(0, 100)), amount("Y", "p", "p-value")
    line = lines(x, y, series="measure", order=list(curves), tip=tip, points=False)
    level, at = mark_at(alpha)
    made = alt.layer(line, level).properties(height=300)
    return drawn(made, name="asl", title=title, description=said, rows=rows, mark=at)
