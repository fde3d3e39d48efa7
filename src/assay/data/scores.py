"""ScoreMatrix: one measure on runs × topics, and what it is: its measure and policy. Scores: one for each measure.

Where the flow stands: grades → **scores** → result. Score files are read and written in `io/scores.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Floats, kept, sealed
from assay.core.dataframes import AnyFrame, FramesOut, pandas_frame, polars_frame
from assay.core.errors import DataError, UsageError
from assay.core.registry import did_you_mean
from assay.core.results import Result
from assay.core.tables import Table
from assay.data.averages import FLOOR, IN_WORDS, aggregate_of, averages_of, signature_of_name
from assay.data.lost_grades import lost_grades
from assay.data.quantities import UNNAMED, canonical, policy_of, same_measure, same_quantity
from assay.data.topic_names import places_of, repeated_name
from assay.data.topic_rows import counted

if TYPE_CHECKING:
    from assay.report import Figure


@dataclass(frozen=True, eq=False, repr=False)
class ScoreMatrix(Result):
    """Scores of one measure: one row per run, one column per topic. Never NaN.

    >>> m = ScoreMatrix.of([[0.1, 0.3], [0.2, 0.2]], runs=["a", "b"], topics=["1", "2"], measure="AP")
    >>> m.averages()
    array([0.2, 0.2])
    """

    runs: tuple[str, ...]
    topics: tuple[str, ...]
    values: Floats
    measure: str = UNNAMED
    signature: str = ""
    """The measure in full and the policy, e.g. `AP|ties:docid|missing:zero|unjudged:0|assay:0.1`."""
    lost: tuple[float, float] | None = None
    """The highest grade of the judgments and the lowest that counts as relevant, where that is higher."""

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
        """A matrix from anything array-like, checked; names default to run1… and 1…, whole numbers are names too.

        A data frame keeps its names: a row for each run, which is the index in pandas and the first column elsewhere,
        and a column for each topic.
        """
        frame = AnyFrame.of(values, measure)
        if frame is not None:
            own_runs, own_topics, values = frame.matrix()
            runs = own_runs if runs is None else runs
            topics = own_topics if topics is None else topics
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
        # A copy unless it is sealed: nobody else may change it; row by row, so that sums have the same bits.
        own = kept(np.asarray(self.values, dtype=np.float64, order="C"))
        if own.shape != shape:
            raise DataError(f"{self.measure}: {own.shape} scores for {shape} runs × topics")
        for names, what in ((self.runs, "run"), (self.topics, "topic")):
            if (twice := repeated_name(names)) is not None:
                raise DataError(f"{self.measure}: {what} {twice!r} is there twice; names must differ")
        finite = np.isfinite(own)
        if not finite.all():
            i, j = np.argwhere(~finite)[0]
            where = f"run {self.runs[i]!r} on topic {self.topics[j]!r}"
            raise DataError(f"{self.measure}: score of {where} is {own[i, j]}; scores must be finite numbers")
        object.__setattr__(self, "values", own.view())  # which cannot be made writable again

    def __reduce__(self) -> tuple[Any, ...]:
        return ScoreMatrix, (self.runs, self.topics, self.values, self.measure, self.signature, self.lost)

    def __repr__(self) -> str:
        sizes = f"{counted(len(self.runs), 'run')} × {counted(len(self.topics), 'topic')}"
        return f"ScoreMatrix({self.measure!r}, {sizes})"

    @property
    def shape(self) -> tuple[int, int]:
        """(number of runs, number of topics)."""
        return len(self.runs), len(self.topics)

    @property
    def aggregate(self) -> str:
        """How the topics become one number, one of AGGREGATES: as the name of the measure or the signature says."""
        return aggregate_of(self.measure, self.signature)

    def averages(self) -> Floats:
        """The score over all topics, one per run: the mean, or what the aggregate of the measure is."""
        return averages_of(self.values, self.aggregate)

    def medians(self) -> Floats:
        """Median over the topics, one per run."""
        return np.asarray(np.median(self.values, axis=1))

    def geometric_means(self, floor: float = FLOOR) -> Floats:
        """exp(mean(log(max(score, floor)))) over the topics, one per run; trec_eval's floor by default."""
        return np.asarray(np.exp(np.log(np.maximum(self.values, floor)).mean(axis=1)))

    def of_run(self, run: str) -> Floats:
        """The scores of one run, over the topics."""
        return np.asarray(self.values[self._row(run)])

    def select(
        self, *, runs: Sequence[str | int] | None = None, topics: Sequence[str | int] | None = None
    ) -> ScoreMatrix:
        """Only these runs and topics, in this order."""
        rows = list(range(len(self.runs)) if runs is None else [self._row(_name(run, "run")) for run in runs])
        of_runs = self
        if rows != list(range(len(self.runs))):
            of_runs = replace(self, runs=tuple(self.runs[i] for i in rows), values=sealed(self.values[rows]))
        if topics is None:  # there may be millions
            return of_runs
        columns = self._columns([_name(topic, "topic") for topic in topics])
        kept = tuple(self.topics[j] for j in columns)
        return replace(of_runs, topics=kept, values=of_runs.values[:, columns])

    def renamed(self, measure: str) -> ScoreMatrix:
        """The same scores taken for another measure, because a person says so; the signature keeps what they were.

        Their policy is not known any more, so that they go with any scores of that measure.

        >>> m = ScoreMatrix.of([[0.1]], measure="map")
        >>> m.renamed("AP").measure, m.renamed("AP").signature
        ('AP', 'AP|forced:map')
        """
        return replace(self, measure=measure, signature=f"{measure}|forced:{self.measure}")

    def by_average(self) -> ScoreMatrix:
        """The same runs, the best score over all topics first; equal ones keep their order."""
        order = np.argsort(-self.averages(), kind="stable")
        return self.select(runs=[self.runs[i] for i in order])

    def table(self) -> Table:
        """One row per run: mean, median and spread, after the geometric mean or the sum where that is its average."""
        heading = IN_WORDS[self.aggregate]
        averages = self.averages()
        rows = []
        for i, (run, scores) in enumerate(zip(self.runs, self.values, strict=True)):
            row: dict[str, Any] = {"run": run, heading: averages[i]}
            row |= {"mean": scores.mean(), "median": np.median(scores)}
            row["sd"] = scores.std(ddof=1) if len(scores) > 1 else None
            rows.append([*row.values(), len(scores)])
        formats = {"run": "", heading: ".4f", "mean": ".4f", "median": ".4f", "sd": ".4f", "topics": "d"}
        return Table.of(formats, rows, caption=self.measure, notes=[self.signature, *lost_grades([self])])

    def to_dict(self) -> dict[str, dict[str, float]]:
        """{run: {topic: score}}.

        >>> ScoreMatrix.of([[0.1, 0.3]], runs=["a"]).to_dict()
        {'a': {'1': 0.1, '2': 0.3}}
        """
        rows = zip(self.runs, self.values.tolist(), strict=True)
        return {run: dict(zip(self.topics, scores, strict=True)) for run, scores in rows}

    def to_pandas(self) -> Any:
        """A pandas DataFrame: a row for each run, a column for each topic. `ScoreMatrix.of` reads it back."""
        return pandas_frame(dict(zip(self.topics, self.values.T, strict=True)), index=list(self.runs))

    def to_polars(self) -> Any:
        """A polars DataFrame: a first column `run`, then a column for each topic. `ScoreMatrix.of` reads it back."""
        if "run" in self.topics:
            raise UsageError(f"{self.measure}: a topic is called 'run', as is the column of runs; use to_pandas")
        return polars_frame({"run": list(self.runs), **dict(zip(self.topics, self.values.T, strict=True))})

    def _columns(self, topics: Sequence[str]) -> list[int]:
        columns: list[int] = places_of(self.topics, topics).tolist()
        if -1 in columns:
            topic = topics[columns.index(-1)]
            raise UsageError(f"{self.measure}: no topic {topic!r}{did_you_mean(topic, self.topics[:20])}")
        return columns

    def _row(self, run: str) -> int:
        try:
            return self.runs.index(run)
        except ValueError:
            raise UsageError(f"no run {run!r}{did_you_mean(run, self.runs)}") from None


