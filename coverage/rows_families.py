"""Many runs: how often is anything called different that is not, and is the true best among the best?

Every entry of SIMULTANEOUS and CORRECTIONS has its row here. The functions are called as a person calls them, whatever
family they use at the time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from assay.core.arrays import Floats
from assay.data.scores import Scores
from assay.stats import all_pairs, compare, factorial, friedman, paper_table, two_way
from assay.stats.leaderboard import Leaderboard
from assay.stats.multiple import CORRECTIONS
from assay.stats.pair_tests import PairsResult
from assay.stats.tukey import SIMULTANEOUS
from claims import FAMILY_WORLDS, FEW, SIZES, THIRDS, Limit, Wrong, area, outside
from worlds import PERMUTED, REDRAWN, Case, Drawn

claim = area("Many runs on the same topics")
RUNS = 10
FAMILY = (*FAMILY_WORLDS, *THIRDS)
SAME = 1e-9


def false_claims(pairs: PairsResult, drawn: Drawn, names: tuple[str, ...], p: Floats | None = None) -> int:
    """How many pairs are significant that have one true mean, or whose worse run is called better."""
    place = {name: i for i, name in enumerate(drawn.matrix.runs)}
    truth = np.array([drawn.truth[place[name]] for name in names])
    gap = truth[pairs.first] - truth[pairs.second]
    significant = (pairs.corrected() if p is None else p) < 0.05
    wrong_way = (np.abs(gap) > SAME) & (np.sign(gap) == -pairs.directions())
    return int((significant & ((np.abs(gap) <= SAME) | wrong_way)).sum())


def missed(pairs: PairsResult, drawn: Drawn) -> float | None:
    """Whether any interval leaves out its difference if they promise it together, else the share that do."""
    if pairs.low is None or pairs.high is None:
        return None
    place = {name: i for i, name in enumerate(drawn.matrix.runs)}
    truth = np.array([drawn.truth[place[name]] for name in pairs.runs])
    gap = truth[pairs.first] - truth[pairs.second]
    out = [outside(low, true, high) for low, true, high in zip(pairs.low, gap, pairs.high, strict=True)]
    return float(any(out)) if pairs.simultaneous else float(np.mean(out))


@claim(
    "9 runs against a baseline that is named: who differs",
    kind="p",
    unit="topic",
    calls=("assay.stats.compare",),
    promises="any false difference in at most 5 %",
    nominal=0.05,
    ms=7.0,
    entries=("stats.JOINT:max-t",),
    results=("Leaderboard", "PairsResult"),
    worlds=FAMILY,
    real=PERMUTED,
)
def against_a_baseline(case: Case) -> float:
    drawn = case.runs(RUNS)
    board = compare(drawn.matrix, baseline="run1", letters=False, seed=case.seed())
    return false_claims(board.versus, drawn, board.matrix.runs, board.versus.corrected(board.correction)) > 0


@claim(
    "9 differences to a baseline lie in their intervals",
    kind="interval",
    unit="topic",
    calls=("assay.stats.compare",),
    promises="95 % of the intervals, or all of them in 95 %, contain the truth",
    nominal=0.05,
    ms=7.0,
    results=("Leaderboard", "PairsResult"),
    worlds=FAMILY_WORLDS,
    real=REDRAWN[:2],
)
def baseline_intervals(case: Case) -> float | None:
    drawn = case.runs(RUNS)
    return missed(compare(drawn.matrix, baseline="run1", letters=False, seed=case.seed()).versus, drawn)


@claim(
    "10 runs, no baseline named: who differs from the best",
    kind="verdict",
    unit="topic",
    calls=("assay.stats.compare",),
    promises="any false difference in at most 5 %",
    nominal=0.05,
    ms=20.0,
    results=("Leaderboard", "PairsResult"),
    worlds=FAMILY_WORLDS,
    sizes=FEW,  # the family is that of all 45 pairs, which has every size
    real=PERMUTED[:1],
)
def without_a_baseline(case: Case) -> float:
    drawn = case.runs(RUNS)
    board = compare(drawn.matrix, letters=False, seed=case.seed())
    return false_claims(board.versus, drawn, board.matrix.runs, board.versus.corrected(board.correction)) > 0


@claim(
    "20 runs, no baseline named: who differs from the best",
    kind="verdict",
    unit="topic",
    calls=("assay.stats.compare",),
    promises="any false difference in at most 5 %",
    nominal=0.05,
    ms=70.0,
    results=("Leaderboard",),
    worlds=("uneven",),
    sizes=FEW,
)
def twenty_without_a_baseline(case: Case) -> float:
    drawn = case.runs(20)
    board = compare(drawn.matrix, letters=False, seed=case.seed())
    return false_claims(board.versus, drawn, board.matrix.runs, board.versus.corrected(board.correction)) > 0


@claim(
    "letters of 10 runs",
    kind="set",
    unit="topic",
    calls=("assay.stats.compare",),
    promises="two equal runs without a common letter in at most 5 %",
    nominal=0.05,
    ms=13.0,
    results=("Leaderboard", "CollectionBoard", "ComparedRuns"),
    worlds=FAMILY_WORLDS,
    sizes=FEW,
    real=PERMUTED[:2],
)
def letters(case: Case) -> float | None:
    drawn = case.runs(RUNS)
    board = compare(drawn.matrix, baseline="run1", seed=case.seed())
    return None if board.letters is None else _parted(board, drawn)


def _parted(board: Leaderboard, drawn: Drawn) -> float:
    """Whether two runs of one true mean have no letter in common."""
    place = {name: i for i, name in enumerate(drawn.matrix.runs)}
    truth = np.array([drawn.truth[place[name]] for name in board.matrix.runs])
    together = board.letters.groups if board.letters is not None else ()
    return any(
        abs(truth[i] - truth[j]) <= SAME and not any(i in group and j in group for group in together)
        for i in range(len(truth))
        for j in range(i)
    )


@claim(
    "means of 10 runs lie in their intervals",
    kind="interval",
    unit="topic",
    calls=("assay.stats.compare",),
    promises="95 % of the intervals contain the true mean",
    nominal=0.05,
    ms=7.0,
    results=("Leaderboard",),
    worlds=FAMILY_WORLDS,
    sizes=FEW,
    real=REDRAWN,
)
def means(case: Case) -> float:
    drawn = case.runs(RUNS)
    board = compare(drawn.matrix, baseline="run1", letters=False)
    place = {name: i for i, name in enumerate(drawn.matrix.runs)}
    truth = [drawn.truth[place[name]] for name in board.matrix.runs]
    ends = zip(board.interval.low, truth, board.interval.high, strict=True)
    return float(np.mean([outside(*one) for one in ends]))


@claim(
    "all 45 pairs of 10 runs: who differs",
    kind="p",
    unit="topic",
    calls=("assay.stats.all_pairs",),
    promises="any false difference in at most 5 %",
    nominal=0.05,
    ms=11.0,
    entries=("stats.JOINT:max-t",),
    results=("PairsResult",),
    worlds=FAMILY,
    real=PERMUTED,
)
def every_pair(case: Case) -> float:
    drawn = case.runs(RUNS)
    pairs = all_pairs(drawn.matrix, seed=case.seed())
    return false_claims(pairs, drawn, pairs.runs) > 0


@claim(
    "all 45 differences of 10 runs lie in their intervals",
    kind="interval",
    unit="topic",
    calls=("assay.stats.all_pairs",),
    promises="95 % of the intervals, or all of them in 95 %, contain the truth",
    nominal=0.05,
    ms=12.0,
    results=("PairsResult",),
    worlds=FAMILY_WORLDS,
    sizes=FEW,
    real=REDRAWN[:3],
)
def pair_intervals(case: Case) -> float | None:
    drawn = case.runs(RUNS)
    return missed(all_pairs(drawn.matrix, seed=case.seed()), drawn)


def _simultaneous(test: str) -> Wrong:
    def wrong(case: Case) -> float:
        drawn = case.runs(RUNS)
        how: dict[str, Any] = {"resamples": 1999} if SIMULTANEOUS[test].facts.get("resampled") else {}
        pairs = all_pairs(drawn.matrix, test, seed=case.seed(), **how)
        return false_claims(pairs, drawn, pairs.runs) > 0

    return wrong


EQUAL_SPREAD = Limit("runs of unequal spread: the test supposes one spread for all", 0.35, ("uneven",))
for name in SIMULTANEOUS.names():
    claim(
        f"all pairs of 10 runs at once ({name})",
        kind="p",
        unit="topic",
        calls=("assay.stats.all_pairs",),
        promises="any false difference in at most 5 %",
        nominal=0.05,
        ms=180.0 if name == "tukey" else 8.0,
        entries=(f"stats.SIMULTANEOUS:{name}",),
        results=("PairsResult",),
        worlds=("uneven",) if name == "tukey" else FAMILY_WORLDS,
        sizes=(50,) if name == "tukey" else FEW,
        real=PERMUTED[:1] if name == "tukey" else PERMUTED,
        real_sizes=(50,),
        limits=(EQUAL_SPREAD,) if "tukey" in name else (),
    )(_simultaneous(name))


def _corrected(correction: str) -> Wrong:
    def wrong(case: Case) -> float:
        drawn = case.runs(RUNS)
        pairs = all_pairs(drawn.matrix, "t", correction=correction, interval=None)
        p = pairs.corrected(correction)
        false = false_claims(pairs, drawn, pairs.runs, p)
        if correction == "none":
            return float((p < 0.05).mean())
        if correction == "bh":
            return false / max(1, int((p < 0.05).sum()))
        return false > 0

    return wrong


CONTROLLED = {
    "none": "each pair alone p < .05 in 5 %",
    "bh": "of what is significant at most 5 % is false on average",
}
for name in CORRECTIONS.names():
    claim(
        f"45 pairs of 10 runs by t, corrected by {name}",
        kind="p",
        unit="topic",
        calls=("assay.stats.all_pairs",),
        promises=CONTROLLED.get(name, "any false difference in at most 5 %"),
        nominal=0.05,
        ms=0.5,
        entries=(f"stats.CORRECTIONS:{name}",),
        results=("PairsResult",),
        worlds=FAMILY_WORLDS if name == "none" else FAMILY,
        sizes=SIZES if name == "holm" else FEW,
        real=PERMUTED,
    )(_corrected(name))


@claim(
    "marks of a paper's table: 5 runs, 2 measures, 1 baseline",
    kind="p",
    unit="topic",
    calls=("assay.stats.paper_table",),
    promises="any false mark in at most 5 %",
    nominal=0.05,
    ms=6.0,
    results=("PaperTable",),
    worlds=FAMILY_WORLDS,
    sizes=FEW,
    real=PERMUTED,
)
def marked(case: Case) -> float | None:
    one = case.runs(5).matrix
    two = case.runs(5).matrix.renamed("RR")
    tests = paper_table(Scores((one, two)), baseline="run1", seed=case.seed()).tests
    return None if tests is None else any(test.corrected_p < 0.05 for test in tests.tests)


claim = area("Analyses of variance")


@claim(
    "runs differ (two-way analysis of variance)",
    kind="p",
    unit="topic",
    calls=("assay.stats.two_way",),
    promises="p < .05 in 5 % if no run differs",
    nominal=0.05,
    ms=0.4,
    results=("Anova",),
    worlds=FAMILY_WORLDS,
    real=PERMUTED,
    limits=(Limit("runs of unequal spread: the test supposes one spread for all", 0.16, ("uneven",)),),
)
def runs_differ(case: Case) -> float | None:
    p = two_way(case.runs(RUNS).matrix).effects[0].p
    return None if p is None else p < 0.05


@claim(
    "runs differ (Friedman)",
    kind="p",
    unit="topic",
    calls=("assay.stats.friedman",),
    promises="p < .05 in 5 % if no run differs",
    nominal=0.05,
    ms=0.4,
    results=("Friedman",),
    worlds=FAMILY_WORLDS,
    real=PERMUTED,
    limits=(Limit("runs of unequal spread have ranks of unequal spread", 0.12, ("uneven",)),),
)
def friedman_rejects(case: Case) -> float:
    return friedman(case.runs(RUNS).matrix).p < 0.05


@claim(
    "two factors of 3 × 3 runs: any effect",
    kind="p",
    unit="topic",
    calls=("assay.stats.factorial",),
    promises="p < .05 in 5 % of the effects if there is none",
    nominal=0.05,
    ms=160.0,
    results=("Factorial", "Anova"),
    worlds=("uneven",),
    sizes=(50,),
    real=PERMUTED[:1],
    real_sizes=(50,),
    limits=(Limit("runs of unequal spread: the test supposes one spread for all", 0.2, ("uneven",)),),
)
def factor_effects(case: Case) -> float:
    found = factorial(case.runs(9).matrix, DESIGN)
    p = [source.p for source in found.anova.effects if source.name != "topic" and source.p is not None]
    return float(np.mean([one < 0.05 for one in p]))


DESIGN = {"stemmer": [*"aaabbbccc"], "model": [*"xyzxyzxyz"]}


@claim(
    "levels of a factor that do not overlap (Tukey)",
    kind="interval",
    unit="topic",
    calls=("assay.stats.factorial",),
    promises="two equal levels apart in at most 5 %",
    nominal=0.05,
    ms=150.0,
    results=("FactorLevels", "Factorial"),
    worlds=("uneven",),
    sizes=(50,),
    real=PERMUTED[:1],
    real_sizes=(50,),
    limits=(Limit("runs of unequal spread: the test supposes one spread for all", 0.35, ("uneven",)),),
)
def factor_levels(case: Case) -> float:
    levels = factorial(case.runs(9).matrix, DESIGN).factors[1]
    return bool(np.ptp(levels.means) > 2 * levels.half)
