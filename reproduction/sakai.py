"""Sakai 2013: the worked examples and numbers of the lecture, slide by slide."""

from __future__ import annotations

from collections.abc import Iterator
from math import exp, log

import numpy as np

import assay
from assay.agreement.kappa import kappa_of_table
from assay.data import IntentQrels
from assay.measures.sessions import Session, session_dcg, session_dcg_by_list
from assay.stats.multiple import family_wise_error
from reproduction.files import Example, add, add_example
from reproduction.items import Line, cannot_be_had, line, missing, reproduces, statement
from reproduction.places import SAKAI
from reproduction.webber_measures import example_scores

IN_DRAWING = "the list or curve is only in the drawing, which the text of the slides does not hold"
for _slide, _title in (
    ("Slide: User model for AP", "a list with five relevant docs"),
    ("Slide: Condensed-list metrics", "robustness to missing judgments, curves of two papers"),
    ("Slide: D#-nDCG at work", "an example of NTCIR-10"),
    ("Slide: Bootstrap test", "histogram of a resampled t"),
    ("Slide: Predictive power", "votes of workers against measures"),
    ("Slide: Concordance test", "how often measures agree with simpler ones"),
):
    cannot_be_had(SAKAI, _slide, _title, IN_DRAWING)

NDCG: Example = {"1": ("0 3 0 1 0", "1")}
SETS: Example = {"1": ("1 1 1 0 0", "1")}
TWO_RANKS: Example = {"first": ("1 0 0", ""), "second": ("0 1 0", "")}
FIRST_RELEVANT: Example = {str(r): ("0 " * (r - 1) + "1", "1 1 1 1") for r in (1, 2, 5, 10, 20)}
GRADES: Example = {"partial": ("1", "2"), "high": ("2", "1")}
TEN: Example = {"1": ("1 " * 10, "")}
add_example("sakai-ndcg", "the list of the example of nDCG", NDCG)
add_example("sakai-sets", "five docs retrieved, three of the four relevant ones among them", SETS)
add_example("sakai-ranks", "one relevant doc at rank 1, and at rank 2", TWO_RANKS)
add_example("sakai-first", "the first of five relevant docs at rank 1, 2, 5, 10, 20", FIRST_RELEVANT)
add_example("sakai-grades", "a partially and a highly relevant doc alone", GRADES)
add_example("sakai-ten", "ten relevant docs in the first ten ranks", TEN)


@reproduces(
    SAKAI,
    "Slide: E-measure and F-measure",
    "two ways to write E",
    command="assay score --qrels sakai-sets.qrels sakai-sets.run -m 'E F P Recall'",
)
def sets() -> Iterator[Line]:
    retrieved, relevant, both = 5, 4, 3
    by_sets = (retrieved + relevant - 2 * both) / (retrieved + relevant)
    made = {name: by_topic["1"] for name, by_topic in example_scores(SETS, "E", "F", "P", "Recall").items()}
    by_means = 1 - 1 / (0.5 / made["P"] + 0.5 / made["Recall"])
    yield statement(
        "E by sizes of sets and by precision and recall",
        "equal",
        f"{by_sets:.4f}, {by_means:.4f}, and E of assay {made['E']:.4f}",
        abs(by_sets - by_means) < 1e-12 and abs(by_sets - made["E"]) < 1e-12,
    )
    harmonic = 2 * made["P"] * made["Recall"] / (made["P"] + made["Recall"])
    yield statement(
        "F is 1 − E, the harmonic mean of precision and recall", "equal", f"{made['F']:.4f} and {harmonic:.4f}",
        abs(made["F"] - harmonic) < 1e-12 and abs(made["F"] + made["E"] - 1) < 1e-12,
    )  # fmt: skip


@reproduces(
    SAKAI,
    "Slide: nDCG: an example",
    "one highly and two partially relevant docs, l = 5",
    command="assay score --qrels sakai-ndcg.qrels sakai-ndcg.run -m 'DCG@5 IdealDCG@5 nDCG@5'",
)
def ndcg_example() -> Iterator[Line]:
    made = {name: by_topic["1"] for name, by_topic in example_scores(NDCG, "DCG@5", "IdealDCG@5", "nDCG@5").items()}
    yield line("numerator", "2.3235", made["DCG@5"])
    yield line("denominator", "4.1309", made["IdealDCG@5"])
    yield line("nDCG@5", "0.5625", made["nDCG@5"])


