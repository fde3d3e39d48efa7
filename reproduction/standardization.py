"""Webber, Moffat & Zobel 2008: score standardization, on TREC 8 and TREC 2004 Robust."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np
from scipy import stats

from assay.data.scores import ScoreMatrix
from assay.rankings import kendall_tau_b
from assay.standard import fit, item_total, longevity, reference_size, standardize
from assay.standard.collections import kappa_p, pooled
from assay.stats import all_pairs
from reproduction.files import MATRICES, ROBUST, scores
from reproduction.items import Line, drawn, line, missing, reproduces, statement
from reproduction.places import STANDARDIZATION
from reproduction.webber_collections import (
    NO_RBP_DCG,
    RAW_BETTER,
    RAW_KAPPAS,
    better_lines,
    compared,
    facts_of_parts,
    kappas,
    part,
)
from reproduction.webber_halves import positives, random_kappa
from reproduction.webber_variance import NO_2003, between_t03_and_t04

COMPARE = """assay standardize compare t7.csv t8.csv t04.csv --form 'cdf(sd=sample)' \\
  --factors trec7-factors.csv --factors trec8-factors.csv --factors t04-factors.csv"""
ERRORS = """assay standardize errors t7.csv t8.csv --splits 2000 --form 'cdf(sd=sample)' \\
  --factors trec7-factors.csv --factors trec8-factors.csv"""


@cache
def standardized_trec8() -> ScoreMatrix:
    """TREC 8's runs standardized by themselves, as the paper does: Φ of z."""
    raw = scores("trec8.csv")
    return standardize(raw, form="cdf(sd=sample)")


@reproduces(
    STANDARDIZATION,
    "Figure 1",
    "AP of TREC 8 by run and topic",
    command="assay report trec8.csv --sections topics --top 129 -o topics.html",
    needs=[MATRICES],
)
def figure_1() -> Iterator[Line]:
    values = scores("trec8.csv").values
    of_topics, of_runs = values.mean(axis=0).std(ddof=1), values.mean(axis=1).std(ddof=1)
    yield statement(
        "easy topics against good runs",
        "stand out much more clearly",
        f"sd of the means of topics {of_topics:.3f}, of runs {of_runs:.3f}",
        bool(of_topics > 1.5 * of_runs),
    )
    poor = int((values.mean(axis=1) < 0.05).sum())
    yield statement("poor runs", "distinct as black lines", f"{poor} of 129 have a mean below .05", poor > 0)


@reproduces(
    STANDARDIZATION,
    "Table 1",
    "mean and sd of AP, four runs and four topics of TREC 8",
    command="""assay compare trec8.csv --baseline Flab8atdn --no-letters
assay standardize fit trec8.csv --sd sample""",
    needs=[MATRICES],
)
def table_1() -> Iterator[Line]:
    matrix = scores("trec8.csv")
    for run, mean, sd in (
        ("READWARE2", "0.469", "0.224"), ("Flab8atdn", "0.324", "0.220"), ("ric8tpx", "0.269", "0.219"),
        ("UT803", "0.176", "0.185"),
    ):  # fmt: skip
        values = matrix.of_run(run)
        yield line(f"{run}, mean", mean, float(values.mean()))
        yield line(f"{run}, sd", sd, float(values.std(ddof=1)))
    by = fit(matrix, sd="sample")
    for topic, mean, sd in (
        ("403", "0.708", "0.226"), ("430", "0.486", "0.217"), ("414", "0.203", "0.108"), ("401", "0.048", "0.090"),
    ):  # fmt: skip
        place = by.topics.index(topic)
        yield line(f"topic {topic}, mean", mean, float(by.mean[place]))
        yield line(f"topic {topic}, sd", sd, float(by.sd[place]))


@reproduces(
    STANDARDIZATION,
    "Figure 2",
    "95 % t intervals of the mean AP of TREC 8's runs",
    command="assay compare trec8.csv --baseline Flab8atdn --no-letters --figure intervals.svg",
    needs=[MATRICES],
)
def figure_2() -> Iterator[Line]:
    ranked = scores("trec8.csv").by_average()
    mean, values = ranked.averages(), ranked.values
    half = stats.t.ppf(0.975, 49) * values.std(axis=1, ddof=1) / 50**0.5
    place = ranked.runs.index("Flab8atdn")
    yield line("runs", "129", len(ranked.runs))
    yield line("place of Flab8atdn by mean AP", "13", place + 1)
    yield line("its interval, low", "0.262", float(mean[place] - half[place]))
    yield line("its interval, high", "0.386", float(mean[place] + half[place]))
    overlaps = (mean - half <= mean[place] + half[place]) & (mean + half >= mean[place] - half[place])
    places = np.nonzero(overlaps)[0] + 1
    yield line("first run whose interval overlaps with it", "2", int(places[0]))
    yield line("last run whose interval overlaps with it", "94", int(places[-1]))


