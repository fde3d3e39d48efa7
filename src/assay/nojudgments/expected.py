"""Expected average precision when relevance is a probability, and EMAP, which ranks runs by it without judgments.

Carterette & Allan 2007: each doc is relevant with probability p, taken from the preferences of the runs; judged docs
have p 0 or 1. The closed form (Eq. 1) and the exact distribution by enumeration are each other's oracle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Bools, Floats
from assay.core.engine import Progress, silent
from assay.core.errors import UsageError
from assay.core.registry import Within
from assay.core.results import Result
from assay.core.tables import Table
from assay.data import Qrels, Run
from assay.data.lists import Lists
from assay.measures import Measure, parse
from assay.nojudgments.basis import comparable
from assay.nojudgments.predictors import METHODS
from assay.pooling.doc_strengths import strengths

DEPTH = 100
"""Docs of each list that EMAP looks at."""

ENUMERATED = 20
"""The largest pool whose 2ⁿ relevance assignments are enumerated."""


def expected_ap(lists: Lists, p: Floats) -> Floats:
    """E[AP] of every run on every topic, p being the probability of relevance of each item (Eq. 1).

    E[AP] = 1/Σp · Σ_i ( p_i/r(i) + Σ_{j<i} p_i p_j / max(r(i), r(j)) ). Σp runs over all docs that any run retrieved
    for the topic; docs a run lacks add nothing above. It divides by the expected number of relevant docs, where AP
    divides by their number, so it is exact only when every p is 0 or 1, where it is AP; `exact_expected_ap` is the true
    mean for small pools. Σp = 0: 0.
    """
    mine = p[lists.item]
    before = np.cumsum(mine) - mine
    starts = np.concatenate([[0.0], np.cumsum(mine)])[lists.bounds[:-1]]
    above = np.maximum(before - starts[lists.segment], 0.0)
    gained = lists.matrix(mine * (1 + above) / lists.rank)
    total = np.bincount(lists.topic_of_item, p, minlength=len(lists.topics))
    return np.divide(gained, total, out=np.zeros_like(gained), where=total > 0)


def ap_distribution(p: Sequence[float], others: Sequence[float] = ()) -> tuple[Floats, Floats]:
    """The values that AP of one ranking can take, ascending, and their probabilities, by enumeration.

    p: probability of relevance of each doc, best rank first; others: of docs the run did not retrieve. At most 20 docs.

    >>> values, chances = ap_distribution([4/5, 2/5, 3/5])
    >>> [(round(float(v), 4), round(float(c), 4)) for v, c in zip(values, chances)]
    [(0.0, 0.048), (0.3333, 0.072), (0.5, 0.032), (0.5833, 0.048), (0.8333, 0.288), (1.0, 0.512)]
    """
    chance = np.array([*p, *others], dtype=np.float64)
    if len(chance) > ENUMERATED:
        raise UsageError(f"{len(chance)} docs have too many relevance assignments; at most {ENUMERATED}")
    x = (np.arange(2 ** len(chance))[:, None] >> np.arange(len(chance))) & 1
    weight = np.prod(np.where(x == 1, chance, 1 - chance), axis=1)
    ranked = x[:, : len(p)]
    gained = (ranked * ranked.cumsum(axis=1) / np.arange(1, len(p) + 1)).sum(axis=1)
    ap = (gained / np.maximum(x.sum(axis=1), 1)).round(12)
    values, place = np.unique(ap, return_inverse=True)
    possible = np.bincount(place, weight, minlength=len(values)).astype(np.float64)
    return values[possible > 0], possible[possible > 0]


def exact_expected_ap(p: Sequence[float], others: Sequence[float] = ()) -> float:
    """The true mean of AP of one ranking over all relevance assignments; see `ap_distribution`.

    >>> round(exact_expected_ap([4/5, 2/5, 3/5]), 4)
    0.82
    """
    values, chances = ap_distribution(p, others)
    return float(values @ chances)


def relevance(
    lists: Lists,
    *,
    weights: npt.ArrayLike | None = None,
    alpha: float = 1.0,
    beta: float = 1.0,
    judged: Qrels | None = None,
    rel: int = 1,
    progress: Progress = silent,
) -> Floats:
    """The probability that each item is relevant, 1/(1 + e^−θ), θ from the preferences of the runs (Eqs. 3–6).

    weights: how much each run counts (manual runs weighted 8 to 16 times rank far better on TREC-3…8, §4.4). alpha and
    beta are the Beta prior of every doc; each judged doc of a topic adds one to alpha (relevant) or beta (not), and has
    itself p 1 or 0.
    """
    from scipy.special import expit

    grades = (lists if judged is None else lists.graded(judged)).grades
    p = np.zeros(lists.items)
    for t in range(len(lists.topics)):
        seen = lists.topic(t)
        known = grades[seen.items][grades[seen.items] >= 0]
        a = alpha + int(np.sum(known >= rel))
        b = alpha + beta + len(known) - a
        theta = strengths(seen.ranked, docs=len(seen.docs), weights=weights, alpha=a, beta=b)
        p[seen.items] = expit(theta)
        progress(t + 1, len(lists.topics))
    return np.where(grades >= 0, grades >= rel, p).astype(np.float64)


@METHODS.register("emap", short="EMAP", higher=True, paper="Carterette & Allan 2007")
def emap(
    lists: Lists,
    *,
    depth: Annotated[int, Within(1)] = DEPTH,
    alpha: float = 1.0,
    beta: float = 1.0,
    manual: float = 1.0,
) -> Floats:
    """E[AP] with relevance from the pairwise preferences of the runs (Bradley-Terry with a Beta prior).

    Lists are cut at `depth`. manual: how often each run marked as manual counts.
    """
    cut = lists.cut(depth)
    weights = None if manual == 1 else np.where([bool(i.manual) for i in cut.infos], manual, 1.0)
    return expected_ap(cut, relevance(cut, weights=weights, alpha=alpha, beta=beta))


@dataclass(frozen=True, eq=False)
class Calibration(Result):
    """How often docs of a given probability are relevant, and how well probability tells relevance."""

    low: Floats
    docs: Floats
    relevant: Floats
    r2: float
    deviance: float

    def table(self) -> Table:
        """One row per bin of probability."""
        high = [*self.low[1:], 1.0]
        rows = [
            (f"[{a:.1f}, {b:.1f}{']' if b == 1 else ')'}", int(n), r / n if n else None)
            for a, b, n, r in zip(self.low, high, self.docs, self.relevant, strict=True)
        ]
        note = f"R² {self.r2:.3f} (squared correlation); deviance explained {self.deviance:.3f} (logistic, on log-odds)"
        return Table.of(
            {"probability": "", "docs": "d", "relevant": ".3f"},
            rows,
            caption="Calibration of relevance",
            notes=[note],
            keys={"relevant": "share_relevant"},
        )


def calibration(p: Floats, relevant: Bools, *, bins: int = 10) -> Calibration:
    """Share of relevant docs per bin of probability, R² and deviance (Carterette & Allan 2007, Table 2).

    R² is the squared correlation of p with relevance, deviance the share 1 − D/D₀ that a logistic regression of
    relevance on the log-odds of p explains; both are 1 if p is perfect and 0 if it says nothing or relevance does not
    vary.

    >>> calibration(np.array([0.1, 0.2, 0.8, 0.9]), np.array([False, False, True, True]), bins=2).relevant.tolist()
    [0.0, 2.0]
    """
    place = np.minimum((p * bins).astype(np.int64), bins - 1)
    docs = np.bincount(place, minlength=bins).astype(np.float64)
    hits = np.bincount(place, relevant, minlength=bins).astype(np.float64)
    varied = len(p) > 1 and np.ptp(p) > 0 and 0 < relevant.sum() < len(p)
    r2 = float(np.corrcoef(p, relevant)[0, 1] ** 2) if varied else 0.0
    return Calibration(np.arange(bins) / bins, docs, hits, r2, _deviance_explained(p, relevant) if varied else 0.0)


def emap_calibration(runs: Lists | Sequence[Run], qrels: Qrels, measure: str | Measure = "AP") -> Calibration:
    """How well the probabilities of EMAP fit the judgments.

    measure says what is relevant: its lowest relevant grade `rel` (1 if it has none), among the first docs down to its
    cutoff (100 if it has none, as in EMAP).
    """
    how = parse(measure) if isinstance(measure, str) else measure
    lists = runs if isinstance(runs, Lists) else comparable(runs)
    cut = lists.cut(how.k or DEPTH)
    rel = dict(how.parameters).get("rel", how.entry.parameters.get("rel", 1))
    return calibration(relevance(cut), cut.graded(qrels).relevant(rel))


def _deviance_explained(p: Floats, relevant: Bools) -> float:
    """1 − D/D₀ of the logistic regression of relevance on the log-odds of p, by Newton's method, slightly ridged."""
    clipped = np.clip(p, 1e-9, 1 - 1e-9)
    odds = np.log(clipped / (1 - clipped))
    x = np.column_stack([np.ones_like(p), (odds - odds.mean()) / odds.std()])
    y = relevant.astype(np.float64)
    b = np.zeros(2)
    for _ in range(100):
        mu = 1 / (1 + np.exp(-np.clip(x @ b, -30, 30)))
        step = np.linalg.solve((x.T * (mu * (1 - mu))) @ x + 1e-6 * np.eye(2), x.T @ (y - mu) - 1e-6 * b)
        b = b + np.clip(step, -2, 2)
        if np.abs(step).max() < 1e-10:
            break
    mu = np.clip(1 / (1 + np.exp(-np.clip(x @ b, -30, 30))), 1e-12, 1 - 1e-12)
    share = y.mean()
    null = y @ np.log(np.full_like(y, share)) + (1 - y) @ np.log(np.full_like(y, 1 - share))
    return float(1 - (y @ np.log(mu) + (1 - y) @ np.log(1 - mu)) / null)
