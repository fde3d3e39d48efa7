"""One sentence per comparison: who is better, or that nobody can say; never that two runs are equal."""

from __future__ import annotations

import numpy as np
import pytest

from assay.core.errors import UsageError
from assay.data.scores import ScoreMatrix
from assay.stats import compare, compare_topic_sets, compare_two, paper_table
from assay.stats.sentences import Evidence, best_of_all, may_be_best, one_by_one
from assay.stats.t_power import findable_effect
from tests.oracles.stats import SAKAI, trec8

PAIR = ("new", "old")


def evidence(delta: float, p: float, **more: object) -> Evidence:
    return Evidence(PAIR, delta, p, "paired t test", (50,), **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        (evidence(0.1, 0.01), "new beats old"),
        (evidence(-0.1, 0.01), "new is worse than old"),
        (evidence(0.1, 0.05), "new and old are not shown to differ"),
        (evidence(0.0, 1.0, differing=0), "new and old are identical on these 50 topics"),
        (evidence(0.1, 0.01, alternative="greater"), "new beats old"),
        (evidence(0.1, 0.2, alternative="greater"), "new is not shown to be better than old"),
        (evidence(-0.1, 0.01, alternative="less"), "new is worse than old"),
        (evidence(-0.1, 0.2, alternative="less"), "new is not shown to be worse than old"),
        (evidence(0.1, 0.01, alpha=0.001), "new and old are not shown to differ"),
        (Evidence(PAIR, 0.0, 0.01, "sign test", (50,), lead=9), "new and old are significantly different, and means"),
        (Evidence(PAIR, -0.1, 0.01, "sign test", (50,), lead=9), "new and old are significantly different, and means"),
        (Evidence(PAIR, 0.1, 0.01, "sign test", (50,), lead=9), "new beats old"),
    ],
)
def test_finding(found: Evidence, sentence: str) -> None:
    assert found.finding().partition(" and single topics")[0] == sentence
    assert "equal" not in found.sentence()


def test_numbers_are_as_papers_print_them() -> None:
    shown = [
        (evidence(0.032, 0.0041, low=0.010, high=0.054), "+.032 [.010, .054], p = .0041"),
        (evidence(-0.032, 0.00001, low=-1.25, high=0.0), "−.032 [−1.250, .000], p < .0001"),
        (evidence(0.000012, 0.5, low=-0.00001, high=0.00004), "+.000012 [−.000010, .000040], p = .5000"),
        (evidence(0.0, 1.0, low=float("nan"), high=float("nan")), ".000, p = 1.0000"),
        (evidence(2e18, 0.01, low=1e18, high=3e18), "+2e+18 [1e+18, 3e+18], p = .0100"),
        (evidence(0.1, 0.01, low=0.0, high=0.2, alpha=0.1), "+.100 [.000, .200] (90 %), p = .0100"),
    ]
    for found, numbers in shown:
        assert found.sentence().partition(": ")[2].startswith(numbers)


def test_of_two_runs_by_every_way() -> None:
    """Webber 2010, §3.3: CL99XT against apl8c221, difference .058, p = .035."""
    two = trec8().select(runs=["CL99XT", "apl8c221"])
    sentence = "CL99XT beats apl8c221: +.058 [.004, .112], p = .0353 (paired t test, 50 topics)"
    board = compare(two, baseline="apl8c221")
    assert board.verdict == sentence
    assert board.table().caption == f"{two.measure}: {sentence}"
    assert board.record()["verdict"] == sentence
    one = compare_two(*two.values, names=("CL99XT", "apl8c221"))
    assert one.verdict == one.record()["verdict"] == sentence
    apart = compare_topic_sets(two.values[0], two.values[1][:30], names=("CL99XT", "apl8c221"))
    assert apart.verdict.partition("; ")[0].endswith("(two-sample Welch t test, 50 and 30 topics)")


