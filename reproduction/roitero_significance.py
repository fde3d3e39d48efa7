"""Roitero 2020, section 4.4: how many topics a design needs, and which differences fewer topics still find."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

import numpy as np

from assay.plan.topic_sizes import score_variance, topics_by_anova, topics_by_interval, topics_by_t
from assay.topics.conclusions import compare_conclusions
from reproduction.files import MATRICES, scores
from reproduction.items import Line, cell, line, missing, reproduces, statement
from reproduction.places import ROITERO
from reproduction.roitero_subsets import COLLECTIONS, NO_MQ07
from reproduction.roitero_topics import found

ERRORS = ((0.01, 0.1), (0.01, 0.2), (0.05, 0.1), (0.05, 0.2))
DIFFERENCES = (0.05, 0.1, 0.2)
NAMES = ("AH99", "TB06", "R04", "MQ07")
TABLE_4_4 = (
    "575 147 40 426 109 30 599 153 41 706 179 48",
    "452 116 32 336 87 25 471 121 33 554 142 38",
    "406 103 28 301 77 21 422 106 29 498 126 33",
    "304 78 21 225 58 16 315 81 22 373 95 26",
)
TABLE_4_5 = (
    "2352 588 147 1341 336 84 2295 574 144 3446 862 216",
    "2001 501 126 1131 283 71 1948 487 122 2879 720 180",
    "1860 465 117 1050 263 66 1810 453 114 2669 668 167",
    "1529 383 96 855 124 54 1485 372 93 2151 538 135",
)
TABLE_4_6 = ("1019 255 64 754 189 48 1061 266 67 1253 314 79", "591 148 37 437 110 28 615 154 39 726 182 46")
VARIANCE = {"AH99": 0.096, "TB06": 0.071, "R04": 0.100, "MQ07": 0.118}
"""Printed variances of differences, twice those of scores."""


def cells(row: str) -> Iterator[tuple[str, float, str]]:
    """Collection, difference and printed number of a row of a table."""
    places = [(name, difference) for name in NAMES for difference in DIFFERENCES]
    for (name, difference), printed in zip(places, row.split(), strict=True):
        yield name, difference, printed


def variance_lines(printed: dict[str, str], factor: int) -> Iterator[Line]:
    """σ² of the used runs, times 1 (scores) or 2 (differences)."""
    for name, value in printed.items():
        if name == "MQ07":
            yield missing(f"variance of {name}", value, NO_MQ07)
        else:
            yield line(f"variance of {name}", value, factor * score_variance(scores(COLLECTIONS[name])))


@reproduces(
    ROITERO,
    "Table 4.4",
    "topics that a paired t test needs",
    command="""assay plan topics top96.csv --difference 0.05 --alpha 0.01 --power 0.9
assay plan topics --variance 0.048 --difference 0.05 --alpha 0.01 --power 0.9""",
    needs=[MATRICES],
)
def table_4_4() -> Iterator[Line]:
    yield from variance_lines({"AH99": "0.096", "TB06": "0.071", "R04": "0.100", "MQ07": "0.118"}, 2)
    for (alpha, beta), row in zip(ERRORS, TABLE_4_4, strict=True):
        for name, difference, printed in cells(row):
            size = topics_by_t(difference, variance=VARIANCE[name], alpha=alpha, power=1 - beta)
            because = "one more by the exact noncentral t with the printed variance, which is rounded"
            if printed == "106":
                because = "with 106 topics the power is .8972, with 108 .9000: a misprint"
            yield cell(f"{name}, α {alpha}, β {beta}, difference {difference}", printed, size.exact, because)


@reproduces(
    ROITERO,
    "Table 4.5",
    "topics that an analysis of variance needs",
    command="""assay plan topics top96.csv --difference 0.05 --runs 96 --alpha 0.01 --power 0.9
assay plan topics --variance 0.048 --difference 0.05 --runs 96 --alpha 0.01 --power 0.9""",
    needs=[MATRICES],
)
def table_4_5() -> Iterator[Line]:
    yield from variance_lines({"AH99": "0.048", "TB06": "0.036", "R04": "0.050"}, 1)
    runs = {"AH99": 96, "TB06": 49, "R04": 82, "MQ07": 26}
    variance = {"AH99": 0.048, "TB06": 0.036, "R04": 0.050, "MQ07": 0.118}
    for (alpha, beta), row in zip(ERRORS, TABLE_4_5, strict=True):
        for name, spread, printed in cells(row):
            size = topics_by_anova(spread, runs=runs[name], variance=variance[name], alpha=alpha, power=1 - beta)
            because = "855.09 topics, rounded up here"
            if printed == "124":
                because = (
                    "124 is 214 with its digits transposed: it stands between 855 and 54, each four times the next"
                )
            what = f"{name}, α {alpha}, β {beta}, difference {spread}, by Sakai's line λ/Δ"
            yield cell(what, printed, ceil(size.start), because)
    half = topics_by_anova(0.05, runs=26, variance=0.059, alpha=0.01, power=0.9)
    yield statement(
        "variance of MQ07",
        "0.59",
        ".118 gives the printed column",
        False,
        because="the caption prints 0.59 for .059, and the column rests on .118, the variance of differences: with "
        f".059, that of scores, 3446 would be {ceil(half.start)}",
    )
    exact = topics_by_anova(0.05, runs=96, variance=0.048, alpha=0.01, power=0.9)
    yield line(
        "AH99, α 0.01, β 0.1, difference 0.05, by the noncentral F itself",
        "2352",
        exact.exact,
        because="Sakai's line is an approximation; `assay plan topics` gives both",
    )


@reproduces(
    ROITERO,
    "Table 4.6",
    "topics that a confidence interval of a given width needs",
    command="""assay plan topics top96.csv --difference 0.05 --alpha 0.01