@reproduces(
    STANDARDIZATION,
    "Section 2",
    "spread of runs and topics, and how reliable topics are",
    command="""assay standardize fit trec8.csv --sd sample
assay standardize items best96.csv""",
    needs=[MATRICES],
)
def section_2() -> Iterator[Line]:
    means = {"runs": (0.469, 0.324, 0.269, 0.176), "topics": (0.708, 0.486, 0.203, 0.048)}
    of_runs, of_topics = (max(m) / min(m) for m in means.values())
    yield line("range of the four means of runs (Table 1): factor", "2.5", of_runs, because=".469/.176 is 2.66")
    yield line("range of the four sds of topics: factor", "2.5", 0.226 / 0.090)
    yield statement("range of the four means of topics", "almost 15", f"{of_topics:.1f}", 14 < of_topics < 15)
    sds = np.sort(fit(scores("trec8.csv"), sd="sample").sd)[::-1]
    ratio, whole = (float(sds[0] / sds[place]) for place in (37, 49))
    yield statement(
        "sds of topics, from the largest: first over the 75th percentile",
        "almost 6",
        f"{ratio:.1f}",
        5 < ratio < 6,
        because=f"not known: the largest sd is {ratio:.1f} times the 38th of 50 and {whole:.1f} times the smallest",
    )
    found = item_total(scores("best96.csv"))
    yield line(
        "correlation of a topic's item-total correlation and its sd, best 75 % of the runs",
        "0.005",
        found.agreement or 0,
    )


@reproduces(
    STANDARDIZATION,
    "Figure 3",
    "distribution of AP and of standardized AP, TREC 8",
    command="assay standardize apply trec8.csv --form 'cdf(sd=sample)' --figure distribution.svg",
    needs=[MATRICES],
)
def figure_3() -> Iterator[Line]:
    raw, after = scores("trec8.csv").values, standardized_trec8().values
    yield line("scores", "6,450", raw.size)
    below = float((raw < 0.2).mean())
    yield statement(
        "raw scores below .2",
        "almost half",
        f"{below:.0%}",
        0.45 < below <= 0.5,
        because=f"rather more than half; half of the scores are below {np.median(raw):.2f}",
    )
    for q, printed in ((0.25, "0.26"), (0.5, "0.50"), (0.75, "0.74")):
        yield line(f"{100 * q:.0f}th percentile of the standardized scores", printed, float(np.quantile(after, q)))


@reproduces(
    STANDARDIZATION,
    "Table 2",
    "the runs of TREC 2004 Robust by the factors of the original runs and by their own",
    command="""assay standardize longevity t7.csv --reference adhoc7-ap.csv --form cdf
assay standardize longevity t8.csv --reference adhoc8-ap.csv --form cdf
assay similarity scores t03.csv t04.csv -m pearson -m tau-b""",
    needs=[MATRICES],
)
def table_2() -> Iterator[Line]:
    for year, r, tau in ((7, "0.998", "0.969"), (8, "0.998", "0.962")):
        found = longevity(scores(f"t{year}.csv"), scores(f"adhoc{year}-ap.csv"), form="cdf")
        yield line(f"T{year}, Pearson's r", r, found.pearson)
        yield line(f"T{year}, Kendall's τ", tau, found.tau)
    yield missing("T03, r and τ", "0.998 0.970", NO_2003)
    pearson, kendall = between_t03_and_t04()
    yield line("raw AP on T03 and on T04, τ (text)", "0.742", kendall)
    yield line("raw AP on T03 and on T04, r (text)", "0.943", pearson)


