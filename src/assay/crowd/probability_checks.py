"""How far do the probabilities of judgments hold? Of docs that are called relevant with .9, nine in ten should be.

Checked against the grades of gold docs: Brier and log score, raw and calibrated on other topics, and the share of
relevant docs among docs of similar probability. Docs of a topic are alike, so topics are the units of the intervals.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.agreement.across_scales import grades_of
from assay.core.arrays import Bools, Floats, Ints
from assay.core.errors import DataError
from assay.core.results import Result
from assay.core.tables import Table
from assay.crowd.recalibration import EDGE, FEWEST_GOLD, RECALIBRATIONS, cross_fitted, grades_on_levels, recalibrated
from assay.crowd.uncertain import RAW, Uncertain
from assay.data import Qrels
from assay.stats.clustered import Share, share_of
from assay.stats.sentences import printed

BINS = 10
CERTAIN = 0.99


@dataclass(frozen=True)
class Bin:
    """Docs of similar probability: how many, the mean probability, the share that is relevant; no ends of one topic."""

    probabilities: str
    start: float
    docs: int
    mean: float
    share: float
    low: float | None
    high: float | None


@dataclass(frozen=True, eq=False)
class Reliability(Result):
    """Probabilities of being relevant against the grades of a reference; those of gold docs are held out by topic."""

    unit = "topic"
    method: str
    docs: int
    topics: int
    scores: tuple[tuple[str, float, float], ...]
    """Probabilities (raw, or how calibrated), Brier score, log score."""
    bins: tuple[Bin, ...]
    notes: tuple[str, ...]

    def tables(self) -> list[Table]:
        """The scores of raw and of calibrated probabilities, and the reliability table."""
        formats = {"probabilities": "", "docs": "d", "Brier score": ".4f", "log score": ".4f"}
        rows = [(name, self.docs, brier, log) for name, brier, log in self.scores]
        caption = f"How far the probabilities of {self.method} hold, against the reference"
        return [Table.of(formats, rows, caption=caption, notes=self.notes), self._bins()]

    def _bins(self) -> Table:
        formats = {
            "probabilities": "", "from": ".1f", "docs": "d", "mean probability": ".3f", "share relevant": ".3f",
            "low": ".3f", "high": ".3f",
        }  # fmt: skip
        rows = [(b.probabilities, b.start, b.docs, b.mean, b.share, b.low, b.high) for b in self.bins]
        notes = ["low, high: 95 % with topics as units; a share outside of its bin's probabilities is off"]
        return Table.of(formats, rows, caption=f"Reliability of the probabilities of {self.method}", notes=notes)


def reliability(
    judgments: Uncertain, reference: Qrels, *, cut: float = 1, rel: float = 1, calibration: str | None = None
) -> Reliability:
    """Probabilities that a doc is relevant against its grade in the reference: scores, and a table of ten bins.

    Relevant: levels from `cut` on, grades of the reference from `rel` on. From 80 gold docs on also the held-out scores
    of each calibration, and the bins of the one that is named, else of Platt's.

    >>> levels = [[0.9, 0.1], [0.2, 0.8]]
    >>> judged = Uncertain.of_posterior("demo", [("1", "a"), ("2", "b")], levels, levels=[0, 1], labels=[5, 5])
    >>> found = reliability(judged, Qrels.from_dict({"1": {"a": 0}, "2": {"b": 1}}))
    >>> [(name, round(brier, 4), round(log, 4)) for name, brier, log in found.scores]
    [('raw', 0.025, 0.1643)]
    """
    if judgments.posterior is None:
        raise DataError(f"{judgments.method} estimates numbers, without probabilities of levels that could be checked")
    grade = grades_of(judgments.items, reference, judgments.method)
    relevant = np.where(np.isnan(grade), np.nan, grade >= rel)
    known = ~np.isnan(grade)
    topic = topics_of(judgments)
    raw = judgments.posterior[:, judgments.levels >= cut].sum(axis=1).clip(0, 1)
    versions = {judgments.calibration: raw}
    topics = len(np.unique(topic[known]))
    if judgments.calibration == RAW and known.sum() >= FEWEST_GOLD and topics > 1:
        versions |= {entry.name: cross_fitted(raw, relevant, topic, entry.name) for entry in RECALIBRATIONS}
    shown = [judgments.calibration, *([calibration or "platt"] if len(versions) > 1 else [])]
    bins = [b for name in shown for b in _bins_of(name, versions[name][known], relevant[known], topic[known])]
    return Reliability(
        method=judgments.method,
        docs=int(known.sum()),
        topics=topics,
        scores=tuple((name, *scores_of(p[known], relevant[known])) for name, p in versions.items()),
        bins=tuple(bins),
        notes=(
            *_certain(judgments, grade, known, cut, rel, topic),
            f"relevant: grades of at least {rel:g} in the reference; {int(known.sum())} docs of {topics} topics",
            f"Brier, log score: 0 is best; log scores take p within {EDGE:g} of 0 and 1",
            *_on_calibrations(len(versions) > 1, judgments.calibration),
            *_on_unequal_draws(reference),
        ),
    )


def scores_of(p: Floats, relevant: Floats) -> tuple[float, float]:
    """Brier score, the mean of (p − y)², and log score, the mean of −ln of the probability of what was right.

    >>> brier, log = scores_of(np.array([0.9, 0.5]), np.array([1.0, 0.0]))
    >>> round(brier, 4), round(log, 4)
    (0.13, 0.3993)
    """
    inside = p.clip(EDGE, 1 - EDGE)
    log = -(relevant * np.log(inside) + (1 - relevant) * np.log1p(-inside))
    return float(((p - relevant) ** 2).mean()), float(log.mean())


def topics_of(judgments: Uncertain) -> Ints:
    """The number of each doc's topic."""
    return judgments.qrels().topic_of_row()


