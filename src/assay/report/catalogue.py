"""Which picture belongs to which result? `figure(result)` draws it, `save_figure(result, path)` writes it.

Results are known by the full name of their class and drawing functions by the module they live in, so that importing
this module imports neither.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from assay.core.errors import UsageError
from assay.io.files import write_whole
from assay.report.figure import Figure, ending_of

FIGURES: dict[str, str] = {
    "data.scores.ScoreMatrix": "scores.score_map",
    "stats.leaderboard.Leaderboard": "scores.leaderboard",
    "stats.two_runs.Comparison": "scores.comparison",
    "stats.topic_sets.TopicSets": "scores.set_differences",
    "stats.factorial.Factorial": "scores.factor_levels",
    "stats.shape.Density": "scores.density",
    "stats.pairs.PairsResult": "measuring.pair_curve",
    "report.ranks.RecallPrecision": "ranks.recall_precision_curves",
    "report.ranks.OverlapByDepth": "ranks.overlap_curve",
    "data.grades.Grades": "ranks.relevance_map",
    "similarity.by_topic.RunSimilarity": "ranks.topic_overlap",
    "similarity.by_topic.PSweep": "ranks.p_curve",
    "similarity.matrix.SimilarityMatrix": "alike.similarity_map",
    "similarity.preferences.PreferenceSimilarity": "alike.preference_map",
    "similarity.series.SeriesResult": "alike.over_time",
    "similarity.systems.RankingComparison": "alike.two_rankings",
    "agreement.kappa.Contingency": "alike.contingency",
    "crowd.ranking.RankingAgreement": "alike.crowd_ranking",
    "plan.power.PowerCurve": "planning.power_curves",
    "plan.audit.Audit": "planning.audit_map",
    "plan.audit.OneSigma": "planning.sigma_spread",
    "plan.trial.BestTrial": "planning.trial_totals",
    "plan.depth.DepthTradeoff": "planning.depth_curves",
    "plan.stopping.StoppingBias": "planning.stopping_rates",
    "standard.variance.Components": "planning.components",
    "standard.collections.Comparabilities": "planning.collection_distances",
    "standard.reference.ReferenceSize": "planning.reference_sizes",
    "standard.reference.Trend": "planning.trend",
    "standard.items.ItemTotal": "planning.item_total",
    "topics.series.SeriesResult": "subsets.series_curves",
    "topics.search.SearchResult": "subsets.search_curves",
    "topics.holdout.HoldoutResult": "subsets.held_out",
    "topics.clusters.ClusterResult": "subsets.cluster_curves",
    "topics.synthetic.GrowthResult": "subsets.growth_curves",
    "topics.stability.StabilityResult": "subsets.pixels",
    "topics.conclusions.ConclusionsResult": "subsets.conclusion_areas",
    "topics.hits.HitsResult": "subsets.hits_map",
    "nojudgments.ranking.RunRanking": "guesses.predicted_against_true",
    "nojudgments.difficulty.Difficulty": "guesses.difficulty",
    "nojudgments.expected.Calibration": "guesses.calibration",
    "nojudgments.inject.Injection": "guesses.injection",
    "pooling.curves.Curves": "pools.judging_curves",
    "pooling.bias.LeftOut": "pools.bias_bars",
    "pooling.pools.Contributions": "pools.contributions",
    "pooling.adjust.Adjustment": "pools.adjustment",
    "pooling.accuracy.Accuracy": "pools.adjustment_errors",
    "pooling.mtc.Confidence": "pools.confidences",
    "crowd.quality.WorkerQuality": "workers.worker_scatter",
    "crowd.quality.TopicQuality": "workers.quality_by_topic",
    "crowd.quality.DocQuality": "workers.doc_controversy",
    "crowd.uncertain.Uncertain": "workers.uncertain_grades",
    "crowd.cuts.CutSearch": "workers.cut_map",
    "crowd.profiles.GainProfile": "workers.gain_profile",
    "crowd.effort.TimeByPosition": "workers.time_by_position",
    "crowd.effort.Fewer": "workers.fewer",
    "crowd.effort.RunOut": "workers.run_out",
    "data.labels.Labels": "workers.label_distribution",
    "agreement.result.AgreementResult": "workers.agreement_by_topic",
    "studies.discriminative.DiscriminativePower": "measuring.asl_curves",
    "studies.swaps.Swaps": "measuring.swap_curves",
    "studies.rankings.Predictivity": "measuring.predictivity",
    "studies.rankings.MeasureTau": "measuring.measure_agreement",
    "studies.concordance.Concordance": "measuring.concordance",
    "studies.methods.MethodTest": "measuring.methods",
    "studies.votes.PredictivePower": "measuring.preferred",
    "studies.swapped_lists.SwappedLists": "measuring.swapped",
    "report.published.Published": "published.chart_of",
}
"""Class of a result (within assay) → function that draws it (within assay.report)."""


def figure(result: Any) -> Figure:
    """The picture of a result.

    >>> from assay.data.scores import ScoreMatrix
    >>> figure(ScoreMatrix.of([[0.1, 0.3], [0.2, 0.4]], measure="AP")).title
    'AP of 2 runs on 2 topics'
    """
    if isinstance(result, Figure):
        return result
    for kind in type(result).__mro__:
        name = f"{kind.__module__}.{kind.__qualname__}".removeprefix("assay.")
        if name in FIGURES:
            module, _, function = FIGURES[name].rpartition(".")
            draw = getattr(importlib.import_module(f"assay.report.{module}"), function)
            drawing: Figure = draw(result)
            return drawing
    what = "this command" if result is None else f"a {type(result).__name__}"
    raise UsageError(f"there is no figure of {what}; leave --figure out")


def save_figure(result: Any, path: str | Path) -> None:
    """Draw a result, or several, in the format of the path's ending: .svg, .png, .pdf, .html or .json."""
    for target, chart in rendered_figures(result, path).items():
        write_whole(target, chart)


def rendered_figures(result: Any, path: str | Path) -> dict[Path, str | bytes]:
    """The files that save_figure writes: one, or for several results (a list) one each, name-1.png, name-2.png …

    Several results in .html are one page.
    """
    target, ending = Path(path), ending_of(path)
    drawings = [figure(r) for r in result] if isinstance(result, Sequence) else [figure(result)]
    if len(drawings) == 1:
        return {target: drawings[0].rendered(ending)}
    if ending == "html":
        from assay.report.page import figure_page

        return {target: figure_page(drawings)}
    places = [target.with_stem(f"{target.stem}-{i}") for i in range(1, len(drawings) + 1)]
    return {place: drawing.rendered(ending) for place, drawing in zip(places, drawings, strict=True)}
