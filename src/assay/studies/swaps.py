"""How often would another topic set turn a difference around? The swap method (Voorhees & Buckley 2002).

Pairs of disjoint topic sets of c topics; pairs of runs binned by their difference on the first set; the share of them
that the second set ranks the other way, by bin and by c, extrapolated to the full number of topics.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from assay.engine import Progress, generator, silent
from assay.errors import DataError, UsageError
from assay.scores import ScoreMatrix
from assay.studies.matrices import Floats
from assay.tables import Table

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
    seed: int = 0,
    progress: Progress = silent,
) -> Swaps:
    """Swap rates by size of the topic set and bin of difference.

    ties: whether a difference of 0 on one set counts as a swap (Sakai) or not. relative: differences as a share of the
    better mean; significant: only pairs whose paired t test on the first set has p below that (both: Sanderson & Zobel
    2005).
    """
    n = len(matrix.topics)
    chosen = tuple(sizes) if sizes else tuple(sorted({max(2, round(n / 2 * i / 8)) for i in range(1, 9)}))
    if n < 4 or len(matrix.runs) < 2:
        raise DataError(
            f"{matrix.measure}: {len(matrix.runs)} runs × {n} topics; the swap method needs 2 runs and 4 topics"
        )
    if any(not 2 <= c <= n // 2 for c in chosen):
        raise UsageError(f"sizes {chosen}: disjoint sets of {n} topics have from 2 to {n // 2}")
    counts, swaps = np.zeros((len(chosen), BINS)), np.zeros((len(chosen), BINS))
    for i, c in enumerate(chosen):
        rng = generator(np.random.default_rng([seed, c]))
        for _ in range(draws):
            counted, swapped = _one_draw(matrix.values, rng.permutation(n)[: 2 * c], ties, relative, significant)
            counts[i] += counted
            swaps[i] += swapped
        progress(i + 1, len(chosen))
    recipe = f"{draws} draws of two disjoint sets per size, seed {seed}; ties {'are' if ties else 'are no'} swaps"
    recipe += "; relative differences" if relative else ""
    recipe += f"; only pairs with p < {significant:g} on the first set" if significant else ""
    extrapolated = _extrapolated(np.array(chosen), counts, swaps, n)
    return Swaps(matrix.measure, chosen, counts, swaps, extrapolated, n, draws, recipe)


def _one_draw(
    values: Floats, topics: npt.NDArray[np.int64], ties: bool, relative: bool, significant: float | None
) -> tuple[Floats, Floats]:
    """Pairs and swaps by bin, for one pair of topic sets."""
    c = len(topics) // 2
    a, b = values[:, topics[:c]], values[:, topics[c:]]
    first, second = np.triu_indices(len(values), 1)
    d, d2 = (x.mean(axis=1)[first] - x.mean(axis=1)[second] for x in (a, b))
    product = d * d2
    swapped = product <= 0 if ties else product < 0
    kept = np.ones(len(d), dtype=bool) if significant is None else _significant(a[first] - a[second], significant)
    size = np.abs(d)
    if relative:
        best = np.maximum(a.mean(axis=1)[first], a.mean(axis=1)[second])
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


def _extrapolated(sizes: npt.NDArray[np.int64], counts: Floats, swaps: Floats, n: int) -> Floats:
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
