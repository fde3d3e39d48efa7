"""A cutoff costs no more than the lists are long, and the values are those of a plain sum over all ranks."""

from __future__ import annotations

import contextlib
import math
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.special  # noqa: F401  (so that its own memory is not counted)

from assay.core.arrays import Floats
from assay.core.errors import AssayError
from assay.data import Qrels, Run
from assay.data.grades import grades
from assay.data.intents import IntentQrels
from assay.measures import MEASURES, parse
from assay.measures.fairness import FAIRNESS_MEASURES, GroupedTopic
from assay.measures.long_tails import sum_over_ranks
from assay.measures.sessions import SESSION_MEASURES, Session
from assay.scoring import Aligned, bounds, evaluate
from assay.similarity import LIST_SIMILARITIES

RUN = Run.from_lists("r", {"1": ["a", "b", "c", "x"], "2": ["a", "c"]})
QRELS = Qrels.from_dict({"1": {"a": 2, "b": 0, "c": 1, "e": 1}, "2": {"a": 0, "c": 3}})
INTENTS = IntentQrels.from_rows([("1", "1", "a", 1), ("1", "2", "b", 2), ("2", "1", "c", 1), ("2", "2", "a", 1)])
LENGTHS = dict.fromkeys("abcx", 100.0)
CUT = [entry.name for entry in MEASURES if "k" in entry.parameters]
LARGE = 10**15
MB = 2**20


def peak(work: Callable[[], Any]) -> float:
    """The most memory that it takes, in MB; a refusal is an answer."""
    tracemalloc.start()
    with contextlib.suppress(AssayError):
        work()
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most / MB


@pytest.mark.parametrize("k", [10**6, LARGE])
@pytest.mark.parametrize("name", CUT)
def test_no_measure_allocates_by_its_cutoff(name: str, k: int) -> None:
    text = f"{name}@{k}"
    for form in ("{}", "D-{}", "D#-{}", "DIN-{}", "DIN#-{}", f"{name}-IA@{k}"):
        assert peak(lambda form=form: evaluate([RUN], INTENTS, form.format(text))) < 4  # type: ignore[misc]
    assert peak(lambda: evaluate([RUN], QRELS, text, lengths=LENGTHS)) < 4
    assert peak(lambda: bounds(Aligned.of([RUN], QRELS), [text])) < 4


@pytest.mark.parametrize("k", [10**6, LARGE])
def test_neither_do_measures_of_sessions_of_groups_and_of_two_lists(k: int) -> None:
    session = Session([[0, 1], [2, 0]], judged=[2, 1], docs=[["a", "b"], ["c", "a"]])
    topic = GroupedTopic([np.eye(2)], [np.array([1, 1])], np.eye(2), np.array([1, 1]))
    for entry in SESSION_MEASURES:
        assert peak(lambda entry=entry: entry.function(session, k=k)) < 4, entry.name  # type: ignore[misc]
    for fair in FAIRNESS_MEASURES:
        assert peak(lambda fair=fair: fair.function(topic, k=k)) < 4, fair.name  # type: ignore[misc]
    for likeness in LIST_SIMILARITIES:
        if "k" in likeness.parameters:
            work = lambda likeness=likeness: likeness.function(["a", "b"], ["b", "c"], k=k)  # noqa: E731
            assert peak(work) < 4, likeness.name


def browsed(goes_on: Callable[[int, float], float], found: list[float], k: int, value: str) -> float:
    """A C/W/L measure rank by rank; a doc costs 1."""
    reached, weights, gained = [1.0], [], []
    for i in range(1, k + 1):
        gain = found[i - 1] if i <= len(found) else 0.0
        weights.append(reached[-1])
        gained.append(gain)
        reached.append(reached[-1] * (goes_on(i, gain) if i < k else 0.0))
    items = math.fsum(weights)
    so_far = np.cumsum(gained)
    stops = [w * (1 - r / w if w else 0.0) for w, r in zip(weights, reached[1:], strict=True)]
    return {
        "EU": math.fsum(w * x for w, x in zip(weights, gained, strict=True)) / items,
        "ETU": math.fsum(s * x for s, x in zip(stops, so_far, strict=True)),
        "EC": 1.0,
        "ETC": math.fsum(s * i for i, s in enumerate(stops, start=1)),
        "items": items,
    }[value]


