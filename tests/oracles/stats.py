"""Plain loops over the definitions of the tests, and the small data sets that several tests of stats share."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from functools import cache
from itertools import product
from typing import Any

import numpy as np

from assay.core.arrays import Floats
from assay.data.scores import ScoreMatrix
from assay.io.scores import read_scores
from tests.conftest import real_data

# Typed as Any: its stubs know no alternative that comes from a parameter.
scipy_stats: Any = importlib.import_module("scipy.stats")

# Sakai, Information Access Evaluation Methodology (2015), Table 5.1; also in Laboratory Experiments in Information
# Retrieval (2018): three runs on 20 topics.
SAKAI = (
    np.array(
        [
            [7, 3, 2, 6, 4, 4, 0, 7, 1, 3, 5, 4, 0, 6, 5, 3, 1, 5, 2, 1],
            [5, 1, 0, 2, 4, 3, 0, 5, 3, 3, 4, 4, 1, 4, 2, 1, 1, 6, 3, 2],
            [0, 0, 2, 1, 3, 3, 1, 2, 4, 4, 4, 3, 3, 2, 2, 2, 1, 5, 4, 3],
        ]
    )
    / 10
)


@cache
def trec8() -> ScoreMatrix:
    """AP of the 129 runs of TREC-8 ad hoc on 50 topics."""
    return read_scores(real_data("trec-score-matrices/named/trec8-adhoc_ap.csv"))[0]


@cache
def anonymous_pair() -> tuple[Floats, Floats]:
    """Columns 126 and 125 of the anonymous TREC-8 AP matrix: the better run first."""
    scores = np.loadtxt(real_data("trec-score-matrices/anonymous/adhoc8_ap.csv"), delimiter=",", skiprows=1)
    return scores[:, 125], scores[:, 124]


def mean_ranks(values: Sequence[float]) -> list[float]:
    """Rank of each value, ties sharing their mean rank."""
    return [sum(v < x for v in values) + (sum(v == x for v in values) + 1) / 2 for x in values]


def signed_rank_p(differences: Sequence[float]) -> tuple[float, float]:
    """One-sided (greater) and two-sided exact p of Wilcoxon's test by going through all sign patterns."""
    kept = [d for d in differences if d != 0]
    ranks = mean_ranks([abs(d) for d in kept])
    observed = sum(r for r, d in zip(ranks, kept, strict=True) if d > 0)
    sums = [sum(r for r, s in zip(ranks, signs, strict=True) if s) for signs in product([0, 1], repeat=len(ranks))]
    greater = sum(s >= observed for s in sums) / len(sums)
    less = sum(s <= observed for s in sums) / len(sums)
    return greater, min(1.0, 2 * min(greater, less))


def sign_flip_p(differences: Sequence[float]) -> tuple[float, float]:
    """One-sided (greater) and two-sided exact p of the randomisation test by going through all sign patterns."""
    observed = sum(differences)
    sums = [
        sum(s * d for s, d in zip(signs, differences, strict=True))
        for signs in product([1, -1], repeat=len(differences))
    ]
    greater = sum(s >= observed - 1e-9 for s in sums) / len(sums)
    both = sum(abs(s) >= abs(observed) - 1e-9 for s in sums) / len(sums)
    return greater, both


def bootstrap_p(differences: Sequence[float], draws: Sequence[Sequence[int]], *, studentised: bool) -> tuple[int, int]:
    """How many resamples (lists of drawn places) reach the observed statistic, one-sided and two-sided."""
    mean = sum(differences) / len(differences)
    shifted = [d - mean for d in differences]
    observed = _statistic(differences, studentised)
    found = [_statistic([shifted[i] for i in drawn], studentised) for drawn in draws]
    return sum(f >= observed for f in found), sum(abs(f) >= abs(observed) for f in found)


def _statistic(values: Sequence[float], studentised: bool) -> float:
    n = len(values)
    mean = sum(values) / n
    if not studentised:
        return mean
    deviation = (sum((v - mean) ** 2 for v in values) / (n - 1)) ** 0.5
    return mean / (deviation / n**0.5)


def two_way_squares(values: Floats) -> tuple[float, float, float]:
    """Sums of squares of runs, topics and residual, term by term."""
    runs, topics = values.shape
    grand = sum(values[i, j] for i in range(runs) for j in range(topics)) / (runs * topics)
    by_run = [sum(values[i]) / topics for i in range(runs)]
    by_topic = [sum(values[:, j]) / runs for j in range(topics)]
    residual = sum((values[i, j] - by_run[i] - by_topic[j] + grand) ** 2 for i in range(runs) for j in range(topics))
    return (
        topics * sum((m - grand) ** 2 for m in by_run),
        runs * sum((m - grand) ** 2 for m in by_topic),
        float(residual),
    )


def randomised_tukey_p(values: Floats, permuted: Sequence[Floats]) -> list[float]:
    """p of every pair from matrices whose topics were permuted over the runs, by counting."""
    runs = len(values)
    ranges = [max(m.mean(axis=1)) - min(m.mean(axis=1)) for m in permuted]
    means = values.mean(axis=1)
    gaps = [abs(means[i] - means[j]) for i in range(runs) for j in range(i + 1, runs)]
    return [(sum(r >= gap - 1e-12 for r in ranges) + 1) / (len(ranges) + 1) for gap in gaps]
