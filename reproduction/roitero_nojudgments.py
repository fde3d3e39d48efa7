"""Roitero 2020, chapters 5 and 6: ranking runs without judgments, one method at a time."""

from __future__ import annotations

from collections.abc import Iterator
from math import exp, log

import numpy as np

from assay.data import Qrels
from assay.nojudgments.ease import ease_comparison
from assay.nojudgments.predictors import METHODS
from assay.nojudgments.soboroff import expected_share, judged_share
from assay.topics.extremes import sample
from assay.topics.hits import hits
from assay.topics.problem import geometric, problem
from reproduction.files import MATRICES, ROBUST, anonymous, robust_qrels, scores
from reproduction.items import Line, cannot_be_had, cell, line, missing, reproduces, statement
from reproduction.places import ROITERO
from reproduction.roitero_subsets import PUBLISHED, published_runs
from reproduction.roitero_topics import found

NO_RUNS = "the runs of these tracks are not public: NIST gives them only to those who sign for them"
NO_SNC = f"SNC's predictions need the runs, and {NO_RUNS}"

ACCURACY = "`assay predict accuracy --figure methods.svg` does it for any runs"
DIFFICULTY = "`assay predict difficulty --figure ease.svg` does it for any runs"
for _place, _title, _how in (
    ("Table 6.4", "mean τ of SNC over 20 repetitions, with and without duplicates", ACCURACY),
    ("Table 6.5", "mean r_S of WUC's variants and of SNC, over topics", ACCURACY),
    (
        "Table 6.6",
        "r_S of SPO's three scores, one run per group",
        "`assay predict accuracy --info runs.csv --by team --per-group best` does it for any runs",
    ),
    ("Table 6.7", "τ of SNC, WUC and SPO with MAP", ACCURACY),
    ("Figure 6.1", "the three methods on TREC 8, run by run", ACCURACY),
    ("Figure 6.2", "the three methods on TB06, TB06M, R04 and WEB14", ACCURACY),
    ("Table 6.8", "correlations of the three methods with GMAP", ACCURACY),
    ("Table 6.9", "correlations of the three methods with logitAP", ACCURACY),
    ("Figure 6.3", "the three methods and NDCG on WEB14", ACCURACY),
    ("Table 6.10", "correlations of the three methods with AP@20", ACCURACY),
    ("Figure 6.6", "AAP, real and predicted, topic by topic", DIFFICULTY),
    (
        "Figure 6.7",
        "predicted ease by quartile of AAP",
        "`assay predict difficulty --quarters --order true --figure quarters.svg` does it for any runs",
    ),
    (
        "Figure 6.8",
        "AAP by quartile of the predicted ease",
        "`assay predict difficulty --quarters --figure quarters.svg` does it for any runs",
    ),
):
    cannot_be_had(ROITERO, _place, _title, f"{NO_RUNS}; {_how}")
cannot_be_had(ROITERO, "Figure 6.5", "subsets of SNC's predicted topics", NO_SNC)
cannot_be_had(ROITERO, "Table 6.2", "AP, MAP and AAP in a matrix", "symbols only; there is nothing to compute")

ACRONYMS = (
    "SNC", "WUCv0", "WUCv1", "WUCv2", "WUCv3", "WUCv4", "AS", "NC-NRP", "NC-NB", "NC-NC", "NC-BRP", "NC-BB", "NC-BC",
    "SPO-S", "SPO-A", "SPO-SA", "SL",
)  # fmt: skip


@reproduces(ROITERO, "Table 5.1", "the 17 methods", command="assay predict methods")
def table_5_1() -> Iterator[Line]:
    known = {METHODS[name].facts["short"] for name in METHODS.names()}
    here = [name for name in ACRONYMS if name in known]
    yield line("methods", "17", len(here))
    yield statement("their acronyms", ", ".join(ACRONYMS), ", ".join(here), tuple(here) == ACRONYMS)


