"""Webber 2010, sections 4.1 to 4.5: how scores vary, standardization, and runs that are no reference."""

from __future__ import annotations

import csv
import lzma
from collections.abc import Iterator
from functools import cache

import numpy as np

from assay.data.scores import ScoreMatrix
from assay.rankings import kendall_tau_b
from assay.standard import fit, longevity, reference_size, standardize, variance_components
from assay.studies.discriminative import discriminative_power
from reproduction.files import MATRICES, MORE_MATRICES, scores
from reproduction.items import Line, cannot_be_had, cell, data_folder, line, missing, reproduces, statement
from reproduction.places import WEBBER

PUBLISHED = "trec-published-means"
NO_TREC_5 = "the scores of TREC 5's runs by topic are public without the tags of the runs, and not drawn here"
NO_2003 = "the scores of the 78 runs of TREC 2003 Robust by topic are not public"
ONLY_MEANS = "RBP and nDCG of the 110 runs on these topics are not public"

for _place, _title, _instead in (
    ("Figure 4.1", "AP of TREC 5 by run and topic", "Figure 1"),
    ("Figure 4.2", "densities of AP of four runs and four topics of TREC 5", "Table 1"),
    ("Figure 4.3", "intervals of the mean AP of TREC 5's runs", "Figure 2"),
    ("Figure 4.5", "distribution of AP and of standardized AP, TREC 5", "Figure 3"),
):
    cannot_be_had(
        WEBBER, _place, _title, f"{NO_TREC_5}; for TREC 8 see {_instead} of Webber, Moffat & Zobel 2008 below"
    )
cannot_be_had(WEBBER, "Figure 4.6", "standardized AP of TREC 5 by run and topic", NO_TREC_5)
cannot_be_had(WEBBER, "Figure 4.7", "intervals of the mean standardized AP of TREC 5's runs", NO_TREC_5)


def published_means(trec: str, track: str) -> dict[str, float]:
    """Run → mean AP as NIST publishes it."""
    with lzma.open(data_folder() / PUBLISHED / "published.tsv.xz", "rt") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    wanted = [row for row in rows if (row["trec"], row["track"], row["measure"]) == (trec, track, "map")]
    return {row["run"]: float(row["value"]) for row in wanted}


@reproduces(
    WEBBER,
    "Table 4.1",
    "mean and sd of AP, four runs and four topics of TREC 5",
    command="""python -m reproduction.page 'Webber 2010, Table 4.1'
assay standardize fit trec5.csv --sd sample""",
    needs=[PUBLISHED, MORE_MATRICES],
)
def table_4_1() -> Iterator[Line]:
    means = published_means("trec5", "adhoc")
    for run, printed in (("ETHme1", "0.317"), ("LNmFull1", "0.282"), ("Cor5A1se", "0.206"), ("anu5aut1", "0.154")):
        yield line(f"mean AP of {run}, as NIST publishes it", printed, means[run])
    yield statement(
        "tag of the second run",
        "LNmFull11",
        "LNmFull1",
        "LNmFull11" in means,
        because="TREC 5 has no run LNmFull11; LNmFull1 has the printed mean",
    )
    matrix = scores("trec5.csv")
    for run, printed in zip(runs_of_table_4_4(matrix), ("0.231", "0.271", "0.220", "0.232"), strict=True):
        yield line(f"{run}, found by its scores in Table 4.4, sd", printed, float(matrix.of_run(run).std(ddof=1)))
    by = fit(matrix, sd="sample")
    for topic, (mean, sd) in FACTORS_4_1.items():
        place = by.topics.index(topic)
        yield line(f"topic {topic}, mean", mean, float(by.mean[place]))
        yield line(f"topic {topic}, sd of n − 1", sd, float(by.sd[place]))


def shares(matrix: ScoreMatrix) -> tuple[float, float, float, float]:
    """Shares of run, topic and interaction in the variance, and ρ_I, in percent."""
    found = variance_components(matrix)
    whole = found.run + found.topic + found.interaction
    parts = (100 * part / whole for part in (found.run, found.topic, found.interaction))
    run, topic, interaction = parts
    return run, topic, interaction, 100 * found.relative


FEWER_RUNS = (
    "the released matrix has 61 runs; NIST publishes means over these 149 topics of 86. Without the others topics "
    "weigh more and the interaction less"
)


