"""Pictures of ranking without judgments: predicted against true means, calibration, judging some topics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from assay.report.figure import Figure, altair, chart, drawn, rows_of
from assay.report.figures import draws
from assay.report.shapes import amount, bars, classes, diagonal, lines, names, scatter, tall, tips
from assay.report.theme import ACCENT, MAIN, MUTED

if TYPE_CHECKING:
    from assay.nojudgments.difficulty import Difficulty
    from assay.nojudgments.expected import Calibration
    from assay.nojudgments.inject import Injection
    from assay.nojudgments.ranking import RunRanking


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


@draws("nojudgments.Difficulty")
def difficulty(result: Difficulty) -> Figure:
    """Predicted against true ease of every topic."""
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
