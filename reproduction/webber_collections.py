"""Webber 2010, sections 4.6 and 4.7: scores of different collections side by side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import numpy as np

import assay
from assay.data.scores import ScoreMatrix
from assay.standard import comparability, standardize
from assay.standard.collections import Comparability, kappa_p
from assay.standard.factors import Factors
from reproduction.files import MATRICES, ROBUST, anonymous, counts, robust_qrels, scores
from reproduction.items import Line, cannot_be_had, cell, data_folder, drawn, line, missing, reproduces, statement
from reproduction.places import WEBBER
from reproduction.webber_variance import NO_2003

PARTS = ("t7", "t8", "t03", "t04")
NO_RBP_DCG = "RBP and DCG of the 110 runs on these topics are not public"
COMPARE = """assay standardize compare t7.csv t8.csv t04.csv --form 'z(sd=sample)' \\
  --factors trec7-factors.csv --factors trec8-factors.csv --factors t04-factors.csv"""

cannot_be_had(
    WEBBER,
    "Figure 4.14",
    "largest standardized AP of each query by 17 public systems",
    "the runs of these systems on the TREC collections are not public, nor are most runs of TREC",
)


def part(name: str, kind: str = "", form: str | None = None) -> ScoreMatrix:
    """The 110 runs on a part of the topics; standardized by the original runs (T7, T8) or by themselves (T04), n − 1.

    kind: "" for AP, "-sp", "-p10", "-np10".
    """
    raw = scores(f"{name}{kind}.csv")
    if form is None:
        return raw
    form = f"{form}(sd=sample)"
    if name == "t04":
        return standardize(raw, form=form)
    measure = "p10" if kind.endswith("p10") else "ap"
    original = scores(f"adhoc{name[1:]}-{measure}.csv")
    return standardize(raw, original.select(topics=raw.topics), form=form)


@cache
def compared(form: str | None, kind: str = "") -> dict[tuple[str, str], Comparability]:
    """Every pair of collections; standardized ones without T03, whose original runs are not public."""
    names = PARTS if form is None else ("t7", "t8", "t04")
    found = comparability({name: part(name, kind, form) for name in names}, permutations=0)
    return {(pair.first, pair.second): pair for pair in found.pairs}


def better(form: str | None) -> dict[tuple[str, str], int]:
    """(row, column) → runs that are significantly better on the row's topics than on the column's."""
    counted = {}
    for (first, second), pair in compared(form).items():
        counted[first, second] = pair.better
        counted[second, first] = pair.worse
    return counted


def kappas(printed: dict[tuple[str, str], str], form: str | None) -> Iterator[Line]:
    """κ of every printed pair of collections."""
    found = compared(form)
    for (first, second), value in printed.items():
        what = f"κ of {first.upper()} and {second.upper()}"
        if (first, second) in found:
            yield line(what, value, found[first, second].kappa or 0.0)
        else:
            yield missing(what, value, NO_2003)


@reproduces(
    WEBBER,
    "Table 4.9",
    "κ between collections, raw AP",
    command="assay standardize compare t7.csv t8.csv t03.csv t04.csv",
    needs=[MATRICES],
)
def table_4_9() -> Iterator[Line]:
    yield from kappas(RAW_KAPPAS, None)


def released_ndcg() -> ScoreMatrix:
    """nDCG of the 110 runs on topics 601–700, as released."""
    matrix = anonymous("robust2004-99topics_ndcg", "nDCG")
    topics = [*scores("t03.csv").topics, *scores("t04.csv").topics]
    return replace(matrix, runs=scores("t03.csv").runs, topics=tuple(topics))


@cache
def ndcg_of_three_runs() -> ScoreMatrix:
    """The thesis's nDCG of the three runs that are public."""
    paths = sorted((data_folder() / ROBUST / "runs").iterdir())
    runs = {path.name.split(".")[1]: assay.read_run(path) for path in paths}
    return assay.evaluate(runs, robust_qrels(), ["nDCGjk(gain=2:1)@1000"])[0]


