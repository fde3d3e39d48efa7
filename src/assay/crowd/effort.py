"""What did judging cost the workers, and what if they had judged less? Running out of values, time, fewer labels.

Roitero 2020, §9.4–9.6. Rows of a task are taken in the order of the position column, or of the file without one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.agreement.across_scales import ordered_pairs, reference_of
from assay.agreement.scales import Scale
from assay.core.arrays import Bools, Floats, Ints
from assay.core.engine import Progress, generators, silent
from assay.core.errors import DataError, UsageError
from assay.core.results import Result
from assay.core.tables import Table
from assay.crowd.units import in_task_order, summable, task_of
from assay.data import Labels, Qrels

QUARTILES = (25, 50, 75)


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
        return _repeats(self.low), _repeats(self.high)

    @property
    def chances(self) -> int:
        """Labels that could have been such a case: all but the first of each task."""
        return self.labels - self.tasks

    def table(self) -> Table:
        """One row per end, in the shape of Table 9.1 of Roitero 2020."""
        by_count = {f"k={k}": "d" for k in range(len(self.low))}
        columns = {"end": "", **by_count, "cases": "d"}
        cases_low, cases_high = self.potential
        rows = [
            ("low", *self.low.tolist(), cases_low),
            ("high", *self.high.tolist(), cases_high),
        ]
        both = cases_low + cases_high
        percent = 100 * both / max(1, self.chances)
        notes = (
            f"{both} of {self.chances} labels ({percent:.1f} %) repeat an end within their "
            f"task; {self.confirmed} of these docs lie beyond the first by the mean of all workers.",
            f"{self.gaps} labels had no value left between two neighbours used before, {self.gaps_near_zero} of them "
            "in the lowest tenth of the scale.",
        )
        return Table.of(columns, rows, caption="Tasks with exactly k labels at an end of the scale", notes=notes)


def _repeats(tasks_with: Ints) -> int:
    """Σ (k−1)·tasks with k labels, over k of at least 1."""
    repeats = np.maximum(np.arange(len(tasks_with)) - 1, 0)
    return int((repeats * tasks_with).sum())


def run_out(labels: Labels, *, scale: Scale) -> RunOut:
    """How often workers may have run out of values: at the ends of the scale, and between neighbouring levels.

    A case is confirmed if by the mean of all workers' labels the doc lies strictly beyond the first doc of the task
    that got the same end. A gap: a label x after both x and a neighbour x ± 1 in the same task. Roitero 2020, §9.5.
    """
    if not np.isfinite(scale.high):
        raise UsageError(f"scale {scale.name} has no ends; workers cannot run out of values")
    order, task, place = in_task_order(summable(labels))
    label = labels.label[order]
    tasks = int(task.max()) + 1
    longest = int(place.max()) + 1
    mean = _mean_of_doc(labels)[order]

    # By the mean a doc lies beyond another at the low end if its mean is lower, hence the sign.
    low_counts, low_confirmed = _at_end(label == scale.low, task, -mean, tasks, longest)
    high_counts, high_confirmed = _at_end(label == scale.high, task, mean, tasks, longest)

    gap = _gaps(label, task, place, tasks, longest)
    lowest_tenth = scale.low + (scale.high - scale.low) / 10
    return RunOut(
        tasks=tasks,
        labels=len(labels),
        low=low_counts,
        high=high_counts,
        confirmed=low_confirmed + high_confirmed,
        gaps=int(gap.sum()),
        gaps_near_zero=int((label[gap] <= lowest_tenth).sum()),
    )


def _mean_of_doc(labels: Labels) -> Floats:
    """For each label the mean of all labels of its doc."""
    item, _ = labels.items()
    means = np.bincount(item, labels.label) / np.bincount(item)
    return means[item]


def _at_end(at: Bools, task: Ints, beyond: Floats, tasks: int, longest: int) -> tuple[Ints, int]:
    """How many tasks have k = 0, 1, … labels at an end, and how many of those labels are confirmed cases.

    beyond: how far out the doc of each label lies by the mean of all workers, greater towards this end.
    """
    labels_at_end = np.bincount(task, at, tasks).astype(np.int64)
    tasks_with = np.bincount(labels_at_end, minlength=longest + 1)

    rows = np.flatnonzero(at)
    tasks_there, first = np.unique(task[rows], return_index=True)
    beyond_of_first = np.zeros(tasks)
    beyond_of_first[tasks_there] = beyond[rows[first]]
    further = beyond[rows] - beyond_of_first[task[rows]]
    return tasks_with, int((further > 1e-9).sum())


def _gaps(label: Floats, task: Ints, place: Ints, tasks: int, longest: int) -> Bools:
    """Labels x that come after x and after x − 1 or x + 1 in their task."""
    grid = np.full((tasks, longest), np.nan)
    grid[task, place] = label
    is_gap = np.zeros((tasks, longest), dtype=bool)
    for p in range(2, longest):
        before = grid[:, :p]
        own = grid[:, p : p + 1]
        had_same = (before == own).any(axis=1)
        had_neighbour = (np.abs(before - own) == 1).any(axis=1)
        is_gap[:, p] = had_same & had_neighbour
    return is_gap[task, place]


@dataclass(frozen=True, eq=False)
class TimeByPosition(Result):
    """Seconds by position in the task and by how many tasks the worker had done before."""

    positions: tuple[tuple[object, ...], ...]
    tasks: tuple[tuple[object, ...], ...]
    unknown: int

    def table(self) -> Table:
        """One row per position; `first` columns look at each worker's first task only."""
        formats = {
            "position": "d",
            "labels": "d",
            "mean": ".1f",
            "lower quartile": ".1f",
            "median": ".1f",
            "upper quartile": ".1f",
            "cumulated mean": ".1f",
            "first: mean": ".1f",
            "first: cumulated": ".1f",
        }
        notes = []
        if self.unknown:
            notes.append(f"{self.unknown} labels without time are left out.")
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
    seconds = labels.seconds[order]
    tasks_before = _tasks_before(labels)[order]
    known = np.isfinite(seconds)
    by_position = _by_position(seconds[known], place[known], tasks_before[known] == 0)
    by_experience = _by_experience(seconds[known], tasks_before[known])
    unknown = int((~known).sum())
    return TimeByPosition(tuple(by_position), tuple(by_experience), unknown)