@reproduces(
    WEBBER,
    "Table 4.2",
    "components of variance of raw scores, in percent",
    command="""assay standardize variance terabyte06.csv
assay standardize variance terabyte06-ndcg.csv""",
    needs=[MATRICES],
)
def table_4_2() -> Iterator[Line]:
    names = ("run (φ)", "topic", "interaction", "ρ_I")
    for measure, file, printed in (
        ("AP", "terabyte06.csv", ("19", "49", "32", "37")),
        ("nDCG", "terabyte06-ndcg.csv", ("30", "41", "29", "51")),
    ):
        for name, value, ours in zip(names, printed, shares(scores(file)), strict=True):
            yield cell(f"TREC 2006 Terabyte, {measure}: {name}", value, ours, FEWER_RUNS)
    yield missing("TREC 2006 Terabyte, P@10 and RBP", "19 41 40 32 and 19 51 30 39", "not in the released matrices")
    yield missing("TREC 5 ad hoc, four measures", "8 62 30 22 … 16 55 29 36", NO_TREC_5)
    yield missing(
        "TREC 2001 Web, four measures", "12 46 42 23 … 18 44 38 33", "no scores by topic of that track are public"
    )


@reproduces(
    WEBBER,
    "Section 4.2.1",
    "what is left of the variance with 50 topics (Equation 4.5)",
    command="assay standardize variance trec8.csv",
    needs=[MATRICES],
)
def section_4_2() -> Iterator[Line]:
    left = {}
    for measure, (run, topic, interaction) in {"AP": (8, 62, 30), "nDCG": (16, 55, 29)}.items():
        left[measure] = 1 - run / (run + (topic + interaction) / 50)
    own = 1 - variance_components(scores("trec8.csv")).dependability()
    yield statement(
        "share of the variance of 50-topic means that is not due to the runs",
        "some 10 %",
        f"from Table 4.2, TREC 5: AP {left['AP']:.0%}, nDCG {left['nDCG']:.0%}; "
        f"from the scores of TREC 8, AP: {own:.0%}",
        left["nDCG"] < 0.1 < left["AP"] and own < 0.1,
    )


FACTORS_4_1 = {
    "276": ("0.771", "0.235"),
    "262": ("0.506", "0.383"),
    "277": ("0.175", "0.118"),
    "252": ("0.056", "0.039"),
}
RUNS_4_4 = ("ETHme1", "LNmFull11", "Cor5A1se", "anu5aut1")
RAW_4_4 = {
    "276": (0.968, 1.000, 0.615, 0.814),
    "262": (0.500, 0.950, 0.017, 1.000),
    "277": (0.344, 0.301, 0.256, 0.059),
    "252": (0.045, 0.058, 0.030, 0.109),
}
STANDARD_4_4 = {
    "276": ("0.840", "0.975", "−0.667", "0.180"),
    "262": ("−0.015", "1.161", "−1.277", "1.291"),
    "277": ("1.434", "1.067", "0.689", "−0.985"),
    "252": ("−0.275", "0.059", "−0.665", "1.340"),
}


@reproduces(
    WEBBER,
    "Figure 4.4",
    "mean AP and mean standardized AP of TREC 5's runs",
    command="assay standardize apply trec5.csv --form 'z(sd=sample)'",
    needs=[MORE_MATRICES],
)
def figure_4_4() -> Iterator[Line]:
    raw = scores("trec5.csv")
    before, after = raw.averages(), standardize(raw, form="z(sd=sample)").averages()
    yield line("Kendall's τ", "0.903", kendall_tau_b(before, after))
    yield line("Pearson's r", "0.985", float(np.corrcoef(before, after)[0, 1]))


@reproduces(
    WEBBER,
    "Table 4.4",
    "standardized AP of four runs of TREC 5 on four topics",
    command="assay standardize apply trec5.csv --form 'z(sd=sample)'",
    needs=[MORE_MATRICES],
)
def table_4_4() -> Iterator[Line]:
    raw = scores("trec5.csv")
    after = standardize(raw, form="z(sd=sample)")
    runs = runs_of_table_4_4(raw)
    for topic, printed in STANDARD_4_4.items():
        place = raw.topics.index(topic)
        for run, tag, value in zip(runs, RUNS_4_4, printed, strict=True):
            yield line(f"topic {topic}, {tag} ({run})", value, float(after.of_run(run)[place]))


def runs_of_table_4_4(matrix: ScoreMatrix) -> list[str]:
    """The runs of the table in a matrix without tags: those whose scores on its topics round to the printed ones."""
    printed = np.array(list(RAW_4_4.values())).T
    scores_there = matrix.select(topics=list(RAW_4_4)).values
    found = []
    for row in printed:
        [place] = np.flatnonzero((np.abs(scores_there - row) < 0.0006).all(axis=1)).tolist()
        found.append(matrix.runs[place])
    return found


