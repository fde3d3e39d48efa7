"""What other searches found on the published 96 runs of TREC-8: ours must reach it."""

from __future__ import annotations

from assay.topics.search import SearchResult

# Steepest swap search from 6 random starts on the released file: bounds, not optima.
AT = (5, 6, 8, 10, 12, 15, 20, 25, 30, 35, 40, 45)
BEST = {
    "tau": (0.7782, 0.8036, 0.8415, 0.8604, 0.8774, 0.9007, 0.9184, 0.9421, 0.9460, 0.9601, 0.9798, 0.9882),
    "pearson": (0.9379, 0.9518, 0.9675, 0.9748, 0.9832, 0.9884, 0.9923, 0.9945, 0.9964, 0.9974, 0.9990, 0.9996),
}
WORST = {
    "tau": (0.0480, 0.0744, 0.1167, 0.1470, 0.1761, 0.2419, 0.3578, 0.4977, 0.5982, 0.6837, 0.7828, 0.8394),
    "pearson": (0.0847, 0.1454, 0.2244, 0.2955, 0.3742, 0.4772, 0.6417, 0.7521, 0.8215, 0.8865, 0.9398, 0.9767),
}
ROUNDED = 5e-5  # the bounds are printed with four decimals


def at_least_the_bounds(found: SearchResult) -> bool:
    """Whether Best is at least, and Worst at most, the bound at every cardinality of the table."""
    name, best, worst = found.problem.criterion, found.values("best"), found.values("worst")
    good = (best[c - 1] >= bound - ROUNDED for c, bound in zip(AT, BEST[name], strict=True))
    bad = (worst[c - 1] <= bound + ROUNDED for c, bound in zip(AT, WORST[name], strict=True))
    return all(good) and all(bad)
