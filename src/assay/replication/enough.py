"""Is enough of an effect left for the word "replicated"? A test against a share of it, not against nothing.

A replicated improvement that is just above 0 is in the same direction, and no more than that. The word needs an
original improvement that is shown, and a share of it (by default one half) that the replicated one is shown to exceed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.core.arrays import Floats
from assay.core.tables import p_value
from assay.replication.ratios import Limits, Ratio, welch_freedom
from assay.stats.bounded import p_at_most, p_two_sided, shows_little
from assay.stats.effect import rounded

LEAST_RATIO = 0.5
"""The share of the original improvement that must be exceeded, unless another is asked for."""
OUTCOMES = (
    "replicated",
    "replicated, but smaller",
    "in the same direction, size not shown",
    "not replicated",
    "cannot be told",
)
"""What the effect ratio shows: more than the share needed; and less than 1; more than 0; less than 1 and perhaps 0."""


@dataclass(frozen=True)
class Kept:
    """Whether more than a share of the original improvement is left.

    p: one-sided, of the claim that the ratio exceeds `least`. original_p: two-sided, of the original improvement.
    """

    least: float
    p: float
    original_p: float
    alpha: float

    @property
    def enough(self) -> bool:
        """Whether the original improvement is shown, and more than the share of it in the replicated one."""
        return self.original_p < self.alpha and self.p < self.alpha

    def outcome(self, ratio: Ratio) -> str:
        """One of OUTCOMES.

        >>> shown, not_shown = Kept(0.5, 0.01, 0.001, 0.05), Kept(0.5, 0.06, 0.001, 0.05)
        >>> shown.outcome(Ratio(0.8, 0.55, 1.1)), shown.outcome(Ratio(0.7, 0.55, 0.9))
        ('replicated', 'replicated, but smaller')
        >>> not_shown.outcome(Ratio(0.5, 0.2, 1.4)), not_shown.outcome(Ratio(0.3, -0.1, 0.8))
        ('in the same direction, size not shown', 'not replicated')
        """
        if not ratio.defined or self.original_p >= self.alpha:
            return OUTCOMES[4]
        less = ratio.bounded and ratio.high < 1
        if self.enough:
            return OUTCOMES[1] if less else OUTCOMES[0]
        if ratio.bounded and ratio.low > 0:
            return OUTCOMES[2]
        return OUTCOMES[3] if less else OUTCOMES[4]

    def shown(self) -> str:
        """What was tested, in a sentence."""
        how = "above" if self.enough else "not shown to be above"
        return f"{how} {_short(self.least)} (one-sided {p_value(self.p)})"


def _short(share: float) -> str:
    return f"{share:g}".removeprefix("0") if 0 < share < 1 else f"{share:g}"


def kept_share(
    original: Floats,
    replicated: Floats,
    *,
    paired: bool,
    least: float = LEAST_RATIO,
    alpha: float = 0.05,
    limits: Limits | None = None,
) -> Kept:
    """Whether a replicated improvement is more than a share of the original one; both topic by topic.

    By `share_test`. limits: of one improvement. Where few values differ, on the same topics the Dirichlet bound within
    the limits is taken; without limits, or for other topics, p is 1. An original loss is turned round together with
    the replicated one.
    """
    sign = -1.0 if original.mean() < 0 else 1.0
    a, b = sign * original, sign * replicated
    original_p = 1.0
    if not shows_little(a)[0]:
        original_p = 2 * share_test(a, a, paired=True, least=0.0)[1]
    elif limits is not None:
        original_p = p_two_sided(a, 0.0, limits)
    tested = [rounded(b - least * a)] if paired else [a, b]
    if any(shows_little(row)[0] for row in tested):
        p = p_at_most(tested[0], 0.0, (1 + least) * limits[0]) if paired and limits is not None else 1.0
    else:
        p = share_test(a, b, paired=paired, least=least)[1]
    return Kept(least, p, original_p, alpha)


def share_test(
    original: Floats, replicated: Floats, *, paired: bool, least: float = LEAST_RATIO
) -> tuple[float, float]:
    """t and one-sided p of the claim that mean(replicated) > least · mean(original).

    The same topics: t of d = replicated − least · original, which is Fieller's lower limit turned into a test. Other
    topics: variance s_b²/n_b + least² · s_a²/n_a with Welch's degrees of freedom.

    >>> a = np.array([.10, .02, -.01, .08, .05, .12, .03, .06, .00, .09])
    >>> b = np.array([.06, .03, .00, .05, .02, .10, .01, .05, -.02, .07])
    >>> t, p = share_test(a, b, paired=True)
    >>> round(t, 5), round(p, 6)
    (1.82574, 0.050589)
    """
    from scipy.special import stdtr

    part = least * original
    if paired:
        d = replicated - part
        error, freedom = d.std(ddof=1) / np.sqrt(len(d)), len(d) - 1.0
    else:
        b_error, a_error = (float(x.var(ddof=1)) / len(x) for x in (replicated, part))
        error, freedom = np.sqrt(a_error + b_error), welch_freedom(b_error, a_error, len(replicated), len(part))
    t = float((replicated.mean() - part.mean()) / error)
    return t, float(stdtr(freedom, -t))
