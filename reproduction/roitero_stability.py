"""Roitero 2020, chapter 3: do best and worst sets keep their topics as they grow, and from one set to the next?"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from assay.topics.stability import chain_stability, pixel_map, top_stability
from reproduction.files import MATRICES
from reproduction.items import Line, cell, missing, reproduces, statement
from reproduction.places import ROITERO
from reproduction.roitero_topics import MERGED, NO_AP_20, NO_WEB_2014, SIDES, found, single_topics

TABLE_3_3 = {
    "AH99": ("trec8.csv", (".85", ".97", ".86", ".97")),
    "AH99_top96": ("top96.csv", (".88", ".98", ".88", ".95")),
    "AH99_logAP": ("trec8-log.csv", (".83", ".96", ".85", ".92")),
    "AH99_logAP_top96": ("top96-log.csv", (".89", ".95", ".82", ".93")),
}
TABLE_3_3_REST = {
    "AH99@20": (".83", ".96", ".85", ".92"),
    "AH99@20_top96": (".89", ".94", ".89", ".90"),
    "WEB14": (".88", ".92", ".84", ".89"),
    "WEB14_top25": (".87", ".95", ".82", ".88"),
    "WEB14B": (".85", ".97", ".61", ".91"),
}
FOUR = tuple((criterion, side) for criterion in ("pearson", "tau") for side in SIDES)
SEEDS = range(4)
BY_SEARCH = (
    "how stable sets look depends on the search: here the mean over four seeds of three merged executions of NSGA-II "
    "with 30,000 evaluations, there ten million; one execution breeds each set from its neighbours (best sets .90 and "
    "more), nearly optimal sets have less in common (.62 to .86), and seeds differ by up to .09"
)


@reproduces(
    ROITERO,
    "Table 3.3",
    "stability of the best and worst sets as they grow",
    command=f"""assay topics stability top96.csv --criterion pearson --search '{MERGED}'
