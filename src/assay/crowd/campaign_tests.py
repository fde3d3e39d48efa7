"""Is one campaign better than another beyond chance? Docs drawn again for both, and signed ranks over docs and topics.

The same docs are drawn for both campaigns of a pair, so that easy and hard docs cancel out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from assay.agreement.across_scales import grades_of
from assay.agreement.alpha import alphas
from assay.agreement.left_out import alpha_by_topic
from assay.agreement.ratings import Ratings
from assay.agreement.scales import Level
from assay.core.arrays import Floats, Ints
from assay.core.engine import generator
from assay.data import Labels, Qrels
from assay.stats.multiple import corrected
from assay.stats.paired import outcome_of

LEVEL = 0.95
FEWEST_TOPICS = 6
"""With fewer pairs no signed-rank test can reach .05."""
Coded = tuple[Ratings, Labels, Level]


@dataclass(frozen=True)
class Difference:
    """One question about two campaigns: both values, their difference, its interval where there is one, and p."""

    first: str
    second: str
    what: str
    n: int
    of_first: float
    of_second: float
    low: float | None
    high: float | None
    p: float
    test: str
    corrected_p: float = 1.0

    def row(self) -> tuple[object, ...]:
        """In the order of the table."""
        delta = self.of_first - self.of_second
        values = (self.of_first, self.of_second, delta, self.low, self.high, self.p, self.corrected_p)
        return (self.first, self.second, self.what, self.n, *values, self.test)


@dataclass(frozen=True)
class Untested:
    """A question about two campaigns that their labels cannot answer, and why."""

    first: str
    second: str
    what: str
    why: str

    def __str__(self) -> str:
        return f"{self.what} of {self.first} and {self.second} ({self.why})"


def differences(
    campaigns: Mapping[str, Coded], *, reference: Qrels | None, resamples: int, seed: int
) -> tuple[list[Difference], list[Untested]]:
    """All pairs of campaigns: α, agreement with the reference, and time; and what cannot be tested.

    p is corrected by Holm over what is tested: a question without an answer does not make the others harder.
    """
    found: list[Difference | Untested] = []
    drawn = {name: _draws(coded, reference, resamples, seed) for name, coded in campaigns.items()}
    for first, second in combinations(campaigns, 2):
        for what in drawn[first]:
            found.append(_resampled(first, second, what, drawn[first][what], drawn[second][what]))
        found += _by_topic(first, second, campaigns[first][0], campaigns[second][0])
        found += _by_time(first, second, campaigns[first][1], campaigns[second][1])
    tested = [one for one in found if isinstance(one, Difference)]
    adjusted = corrected([one.p for one in tested]) if tested else np.zeros(0)
    untested = [one for one in found if isinstance(one, Untested)]
    return [replace(one, corrected_p=float(p)) for one, p in zip(tested, adjusted, strict=True)], untested


def _draws(coded: Coded, reference: Qrels | None, resamples: int, seed: int) -> dict[str, tuple[int, Floats]]:
    """Of each question the number of docs, and its value on all docs followed by those on docs drawn again.

    Docs are in the order of their names in every campaign, and the seed is the same: so the same docs are drawn.
    """
    ratings, labels, level = coded
    docs = len(ratings.doc)
    rng = generator(seed)
    picks = rng.integers(docs, size=(resamples, docs))
    weights = np.ones((resamples + 1, docs))
    for row, pick in enumerate(picks, 1):
        weights[row] = np.bincount(pick, minlength=docs)
    order = _by_name(ratings.items)
    in_own_order = np.empty_like(weights)
    in_own_order[:, order] = weights
    values = {"α": (docs, alphas(ratings, in_own_order, level=level))}
    if reference is not None:
        values["agreement of the means (untied)"] = _weighted_agreement(labels, reference, weights)
    return values


def _by_name(items: tuple[tuple[str, str], ...] | list[tuple[str, str]]) -> Ints:
    """Where the docs stand when they are sorted by topic and name."""
    return np.array(sorted(range(len(items)), key=lambda i: items[i]), dtype=np.int64)


def _weighted_agreement(labels: Labels, reference: Qrels, weights: Floats) -> tuple[int, Floats]:
    """Pairs of docs of a topic that means and reference order alike, over those that the reference orders, by draw.

    weights: draws × docs in the order of their names.
    """
    item, pairs = labels.items()
    mean = np.round(np.bincount(item, labels.label) / np.bincount(item), 9)
    order = _by_name(pairs)
    grade = grades_of(pairs, reference, labels.name)[order]
    mean = mean[order]
    topic = np.unique([pairs[i][0] for i in order], return_inverse=True)[1]
    alike = np.zeros(len(weights))
    ordered = np.zeros(len(weights))
    for one in np.unique(topic).tolist():
        docs = np.flatnonzero((topic == one) & ~np.isnan(grade))
        lower = (grade[docs, None] < grade[None, docs]).astype(np.float64)
        agree = lower * (mean[docs, None] < mean[None, docs])
        drawn = weights[:, docs]
        alike += ((drawn @ agree) * drawn).sum(axis=1)
        ordered += ((drawn @ lower) * drawn).sum(axis=1)
    share = np.divide(alike, ordered, out=np.full(len(weights), np.nan), where=ordered > 0)
    return int((~np.isnan(grade)).sum()), share


def _resampled(
    first: str, second: str, what: str, of_first: tuple[int, Floats], of_second: tuple[int, Floats]
) -> Difference | Untested:
    """The difference on all docs, the middle 95 % of those on docs drawn again, and how often its sign turns."""
    docs, values = of_first
    _, others = of_second
    undefined = [name for name, own in ((first, values), (second, others)) if not np.isfinite(own[0])]
    if undefined:
        return Untested(first, second, what, f"undefined for {' and '.join(undefined)}")
    delta = values - others
    draws = delta[1:][np.isfinite(delta[1:])]
    if not len(draws):
        return Untested(first, second, what, "undefined on docs drawn again")
    low, high = np.quantile(draws, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    turned = min((draws <= 0).sum(), (draws >= 0).sum())
    p = min(1.0, 2 * (turned + 1) / (len(draws) + 1))
    test = f"{len(draws)} resamples of the docs"
    return Difference(
        first, second, what, docs, float(values[0]), float(others[0]), float(low), float(high), float(p), test
    )


def _by_topic(first: str, second: str, a: Ratings, b: Ratings) -> list[Difference | Untested]:
    """α of the topics of both, by signed ranks; a handful of topics cannot be tested."""
    of_a = dict(zip(a.topics, alpha_by_topic(a)[0].tolist(), strict=True))
    of_b = dict(zip(b.topics, alpha_by_topic(b)[0].tolist(), strict=True))
    pairs = [(of_a[topic], of_b[topic]) for topic in of_a if topic in of_b]
    values = np.array([pair for pair in pairs if np.isfinite(pair).all()]).reshape(-1, 2)
    what = "mean α of topics"
    if len(values) < FEWEST_TOPICS:
        why = f"defined on {len(values)} topics, a test needs {FEWEST_TOPICS}"
        return [Untested(first, second, what, why)]
    return [_signed_ranks(first, second, what, values)]


def _by_time(first: str, second: str, a: Labels, b: Labels) -> list[Difference | Untested]:
    """Median seconds of each doc in both, by signed ranks over docs; nothing if one of them has no seconds."""
    of_a = _seconds_by_doc(a)
    of_b = _seconds_by_doc(b)
    pairs = [(of_a[doc], of_b[doc]) for doc in of_a if doc in of_b]
    what = "median seconds of a doc"
    if not of_a or not of_b:
        return []
    if len(pairs) < FEWEST_TOPICS:
        return [Untested(first, second, what, f"{len(pairs)} docs with seconds in both, a test needs {FEWEST_TOPICS}")]
    return [_signed_ranks(first, second, what, np.array(pairs))]


def _seconds_by_doc(labels: Labels) -> dict[tuple[str, str], float]:
    if labels.seconds is None:
        return {}
    item, pairs = labels.items()
    known = np.isfinite(labels.seconds)
    item, seconds = item[known], labels.seconds[known]
    order = np.lexsort((seconds, item))
    sizes = np.bincount(item, minlength=len(pairs))
    begin = np.cumsum(sizes) - sizes
    has_time = np.flatnonzero(sizes)
    low = seconds[order][begin[has_time] + (sizes[has_time] - 1) // 2]
    high = seconds[order][begin[has_time] + sizes[has_time] // 2]
    return {pairs[i]: float((x + y) / 2) for i, x, y in zip(has_time.tolist(), low, high, strict=True)}


def _signed_ranks(first: str, second: str, what: str, values: Floats) -> Difference:
    delta = values[:, 0] - values[:, 1]
    outcome = outcome_of(delta[None, :], "wilcoxon")
    means = values.mean(axis=0)
    return Difference(
        first, second, what, len(values), float(means[0]), float(means[1]), None, None, float(outcome.p[0]),
        "Wilcoxon signed ranks",
    )  # fmt: skip