TABLE_6_1 = (
    ("TREC-3", "trec3", "adhoc", "40"), ("TREC-5", "trec5", "adhoc", "61"), ("TREC-6", "trec6", "adhoc", "74"),
    ("TREC-7", "trec7", "adhoc", "103"), ("TREC-8", "trec8", "adhoc", "129"), ("R04", "trec13", "robust", "110"),
)  # fmt: skip
OTHER_COUNT = (
    "NIST's page of results lists another number of runs; which runs the thesis added or left out is not said, and the "
    "released scores of TREC-6 are of 74"
)


@reproduces(
    ROITERO,
    "Table 6.1",
    "the collections of chapter 6",
    command="python -m reproduction.page 'Roitero 2020, Table 6.1'",
    needs=[PUBLISHED, MATRICES],
)
def table_6_1() -> Iterator[Line]:
    for name, trec, track, printed in TABLE_6_1:
        yield cell(f"runs of {name} on NIST's page", printed, len(published_runs(trec, track)), OTHER_COUNT)
    yield line("runs of TREC-6 in the released matrix", "74", len(anonymous("adhoc6_ap", "AP").runs))
    yield line("topics of R04", "249", len(scores("robust.csv").topics))
    yield line("runs of TB06", "61", len(scores("terabyte06.csv").runs))
    yield line("topics of TB06", "149", len(scores("terabyte06.csv").topics))
    topics = scores("robust.csv").topics
    yield statement("topic 672 of R04", "removed", "not there" if "672" not in topics else "there", "672" not in topics)
    yield missing("manual runs", "11 31 17 17 13 2, 0 19 0 4", "which runs are manual is not in the public data")


def part_of_qrels(low: int, high: int) -> Qrels:
    """The judgments of some topics of TREC 2004 Robust."""
    by_topic = robust_qrels().to_dict()
    return Qrels.from_dict({topic: docs for topic, docs in by_topic.items() if low <= int(topic) <= high})


@reproduces(
    ROITERO,
    "Table 6.3",
    "share of relevant docs in the pool, from judgments and from the number of runs (Equation 6.2)",
    command="python -m reproduction.page 'Roitero 2020, Table 6.3'",
    needs=[ROBUST],
)
def table_6_3() -> Iterator[Line]:
    for name, low, high, mean, sd in (("TREC-7", 351, 400, "5.834", ".047"), ("TREC-8", 401, 450, "5.497", ".048")):
        share = judged_share(part_of_qrels(low, high))
        yield line(f"{name}, μ from judgments, in %", mean, 100 * share.mean)
        yield line(f"{name}, σ from judgments", sd, share.sd)
    six = judged_share(part_of_qrels(301, 350))
    without = (
        "the public judgments of topics 301–350 are those of TREC 2004 Robust, without the Congressional Record, which "
        "TREC-6 had"
    )
    yield line("TREC-6, μ from judgments, in %", "6.351", 100 * six.mean, because=without)
    yield line("TREC-6, σ from judgments", ".067", six.sd, because=without)
    for name, runs, mean, sd in (
        ("TREC-3", 40, "23.15", ".110"), ("TREC-5", 61, "13.39", ".074"), ("TREC-6", 74, "10.13", ".062"),
        ("TREC-7", 103, "5.82", ".046"), ("TREC-8", 129, "3.60", ".038"),
    ):  # fmt: skip
        estimate = expected_share(runs)
        yield line(f"{name}, μ by Equation 6.2 with {runs} runs, in %", mean, 100 * estimate.mean)
        yield line(f"{name}, σ by Equation 6.2", sd, estimate.sd)
    for name, runs, mean, sd in (
        ("R04", 110, "5.12", "0.043"), ("TB06", 61, "13.39", "0.074"), ("TB06M", 80, "8.98", "0.057"),
        ("WEB14", 30, "32.59", "0.145"),
    ):  # fmt: skip
        estimate = expected_share(runs)
        yield line(f"{name}, μ of the text, by Equation 6.2 with {runs} runs, in %", mean, 100 * estimate.mean)
        yield line(f"{name}, σ of the text, by Equation 6.2", sd, estimate.sd)
    robust = judged_share(robust_qrels())
    yield line(
        "R04, μ from judgments, in %",
        "5.12",
        100 * robust.mean,
        because="said to be obtained for R04, TB06, TB06M and WEB14, but all eight are what Equation 6.2 gives for "
        "their numbers of runs",
    )
    yield missing("TREC-3 and TREC-5, from judgments", "10.414 .097, 3.956 .043", "those judgments are not in the data")


