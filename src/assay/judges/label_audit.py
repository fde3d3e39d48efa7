"""Does a machine judge label docs as people do? Agreement beyond chance, confusion, over- and under-rating.

Intervals leave out one topic at a time: docs of one topic are alike, so leaving out docs would be too sure. All is
computed from one table of counts per judge and topic, human level × machine level. Judges are compared with each other
by one coefficient on the same docs, see `one_footing`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.agreement.alpha import alpha_of_coincidences, alphas
from assay.agreement.kappa import Contingency, cohen_kappas, kappas_of_tables
from assay.agreement.ratings import Ratings
from assay.agreement.scales import scale_seen
from assay.core.arrays import Floats
from assay.core.errors import DataError
from assay.core.results import Result
from assay.core.tables import Table
from assay.data import Labels
from assay.judges.judge_differences import Differences, Ends, jackknife_ends, leave_topics_out
from assay.judges.label_cuts import cut_of, places_to_cut
from assay.judges.labelled_pairs import Labelled, described_counts
from assay.judges.one_footing import Footing, Standing
from assay.stats.pair_tests import every_pair

MEASURES = ("κ", "weighted κ", "α nominal", "α ordinal", "α interval")
"""Agreement beyond chance; weights are quadratic."""
RESAMPLES = 1000


@dataclass(frozen=True)
class AgreementWithPeople:
    """One judge, or the people among themselves, by one measure of agreement: None where it is undefined."""

    judge: str
    compared: str
    measure: str
    value: float | None
    low: float | None
    high: float | None
    pairs: int


@dataclass(frozen=True, eq=False)
class LabelAudit(Result):
    """How a judge's labels compare with those of people, judge by judge."""

    unit = "topic"

    pairs: Labelled
    rel: float
    agreement: tuple[AgreementWithPeople, ...]
    confusion: tuple[Contingency, ...]
    people: int
    """How many people labelled docs beside the human grades, 0 where that is not known."""
    standing: Standing
    """All judges by one coefficient on the same docs: which of them is nearer to people rests on it."""
    differences: Differences | None
    """Of every two judges, by that coefficient; None of one judge alone."""
    level: float
    notes: tuple[str, ...]

    def value(self, judge: str, measure: str = "κ") -> float | None:
        """The agreement of one judge with the people by one of MEASURES."""
        for row in self.agreement:
            if (row.judge, row.measure) == (judge, measure):
                return row.value
        raise DataError(f"no agreement {measure!r} of {judge!r}; measures: {', '.join(MEASURES)}")

    def table(self) -> Table:
        """One row for each judge: what was labelled, how many labels are equal, and which way the others go."""
        columns = {
            "judge": "", "scale": "", "pairs": "d", "missing": "d", "off scale": "d", "equal": "d",
            "share equal": ".3f", "higher": ".3f", "lower": ".3f", "mean difference": "+.3f",
        }  # fmt: skip
        rows = [self._row(j) for j in range(len(self.pairs.judges))]
        notes = [
            "missing: docs that people judged and the judge did not; higher, lower: share rated above or below them",
            *self.notes,
        ]
        return Table.of(columns, rows, caption="Labels of the judges against those of people", notes=notes)

    def _row(self, j: int) -> tuple[Any, ...]:
        pairs = self.pairs
        judge = pairs.judges[j]
        labels = pairs.machine[j]
        both = ~np.isnan(labels)
        difference = labels[both] - pairs.human[both]
        off = sum(label.judge == judge for label in pairs.off_scale)
        counts = (int(both.sum()), int((~both).sum()), off)
        if pairs.is_other_scale(j) or not both.any():
            return (judge, pairs.scales[j].name, *counts, None, None, None, None, None)
        equal = difference == 0
        return (
            judge, pairs.scales[j].name, *counts, int(equal.sum()), equal.mean(), (difference > 0).mean(),
            (difference < 0).mean(), difference.mean(),
        )  # fmt: skip

    def agreement_table(self) -> Table:
        """One row for each judge and measure of agreement; people among themselves last."""
        columns = {
            "judge": "",
            "compared": "",
            "measure": "",
            "value": ".4f",
            "low": ".4f",
            "high": ".4f",
            "pairs": "d",
        }
        rows = []
        for row in self.agreement:
            rows.append((row.judge, row.compared, row.measure, row.value, row.low, row.high, row.pairs))
        notes = list(self.notes)
        if any(row.value is None or row.low is None for row in self.agreement):
            notes.append(
                "–: undefined, or without an interval, as it is hardly another value without one of the topics"
            )
        return Table.of(columns, rows, caption="Agreement with people", notes=notes)

    def judges_table(self) -> Table:
        """The differences of every two judges in the one coefficient that all are compared by."""
        footing = self.standing.footing
        caption = f"Judges compared by their agreement with people, {footing.coefficient}"
        found = self.differences or Differences((), "one judge alone: there is nothing to compare", self.level)
        return found.table(caption, [f"compared: {footing.how}; {footing.docs}"])

    def grades_table(self) -> Table:
        """What each judge makes of the docs of each human grade."""
        columns = {
            "judge": "", "human grade": "g", "docs": "d", "mean label": ".3f", "higher": ".3f", "lower": ".3f",
            "relevant": ".3f",
        }  # fmt: skip
        rows = [row for j in range(len(self.pairs.judges)) for row in self._grade_rows(j)]
        note = "relevant: share that the judge calls relevant; higher, lower: only on the scale of the people"
        return Table.of(columns, rows, caption="Over- and under-rating by human grade", notes=[note])

    def _grade_rows(self, j: int) -> Iterator[tuple[Any, ...]]:
        pairs = self.pairs
        cut = cut_of(pairs, j, self.rel).of_topic[pairs.topic]
        for grade in np.unique(pairs.human):
            rows = (pairs.human == grade) & pairs.by_machine[j]
            labels = pairs.machine[j][rows]
            if not len(labels):
                continue
            higher: float | None = float((labels > grade).mean())
            lower: float | None = float((labels < grade).mean())
            if pairs.is_other_scale(j):
                higher = lower = None
            yield pairs.judges[j], grade, len(labels), labels.mean(), higher, lower, (labels >= cut[rows]).mean()

    def topics_table(self) -> Table:
        """Each judge on each topic: the share of equal labels, κ, and the mean difference."""
        columns = {"judge": "", "topic": "", "pairs": "d", "share equal": ".3f", "κ": ".4f", "mean difference": "+.3f"}
        rows = [row for j in range(len(self.pairs.judges)) for row in self._topic_rows(j)]
        note = "on another scale than the people's: relevant or not, as in the table of agreement"
        return Table.of(columns, rows, caption="Agreement by topic", notes=[note])

    def _topic_rows(self, j: int) -> Iterator[tuple[Any, ...]]:
        tables, levels = tables_of(self.pairs, j, self.rel)
        kappas = kappas_of_tables(tables, levels)
        apart = levels[None, :] - levels[:, None]
        for topic, table, kappa in zip(self.pairs.topics, tables, kappas, strict=True):
            n = table.sum()
            if n:
                equal = np.trace(table) / n
                yield self.pairs.judges[j], topic, int(n), equal, kappa, (table * apart).sum() / n

    def cuts_table(self) -> Table:
        """Relevant or not, cut at each grade: how often judge and people agree."""
        columns = {
            "judge": "", "human from": "g", "judge from": "g", "accuracy": ".3f", "κ": ".4f", "precision": ".3f",
            "recall": ".3f", "share relevant": ".3f", "share by people": ".3f",
        }  # fmt: skip
        rows = [row for j in range(len(self.pairs.judges)) for row in self._cut_rows(j)]
        note = "precision: of the docs that the judge calls relevant, the share that people do; recall the reverse"
        return Table.of(columns, rows, caption="Relevant or not, from each grade on", notes=[note])

    def _cut_rows(self, j: int) -> Iterator[tuple[Any, ...]]:
        pairs = self.pairs
        labels = pairs.machine[j]
        both = ~np.isnan(labels)
        for grade in np.unique(pairs.human)[1:]:
            for cut in _cuts(pairs, j, float(grade)):
                people = pairs.human[both] >= grade
                judged = labels[both] >= cut
                table = np.array([[(~people & ~judged).sum(), (~people & judged).sum()],
                                  [(people & ~judged).sum(), (people & judged).sum()]], dtype=np.float64)  # fmt: skip
                kappa = float(kappas_of_tables(table, [0, 1]))
                yield (
                    pairs.judges[j], grade, cut, np.trace(table) / max(1, table.sum()), kappa,
                    _share(table[1, 1], table[:, 1].sum()), _share(table[1, 1], table[1].sum()),
                    judged.mean(), people.mean(),
                )  # fmt: skip

    def tables(self) -> list[Table]:
        """All tables, the main one first."""
        shown = [
            self.table(),
            self.agreement_table(),
            self.judges_table(),
            self.grades_table(),
            self.cuts_table(),
            self.topics_table(),
        ]
        if self.pairs.off_scale:
            shown.append(self.pairs.off_scale_table())
        return shown


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def _cuts(pairs: Labelled, j: int, grade: float) -> list[float]:
    """Where the labels of a judge are cut: at the human grade, or on another scale at each of its labels."""
    return places_to_cut(pairs, j) if pairs.is_other_scale(j) else [grade]


