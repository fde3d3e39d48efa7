"""Pictures of comparisons: who leads and how surely, where two runs differ, how many pairs are significant."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Floats
from assay.core.errors import UsageError
from assay.core.tables import p_value
from assay.core.tables import shown as as_shown
from assay.data.averages import IN_WORDS, average_title
from assay.data.topic_rows import counted
from assay.report.figure import Figure, altair, chart, drawn, rows_of
from assay.report.figures import draws
from assay.report.shapes import (
    amount,
    bars,
    classes,
    lines,
    mark_at,
    names,
    ranges,
    shortened,
    some_of,
    tall,
    tips,
)
from assay.report.theme import BASELINE, BETTER, MAIN, UNDECIDED, WORSE

if TYPE_CHECKING:
    from assay.stats.crossed import Factorial
    from assay.stats.leaderboard import Leaderboard
    from assay.stats.shape import Density, ScoreDensities
    from assay.stats.topic_sets import TopicSets
    from assay.stats.two_runs import Comparison

TOP, MOST_TOPICS = 40, 100
"""Runs and topics that a picture shows at most unless asked for more."""
MOST_LETTERS = 10
"""Letters that are written beside an interval; more are left to the table."""
MOST_CURVES = 12
"""Densities in one picture."""
VERDICTS = ("significantly better", "significantly worse", "not significantly different")
EITHER = "significantly different, neither better nor worse"
"""The verdict where a test of ranks or signs contradicts the means."""
SIGNS = {
    "baseline": (BASELINE, "diamond"),
    VERDICTS[0]: (BETTER, "triangle-up"),
    VERDICTS[1]: (WORSE, "triangle-down"),
    VERDICTS[2]: (UNDECIDED, "circle"),
    EITHER: (BASELINE, "square"),
}
"""Colour and shape of each verdict."""


@draws("stats.Leaderboard")
def leaderboard(board: Leaderboard, *, top: int | None = None, run: str | None = None) -> Figure:
    """Means with intervals, best first; colour and shape say which runs are better or worse than the baseline.

    With a run: its difference from the baseline on every topic instead.

    Letters rest on tests of all pairs, colours on tests against a named baseline: a run may share a letter with the
    baseline and yet differ from it. Both are shown only where one family of all pairs decides both.
    """
    if run is not None:
        return _from_baseline(board, run)
    matrix = board.matrix
    shown = board.shown(top or board.top or TOP)
    rows = _board_rows(board, shown)
    y = names("Y", "run", None)
    longest = max(len(row["all_letters"]) for row in rows)
    one_family = board.is_one_family and 0 < longest <= MOST_LETTERS
    over = []
    room = 0
    note = ""
    if one_family:
        over = [_letters_beside(y)]
        room = 5 * min(6, longest)
        note = f"Runs that share a letter (a-c: a, b, c) are not significantly different at α = {board.alpha:g}."
    average = average_title(matrix.measure, matrix.aggregate)
    x = amount("X", "mean", f"{average} over {len(matrix.topics):,} topics", room=room)
    p_name = board.versus.p_name(board.correction)
    tip = [
        ("run", "run", ""),
        ("mean", IN_WORDS[matrix.aggregate], ".4f"),
        ("low", "low", ".4f"),
        ("high", "high", ".4f"),
        ("p", p_name, ".4f"),
    ]
    kinds = [row["kind"] for row in rows]
    signs = _signs(kinds, f"compared with {shortened(board.baseline, 24)}")
    made = ranges(y, x, "low", "high", tip=tip, over=over, **signs)

    level = round(100 * (1 - board.alpha))
    count = some_of(len(shown), len(matrix.runs))
    others = counted(len(kinds) - kinds.count("baseline"), "other run")
    best_mean = matrix.averages()[0]
    said = (
        f"Best is {matrix.runs[0]} with {best_mean:.4f}. Of {others} shown, compared with {board.baseline}: "
        f"{_counted_verdicts(kinds)}."
    )
    return drawn(
        tall(made, len(shown)),
        name=f"leaderboard-{matrix.measure}",
        title=f"{matrix.measure} of {count} runs with {level} % intervals",
        description=said,
        note=note,
        rows=rows,
    )


def _counted_verdicts(kinds: Sequence[str]) -> str:
    """How many runs have each verdict."""
    known = [*VERDICTS, EITHER] if EITHER in kinds else VERDICTS
    return ", ".join(f"{kinds.count(verdict)} {verdict}" for verdict in known)


def _from_baseline(board: Leaderboard, run: str) -> Figure:
    """The difference of one run from the baseline, topic by topic."""
    if run == board.baseline:
        raise UsageError(f"{run!r} is the baseline; give another run, whose difference from it is to be drawn")
    matrix = board.matrix
    difference = matrix.of_run(run) - matrix.of_run(board.baseline)
    return differences(difference, topics=matrix.topics, runs=(run, board.baseline), measure=matrix.measure)


def _letters_beside(y: Any) -> Any:
    """The letters of each run, right of its interval."""
    text = chart().mark_text(align="left", dx=6, fontSize=11)
    return text.encode(y=y, x=altair().X("high:Q"), text="letters:N")


def _signs(kinds: Sequence[str], title: str | None) -> dict[str, Any]:
    """Colour and shape by verdict, with a legend of those that there are."""
    present = [kind for kind in SIGNS if kind in kinds]
    colours = [SIGNS[kind][0] for kind in present]
    shapes = [SIGNS[kind][1] for kind in present]
    return classes("kind", title, present, colours, shapes)


def _board_rows(board: Leaderboard, shown: Sequence[int]) -> list[dict[str, Any]]:
    """One row per run that is shown; the baseline has no p."""
    compared = board.versus.first.tolist()
    corrected_p = board.versus.corrected(board.correction).tolist()
    p_of_run = dict(zip(compared, corrected_p, strict=True))
    directions = board.versus.directions().tolist()
    direction_of_run = dict(zip(compared, directions, strict=True))
    means = board.matrix.averages()
    kinds = []
    for i in shown:
        is_baseline = i not in p_of_run
        kinds.append("baseline" if is_baseline else _verdict(p_of_run[i], board.alpha, direction_of_run[i]))
    letters = [""] * len(shown)
    if board.letters:
        letters = [board.letters.labels[i] for i in shown]
    return rows_of(
        run=[board.matrix.runs[i] for i in shown],
        mean=means[shown],
        low=board.interval.low[shown],
        high=board.interval.high[shown],
        kind=kinds,
        letters=[shortened(text) for text in letters],
        all_letters=letters,
        p=[p_of_run.get(i) for i in shown],
    )


def _verdict(p: float, alpha: float, difference: float) -> str:
    if not p < alpha:
        return VERDICTS[2]
    if difference == 0:
        return EITHER
    return VERDICTS[0] if difference > 0 else VERDICTS[1]


def board_differences(board: Leaderboard) -> Figure:
    """The best run of a leaderboard that is not the baseline, minus the baseline, on every topic."""
    best, values = board.best_other()
    matrix = board.matrix
    return differences(values, topics=matrix.topics, runs=(best, board.baseline), measure=matrix.measure)


def differences(
    values: npt.ArrayLike, *, topics: Sequence[str], runs: tuple[str, str], measure: str = "score"
) -> Figure:
    """The difference of two runs on every topic, as bars from the greatest gain to the greatest loss."""
    alt = altair()
    first, second = runs
    difference = np.asarray(values, dtype=np.float64)
    order = np.argsort(-difference, kind="stable")
    kinds = [
        f"{shortened(first, 24)} better",
        f"{shortened(second, 24)} better",
        "equal",
    ]
    descending = difference[order]
    rows = rows_of(
        topic=[topics[i] for i in order],
        place=range(1, len(order) + 1),
        difference=descending,
        kind=np.select([descending > 0, descending < 0], kinds[:2], kinds[2]),
    )

    axis = alt.Axis(
        title="topics, by difference",
        labelAngle=-90,
        labelOverlap="greedy",
        ticks=False,
        labelFontSize=10,
    )
    x = alt.X("topic", type="nominal", sort=None, axis=axis)
    y = amount("Y", "difference", f"Δ {measure}", zero=True, form="+.2f")
    has_equal = (difference == 0).any()
    kinds_shown = kinds if has_equal else kinds[:2]
    scale = alt.Scale(domain=kinds_shown, range=[BETTER, WORSE, UNDECIDED])
    legend = alt.Legend(title=None)
    colour = alt.Color("kind", type="nominal", legend=legend, scale=scale)
    tip = [("topic", "topic", ""), ("difference", "difference", "+.4f")]
    bar = chart().mark_bar()
    made = bar.encode(x=x, y=y, color=colour, tooltip=tips(tip))

    return drawn(
        made.properties(height=260),
        name="differences",
        title=f"{measure} of {first} minus {second}, topic by topic",
        description=_wins_in_words(difference, first, second),
        rows=rows,
    )


def _wins_in_words(difference: Floats, first: str, second: str) -> str:
    wins = int((difference > 0).sum())
    losses = int((difference < 0).sum())
    mean = as_shown(float(difference.mean()), "+.4f")
    topics = len(difference)
    return f"{first} is better on {wins} of {topics} topics, {second} on {losses}; mean difference {mean}."


@draws("stats.Comparison")
def comparison(result: Comparison) -> Figure:
    """The differences of two runs that were compared on the same topics; else their means."""
    if result.differences is None:
        return _two_means(result)
    numbers = [str(i + 1) for i in range(len(result.differences))]
    return differences(result.differences, topics=numbers, runs=result.names)


def _two_means(result: Comparison) -> Figure:
    """The means of two runs that were compared on different topics, as bars."""
    rows = rows_of(run=result.names, mean=result.means)
    y = names("Y", "run", None)
    x = amount("X", "mean", "mean score", zero=True)
    tip = [("run", "run", ""), ("mean", "mean", ".4f")]
    made = tall(bars(y, x, tip=tip), 2)
    difference = as_shown(result.mean_difference, "+.4f")
    low = as_shown(result.low, "+.4f")
    high = as_shown(result.high, "+.4f")
    said = f"Difference {difference} [{low}, {high}], {p_value(result.p)}."
    first, second = result.names
    title = f"Means of {first} and {second}"
    return drawn(made, name="comparison", title=title, description=said, rows=rows)


@draws("stats.TopicSets")
def set_differences(result: TopicSets, *, top: int = TOP) -> Figure:
    """How much better each run did on one topic set than on the other, with intervals, the greatest gain first."""
    every_difference = np.array([c.mean_difference for c in result.comparisons])
    order = np.argsort(-every_difference, kind="stable")[:top]
    shown = [result.comparisons[i] for i in order]
    kinds = [_verdict(float(result.p[i]), result.alpha, every_difference[i]) for i in order]
    rows = rows_of(
        run=[c.names[0] for c in shown],
        difference=every_difference[order],
        low=[c.low for c in shown],
        high=[c.high for c in shown],
        p=result.p[order],
        kind=kinds,
    )

    tip = [
        ("run", "run", ""),
        ("difference", "difference", "+.4f"),
        ("low", "low", "+.4f"),
        ("high", "high", "+.4f"),
        ("p", "p corrected", ".4f"),
    ]
    zero, at = mark_at(0.0, axis="x")
    x = amount("X", "difference", f"difference in mean {result.measure}", form="+.2f")
    y = names("Y", "run", None)
    made = ranges(y, x, "low", "high", tip=tip, over=[zero], **_signs(kinds, "first set compared with second"))

    different = kinds.count(VERDICTS[0]) + kinds.count(VERDICTS[1])
    said = f"{different} of the {len(rows)} runs shown are significantly different between the sets."
    count = some_of(len(rows), len(result.comparisons))
    title = f"{result.measure} of {count} runs: first topic set minus second"
    return drawn(
        tall(made, len(rows)),
        name="topic-sets",
        title=title,
        description=said,
        rows=rows,
        mark=at,
    )


@draws("stats.Factorial")
def factor_levels(result: Factorial) -> Figure:
    """Means of the levels of each factor with intervals that overlap where levels are not significantly different."""
    alt = altair()
    rows = []
    for factor in result.factors:
        levels = rows_of(
            level=factor.levels,
            mean=factor.means,
            low=factor.means - factor.half,
            high=factor.means + factor.half,
            letters=factor.letters,
        )
        for row in levels:
            label = f"{factor.factor}: {row['level']}"
            rows.append(row | {"factor": factor.factor, "label": label})

    tip = [
        ("factor", "factor", ""),
        ("level", "level", ""),
        ("mean", "mean", ".4f"),
        ("letters", "letters", ""),
    ]
    y = names("Y", "label", None)
    x = amount("X", "mean", "mean score")
    colour = alt.Color("factor", type="nominal", legend=alt.Legend(title="factor"))
    made = ranges(y, x, "low", "high", tip=tip, color=colour)
    best = []
    for factor in result.factors:
        level = factor.levels[0]
        mean = factor.means[0]
        best.append(f"best {factor.factor}: {level} ({mean:.4f})")
    return drawn(
        tall(made, len(rows)),
        name="factors",
        title="Levels of each factor, mean score",
        description="; ".join(best) + ".",
        rows=rows,
    )


@draws("stats.Density")
def density(result: Density) -> Figure:
    """A smoothed distribution of differences, with zero marked."""
    rows = rows_of(value=result.points, density=result.density)
    x = amount("X", "value", "value")
    y = amount("Y", "density", "density", zero=True)
    area = chart().mark_area(color=MAIN, opacity=0.35, line={"color": MAIN})
    area = area.encode(x=x, y=y)
    zero, at = mark_at(0.0, axis="x")
    made = altair().layer(area, zero).properties(height=220)
    highest = int(result.density.argmax())
    peak = float(result.points[highest])
    said = f"{result.n} values, bandwidth {result.bandwidth:.4g}; the density is highest at {peak:.4g}."
    return drawn(made, name="density", title="Distribution of the values", description=said, rows=rows, mark=at)


@draws("stats.ScoreDensities")
def score_densities(result: ScoreDensities) -> Figure:
    """The smoothed distribution of the scores of each run, topic or difference, one line each."""
    if len(result.curves) > MOST_CURVES:
        raise UsageError(f"{len(result.curves)} curves in one picture; name at most {MOST_CURVES} {result.of}s")
    rows = []
    for name, curve in result.curves.items():
        rows += [{"name": name, **row} for row in rows_of(value=curve.points, density=curve.density)]
    tip = [("name", result.of, ""), ("value", result.what, ".3f"), ("density", "density", ".3f")]
    x = amount("X", "value", result.what)
    y = amount("Y", "density", "density", zero=True)
    made = lines(x, y, series="name", order=list(result.curves), tip=tip, points=False).properties(height=260)
    peaks = ", ".join(f"{name} {curve.peak:.3f}" for name, curve in result.curves.items())
    title = f"Distribution of {result.what}"
    return drawn(made, name="densities", title=title, description=f"Most frequent: {peaks}.", rows=rows)


# p-values of pairs are drawn by a file of their own, which studies draw with too; so are distributions over topics.
from assay.report.figures.pairs import pair_curves as pair_curves  # noqa: E402
from assay.report.figures.spread import spread as spread  # noqa: E402
