"""How many pairs of runs does a measure tell apart, and how large must a difference be? Sakai 2006, 2007.

ASL curves: the p-values of all pairs of runs, largest first; the lower the curve, the more the measure discriminates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assay.core.arrays import Bools, Floats
from assay.core.engine import Progress, chunks, silent
from assay.core.errors import DataError, UsageError
from assay.core.registry import parse_call
from assay.core.results import Result
from assay.core.tables import Table
from assay.data.averages import from_means
from assay.data.scores import ScoreMatrix
from assay.data.tested_means import SHOWN, TESTED, for_tests_of_means
from assay.stats import all_pairs
from assay.stats.pair_tests import every_pair
from assay.stats.paired import TESTS
from assay.stats.pairwise import is_simultaneous
from assay.stats.resampling import RESAMPLES, topic_counts
from assay.stats.tukey import SIMULTANEOUS
from assay.stats.two_sample import TWO_SAMPLE_TESTS, unpaired_p
from assay.studies.measure_sets import same_cells

REPLICATES = 1000
PAIRS_AT_ONCE = 512


@dataclass(frozen=True, eq=False)
class Unpaired:
    """The same pairs of one measure by a two-sample t test, as if each run had topics of its own."""

    p: Floats
    """Largest first."""
    overlap: float | None
    """Pairs that both tests find, of those that either finds; None where neither finds any."""


@dataclass(frozen=True, eq=False)
class DiscriminativePower(Result):
    """p-values of all pairs by each measure, and the difference that each needs."""

    unit = "topic"

    measures: tuple[str, ...]
    p: tuple[Floats, ...]
    """Per measure the p-values of all pairs, largest first: its ASL curve."""
    needed: tuple[float | None, ...]
    """Per measure the critical difference of a simultaneous test, else Sakai's estimate by the bootstrap."""
    alpha: float
    recipe: str
    topics: int
    simultaneous: bool = False
    """Whether the p-values hold for all pairs at once."""
    unpaired: tuple[Unpaired, ...] = ()
    """Per measure what a two-sample test finds, if that was asked for."""
    averages: tuple[str, ...] = ()
    """What is said of measures whose average is not the mean."""

    @property
    def shares(self) -> tuple[float, ...]:
        """Per measure the share of pairs with p below α."""
        return tuple(float((p < self.alpha).mean()) for p in self.p)

    @property
    def unpaired_shares(self) -> tuple[float, ...]:
        """Per measure the share of pairs with p below α by the two-sample test; empty if that was not asked for."""
        return tuple(float((unpaired.p < self.alpha).mean()) for unpaired in self.unpaired)

    def table(self) -> Table:
        """One row per measure, the most discriminating first."""
        shares = self.shares
        most_first = np.argsort(-np.array(shares), kind="stable")
        rows = []
        for i in most_first:
            pairs = len(self.p[i])
            percent = 100 * shares[i]
            row: list[object] = [self.measures[i], pairs, percent, self.needed[i]]
            if self.unpaired:
                row += [100 * self.unpaired_shares[i], self.unpaired[i].overlap]
            rows.append(row)
        share = f"% with p < {self.alpha:g}"
        columns = {"measure": "", "pairs": "d", share: ".1f", "difference needed": ".3f"}
        keys = {share: "significant_percent"}
        if self.unpaired:
            columns |= {"% two-sample": ".1f", "overlap": ".3f"}
            keys["% two-sample"] = "two_sample_percent"
        caption = f"Discriminative power on {self.topics} topics"
        return Table.of(columns, rows, caption=caption, notes=self._notes(), keys=keys)

    def _notes(self) -> list[str]:
        notes = [
            f"{self.recipe}; not corrected for the number of pairs",
            f"difference needed: Sakai's estimate by the studentised bootstrap, {REPLICATES} samples, whatever the "
            "test; the largest over all pairs",
        ]
        if self.simultaneous:
            notes = [
                f"{self.recipe}; the p-values hold for all pairs at once",
                f"difference needed: the critical difference of this test at {self.alpha:g}",
            ]
        if self.unpaired:
            notes.append(
                "two-sample: Student's t, two-sided, as if each run had topics of its own; overlap: pairs that both "
                "tests find, of those that either finds"
            )
        return [*notes, *self.averages]


