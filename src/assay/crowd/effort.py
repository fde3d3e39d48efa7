"""What did judging cost the workers, and what if they had judged less? Running out of values, time, fewer labels.

Roitero 2020, §9.4–9.6. Rows of a task are taken in the order of the position column, or of the file without one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from assay.agreement.across_scales import ordered_pairs, reference_of
from assay.agreement.scales import Scale
from assay.core.arrays import Floats, Ints
from assay.core.engine import Progress, generators, silent
from assay.core.errors import DataError, UsageError
from assay.core.results import Result
from assay.core.tables import Table
from assay.crowd.units import in_task_order, summable, task_of
from assay.data import Labels, Qrels


@dataclass(frozen=True, eq=False)
class RunOut(Result):
    """How often tasks hold exactly k labels at the low and at the high end, and what may have been lost by that."""

    tasks: int
    labels: int
    low: Ints
    high: Ints
    confirmed: int
    gaps: int
    gaps_near_zero: int

    @property
    def potential(self) -> tuple[int, int]:
        """Labels at an end after a first one at the same end of the task: Σ (k−1)·tasks with k, low and high."""
        return tuple(int((np.maximum(np.arange(len(c)) - 1, 0) * c).sum()) for c in (self.low, self.high))  # type: ignore[return-value]

    @property
    def chances(self) -> int:
        """Labels that could have been such a case: all but the first of each task."""
        return self.labels - self.tasks

    def table(self) -> Table:
        """One row per end, in the shape of Table 9.1 of Roitero 2020."""
        rows = [(name, *c.tolist(), p) for name, c, p in zip(("low", "high"), (self.low, self.high), self.potential)]
        columns = {"end": ""} | {f"k={k}": "d" for k in range(len(self.low))} | {"cases": "d"}
        both = sum(self.potential)
        notes = (
            f"{both} of {self.chances} labels ({100 * both / max(1, self.chances):.1f} %) repeat an end within their "
            f"task; {self.confirmed} of these docs lie beyond the first by the mean of all workers.",
            f"{self.gaps} labels had no value left between two neighbours used before, {self.gaps_near_zero} of them "
            "in the lowest tenth of the scale.",
        )
        return Table.of(columns, rows, caption="Tasks with exactly k labels at an end of the scale", notes=notes)


def run_out(labels: Labels, *, scale: Scale) -> RunOut:
    """How often workers may have run out of values: at the ends of the scale, and between neighbouring levels.

    A case is confirmed if by the mean of all workers' labels the doc lies strictly beyond the first doc of the task
    that got the same end. A gap: a label x after both x and a neighbour x ± 1 in the same task. Roitero 2020, §9.5.
    """
    if not np.isfinite(scale.high):
        raise UsageError(f"scale {scale.name} has no ends; workers cannot run out of values")
    order, task, place = in_task_order(summable(labels))
    x = labels.label[order]
    tasks, longest = int(task.max()) + 1, int(place.max()) + 1
    item, _ = labels.items()
    mean = (np.bincount(item, labels.label) / np.bincount(item))[item][order]
    counts, confirmed = [], 0
    for end, sign in ((scale.low, -1.0), (scale.high, 1.0)):
        at = x == end
        counts.append(np.bincount(np.bincount(task, at, tasks).astype(np.int64), minlength=longest + 1))
        rows = np.flatnonzero(at)
        of_task, first = np.unique(task[rows], return_index=True)
        earliest = np.zeros(tasks)
        earliest[of_task] = mean[rows[first]]
        confirmed += int((sign * (mean[rows] - earliest[task[rows]]) > 1e-9).sum())
    gap = _gaps(x, task, place, tasks, longest)
    near = int((x[gap] <= scale.low + (scale.high - scale.low) / 10).sum())
    return RunOut(tasks, len(labels), counts[0], counts[1], confirmed, int(gap.sum()), near)


def _gaps(x: Floats, task: Ints, place: Ints, tasks: int, longest: int) -> npt.NDArray[np.bool_]:
    """Labels x that come after x and after x − 1 or x + 1 in their task."""
    grid = np.full((tasks, longest), np.nan)
    grid[task, place] = x
    found = np.zeros((tasks, longest), dtype=bool)
    for p in range(2, longest):
        before, own = grid[:, :p], grid[:, p : p + 1]
        same = (before == own).any(axis=1)
        found[:, p] = same & (np.abs(before - own) == 1).any(axis=1)
    return found[task, place]


@dataclass(frozen=True, eq=False)
class TimeByPosition(Result):
    """Seconds by position in the task and by how many tasks the worker had done before."""

    positions: tuple[tuple[object, ...], ...]
    tasks: tuple[tuple[object, ...], ...]
    unknown: int

    def table(self) -> Table:
        """One row per position; `first` columns look at each worker's first task only."""
        formats = {
            "position": "d", "labels": "d", "mean": ".1f", "lower quartile": ".1f", "median": ".1f",
            "upper quartile": ".1f", "cumulated mean": ".1f", "first: mean": ".1f", "first: cumulated": ".1f",
        }  # fmt: skip
        notes = (f"{self.unknown} labels without time are left out.",) if self.unknown else ()
        return Table.of(formats, self.positions, caption="Seconds by position in the task", notes=notes)

    def tables(self) -> list[Table]:
        """By position, and by experience."""
        return [self.table(), self.learning_table()]

    def learning_table(self) -> Table:
        """One row per number of tasks done before."""
        formats = {"tasks before": "d", "labels": "d", "mean": ".1f", "median": ".1f"}
        return Table.of(formats, self.tasks, caption="Seconds by experience")


