"""Pictures of ranking without judgments: predicted against true scores, methods compared, calibration, difficulty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.core.arrays import Floats
from assay.core.errors import UsageError
from assay.core.registry import one_of
from assay.core.tables import shown
from assay.report.figure import Figure, altair, chart, drawn, rows_of
from assay.report.figures import draws
from assay.report.shapes import amount, bars, cells, classes, diagonal, lines, names, scatter, tall, tips
from assay.report.theme import ACCENT, COLOURS, MAIN, MUTED

if TYPE_CHECKING:
    from assay.nojudgments.after_reweighting import ReweightedRanking
    from assay.nojudgments.against_truth import Accuracies
    from assay.nojudgments.between_collections import Transfer
    from assay.nojudgments.difficulty import Difficulty
    from assay.nojudgments.ease import EaseComparison
    from assay.nojudgments.expected import Calibration
    from assay.nojudgments.inject import Injection
    from assay.nojudgments.method_agreement import MethodAgreement
    from assay.nojudgments.over_collections import MethodsCompared
    from assay.nojudgments.ranking import RunRanking

MOST_POINTS = 500
"""At most this many points of a method are drawn; of more, evenly spaced ones."""


@draws("nojudgments.RunRanking")
def predicted_against_true(result: RunRanking) -> Figure:
    """Predicted against true mean of every run, manual and outlying runs marked; without truth the prediction alone."""
    kinds = [kind or "automatic" for kind in result.kinds()]
    if result.truth is None:
        return _predicted_alone(result, kinds)
    true = result.truth.averages()
    rows = rows_of(run=result.runs, predicted=result.combined, true=true, kind=kinds)
    tip = [("run", "run", ""), ("true", "true", ".4f"), ("predicted", "predicted", ".4f"), ("kind", "kind", "")]
    x = amount("X", "true", f"true mean {result.truth.measure}")
    y = amount("Y", "predicted", "predicted score, combined")
    marks = classes("kind", None, ["automatic", "manual", "outlying"], [MAIN, ACCENT, MUTED])
    made = scatter(x, y, tip=tip, **marks).properties(height=340)
    accuracy = _in_words(result.accuracies[-1].values) if result.accuracies else ""
    said = f"{accuracy}; {kinds.count('manual')} manual runs."
    title = f"Predicted without judgments against true mean {result.truth.measure}, {len(rows)} runs"
    return drawn(made, name="predicted", title=title, description=said, rows=rows)


def _predicted_alone(result: RunRanking, kinds: list[str]) -> Figure:
    """The predicted score of every run, best first."""
    alt = altair()
    order = np.argsort(-result.combined, kind="stable")
    runs = [result.runs[i] for i in order]
    rows = rows_of(run=runs, score=result.combined[order], kind=[kinds[i] for i in order])
    scale = alt.Scale(domain=["automatic", "manual", "outlying"], range=[MAIN, ACCENT, MUTED])
    colour = alt.Color("kind", type="nominal", scale=scale, legend=alt.Legend(title=None))
    tip = [("run", "run", ""), ("score", "predicted", ".4f"), ("kind", "kind", "")]
    x = amount("X", "score", "predicted score, combined")
    made = bars(names("Y", "run", None), x, tip=tip, color=colour)
    said = f"Predicted best: {runs[0]}."
    title = f"{len(rows)} runs ranked without judgments"
    return drawn(tall(made, len(rows)), name="predicted", title=title, description=said, rows=rows)


@draws("nojudgments.ReweightedRanking")
def reweighted_against_true(result: ReweightedRanking) -> Figure:
    """EMAP after a few judgments and reweighting against the true mean of every run, by group if there are any."""
    group_of_run = [group or "no group" for group in result.group_of_run()]
    rows = rows_of(
        run=result.runs,
        emap=result.reweighted.expected.averages(),
        true=result.truth.averages(),
        weight=result.reweighted.weights,
        group=group_of_run,
    )
    tip = [
        ("run", "run", ""),
        ("true", "true", ".4f"),
        ("emap", "EMAP", ".4f"),
        ("weight", "weight", ".4f"),
        ("group", "group", ""),
    ]
    x = amount("X", "true", f"true mean {result.truth.measure}")
    y = amount("Y", "emap", "EMAP after reweighting")
    order = list(dict.fromkeys(group_of_run))
    marks = classes("group", None, order, COLOURS[: len(order)]) if result.groups else {}
    made = scatter(x, y, tip=tip, **marks).properties(height=340)
    said = "; ".join(f"τ of {name}: {shown(tau, '.3f')}" for name, tau in result.taus().items())
    judgments = len(result.reweighted.judged)
    title = f"{len(rows)} runs after {judgments} judgments, against true mean {result.truth.measure}"
    return drawn(made, name="reweighted", title=title, description=f"{said}.", rows=rows)


@draws("nojudgments.Difficulty")
def difficulty(result: Difficulty, *, quarters: bool = False) -> Figure:
    """Predicted against true ease of every topic; quarters: box plots of the quarters instead."""
    if quarters:
        return _quarters(result)
    rows = rows_of(topic=result.topics, predicted=result.predicted, true=result.true)
    tip = [("topic", "topic", ""), ("true", "true", ".4f"), ("predicted", "predicted", ".4f")]
    x = amount("X", "true", f"true ease ({result.statistic})")
    y = amount("Y", "predicted", "predicted ease")
    made = scatter(x, y, tip=tip).properties(height=320)
    said = f"{_in_words(result.correlations)}."
    title = f"Predicted and true ease of {len(rows)} topics by {result.method}"
    return drawn(made, name="difficulty", title=title, description=said, rows=rows)


def _in_words(correlations: Mapping[str, float | None]) -> str:
    """The correlations that are defined, by name."""
    return "; ".join(f"{name} {value:.3f}" for name, value in correlations.items() if value is not None)


@draws("nojudgments.Calibration")
def calibration(result: Calibration) -> Figure:
    """The share of relevant docs in each bin of probability; on the diagonal probabilities mean what they say."""
    alt = altair()
    width = 1 / len(result.low)
    known = result.docs > 0
    share = result.relevant[known] / result.docs[known]
    rows = rows_of(probability=result.low[known] + width / 2, share=share, docs=result.docs[known])
    x, y = (
        amount("X", "probability", "estimated probability", domain=(0, 1)),
        amount("Y", "share", "share relevant", domain=(0, 1)),
    )
    tip = [("probability", "probability", ".2f"), ("share", "relevant", ".3f"), ("docs", "docs", ",d")]
    size = alt.Size(
        "docs", type="quantitative", legend=alt.Legend(title="docs", tickCount=3), scale=alt.Scale(range=[30, 400])
    )
    line, ends = diagonal(0, 1)
    path = chart().mark_line(color=MAIN, strokeWidth=1.5).encode(x=x, y=y)
    points = chart().mark_point(filled=True, color=MAIN, opacity=0.9).encode(x=x, y=y, size=size, tooltip=tips(tip))
    made = alt.layer(line, path, points).properties(height=340)
    said = f"R² {result.r2:.3f}, deviance explained {result.deviance:.3f}; on the dashed line probabilities are right."
    title = "Are the probabilities of relevance right?"
    return drawn(made, name="calibration", title=title, description=said, rows=rows, diagonal=ends)


@draws("nojudgments.Injection")
def injection(result: Injection) -> Figure:
    """τ with the true ranking over the number of judged topics: these alone, and together with the prediction."""
    together = result.taus.mean(axis=0)
    alone = np.atleast_2d(result.alone).mean(axis=0)
    series = {"prediction and judged topics": together, "judged topics alone": alone}
    rows = []
    for how, taus in series.items():
        rows += rows_of(how=[how] * len(taus), topics=result.sizes, tau=taus)
    tip = [("how", "how", ""), ("topics", "judged topics", "d"), ("tau", "τ", ".3f")]
    x = amount("X", "topics", "judged topics")
    y = amount("Y", "tau", "Kendall τ with the true ranking")
    made = lines(x, y, series="how", order=list(series), tip=tip).properties(height=280)
    said = (
        f"Without judgments τ is {result.none:.3f}; with {result.sizes[-1]} topics {together[-1]:.3f}. {result.recipe}"
    )
    title = f"What judging a few topics adds ({result.choice})"
    return drawn(made, name="injection", title=title, description=said, rows=rows)


@draws("nojudgments.Accuracies")
def methods_against_truth(result: Accuracies) -> Figure:
    """Predicted against true scores, a panel for each method, with the least-squares line."""
    if not result.scores:
        raise UsageError("the scores of the methods were not kept; draw what predict(…).accuracy() returns")
    alt = altair()
    best_first = sorted(range(len(result.results)), key=lambda i: -(result.results[i].values["τ"] or -2))
    shown = np.unique(np.linspace(0, len(result.true) - 1, MOST_POINTS).round().astype(int))
    titles = []
    rows: list[dict[str, Any]] = []
    for i in best_first:
        found = result.results[i]
        tau = found.values["τ"]
        title = f"{found.method}: τ {'–' if tau is None else f'{tau:.2f}'}"
        titles.append(title)
        low = result.scores[i].min()
        span = np.ptp(result.scores[i])
        predicted = (result.scores[i] - low) / (span if span > 0 else 1)
        fitted = _line(result.true, predicted)
        rows += rows_of(
            method=[title] * len(shown),
            true=result.true[shown],
            predicted=predicted[shown],
            fit=fitted[shown],
        )
    x = alt.X("true:Q", title=f"true {result.truth}", scale=alt.Scale(zero=False))
    y = alt.Y("predicted:Q", title="predicted")
    tip = tips([("true", "true", ".4f"), ("predicted", "predicted", ".4f")])
    points = chart(None).mark_point(filled=True, size=14, opacity=0.5, color=MAIN).encode(x=x, y=y, tooltip=tip)
    line = chart(None).mark_line(color=ACCENT, strokeWidth=1.5).encode(x=x, y=alt.Y("fit:Q", title="predicted"))
    columns = min(4, len(titles))
    panel = alt.layer(points, line, data=alt.NamedData(name="rows")).properties(height=110)
    panels = alt.Facet("method:N", title=None, sort=titles)
    made = panel.facet(facet=panels, columns=columns)
    level = result.results[0].level
    count = f"{len(result.true):,} {level}"
    if len(shown) < len(result.true):
        count = f"{len(shown)} of {count}"
    said = (
        f"The highest τ has {titles[0]}; the lowest {titles[-1]}. "
        "Orange: least-squares line. Predicted scores are scaled to [0, 1]."
    )
    title = f"Predicted against true {result.truth}, {count}"
    return drawn(made, name="methods", title=title, description=said, rows=rows)


def _line(x: Floats, y: Floats) -> Floats:
    """The least-squares line of y on x, at every x; the mean where x does not vary."""
    deviations = x - x.mean()
    variance = float((deviations**2).mean())
    slope = float((deviations * (y - y.mean())).mean()) / variance if variance > 0 else 0.0
    return np.asarray(y.mean() + slope * deviations)


@draws("nojudgments.MethodAgreement")
def method_agreement(result: MethodAgreement) -> Figure:
    """A map of the correlations between methods."""
    n = len(result.methods)
    rows = []
    for i, method in enumerate(result.methods):
        rows += rows_of(method=[method] * n, other=result.methods, correlation=result.values[i])
    x = names("X", "other", None, labelAngle=-45)
    y = names("Y", "method", None)
    tip = [("method", "method", ""), ("other", "other", ""), ("correlation", result.correlation, ".3f")]
    made = tall(cells(x, y, "correlation", result.correlation, tip=tip, domain=(-1, 1), diverging=True), n)
    most = result.table().rows[0]
    said = f"The most similar are {most[0]} and {most[1]}."
    title = f"How far {n} methods agree on {result.level}"
    return drawn(made, name="method-agreement", title=title, description=said, rows=rows)


@draws("nojudgments.MethodsCompared")
def methods_compared(result: MethodsCompared, *, by: str = "method") -> Figure:
    """Box plots of accuracy: each method over collections, or with by="collection" each collection over methods."""
    from assay.nojudgments.over_collections import BOXES, COLUMNS, ORACLE

    one_of("box plot of each", by, BOXES)
    statistic = COLUMNS[result.statistic]
    if by == "method":
        labels = [result.methods[i] for i in result.order()]
        values = [result.values[i] for i in result.order()]
    else:
        labels = list(result.collections)
        singles = [i for i, method in enumerate(result.methods) if method != ORACLE]
        values = [result.values[singles, j] for j in range(len(labels))]
    made, rows, points = _boxes(by, labels, values, f"{statistic} of {result.level}")
    highest = max(rows, key=lambda row: float(row["median"]))[by]
    said = f"Highest median: {highest}. Boxes: quartiles and median; lines: range; points: each value."
    over = "collections" if by == "method" else "methods"
    title = f"Accuracy ({statistic}) of {len(labels)} {by}s over {len(values[0])} {over}"
    return drawn(tall(made, len(labels)), name="compared", title=title, description=said, rows=rows, points=points)


def _boxes(
    field: str, labels: Sequence[str], values: Sequence[Floats], title: str
) -> tuple[Any, list[dict[str, Any]], list[dict[str, Any]]]:
    """Horizontal box plots with every value as a point: the chart, and its two sets of rows."""
    alt = altair()
    rows: list[dict[str, Any]] = []
    points: list[dict[str, Any]] = []
    for label, sample in zip(labels, values, strict=True):
        known = sample[np.isfinite(sample)]
        if not len(known):
            continue
        low, q1, median, q3, high = np.percentile(known, [0, 25, 50, 75, 100])
        rows += rows_of(**{field: [label]}, low=[low], q1=[q1], median=[median], q3=[q3], high=[high])
        points += rows_of(**{field: [label] * len(known)}, value=known)
    y = names("Y", field, None)
    tip = [
        (field, field, ""),
        ("low", "lowest", ".3f"),
        ("q1", "lower quartile", ".3f"),
        ("median", "median", ".3f"),
        ("q3", "upper quartile", ".3f"),
        ("high", "highest", ".3f"),
    ]
    whole = chart().mark_rule(color=MAIN).encode(y=y, x=amount("X", "low", title), x2="high:Q", tooltip=tips(tip))
    middle = chart().mark_bar(color=MAIN, opacity=0.35, height={"band": 0.6})
    box = middle.encode(y=y, x=alt.X("q1:Q", title=title), x2="q3:Q", tooltip=tips(tip))
    tick = chart().mark_tick(color=ACCENT, thickness=3, height={"band": 0.6})
    at_median = tick.encode(y=y, x=alt.X("median:Q", title=title), tooltip=tips(tip))
    dot = chart("points").mark_point(filled=True, size=18, color=MUTED, opacity=0.9)
    dots = dot.encode(y=y, x=alt.X("value:Q", title=title))
    return alt.layer(whole, box, at_median, dots), rows, points


@draws("nojudgments.Transfer")
def transfer(result: Transfer) -> Figure:
    """A map of accuracy: trained on the row, tested on the column."""
    from assay.nojudgments.over_collections import COLUMNS

    statistic = COLUMNS[result.statistic]
    rows = []
    for name, values in zip(result.rows(), result.values, strict=True):
        known = np.isfinite(values)
        tested = [result.collections[j] for j in np.flatnonzero(known)]
        rows += rows_of(trained=[name] * len(tested), tested=tested, value=values[known])
    x = names("X", "tested", "tested on", sort=list(result.collections), labelAngle=0)
    y = names("Y", "trained", "trained on")
    tip = [("trained", "trained on", ""), ("tested", "tested on", ""), ("value", statistic, ".3f")]
    alt = altair()
    text = chart().mark_text(fontSize=11, color="black")
    numbers = text.encode(x=x, y=y, text=alt.Text("value:Q", format=".2f"))
    # On pale colours: blue below 0, orange above.
    colours = cells(x, y, "value", statistic, tip=tip, domain=(-1.5, 1.5), diverging=True)
    made = tall(alt.layer(colours, numbers), 2 * len(result.rows()))
    said = f"Distances between collections: {result.table().notes[-1]}."
    title = f"Transfer of {result.model} between collections ({statistic} of {result.level})"
    return drawn(made, name="transfer", title=title, description=said, rows=rows)


@draws("nojudgments.EaseComparison")
def ease_comparison(result: EaseComparison) -> Figure:
    """The ease of every topic in two score tables; on the dashed line, where they have one scale, it is the same."""
    first, second = result.names
    rows = rows_of(topic=result.topics, first=result.first, second=result.second)
    tip = [("topic", "topic", ""), ("first", first, ".4f"), ("second", second, ".4f")]
    x = amount("X", "first", f"{result.statistic}, {first}")
    y = amount("Y", "second", f"{result.statistic}, {second}")
    points = scatter(x, y, tip=tip)
    title = f"Ease of {len(rows)} topics in {first} and {second}"
    said = f"{_in_words(result.correlations)}."
    if not result.on_one_scale:
        made = points.properties(height=340)
        return drawn(made, name="ease", title=title, description=said, rows=rows)
    low = float(min(result.first.min(), result.second.min()))
    high = float(max(result.first.max(), result.second.max()))
    line, ends = diagonal(low, high)
    made = altair().layer(line, points).properties(height=340)
    said += " Dashed: the same ease in both."
    return drawn(made, name="ease", title=title, description=said, rows=rows, diagonal=ends)


def _quarters(result: Difficulty) -> Figure:
    """Box plots of the true ease by quarters of predicted ease, or of predicted ease by quarters of the truth."""
    compared = result.true if result.by == "predicted" else result.predicted
    labels = ["1 (hardest)", "2", "3", "4 (easiest)"]
    values = [compared[result.quarter == number] for number in range(4)]
    if min(map(len, values)) == 0:
        raise UsageError("quarters of so few topics cannot be drawn; give at least four")
    made, rows, points = _boxes("quarter", labels, values, f"{result.compared} ease ({result.statistic})")
    distinct = sum(p < 0.05 for _, _, _, p in result.tests)
    said = f"{distinct} of {len(result.tests)} pairs of quarters are significantly different at .05 (Bonferroni)."
    title = f"{result.compared.capitalize()} ease by quarter of {result.by} ease, {result.method}"
    return drawn(tall(made, 2 * len(labels)), name="quarters", title=title, description=said, rows=rows, points=points)
