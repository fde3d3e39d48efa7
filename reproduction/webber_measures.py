"""Webber 2010, chapters 1 to 3.2: illustrations, and the worked examples of measures."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import assay
from assay.studies import measure_tau, predictivity
from reproduction.files import MATRICES, ROBUST, Example, add, add_example, example_lists, robust_qrels, scores
from reproduction.items import Line, cannot_be_had, line, missing, reproduces, statement
from reproduction.places import WEBBER

ILLUSTRATION = "an illustration; there is nothing to compute"
TREC_8_RUNS = "the runs of TREC 8 are not public: NIST gives them only to those who sign for them"

cannot_be_had(
    WEBBER, "Table 2.1", "size and year of six old collections", "facts of others; there is nothing to compute"
)
for _place, _title in (
    ("Figure 1.1", "a home page of 1997"),
    ("Figure 1.2", "the retrieval process"),
    ("Figure 1.3", "evaluation with test collections"),
    ("Figure 2.1", "an indexing sheet of Cranfield"),
    ("Figure 2.2", "parse trees of SMART"),
    ("Figure 2.3", "assessors at work"),
    ("Figure 2.4", "a topic of TREC 1"),
    ("Figure 2.5", "a topic of TREC 4"),
    ("Figure 3.2", "retrieved and relevant docs"),
    ("Figure 3.12", "statistical inference"),
    ("Figure 3.15", "densities of t and of the normal distribution"),
    ("Figure 3.21", "a topic of TREC 8"),
):
    cannot_be_had(WEBBER, _place, _title, ILLUSTRATION)
cannot_be_had(
    WEBBER,
    "Figure 3.16",
    "working of Kendall's τ",
    "the two rankings are only in the drawing, which the text of the thesis does not hold",
)
cannot_be_had(WEBBER, "Figure 3.10", "relevance of CL99XT by rank and topic, mean RBP.95 .49", TREC_8_RUNS)

FIRST_TEN = (
    "FT943-10128", "LA052890-0021", "LA092489-0134", "FT942-5468", "FT944-864", "FT922-11472",
    "LA010889-0109", "LA022689-0112", "LA090889-0077", "FT924-286",
)  # fmt: skip
"""Figure 3.1: the first ten docs of ric8dnx for topic 405."""
RUNNING: Example = {"R4": ("1 0 0 1 1 0 0 0 1 0", ""), "R6": ("1 0 0 1 1 0 0 0 1 0", "1 1")}
"""The list of Figures 3.3 to 3.6, with four and with six relevant docs."""
RANKS: Example = {str(r): (" ".join("1" if i == r else "0" for i in range(1, 11)), "") for r in range(1, 11)}
"""Ten lists with one relevant doc, at rank 1 … 10: their scores are the weights of the ranks."""
TWO_LISTS: Example = {"A": ("1" + " 0" * 9, "1 " * 8), "B": ("0" + " 1" * 9, "")}
_RIC8DNX = [f"405 Q0 {doc} {rank} {100 - rank} ric8dnx" for rank, doc in enumerate(FIRST_TEN, start=1)]
add("ric8dnx-405.run", "the ten docs of Figure 3.1", lambda: "\n".join([*_RIC8DNX, ""]))
add_example("running", "the list of Figures 3.3 to 3.6 with R = 4 and R = 6", RUNNING)
add_example("ranks", "ten lists with one relevant doc, at rank 1 … 10: the weights of the ranks", RANKS)
add_example("two-lists", "the lists A and B of Figure 3.9, R = 9", TWO_LISTS)


def example_scores(lists: Example, *measures: str) -> dict[str, dict[str, float]]:
    """Measure → topic → score of a worked example."""
    run, qrels = example_lists(lists)
    made = assay.evaluate({"run": run}, qrels, list(measures))
    return {name: made[name].to_dict()["run"] for name in made.measures}


@reproduces(
    WEBBER,
    "Figure 3.1",
    "the relevance vector of ric8dnx for topic 405",
    command="assay score --qrels robust.qrels ric8dnx-405.run -m 'P@10' --draw relevance --figure vector.svg",
    needs=[ROBUST],
)
def figure_3_1() -> Iterator[Line]:
    judged = robust_qrels().to_dict()["405"]
    vector = " ".join(str(min(judged[doc], 1)) for doc in FIRST_TEN)
    printed = "1 1 0 0 0 1 0 1 0 0"
    yield statement("vector, by the public judgments of topic 405", printed, vector, vector == printed)


@reproduces(
    WEBBER,
    "Figure 3.3",
    "recall and precision, actual and interpolated, R = 4",
    command="""assay score --qrels running.qrels running.run -q -m 'Recall@1 Recall@4 Recall@5 Recall@9 P@1 P@2 P@3'
