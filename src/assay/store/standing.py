"""Where does a run stand, and does a claimed gain add up? A run beside all others of its collection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.core.errors import DataError, UsageError
from assay.core.results import Result
from assay.core.tables import Table
from assay.data import ScoreMatrix
from assay.rankings.counts import settled, tie_groups
from assay.store.stored_runs import StoredRun
from assay.studies.survey import LINES


@dataclass(frozen=True)
class Standing(Result):
    """The place of a run among the runs of its collection."""

    run: str
    measure: str
    mean: float
    rank: int
    of: int
    percentile: float
    """Per cent of the other runs that score lower; ties count half."""
    to_best: float
    """Its mean less that of the best run: 0 or below."""
    best: str

    def table(self) -> Table:
        """One row."""
        columns = {"run": "", "mean": ".4f", "rank": "d", "of": "d", "percentile": ".1f", "to the best": "+.4f"}
        columns["best"] = ""
        row = (self.run, self.mean, self.rank, self.of, self.percentile, self.to_best, self.best)
        return Table.of(columns, [row], caption=f"{self.measure}: where the run stands")


def standing(matrix: ScoreMatrix, run: str) -> Standing:
    """Rank, percentile and distance to the best of one run of a score matrix.

    >>> scores = ScoreMatrix.of([[0.2], [0.4], [0.3]], runs=["a", "b", "c"], measure="AP")
    >>> found = standing(scores, "c")
    >>> found.rank, found.percentile, round(found.to_best, 3), found.best
    (2, 50.0, -0.1, 'b')
    """
    mean = float(matrix.of_run(run).mean())  # says which runs there are where it is not among them
    means = settled(matrix.means())
    at = matrix.runs.index(run)
    better, same = tie_groups(-means)
    others = len(means) - 1
    lower = others - int(better[at]) - (int(same[at]) - 1)
    share = (lower + (int(same[at]) - 1) / 2) / others if others else 1.0
    best = int(np.argmax(means))
    return Standing(
        run=run,
        measure=matrix.measure,
        mean=mean,
        rank=int(better[at]) + 1,
        of=len(means),
        percentile=100 * share,
        to_best=mean - float(matrix.means()[best]),
        best=matrix.runs[best],
    )


def context_lines(matrix: ScoreMatrix, runs: Sequence[StoredRun]) -> dict[str, float]:
    """The scores that a result is seen beside: best run, third quartile and median, and the best automatic run.

    runs: those of the rows of the matrix, in their order. Webber 2010, §8.2.2.

    >>> scores = ScoreMatrix.of([[0.25], [0.5], [0.75]], runs=["a", "b", "c"])
    >>> runs = [StoredRun(i, str(i), "c", tag, manual=manual) for i, tag, manual in
    ...         ((1, "a", False), (2, "b", False), (3, "c", True))]
    >>> context_lines(scores, runs)
    {'best run': 0.75, 'third quartile': 0.625, 'median': 0.5, 'best automatic run': 0.5}
    """
    if len(runs) != len(matrix.runs):
        raise UsageError(f"{len(runs)} runs for a matrix of {len(matrix.runs)}; give those of its rows")
    means = matrix.means()
    lines = {name: float(np.quantile(means, share)) for name, share in LINES}
    automatic = [mean for mean, run in zip(means.tolist(), runs, strict=True) if run.manual is False]
    if automatic:
        lines["best automatic run"] = max(automatic)
    return lines


@dataclass(frozen=True)
class AddsUp(Result):
    """How probable it is that a published score is above the best stored run, on topics like these."""

    claimed: float
    best: str
    mean: float
    probability: float
    sd: float
    topics: int

    def table(self) -> Table:
        """One row."""
        columns = {"claimed": ".4f", "best run": "", "its mean": ".4f", "gain": "+.4f", "P(gain > 0)": ".3f"}
        row = (self.claimed, self.best, self.mean, self.claimed - self.mean, self.probability)
        note = (
            f"{self.topics} topics; the sd of a topic's difference is taken to be {self.sd:.4f}, the median of those "
            "between the best stored run and the better half of the others"
        )
        keys = {"P(gain > 0)": "probability", "best run": "best", "its mean": "mean"}
        return Table.of(columns, [row], caption="Does the claimed gain add up?", notes=[note], keys=keys)


def adds_up(matrix: ScoreMatrix, claimed: float) -> AddsUp:
    """The probability that a claimed mean score is really above the best stored run.

    Nobody has the topics of a paper: the sd of a difference per topic is taken from the stored runs, the median over
    the better half of them against the best; with n topics P = F((claimed − best) / (sd / √n)), F Student's with n − 1
    degrees of freedom. Armstrong, Moffat, Webber & Zobel 2009 ask whether improvements add up.

    >>> scores = ScoreMatrix.of([[0.1, 0.2, 0.3], [0.2, 0.2, 0.5], [0.3, 0.1, 0.6]], runs=["a", "b", "c"])
    >>> round(adds_up(scores, 0.4).probability, 3), round(adds_up(scores, 1 / 3).probability, 3)
    (0.789, 0.5)
    """
    from scipy.special import stdtr

    runs, topics = matrix.shape
    if runs < 2 or topics < 2:
        raise DataError(f"{matrix.measure}: {runs} runs and {topics} topics; two of each are needed at least")
    by_mean = matrix.by_mean()
    better_half = by_mean.values[1 : 1 + max(1, runs // 2)]
    differences = by_mean.values[0] - better_half
    sd = float(np.median(differences.std(axis=1, ddof=1)))
    best = float(by_mean.means()[0])
    gain = claimed - best
    if sd == 0:
        probability = float((np.sign(gain) + 1) / 2)
    else:
        probability = float(stdtr(topics - 1, gain / (sd / np.sqrt(topics))))
    return AddsUp(claimed, by_mean.runs[0], best, probability, sd, topics)


@dataclass(frozen=True, eq=False)
class AcrossCollections(Result):
    """Standardized means of systems on several collections; None where a system has no run there."""

    systems: tuple[str, ...]
    collections: tuple[str, ...]
    means: tuple[tuple[float | None, ...], ...]
    signature: str

    def table(self) -> Table:
        """One row per system, those on most collections first, then by mean over the collections that all have."""
        rows: list[tuple[Any, ...]] = []
        for system, means in zip(self.systems, self.means, strict=True):
            known = [mean for mean in means if mean is not None]
            overall = float(np.mean(known)) if len(known) == len(means) else None
            rows.append((system, overall, len(means) - len(known), *means))
        rows.sort(key=lambda row: (row[2], -(row[1] or 0.0), row[0]))
        columns = {"system": "", "mean": ".4f", "missing": "d"}
        columns |= {f"on {name}": ".4f" for name in self.collections}
        notes = ["mean: only of systems that have a run on every collection; missing: collections without one"]
        return Table.of(columns, rows, caption="Systems across collections", notes=[*notes, self.signature])


def across(
    matrices: Mapping[str, ScoreMatrix], systems: Mapping[str, Mapping[str, str]], how: str
) -> AcrossCollections:
    """Means of systems on collections. systems: {collection: {name of the run in the matrix: its system}}.

    Of several runs of a system on one collection the best counts.

    >>> one = ScoreMatrix.of([[0.2], [0.4]], runs=["a1", "b1"])
    >>> two = ScoreMatrix.of([[0.6]], runs=["a2"])
    >>> found = across({"x": one, "y": two}, {"x": {"a1": "a", "b1": "b"}, "y": {"a2": "a"}}, "raw")
    >>> found.systems, found.means
    (('a', 'b'), ((0.2, 0.6), (0.4, None)))
    """
    best: dict[tuple[str, str], float] = {}
    for collection, matrix in matrices.items():
        for run, mean in zip(matrix.runs, matrix.means().tolist(), strict=True):
            key = (systems[collection][run], collection)
            best[key] = max(best.get(key, mean), mean)
    names = tuple(sorted({system for system, _ in best}))
    means = tuple(tuple(best.get((system, collection)) for collection in matrices) for system in names)
    return AcrossCollections(names, tuple(matrices), means, how)
