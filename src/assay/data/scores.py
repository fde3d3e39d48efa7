"""ScoreMatrix: one measure on runs × topics, and what it is: its measure and the policy it was scored under.

Where the flow stands: grades → **scores** → result. Score files are read and written in `io/scores.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Floats
from assay.core.errors import DataError, UsageError
from assay.core.registry import did_you_mean, parse_call
from assay.core.tables import Table

UNNAMED = "score"
"""The measure of scores that nobody named."""
NOT_POLICY = ("assay", "reference")
"""Parts of a signature that say where scores come from, not what they are: two that differ only there are the same."""


@dataclass(frozen=True, eq=False)
class ScoreMatrix:
    """Scores of one measure: one row per run, one column per topic. Never NaN.

    >>> m = ScoreMatrix.of([[0.1, 0.3], [0.2, 0.2]], runs=["a", "b"], topics=["1", "2"], measure="AP")
    >>> m.means()
    array([0.2, 0.2])
    """

    runs: tuple[str, ...]
    topics: tuple[str, ...]
    values: Floats
    measure: str = UNNAMED
    signature: str = ""
    """The measure in full and the policy, e.g. `AP|ties:docid|missing:zero|unjudged:0|assay:0.1`."""

    @classmethod
    def of(
        cls,
        values: npt.ArrayLike,
        *,
        runs: Iterable[str | int] | None = None,
        topics: Iterable[str | int] | None = None,
        measure: str = UNNAMED,
        signature: str = "",
    ) -> ScoreMatrix:
        """A matrix from anything array-like, checked; names default to run1… and 1…, whole numbers are names too."""
        array = np.asarray(values, dtype=np.float64)
        if array.ndim != 2:
            raise DataError(f"{measure}: scores need two dimensions, runs × topics, not {array.ndim}")
        if runs is None:
            runs = [f"run{i + 1}" for i in range(array.shape[0])]
        if topics is None:
            topics = range(1, array.shape[1] + 1)
        run_names = tuple(_name(run, "run") for run in runs)
        topic_names = tuple(_name(topic, "topic") for topic in topics)
        return cls(run_names, topic_names, array, measure, signature or measure)

    def __post_init__(self) -> None:
        shape = (len(self.runs), len(self.topics))
        if self.values.shape != shape:
            raise DataError(f"{self.measure}: {self.values.shape} scores for {shape} runs × topics")
        for names, what in ((self.runs, "run"), (self.topics, "topic")):
            if len(set(names)) < len(names):
                twice = next(n for n in names if names.count(n) > 1)
                raise DataError(f"{self.measure}: {what} {twice!r} is there twice; names must differ")
        bad = np.argwhere(~np.isfinite(self.values))
        if len(bad):
            i, j = bad[0]
            value = self.values[i, j]
            raise DataError(
                f"{self.measure}: score of run {self.runs[i]!r} on topic {self.topics[j]!r} is {value}; "
                "scores must be finite numbers"
            )
        # a copy, so that nobody who holds the array changes the scores; a view of it cannot be made writable again
        own = np.array(self.values, dtype=np.float64)
        own.setflags(write=False)
        object.__setattr__(self, "values", own.view())

    def __reduce__(self) -> tuple[Any, ...]:
        return ScoreMatrix, (self.runs, self.topics, self.values, self.measure, self.signature)

    def __repr__(self) -> str:
        return f"ScoreMatrix({self.measure!r}, {len(self.runs)} runs × {len(self.topics)} topics)"

    @property
    def shape(self) -> tuple[int, int]:
        """(number of runs, number of topics)."""
        return len(self.runs), len(self.topics)

    def means(self) -> Floats:
        """Mean over the topics, one per run."""
        return np.asarray(self.values.mean(axis=1))

    def medians(self) -> Floats:
        """Median over the topics, one per run."""
        return np.asarray(np.median(self.values, axis=1))

    def geometric_means(self, floor: float = 1e-5) -> Floats:
        """exp(mean(log(max(score, floor)))) over the topics, one per run; trec_eval's floor by default."""
        return np.asarray(np.exp(np.log(np.maximum(self.values, floor)).mean(axis=1)))

    def of_run(self, run: str) -> Floats:
        """The scores of one run, over the topics."""
        return np.asarray(self.values[self._row(run)])

    def select(
        self, *, runs: Sequence[str | int] | None = None, topics: Sequence[str | int] | None = None
    ) -> ScoreMatrix:
        """Only these runs and topics, in this order."""
        rows = range(len(self.runs)) if runs is None else [self._row(_name(run, "run")) for run in runs]
        columns = range(len(self.topics)) if topics is None else self._columns([_name(t, "topic") for t in topics])
        return replace(
            self,
            runs=tuple(self.runs[i] for i in rows),
            topics=tuple(self.topics[j] for j in columns),
            values=self.values[np.ix_(list(rows), list(columns))],
        )

    def renamed(self, measure: str) -> ScoreMatrix:
        """The same scores called another measure, because a person says so; the signature keeps what they were.

        >>> m = ScoreMatrix.of([[0.1]], measure="map")
        >>> m.renamed("AP").measure, m.renamed("AP").signature
        ('AP', 'AP|named by hand, before:map')
        """
        if measure == self.measure:
            return self
        return replace(self, measure=measure, signature=f"{measure}|named by hand, before:{self.measure}")

    def by_mean(self) -> ScoreMatrix:
        """The same runs, best mean first; equal means keep their order."""
        order = np.argsort(-self.means(), kind="stable")
        return self.select(runs=[self.runs[i] for i in order])

    def table(self) -> Table:
        """One row per run: mean, median and spread."""
        rows = [
            (run, v.mean(), np.median(v), v.std(ddof=1) if len(v) > 1 else None, len(v))
            for run, v in zip(self.runs, self.values, strict=True)
        ]
        formats = {"run": "", "mean": ".4f", "median": ".4f", "sd": ".4f", "topics": "d"}
        return Table.of(formats, rows, caption=self.measure, notes=[self.signature])

    def _columns(self, topics: Sequence[str]) -> list[int]:
        places = {topic: j for j, topic in enumerate(self.topics)}
        for topic in topics:
            if topic not in places:
                raise UsageError(f"{self.measure}: no topic {topic!r}{did_you_mean(topic, self.topics[:20])}")
        return [places[topic] for topic in topics]

    def _row(self, run: str) -> int:
        try:
            return self.runs.index(run)
        except ValueError:
            raise UsageError(f"no run {run!r}{did_you_mean(run, self.runs)}") from None