# Spec 9: what n topics find with power .8 at sd .1, alone and as one of nine by Bonferroni.
@pytest.mark.parametrize(
    ("n", "alone", "of_nine"),
    [(10, 0.09960, 0.14606), (25, 0.05840, 0.07866), (50, 0.04042, 0.05322), (100, 0.02829, 0.03686)],
)
def test_what_is_findable(n: int, alone: float, of_nine: float) -> None:
    from scipy.stats import t

    assert round(0.1 * findable_effect(n), 5) == alone
    assert round(0.1 * findable_effect(n, critical=float(t.ppf(1 - 0.05 / 18, n - 1))), 5) == of_nine


def test_what_is_findable_by_max_t() -> None:
    assert round(0.1 * findable_effect(50, critical=2.82), 5) == 0.05205


def test_a_comparison_without_a_finding_says_what_was_findable_and_what_is_ruled_out() -> None:
    """The sentence of spec 9; never a number of topics that is made from the observed difference."""
    found = evidence(0.010, 0.47, low=-0.018, high=0.038, deviation=0.1, critical=2.82, tests=9)
    assert found.verdict() == (
        "new and old are not shown to differ: +.010 [−.018, .038], p = .4700 (paired t test, 50 topics); 50 topics "
        "find .040 with power .8 (.052 in this family of 9); differences above .038 are ruled out"
    )
    two = trec8().select(runs=["CL99XT", "apl8c221"], topics=trec8().topics[:20])
    for alternative in ("two-sided", "greater"):
        board = compare(two, baseline="apl8c221", alternative=alternative)
        one = compare_two(*two.values, names=("CL99XT", "apl8c221"), alternative=alternative)
        assert one.verdict == board.verdict
        assert "; 20 topics find ." in board.verdict
        assert "would find" not in board.verdict
        assert "topics_to_decide" not in board.record()


@pytest.mark.parametrize(
    ("found", "clause"),
    [
        (evidence(0.0, 1.0, differing=0, little=True), "up to 5.8 % of topics may differ (95 %)"),
        (
            evidence(0.1, 0.3, differing=3, little=True, low=-0.1, high=0.2, deviation=0.1),
            "they differ on 3 of 50 topics",
        ),
        (evidence(1.0, 0.3, differing=50, little=True), "the differences take too few values for an interval without"),
        (evidence(0.1, 0.3, least_p=0.0625), "it cannot reach p < .05: too few for this test"),
        (evidence(0.1, 0.3, least_drawn=0.05), "with so few resamples it cannot reach p < .05"),
        (evidence(0.1, 0.04, alternative="greater", low=-0.01, high=0.2), "p is one-sided, the interval two-sided"),
        (evidence(0.1, 0.04, lead=5.0, low=-0.01, high=0.2), "p is of ranks or signs, the interval of the mean"),
        (evidence(0.1, 0.04, little=True, differing=9, low=-0.01, high=0.2), "p is of swaps of the runs"),
        (evidence(0.1, 0.04, low=-0.01, high=0.2), "p and the interval are made by different methods"),
    ],
)
def test_what_limits_a_finding_stands_in_the_sentence(found: Evidence, clause: str) -> None:
    assert f"; {clause}" in found.verdict() or f"topics {clause}" in found.verdict()


@pytest.mark.parametrize("baseline", [None, "a"])
@pytest.mark.parametrize("runs", [3, 4])
def test_a_family_on_few_topics_says_that_it_can_show_nothing(runs: int, baseline: str | None) -> None:
    values = np.arange(runs)[:, None] / 10 + np.random.default_rng(0).random((runs, 6)) / 50
    matrix = ScoreMatrix.of(values, runs=list("abcd"[:runs]), measure="AP")
    said = compare(matrix, baseline=baseline, test="wilcoxon").verdict  # one pair alone has p = 1/32
    assert said.endswith("; on 6 topics it cannot reach p < .05: too few for this test")
    assert "cannot reach" not in compare(matrix, baseline=baseline).verdict
    few = compare(
        ScoreMatrix.of(np.tile(values, 9), runs=matrix.runs), baseline=baseline, test="randomisation", resamples=30
    )
    assert few.verdict.endswith("; with so few resamples it cannot reach p < .05")


