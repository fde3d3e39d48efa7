"""What would people's grades of all docs give, when the crowd judged all and people a few? Scores by gold docs.

Labels alone cannot tell: runs find docs for reasons that the labels do not see, so a doc that is ranked high is more
often relevant than its labels say, and even calibrated probabilities make differences of runs too small. Gold docs
that were drawn with known probability correct it whatever the labels are worth; others take a model of the ranks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.core.arrays import Bools, Floats
from assay.core.errors import DataError, UsageError
from assay.core.registry import did_you_mean
from assay.core.results import Result
from assay.core.tables import Table
from assay.crowd.ranked_levels import RankedLevels, ranked_levels
from assay.crowd.recalibration import (
    FEWEST_GOLD,
    by_cuts,
    expected,
    grades_on_levels,
    logistic,
    logit,
    recalibrated,
    refuse_few_gold,
)
from assay.crowd.uncertain import Uncertain
from assay.data import Qrels
from assay.io.brought import plain_qrels_of
from assay.measures import Measure
from assay.scoring import evaluate
from assay.scoring.run_scores import parsed
from assay.stats.bounded import bounded_ends, shows_little
from assay.stats.clustered import jackknife, t_quantile
from assay.stats.sentences import DELTA_KEYS, signed

LEVEL = 0.95
ALONE = "as if labels told all"
"""The column of scores with each doc at its most probable grade."""
GOLD_PER_RUN = 20
"""Gold docs needed for each slope of a fit on ranks."""
FEW_A_TOPIC = 5
"""With fewer gold docs a topic than this a fit on ranks makes differences too small (.152 for .200 at 2 a topic)."""


@dataclass(frozen=True, eq=False)
class GoldScores(Result):
    """Scores of runs, or their differences to a baseline, as people's grades of all docs would give them."""

    unit = "topic"
    measure: str
    method: str
    """rectified, or fitted on ranks."""
    runs: tuple[str, ...]
    value: Floats
    low: Floats
    high: Floats
    alone: Floats
    """The same with each doc at its most probable grade."""
    baseline: str | None
    topics: int
    gold: int
    notes: tuple[str, ...]

    @property
    def verdict(self) -> str:
        """Which runs differ from the baseline; of scores alone, nothing."""
        if self.baseline is None:
            return ""
        said = []
        for run, *numbers in zip(self.runs, self.value, self.low, self.high, strict=True):
            delta, low, high = (signed(float(number), 3) for number in numbers)
            how = "beats" if numbers[1] > 0 else "is worse than" if numbers[2] < 0 else "is not shown to differ from"
            said.append(f"{run} {how} {self.baseline}: {delta} [{low}, {high}]")
        together = f"95 % for all {len(said)} together, " if len(said) > 1 else ""
        return f"{self.measure}: {', '.join(said)} ({together}{self.topics} topics, {self.gold} gold docs)."

    def table(self) -> Table:
        """One row per run, best first."""
        sign, value, against = ("", "mean", "") if self.baseline is None else ("+", "Δ", f" against {self.baseline}")
        formats = {"run": "", value: f"{sign}.4f", "low": f"{sign}.4f", "high": f"{sign}.4f", ALONE: f"{sign}.4f"}
        order = np.argsort(-self.value, kind="stable").tolist()
        rows = [(self.runs[i], self.value[i], self.low[i], self.high[i], self.alone[i]) for i in order]
        caption = f"{self.measure}{against} from uncertain judgments and gold docs"
        notes = [self.verdict, *self.notes] if self.verdict else self.notes
        return Table.of(formats, rows, caption=caption, notes=notes, keys=DELTA_KEYS if sign else None)

    def record(self) -> dict[str, Any]:
        """The table, the method and the verdict."""
        return {**super().record(), "method": self.method, "verdict": self.verdict}


@dataclass(frozen=True, eq=False)
class _Gold:
    """The docs with labels whose grade is known: NaN elsewhere; and how probable it was that each was drawn."""

    grade: Floats
    probability: Floats | None
    without_labels: int

    @property
    def known(self) -> Bools:
        """Which docs are gold."""
        return ~np.isnan(self.grade)