@reproduces(
    STANDARDIZATION,
    "Figure 4",
    "how many reference runs are enough",
    command="assay standardize references t8.csv --reference adhoc8-ap.csv --form cdf --figure references.svg",
    needs=[MATRICES],
    slow=True,
)
def figure_4() -> Iterator[Line]:
    yardstick = between_t03_and_t04()[1]
    yield missing("τ of raw and standardized AP on T03", "0.919", NO_2003)
    found = reference_size(scores("t8.csv"), scores("adhoc8-ap.csv"), form="cdf", sizes=(5, 10, 15, 20, 30))
    raw, after = scores("t8.csv").averages(), part("t8", form="cdf").averages()
    agreement = kendall_tau_b(raw, after)
    taus = dict(zip(found.sizes, found.taus.tolist(), strict=True))
    yield statement(
        "T8 instead: five reference runs at the 99th percentile",
        "better than raw AP on two collections (.742)",
        f"τ {taus[5][2]:.3f}",
        taus[5][2] > yardstick,
    )
    yield statement(
        f"T8 instead: 10 to 15 reference runs against the τ of raw and standardized AP ({agreement:.3f})",
        "better at the 95th and 99th percentile",
        f"10: {taus[10][1]:.3f} and {taus[10][2]:.3f}; 15: {taus[15][1]:.3f} and {taus[15][2]:.3f}; "
        f"20: {taus[20][1]:.3f} and {taus[20][2]:.3f}",
        taus[15][1] > agreement and taus[15][2] > agreement,
    )


@reproduces(
    STANDARDIZATION,
    "Figure 5",
    "mean dRMSE of 1,000 random halves of topics 351–450",
    command="python -m reproduction.page 'Webber, Moffat & Zobel 2008, Figure 5'",
    needs=[MATRICES, ROBUST],
    slow=True,
)
def figure_5() -> Iterator[Line]:
    groups = {"SP": ("-sp", None), "AP": ("", None), "sAP": ("", "cdf"), "P@10": ("-p10", None)}
    groups |= {"nP@10": ("-np10", None), "sP@10": ("-p10", "cdf")}
    made = {name: random_kappa(_adhoc(kind, form)) for name, (kind, form) in groups.items()}
    yield drawn("mean dRMSE of AP", "0.60", made["AP"][0], 2**0.5 * made["AP"][1])
    shown = ", ".join(f"{name} {mean:.2f}" for name, (mean, _) in made.items())
    standard = max(made["sAP"][0], made["sP@10"][0])
    raw = min(made[name][0] for name in ("SP", "AP", "P@10", "nP@10"))
    yield statement(
        "every measure with standardization", "more stable than all measures in their raw form", shown, standard < raw
    )
    yield missing("RBP and DCG groups", "seen in the bars", NO_RBP_DCG)


@cache
def _adhoc(kind: str, form: str | None) -> ScoreMatrix:
    return pooled({name: part(name, kind, form) for name in ("t7", "t8")})


@reproduces(
    STANDARDIZATION,
    "Figure 6",
    "97.5th percentile of the rate of runs that are different from themselves",
    command=ERRORS,
    needs=[MATRICES, ROBUST],
)
def figure_6() -> Iterator[Line]:
    groups = {"SP": ("-sp", None), "AP": ("", None), "P@10": ("-p10", None), "nP@10": ("-np10", None)}
    standard = {"sAP": ("", "cdf"), "sP@10": ("-p10", "cdf")}
    found = {name: positives(kind, form, 2000) for name, (kind, form) in (groups | standard).items()}
    raw, after = ([found[name].high for name in names] for names in (groups, standard))
    shown = ", ".join(f"{name} {found[name].high:.2f}" for name in groups)
    yield statement("raw and normalized", "around 50 %", shown, min(raw) > 0.35 and max(raw) < 0.55)
    shown = ", ".join(f"{name} {found[name].high:.3f}" for name in standard)
    yield statement("standardized", "just over 15 %", shown, min(after) > 0.14 and max(after) < 0.18)
    means = [made.mean for made in found.values()]
    yield statement(
        "mean rates", ".042 to .052", f"{min(means):.3f} to {max(means):.3f}", min(means) > 0.041 and max(means) < 0.053
    )
    yield missing("RBP and DCG groups", "seen in the bars", NO_RBP_DCG)