def test_on_five_topics_a_sign_test_says_that_it_can_show_nothing() -> None:
    found = compare_two([0.5, 0.6, 0.7, 0.8, 0.9], [0.1, 0.1, 0.2, 0.1, 0.3], "wilcoxon", names=PAIR)
    assert found.p == pytest.approx(0.0625)
    assert "; on 5 topics it cannot reach p < .05: too few for this test" in found.verdict


@pytest.mark.parametrize(
    "found",
    [
        evidence(0.1, 0.01, deviation=0.4),
        evidence(0.1, 0.2),
        evidence(0.0, 1.0, differing=0, deviation=0.0),
        evidence(0.1, 0.2, deviation=0.3, little=True),
        Evidence(PAIR, 0.1, 0.2, "two-sample t test", (50, 30), deviation=0.2),
        Evidence(PAIR, 0.1, 0.2, "sign test", (50,), deviation=0.2, lead=2.0),
    ],
    ids=["decided", "no spread", "identical", "few values", "unpaired", "not a mean"],
)
def test_nothing_is_called_findable_where_a_t_test_cannot_say(found: Evidence) -> None:
    assert "with power" not in found.verdict()


def test_of_two_runs_against_a_baseline_each_has_a_clause() -> None:
    """The model of the style sheet."""
    first = Evidence(("hand1", "borea1"), 0.068, 0.038, "paired t test", (50,), low=0.012, high=0.124)
    other = Evidence(("atlas1", "borea1"), 0.028, 0.191, "paired t test", (50,), low=-0.014, high=0.069)
    assert one_by_one([first, other]) == (
        "hand1 beats borea1: +.068 [.012, .124], p = .0380; atlas1 is not shown to: +.028 [−.014, .069], p = .1910 "
        "(paired t test, 50 topics)"
    )


def test_of_many_runs() -> None:
    board = compare(trec8(), baseline="apl8c221")
    p = board.versus.corrected()
    better = int(((p < 0.05) & (board.versus.difference > 0)).sum())
    worse = int(((p < 0.05) & (board.versus.difference < 0)).sum())
    assert board.verdict.startswith("READWARE2 beats apl8c221: +.154 [")
    assert board.verdict.endswith(
        f". Of 128 runs {better} are better, {worse} worse, {128 - better - worse} not significantly different "
        "(paired t test, max-t over 128 differences, 50 topics)"
    )


def test_the_best_run_is_the_best_only_if_all_pairs_and_the_set_say_so() -> None:
    assert best_of_all("a", 9, 10, ["a"], 0.95).startswith("a is the best of these 10: significantly better than each")
    for beaten, inside in ((9, ["a", "c"]), (8, ["a"])):
        assert "is the best" not in best_of_all("a", beaten, 10, inside, 0.95)
    assert may_be_best(["a", "c", "f"], 10, 0.95) == (
        "Runs that may be the best of these 10 (95 %): a, c, f; the other 7 are not ahead of them"
    )


def test_without_a_baseline_the_family_is_all_pairs() -> None:
    ten = trec8().select(runs=trec8().runs[:10])
    board = compare(ten)
    assert board.versus.within is board.pairs
    assert board.verdict.endswith("(paired t test, max-t over all 45 pairs, 50 topics)")
    assert "Runs that may be the best of these 10 (95 %): " in board.verdict
    assert board.record()["possible_best"] == board.possible_best
    assert board.pairs is not None
    assert (board.versus.corrected() == board.pairs.square(board.pairs.corrected())[1:, 0]).all()
    with pytest.raises(UsageError, match="a one-sided test needs a baseline"):
        compare(ten, alternative="less")


