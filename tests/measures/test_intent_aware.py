"""Diversity measures: the examples of the literature, and the forms on any measure."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.errors import DataError, UsageError
from assay.data import Run
from assay.data.grades import UNJUDGED
from assay.data.intents import IntentGrades, IntentQrels, align_intents
from assay.measures import parse
from assay.measures.intent_aware import evaluate_intents, greedy_gains


def lecture() -> IntentGrades:
    """Sakai 2013: P = .7, .3; gains (1,7), (3,0), (1,1); the list finds only the second doc, at rank 3."""
    rows = [("q", "1", "a", 1), ("q", "2", "a", 7), ("q", "1", "b", 3), ("q", "1", "c", 1), ("q", "2", "c", 1)]
    qrels = IntentQrels.from_rows(rows, probabilities={("q", "1"): 0.7, ("q", "2"): 0.3})
    return align_intents(Run.from_lists("run", {"q": ["x", "y", "b", "z"]}), qrels)


def test_global_gains_of_the_lecture() -> None:
    g = lecture().global_gains()
    assert g.ideal[0] == pytest.approx([2.8, 2.1, 1.0])
    assert g.ranked[0].tolist() == [UNJUDGED, UNJUDGED, pytest.approx(2.1), UNJUDGED]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("I-rec@4", 0.5),
        ("D-nDCG@4", 0.22703),
        ("D#-nDCG@4", (0.5 + 0.22703) / 2),
        ("D-DCG@4", 1.05),
        ("D-IdealDCG@4", 4.62495),
    ],
)
def test_the_lecture(name: str, expected: float) -> None:
    """D#-nDCG is printed as .36352, which is the mean of the rounded .5 and .22703, rounded again."""
    assert evaluate_intents(parse(name), lecture())[0] == pytest.approx(expected, abs=0.5e-5)


def toy() -> IntentGrades:
    """P = (.5 navigational, .5 informational); a (1,0), b (1,1), c (0,1); list a, b, c."""
    rows = [("q", "1", "a", 1), ("q", "1", "b", 1), ("q", "2", "b", 1), ("q", "2", "c", 1)]
    qrels = IntentQrels.from_rows(rows, navigational=[("q", "1")])
    return align_intents(Run.from_lists("run", {"q": ["a", "b", "c"]}), qrels)


def test_navigational_intents_count_once() -> None:
    assert toy().global_gains().ranked[0].tolist() == [0.5, 1.0, 0.5]
    assert toy().global_gains(once=True).ranked[0].tolist() == [0.5, 0.5, 0.5]
    assert toy().global_gains(once=True).ideal[0].tolist() == [1.0, 0.5, 0.5]
    assert evaluate_intents(parse("D-nDCG@3"), toy())[0] == pytest.approx(0.882121, abs=5e-7)
    assert evaluate_intents(parse("DIN-nDCG@3"), toy())[0] == pytest.approx(0.680606, abs=5e-7)


def ndeval_example() -> IntentGrades:
    """Subtopics 1 {a, b}, 2 {a}, 3 {c}; d judged not relevant; run b, x, a, c."""
    rows = [("1", "1", "a", 1), ("1", "1", "b", 1), ("1", "2", "a", 1), ("1", "3", "c", 1), ("1", "1", "d", 0)]
    return align_intents(Run.from_lists("run", {"1": ["b", "x", "a", "c"]}), IntentQrels.from_rows(rows))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ndeval-ERR-IA@2", 0.266667),
        ("ndeval-ERR-IA@5", 0.423601),
        ("ndeval-ERR-IA@1", 0.333333),
        ("ndeval-nERR-IA@5", 0.656250),
        ("alpha-DCG@5", 0.478698),
        ("alpha-nDCG@5", 0.756935),
        ("alpha-nDCG@1", 0.5),
        ("NRBP", 0.375),
        ("nNRBP", 0.571429),
        ("ndeval-MAP-IA", 0.472222),
        ("ndeval-P-IA@5", 0.266667),
        ("I-rec@5", 1.0),
    ],
)
def test_ndeval_golden(name: str, expected: float) -> None:
    """Values of the reference program; at k = 1 ERR-IA normalised, which it forgets."""
    assert evaluate_intents(parse(name), ndeval_example())[0] == pytest.approx(expected, abs=5e-7)


