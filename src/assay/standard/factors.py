"""What is a score worth on its own topic? Scores relative to the mean and spread of reference runs.

`factors` learns mean and sd of every topic from reference runs, `standardized` applies them in one of FORMS, with one
of SMOOTHINGS where the reference is narrow. Files of factors let a collection be published without its runs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from assay.core.arrays import Floats, Ints
from assay.core.errors import DataError, UsageError
from assay.core.registry import Registry, did_you_mean
from assay.core.tables import Table
from assay.data.scores import ScoreMatrix
from assay.stats.calls import parsed

Form = Callable[..., Floats]
Smoothing = Callable[..., tuple[Floats, Floats]]

FORMS: Registry[Form] = Registry("form of standardization")
SMOOTHINGS: Registry[Smoothing] = Registry("smoothing")


@dataclass(frozen=True, eq=False)
class Factors:
    """Standardization factors: mean and population sd of the reference runs on every topic of one measure.

    `runs` counts the reference runs of each topic. `scores` (those of the reference runs, ascending, one array per
    topic) is there only if it was kept; form E needs it.
    """

    measure: str
    topics: tuple[str, ...]
    mean: Floats
    sd: Floats
    runs: Ints
    scores: tuple[Floats, ...] | None = None

    def __post_init__(self) -> None:
        good = np.isfinite(self.mean) & np.isfinite(self.sd) & (self.sd >= 0) & (self.runs >= 1)
        for j in np.flatnonzero(~good)[:1]:
            found = f"mean {self.mean[j]:g}, sd {self.sd[j]:g}, {self.runs[j]} runs"
            what = f"{self.measure}: factors of topic {self.topics[j]!r} are {found}"
            raise DataError(f"{what}; mean must be a number, sd 0 or more, runs 1 or more")
        if len(set(self.topics)) < len(self.topics):
            twice = next(t for t in self.topics if self.topics.count(t) > 1)
            raise DataError(f"{self.measure}: topic {twice!r} has two lines of factors; one is expected")

    def of(self, topics: tuple[str, ...]) -> Factors:
        """The factors of these topics, in this order."""
        places = {t: j for j, t in enumerate(self.topics)}
        for t in topics:
            if t not in places:
                near = did_you_mean(t, self.topics[:20])
                raise DataError(f"{self.measure}: no standardization factors for topic {t!r}{near}")
        at = [places[t] for t in topics]
        kept = None if self.scores is None else tuple(self.scores[j] for j in at)
        return replace(self, topics=topics, mean=self.mean[at], sd=self.sd[at], runs=self.runs[at], scores=kept)

    def counted(self) -> str:
        """The number of reference runs, as a range where topics differ."""
        counts = sorted(set(self.runs.tolist()))
        return "–".join(map(str, [counts[0], counts[-1]][: len(counts)])) if counts else "no"

    def table(self) -> Table:
        """One row per topic: what a factors file holds."""
        rows = [(self.measure, *row) for row in zip(self.topics, self.mean, self.sd, self.runs, strict=True)]
        flat = int((self.sd == 0).sum())
        notes = [f"Mean and population sd of {self.counted()} reference runs."]
        notes += [f"{flat} topics have sd 0: every standardized score there is average."] if flat else []
        columns = {"measure": "", "topic": "", "mean": ".4f", "sd": ".4f", "runs": "d"}
        return Table.of(columns, rows, caption=f"{self.measure}: standardization factors", notes=notes)


def factors(reference: ScoreMatrix, *, keep_scores: bool = False) -> Factors:
    """Mean and population sd (divided by the number of runs) of every topic over the reference runs.

    Webber 2010, §4.3 and App. A.1. `keep_scores` also keeps the scores, which form E needs.

    >>> f = factors(ScoreMatrix.of([[0.1], [0.3]], topics=["401"]))
    >>> round(float(f.mean[0]), 3), round(float(f.sd[0]), 3)
    (0.2, 0.1)
    """
    x = reference.values
    if not len(x):
        raise DataError(f"{reference.measure}: no reference run; standardization needs at least one")
    mean = x.mean(axis=0)
    sd = np.where(np.ptp(x, axis=0) == 0, 0.0, x.std(axis=0))  # equal scores have sd 0, not what rounding leaves
    kept = tuple(np.sort(x, axis=0).T) if keep_scores else None
    return Factors(reference.measure, reference.topics, mean, sd, np.full(x.shape[1], len(x)), kept)


def joined(*parts: Factors) -> Factors:
    """The factors of several collections as one, so that runs over all their topics can be standardized at once."""
    if len({p.measure for p in parts}) != 1:
        raise DataError(
            f"factors of {', '.join(p.measure for p in parts) or 'nothing'} cannot be joined; take one measure"
        )
    kept = [s for p in parts if p.scores is not None for s in p.scores]
    topics = tuple(t for p in parts for t in p.topics)
    mean, sd, runs = (np.concatenate([getattr(p, name) for p in parts]) for name in ("mean", "sd", "runs"))
    return Factors(parts[0].measure, topics, mean, sd, runs, tuple(kept) if len(kept) == len(topics) else None)


def standardized(
    matrix: ScoreMatrix, by: Factors | ScoreMatrix | None = None, *, form: str = "z", smoothing: str | None = None
) -> ScoreMatrix:
    """The scores relative to the reference runs of their topic, in one of FORMS; average over topics afterwards.

    `by` is a Factors, a matrix of reference runs, or None for the runs themselves. A topic whose reference runs all
    score the same (sd 0) tells nothing: z is 0 there for every run (Φ and t1 .5; U, E and N 0).
    Webber, Moffat & Zobel 2008; Webber 2010, ch. 4; Sakai 2016; Urbano, Lima & Hanjalic 2019.

    >>> standardized(ScoreMatrix.of([[0.25, 0.5], [0.75, 0.5]])).values.tolist()
    [[-1.0, 0.0], [1.0, 0.0]]
    """
    entry, options = parsed(FORMS, form)
    known = by if isinstance(by, Factors) else factors(matrix if by is None else by, keep_scores=entry.name == "E")
    used = known.of(matrix.topics)
    mean, sd = _smoothed(used, matrix.values, smoothing)
    if entry.facts["sample_sd"]:
        sd = sd * np.sqrt(used.runs / np.maximum(used.runs - 1, 1))
    z = np.where(sd > 0, (matrix.values - mean) / np.where(sd > 0, sd, 1.0), 0.0)
    values = entry.function(z, matrix.values, used, **options)
    flat = np.broadcast_to(sd == 0, z.shape) & bool(entry.facts["zero_where_flat"])
    signature = f"{matrix.signature}|std:{form}|reference:{used.counted()} runs|smoothing:{smoothing or 'none'}"
    return replace(matrix, values=np.where(flat, 0.0, values), measure=f"{form}({matrix.measure})", signature=signature)


def z_bound(runs: int, *, smoothing: str | None = None) -> float:
    """The largest |z| that can occur: √(n − 1) for one of n reference runs (Webber 2010, App. A.1).

    With two virtual runs √(n + 1), for any run added to its own reference √n; background factors have no bound.

    >>> round(z_bound(78), 6), round(z_bound(17, smoothing="virtual"), 6)
    (8.774964, 4.242641)
    """
    added = {None: -1, "virtual": 1, "itself": 0}
    if smoothing not in added:
        raise UsageError(f"smoothing {smoothing!r} puts no bound on z; those that do: virtual, itself")
    if runs < 1:
        raise UsageError(f"runs: the bound needs at least one reference run (got {runs})")
    return math.sqrt(runs + added[smoothing])


@FORMS.register("z", sample_sd=False, zero_where_flat=False)
def _z(z: Floats, x: Floats, by: Factors) -> Floats:
    """Standard deviations above the mean of the reference runs; 0 is average, no bounds."""
    return z


@FORMS.register("cdf", sample_sd=False, zero_where_flat=False)
def _cdf(z: Floats, x: Floats, by: Factors) -> Floats:
    """Φ(z), the normal distribution function: .5 is average, .84 one sd above."""
    from scipy.special import ndtr

    return np.asarray(ndtr(z))


@FORMS.register("t1", sample_sd=False, zero_where_flat=False)
def _t1(z: Floats, x: Floats, by: Factors) -> Floats:
    """The distribution function of Student's t with 1 degree of freedom: outliers stay apart."""
    return np.asarray(0.5 + np.arctan(z) / np.pi)


