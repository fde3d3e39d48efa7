"""What would people score these runs, if they judged a random sample of the docs and a machine judged all?

The model-assisted difference estimator of survey sampling: the score under calibrated machine labels f̃, corrected by
the sampled docs, M̂ = Σ d·f̃ + Σ_S d·(g − f̃)/π. For a measure that adds up gains, such as DCG, it is exact on average,
however bad the judge; nDCG is a ratio of such sums, exact to first order (see `doc_expansions`). Särndal, Swensson &
Wretman 1992.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from assay.core.arrays import Floats, Ints
from assay.core.errors import DataError, UsageError
from assay.core.registry import one_of
from assay.core.results import Result
from assay.core.tables import Table
from assay.io.column_names import Named
from assay.judges.calibration import calibrated
from assay.judges.doc_expansions import ADDS_UP, EXPANSIONS, Design, SampledDocs, expansion_of
from assay.judges.label_audit import cut_of
from assay.judges.labelled_pairs import Labelled, Scales, labelled
from assay.judges.listed import ListedPairs, listed, one_measure
from assay.judges.topic_estimates import chosen_judge
from assay.judges.topic_estimators import quantile
from assay.measures import Measure
from assay.scoring import Policy
from assay.stats.pair_tests import pairs_with

LEAST_PROBABILITY = 1e-9
"""A smaller one is a mistake in the file: its doc would outweigh all others."""
TOPICS = ("fixed", "random")
"""What the interval is of: the score on these topics with all docs judged, or on topics like these."""


@dataclass(frozen=True, eq=False)
class DocEstimates(Result):
    """Scores of runs, or differences from a baseline, as people would give them if they judged every pooled doc."""

    unit = "doc"

    measure: str
    judge: str
    runs: tuple[str, ...]
    baseline: str | None
    value: Floats
    error: Floats
    human_value: Floats
    """By the sampled docs alone: Σ_S gain/π."""
    human_error: Floats
    machine_only: Floats
    degrees: int
    level: float
    topics: str
    sampled: int
    pooled: int
    notes: tuple[str, ...]

    def interval(self, error: Floats | None = None) -> Floats:
        """Half the width of each interval."""
        return quantile(self.level, self.degrees) * (self.error if error is None else error)

    def table(self) -> Table:
        """One row for each run, the best first."""
        number = "+.4f" if self.baseline is not None else ".4f"
        columns = {
            "run": "", "estimate": number, "low": number, "high": number, "width": ".4f", "human only": number,
            "human low": number, "human high": number, "human width": ".4f", "machine only": number,
        }  # fmt: skip
        half = self.interval()
        alone = self.interval(self.human_error)
        rows = []
        for i in np.argsort(-self.value, kind="stable").tolist():
            rows.append((
                self.runs[i], self.value[i], self.value[i] - half[i], self.value[i] + half[i], 2 * half[i],
                self.human_value[i], self.human_value[i] - alone[i], self.human_value[i] + alone[i], 2 * alone[i],
                self.machine_only[i],
            ))  # fmt: skip
        what = "differences from " + self.baseline if self.baseline is not None else "means"
        caption = f"{self.measure}: {what} as people would score, with the labels of {self.judge}"
        law = f"t with {self.degrees} degrees of freedom"
        notes = [
            f"{self.sampled} of {self.pooled} pooled docs judged by people, with known probabilities; {self.topics} "
            f"topics; {100 * self.level:g} % intervals, {law}",
            "assumes that the sampled docs were drawn with the probabilities of the file, and that docs outside the "
            "pool are not relevant",
            *self.notes,
        ]
        return Table.of(columns, rows, caption=caption, notes=notes)

    def record(self) -> dict[str, Any]:
        """The rows, with what was sampled."""
        facts = {"judge": self.judge, "measure": self.measure, "sampled": self.sampled, "pooled": self.pooled}
        return {**super().record(), **facts}


def estimate_docs(
    human: Any,
    machine: Any,
    runs: Any,
    *,
    measure: str | Measure = "DCG@10",
    judge: str | None = None,
    baseline: str | None = None,
    calibration: str = "isotonic",
    topics: str = "fixed",
    level: float = 0.95,
    scale: Scales = None,
    policy: Policy | None = None,
    columns: Named = None,
    jobs: int = 1,
) -> DocEstimates:
    """Mean scores as people would give them with all pooled docs judged, from a sample of docs that people judged.

    human: a sampled pool, as `assay.pooling.sample` draws it: every pooled doc with its probability, grade −1 where it
    was not drawn. machine: labels of all pooled docs. calibration: one of CALIBRATIONS, fitted on other topics; it is
    for measures of gains, others take labels as relevant or not. topics="random": the interval is of the mean over
    topics like these, and so wider.

    >>> from assay.data import Run
    >>> from assay.pooling import sample
    >>> runs = [Run.from_lists(name, {t: docs for t in "123"}) for name, docs in (("a", ["u", "v"]), ("b", ["w", "x"]))]
    >>> drawn = sample(runs, "uniform(n=3)").qrels()
    >>> import dataclasses
    >>> grades = np.where(np.arange(len(drawn)) % 4 < 3, 1, -1)
    >>> found = estimate_docs(
    ...     dataclasses.replace(drawn, grades=grades), {t: {d: {"gpt": 1} for d in "uvwx"} for t in "123"}, runs
    ... )
    >>> found.runs, found.sampled, found.pooled
    (('a', 'b'), 9, 12)
    """
    one_of("kind of topics", topics, TOPICS)
    pairs = labelled(human, machine, scale=scale, columns=columns)
    one = _pooled(pairs.of_judges([chosen_judge(pairs, judge)]))
    lists = listed(runs, one, policy=policy, columns=columns, jobs=jobs)
    wanted = one_measure(measure)
    how = expansion_of(wanted)
    sampled = np.flatnonzero(one.by_people)
    probability = _probability(one, sampled)
    weights = np.ones(len(one))
    weights[sampled] = 1 / probability
    base, notes = _base_grades(one, wanted, calibration, weights)
    docs = SampledDocs(lists, base, sampled, probability)
    nobody = replace(docs, base=np.zeros(len(one)), counted=False)
    assisted, per_doc = EXPANSIONS.call(how, docs, wanted)
    alone, alone_per_doc = EXPANSIONS.call(how, nobody, wanted)
    rows = _contrast(lists.runs, baseline)
    names = lists.runs if baseline is None else tuple(lists.runs[i] for i in rows[0].tolist())
    design = Design(len(one.topics), docs.topic, docs.probability)
    value, error, degrees = design.estimate(_differ(assisted, rows), _differ(per_doc, rows), topics)
    human_value, human_error, _ = design.estimate(_differ(alone, rows), _differ(alone_per_doc, rows), topics)
    machine_only = _differ(_machine_scores(lists, wanted), rows).mean(axis=1)
    return DocEstimates(
        str(wanted), one.judges[0], names, baseline, value, error, human_value, human_error, machine_only, degrees,
        level, topics, len(sampled), len(one), tuple(notes),
    )  # fmt: skip


def _pooled(pairs: Labelled) -> Labelled:
    """The docs of the sampled pool; an error where no probabilities are known, or nothing was judged."""
    if pairs.probabilities is None:
        raise DataError(
            "the human judgments have no probabilities; an estimate from sampled docs needs a qrels file as `assay "
            "pool sample --save` writes it, with the probability of each pooled doc in a fifth column"
        )
    inside = ~np.isnan(pairs.probabilities)
    pooled = pairs.only(inside)
    if not pooled.by_people.any():
        raise DataError("no doc of the sample has been judged by people (every grade is negative)")
    return pooled


def _probability(pairs: Labelled, sampled: Ints) -> Floats:
    """The probability with which each sampled doc was drawn."""
    known = pairs.probabilities
    probability = np.ones(len(sampled)) if known is None else known[sampled]
    least = float(probability.min(initial=1.0))
    if least < LEAST_PROBABILITY:
        raise DataError(f"a judged doc was drawn with probability {least:g}; no doc that is drawn has one so small")
    return probability


def _base_grades(pairs: Labelled, measure: Measure, calibration: str, weights: Floats) -> tuple[Floats, list[str]]:
    """The machine's grade of every pooled doc, as the measure can use it, and what must be said of it.

    weights: how many docs each doc that people judged stands for.
    """
    labels = pairs.machine[0]
    gains = dict(measure.parameters).get("gain", measure.entry.parameters.get("gain"))
    notes = []
    if gains == "grade":
        if calibration == "none" and pairs.is_other_scale(0):
            raise UsageError("labels on another scale than the human grades need calibration; take isotonic")
        worth = calibrated(labels, pairs.human, pairs.topic, weights=weights, method=calibration)
        notes.append(f"machine labels calibrated by {calibration}, each topic from the others")
    else:
        cut = cut_of(pairs, 0, measure.rel)
        worth = np.where(np.isnan(labels), np.nan, np.where(labels >= cut, measure.rel, 0.0))
        notes.append(f"{measure} asks who is relevant: machine labels from {cut:g} on, without calibration")
    if measure.name not in ADDS_UP:
        notes.append(
            f"{measure} is a ratio of sums: the estimate is right to first order, better with more docs judged"
        )
    return np.where(np.isnan(worth), 0.0, worth), notes


def _machine_scores(lists: ListedPairs, measure: Measure) -> Floats:
    return lists.machine(measure, 0).values


def _contrast(runs: tuple[str, ...], baseline: str | None) -> tuple[Ints, Ints | None]:
    if baseline is None:
        return np.arange(len(runs)), None
    return pairs_with(runs, baseline)


def _differ(values: Floats, rows: tuple[Ints, Ints | None]) -> Floats:
    """Rows of runs, or their differences from the baseline."""
    first, second = rows
    return values[first] if second is None else values[first] - values[second]