def tables_of(pairs: Labelled, j: int, rel: float, *, binary: bool = False) -> tuple[Floats, Floats]:
    """topics × human level × machine level of counts, and the levels; relevant or not where the scales differ.

    binary: relevant or not also on the scale of the people.
    """
    labels = pairs.machine[j]
    both = ~np.isnan(labels)
    human = pairs.human[both]
    judged = labels[both]
    if binary or pairs.is_other_scale(j):
        cuts = cut_of(pairs, j, rel).of_topic[pairs.topic[both]]
        human = (human >= rel).astype(np.float64)
        judged = (judged >= cuts).astype(np.float64)
        levels = np.array([0.0, 1.0])
    else:
        levels = np.unique(np.concatenate([human, judged, pairs.scale.levels]))
    size = len(levels)
    cell = np.searchsorted(levels, human) * size + np.searchsorted(levels, judged)
    counts = np.bincount(pairs.topic[both] * size**2 + cell, minlength=len(pairs.topics) * size**2)
    return counts.reshape(len(pairs.topics), size, size).astype(np.float64), levels


def compared_how(pairs: Labelled, j: int, rel: float, *, binary: bool = False) -> str:
    """What was compared with the human grades, in words."""
    if not binary and not pairs.is_other_scale(j):
        return "grades"
    return f"human ≥ {rel:g}, judge ≥ {cut_of(pairs, j, rel).described}"


