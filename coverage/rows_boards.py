"""Boards over many collections: letters, rank sets, leads and random effects, with collections as the unit."""

from __future__ import annotations

import csv
import functools

import numpy as np

from assay.board import board
from assay.board.meta_analysis import random_effects
from assay.board.ranked_systems import Board
from assay.core.arrays import Floats
from assay.data.scores import ScoreMatrix
from claims import Wrong, area, outside
from worlds import Case, data_file

claim = area("Boards over collections")
SYSTEMS, TOPICS = 20, 30
COLLECTIONS = (2, 3, 4, 6, 10)
SETS = ("adhoc6", "adhoc7", "adhoc8", "web2010", "web2011", "web2012")
PERMUTED = "AP of six tracks permuted"
THIRD = "normal, a third better"


def _collections(
    case: Case, systems: int = SYSTEMS, interaction: float = 0.03
) -> tuple[dict[str, ScoreMatrix], Floats]:
    """Collections on which systems do well or badly by chance, and the true mean of each system."""
    if case.world == PERMUTED:
        own = [case.rng.permuted(_real(name)[:systems], axis=0) for name in SETS[: case.n]]
        return {f"c{i}": _matrix(f"c{i}", values) for i, values in enumerate(own)}, np.zeros(systems)
    truth = np.zeros(systems)
    if case.world == THIRD:
        truth[systems - systems // 3 :] = 0.06
    spread = np.full((systems, 1), 1.0)
    if case.world == "uneven":
        spread[: systems // 4] = 3.0
    made = {}
    for c in range(case.n):
        moved = 0.45 + truth[:, None] + interaction * spread * case.rng.standard_normal((systems, 1))
        values = moved + case.rng.normal(0, 0.1, TOPICS) + case.rng.normal(0, 0.08, (systems, TOPICS))
        made[f"c{c}"] = _matrix(f"c{c}", values.clip(0, 1))
    return made, truth


def _matrix(name: str, values: Floats) -> ScoreMatrix:
    return ScoreMatrix.of(values, topics=[f"{name}-{i}" for i in range(values.shape[1])], measure="AP")


@functools.cache
def _real(name: str) -> Floats:
    """The better half of the runs of a track, runs × topics."""
    rows = list(csv.reader(data_file(f"trec-score-matrices/anonymous/{name}_ap.csv").read_text().splitlines()))
    values = np.array(rows[1:], dtype=np.float64).T
    order = np.argsort(-values.mean(axis=1), kind="stable")
    return np.ascontiguousarray(values[order[: max(SYSTEMS, len(order) // 2)]])


def _false_letters(made: Board, truth: Floats) -> float:
    """Whether two systems of one true mean have no letter in common, or the verdict sets one above all."""
    rows = made.table().record()["rows"]
    place = {f"run{i + 1}": i for i in range(len(truth))}
    letters = {row["system"]: _letters(row.get("letters")) for row in rows}
    pairs = ((a, b) for a in letters for b in letters if a < b and truth[place[a]] == truth[place[b]])
    apart = any(letters[a] and letters[b] and not letters[a] & letters[b] for a, b in pairs)
    return apart or (np.ptp(truth) == 0 and "significantly better than all others" in made.verdict)


def _letters(label: str | None) -> set[int]:
    """The letters of a label such as `ac-e` as numbers; groups after z, `aa`, do not come up with 20 systems."""
    found: set[int] = set()
    text = label or ""
    for at, letter in enumerate(text):
        if letter == "-":
            found |= set(range(ord(text[at - 1]), ord(text[at + 1])))
        elif letter.isalpha():
            found.add(ord(letter))
    return found


def _false_ranks(made: Board, truth: Floats) -> float | None:
    """Whether any system's ranks leave out one that it truly has (equal systems have all ranks of their group)."""
    rows = [row for row in made.table().record()["rows"] if row.get("rank_low") is not None]
    if not rows:
        return None
    wrong = False
    for row in rows:
        own = truth[int(row["system"].removeprefix("run")) - 1]
        first, last = 1 + int((truth > own).sum()), len(truth) - int((truth < own).sum())
        wrong = wrong or row["rank_low"] > first or row["rank_high"] < last
    return wrong


def _letters_wrong(aggregate: str, over: str) -> Wrong:
    def wrong(case: Case) -> float:
        made, truth = _collections(case, interaction=0.0 if over == "topics" else 0.03)
        return _false_letters(board(made, aggregate=aggregate, over=over, seed=case.seed(), resamples=200), truth)

    return wrong


for aggregate in ("standardized", "mean", "borda"):
    is_default = aggregate == "standardized"
    claim(
        f"letters of 20 systems by {aggregate}, collections like these",
        kind="set",
        unit="collection",
        calls=("assay.board.board",),
        promises="two equal systems apart in at most 5 %",
        nominal=0.05,
        ms=12.0,
        results=("Board",),
        worlds=("normal", "uneven", THIRD) if is_default else ("normal", "uneven"),
        sizes=COLLECTIONS if is_default else (3, 6),
        real=(PERMUTED,) if is_default else (),
        real_sizes=(2, 4, 6),
    )(_letters_wrong(aggregate, "both"))
    claim(
        f"letters of 20 systems by {aggregate}, these collections",
        kind="set",
        unit="topic",
        calls=("assay.board.board",),
        promises="two equal systems apart in at most 5 %",
        nominal=0.05,
        ms=12.0,
        results=("Board",),
        worlds=("normal",),
        sizes=(2, 6),
    )(_letters_wrong(aggregate, "topics"))


@claim(
    "ranks that 20 systems may have",
    kind="rank",
    unit="collection",
    calls=("assay.board.board",),
    promises="any true rank outside in at most 5 %",
    nominal=0.05,
    ms=12.0,
    results=("Board",),
    worlds=("normal", "uneven", THIRD),
    sizes=COLLECTIONS,
    real=(PERMUTED,),
    real_sizes=(2, 4, 6),
)
def ranks(case: Case) -> float | None:
    made, truth = _collections(case)
    return _false_ranks(board(made, seed=case.seed(), resamples=200), truth)


@claim(
    "the mean of a system over collections lies in its interval",
    kind="interval",
    unit="collection",
    calls=("assay.board.board",),
    promises="95 % of the intervals contain the mean over collections like these",
    nominal=0.05,
    ms=8.0,
    results=("Board",),
    worlds=("normal",),
    sizes=COLLECTIONS,
)
def mean_left_out(case: Case) -> float | None:
    made, _ = _collections(case, 5)
    rows = board(made, aggregate="mean", seed=case.seed(), resamples=500).table().record()["rows"]
    out = [outside(row["low"], 0.45, row["high"]) for row in rows if row["low"] is not None]
    return float(np.mean(out)) if out else None


def _pooled(case: Case) -> tuple[dict[str, ScoreMatrix], float, float]:
    """Collections whose true differences have mean .02 and sd .02, that mean, and the difference on a new one."""
    made = {}
    for c in range(case.n):
        topics = int(case.rng.integers(20, 60))
        gain = 0.02 + case.rng.normal(0, 0.02)
        base = case.rng.normal(0.4, 0.1, topics)
        new = base + gain + case.rng.normal(0, 0.08, topics)
        made[f"c{c}"] = _matrix(f"c{c}", np.stack([base, new]).clip(0, 1))
    return made, 0.02, 0.02 + case.rng.normal(0, 0.02)


@claim(
    "the mean difference over collections lies in its interval (Hartung–Knapp)",
    kind="interval",
    unit="collection",
    calls=("assay.board.meta_analysis.random_effects",),
    promises="95 % of the intervals contain it",
    nominal=0.05,
    ms=2.0,
    results=("RandomEffects",),
    worlds=("normal",),
    sizes=COLLECTIONS,
)
def pooled_left_out(case: Case) -> float:
    made, truth, _ = _pooled(case)
    found = random_effects(made, "run1").pooled
    return outside(found.low[0], truth, found.high[0])


@claim(
    "a new collection's difference lies in its interval",
    kind="interval",
    unit="collection",
    calls=("assay.board.meta_analysis.random_effects",),
    promises="95 % of the prediction intervals contain it",
    nominal=0.05,
    ms=2.0,
    results=("RandomEffects",),
    worlds=("normal",),
    sizes=(3, 4, 6, 10),
)
def new_collection_left_out(case: Case) -> float:
    made, _, new = _pooled(case)
    found = random_effects(made, "run1").pooled
    return outside(found.predicted_low[0], new, found.predicted_high[0])


@claim(
    "a system differs from the baseline over collections",
    kind="p",
    unit="collection",
    calls=("assay.board.meta_analysis.random_effects",),
    promises="p < .05 in 5 % if it does not",
    nominal=0.05,
    ms=2.0,
    results=("RandomEffects", "Across", "SystemsOverCollections"),
    worlds=("normal",),
    sizes=COLLECTIONS,
    real=(PERMUTED,),
    real_sizes=(3, 6),
)
def system_differs(case: Case) -> float:
    made, _ = _collections(case, 2)
    return random_effects(made, "run1").pooled.p[0] < 0.05
