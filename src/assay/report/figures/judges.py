"""Pictures of machine judges: agreement, rankings, bias, conclusions, circularity, panels, and honest estimates."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.report.figure import Figure, altair, chart, drawn, rows_of
from assay.report.figures import draws
from assay.report.shapes import amount, bars, cells, classes, diagonal, names, ranges, scatter, tall, tips
from assay.report.theme import ACCENT, MAIN, MUTED, THIRD

if TYPE_CHECKING:
    from assay.crowd.shared_errors import SharedErrors
    from assay.judges.audit import JudgeAudit
    from assay.judges.circularity import Circularity
    from assay.judges.doc_estimates import DocEstimates
    from assay.judges.label_audit import LabelAudit
    from assay.judges.pair_conclusions import Conclusions
    from assay.judges.panels import PanelAudit
    from assay.judges.ranking_audit import RankingAudit
    from assay.judges.run_bias import RunBias
    from assay.judges.topic_estimates import TopicEstimates

MOST = 40
"""Runs, or judges, in a picture."""
OUTCOMES = ("same sign", "only judge", "only humans", "opposite sign")
KINDS = ("combined", "people alone")
UNDER = ("scored by the judge", "scored by people")


@draws("judges.LabelAudit")
def agreement_of_judges(audit: LabelAudit) -> Figure:
    """Agreement of every judge with people by the one coefficient that all are compared by, with its interval."""
    standing = audit.standing
    ends = {judge: standing.ends(judge) for judge in audit.pairs.judges}
    known = [judge for judge in audit.pairs.judges if standing.value(judge) is not None]
    ordered = sorted(known, key=lambda judge: -(standing.value(judge) or 0.0))[:MOST]
    values = [standing.value(judge) or 0.0 for judge in ordered]
    pairs = list(zip(ordered, values, strict=True))
    rows = rows_of(
        judge=ordered,
        value=values,
        low=[value if ends[judge][0] is None else ends[judge][0] for judge, value in pairs],
        high=[value if ends[judge][1] is None else ends[judge][1] for judge, value in pairs],
        compared=[standing.footing.how] * len(ordered),
    )
    tip = [("judge", "judge", ""), ("value", "α", ".3f"), ("low", "low", ".3f"), ("high", "high", ".3f"),
           ("compared", "compared", "")]  # fmt: skip
    x = amount("X", "value", f"{standing.footing.coefficient} with people")
    made = ranges(names("Y", "judge", None), x, "low", "high", tip=tip, color=altair().value(MAIN))
    said = f"The best is {ordered[0]} ({values[0]:.3f})." if ordered else "Agreement is undefined."
    title = "How far machine judges agree with people"
    return drawn(tall(made, len(rows)), name="judges-agreement", title=title, description=said, rows=rows)


@draws("judges.JudgeAudit")
def judge_audit(audit: JudgeAudit) -> Figure:
    """The rankings of the runs by the first judge against people, or without runs the agreement of all judges."""
    if audit.rankings is not None:
        return ranking_audit(audit.rankings)
    return agreement_of_judges(audit.labels)


@draws("judges.RankingAudit")
def ranking_audit(audit: RankingAudit, *, judge: str | None = None) -> Figure:
    """Mean score of every run by people and by a judge: the one that is named, or the best ranking one."""
    known = {row.judge: row.value for row in audit.rows if row.measure == "τ" and row.value is not None}
    name = judge or (max(known, key=lambda one: known[one] or 0.0) if known else audit.judges[0])
    machine = audit.machine[audit.judges.index(name)].averages()
    human = audit.human.averages()
    rows = rows_of(run=audit.human.runs, human=human, machine=machine)
    low = float(min(human.min(), machine.min()))
    high = float(max(human.max(), machine.max()))
    line, ends = diagonal(low, high)
    x = amount("X", "human", f"{audit.measure} by people", room=10)
    y = amount("Y", "machine", f"{audit.measure} by {name}", room=10)
    tip = [("run", "run", ""), ("human", "people", ".4f"), ("machine", name, ".4f")]
    made = altair().layer(line, scatter(x, y, tip=tip))
    tau = known.get(name)
    said = f"τ = {tau:.3f}; " if tau is not None else ""
    said += f"on average the judge is off by {float((machine - human).mean()):+.3f} (points above the line: too high)."
    title = f"Runs scored by people and by {name}"
    return drawn(made, name="judge-ranking", title=title, description=said, rows=rows, diagonal=ends)


@draws("judges.RunBias")
def run_bias(bias: RunBias) -> Figure:
    """Machine minus human score of every run with its interval, the most favoured first."""
    order = np.argsort(-bias.beyond_mean, kind="stable")
    if len(order) > MOST:
        half = MOST // 2
        order = np.concatenate([order[:half], order[-half:]])
    marked = ["favoured or put down" if bias.p[i] < bias.alpha else "as the other runs" for i in order]
    rows = rows_of(
        run=[bias.runs[i] for i in order],
        bias=bias.bias[order],
        low=bias.low[order],
        high=bias.high[order],
        what=marked,
    )
    tip = [("run", "run", ""), ("bias", "bias", "+.4f"), ("low", "low", "+.4f"), ("high", "high", "+.4f"),
           ("what", "", "")]  # fmt: skip
    x = amount("X", "bias", f"{bias.measure}: {bias.judge} minus people", form="+.2f")
    kinds = ("as the other runs", "favoured or put down")
    made = ranges(names("Y", "run", None), x, "low", "high", tip=tip, **classes("what", None, kinds, (MAIN, ACCENT)))
    said = f"Mean bias {bias.mean:+.3f} [{bias.mean_low:+.3f}, {bias.mean_high:+.3f}]."
    title = f"Which runs {bias.judge} favours"
    return drawn(tall(made, len(rows)), name="judge-bias", title=title, description=said, rows=rows)


@draws("judges.Conclusions")
def conclusions(result: Conclusions) -> Figure:
    """Pairs of runs that people, the judge or both call different, for every judge."""
    rows: list[dict[str, Any]] = []
    for row in result.outcomes[:MOST]:
        counts = (row.same, row.only_judge, row.only_humans, row.opposite)
        rows += rows_of(judge=[row.judge] * 4, outcome=OUTCOMES, pairs=counts, order=[0, 1, 2, 3])
    tip = [("judge", "judge", ""), ("outcome", "significant", ""), ("pairs", "pairs", "d")]
    alt = altair()
    colours = alt.Scale(domain=list(OUTCOMES), range=[MAIN, ACCENT, MUTED, THIRD])
    legend = alt.Legend(title="significant", orient="bottom", columns=2)
    colour = alt.Color("outcome", type="nominal", scale=colours, legend=legend)
    x = amount("X", "pairs", "pairs of runs", zero=True)
    order = alt.Order("order", type="quantitative")
    made = bars(names("Y", "judge", None), x, tip=tip, color=colour, order=order)
    said = f"{result.pairs} pairs of runs, each corrected by {result.correction} at {result.alpha:g}."
    title = f"{result.measure}: pairs of runs called different"
    return drawn(tall(made, len(result.outcomes)), name="judge-conclusions", title=title, description=said, rows=rows)


@draws("judges.Circularity")
def circularity(result: Circularity) -> Figure:
    """What a run gains by reranking with a judge, under that judge and under people."""
    rows: list[dict[str, Any]] = []
    for gain in result.gains[:MOST]:
        rows += rows_of(
            judge=[gain.judge, gain.judge],
            under=UNDER,
            gain=[gain.machine, gain.human],
            low=[gain.machine_low, gain.human_low],
            high=[gain.machine_high, gain.human_high],
        )
    tip = [("judge", "reranked by", ""), ("under", "", ""), ("gain", "gain", "+.4f"), ("low", "low", "+.4f"),
           ("high", "high", "+.4f")]  # fmt: skip
    x = amount("X", "gain", f"gain in {result.measure}", form="+.2f")
    made = _paired(names("Y", "judge", None), x, "under", UNDER, tip, (ACCENT, MAIN))
    said = f"The first {result.k} docs of each run reranked by the judge's labels; mean over {result.runs} runs."
    title = "What a run gains by asking the judge"
    return drawn(tall(made, 2 * len(result.gains)), name="judge-circularity", title=title, description=said, rows=rows)


@draws("judges.PanelAudit")
def panel(result: PanelAudit) -> Figure:
    """Single judges and panels of all of them, by agreement with people."""
    shown = [row for row in result.rows if row.alpha is not None]
    shown.sort(key=lambda row: -(row.alpha or 0.0))
    del shown[MOST:]
    rows = rows_of(
        judge=[row.name for row in shown],
        kind=["panel of all judges" if row.kind == "panel" else "single judge" for row in shown],
        alpha=[row.alpha for row in shown],
        low=[row.alpha if row.low is None else row.low for row in shown],
        high=[row.alpha if row.high is None else row.high for row in shown],
    )
    tip = [("judge", "judge", ""), ("kind", "", ""), ("alpha", "α", ".3f"), ("low", "low", ".3f"),
           ("high", "high", ".3f")]  # fmt: skip
    x = amount("X", "alpha", f"α {result.level} with people")
    colours = classes("kind", None, ("single judge", "panel of all judges"), (MAIN, ACCENT))
    made = ranges(names("Y", "judge", None), x, "low", "high", tip=tip, **colours)
    count = len(result.errors.workers)
    said = f"{count} judges err as {result.errors.effective:.1f} independent ones would."
    title = "Do several judges help?"
    return drawn(tall(made, len(rows)), name="judge-panel", title=title, description=said, rows=rows)


def errors_together(result: SharedErrors) -> Figure:
    """How far the errors of every two judges correlate."""
    judges = result.workers[:MOST]
    rows: list[dict[str, Any]] = []
    for i, one in enumerate(judges):
        values = [None if np.isnan(v) else float(v) for v in result.correlation[i][: len(judges)]]
        rows += rows_of(judge=[one] * len(judges), other=judges, correlation=values)
    tip = [("judge", "judge", ""), ("other", "other", ""), ("correlation", "correlation of errors", ".3f")]
    x = names("X", "other", None, labelAngle=-45)
    made = cells(x, names("Y", "judge", None), "correlation", "correlation", tip=tip, domain=(-1, 1), diverging=True)
    said = f"Mean correlation {result.mean:.2f}."
    title = "Judges that err together"
    return drawn(tall(made, len(judges)), name="judge-errors", title=title, description=said, rows=rows)


@draws("judges.TopicEstimates")
def topic_estimates(result: TopicEstimates) -> Figure:
    """Estimates with their intervals, and those of people alone."""
    low, high = result.interval
    alone_low, alone_high = result.human_only.interval(result.level, normal=result.normal)
    ends = (low, high, alone_low, alone_high)
    what = f"{result.measure} less that of {result.baseline}" if result.baseline else result.measure
    said = (
        f"{len(result.human_topics)} topics judged by people and {len(result.machine_topics)} more by {result.judge}; "
        f"one human topic is worth {float(np.median(result.worth())):.2f} human-only topics."
    )
    return _estimates(result.runs, result.found.value, result.human_only.value, ends, what, said)


@draws("judges.DocEstimates")
def doc_estimates(result: DocEstimates) -> Figure:
    """Estimates with their intervals, and those of the sampled docs alone."""
    found, alone = result.found, result.human_only
    ends = (found.low, found.high, alone.low, alone.high)
    what = f"{result.measure} less that of {result.baseline}" if result.baseline else result.measure
    said = f"{result.sampled} of {result.pooled} docs judged by people, all by {result.judge}."
    return _estimates(result.runs, found.value, alone.value, ends, what, said)


def _estimates(
    runs: Iterable[str], value: Any, alone: Any, ends: tuple[Any, Any, Any, Any], what: str, said: str
) -> Figure:
    """Two intervals for each run, one below the other: combined, and people alone."""
    order = np.argsort(-value, kind="stable")[:MOST]
    listed = list(runs)
    rows: list[dict[str, Any]] = []
    for i in order.tolist():
        rows += rows_of(
            run=[listed[i], listed[i]],
            kind=KINDS,
            value=[value[i], alone[i]],
            low=[ends[0][i], ends[2][i]],
            high=[ends[1][i], ends[3][i]],
        )
    tip = [("run", "run", ""), ("kind", "", ""), ("value", "estimate", ".4f"), ("low", "low", ".4f"),
           ("high", "high", ".4f")]  # fmt: skip
    made = _paired(names("Y", "run", None), amount("X", "value", what), "kind", KINDS, tip, (MAIN, MUTED))
    title = "What people would score, with intervals"
    return drawn(tall(made, 2 * len(order)), name="judge-estimates", title=title, description=said, rows=rows)


def _paired(y: Any, x: Any, field: str, kinds: tuple[str, str], tip: Any, colours: tuple[str, str]) -> Any:
    """Two points with intervals on every row, one below the other."""
    alt = altair()
    channels = classes(field, None, kinds, colours)
    shape = channels.pop("shape")
    shift = alt.YOffset(field, type="nominal", sort=list(kinds))
    base = chart().encode(y=y, yOffset=shift, tooltip=tips(tip), **channels)
    from_low = alt.X("low", type="quantitative", title=x.to_dict()["axis"]["title"])
    rule = base.mark_rule(strokeWidth=2, opacity=0.75).encode(x=from_low, x2=alt.X2("high"))
    point = base.mark_point(size=45, filled=True, opacity=1).encode(x=x, shape=shape)
    return alt.layer(rule, point)
