"""ScoreMatrix: one measure on runs × topics. Everything after the measures works on it.

Where the flow stands: grades → **scores** → result. Score files are read and written in `scorefiles.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Floats
from assay.core.errors import DataError, UsageError
from assay.core.registry import did_you_mean
from assay.core.tables import Table


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
    measure: str = "score"
    signature: str = ""

    @classmethod
    def of(
        cls,
        values: npt.ArrayLike,
        *,
        runs: Iterable[str] | None = None,
        topics: Iterable[str] | None = None,
        measure: str = "score",
        signature: str = "",
    ) -> ScoreMatrix:
        """A matrix from anything array-like, checked; names default to run1… and 1…."""
        array = np.array(values, dtype=np.float64)
        if array.ndim != 2:
            raise DataError(f"{measure}: scores need two dimensions, runs × topics, not {array.ndim}")
        row_names = tuple(f"run{i + 1}" for i in range(array.shape[0])) if runs is None else tuple(runs)
        column_names = tuple(str(i + 1) for i in range(array.shape[1])) if topics is None else tuple(topics)
        return cls(row_names, column_names, array, measure, signature or measure)

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
        self.values.setflags(write=False)

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

    def select(self, *, runs: Sequence[str] | None = None, topics: Sequence[str] | None = None) -> ScoreMatrix:
        """Only these runs and topics, in this order."""
        rows = range(len(self.runs)) if runs is None else [self._row(r) for r in runs]
        places = {t: j for j, t in enumerate(self.topics)}
        for t in topics or ():
            if t not in places:
                raise UsageError(f"{self.measure}: no topic {t!r}{did_you_mean(t, self.topics[:20])}")
        columns = range(len(self.topics)) if topics is None else [places[t] for t in topics]
        return replace(
            self,
            runs=tuple(self.runs[i] for i in rows),
            topics=tuple(self.topics[j] for j in columns),
            values=self.values[np.ix_(list(rows), list(columns))],
        )

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

    def _row(self, run: str) -> int:
        try:
            return self.runs.index(run)
        except ValueError:
            raise UsageError(f"no run {run!r}{did_you_mean(run, self.runs)}") from None