@reproduces(
    WEBBER,
    "Table 4.5",
    "components of variance of standardized scores, in percent",
    command="""assay standardize apply terabyte06.csv --form z --save terabyte06-z.csv
assay standardize variance terabyte06-z.csv""",
    needs=[MATRICES],
)
def table_4_5() -> Iterator[Line]:
    names = ("run (φ = ρ_I)", "topic", "interaction")
    for measure, file, printed in (
        ("sAP", "terabyte06.csv", ("39", "0", "61")),
        ("snDCG", "terabyte06-ndcg.csv", ("54", "0", "46")),
    ):
        ours = shares(standardize(scores(file), form="z"))
        for name, value, own in zip(names, printed, ours, strict=False):
            yield cell(f"TREC 2006 Terabyte, {measure}: {name}", value, own, FEWER_RUNS)
    yield missing("TREC 2006 Terabyte, sP@10 and sRBP", "32 0 68 and 41 0 59", "not in the released matrices")
    yield missing("TREC 5 ad hoc, four measures", "29 0 71 … 38 0 62", NO_TREC_5)
    yield missing("TREC 2001 Web, four measures", "28 0 72 … 35 0 65", "no scores by topic of that track are public")


@reproduces(
    WEBBER,
    "Table 4.7",
    "the runs of TREC 2004 Robust by the factors of the original runs and by their own",
    command="""assay standardize longevity t6.csv --reference adhoc6-ap.csv --form z
assay standardize longevity t7.csv --reference adhoc7-ap.csv --form z
assay standardize longevity t8.csv --reference adhoc8-ap.csv --form z
assay similarity scores t03.csv t04.csv -m pearson -m tau-b""",
    needs=[MATRICES],
)
def table_4_7() -> Iterator[Line]:
    for year, r, tau in ((6, "0.997", "0.945"), (7, "0.999", "0.965"), (8, "0.999", "0.971")):
        found = longevity(scores(f"t{year}.csv"), scores(f"adhoc{year}-ap.csv"), form="z")
        yield line(f"T{year}, Pearson's r", r, found.pearson)
        yield line(f"T{year}, Kendall's τ", tau, found.tau)
    yield missing("T03, r and τ", "0.995 0.935", NO_2003)
    pearson, kendall = between_t03_and_t04()
    yield line("raw AP on T03 and on T04, r", "0.943", pearson)
    yield line("raw AP on T03 and on T04, τ", "0.742", kendall)


def between_t03_and_t04() -> tuple[float, float]:
    """Pearson's r and τ of the runs' mean AP on the two sets of topics."""
    first, second = (scores(name).averages() for name in ("t03.csv", "t04.csv"))
    return float(np.corrcoef(first, second)[0, 1]), kendall_tau_b(first, second)


@reproduces(
    WEBBER,
    "Table 4.8",
    "components of variance of TREC 2004 Robust, topics 301–450 and 601–650, in percent",
    command="""assay standardize variance robust-200.csv
assay standardize variance robust-200-p10.csv
assay standardize apply robust-200.csv --form z --save robust-200-z.csv
assay standardize variance robust-200-z.csv""",
    needs=[MATRICES],
)
def table_4_8() -> Iterator[Line]:
    names = ("run (φ)", "topic", "interaction", "ρ_I")
    for measure, file, raw, own in (
        ("AP", "robust-200.csv", ("7", "66", "27", "20"), ("25", "0", "75")),
        ("P@10", "robust-200-p10.csv", ("4", "60", "36", "11"), ("12", "0", "88")),
    ):
        for name, printed, ours in zip(names, raw, shares(scores(file)), strict=True):
            yield line(f"{measure}, raw: {name}", printed, ours)
        after = shares(standardize(scores(file), form="z"))
        for name, printed, ours in zip(names, own, after, strict=False):
            yield line(f"{measure}, standardized by the runs themselves: {name}", printed, ours)
    yield missing("AP and P@10, standardized by the original runs", "20 10 70 22 and 10 8 82 11", NO_2003)
    yield missing("RBP and nDCG, all blocks", "5 66 29 14 … 32 7 61 34", ONLY_MEANS)


ON_TREC_8 = f"{NO_TREC_5}; the same for TREC 8 stands below"


@cache
def pairs_on_trec_8() -> tuple[list[float], list[float], list[float | None]]:
    """Shares of TREC 8's pairs of runs that are significant: paired, two-sample, and the overlap; AP and sAP."""
    raw = scores("trec8.csv")
    after = standardize(raw, form="z").renamed("sAP")
    shares: dict[str, tuple[float, float, float | None]] = {}
    for matrix in (raw, after):
        found = discriminative_power([matrix], test="t", two_sample=True)
        (unpaired,) = found.unpaired
        two_sample = float((unpaired.p < found.alpha).mean())
        shares[matrix.measure] = (float(found.shares[0]), two_sample, unpaired.overlap)
    both = [shares["AP"], shares["sAP"]]
    return [s[0] for s in both], [s[1] for s in both], [s[2] for s in both]


