"""What does the choice of a cut do to the ranking of runs? Ranks over a set of cuts, and cuts chosen by τ.

Choosing by τ looks at the runs; so τ of the chosen cut is also given on topics that had no part in the choice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.agreement.scales import Scale
from assay.core.arrays import Bools, Floats
from assay.core.engine import Progress, generator, silent
from assay.core.errors import DataError, UsageError
from assay.core.results import Result
from assay.core.tables import Table
from assay.crowd.cuts import CutSearch, shown_points, transformed
from assay.crowd.cutscores import CutChoice
from assay.crowd.cutsearch import BestCut
from assay.crowd.cutsets import HonestCuts
from assay.data import Labels, Qrels, Run
from assay.data.averages import average_title, averages_of
from assay.measures import parse
from assay.rankings import kendall_rows, midranks, settled
from assay.scoring import evaluate

MOST_JUDGED = 1000
"""Cuts under which runs are scored; of more, those with the highest α."""


@dataclass(frozen=True, eq=False)
class RankingOverCuts(Result):
    """Ranks of runs under judgments from cuts drawn out of the sets, and τ with a reference where there is one."""

    runs: tuple[str, ...]
    averages: Floats
    """draws × runs: scores over the topics; the first row is that of the best cuts."""
    tau: Floats
    """τ_b with the reference by draw; empty without one."""
    measure: str
    seed: int

    def ranks(self) -> Floats:
        """draws × runs: 1 is the best; ties have the mean of their ranks."""
        return midranks(-settled(self.averages))

    def _average(self) -> str:
        return average_title(self.measure, parse(self.measure).aggregate)

    def table(self) -> Table:
        """One row per run, best first: its rank under the best cuts, and over all draws."""
        ranks = self.ranks()
        rows = []
        for run in np.argsort(ranks[0], kind="stable").tolist():
            of_run = ranks[:, run]
            score = self.averages[:, run]
            rows.append((self.runs[run], score[0], score.min(), score.max(), of_run[0], of_run.min(), of_run.max()))
        formats = {
            "run": "", "score": ".4f", "lowest": ".4f", "highest": ".4f", "rank": "g", "best rank": "g",
            "worst rank": "g",
        }  # fmt: skip
        notes = [f"{len(ranks) - 1} draws of a cut from each set, seed {self.seed}; {self._average()}."]
        known = self.tau[np.isfinite(self.tau)]
        if len(known) == len(self.tau) > 0:
            range_of_tau = f"{known.min():.4f} to {known.max():.4f} over all"
            notes.append(f"τ_b with the reference {known[0]:.4f} at the best cuts, {range_of_tau}.")
        return Table.of(formats, rows, caption="What the choice of a cut does to the runs", notes=notes)


def ranking_over_cuts(
    runs: Sequence[Run],
    labels: Labels,
    honest: HonestCuts,
    *,
    reference: Qrels | None = None,
    measure: str = "nDCG",
    draws: int = 50,
    ties: str = "low",
    aggregate: str = "median",
    seed: int = 0,
    progress: Progress = silent,
) -> RankingOverCuts:
    """Runs scored under the best cuts and under `draws` cuts from the sets, each topic's on its own."""
    rng = generator(seed)
    searches = [honest.search] + [honest.drawn(rng) for _ in range(draws)]
    scores = _scored(runs, labels, searches, reference, measure, ties, aggregate, progress)
    tau = np.zeros(0) if scores.theirs is None else scores.tau()
    return RankingOverCuts(scores.runs, scores.averages(), tau, measure, seed)


@dataclass(frozen=True, eq=False)
class _Scored:
    """Scores of runs under the judgments of each cut (cuts × runs × topics) and of a reference (runs × topics)."""

    runs: tuple[str, ...]
    ours: Floats
    theirs: Floats | None
    aggregate: str
    """How the scores of a run on its topics become one number."""

    def averages(self, topics: Bools | slice = slice(None)) -> Floats:
        """cuts × runs: the scores over these topics."""
        return np.array([averages_of(scores[:, topics], self.aggregate) for scores in self.ours])

    def tau(self, topics: Bools | slice = slice(None)) -> Floats:
        """τ_b of the runs under each cut with the reference, on these topics; not-a-number where it is undefined."""
        assert self.theirs is not None
        by_reference = averages_of(self.theirs[:, topics], self.aggregate)
        return kendall_rows(settled(self.averages(topics)), settled(by_reference))


def _scored(
    runs: Sequence[Run],
    labels: Labels,
    searches: Sequence[CutSearch],
    reference: Qrels | None,
    measure: str,
    ties: str,
    aggregate: str,
    progress: Progress,
) -> _Scored:
    """The runs under the judgments of each search, on the topics that the reference has too, where there is one."""
    if len(runs) < 2:
        raise DataError(f"{len(runs)} run; a ranking needs two or more")
    theirs = None
    topics = list(transformed(labels, searches[0]).topics)
    if reference is not None:
        known = set(reference.topics)
        topics = [topic for topic in topics if topic in known]
        if not topics:
            raise DataError(f"{labels.name} and {reference.name} share no topic; check topic ids")
        theirs = evaluate(runs, reference, [measure])[0].select(topics=topics).values
    ours = []
    names: tuple[str, ...] = ()
    for done, search in enumerate(searches, 1):
        judgments = transformed(labels, search, ties=ties, aggregate=aggregate)
        scores = evaluate(runs, judgments, [measure])[0].select(topics=topics)
        names = scores.runs
        ours.append(scores.values)
        progress(done, len(searches))
    return _Scored(names, np.array(ours), theirs, parse(measure).aggregate)