RAW_KAPPAS = {
    ("t7", "t8"): "0.627", ("t7", "t03"): "1.857", ("t7", "t04"): "1.285", ("t8", "t03"): "1.387",
    ("t8", "t04"): "0.859", ("t03", "t04"): "0.583",
}  # fmt: skip
RAW_BETTER = {
    ("t7", "t8"): 0, ("t7", "t03"): 0, ("t7", "t04"): 0, ("t8", "t7"): 2, ("t8", "t03"): 0, ("t8", "t04"): 0,
    ("t03", "t7"): 103, ("t03", "t8"): 57, ("t03", "t04"): 2, ("t04", "t7"): 61, ("t04", "t8"): 8, ("t04", "t03"): 0,
}  # fmt: skip
STANDARD_BETTER = {
    ("t7", "t8"): 4, ("t7", "t03"): 5, ("t7", "t04"): 14, ("t8", "t7"): 2, ("t8", "t03"): 5, ("t8", "t04"): 13,
    ("t03", "t7"): 4, ("t03", "t8"): 13, ("t03", "t04"): 12, ("t04", "t7"): 3, ("t04", "t8"): 8, ("t04", "t03"): 1,
}  # fmt: skip


def better_lines(printed: dict[tuple[str, str], int], form: str | None) -> Iterator[Line]:
    """Counts of runs that are better on one collection than on another."""
    found = better(form)
    for (row, column), value in printed.items():
        what = f"runs better on {row.upper()} than on {column.upper()}"
        if (row, column) in found:
            yield line(what, str(value), found[row, column])
        else:
            yield missing(what, str(value), NO_2003)


@reproduces(
    WEBBER,
    "Table 4.10",
    "runs of 110 that are significantly better on one collection than on another, raw AP",
    command="assay standardize compare t7.csv t8.csv t03.csv t04.csv",
    needs=[MATRICES],
)
def table_4_10() -> Iterator[Line]:
    yield from better_lines(RAW_BETTER, None)


@reproduces(WEBBER, "Table 4.11", "κ between collections, standardized AP", command=COMPARE, needs=[MATRICES])
def table_4_11() -> Iterator[Line]:
    printed = {
        ("t7", "t8"): "0.349", ("t7", "t03"): "0.396", ("t7", "t04"): "0.452", ("t8", "t03"): "0.464",
        ("t8", "t04"): "0.462", ("t03", "t04"): "0.394",
    }  # fmt: skip
    yield from kappas(printed, "z")
    parts = {name: scores(f"{name}.csv") for name in ("t7", "t8", "t04")}
    original = {"t7": scores("adhoc7-ap.csv"), "t8": scores("adhoc8-ap.csv"), "t04": scores("t04.csv")}
    by_n = {name: standardize(matrix, original[name], form="z") for name, matrix in parts.items()}
    kappas_by_n = ", ".join(f"{pair.kappa:.4f}" for pair in comparability(by_n, permutations=0).pairs)
    yield statement(
        "σ of a topic (Equation 4.8)",
        "divides by n",
        "the printed numbers divide by n − 1",
        False,
        because=f"with n, as Equation 4.8 has it, κ is {kappas_by_n} and mean sAP of T7 .0889; with n − 1, R's "
        "default, all come out as printed, here, in Tables 4.12 and 4.13 and in the paper of 2008",
    )


@reproduces(
    WEBBER,
    "Table 4.12",
    "runs of 110 that are significantly better on one collection than on another, standardized AP",
    command=COMPARE,
    needs=[MATRICES],
)
def table_4_12() -> Iterator[Line]:
    yield from better_lines(STANDARD_BETTER, "z")