def _by_position(seconds: Floats, place: Ints, in_first_task: Bools) -> list[tuple[object, ...]]:
    """The rows of the table by position: of all tasks, and of each worker's first task."""
    rows: list[tuple[object, ...]] = []
    total = 0.0
    first_total = 0.0
    for position in np.unique(place).tolist():
        at_position = place == position
        here = seconds[at_position]
        total += float(here.mean())

        of_first_tasks = seconds[at_position & in_first_task]
        first_mean = None
        if len(of_first_tasks):
            first_mean = float(of_first_tasks.mean())
            first_total += first_mean

        row = (
            position + 1,
            len(here),
            here.mean(),
            *np.percentile(here, QUARTILES),
            total,
            first_mean,
            first_total,
        )
        rows.append(row)
    return rows


def _by_experience(seconds: Floats, tasks_before: Ints) -> list[tuple[object, ...]]:
    """The rows of the table by the number of tasks that the worker had done before."""
    rows: list[tuple[object, ...]] = []
    for done in np.unique(tasks_before).tolist():
        own = seconds[tasks_before == done]
        rows.append((done, len(own), own.mean(), np.median(own)))
    return rows


def _tasks_before(labels: Labels) -> Ints:
    """For each row, how many tasks its worker had begun before this one, in the order of the file."""
    task = task_of(labels)
    _, first = np.unique(task, return_index=True)
    worker_of_task = labels.worker[first]
    # Tasks by worker, and by their first row within a worker: the place within the worker's block counts them.
    order = np.lexsort((first, worker_of_task))
    worker = worker_of_task[order]
    is_new = np.concatenate([[True], worker[1:] != worker[:-1]])
    begin = np.flatnonzero(is_new)
    size = np.diff(np.append(begin, len(worker)))
    place = np.arange(len(worker)) - np.repeat(begin, size)
    before = np.empty(len(first), dtype=np.int64)
    before[order] = place
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
        formats = {
            self.what: "d",
            "n": "d",
            "mean": ".4f",
            "lower quartile": ".4f",
            "median": ".4f",
            "upper quartile": ".4f",
        }
        rows = []
        for amount, values in zip(self.amounts, self.agreement):
            if len(values):
                quartiles = np.percentile(values, QUARTILES)
                rows.append((amount, len(values), values.mean(), *quartiles))
        caption = f"Pairwise agreement with the reference by {self.what}"
        return Table.of(formats, rows, caption=caption, notes=self.notes)

    def above(self, amount: int, levels: Floats) -> Floats:
        """Complementary cumulative distribution: share of tasks or topics with agreement above each level."""
        values = self.agreement[self.amounts.index(amount)]
        is_above = values[None, :] > levels[:, None]
        return is_above.mean(axis=1)