@dataclass(frozen=True, eq=False, repr=False)
class Scores(FramesOut, Result, Sequence[ScoreMatrix]):
    """What evaluate returns: one ScoreMatrix per measure, all on the same runs and topics.

    A sequence of them, which also answers to the name of a measure.

    >>> runs, topics = ["a", "b"], ["1", "2"]
    >>> ap = ScoreMatrix.of([[0.1, 0.3], [0.4, 0.2]], runs=runs, topics=topics, measure="AP")
    >>> rr = ScoreMatrix.of([[0.5, 1.0], [1.0, 0.5]], runs=runs, topics=topics, measure="RR")
    >>> scores = Scores((ap, rr))
    >>> scores["RR"], scores[0], scores.measures
    (ScoreMatrix('RR', 2 runs × 2 topics), ScoreMatrix('AP', 2 runs × 2 topics), ('AP', 'RR'))
    >>> print(scores.table().csv().splitlines()[1])
    b,0.30000000000000004,0.75
    """

    matrices: tuple[ScoreMatrix, ...]
    remarks: tuple[str, ...] = ()  # what a reader of the table must know of its measures

    def __post_init__(self) -> None:
        object.__setattr__(self, "matrices", tuple(self.matrices))
        for matrix in self.matrices[1:]:
            if (matrix.runs, matrix.topics) != (self.runs, self.topics):
                raise DataError(f"{self.matrices[0].measure} and {matrix.measure} are not on the same runs and topics")

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures, as they were written."""
        return tuple(matrix.measure for matrix in self.matrices)

    @property
    def aggregates(self) -> tuple[str, ...]:
        """How the topics of each measure become one number."""
        return tuple(matrix.aggregate for matrix in self.matrices)

    @property
    def runs(self) -> tuple[str, ...]:
        """The runs of every matrix."""
        return self.matrices[0].runs if self.matrices else ()

    @property
    def topics(self) -> tuple[str, ...]:
        """The topics of every matrix."""
        return self.matrices[0].topics if self.matrices else ()

    def __len__(self) -> int:
        return len(self.matrices)

    @overload
    def __getitem__(self, which: int | str) -> ScoreMatrix: ...
    @overload
    def __getitem__(self, which: slice) -> Scores: ...
    def __getitem__(self, which: int | str | slice) -> ScoreMatrix | Scores:
        if isinstance(which, slice):
            return Scores(self.matrices[which])
        if not isinstance(which, str):
            return self.matrices[which]
        for matrix in self.matrices:
            in_full = matrix.signature.partition("|")[0]
            if canonical(which) in (canonical(matrix.measure), canonical(in_full)):
                return matrix
        raise UsageError(f"no scores of {which!r}{did_you_mean(which, self.measures)}")

    def __contains__(self, which: object) -> bool:
        names = {canonical(name) for name in self.measures}
        return canonical(which) in names if isinstance(which, str) else which in self.matrices

    def __repr__(self) -> str:
        return f"Scores({', '.join(self.measures)}: {len(self.runs)} runs × {len(self.topics)} topics)"

    def select(self, *, runs: Sequence[str | int] | None = None, topics: Sequence[str | int] | None = None) -> Scores:
        """Only these runs and topics, in this order, of every measure."""
        return replace(self, matrices=tuple(m.select(runs=runs, topics=topics) for m in self.matrices))

    def averages(self) -> list[list[float]]:
        """For each measure the score of every run over its topics: their mean, or what the measure's aggregate is."""
        return [matrix.averages().tolist() for matrix in self.matrices]

    def table(self) -> Table:
        """One row per run, best first on the first measure; one column per measure."""
        columns = self.averages()
        order = np.argsort(-np.array(columns[0]), kind="stable").tolist() if columns else []
        rows = [(self.runs[i], *(column[i] for column in columns)) for i in order]
        formats = {"run": ""}
        for matrix in self.matrices:
            counts = matrix.aggregate == "sum" and bool((matrix.values == np.rint(matrix.values)).all())
            formats[matrix.measure] = ".0f" if counts else ".4f"
        notes = [f"{len(self.topics)} topics; {matrix.signature}" for matrix in self.matrices]
        return Table.of(formats, rows, notes=["", *notes, *self.remarks, *lost_grades(self.matrices)])

    def per_topic(self) -> Table:
        """One row per run and topic, one column per measure."""
        rows = [
            (run, topic, *(matrix.values[i, j] for matrix in self.matrices))
            for i, run in enumerate(self.runs)
            for j, topic in enumerate(self.topics)
        ]
        return Table.of({"run": "", "topic": "", **dict.fromkeys(self.measures, ".4f")}, rows)

    def to_dict(self) -> dict[str, dict[str, dict[str, float]]]:
        """{measure: {run: {topic: score}}}."""
        return {matrix.measure: matrix.to_dict() for matrix in self.matrices}

    def _frame_columns(self) -> dict[str, list[Any]]:
        """One row per run, topic and measure, as score files have them."""
        runs = [run for run in self.runs for _ in self.topics]
        count = len(self.matrices)
        return {
            "run": runs * count,
            "topic": list(self.topics) * len(self.runs) * count,
            "measure": [matrix.measure for matrix in self.matrices for _ in runs],
            "score": [score for matrix in self.matrices for score in matrix.values.ravel().tolist()],
            "signature": [matrix.signature for matrix in self.matrices for _ in runs],
        }

    def figure(self, **options: Any) -> Figure:
        """The picture of the scores of one measure; those of several are an error that says how to choose."""
        if len(self.matrices) != 1:
            names = ", ".join(self.measures)
            example = f"scores[{self.measures[0]!r}].figure()" if self.measures else "scores['AP'].figure()"
            raise UsageError(f"a figure shows one measure, and there are {len(self)} ({names}); choose one: {example}")
        return self.matrices[0].figure(**options)

    def record(self) -> dict[str, Any]:
        """The summary as plain data, with the signature of every measure and the number of topics."""
        signatures = {matrix.measure: matrix.signature for matrix in self.matrices}
        aggregates = dict(zip(self.measures, self.aggregates, strict=True))
        return {**super().record(), "signatures": signatures, "aggregates": aggregates, "n": len(self.topics)}


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


