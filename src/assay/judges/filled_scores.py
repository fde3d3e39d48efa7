"""What if the machine fills the holes? Scores with unjudged docs labelled by a machine, beside other treatments.

Filled scores are always called filled: they rest on two kinds of labels. Beside them: unjudged docs as not relevant,
removed (condensed lists), the range that judging them could reach, and nDCG with holes drawn from the grades of judged
docs (Fröbe et al. 2023).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from assay.core.arrays import Floats
from assay.core.engine import generators
from assay.core.results import Result
from assay.core.tables import Table
from assay.data.grades import UNJUDGED, Grades
from assay.io.column_names import Named
from assay.judges.calibration import calibrated
from assay.judges.labelled_pairs import Labelled, Scales, labelled
from assay.judges.listed import NO_PAIR, ListedPairs, listed, one_measure
from assay.judges.topic_estimates import chosen_judge
from assay.measures import Measure
from assay.scoring import Aligned, Policy, bounds

DRAWS = 100


@dataclass(frozen=True, eq=False)
class FilledScores(Result):
    """Mean scores of runs under each way to treat unjudged docs."""

    measure: str
    judge: str
    runs: tuple[str, ...]
    columns: dict[str, Floats]
    notes: tuple[str, ...]

    def column(self, name: str) -> Floats:
        """The mean scores of the runs in one column."""
        return self.columns[name]

    def table(self) -> Table:
        """One row for each run, by the filled score."""
        formats = {"run": "", **dict.fromkeys(self.columns, ".4f")}
        order = np.argsort(-self.columns["filled by machine"], kind="stable").tolist()
        rows = [(self.runs[i], *(values[i] for values in self.columns.values())) for i in order]
        caption = f"{self.measure}: unjudged docs filled with the labels of {self.judge}, and otherwise"
        return Table.of(formats, rows, caption=caption, notes=self.notes)


def filled(
    human: Any,
    machine: Any,
    runs: Any,
    *,
    measure: str | Measure = "nDCG@10",
    judge: str | None = None,
    scale: Scales = None,
    draws: int = DRAWS,
    level: float = 0.95,
    seed: int = 0,
    policy: Policy | None = None,
    columns: Named = None,
    jobs: int = 1,
) -> FilledScores:
    """Scores of runs with the docs that people did not judge filled by a machine, beside other treatments of holes.

    A machine on another scale is calibrated by isotonic regression on docs that both judged. draws: how often holes are
    filled at random with grades of judged docs that the run has.

    >>> human = {"1": {"a": 1, "b": 0}, "2": {"c": 1}}
    >>> machine = {"1": {"a": {"g": 1}, "x": {"g": 1}}, "2": {"y": {"g": 0}}}
    >>> found = filled(human, machine, {"r": {"1": {"x": 2.0, "a": 1.0}, "2": {"y": 2.0, "c": 1.0}}}, measure="P@2")
    >>> found.column("unjudged as 0").tolist(), found.column("filled by machine").tolist()
    ([0.5], [0.75])
    """
    pairs = labelled(human, machine, scale=scale, columns=columns)
    one = pairs.of_judges([chosen_judge(pairs, judge)])
    lists = listed(runs, one, policy=policy, columns=columns, jobs=jobs)
    on_human_topics = _human_topics(one)
    wanted = one_measure(measure)
    worth, notes = _worth(one)
    mixed = np.where(one.by_people, one.human, worth)
    holes, still_open = _holes(lists, mixed, wanted.k)
    people = lists.human(wanted).values[:, on_human_topics]
    condensed = lists.human(replace(wanted, condensed=True)).values[:, on_human_topics]
    made = lists.scores(mixed, one.scale, wanted, "human, holes filled by machine").values[:, on_human_topics]
    drawn = _drawn(lists, wanted, draws, seed)[:, on_human_topics].mean(axis=1)
    found = {
        "holes": holes[:, on_human_topics].mean(axis=1),
        "unjudged as 0": people.mean(axis=1),
        "condensed": condensed.mean(axis=1),
        **_range(one, wanted, runs, policy, columns, jobs),
        "filled by machine": made.mean(axis=1),
        "drawn": drawn.mean(axis=1),
    }
    if draws > 1:
        ends = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2], axis=1)
        found |= {"drawn low": ends[0], "drawn high": ends[1]}
    notes += [
        f"holes: share of the first {wanted.k or 'ranked'} docs that people did not judge; "
        f"{still_open:.1%} of docs there have no label at all and count as not relevant also when filled",
        f"drawn: holes filled {draws} times with grades of the run's judged docs (Fröbe et al. 2023), seed {seed}",
        "filled scores have no interval: judged docs are not a random sample. With sampled docs take `assay judge "
        "docs`, with sampled topics `assay judge estimate`",
    ]
    return FilledScores(str(wanted), one.judges[0], lists.runs, found, tuple(notes))


def _human_topics(pairs: Labelled) -> Any:
    """The topics on which people judged anything."""
    return np.bincount(pairs.topic[pairs.by_people], minlength=len(pairs.topics)) > 0


def _worth(pairs: Labelled) -> tuple[Floats, list[str]]:
    """The machine's labels as human grades."""
    if not pairs.is_other_scale(0):
        return pairs.machine[0], []
    worth = calibrated(pairs.machine[0], pairs.human, pairs.topic)
    return worth, ["the machine answers on another scale: its labels are calibrated to human grades"]