def same_scores(first: ScoreMatrix, second: ScoreMatrix, *, force: str | None = None) -> None:
    """An error that names both unless two matrices hold the same quantity: one measure, scored under one policy.

    A matrix whose policy is not known goes with any policy of its measure. force: the measure that a person says both
    are (`--force-measure`); then nothing is checked.

    >>> ap = ScoreMatrix.of([[0.1]], measure="AP")
    >>> same_scores(ap, ScoreMatrix.of([[0.2]], measure="AP", signature="AP|ties:docid"))
    >>> same_scores(ap, ScoreMatrix.of([[0.2]], measure="P@10"))
    Traceback (most recent call last):
    assay.core.errors.UsageError: AP and P@10 are not the same measure; --force-measure NAME says that they are
    """
    same_quantity((first.measure, first.signature), (second.measure, second.signature), force=force)


def same_quantity(first: tuple[str, str], second: tuple[str, str], *, force: str | None = None) -> None:
    """As same_scores, of two pairs (measure, signature): what factors of standardization carry."""
    if force is not None or _quantity(*first) == _quantity(*second):
        return
    way_out = "--force-measure NAME says that they are"
    if not _same_measure(first, second):
        names = " and ".join(_shown_measure(measure) for measure, _ in (first, second))
        raise UsageError(f"{names} are not the same measure; {way_out}")
    if _policy(first[1]) and _policy(second[1]):
        what = f"{first[0]}: the scores do not rest on the same policy: {first[1]} and {second[1]}"
        raise UsageError(f"{what}; score both alike, or {way_out}")


