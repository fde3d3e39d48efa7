"""Which run stands for its group? Spoerri 2007 takes one run of each participant, so that no group votes twice.

Where the flow stands: runs + groups → **one run of each group** → lists → predicted scores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assay.core.engine import generator
from assay.core.errors import DataError, UsageError
from assay.core.registry import one_of
from assay.data import Run
from assay.data.scores import ScoreMatrix

REPRESENTATIVES = ("first", "random", "best")
"""Which run of a group: the first given, one at random, or the one of the highest true mean, which needs judgments."""


def one_per_group(
    runs: Sequence[Run],
    groups: Mapping[str, str],
    representative: str = "first",
    *,
    truth: ScoreMatrix | None = None,
    seed: int = 0,
) -> list[Run]:
    """One run of each group, in the order of the runs.

    groups: {run: group}; a run of no group stands for itself. representative: one of REPRESENTATIVES; `best` is the run
    of the highest mean in `truth` (the first of equal ones), which is how Roitero 2020 chooses: a study, because it
    looks at the judgments.

    >>> runs = [Run.from_lists(name, {"1": ["x"]}) for name in ("a1", "a2", "b1")]
    >>> [run.name for run in one_per_group(runs, {"a1": "a", "a2": "a", "b1": "b"})]
    ['a1', 'b1']
    """
    one_of("choice of a run for its group", representative, REPRESENTATIVES)
    if not any(groups.get(run.name) for run in runs):
        raise DataError(f"groups: none of the {len(runs)} runs is in a group; check the names of the runs")
    members: dict[tuple[str, bool], list[Run]] = {}
    for run in runs:
        group = groups.get(run.name)
        # A run without a group stands for itself, whatever a group may be called.
        place = (group, True) if group else (run.name, False)
        members.setdefault(place, []).append(run)
    chosen = []
    if representative == "best":
        if truth is None:
            raise UsageError("the best run of a group is known from judgments, and there are none; give qrels")
        means = dict(zip(truth.runs, truth.averages().tolist(), strict=True))
        for of_group in members.values():
            chosen.append(max(of_group, key=lambda run: means[run.name]))
    elif representative == "random":
        rng = generator(seed)
        for of_group in members.values():
            chosen.append(of_group[int(rng.integers(len(of_group)))])
    else:
        chosen = [of_group[0] for of_group in members.values()]
    return chosen
