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

    groups: {run: group}. representative: one of REPRESENTATIVES; `best` is the run of the highest mean in `truth` (the
    first of equal ones), which is how Roitero 2020 chooses: a study, because it looks at the judgments.

    >>> runs = [Run.from_lists(name, {"1": ["x"]}) for name in ("a1", "a2", "b1")]
    >>> [run.name for run in one_per_group(runs, {"a1": "a", "a2": "a", "b1": "b"})]
    ['a1', 'b1']
    """
    one_of("choice of a run for its group", representative, REPRESENTATIVES)
    members: dict[str, list[Run]] = {}
    for run in runs:
        group = groups.get(run.name)
        if not group:
            raise DataError(f"run {run.name!r} is in no group; add it to the table of groups, or leave it out")
        members.setdefault(group, []).append(run)
    chosen = []
    if representative == "best":
        if truth is None:
            raise UsageError("the best run of a group is known from judgments, and there are none; give qrels")
        means = dict(zip(truth.runs, truth.means().tolist(), strict=True))
        for of_group in members.values():
            chosen.append(max(of_group, key=lambda run: means[run.name]))
    elif representative == "random":
        rng = generator(seed)
        for of_group in members.values():
            chosen.append(of_group[int(rng.integers(len(of_group)))])
    else:
        chosen = [of_group[0] for of_group in members.values()]
    return chosen