def test_nothing_ends_at_depth_20() -> None:
    docs = [f"d{i:02}" for i in range(40)]
    qrels = IntentQrels.from_rows([("1", "1", d, 1) for d in docs] + [("1", "2", docs[30], 1)])
    g = align_intents(Run.from_lists("run", {"1": docs}), qrels)
    assert [evaluate_intents(parse(f"I-rec@{k}"), g)[0] for k in (20, 30, 31)] == [0.5, 0.5, 1.0]
    assert evaluate_intents(parse("alpha-nDCG@40"), g)[0] < 1


def greedy_by_hand(relevant: dict[str, set[str]], alpha: float, k: int) -> list[float]:
    left, seen, gains = dict(relevant), dict[str, int](), list[float]()
    while left and len(gains) < k:
        value = {d: sum((1 - alpha) ** seen.get(i, 0) for i in intents) for d, intents in left.items()}
        best = max(left, key=lambda d: (value[d], d.encode()))
        gains.append(value[best])
        for i in left.pop(best):
            seen[i] = seen.get(i, 0) + 1
    return gains


pairs = st.sets(st.tuples(st.sampled_from("1234"), st.sampled_from("abcdefgh")), min_size=1)


@given(relevant=pairs, k=st.sampled_from([1, 3, 20]))
@settings(max_examples=80, deadline=None)
def test_greedy_list(relevant: set[tuple[str, str]], k: int) -> None:
    g = align_intents(Run.from_lists("r", {}), IntentQrels.from_rows([("1", i, d, 1) for i, d in sorted(relevant)]))
    by_doc = {d: {i for i, e in relevant if e == d} for _, d in relevant}
    assert greedy_gains(g, k=k)[0].tolist() == greedy_by_hand(by_doc, 0.5, k)


@given(relevant=pairs, run=st.permutations("abcdefghxy"))
@settings(max_examples=50, deadline=None)
def test_one_intent_is_the_plain_measure(relevant: set[tuple[str, str]], run: list[str]) -> None:
    """With a single intent of probability 1, M-IA and D-M are M."""
    rows = [("1", "1", d, int(i)) for d, i in sorted({d: i for i, d in sorted(relevant)}.items())]
    g = align_intents(Run.from_lists("r", {"1": run}), IntentQrels.from_rows(rows))
    for name in ("nDCG@5", "Q@5", "AP", "ERR", "RBP", "nERRlin", "Recall@4", "nDCG(gain=exp)@5"):
        plain = parse(name)
        expected = plain(g.intent(0))
        head, at, k = name.partition("@")
        assert evaluate_intents(parse(_as_ia(head) + at + k), g) == pytest.approx(expected), name
        assert evaluate_intents(plain, g) == pytest.approx(expected)
        if plain.name != "ERR":
            assert evaluate_intents(parse(f"D-{name}"), g) == pytest.approx(expected), name


def _as_ia(head: str) -> str:
    name, bracket, rest = head.partition("(")
    return f"{name}-IA{bracket}{rest}"


def test_intent_aware_is_the_weighted_mean_of_intents() -> None:
    g = lecture()
    for name in ("nDCG@4", "ERR", "AP", "P@3"):
        each = [parse(name)(g.intent(i))[0] for i in (0, 1)]
        head, at, k = name.partition("@")
        value = evaluate_intents(parse(f"{head}-IA{at}{k}"), g)[0]
        assert value == pytest.approx(0.7 * each[0] + 0.3 * each[1])


