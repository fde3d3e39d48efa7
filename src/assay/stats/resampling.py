"""How are topics drawn again? The random draws, tail counts and p-values that all resampling tests share.

Draws come in blocks of a fixed size from one generator, so that a p-value depends on the seed, the number of topics
and the number of resamples alone: never on how many runs are tested at once, nor on jobs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from assay.core.arrays import Floats
from assay.core.engine import chunks, generator
from assay.core.errors import UsageError
from assay.core.registry import Entry, one_of, parse_call

ALTERNATIVES = ("two-sided", "greater", "less")
DRAWS_AT_ONCE = 512
TOPICS_AT_ONCE = 1 << 14
"""Topics that Poisson weights are drawn for at a time."""
LARGEST_WEIGHT = 13
"""A larger weight from Poisson(1) has a chance of less than 1 in 2³²."""
MOST_TOPICS = 500_000
"""More topics are not drawn one by one: a block of resamples of them would take gigabytes."""
RESAMPLES = 10_000
# Scores come with a few digits: what differs by less than this share of the data is equal up to rounding of sums.
SLACK = 1e-12


def topic_counts(topics: int, resamples: int, seed: int | np.random.Generator = 0) -> Iterator[Floats]:
    """Blocks (draws × topics) of how often each topic is drawn when `topics` are drawn with replacement.

    >>> [block.sum(axis=1).tolist() for block in topic_counts(4, 3)]
    [[4.0, 4.0, 4.0]]
    """
    _refuse_many(topics)
    rng = checked_generator(seed)
    for part in chunks(checked_resamples(resamples), DRAWS_AT_ONCE):
        draws = part.stop - part.start
        drawn = rng.integers(topics, size=(draws, topics))
        # All draws are counted at once: each has its own range of `topics` numbers.
        first_of_draw = topics * np.arange(draws)
        drawn += first_of_draw[:, None]
        counts = np.bincount(drawn.ravel(), minlength=draws * topics)
        yield counts.reshape(draws, topics).astype(np.float64)


def poisson_weights(topics: int, resamples: int, seed: int = 0) -> Iterator[tuple[slice, slice, Floats]]:
    """Weights of topics from Poisson(1), in blocks: which topics, which draws, and their weights (draws × topics).

    Each block of topics has a generator of its own, made of the seed and its number: a block can be weighted anywhere.
    A weight is the number of cumulative probabilities that a 32-bit number reaches.

    >>> [block.shape for _, _, block in poisson_weights(5, 3)]
    [(3, 5)]
    """
    probabilities = np.exp(-1.0) / np.cumprod([1.0, *range(1, LARGEST_WEIGHT)])
    reached = np.floor(np.cumsum(probabilities) * 2.0**32)
    steps = np.unique(np.minimum(reached, 2.0**32 - 1)).astype(np.uint32)
    count = checked_resamples(resamples)
    for number, part in enumerate(chunks(topics, TOPICS_AT_ONCE)):
        rng = np.random.default_rng([seed, number])
        for draws in chunks(count, DRAWS_AT_ONCE):
            shape = (draws.stop - draws.start, part.stop - part.start)
            drawn = rng.integers(2**32, size=shape, dtype=np.uint32)
            weights = np.zeros(shape, dtype=np.uint8)
            for step in steps:
                weights += drawn >= step
            yield part, draws, weights.astype(np.float64)


def sign_flips(topics: int, resamples: int, seed: int = 0) -> Iterator[Floats]:
    """Blocks (draws × topics) of random signs, +1 or −1."""
    _refuse_many(topics)
    rng = checked_generator(seed)
    for part in chunks(checked_resamples(resamples), DRAWS_AT_ONCE):
        draws = part.stop - part.start
        negative = rng.random((draws, topics)) < 0.5
        yield np.where(negative, -1.0, 1.0)


def _refuse_many(topics: int) -> None:
    if topics > MOST_TOPICS:
        raise UsageError(
            f"{topics:,} topics are too many to be drawn one by one (at most {MOST_TOPICS:,}); take the test t, "
            "wilcoxon, sign or poisson-bootstrap, and intervals by t"
        )


def every_sign_flip(topics: int) -> Iterator[Floats]:
    """Blocks of all 2^topics sign patterns.

    >>> [block.tolist() for block in every_sign_flip(1)]
    [[[1.0], [-1.0]]]
    """
    for part in chunks(2**topics, DRAWS_AT_ONCE):
        # Bit i of a pattern's number is the sign of topic i.
        numbers = np.arange(part.start, part.stop)
        bits = numbers[:, None] >> np.arange(topics)
        yield np.where(bits & 1, -1.0, 1.0)


def tail_counts(replicates: Floats, observed: Floats, *, alternative: str, slack: Floats | float = 0.0) -> Floats:
    """How many replicates (rows) are at least as extreme as the observed value of their column.

    Two-sided compares absolute values; it never doubles a tail. Values nearer than `slack` count as equal.

    >>> tail_counts(np.array([[-2.0], [1.0], [3.0]]), np.array([2.0]), alternative="two-sided")
    array([2.])
    """
    if checked_alternative(alternative) == "two-sided":
        hits = np.abs(replicates) >= np.abs(observed) - slack
    elif alternative == "greater":
        hits = replicates >= observed - slack
    else:
        hits = replicates <= observed + slack
    return hits.sum(axis=0, dtype=np.int32).astype(np.float64)


def resampled_p(counts: Floats, resamples: int, *, plain: bool = False) -> Floats:
    """p = (count + 1)/(B + 1), which is never 0; `plain` gives the count/B of the textbooks.

    >>> float(resampled_p(np.array(49.0), 999)), float(resampled_p(np.array(0.0), 1000, plain=True))
    (0.05, 0.0)
    """
    if plain:
        return np.asarray(counts / resamples)
    return np.asarray((counts + 1) / (resamples + 1))


def least_p(resamples: int, plain: bool = False) -> float:
    """The smallest p that this number of resamples can give: 1/(B + 1), or 0 for the plain share."""
    if plain:
        return 0.0
    return 1 / (resamples + 1)


def resampled_t(counts: Floats, centred: Floats) -> tuple[Floats, Floats]:
    """Mean and t of each resample (rows of `counts`) of each pair (columns of `centred`, topics × pairs).

    A resample that drew one value only has no spread: its t is 0 if its mean is 0, else ±∞.
    """
    n = len(centred)
    mean = counts @ centred / n
    rounding = SLACK * np.abs(centred).sum(axis=0)
    mean[np.abs(mean) <= rounding] = 0.0
    variance = counts @ centred**2 / n - mean**2
    np.maximum(variance, 0, out=variance)
    error = np.sqrt(variance / (n - 1))
    flat = error <= 1e-8 * np.abs(mean)
    t = np.divide(mean, error, out=np.zeros_like(mean), where=~flat)
    if flat.any():
        infinite = np.copysign(np.inf, mean)
        t = np.where(flat & (mean != 0), infinite, t)
    return mean, t


def one_or_both(greater: Floats, less: Floats, alternative: str) -> Floats:
    """p of the tail that is asked for; two-sided twice the smaller one, at most 1."""
    both = np.minimum(1.0, 2 * np.minimum(greater, less))
    return np.asarray({"greater": greater, "less": less, "two-sided": both}[checked_alternative(alternative)])


def refuse_few(what: str, entry: Entry[Any], topics: int, instead: str = "t") -> None:
    """An error where a test or an interval has fewer topics than it needs."""
    needed = entry.facts.get("topics", 2)
    if topics >= needed:
        return
    if entry.facts.get("resampled"):
        need = "a bootstrap needs 50 topics (bootstrap-t 10)"
    else:
        need = f"it needs {needed}"
    raise UsageError(f"{what} {entry.name}: too few topics ({topics}); {need}; use {instead}")


def percent(level: float) -> str:
    """A level as people write it.

    >>> percent(0.95)
    '95 %'
    """
    return f"{100 * level:.6g} %"


def drawn_in_words(resamples: int, seed: int, plain: bool | None = None) -> str:
    """The part of a recipe that says how many draws, which seed and, for a test, how p counts them."""
    draws = f"B = {resamples}, seed {seed}"
    if plain is None:
        return draws
    p = "count/B" if plain else "(count+1)/(B+1)"
    return f"{draws}, p = {p}"


def sides_in_words(alternative: str) -> str:
    """The part of a recipe that says which differences the test looks for.

    >>> sides_in_words("two-sided"), sides_in_words("greater")
    ('two-sided', 'one-sided, greater')
    """
    if alternative == "two-sided":
        return alternative
    return f"one-sided, {alternative}"


def checked_alternative(alternative: str) -> str:
    """The alternative if it is one of ALTERNATIVES."""
    return one_of("alternative", alternative, ALTERNATIVES)


def refuse_alternative(test: str) -> None:
    """An error where the name of a test sets the alternative in brackets: it is an option of its own."""
    name, given = parse_call(test)
    if "alternative" in given:
        raise UsageError(f"{name}: the alternative is an option of its own, not a parameter in brackets")


def checked_resamples(resamples: int) -> int:
    """The number of resamples if it is at least 1."""
    if resamples < 1:
        raise UsageError(f"resamples must be at least 1, not {resamples}; 10000 is usual")
    return resamples


def checked_generator(seed: int | np.random.Generator) -> np.random.Generator:
    """The generator of a seed that is not negative."""
    if isinstance(seed, int) and seed < 0:
        raise UsageError(f"a seed must not be negative ({seed}); take 0 or more")
    return generator(seed)


def checked_share(value: float, what: str) -> float:
    """A level or an α, strictly between 0 and 1."""
    if not 0 < value < 1:
        raise UsageError(f"{what} must lie between 0 and 1, not {value}")
    return value