def time_by_position(labels: Labels) -> TimeByPosition:
    """Time of a label by its position in the task, and by the worker's experience. Roitero 2020, §9.6."""
    if labels.seconds is None:
        raise DataError(f"{labels.name}: there is no column of seconds")
    order, _, place = in_task_order(summable(labels))
    seconds, done = labels.seconds[order], _tasks_before(labels)[order]
    known = np.isfinite(seconds)
    rows, total, first_total = [], 0.0, 0.0
    for p in range(int(place.max(initial=-1)) + 1):
        here, new = seconds[(place == p) & known], seconds[(place == p) & known & (done == 0)]
        if not len(here):
            continue
        total += float(here.mean())
        first = float(new.mean()) if len(new) else None
        first_total += first or 0.0
        rows.append((p + 1, len(here), here.mean(), *np.percentile(here, [25, 50, 75]), total, first, first_total))
    learning = [
        (int(d), int(m.sum()), seconds[m].mean(), np.median(seconds[m]))
        for d in np.unique(done)
        if (m := (done == d) & known).any()
    ]
    return TimeByPosition(tuple(rows), tuple(learning), int((~known).sum()))


def _tasks_before(labels: Labels) -> Ints:
    """For each row, how many tasks its worker had begun before this one, in the order of the file."""
    task = task_of(labels)
    _, first = np.unique(task, return_index=True)
    order = np.lexsort((first, labels.worker[first]))
    worker = labels.worker[first][order]
    begin = np.flatnonzero(np.concatenate([[True], worker[1:] != worker[:-1]]))
    size = np.diff(np.append(begin, len(worker)))
    before = np.empty(len(first), dtype=np.int64)
    before[order] = np.arange(len(worker)) - np.repeat(begin, size)
    return before[task]


@dataclass(frozen=True, eq=False)
class Fewer(Result):
    """Pairwise agreement with a reference when less is judged: for each amount the values of all tasks or topics."""

    what: str
    amounts: tuple[int, ...]
    agreement: tuple[Floats, ...]
    notes: tuple[str, ...]

    def table(self) -> Table:
        """Mean and quartiles of the agreement for each amount."""
        rows = [
            (n, len(a), a.mean(), *np.percentile(a, [25, 50, 75]))
            for n, a in zip(self.amounts, self.agreement)
            if len(a)
        ]
        formats = {self.what: "d", "n": "d", "mean": ".4f", "lower quartile": ".4f", "median": ".4f"}
        caption = f"Pairwise agreement with the reference by {self.what}"
        return Table.of(formats | {"upper quartile": ".4f"}, rows, caption=caption, notes=self.notes)

    def above(self, amount: int, levels: Floats) -> Floats:
        """Complementary cumulative distribution: share of tasks or topics with agreement above each level."""
        values = self.agreement[self.amounts.index(amount)]
        return (values[None, :] > levels[:, None]).mean(axis=1)


def fewer_docs(labels: Labels, reference: Qrels, *, untied: bool = False) -> Fewer:
    """Agreement of each task with the reference when only its first 2, 3, … docs had been judged. §9.4.1."""
    order, task, place = in_task_order(summable(labels))
    grade, x = reference_of(labels, reference)[order], labels.label[order]
    amounts = tuple(range(2, int(place.max()) + 2))
    found = []
    for n in amounts:
        kept = np.flatnonzero((place < n) & ~np.isnan(grade))
        counts = ordered_pairs(task[kept], grade[kept], x[kept])
        agreement = counts.agreement(untied=untied)
        found.append(agreement[np.isfinite(agreement)])
    kind = "pairs whose reference differs" if untied else "all pairs"
    note = f"Share of {kind}, one value per task."
    note += " Without a column of positions the first docs are those of the file." if labels.position is None else ""
    return Fewer("docs per task", amounts, tuple(found), (note,))


def fewer_judgments(
    labels: Labels,
    reference: Qrels,
    *,
    most: int = 10,
    repeats: int = 100,
    untied: bool = False,
    seed: int = 0,
    progress: Progress = silent,
) -> Fewer:
    """Agreement of each topic's mean labels with the reference when 1 … `most` labels per doc are drawn. §9.4.2.

    Each repetition draws one order of every doc's labels and takes its first n: amounts are compared on the same draws;
    a doc with fewer labels gives all it has. Values are means over the repetitions.
    """
    if most < 1 or repeats < 1:
        raise UsageError(f"{most} labels per doc, {repeats} repetitions; take at least one of each")
    item, pairs = summable(labels).items()
    begin = np.concatenate([[0], np.cumsum(np.bincount(item))[:-1]])
    first = np.unique(item, return_index=True)[1]
    grade, topic = reference_of(labels, reference)[first], labels.topic[first]
    kept = np.flatnonzero(~np.isnan(grade))
    sums = np.zeros((most, len(labels.topics)))
    for done, rng in enumerate(generators(seed, repeats), 1):
        order = np.lexsort((rng.random(len(labels)), item))
        place = np.arange(len(order)) - begin[item[order]]
        for n in range(1, most + 1):
            rows = order[place < n]
            mean = np.bincount(item[rows], labels.label[rows], len(pairs)) / np.bincount(
                item[rows], minlength=len(pairs)
            )
            found = ordered_pairs(topic[kept], grade[kept], np.round(mean[kept], 9)).agreement(untied=untied)
            sums[n - 1, : len(found)] += np.nan_to_num(found, nan=np.inf)
        progress(done, repeats)
    means = [row[np.isfinite(row) & np.isin(np.arange(len(row)), topic[kept])] / repeats for row in sums]
    note = f"{repeats} repetitions, seed {seed}; one value per topic."
    return Fewer("labels per doc", tuple(range(1, most + 1)), tuple(means), (note,))