assay topics stability top96.csv --criterion tau --search '{MERGED}'""",
    needs=[MATRICES],
    slow=True,
)
def table_3_3() -> Iterator[Line]:
    for row, (name, printed) in TABLE_3_3.items():
        for (criterion, side), value in zip(FOUR, printed, strict=True):
            by_seed = [chain_stability(found(name, criterion, MERGED, seed).masks(side)) for seed in SEEDS]
            yield cell(f"{row}, {criterion}, {side}", value, float(np.mean(by_seed)), BY_SEARCH)
    printed_0 = (".88", ".98", ".84", ".95")
    for (criterion, side), value in zip(FOUR, printed_0, strict=True):
        old = chain_stability(found("top96.csv", criterion, "greedy(k=2)").masks(side))
        because = "BestSub's search, with k = 2 here and k = 3 there; sets of equal value leave a choice"
        yield cell(f"BestSub on AH99_top96, {criterion}, {side}", value, old, because)
    yield missing("AH99@20 and AH99@20_top96", "the row AH99@20 repeats AH99_logAP, all four numbers", NO_AP_20)
    yield missing("WEB14, WEB14_top25, WEB14B", "three rows", NO_WEB_2014)
    every_row = [row for _, row in TABLE_3_3.values()] + list(TABLE_3_3_REST.values())
    means = np.array(every_row, dtype=float).mean(axis=0)
    for (criterion, side), printed_mean, mean in zip(FOUR, (".86", ".95", ".82", ".92"), means.tolist(), strict=True):
        because = "the mean of the printed rows; cut off instead of rounded"
        yield cell(f"average, {criterion}, {side}, from the printed rows", printed_mean, mean, because)


AT = (5, 10, 20, 30, 40, 45)
TABLE_3_4 = {
    "AH99": ("trec8.csv", ".60 .74 .89 .92 .80 .65", ".74 .84 .94 .93 .84 .71"),
    "AH99_top96": ("top96.csv", ".49 .82 .92 .90 .84 .64", ".71 .84 .93 .91 .72 .67"),
    "AH99_logAP": ("trec8-log.csv", ".58 .78 .88 .88 .85 .73", ".73 .83 .91 .92 .88 .73"),
    "AH99_logAP_top96": ("top96-log.csv", ".60 .81 .80 .86 .62 .62", ".60 .86 .91 .88 .86 .71"),
}
TABLE_3_4_REST = (
    (".54 .74 .90 .83 .62 .62", ".67 .82 .90 .92 .78 .56"),
    (".56 .77 .94 .89 .70 .56", ".67 .82 .92 .89 .71 .51"),
    (".67 .72 .91 .61 .53 .22", ".73 .83 .92 .93 .86 .58"),
    (".47 .64 .89 .46 .21 .20", ".78 .82 .90 .89 .84 .62"),
    (".29 .20 .47 .43 .25 .18", ".69 .85 .75 .89 .82 .60"),
)
TEN = (
    "which ten sets are found depends on the search, and the released program takes sets of equal τ for one set; no "
    "ten distinct sets can exceed (c − 1)/c up to 25 topics and 1 − 1/(50 − c) beyond, .80 with 5 and with 45"
)


@reproduces(
    ROITERO,
    "Table 3.4",
    "stability of the ten best and the ten worst sets, τ",
    command="assay topics top-stability top96.csv --at 5,10,20,30,40,45 --search 'swap(starts=3, rounds=2)'",
    needs=[MATRICES],
)
def table_3_4() -> Iterator[Line]:
    for row, (name, *printed) in TABLE_3_4.items():
        for side, values in zip(SIDES, printed, strict=True):
            sets = found(name).sets[side]
            for c, value in zip(AT, values.split(), strict=True):
                yield cell(f"{row}, {side} 10, {c} topics", value, top_stability(sets[c][0]).value, TEN)
    yield missing("AH99@20 and AH99@20_top96", "two rows", NO_AP_20)
    yield missing("WEB14, WEB14_top25, WEB14B", "three rows", NO_WEB_2014)
    for place, (side, averages) in enumerate(
        (("best", ".53 .69 .84 .75 .60 .49"), ("worst", ".70 .83 .90 .91 .81 .63"))
    ):
        rows = [values[1 + place] for values in TABLE_3_4.values()] + [values[place] for values in TABLE_3_4_REST]
        means = np.array([row.split() for row in rows], dtype=float).mean(axis=0)
        for c, value, mean in zip(AT, averages.split(), means.tolist(), strict=True):
            yield cell(f"average, {side} 10, {c} topics, from the printed rows", value, mean, "rows of two digits")


@reproduces(
    ROITERO,
    "Figure 3.4",
    "map of the topics in the best and worst sets of each size, and in the ten best of 12 topics; NewBestSub, ρ",
    command=f"""assay topics map top96.csv --criterion pearson --search '{MERGED}'
assay topics sets top96.csv --criterion pearson --search '{MERGED}' --count 12""",
    needs=[MATRICES],
)
def figure_3_4() -> Iterator[Line]:
    result = found("top96.csv", "pearson", MERGED)
    best, worst = (chain_stability(result.masks(side)) for side in SIDES)
    yield statement(
        "topics that stay in the set as it grows",
        "more so in the worst sets than in the best",
        f"stability {worst:.2f} of the worst and {best:.2f} of the best sets",
        worst > best,
    )
    ten = {side: top_stability(result.sets[side][12][0]).value for side in SIDES}
    yield statement(
        "the ten sets of 12 topics",
        "the worst share more topics than the best",
        f"stability {ten['worst']:.2f} of the worst and {ten['best']:.2f} of the best ten",
        ten["worst"] > ten["best"],
    )
    marks = "".join(pixel_map(result.masks("best"), result.masks("worst")))
    shares = [marks.count(mark) / len(marks) for mark in "+x#"]
    yield statement(
        "cells of the map",
        "best, worst, and both",
        f"{shares[0]:.0%} best, {shares[1]:.0%} worst, {shares[2]:.0%} both",
        min(shares) > 0,
    )
    yield from single_topics("pearson", MERGED)
