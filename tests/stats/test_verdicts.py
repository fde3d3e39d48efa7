"""One sentence per comparison: who is better, or that nobody can say; never that two runs are equal."""

from __future__ import annotations

import numpy as np
import pytest

from assay.data.scores import ScoreMatrix
from assay.plan import TTest, power
from assay.report.sentences import against_baseline
from assay.stats import compare, compare_topic_sets, compare_two, paper_table
from assay.stats.verdicts import Evidence
from tests.oracles.stats import SAKAI, trec8

PAIR = ("new", "old")


def evidence(delta: float, p: float, **more: object) -> Evidence:
    return Evidence(PAIR, delta, p, "paired t test", (50,), **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        (evidence(0.1, 0.01), "new is better than old"),
        (evidence(-0.1, 0.01), "new is worse than old"),
        (evidence(0.1, 0.05), "new and old are not significantly different"),
        (evidence(0.1, 0.01, alternative="greater"), "new is better than old"),
        (evidence(0.1, 0.2, alternative="greater"), "new is not significantly better than old"),
        (evidence(-0.1, 0.01, alternative="less"), "new is worse than old"),
        (evidence(-0.1, 0.2, alternative="less"), "new is not significantly worse than old"),
        (evidence(0.1, 0.01, alpha=0.001), "new and old are not significantly different"),
        (Evidence(PAIR, 0.0, 0.01, "sign test", (50,), lead=9), "new and old are significantly different"),
        (Evidence(PAIR, -0.1, 0.01, "sign test", (50,), lead=9), "new and old are significantly different"),
        (Evidence(PAIR, 0.1, 0.01, "sign test", (50,), lead=9), "new is better than old"),
    ],
)
def test_finding(found: Evidence, sentence: str) -> None:
    assert found.finding() == sentence
    assert "equal" not in found.sentence()


def test_numbers_are_as_papers_print_them() -> None:
    shown = [
        (evidence(0.032, 0.0041, low=0.010, high=0.054), "+.032 [.010, .054], p = .0041"),
        (evidence(-0.032, 0.00001, low=-1.25, high=0.0), "−.032 [−1.250, .000], p < .0001"),
        (evidence(0.000012, 0.5, low=-0.00001, high=0.00004), "+.000012 [−.000010, .000040], p = .5000"),
        (evidence(0.0, 1.0, low=0.0, high=0.0), ".000 [.000, .000], p = 1.0000"),
        (evidence(2e18, 0.01, low=1e18, high=3e18), "+2e+18 [1e+18, 3e+18], p = .0100"),
        (evidence(0.1, 0.01, low=0.0, high=0.2, alpha=0.1), "+.100 [.000, .200] (90 %), p = .0100"),
    ]
    for found, numbers in shown:
        assert found.sentence().partition(": ")[2].startswith(numbers)


def test_of_two_runs_by_every_way() -> None:
    """Webber 2010, §3.3: CL99XT against apl8c221, difference .058, p = .035."""
    two = trec8().select(runs=["CL99XT", "apl8c221"])
    sentence = "CL99XT is better than apl8c221: +.058 [.004, .112], p = .0353, paired t test, 50 topics"
    board = compare(two, baseline="apl8c221")
    assert board.verdict == sentence
    assert board.table().caption == f"{two.measure}: {sentence}"
    assert board.record()["verdict"] == sentence
    one = compare_two(*two.values, names=("CL99XT", "apl8c221"))
    assert one.verdict == one.record()["verdict"] == sentence
    assert board.topics_to_decide is one.record()["topics_to_decide"] is None
    apart = compare_topic_sets(two.values[0], two.values[1][:30], names=("CL99XT", "apl8c221"))
    assert apart.verdict.endswith("two-sample Welch t test, 50 and 30 topics")


