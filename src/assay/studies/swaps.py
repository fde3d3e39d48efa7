"""How often would another topic set turn a difference around? The swap method (Voorhees & Buckley 2002).

Pairs of disjoint topic sets of c topics; pairs of runs binned by their difference on the first set; the share of them
that the second set ranks the other way, by bin and by c, extrapolated to the full number of topics.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Floats, Ints
from assay.core.engine import Progress, generator, silent
from assay.core.errors import DataError, UsageError
from assay.core.results import Result
from assay.core.tables import Table
from assay.data.scores import ScoreMatrix
from assay.data.tested_means import needs_means, scores_of_one_measure
from assay.rankings import settled
from assay.rankings.batch import pair_signs

BINS = 21
WIDTH = 0.01
FEWEST = 100
"""A bin with fewer pairs says nothing."""
FEWEST_SIZES = 3
"""Sizes of topic sets from which a rate is extrapolated."""


@dataclass(frozen=True, eq=False)
class Swaps(Result):
    """Pairs counted and swapped, sizes × bins, and the rate extrapolated to all topics."""

    measure: str
    sizes: tuple[int, ...]
    counts: Floats
    swaps: Floats
    extrapolated: Floats
    """Rate at the full number of topics by bin; NaN where there is too little to go by."""
    topics: int
    draws: int
    recipe: str

    @property
    def rates(self) -> Floats:
        """Share of swaps, sizes × bins; NaN where a bin has fewer than 100 pairs."""
        few = self.counts < FEWEST
        share = self.swaps / np.maximum(self.counts, 1)
        return np.where(few, np.nan, share)

    def needed(self, rate: float = 0.05) -> float | None:
        """Lower edge of the first bin from which on the extrapolated rate is at most `rate`; None if none is."""
        known = np.flatnonzero(~np.isnan(self.extrapolated))
        first_bin = None
        for b in known.tolist():
            if self.extrapolated[b] > rate:
                first_bin = None
            elif first_bin is None:
                first_bin = b
        if first_bin is None:
            return None
        return float(first_bin * WIDTH)

    def table(self) -> Table:
        """One row per bin of difference."""
        at_largest = 100 * self.rates[-1]
        at_all = 100 * self.extrapolated
        pairs = self.counts[-1].astype(int)
        rows = [(_edges(b), pairs[b], at_largest[b], at_all[b]) for b in range(BINS)]
        seen = f"% swaps at {self.sizes[-1]}"
        extrapolated = f"% swaps at {self.topics}, extrapolated"
        columns = {"difference": "", "pairs": "d", seen: ".1f", extrapolated: ".1f"}
        keys = {seen: "swaps_percent", extrapolated: "swaps_percent_extrapolated"}
        notes = [
            self.recipe,
            f"extrapolated by A₁·exp(−A₂·c) to {self.topics} topics; bins with fewer than {FEWEST} pairs are left out",
            self.verdict(),
        ]
        return Table.of(columns, rows, caption=f"Swap rates of {self.measure}", notes=notes, keys=keys)

    def verdict(self) -> str:
        """From which difference on at most 5 % of the pairs swap, in words."""
        if np.isnan(self.extrapolated).all():
            return f"no bin has {FEWEST} pairs at {FEWEST_SIZES} sizes or more, so nothing is extrapolated"
        needed = self.needed()
        if needed is None:
            return "no difference is large enough for 5 % swaps"
        first_bin = round(needed / WIDTH)
        pairs = self.counts[-1]
        share = 100 * pairs[first_bin:].sum() / max(1.0, pairs.sum())
        return f"at most 5 % swaps with {self.topics} topics: from {needed:.2f} on, as {share:.1f} % of the pairs"

    def record(self) -> dict[str, Any]:
        """The measure, the difference from which on at most 5 % swap, and the table."""
        record = super().record()
        record["measure"] = self.measure
        record["difference_needed"] = self.needed()
        return record


def _edges(b: int) -> str:
    """A bin of differences in words; the last one is open."""
    low = f"{b * WIDTH:.2f} –"
    if b == BINS - 1:
        return low
    return f"{low} {(b + 1) * WIDTH:.2f}"


def swap_rates(
    matrix: ScoreMatrix,
    *,
    sizes: Sequence[int] | None = None,
    draws: int = 50,
    ties: bool = True,
    relative: bool = False,
    significant: float | None = None,
    overlapping: bool = False,
    seed: int = 0,
    progress: Progress = silent,
) -> Swaps:
    """Swap rates by size of the topic set and bin of difference.

    sizes: topics per set, by default eight of them up to half of the topics. ties: whether a difference of 0 on one set
    counts as a swap (Sakai) or not. Sanderson & Zobel 2005: relative, differences as a share of the better mean;
    significant, only pairs whose paired t test on the first set has p below that; overlapping, the two sets are drawn
    apart and may share topics, so that they can be larger than half of the topics.

    >>> scores = ScoreMatrix.of([[0.5, 0.6, 0.7, 0.6], [0.4, 0.5, 0.6, 0.5], [0.1, 0.2, 0.3, 0.1]])
    >>> float(swap_rates(scores, sizes=[2], draws=5).swaps.sum())
    0.0
    """
    n = len(scores_of_one_measure(matrix).topics)
    chosen = tuple(sizes) if sizes else eighths(n // 2)
    _check(matrix, chosen, overlapping, significant)
    # Scaled by a power of two, which is exact, so that neither huge nor tiny scores leave the range of floats.
    _, exponent = np.frexp(np.abs(matrix.values).max())
    values = np.ldexp(matrix.values, -exponent)
    width = WIDTH if relative else float(np.ldexp(WIDTH, -exponent))
    how = _How(ties, relative, significant, width)
    counts = np.zeros((len(chosen), BINS))
    swaps = np.zeros((len(chosen), BINS))
    for i, c in enumerate(chosen):
        rng = generator(np.random.default_rng([seed, c]))
        for _ in range(draws):
            first, second = _two_sets(rng, n, c, overlapping)
            counted, swapped = _one_draw(values[:, first], values[:, second], how)
            counts[i] += counted
            swaps[i] += swapped
        progress(i + 1, len(chosen))
    drawn = f"{draws} draws of two {_kind(overlapping)} sets per size, seed {seed}"
    return Swaps(
        measure=matrix.measure,
        sizes=chosen,
        counts=counts,
        swaps=swaps,
        extrapolated=_extrapolated(np.array(chosen), counts, swaps, n),
        topics=n,
        draws=draws,
        recipe=f"{drawn}; {how.in_words()}",
    )


def _check(matrix: ScoreMatrix, sizes: Sequence[int], overlapping: bool, significant: float | None) -> None:
    needs_means(matrix, "the swap method")
    runs, n = matrix.shape
    most = n if overlapping else n // 2
    if n < 4 or runs < 2:
        raise DataError(f"{matrix.measure}: {runs} runs × {n} topics; the swap method needs 2 runs and 4 topics")
    if sizes and not 2 <= min(sizes) <= max(sizes) <= most:
        raise UsageError(f"sizes {tuple(sizes)}: {_kind(overlapping)} sets of {n} topics have from 2 to {most}")
    if significant is not None and not 0 < significant < 1:
        raise UsageError(f"significant={significant}: a level of significance lies in (0, 1)")


def eighths(most: int) -> tuple[int, ...]:
    """Eight sizes of topic sets, evenly spaced up to `most`, each at least 2; fewer where they would repeat.

    >>> eighths(21), eighths(4)
    ((3, 5, 8, 10, 13, 16, 18, 21), (2, 3, 4))
    """
    sizes = {max(2, round(most * i / 8)) for i in range(1, 9)}
    return tuple(sorted(sizes))


def _kind(overlapping: bool) -> str:
    return "overlapping" if overlapping else "disjoint"


def _two_sets(rng: np.random.Generator, n: int, c: int, overlapping: bool) -> tuple[Ints, Ints]:
    """Two random sets of c of n topics."""
    drawn = rng.permutation(n)
    first = drawn[:c]
    if overlapping:
        return first, rng.permutation(n)[:c]
    return first, drawn[c : 2 * c]


class _How(NamedTuple):
    """What counts as a swap, and the width of a bin in the units of the scores."""

    ties: bool
    relative: bool
    significant: float | None
    width: float

    def in_words(self) -> str:
        """What counts as a swap, for the recipe."""
        words = ["ties are swaps" if self.ties else "ties are no swaps"]
        if self.relative:
            words.append("relative differences")
        if self.significant:
            words.append(f"only pairs with p < {self.significant:g} on the first set")
        return "; ".join(words)


def _one_draw(a: Floats, b: Floats, how: _How) -> tuple[Floats, Floats]:
    """Pairs and swaps by bin, of the scores (runs × topics) on two topic sets."""
    mean_a = a.mean(axis=1)
    mean_b = b.mean(axis=1)
    sign_a = pair_signs(settled(mean_a))
    sign_b = pair_signs(settled(mean_b))
    agreement = sign_a * sign_b
    swapped = agreement <= 0 if how.ties else agreement < 0
    first, second = np.triu_indices(len(a), 1)
    size = np.abs(mean_a[first] - mean_a[second])
    if how.relative:
        better = np.maximum(mean_a[first], mean_a[second])
        size = np.divide(size, better, out=np.zeros_like(size), where=better > 0)
    with np.errstate(over="ignore"):  # beyond all bins, and so in the last
        bins = np.minimum(size / how.width + 1e-9, BINS - 1).astype(np.int64)
    if how.significant is not None:
        kept = _significant(a[first] - a[second], how.significant)
        bins = bins[kept]
        swapped = swapped[kept]
    pairs = np.bincount(bins, minlength=BINS)
    swaps = np.bincount(bins[swapped], minlength=BINS)
    return pairs.astype(np.float64), swaps.astype(np.float64)


def _significant(differences: Floats, alpha: float) -> npt.NDArray[np.bool_]:
    """Pairs whose paired t test has p below alpha."""
    from scipy.special import stdtrit

    n = differences.shape[1]
    mean = differences.mean(axis=1)
    standard_error = differences.std(axis=1, ddof=1) / np.sqrt(n)
    critical_t = stdtrit(n - 1, 1 - alpha / 2)
    # Differences that are the same on all topics up to rounding have no error of their own.
    return np.abs(mean) > critical_t * np.maximum(standard_error, 1e-15)


def _extrapolated(sizes: Ints, counts: Floats, swaps: Floats, n: int) -> Floats:
    """A₁·exp(−A₂·c) fitted to each bin by weighted least squares on the logarithm, read at n topics."""
    at_all_topics = np.full(BINS, np.nan)
    for b in range(BINS):
        enough = counts[:, b] >= FEWEST
        if enough.sum() < FEWEST_SIZES:
            continue
        # Half a swap is added so that bins without any have a logarithm.
        swapped = swaps[enough, b] + 0.5
        rate = swapped / (counts[enough, b] + 1)
        slope, start = np.polyfit(sizes[enough], np.log(rate), 1, w=np.sqrt(swapped))
        # More topics never make swaps more frequent.
        falling = min(slope, 0.0)
        at_all_topics[b] = float(np.exp(start + falling * n))
    return at_all_topics