@reproduces(
    ROITERO,
    "Section 6.4.2.1",
    "Robertson's example of the geometric mean",
    command="assay measures 'geometric(AP)'",
)
def section_6_4_2_1() -> Iterator[Line]:
    steps = [log(0.10) - log(0.05), log(0.50) - log(0.25)]
    yield statement(
        "changes of AP from .05 to .10 and from .25 to .50, for GMAP", "the same", f"{steps[0]:.4f} and {steps[1]:.4f}",
        abs(steps[0] - steps[1]) < 1e-12,
    )  # fmt: skip
    yield line("the latter in terms of the former, for MAP", "5", (0.50 - 0.25) / (0.10 - 0.05))
    yield line("AP of 0 is replaced by", "0.00001", exp(float(geometric(np.zeros((1, 1)))[0, 0])))


@reproduces(
    ROITERO,
    "Figure 6.4",
    "τ with MAP if some topics are judged and the others predicted by SNC, TREC-8 and R04",
    command="""assay topics best trec8.csv --at 10 --search 'swap(starts=3, rounds=2)' --no-holdout
assay topics best robust.csv --at 50 --search 'swap(starts=3, rounds=2)' --no-holdout
assay topics hits trec8.csv""",
    needs=[MATRICES],
)
def figure_6_4() -> Iterator[Line]:
    for name, file, count in (("TREC-8", "trec8.csv", 10), ("R04", "robust.csv", 50)):
        average = float(sample(problem(scores(file)), repetitions=1000, cardinalities=(count,)).average[0])
        yield statement(
            f"{name}: τ with about 20 % of the topics, {count}, judged",
            "in the .8–.9 range, with SNC for the others",
            f"{average:.3f} on average by the judged topics alone",
            False,
            because=f"{NO_SNC}; by the matrices of SNC that the author released, random topics gain .002 (TREC-8, 10 "
            "topics) and .011 (R04, 50 topics) from SNC's columns: nearly all of it comes from the judged topics",
        )
        best = float(found(file).values("best")[count - 1])
        yield statement(
            f"{name}: the best {count} topics alone", "well above average", f"{best:.3f}", best > average + 0.05
        )
    hubs = hits(scores("trec8.csv"))
    ready = problem(scores("trec8.csv"))
    order = np.argsort(-hubs.topic_hubness)
    masks = np.zeros((2, ready.n), bool)
    masks[0, order[:10]] = True
    masks[1, order[-10:]] = True
    high, low = ready.of_masks(masks)
    yield statement(
        "TREC-8: the 10 topics of highest and of lowest hubness alone",
        "high no better than random, low worse",
        f"{high:.3f} and {low:.3f}",
        bool(low < high < 0.82),
    )
    yield missing(
        "every series with injected columns: T4, T5, P1, P3, P4", "–", f"{NO_SNC}; `assay predict inject` does it"
    )


@reproduces(
    ROITERO,
    "Table 6.11",
    "correlations of predicted with real ease of topics",
    command="assay predict ease trec8.csv robust.csv --measure AP",
    needs=[MATRICES],
)
def table_6_11() -> Iterator[Line]:
    shared = ease_comparison(scores("trec8.csv"), scores("robust.csv"))
    correlations = shared.correlations
    yield line("common topics of TREC-8 and R04 (Section 6.5.2.3)", "50", len(shared.topics))
    yield line("ρ of AAP between the two populations of runs", "0.99", correlations["ρ"] or 0.0)
    yield line("τ of AAP between the two populations of runs", "0.89", correlations["τ"] or 0.0)
    yield missing("all 90 cells", ".06 to .76", f"{NO_RUNS}; `assay predict difficulty` does it for any runs")
