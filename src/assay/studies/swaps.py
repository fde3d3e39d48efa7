"""How often would another topic set turn a difference around? The swap method (Voorhees & Buckley 2002).

Pairs of disjoint topic sets of c topics; pairs of runs binned by their difference on the first set; the share of them
that the second set ranks the other way, by bin and by c, extrapolated to the full number of topics.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Floats, Ints
from assay.core.engine import Progress, generator, silent
from assay.core.errors import DataError, UsageError
from assay.core.tables import Table
from assay.data.scores import ScoreMatrix
from assay.rankings import pair_signs, settled

BINS = 21
WIDTH = 0.01
FEWEST = 100
"""A bin with fewer pairs says nothing."""
FEWEST_SIZES = 3
"""Sizes of topic sets from which a rate is extrapolated."""


@dataclass(frozen=True, eq=False)
class Swaps:
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
        return np.where(few, np.nan, self.swaps / np.maximum(self.counts, 1))

    def needed(self, rate: float = 0.05) -> float | None:
        """Lower edge of the first bin from which on the extrapolated rate is at most `rate`; None if none is."""
        known = np.flatnonzero(~np.isnan(self.extrapolated))
        above = [b for b in known.tolist() if self.extrapolated[b] > rate]
        after = [b for b in known.tolist() if not above or b > above[-1]]
        return after[0] * WIDTH if after else None

    def table(self) -> Table:
        """One row per bin of difference."""
        largest = self.rates[-1]
        rows = [
            (f"{b * WIDTH:.2f} –" + (f" {(b + 1) * WIDTH:.2f}" if b < BINS - 1 else ""), int(self.counts[-1, b]),
             100 * largest[b], 100 * self.extrapolated[b])
            for b in range(BINS)
        ]  # fmt: skip
        needed = self.needed()
        beyond = 100 * self.counts[-1, round((needed or 0) / WIDTH) :].sum() / max(1.0, self.counts[-1].sum())
        if np.isnan(self.extrapolated).all():
            verdict = f"no bin has {FEWEST} pairs at {FEWEST_SIZES} sizes or more, so nothing is extrapolated"
        elif needed is None:
            verdict = "no difference is large enough for 5 % swaps"
        else:
            verdict = (
                f"at most 5 % swaps with {self.topics} topics: from {needed:.2f} on, as {beyond:.1f} % of the pairs"
            )
        notes = [
            self.recipe,
            f"extrapolated by A₁·exp(−A₂·c) to {self.topics} topics; bins with fewer than {FEWEST} pairs are left out",
            verdict,
        ]
        formats = {
            "difference": "",
            "pairs": "d",
            f"% swaps at {self.sizes[-1]}": ".1f",
            f"% swaps at {self.topics}": ".1f",
        }
        return Table.of(formats, rows, caption=f"Swap rates of {self.measure}", notes=notes)


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
    """
    n = len(matrix.topics)
    most = n if overlapping else n // 2
    chosen = tuple(sizes) if sizes else eighths(n // 2)
    if n < 4 or len(matrix.runs) < 2:
        raise DataError(
            f"{matrix.measure}: {len(matrix.runs)} runs × {n} topics; the swap method needs 2 runs and 4 topics"
        )
    if any(not 2 <= c <= most for c in chosen):
        raise UsageError(f"sizes {chosen}: {_kind(overlapping)} sets of {n} topics have from 2 to {most}")
    if significant is not None and not 0 < significant < 1:
        raise UsageError(f"significant={significant}: a level of significance lies in (0, 1)")
    counts, swaps = np.zeros((len(chosen), BINS)), np.zeros((len(chosen), BINS))
    for i, c in enumerate(chosen):
        rng = generator(np.random.default_rng([seed, c]))
        for _ in range(draws):
            sets = _two_sets(rng, n, c, overlapping)
            counted, swapped = _one_draw(matrix.values, sets, ties, relative, significant)
            counts[i] += counted
            swaps[i] += swapped
        progress(i + 1, len(chosen))
    recipe = f"{draws} draws of two {_kind(overlapping)} sets per size, seed {seed}; "
    recipe += f"ties {'are' if ties else 'are no'} swaps{'; relative differences' if relative else ''}"
    recipe += f"; only pairs with p < {significant:g} on the first set" if significant else ""
    extrapolated = _extrapolated(np.array(chosen), counts, swaps, n)
    return Swaps(matrix.measure, chosen, counts, swaps, extrapolated, n, draws, recipe)


def eighths(most: int) -> tuple[int, ...]:
    """Eight sizes of topic sets, evenly spaced up to `most`, each at least 2; fewer where they would repeat.

    >>> eighths(21), eighths(4)
    ((3, 5, 8, 10, 13, 16, 18, 21), (2, 3, 4))
    """
    return tuple(sorted({max(2, round(most * i / 8)) for i in range(1, 9)}))


def _kind(overlapping: bool) -> str:
    return "overlapping" if overlapping else "disjoint"


def _two_sets(rng: np.random.Generator, n: int, c: int, overlapping: bool) -> tuple[Ints, Ints]:
    """Two random sets of c of n topics."""
    drawn = rng.permutation(n)
    return drawn[:c], rng.permutation(n)[:c] if overlapping else drawn[c : 2 * c]


def _one_draw(
    values: Floats, sets: tuple[Ints, Ints], ties: bool, relative: bool, significant: float | None
) -> tuple[Floats, Floats]:
    """Pairs and swaps by bin, for one pair of topic sets."""
    a, b = values[:, sets[0]], values[:, sets[1]]
    first, second = np.triu_indices(len(values), 1)
    means = [x.mean(axis=1) for x in (a, b)]
    product = pair_signs(settled(means[0])) * pair_signs(settled(means[1]))
    swapped = product <= 0 if ties else product < 0
    kept = np.ones(len(first), dtype=bool) if significant is None else _significant(a[first] - a[second], significant)
    size = np.abs(means[0][first] - means[0][second])
    if relative:
        best = np.maximum(means[0][first], means[0][second])
        size = np.divide(size, best, out=np.zeros_like(size), where=best > 0)
    bins = np.minimum((size / WIDTH + 1e-9).astype(np.int64), BINS - 1)
    count = np.bincount(bins[kept], minlength=BINS).astype(np.float64)
    return count, np.bincount(bins[kept & swapped], minlength=BINS).astype(np.float64)


def _significant(differences: Floats, alpha: float) -> npt.NDArray[np.bool_]:
    """Pairs whose paired t test has p below alpha."""
    from scipy.special import stdtrit

    n = differences.shape[1]
    spread = differences.std(axis=1, ddof=1) / np.sqrt(n)
    return np.abs(differences.mean(axis=1)) > stdtrit(n - 1, 1 - alpha / 2) * np.maximum(spread, 1e-15)


def _extrapolated(sizes: Ints, counts: Floats, swaps: Floats, n: int) -> Floats:
    """A₁·exp(−A₂·c) fitted to each bin by weighted least squares on the logarithm, read at n topics."""
    out = np.full(BINS, np.nan)
    for b in range(BINS):
        enough = counts[:, b] >= FEWEST
        if enough.sum() < FEWEST_SIZES:
            continue
        # Half a swap is added so that bins without any have a logarithm.
        rate = (swaps[enough, b] + 0.5) / (counts[enough, b] + 1)
        slope, start = np.polyfit(sizes[enough], np.log(rate), 1, w=np.sqrt(swaps[enough, b] + 0.5))
        out[b] = float(np.exp(start + min(slope, 0.0) * n))
    return out
