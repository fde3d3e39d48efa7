"""How many docs are relevant, if only a machine looked at most of them? Rogan–Gladen's correction, by topics.

A judge that calls a share Q relevant, finds s of the relevant docs and wrongly calls f of the others relevant leaves
p = (Q − f)/(s − f). Docs of one topic are alike, so the sample is one of topics: each moves s, f and Q by its influence
value, and the interval is t with Satterthwaite's degrees of freedom. Rogan & Gladen 1978; Lang & Reiczigel 2014.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Bools, Floats, Ints
from assay.core.errors import DataError
from assay.core.results import Result
from assay.core.tables import Table
from assay.data.topic_rows import counted
from assay.io.column_names import Named
from assay.judges.label_cuts import cut_of
from assay.judges.labelled_pairs import Labelled, Scales, labelled
from assay.stats.bounded import shows_little
from assay.stats.clustered import share_of, t_quantile

LEAST_POWER = 0.05
"""A judge with s − f below this, which calls relevant docs relevant hardly more often than others, says nothing."""
USELESS = 0.8
"""An interval of at least this width is called useless."""
T, BOUNDS = "t over influence values", "Dirichlet bounds of the three shares"


@dataclass(frozen=True)
class CorrectedShare:
    """A share after the correction, with what it rests on; `why` says why an interval is as it is, or is missing."""

    value: float | None
    low: float | None
    high: float | None
    called: float
    sensitivity: float | None
    false_positives: float | None
    human_error: float
    """√v₁: what comes from the human units."""
    machine_error: float
    """√v₂: what comes from the machine's units."""
    df: float
    method: str
    why: str = ""


@dataclass(frozen=True)
class PrevalenceRow:
    """One judge: its error rates with the topics they rest on, and the share of relevant docs."""

    judge: str
    docs: int
    cut: str
    relevant: int
    nonrelevant: int
    human_topics: int
    machine_topics: int
    share: CorrectedShare


@dataclass(frozen=True)
class Prevalence(Result):
    """The share of relevant docs among those that a machine judged and people did not; `unit` is what was drawn."""

    rows: tuple[PrevalenceRow, ...]
    rel: float
    level: float
    by_docs: bool
    """Whether people's docs were drawn one by one, so that docs are the units and not topics."""

    @property
    def unit(self) -> str:
        """What was drawn."""
        return "doc" if self.by_docs else "topic"

    def table(self) -> Table:
        """One row for each judge."""
        columns = {
            "judge": "", "cut": "", "docs": "d", "called relevant": ".4f", "sensitivity": ".4f", "of": "d",
            "specificity": ".4f", "of nonrelevant": "d", "human topics": "d", "corrected": ".4f", "low": ".4f",
            "high": ".4f",
        }  # fmt: skip
        rows = []
        for row in self.rows:
            share = row.share
            specificity = None if share.false_positives is None else 1 - share.false_positives
            rows.append((
                row.judge, row.cut, row.docs, share.called, share.sensitivity, row.relevant, specificity,
                row.nonrelevant, row.human_topics, share.value, share.low, share.high,
            ))  # fmt: skip
        return Table.of(columns, rows, caption="Share of relevant docs", notes=self._notes())

    def _notes(self) -> list[str]:
        grade = f"share of docs of human grade {self.rel:g} or more among the docs that people did not judge"
        if self.unit == "topic":
            claim = (
                f"{100 * self.level:g} % intervals with topics as units: of the share on topics like these, which "
                "holds for these topics too"
            )
        else:
            claim = f"{100 * self.level:g} % intervals with docs as units, as people's docs were drawn one by one"
        said = [f"{row.judge}: {row.share.why}" for row in self.rows if row.share.why]
        assumed = f"assumes that the {self.unit}s that people judged are drawn from the same ones as the others"
        return [grade, claim, assumed, *said]

    def record(self) -> dict[str, Any]:
        """The rows, with the errors of both kinds and the degrees of freedom."""
        parts = [
            {"judge": row.judge, "human_error": row.share.human_error, "machine_error": row.share.machine_error,
             "df": row.share.df, "method": row.share.method}
            for row in self.rows
        ]  # fmt: skip
        return {**super().record(), "errors": parts}


def prevalence(
    human: Any, machine: Any, *, rel: float = 1, level: float = 0.95, scale: Scales = None, columns: Named = None
) -> Prevalence:
    """The share of relevant docs among those that only a machine judged, for every judge.

    Error rates come from docs that both judged. Units are topics, unless people's docs were drawn one by one: then the
    judgments have the probability of each (`assay.pooling.sample`), docs are the units and weigh 1/probability. Where
    people judged all docs of a judge the share is known, and has no interval.

    >>> human = {str(t): {f"d{i}": int(i < 4 + t % 3) for i in range(10)} for t in range(6)}
    >>> machine = {str(t): {f"d{i}": {"gpt": int(i < 5 + t % 2)} for i in range(10)} for t in range(20)}
    >>> share = prevalence(human, machine).rows[0].share
    >>> round(share.called, 2), round(share.value, 2), share.low < 0.5 < share.high
    (0.55, 0.5, True)
    """
    return prevalence_of(labelled(human, machine, scale=scale, columns=columns), rel=rel, level=level)