def test_intents_without_relevant_docs_are_left_out_and_nothing_is_renormalised() -> None:
    rows = [("1", "1", "a", 1), ("1", "2", "a", 0)]
    g = align_intents(Run.from_lists("r", {"1": ["a"]}), IntentQrels.from_rows(rows))
    assert evaluate_intents(parse("AP-IA"), g).tolist() == [0.5]
    assert evaluate_intents(parse("E-IA"), g).tolist() == [0.0]
    assert evaluate_intents(parse("I-rec"), g).tolist() == [1.0]
    assert evaluate_intents(parse("ndeval-MAP-IA"), g).tolist() == [1.0]


def test_scale_of_stop_probabilities_is_the_collections() -> None:
    """An intent whose best doc has grade 1 on a scale of 3 stops with 1/4, not 1/2."""
    rows = [("1", "1", "a", 1), ("1", "2", "b", 3)]
    g = align_intents(Run.from_lists("r", {"1": ["a", "b"]}), IntentQrels.from_rows(rows))
    assert evaluate_intents(parse("ERRlin-IA@1"), g).tolist() == [0.5 * 0.25]


def test_gain_of_a_global_measure_is_the_gain_of_each_intent() -> None:
    rows = [("1", "1", "a", 2), ("1", "2", "a", 1), ("1", "2", "b", 2)]
    g = align_intents(Run.from_lists("r", {"1": ["b", "a"]}), IntentQrels.from_rows(rows))
    expected = (1.5 + 2 / np.log2(3)) / (2 + 1.5 / np.log2(3))
    assert evaluate_intents(parse("D-nDCG(gain=exp)"), g)[0] == pytest.approx(expected)


def test_condensed_form_drops_docs_judged_for_no_intent() -> None:
    g = lecture()
    assert evaluate_intents(parse("D-nDCG'@4"), g)[0] == pytest.approx(2.1 / 4.62495, abs=1e-5)
    assert evaluate_intents(parse("I-rec'@1"), g)[0] == 0.5


def test_a_measure_of_intents_has_no_other_form() -> None:
    with pytest.raises(UsageError, match="write I-rec, not D-I-rec"):
        evaluate_intents(parse("D-I-rec"), lecture())


def test_weight_of_intent_recall() -> None:
    irec, d = (evaluate_intents(parse(n), lecture())[0] for n in ("I-rec@4", "D-nDCG@4"))
    value = evaluate_intents(parse("D#-nDCG@4"), lecture(), gamma=0.2)[0]
    assert value == pytest.approx(0.2 * irec + 0.8 * d)
    sharp = parse("P+Q#(gamma=0.2)@4")
    assert evaluate_intents(sharp, lecture())[0] == pytest.approx(
        0.2 * irec + 0.8 * evaluate_intents(parse("P+Q@4"), lecture())[0]
    )


def test_topics_with_fewer_intents_and_missing_topics() -> None:
    rows = [("1", "1", "a", 1), ("1", "2", "b", 1), ("2", "1", "a", 1), ("3", "1", "a", 1)]
    g = align_intents(Run.from_lists("r", {"1": ["a"], "2": ["a"], "9": ["a"]}), IntentQrels.from_rows(rows))
    assert g.topics == ("1", "2", "3")
    assert evaluate_intents(parse("I-rec"), g).tolist() == [0.5, 1.0, 0.0]
    assert evaluate_intents(parse("D#-nDCG@10"), g).tolist() == [
        pytest.approx(0.5 * 0.5 + 0.5 / (1 + 1 / np.log2(3))),
        1.0,
        0.0,
    ]


def test_a_doc_judged_twice_for_an_intent_is_refused() -> None:
    with pytest.raises(DataError, match="twice"):
        IntentQrels.from_rows([("1", "1", "a", 1), ("1", "1", "a", 0)])