@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
def test_an_undecided_comparison_says_how_many_topics_would_decide_it(alternative: str) -> None:
    two = trec8().select(runs=["CL99XT", "apl8c221"], topics=trec8().topics[:20])
    board = compare(two, baseline="apl8c221", alternative=alternative)
    differences = two.values[0] - two.values[1]
    sides = 2 if alternative == "two-sided" else 1
    needed = power(delta=differences.mean(), sigma=differences.std(ddof=1), test=TTest(sides=sides)).topics
    assert needed > 20
    assert board.topics_to_decide == board.record()["topics_to_decide"] == needed
    assert board.verdict.endswith(
        f"; undecided: if the true difference is as large, about {needed:,} topics would find it with power .8"
    )
    assert board.table().text().startswith(f"{two.measure}: CL99XT ")
    one = compare_two(*two.values, names=("CL99XT", "apl8c221"), alternative=alternative)
    assert one.verdict == board.verdict


@pytest.mark.parametrize(
    "found",
    [
        evidence(0.1, 0.01, effect=0.4),
        evidence(0.1, 0.2),
        evidence(0.0, 1.0, effect=0.0),
        evidence(1e-9, 0.9, effect=1e-9),
        evidence(-0.1, 0.9, effect=-0.2, alternative="greater"),
        evidence(0.1, 0.2, effect=0.9),
        evidence(0.1, 0.9, effect=0.1, alpha=0.85),
        Evidence(PAIR, 0.1, 0.2, "two-sample t test", (50, 30), effect=0.2),
    ],
    ids=["decided", "no effect size", "nothing seen", "too many", "other side", "enough", "odd level", "unpaired"],
)
def test_no_number_of_topics_is_named_where_none_would_do(found: Evidence) -> None:
    assert found.topics_to_decide() is None
    assert "undecided" not in found.verdict()


def test_of_many_runs() -> None:
    board = compare(trec8(), baseline="apl8c221")
    p = board.versus.corrected("holm")
    better = int(((p < 0.05) & (board.versus.difference > 0)).sum())
    worse = int(((p < 0.05) & (board.versus.difference < 0)).sum())
    assert board.verdict == (
        f"of 128 runs {better or 'none'} {'is' if better == 1 else 'are'} significantly better than apl8c221 and "
        f"{worse} significantly worse: paired t test, p corrected by holm, 50 topics"
    )


def test_records_name_the_correction_and_keep_their_keys() -> None:
    matrix = ScoreMatrix.of(SAKAI, runs=["x", "y", "z"], measure="nERR")
    keys = {"run", "mean", "low", "high", "letters", "delta", "delta_low", "delta_high", "p_corrected", "effect"}
    keys |= {"rank", "wins", "ties", "losses"}
    for how in ({"correction": "none"}, {"correction": "bh"}, {"test": "tukey"}):
        record = compare(matrix, baseline="y", **how).record()  # type: ignore[arg-type]
        assert set(record["rows"][0]) == keys
        assert record["correction"] == how.get("correction", "simultaneous")
        assert record["result"] == "leaderboard"
        assert record["baseline"] == "y"


def test_two_families_of_tests_are_named_beside_both() -> None:
    matrix = ScoreMatrix.of(SAKAI, runs=["x", "y", "z"], measure="nERR")
    said = "two families of tests: p is of the 2 tests against y, letters of all 3 pairs"
    assert said in " ".join(compare(matrix, baseline="y").table().notes)
    for one_family in ({"test": "tukey"}, {"letters": False}):
        assert "two families" not in " ".join(compare(matrix, **one_family).table().notes)
    assert "two families" not in " ".join(compare(matrix.select(runs=["x", "y"])).table().notes)


def test_two_families_can_disagree() -> None:
    """One run is significant against the baseline by p, and shares a letter with it: the reason for the note."""
    rng = np.random.default_rng(1)
    topic = rng.normal(0.3, 0.15, 50)
    values = [topic + shift + rng.normal(0, 0.1, 50) for shift in np.linspace(0, 0.09, 12)]
    board = compare(ScoreMatrix.of(values), baseline="run1")
    assert board.letters is not None
    labels = dict(zip(board.matrix.runs, board.letters.labels, strict=True))
    p = dict(zip(board.table().column("run"), board.table().column("p_corrected"), strict=True))
    shared = [run for run in board.matrix.runs if run != "run1" and set(labels[run]) & set(labels["run1"])]
    assert any(p[run] < 0.05 for run in shared)