@dataclass(frozen=True, eq=False)
class CutsByTau(Result):
    """One cut for all topics: τ of the runs with the reference under each cut, beside the α that cuts are chosen by."""

    cuts: Floats
    """cuts × points, in the order of their points."""
    tau: Floats
    alpha: Floats
    held_out: Floats
    """τ on the half of the topics that had no part in the choice: chosen by τ, and by α; means of both halves."""
    way: str
    source: Scale
    tried: int
    measure: str
    runs: int

    @property
    def by_tau(self) -> int:
        """The cut with the highest τ; of several the one with the highest α."""
        top = np.nanmax(self.tau)
        is_top = self.tau >= top - 1e-12
        return int(np.argmax(np.where(is_top, self.alpha, -np.inf)))

    @property
    def by_alpha(self) -> int:
        """The cut with the highest α."""
        return int(np.argmax(self.alpha))

    def table(self, *, most: int | None = None) -> Table:
        """One row per cut, the highest τ first."""
        formats = {"cut": "", "τ_b": ".4f", "α": ".4f", "chosen by": ""}
        order = np.lexsort((-self.alpha, -np.nan_to_num(self.tau, nan=-2.0)))
        chosen = {self.by_alpha: "α"}
        chosen[self.by_tau] = "τ and α" if self.by_tau == self.by_alpha else "τ"
        rows = []
        for i in order[:most].tolist():
            rows.append((shown_points(self.cuts[i]), self.tau[i], self.alpha[i], chosen.get(i, "")))
        notes = [f"{self.measure} of {self.runs} runs; α by {self.way}, mean of the topics."]
        if np.isfinite(self.held_out).all():
            by_tau, by_alpha = self.held_out.tolist()
            notes.append(
                f"Chosen on every other topic, τ_b on the other topics is {by_tau:.4f} by τ and {by_alpha:.4f} by α "
                "(means of both halves)."
            )
        if len(self.cuts) < self.tried:
            notes.append(f"The {len(self.cuts)} cuts of {self.tried} with the highest α.")
        return Table.of(formats, rows, caption=f"Cuts of {self.source.name} by τ with the reference", notes=notes)

    def record(self) -> dict[str, Any]:
        """The table, and the cut that each of the two chooses."""
        chosen = {"by_tau": self.cuts[self.by_tau].tolist(), "by_alpha": self.cuts[self.by_alpha].tolist()}
        return {**chosen, **super().record()}


def cuts_by_tau(
    runs: Sequence[Run],
    labels: Labels,
    reference: Qrels,
    way: str = "H_t+a",
    *,
    levels: int = 2,
    source: Scale | str | None = None,
    target: Qrels | None = None,
    measure: str = "nDCG",
    ties: str = "low",
    aggregate: str = "median",
    candidates: int = MOST_JUDGED,
    progress: Progress = silent,
) -> CutsByTau:
    """τ_b of the runs under each cut with the reference: one cut for all topics, of all cuts the best by α.

    The way says how labels become judgments (cut, then aggregated, or the other way round) and gives the α beside τ.
    candidates: at most this many cuts are tried.
    """
    if candidates < 1:
        raise UsageError(f"candidates={candidates}: at least one cut must be tried")
    choice = CutChoice.of(
        labels, way, levels=levels, source=source, target=target, scope="mean", ties=ties, aggregate=aggregate
    )
    ((_, kept),) = choice.parts(labels)
    if not len(kept):
        raise DataError(f"{labels.name}: there are no labels")
    places, alpha = choice.all_cuts(kept)
    if not len(places):
        raise DataError(f"{labels.name}: nothing varies, no cut has an α")
    in_order = np.lexsort(places[:candidates].T[::-1])
    points = choice.points(places[in_order])
    alpha = alpha[in_order]
    searches = [_one_cut(choice, tuple(cut)) for cut in points.tolist()]
    scores = _scored(runs, labels, searches, reference, measure, ties, aggregate, progress)
    tau = scores.tau()
    if not np.isfinite(tau).any():
        raise DataError("no cut ranks the runs: all have the same score under each of them, or under the reference")
    held_out = _held_out(scores, alpha)
    return CutsByTau(points, tau, alpha, held_out, way, choice.scale, choice.count, measure, len(scores.runs))


def _one_cut(choice: CutChoice, points: tuple[float, ...]) -> CutSearch:
    """A search that ended at this cut for all topics."""
    cut = BestCut("all", points, np.nan, 1, points, points)
    return CutSearch(choice.way, "mean", choice.scale, choice.levels, (cut,), None, ())


def _held_out(scores: _Scored, alpha: Floats) -> Floats:
    """τ on one half of the topics of the cut that the other half chooses by τ, and of the cut with the highest α."""
    topics = scores.ours.shape[2]
    if topics < 4:
        return np.full(2, np.nan)
    every_other = np.arange(topics) % 2 == 0
    found = []
    for chosen_on in (every_other, ~every_other):
        tau_there = np.nan_to_num(scores.tau(chosen_on), nan=-2.0)
        tau_here = scores.tau(~chosen_on)
        by_tau = int(np.lexsort((-alpha, -tau_there))[0])
        by_alpha = int(np.argmax(alpha))
        found.append((tau_here[by_tau], tau_here[by_alpha]))
    return np.array(found).mean(axis=0)