@reproduces(
    SAKAI,
    "Slide: Normalised Discounted Cumulative Gain",
    "the original and the Microsoft form",
    command="assay score --qrels sakai-ranks.qrels sakai-ranks.run -q -m 'nDCGjk nDCG'",
)
def two_forms() -> Iterator[Line]:
    made = example_scores(TWO_RANKS, "nDCGjk", "nDCG")
    original, microsoft = made["nDCGjk"], made["nDCG"]
    yield statement(
        "original form, b = 2: a relevant doc at rank 1 and at rank b",
        "equally effective",
        f"{original['first']:.3f} and {original['second']:.3f}",
        original["first"] == original["second"],
    )
    yield statement(
        "Microsoft form",
        "not so",
        f"{microsoft['first']:.3f} and {microsoft['second']:.3f}",
        microsoft["first"] > microsoft["second"],
    )


@reproduces(
    SAKAI,
    "Slide: Average Precision",
    "AP and grades",
    command="assay score --qrels sakai-grades.qrels sakai-grades.run -q -m 'AP Q'",
)
def average_precision() -> Iterator[Line]:
    made = example_scores(GRADES, "AP", "Q")
    ap, q = made["AP"], made["Q"]
    yield statement(
        "AP of a partially and of a highly relevant doc at rank 1",
        "cannot handle graded relevance",
        f"{ap['partial']:.3f} and {ap['high']:.3f}; Q {q['partial']:.3f} and {q['high']:.3f}",
        ap["partial"] == ap["high"] and q["partial"] < q["high"],
    )


@reproduces(
    SAKAI,
    "Slide: Q-measure",
    "β = 0 and large β",
    command="assay score --qrels sakai-first.qrels sakai-first.run -q -m 'AP Q(beta=0.0) Q(beta=1.0) Q(beta=10.0)'",
)
def q_measure() -> Iterator[Line]:
    made = list(example_scores(FIRST_RELEVANT, "AP", "Q(beta=0.0)", "Q(beta=1.0)", "Q(beta=10.0)").values())
    ap, zero, one, ten = made
    same = all(abs(ap[topic] - zero[topic]) < 1e-12 for topic in ap)
    yield statement("Q with β = 0", "AP", "the same on all five lists" if same else "not the same", same)
    # One of five relevant docs is retrieved, so that Q is a fifth of BR(r).
    ratios = {topic: 5 * one[topic] for topic in one}
    expected = {str(r): 2 / (r + min(r, 5)) for r in (1, 2, 5, 10, 20)}
    yield statement(
        "value of the first relevant doc at rank r, binary, R = 5 (β = 1): 2/(r + min(r, 5))",
        "falls with r",
        ", ".join(f"{value:.3f} (rank {topic})" for topic, value in ratios.items()),
        all(abs(ratios[topic] - expected[topic]) < 1e-12 for topic in ratios),
    )
    yield statement(
        "large β",
        "tolerant to relevant docs at low ranks",
        f"at rank 20: β = 0 {5 * zero['20']:.3f}, 1 {5 * one['20']:.3f}, 10 {5 * ten['20']:.3f}",
        zero["20"] < one["20"] < ten["20"],
    )


@reproduces(
    SAKAI,
    "Slide: P+",
    "the preferred rank",
    command="assay score --qrels sakai-ndcg.qrels sakai-ndcg.run -m 'P+ Q'",
)
def p_plus() -> Iterator[Line]:
    yield missing("preferred rank of the list that is drawn", "4", IN_DRAWING)
    made = {name: by_topic["1"] for name, by_topic in example_scores(NDCG, "P+").items()}
    # The best doc of 0 3 0 1 0 stands at rank 2: BR(2) = (1 + 3)/(2 + 3 + 1).
    yield statement(
        "on the list of the nDCG slide: BR at rank 2 alone", "4/6", f"{made['P+']:.4f}", abs(made["P+"] - 4 / 6) < 1e-12
    )


@reproduces(
    SAKAI,
    "Slide: Expected Reciprocal Rank",
    "chances of satisfaction",
    command="assay score --qrels sakai-grades.qrels sakai-grades.run -q -m ERR",
)
def err() -> Iterator[Line]:
    made = example_scores(GRADES, "ERR")["ERR"]
    yield statement("partially relevant", "1/4", f"{made['partial']:.2f}", made["partial"] == 0.25)
    yield statement("highly relevant", "3/4", f"{made['high']:.2f}", made["high"] == 0.75)


@reproduces(
    SAKAI,
    "Slide: Rank-Biased Precision",
    "best list with R = 10, p = .95",
    command="assay score --qrels sakai-ten.qrels sakai-ten.run -m 'RBP(p=0.95)'",
)
def rbp() -> Iterator[Line]:
    made = example_scores(TEN, "RBP(p=0.95)")
    yield line("RBP", ".4013", next(iter(made.values()))["1"])