TABLE_4_13 = {
    "judged": ("1606.9", "1736.6", "958.7", "710.0"),
    "relevant": ("93.5", "94.6", "33.2", "42.1"),
    "P@10": ("0.452", "0.450", "0.466", "0.434"),
    "AP": ("0.212", "0.244", "0.327", "0.293"),
    "SP": ("17.88", "20.29", "9.71", "11.61"),
}
JUDGED_2003 = "the public judgments of topics 601–650 are 47,932, which is 958.64 a topic"


def facts_of_parts() -> Iterator[Line]:
    """Judged, relevant, P@10, AP and SP of the four parts: the thesis's Table 4.13 and the paper's Table 6."""
    for row, printed in TABLE_4_13.items():
        for name, value in zip(PARTS, printed, strict=True):
            yield cell(f"{row}, {name.upper()}", value, _fact(row, name), JUDGED_2003)


def _fact(row: str, name: str) -> float:
    if row in ("judged", "relevant"):
        column = ("judged", "relevant").index(row)
        return float(np.mean([counts()[topic][column] for topic in scores(f"{name}.csv").topics]))
    kind = {"P@10": "-p10", "AP": "", "SP": "-sp"}[row]
    return float(scores(f"{name}{kind}.csv").values.mean())


@reproduces(
    WEBBER,
    "Table 4.13",
    "docs judged and relevant per topic, and mean scores of the 110 runs",
    command=f"""{COMPARE}
assay standardize compare t7-p10.csv t8-p10.csv t03-p10.csv t04-p10.csv
assay standardize compare t7-sp.csv t8-sp.csv t03-sp.csv t04-sp.csv""",
    needs=[MATRICES, ROBUST],
)
def table_4_13() -> Iterator[Line]:
    yield from facts_of_parts()
    for name, printed in (("t7", "0.088"), ("t8", "0.022"), ("t04", "0.000")):
        yield line(f"sAP, {name.upper()}", printed, float(part(name, form="z").values.mean()))
    yield missing("sAP, T03", "0.077", NO_2003)
    released = released_ndcg()
    for name, printed in (("t03", "0.617"), ("t04", "0.574")):
        topics = scores(f"{name}.csv").topics
        ours, theirs = (matrix.select(topics=topics).values for matrix in (ndcg_of_three_runs(), released))
        three = released.select(runs=ndcg_of_three_runs().runs, topics=topics).values
        other = (
            "the released nDCG is another one; on the three public runs the thesis's (binary, Equation 3.12) is "
            f"{ours.mean() / three.mean():.2f} times as large, and so is the printed mean"
        )
        yield line(f"nDCG, {name.upper()}", printed, float(theirs.mean()), because=other)
    yield missing("nDCG, T7 and T8", "0.479 0.514", NO_RBP_DCG)
    yield missing("RBP.95, DCG, sDCG, all parts", ".331 … .000", NO_RBP_DCG)


@reproduces(
    WEBBER,
    "Figure 4.13",
    "mean κ of the six pairs of collections",
    command="""assay standardize compare t7.csv t8.csv t03.csv t04.csv
assay standardize compare t7-sp.csv t8-sp.csv t03-sp.csv t04-sp.csv
assay standardize compare t7-p10.csv t8-p10.csv t03-p10.csv t04-p10.csv""",
    needs=[MATRICES, ROBUST],
)
def figure_4_13() -> Iterator[Line]:
    mean = {kind: float(np.mean([p.kappa for p in compared(None, kind).values()])) for kind in ("", "-sp", "-p10")}
    yield line("AP: the mean of Table 4.9", "1.1", mean[""])
    three = [("t7", "t8"), ("t7", "t04"), ("t8", "t04")]
    raw, after = (float(np.mean([compared(form)[pair].kappa for pair in three])) for form in (None, "z"))
    yield statement(
        "standardization against SP and AP",
        "improves dramatically, even from the normalized form",
        f"SP {mean['-sp']:.2f}, AP {mean['']:.2f}; on the three pairs without T03 AP {raw:.2f}, sAP {after:.2f}",
        after < raw / 2 and mean[""] < mean["-sp"],
    )
    raw, after = (float(np.mean([compared(form, "-p10")[pair].kappa for pair in three])) for form in (None, "z"))
    yield statement(
        "standardization of P@10",
        "marginally worsens κ",
        f"on the three pairs without T03 P@10 {raw:.2f}, sP@10 {after:.2f}",
        after > raw,
    )
    yield missing("nDCG", "0.88", NO_RBP_DCG)