@FORMS.register("U", sample_sd=True, zero_where_flat=True)
def _u(z: Floats, x: Floats, by: Factors, *, A: float = 0.15, B: float = 0.5) -> Floats:
    """A·z + B cut to 0 … 1, with the sample sd (Sakai's std-AB)."""
    return np.asarray(np.clip(A * z + B, 0.0, 1.0))


@FORMS.register("E", sample_sd=True, zero_where_flat=True)
def _e(z: Floats, x: Floats, by: Factors) -> Floats:
    """The share of the reference runs that score no higher: the empirical distribution function."""
    if by.scores is None:
        raise UsageError(f"{by.measure}: form E needs the reference scores, not only mean and sd; keep them in the fit")
    below = [np.searchsorted(scores, x[:, j], side="right") for j, scores in enumerate(by.scores)]
    return np.stack(below, axis=1) / by.runs


@FORMS.register("N", sample_sd=True, zero_where_flat=True)
def _n(z: Floats, x: Floats, by: Factors) -> Floats:
    """Φ(z) with the sample sd, and 0 where the reference runs do not differ (as Urbano et al. 2019 compute it)."""
    return _cdf(z, x, by)


def _smoothed(by: Factors, x: Floats, smoothing: str | None) -> tuple[Floats, Floats]:
    if smoothing is None:
        return by.mean, by.sd
    entry, options = parsed(SMOOTHINGS, smoothing)
    return entry.function(by, x, **options)


@SMOOTHINGS.register("virtual")
def _virtual(by: Factors, x: Floats, *, low: float = 0.0, high: float = 1.0) -> tuple[Floats, Floats]:
    """Two virtual reference runs, one that always scores `low`, one that always scores `high`."""
    return _merged(by, other=(low + high) / 2, spread=(high - low) / 2, size=2)


@SMOOTHINGS.register("itself")
def _itself(by: Factors, x: Floats) -> tuple[Floats, Floats]:
    """Every run is one of its own reference runs (meant for runs that are not among them already)."""
    return _merged(by, other=x, spread=0.0, size=1)


@SMOOTHINGS.register("background")
def _background(by: Factors, x: Floats, *, weight: float = 0.5) -> tuple[Floats, Floats]:
    """(1 − weight) · the topic's factors + weight · the mean factors of all topics."""
    if not 0 <= weight <= 1:
        raise UsageError(f"background: weight must lie between 0 and 1 (got {weight})")
    mean, sd = ((1 - weight) * f + weight * f.mean() for f in (by.mean, by.sd))
    return mean, sd


def _merged(by: Factors, *, other: Any, spread: float, size: int) -> tuple[Floats, Floats]:
    """Mean and sd of the reference runs together with `size` more of the given mean and sd."""
    n, total = by.runs, by.runs + size
    mean = (n * by.mean + size * other) / total
    variance = (n * by.sd**2 + size * spread**2) / total + n * size * ((by.mean - other) / total) ** 2
    return mean, np.sqrt(variance)