def joined(matrices: Sequence[ScoreMatrix], *, force: str | None = None) -> list[ScoreMatrix]:
    """One matrix per measure, with the runs of all; those of a measure must have the same topics and policy.

    force: the measure that a person says all of them are; one matrix of that name is the result.

    >>> parts = [ScoreMatrix.of([[0.1]], runs=[run], measure="AP") for run in ("a", "b")]
    >>> joined(parts)
    [ScoreMatrix('AP', 2 runs × 1 topics)]
    """
    groups: list[list[ScoreMatrix]] = []
    for matrix in matrices:
        if force is not None:
            matrix = matrix.renamed(force)
        quantity = (matrix.measure, matrix.signature)
        group = next((g for g in groups if _same_measure((g[0].measure, g[0].signature), quantity)), None)
        if group is None:
            groups.append([matrix])
        else:
            group.append(matrix)
    return [_stacked(group, force) for group in groups]


def _stacked(parts: Sequence[ScoreMatrix], force: str | None) -> ScoreMatrix:
    """The runs of all parts, on the topics that all must have."""
    head = parts[0]
    for i, part in enumerate(parts):
        for earlier in parts[:i]:
            same_scores(earlier, part, force=force)
        odd = sorted(set(head.topics) ^ set(part.topics))
        if odd:
            what = f"topic {odd[0]!r} is in one file only ({len(odd)} such topics)"
            raise DataError(f"{head.measure}: {what}; runs on different topics are compared with --against")
    runs = [run for part in parts for run in part.runs]
    values = np.concatenate([part.select(topics=head.topics).values for part in parts])
    # what is said of all of them must hold for each: one of unknown policy makes the policy of all unknown
    signatures = list(dict.fromkeys(part.signature for part in parts))
    signature = signatures[0] if len({_policy(s) for s in signatures}) == 1 else head.measure
    return ScoreMatrix.of(values, runs=runs, topics=head.topics, measure=head.measure, signature=signature)


def _quantity(measure: str, signature: str) -> tuple[str, frozenset[str]]:
    """What scores are, so that equal ones can be told: the measure in one spelling, and the policy."""
    policy = _policy(signature)
    name = signature.partition("|")[0] if policy else measure
    return canonical(name), policy


def _same_measure(first: tuple[str, str], second: tuple[str, str]) -> bool:
    return canonical(first[0]) == canonical(second[0]) or _quantity(*first) == _quantity(*second)


def _policy(signature: str) -> frozenset[str]:
    """The parts of a signature that make two scores differ; none where the policy is not known."""
    parts = signature.split("|")[1:]
    kept = [part for part in parts if part.partition(":")[0] not in NOT_POLICY]
    # whether an average over ties is exact or sampled hangs on the data, and both estimate the same number
    return frozenset(part.partition("(")[0] if part.startswith("ties:") else part for part in kept)


def canonical(measure: str) -> str:
    """A measure's name in one spelling: blanks, the order of its parameters and the writing of numbers do not matter.

    >>> canonical("RBP( p=.80 )"), canonical("z(AP)")
    ('RBP(p=0.8)', 'z(AP)')
    """
    text = measure.strip()
    try:
        name, parameters = parse_call(text)
    except UsageError:
        return text
    if not parameters:
        return name
    return f"{name}({', '.join(f'{key}={parameters[key]}' for key in sorted(parameters))})"


def _shown_measure(measure: str) -> str:
    return "scores of no named measure" if measure == UNNAMED else measure


def _name(value: object, what: str) -> str:
    """A name of a run or topic: a text, or a whole number as its digits."""
    if isinstance(value, str):
        return value
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return str(int(value))
    raise DataError(f"{what} {value!r}: names are texts or whole numbers, not {type(value).__name__}")
