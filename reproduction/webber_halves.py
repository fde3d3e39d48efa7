"""Webber 2010, section 4.6.2: random halves of the topics of TREC 7 and TREC 8."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np

from assay.data.scores import ScoreMatrix
from assay.standard import comparability
from assay.standard.collections import pooled
from assay.standard.halves import FalsePositives, false_negatives, false_positives
from reproduction.files import MATRICES, ROBUST
from reproduction.items import Line, cell, drawn, line, missing, reproduces, statement
from reproduction.places import WEBBER
from reproduction.webber_collections import NO_RBP_DCG, part

SPLITS = 5000
ERRORS = """assay standardize errors t7.csv t8.csv --splits 5000 --form 'z(sd=sample)' \\
  --factors trec7-factors.csv --factors trec8-factors.csv"""
NOT_KNOWN = (
    "why two of 5,995 pairs are missing is not known: changing the released scores within their four digits leaves the "
    "count as it is, and that of P@10 is exact"
)

GROUPS = {"SP": ("-sp", None), "AP": ("", None), "sAP": ("", "z")}
GROUPS_P10 = {"P@10": ("-p10", None), "nP@10": ("-np10", None), "sP@10": ("-p10", "z")}


@cache
def adhoc_topics(kind: str, form: str | None) -> ScoreMatrix:
    """Topics 351–450 of T7 and T8 together."""
    return pooled({name: part(name, kind, form) for name in ("t7", "t8")})


@cache
def positives(kind: str, form: str | None, splits: int = SPLITS) -> FalsePositives:
    """Runs that seem different from themselves on random halves of topics 351–450."""
    return false_positives(adhoc_topics(kind, form), splits=splits)


@reproduces(
    WEBBER,
    "Figure 4.9",
    "runs that are significantly different from themselves, AP, 5,000 random halves of topics 351–450",
    command=ERRORS,
    needs=[MATRICES],
)
def figure_4_9() -> Iterator[Line]:
    raw, after = positives("", None), positives("", "z")
    yield drawn("mean rate, raw", "0.049", raw.mean, _error(raw))
    yield drawn("mean rate, standardized", "0.049", after.mean, _error(after))
    yield line("median rate, raw: most partitions show none", "0", float(np.median(raw.rates)))
    yield line("median rate, standardized", "0.036", float(np.median(after.rates)))
    above = float((after.rates > 0.15).mean())
    yield statement(
        "partitions whose rate is above .15, standardized",
        "2.5 %",
        f"{above:.1%}; the 97.5th percentile is {after.high:.3f}",
        abs(above - 0.025) < 0.01,
    )
    most = round(110 * float(raw.rates.max()))
    yield cell("most runs different from themselves in one partition, raw", "110", most, "the extreme of 5,000 draws")


def _error(found: FalsePositives) -> float:
    """Standard error of the difference of two mean rates over as many splits."""
    return float(found.rates.std() * (2 / len(found.rates)) ** 0.5)


@cache
def kappa_of_halves(kind: str, form: str | None, draws: int = 1000) -> tuple[float, float]:
    """Mean κ between random halves of topics 351–450, and its standard error."""
    whole = adhoc_topics(kind, form)
    return random_kappa(whole, draws)


def random_kappa(whole: ScoreMatrix, draws: int = 1000) -> tuple[float, float]:
    """Mean κ between random halves of the topics, and its standard error."""
    rng = np.random.default_rng(0)
    found = []
    for _ in range(draws):
        shuffled = rng.permutation(whole.topics).tolist()
        half = len(shuffled) // 2
        halves = {"a": whole.select(topics=shuffled[:half]), "b": whole.select(topics=shuffled[half:])}
        found.append(comparability(halves, permutations=0).pairs[0].kappa or 0.0)
    return float(np.mean(found)), float(np.std(found) / draws**0.5)


@reproduces(
    WEBBER,
    "Figure 4.10",
    "mean κ of 1,000 random halves of topics 351–450",
    command="python -m reproduction.page 'Webber 2010, Figure 4.10'",
    needs=[MATRICES, ROBUST],
    slow=True,
)
def figure_4_10() -> Iterator[Line]:
    sp, ap, sap = (kappa_of_halves(kind, form)[0] for kind, form in GROUPS.values())
    p10, np10, sp10 = (kappa_of_halves(kind, form)[0] for kind, form in GROUPS_P10.values())
    yield statement(
        "standardized forms have the lowest κ, SP group",
        "seen in the bars",
        f"SP {sp:.2f}, AP {ap:.2f}, sAP {sap:.2f}",
        sap < ap < sp,
    )
    yield statement(
        "standardized forms have the lowest κ, P@10 group",
        "seen in the bars",
        f"P@10 {p10:.2f}, nP@10 {np10:.2f}, sP@10 {sp10:.2f}",
        sp10 < min(p10, np10),
    )
    yield missing("nDCG (Section 4.6.3)", "0.43", NO_RBP_DCG)


@reproduces(
    WEBBER,
    "Figure 4.11",
    "true differences that a two-sample t test on halves misses",
    command=ERRORS,
    needs=[MATRICES, ROBUST],
)
def figure_4_11() -> Iterator[Line]:
    sums = false_negatives([adhoc_topics(kind, form) for kind, form in GROUPS.values()], samples=SPLITS)
    p10 = false_negatives([adhoc_topics(kind, form) for kind, form in GROUPS_P10.values()], samples=SPLITS)
    yield line("pairs of the 110 runs", "5,955", sums.pairs, because="a misprint: 110 · 109 / 2 = 5,995")
    yield line("truly different pairs, P@10", "1,714", p10.true_pairs)
    yield cell(
        "truly different pairs, SP",
        "2,896",
        sums.true_pairs,
        NOT_KNOWN,
    )
    yield missing("truly different pairs, RBP and DCG", "2,408 and 3,429", NO_RBP_DCG)
    raw = [*sums.rates[:2], *p10.rates[:2]]
    yield statement(
        "rates without standardization",
        "from .25 to more than .4",
        f"SP {raw[0]:.2f}, AP {raw[1]:.2f}, P@10 {raw[2]:.2f}, nP@10 {raw[3]:.2f}",
        min(raw) > 0.25 and max(raw) > 0.4,
    )
    yield statement(
        "rates with standardization", "all below .08", f"sAP {sums.rates[2]:.3f}, sP@10 {p10.rates[2]:.3f}",
        max(sums.rates[2], p10.rates[2]) < 0.08,
    )  # fmt: skip
    yield drawn("rate of sAP, as little as", "0.03", sums.rates[2], 0.004)


@reproduces(
    WEBBER,
    "Figure 4.12",
    "97.5th percentile of the rate of runs that are different from themselves",
    command=ERRORS,
    needs=[MATRICES, ROBUST],
)
def figure_4_12() -> Iterator[Line]:
    high = {name: positives(kind, form).high for name, (kind, form) in (GROUPS | GROUPS_P10).items()}
    raw = [high[name] for name in ("SP", "AP", "P@10", "nP@10")]
    shown = ", ".join(f"{name} {value:.2f}" for name, value in high.items())
    yield statement("raw and normalized", "around 50 %", shown, min(raw) > 0.35 and max(raw) < 0.55)
    higher = high["SP"] > high["P@10"]
    yield statement("SP against P@10", "higher rates", f"{high['SP']:.2f} and {high['P@10']:.2f}", higher)
    yield statement(
        "standardized",
        "just over 15 %",
        f"sAP {high['sAP']:.3f}, sP@10 {high['sP@10']:.3f}",
        min(high["sAP"], high["sP@10"]) > 0.14 and max(high["sAP"], high["sP@10"]) < 0.18,
    )
