"""Expected average precision when relevance is a probability, and EMAP, which ranks runs by it without judgments.

Carterette & Allan 2007: each doc is relevant with probability p, taken from the preferences of the runs; judged docs
have p 0 or 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Bools, Codes, Floats, Ints
from assay.core.engine import Progress, chunks, silent
from assay.core.errors import UsageError
from assay.core.registry import Within
from assay.core.results import Result
from assay.core.tables import Table
from assay.data import Qrels, Run
from assay.data.lists import NONE, Lists
from assay.measures import Measure, parse
from assay.nojudgments.basis import comparable, without_judgments
from assay.nojudgments.predictors import METHODS
from assay.pooling.doc_strengths import Stated, checked_weights, fitted
from assay.rankings.stated_preferences import RETRIEVED

DEPTH = 100
"""Docs of each list that EMAP looks at."""
PAIRS_AT_ONCE = 2**20
"""Pairs of docs within lists that a fit holds at a time, 4 bytes each; one topic at least."""


def expected_ap(lists: Lists, p: Floats) -> Floats:
    """E[AP] of every run on every topic, p being the probability of relevance of each item (Eq. 1).

    E[AP] = 1/Σp · Σ_i ( p_i/r(i) + Σ_{j<i} p_i p_j / max(r(i), r(j)) ). Σp runs over all docs that any run retrieved
    for the topic; docs a run lacks add nothing above. It divides by the expected number of relevant docs, where AP
    divides by their number, so it is exact only when every p is 0 or 1, where it is AP. Σp = 0: 0.
    """
    p_of_row = p[lists.item]
    above = _sum_above(lists, p_of_row)
    # The pairs of i with the docs j above it, max(r(i), r(j)) being r(i), and i itself: p_i (1 + Σ p_j) / r(i).
    gain = p_of_row * (1 + above) / lists.rank
    gained = lists.matrix(gain)
    total = np.bincount(lists.topic_of_item, p, minlength=len(lists.topics))
    return np.divide(
        gained,
        total,
        out=np.zeros_like(gained),
        where=total > 0,
    )


def _sum_above(lists: Lists, values: Floats) -> Floats:
    """For each row the sum of the values above it in its list."""
    sums = np.cumsum(values)
    before = sums - values
    # Sums run on over all lists, one after the other: what came before the row's own list is taken away.
    before_list = np.append(0.0, sums)[lists.bounds[:-1]]
    above = before - before_list[lists.segment]
    return np.maximum(above, 0.0)


def relevance(
    lists: Lists,
    *,
    preferences: str = RETRIEVED,
    weights: npt.ArrayLike | None = None,
    alpha: float = 1.0,
    beta: float = 1.0,
    judged: Qrels | None = None,
    rel: float = 1,
    progress: Progress = silent,
) -> Floats:
    """The probability that each item is relevant, 1/(1 + e^−θ), θ from the preferences of the runs (Eqs. 3–6).

    preferences: whether a run prefers what it retrieved to the pooled docs that it did not (`retrieved`) or says
    nothing of them (`both`). weights: how much each run counts (manual runs weighted 8 to 16 times rank far better on
    TREC-3…8, §4.4). alpha and beta are the Beta prior of every doc; each judged doc of a topic adds one to alpha
    (relevant) or beta (not), and has itself p 1 or 0. A doc that no run retrieved is in no preference: its prior is
    its p.
    """
    from scipy.special import expit

    grades = lists.grades
    if judged is not None:
        grades = lists.graded(judged).grades
    is_judged = grades >= 0
    is_relevant = is_judged & (grades >= rel)

    # Each judged doc of a topic moves the prior of its other docs.
    topics = len(lists.topics)
    relevant_docs = np.bincount(lists.topic_of_item[is_relevant], minlength=topics)
    judged_docs = np.bincount(lists.topic_of_item[is_judged], minlength=topics)
    alphas = alpha + relevant_docs
    betas = beta + judged_docs - relevant_docs
    if not (alphas.min(initial=1) > 0 and betas.min(initial=1) > 0):
        raise UsageError("alpha and beta must be positive; without a prior θ need not be finite")
    p = (alphas / (alphas + betas))[lists.topic_of_item]

    run_weights = checked_weights(weights, len(lists.runs))
    for part in _parts(lists):
        items, ranked, docs = _retrieved(lists, part)
        stated = Stated.of(ranked, run_weights, docs, alphas[part], betas[part], preferences)
        p[items] = expit(fitted(stated))
        progress(int(part[-1]) + 1, topics)
    with_judged = np.where(is_judged, is_relevant, p)
    return with_judged.astype(np.float64)


def _parts(lists: Lists) -> list[Ints]:
    """Topics with retrieved docs, as many at a time as a fit keeps in memory: it is faster on several small ones."""
    answered = np.flatnonzero(lists.sizes.sum(axis=0))
    pairs_of_topic = len(lists.runs) * lists.depth**2
    at_once = max(1, PAIRS_AT_ONCE // max(1, pairs_of_topic))
    return [answered[part] for part in chunks(len(answered), at_once)]


def _retrieved(lists: Lists, topics: Ints) -> tuple[Ints, Codes, Ints]:
    """The retrieved items of these topics, the lists as places among them (topics × runs × depth), and their number."""
    ranked = lists.codes[:, topics].transpose(1, 0, 2)
    inside = ranked >= 0
    is_retrieved = np.zeros(lists.items, dtype=bool)
    is_retrieved[ranked[inside]] = True
    items = np.flatnonzero(is_retrieved)
    place_of_item = np.cumsum(is_retrieved, dtype=np.int32) - 1
    places = np.where(inside, place_of_item[ranked], NONE).astype(np.int32)
    docs = np.bincount(lists.topic_of_item[items], minlength=len(lists.topics))
    return items, places, docs[topics]


@METHODS.register("emap", short="EMAP", higher=True, paper="Carterette & Allan 2007")
def emap(
    lists: Lists,
    *,
    depth: Annotated[int, Within(1)] = DEPTH,
    alpha: Annotated[float, Within(0, open=True)] = 1.0,
    beta: Annotated[float, Within(0, open=True)] = 1.0,
    manual: Annotated[float, Within(0)] = 1.0,
    preferences: str = RETRIEVED,
) -> Floats:
    """E[AP] with relevance from the pairwise preferences of the runs (Bradley-Terry with a Beta prior).

    Lists are cut at `depth`. manual: how often each run marked as manual counts. preferences: `retrieved`, a run
    prefers what it retrieved to the pooled docs that it did not, or `both`, only docs that it ranked both are compared.
    """
    cut = without_judgments(lists).cut(depth)
    weights = None
    if manual != 1:
        is_manual = [bool(info.manual) for info in cut.infos]
        weights = np.where(is_manual, manual, 1.0)
    p = relevance(cut, preferences=preferences, weights=weights, alpha=alpha, beta=beta)
    return expected_ap(cut, p)


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
        rows = []
        for lower, upper, docs, relevant in zip(self.low, high, self.docs, self.relevant, strict=True):
            bracket = "]" if upper == 1 else ")"
            interval = f"[{lower:.1f}, {upper:.1f}{bracket}"
            share = relevant / docs if docs else None
            rows.append((interval, int(docs), share))
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
    place = (p * bins).astype(np.int64)
    place = np.minimum(place, bins - 1)
    docs = np.bincount(place, minlength=bins)
    relevant_docs = np.bincount(place, relevant, minlength=bins)
    r2 = 0.0
    deviance = 0.0
    p_varies = len(p) > 1 and np.ptp(p) > 0
    if p_varies and 0 < relevant.sum() < len(p):
        r = np.corrcoef(p, relevant)[0, 1]
        r2 = float(r**2)
        deviance = _deviance_explained(p, relevant)
    return Calibration(
        low=np.arange(bins) / bins,
        docs=docs.astype(np.float64),
        relevant=relevant_docs.astype(np.float64),
        r2=r2,
        deviance=deviance,
    )


def emap_calibration(
    runs: Lists | Sequence[Run], qrels: Qrels, measure: str | Measure = "AP", *, preferences: str = RETRIEVED
) -> Calibration:
    """How well the probabilities of EMAP fit the judgments.

    measure says what is relevant: its lowest relevant grade `rel` (1 if it has none), among the first docs down to its
    cutoff (100 if it has none, as in EMAP).
    """
    how = parse(measure) if isinstance(measure, str) else measure
    lists = runs if isinstance(runs, Lists) else comparable(runs)
    cut = without_judgments(lists).cut(how.k or DEPTH)
    relevant = cut.graded(qrels).relevant(how.rel)
    return calibration(relevance(cut, preferences=preferences), relevant)


def _deviance_explained(p: Floats, relevant: Bools) -> float:
    """1 − D/D₀ of the logistic regression of relevance on the log-odds of p, by Newton's method, slightly ridged."""
    clipped = np.clip(p, 1e-9, 1 - 1e-9)
    log_odds = np.log(clipped / (1 - clipped))
    standardized = (log_odds - log_odds.mean()) / log_odds.std()
    x = np.column_stack([np.ones_like(p), standardized])
    y = relevant.astype(np.float64)

    # D and D₀ are −2 times the log-likelihoods of the fit and of the share of relevant docs.
    fitted = _logistic(x, _coefficients(x, y))
    fitted = np.clip(fitted, 1e-12, 1 - 1e-12)
    null = np.full_like(y, y.mean())
    left = _log_likelihood(y, fitted) / _log_likelihood(y, null)
    return 1 - left


def _coefficients(x: Floats, y: Floats) -> Floats:
    """The maximum of the logistic likelihood, by Newton's method; the ridge keeps it finite where p is perfect."""
    ridge = 1e-6
    b = np.zeros(2)
    for _ in range(100):
        mu = _logistic(x, b)
        gradient = x.T @ (y - mu) - ridge * b

        variance = mu * (1 - mu)
        curvature = (x.T * variance) @ x + ridge * np.eye(2)
        step = np.linalg.solve(curvature, gradient)

        # A long step may jump over the maximum: it is cut.
        b = b + np.clip(step, -2, 2)
        if np.abs(step).max() < 1e-10:
            break
    return b


def _logistic(x: Floats, b: Floats) -> Floats:
    linear = np.clip(x @ b, -30, 30)
    return np.asarray(1 / (1 + np.exp(-linear)))


def _log_likelihood(y: Floats, p: Floats) -> float:
    """Σ y ln p + (1 − y) ln(1 − p)."""
    of_relevant = y @ np.log(p)
    of_others = (1 - y) @ np.log(1 - p)
    return float(of_relevant + of_others)
