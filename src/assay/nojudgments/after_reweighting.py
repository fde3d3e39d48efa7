"""How well are runs ranked after a few judgments and reweighting? Beside no judgments, and the judged docs alone.

Where the flow stands: runs, judgments → `reweight` → **one result with the weights**. Carterette & Allan 2007, §6.1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.core.arrays import Floats, Ints
from assay.core.engine import Progress, silent
from assay.core.results import Result
from assay.core.tables import Table, shown
from assay.data import Qrels
from assay.data.info import group_of_runs
from assay.data.scores import ScoreMatrix
from assay.io.brought import plain_qrels_of, run_list
from assay.io.swapped import refuse_swapped
from assay.measures import parse
from assay.nojudgments.basis import comparable
from assay.nojudgments.expected import DEPTH, expected_ap, relevance
from assay.nojudgments.ranking import places
from assay.nojudgments.reweight import Reweighted, reweighted_emap
from assay.rankings import kendall_rows, settled
from assay.rankings.stated_preferences import RETRIEVED
from assay.scoring import evaluate


@dataclass(frozen=True, eq=False)
class ReweightedRanking(Result):
    """The runs ranked by EMAP after reweighting, with their weights, beside their true mean scores."""

    reweighted: Reweighted
    truth: ScoreMatrix
    unjudged: Floats
    """EMAP of each run without any judgment."""
    groups: Mapping[str, Sequence[str]]

    @property
    def runs(self) -> tuple[str, ...]:
        """The runs, as they were given."""
        return self.reweighted.expected.runs

    def group_of_run(self) -> tuple[str | None, ...]:
        """The group of each run; None where it is in none."""
        return group_of_runs(self.groups, self.runs)

    def taus(self) -> dict[str, float | None]:
        """τ-b with the true ranking: without judgments, after reweighting, by the judged docs alone, by the weights.

        None where it is not defined, because all runs have one weight or one score.
        """
        ways = {
            "EMAP without judgments": self.unjudged,
            "EMAP after reweighting": self.reweighted.expected.averages(),
            "AP on the judged docs alone": self.reweighted.judged_only.averages(),
            "weights": self.reweighted.weights,
        }
        rows = np.array([settled(scores) for scores in ways.values()])
        taus = kendall_rows(rows, settled(self.truth.averages()))
        return {name: None if np.isnan(tau) else float(tau) for name, tau in zip(ways, taus, strict=True)}

    def mean_weights(self) -> dict[str, float]:
        """The mean weight of the runs of each group."""
        weight_of = dict(zip(self.runs, self.reweighted.weights.tolist(), strict=True))
        means = {}
        for name, members in self.groups.items():
            weights = [weight_of[run] for run in members]
            means[name] = float(np.mean(weights))
        return means

    def table(self) -> Table:
        """One row per run, the best by EMAP after reweighting first; τ and the mean weight of groups below."""
        emap = self.reweighted.expected.averages()
        true = self.truth.averages()
        columns: dict[str, tuple[str, Sequence[Any] | Floats | Ints]] = {
            "rank": ("d", places(emap)),
            "run": ("", self.runs),
            "weight": (".4f", self.reweighted.weights),
            "EMAP": (".4f", emap),
            "AP, judged only": (".4f", self.reweighted.judged_only.averages()),
            "true rank": ("d", places(true)),
            f"mean {self.truth.measure}": (".4f", true),
        }
        if self.groups:
            columns["group"] = ("", [group or "" for group in self.group_of_run()])
        formats = {name: format for name, (format, _) in columns.items()}
        rows = list(zip(*(values for _, values in columns.values()), strict=True))
        best_first = np.argsort(-emap, kind="stable")
        return Table.of(
            formats,
            [rows[i] for i in best_first],
            caption=f"Runs ranked after {len(self.reweighted.judged)} judgments",
            notes=self._notes(),
            keys={
                "EMAP": "emap", "AP, judged only": "map_judged_only", f"mean {self.truth.measure}": "true_mean",
            },
        )  # fmt: skip

    def _notes(self) -> list[str]:
        taus = ", ".join(f"{name} {shown(tau, '.3f')}" for name, tau in self.taus().items())
        notes = [f"τ-b with mean {self.truth.measure}: {taus}"]
        if self.groups:
            weights = ", ".join(f"{name} {weight:.3f}" for name, weight in self.mean_weights().items())
            notes.append(f"mean weight: {weights}")
        return [*notes, self.reweighted.expected.signature]

    def record(self) -> dict[str, Any]:
        """The table, τ by each way, and the mean weight of each group."""
        record = super().record()
        record["tau"] = self.taus()
        record["mean_weight"] = self.mean_weights()
        return record


def reweighted_ranking(
    runs: Any,
    qrels: Any,
    *,
    measure: str = "AP",
    judged: Any = None,
    rounds: int | None = None,
    epsilon: float = 0.1,
    preferences: str = RETRIEVED,
    groups: Mapping[str, Sequence[str]] | None = None,
    depth: int = DEPTH,
    progress: Progress = silent,
) -> ReweightedRanking:
    """The runs ranked after a few docs of each topic have been looked up in qrels and the runs reweighted.

    The measure is that of the true ranking, and says which grades are relevant. judged: what is judged already; groups:
    name → runs, such as automatic and manual ones, whose mean weight is shown. The rest is as in `reweighted_emap`.

    >>> from assay.studies import simulate
    >>> small = simulate(topics=6, docs=100, depth=30, runs_per_group=1, manual_runs=0)
    >>> list(reweighted_ranking(small.runs, small.qrels, rounds=2).taus())[:2]
    ['EMAP without judgments', 'EMAP after reweighting']
    """
    every_run = run_list(runs)
    judgments: Qrels = plain_qrels_of(qrels)
    refuse_swapped(runs, every_run, qrels, judgments)
    lists = comparable(every_run, depth=depth, topics=judgments.topics)
    every_group = groups or {}
    group_of_runs(every_group, lists.runs)  # a run that is not there is said before anything is computed
    result = reweighted_emap(
        lists,
        judgments,
        judged=None if judged is None else plain_qrels_of(judged),
        rounds=rounds,
        epsilon=epsilon,
        preferences=preferences,
        rel=parse(measure).rel,
        depth=depth,
        progress=progress,
    )
    unjudged = expected_ap(lists, relevance(lists, preferences=preferences))
    (truth,) = evaluate(every_run, judgments, measure)
    return ReweightedRanking(result, truth, np.asarray(unjudged.mean(axis=1)), every_group)