def prevalence_of(pairs: Labelled, *, rel: float = 1, level: float = 0.95) -> Prevalence:
    """`prevalence` of pairs that are joined already."""
    by_docs = drawn_by_docs(pairs)
    rows = [_row(pairs, j, rel, level, by_docs) for j in range(len(pairs.judges))]
    return Prevalence(tuple(rows), rel, level, by_docs)


def drawn_by_docs(pairs: Labelled) -> bool:
    """Whether the docs that people judged were drawn one by one: each has a probability, and some below 1."""
    if pairs.probabilities is None:
        return False
    known = pairs.probabilities[pairs.by_people]
    return bool(np.isfinite(known).all() and (known < 1).any())


def _row(pairs: Labelled, j: int, rel: float, level: float, by_docs: bool) -> PrevalenceRow:
    judge = pairs.judges[j]
    cut = cut_of(pairs, j, rel)
    known = pairs.by_machine[j]
    positive = known & (pairs.machine[j] >= cut.of_topic[pairs.topic])
    both, target = known & pairs.by_people, known & ~pairs.by_people
    relevant = pairs.human >= rel
    if not both.any():
        raise DataError(f"{judge}: it labelled none of the docs that people judged, so its errors are not known")
    human_topics = len(np.unique(pairs.topic[both]))
    if target.any():
        unit = np.arange(len(pairs)) if by_docs else pairs.topic
        share = _corrected(pairs, unit, positive, relevant, both, target, level, by_docs)
    else:
        share = _known(relevant[both], positive[both], judge)
    return PrevalenceRow(
        judge, int((target if target.any() else both).sum()), cut.described, int((relevant & both).sum()),
        int((~relevant & both).sum()), human_topics, len(np.unique(pairs.topic[target])), share,
    )  # fmt: skip


def _known(relevant: Bools, positive: Bools, judge: str) -> CorrectedShare:
    """The share where people judged all docs of the judge."""
    said = "people judged all its docs: this is their share, known and without an interval"
    sensitivity = float(positive[relevant].mean()) if relevant.any() else None
    wrong = float(positive[~relevant].mean()) if (~relevant).any() else None
    return CorrectedShare(
        float(relevant.mean()), None, None, float(positive.mean()), sensitivity, wrong, 0.0, 0.0, 0.0, "", said
    )


def _corrected(
    pairs: Labelled, unit: Ints, positive: Bools, relevant: Bools, both: Bools, target: Bools, level: float,
    by_docs: bool,
) -> CorrectedShare:  # fmt: skip
    """Rogan–Gladen from counts by unit."""
    weight = np.ones(len(pairs))
    if by_docs and pairs.probabilities is not None:
        weight = np.where(both, 1 / np.where(both, pairs.probabilities, 1.0), 1.0)
    units = int(unit.max()) + 1

    def sums(rows: Bools) -> Floats:
        return np.bincount(unit[rows], weight[rows], minlength=units).astype(np.float64)

    cells = (relevant & positive, relevant & ~positive, ~relevant & positive, ~relevant & ~positive)
    human = np.stack([sums(both & cell) for cell in cells], axis=1)
    machine = np.stack([sums(target & positive), sums(target)], axis=1)
    people, others = np.flatnonzero(human.any(axis=1)), np.flatnonzero(machine[:, 1])
    same = np.full(len(others), -1)
    shared = np.isin(others, people)
    same[shared] = np.searchsorted(people, others[shared])
    return rogan_gladen(human[people], machine[others], same=same, level=level)