def test_records_name_the_correction_and_keep_their_keys() -> None:
    matrix = ScoreMatrix.of(SAKAI, runs=["x", "y", "z"], measure="nERR")
    keys = {"run", "mean", "low", "high", "letters", "delta", "delta_low", "delta_high", "p_corrected", "effect"}
    keys |= {"rank", "wins", "ties", "losses"}
    for how in ({"correction": "none"}, {"correction": "bh"}, {"test": "tukey"}, {"correction": "max-t"}):
        record = compare(matrix, baseline="y", **how).record()  # type: ignore[arg-type]
        assert set(record["rows"][0]) == keys
        assert record["correction"] == how.get("correction", "simultaneous")
        assert record["result"] == "leaderboard"
        assert record["baseline"] == "y"


def test_two_families_of_tests_are_named_beside_both() -> None:
    matrix = ScoreMatrix.of(SAKAI, runs=["x", "y", "z"], measure="nERR")
    said = "two families of tests: p is of the 2 tests against y, letters of all 3 pairs"
    assert said in " ".join(compare(matrix, baseline="y").table().notes)
    for one_family in ({}, {"test": "tukey"}, {"letters": False}):
        assert "two families" not in " ".join(compare(matrix, **one_family).table().notes)
    assert "two families" not in " ".join(compare(matrix.select(runs=["x", "y"])).table().notes)


def test_two_families_can_disagree() -> None:
    """One run is significant against the baseline by p, and shares a letter with it: the reason for the note."""
    rng = np.random.default_rng(2)
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
    assert board.verdict.startswith("new and old are significantly different, and means and single topics contradict")
    assert compare_two(two.of_run("new"), two.of_run("old"), "wilcoxon", names=PAIR).verdict == board.verdict
    worse = compare(two, baseline="old", test="wilcoxon", alternative="less")
    assert worse.verdict.startswith("new and old are significantly different, and means")
    marked = paper_table(two, baseline="old", test="wilcoxon")
    assert marked.tests is not None
    assert [test.direction for test in marked.tests.tests] == [0]


def test_of_many_runs_those_are_counted_whose_ranks_contradict_their_means() -> None:
    three = contradicting()
    four = ScoreMatrix.of([*three.values, three.values[0]], runs=["new", "old", "twin", "third"], measure="AP")
    board = compare(four, baseline="old", test="wilcoxon")
    assert ". Of 3 runs none is better, none worse, 3 significantly different where means and" in board.verdict
    assert board.verdict.endswith("(Wilcoxon signed rank test, Holm over 3 differences, 51 topics)")
    drawing = board.figure()
    assert (
        "0 significantly better, 0 significantly worse, 0 not significantly different, 3 signif" in drawing.description
    )


def test_a_sign_test_that_contradicts_the_mean_calls_no_run_better_on_either_side() -> None:
    difference = np.concatenate([np.full(35, 0.01), np.full(15, -0.05)])
    new = 0.3 + difference
    found = compare_two(new, np.full(50, 0.3), "sign", names=PAIR, alternative="greater")
    assert found.p < 0.05
    assert found.evidence.finding().startswith("new and old are significantly different")


def test_what_rounding_leaves_of_a_mean_of_zero_has_no_direction() -> None:
    base = np.random.default_rng(0).random(40)
    new = base + 0.01
    new[36:] = base[36:] - 0.09
    found = compare_two(new, base, "sign", names=PAIR)
    assert 0 < abs(found.evidence.delta) < 1e-15
    assert found.p < 0.001
    assert found.evidence.finding().startswith("new and old are significantly different")


@pytest.mark.parametrize(("alternative", "counted"), [("greater", "are better"), ("less", "are worse")])
def test_of_many_runs_a_one_sided_test_speaks_of_its_side_alone(alternative: str, counted: str) -> None:
    board = compare(trec8(), baseline="apl8c221", alternative=alternative, letters=False)
    number = int(board.versus.significant().sum())
    assert f". Of 128 runs {number} {counted}, {128 - number} not significantly different" in board.verdict
    assert board.verdict.endswith("(paired t test, one-sided, max-t over 128 differences, 50 topics)")