assay score --qrels running.qrels running.run -q -m 'IPrec(recall=0.0) IPrec(recall=0.3) IPrec(recall=0.8)'
assay score --qrels running.qrels running.run --draw recall-precision --figure curve.svg""",
)
def figure_3_3() -> Iterator[Line]:
    recalls = ["0.25", "0.25", "0.25", "0.5", "0.75", "0.75", "0.75", "0.75", "1", "1"]
    precisions = ["1", "0.5", "0.33", "0.5", "0.6", "0.5", "0.43", "0.38", "0.44", "0.4"]
    interpolated = ["1", "1", "1", "0.6", "0.6", "0.6", "0.6", "0.6", "0.44", "0.44", "0.44"]
    rows = [(f"R@{k}", f"Recall@{k}", printed) for k, printed in enumerate(recalls, start=1)]
    rows += [(f"P@{k}", f"P@{k}", printed) for k, printed in enumerate(precisions, start=1)]
    rows += [(f"precision at recall {i / 10}", f"IPrec(recall={i / 10})", p) for i, p in enumerate(interpolated)]
    made = example_scores(RUNNING, *(measure for _, measure, _ in rows))
    for (what, _, printed), by_topic in zip(rows, made.values(), strict=True):
        yield line(what, printed, by_topic["R4"])


@reproduces(
    WEBBER,
    "Figure 3.4",
    "average precision, R = 6",
    command="assay score --qrels running.qrels running.run -q -m 'SP@10 AP@10'",
)
def figure_3_4() -> Iterator[Line]:
    made = example_scores(RUNNING, "SP@10", "AP@10")
    yield line("sum of precisions", "2.54", made["SP@10"]["R6"])
    yield line("AP@10", "0.42", made["AP@10"]["R6"])


@reproduces(
    WEBBER,
    "Figure 3.5",
    "discounted cumulative gain, b = 2",
    command="""assay score --qrels ranks.qrels ranks.run -q -m 'DCGjk@10'
assay score --qrels running.qrels running.run -q -m 'DCGjk@10'""",
)
def figure_3_5() -> Iterator[Line]:
    weights = ["1.0", "1.0", "0.63", "0.5", "0.43", "0.39", "0.36", "0.33", "0.32", "0.30"]
    made = example_scores(RANKS, "DCGjk@10")["DCGjk@10"]
    for rank, printed in enumerate(weights, start=1):
        yield line(f"weight of rank {rank}", printed, made[str(rank)])
    yield line("DCG@10", "2.25", example_scores(RUNNING, "DCGjk@10")["DCGjk@10"]["R4"])


@reproduces(
    WEBBER,
    "Figure 3.6",
    "rank-biased precision, p = 0.8",
    command="""assay score --qrels ranks.qrels ranks.run -q -m 'RBP(p=0.8)'