@reproduces(
    WEBBER,
    "Table 4.3",
    "pairs of runs that are significantly different by AP, paired and two-sample",
    command="assay study discriminative trec8.csv --test t --two-sample",
    needs=[MATRICES],
)
def table_4_3() -> Iterator[Line]:
    yield missing("TREC 5, all 61 runs: paired, two-sample", "0.636, 0.364", ON_TREC_8)
    yield missing("TREC 5, 28 automatic runs: paired, two-sample", "0.495, 0.130", ON_TREC_8)
    paired, two_sample, _ = pairs_on_trec_8()
    yield statement(
        "TREC 8, all 129 runs: the two-sample test",
        "finds far fewer pairs than the paired one",
        f"{two_sample[0]:.3f} against {paired[0]:.3f}",
        two_sample[0] < 0.75 * paired[0],
    )


@reproduces(
    WEBBER,
    "Table 4.6",
    "pairs of runs that are significantly different by standardized AP, paired and two-sample",
    command="""assay standardize apply trec8.csv --form z --save trec8-z.csv
assay study discriminative trec8-z.csv --test t --two-sample""",
    needs=[MATRICES],
)
def table_4_6() -> Iterator[Line]:
    yield missing("TREC 5, all 61 runs: paired, two-sample", "0.683, 0.683", ON_TREC_8)
    yield missing("TREC 5, automatic runs: paired, two-sample", "0.561, 0.542", ON_TREC_8)
    paired, two_sample, overlap = pairs_on_trec_8()
    yield statement(
        "TREC 8, all 129 runs: the two-sample test on standardized AP",
        "finds almost as many pairs as the paired one",
        f"{two_sample[1]:.3f} against {paired[1]:.3f}",
        two_sample[1] > 0.95 * paired[1],
    )
    yield statement(
        "TREC 8: gain by standardizing, paired and two-sample",
        "small and large (TREC 5: +0.047 and +0.319)",
        f"{paired[1] - paired[0]:+.3f} and {two_sample[1] - two_sample[0]:+.3f}",
        paired[1] - paired[0] < 0.05 and two_sample[1] - two_sample[0] > 0.15,
    )
    agreement = overlap[1] or 0.0
    what = "TREC 8: overlap of the two tests (Section 4.4.2)"
    yield line(what, "0.9", agreement, because="another collection, and a higher overlap: 129 runs of TREC 8")


@reproduces(
    WEBBER,
    "Figure 4.8",
    "how many reference runs are enough",
    command="assay standardize references t8.csv --reference adhoc8-ap.csv --form z --figure references.svg",
    needs=[MATRICES],
    slow=True,
)
def figure_4_8() -> Iterator[Line]:
    yield line("yardstick: τ of raw AP on T03 and T04", "0.742", between_t03_and_t04()[1])
    yield missing("yardstick: τ of raw and standardized AP on T03", "0.888", NO_2003)
    found = reference_size(scores("t8.csv"), scores("adhoc8-ap.csv"), form="z", sizes=(5, 10, 15, 20, 30))
    raw = scores("t8.csv").averages()
    after = standardize(scores("t8.csv"), scores("adhoc8-ap.csv"), form="z").averages()
    yardstick = kendall_tau_b(raw, after)
    another = (
        f"ours is T8 with the 129 runs of TREC 8, where raw and standardized AP agree more (τ {yardstick:.3f}); "
        f"{NO_2003}"
    )
    for place, percentile, printed in ((0, "median", "5"), (1, "95th percentile", "10"), (2, "99th percentile", "20")):
        enough = [size for size, taus in zip(found.sizes, found.taus, strict=True) if taus[place] >= yardstick]
        yield cell(f"reference runs as good as the yardstick, {percentile}", printed, min(enough), another)


@reproduces(
    WEBBER,
    "Section 4.3",
    "bound of standardized scores",
    command="python -m reproduction.page 'Webber 2010, Section 4.3'",
)
def section_4_3() -> Iterator[Line]:
    one_run_alone = ScoreMatrix.of([[1.0]] + [[0.0]] * 77)
    largest = standardize(one_run_alone, form="z").values.max()
    yield line("largest score of 78 reference runs, √(n − 1)", "8.77", float(largest))
    yield missing("T03, topic 605: runs above it, largest score", "8, 11.82", NO_2003)
