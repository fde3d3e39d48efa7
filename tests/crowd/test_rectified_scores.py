"""Scores by gold docs: every sum over ranks exactly, a plain loop, coverage in a world where labels mislead."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from assay.core.errors import AssayError, DataError, UsageError
from assay.crowd import gold_scores
from assay.crowd.ranked_levels import ranked_levels
from assay.crowd.rectified_scores import GoldScores
from assay.crowd.uncertain import Uncertain
from assay.data import Qrels, Run
from assay.measures import MEASURES, parse
from assay.scoring import evaluate
from assay.stats.clustered import t_quantile
from tests.crowd.informed_runs import DOCS, ITEMS, TOPICS, TRUE_DIFFERENCE, World, mostly_at_the_top, uniform, world

SUMS = [entry for entry in MEASURES if entry.facts.get("linear") and entry.facts.get("bounded")]
NEED_A_CUTOFF = ("SDCG", "SET", "CWLP", "tRBP")
NAMES = [entry.name for entry in SUMS if entry.name not in NEED_A_CUTOFF] + [
    f"{entry.name}@3" for entry in SUMS if "k" in entry.parameters
]


@pytest.mark.parametrize("name", NAMES)
def test_what_levels_add_sums_to_the_score(name: str) -> None:
    """One-hot shares give the score of the judgments, for lists of several lengths, with docs that nobody labelled."""
    measure = parse(name)
    rng = np.random.default_rng(5)
    items = [(t, d) for t in "123" for d in "abcdef"]
    posterior = rng.dirichlet([1, 1, 1, 1], len(items))
    judged = Uncertain.of_posterior("demo", items, posterior, levels=[0, 1, 2, 3], labels=[3] * len(items))
    runs = [
        Run.from_lists("x", {"1": list("axbc"), "2": list("fedcba"), "3": ["c"]}),
        Run.from_lists("y", {"1": list("f"), "3": list("bzyeda")}),
    ]
    grades = rng.integers(0, 4, len(items))
    grades[0] = 3  # the top grade of the scale occurs
    docs = judged.qrels().docs
    qrels = Qrels(judged.qrels().topics, judged.qrels().bounds, docs, grades)
    found = ranked_levels(runs, judged, measure).scores((grades[:, None] == np.arange(4)).astype(float))
    assert_allclose(found, evaluate(runs, qrels, measure)[0].values, atol=1e-12)


def rectified_by_hand(w: World, p: np.ndarray, drawn: np.ndarray, probability: np.ndarray) -> list[float]:
    """P@5 of a minus that of b on each topic, doc by doc."""
    differences = []
    for topic in range(TOPICS):
        score = [0.0, 0.0]
        for run in (0, 1):
            for doc in w.rankings[run][topic][:5].tolist():
                gain = p[topic, doc]
                if drawn[topic, doc]:
                    gain += (w.relevant[topic, doc] - p[topic, doc]) / probability[topic, doc]
                score[run] += gain / 5
        differences.append(score[0] - score[1])
    return differences


def test_a_plain_loop_gives_the_same() -> None:
    rng = np.random.default_rng(0)
    w = world(rng)
    drawn, probability = uniform(rng, 2)
    drawn[0] = False  # 78 gold docs: the probabilities stay raw
    rows = rectified_by_hand(w, w.raw, drawn, probability)
    found = gold_scores(w.runs(), w.judged(w.raw), w.gold(drawn, probability), "P@5", baseline="b")
    half = t_quantile(0.975, TOPICS - 1) * np.std(rows, ddof=1) / np.sqrt(TOPICS)
    ends = np.mean(rows) + np.array([-half, half])
    assert_allclose([found.value[0], found.low[0], found.high[0]], [np.mean(rows), *ends.clip(-1, 1)])
    assert found.method == "rectified"
    assert "probabilities: raw; 78 gold docs are too few to calibrate (80)" in found.notes
    modal = w.top((w.raw > 0.5).astype(float)).mean()
    assert_allclose(found.alone, [modal])


def covered(found: GoldScores) -> bool:
    return bool(found.low[0] <= TRUE_DIFFERENCE <= found.high[0])


def test_labels_alone_do_not_hold_the_true_difference() -> None:
    """t over topics of modal grades, of raw and of rightly calibrated gains; and drawn judgments with drawn topics."""
    rng = np.random.default_rng(100)
    t = t_quantile(0.975, TOPICS - 1)
    inside: dict[str, list[bool]] = {"modal": [], "raw": [], "calibrated": [], "drawn": []}
    truths = []
    for _ in range(100):
        w = world(rng)
        truths.append(w.top(w.relevant).mean())
        for name, gains in (("modal", w.raw > 0.5), ("raw", w.raw), ("calibrated", w.calibrated)):
            rows = w.top(gains.astype(float))
            half = t * rows.std(ddof=1) / np.sqrt(TOPICS)
            inside[name].append(abs(rows.mean() - TRUE_DIFFERENCE) <= half)
        drawn = [w.top((rng.random(w.raw.shape) < w.calibrated).astype(float)) for _ in range(100)]
        means = [rows[rng.integers(TOPICS, size=TOPICS)].mean() for rows in drawn]
        low, high = np.quantile(means, [0.025, 0.975])
        inside["drawn"].append(low <= TRUE_DIFFERENCE <= high)
    assert np.mean(truths) == pytest.approx(TRUE_DIFFERENCE, abs=0.01)
    assert np.mean(inside["modal"]) < 0.5
    assert np.mean(inside["raw"]) < 0.5
    assert np.mean(inside["calibrated"]) < 0.1
    assert np.mean(inside["drawn"]) < 0.3


@pytest.mark.parametrize("gold", [2, 5, 10])
def test_rectified_gains_hold_the_true_difference(gold: int) -> None:
    """Measured elsewhere: .91/.93/.94 at 2/5/10 gold docs a topic."""
    rng = np.random.default_rng(gold)
    found = []
    for _ in range(60):
        w = world(rng)
        found.append(gold_scores(w.runs(), w.judged(w.raw), w.gold(*uniform(rng, gold)), "P@5", baseline="b"))
    assert {f.method for f in found} == {"rectified"}
    assert np.mean([covered(f) for f in found]) >= 0.86
    assert np.mean([f.value for f in found]) == pytest.approx(TRUE_DIFFERENCE, abs=0.05)
    assert np.mean([f.high - f.low for f in found]) == pytest.approx({2: 0.72, 5: 0.44, 10: 0.31}[gold], abs=0.06)


def test_gold_docs_from_the_top_of_the_runs_are_worth_more() -> None:
    """Measured elsewhere: coverage .93/.95/.94, widths .31/.21/.17."""
    rng = np.random.default_rng(7)
    found = []
    for _ in range(60):
        w = world(rng)
        gold = w.gold(*mostly_at_the_top(rng, 5, w.rankings))
        found.append(gold_scores(w.runs(), w.judged(w.raw), gold, "P@5", baseline="b"))
    assert np.mean([covered(f) for f in found]) >= 0.87
    assert np.mean([f.high - f.low for f in found]) < 0.28


@pytest.mark.parametrize("gold", [2, 5])
def test_gains_fitted_on_ranks_hold_the_true_difference(gold: int) -> None:
    """Measured elsewhere: .90/.95/.95; the model of this world is right, or nearly."""
    rng = np.random.default_rng(10 + gold)
    found = []
    for _ in range(40):
        w = world(rng)
        drawn, _ = uniform(rng, gold)
        found.append(gold_scores(w.runs(), w.judged(w.raw), w.gold(drawn, None), "P@5", baseline="b"))
    assert {f.method for f in found} == {"fitted on ranks"}
    assert np.mean([covered(f) for f in found]) >= 0.82
    assert ("too small" in " ".join(found[0].notes)) == (gold == 2)


def test_levels_of_four_and_scores_without_a_baseline() -> None:
    """Graded gold docs of all docs with probability 1 give the score itself."""
    rng = np.random.default_rng(4)
    items = [(str(t), d) for t in range(12) for d in "abcdefgh"]
    judged = Uncertain.of_posterior(
        "demo", items, rng.dirichlet([1, 1, 1, 1], 96), levels=[0, 1, 2, 3], labels=[3] * 96
    )
    frame = judged.qrels()
    gold = Qrels(frame.topics, frame.bounds, frame.docs, rng.integers(0, 4, 96), np.ones(96))
    runs = [Run.from_lists("r", {str(t): list("hgfedcba") for t in range(12)})]
    found = gold_scores(runs, judged, gold, "DCG(gain=exp)@5")
    assert_allclose(found.value, evaluate(runs, gold, "DCG(gain=exp)@5")[0].averages())
    assert found.verdict == ""
    assert found.table().columns == ("run", "mean", "low", "high", "as if labels told all")


def test_gold_docs_that_correct_little_give_the_dirichlet_bound() -> None:
    """All gold docs agree with certain labels: no interval of no width."""
    items = [(str(t), d) for t in range(12) for d in "abcdef"]
    relevant = [float(d in "abc") for _, d in items]
    judged = Uncertain.of_posterior(
        "demo", items, np.column_stack([1 - np.array(relevant), relevant]), levels=[0, 1], labels=[5] * 72
    )
    frame = judged.qrels()
    grades = np.where(np.arange(72) % 3 == 0, relevant, -1).astype(int)
    gold = Qrels(frame.topics, frame.bounds, frame.docs, grades, np.full(72, 1 / 3))
    runs = [Run.from_lists(n, {str(t): list(d) for t in range(12)}) for n, d in (("a", "abcdef"), ("b", "fedcba"))]
    found = gold_scores(runs, judged, gold, "P@3", baseline="b")
    assert found.value.tolist() == [1.0]
    assert found.low[0] == pytest.approx(1 - 2 * (1 - 0.025 ** (1 / 12)))
    assert found.high.tolist() == [1.0]
    assert "a: gold docs correct few topics, so the interval is the Dirichlet bound" in found.notes
    assert found.verdict.startswith("P@3: a beats b: +1.000 [+.471, +1.000] (12 topics, 24 gold docs)")


def small(levels: tuple[float, ...] = (0, 1), p: float = 0.3) -> Uncertain:
    posterior = np.full((len(ITEMS), len(levels)), (1 - p) / (len(levels) - 1))
    posterior[:, 0] = p
    return Uncertain.of_posterior("demo", ITEMS, posterior, levels=levels, labels=[5] * len(ITEMS))


LISTS = {str(topic): [str(doc) for doc in range(DOCS)] for topic in range(TOPICS)}
PEOPLE = {str(topic): {str(doc): (topic + doc) % 2 for doc in range(5)} for topic in range(TOPICS)}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"measure": "nDCG@10"}, "nDCG@10: gold docs correct only scores that add up their ranks .*take DCG"),
        ({"measure": "AP"}, "AP: gold docs correct only scores that add up their ranks"),
        ({"measure": "P'@5"}, "gold docs correct only scores that add up"),
        ({"measure": "P@5 P@10"}, "one measure is needed, not 2"),
        ({"baseline": "aa"}, "no run 'aa'; did you mean a"),
        ({"baseline": "a", "runs": {"a": LISTS}}, "a is the only run; give another"),
        (
            {"judgments": small((0, 1, 2)), "reference": {"1": {"1": 3}}},
            r"grade 3 is none of the levels of the judgments \(0, 1, 2\)",
        ),
        ({"reference": {"1": {"1": 1}}}, "needs 80 gold docs; the reference has 1 "),
        ({"calibration": "platt"}, "no effect on gold docs without probabilities"),
        ({"reference": {t: dict.fromkeys(docs, 1) for t, docs in PEOPLE.items()}}, "all gold docs .* have grade 1"),
        ({"reference": {"1": {"zz": 1}}}, "no doc has a grade"),
    ],
)
def test_bad_input(change: dict[str, Any], message: str) -> None:
    given = {"runs": {"a": LISTS, "b": LISTS}, "judgments": small(), "reference": PEOPLE, "measure": "P@5", **change}
    with pytest.raises(AssayError, match=message):
        gold_scores(**given)


def test_probabilities_that_cannot_be_are_refused() -> None:
    rng = np.random.default_rng(1)
    w = world(rng)
    drawn, probability = uniform(rng, 5)
    with pytest.raises(DataError, match=r"gold docs are those of a draw from \d+ docs, but \d+ docs with labels count"):
        gold_scores(w.runs(), w.judged(w.raw), w.gold(drawn, probability * 4), "P@5")
    with pytest.raises(DataError, match="not above 0 and at most 1"):
        gold_scores(w.runs(), w.judged(w.raw), w.gold(drawn, probability * 0), "P@5")


def test_docs_that_could_not_be_drawn_are_counted() -> None:
    """The reference names all docs but one of rank 1, which may have been drawn or not."""
    rng = np.random.default_rng(1)
    w = world(rng)
    drawn, probability = uniform(rng, 10)
    first = int(w.rankings[0][3, 0])
    full = w.gold(drawn, probability)
    kept = np.arange(len(full)) != 3 * DOCS + first
    bounds = full.bounds - (full.bounds > 3 * DOCS + first)
    chance = full.probabilities
    assert chance is not None
    named = Qrels(full.topics, bounds, full.docs.take(np.flatnonzero(kept)), full.grades[kept], chance[kept])
    note = "docs that count and could not be drawn, since the reference does not name them: 1"
    assert note in gold_scores(w.runs(), w.judged(w.raw), named, "P@5").notes
    assert note not in gold_scores(w.runs(), w.judged(w.raw), full, "P@5").notes


@pytest.mark.parametrize("with_probability", [True, False])
def test_differences_to_a_baseline_hold_together(with_probability: bool) -> None:
    """Two differences: each at 97.5 %."""
    rng = np.random.default_rng(1)
    w = world(rng)
    drawn, probability = uniform(rng, 10)
    gold = w.gold(drawn, probability if with_probability else None)
    third = Run.from_lists("c", {str(t): [str(d) for d in range(DOCS)] for t in range(TOPICS)})
    alone = gold_scores(w.runs(), w.judged(w.raw), gold, "P@5", baseline="b")
    both = gold_scores([*w.runs(), third], w.judged(w.raw), gold, "P@5", baseline="b")
    assert both.runs == ("a", "c")
    assert "95 % for all 2 together, 40 topics" in both.verdict
    assert both.notes[0].startswith("95 % for all 2 differences together (Bonferroni): ")
    if with_probability:  # a fit on the ranks of three runs is another fit
        wider = t_quantile(0.9875, TOPICS - 1) / t_quantile(0.975, TOPICS - 1)
        assert both.high[0] - both.low[0] == pytest.approx(wider * (alone.high[0] - alone.low[0]))


def test_calibrated_files_are_not_calibrated_again() -> None:
    rng = np.random.default_rng(1)
    w = world(rng)
    gold = w.gold(*uniform(rng, 5))
    judged = w.judged(w.raw)
    calibrated = judged.with_posterior(judged.posterior, "beta")  # type: ignore[arg-type]
    found = gold_scores(w.runs(), calibrated, gold, "P@5")
    assert "probabilities: calibrated by beta on gold docs, each topic from others" in found.notes
    with pytest.raises(UsageError, match=r"calibrated already \(beta\)"):
        gold_scores(w.runs(), calibrated, gold, "P@5", calibration="platt")
