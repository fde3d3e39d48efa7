"""Is a machine judge any good? One call for all of it: labels, rankings, bias, conclusions, circularity, panels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from assay.core.engine import Progress, ordered_map, silent
from assay.core.errors import DataError, UsageError
from assay.core.results import Result
from assay.core.tables import Table
from assay.data.info import RunsInfo
from assay.data.scores import ScoreMatrix
from assay.io.brought import labels_of
from assay.io.column_names import Named
from assay.judges.circularity import Circularity, K, circularity
from assay.judges.faults import AuditParts, Fault, faults, faults_table
from assay.judges.label_audit import RESAMPLES, LabelAudit, label_audit
from assay.judges.labelled_pairs import Labelled, Scales, labelled
from assay.judges.listed import listed, one_measure
from assay.judges.pair_conclusions import Conclusions, conclusions
from assay.judges.panels import PanelAudit, panel_audit
from assay.judges.ranking_audit import RankingAudit, ranking_audit
from assay.judges.run_bias import RunBias, run_bias
from assay.measures import Measure
from assay.scoring import Policy

PARTS = (
    "summary", "words", "faults", "labels", "agreement", "judges", "grades", "cuts", "topics", "off-scale",
    "rankings", "compared", "bias", "parts", "conclusions", "circularity", "panel", "errors",
)  # fmt: skip
"""The tables of an audit."""


_KEY = (
    "τ of the rankings of runs; bias: machine − human; same … only humans: pairs of runs significant under both with "
    "the same or opposite signs, or under one; gamed: gain by reranking with the judge; faults: how many, see their "
    "table"
)


@dataclass(frozen=True, eq=False)
class JudgeAudit(Result):
    """What an audit found: its parts, the faults of each judge, and a summary in sentences."""

    unit = "topic"

    pairs: Labelled
    labels: LabelAudit
    rankings: RankingAudit | None
    bias: tuple[RunBias, ...]
    conclusions: Conclusions | None
    circularity: Circularity | None
    panel: PanelAudit | None
    faults: tuple[Fault, ...]

    def sentences(self) -> list[str]:
        """The audit in sentences that can be quoted."""
        return [*self._on_labels(), *self._on_runs(), *self._on_panel()]

    def _on_labels(self) -> Iterator[str]:
        labels, standing = self.labels, self.labels.standing
        footing = standing.footing
        for judge in labels.pairs.judges:
            value = standing.value(judge)
            if value is None:
                yield f"{judge} gives one label throughout: agreement is undefined."
                continue
            low, high = standing.ends(judge)
            interval = "" if low is None else f" [{low:.2f}, {high:.2f}]"
            yield f"{judge} agrees with people at {footing.coefficient} = {value:.2f}{interval}."
        yield f"Compared were {footing.how}, on {footing.docs}; intervals over {len(footing.pairs.topics)} topics."
        yield from self._on_the_best()
        among = [row for row in labels.agreement if row.judge not in labels.pairs.judges]
        for row in among:
            if row.measure == "α ordinal" and row.value is not None:
                yield f"The {labels.people} people agree among themselves at α ordinal = {row.value:.2f}."

    def _on_the_best(self) -> Iterator[str]:
        """Which judges the nearest to people is shown to beat, from the family of all pairs of judges."""
        differences, standing = self.labels.differences, self.labels.standing
        judges = self.labels.pairs.judges
        best = standing.best(judges)
        if differences is None or standing.value(best) is None:
            return
        alpha = round(1 - differences.level, 12)
        beaten = [
            row.second if row.first == best else row.first
            for row in differences.rows
            if best in (row.first, row.second) and row.p is not None and row.p < alpha
        ]
        others = [judge for judge in judges if judge != best and judge not in beaten]
        if beaten:
            yield f"{best} agrees significantly more than {', '.join(beaten)} ({differences.recipe})."
        if others:
            yield f"It is not shown that {best} agrees more than {', '.join(others)} ({differences.recipe})."

    def _on_runs(self) -> Iterator[str]:
        if self.rankings is None or self.conclusions is None or self.circularity is None:
            return
        for bias in self.bias:
            judge = bias.judge
            tau = self.rankings.value(judge)
            if tau is None:
                yield f"{judge} gives all runs the same {bias.measure}."
                continue
            outcome = self.conclusions.of(judge)
            gain = self.circularity.of(judge)
            yield (
                f"{judge} ranks {len(bias.runs)} runs with τ = {tau:.3f}, and its {bias.measure} is off by "
                f"{bias.mean:+.3f} [{bias.mean_low:+.3f}, {bias.mean_high:+.3f}]."
            )
            yield (
                f"Of {self.conclusions.pairs} pairs of runs, people and {judge} both call {outcome.same} different "
                f"with the same sign and {outcome.opposite} with opposite signs; {outcome.only_judge} are significant "
                f"under {judge} alone, {outcome.only_humans} under people alone."
            )
            yield (
                f"A run that reranks its first {self.circularity.k} docs by {judge} gains {gain.machine:+.3f} under "
                f"{judge} and {gain.human:+.3f} under people."
            )

    def _on_panel(self) -> Iterator[str]:
        if self.panel is None:
            return
        panels = [row for row in self.panel.rows if row.kind == "panel" and row.alpha is not None]
        best = self.panel.alpha(self.panel.best)
        if best is not None and panels:
            said = ", ".join(f"{row.name} {row.alpha:.3f}" for row in panels)
            yield f"The best single judge is {self.panel.best} (α = {best:.3f}); panels of all judges: {said}."
        warning = self.panel.errors.warning()
        if warning is not None:
            yield f"{warning[0].upper()}{warning[1:]}."

    def table(self) -> Table:
        """One row for each judge: agreement, ranking, bias, conclusions, gain of gaming, and its faults."""
        footing = self.labels.standing.footing
        columns: dict[str, str] = {"judge": "", "α": ".3f"}
        if self.rankings is not None:
            columns |= {
                "τ": ".3f", "bias": "+.3f", "bias low": "+.3f", "bias high": "+.3f", "same": "d", "opposite": "d",
                "only judge": "d", "only humans": "d", "gamed judge": "+.3f", "gamed humans": "+.3f",
            }  # fmt: skip
        columns["faults"] = "d"
        said = f"{footing.coefficient} with people, {footing.how}; {footing.docs}"
        rows = [self._row(j, judge) for j, judge in enumerate(self.labels.pairs.judges)]
        return Table.of(columns, rows, caption="Machine judges against people", notes=[said, _KEY])

    def _row(self, j: int, judge: str) -> tuple[Any, ...]:
        cells: list[Any] = [judge, self.labels.standing.value(judge)]
        if self.rankings is not None and self.conclusions is not None and self.circularity is not None:
            bias = self.bias[j]
            pairs = self.conclusions.of(judge)
            gain = self.circularity.of(judge)
            cells += [
                self.rankings.value(judge), bias.mean, bias.mean_low, bias.mean_high, pairs.same, pairs.opposite,
                pairs.only_judge, pairs.only_humans, gain.machine, gain.human,
            ]  # fmt: skip
        named = [fault.fault for fault in self.faults if judge in fault.judge.split(", ")]
        return (*cells, len(named))

    def words_table(self) -> Table:
        """The sentences, one in a row."""
        return Table.of({"in words": ""}, [(sentence,) for sentence in self.sentences()], caption="The audit in words")

    def parts(self) -> dict[str, Table]:
        """Every table by its name, one of PARTS, as far as the files allow it."""
        tables = {
            "summary": self.table(),
            "words": self.words_table(),
            "faults": faults_table(list(self.faults)),
            "labels": self.labels.table(),
            "agreement": self.labels.agreement_table(),
            "judges": self.labels.judges_table(),
            "grades": self.labels.grades_table(),
            "cuts": self.labels.cuts_table(),
            "topics": self.labels.topics_table(),
        }
        if self.pairs.off_scale:
            tables["off-scale"] = self.pairs.off_scale_table()
        if self.rankings is not None:
            tables["rankings"] = self.rankings.table()
            if self.rankings.differences is not None:
                tables["compared"] = self.rankings.tables()[1]
        if self.bias:
            tables["bias"] = _joined([bias.table() for bias in self.bias])
            tables["parts"] = _joined([bias.parts_table() for bias in self.bias])
        if self.conclusions is not None:
            tables["conclusions"] = self.conclusions.table()
        if self.circularity is not None:
            tables["circularity"] = self.circularity.table()
        if self.panel is not None:
            tables["panel"] = self.panel.table()
            tables["errors"] = self.panel.errors.table()
        return tables

    def tables(self) -> list[Table]:
        """All tables, the summary first."""
        return list(self.parts().values())


def _joined(tables: Sequence[Table]) -> Table:
    """Tables with the same columns as one; each row names its judge."""
    first = tables[0]
    rows = [row for table in tables for row in table.rows]
    columns = dict(zip(first.columns, first.formats, strict=True))
    keys = dict(zip(first.columns, first.keys, strict=True))
    caption = first.caption if len(tables) == 1 else first.caption.replace(f" of {first.rows[0][0]}", " of each judge")
    notes = first.notes if len(tables) == 1 else first.notes[-2:]
    return Table.of(columns, rows, caption=caption, notes=notes, keys=keys)


def judge(
    human: Any,
    machine: Any,
    runs: Any = None,
    *,
    measure: str | Measure = "nDCG@10",
    scale: Scales = None,
    rel: float = 1,
    humans: Any = None,
    info: RunsInfo | None = None,
    by: Sequence[str] = (),
    top: int = 10,
    k: int = K,
    correction: str = "holm",
    level: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
    policy: Policy | None = None,
    columns: Named = None,
    jobs: int = 1,
    progress: Progress = silent,
) -> JudgeAudit:
    """Whether machine judges are any good: their labels, and with runs also what becomes of scores and conclusions.

    human: judgments of people. machine: labels of one judge or of many (the worker is the judge), or judgments of one.
    runs: as `assay.evaluate` takes them. scale: see `assay.judges.labelled`. rel: the lowest relevant human grade, for
    judges on another scale. humans: labels of several people, whose agreement stands beside that of the judges. info,
    by: a table of runs and the columns of it by which bias is shown. top: how many of the best runs the last
    correlation looks at. k: docs of each run that are reranked. Only docs that people judged are scored, so that people
    and judge differ in their labels alone; a doc that a judge misses counts as not judged by it.

    >>> human = {str(t): {f"d{i}": (i * i + i // 3) % 3 for i in range(5 + 3 * t)} for t in range(12)}
    >>> machine = {t: {d: {"kind": min(2, g + 1), "exact": g} for d, g in docs.items()} for t, docs in human.items()}
    >>> found = judge(human, machine, resamples=100)
    >>> [(fault.judge, fault.fault) for fault in found.faults]
    [('kind', 'agrees little'), ('kind', 'rates too high')]
    """
    pairs = labelled(human, machine, scale=scale, columns=columns)
    people = None if humans is None else labels_of(humans)
    if len(pairs.compared().topics) < 2:
        raise DataError("1 topic has human and machine labels; an audit needs at least two, to say how sure it is")
    labels = label_audit(pairs, rel=rel, humans=people, level=level, resamples=resamples, seed=seed)
    compared = labels.pairs
    panel = None
    if len(compared.judges) > 1:
        panel = panel_audit(pairs, rel=rel, level=level, resamples=resamples, seed=seed)
    progress(1, 2)
    parts = AuditParts(labels, panel=panel)
    if runs is not None:
        parts = _with_runs(
            parts, runs, one_measure(measure), info, by, top, k, correction, level, resamples, seed, policy, columns,
            jobs,
        )  # fmt: skip
    elif by or info is not None:
        raise UsageError("a table of runs has no effect without runs; give runs too")
    progress(2, 2)
    return JudgeAudit(
        pairs, labels, parts.rankings, parts.bias, parts.conclusions, parts.circularity, panel, tuple(faults(parts))
    )


def _with_runs(
    parts: AuditParts, runs: Any, measure: Measure, info: RunsInfo | None, by: Sequence[str], top: int, k: int,
    correction: str, level: float, resamples: int, seed: int, policy: Policy | None, columns: Named, jobs: int,
) -> AuditParts:  # fmt: skip
    """The parts that need runs, beside those of the labels."""
    if by and info is None:
        raise UsageError(f"bias by {by[0]!r} needs a table of runs with that column; give info")
    lists = listed(runs, parts.labels.pairs, policy=policy, columns=columns, jobs=jobs)
    judges = parts.labels.pairs.judges
    human = lists.human(measure)

    def of_judge(j: int) -> tuple[ScoreMatrix, RunBias]:
        matrix = lists.machine(measure, j)
        return matrix, run_bias(human, matrix, judges[j], info=info, by=by, correction=correction, level=level)

    of_judges = ordered_map(of_judge, range(len(judges)), jobs=jobs, forks=True)
    machine = tuple(matrix for matrix, _ in of_judges)
    bias = tuple(of_runs for _, of_runs in of_judges)
    several = len(lists.runs) > 1
    rankings = concluded = None
    if several:
        rankings = ranking_audit(human, machine, judges, top=top, level=level, resamples=resamples, seed=seed)
        concluded = conclusions(human, machine, judges, correction=correction, level=level, seed=seed)
    return AuditParts(
        parts.labels,
        rankings,
        bias,
        concluded,
        circularity(lists, measure, human, machine, k=k, level=level),
        parts.panel,
    )
