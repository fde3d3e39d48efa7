"""`assay compare` as a person calls it."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from assay.cli.compare import command
from assay.core.errors import AssayError
from assay.data.scores import ScoreMatrix
from assay.io.scores import write_scores
from assay.io.topic_scores import write_description, write_part
from assay.stats.effect import INTERVALS
from assay.stats.joint_tests import corrections_to_choose
from assay.stats.multiple import CORRECTIONS
from assay.stats.paired import TESTS
from assay.stats.pairwise import draws
from assay.stats.tukey import SIMULTANEOUS
from assay.stats.two_sample import SET_INTERVALS, TWO_SAMPLE_TESTS
from tests.conftest import real_data
from tests.oracles.stats import SAKAI


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    path = tmp_path / "scores.csv"
    write_scores(path, [ScoreMatrix.of(SAKAI, runs=["x", "y", "z"], measure="nERR")], shape="matrix")
    return path


@pytest.fixture
def fifty(tmp_path: Path) -> Path:
    """Scores on as many topics as every test and interval needs."""
    rng = np.random.default_rng(2)
    values = np.clip(rng.random(50) + rng.normal([[0.1], [0.0], [-0.1]], 0.2, (3, 50)), 0, 1).round(3)
    write_scores(tmp_path / "fifty.csv", [ScoreMatrix.of(values, runs=["x", "y", "z"], measure="nERR")])
    return tmp_path / "fifty.csv"


def run(*arguments: object) -> Result:
    result = CliRunner().invoke(command, [str(a) for a in arguments], catch_exceptions=True)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def test_leaderboard(scores: Path) -> None:
    text = run(scores, "--baseline", "y").output
    assert "nERR, 3 runs, 20 topics" in text
    assert "paired t test, 19 degrees of freedom" in text
    assert "step-down max-t over 2 differences, sign flips of topics, B = 9,999, seed 0" in text
    row = next(line for line in text.splitlines() if line.startswith("x"))
    assert "0.3450" in row
    assert "+0.0750" in row
    assert "+0.473" in row


@pytest.mark.parametrize("test", [*TESTS.names(), *SIMULTANEOUS.names(), "sign(min_difference=0.15)"])
@pytest.mark.parametrize("interval", INTERVALS.names())
def test_every_test_and_interval_in_csv(fifty: Path, test: str, interval: str) -> None:
    resamples = ["-B", 99] if draws(test, interval) else []
    output = run(fifty, "--test", test, "--interval", interval, *resamples, "--format", "csv").output
    rows = list(csv.DictReader(io.StringIO(output)))
    assert [r["run"] for r in rows] == ["x", "y", "z"]
    assert 0 < float(rows[1]["p_corrected"]) <= 1
    assert {"delta", "delta_low", "delta_high", "effect", "wins", "ties", "losses", "letters"} <= set(rows[0])


@pytest.mark.parametrize("correction", corrections_to_choose())
@pytest.mark.parametrize("test", ["t", "tukey"])
def test_p_corrected_is_there_under_every_correction(scores: Path, correction: str, test: str) -> None:
    by = [] if test == "tukey" else ["--correction", correction]
    for words in ([scores], ["pairs", scores]):
        output = run(*words, "--test", test, *by, "--format", "csv").output
        assert all(row["p_corrected"] is not None for row in csv.DictReader(io.StringIO(output)))


def test_help_names_every_choice() -> None:
    for word, registries in (
        ("runs", (TESTS.names(), SIMULTANEOUS.names(), corrections_to_choose()[1:], INTERVALS.names())),
        ("pairs", (TESTS.names(), SIMULTANEOUS.names(), corrections_to_choose()[1:], INTERVALS.names())),
        ("sets", (TWO_SAMPLE_TESTS.names(), CORRECTIONS.names(), SET_INTERVALS)),
    ):
        text = " ".join(run(word, "--help").output.split())
        for registry in registries:
            assert ", ".join(registry) in text.replace("- ", "-")


def test_pairs_and_anova(scores: Path) -> None:
    pairs = json.loads(run("pairs", scores, "--format", "json").output)
    assert len(pairs["rows"]) == 3
    assert {"run", "against", "delta", "delta_low", "delta_high", "p", "p_corrected"} <= set(pairs["rows"][0])
    anova = json.loads(run("anova", scores, "--format", "json").output)
    assert anova["rows"][0]["f"] == pytest.approx(2.475, abs=5e-4)
    ranks = json.loads(run("friedman", scores, "--format", "json").output)
    assert {r["run"] for r in ranks["rows"]} == {"x", "y", "z"}


@pytest.mark.parametrize("word", ["runs", "pairs", "anova", "friedman", "normality"])
def test_csv_of_every_analysis_is_one_table(tmp_path: Path, scores: Path, word: str) -> None:
    rows = list(csv.reader(io.StringIO(run(word, scores, "--format", "csv").output)))
    assert len({len(row) for row in rows}) == 1
    two = tmp_path / "two.csv"
    write_scores(two, [ScoreMatrix.of(SAKAI, runs=["x", "y", "z"], measure=m) for m in ("AP", "RR")])
    both = list(csv.DictReader(io.StringIO(run(word, two, "--format", "csv").output)))
    assert {row["table"][:2] for row in both} == {"AP", "RR"}


def test_latex_is_ready_for_a_paper(scores: Path) -> None:
    columns = {"runs": 13, "pairs": 11, "anova": None, "friedman": 1}
    for word, amount in columns.items():
        output = run(word, scores, "--format", "latex").output
        assert output.isascii()
        star = "" if word == "friedman" else "*"
        assert output.count(rf"\begin{{table{star}}}") == output.count(rf"\end{{table{star}}}") == 1
        assert output.count("$") % 2 == 0
        for line in output.splitlines():
            if line.endswith(r"\\") and line.startswith("x "):
                assert line.count("&") == amount


def test_two_runs_have_a_verdict(tmp_path: Path) -> None:
    path = tmp_path / "two.csv"
    write_scores(path, [ScoreMatrix.of(SAKAI[:2], runs=["x", "y"], measure="nERR")])
    text = run(path, "--baseline", "y").output
    assert "x beats y: +.075 [.001, .149], p = .0478 (paired t test, 20 topics)" in text
    assert "x and y are not shown to differ: " in run(path, "--baseline", "y", "--test", "sign").output


def test_files_with_the_same_topics_are_joined(tmp_path: Path) -> None:
    for i, name in enumerate("xyz"):
        write_scores(tmp_path / f"{name}.csv", [ScoreMatrix.of(SAKAI[[i]], runs=[name], measure="nERR")])
    joined = run(*(tmp_path / f"{n}.csv" for n in "xyz"), "--format", "csv").output
    assert len(joined.splitlines()) == 4


def test_different_topics_are_refused_and_compared_unpaired(tmp_path: Path, scores: Path) -> None:
    other = ScoreMatrix.of(SAKAI[:, :11] / 2, runs=["x", "y", "w"], topics=[f"n{i}" for i in range(11)], measure="nERR")
    write_scores(tmp_path / "other.csv", [other])
    with pytest.raises(AssayError, match=r"in one file only .31 such topics.; .* compare sets"):
        run(scores, tmp_path / "other.csv")
    rows = json.loads(run("sets", scores, tmp_path / "other.csv", "--format", "json").output)
    assert [r["run"] for r in rows["rows"]] == ["x", "y"]
    assert any("Welch" in n for n in rows["notes"])
    for test in ("student", "bootstrap"):
        assert test in run("sets", scores, tmp_path / "other.csv", "--test", test).output.lower()


def scores_file(path: Path, measure: str, shift: float = 0.0) -> Path:
    topics = [f"{path.stem}{i}" for i in range(SAKAI.shape[1])]
    write_scores(path, [ScoreMatrix.of(SAKAI + shift, runs=["x", "y", "z"], topics=topics, measure=measure)])
    return path


def test_sets_of_two_measures_are_refused_by_name(tmp_path: Path) -> None:
    raw, standard = scores_file(tmp_path / "raw.csv", "AP"), scores_file(tmp_path / "z.csv", "z(AP)", shift=1)
    with pytest.raises(AssayError, match=r"AP.*z\(AP\)|z\(AP\).*AP"):
        run("sets", standard, raw)
    assert "AP on two topic sets" in run("sets", standard, raw, "--force-measure", "AP").output
    assert "nERR on two topic sets" in run("sets", raw, raw, "--force-measure", "nERR").output


def test_unpaired_comparisons_are_drawn(tmp_path: Path, scores: Path) -> None:
    other = ScoreMatrix.of(SAKAI[:, :9] / 2, runs=["x", "y", "w"], topics=[f"n{i}" for i in range(9)], measure="nERR")
    write_scores(tmp_path / "other.csv", [other])
    run("sets", scores, tmp_path / "other.csv", "--figure", tmp_path / "sets.svg")
    assert "nERR of 2 runs: first topic set minus second" in (tmp_path / "sets.svg").read_text()


def test_top_shows_the_best_and_the_baseline(scores: Path, tmp_path: Path) -> None:
    output = run(scores, "--top", 2, "--baseline", "z", "--format", "csv", "--figure", tmp_path / "x.svg").stdout
    assert [r["run"] for r in csv.DictReader(io.StringIO(output))] == ["x", "z"]
    assert "nERR of 2 of 3 runs" in (tmp_path / "x.svg").read_text()


def test_measures_are_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "two.csv"
    write_scores(path, [ScoreMatrix.of(SAKAI, runs=["x", "y", "z"], measure=m) for m in ("AP", "RR")])
    for word in ("runs", "pairs", "anova", "friedman", "normality"):
        tables = json.loads(run(word, path, "--format", "json").output)
        assert [t["caption"][:2] for t in tables] == ["AP", "RR"]


def test_runs_on_binary_judgments(tmp_path: Path) -> None:
    """Both runs are the same to binary judgments, and not to graded ones."""
    (tmp_path / "qrels.txt").write_text("1 0 a 1\n1 0 b 3\n2 0 c 1\n3 0 d 1\n")
    rest = "2 Q0 c 1 1 {0}\n3 Q0 d 1 1 {0}\n"
    (tmp_path / "x.run").write_text("1 Q0 a 1 2 x\n1 Q0 b 2 1 x\n" + rest.format("x"))
    (tmp_path / "y.run").write_text("1 Q0 b 1 2 y\n1 Q0 a 2 1 y\n" + rest.format("y"))
    given = ("--qrels", tmp_path / "qrels.txt", tmp_path / "x.run", tmp_path / "y.run", "--format", "csv", "-m")
    means = [[float(row["mean"]) for row in csv.DictReader(io.StringIO(run(*given, "ndcg", *more).output))]
             for more in ([], ["--binary"], ["--binary", "--rel", "3"])]  # fmt: skip
    assert means[0][0] > means[0][1]
    assert means[1] == [1.0, 1.0]
    assert means[2][0] == pytest.approx(1 / 3)
    assert [row["mean"] for row in csv.DictReader(io.StringIO(run(*given, "RR", "--rel", 3).output))] != means[1]
    with pytest.raises(AssayError, match="--rel has no effect"):
        run(*given, "nDCG", "--rel", 2)


def test_score_tables_take_neither_rel_nor_binary(scores: Path) -> None:
    for option in (["--binary"], ["--rel", 2]):
        with pytest.raises(AssayError, match="goes with runs and --qrels, not with score tables"):
            run(scores, *option)


def test_measures_of_score_tables_by_the_names_of_other_tools(tmp_path: Path) -> None:
    tables = [ScoreMatrix.of(SAKAI, runs=["x", "y", "z"], measure=m) for m in ("RR", "nDCG@10", "map")]
    write_scores(tmp_path / "s.csv", tables)
    assert "RR, 3 runs" in run(tmp_path / "s.csv", "-m", "MRR").output
    assert "nDCG@10, 3 runs" in run(tmp_path / "s.csv", "-m", "ndcg_cut_10").output
    assert "map, 3 runs" in run(tmp_path / "s.csv", "-m", "map").output
    with pytest.raises(AssayError, match="no measure 'P_5' in these files"):
        run(tmp_path / "s.csv", "-m", "P_5")


def test_normality(scores: Path) -> None:
    text = run("normality", scores, "--baseline", "y").output
    assert "nERR: do the differences to y look normal?" in text
    assert "1 of 2 with p < 0.05, n = 20 topics" in text


def test_single_runs_are_compared_whatever_their_names(tmp_path: Path) -> None:
    for name, topics in (("a", 12), ("b", 9)):
        m = ScoreMatrix.of(SAKAI[[0], :topics], runs=[name], topics=[f"{name}{i}" for i in range(topics)])
        write_scores(tmp_path / f"{name}.csv", [m])
    assert "score on two topic sets" in run("sets", tmp_path / "a.csv", tmp_path / "b.csv").output


def test_factorial(tmp_path: Path) -> None:
    path = tmp_path / "grid.csv"
    path.write_text("stop,model,1,2,3\nno,bm25,.1,.2,.4\nno,lm,.2,.3,.2\nyes,bm25,.3,.5,.6\nyes,lm,.2,.4,.7\n")
    text = run("factorial", path).output
    assert "stop × model" in text
    assert "Levels of stop" in text
    assert run("factorial", path, "--format", "latex").output.isascii()
    with pytest.raises(AssayError, match="--only analysis or --only levels"):
        run("factorial", path, "--format", "csv")
    levels = csv.DictReader(io.StringIO(run("factorial", path, "--only", "levels", "--format", "csv").output))
    assert [(r["factor"], r["level"]) for r in levels][:2] == [("stop", "yes"), ("stop", "no")]
    analysis = csv.DictReader(io.StringIO(run("factorial", path, "--only", "analysis", "--format", "csv").output))
    assert next(iter(analysis))["source"] == "stop"


@pytest.mark.parametrize("word", ["--baseline", "--test", "--top", "--pairs", "--resamples"])
def test_factorial_takes_nothing_that_it_would_ignore(tmp_path: Path, word: str) -> None:
    """`--factorial g.csv --baseline nonsense --test wilcoxon --pairs` once ran as if nothing of it were there."""
    path = tmp_path / "grid.csv"
    path.write_text("stop,model,1,2,3\nno,bm25,.1,.2,.4\nno,lm,.2,.3,.2\nyes,bm25,.3,.5,.6\nyes,lm,.2,.4,.7\n")
    result = run("factorial", path, word, "3")
    assert result.exit_code == 2
    assert "No such option" in result.output


def test_output_is_the_same_again_and_for_any_jobs(scores: Path) -> None:
    options = (scores, "--test", "bootstrap", "-B", 500, "--seed", 7)
    assert run(*options).output == run(*options, "--jobs", 2).output
    assert run(*options).output != run(scores, "--test", "bootstrap", "-B", 500, "--seed", 8).output


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("AP,1,2\na,.1,nan\nb,.2,.3\n", "finite"),
        ("AP,1,2\na,.1,x\nb,.2,.3\n", "not a number"),
        ("AP,1\na,.1\nb,.2\n", "1 topic; at least 2"),
        ("AP,1,2\na,.1,.2\n", "needs at least two"),
        ("run,topic,score\na,1,.1\na,2,.2\nb,1,.3\n", "has no score for topic '2'"),
    ],
)
def test_bad_files_are_one_line_and_exit_2(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(content)
    result = subprocess.run(
        [sys.executable, "-m", "assay.cli.main", "compare", str(path)], capture_output=True, text=True, check=False
    )
    assert result.returncode == 2
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) == 1
    assert message in result.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--test", "tt"], "no test 'tt'"),
        (["--correction", "sidak"], "no correction 'sidak'"),
        (["--interval", "abc"], "no interval 'abc'"),
        (["--interval", "bca"], "interval bca: too few topics .20.; a bootstrap needs 50"),
        (["--test", "normal"], "test normal: too few topics .20.; it needs 30"),
        (["--test", "sign", "--correction", "max-t"], "correction max-t: it is a t test"),
        (["--alternative", "less"], "a one-sided test needs a baseline"),
        (["--baseline", "w"], "no run 'w'"),
        (["--differences"], "give --figure FILE and --baseline RUN"),
        (["--test", "student"], "no test 'student' for runs on the same topics"),
        (["--correction", "holm", "-B", "500"], "-B has no effect: neither --test t nor --interval auto draws"),
        (["--test", "tukey", "-B", "500"], "-B has no effect"),
        (["--correction", "bh", "--seed", "5"], "--seed has no effect: neither --test t nor --interval auto draws"),
        (["--test", "tukey", "--correction", "bh"], "--correction has no effect"),
        (["--top", "3"], "--top 3 has no effect on 3 runs"),
        (["--alpha", "nan"], "between 0 and 1"),
        (["--test", "tukey", "--correction", "sidak"], "no correction 'sidak'"),
        (["--test", "tukey", "--alternative", "less"], "two-sided"),
        (["--test", "sign(min_difference=x)"], "min_difference='x' is not a number"),
        (["--test", "sign(min_difference=0.1"], "bracket is not closed"),
    ],
)
def test_bad_options(scores: Path, options: list[str], message: str) -> None:
    with pytest.raises(AssayError, match=message):
        run(scores, *options)


@pytest.mark.parametrize("options", [["--alpha", "5"], ["-B", "0"], ["--alternative", "more"], ["--seed", "-1"]])
def test_options_out_of_range_exit_2(scores: Path, options: list[str]) -> None:
    assert run(scores, *options).exit_code == 2


def test_identical_runs_show_no_nan(tmp_path: Path) -> None:
    write_scores(tmp_path / "same.csv", [ScoreMatrix.of(np.tile(np.linspace(0.1, 0.3, 12), (3, 1)))])
    for test in ("t", "bootstrap", "tukey", "randomised-tukey", "wilcoxon"):
        draws = ["-B", 50] if test in ("bootstrap", "randomised-tukey") else []
        for word in ("runs", "pairs"):
            text = run(word, tmp_path / "same.csv", "--test", test, *draws).output.lower()
            assert "nan" not in text
            assert "inf" not in text.replace("information", "")
    assert "nan" not in run("anova", tmp_path / "same.csv").output.lower()


def test_trec8_from_the_file() -> None:
    path = real_data("trec-score-matrices/named/trec8-adhoc_ap.csv")
    rows = list(
        csv.DictReader(
            io.StringIO(run(path, "--baseline", "apl8c221", "--correction", "none", "--format", "csv").output)
        )
    )
    assert len(rows) == 129
    best = next(r for r in rows if r["run"] == "CL99XT")
    assert float(best["p_corrected"]) == pytest.approx(0.035256, abs=5e-7)
    assert (best["wins"], best["ties"], best["losses"]) == ("35", "0", "15")


def test_a_folder_of_scores_cannot_be_transposed(tmp_path: Path) -> None:
    folder = tmp_path / "scores"
    folder.mkdir()
    no_topic_is_missing = np.zeros(2, dtype=bool)
    for name, scores in (("one", [0.1, 0.5]), ("two", [0.2, 0.4])):
        write_part(folder, name, 0, ["q1", "q2"], no_topic_is_missing, ["AP"], np.array([scores]))
    write_description(folder, runs=["one", "two"], measures=["AP"], signatures=["AP"], topics=2, parts=1)
    assert run(folder).exit_code == 0
    with pytest.raises(AssayError, match="--transpose goes with score tables"):
        run(folder, "--transpose")