assay score --qrels running.qrels running.run -q -m 'RBP(p=0.8) RBPResidual(p=0.8)'""",
)
def figure_3_6() -> Iterator[Line]:
    weights = ["200", "160", "128", "102", "082", "066", "052", "042", "034", "027"]
    made = example_scores(RANKS, "RBP(p=0.8)")["RBP"]
    for rank, printed in enumerate(weights, start=1):
        yield line(f"1,000 times the weight of rank {rank}", str(int(printed)), 1000 * made[str(rank)])
    found = example_scores(RUNNING, "RBP(p=0.8)", "RBPResidual(p=0.8)")
    yield line("RBP", "0.418", found["RBP"]["R4"])
    yield statement(
        "rank of the last product, .034",
        "10",
        "9",
        False,
        because="the row of products is shifted by one in the text of the thesis; the relevant doc stands at rank 9, "
        "whose weight is .034",
    )
    low, high = found["RBP"]["R4"], found["RBP"]["R4"] + found["RBPResidual"]["R4"]
    yield statement(
        "what the score at depth ten is", "a lower bound", f"{low:.4f}, and at most {high:.4f} at any depth", low < high
    )


@reproduces(
    WEBBER,
    "Figure 3.7",
    "weights of the ranks: RBP with different p, and DCG",
    command="assay score --qrels ranks.qrels ranks.run -q -m 'DCGjk RBP(p=0.5) RBP(p=0.8) RBP(p=0.95)'",
)
def figure_3_7() -> Iterator[Line]:
    run = {"1": {f"d{r:04d}": float(2000 - r) for r in range(1, 1001)}}
    qrels = {"1": dict.fromkeys(run["1"], 1)}
    names = ["DCGjk@10", "DCGjk@100", "DCGjk@1000", "RBP(p=0.8)@10", "RBP(p=0.8)@100", "RBP(p=0.95)@100"]
    head, hundred, thousand, *rbp = (float(m.values[0, 0]) for m in assay.evaluate({"r": run}, qrels, names))
    yield statement(
        "weight of an endless list under DCG",
        "the tail always dominates the head",
        f"ranks 1–10 weigh {head:.1f}, 11–100 {hundred - head:.1f}, 101–1,000 {thousand - hundred:.1f}",
        head < hundred - head < thousand - hundred,
    )
    yield statement(
        "weight under RBP",
        "sums to 1",
        f"{rbp[1]:.4f} (p = .8) and {rbp[2]:.4f} (p = .95) in the first 100 ranks",
        rbp[0] < rbp[1] <= 1 and rbp[2] < 1,
    )


@reproduces(
    WEBBER,
    "Figure 3.8",
    "AP of the runs of TREC 8, topic by topic",
    command="assay report trec8.csv --sections topics -o topics.html",
    needs=[MATRICES],
)
def figure_3_8() -> Iterator[Line]:
    values = scores("trec8.csv").values
    medians = np.median(values, axis=0)
    low, high = np.quantile(values, (0.25, 0.75), axis=0)
    apart = int((low[:, None] > high[None, :]).sum())
    yield statement(
        "distributions of AP",
        "differ greatly between topics",
        f"medians from {medians.min():.3f} to {medians.max():.3f}; the boxes of {apart} of 1,225 pairs of topics do "
        "not overlap",
        medians.max() > 100 * medians.min() and apart > 400,
    )


@reproduces(
    WEBBER,
    "Table 3.1",
    "Kendall's τ between measures, TREC 8, without the runs that are in the worst quarter under every measure",
    command="assay study measure-tau adhoc8-ap.csv adhoc8-p10.csv adhoc8-rr.csv",
    needs=[MATRICES],
)
def table_3_1() -> Iterator[Line]:
    found = measure_tau([scores(f"adhoc8-{m}.csv") for m in ("ap", "p10", "rr")])
    fewer = "three measures say here which runs are in the worst quarter under all of them, five said it there"
    yield line("runs left of 129", "102", found.runs, because=fewer)
    yield line("AP, P@10", "0.74", found.tau[0, 1])
    yield line("AP, RR", "0.52", found.tau[0, 2])
    yield line("P@10, RR", "0.65", found.tau[1, 2], because=fewer)
    absent = f"no RBP or nDCG of TREC 8's runs is public, and {TREC_8_RUNS}"
    for pair, printed in (
        ("AP, RBP.95", "0.81"), ("AP, nDCG", "0.88"), ("RBP.95, nDCG", "0.79"), ("RBP.95, P@10", "0.87"),
        ("RBP.95, RR", "0.61"), ("nDCG, P@10", "0.75"), ("nDCG, RR", "0.54"),
    ):  # fmt: skip
        yield missing(pair, printed, absent)


@reproduces(
    WEBBER,
    "Table 3.2",
    "predictivity of measures on halves of the topics",
    command="assay study predictivity adhoc8-ap.csv adhoc8-p10.csv adhoc8-rr.csv --splits 2000",
    needs=[MATRICES],
)
def table_3_2() -> Iterator[Line]:
    yield missing(
        "TREC 2004 Terabyte, all 15 cells", ".36 to .80", "runs and topic scores of that track are not public"
    )
    found = predictivity([scores(f"adhoc8-{m}.csv") for m in ("ap", "p10", "rr")])
    ap, p10, rr = 0, 1, 2
    tau = found.tau
    yield statement(
        "similar on TREC 8: AP predicts P@10",
        "as well as P@10 does",
        f"{tau[ap, p10]:.2f} against {tau[p10, p10]:.2f}",
        bool(tau[ap, p10] >= tau[p10, p10]),
    )
    yield statement(
        "similar on TREC 8: AP predicts RR",
        "better than RR does",
        f"{tau[ap, rr]:.2f} against {tau[rr, rr]:.2f}",
        bool(tau[ap, rr] > tau[rr, rr]),
        because="the thesis gives no numbers for TREC 8; there, with the best three quarters of 129 runs, P@10 "
        f"predicts RR better than RR does ({tau[p10, rr]:.2f}), AP does not",
    )
    yield statement(
        "similar on TREC 8: measures that predict themselves best",
        "AP, then P@10, then RR",
        f"{tau[ap, ap]:.2f}, {tau[p10, p10]:.2f}, {tau[rr, rr]:.2f}",
        bool(tau[ap, ap] > tau[p10, p10] > tau[rr, rr]),
    )


@reproduces(
    WEBBER,
    "Figure 3.9",
    "two lists under RR and AP, R = 9",
    command="assay score --qrels two-lists.qrels two-lists.run -q -m 'RR AP'",
)
def figure_3_9() -> Iterator[Line]:
    made = example_scores(TWO_LISTS, "RR", "AP")
    for name, rr, ap in (("A", "1.0", "0.11"), ("B", "0.5", "0.79")):
        yield line(f"RR of {name}", rr, made["RR"][name])
        yield line(f"AP of {name}", ap, made["AP"][name])
