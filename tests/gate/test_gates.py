"""Outcomes, margins, alarms and what is refused."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import assay
from assay.core.errors import AssayError, DataError, UsageError
from assay.data import Qrels, Run, ScoreMatrix
from assay.gate import Alarm, Gate, Margin
from assay.gate.margins import margins_of
from assay.plan import TTest
from assay.stats.t_power import detectable_effect, power_of, topics_needed

TOPICS = 30


def scores(
    shift: float = 0.0, sd: float = 0.02, *, seed: int = 0, measure: str = "AP", run: str = "new"
) -> ScoreMatrix:
    """A run that is `shift` above the baseline on average, exactly, with a spread of `sd`."""
    rng = np.random.default_rng(7)
    base = rng.uniform(0.2, 0.6, TOPICS)
    noise = np.random.default_rng(seed).normal(0, 1, TOPICS)
    noise = (noise - noise.mean()) / noise.std(ddof=1)
    return ScoreMatrix.of([base + shift + sd * noise], runs=[run], measure=measure)


OLD = scores(0.0, 0.0, run="old")


def run_of(name: str, order: Mapping[int, list[str]] | None = None) -> Run:
    """Three docs for each topic: r is relevant, n1 and n2 are judged not to be."""
    rankings = {str(t): ["r", "n1", "n2"] for t in range(TOPICS)}
    return Run.from_lists(name, rankings | {str(t): docs for t, docs in (order or {}).items()})


QRELS = Qrels.from_dict({str(t): {"r": 1, "n1": 0, "n2": 0} for t in range(TOPICS)})


@pytest.mark.parametrize(
    ("shift", "outcome", "code"),
    [(0.02, "pass", 0), (0.0, "pass", 0), (-0.009, "undecided", 3), (-0.011, "undecided", 3), (-0.05, "fail", 1)],
)
def test_three_outcomes(shift: float, outcome: str, code: int) -> None:
    result = assay.gate(scores(shift), OLD, max_drop=0.01)
    assert (result.outcome, result.exit_code()) == (outcome, code)
    assert result.verdict.startswith(f"{outcome}: ")
    [one] = result.measures
    assert one.difference == pytest.approx(shift)
    assert (one.outcome == "pass") == (one.low > -0.01)
    assert (one.outcome == "fail") == (one.high < -0.01)
    assert result.passed == (outcome == "pass")


def test_an_undecided_gate_states_topics_by_the_law_of_plan() -> None:
    result = assay.gate(scores(-0.009), OLD, max_drop=0.01)
    [one] = result.measures
    test = TTest(sides=1)
    assert one.method == "bootstrap-t"
    assert one.power == result.power == pytest.approx(float(power_of(TOPICS, 0.01 / 0.02, test)))
    assert one.topics_to_pass == result.topics_to_pass == np.ceil(topics_needed(0.01 / 0.02, test=test))
    assert one.least_drop == pytest.approx(0.02 * detectable_effect(TOPICS, test=test))
    assert "equally good runs pass with probability .85 on these, .80 on 27 topics" in result.verdict
    assert "if the difference is as seen" not in result.verdict


def test_undecided_is_the_callers_to_count() -> None:
    result = assay.gate(scores(-0.009), OLD, max_drop=0.01)
    assert [result.exit_code(what) for what in (None, "pass", "fail")] == [3, 0, 1]
    failed = assay.gate(scores(-0.05), OLD, max_drop=0.01)
    assert [failed.exit_code(what) for what in (None, "pass", "fail")] == [1, 1, 1]
    with pytest.raises(UsageError, match="'maybe'; known: pass, fail"):
        result.exit_code("maybe")


def test_a_relative_drop_is_tested_with_the_baselines_uncertainty() -> None:
    new = scores(-0.005)
    result = assay.gate(new, OLD, max_drop="2%", test="t")
    [one] = result.measures
    above = new.values[0] - 0.98 * OLD.values[0]
    assert one.max_drop == pytest.approx(0.02 * OLD.values.mean())
    t = above.mean() / (above.std(ddof=1) / np.sqrt(TOPICS))
    from scipy.stats import t as law

    assert one.p_pass == pytest.approx(float(law.sf(t, TOPICS - 1)))
    assert one.margin == "2%"
    assert "new − 0.98·baseline" in result.table().text()


def test_max_drop_0_passes_only_what_is_better() -> None:
    better = assay.gate(scores(0.02), OLD, max_drop=0)
    assert better.outcome == "pass"
    assert "AP of new is .020 higher than that of old; this is more than chance" in better.verdict
    same = assay.gate(scores(0.0), OLD, max_drop=0)
    assert same.outcome == "undecided"
    assert same.topics_to_pass is None
    assert "equally good do not pass, however many topics there are" in same.verdict
    assert "max drop 0: only a run that is shown to be better passes" in same.notes()
    assert assay.gate(OLD, OLD, max_drop=0).outcome == "undecided"


@pytest.mark.parametrize(("shift", "outcome"), [(0.0, "undecided"), (-0.05, "undecided"), (-0.15, "fail")])
def test_the_same_difference_on_all_topics_is_no_proof_of_others(shift: float, outcome: str) -> None:
    result = assay.gate(scores(shift, 0.0), OLD, max_drop=0.01)
    [one] = result.measures
    assert (result.outcome, one.method) == (outcome, "dirichlet")
    assert one.low < shift < one.high
    assert one.topics_to_pass == 299
    assert one.least_drop == pytest.approx(1 - 0.05 ** (1 / TOPICS))


def test_two_identical_topics_pass_nothing() -> None:
    two = ScoreMatrix.of([[0.5, 0.4]], runs=["new"], measure="AP")
    result = assay.gate(two, replace(two, runs=("old",)), max_drop=0.02)
    assert result.outcome == "undecided"
    assert result.measures[0].p_pass > 0.9
    assert "AP is identical on these 2 topics; up to 78 % of topics may change without one among 2" in result.verdict
    assert "a pass takes at least 149 topics" in result.verdict


def test_a_pass_says_what_it_cannot_see() -> None:
    values = np.full(200, 0.5)
    values[0] = 0.4
    new, old = (ScoreMatrix.of([row], measure="AP") for row in (values, np.full(200, 0.5)))
    result = assay.gate(replace(new, runs=("new",)), replace(old, runs=("old",)), max_drop=0.03)
    assert result.outcome == "pass"
    assert [note for note in result.notes() if note.startswith("what this gate cannot see: AP changes on 1 of 200")]


def test_a_range_that_is_not_known_has_no_bound() -> None:
    new = ScoreMatrix.of([[1.0, 2.0, 5.0]], runs=["new"], measure="mine")
    old = ScoreMatrix.of([[1.0, 2.0, 4.0]], runs=["old"], measure="mine")
    result = assay.gate(new, old, max_drop=0.5)
    assert result.outcome == "undecided"
    assert result.record()["rows"][0]["delta_low"] is None
    assert "too few for a bound on scores whose range is not known" in result.verdict
    assert result.figure().title
    # scores that all lie between 0 and 1 are taken to do so everywhere
    within = ScoreMatrix.of([np.zeros(40)], runs=["new"], measure="mine")
    assert assay.gate(within, replace(within, runs=("old",)), max_drop=0.1).outcome == "pass"


def test_several_measures_pass_together() -> None:
    new = [scores(0.0), scores(-0.05, seed=1, measure="RR")]
    old = [OLD, scores(0.0, 0.0, measure="RR", run="old")]
    result = assay.gate(new, old, max_drop={"AP": 0.01, "RR": 0.01})
    assert [one.outcome for one in result.measures] == ["pass", "fail"]
    assert result.outcome == "fail"
    assert result.verdict.startswith("fail: RR of new is .050 lower than that of old, more than the .01 allowed")
    assert assay.gate(new, old, "" or None, "AP", max_drop=0.01).outcome == "pass"
    assert "a pass takes all 2 measures, so p pass needs no correction" in result.table().text()
    loose = assay.gate(new, old, max_drop={"AP": "5%", "RR": "40%"})
    assert loose.outcome == "pass"
    assert "a drop of 5% is ruled out" in loose.verdict
    assert "a drop of 40% is ruled out" in loose.verdict


def test_a_pass_over_several_measures_is_not_corrected() -> None:
    new = [scores(0.0), scores(-0.009, seed=1, measure="RR")]
    old = [OLD, scores(0.0, 0.0, measure="RR", run="old")]
    together = assay.gate(new, old, max_drop=0.01)
    alone = assay.gate(new[0], OLD, max_drop=0.01)
    assert together.measures[0].p_pass == alone.measures[0].p_pass
    assert together.measures[0].low == alone.measures[0].low > -0.01


def test_an_open_measure_keeps_holm_from_claiming_more_of_one_that_failed() -> None:
    new = [scores(-0.05), scores(-0.009, seed=1, measure="RR")]
    old = [OLD, scores(0.0, 0.0, measure="RR", run="old")]
    by_holm = assay.gate(new, old, max_drop=0.01)
    assert [one.outcome for one in by_holm.measures] == ["fail", "undecided"]
    assert by_holm.measures[0].high == -0.01
    assert "holm: a bound that is −max drop itself claims no more than what was decided" in by_holm.notes()
    plainly = assay.gate(new, old, max_drop=0.01, correction="bonferroni")
    assert plainly.measures[0].high < -0.01
    assert not [note for note in plainly.notes() if note.startswith("holm")]


def test_bounds_stay_within_the_range_of_the_measure() -> None:
    new = ScoreMatrix.of([[0.0, 1.0]], runs=["new"], measure="AP")
    old = ScoreMatrix.of([[1.0, 0.0]], runs=["old"], measure="AP")
    [one] = assay.gate(new, old, max_drop=0.5, test="t").measures
    assert (one.low, one.high) == (-1, 1)


def test_margins_are_read_as_people_write_them() -> None:
    assert [str(Margin.of(given)) for given in (0.01, ".01", "2%", 0, "0.5 %", 1e-5)] == [
        ".01", ".01", "2%", "0", "0.5%", "1e-05",
    ]  # fmt: skip
    assert margins_of({"ndcg_cut_10": 0.1, "mine": 0.2}, ["nDCG@10", "mine"]) == [Margin(0.1), Margin(0.2)]
    assert margins_of({"RBP(p=.80)": 0.1}, ["RBP(p=0.8)"]) == [Margin(0.1)]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (-0.01, "must be a number of 0 or more"),
        (float("nan"), "must be a number of 0 or more"),
        ("inf", "must be a number of 0 or more"),
        (True, "is not a drop"),
        ("much", "is not a drop"),
        (None, "is not a drop"),
        ("100%", "allows any drop"),
        ("-2%", "must be a number of 0 or more"),
        (1, "cannot drop by more than 1, and 1 is allowed; for a share of the baseline write 1%"),
        ({"AP": 0.1, "RR": 0.1}, "RR is not among the measures"),
        ({}, "there is none for AP"),
        ({"AP": 0.1, None: 0.2}, ".2 has no effect"),
        ({"AP": 0.1, "AP ": 0.2}, "is there twice"),
    ],
)
def test_drops_that_are_none_are_refused(given: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        assay.gate(scores(), OLD, max_drop=given)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"new": ScoreMatrix.of([[0.1]], measure="AP"), "baseline": ScoreMatrix.of([[0.1]], measure="AP")}, "1 topic"),
        ({"new": ScoreMatrix.of([[0.1, 0.2]], measure="AP")}, "topic '10' is in one file only"),
        ({"new": scores(measure="RR")}, "only the new run has such scores"),
        ({"new": ScoreMatrix.of(np.zeros((2, 30)), measure="AP")}, "new: a gate needs the scores of one run"),
        ({"measures": []}, "no measure"),
        ({"measures": "nDCG"}, "no measure 'nDCG' in these scores"),
        ({"alpha": 0.5}, "alpha: must lie between"),
        ({"power": 0.01}, "is not above α"),
        ({"test": "wilcoxon"}, "no bound of a mean"),
        ({"correction": "bh"}, "correction"),
        ({"min_judged": 0.5}, "min-judged goes with runs and judgments"),
        ({"judged_depth": 5}, "judged-depth goes with runs and judgments"),
        ({"new": None}, "None where scores are expected"),
        ({"resamples": 0}, "resamples must be at least 1"),
        ({"new": scores(measure="E"), "baseline": scores(measure="E")}, "lower is better"),
    ],
)
def test_what_is_no_gate_is_refused(arguments: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"new": scores(), "baseline": OLD, "max_drop": 0.01}
    with pytest.raises(AssayError, match=message):
        assay.gate(**(given | arguments))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"new": {"a": {"1": ["r"]}, "b": {"1": ["r"]}}}, "new: a gate needs one run, and there are 2"),
        ({"baseline": Run.from_lists("x", {"other": ["r"]})}, "baseline 'x' has none of the 30 topics"),
        ({"baseline": Run.from_lists("x", {"1": ["q"]})}, "none of its docs is judged"),
        ({"new": "no-such-file.run"}, "No such file"),
        ({"qrels": "no-such-file.txt"}, "No such file"),
        ({"measures": []}, "no measure"),
        ({"measures": "nothing"}, "no measure 'nothing'"),
        ({"min_judged": 2}, "min-judged: must lie between"),
        ({"max_judged_drop": -1}, "max-judged-drop: must lie between"),
        ({"judged_depth": 0}, "judged-depth: must be at least 1"),
        ({"baseline": run_of("zero", {t: ["n1", "n2"] for t in range(TOPICS)}), "max_drop": "2%"}, "of which 2% is no"),
    ],
)
def test_runs_that_are_no_gate_are_refused(arguments: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"new": run_of("new"), "baseline": run_of("old"), "qrels": QRELS, "max_drop": 0.01}
    with pytest.raises(AssayError, match=message):
        assay.gate(**(given | arguments))


def test_runs_are_scored_by_default_with_ndcg() -> None:
    worse = run_of("new", {t: ["n1", "r", "n2"] for t in range(20)})
    result = assay.gate(worse, run_of("old"), QRELS, max_drop=0.01)
    assert result.outcome == "fail"
    assert [one.measure for one in result.measures] == ["nDCG@10"]
    scored = assay.evaluate([worse, run_of("old")], QRELS, "nDCG@10")["nDCG@10"]
    assert [result.measures[0].mean, result.measures[0].baseline_mean] == scored.averages().tolist()
    assert result.judged is not None
    assert (result.judged.new, result.judged.baseline) == (1.0, 1.0)


def alarm_of(result: Gate, name: str) -> Alarm:
    [alarm] = [alarm for alarm in result.alarms if alarm.name == name]
    return alarm


def test_ids_of_topics_that_changed_fail() -> None:
    renamed = Run.from_lists("new", {f"q{t}": ["r"] for t in range(TOPICS)})
    result = assay.gate(renamed, run_of("old"), QRELS, "AP RR", max_drop=0.5)
    assert (result.outcome, result.exit_code("pass")) == ("fail", 1)
    assert "new has none of the 30 topics" in result.verdict
    assert [one.mean for one in result.measures] == [0, 0]


def test_ids_of_docs_that_changed_fail() -> None:
    renamed = Run.from_lists("new", {str(t): ["doc-r", "doc-n"] for t in range(TOPICS)})
    result = assay.gate(renamed, run_of("old"), QRELS, max_drop=0.5)
    assert alarm_of(result, "docs").outcome == result.outcome == "fail"
    assert "were the ids of docs changed?" in result.verdict


def test_half_a_run_fails_and_a_lost_topic_is_said() -> None:
    half = Run.from_lists("new", {str(t): ["r"] for t in range(14)})
    result = assay.gate(half, run_of("old"), QRELS, max_drop=0.9)
    assert alarm_of(result, "topics").outcome == result.outcome == "fail"
    assert "lacks 16 of the 30 topics that old has" in result.verdict
    one_less = Run.from_lists("new", {str(t): ["r"] for t in [*range(29), 77]})
    result = assay.gate(one_less, run_of("old"), QRELS, max_drop=0.5)
    assert result.outcome == "pass"
    lost, extra = result.alarms
    assert lost.line() == "remark: new lacks 1 topic that old has, with a score of 0 (29)"
    assert extra.line() == "remark: new has 1 topic without judgments, left out (77)"


def test_few_judged_docs_make_it_undecided_whatever_the_score() -> None:
    better = run_of("new", {t: ["r", "x1", "x2"] for t in range(TOPICS)})
    worse = run_of("new", {t: ["x1", "x2", "n1"] for t in range(TOPICS)})
    for run, tested in ((better, "pass"), (worse, "fail")):
        result = assay.gate(run, run_of("old"), QRELS, max_drop=0.1)
        assert (result.outcome, result.tested_outcome) == ("undecided", tested)
        assert "33 % of the top 10 of new are judged and 100 % of old" in result.verdict
        assert f"the tests alone say: {tested}" in result.notes()
        # an alarm is never waved through
        assert [result.exit_code(what) for what in (None, "pass", "fail")] == [3, 3, 1]
        lenient = assay.gate(run, run_of("old"), QRELS, max_drop=0.1, max_judged_drop=0.7)
        assert lenient.outcome == tested
        assert [alarm for alarm in lenient.alarms if alarm.outcome != "remark"] == []
        by_floor = assay.gate(run, run_of("old"), QRELS, max_drop=0.1, max_judged_drop=1, min_judged=0.5)
        assert "less than 50 %" in by_floor.verdict
    shallow = assay.gate(better, run_of("old"), QRELS, max_drop=0.1, judged_depth=1)
    assert (shallow.outcome, shallow.judged and shallow.judged.new) == ("pass", 1.0)


def test_an_identical_run_is_said() -> None:
    result = assay.gate(run_of("a"), run_of("b"), QRELS, max_drop=0.1)
    assert result.outcome == "pass"
    assert alarm_of(result, "identical").what == "a is identical to b: the same docs in one order"
    assert assay.gate(run_of("a"), run_of("b"), QRELS, max_drop=0.01).outcome == "undecided"
    other_docs = run_of("a", {0: ["r", "n2", "n1"]})
    result = assay.gate(other_docs, run_of("b"), QRELS, max_drop=0.1)
    assert alarm_of(result, "identical").what == "a and b have the same score on every topic"


def test_runs_of_one_name_are_told_apart(tmp_path: Path) -> None:
    result = assay.gate(run_of("bm25"), run_of("bm25"), QRELS, max_drop=0.1)
    assert result.names == ("bm25 (new)", "bm25 (baseline)")
    for folder in ("main", "change"):
        (tmp_path / folder).mkdir()
        assay.write(tmp_path / folder / "out.run", run_of("bm25"))
    paths = str(tmp_path / "change" / "out.run"), str(tmp_path / "main" / "out.run")
    assert assay.gate(*paths, QRELS, max_drop=0.1).names == paths


def test_every_source_of_runs_and_scores_gives_the_same(tmp_path: Path) -> None:
    new = run_of("new", {t: ["n1", "r", "n2"] for t in range(10)})
    runs = {"new": new, "old": run_of("old")}
    for name, run in runs.items():
        assay.write(tmp_path / f"{name}.run", run)
    assay.write(tmp_path / "qrels.txt", QRELS)
    by_object = assay.gate(new, runs["old"], QRELS, ["RR", "AP"], max_drop=0.1)
    by_path = assay.gate(tmp_path / "new.run", str(tmp_path / "old.run"), tmp_path / "qrels.txt", "RR AP", max_drop=0.1)
    by_dict = assay.gate({"new": new.to_dict()}, {"old": runs["old"].to_dict()}, QRELS.to_dict(), "RR,AP", max_drop=0.1)
    of_scores = {name: assay.evaluate([run], QRELS, "RR AP") for name, run in runs.items()}
    by_scores = assay.gate(of_scores["new"], of_scores["old"], max_drop=0.1)
    rows = [result.record()["rows"] for result in (by_object, by_path, by_dict, by_scores)]
    assert rows[0] == rows[1] == rows[2] == rows[3]
    with pytest.raises(DataError, match="run"):
        assay.gate(tmp_path / "new.run", tmp_path / "old.run", max_drop=0.1)


def test_scores_of_two_policies_are_not_compared() -> None:
    other = ScoreMatrix.of(OLD.values, runs=["old"], measure="AP", signature="AP|unjudged:removed")
    new = ScoreMatrix.of(OLD.values, runs=["new"], measure="AP", signature="AP|unjudged:0")
    with pytest.raises(UsageError, match="do not rest on the same policy"):
        assay.gate(new, other, max_drop=0.1)


def test_the_record_is_json_with_all_that_is_needed() -> None:
    record = assay.gate(scores(-0.009), OLD, max_drop=0.01).record()
    assert json.loads(json.dumps(record, allow_nan=False)) == record
    assert record["outcome"] == "undecided"
    assert record["alarms"] == []
    assert record["margins"] == {"AP": ".01"}
    assert {"p_pass", "p_fail", "delta", "delta_low", "delta_high", "topics_to_pass", "method"} <= set(
        record["rows"][0]
    )


def test_the_picture_has_the_margin() -> None:
    figure = assay.gate(scores(-0.009), OLD, max_drop=0.01).figure()
    [row] = figure.spec["datasets"]["rows"]
    assert row["allowed"] == -0.01
    assert row["low"] < row["allowed"] < row["difference"] < row["high"]
    assert "undecided" in figure.title


def test_the_gate_is_loaded_when_it_is_used() -> None:
    code = "import assay, sys; assert not {m for m in sys.modules if m.startswith(('numpy', 'assay.gate', 'pytest'))}"
    subprocess.run([sys.executable, "-c", code], check=True)
