"""Does a measure prefer the list that people prefer? Predictive power (Sanderson, Paramita, Clough & Kanoulas 2010).

Units are (topic, left run, right run) with votes of people who saw both lists side by side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from assay.core.errors import DataError
from assay.core.tables import Table
from assay.data.scores import ScoreMatrix
from assay.io.sheet import read_sheet

VOTES = ("left", "right", "equal")


@dataclass(frozen=True)
class Vote:
    """One person's preference between two runs on a topic."""

    topic: str
    left: str
    right: str
    vote: str


@dataclass(frozen=True)
class PredictivePower:
    """Agreement of a measure with the majority of votes, for small and large differences."""

    measure: str
    units: int
    undecided: int
    parts: tuple[tuple[str, int, int, int], ...]
    """Which units, how many with an opinion of the measure, agreements, ties of the measure."""

    def table(self) -> Table:
        """One row per part: all units, those below and above the median difference."""
        rows = []
        for name, n, agree, ties in self.parts:
            shares = [100 * share for share in (agree / n, *_interval(agree, n))] if n else [None] * 3
            rows.append((name, n, agree, *shares, _p_value(agree, n), ties))
        formats = {
            "units": "", "n": "d", "agree": "d", "%": ".1f", "% low": ".1f", "% high": ".1f", "p": "p", "ties": "d",
        }  # fmt: skip
        notes = [
            f"{self.units} units with a majority, {self.undecided} dropped without one; "
            "units that the measure ties are counted apart",
            "95 % binomial interval (Clopper-Pearson); one-sided sign test against one half",
        ]
        return Table.of(formats, rows, caption=f"Does {self.measure} prefer what people prefer?", notes=notes)


def predictive_power(matrix: ScoreMatrix, votes: Sequence[Vote]) -> PredictivePower:
    """Share of units in which the measure agrees with the majority of the votes that are not `equal`."""
    balance: dict[tuple[str, str, str], int] = {}
    for v in votes:
        side = {"left": 1, "right": -1, "equal": 0}[v.vote]
        balance[v.topic, v.left, v.right] = balance.get((v.topic, v.left, v.right), 0) + side
    units = [(key, side) for key, side in balance.items() if side]
    if not units:
        raise DataError("no unit has a majority of votes for one side")
    scores = {
        (r, t): x
        for r, row in zip(matrix.runs, matrix.values, strict=True)
        for t, x in zip(matrix.topics, row, strict=True)
    }
    differences = np.array([_score(scores, left, t) - _score(scores, right, t) for (t, left, right), _ in units])
    sides = np.sign([side for _, side in units])
    opinion = np.abs(differences) > 1e-12
    middle = float(np.median(np.abs(differences[opinion]))) if opinion.any() else 0.0
    large = np.abs(differences) > middle
    parts = [("all", np.ones(len(units), bool)), (f"|Δ| ≤ {middle:.4g}", ~large), (f"|Δ| > {middle:.4g}", large)]
    found = tuple(
        (
            name,
            int((m & opinion).sum()),
            int((m & opinion & (np.sign(differences) == sides)).sum()),
            int((m & ~opinion).sum()),
        )
        for name, m in parts
    )
    return PredictivePower(matrix.measure, len(units), len(balance) - len(units), found)


def read_votes(path: str | Path) -> list[Vote]:
    """Votes from a table with the columns topic, left, right, vote (left, right or equal)."""
    sheet = read_sheet(path)
    places = [sheet.place(name) for name in ("topic", "left", "right", "vote")]
    out = []
    for row, line in zip(sheet.rows, sheet.lines, strict=True):
        topic, left, right, vote = (row[p].strip() for p in places)
        if vote.lower() not in VOTES:
            raise DataError.at(sheet.where, line, f"vote {vote!r} is not one of {', '.join(VOTES)}")
        out.append(Vote(topic, left, right, vote.lower()))
    return out


def _score(scores: dict[tuple[str, str], float], run: str, topic: str) -> float:
    if (run, topic) not in scores:
        raise DataError(f"no score of run {run!r} on topic {topic!r}, which the votes name")
    return scores[run, topic]


def _interval(agree: int, n: int) -> tuple[float, float]:
    """Clopper and Pearson's 95 % interval of a share."""
    from scipy.special import betaincinv

    low = float(betaincinv(agree, n - agree + 1, 0.025)) if agree else 0.0
    high = float(betaincinv(agree + 1, n - agree, 0.975)) if agree < n else 1.0
    return low, high


def _p_value(agree: int, n: int) -> float | None:
    from scipy.special import bdtrc

    return None if not n else float(bdtrc(agree - 1, n, 0.5)) if agree else 1.0
