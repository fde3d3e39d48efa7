"""Slow plain loops for assay.standard."""

from __future__ import annotations

import math

import numpy as np

from assay.data.scores import ScoreMatrix
from tests.conftest import real_data


def mean_squares(rows: list[list[float]]) -> tuple[float, float, float]:
    """Mean squares of runs, topics and residual, by the textbook sums."""
    runs, topics = len(rows), len(rows[0])
    grand = sum(map(sum, rows)) / (runs * topics)
    of_run = [sum(r) / topics for r in rows]
    of_topic = [sum(r[t] for r in rows) / runs for t in range(topics)]
    ss_run = sum(topics * (a - grand) ** 2 for a in of_run)
    ss_topic = sum(runs * (b - grand) ** 2 for b in of_topic)
    ss_rest = sum((rows[s][t] - of_run[s] - of_topic[t] + grand) ** 2 for s in range(runs) for t in range(topics))
    return ss_run / (runs - 1), ss_topic / (topics - 1), ss_rest / ((runs - 1) * (topics - 1))


def z_score(x: float, reference: list[float]) -> float:
    """z by the population sd; 0 where the reference does not vary."""
    mean = sum(reference) / len(reference)
    sd = math.sqrt(sum((r - mean) ** 2 for r in reference) / len(reference))
    return 0.0 if max(reference) == min(reference) else (x - mean) / sd


def kendall_tau_b(x: list[float], y: list[float]) -> float:
    """τ-b by all pairs."""
    up = tied_x = tied_y = pairs = 0
    for i in range(len(x)):
        for j in range(i):
            a, b = np.sign(x[i] - x[j]), np.sign(y[i] - y[j])
            up += int(a * b)
            tied_x += a == 0
            tied_y += b == 0
            pairs += 1
    return up / math.sqrt((pairs - tied_x) * (pairs - tied_y))


def named(name: str) -> ScoreMatrix:
    """A TREC score matrix with run tags."""
    from assay.io.scores import read_scores

    return read_scores(real_data(f"trec-score-matrices/named/{name}.csv"))[0]


def anonymous(name: str, topics: range | None = None) -> ScoreMatrix:
    """A TREC score matrix without tags, its topics named by number where they are known."""
    from dataclasses import replace

    from assay.io.scores import read_scores

    measure = {"ap": "AP", "p10": "P@10", "rr": "RR"}.get(name.rpartition("_")[2])
    path = real_data(f"trec-score-matrices/anonymous/{name}.csv")
    matrix = read_scores(path, transpose=True, measure=measure)[0]
    return matrix if topics is None else replace(matrix, topics=tuple(map(str, topics)))


SUB_COLLECTIONS = {"T6": (301, 350), "T7": (351, 400), "T8": (401, 450), "T03": (601, 650), "T04": (651, 700)}


def robust(part: str) -> ScoreMatrix:
    """The 110 runs of TREC 2004 Robust on the topics of one earlier collection."""
    whole, (low, high) = named("robust2004_ap"), SUB_COLLECTIONS[part]
    return whole.select(topics=[t for t in whole.topics if low <= int(t) <= high])


def original(part: str) -> ScoreMatrix:
    """The runs submitted when the topics were made, in the order of `robust`'s topics."""
    low, high = SUB_COLLECTIONS[part]
    reference = anonymous({"T6": "adhoc6_ap", "T7": "adhoc7_ap", "T8": "adhoc8_ap"}[part], range(low, high + 1))
    return reference.select(topics=robust(part).topics)