def contradicting() -> ScoreMatrix:
    """One topic that is won by far, and many that are lost by more than the others are won: mean and ranks disagree."""
    difference = np.concatenate([np.linspace(0.001, 0.02, 26), -np.linspace(0.03, 0.05, 24), [0.9]])
    old = np.full(len(difference), 0.06)
    return ScoreMatrix.of([old + difference, old, old + difference], runs=["new", "old", "twin"], measure="AP")


def test_ranks_that_contradict_the_mean_call_no_run_better() -> None:
    two = contradicting().select(runs=["new", "old"])
    board = compare(two, baseline="old", test="wilcoxon")
    assert board.versus.difference[0] > 0
    assert board.verdict.startswith("new and old are significantly different: +.004")
    assert compare_two(two.of_run("new"), two.of_run("old"), "wilcoxon", names=PAIR).verdict == board.verdict
    worse = compare(two, baseline="old", test="wilcoxon", alternative="less")
    assert worse.verdict.startswith("new and old are significantly different: +.004")
    marked = paper_table(two, baseline="old", test="wilcoxon")
    assert marked.tests is not None
    assert [test.direction for test in marked.tests.tests] == [0]


def test_of_many_runs_those_are_named_whose_ranks_contradict_their_means() -> None:
    board = compare(contradicting(), baseline="old", test="wilcoxon")
    assert board.verdict == (
        "of 2 runs none are significantly better than old and none significantly worse, and 2 significantly different "
        "where means and single topics contradict each other: Wilcoxon signed rank test, p corrected by holm, 51 topics"
    )
    said = against_baseline(board)
    assert said.startswith("of the 2 other runs 2 neither better nor worse than, yet significantly different from")
    drawing = board.figure()
    assert (
        "0 significantly better, 0 significantly worse, 0 not significantly different, 2 signif" in drawing.description
    )


def test_a_sign_test_that_contradicts_the_mean_calls_no_run_better_on_either_side() -> None:
    difference = np.concatenate([np.full(35, 0.01), np.full(15, -0.05)])
    new = 0.3 + difference
    found = compare_two(new, np.full(50, 0.3), "sign", names=PAIR, alternative="greater")
    assert found.p < 0.05
    assert found.evidence.finding() == "new and old are significantly different"


def test_no_number_of_topics_decides_where_mean_and_ranks_disagree() -> None:
    base = np.random.default_rng(0).random(40)
    new = base + 0.01
    new[:4] = base[:4] - 0.5
    found = compare_two(new, base, "wilcoxon", names=PAIR, alternative="less")
    assert found.p > 0.99
    assert found.evidence.topics_to_decide() is None
    assert "undecided" not in found.verdict


def test_what_rounding_leaves_of_a_mean_of_zero_has_no_direction() -> None:
    base = np.random.default_rng(0).random(40)
    new = base + 0.01
    new[36:] = base[36:] - 0.09
    found = compare_two(new, base, "sign", names=PAIR)
    assert 0 < abs(found.evidence.delta) < 1e-15
    assert found.p < 0.001
    assert found.evidence.finding() == "new and old are significantly different"


@pytest.mark.parametrize(
    ("alternative", "start"),
    [
        ("greater", "of 128 runs 1 is significantly better than apl8c221: "),
        ("less", "of 128 runs 58 are significantly worse than apl8c221: "),
    ],
)
def test_of_many_runs_a_one_sided_test_speaks_of_its_side_alone(alternative: str, start: str) -> None:
    verdict = compare(trec8(), baseline="apl8c221", alternative=alternative, letters=False).verdict
    assert verdict == f"{start}paired t test, one-sided, p corrected by holm, 50 topics"