def gold_scores(
    runs: Any,
    judgments: Uncertain,
    reference: Any,
    measure: str | Measure = "DCG@10",
    *,
    baseline: str | None = None,
    calibration: str | None = None,
) -> GoldScores:
    """Scores, or differences to a baseline, that people's grades of all docs would give, with 95 % over topics.

    reference: the grades of gold docs. With their probabilities of being drawn the gain of a doc is rectified,
    p̂ + [gold]·(y − p̂)/π, p̂ calibrated on other topics, and t is taken over topics. Without, the gains are fitted by
    logistic regression on logit p and on 1/√rank in each run, with a delete-one-topic jackknife of the whole fit. Only
    measures that add up their ranks: P, DCG, RBP … Zrnic & Candès 2024; Angelopoulos et al. 2023.

    >>> sure = [("1", "a"), ("1", "b"), ("2", "a"), ("2", "b")]
    >>> judged = Uncertain.of_posterior("demo", sure, [[0.2, 0.8], [0.6, 0.4]] * 2, levels=[0, 1], labels=[5] * 4)
    >>> gold = Qrels.from_dict({"1": {"a": 1, "b": 0}, "2": {"a": 1, "b": 1}}).to_polars().with_columns(probability=1.0)
    >>> gold_scores({"r": {t: ["a", "b"] for t in "12"}}, judged, gold, "P@2").value.tolist()
    [0.75]
    """
    wanted = _one(measure)
    posterior = judgments.posterior
    if posterior is None:
        raise DataError(
            f"{judgments.method}: gold docs correct probabilities p(level), and these judgments are numbers"
        )
    ranked = ranked_levels(runs, judgments, wanted)
    if len(ranked.topics) < 2:
        raise DataError("1 topic; an interval over topics needs at least two")
    gold = _gold_of(judgments, plain_qrels_of(reference))
    rows = _Rows.of(ranked.runs, baseline)
    alone = evaluate(runs, judgments.qrels(), wanted)[0].values
    limit = ranked.highest(len(judgments.levels))
    if gold.probability is None:
        method = "fitted on ranks"
        value, low, high, notes = _fitted(ranked, judgments, gold, rows, calibration)
    else:
        method = "rectified"
        value, low, high, notes = _rectified(ranked, judgments, gold, rows, calibration, limit)
    least = 0.0 if baseline is None else -limit
    if gold.without_labels:
        notes.append(f"{gold.without_labels} docs of the reference have no labels and are left out")
    notes.append(f"{ALONE}: each doc at its most probable grade; no interval, since labels do not see what runs see")
    return GoldScores(
        measure=str(wanted),
        method=method,
        runs=rows.names,
        value=value,
        low=low.clip(least, limit),
        high=high.clip(least, limit),
        alone=rows.of_runs(alone).mean(axis=1),
        baseline=baseline,
        topics=len(ranked.topics),
        gold=int(gold.known.sum()),
        notes=tuple(notes),
    )


def _one(measure: str | Measure) -> Measure:
    found = parsed(measure)
    if len(found) != 1:
        raise UsageError(f"one measure is needed, not {len(found)}: {', '.join(map(str, found))}")
    return found[0]


@dataclass(frozen=True, eq=False)
class _Rows:
    """The runs, or their differences to a baseline."""

    names: tuple[str, ...]
    place: tuple[int, ...]
    base: int | None

    @classmethod
    def of(cls, runs: tuple[str, ...], baseline: str | None) -> _Rows:
        """All runs, or all but the baseline."""
        if baseline is None:
            return cls(runs, tuple(range(len(runs))), None)
        if baseline not in runs:
            raise UsageError(f"no run {baseline!r}{did_you_mean(baseline, runs)}")
        others = tuple(run for run in range(len(runs)) if runs[run] != baseline)
        if not others:
            raise UsageError(f"{baseline} is the only run; give another to compare with it")
        return cls(tuple(runs[run] for run in others), others, runs.index(baseline))

    @property
    def level(self) -> float:
        """The level of one interval: all differences to a baseline hold together (Bonferroni), each score by itself."""
        return LEVEL if self.base is None else 1 - (1 - LEVEL) / len(self.names)

    @property
    def promise(self) -> str:
        """What the intervals promise, in words."""
        if self.base is None:
            return "95 %, each score by itself"
        if len(self.names) == 1:
            return "95 %"
        return f"95 % for all {len(self.names)} differences together (Bonferroni)"

    def of_runs(self, scores: Floats) -> Floats:
        """The rows of runs × topics."""
        chosen = scores[list(self.place)]
        return chosen if self.base is None else chosen - scores[self.base]