def test_intent_0_is_none_unless_a_doc_is_relevant_to_it() -> None:
    none = IntentQrels.from_rows([("1", "0", "a", 0), ("1", "2", "b", 1)])
    some = IntentQrels.from_rows([("1", "0", "a", 1), ("1", "2", "b", 1)])
    assert (none.intents, some.intents) == ((("2",),), (("0", "2"),))
    assert len(none) == 2


def test_no_topics_at_all() -> None:
    g = align_intents(Run.from_lists("r", {"1": ["a"]}), IntentQrels.from_rows([]))
    for name in ("I-rec@5", "alpha-nDCG@5", "D#-nDCG@5", "P+Q", "nDCG-IA", "NRBP", "nNRBP"):
        assert evaluate_intents(parse(name), g).shape == (0,)


def plain_alpha_ndcg(
    ranking: list[str], judged: dict[str, dict[str, int]], weights: dict[str, float], k: int, alpha: float
) -> float:
    """alpha-nDCG of one topic by loops: novelty gains with a weight for each intent, over the greedy list."""

    def gain(doc: str, seen: dict[str, int]) -> float:
        return sum(weights[i] * (1 - alpha) ** seen[i] for i, grade in judged.get(doc, {}).items() if grade >= 1)

    def dcg(docs: list[str]) -> float:
        seen = dict.fromkeys(weights, 0)
        total = 0.0
        for rank, doc in enumerate(docs[:k], start=1):
            total += gain(doc, seen) / math.log2(rank + 1)
            for intent, grade in judged.get(doc, {}).items():
                seen[intent] += grade >= 1
        return total

    left = sorted(judged, reverse=True)
    ideal: list[str] = []
    seen = dict.fromkeys(weights, 0)
    while left:
        best = max(left, key=lambda doc: gain(doc, seen))
        left.remove(best)
        ideal.append(best)
        for intent, grade in judged[best].items():
            seen[intent] += grade >= 1
    most = dcg(ideal)
    return dcg(ranking) / most if most else 0.0


@pytest.mark.parametrize("k", [1, 3, 6])
@pytest.mark.parametrize("alpha", [0.0, 0.3, 0.5, 1.0])
@pytest.mark.parametrize("seed", range(8))
def test_alpha_ndcg_with_probabilities_of_intents(seed: int, alpha: float, k: int) -> None:
    rng = np.random.default_rng(seed)
    docs = [f"d{i}" for i in range(8)]
    shares = rng.dirichlet(np.ones(3))
    weights = {str(i + 1): float(share) for i, share in enumerate(shares)}
    judged = {doc: {i: int(rng.random() < 0.4) for i in weights} for doc in docs[:6]}
    rows = [("1", i, doc, grade) for doc, grades in judged.items() for i, grade in grades.items()]
    qrels = IntentQrels.from_rows(rows, probabilities={("1", i): p for i, p in weights.items()})
    ranking = [str(doc) for doc in rng.permutation(docs)]
    g = align_intents(Run.from_lists("run", {"1": ranking}), qrels)
    found = evaluate_intents(parse(f"alpha-nDCG(alpha={alpha},weights=probability)@{k}"), g)[0]
    assert found == pytest.approx(plain_alpha_ndcg(ranking, judged, weights, k, alpha))
    equal = evaluate_intents(parse(f"alpha-nDCG(alpha={alpha})@{k}"), g)[0]
    assert equal == pytest.approx(plain_alpha_ndcg(ranking, judged, dict.fromkeys(weights, 1.0), k, alpha))


def test_equally_probable_intents_weigh_as_no_weights_do() -> None:
    for name in ("alpha-DCG", "alpha-nDCG"):
        weighted = evaluate_intents(parse(f"{name}(weights=probability)@3"), toy())
        assert weighted == pytest.approx(evaluate_intents(parse(f"{name}@3"), toy()))
    with pytest.raises(UsageError, match="no weights 'probable' of intents; known: equal, probability"):
        evaluate_intents(parse("alpha-nDCG(weights=probable)@3"), toy())