def rogan_gladen(
    human: npt.ArrayLike, machine: npt.ArrayLike, *, same: npt.ArrayLike | None = None, level: float = 0.95
) -> CorrectedShare:
    """The corrected share with its interval, all within 0 and 1; units are topics, or docs drawn one by one.

    human: units × (true positives, false negatives, false positives, true negatives); machine: units × (called
    relevant, docs). same: of each machine unit the place of the human unit that it is, −1 where it is another one; such
    a unit's influence values are added before they are squared. Where few units are unlike the others the interval
    comes from those of the three shares; where the judge says nothing of the share it is [0, 1].

    >>> people = [[8, 2, 3, 27], [5, 3, 2, 30], [12, 1, 6, 21], [2, 2, 1, 35], [9, 4, 4, 23], [6, 1, 2, 31]]
    >>> called = [14, 9, 20, 5, 11, 16, 7, 12]
    >>> share = rogan_gladen(people, list(zip(called, [40, 40, 38, 40, 40, 42, 40, 40])))
    >>> round(share.value, 6), round(share.low, 5), round(share.high, 5)
    (0.294824, 0.11465, 0.475)
    """
    people, others = _counts(human, 4), _counts(machine, 2)
    place = np.full(len(others), -1) if same is None else np.asarray(same)
    y, z = people[:, :2].sum(axis=1), people[:, 2:].sum(axis=1)
    called = float(others[:, 0].sum() / others[:, 1].sum())
    s = float(people[:, 0].sum() / y.sum()) if y.any() else None
    f = float(people[:, 2].sum() / z.sum()) if z.any() else None
    if s is None or f is None or s - f < LEAST_POWER:
        return CorrectedShare(None, 0.0, 1.0, called, s, f, np.nan, np.nan, np.nan, "", _says_nothing(s, f))
    share = (called - f) / (s - f)
    value = min(1.0, max(0.0, share))
    if len(people) < 2 or len(others) < 2:
        said = f"{counted(len(people), 'human unit')} and {counted(len(others), 'machine unit')}: no interval"
        return CorrectedShare(value, None, None, called, s, f, np.nan, np.nan, np.nan, "", said)
    of_people = -(share * (people[:, 0] - s * y) / y.sum() + (1 - share) * (people[:, 2] - f * z) / z.sum())
    of_machine = (others[:, 0] - called * others[:, 1]) / others[:, 1].sum()
    of_people, of_machine = of_people / (s - f), of_machine / (s - f)
    n, m = len(of_people), len(of_machine)
    v1, v2 = _variances(of_people * np.sqrt(n / (n - 1)), of_machine * np.sqrt(m / (m - 1)), place)
    df = (v1 + v2) ** 2 / (v1**2 / (n - 1) + v2**2 / (m - 1)) if v1 + v2 > 0 else float(n - 1)
    if shows_little(of_people)[0] or shows_little(of_machine)[0]:
        low, high, method = *_box(people, others, level), BOUNDS
    else:
        half = t_quantile((1 + level) / 2, df) * np.sqrt(v1 + v2)
        low, high, method = share - half, share + half, T
    low, high = (float(min(1.0, max(0.0, end))) for end in (min(low, value), max(high, value)))
    return CorrectedShare(
        value, low, high, called, s, f, float(np.sqrt(v1)), float(np.sqrt(v2)), df, method, _remark(low, high, method)
    )


def _counts(given: npt.ArrayLike, columns: int) -> Floats:
    """Counts by unit, checked."""
    counts = np.asarray(given, dtype=np.float64)
    if counts.ndim != 2 or counts.shape[1] != columns or not len(counts):
        raise DataError(f"counts of shape {counts.shape}; give {columns} for each of at least one unit")
    if not np.isfinite(counts).all() or (counts < 0).any():
        raise DataError("a count is negative or not finite; counts of docs are 0 or more")
    if columns == 2 and (counts[:, 0] > counts[:, 1]).any():
        raise DataError("more docs are called relevant than there are; give (called relevant, docs) of each unit")
    if not (counts.sum(axis=1) > 0).all():
        raise DataError("a unit has no docs; leave it out")
    return counts


def _says_nothing(s: float | None, f: float | None) -> str:
    """Why nothing is known of the share."""
    if s is None:
        return "people called no doc relevant, so what it finds of relevant docs is not known: the share may be any"
    if f is None:
        return "people called every doc relevant, so how often it is wrong is not known: the share may be any"
    return (
        f"it finds {s:.3f} of the relevant docs and wrongly calls {f:.3f} of the others relevant: it says nothing "
        "about the share of relevant docs, which may be any"
    )


def _variances(of_people: Floats, of_machine: Floats, same: Ints) -> tuple[float, float]:
    """v₁ of the human units, with what those of them do that are machine units too, and v₂ of the other ones."""
    shared = same >= 0
    bracket = of_people.copy()
    np.add.at(bracket, same[shared], of_machine[shared])
    return float((bracket**2).sum()), float((of_machine[~shared] ** 2).sum())


def _box(people: Floats, others: Floats, level: float) -> tuple[float, float]:
    """Ends of the share if sensitivity, false positives and called share are anywhere in their own intervals.

    Each has the level 1 − α/3, so that all three hold at once.
    """
    each = 1 - (1 - level) / 3
    q = share_of(others[:, 0], others[:, 1], each)
    (s_low, s_high), (f_low, f_high) = _ends(people[:, :2], each), _ends(people[:, 2:], each)
    low = 0.0 if q.low <= f_high else (q.low - f_high) / max(s_high - f_high, q.low - f_high)
    high = 1.0 if s_low <= f_low else (q.high - f_low) / (s_low - f_low)
    return low, high


def _ends(counts: Floats, level: float) -> tuple[float, float]:
    """The interval of the first of two counts' share, over the units that have any; [0, 1] of fewer than two units."""
    some = counts[counts.sum(axis=1) > 0]
    if len(some) < 2:
        return 0.0, 1.0
    found = share_of(some[:, 0], some.sum(axis=1), level)
    return found.low, found.high


def _remark(low: float, high: float, method: str) -> str:
    """What must be said of an interval, if anything."""
    said = []
    if method == BOUNDS:
        said.append("few units are unlike the others, so its interval is made of those of the three shares")
    if high - low >= USELESS:
        said.append(f"useless: [{low:.2f}, {high:.2f}] says hardly more than that a share lies between 0 and 1")
    return "; ".join(said)
