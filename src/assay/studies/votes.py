"""Does a measure prefer the list that people prefer? Predictive power (Sanderson, Paramita, Clough & Kanoulas 2010).

Units are (topic, left run, right run) with votes of people who saw both lists side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from assay.core.errors import DataError
from assay.core.results import Result
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
class PredictivePower(Result):
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
        keys = {"%": "agree_percent", "% low": "low", "% high": "high"}
        caption = f"Does {self.measure} prefer what people prefer?"
        return Table.of(formats, rows, caption=caption, notes=notes, keys=keys)


def predictive_power(matrix: ScoreMatrix, votes: Sequence[Vote]) -> PredictivePower:
    """Share of units in which the measure agrees with the majority of the votes that are not `equal`.

    >>> scores = ScoreMatrix.of([[0.6], [0.2]], runs=["new", "old"], measure="AP")
    >>> predictive_power(scores, [Vote("1", "new", "old", "left")]).parts[0]
    ('all', 1, 1, 0)
    """
    balance: dict[tuple[str, str, str], int] = {}
    for v in votes:
        side = {"left": 1, "right": -1, "equal": 0}[v.vote]
        balance[v.topic, v.left, v.right] = balance.get((v.topic, v.left, v.right), 0) + side
    units = [(key, side) for key, side in balance.items() if side]
    if not units:
        raise DataError("no unit has a majority of votes for one side")
    score = _score_of(matrix)
    differences = np.array([score(left, topic) - score(right, topic) for (topic, left, right), _ in units])
    sides = np.sign([side for _, side in units])
    size = np.abs(differences)
    opinion = size > 1e-12
    agrees = opinion & (np.sign(differences) == sides)
    middle = float(np.median(size[opinion])) if opinion.any() else 0.0
    large = size > middle
    parts = {"all": np.ones(len(units), bool), f"|Δ| ≤ {middle:.4g}": ~large, f"|Δ| > {middle:.4g}": large}
    counted = []
    for name, part in parts.items():
        counted.append((name, int((part & opinion).sum()), int((part & agrees).sum()), int((part & ~opinion).sum())))
    return PredictivePower(matrix.measure, len(units), len(balance) - len(units), tuple(counted))


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


def _score_of(matrix: ScoreMatrix) -> Callable[[str, str], float]:
    """A function of run and topic; an error where the matrix lacks one."""
    row = {run: i for i, run in enumerate(matrix.runs)}
    column = {topic: j for j, topic in enumerate(matrix.topics)}

    def score(run: str, topic: str) -> float:
        if run not in row or topic not in column:
            raise DataError(f"no score of run {run!r} on topic {topic!r}, which the votes name")
        return float(matrix.values[row[run], column[topic]])

    return score


def _interval(agree: int, n: int) -> tuple[float, float]:
    """Clopper and Pearson's 95 % interval of a share."""
    from scipy.special import betaincinv

    low = float(betaincinv(agree, n - agree + 1, 0.025)) if agree else 0.0
    high = float(betaincinv(agree + 1, n - agree, 0.975)) if agree < n else 1.0
    return low, high


def _p_value(agree: int, n: int) -> float | None:
    from scipy.special import bdtrc

    return None if not n else float(bdtrc(agree - 1, n, 0.5)) if agree else 1.0
