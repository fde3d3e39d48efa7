"""Pictures of what measures and methods are worth: ASL curves, swaps, predictivity, tests of methods, surveys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.core.arrays import Floats
from assay.core.tables import shown
from assay.report.figure import Figure, altair, chart, drawn, rows_of
from assay.report.figures import draws
from assay.report.figures.pairs import asl_chart
from assay.report.shapes import amount, bars, cells, classes, lines, mark_at, names, ranges, scatter, tall, tips
from assay.report.theme import ACCENT, COLOURS, MAIN, MUTED, SHAPES

if TYPE_CHECKING:
    from assay.studies.concordance import Concordance
    from assay.studies.discriminative import DiscriminativePower
    from assay.studies.incompleteness import Incompleteness
    from assay.studies.measure_rankings import MeasureTau, Predictivity
    from assay.studies.method_comparison import MethodTest
    from assay.studies.run_similarity import ExchangeStudy, RunSimilarityStudy
    from assay.studies.survey import Experiment, Survey
    from assay.studies.swapped_lists import SwappedLists
    from assay.studies.swaps import Swaps
    from assay.studies.votes import PredictivePower

MOST_SIZES = 5
"""Sizes of topic sets that are drawn: more lines cannot be told apart."""


@draws("studies.DiscriminativePower")
def asl_curves(result: DiscriminativePower) -> Figure:
    """Achieved significance levels: the p-values of all pairs of runs, largest first, one curve per measure."""
    shares = dict(zip(result.measures, result.shares, strict=True))
    best = max(shares, key=lambda m: shares[m])
    said = f"{best} tells most pairs apart: {100 * shares[best]:.1f} % with p < {result.alpha:g} (dashed)."
    title = f"p-values of {len(result.p[0])} pairs of runs, {result.topics} topics"
    curves = dict(zip(result.measures, result.p, strict=True))
    if result.unpaired:
        for measure, unpaired in zip(result.measures, result.unpaired, strict=True):
            curves[f"{measure}, two-sample"] = unpaired.p
    return asl_chart(curves, result.alpha, title, said)


@draws("studies.Swaps")
def swap_curves(result: Swaps) -> Figure:
    """The share of swaps over the difference, one line per size of the topic set, and extrapolated to all topics."""
    from assay.studies.swaps import WIDTH

    alt = altair()
    rates, bins = result.rates, np.arange(result.counts.shape[1]) * WIDTH
    curves = {f"{c} topics": rates[i] for i, c in enumerate(result.sizes)}
    if len(curves) > MOST_SIZES:  # evenly spaced
        kept = np.unique(np.linspace(0, len(result.sizes) - 1, MOST_SIZES).round().astype(int))
        curves = {k: v for i, (k, v) in enumerate(curves.items()) if i in kept}
    curves[f"{result.topics} topics, extrapolated"] = result.extrapolated
    rows = [
        {"size": k, **row}
        for k, v in curves.items()
        for row in rows_of(difference=bins, swaps=100 * v)
        if row["swaps"] is not None
    ]
    tip = [("size", "topic set", ""), ("difference", "difference of at least", ".2f"), ("swaps", "% swaps", ".1f")]
    x, y = (
        amount("X", "difference", f"difference in {result.measure}, lower edge of the bin"),
        amount("Y", "swaps", "% of pairs that swap", zero=True),
    )
    line = lines(x, y, series="size", order=list(curves), tip=tip)
    level, at = mark_at(5.0)
    need = result.needed()
    said = (
        "No difference is large enough for 5 % swaps." if need is None
        else f"With {result.topics} topics differences from {need:.2f} on swap in at most 5 % (dashed)."
    )  # fmt: skip
    title = f"How often another topic set turns a difference in {result.measure} around"
    return drawn(
        alt.layer(line, level).properties(height=320), name="swaps", title=title, description=said, rows=rows, mark=at
    )


@draws("studies.Predictivity")
def predictivity(result: Predictivity) -> Figure:
    """How well each measure on half of the topics predicts each measure on the other half."""
    best = result.measures[int(np.diag(result.tau).argmax())]
    said = (
        f"{best} predicts itself best (τ {np.diag(result.tau).max():.3f}); {result.splits} splits, {result.runs} runs."
    )
    title = "Which measure predicts which on other topics (mean Kendall τ)"
    return _square(
        result.measures, result.tau, title, said, "predictivity", ("predicted measure", "measure that predicts")
    )


@draws("studies.MeasureTau")
def measure_agreement(result: MeasureTau) -> Figure:
    """How alike the measures rank the runs."""
    off = np.where(np.eye(len(result.measures), dtype=bool), np.inf, result.tau)
    i, j = np.unravel_index(int(off.argmin()), off.shape)
    said = f"Least alike: {result.measures[i]} and {result.measures[j]}; {result.runs} runs, {result.topics} topics."
    title = "How alike the measures rank the runs (Kendall τ)"
    return _square(result.measures, result.tau, title, said, "measures", ("measure", "measure"))


def _square(labels: Sequence[str], values: Floats, title: str, said: str, name: str, axes: tuple[str, str]) -> Figure:
    n = len(labels)
    i, j = np.divmod(np.arange(n * n), n)
    rows = rows_of(row=[labels[a] for a in i], column=[labels[b] for b in j], value=values.ravel())
    tip = [("row", axes[1], ""), ("column", axes[0], ""), ("value", "τ", ".3f")]
    x, y = names("X", "column", axes[0], labelAngle=-45), names("Y", "row", axes[1])
    alt = altair()
    map_ = cells(x, y, "value", "τ", tip=tip)
    if n > 12:
        return drawn(tall(map_, n), name=name, title=title, description=said, rows=rows)
    middle = float((values.min() + values.max()) / 2)
    for row in rows:
        row["light"] = (row["value"] or 0.0) < middle
    ink = alt.Color(
        "light", type="nominal", scale=alt.Scale(domain=[True, False], range=["#ffffff", "#000000"]), legend=None
    )
    text = chart().mark_text(fontSize=11).encode(x=x, y=y, text=alt.Text("value:Q", format=".2f"), color=ink)
    made = alt.layer(map_, text).resolve_scale(color="independent")
    return drawn(made.properties(height=max(120, n * 34)), name=name, title=title, description=said, rows=rows)


@draws("studies.Incompleteness")
def by_parts(result: Incompleteness) -> Figure:
    """τ with the full judgments, and discriminative power, over the share of the judgments that is kept."""
    alt = altair()
    panels = ("τ with all judgments", f"% of pairs with p < {result.alpha:g}")
    rows = []
    for m, measure in enumerate(result.measures):
        for s, share in enumerate(result.shares):
            defined = result.tau[m, s][np.isfinite(result.tau[m, s])]
            mean_tau = float(defined.mean()) if len(defined) else None
            power = 100 * float(result.power[m, s].mean())
            for panel, value in zip(panels, (mean_tau, power), strict=True):
                rows.append({"panel": panel, "measure": measure, "judged": 100 * share, "value": value})
    tip = [("measure", "measure", ""), ("judged", "% judged", ".0f"), ("value", "value", ".3f")]
    x = amount("X", "judged", "% of the judgments")
    base = lines(x, amount("Y", "value", ""), series="measure", order=result.measures, tip=tip, title="measure")
    made = base.properties(data=alt.NamedData(name="rows"), height=300).facet(
        facet=alt.Facet("panel:N", title=None, sort=list(panels)), columns=2
    )
    smallest = int(np.argmin(result.shares))
    last = result.tau[:, smallest].mean(axis=1)
    best = result.measures[int(np.nanargmax(last))] if np.isfinite(last).any() else "no measure"
    said = f"With {100 * result.shares[smallest]:.0f} % of the judgments {best} ranks most as it does with all of them."
    title = f"{len(result.measures)} measures by parts of the judgments"
    return drawn(made.resolve_scale(y="independent"), name="incompleteness", title=title, description=said, rows=rows)


@draws("studies.Concordance")
def concordance(result: Concordance) -> Figure:
    """How often each of two measures agrees with the gold measures where the two disagree."""
    rows = rows_of(measure=result.measures, share=[100 * s for s in result.shares], count=result.concordant)
    tip = [("measure", "measure", ""), ("share", "% concordant", ".1f"), ("count", "cases", "d")]
    x = amount("X", "share", f"% of {result.disagreements} disagreements in which gold agrees", domain=(0, 100))
    made = tall(bars(names("Y", "measure", None), x, tip=tip), 2)
    said = "; ".join(f"{m}: {100 * s:.1f} %" for m, s in zip(result.measures, result.shares, strict=True))
    title = f"Which measure agrees with {' and '.join(result.gold)}"
    return drawn(made, name="concordance", title=title, description=f"{said}; sign test p = {result.p:.4f}.", rows=rows)


@draws("studies.MethodTest")
def methods(result: MethodTest) -> Figure:
    """Mean τ of two methods by number of runs, each collection a panel; across it τ on all runs."""
    alt = altair()
    rows = _rows_of_methods(result)
    colour = alt.Color("arm", type="nominal", sort=list(result.arms), legend=alt.Legend(title=None))
    dash = alt.StrokeDash("arm:N", legend=None)
    y_title = "mean Kendall τ with the full judgments"
    tip = tips(
        [
            ("collection", "collection", ""),
            ("arm", "method", ""),
            ("runs", "runs", "d"),
            ("tau", "mean τ", ".3f"),
            ("p", "p", ".4f"),
        ]
    )
    of_subsets = chart(None).transform_filter("isValid(datum.tau)").mark_line(point=True)
    subsets = of_subsets.encode(
        x=amount("X", "runs", "runs"), y=amount("Y", "tau", y_title), color=colour, strokeDash=dash, tooltip=tip
    )
    tip_of_all = tips([("arm", "method", ""), ("of", "all runs", "d"), ("all_runs", "τ on all runs", ".3f")])
    of_all = chart(None).transform_filter("isValid(datum.all_runs)").mark_rule(opacity=0.6)
    all_runs = of_all.encode(y=amount("Y", "all_runs", y_title), color=colour, strokeDash=dash, tooltip=tip_of_all)
    collections = list(dict.fromkeys(tested.collection for tested in result.results))
    layered = alt.layer(subsets, all_runs).properties(data=alt.NamedData(name="rows"))
    made = layered.facet(
        facet=alt.Facet("collection:N", title=None, sort=collections), columns=min(3, len(collections))
    )
    won = sum(tested.p < 0.05 for tested in result.results)
    said = f"{result.arms[0]} is better with p < .05 in {won} of {len(result.results)} cases."
    return drawn(
        made,
        name="methods",
        title=f"{result.arms[0]} against {result.arms[1]}; straight lines: all runs",
        description=said,
        rows=rows,
    )


def _rows_of_methods(result: MethodTest) -> list[dict[str, Any]]:
    """One row per collection, number of runs and arm; then one per collection and arm with τ on all runs."""
    rows = []
    for tested in result.results:
        for arm, taus in zip(result.arms, tested.tau, strict=True):
            row = {"runs": tested.runs, "tau": float(taus.mean()), "p": tested.p, "all_runs": None, "of": None}
            rows.append({"collection": tested.collection, "arm": arm, **row})
    for full in result.full:
        for arm, tau in zip(result.arms, full.tau, strict=True):
            row = {"runs": None, "tau": None, "p": None, "all_runs": tau, "of": full.runs}
            rows.append({"collection": full.collection, "arm": arm, **row})
    return rows


@draws("studies.RunSimilarityStudy")
def similarity_and_quality(result: RunSimilarityStudy) -> Figure:
    """The similarity of every run to the others against its mean score, by group if there are any."""
    group_of_run = [group or "no group" for group in result.group_of_run]
    rows = rows_of(
        run=result.runs, similarity=result.to_others, score=result.means, emap=result.emap, group=group_of_run
    )
    tip = [
        ("run", "run", ""),
        ("score", f"mean {result.measure}", ".4f"),
        ("similarity", "similarity", ".4f"),
        ("emap", "EMAP", ".4f"),
        ("group", "group", ""),
    ]
    x = amount("X", "score", f"mean {result.measure}")
    y = amount("Y", "similarity", "mean similarity to the other runs")
    order = list(dict.fromkeys(group_of_run))
    marks = classes("group", None, order, COLOURS[: len(order)]) if len(order) > 1 else {}
    made = scatter(x, y, tip=tip, **marks).properties(height=340)
    said = "; ".join(f"{row.which}: similarity {shown(row.similarity, '.3f')}" for row in result.rows)
    title = f"Do runs that resemble the others score well? {len(rows)} runs"
    return drawn(made, name="run-similarity", title=title, description=f"{said}.", rows=rows)


@draws("studies.ExchangeStudy")
def exchanged(result: ExchangeStudy) -> Figure:
    """The similarity of every run to the others against its mean AP: as they are, and with docs exchanged."""
    rows = []
    for row in result.rows:
        points = rows_of(run=result.runs, similarity=row.to_others, score=result.means)
        rows += [{"lists": row.lists, **point} for point in points]
    tip = [("run", "run", ""), ("lists", "lists", ""), ("score", "AP", ".4f"), ("similarity", "similarity", ".4f")]
    x = amount("X", "score", "mean AP, the same in all three")
    y = amount("Y", "similarity", "mean similarity to the other runs", zero=True)
    order = [row.lists for row in result.rows]
    made = scatter(x, y, tip=tip, **classes("lists", None, order, COLOURS[: len(order)])).properties(height=340)
    said = "; ".join(f"{row.lists}: τ of EMAP {shown(row.tau, '.3f')}" for row in result.rows)
    title = f"Docs of equal relevance exchanged, {len(result.runs)} runs"
    return drawn(made, name="exchanged", title=title, description=f"{said}.", rows=rows)


@draws("studies.PredictivePower")
def preferred(result: PredictivePower) -> Figure:
    """The share of units in which the measure prefers what people prefer, with intervals."""
    table = result.table()
    rows = rows_of(
        units=table.column("units"),
        share=table.column("%"),
        low=table.column("% low"),
        high=table.column("% high"),
        n=table.column("n"),
    )
    rows = [row for row in rows if row["share"] is not None]
    tip = [
        ("units", "units", ""),
        ("share", "% agree", ".1f"),
        ("low", "low", ".1f"),
        ("high", "high", ".1f"),
        ("n", "n", "d"),
    ]
    x = amount("X", "share", "% of units in which the measure agrees with the majority", domain=(0, 100))
    half, at = mark_at(50.0, axis="x")
    made = ranges(names("Y", "units", None), x, "low", "high", tip=tip, over=[half], color=altair().value(MAIN))
    said = "; ".join(f"{row['units']}: {row['share']:.1f} % of {row['n']}" for row in rows) + "."
    title = f"Does {result.measure} prefer what people prefer?"
    return drawn(tall(made, len(rows)), name="preferred", title=title, description=said, rows=rows, mark=at)


@draws("studies.SwappedLists")
def swapped(result: SwappedLists, *, most: int = 1500) -> Figure:
    """Similarity to the ideal list against AP, for lists made worse by swaps."""
    order = np.argsort(-result.tau, kind="stable").tolist()
    shown = order[: len(SHAPES)]
    step = -(-len(result.ap) // max(1, most // len(shown)))
    by_name = result.similarity if len(result.similarity) == len(result.names) else result.similarity.T
    rows = [
        {"similarity": result.names[i], **row}
        for i in shown
        for row in rows_of(ap=result.ap[::step], value=by_name[i][::step])
    ]
    tip = [("similarity", "similarity", ""), ("ap", "AP", ".3f"), ("value", "value", ".3f")]
    marks = classes("similarity", None, [result.names[i] for i in shown], COLOURS[: len(shown)])
    made = scatter(amount("X", "ap", "AP"), amount("Y", "value", "similarity to the ideal list"), tip=tip, **marks)
    said = "τ with AP: " + ", ".join(f"{result.names[i]} {result.tau[i]:.3f}" for i in order) + "."
    title = "Does likeness to the ideal list tell effectiveness?"
    return drawn(made.properties(height=320), name="swapped", title=title, description=said, rows=rows)


@draws("studies.Survey")
def published_scores(result: Survey, *, collection: str | None = None, measure: str | None = None) -> Figure:
    """Published scores on one collection in one measure over the years: each baseline joined to its improved score.

    The best, third-quartile and median run of the original track are lines across. collection, measure: by default
    those that most experiments use.
    """
    name = result.collections[0] if collection is None else collection
    measure = result.measures(name)[0] if measure is None else measure
    experiments = result.on(name, measure)
    rows = [row for experiment in experiments for row in _score_rows(experiment)]
    joined = [
        {"year": e.year, "low": e.baseline, "high": e.improved} for e in experiments if e.gain is not None
    ]  # fmt: skip
    levels = [{"line": line, "at": round(value, 6)} for line, value in result.lines(name, measure).items()]
    layers = [_joining_lines(), _published_points(measure)]
    if levels:
        layers = [*_level_lines(), *layers]
    place = f" on {name}" if name else ""
    title = f"Published {measure}{place} over the years: baselines and what improved on them"
    made = altair().layer(*layers).properties(height=360)
    said = _published_in_words(result, name, measure)
    return drawn(made, name="published", title=title, description=said, rows=rows, pairs=joined, levels=levels)


def _score_rows(experiment: Experiment) -> list[dict[str, Any]]:
    """The points of one experiment."""
    known = [("baseline", experiment.baseline), ("improved", experiment.improved)]
    about = {"year": experiment.year, "paper": experiment.paper, "queries": experiment.query_type}
    return [{**about, "kind": kind, "score": score} for kind, score in known if score is not None]


def _published_points(measure: str) -> Any:
    """Each score at its year, baselines and improved scores in colours of their own."""
    x = amount("X", "year", "year of publication", form="d", room=14)
    y = amount("Y", "score", f"mean {measure}")
    shown = [
        ("paper", "paper", ""),
        ("year", "year", "d"),
        ("queries", "query type", ""),
        ("kind", "kind", ""),
        ("score", measure, ".4f"),
    ]
    by_kind = classes("kind", None, ("baseline", "improved"), [MAIN, ACCENT])
    points = chart().mark_point(filled=True, size=65, opacity=0.85)
    return points.encode(x=x, y=y, tooltip=tips(shown), **by_kind)


def _joining_lines() -> Any:
    """A line from the baseline to the improved score of each row of the data `pairs`."""
    rule = chart("pairs").mark_rule(color=MUTED, opacity=0.7)
    return rule.encode(x="year:Q", y="low:Q", y2="high:Q")


def _level_lines() -> list[Any]:
    """A dashed line across, with its name, for each row of the data `levels`."""
    base = chart("levels").encode(y="at:Q")
    rule = base.mark_rule(strokeDash=[5, 4], opacity=0.8)
    text = base.mark_text(align="left", dx=4, dy=-6, fontSize=11)
    return [rule, text.encode(x=altair().value(0), text="line:N")]


def _published_in_words(result: Survey, collection: str, measure: str) -> str:
    experiments = result.on(collection, measure)
    improved = [e.improved for e in experiments if e.improved is not None]
    baselines = sum(e.baseline is not None for e in experiments)
    counts = f"{baselines} baselines and {len(improved)} improved scores"
    line = result.lines(collection, measure)
    if not line:
        return f"{counts}."
    best = line["best run"]
    better = sum(score > best for score in improved)
    return f"{counts}; {better} of the improved scores beat the best original run ({best:.4f})."


# What a score says of its list is drawn by a file of its own.
from assay.report.figures import entropy as entropy  # noqa: E402