@reproduces(
    WEBBER,
    "Section 4.6.3",
    "permutation test of κ",
    command="""assay standardize compare t7.csv t8.csv t03.csv t04.csv --permutations 5000
assay standardize compare t7.csv t04.csv --form 'z(sd=sample)' --factors trec7-factors.csv --factors t04-factors.csv""",
    needs=[MATRICES],
)
def section_4_6_3() -> Iterator[Line]:
    permutations = 5000
    same = kappa_p(part("t7"), part("t8"), permutations=permutations) or 0.0
    yield drawn("p of T7 and T8, raw AP", "0.353", same, (2 * same * (1 - same) / permutations) ** 0.5)
    far = kappa_p(part("t7"), part("t03"), permutations=permutations) or 0.0
    yield statement(
        "T7 and T03, raw AP",
        "significant at .001",
        f"p = {far:.4f}",
        far <= 0.001,
        because="ours is the p of 5,000 permutations, ± .0006; the thesis does not say how many it drew",
    )
    near = kappa_p(part("t7", form="z"), part("t04", form="z"), permutations=permutations) or 0.0
    yield statement("T7 and T04, standardized AP", "significant at .01", f"p = {near:.4f}", near < 0.01)


@reproduces(
    WEBBER,
    "Section 4.7",
    "a topic without spread, mappings to [0, 1], and smoothing",
    command="""assay standardize apply t6-p10.csv --reference adhoc6-p10.csv --form z
python -c "from scipy import stats; print(stats.norm.cdf([0, 1, -1, 2, -2]), stats.t.cdf([2, 10], 1))\"""",
    needs=[MATRICES],
)
def section_4_7() -> Iterator[Line]:
    old = scores("adhoc6-p10.csv").select(topics=["309"]).values
    new = scores("t6-p10.csv").select(topics=["309"]).values
    yield line("topic 309: P@10 of every run of TREC 6", "0.0", float(old.max()))
    yield line("topic 309: runs of 2004 with P@10 .1", "4", int((new == 0.1).sum()))
    after = standardize(scores("t6-p10.csv"), scores("adhoc6-p10.csv"), form="z").select(topics=["309"]).values
    yield statement(
        "standardized scores where the reference sd is 0", "0", f"all {np.abs(after).max():.0f}", not after.any()
    )
    for form, z, printed in (
        ("cdf", 0, "0.5"), ("cdf", 1, "0.84"), ("cdf", -1, "0.16"), ("cdf", 2, "0.977"), ("cdf", -2, "0.023"),
        ("t1", 2, "0.85"), ("t1", 10, "0.968"),
    ):  # fmt: skip
        yield line(f"z = {z} under {form}", printed, _mapped(z, form))
    yield line("least sd with 17 references and two virtual runs", "0.16", 0.5 / _virtual_z())
    yield missing("queries whose largest score by 17 public systems is above 10", "18 %", "their runs are not public")


def _mapped(z: float, form: str) -> float:
    """A score z sds above the reference, mapped to [0, 1]."""
    unit = Factors("AP", ("1",), np.array([0.0]), np.array([1.0]), np.array([10]))
    return float(standardize(ScoreMatrix.of([[z]], measure="AP"), unit, form=form).values[0, 0])


def _virtual_z() -> float:
    """z of a run that scores 1 where 17 reference runs score .5, smoothed by virtual runs that score 0 and 1."""
    same = ScoreMatrix.of(np.full((17, 1), 0.5))
    return float(standardize(ScoreMatrix.of([[1.0]]), same, smoothing="virtual", form="z").values[0, 0])
