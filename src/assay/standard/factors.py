"""What is a score worth on its own topic? Scores relative to the mean and spread of reference runs.

`fit` learns mean and sd of every topic from reference runs, `standardize` applies them in one of FORMS, with one of
SMOOTHINGS where the reference is narrow. Files of factors let a collection be published without its runs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, get_args

import numpy as np

from assay.core.arrays import Floats, Ints, sealed
from assay.core.engine import chunks
from assay.core.errors import DataError, UsageError
from assay.core.registry import Registry, Within, did_you_mean, one_of
from assay.core.results import Result
from assay.core.tables import Table
from assay.data.quantities import same_measure, same_quantity
from assay.data.scores import ScoreMatrix
from assay.data.tested_means import needs_means
from assay.data.topic_names import names_in, places_of, repeated_name
from assay.io.brought import score_matrix_of
from assay.io.column_names import Named, refuse_unused, shared_columns

Form = Callable[..., Floats]
Smoothing = Callable[..., tuple[Floats, Floats]]

FORMS: Registry[Form] = Registry("form of standardization")
SMOOTHINGS: Registry[Smoothing] = Registry("smoothing")
TOPICS_AT_ONCE = 1 << 20
"""Topics that are standardized at a time."""
Sd = Literal["population", "sample"]
SDS = get_args(Sd)
"""The sd of the reference runs: squares divided by their number n, or by n − 1."""
FORM = "cdf"
"""The form that is used where nobody asks for another: the standardized score of Webber, Moffat & Zobel 2008."""


@dataclass(frozen=True, eq=False)
class Factors(Result):
    """Standardization factors: mean and sd of the reference runs on every topic of one measure.

    `sd_of` says which sd: one of SDS. A form takes the one that it needs, whatever the factors carry.
    `runs` counts the reference runs of each topic. `scores` (those of the reference runs, ascending, one array or row
    per topic) is there only if it was kept; form E needs it. `signature` is that of the reference scores.
    """

    measure: str
    topics: tuple[str, ...]
    mean: Floats
    sd: Floats
    runs: Ints
    scores: Sequence[Floats] | Floats | None = None
    signature: str = ""
    overall: tuple[float, float] | None = None
    """Mean and population sd of the average topic, where these factors are a part of those of all topics."""
    sd_of: str = "population"

    def __post_init__(self) -> None:
        one_of("sd", self.sd_of, SDS)
        self._check_values()
        twice = repeated_name(self.topics)
        if twice is not None:
            raise DataError(f"{self.measure}: topic {twice!r} has two lines of factors; one is expected")

    def _check_values(self) -> None:
        mean_usable = np.isfinite(self.mean)
        sd_usable = np.isfinite(self.sd) & (self.sd >= 0)
        usable = mean_usable & sd_usable & (self.runs >= 1)
        if usable.all():
            return
        first = int(np.argmin(usable))
        mean = self.mean[first]
        sd = self.sd[first]
        values = f"mean {mean:g}, sd {sd:g}, {self.runs[first]} runs"
        what = f"{self.measure}: factors of topic {self.topics[first]!r} are {values}"
        raise DataError(f"{what}; mean must be a number, sd 0 or more, runs 1 or more")

    @property
    def _quantity(self) -> tuple[str, str]:
        """What the factors are of: measure and signature."""
        return self.measure, self.signature

    def of(self, topics: tuple[str, ...]) -> Factors:
        """The factors of these topics, in this order."""
        if topics == self.topics:
            return self
        places = places_of(self.topics, topics)
        absent = np.flatnonzero(places < 0)
        if len(absent):
            topic = topics[int(absent[0])]
            near = did_you_mean(topic, self.topics[:20])
            raise DataError(f"{self.measure}: no standardization factors for topic {topic!r}{near}")
        scores = self.scores
        if isinstance(scores, np.ndarray):
            scores = scores[places]
        elif scores is not None:
            scores = tuple(scores[place] for place in places.tolist())
        return replace(
            self,
            topics=topics,
            mean=self.mean[places],
            sd=self.sd[places],
            runs=self.runs[places],
            scores=scores,
        )

    def with_sd(self, sd_of: str) -> Factors:
        """The same factors with the population or the sample sd; of a single reference run both are 0."""
        if one_of("sd", sd_of, SDS) == self.sd_of:
            return self
        ratio = np.sqrt(self.runs / np.maximum(self.runs - 1, 1))
        return replace(self, sd=self.sd * ratio if sd_of == "sample" else self.sd / ratio, sd_of=sd_of)

    def part(self, topics: slice) -> Factors:
        """The factors of topics that follow each other; they know those of the average topic of all."""
        return replace(
            self,
            topics=names_in(self.topics, topics),
            mean=self.mean[topics],
            sd=self.sd[topics],
            runs=self.runs[topics],
            scores=None if self.scores is None else self.scores[topics],
            overall=self.average_topic(),
        )

    def average_topic(self) -> tuple[float, float]:
        """The mean over the topics of their mean and of their population sd."""
        return self.overall or (float(self.mean.mean()), float(self.with_sd("population").sd.mean()))

    def renamed(self, measure: str) -> Factors:
        """The same factors taken for another measure, because a person says so."""
        signature = f"{measure}|forced:{self.measure}"
        return replace(self, measure=measure, signature=signature)

    def counted(self) -> str:
        """The number of reference runs, as a range where topics differ."""
        if not len(self.runs):
            return "no"
        fewest = int(self.runs.min())
        most = int(self.runs.max())
        if fewest == most:
            return str(most)
        return f"{fewest}–{most}"

    def table(self) -> Table:
        """One row per topic: what a factors file holds."""
        columns = {"measure": "", "topic": "", "mean": ".4f", "sd": ".4f", "runs": "d"}
        rows = zip(
            [self.measure] * len(self.topics),
            self.topics,
            self.mean,
            self.sd,
            self.runs,
            strict=True,
        )
        notes = [f"Mean and {self.sd_of} sd of {self.counted()} reference runs."]
        flat = int((self.sd == 0).sum())
        if flat:
            notes.append(f"{flat} topics have sd 0: every standardized score there is average (0 by U, E and N).")
        caption = f"{self.measure}: standardization factors"
        return Table.of(columns, rows, caption=caption, notes=notes)


def fit(reference: ScoreMatrix, *, keep_scores: bool = False, sd: str = "population") -> Factors:
    """Mean and sd of every topic over the reference runs.

    Webber 2010, §4.3 and App. A.1. `keep_scores` also keeps the scores, which form E needs. sd: "population" (divided
    by the number of runs n) or "sample" (n − 1), on which the numbers that Webber prints rest.

    >>> f = fit(ScoreMatrix.of([[0.1], [0.3]], topics=["401"]))
    >>> round(float(f.mean[0]), 3), round(float(f.sd[0]), 3)
    (0.2, 0.1)
    """
    scores = needs_means(reference, "standardization").values
    if not len(scores):
        raise DataError(f"{reference.measure}: no reference run; standardization needs at least one")
    runs, topics = scores.shape
    flat = np.ptp(scores, axis=0) == 0
    # One column alone would be added in another order: a topic has the same bits whatever stands beside it.
    columns = np.repeat(scores, 2, axis=1) if topics == 1 else scores
    spread = columns.std(axis=0)[:topics]
    spread[flat] = 0.0  # equal scores have sd 0, not what rounding leaves
    factors = Factors(
        measure=reference.measure,
        topics=reference.topics,
        mean=columns.mean(axis=0)[:topics],
        sd=spread,
        runs=np.full(topics, runs),
        scores=np.sort(scores, axis=0).T if keep_scores else None,
        signature=reference.signature,
    )
    return factors.with_sd(sd)


def joined_factors(*parts: Factors) -> Factors:
    """The factors of several collections as one, so that runs over all their topics can be standardized at once."""
    if not parts:
        raise DataError("factors of nothing cannot be joined; take one measure")
    first = parts[0]
    for other in parts[1:]:
        if not same_measure(first._quantity, other._quantity):
            raise DataError(f"factors of {first.measure}, {other.measure} cannot be joined; take one measure")
        same_quantity(first._quantity, other._quantity)
    topics: list[str] = []
    scores: list[Floats] = []
    parts = tuple(part.with_sd(first.sd_of) for part in parts)
    for part in parts:
        topics += part.topics
        scores += () if part.scores is None else tuple(part.scores)
    every_part_has_scores = all(part.scores is not None for part in parts)
    return Factors(
        measure=first.measure,
        topics=tuple(topics),
        mean=np.concatenate([part.mean for part in parts]),
        sd=np.concatenate([part.sd for part in parts]),
        runs=np.concatenate([part.runs for part in parts]),
        scores=tuple(scores) if every_part_has_scores else None,
        signature=first.signature,
        sd_of=first.sd_of,
    )


def standardize(
    scores: Any, by: Any = None, *, form: str = FORM, smoothing: str | None = None, columns: Named = None
) -> ScoreMatrix:
    """The scores relative to the reference runs of their topic, in one of FORMS; average over topics afterwards.

    scores: a ScoreMatrix, what `assay.evaluate` returns for one measure, {run: {topic: score}}, a data frame or a path.
    columns: our column → that of a table, e.g. {"run": "model"}.
    `by` is a Factors, scores of reference runs, or None for the runs themselves; it must be of the same measure and
    policy. A topic whose reference runs all score the same (sd 0) says nothing: z is 0 there for every run (Φ and t1
    .5; U, E and N 0). Webber, Moffat & Zobel 2008; Webber 2010, ch. 4; Sakai 2016; Urbano, Lima & Hanjalic 2019.

    >>> standardize(ScoreMatrix.of([[0.25, 0.5], [0.75, 0.5]]), form="z").values.tolist()
    [[-1.0, 0.0], [1.0, 0.0]]
    """
    facts = FORMS.entry(form).facts
    shared = shared_columns(columns)
    matrix = needs_means(score_matrix_of(scores, columns=shared), "standardization")
    if isinstance(by, Factors):
        factors = by
    else:
        reference = matrix if by is None else score_matrix_of(by, columns=shared)
        factors = fit(reference, keep_scores=facts["needs_scores"])
    refuse_unused(shared, columns)
    same_quantity((matrix.measure, matrix.signature), factors._quantity)
    used = factors.of(matrix.topics)
    values = np.empty(matrix.shape)
    for topics in chunks(matrix.shape[1], TOPICS_AT_ONCE):
        values[:, topics] = standard_values(matrix.values[:, topics], used.part(topics), form=form, smoothing=smoothing)
    how = f"std:{form}|reference:{used.counted()} runs|smoothing:{smoothing or 'none'}"
    signature = signature_of(matrix.measure, matrix.signature, form, how)
    return replace(matrix, values=sealed(values), measure=f"{form}({matrix.measure})", signature=signature)


def standard_values(x: Floats, used: Factors, *, form: str, smoothing: str | None, moved: float = 0.0) -> Floats:
    """Scores (runs × topics) in one of FORMS, by the factors of their topics; `moved` is taken off every z."""
    facts = FORMS.entry(form).facts
    mean, sd = _smoothed(used.with_sd("population"), x, smoothing)
    if facts["sample_sd"] or FORMS.given(form).get("sd") == "sample":
        freedom = np.maximum(used.runs - 1, 1)
        sd = sd * np.sqrt(used.runs / freedom)
    flat = sd == 0
    divisor = np.where(flat, 1.0, sd)
    z = (x - mean) / divisor
    z = np.where(flat, 0.0, z)
    values: Floats = FORMS.call(form, z - moved if moved else z, x, used)
    if facts["zero_where_flat"]:
        values = np.where(flat, 0.0, values)
    return values


def signature_of(measure: str, signature: str, form: str, how: str) -> str:
    """The measure in full, in brackets of the form as in the name, then the policy of the raw scores, then ours."""
    in_full, bar, policy = signature.partition("|")
    return f"{form}({in_full or measure}){bar}{policy}|{how}"


@FORMS.register("z", sample_sd=False, zero_where_flat=False, needs_scores=False)
def _z(z: Floats, x: Floats, by: Factors, *, sd: Sd = "population") -> Floats:
    """Standard deviations above the mean of the reference runs; 0 is average, no bounds; sd=sample divides by n − 1."""
    one_of("sd", sd, SDS)
    return z


@FORMS.register("cdf", sample_sd=False, zero_where_flat=False, needs_scores=False)
def _cdf(z: Floats, x: Floats, by: Factors, *, sd: Sd = "population") -> Floats:
    """Φ(z), the normal distribution function: .5 is average, .84 one sd above; sd as in z."""
    one_of("sd", sd, SDS)
    from scipy.special import ndtr

    return np.asarray(ndtr(z))


@FORMS.register("t1", sample_sd=False, zero_where_flat=False, needs_scores=False)
def _t1(z: Floats, x: Floats, by: Factors, *, sd: Sd = "population") -> Floats:
    """The distribution function of Student's t with 1 degree of freedom: outliers stay apart; sd as in z."""
    one_of("sd", sd, SDS)
    return np.asarray(0.5 + np.arctan(z) / np.pi)


