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
from assay.judges.doc_expansions import ADDS_UP, EXPANSIONS, Design, SampledDocs, expansion_of, relevant_known
from assay.judges.doc_intervals import DocInterval, doc_interval, ndcg_needs
from assay.judges.label_cuts import cut_of
from assay.judges.labelled_pairs import Labelled, Scales, labelled
from assay.judges.listed import ListedPairs, listed, one_measure
from assay.judges.topic_estimates import chosen_judge, limits_of
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

    measure: str
    judge: str
    runs: tuple[str, ...]
    baseline: str | None
    found: DocInterval
    human_only: DocInterval
    """By the sampled docs alone: Σ_S gain/π."""
    machine_only: Floats
    level: float
    topics: str
    sampled: int
    pooled: int
    notes: tuple[str, ...]

    @property
    def unit(self) -> str:
        """What was drawn: docs of these topics, or topics."""
        return "doc" if self.topics == "fixed" else "topic"

    def table(self) -> Table:
        """One row for each run, the best first."""
        number = "+.4f" if self.baseline is not None else ".4f"
        columns = {
            "run": "", "estimate": number, "low": number, "high": number, "width": ".4f", "human only": number,
            "human low": number, "human high": number, "human width": ".4f", "machine only": number,
        }  # fmt: skip
        found, alone = self.found, self.human_only
        cells = (found.value, found.low, found.high, found.width, alone.value, alone.low, alone.high, alone.width)
        rows = [
            (self.runs[i], *(column[i] for column in cells), self.machine_only[i])
            for i in np.argsort(-found.value, kind="stable").tolist()
        ]
        what = "differences from " + self.baseline if self.baseline is not None else "means"
        caption = f"{self.measure}: {what} as people would score, with the labels of {self.judge}"
        drawn = "docs" if self.unit == "doc" else "topics"
        notes = [
            f"{self.sampled} of {self.pooled} pooled docs judged by people, with known probabilities; {self.topics} "
            f"topics; {100 * self.level:g} % t intervals with {drawn} as units",
            "assumes that the sampled docs were drawn with the probabilities of the file, and that docs outside the "
            "pool are not relevant",
            *self._refused("estimate", found),
            *self._refused("human only", alone),
            *self.notes,
        ]
        return Table.of(columns, rows, caption=caption, notes=notes)

    def _refused(self, what: str, found: DocInterval) -> list[str]:
        """Which rows have no estimate, why, and how many labels would help."""
        count = int(found.refused.sum())
        if not count:
            return []
        which = f"{what} of {'all' if count == len(self.runs) else count} runs is not shown"
        if not found.why:
            return [f"{which}: too few topics are unlike the others for an interval"]
        return [f"{which}: {found.why}; {more_labels(found.times, self.sampled, self.pooled)}"]

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

    >>> from assay.data import Qrels, Run
    >>> from assay.nojudgments import comparable
    >>> from assay.pooling import sample
    >>> lists = (("a", list("tuvw")), ("b", list("vwxy")))
    >>> runs = [Run.from_lists(name, {str(t): docs for t in range(20)}) for name, docs in lists]
    >>> pool = comparable(runs, qrels=Qrels.from_dict({str(t): dict.fromkeys("tuvwxy", 1) for t in range(20)}))
    >>> drawn = sample(pool, "uniform(n=4)").qrels(pool)
    >>> labels = {str(t): {d: {"gpt": 1} for d in "tuvwxy"} for t in range(20)}
    >>> found = estimate_docs(drawn, labels, runs)
    >>> found.runs, found.sampled, found.pooled
    (('a', 'b'), 80, 120)
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
    rows = _contrast(lists.runs, baseline)
    names = lists.runs if baseline is None else tuple(lists.runs[i] for i in rows[0].tolist())
    design = Design(len(one.topics), docs.topic, docs.probability)
    judged_all = topics == "fixed" and len(sampled) == len(one) and bool((probability == 1).all())
    people = lists.human(wanted)
    machine_scores = lists.machine(wanted, 0)
    limits = limits_of(people, machine_scores, baseline) or _reachable(lists, wanted, baseline)

    def of(part: SampledDocs) -> DocInterval:
        scores, changes, typical = EXPANSIONS.call(how, part, wanted)
        needs = (1.0, "") if how != "nDCG" else ndcg_needs(*relevant_known(part), assisted=part.counted)
        numbers = design.estimate(_differ(scores, rows), _differ(changes, rows), typical, topics)
        return doc_interval(*numbers, level, limits, needs=needs, all_judged=judged_all)

    found, human_only = of(docs), of(nobody)
    if found.refused.all():
        raise DataError(
            f"{wanted}: no estimate of these {len(names)} runs would hold: {found.why or 'too few labels'}; "
            f"{more_labels(found.times, len(sampled), len(one))}"
        )
    machine_only = _differ(machine_scores.values, rows).mean(axis=1)
    return DocEstimates(
        str(wanted), one.judges[0], names, baseline, found, human_only, machine_only, level, topics, len(sampled),
        len(one), tuple(notes),
    )  # fmt: skip


def _reachable(lists: ListedPairs, measure: Measure, baseline: str | None) -> tuple[float, float]:
    """The largest mean of a run if all pooled docs had the highest grade, as a limit of scores that add up gains."""
    pairs = lists.pairs
    best = lists.scores(np.full(len(pairs), pairs.scale.high), pairs.scale, measure, "all")
    high = float(best.averages().max())
    return (0.0, high) if baseline is None else (-high, high)


def more_labels(times: float, sampled: int, pooled: int) -> str:
    """How many labels would help, in words.

    >>> more_labels(2.5, 40, 500), more_labels(30, 40, 500)
    ('label about 100 of the 500 pooled docs', 'label nearly all of the 500 pooled docs')
    """
    wanted = int(np.ceil(sampled * times))
    if wanted > 0.9 * pooled:
        return f"label nearly all of the {pooled} pooled docs"
    return f"label about {wanted} of the {pooled} pooled docs"


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
        called = labels >= cut.of_topic[pairs.topic]
        worth = np.where(np.isnan(labels), np.nan, np.where(called, measure.rel, 0.0))
        notes.append(f"{measure} asks who is relevant: machine labels from {cut.described} on, without calibration")
    if measure.name not in ADDS_UP:
        notes.append(
            f"{measure} is a ratio of sums: the estimate is right to first order, better with more docs judged"
        )
    return np.where(np.isnan(worth), 0.0, worth), notes


def _contrast(runs: tuple[str, ...], baseline: str | None) -> tuple[Ints, Ints | None]:
    if baseline is None:
        return np.arange(len(runs)), None
    return pairs_with(runs, baseline)


def _differ(values: Floats, rows: tuple[Ints, Ints | None]) -> Floats:
    """Rows of runs, or their differences from the baseline."""
    first, second = rows
    return values[first] if second is None else values[first] - values[second]
