"""The gate: how often does a change pass that is just as bad as is not allowed, or fail that is just allowed?"""

from __future__ import annotations

from typing import Any

import numpy as np

from assay.core.arrays import Floats
from assay.data.scores import ScoreMatrix, Scores
from assay.gate import gate
from claims import FEW, SIZES, Limit, Wrong, area
from worlds import REDRAWN, Case

claim = area("The gate")
DROP = 0.02
LARGER = (*SIZES, 200)
GATED = ("normal", "skewed", "2 % lose 1", "4 % lose .5", "6 % lose 1, 4 % win 1", "a fifth changed")
SKEW = Limit("losses that are skewed: the bootstrap-t is a little too bold", 0.09, ("skewed",), (25, 50, 100, 200))


def _changes(case: Case) -> tuple[Floats, float]:
    """Differences of scores and the true drop that they stand for."""
    n, rng = case.n, case.rng
    if case.is_real:
        drawn = case.runs(2)
        order = np.argsort(drawn.truth)
        worse, better = drawn.values[order]
        return worse - better, float(np.ptp(drawn.truth))
    if case.world == "normal":
        return rng.normal(-DROP, 0.1, n), DROP
    if case.world == "skewed":
        return 0.1 - DROP - rng.exponential(0.1, n), DROP
    if case.world == "a fifth changed":
        return np.where(rng.random(n) < 0.2, rng.normal(-5 * DROP, 0.1, n), 0.0), DROP
    draw = rng.random(n)
    if case.world == "2 % lose 1":
        return np.where(draw < 0.02, -1.0, 0.0), DROP
    if case.world == "4 % lose .5":
        return np.where(draw < 0.04, -0.5, 0.0), DROP
    return np.where(draw < 0.06, -1.0, np.where(draw < 0.10, 1.0, 0.0)), DROP


def _two(case: Case, measure: str = "AP") -> tuple[ScoreMatrix, ScoreMatrix, float]:
    """Scores between 0 and 1 with these differences, and the true drop."""
    change, drop = _changes(case)
    low, high = np.maximum(0, -change), np.minimum(1, 1 - change)
    old = low + (high - low) * case.rng.random(case.n)
    new, base = (
        ScoreMatrix.of([values.clip(0, 1)], runs=[name], measure=measure)
        for name, values in (("new", old + change), ("old", old))
    )
    return new, base, drop


def _outcome(outcome: str, **how: Any) -> Wrong:
    def wrong(case: Case) -> float | None:
        new, old, drop = _two(case)
        if drop <= 0.001:
            return None
        return gate(new, old, max_drop=drop, seed=case.seed(), **how).outcome == outcome

    return wrong


claim(
    "a gate passes",
    kind="verdict",
    unit="topic",
    calls=("assay.gate.gate",),
    promises="a drop as large as the margin passes in at most 5 %",
    nominal=0.05,
    ms=6.0,
    results=("Gate",),
    worlds=GATED,
    sizes=LARGER,
    real=REDRAWN,
    limits=(SKEW,),
)(_outcome("pass"))

claim(
    "a gate fails",
    kind="verdict",
    unit="topic",
    calls=("assay.gate.gate",),
    promises="a drop no larger than the margin fails in at most 5 %",
    nominal=0.05,
    ms=6.0,
    results=("Gate",),
    worlds=GATED,
    sizes=FEW,
    real=REDRAWN,
)(_outcome("fail"))

for name in ("t", "dirichlet"):
    claim(
        f"a gate passes ({name})",
        kind="verdict",
        unit="topic",
        calls=("assay.gate.gate",),
        promises="a drop as large as the margin passes in at most 5 %",
        nominal=0.05,
        ms=6.0,
        worlds=GATED,
        sizes=FEW,
        limits=(Limit("t on few changed topics: it is there for comparison", 0.85, GATED[1:]),) if name == "t" else (),
    )(_outcome("pass", test=name))


@claim(
    "a gate of two measures passes",
    kind="verdict",
    unit="topic",
    calls=("assay.gate.gate",),
    promises="drops as large as the margin pass in at most 5 %",
    nominal=0.05,
    ms=12.0,
    results=("Gate",),
    worlds=GATED[:3],
    sizes=FEW,
    limits=(SKEW,),
)
def two_measures(case: Case) -> float:
    pairs = [_two(case, measure) for measure in ("AP", "RR")]
    new, old = Scores(tuple(pair[0] for pair in pairs)), Scores(tuple(pair[1] for pair in pairs))
    return gate(new, old, max_drop=DROP, seed=case.seed()).outcome == "pass"


@claim(
    "a gate of three measures fails",
    kind="verdict",
    unit="topic",
    calls=("assay.gate.gate",),
    promises="some drop no larger than the margin fails in at most 5 %",
    nominal=0.05,
    ms=16.0,
    results=("Gate",),
    worlds=GATED[:3],
    sizes=FEW,
)
def three_measures(case: Case) -> float:
    pairs = [_two(case, measure) for measure in ("AP", "RR", "P@10")]
    new, old = Scores(tuple(pair[0] for pair in pairs)), Scores(tuple(pair[1] for pair in pairs))
    return gate(new, old, max_drop=DROP, seed=case.seed()).outcome == "fail"


@claim(
    "bounds of a gate's difference",
    kind="interval",
    unit="topic",
    calls=("assay.gate.gate",),
    promises="each bound is on the right side of the true difference in 95 %",
    nominal=0.05,
    ms=6.0,
    results=("Gate",),
    worlds=GATED,
    sizes=FEW,
    real=REDRAWN,
    limits=(SKEW,),
)
def bounds(case: Case) -> float | None:
    new, old, drop = _two(case)
    if drop <= 0.001:
        return None
    found = gate(new, old, max_drop=0.05, seed=case.seed()).measures[0]
    return ((found.low > -drop + 1e-9) + (found.high < -drop - 1e-9)) / 2
