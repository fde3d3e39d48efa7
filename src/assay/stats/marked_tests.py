"""Which numbers of a table get a mark? Every run against one or several baselines on several measures.

All these tests are one family by default: who marks numbers all over a table reads every one of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.core.arrays import Floats
from assay.core.errors import UsageError
from assay.data.scores import ScoreMatrix, Scores
from assay.data.tested_means import for_tests_of_means
from assay.measures import parse
from assay.stats import joint_tests
from assay.stats.multiple import corrected
from assay.stats.pair_tests import PairsResult
from assay.stats.pairwise import versus_baseline
from assay.stats.resampling import RESAMPLES, checked_alternative, checked_share

FAMILIES = ("table", "measure")
"""Over what p is corrected: all comparisons of the table, or those of each measure by itself."""
OTHER_SIDE = {"two-sided": "two-sided", "greater": "less", "less": "greater"}


@dataclass(frozen=True)
class MarkedTest:
    """One run against one baseline on one measure; delta is the run's mean less the baseline's.

    direction: 1 where the run is better, −1 where it is worse, 0 where a test of ranks or signs contradicts the means.
    """

    measure: str
    run: str
    baseline: str
    delta: float
    p: float
    corrected_p: float
    direction: int
    aggregate: str = "mean"
    """How topics become one number: of geometric means delta is the ratio of the two."""

    def record(self) -> dict[str, Any]:
        """Plain data, under the keys that comparisons have everywhere."""
        return {
            "measure": self.measure,
            "run": self.run,
            "baseline": self.baseline,
            "ratio" if self.aggregate == "geometric" else "delta": self.delta,
            "p": self.p,
            "p_corrected": self.corrected_p,
        }


@dataclass(frozen=True)
class MarkedTests:
    """The tests behind the marks of a table, and how they were made. `size` is that of a family."""

    tests: tuple[MarkedTest, ...]
    test: str
    recipe: str
    correction: str
    family: str
    size: int
    alternative: str
    alpha: float
    least_p: float
    topics: int = 0
    flips: joint_tests.SignFlips | None = None
    """What max-t was drawn from; of several families that of the first."""

    def by_cell(self) -> dict[tuple[str, str], list[MarkedTest]]:
        """The tests of each number, (measure, run), in the order of the baselines."""
        cells: dict[tuple[str, str], list[MarkedTest]] = {}
        for test in self.tests:
            cells.setdefault((test.measure, test.run), []).append(test)
        return cells

    def words(self) -> str:
        """Test, sides, correction and family."""
        family = joint_tests.in_words(self.correction, self.size, self.topics, self.alpha, self.flips)
        if self.size > 1:
            each = self.family == "measure"
            which = "those of each measure by itself" if each else "all comparisons that this table marks"
            family += f"; the {self.size} tests are {which}"
        return f"{self.recipe}; {family}"

    def remarks(self) -> list[str]:
        """That no p can be small enough, where there are too few resamples for the family."""
        done = joint_tests.carried_out(self.correction, self.size, self.topics)
        if done not in joint_tests.BONFERRONI or self.least_p * self.size < self.alpha:
            return []
        more = f"take more than {self.size / self.alpha:.0f} resamples, or bh, or a test that does not resample"
        return [f"too few resamples: {done} over {self.size} tests lets no p below {self.alpha:g}; {more}"]


def marked_tests(
    scores: Scores,
    baselines: Sequence[str],
    *,
    test: str = "t",
    correction: str = joint_tests.AUTO,
    family: str = "table",
    alternative: str = "two-sided",
    alpha: float = 0.05,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> MarkedTests:
    """Every other run against each baseline on each measure, p corrected over the family.

    correction: `auto` is max-t for the t test, from one draw of flips for all measures and baselines of a family, and
    Holm for other tests. A pair of baselines is tested twice and counts once: two-sided the two tests are the same.
    `greater` means that the run is better, also on measures of which less is better.

    >>> m = ScoreMatrix.of([[0.5, 0.6, 0.9], [0.4, 0.4, 0.6]], runs=["new", "old"], measure="AP")
    >>> [round(t.corrected_p, 4) for t in marked_tests(Scores((m,)), ["old"]).tests]
    [0.0742]
    """
    if family not in FAMILIES:
        raise UsageError(f"no family {family!r}; known: {', '.join(FAMILIES)}")
    sides = checked_alternative(alternative)
    by = joint_tests.chosen_correction(correction, test)
    how: dict[str, Any] = {"level": 1 - checked_share(alpha, "alpha"), "resamples": resamples, "seed": seed}
    tested: list[Tested] = []
    for matrix in scores:
        own_side = OTHER_SIDE[sides] if lower_is_better(matrix.measure) else sides
        for baseline in baselines:
            tested.append((matrix, versus_baseline(matrix, baseline, test, correction=by, alternative=own_side, **how)))
    parts = [tested] if family == "table" else [[t for t in tested if t[0] is matrix] for matrix in scores]
    parted = [_Family.of(part, sides, alpha, resamples, seed) for part in parts]
    p_of = {key: p for part in parted for key, p in zip(part.keys, part.corrected(by).tolist(), strict=True)}
    tests = [found for matrix, versus in tested for found in _of_one(matrix, versus, p_of)]
    # where less is better the recipe says the other side; the note states the side that was asked for, if any has it
    first = next((versus for _, versus in tested if versus.alternative == sides), tested[0][1])
    return MarkedTests(
        tests=tuple(tests),
        test=test,
        recipe=first.recipe,
        correction=by,
        family=family,
        size=len(parted[0].keys),
        alternative=sides,
        alpha=alpha,
        least_p=first.least_p,
        topics=first.n,
        flips=parted[0].flips,
    )


Key = tuple[str, str, str]
Tested = tuple[ScoreMatrix, PairsResult]


@dataclass(frozen=True, eq=False)
class _Family:
    """The distinct tests of a family, by measure, run and baseline, over one pile of scores of all measures."""

    keys: list[Key]
    p: Floats
    flips: joint_tests.SignFlips

    @classmethod
    def of(cls, tested: Sequence[Tested], sides: str, alpha: float, resamples: int, seed: int) -> _Family:
        """Scores of which less is better are turned round, so that one side is the same for all."""
        p_of: dict[Key, float] = {}
        first: list[int] = []
        second: list[int] = []
        matrices = list({id(matrix): matrix for matrix, _ in tested}.values())
        for matrix, versus in tested:
            start = sum(len(m.runs) for m in matrices[: [m is matrix for m in matrices].index(True)])
            for place, p in enumerate(versus.p.tolist()):
                run, baseline = _pair(versus, place)
                if sides == "two-sided" and (matrix.measure, baseline, run) in p_of:
                    continue
                p_of[matrix.measure, run, baseline] = p
                first.append(start + int(versus.first[place]))
                second.append(start + int(versus.second[place]))
        piled = np.concatenate(
            [(-1 if lower_is_better(m.measure) else 1) * for_tests_of_means(m).values for m in matrices]
        )
        flips = joint_tests.SignFlips(piled, np.array(first), np.array(second), sides, alpha, resamples, seed)
        return cls(list(p_of), np.array(list(p_of.values())), flips)

    def corrected(self, by: str) -> Floats:
        """p for the whole family."""
        done = joint_tests.carried_out(by, len(self.keys), self.flips.scores.shape[1])
        return self.flips.family.p if done == joint_tests.MAX_T else corrected(self.p, done)


def _of_one(matrix: ScoreMatrix, versus: PairsResult, p_of: dict[Key, float]) -> list[MarkedTest]:
    """The tests of one measure against one baseline."""
    better = -1 if lower_is_better(matrix.measure) else 1
    amounts = next(iter(versus.shown_amounts().values()))
    directions = versus.directions().tolist()
    tests = []
    for place in range(len(versus)):
        run, baseline = _pair(versus, place)
        key = (matrix.measure, run, baseline)
        p = p_of[key] if key in p_of else p_of[matrix.measure, baseline, run]
        tests.append(
            MarkedTest(
                measure=matrix.measure,
                run=run,
                baseline=baseline,
                delta=0.0 if amounts is None else float(amounts[place]),
                p=float(versus.p[place]),
                corrected_p=p,
                aggregate=versus.aggregate,
                direction=better * directions[place],
            )
        )
    return tests


def _pair(versus: PairsResult, place: int) -> tuple[str, str]:
    return versus.runs[versus.first[place]], versus.runs[versus.second[place]]


def lower_is_better(measure: str) -> bool:
    """Whether less of a measure is better; of a measure that is not ours more is.

    >>> lower_is_better("E"), lower_is_better("AP"), lower_is_better("clicks per hour")
    (True, False, False)
    """
    try:
        return bool(parse(measure).entry.facts.get("lower_is_better"))
    except UsageError:
        return False