@reproduces(
    STANDARDIZATION,
    "Section 5",
    "discriminative power, and random halves of two collections",
    command="""assay study discriminative trec8.csv --test t
assay standardize compare t7.csv t03.csv --permutations 5000""",
    needs=[MATRICES],
    slow=True,
)
def section_5() -> Iterator[Line]:
    yield missing("T8, pairs significant: DCG, nDCG, sDCG", "68.7 % 69.3 % 68.8 %", NO_RBP_DCG)
    share = {name: 100 * all_pairs(m).share(0.05) for name, m in (("AP", part("t8")), ("sAP", part("t8", form="cdf")))}
    yield statement(
        "standardization and discriminative power",
        "no harm",
        f"T8: AP {share['AP']:.1f} %, sAP {share['sAP']:.1f} %",
        share["sAP"] > share["AP"] - 1,
    )
    mean, error = random_kappa(pooled({"t7": part("t7"), "t03": part("t03")}))
    yield drawn("mean dRMSE of random halves of T7 and T03, AP", "0.596", mean, 2**0.5 * error)
    p = kappa_p(part("t7"), part("t03"), permutations=5000) or 0.0
    yield statement("the observed dRMSE 1.857", "beyond the 99th percentile", f"p = {p:.4f}", p < 0.01)
    counted = [count for pair in compared("cdf").values() for count in (pair.better, pair.worse)]
    yield statement(
        "standardized: runs different from themselves between collections",
        "5 % on average, at most 11 %",
        f"on the three pairs without T03 {100 * np.mean(counted) / 110:.0f} % and {100 * max(counted) / 110:.0f} %",
        max(counted) <= 0.11 * 110 and 0.03 < float(np.mean(counted)) / 110 < 0.07,
    )


@reproduces(
    STANDARDIZATION,
    "Table 3",
    "dRMSE between collections, raw AP",
    command="assay standardize compare t7.csv t8.csv t03.csv t04.csv",
    needs=[MATRICES],
)
def table_3() -> Iterator[Line]:
    yield from kappas(RAW_KAPPAS, None)


@reproduces(
    STANDARDIZATION,
    "Table 4",
    "runs of 110 that are significantly better on one collection than on another, raw AP",
    command="assay standardize compare t7.csv t8.csv t03.csv t04.csv",
    needs=[MATRICES],
)
def table_4() -> Iterator[Line]:
    yield from better_lines(RAW_BETTER, None)


@reproduces(STANDARDIZATION, "Table 5", "dRMSE between collections, standardized AP", command=COMPARE, needs=[MATRICES])
def table_5() -> Iterator[Line]:
    printed = {
        ("t7", "t8"): "0.320", ("t7", "t03"): "0.342", ("t7", "t04"): "0.373", ("t8", "t03"): "0.406",
        ("t8", "t04"): "0.397", ("t03", "t04"): "0.398",
    }  # fmt: skip
    yield from kappas(printed, "cdf")


@reproduces(
    STANDARDIZATION,
    "Table 6",
    "docs judged and relevant per topic, and mean scores of the 110 runs",
    command=f"""{COMPARE}
assay standardize compare t7-p10.csv t8-p10.csv t03-p10.csv t04-p10.csv
assay standardize compare t7-sp.csv t8-sp.csv t03-sp.csv t04-sp.csv""",
    needs=[MATRICES, ROBUST],
)
def table_6() -> Iterator[Line]:
    yield from facts_of_parts()
    for name, printed in (("t7", "0.516"), ("t8", "0.503"), ("t04", "0.500")):
        yield line(f"sAP, {name.upper()}", printed, float(part(name, form="cdf").values.mean()))
    yield missing("sAP, T03", "0.517", NO_2003)


@reproduces(
    STANDARDIZATION,
    "Figure 7",
    "mean dRMSE of the six pairs of collections",
    command="""assay standardize compare t7.csv t8.csv t03.csv t04.csv
assay standardize compare t7-p10.csv t8-p10.csv t03-p10.csv t04-p10.csv""",
    needs=[MATRICES, ROBUST],
)
def figure_7() -> Iterator[Line]:
    mean = float(np.mean([pair.kappa for pair in compared(None).values()]))
    yield line("AP: the mean of Table 3", "1.1", mean)
    three = [("t7", "t8"), ("t7", "t04"), ("t8", "t04")]
    for kind, name, printed, sign in (
        ("", "AP", "dramatic improvement", -1),
        ("-p10", "P@10", "marginally worsens", 1),
    ):
        raw, after = (float(np.mean([compared(form, kind)[p].kappa for p in three])) for form in (None, "cdf"))
        shown = f"on the three pairs without T03 {raw:.2f} raw, {after:.2f} standardized"
        yield statement(f"standardization of {name}", printed, shown, np.sign(after - raw) == sign)
    yield missing("RBP and DCG groups", "seen in the bars", NO_RBP_DCG)