def measures_for(levels: Floats) -> tuple[str, ...]:
    """The measures that differ: on two levels all weights and all levels of measurement say the same."""
    return ("κ", "α nominal") if len(levels) == 2 else MEASURES


def agreement_of_tables(tables: Floats, levels: Floats) -> dict[str, Floats]:
    """Each of MEASURES of tables of counts (the last two axes); NaN where it is undefined."""
    met = tables + np.swapaxes(tables, -1, -2)
    return {
        "κ": kappas_of_tables(tables, levels),
        "weighted κ": kappas_of_tables(tables, levels, weights="quadratic"),
        "α nominal": alpha_of_coincidences(met, levels, level="nominal"),
        "α ordinal": alpha_of_coincidences(met, levels, level="ordinal"),
        "α interval": alpha_of_coincidences(met, levels, level="interval"),
    }


def label_audit(
    pairs: Labelled,
    *,
    rel: float = 1,
    humans: Labels | None = None,
    level: float = 0.95,
    resamples: int | None = RESAMPLES,
    seed: int = 0,
) -> LabelAudit:
    """The labels of every judge against the human grades; humans: labels of several people, for their own agreement.

    resamples: sign flips of topics by which judges are compared with each other, of 14 topics or more.
    """
    compared = pairs.compared()
    footing = Footing.of(compared, rel)
    rows: list[AgreementWithPeople] = []
    confusion = []
    for j, judge in enumerate(compared.judges):
        tables, levels = tables_of(compared, j, rel)
        rows += _of_judge(compared, j, rel, level, binary=False)
        if footing.how != "grades" and not compared.is_other_scale(j):
            rows += _of_judge(compared, j, rel, level, binary=True)
        counts = tables.sum(axis=0).astype(np.int64)
        confusion.append(Contingency(("people", judge), tuple(levels.tolist()), counts))
    people = 0
    notes = [described_counts(pairs), interval_note(level, len(compared.topics))]
    if humans is not None:
        of_people, people, left_out = _among_people(humans, level)
        rows += of_people
        if left_out:
            notes.append(f"{left_out} further labels of a person for the same doc left out")
    if pairs.repeats:
        notes.append(f"{pairs.repeats} further labels of a judge for the same doc left out: the first one counts")
    standing = Standing.of(footing, dict(zip(compared.judges, footing.labels, strict=True)), level)
    several = len(compared.judges) > 1 and footing.same_docs
    differences = standing.differences(every_pair(len(compared.judges)), resamples, seed) if several else None
    return LabelAudit(
        compared, rel, tuple(rows), tuple(confusion), people, standing, differences, level, tuple(notes)
    )  # fmt: skip


