"""How many topics would pass runs that are equally good? By the noncentral t law, or the floor of the Dirichlet bound.

A gate passes if every measure passes, each at level α; the chances to miss are added, so the chance to pass is at least
1 less that sum, whatever the correlation of the measures.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from assay.core.errors import UsageError
from assay.stats.t_power import TTest, detectable_effect, power_of, root, whole


def chance_to_show(topics: float, effect: float, level: float) -> float:
    """The power of one measure's test: the chance that a mean of `effect` standard deviations is shown to be above 0.

    >>> round(chance_to_show(50, 0.05 / 0.16, 0.05), 4)
    0.7034
    """
    if np.isinf(effect):
        return float(effect > 0)
    return float(power_of(topics, effect, TTest(alpha=level, sides=1)))


def chance_to_pass(topics: float, effects: Sequence[float], alpha: float) -> float:
    """What the chance that all measures pass is at least; of one measure exactly that chance."""
    missed = [1 - chance_to_show(topics, effect, alpha) for effect in effects]
    return max(0.0, 1 - sum(missed))


def topics_to_pass(effects: Sequence[float], alpha: float, power: float) -> int | None:
    """The topics with which all measures pass with at least this chance; None if no number is enough.

    >>> topics_to_pass([0.3], 0.05, 0.8)
    71
    """
    if min(effects) <= 0:
        return None
    try:
        return whole(root(lambda n: chance_to_pass(n, effects, alpha) - power, low=2.0, what="topics"))
    except UsageError:  # more than MOST_TOPICS
        return None


def topics_without_change(amount: float, reach: float, alpha: float) -> int | None:
    """The topics, none of which changes, that rule out a mean drop of `amount` if a topic may lose up to `reach`.

    >>> [topics_without_change(amount, 1.0, 0.05) for amount in (0.005, 0.01, 0.02, 0.05, 0.10)]
    [598, 299, 149, 59, 29]
    """
    if amount <= 0 or amount >= reach:
        return None
    return math.ceil(math.log(alpha) / math.log1p(-amount / reach))


def least_drop(topics: int, sd: float, alpha: float, power: float) -> float:
    """The smallest max-drop that equally good runs pass with this chance: about (t_{1−α} + t_power)·sd/√n.

    >>> round(least_drop(50, 0.1, 0.05, 0.8), 4)
    0.0357
    """
    return float(detectable_effect(topics, power=power, test=TTest(alpha=alpha, sides=1))) * sd