@FORMS.register("U", sample_sd=True, zero_where_flat=True, needs_scores=False)
def _u(
    z: Floats,
    x: Floats,
    by: Factors,
    *,
    A: Annotated[float, Within(-math.inf, open=True)] = 0.15,
    B: Annotated[float, Within(-math.inf, open=True)] = 0.5,
) -> Floats:
    """A·z + B cut to 0 … 1, with the sample sd, and 0 where the reference runs have one score (Sakai's std-AB)."""
    line = A * z + B
    return np.asarray(np.clip(line, 0.0, 1.0))


@FORMS.register("E", sample_sd=True, zero_where_flat=True, needs_scores=True)
def _e(z: Floats, x: Floats, by: Factors) -> Floats:
    """The share of the reference runs that score no higher, the empirical distribution; 0 where they have one score."""
    if by.scores is None:
        raise UsageError(f"{by.measure}: form E needs the reference scores, not only mean and sd; keep them in the fit")
    if isinstance(by.scores, np.ndarray):
        of_all = np.zeros(x.shape)
        for one_run in by.scores.T:
            of_all += one_run <= x
        return np.asarray(of_all / by.runs)
    no_higher = []
    for of_topic, reference_scores in zip(x.T, by.scores, strict=True):
        count = np.searchsorted(reference_scores, of_topic, side="right")
        no_higher.append(count)
    return np.stack(no_higher, axis=1) / by.runs


