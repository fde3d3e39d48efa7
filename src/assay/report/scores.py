"""Pictures of scores: who leads and how surely, which run does well on which topic, where two runs differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Floats
from assay.core.tables import p_value
from assay.core.tables import shown as as_shown
from assay.report.figure import Figure, altair, chart, drawn, rows_of
from assay.report.shapes import amount, bars, cells, mark_at, names, ranges, tall, tips
from assay.report.theme import ACCENT, MAIN, MUTED

if TYPE_CHECKING:
    from assay.data.scores import ScoreMatrix
    from assay.stats.factorial import Factorial
    from assay.stats.leaderboard import Leaderboard
    from assay.stats.shape import Density
    from assay.stats.topic_sets import TopicSets
    from assay.stats.two_runs import Comparison

TOP, MOST_TOPICS = 40, 100
"""Runs and topics that a picture shows at most unless told."""
MOST_LETTERS = 10
"""Letters that are written beside an interval; more are left to the table."""


def leaderboard(board: Leaderboard, *, top: int | None = None) -> Figure:
    """Means with intervals and letters, best first; colour tells which runs differ from the baseline."""
    matrix, alt = board.matrix, altair()
    shown = board.shown(top or board.top or TOP)
    rows = _board_rows(board, shown)
    scale = alt.Scale(domain=["baseline", "differs", "does not differ"], range=[MUTED, ACCENT, MAIN])
    legend = alt.Legend(title=f"compared with {_short(board.baseline, 24)}")
    colour = alt.Color("kind", type="nominal", scale=scale, legend=legend)
    tip = [("run", "run", ""), ("mean", "mean", ".4f"), ("low", "low", ".4f"), ("high", "high", ".4f")]
    tip += [("p", board.versus.p_name(board.correction), ".4f"), ("all_letters", "letters", "")]
    y, longest = names("Y", "run", None), max(len(row["all_letters"]) for row in rows)
    text = chart().mark_text(align="left", dx=6, fontSize=11).encode(y=y, x=alt.X("high:Q"), text="letters:N")
    over = [text] if 0 < longest <= MOST_LETTERS else []
    x = amount("X", "mean", _mean_of(matrix), room=5 * min(6, longest) if over else 0)
    made = ranges(y, x, "low", "high", tip=tip, over=over, color=colour)
    level, count = round(100 * (1 - board.alpha)), _of(len(shown), len(matrix.runs))
    same = sum(row["kind"] == "does not differ" for row in rows)
    said = (
        f"Best is {matrix.runs[0]} with {matrix.means()[0]:.4f}; {same} of the runs shown do not differ significantly "
        f"from {board.baseline}."
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
        letters=[_short(t) for t in letters], all_letters=letters, p=[p.get(i) for i in shown],
    )  # fmt: skip


def score_map(matrix: ScoreMatrix, *, top: int = TOP, most_topics: int = MOST_TOPICS) -> Figure:
    """Every run on every topic as intensity; rows by mean or name, columns by ease, spread or name.

    With more runs or topics than asked for: the best runs, and the topics on which all runs differ most.
    """
    alt = altair()
    ordered = matrix.by_mean()
    spread = ordered.values.std(axis=0)
    kept = np.sort(np.argsort(-spread, kind="stable")[:most_topics])
    part = ordered.select(runs=ordered.runs[:top], topics=[ordered.topics[j] for j in kept])
    runs, topics = part.shape
    ease = ordered.values.mean(axis=0)[kept]
    i, j = np.divmod(np.arange(runs * topics), topics)
    rows = rows_of(run=[part.runs[a] for a in i], topic=[part.topics[b] for b in j], score=part.values.ravel())
    places = {"by_mean": np.arange(runs), "by_name": _rank_of_names(part.runs)}
    columns = {"in_order": np.arange(topics), "easy_first": _rank(-ease), "most_spread_first": _rank(-spread[kept])}
    column = alt.EncodingSortField("column", op="min")
    axis = alt.Axis(title="topic", labelAngle=-90, labelOverlap="greedy", ticks=False, labelFontSize=10)
    x = alt.X("topic", type="nominal", sort=column, axis=axis)
    y = names("Y", "run", None, sort=alt.EncodingSortField("row", op="min"), ticks=False)
    tip = [("run", "run", ""), ("topic", "topic", ""), ("score", matrix.measure, ".4f"), ("ease", "topic mean", ".4f")]
    made = cells(x, y, "score", matrix.measure, tip=tip, diverging=bool(part.values.min() < 0))
    whole = f"{matrix.measure} of {_of(runs, len(matrix.runs))} runs on {_of(topics, len(matrix.topics))} topics"
    left = " (those on which the runs differ most)" if topics < len(matrix.topics) else ""
    return drawn(
        tall(_sortable(made, list(places), list(columns)), runs), name=f"map-{matrix.measure}", title=whole + left,
        description=_topics_in_words(part.topics, ease, spread[kept]), rows=rows,
        runs=rows_of(run=part.runs, **{k: v.tolist() for k, v in places.items()}),
        topics=rows_of(topic=part.topics, ease=ease, **{k: v.tolist() for k, v in columns.items()}),
    )  # fmt: skip


def _sortable(made: Any, places: list[str], columns: list[str]) -> Any:
    """The map with menus for the order of its rows and columns, looked up in the data `runs` and `topics`."""
    alt = altair()
    return (
        made.add_params(_choice("runs", places), _choice("topics", columns))
        .transform_lookup("run", from_=alt.LookupData(alt.NamedData(name="runs"), "run", places))
        .transform_lookup("topic", from_=alt.LookupData(alt.NamedData(name="topics"), "topic", ["ease", *columns]))
        .transform_calculate(
            row="datum[order_runs === 'by_name' ? 'by_name' : 'by_mean']", column="datum[order_topics]"
        )
    )


def distribution(raw: ScoreMatrix, standard: ScoreMatrix) -> Figure:
    """Scores of all runs on each topic, topics by ease: the quartiles and range, raw beside standardized."""
    alt = altair()
    order = np.argsort(-raw.values.mean(axis=0), kind="stable")
    parts = []
    for matrix in (raw, standard):
        low, q1, q2, q3, high = np.percentile(matrix.values[:, order], [0, 25, 50, 75, 100], axis=0)
        topics = [raw.topics[j] for j in order]
        kind = [matrix.measure] * len(topics)
        place = range(1, len(topics) + 1)
        parts += rows_of(place=place, topic=topics, scores=kind, low=low, q1=q1, median=q2, q3=q3, high=high)
    x = amount("X", "place", "topics, easiest first")
    tip = [("topic", "topic", ""), ("low", "lowest", ".3f"), ("q1", "lower quartile", ".3f")]
    tip += [("median", "median", ".3f"), ("q3", "upper quartile", ".3f"), ("high", "highest", ".3f")]
    layers = [
        chart(None).mark_area(opacity=0.18, color=MAIN).encode(x=x, y=alt.Y("low:Q", title="score"), y2="high:Q"),
        chart(None).mark_area(opacity=0.4, color=MAIN).encode(x=x, y="q1:Q", y2="q3:Q"),
        chart(None).mark_line(color=ACCENT).encode(x=x, y="median:Q"),
        chart(None)
        .mark_rule(opacity=0, strokeWidth=6, aria=False)
        .encode(x=x, y="low:Q", y2="high:Q", tooltip=tips(tip)),
    ]
    made = alt.layer(*layers, data=alt.NamedData(name="rows")).facet(
        facet=alt.Facet("scores:N", title=None, sort=[raw.measure, standard.measure]), columns=2,
    ).resolve_scale(y="independent")  # fmt: skip
    fall = raw.values.mean(axis=0)[order]
    return drawn(
        made, name=f"distribution-{raw.measure}", rows=parts,
        title=f"{raw.measure} per topic, raw and standardized: median, quartiles and range over {len(raw.runs)} runs",
        description=f"The mean raw score falls from {fall[0]:.3f} on the easiest topic to {fall[-1]:.3f} on the "
        "hardest; standardized scores have the same centre and spread on every topic.",
    )  # fmt: skip


def differences(
    values: npt.ArrayLike, *, topics: Sequence[str], runs: tuple[str, str], measure: str = "score"
) -> Figure:
    """The difference of two runs on every topic, as bars from the greatest gain to the greatest loss."""
    alt = altair()
    d = np.asarray(values, dtype=np.float64)
    order = np.argsort(-d, kind="stable")
    better = [f"{_short(runs[0], 24)} better", f"{_short(runs[1], 24)} better", "equal"]
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
    scale = alt.Scale(domain=["differs", "does not differ"], range=[ACCENT, MAIN])
    colour = alt.Color("kind", type="nominal", scale=scale, legend=alt.Legend(title=None))
    tip = [("run", "run", ""), ("difference", "difference", "+.4f"), ("low", "low", "+.4f"), ("high", "high", "+.4f")]
    tip += [("p", "p corrected", ".4f")]
    zero, at = mark_at(0.0, axis="x")
    x = amount("X", "difference", f"difference in mean {result.measure}", form="+.2f")
    made = tall(ranges(names("Y", "run", None), x, "low", "high", tip=tip, over=[zero], color=colour), len(rows))
    said = f"{kinds.count('differs')} of the {len(rows)} runs shown differ significantly between the sets."
    some = _of(len(rows), len(result.comparisons))
    title = f"{result.measure} of {some} runs: first topic set minus second"
    return drawn(made, name="topic-sets", title=title, description=said, rows=rows, mark=at)


def factor_levels(result: Factorial) -> Figure:
    """Means of the levels of each factor with intervals that overlap where levels do not differ."""
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


def _topics_in_words(topics: Sequence[str], ease: Floats, spread: Floats) -> str:
    flat = np.ptp(spread) < 1e-9
    most = (
        "Runs differ by as much on every topic" if flat else f"Runs differ most on topic {topics[int(spread.argmax())]}"
    )
    if np.ptp(ease) < 1e-9:
        return f"{most}; every topic has the same mean."
    hard, easy = int(ease.argmin()), int(ease.argmax())
    hardest = f"topic {topics[hard]} is the hardest ({ease[hard]:.3f} on average)"
    return f"{most}; {hardest}, {topics[easy]} the easiest ({ease[easy]:.3f})."


def _verdict(p: float, alpha: float) -> str:
    return "differs" if p < alpha else "does not differ"


def _mean_of(matrix: ScoreMatrix) -> str:
    return f"mean {matrix.measure} over {len(matrix.topics)} topics"


def _of(shown: int, all_: int) -> str:
    return str(all_) if shown == all_ else f"{shown} of {all_:,}"


def _short(text: str, most: int = 12) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _rank(values: Floats) -> npt.NDArray[np.int64]:
    return np.argsort(np.argsort(values, kind="stable"), kind="stable")


def _rank_of_names(texts: Sequence[str]) -> npt.NDArray[np.int64]:
    order = sorted(range(len(texts)), key=lambda i: texts[i])
    ranks = np.empty(len(texts), dtype=np.int64)
    ranks[order] = np.arange(len(texts))
    return ranks


def _choice(what: str, options: list[str]) -> Any:
    """A menu beside the chart by which its rows or columns are ordered."""
    alt = altair()
    labels = [o.replace("_", " ") for o in options]
    menu = alt.binding_select(options=options, labels=labels, name=f"Order of {what}: ")
    return alt.param(name=f"order_{what}", value=options[0], bind=menu)