def _holes(lists: ListedPairs, mixed: Floats, k: int | None) -> tuple[Floats, float]:
    """runs × topics: share of the first k docs that people did not judge; and of all of them without any label."""
    at = lists.at[:, :, :k]
    there = at >= NO_PAIR
    judged = np.append(lists.pairs.by_people, [False, False])[at]
    labelled_at_all = np.append(~np.isnan(mixed), [False, False])[at]
    docs = np.maximum(there.sum(axis=2), 1)
    open_share = (there & ~labelled_at_all).sum() / max(1, there.sum())
    return (there & ~judged).sum(axis=2) / docs, float(open_share)


def _range(
    pairs: Labelled, measure: Measure, runs: Any, policy: Policy | None, columns: Named, jobs: int
) -> dict[str, Floats]:
    """Between which means judging all unjudged docs would leave each run."""
    judged = pairs.only(pairs.by_people)
    aligned = Aligned.of(runs, judged.qrels(judged.human), policy=policy, columns=columns, jobs=jobs)
    ends = bounds(aligned, [measure], jobs=jobs)
    names = ("low", "high") if ends.kinds[0] == "range" else ("none relevant", "all top grade")
    return {names[0]: ends.low[0].averages(), names[1]: ends.high[0].averages()}


def _drawn(lists: ListedPairs, measure: Measure, draws: int, seed: int) -> Floats:
    """runs × topics × draws: scores with every hole filled by a grade of the run's own judged docs, drawn at random."""
    pairs = lists.pairs
    values = np.zeros((*lists.at.shape[:2], draws))
    known = np.append(np.where(pairs.by_people, pairs.human, UNJUDGED), [UNJUDGED, UNJUDGED])
    ideal = lists.ideal(np.where(pairs.by_people, pairs.human, UNJUDGED))
    depth = measure.k or lists.at.shape[2]
    for r, rng in enumerate(generators(seed, len(lists.runs))):
        ranked = known[lists.at[r]]
        hole = (ranked == UNJUDGED) & (lists.at[r] >= NO_PAIR)
        hole[:, depth:] = False
        grades = ranked[:, :depth][ranked[:, :depth] >= 0]
        if not len(grades):
            grades = np.zeros(1)
        for b in range(draws):
            full = ranked.copy()
            full[hole] = rng.choice(grades, size=int(hole.sum()))
            added = np.where(hole, full, UNJUDGED)[:, :depth]
            best = -np.sort(-np.concatenate([ideal, added], axis=1), axis=1)
            table = Grades(pairs.topics, full, lists.retrieved[r], best, top=pairs.scale.high)
            values[r, :, b] = measure(table)
    return values