def _of_judge(pairs: Labelled, j: int, rel: float, level: float, *, binary: bool) -> list[AgreementWithPeople]:
    """One judge by every measure that differs."""
    tables, levels = tables_of(pairs, j, rel, binary=binary)
    tables = tables[tables.sum(axis=(1, 2)) > 0]
    whole = tables.sum(axis=0)
    values = agreement_of_tables(whole, levels)
    left_out = agreement_of_tables(leave_topics_out(tables), levels)
    how = compared_how(pairs, j, rel, binary=binary)
    rows = []
    for measure in measures_for(levels):
        value = float(values[measure])
        ends = jackknife_ends(value, left_out[measure], level)
        rows.append(_row(pairs.judges[j], how, measure, value, ends, int(whole.sum())))
    return rows


def interval_note(level: float, topics: int) -> str:
    """What the intervals are, in words."""
    if topics < 2:
        return "no intervals: one topic alone"
    return f"{100 * level:g} % t intervals, delete-one-topic jackknife over {topics} topics"


def _row(judge: str, how: str, measure: str, value: float, ends: Ends, pairs: int) -> AgreementWithPeople:
    if np.isnan(value):
        return AgreementWithPeople(judge, how, measure, None, None, None, pairs)
    return AgreementWithPeople(judge, how, measure, value, *ends, pairs)


def _among_people(humans: Labels, level: float) -> tuple[list[AgreementWithPeople], int, int]:
    """How far people agree among themselves, how many they are, and labels left out."""
    ratings = Ratings.of_labels(humans, scale=scale_seen(humans.label))
    if not (ratings.sizes > 1).any():
        raise DataError(f"{humans.name}: no doc has labels of two people; leave the file out")
    topics = len(ratings.topics)
    whole = _people_values(ratings, np.ones((1, topics)))
    parts = [_people_values(ratings, part) for part in np.array_split(1.0 - np.eye(topics), max(1, topics // 64))]
    rows = []
    shared = int((ratings.sizes > 1).sum())
    for measure in MEASURES:
        value = float(whole[measure][0])
        left_out = np.concatenate([part[measure] for part in parts])
        ends = jackknife_ends(value, left_out, level)
        rows.append(_row("people among themselves", "grades", measure, value, ends, shared))
    return rows, len(np.unique(ratings.worker)), ratings.left_out


def _people_values(ratings: Ratings, topic_weights: Floats) -> dict[str, Floats]:
    """Each of MEASURES among people, for each row of topic weights; κ is the mean over pairs of people."""
    weights = topic_weights[:, ratings.topic]
    return {
        "κ": cohen_kappas(ratings, weights, weighting="none"),
        "weighted κ": cohen_kappas(ratings, weights, weighting="quadratic"),
        "α nominal": alphas(ratings, weights, level="nominal"),
        "α ordinal": alphas(ratings, weights, level="ordinal"),
        "α interval": alphas(ratings, weights, level="interval"),
    }
