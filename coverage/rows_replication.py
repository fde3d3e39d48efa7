"""Replication: is "replicated" said of what is not, and do ratios and changes lie in their intervals?"""

from __future__ import annotations

import numpy as np

from assay.data.scores import ScoreMatrix
from assay.replication import replicate, score_series
from assay.replication.ratios import ratio_of_means
from claims import FEW, Wrong, area, outside
from worlds import REDRAWN, Case, real_scores

claim = area("Replication")
GAIN, SD = 0.06, 0.1
RATIO_BELOW = 0.5
"""The smallest ratio that "replicated" is to rule out."""


def _two(case: Case, ratio: float, same_topics: bool) -> tuple[ScoreMatrix, ScoreMatrix]:
    """Scores of a baseline and a system in the original and in the replication, whose gain is `ratio` of the first."""
    n, rng = case.n, case.rng
    ease = rng.normal(0.4, 0.08, n)
    again = ease if same_topics else rng.normal(0.4, 0.08, n)
    own = rng.normal(0, SD, n) if case.world == "normal" else SD * (rng.standard_exponential(n) - 1)
    shared = 0.7 * own if same_topics else np.zeros(n)
    first = np.stack([ease, ease + GAIN + own])
    second = np.stack([again, again + ratio * GAIN + shared + rng.normal(0, SD * (0.7 if same_topics else 1), n)])
    ids = [str(i) for i in range(n)]
    others = ids if same_topics else [f"o{i}" for i in range(n)]
    names = ["old", "new"]
    return (
        ScoreMatrix.of(first, runs=names, topics=ids, measure="x"),
        ScoreMatrix.of(second, runs=names, topics=others, measure="x"),
    )


def _replicated(ratio: float, same_topics: bool) -> Wrong:
    def wrong(case: Case) -> float:
        first, second = _two(case, ratio, same_topics)
        return replicate(first, second, baseline="old").outcome.startswith("replicated")

    return wrong


for same, words in ((True, "the same topics"), (False, "other topics")):
    claim(
        f"replicated, on {words}",
        kind="verdict",
        unit="topic",
        calls=("assay.replication.replicate",),
        promises="said in at most 5 % if the true gain is half of the original one",
        nominal=0.05,
        ms=1.5,
        results=("Replication",),
        worlds=("normal", "skewed"),
    )(_replicated(RATIO_BELOW, same))
    claim(
        f"replicated although the gain is gone, on {words}",
        kind="verdict",
        unit="topic",
        calls=("assay.replication.replicate",),
        promises="said in at most 5 % if the true gain is 0",
        nominal=0.05,
        ms=1.5,
        results=("Replication",),
        worlds=("normal", "skewed"),
        sizes=FEW,
    )(_replicated(0.0, same))


def _ratio_left_out(paired: bool) -> Wrong:
    def wrong(case: Case) -> float | None:
        if case.is_real:
            return _again_on_real_topics(case)
        first, second = _two(case, 0.6, paired)
        gains = [one.values[1] - one.values[0] for one in (second, first)]
        found = ratio_of_means(gains[0], gains[1], paired=paired)
        return outside(found.low, 0.6, found.high) if found.bounded else None

    return wrong


def _again_on_real_topics(case: Case) -> float | None:
    """Whether the ratio of the gains of the best real run over the worst, on two draws of topics, leaves out 1."""
    scores = real_scores(case.world.rsplit(" ", 1)[0])[[0, -1]]
    drawn = [scores[:, case.rng.integers(0, scores.shape[1], case.n)] for _ in range(2)]
    above, below = (one[0] - one[1] for one in drawn)
    found = ratio_of_means(above, below, paired=False)
    return outside(found.low, 1.0, found.high) if found.bounded else None


for same, words in ((True, "the same topics"), (False, "other topics")):
    claim(
        f"the effect ratio lies in Fieller's interval, on {words}",
        kind="interval",
        unit="topic",
        calls=("assay.replication.ratios.ratio_of_means",),
        promises="95 % of the intervals that have bounds contain it",
        nominal=0.05,
        ms=0.4,
        results=("Ratio", "Replication"),
        worlds=("normal", "skewed"),
        sizes=(25, 50, 100),
        real=() if same else REDRAWN[:3],
    )(_ratio_left_out(same))


@claim(
    "the change of a mean, replicated − original",
    kind="interval",
    unit="topic",
    calls=("assay.replication.replicate",),
    promises="95 % of the intervals contain it",
    nominal=0.05,
    ms=1.5,
    results=("Replication",),
    worlds=("normal",),
    sizes=FEW,
)
def change_left_out(case: Case) -> float | None:
    first, second = _two(case, 0.6, True)
    rows = [q for q in replicate(first, second, baseline="old").quantities if q.key == "improvement_replicated"]
    return outside(rows[0].low, 0.6 * GAIN, rows[0].high) if rows else None


claim = area("Systems over time")


def _series(case: Case, systems: int = 6) -> dict[str, ScoreMatrix]:
    """Three collections with other topics on which nothing changed."""
    made = {}
    quality = np.linspace(0.3, 0.5, systems)[:, None]
    for year in ("2021", "2022", "2023"):
        values = quality + case.rng.normal(0, 0.1, case.n) + case.rng.normal(0, 0.08, (systems, case.n))
        names = [f"{year}-{i}" for i in range(case.n)]
        made[year] = ScoreMatrix.of(values.clip(0, 1), topics=names, measure="AP")
    return made


@claim(
    "systems rose or fell against the others",
    kind="p",
    unit="topic",
    calls=("assay.replication.score_series",),
    promises="any corrected p < .05 in at most 5 % if nothing changed",
    nominal=0.05,
    ms=40.0,
    results=("ScoreSeries",),
    worlds=("nothing changed",),
    sizes=FEW,
)
def moved(case: Case) -> float:
    found = score_series(_series(case), resamples=99, seed=case.seed())
    return any(one.corrected_p < 0.05 for one in found.later)


@claim(
    "the drop of a system lies in its interval",
    kind="interval",
    unit="topic",
    calls=("assay.replication.score_series",),
    promises="95 % of the intervals contain it",
    nominal=0.05,
    ms=40.0,
    results=("ScoreSeries",),
    worlds=("nothing changed",),
    sizes=FEW,
)
def drop_left_out(case: Case) -> float:
    found = score_series(_series(case), resamples=99, seed=case.seed())
    return float(np.mean([outside(one.drop.low, 0.0, one.drop.high) for one in found.later]))


@claim(
    "τ of the order of systems on a later collection",
    kind="interval",
    unit="topic",
    calls=("assay.replication.score_series",),
    promises="95 % of the intervals contain τ of the true orders",
    nominal=0.05,
    ms=70.0,
    results=("ScoreSeries",),
    worlds=("nothing changed",),
    sizes=FEW,
)
def order_left_out(case: Case) -> float | None:
    tau = score_series(_series(case), resamples=199, seed=case.seed()).order[-1]
    if tau.low is None or tau.high is None:
        return None
    return outside(tau.low, 1.0, tau.high)