def _gold_of(judgments: Uncertain, reference: Qrels) -> _Gold:
    """The grades of the reference on the levels of the judgments, and the probabilities of the docs."""
    grade = grades_on_levels(judgments, reference)
    probability = None
    if reference.probabilities is not None:
        topics = [reference.topics[number] for number in reference.topic_of_row().tolist()]
        probability = _probabilities(judgments, topics, reference.docs.tolist(), reference.probabilities)
    judged = int(reference.judged().sum())
    return _Gold(grade, probability, judged - int((~np.isnan(grade)).sum()))


def _probabilities(judgments: Uncertain, topics: list[str], docs: list[str], drawn_with: Floats) -> Floats:
    """With which probability each doc was drawn; NaN for docs that the reference does not name."""
    known = dict(zip(zip(topics, docs, strict=True), drawn_with.tolist(), strict=True))
    return np.array([known.get(item, np.nan) for item in judgments.items])


def _rectified(
    ranked: RankedLevels, judgments: Uncertain, gold: _Gold, rows: _Rows, calibration: str | None, limit: float
) -> tuple[Floats, Floats, Floats, list[str]]:
    """Means over topics of rectified scores, t over topics; the Dirichlet bound if few topics were corrected."""
    assert gold.probability is not None
    _refuse_unlike_draws(gold, ranked.counted())
    shares, how = _calibrated(judgments, gold, ranked, calibration)
    corrections = np.zeros(shares.shape)
    known = gold.known
    graded = gold.grade[known, None] == judgments.levels
    corrections[known] = (graded - shares[known]) / gold.probability[known, None]
    moved = rows.of_runs(ranked.scores(corrections))
    values = rows.of_runs(ranked.scores(shares)) + moved
    topics = values.shape[1]
    mean = values.mean(axis=1)
    half = t_quantile((1 + rows.level) / 2, topics - 1) * values.std(axis=1, ddof=1) / np.sqrt(topics)
    low, high = mean - half, mean + half
    little = shows_little(moved)
    if little.any():
        limits = (0.0, limit) if rows.base is None else (-limit, limit)
        low[little], high[little] = bounded_ends(values[little], rows.level, limits)
    notes = [
        f"{rows.promise}: t over {topics} topics; gains rectified by {int(known.sum())} gold docs that were drawn with "
        "known probability",
        how,
    ]
    outside = _not_on_offer(gold, ranked.counted())
    if outside:
        notes.append(f"docs that count and could not be drawn, since the reference does not name them: {outside}")
    if little.any():
        names = ", ".join(name for name, is_little in zip(rows.names, little, strict=True) if is_little)
        notes.append(f"{names}: gold docs correct few topics, so the interval is the Dirichlet bound")
    return mean, low, high, notes


def _not_on_offer(gold: _Gold, counted: Bools) -> int:
    """How many docs that count a reference that names the docs which were not drawn does not name."""
    assert gold.probability is not None
    named = ~np.isnan(gold.probability)
    return int((counted & ~named).sum()) if (named & ~gold.known).any() else 0


def _refuse_unlike_draws(gold: _Gold, counted: Bools) -> None:
    """An error if a gold doc has no probability, or those of the gold docs do not stand for the docs that count."""
    assert gold.probability is not None
    pi = gold.probability[gold.known]
    if not ((pi > 0) & (pi <= 1)).all():
        raise DataError("a gold doc was drawn with a probability that is not above 0 and at most 1")
    chosen = gold.known & counted
    pi = gold.probability[chosen]
    stand_for = float((1 / pi).sum())
    docs = int(counted.sum())
    if not chosen.any():
        raise DataError(f"none of the {docs} docs with labels that count in the measure is gold; draw some of them")
    # The variance of that number, made larger if the draw gave few of the docs that count.
    variance = float(((1 - pi) / pi**2).sum()) * max(1.0, docs / stand_for)
    if abs(stand_for - docs) > 4 * np.sqrt(variance) + 0.5:
        raise DataError(
            f"the probabilities of {int(chosen.sum())} gold docs are those of a draw from {stand_for:.0f} docs, but "
            f"{docs} docs with labels count in the measure; draw gold docs from all of these, and give the probability "
            "of each"
        )