def joined(matrices: Sequence[ScoreMatrix], *, force: str | None = None) -> list[ScoreMatrix]:
    """One matrix per measure, with the runs of all; those of a measure must have the same topics and policy.

    force: the measure that a person says all of them are; one matrix of that name is the result.

    >>> parts = [ScoreMatrix.of([[0.1]], runs=[run], measure="AP") for run in ("a", "b")]
    >>> joined(parts)
    [ScoreMatrix('AP', 2 runs × 1 topic)]
    """
    groups: list[list[ScoreMatrix]] = []
    for matrix in matrices:
        if force is not None:
            matrix = matrix.renamed(force)
        quantity = (matrix.measure, matrix.signature)
        group = next((g for g in groups if same_measure((g[0].measure, g[0].signature), quantity)), None)
        if group is None:
            groups.append([matrix])
        else:
            group.append(matrix)
    return [_stacked(group, force) for group in groups]


def _stacked(parts: Sequence[ScoreMatrix], force: str | None) -> ScoreMatrix:
    """The runs of all parts, on the topics that all must have."""
    head, *others = parts
    if not others:
        return head
    for i, part in enumerate(parts):
        for earlier in parts[:i]:
            same_scores(earlier, part, force=force)
        odd = [] if part.topics == head.topics else sorted(set(head.topics) ^ set(part.topics))
        if odd:
            what = f"topic {odd[0]!r} is in one file only ({len(odd)} such topics)"
            raise DataError(f"{head.measure}: {what}; compare runs on different topics with `assay compare sets`")
    runs = [run for part in parts for run in part.runs]
    in_order = [part if part.topics == head.topics else part.select(topics=head.topics) for part in parts]
    values = np.concatenate([part.values for part in in_order])
    # what is said of all of them must hold for each: one of unknown policy makes the policy of all unknown
    one_policy = len({policy_of(part.signature) for part in parts}) == 1
    forced = dict.fromkeys(part.signature.partition("|forced:")[2] for part in parts)
    signature = head.signature if one_policy else signature_of_name(head.measure, head.aggregate)
    if len(forced) > 1:  # taken for one measure because a person says so: the signature keeps what they were
        signature = f"{head.measure}|forced:{'+'.join(name or head.measure for name in forced)}"
    return replace(head, runs=tuple(runs), values=sealed(values), signature=signature)


def _name(value: object, what: str) -> str:
    """A name of a run or topic: a text, or a whole number as its digits."""
    if isinstance(value, str | int | np.integer) and not isinstance(value, bool):
        return str(value)
    raise DataError(f"{what} {value!r}: names are texts or whole numbers, not {type(value).__name__}")