def fewer_docs(labels: Labels, reference: Qrels, *, untied: bool = False) -> Fewer:
    """Agreement of each task with the reference when only its first 2, 3, … docs had been judged. §9.4.1."""
    order, task, place = in_task_order(summable(labels))
    grade = reference_of(labels, reference)[order]
    label = labels.label[order]
    graded = ~np.isnan(grade)
    amounts = tuple(range(2, int(place.max()) + 2))
    agreement = []
    for amount in amounts:
        rows = np.flatnonzero((place < amount) & graded)
        counts = ordered_pairs(
            task[rows],
            grade[rows],
            label[rows],
        )
        by_task = counts.agreement(untied=untied)
        agreement.append(by_task[np.isfinite(by_task)])

    kind = "pairs whose reference differs" if untied else "all pairs"
    note = f"Share of {kind}, one value per task."
    if labels.position is None:
        note += " Without a column of positions the first docs are those of the file."
    return Fewer("docs per task", amounts, tuple(agreement), (note,))


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
    item, _ = summable(labels).items()
    _, first_label = np.unique(item, return_index=True)
    topic = labels.topic[first_label]
    grade = reference_of(labels, reference)[first_label]
    graded = np.flatnonzero(~np.isnan(grade))

    sums = np.zeros((most, len(labels.topics)))
    for done, rng in enumerate(generators(seed, repeats), 1):
        order, place = _shuffled(item, rng)
        for amount in range(1, most + 1):
            rows = order[place < amount]
            mean = _mean_labels(item[rows], labels.label[rows], len(grade))
            # Rounded, so that means of the same labels in another order tie.
            rounded = np.round(mean[graded], 9)
            counts = ordered_pairs(topic[graded], grade[graded], rounded)
            by_topic = counts.agreement(untied=untied)
            # A topic without a value in one repetition has none at all: infinity stays infinite in the sum.
            sums[amount - 1, : len(by_topic)] += np.nan_to_num(by_topic, nan=np.inf)
        progress(done, repeats)

    has_graded_docs = np.isin(np.arange(len(labels.topics)), topic[graded])
    means = []
    for of_amount in sums:
        defined = np.isfinite(of_amount) & has_graded_docs
        means.append(of_amount[defined] / repeats)
    note = f"{repeats} repetitions, seed {seed}; one value per topic."
    return Fewer("labels per doc", tuple(range(1, most + 1)), tuple(means), (note,))


def _shuffled(item: Ints, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """The labels doc by doc, those of a doc in a random order, and the place of each among those of its doc."""
    order = np.lexsort((rng.random(len(item)), item))
    size = np.bincount(item)
    begin = np.cumsum(size) - size
    place = np.arange(len(item)) - begin[item[order]]
    return order, place


def _mean_labels(item: Ints, label: Floats, items: int) -> Floats:
    """The mean label of each item."""
    total = np.bincount(item, label, items)
    count = np.bincount(item, minlength=items)
    return total / count