@reproduces(
    SAKAI,
    "Slide: Time-Biased Gain",
    "the formula on two docs of 1,000 words, both relevant",
    command="assay score --qrels sakai-two.qrels sakai-two.run -m TBG --lengths sakai-words.txt",
)
def tbg() -> Iterator[Line]:
    run, qrels = {"1": {"d01": 2.0, "d02": 1.0}}, {"1": {"d01": 1, "d02": 1}}
    made = float(assay.evaluate({"r": run}, qrels, "TBG", lengths={"d01": 1000, "d02": 1000})[0].values[0, 0])
    seconds = 4.4 + (0.018 * 1000 + 7.8) * 0.64
    by_hand = 0.4928 + 0.4928 * exp(-seconds * log(2) / 224)
    yield statement("TBG, as the slide writes it", f"{by_hand:.6f}", f"{made:.6f}", abs(made - by_hand) < 1e-9)


add_example("sakai-two", "two relevant docs", {"1": ("1 1", "")})
add("sakai-words.txt", "their lengths in words", lambda: "d01 1000\nd02 1000\n")
ROWS = [("q", "1", "a", 1), ("q", "2", "a", 7), ("q", "1", "b", 3), ("q", "1", "c", 1), ("q", "2", "c", 1)]
add(
    "sakai.intents",
    "judgments by intent of the slide on D-measures",
    lambda: "".join(f"{t} {i} {d} {g}\n" for t, i, d, g in ROWS),
)
add("sakai-info.txt", "its intents: .7 and .3", lambda: "q 1 0.7\nq 2 0.3\n")
add("sakai-d.run", "its output: one relevant doc, at rank 3", lambda: "".join(_ranked("xybz")))


def _ranked(docs: str) -> list[str]:
    return [f"q Q0 {doc} {rank} {10 - rank} lecture\n" for rank, doc in enumerate(docs, start=1)]


def _by_intent(*measures: str) -> list[float]:
    """Scores of the lecture's list, docs x y b z."""
    qrels = IntentQrels.from_rows(ROWS, probabilities={("q", "1"): 0.7, ("q", "2"): 0.3})
    run = {"q": {"x": 4.0, "y": 3.0, "b": 2.0, "z": 1.0}}
    return [float(matrix.values[0, 0]) for matrix in assay.evaluate({"r": run}, qrels, list(measures))]


@reproduces(
    SAKAI,
    "Slide: D-measures",
    "two intents, three relevant docs, a list that finds one of them",
    command="""assay score --intents sakai.intents --intent-info sakai-info.txt sakai-d.run \\
  -m 'I-rec@4 D-nDCG@4 D#-nDCG@4'""",
)
def d_measures() -> Iterator[Line]:
    for doc, printed, gains in (("a", "2.8", (1, 7)), ("b", "2.1", (3, 0)), ("c", "1.0", (1, 1))):
        yield line(f"global gain of doc {doc}", printed, 0.7 * gains[0] + 0.3 * gains[1])
    recall, dcg, ideal, d_ndcg, d_sharp = _by_intent("I-rec@4", "D-DCG@4", "D-IdealDCG@4", "D-nDCG@4", "D#-nDCG@4")
    yield line("intent recall, 1/2", "0.5", recall)
    best = 2.8 + 2.1 / np.log2(3) + 1.0 / 2
    yield statement(
        "D-nDCG@4 of the list: global gain 2.1 at rank 3, over the ideal list",
        "M computed from global gains",
        f"{dcg:.4f}/{ideal:.4f} = {d_ndcg:.4f}",
        abs(dcg - 2.1 / 2) < 1e-9 and abs(ideal - best) < 1e-9,
    )
    yield statement(
        "D#-nDCG",
        "0.5·intent recall + 0.5·D-nDCG",
        f"{d_sharp:.4f}",
        abs(d_sharp - 0.5 * recall - 0.5 * d_ndcg) < 1e-12,
    )


@reproduces(
    SAKAI,
    "Slide: Intent-Aware metrics",
    "M-IA is the mean of M over the intents",
    command="assay score --intents sakai.intents --intent-info sakai-info.txt sakai-d.run -m 'nDCG-IA@4'",
)
def intent_aware() -> Iterator[Line]:
    (mean,) = _by_intent("nDCG-IA@4")
    # Intent 1 has gains 3, 1, 1 and finds the 3 at rank 3; intent 2 finds nothing.
    first = (3 / 2) / (3 + 1 / np.log2(3) + 1 / 2)
    yield statement("nDCG-IA of the same list", ".7·M_1 + .3·M_2", f"{mean:.6f}", abs(mean - 0.7 * first) < 1e-9)


