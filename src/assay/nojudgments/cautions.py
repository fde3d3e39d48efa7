"""What must a reader know before believing a ranking made without judgments? Runs far from the others, and more."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress

import numpy as np

from assay.core.arrays import Bools
from assay.data.lists import Lists
from assay.nojudgments.pseudo import bias


def outliers(lists: Lists) -> Bools:
    """Runs far from the others: bias above the median by more than three robust sds, for five runs or more.

    Bias is 1 − cos between the docs of a run and those of all runs (see `pseudo.bias`); the robust sd is 1.4826 times
    the median absolute deviation.
    """
    distance = bias(lists, depth=100)
    if len(distance) < 5:
        return np.zeros(len(distance), dtype=bool)
    middle = float(np.median(distance))
    median_deviation = float(np.median(np.abs(distance - middle)))
    robust_sd = max(1.4826 * median_deviation, 1e-9)
    return np.asarray(distance > middle + 3 * robust_sd)


def cautions(lists: Lists, manual: Sequence[bool], outlying: Sequence[bool]) -> list[str]:
    """What a reader must know before believing the ranking."""
    remarks = []
    unusual = []
    for kind, flags in (("manual", manual), ("outlying", outlying)):
        names = list(compress(lists.runs, flags))
        if names:
            unusual.append(f"{len(names)} {kind} ({_some(names)})")
    if unusual:
        remarks.append(
            "Tyranny of the masses: these methods reward runs that resemble the others. "
            f"Of the runs {' and '.join(unusual)} may be far better, or worse, than their rank."
        )
    if lists.items and int(lists.holders().max()) < 2:
        remarks.append("No doc was retrieved by two runs: nothing is known of any run, and the ranking means nothing.")
    if lists.dropped:
        remarks.append(f"Left out, because one run alone answers it: topic {_some(lists.dropped)}.")
    return remarks


def _some(names: Sequence[str]) -> str:
    """The first three names, and how many more there are."""
    first = ", ".join(names[:3])
    if len(names) <= 3:
        return first
    return f"{first} and {len(names) - 3} more"