BROWSERS: dict[str, Callable[[int, float], float]] = {
    "CWLP": lambda i, gain: 1.0,
    "SDCG": lambda i, gain: math.log(i + 1) / math.log(i + 2),
    "SET": lambda i, gain: (math.sqrt(i + 2) - math.sqrt(i + 1)) / (math.sqrt(i + 1) - math.sqrt(i)),
    "NERR8": lambda i, gain: 1 - gain,
    "NERR9": lambda i, gain: i / (i + 1) * (1 - gain),
}


@pytest.mark.parametrize("value", ["EU", "ETU", "EC", "ETC", "items"])
@pytest.mark.parametrize("name", BROWSERS)
def test_what_lies_past_the_lists_is_summed_as_rank_by_rank(name: str, value: str) -> None:
    g = grades([0, 1, None, 2, 0, 1], [], judged=[3, 2, 1, 1])
    for k in (3, 1000, 20_000):
        expected = [browsed(BROWSERS[name], row, k, value) for row in ([0, 1 / 3, 0, 2 / 3, 0, 1 / 3], [])]
        assert parse(f"{name}(value={value})@{k}")(g).tolist() == pytest.approx(expected, rel=1e-9)


def test_cutoffs_of_any_depth_have_the_value_that_theory_gives() -> None:
    g = grades([1, 0, 1], judged=[1, 1])
    assert parse(f"CWLP@{10**8}")(g).tolist() == pytest.approx([2e-8], rel=1e-14)
    assert parse(f"SET(value=items)@{10**8}")(g).tolist() == pytest.approx(
        [(math.sqrt(10**8 + 1) - 1) / (math.sqrt(2) - 1)], rel=1e-12
    )
    # Without end, RBO's sum is that of a series: Σ p^(i−1)/i = −ln(1 − p)/p.
    endless = -math.log(1 - 0.999) / 0.999
    found_at_1 = parse(f"Compat(p=0.999,normalize=false)@{LARGE}")(grades([1]))
    assert found_at_1.tolist() == pytest.approx([endless * (1 - 0.999)], rel=1e-12)


@pytest.mark.parametrize("p", [0.5, 0.95, 0.9999])
def test_compatibility_is_the_sum_over_all_ranks(p: float) -> None:
    k = 30_000
    got = parse(f"Compat(p={p},normalize=false)@{k}")(grades([0, 1, 2], judged=[2, 1, 1]))
    shared = [0, 1, *[2] * (k - 2)]  # the ideal list: the third doc, the second, and one that was not found
    weights = [p**i for i in range(k)]
    by_hand = math.fsum(w * s / i for i, (w, s) in enumerate(zip(weights, shared, strict=True), start=1))
    assert got.tolist() == pytest.approx([by_hand / math.fsum(weights)], rel=1e-12)


def test_a_topic_has_the_same_bits_whatever_lists_stand_beside_it() -> None:
    rng = np.random.default_rng(0)
    rows = [[int(x) for x in rng.integers(0, 3, size)] for size in (5, 1500, 4000)]
    together, alone = grades(*rows, judged=[[2, 1]] * 3, top=2), [grades(row, judged=[2, 1], top=2) for row in rows]
    for text in ("SDCG@{}", "NERR9(value=ETC)@{}", "SET(value=ETU)@{}", "Compat@{}", "Compat(normalize=false)@{}"):
        for k in (900, 1200, 3000, 10_000):
            measure = parse(text.format(k))
            assert measure(together).tolist() == [float(measure(one)[0]) for one in alone]


def test_sums_over_ranks_against_every_rank() -> None:
    first, last = 1001, 300_000
    weights: list[Callable[[Floats], Floats]]
    weights = [lambda i: 1 / np.log(i + 1), lambda i: 0.999 ** (i - 1) / i, lambda i: 1 / i, np.ones_like]
    for weight in weights:
        exact = math.fsum(weight(np.arange(first, last + 1, dtype=np.float64)))
        assert sum_over_ranks(weight, first, last) == pytest.approx(exact, rel=1e-12)
    assert sum_over_ranks(np.ones_like, 7, 6) == 0


def test_the_upper_bound_of_a_deep_cutoff_says_what_was_filled() -> None:
    found = bounds(Aligned.of([RUN], QRELS), ["DCG@10", "DCG@1000000"])
    assert [line for line in found.table().text().splitlines() if "5,000 are filled" in line]
