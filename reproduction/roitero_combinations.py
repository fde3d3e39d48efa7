"""Roitero 2020, chapter 7: 17 methods without judgments side by side, and their combinations."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from assay.nojudgments.combine import borda, rank_position
from assay.rankings.fusion import majorities
from reproduction.files import MATRICES, anonymous, scores
from reproduction.items import Line, cannot_be_had, cell, line, missing, reproduces, statement
from reproduction.places import ROITERO
from reproduction.roitero_nojudgments import NO_RUNS, OTHER_COUNT
from reproduction.roitero_subsets import PUBLISHED, published_runs

COMPARED = "`assay predict compare --collection … --statistic {} --level {} --figure boxes.svg` does it for any runs"
"""The command of a figure of accuracy over collections; three public ones are in the guide."""

cannot_be_had(ROITERO, "Figure 7.1", "AP, MAP and AAP in a matrix", "symbols only; there is nothing to compute")
for _number, _what, _statistic, _level in (
    (2, "τ of MAP", "tau", "runs"), (3, "r_S of MAP", "spearman", "runs"), (4, "ρ of MAP", "pearson", "runs"),
    (5, "τ_AP of MAP", "tau-ap", "runs"), (6, "ρ of AP", "pearson", "cells"), (7, "δ of AP", "error", "cells"),
    (8, "ρ of AAP", "pearson", "topics"), (9, "r_S of AAP", "spearman", "topics"),
):  # fmt: skip
    cannot_be_had(
        ROITERO,
        f"Figure 7.{_number}",
        f"accuracy of 17 methods on 14 collections: {_what}",
        f"{NO_RUNS}; {COMPARED.format(_statistic, _level)}",
    )
cannot_be_had(
    ROITERO,
    "Figure 7.10",
    "accuracy by collection: τ of MAP",
    f"{NO_RUNS}; `assay predict compare --collection … --boxes collection --figure boxes.svg` does it for any runs",
)
cannot_be_had(
    ROITERO,
    "Figure 7.11",
    "ρ between the AP that methods predict, R05 and TB06",
    f"{NO_RUNS}; `assay predict agreement runs/ --level cells --figure map.svg` does it for any runs",
)
cannot_be_had(
    ROITERO,
    "Figure 7.12",
    "MAP by NC-NB and SNC; AP by SL and AS, ρ .77",
    f"{NO_RUNS}; `assay predict agreement runs/ --level cells` has ρ for any runs",
)
cannot_be_had(
    ROITERO,
    "Figure 7.13",
    "accuracy of data fusion: τ of MAP",
    f"{NO_RUNS}; `assay predict compare --collection … --combine average --combine borda` does it for any runs",
)
cannot_be_had(
    ROITERO,
    "Table 7.2",
    "parameters of xgboost that a grid search chose",
    f"the search was made on predictions for these runs, and {NO_RUNS}",
)
for _number, _what in (
    (14, "τ of MAP"), (15, "r_S of MAP"), (16, "ρ of MAP"), (17, "ρ of AP"), (18, "r_S of AP"), (19, "ρ of AAP"),
):  # fmt: skip
    cannot_be_had(
        ROITERO,
        f"Figure 7.{_number}",
        f"accuracy of machine learning: {_what}",
        f"{NO_RUNS}; `assay predict learn` does it",
    )
cannot_be_had(
    ROITERO,
    "Figure 7.20",
    "accuracy of transfer learning: τ of MAP",
    f"{NO_RUNS}; `assay predict transfer` trains on one collection and tests on another, with MIDA or without",
)


@reproduces(
    ROITERO,
    "Table 7.1",
    "the 14 collections",
    command="python -m reproduction.page 'Roitero 2020, Table 7.1'",
    needs=[PUBLISHED, MATRICES],
)
def table_7_1() -> Iterator[Line]:
    for name, trec, track, printed in (
        ("TREC3", "trec3", "adhoc", "40"), ("TREC5", "trec5", "adhoc", "61"), ("TREC6", "trec6", "adhoc", "74"),
        ("TREC7", "trec7", "adhoc", "103"), ("TREC8", "trec8", "adhoc", "129"), ("R04", "trec13", "robust", "110"),
        ("TB04", "trec13", "terabyte", "69"), ("R05", "trec14", "robust", "74"), ("W12", "trec21", "web", "48"),
        ("W11", "trec20", "web", "61"), ("W13", "trec22", "web", "55"), ("TB05", "trec14", "terabyte", "58"),
    ):  # fmt: skip
        yield cell(f"runs of {name} on NIST's page", printed, len(published_runs(trec, track)), OTHER_COUNT)
    yield line("runs of TB06", "61", len(scores("terabyte06.csv").runs))
    yield line("topics of W12", "50", len(anonymous("web2012_ap", "AP").topics))
    yield line("topics of W11", "50", len(anonymous("web2011_ap", "AP").topics))
    yield missing("TREC01", "50 topics, 97 runs", "NIST's page lists the runs of both tasks of the Web track together")
    yield statement(
        "columns of the caption",
        "topics (m) and systems (n)",
        "m systems and n topics",
        False,
        because="the text around it, Figure 7.1 and all formulas have m systems and n topics",
    )


EXAMPLE = -np.array([[1.0, 2.0, 3.0], [2.0, 1.0, 3.0], [3.0, 1.0, 2.0]])
"""By three methods s_i is 1st, 2nd and 3rd, s_j 2nd, 1st and 1st; a third system has the ranks that are left."""


@reproduces(
    ROITERO,
    "Section 7.5.2.2",
    "the worked example of data fusion",
    command="python -m reproduction.page 'Roitero 2020, Section 7.5.2.2'",
)
def section_7_5_2_2() -> Iterator[Line]:
    by_position = rank_position(EXAMPLE)
    yield line("rank position of s_i", ".55", float(by_position[0]))
    yield line("rank position of s_j", ".40", float(by_position[1]))
    points = borda(EXAMPLE)
    yield line("Borda points of s_i", "3", float(points[0]))
    yield line("Borda points of s_j", "5", float(points[1]))
    votes = majorities(EXAMPLE)
    yield statement(
        "Condorcet: methods that put s_i first, and s_j", "1 and 2", f"{votes[0, 1]:.0f} and {votes[1, 0]:.0f}",
        bool(votes[0, 1] == 1 and votes[1, 0] == 2),
    )  # fmt: skip
    yield statement(
        "candidates of the example",
        "two systems",
        "three",
        False,
        because="the Borda points are those of three candidates, (3 − 1) + (3 − 2) + (3 − 3); only two are named",
    )
