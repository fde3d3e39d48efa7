"""How many topics would decide? The power of the gate, by the noncentral t law of `assay.plan`.

A gate passes where every measure passes. Holm's correction tests the smallest p at α/m, the next at α/(m − 1), the
largest at α; so all pass if each passes at its own of these levels, whichever measure has which. The measures with the
largest effect take the strictest levels, and the chances to miss are added: whatever their correlation, the chance to
pass is at least 1 less that sum.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.core.errors import UsageError
from assay.stats.t_power import TTest, power_of, root, topics_needed, whole


def planned_levels(effects: Sequence[float], alpha: float, correction: str) -> list[float]:
    """The level at which each measure is planned to pass.

    >>> planned_levels([0.1, 0.4], 0.05, "holm"), planned_levels([0.1, 0.4], 0.05, "bonferroni")
    ([0.05, 0.025], [0.025, 0.025])
    """
    count = len(effects)
    if correction == "none":
        return [alpha] * count
    if correction == "bonferroni":
        return [alpha / count] * count
    order = np.argsort(-np.asarray(effects), kind="stable")
    levels = [0.0] * count
    for rank, place in enumerate(order.tolist()):
        levels[place] = alpha / (count - rank)
    return levels


def chance_to_show(topics: float, effect: float, level: float) -> float:
    """The power of one measure's test: the chance that a mean of `effect` standard deviations is shown to be above 0.

    >>> round(chance_to_show(50, 0.05 / 0.16, 0.05), 4)
    0.7034
    """
    if np.isinf(effect):
        return float(effect > 0)
    return float(power_of(topics, effect, TTest(alpha=level, sides=1)))


def chance_to_pass(topics: float, effects: Sequence[float], levels: Sequence[float]) -> float:
    """What the chance that all measures pass is at least; of one measure exactly that chance."""
    missed = [1 - chance_to_show(topics, effect, level) for effect, level in zip(effects, levels, strict=True)]
    return 1 - sum(missed)


def topics_to_pass(effects: Sequence[float], levels: Sequence[float], power: float) -> int | None:
    """The topics with which all measures pass with at least this chance; None where no number is enough.

    >>> topics_to_pass([0.3], [0.05], 0.8)
    71
    """
    if min(effects) <= 0:
        return None
    try:
        return whole(root(lambda n: chance_to_pass(n, effects, levels) - power, low=2.0, what="topics"))
    except UsageError:  # more than MOST_TOPICS
        return None


def topics_to_show(effect: float, level: float, power: float) -> int | None:
    """The topics that show one mean to be on its side of 0, above or below; None where no number is enough."""
    if effect == 0 or np.isinf(effect):
        return None
    try:
        return whole(topics_needed(effect, power=power, test=TTest(alpha=level, sides=1)))
    except UsageError:  # more than MOST_TOPICS
        return None
