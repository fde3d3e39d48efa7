"""Carterette & Allan 2007: the data, the worked example, Theorem 1, and what rests on runs that are not public."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import numpy as np

import assay
from assay.core.arrays import Floats
from assay.data import Run
from assay.nojudgments.basis import comparable
from assay.nojudgments.expected import expected_ap
from reproduction.files import ROBUST, counts
from reproduction.items import Line, cell, line, missing, reproduces, statement
from reproduction.places import CARTERETTE
from reproduction.roitero_subsets import PUBLISHED, published_runs

NO_RUNS = "the runs of TREC 3 to 8 are not public: NIST gives them only to those who sign for them"

TABLE_1 = (
    ("3", "40", "11"), ("4", "33", "19"), ("5", "61", "31"), ("6", "74", "17"), ("7", "103", "17"), ("8", "129", "12"),
)  # fmt: skip


@reproduces(
    CARTERETTE,
    "Table 1",
    "the runs and topics of TREC 3 to 8",
    command="python -m reproduction.page 'Carterette & Allan 2007, Table 1'",
    needs=[PUBLISHED, ROBUST],
)
def table_1() -> Iterator[Line]:
    other = "NIST's page of results lists another number of runs; which ones the paper took is not said"
    for number, runs, _ in TABLE_1:
        yield cell(f"runs of TREC-{number} on NIST's page", runs, len(published_runs(f"trec{number}", "adhoc")), other)
    for number, low, printed in (("7", 351, "92.4"), ("8", 401, "94.2")):
        relevant = [counts()[str(topic)][1] for topic in range(low, low + 50)]
        yield line(
            f"relevant docs per topic, TREC-{number}",
            printed,
            float(np.mean(relevant)),
            because="all judged ones here; printed are those among the top 100 of a run, hence a little fewer",
        )
    yield statement(
        "manual runs of TREC-8",
        "12",
        "13 by Roitero 2020, Table 6.1",
        False,
        because="two works that count the same runs differ by one; the other rows agree. Which runs are manual is not "
        "in the public data",
    )
    yield missing("docs per topic in the top 100", "1009.4 … 2335.5", NO_RUNS)


DOCS = "ABC"
P = (4 / 5, 2 / 5, 3 / 5)
"""The probabilities of the worked example."""


def ap_of_every_judgment() -> dict[str, float]:
    """AP of the list A, B, C for every set of relevant docs."""
    sets = ["".join(doc for doc, is_in in zip(DOCS, kept, strict=True) if is_in) for kept in product((0, 1), repeat=3)]
    run = {name or "none": {doc: 3.0 - place for place, doc in enumerate(DOCS)} for name in sets}
    qrels = {name or "none": {doc: int(doc in name) for doc in DOCS} for name in sets}
    found = assay.evaluate({"list": run}, qrels, ["AP"])["AP"].to_dict()["list"]
    return {name: found.get(name or "none", 0.0) for name in sets}


def chance(relevant: str) -> float:
    """Probability that just these docs are relevant."""
    factors = [p if doc in relevant else 1 - p for doc, p in zip(DOCS, P, strict=True)]
    return float(np.prod(factors))


@reproduces(
    CARTERETTE,
    "Section 4.1",
    "the worked example: a list of three docs",
    command="python -m reproduction.page 'Carterette & Allan 2007, Section 4.1'",
)
def section_4_1() -> Iterator[Line]:
    ap = ap_of_every_judgment()
    as_fractions = {name: Fraction(value).limit_denominator(100) for name, value in ap.items()}
    yield statement("AP if A and C are relevant", "5/6", str(as_fractions["AC"]), as_fractions["AC"] == Fraction(5, 6))
    values = sorted(set(as_fractions.values()))
    shown = ", ".join(map(str, values))
    yield statement(
        "values that AP can take",
        "0, 1/3, 5/12, 1/2, 5/6, 1",
        shown,
        Fraction(5, 12) in values,
        because="5/12 is 7/12: with B and C relevant AP is (1/2 + 2/3)/2, and no judgment gives 5/12",
    )
    left = sorted({value for name, value in as_fractions.items() if "A" in name})
    yield statement("values left if A is relevant", "5/6, 1", ", ".join(map(str, left)), left == [Fraction(5, 6), 1])
    yield line("P(AP = 0)", "0.048", chance(""))
    yield line("P(AP = 1)", ".512", sum(chance(name) for name, value in as_fractions.items() if value == 1))
    exact = sum(chance(name) * value for name, value in ap.items())
    yield statement(
        "Equation 1 on this example, and the mean of AP",
        "the same but for a negligible O(2⁻ⁿ)",
        f"{closed_form(np.array(P)):.4f} and {exact:.4f}",
        False,
        because="Equation 1 divides by the expected number of relevant docs, not by their number; the error falls "
        f"slowly with the docs: with all p at 1/2 it is {errors()}",
    )
    yield statement(
        "expected prior after judging (Section 4.2.1)",
        "(R + 1)/(R + N + 1)",
        "(R + 1)/(R + N + 2)",
        False,
        because="the mean of Beta(1 + R, 1 + N) for R relevant and N other judged docs; the printed one would be 1 "
        "before any judgment, where α = β = 1 gives 1/2",
    )


def closed_form(p: Floats) -> float:
    """Equation 1 of a list whose docs have these probabilities."""
    names = [f"d{place:02d}" for place in range(len(p))]
    lists = comparable([Run.from_lists("a", {"1": names}), Run.from_lists("b", {"1": names})])
    return float(expected_ap(lists, p)[0, 0])


def mean_of_ap(p: Floats) -> float:
    """The mean of AP over all judgments."""
    every = np.array(list(product((0, 1), repeat=len(p))))
    chances = np.where(every, p, 1 - p).prod(axis=1)
    precision = np.cumsum(every, axis=1) / np.arange(1, len(p) + 1)
    relevant = np.maximum(every.sum(axis=1), 1)
    ap = (every * precision).sum(axis=1) / relevant
    return float(chances @ ap)


def errors() -> str:
    """Error of Equation 1 by number of docs."""
    shown = []
    for count in (4, 8, 16):
        p = np.full(count, 0.5)
        shown.append(f"{closed_form(p) - mean_of_ap(p):.3f} for {count}")
    return ", ".join(shown)


@reproduces(
    CARTERETTE,
    "Section 5.1",
    "Theorem 1: of two lists that differ by a swap the one with the more probable doc first has the higher E[AP]",
    command="python -m reproduction.page 'Carterette & Allan 2007, Section 5.1'",
)
def section_5_1() -> Iterator[Line]:
    rng = np.random.default_rng(0)
    names = [f"d{place:02d}" for place in range(12)]
    held = 0
    for _ in range(500):
        order = rng.permutation(12)
        first, second = sorted(rng.choice(12, 2, replace=False).tolist())
        swapped = order.copy()
        swapped[[first, second]] = order[[second, first]]
        lists = comparable(
            [Run.from_lists(run, {"1": [names[i] for i in places]}) for run, places in (("a", order), ("b", swapped))]
        )
        p = rng.uniform(size=12)
        by_run = expected_ap(lists, p)[:, 0]
        of_doc = dict(zip(lists.docs, p.tolist(), strict=True))
        ahead = of_doc[names[order[first]]] > of_doc[names[order[second]]]
        held += int((by_run[0] > by_run[1]) == ahead)
    yield statement("500 random lists of 12 docs, random probabilities", "always", f"{held} of 500", held == 500)
