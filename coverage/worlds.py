"""Where is the truth known? Simulated scores, and scores of TREC that are permuted within topics or redrawn.

normal: topic + N(0, .05) · skewed: topic + Exp(.05) · 0/1: every topic has its own probability · sparse: a 0/1 base
of which every run flips 5 % · uneven: a quarter of the runs is three times as noisy. With ", a third better" a third of
the runs has a higher true mean. "AP permuted": real scores whose runs are exchanged within topics, so that none is
better. "AP redrawn": topics drawn again from real ones, whose means are the truth.
"""

from __future__ import annotations

import csv
import functools
import os
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from assay.core.arrays import Floats
from assay.data.scores import ScoreMatrix

ROOT = Path(__file__).resolve().parent.parent
THIRD = ", a third better"
BETTER = {"normal": 0.05, "skewed": 0.05, "uneven": 0.05, "0/1": 0.15, "sparse": 0.15}
"""How much is added to the scores, or to the probability of a 1, of the better third."""
FILES = {
    "AP": "trec-score-matrices/named/robust2004_ap.csv",
    "P@10": "trec-score-matrices/anonymous/robust2004_p10.csv",
    "success": "trec-score-matrices/anonymous/robust2004_p10.csv",
    "RR": "trec-score-matrices/anonymous/adhoc8_rr.csv",
    "nDCG@20": "trec-score-matrices/anonymous/web2011_ndcg20.csv",
}
PERMUTED = tuple(f"{measure} permuted" for measure in FILES)
REDRAWN = tuple(f"{measure} redrawn" for measure in FILES)


class NoData(Exception):
    """The real data of a cell is not on this machine."""


class Drawn(NamedTuple):
    """Scores, and the true mean of each run."""

    matrix: ScoreMatrix
    truth: Floats

    @property
    def values(self) -> Floats:
        """The scores, runs × topics."""
        return self.matrix.values


@dataclass(frozen=True)
class Case:
    """One repeat of one cell: what a row draws from."""

    world: str
    n: int
    rng: np.random.Generator

    def seed(self) -> int:
        """A seed for a function that draws."""
        return int(self.rng.integers(2**31))

    @property
    def base(self) -> str:
        """The world without what was added to it."""
        return self.world.removesuffix(THIRD)

    def runs(self, k: int = 10) -> Drawn:
        """k runs on n topics."""
        if self.is_real:
            return _real(self, k)
        effects = np.zeros(k)
        if self.world.endswith(THIRD):
            effects[k - k // 3 :] = BETTER[self.base]
        values, truth = _simulated(self.base, k, self.n, effects, self.rng)
        return Drawn(ScoreMatrix.of(values, measure="AP"), truth)

    def run(self) -> Drawn:
        """One run: the 0/1 world has half ones, the sparse world a tenth."""
        if self.is_real or self.world != "sparse":
            return self.runs(1)
        values = (self.rng.random((1, self.n)) < 0.1).astype(np.float64)
        return Drawn(ScoreMatrix.of(values, measure="AP"), np.array([0.1]))

    def pair(self) -> Drawn:
        """Two runs of the same true mean (real redrawn ones have their own); skewed ones have skewed differences."""
        if self.world != "skewed":
            return self.runs(2)
        topics = self.rng.normal(0.3, 0.06, self.n)
        values = np.stack([topics + self.rng.exponential(0.05, self.n), topics + 0.05])
        return Drawn(ScoreMatrix.of(values.clip(0, 1), measure="AP"), np.full(2, 0.35))

    @property
    def is_real(self) -> bool:
        """Whether scores of TREC are drawn from."""
        return self.world in PERMUTED or self.world in REDRAWN


def _simulated(world: str, k: int, n: int, effects: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Scores and true means of k runs; `clip` touches about one score in 10,000."""
    up = effects[:, None]
    if world == "0/1":
        p = np.minimum(1, rng.random(n) + up)
        return (rng.random((k, n)) < p).astype(np.float64), 0.5 + effects - effects**2 / 2
    if world == "sparse":
        p = np.where(rng.random(n) < 0.5, 0.95, 0.05 + up)
        return (rng.random((k, n)) < p).astype(np.float64), 0.5 + effects / 2
    if world == "skewed":
        values = rng.normal(0.3, 0.06, n) + rng.exponential(0.05, (k, n)) + up
        return values.clip(0, 1), 0.35 + effects
    noise = np.full((k, 1), 0.05)
    if world == "uneven":
        noise = np.where(np.arange(k)[:, None] < -(-k // 4), 0.09, 0.03)
    elif world != "normal":
        raise ValueError(f"no world {world!r}")
    values = rng.normal(0.5, 0.1, n) + rng.normal(0, 1, (k, n)) * noise + up
    return values.clip(0, 1), 0.5 + effects


def _real(case: Case, k: int) -> Drawn:
    """k runs of the better half: n topics as they are with runs exchanged, or n topics drawn again."""
    measure, way = case.world.rsplit(" ", 1)
    whole = real_scores(measure)
    rows = whole[case.rng.choice(len(whole), k, replace=False)]
    if way == "redrawn":
        values = rows[:, case.rng.integers(0, rows.shape[1], case.n)]
        return Drawn(ScoreMatrix.of(values, measure="AP"), rows.mean(axis=1))
    values = rows[:, case.rng.choice(rows.shape[1], case.n, replace=False)]
    values = case.rng.permuted(values, axis=0)
    return Drawn(ScoreMatrix.of(values, measure="AP"), np.zeros(k))


@functools.cache
def real_scores(measure: str) -> Floats:
    """The scores of the better half of the runs of a track, runs × topics, by mean."""
    rows = list(csv.reader(data_file(FILES[measure]).read_text().splitlines()))
    named = "/named/" in FILES[measure]
    if named or rows[0][0] == "topic":
        rows = [row[1:] for row in rows]
    values = np.array(rows[1:], dtype=np.float64)
    values = values if named else values.T
    if measure == "success":
        values = (values > 0).astype(np.float64)
    order = np.argsort(-values.mean(axis=1), kind="stable")
    return np.ascontiguousarray(values[order[: len(order) // 2]])


def data_file(name: str) -> Path:
    """A file of the real data, which ASSAY_DATA names."""
    path = Path(os.environ.get("ASSAY_DATA", ROOT.parent / "shared" / "data")) / name
    if not path.exists():
        raise NoData(f"{path} is not there; set ASSAY_DATA to the folder of the real data")
    return path