def _calibrated(judgments: Uncertain, gold: _Gold, ranked: RankedLevels, calibration: str | None) -> tuple[Floats, str]:
    """The probabilities that gains start from, and a sentence on them."""
    assert judgments.posterior is not None
    docs = int(gold.known.sum())
    if judgments.calibration != "raw":
        if calibration is not None:
            raise UsageError(f"these probabilities are calibrated already ({judgments.calibration}); leave it out")
        return judgments.posterior, judgments.probabilities_note()
    if calibration is None and docs < FEWEST_GOLD:
        return judgments.posterior, f"probabilities: raw; {docs} gold docs are too few to calibrate ({FEWEST_GOLD})"
    method = calibration or "platt"
    topic = ranked.topic_of_doc
    shares = recalibrated(judgments.posterior, judgments.levels, gold.grade, topic, method)
    return shares, f"probabilities: calibrated by {method} on {docs} gold docs, each topic from others"


def _fitted(
    ranked: RankedLevels, judgments: Uncertain, gold: _Gold, rows: _Rows, calibration: str | None
) -> tuple[Floats, Floats, Floats, list[str]]:
    """Means of scores under gains fitted on p and ranks; delete-one-topic jackknife with the fit made again."""
    if calibration is not None:
        raise UsageError("a calibration has no effect on gold docs without probabilities: p is part of their fit")
    docs = int(gold.known.sum())
    needed = max(FEWEST_GOLD, GOLD_PER_RUN * (len(ranked.runs) + 2))
    refuse_few_gold(docs, len(np.unique(ranked.topic_of_doc[gold.known])), needed=needed)
    ranks = ranked.root_ranks()
    topics = len(ranked.topics)

    def estimate(without: int | None) -> Floats:
        train = gold.known if without is None else gold.known & (ranked.topic_of_doc != without)
        scores = rows.of_runs(ranked.scores(_fit_on_ranks(judgments, gold.grade, train, ranks)))
        kept = np.arange(topics) != without
        return np.asarray(scores[:, kept].mean(axis=1))

    value = estimate(None)
    notes = [
        "the fit is a logistic regression on p and on 1/√rank in each run; gold docs drawn with known probability (a "
        "fifth column) need no such model",
        judgments.probabilities_note(),
    ]
    if rows.base is None:
        # simulated: such intervals leave out the score of a run that knows more than its labels in a third of cases
        notes.insert(0, "no interval: the model holds for differences to a baseline, not for the score of one run")
        return value, np.full_like(value, np.nan), np.full_like(value, np.nan), notes
    left_out = np.array([estimate(topic) for topic in range(topics)])
    ends = [jackknife(float(v), left_out[:, i]).interval(rows.level) for i, v in enumerate(value)]
    low, high = np.transpose(ends)
    how = f"delete-one-topic jackknife over {topics} topics of gains fitted on {docs} gold docs"
    notes.insert(0, f"{rows.promise}: {how}; it holds if the model of the fit does")
    if docs < FEW_A_TOPIC * topics:
        notes.append(
            f"fewer than {FEW_A_TOPIC} gold docs a topic: differences may come out too small, by a quarter at 2"
        )
    return value, low, high, notes


def _fit_on_ranks(judgments: Uncertain, grade: Floats, train: Bools, ranks: Floats) -> Floats:
    """Shares of the levels by logistic regression of each P(grade ≥ level) on its logit and on the ranks."""
    assert judgments.posterior is not None
    if grade[train].min() == grade[train].max():
        raise DataError(
            f"all gold docs of all topics but one have grade {grade[train][0]:g}; a fit needs docs of other grades"
        )

    def calibrated(at_least: Floats, relevant: Floats) -> Floats:
        features = np.column_stack([logit(at_least), ranks])
        kind = relevant[train]
        if kind.min() == kind.max():  # nobody has the highest levels, or the lowest
            return np.full(len(at_least), kind[0])
        return expected(logistic(features[train], kind), features)

    return by_cuts(judgments.posterior, judgments.levels, grade, calibrated)