assay plan topics --variance 0.048 --difference 0.05 --alpha 0.01""",
    needs=[MATRICES],
)
def table_4_6() -> Iterator[Line]:
    for alpha, row in zip((0.01, 0.05), TABLE_4_6, strict=True):
        for name, width, printed in cells(row):
            size = topics_by_interval(width, variance=VARIANCE[name], alpha=alpha)
            what = f"{name}, α {alpha}, width {width}, by the normal first guess"
            yield cell(what, printed, ceil(size.start), f"{size.start:.2f} topics, rounded up here")
    for width, printed in zip(DIFFERENCES, ("1019", "255", "64"), strict=True):
        size = topics_by_interval(width, variance=0.096, alpha=0.01)
        yield line(
            f"AH99, α 0.01, width {width}, by Sakai's full criterion",
            printed,
            size.exact,
            because="the printed table stops at the first guess, which takes the variance as known; the expected width "
            "by Student's t needs 1 to 4 topics more",
        )


OUTCOMES = ("SSA", "SSD", "SN", "NS", "NN")
FIGURE_4_6 = {"AH99": (5, 10, 25, 40), "TB06": (5, 25, 50, 100), "R04": (5, 25, 50, 100, 200)}


@reproduces(
    ROITERO,
    "Figure 4.6",
    "outcomes of paired t tests on subsets and on all topics, by number of topics",
    command="""assay topics conclusions top96.csv --search 'swap(starts=3, rounds=2)' --figure ah99.svg
assay topics conclusions tb06.csv --search 'swap(starts=3, rounds=2)' --figure tb06.svg
assay topics conclusions r04.csv --search 'swap(starts=3, rounds=2)' --figure r04.svg""",
    needs=[MATRICES],
)
def figure_4_6() -> Iterator[Line]:
    for name, sizes in FIGURE_4_6.items():
        result = compare_conclusions(found(COLLECTIONS[name]), cardinalities=sizes)
        yield statement(
            f"{name}: pairs significantly different with all topics",
            "around 55–70 %",
            f"{result.full:.1%} of {result.pairs}",
            0.545 <= result.full <= 0.705,
        )
        on_subsets = {side: rows[: len(sizes)] for side, rows in result.shares.items()}  # all topics come last
        shares = {side: dict(zip(OUTCOMES, rows.T, strict=True)) for side, rows in on_subsets.items()}
        found_again = [float(shares[side]["SSA"].mean()) for side in ("best", "random", "worst")]
        yield statement(
            f"{name}: mean SSA of the best, random and worst {', '.join(map(str, sizes))} topics",
            "best most, worst least",
            ", ".join(f"{value:.0%}" for value in found_again),
            found_again == sorted(found_again, reverse=True),
        )
        false_positive = max(float(shares[side]["SN"].max()) for side in ("best", "random"))
        false_negative = float(shares["best"]["NS"][0])
        yield statement(
            f"{name}: SN of best and random subsets, against NS",
            "SN very small; the main error is NS",
            f"SN at most {false_positive:.1%}, NS {false_negative:.0%} with {sizes[0]} topics",
            false_positive < 0.05 < false_negative,
        )
        opposite = float(shares["worst"]["SSD"].max())
        expected = "none to speak of" if name == "AH99" else "possible with many topics"
        yield statement(
            f"{name}: SSD of the worst subsets",
            expected,
            f"at most {opposite:.1%}, with {sizes[int(np.argmax(shares['worst']['SSD']))]} topics",
            opposite < 0.02 if name == "AH99" else opposite > 0.03,
        )
    yield missing("MQ07: SSD above SSA with the worst 250 topics", "–", NO_MQ07)
    wilcoxon = compare_conclusions(found("top96.csv"), cardinalities=(10,), test="wilcoxon")
    by_wilcoxon = dict(zip(OUTCOMES, wilcoxon.shares["best"][0].tolist(), strict=True))
    yield statement(
        "the same by Wilcoxon's signed ranks, AH99, best 10 topics",
        "consistent",
        f"SN {by_wilcoxon['SN']:.1%}, NS {by_wilcoxon['NS']:.0%}, SSA {by_wilcoxon['SSA']:.0%}",
        by_wilcoxon["SN"] < 0.05 < by_wilcoxon["NS"],
    )
