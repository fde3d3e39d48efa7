"""Does a measure prefer the list that people prefer? Predictive power (Sanderson, Paramita, Clough & Kanoulas 2010).

Units are (topic, left run, right run) with votes of people who saw both lists side by side.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from assay.core.errors import DataError
from assay.core.results import Result
from assay.core.tables import Table
from assay.data.scores import ScoreMatrix
from assay.io.sheet import read_sheet

POINTS = {"left": 1, "right": -1, "equal": 0}
"""What a vote adds to the balance of its unit."""


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

    unit = "topic"

    measure: str
    units: int
    undecided: int
    parts: tuple[tuple[str, int, int, int], ...]
    """Which units, how many with an opinion of the measure, agreements, ties of the measure."""

    def table(self) -> Table:
        """One row per part: all units, those below and above the median difference."""
        rows: list[tuple[object, ...]] = []
        for name, n, agree, ties in self.parts:
            if n == 0:
                rows.append((name, n, agree, None, None, None, None, ties))
                continue
            low, high = _interval(agree, n)
            percents = (100 * (agree / n), 100 * low, 100 * high)
            rows.append((name, n, agree, *percents, _p_value(agree, n), ties))
        formats = {"units": "", "n": "d", "agree": "d"}
        formats |= {"%": ".1f", "% low": ".1f", "% high": ".1f", "p": "p", "ties": "d"}
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
    # Votes for the left run less those for the right one, of each unit.
    balance: Counter[tuple[str, str, str]] = Counter()
    for vote in votes:
        balance[vote.topic, vote.left, vote.right] += POINTS[vote.vote]
    decided = {unit: points for unit, points in balance.items() if points}
    if not decided:
        raise DataError("no unit has a majority of votes for one side")
    score = _score_of(matrix)
    differences = np.array([score(left, topic) - score(right, topic) for topic, left, right in decided])
    size = np.abs(differences)
    opinion = size > 1e-12
    agrees = opinion & (np.sign(differences) == np.sign(list(decided.values())))
    middle = float(np.median(size[opinion])) if opinion.any() else 0.0
    large = size > middle
    parts = {
        "all": np.ones(len(decided), bool),
        f"|Δ| ≤ {middle:.4g}": ~large,
        f"|Δ| > {middle:.4g}": large,
    }
    counts = []
    for name, part in parts.items():
        with_opinion = int((part & opinion).sum())
        agreements = int((part & agrees).sum())
        ties = int((part & ~opinion).sum())
        counts.append((name, with_opinion, agreements, ties))
    return PredictivePower(matrix.measure, len(decided), len(balance) - len(decided), tuple(counts))


def read_votes(path: str | Path) -> list[Vote]:
    """Votes from a table with the columns topic, left, right, vote (left, right or equal)."""
    sheet = read_sheet(path)
    places = [sheet.place(name) for name in ("topic", "left", "right", "vote")]
    votes = []
    for row, line in zip(sheet.rows, sheet.lines, strict=True):
        topic, left, right, vote = (row[place].strip() for place in places)
        if vote.lower() not in POINTS:
            raise DataError.at(sheet.where, line, f"vote {vote!r} is not one of {', '.join(POINTS)}")
        votes.append(Vote(topic, left, right, vote.lower()))
    return votes


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


def _p_value(agree: int, n: int) -> float:
    """P(at least that many agreements) if either is as likely."""
    from scipy.special import bdtrc

    if agree == 0:
        return 1.0
    return float(bdtrc(agree - 1, n, 0.5))