@reproduces(
    SAKAI,
    "Slide: α-nDCG",
    "the discount of what was seen before, α = .5",
    command="assay score --intents sakai-alpha.intents sakai-alpha.run -q -m 'alpha-nDCG@2'",
)
def alpha_ndcg() -> Iterator[Line]:
    rows = [(topic, "1", doc, 1) for topic in ("first", "second") for doc in "ab"]
    run = {"first": {"a": 2.0, "x": 1.0}, "second": {"x": 2.0, "b": 1.0}}
    found = assay.evaluate({"r": run}, IntentQrels.from_rows(rows), "alpha-nDCG@2")[0].to_dict()["r"]
    # The list a x gains 1; the best one, a b, that and the gain of b at rank 2; x b that of a doc that is new there.
    best = 1 / found["first"]
    discounts = [found["second"] * best * np.log2(3), (best - 1) * np.log2(3)]
    yield line("factor at rank 2 if the doc at rank 1 is not relevant to the intent", "1", discounts[0])
    yield line("factor at rank 2 if it is", "0.5", discounts[1])
    yield statement(
        "exponent of (1 − α) in the formula",
        "relevant docs in [1, r]",
        "relevant docs in [1, r − 1]",
        False,
        because="the slide's own factors, 1 and .5, count the docs before r; with r itself they would be .5 and .25",
    )


_ALPHA = "".join(f"{topic} 1 {doc} 1\n" for topic in ("first", "second") for doc in "ab")
add("sakai-alpha.intents", "two topics of one intent, to which a and b are relevant", lambda: _ALPHA)
_ALPHA_RUN = "first Q0 a 1 2 r\nfirst Q0 x 2 1 r\nsecond Q0 x 1 2 r\nsecond Q0 b 2 1 r\n"
add("sakai-alpha.run", "a then x, and x then b", lambda: _ALPHA_RUN)


@reproduces(
    SAKAI,
    "Slide: Session DCG",
    "a relevant doc late in the first list, and first in the second",
    command="python -m reproduction.page 'Sakai 2013, Slide: Session DCG'",
)
def session() -> Iterator[Line]:
    early = Session([[0] * 9 + [1], [0] * 10], judged=[1])
    later = Session([[0] * 10, [1] + [0] * 9], judged=[1])
    joined = [session_dcg(s, k=10) for s in (early, later)]
    original = [session_dcg_by_list(s, k=10) for s in (early, later)]
    yield statement(
        "original form: a doc at rank 10 of the first list, and at rank 1 of the second",
        "the earlier one may be discounted more",
        f"{original[0]:.3f} and {original[1]:.3f}",
        original[0] < original[1],
    )
    by_hand = 1 / (np.log2(12) * np.log(5) / np.log(4))
    yield statement(
        "lists joined: g/(log4(2 + 3)·log2(11 + 1)) for the second",
        "the earlier one is not",
        f"{joined[0]:.3f} and {joined[1]:.3f}",
        joined[0] > joined[1] and abs(joined[1] - by_hand) < 1e-12,
    )


@reproduces(
    SAKAI,
    "Slide: Measuring agreement",
    "Cohen's κ of 50, 30, 10, 10",
    command="""python -c "from assay.agreement import cohen_kappa; \\
print(cohen_kappa([0] * 80 + [1] * 20, [0] * 50 + [1] * 30 + [0] * 10 + [1] * 10))\"""",
)
def agreement() -> Iterator[Line]:
    table = np.array([[50, 30], [10, 10]])
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    for (row, column), printed in zip(np.ndindex(2, 2), ("48", "32", "12", "8"), strict=True):
        yield line(f"expected count, row {row + 1}, column {column + 1}", printed, float(expected[row, column]))
    yield line("concordant, observed", "60", int(np.trace(table)))
    yield line("concordant, expected", "56", float(np.trace(expected)))
    yield line("κ", "0.09", kappa_of_table(table))


@reproduces(
    SAKAI,
    "Slide: Randomised Tukey HSD, Discriminative power",
    "pairs of 20 runs, and the family-wise error of as many tests",
    command="python -m reproduction.page 'Sakai 2013, Slide: Randomised Tukey HSD, Discriminative power'",
)
def pairs() -> Iterator[Line]:
    yield line("pairs of 20 runs", "190", 20 * 19 // 2)
    error = family_wise_error(0.05, 190)
    yield statement(
        "1 − (1 − α)^190 at α = .05",
        "you may be jumping to wrong conclusions",
        f"{error:.4f}",
        abs(error - (1 - 0.95**190)) < 1e-12,
    )