def calibrated(judgments: Uncertain, reference: Qrels, method: str = "platt", *, rel: float = 1) -> Uncertain:
    """The judgments with probabilities calibrated on the reference, each topic on others; 80 gold docs are needed.

    Of two levels a grade of the reference from `rel` on is the upper. More need a reference with these same levels.

    >>> levels = [[0.99, 0.01], [0.02, 0.98]] * 40
    >>> judged = Uncertain.of_posterior("demo", [(f"{i % 8}", f"{i}") for i in range(80)], levels, levels=[0, 1],
    ...                                 labels=[5] * 80)
    >>> gold = Qrels.from_dict({f"{t}": {f"{i}": i % 16 == t or t == 1 for i in range(t, 80, 8)} for t in range(8)})
    >>> found = calibrated(judged, gold)
    >>> found.calibration, bool(found.posterior.max() < 0.9)
    ('platt', True)
    """
    if judgments.posterior is None:
        raise DataError(f"{judgments.method} estimates numbers, without probabilities that could be calibrated")
    grade = grades_on_levels(judgments, reference, rel)
    posterior = recalibrated(judgments.posterior, judgments.levels, grade, topics_of(judgments), method)
    return judgments.with_posterior(posterior, method)


def _bins_of(name: str, p: Floats, relevant: Floats, topic: Ints) -> list[Bin]:
    place = np.minimum((p * BINS).astype(int), BINS - 1)
    bins = []
    for number in np.unique(place).tolist():
        here = place == number
        share = _share(relevant[here], topic[here])
        ends = (None, None) if share is None else (share.low, share.high)
        bins.append(
            Bin(name, number / BINS, int(here.sum()), float(p[here].mean()), float(relevant[here].mean()), *ends)
        )
    return bins


def _share(relevant: Floats, topic: Ints) -> Share | None:
    """The share of relevant docs with topics as units; None of one topic."""
    place = np.unique(topic, return_inverse=True)[1]
    docs = np.bincount(place)
    if len(docs) < 2:
        return None
    return share_of(np.bincount(place, relevant), docs)


def _certain(judgments: Uncertain, grade: Floats, known: Bools, cut: float, rel: float, topic: Ints) -> tuple[str, ...]:
    """How many of the docs that are certain are right, relevant or not."""
    assert judgments.posterior is not None
    p = judgments.posterior[:, judgments.levels >= cut].sum(axis=1)
    sure = known & (np.maximum(p, 1 - p) >= CERTAIN)
    if not sure.any():
        return ()
    right = ((p >= 0.5) == (grade >= rel))[sure].astype(np.float64)
    share = _share(right, topic[sure])
    ends = "" if share is None else f" [{printed(share.low, 3)}, {printed(share.high, 3)}]"
    too_sure = share is not None and share.high < CERTAIN and judgments.calibration == RAW
    return (
        f"of {int(sure.sum())} docs that are relevant or not with a probability of {printed(CERTAIN, 2)} or more, "
        f"{printed(float(right.mean()), 3)} are right{ends}{'; calibrate them (--calibration)' if too_sure else ''}",
    )


def _on_calibrations(are_shown: bool, calibration: str) -> tuple[str, ...]:
    if are_shown:
        return ("calibrated probabilities are held out: each topic by a fit on others; the lowest log score is best",)
    if calibration != RAW:
        return ()
    return (f"fewer than {FEWEST_GOLD} docs or 2 topics with grades: too few to calibrate",)


def _on_unequal_draws(reference: Qrels) -> tuple[str, ...]:
    drawn_with = reference.probabilities
    if drawn_with is None or np.ptp(drawn_with[reference.judged()]) == 0:
        return ()
    return ("gold docs were drawn with different probabilities, and count alike here",)
