"""What does the table of my paper look like? Runs × measures, the best in bold, marks against baselines, notes below.

Where the flow stands: scores → **result** → page. The tests behind the marks are in `marked_tests.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.core.errors import UsageError
from assay.core.keys import key_of
from assay.core.marked import Block, Cell, MarkedTable
from assay.core.registry import did_you_mean
from assay.core.results import Result
from assay.core.tables import Table, shown
from assay.data.averages import IN_WORDS
from assay.data.quantities import policy_of
from assay.data.scores import Scores
from assay.data.tested_means import TESTED
from assay.io.column_names import Named
from assay.stats import paper_inputs
from assay.stats.joint_tests import AUTO
from assay.stats.letters import nth_letter
from assay.stats.marked_tests import MarkedTest, MarkedTests, lower_is_better, marked_tests
from assay.stats.resampling import RESAMPLES, checked_share
from assay.stats.sentences import CONTRADICTION

MARKS = ("daggers", "letters", "arrows")
"""How a significant difference is marked: a sign for each baseline, its letter, or which of the two is better."""
DAGGERS = ("†", "‡", "§", "¶", "‖")
ARROWS = {1: "▲", -1: "▼"}
WEAK_ARROWS = {1: "△", -1: "▽"}
MOST_DIGITS = 12


@dataclass(frozen=True, eq=False)
class PaperTable(Result):
    """Means of runs × measures as a paper prints them, with the tests behind the marks.

    `groups` are titles with their runs, the title empty for runs of no group. `.latex()`, `.markdown()`, `.html()` and
    `.text()` are what is printed; `.table()`, `.csv()` and `.record()` have all digits, and marks in their own columns.
    """

    unit = "topic"
    scores: Scores
    groups: paper_inputs.Groups
    baselines: tuple[str, ...]
    tests: MarkedTests | None
    marks: str = "daggers"
    weak_alpha: float | None = None
    bold: bool = True
    underline: bool = False
    digits: int = 3
    leading_zero: bool = True
    caption: str = ""
    label: str = ""

    def printed(self) -> MarkedTable:
        """Names, numbers and marks as they are printed."""
        marks = self._marks()
        columns = [self._column(at) for at in range(len(self.scores))]
        places = {run: i for i, run in enumerate(self.scores.runs)}
        several = len(self.baselines) > 1 or self.marks == "letters"
        signs = self.signs() if several and self.marks != "daggers" else {}
        blocks = []
        for title, runs in self.groups:
            rows = []
            for run in runs:
                name = Cell(run, marks=(signs[run],) if run in signs else ())
                row = [name]
                for matrix, column in zip(self.scores, columns, strict=True):
                    text, is_best, is_second = column[places[run]]
                    row.append(Cell(text, is_best, is_second, marks.get((matrix.measure, run), ())))
                rows.append(tuple(row))
            blocks.append(Block(title, tuple(rows)))
        heads = ("run", *self.scores.measures)
        return MarkedTable(heads, tuple(blocks), self.caption, self.label, tuple(self.notes()))

    def text(self, width: int | None = None) -> str:
        """For a terminal that many characters wide."""
        return self.printed().text(width)

    def markdown(self) -> str:
        """As GitHub reads it."""
        return self.printed().markdown()

    def html(self) -> str:
        """For any page, with a look of its own."""
        return self.printed().html()

    def latex(self) -> str:
        """For a paper; needs the package booktabs, and amssymb for triangles."""
        return self.printed().latex()

    def csv(self) -> str:
        """Plain numbers with all digits, marks in columns of their own."""
        return self.table().csv()

    def _repr_html_(self) -> str:
        return self.html()

    def table(self) -> Table:
        """One row per run; behind the number of each measure its marks."""
        marks = self._marks()
        averages = self.scores.averages()
        columns = {"run": ""} | ({"group": ""} if self._has_groups else {})
        keys = {}
        for measure in self.scores.measures:
            columns |= {measure: f".{self.digits}f", f"{measure} marks": ""}
            keys[f"{measure} marks"] = f"{key_of(measure)}_marks"
        rows = []
        for title, runs in self.groups:
            for run in runs:
                at = self.scores.runs.index(run)
                row: list[Any] = [run, title] if self._has_groups else [run]
                for measure, values in zip(self.scores.measures, averages, strict=True):
                    row += [values[at], " ".join(marks.get((measure, run), ()))]
                rows.append(row)
        return Table.of(columns, rows, caption=self.caption, notes=self.notes(), keys=keys)

    def record(self) -> dict[str, Any]:
        """The rows, what was tested and how it was corrected, and every test."""
        settings: dict[str, Any] = {
            "baselines": list(self.baselines),
            "n": len(self.scores.topics),
            "signatures": {matrix.measure: matrix.signature for matrix in self.scores},
        }
        if self.tests is not None:
            settings |= {
                "marks": self.marks,
                "test": self.tests.test,
                "alternative": self.tests.alternative,
                "correction": self.tests.correction,
                "family": self.tests.family,
                "alpha": self.tests.alpha,
                "tests": [test.record() for test in self.tests.tests],
            }
        return settings | super().record()

    def signs(self) -> dict[str, str]:
        """The sign of each baseline: †, ‡, … or a, b, …"""
        if self.marks == "daggers":
            return dict(zip(self.baselines, DAGGERS, strict=False))
        return {baseline: nth_letter(i) for i, baseline in enumerate(self.baselines)}

    def notes(self) -> list[str]:
        """What the marks mean, how they were tested, what is bold, and the policy that all numbers rest on."""
        notes = [] if self.tests is None else [*self._meanings(self.tests), *self._contradictions(), self.tests.words()]
        said = [f"{self._averages_in_words()} over {len(self.scores.topics):,} topics"]
        if self.bold and len(self.scores.runs) > 1:
            said.append("bold: the best of a column" + (", underlined: the second best" if self.underline else ""))
        less = [measure for measure in self.scores.measures if lower_is_better(measure)]
        if less:
            said.append(f"less is better: {', '.join(less)}")
        notes.append("; ".join(said))
        if self.tests is not None:
            notes += self.tests.remarks()
            notes += [TESTED[how] for how in dict.fromkeys(self.scores.aggregates) if how in TESTED]
        policy = [policy_of(matrix.signature) for matrix in self.scores]
        shared = sorted(frozenset.intersection(*policy)) if policy else []
        return [*notes, f"policy: {', '.join(shared)}"] if shared else notes

    def _averages_in_words(self) -> str:
        """What the numbers are: means, and which columns hold another average."""
        others = []
        for measure, how in zip(self.scores.measures, self.scores.aggregates, strict=True):
            if how != "mean":
                others.append(f"{measure} the {IN_WORDS[how]}")
        return ", ".join(["means", *others]) if len(others) < len(self.scores) else ", ".join(others)

    def _meanings(self, tests: MarkedTests) -> list[str]:
        """One note that says what every mark means."""
        side = {"two-sided": "different from", "greater": "better than", "less": "worse than"}[tests.alternative]
        p = f"p < {tests.alpha:g}"
        if self.marks != "arrows":
            word = side.split()[-1]
            first, *others = (f"{sign}: {word} {baseline}" for baseline, sign in self.signs().items())
            in_full = first.replace(f": {word} ", f": significantly {side} ", 1)
            return [f"{', '.join([in_full, *others])} ({p})"]
        named = ", ".join(f"{sign} {baseline}" for baseline, sign in self.signs().items())
        against = self.baselines[0] if len(self.baselines) == 1 else f"the run that the letter names ({named})"
        meaning = f"▲ significantly better than {against}, ▼ worse ({p})"
        if self.weak_alpha is not None:
            meaning += f"; △ better, ▽ worse at the weaker level {self.weak_alpha:g}"
        return [meaning]

    def _contradictions(self) -> list[str]:
        """Significant differences that have no arrow, because the means say one thing and ranks or signs the other."""
        if self.marks != "arrows" or self.tests is None:
            return []
        level = max(self.tests.alpha, self.weak_alpha or 0.0)
        odd = [t for t in self.tests.tests if t.corrected_p < level and t.direction == 0]
        if not odd:
            return []
        named = ", ".join(f"{t.run} on {t.measure}" for t in odd)
        return [f"significantly different without an arrow, as {CONTRADICTION}: {named}"]

    @property
    def _has_groups(self) -> bool:
        return any(title for title, _ in self.groups)

    def _marks(self) -> dict[tuple[str, str], tuple[str, ...]]:
        """The marks of each number, by measure and run."""
        if self.tests is None:
            return {}
        signs = self.signs()
        marks = {}
        for cell, tests in self.tests.by_cell().items():
            own = [self._mark(test, signs[test.baseline], self.tests.alpha) for test in tests]
            marks[cell] = tuple(mark for mark in own if mark)
        return marks

    def _mark(self, test: MarkedTest, sign: str, alpha: float) -> str:
        """The mark of one test; empty where there is nothing to mark."""
        is_significant = test.corrected_p < alpha
        if self.marks != "arrows":
            return sign if is_significant else ""
        is_weak = self.weak_alpha is not None and test.corrected_p < self.weak_alpha
        arrows = ARROWS if is_significant else WEAK_ARROWS if is_weak else {}
        arrow = arrows.get(test.direction, "")
        return arrow + sign if arrow and len(self.baselines) > 1 else arrow

    def _column(self, at: int) -> list[tuple[str, bool, bool]]:
        """The numbers of a measure as they are printed, and which of them are the best and the second best.

        Numbers that are printed alike are alike here: a reader could not see why one of them is bold.
        """
        measure = self.scores.measures[at]
        values = np.array(self.scores.averages()[at])
        counts = self.scores.aggregates[at] == "sum" and bool((values == np.rint(values)).all())
        texts = [self._number(value, 0 if counts else self.digits) for value in values.tolist()]
        order = np.argsort(values if lower_is_better(measure) else -values, kind="stable")
        distinct = list(dict.fromkeys(texts[i] for i in order))
        best = distinct[0] if self.bold and len(texts) > 1 else None
        second = distinct[1] if self.underline and len(distinct) > 1 else None
        return [(text, text == best, text == second) for text in texts]

    def _number(self, value: float, digits: int) -> str:
        text = shown(value, f".{digits}f")
        if self.leading_zero or "." not in text:
            return text
        return text.replace("−0.", "−.") if value < 0 else text.removeprefix("0")


def paper_table(
    scores: Any,
    *,
    baseline: str | Sequence[str] | None = None,
    marks: str = "daggers",
    measures: str | Sequence[str] | None = None,
    groups: Mapping[str, Sequence[str]] | None = None,
    best_first: bool = False,
    bold: bool = True,
    underline: bool = False,
    digits: int = 3,
    leading_zero: bool = True,
    caption: str = "",
    label: str = "",
    test: str = "t",
    correction: str = AUTO,
    family: str = "table",
    alternative: str = "two-sided",
    alpha: float = 0.05,
    weak_alpha: float | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
    columns: Named = None,
) -> PaperTable:
    """The table of a paper: runs × measures, the best of each column in bold, marks against one or several baselines.

    scores: what `assay.evaluate` returns, or anything that `assay.io.scores_of` reads. Without a baseline nothing is
    tested and nothing marked. marks: `daggers` († ‡ …, a sign for each baseline), `letters` (the baseline's letter) or
    `arrows` (▲ better, ▼ worse; with `weak_alpha` also △ ▽ at that weaker level). p is corrected over all comparisons
    that the table marks, all baselines and measures together (family="table"), or over those of each measure by itself
    (family="measure"); by max-t for the t test and Holm for others, unless a correction is named; the notes say so.
    groups: {title: runs}; runs of no group come first. Rows keep the order in which the runs were given, or are
    `best_first` by the first measure. underline: the second best of each column.
    columns: our column → that of a table of scores.

    >>> ap = {"bm25": {"1": 0.2, "2": 0.3, "3": 0.1}, "dense": {"1": 0.4, "2": 0.52, "3": 0.33}}
    >>> table = paper_table({"AP": ap}, baseline="bm25")
    >>> print(table.markdown().splitlines()[3])
    | dense | **0.417**<sup>†</sup> |
    """
    chosen = paper_inputs.table_scores(scores, measures, columns)
    names = [baseline] if isinstance(baseline, str) else list(baseline or [])
    paper_inputs.check_baselines(chosen.runs, names)
    paper_inputs.check_columns(chosen, tested=bool(names))
    _check_marks(marks, len(names), alpha, weak_alpha)
    if not 0 <= digits <= MOST_DIGITS:
        raise UsageError(f"digits must lie between 0 and {MOST_DIGITS}, not {digits}")
    tests = None
    if names:
        tests = marked_tests(
            chosen, names, test=test, correction=correction, family=family, alternative=alternative, alpha=alpha,
            resamples=resamples, seed=seed,
        )  # fmt: skip
    blocks = paper_inputs.grouped(chosen.runs, groups or {})
    if best_first:
        blocks = paper_inputs.best_first(chosen, blocks, lower=lower_is_better(chosen.measures[0]))
    return PaperTable(
        scores=chosen,
        groups=blocks,
        baselines=tuple(names),
        tests=tests,
        marks=marks,
        weak_alpha=weak_alpha,
        bold=bold,
        underline=underline,
        digits=digits,
        leading_zero=leading_zero,
        caption=caption,
        label=paper_inputs.checked_label(label),
    )


def _check_marks(marks: str, baselines: int, alpha: float, weak_alpha: float | None) -> None:
    """An error for marks that are not known, of which there are too few, or whose weaker level has no effect."""
    if marks not in MARKS:
        raise UsageError(f"no marks {marks!r}{did_you_mean(marks, MARKS)}")
    if marks == "daggers" and baselines > len(DAGGERS):
        raise UsageError(f"daggers are enough for {len(DAGGERS)} baselines, not for {baselines}; take letters")
    if weak_alpha is None:
        return
    if marks != "arrows" or not baselines:
        raise UsageError("a weaker level has no effect; it goes with marks='arrows' and a baseline")
    if checked_share(weak_alpha, "weak_alpha") <= alpha:
        raise UsageError(f"the weaker level {weak_alpha:g} must be above α = {alpha:g}")
