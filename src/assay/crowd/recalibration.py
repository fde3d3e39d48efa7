"""How are probabilities that are too sure put right? Calibration on docs whose grade is known, fitted on other topics.

A probability is replaced by the share of docs with such a probability that people call relevant. The doc's own topic
never takes part in the fit: a calibrated probability of a gold doc is held out, and may be checked against its grade.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from assay.core.arrays import Floats, Ints
from assay.core.errors import DataError
from assay.core.lazy import np  # help names the calibrations without numpy
from assay.core.registry import Registry

if TYPE_CHECKING:
    from assay.crowd.uncertain import Uncertain
    from assay.data import Qrels

Curve = Callable[[Floats], Floats]
"""Probabilities → calibrated probabilities."""
RECALIBRATIONS: Registry[Callable[[Floats, Floats], Curve]] = Registry("calibration of probabilities")
"""Ways to calibrate: probabilities of docs and whether each is relevant → a curve."""
FOLDS = 5
FEWEST_GOLD = 80
"""With fewer gold docs no calibration is better than none (40 topics of 50 docs, 1 gold doc each)."""
EDGE = 1e-6
"""Logs are taken of probabilities that are this far from 0 and 1."""


@RECALIBRATIONS.register("platt")
def platt(p: Floats, relevant: Floats) -> Curve:
    """Logistic regression on the logit of p: takes away a confidence that is too large by a factor. Platt 1999."""
    fit = logistic(logit(p)[:, None], relevant)
    return lambda other: expected(fit, logit(other)[:, None])


@RECALIBRATIONS.register("beta")
def beta(p: Floats, relevant: Floats) -> Curve:
    """Logistic regression on ln p and −ln(1 − p), slopes at least 0. Kull, Silva Filho & Flach 2017."""
    kept = [0, 1]
    fit = logistic(_beta_features(p)[:, kept], relevant)
    while kept and fit[1:].min() < 0:
        kept.pop(int(np.argmin(fit[1:])))
        fit = logistic(_beta_features(p)[:, kept], relevant)
    return lambda other: expected(fit, _beta_features(other)[:, kept])


@RECALIBRATIONS.register("isotonic")
def isotonic(p: Floats, relevant: Floats) -> Curve:
    """The rising steps nearest to the grades, within ½/g and 1 − ½/g for g gold docs. Zadrozny & Elkan 2002."""
    places, steps = rising_steps(p, relevant)
    least = 0.5 / len(p)
    return lambda other: np.interp(other, places, steps.clip(least, 1 - least))


def rising_steps(p: Floats, relevant: Floats) -> tuple[Floats, Floats]:
    """The different probabilities, ascending, and the rising share of relevant docs at each.

    >>> rising_steps(np.array([0.1, 0.2, 0.9]), np.array([1.0, 0.0, 1.0]))[1].tolist()
    [0.5, 0.5, 1.0]
    """
    from scipy.optimize import isotonic_regression

    places, place = np.unique(p, return_inverse=True)
    docs = np.bincount(place).astype(np.float64)
    shares = np.bincount(place, relevant) / docs
    return places, np.asarray(isotonic_regression(shares, weights=docs).x)


def logit(p: Floats) -> Floats:
    """ln(p / (1 − p)), of probabilities within EDGE of 0 and 1."""
    inside = p.clip(EDGE, 1 - EDGE)
    return np.log(inside / (1 - inside))


def _beta_features(p: Floats) -> Floats:
    inside = p.clip(EDGE, 1 - EDGE)
    return np.column_stack([np.log(inside), -np.log1p(-inside)])


def logistic(features: Floats, relevant: Floats) -> Floats:
    """Intercept and slopes of greatest likelihood, by Newton's steps; finite also where a line separates the grades.

    >>> logistic(np.zeros((4, 0)), np.array([0.0, 1, 1, 1])).round(6).tolist() == [round(float(np.log(3)), 6)]
    True
    """
    x = np.column_stack([np.ones(len(features)), features])
    ridge = 1e-9 * np.eye(x.shape[1])  # far below the printed digits
    fit = np.zeros(x.shape[1])
    for _ in range(100):
        p = _sigmoid(x @ fit)
        step = np.linalg.solve((x.T * (p * (1 - p))) @ x + ridge, x.T @ (relevant - p) - ridge @ fit)
        while _likelihood(x @ (fit + step), relevant) < _likelihood(x @ fit, relevant) and np.abs(step).max() > EDGE**2:
            step = step / 2
        fit = fit + step
        if np.abs(step).max() < 1e-10:
            break
    return fit


def expected(fit: Floats, features: Floats) -> Floats:
    """The probabilities that a logistic fit gives."""
    return _sigmoid(fit[0] + features @ fit[1:])


def _sigmoid(x: Floats) -> Floats:
    from scipy.special import expit

    return np.asarray(expit(x))


def _likelihood(x: Floats, relevant: Floats) -> float:
    return float((relevant * x - np.logaddexp(0, x)).sum())


def refuse_few_gold(gold: int, topics: int, *, needed: int = FEWEST_GOLD) -> None:
    """An error if there are too few gold docs, or topics that have any, for a fit that is held out by topic."""
    if gold < needed:
        raise DataError(f"a calibration needs {needed} gold docs; the reference has {gold} of the docs with labels")
    if topics < 2:
        raise DataError("a calibration is fitted on other topics, but only 1 topic has gold docs; judge docs of others")


def cross_fitted(p: Floats, relevant: Floats, topic: Ints, method: str) -> Floats:
    """Calibrated probabilities of all docs, each fitted on the gold docs of the other folds of topics.

    relevant: 1 or 0, NaN for docs without a known grade. Topics with gold docs are dealt to the folds in their order.
    Gold docs of one kind alone give their share, kept within ½/g of 0 and 1.

    >>> p = np.tile([0.1, 0.9], 80)
    >>> kind = np.tile([0.0, 1.0, 0.0, 0.0], 40)
    >>> cross_fitted(p, kind, np.repeat(np.arange(10), 16), "isotonic")[:2].tolist()
    [0.00390625, 0.5]
    """
    known = ~np.isnan(relevant)
    refuse_few_gold(int(known.sum()), len(np.unique(topic[known])))
    fold = _folds(topic, known)
    calibrated = np.empty(len(p))
    for part in np.unique(fold):
        train = known & (fold != part)
        curve = curve_of(p[train], relevant[train], method)
        calibrated[fold == part] = curve(p[fold == part])
    return calibrated


def _folds(topic: Ints, known: Floats) -> Ints:
    """The fold of each doc: topics with gold docs are spread evenly, and so are those without."""
    topics = np.unique(topic)
    has_gold = np.isin(topics, topic[known])
    folds = min(FOLDS, int(has_gold.sum()))
    of_topic = np.where(has_gold, np.cumsum(has_gold) - 1, np.cumsum(~has_gold) - 1) % folds
    return of_topic[np.searchsorted(topics, topic)]


def curve_of(p: Floats, relevant: Floats, method: str) -> Curve:
    """The curve of a method; of docs that are all of one kind their share, kept within ½/g of 0 and 1."""
    if 0 < relevant.mean() < 1:
        curve: Curve = RECALIBRATIONS.call(method, p, relevant)
        return curve
    least = 0.5 / len(p)
    share = float(np.clip(relevant.mean(), least, 1 - least))
    return lambda other: np.full(len(other), share)


def grades_on_levels(judgments: Uncertain, reference: Qrels, rel: float = 1) -> Floats:
    """The reference's grade of each doc as one of the levels of the judgments; NaN of docs that are not judged.

    Of two levels a grade from `rel` on is the upper. Of more, every grade must be one of them.
    """
    from assay.agreement.across_scales import grades_of

    grade = grades_of(judgments.items, reference, judgments.method)
    levels = judgments.levels
    if len(levels) == 2:
        return np.where(np.isnan(grade), np.nan, levels[(grade >= rel).astype(int)])
    strange = np.setdiff1d(grade[~np.isnan(grade)], levels)
    if len(strange):
        known = ", ".join(f"{level:g}" for level in levels)
        raise DataError(
            f"{reference.name}: grade {strange[0]:g} is none of the levels of the judgments ({known}); give a "
            "reference on this scale, or aggregate labels of two levels"
        )
    return grade


def recalibrated(posterior: Floats, levels: Floats, grade: Floats, topic: Ints, method: str) -> Floats:
    """The posterior, docs × levels, with P(grade ≥ level) calibrated for every level; grade: NaN where it is unknown.

    >>> two = np.column_stack([np.tile([0.9, 0.1], 80), np.tile([0.1, 0.9], 80)])
    >>> grade = np.tile([0.0, 1.0, 0.0, 0.0], 40)
    >>> recalibrated(two, np.array([0.0, 1.0]), grade, np.repeat(np.arange(10), 16), "isotonic")[1].tolist()
    [0.5, 0.5]
    """

    def calibrated(at_least: Floats, relevant: Floats) -> Floats:
        return cross_fitted(at_least, relevant, topic, method)

    return by_cuts(posterior, levels, grade, calibrated)


def by_cuts(posterior: Floats, levels: Floats, grade: Floats, calibrated: Callable[[Floats, Floats], Floats]) -> Floats:
    """A posterior from its probabilities P(grade ≥ level), each calibrated by itself; none may rise with the level."""
    at_least = [np.ones(len(posterior))]
    for place in range(1, len(levels)):
        relevant = np.where(np.isnan(grade), np.nan, grade >= levels[place])
        share = calibrated(posterior[:, place:].sum(axis=1), relevant)
        at_least.append(np.minimum(share, at_least[-1]))
    tails = np.column_stack([*at_least, np.zeros(len(posterior))])
    return tails[:, :-1] - tails[:, 1:]