@FORMS.register("N", sample_sd=True, zero_where_flat=True, needs_scores=False)
def _n(z: Floats, x: Floats, by: Factors) -> Floats:
    """Φ(z) with the sample sd, and 0 where the reference runs have one score (as Urbano et al. 2019 compute it)."""
    return _cdf(z, x, by)


def _smoothed(by: Factors, x: Floats, smoothing: str | None) -> tuple[Floats, Floats]:
    """Mean and sd of every topic after smoothing."""
    if smoothing is None:
        return by.mean, by.sd
    mean, sd = SMOOTHINGS.call(smoothing, by, x)
    return mean, sd


@SMOOTHINGS.register("virtual")
def _virtual(
    by: Factors,
    x: Floats,
    *,
    low: Annotated[float, Within(-math.inf, open=True)] = 0.0,
    high: Annotated[float, Within(-math.inf, open=True)] = 1.0,
) -> tuple[Floats, Floats]:
    """Two virtual reference runs, one that always scores `low`, one that always scores `high`."""
    middle = (low + high) / 2
    half_range = (high - low) / 2
    return _merged(by, other=middle, spread=half_range, size=2)


@SMOOTHINGS.register("itself")
def _itself(by: Factors, x: Floats) -> tuple[Floats, Floats]:
    """Every run is one of its own reference runs (meant for runs that are not among them already)."""
    return _merged(by, other=x, spread=0.0, size=1)


@SMOOTHINGS.register("background", of_all_topics=True)
def _background(by: Factors, x: Floats, *, weight: Annotated[float, Within(0, 1)] = 0.5) -> tuple[Floats, Floats]:
    """(1 − weight) · the topic's factors + weight · the mean factors of all topics."""
    own = 1 - weight
    mean_of_all, sd_of_all = by.average_topic()
    mean = own * by.mean + weight * mean_of_all
    sd = own * by.sd + weight * sd_of_all
    return mean, sd


def _merged(by: Factors, *, other: Any, spread: float, size: int) -> tuple[Floats, Floats]:
    """Mean and sd of the reference runs together with `size` more of the given mean and sd."""
    n = by.runs
    total = n + size
    sums = n * by.mean + size * other
    mean = sums / total
    # The variance of two groups: that within them, and that between their means.
    squares = n * by.sd**2 + size * spread**2
    within = squares / total
    gap = by.mean - other
    between = n * size * (gap / total) ** 2
    return mean, np.sqrt(within + between)