def discriminative_power(
    matrices: Sequence[ScoreMatrix],
    *,
    test: str = "bootstrap-shift-t",
    alpha: float = 0.05,
    two_sample: bool = False,
    resamples: int = RESAMPLES,
    seed: int = 0,
    jobs: int = 1,
    progress: Progress = silent,
) -> DiscriminativePower:
    """Share of run pairs with p < α by a test of pairs or of all pairs at once, and the difference needed.

    `two_sample` also tests every pair as if the two runs had been scored on different topics: how much of the power
    comes from pairing by topic, and how much of that a standardized measure keeps (Webber 2010, Tables 4.3 and 4.6).

    >>> scores = ScoreMatrix.of([[0.5, 0.55, 0.9, 0.7], [0.4, 0.4, 0.6, 0.5], [0.4, 0.4, 0.6, 0.5]])
    >>> [round(share, 2) for share in discriminative_power([scores], test="t").shares]
    [0.67]
    """
    if not 0 < alpha < 1:
        raise UsageError(f"alpha={alpha} is not in (0, 1)")
    simultaneous = _is_simultaneous(test)
    matrices = same_cells(matrices)
    tested = []
    for i, matrix in enumerate(matrices):
        pairs = all_pairs(matrix, test, interval=None, level=1 - alpha, resamples=resamples, seed=seed, jobs=jobs)
        tested.append(pairs)
        progress(i + 1, len(matrices))
    if simultaneous:
        needed = [_as_shown(pairs.critical, matrix) for pairs, matrix in zip(tested, matrices, strict=True)]
    else:
        needed = [difference_needed(matrix, alpha=alpha, seed=seed) for matrix in matrices]
    unpaired = []
    if two_sample:
        for matrix, pairs in zip(matrices, tested, strict=True):
            unpaired.append(_unpaired(matrix, pairs.p < alpha, alpha))
    return DiscriminativePower(
        measures=tuple(matrix.measure for matrix in matrices),
        p=tuple(np.sort(pairs.p)[::-1] for pairs in tested),
        needed=tuple(needed),
        alpha=alpha,
        recipe=tested[0].recipe,
        topics=len(matrices[0].topics),
        simultaneous=simultaneous,
        unpaired=tuple(unpaired),
        averages=_averages_in_words(matrices),
    )


def _averages_in_words(matrices: Sequence[ScoreMatrix]) -> tuple[str, ...]:
    """How measures whose average is not the mean are tested, and that a ratio is needed where it is geometric."""
    said = []
    for how in dict.fromkeys(matrix.aggregate for matrix in matrices):
        if how in TESTED:
            said.append(f"{TESTED[how]}; {SHOWN[how]}")
    return tuple(said)


def _unpaired(matrix: ScoreMatrix, by_pairs: Bools, alpha: float) -> Unpaired:
    """All pairs by the two-sample test, beside those that the test of pairs finds."""
    p = unpaired_p(for_tests_of_means(matrix).values)
    by_two_samples = p < alpha
    either = int((by_pairs | by_two_samples).sum())
    both = int((by_pairs & by_two_samples).sum())
    overlap = both / either if either else None
    return Unpaired(np.sort(p)[::-1], overlap)


def _is_simultaneous(test: str) -> bool:
    """Whether a test is of all pairs at once; a test of two topic sets is refused with the reason."""
    name, _ = parse_call(test)
    if name in TWO_SAMPLE_TESTS and name not in TESTS:
        raise UsageError(
            f"{name} compares two topic sets, and here all runs have the same topics; take t, wilcoxon or another "
            f"test of pairs: {TESTS.listed()}, {SIMULTANEOUS.listed()}"
        )
    return is_simultaneous(test)


def draws_samples(test: str) -> bool:
    """Whether the number of resamples has an effect on the p-values of a test.

    >>> draws_samples("bootstrap-shift-t"), draws_samples("tukey"), draws_samples("sign(min_difference=0.01)")
    (True, False, False)
    """
    name, _ = parse_call(test)
    entry = SIMULTANEOUS[name] if _is_simultaneous(test) else TESTS[name]
    return bool(entry.facts.get("resampled"))


def difference_needed(
    matrix: ScoreMatrix, *, alpha: float = 0.05, replicates: int = REPLICATES, seed: int = 0
) -> float | None:
    """Sakai's estimate of the difference in means that is significant at α; of geometric means the ratio.

    Per pair: order the bootstrap replicates of the null by |t|, take the ⌈αB⌉-th largest, and note |mean| of that
    replicate; the estimate is the largest over all pairs. Pairs of equal runs have no t and are left out; None if all
    are equal.
    """
    topics = len(matrix.topics)
    if topics < 2:
        raise DataError(f"{matrix.measure}: one topic has no spread")
    counts = np.concatenate(list(topic_counts(topics, replicates, seed)))
    place = int(np.ceil(alpha * len(counts)))
    first, second = every_pair(len(matrix.runs))
    scores = for_tests_of_means(matrix).values
    largest: list[float] = []
    for part in chunks(len(first), PAIRS_AT_ONCE):
        differences = scores[first[part]] - scores[second[part]]
        needed = _needed(differences, counts, place)
        if needed is not None:
            largest.append(needed)
    return _as_shown(max(largest, default=None), matrix)


def _as_shown(difference: float | None, matrix: ScoreMatrix) -> float | None:
    """A difference on the scale of means as one of averages: a ratio where they are geometric."""
    if difference is None:
        return None
    return float(from_means(np.array(difference), matrix.aggregate, len(matrix.topics)))


def _needed(differences: Floats, counts: Floats, place: int) -> float | None:
    """The largest |mean| of the replicate at that place of |t|, over these pairs."""
    n = differences.shape[1]
    centred = differences - differences.mean(axis=1, keepdims=True)
    varies = np.abs(centred).max(axis=1) > 1e-12
    if not varies.any():
        return None
    varied = centred[varies]
    means = varied @ counts.T / n  # pairs × replicates
    mean_squares = varied**2 @ counts.T / n
    variance = np.maximum((mean_squares - means**2) * n / (n - 1), 0.0)
    error = np.sqrt(variance / n)
    t = np.divide(np.abs(means), error, out=np.zeros_like(means), where=variance > 1e-18)
    largest_first = np.argpartition(-t, place - 1, axis=1)
    replicate = largest_first[:, place - 1]
    pair = np.arange(len(means))
    chosen = means[pair, replicate]
    return float(np.abs(chosen).max())
