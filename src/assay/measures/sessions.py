"""Measures of whole sessions: several queries for one information need, a list of docs for each.

They are functions of a Session, not of Grades, and have a registry of their own. r counts through the session or within
a list, q counts the queries; a doc of a later query is worth less, for it took the user longer to come by.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Annotated

from assay.core.arrays import Floats, Ints
from assay.core.errors import UsageError
from assay.core.lazy import np
from assay.core.registry import Registry, Within
from assay.data.grades import gain_of

SESSION_MEASURES: Registry[Callable[..., float]] = Registry("session measure")
"""Every measure of sessions; a function of one Session."""

LISTED = 4096
"""Paths through a session that are listed; where there are more they are sampled."""


@dataclass(frozen=True)
class Session:
    """The lists of a session, best first, as grades; all judged grades of the topic; and the docs, if they are known.

    >>> Session([[0, 1], [2, 0]], judged=[2, 1]).gains(2, "grade").tolist()
    [[0.0, 1.0], [2.0, 0.0]]
    """

    lists: Sequence[Sequence[float]]
    judged: Sequence[float] = ()
    docs: Sequence[Sequence[str]] | None = None

    def gains(self, k: int, gain: str, *, once: bool = False) -> Floats:
        """Gains of the first k docs of each list, 0 past its end; once: a doc seen before in the session gains 0.

        As many columns as the longest list has docs, and at most k.
        """
        out = np.zeros((len(self.lists), self._longest(k)))
        for q, grades in enumerate(self.lists):
            out[q, : len(grades[:k])] = gain_of(np.array(grades[:k], dtype=np.float64), gain)
        return out * self._first_time(k) if once else out

    def best(self, length: int, gain: str) -> Floats:
        """The judged gains, best first, of a list of that length at most."""
        return np.asarray(-np.sort(-gain_of(np.array(self.judged, dtype=np.float64), gain))[:length])

    def _longest(self, k: int) -> int:
        return min(k, max((len(grades) for grades in self.lists), default=0))

    def _first_time(self, k: int) -> Floats:
        if self.docs is None:
            raise UsageError("which docs a session repeats is not known; give the docs of its lists")
        seen: set[str] = set()
        new = np.ones((len(self.lists), self._longest(k)))
        for q, docs in enumerate(self.docs):
            for r, doc in enumerate(docs[:k]):
                new[q, r] = doc not in seen
                seen.add(doc)
        return new


@SESSION_MEASURES.register("sDCG", paper="Kanoulas, Carterette, Clough & Sanderson 2011")
def session_dcg(
    session: Session,
    *,
    k: Annotated[int, Within(1)] = 10,
    gain: str = "grade",
    bq: Annotated[float, Within(1, open=True)] = 4.0,
) -> float:
    """DCG of the lists cut at k and joined: Σ_r gain(r) / (log_bq(q(r) + bq − 1)·log2(r + 1)), r through the session.

    A list shorter than k leaves its ranks empty. An empty session scores 0.

    >>> round(session_dcg(Session([[0, 1], [2, 0]]), k=2), 6)
    1.492283
    """
    return _joined(session.gains(k, gain), k, bq)


@SESSION_MEASURES.register("nsDCG", paper="Kanoulas et al. 2011; Jiang & Allan 2016")
def normalised_session_dcg(
    session: Session,
    *,
    k: Annotated[int, Within(1)] = 10,
    gain: str = "grade",
    bq: Annotated[float, Within(1, open=True)] = 4.0,
    ideal: str = "repeat",
) -> float:
    """sDCG over that of an ideal session of as many lists.

    ideal=repeat: the best list for every query (Jiang & Allan's program), so that a doc found twice counts twice above
    and below. ideal=once: every judged doc once, through all k·m ranks, and a doc seen before gains nothing (needs the
    docs). No gain to be had scores 0.

    >>> s = Session([[0, 1], [2, 0]], judged=[2, 1], docs=[["a", "b"], ["c", "a"]])
    >>> round(normalised_session_dcg(s, k=2), 6), round(normalised_session_dcg(s, k=2, ideal="once"), 6)
    (0.386277, 0.567207)
    """
    if ideal not in ("repeat", "once"):
        raise UsageError(f"nsDCG: no ideal {ideal!r}; known: repeat, once")
    queries = len(session.lists)
    once = ideal == "once"
    best = session.best(queries * k if once else k, gain)
    if once:
        place = np.arange(len(best))
        most = _discounted(best, np.arange(1.0, len(best) + 1), place // k, bq)
    else:
        most = _joined(np.tile(best, (queries, 1)), k, bq)
    return _joined(session.gains(k, gain, once=once), k, bq) / most if most else 0.0


@SESSION_MEASURES.register("sDCGjarvelin", paper="Järvelin, Price, Delcambre & Nielsen 2008")
def session_dcg_by_list(
    session: Session,
    *,
    k: Annotated[int, Within(1)] = 10,
    gain: str = "grade",
    b: Annotated[float, Within(1, open=True)] = 2.0,
    bq: Annotated[float, Within(1, open=True)] = 4.0,
) -> float:
    """The first form: Σ_q DCG_q / (1 + log_bq(q)), each list discounted from its own rank 1 (1 for r ≤ b, 1/log_b(r)).

    Cutting a query's list in two can raise it: the second half starts at rank 1 again. Offered for comparison.

    >>> round(session_dcg_by_list(Session([[0, 1], [2, 0]]), k=2), 6)
    2.333333
    """
    gains = session.gains(k, gain)
    ranks = np.arange(1, gains.shape[1] + 1)
    of_ranks = np.maximum(1.0, np.log(ranks) / np.log(b))
    queries = np.arange(1, len(gains) + 1)
    of_queries = 1 + np.log(queries) / np.log(bq)
    discounted = gains / of_ranks / of_queries[:, None]
    return float(discounted.sum())


@SESSION_MEASURES.register("esnDCG", paper="Kanoulas, Carterette, Clough & Sanderson 2011")
def expected_session_ndcg(
    session: Session,
    *,
    k: Annotated[int, Within(1)] = 10,
    gain: str = "grade",
    down: Annotated[float, Within(0, 1)] = 0.8,
    reform: Annotated[float, Within(0, 1)] = 0.5,
    samples: Annotated[int, Within(1)] = 1000,
    seed: Annotated[int, Within(0)] = 0,
) -> float:
    """nDCG of what a user sees, expected over how far she goes down each list and whether she reformulates.

    In a list she goes on to the next doc with probability `down` and at most to rank k; after it she asks the next
    query with probability `reform`, until there is none. The docs of her path, joined, are scored by nDCG against the
    best list of equal length. All paths are listed where they are few, else `samples` are drawn. No gain scores 0.

    >>> expected_session_ndcg(Session([[1, 0]], judged=[1]), k=2)
    1.0
    """
    gains = session.gains(k, gain)
    m = len(gains)
    if not m:
        return 0.0
    length = _geometric(reform, m)
    if k**m <= LISTED:
        depth = _geometric(down, k)
        total = 0.0
        for lists in range(1, m + 1):
            for cuts in product(range(1, k + 1), repeat=lists):
                chance = float(length[lists - 1] * np.prod(depth[np.array(cuts) - 1]))
                total += chance * _path_ndcg(session, gains, cuts, gain)
        return total
    from assay.core.engine import generator  # it imports numpy, which names of measures do without

    rng = generator(seed)
    paths = [_path(rng, length, down, k) for _ in range(samples)]
    return float(np.mean([_path_ndcg(session, gains, path, gain) for path in paths]))


def _path(rng: np.random.Generator, length: Floats, down: float, k: int) -> tuple[int, ...]:
    """How far down she goes in each list that she sees, at most to rank k; length: chances of 1, 2, … lists."""
    lists = 1 + rng.choice(len(length), p=length)
    if k <= LISTED:
        steps = rng.choice(k, size=lists, p=_geometric(down, k)) + 1
    else:
        steps = np.minimum(rng.geometric(1 - down, size=lists), k) if down < 1 else np.full(lists, k)
    return tuple(steps.tolist())


def _joined(gains: Floats, k: int, bq: float) -> float:
    """Σ gain / (discount of its query · discount of its rank in the session), of lists that take k ranks each."""
    queries = np.arange(len(gains))[:, None]
    ranks: Floats = queries * np.float64(k) + np.arange(1.0, gains.shape[1] + 1)
    return _discounted(gains, ranks, queries, bq)


def _discounted(gains: Floats, ranks: Floats, queries: Ints, bq: float) -> float:
    """The same sum of gains at these ranks of the session, of these queries, the first of which is 0."""
    return float((gains / np.log2(ranks + 1) / (np.log(queries + bq) / np.log(bq))).sum())


def _geometric(p: float, most: int) -> Floats:
    """Probability of 1, 2, … most steps when each further one is taken with probability p."""
    if not 0 <= p <= 1:
        raise UsageError(f"a probability of going on must lie in [0, 1], not {p}")
    chance = (1 - p) * p ** np.arange(most, dtype=np.float64)
    chance[-1] = p ** (most - 1)
    return chance


def _path_ndcg(session: Session, gains: Floats, cuts: tuple[int, ...], gain: str) -> float:
    """nDCG of the first docs of each list, joined."""
    above, found = 0, 0.0
    for query, cut in enumerate(cuts):
        seen = gains[query, :cut]
        found += float((seen / np.log2(above + np.arange(2.0, len(seen) + 2))).sum())
        above += cut
    best = session.best(above, gain)
    most = float((best / np.log2(np.arange(2, len(best) + 2))).sum())
    return found / most if most else 0.0
