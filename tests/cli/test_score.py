"""assay score, check and measures as a person runs them: real files, real exit codes, one line of error."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from assay.check import tie_sensitivity
from assay.cli.check import command as check
from assay.cli.measures import command as measures
from assay.cli.score import command as score
from assay.core.errors import UsageError
from assay.data import Qrels, Run
from assay.io.scores import read_scores
from assay.scoring import Aligned
from tests.conftest import real_data

QRELS = "1 0 a 1\n1 0 b 0\n2 0 c 2\n2 0 d 1\n"
RUN = "1 Q0 b 1 2.0 one\n1 Q0 a 2 1.0 one\n2 Q0 c 1 2.0 one\n2 Q0 x 2 1.0 one\n"
OTHER = "1 Q0 a 1 2.0 two\n2 Q0 d 1 2.0 two\n2 Q0 c 2 2.0 two\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "one.run").write_text(RUN)
    (tmp_path / "runs" / "two.run").write_text(OTHER)
    return tmp_path


def run(folder: Path, *args: str) -> Result:
    command = ["--qrels", str(folder / "qrels.txt"), str(folder / "runs"), *args]
    return CliRunner().invoke(score, command, catch_exceptions=False)


def assay(*args: str | Path, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
    """The program itself, as a process."""
    command: Sequence[str] = [sys.executable, "-m", "assay.cli.main", *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, input=stdin, check=False)


def test_leaderboard_with_signatures(folder: Path) -> None:
    result = run(folder, "-m", "RR P@1 NumRelRet")
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "run      RR     P@1  NumRelRet",
        "---  ------  ------  ---------",
        "two  1.0000  1.0000          3",
        "one  0.7500  0.5000          2",
        "",
        "2 topics; RR|ties:docid|missing:zero|unjudged:0|assay:0.1",
        "2 topics; P@1|ties:docid|missing:zero|unjudged:0|assay:0.1",
        "2 topics; NumRelRet|ties:docid|missing:zero|unjudged:0|assay:0.1",
    ]


def test_per_topic_csv_and_json(folder: Path) -> None:
    text = run(folder, "-m", "RR", "-q", "--format", "csv").stdout
    assert "one,1,0.5" in text
    tables = json.loads(run(folder, "-m", "RR", "--per-topic", "--format", "json").stdout)
    assert {"run": "one", "topic": "1", "RR": 0.5} in tables[1]["rows"]
    assert r"\begin{tabular}{lr}" in run(folder, "-m", "RR", "--format", "latex").stdout


def test_saved_scores_are_all_digits(folder: Path) -> None:
    run(folder, "-m", "nDCG", "--save", str(folder / "s.csv"), "--quiet")
    (matrix,) = read_scores(folder / "s.csv")
    assert matrix.of_run("two").tolist() == [1.0, pytest.approx(0.859719, abs=1e-6)]
    assert matrix.signature.startswith("nDCG|gain:grade")


def test_options_that_change_scores(folder: Path) -> None:
    assert "0.5000" in run(folder, "-m", "RR", "--rel", "2").stdout
    average = run(folder, "-m", "RR(rel=2)", "--ties", "average").stdout
    assert "ties:average(exact)" in average
    bounds = run(folder, "-m", "P@2 AP", "--bounds").stdout
    assert "range" in bounds
    assert "two scenarios" in bounds
    assert "AP: The true score may lie outside of the two, and the second may be the lower one: " in bounds


def test_trec_eval_format(folder: Path) -> None:
    result = run(folder, "--format", "trec_eval", "-m", "map P.1", "-q", "-c")
    assert result.stdout.startswith("map                   \t1\t0.5000\nP_1                   \t1\t0.0000\n")
    assert "P_1                   \tall\t0.5000\n" in result.stdout


def test_a_plugin_adds_a_measure(folder: Path) -> None:
    plugin = folder / "mine.py"
    plugin.write_text(
        "from assay import measure\n"
        "@measure('FirstGrade')\n"
        "def first(g, *, times: float = 1.0):\n"
        "    '''Grade of the first doc.'''\n"
        "    return g.gains()[:, 0] * times\n"
    )
    command = [sys.executable, "-m", "assay.cli.main", "score", "--qrels", str(folder / "qrels.txt"),
               str(folder / "runs" / "one.run"), "--plugin", str(plugin), "-m", "FirstGrade(times=2)"]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "2.0000" in done.stdout
    plugin.write_text("1/0\n")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "mine.py: ZeroDivisionError: division by zero" in done.stderr


def test_lengths_for_measures_of_time(folder: Path) -> None:
    (folder / "lengths").write_text("a 500\nb 100\nc 10\nd 10\nx 10\n")
    assert run(folder, "-m", "TBG", "--lengths", str(folder / "lengths")).exit_code == 0
    done = assay("score", "--qrels", folder / "qrels.txt", folder / "runs" / "one.run", "-m", "TBG")
    assert done.returncode == 2
    assert "length" in done.stderr


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["score", "--qrels", "{}/qrels.txt", "{}/runs/one.run", "-m", "nDGC@10"], "no measure 'nDGC'; did you mean"),
        (["score", "--qrels", "{}/qrels.txt", "{}/runs/one.run", "-m", "P@0"], "must be a whole number from 1"),
        (["score", "--qrels", "{}/qrels.txt", "{}/runs/one.run", "-m", "AP(x=1)"], "no parameter 'x'; it takes"),
        (["score", "--qrels", "{}/nothing.txt", "{}/runs/one.run"], "nothing.txt: No such file"),
        (["score", "--qrels", "{}/qrels.txt", "{}/no.run"], "no.run: No such file"),
        (["score", "--qrels", "{}/qrels.txt"], "Missing argument 'RUNS...'"),
        (["score", "--qrels", "{}/qrels.txt", "{}/runs", "--tie", "x"], "--tie"),
        (["score", "--qrels", "{}/qrels.txt", "{}/runs", "-c"], "-c goes with --format trec_eval, not with --qrels"),
        (["score", "--qrels", "{}/runs/one.run", "{}/runs/one.run"], "one.run is a run; give judgments"),
        (["scroe"], "no command 'scroe'; did you mean score"),
    ],
)  # fmt: skip
def test_bad_calls_end_with_one_line_and_2(args: list[str], message: str, folder: Path) -> None:
    done = assay(*(a.format(folder) for a in args))
    assert done.returncode == 2
    assert done.stdout == ""
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_standard_input_and_an_output_that_is_whole_or_not_there(folder: Path) -> None:
    done = assay("score", "--qrels", folder / "qrels.txt", "-", "-m", "RR", "-o", folder / "out.txt", stdin=RUN)
    assert done.returncode == 0
    assert "0.7500" in (folder / "out.txt").read_text()
    done = assay("score", "--qrels", folder / "qrels.txt", "-", "-o", folder / "no" / "out.txt", stdin=RUN)
    assert done.returncode == 2
    assert "No such file or directory" in done.stderr


def test_standard_input_beside_many_runs(folder: Path) -> None:
    """So many that copies of the process read them, which have no standard input."""
    for number in range(9):
        (folder / "runs" / f"more{number}.run").write_text(OTHER.replace("two", f"more{number}"))
    command: list[str | Path] = [
        "score",
        "--qrels",
        folder / "qrels.txt",
        folder / "runs",
        "-",
        "-m",
        "RR",
        "--jobs",
        "2",
    ]
    done = assay(*command, stdin=RUN.replace("one", "piped"))
    assert done.returncode == 0, done.stderr
    assert len([line for line in done.stdout.splitlines() if line.endswith("0000")]) == 10
    assert "piped  0.7500" in done.stdout


def test_standard_input_is_given_once(folder: Path) -> None:
    for qrels, run in ((folder / "qrels.txt", "-"), ("-", folder / "runs")):
        done = assay("score", "--qrels", qrels, run, "-", "-m", "RR", stdin="1 0 a 1\n" if qrels == "-" else RUN)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith("assay: standard input (-) is given twice, and can be read once; give one")


def test_lenient_says_what_it_dropped(folder: Path) -> None:
    path = folder / "bad.run"
    path.write_text(RUN + "2 Q0 c 3 0.5 one\n2 Q0 y\n2 Q0 z 4 NaN one\n")
    done = assay("score", "--qrels", folder / "qrels.txt", path, "-m", "RR")
    assert done.returncode == 2
    assert "bad.run:5: doc 'c' is twice in topic '2' (first on line 3)" in done.stderr
    done = assay("score", "--qrels", folder / "qrels.txt", path, "-m", "RR", "--lenient")
    assert done.returncode == 0
    assert "0.7500" in done.stdout
    assert "bad.run: 3 lines dropped in all" in done.stderr


def test_check_finds_what_is_odd(folder: Path) -> None:
    path = folder / "odd.run"
    path.write_text(
        "1 Q0 a 1 1.0 odd\n1 Q0 b 3 2.0 odd\n1 Q0 e 4 3.0 odd\n1 Q0 f 5 3.0 odd\n7 Q0 z 1 inf odd\n1 Q0 a 9 0.1 odd\n"
    )
    result = CliRunner().invoke(check, ["--qrels", str(folder / "qrels.txt"), str(path)])
    assert result.exit_code == 1
    for words in (
        "odd.run:6", "doc 'a' is twice in topic '1'", "rank '3' does not follow", "rank 4 has a higher score",
        "infinite score", "1 topics of qrels.txt are missing, they score 0 (2)", "no judgments and are left out (7)",
        "unjudged docs: 50.0 % of the top 5", "2 docs are tied", "Tie sensitivity",
    ):  # fmt: skip
        assert words in result.stdout


def test_check_of_clean_files_exits_with_0(folder: Path) -> None:
    result = CliRunner().invoke(check, ["--qrels", str(folder / "qrels.txt"), str(folder / "runs" / "one.run")])
    assert result.exit_code == 0
    assert "0 errors" in result.stdout


def test_check_of_judgments(folder: Path) -> None:
    (folder / "q2").write_text("1 0 a -1\n1 0 b 0\n2 0 c 5\n2 0 d half\n")
    result = CliRunner().invoke(check, ["--qrels", str(folder / "q2"), str(folder / "runs" / "one.run")])
    assert result.exit_code == 1
    for words in (
        "grade is not a number: 'half'",
        "1 negative grades",
        "odd grades",
        "1 topics without a relevant doc",
    ):
        assert words in result.stdout


def test_measures_are_listed_and_explained() -> None:
    text = CliRunner().invoke(measures, []).stdout
    assert "nDCG " in text
    one = CliRunner().invoke(measures, ["AP"]).stdout
    assert one.startswith("AP(k=none, rel=1)\n\nMean of the precision")
    assert "Paper: " in one
    assert ">>>" not in one


@pytest.mark.parametrize("command", [[], ["plan"], ["crowd"]])
def test_without_arguments_there_is_the_help(command: list[str]) -> None:
    done = assay(*command)
    assert done.returncode == 2
    assert done.stderr.startswith("Usage: assay")
    assert "Commands:\n" in done.stderr


@pytest.mark.parametrize("other", ["--bounds", "--per-topic", "--lenient"])
def test_uncertain_judgments_go_with_few_options(other: str, tmp_path: Path) -> None:
    done = assay("score", "--uncertainty", tmp_path / "u.csv", tmp_path / "r.run", other)
    assert done.returncode == 2
    assert done.stderr.startswith(f"assay: {other} goes with --qrels")
    assert done.stderr.endswith("not with --uncertainty\n")


def test_the_program_starts_without_what_it_does_not_need() -> None:
    code = (
        "import sys, assay.cli.main\n"
        "heavy = {'numpy', 'scipy', 'polars', 'rich', 'altair', 'joblib', 'jinja2'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    code = "import sys, assay.scoring\nassert not {'scipy.stats', 'altair', 'joblib', 'polars'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert assay("--version").stdout == "assay, version 0.1.0\n"


def test_the_whole_table_of_trec_eval_on_real_files() -> None:
    root = real_data("trec_eval-tests")
    done = assay(
        "score", "--qrels", root / "input" / "qrels.test", root / "input" / "results.trunc", "--format", "trec_eval",
        "--compat", "trec_eval-10", "-m", "all_trec", "-q", "-c", "-M100",
    )  # fmt: skip
    assert done.stdout == (root / "expected-v10.0-rc3" / "out.test.aqcM").read_text()


def test_tied_unjudged_docs_come_last_in_the_best_order() -> None:
    """a (relevant) tied with x and y (unjudged): RR is 1 at best, 1/3 at worst."""
    qrels = Qrels.from_dict({"1": {"a": 1, "b": 0}})
    run = Run.from_dict("r", {"1": {"a": 1.0, "x": 1.0, "y": 1.0}})
    table = tie_sensitivity(Aligned.of([run], qrels, ties="average").grades("r"), "r", ["RR", "AP"])
    for row in table.rows:
        assert row[2:] == pytest.approx((1 / 3, 1 / 3, 1.0, 2 / 3))


def test_check_reads_tables_and_finds_empty_judgments(folder: Path) -> None:
    (folder / "r.csv").write_text("topic,doc,score\n1,a,2\n2,c,1\n")
    (folder / "q.csv").write_text("topic,doc,grade\n1,a,1\n2,c,-1\n")
    found = CliRunner().invoke(check, ["--qrels", str(folder / "q.csv"), str(folder / "r.csv")])
    assert (found.exit_code, "1 negative grades" in found.stdout) == (0, True)
    (folder / "r.csv").write_text("topic,doc,score\n1,a,x\n")
    found = CliRunner().invoke(check, [str(folder / "r.csv")])
    assert (found.exit_code, "r.csv:2  error" in found.stdout) == (1, True)
    (folder / "q.csv").write_text("topic,doc\n1,a\n")
    (folder / "empty").write_text("")
    for bad, what in (("q.csv", "no column 'grade'"), ("empty", "there is no judgment")):
        found = CliRunner().invoke(check, ["--qrels", str(folder / bad), str(folder / "runs")])
        assert (found.exit_code, what in found.stdout) == (1, True)


def test_a_measure_is_explained_in_every_format_and_with_a_cutoff() -> None:
    text = CliRunner().invoke(measures, ["nDCG@10"]).stdout
    assert text.startswith("nDCG(k=none")
    assert "\n\nPaper: Järvelin & Kekäläinen 2002; Burges et al. 2005\n" in text
    assert "Also called: ndcg_burges = nDCG(gain=exp) (ranx), ndcg (trec_eval), ndcg_cut_5 = nDCG@5 (trec_eval)" in text
    record = json.loads(CliRunner().invoke(measures, ["nDCG", "--format", "json"]).stdout)
    assert record["rows"][0]["paper"] == "Järvelin & Kekäläinen 2002; Burges et al. 2005"
    assert len(CliRunner().invoke(measures, ["nDCG", "--format", "markdown"]).stdout.splitlines()) == 3


def test_a_measure_is_explained_by_the_name_of_another_tool() -> None:
    text = CliRunner().invoke(measures, ["MRR@10"]).stdout
    assert text.startswith("RR(k=none, rel=1)\n")
    assert text.endswith("Also called: MRR (ir_measures, ranx), reciprocal_rank (ranx), recip_rank (trec_eval)\n")
    record = json.loads(CliRunner().invoke(measures, ["hit_rate", "--format", "json"]).stdout)
    assert record["rows"][0]["measure"] == "Success(k=none, rel=1)"
    assert record["rows"][0]["also_called"].startswith("hit_rate (ranx)")


def test_names_of_other_tools_print_ours(folder: Path) -> None:
    text = run(folder, "-m", "MRR ndcg@10 R@100, nDCG(dcg='exp-log2')@5 map@100-l2").stdout
    assert text.splitlines()[0].split() == ["run", "RR", "nDCG@10", "Recall@100", "nDCG(gain=exp)@5", "AP(rel=2)@100"]
    with pytest.raises(UsageError, match=r"rbp.95: ranx weights by the grade itself"):
        run(folder, "-m", "rbp.95")


def test_binary_judgments(folder: Path) -> None:
    """Topic 1: a has grade 1; topic 2: c has grade 2 and d grade 1; run two has d above c in topic 2."""
    graded = run(folder, "-m", "nDCG", "--format", "csv").stdout.splitlines()
    from_1 = run(folder, "-m", "nDCG", "--binary", "--format", "csv").stdout.splitlines()
    from_2 = run(folder, "-m", "nDCG RBP", "--binary", "--rel", "2", "--format", "csv").stdout.splitlines()
    assert graded[1].startswith("two,0.92")
    assert from_1[1] == "two,1.0"
    assert from_2[1].startswith("one,0.5,")
    signature = run(folder, "-m", "RBP", "--binary", "-l", "2").stdout.splitlines()[-1]
    assert signature == "2 topics; RBP(p=0.8)|gain:grade|binary:2|top:1|ties:docid|missing:zero|unjudged:0|assay:0.1"
    assert "worst order" in assay("check", "--qrels", folder / "qrels.txt", folder / "runs", "--binary").stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-m", "AP(rel=2)", "--binary"], r"AP\(rel=2\): binary judgments have the grades 0 and 1"),
        (["-m", "RBP", "--binary", "--top-grade", "3"], "top=3 is not the top grade of binary judgments"),
        (["-m", "AP", "--binary", "-l", "0"], "the lowest relevant grade of binary judgments must be above 0, not 0"),
        (["-m", "map", "--binary", "--format", "trec_eval"], "--binary goes with --qrels or --intents"),
    ],
)
def test_binary_judgments_that_cannot_be(options: list[str], message: str, folder: Path) -> None:
    with pytest.raises(UsageError, match=message):
        run(folder, *options)


def test_check_of_binary_judgments(folder: Path) -> None:
    qrels = ("--qrels", folder / "qrels.txt")
    assert "binary, relevant from grade 2 on" in assay("check", *qrels, folder / "runs", "--binary", "-l", "2").stdout
    for options, what in (([*qrels, "--rel", "2"], "give both"), (["--binary"], "give --qrels")):
        found = assay("check", folder / "runs", *options)
        assert (found.returncode, what in found.stderr) == (2, True)


@pytest.mark.parametrize("option", [["--save", "s.csv"], ["--bounds"]])
def test_what_trec_eval_output_cannot_show_is_refused(option: list[str], folder: Path) -> None:
    with pytest.raises(UsageError, match=r"goes with --qrels.*, not with --format trec_eval"):
        run(folder, "--format", "trec_eval", *option)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--draw", "map"], "--draw says what the figure shows"),
        (["-m", "nDCG@10", "-l", "2"], "--rel has no effect"),
        (["-m", "AP", "--seed", "7"], "--seed has no effect"),
        (["-m", "AP", "--top-grade", "3"], "--top-grade has no effect"),
        (["-m", "AP", "--lengths", "lengths.txt"], "--lengths has no effect"),
        (["-M", "5", "--depth", "5"], "-M and --depth are the same"),
        (["-m", "AP", "--intent-info", "x"], "--intent-info goes with --intents, not with --qrels"),
    ],
)
def test_an_option_without_effect_is_an_error(options: list[str], message: str, folder: Path) -> None:
    with pytest.raises(UsageError, match=message):
        run(folder, *options)


def test_a_measure_keeps_its_own_lowest_relevant_grade(folder: Path) -> None:
    """RBP is graded unless --rel makes it binary: in topic 2 the grades 2 and 1 differ."""
    graded, binary = run(folder, "-m", "RBP").stdout, run(folder, "-m", "RBP", "-l", "1").stdout
    assert "|RBP(p=0.8)" in graded or "RBP(p=0.8)|" in graded
    assert "rel=1" in binary
    assert graded.splitlines()[2] != binary.splitlines()[2]


def test_the_top_grade_is_in_the_signature(folder: Path) -> None:
    assert "|top:4|" in run(folder, "-m", "ERR@10", "--top-grade", "4").stdout


@pytest.mark.parametrize("what", ["map", "distribution", "recall-precision", "relevance"])
def test_scores_are_drawn(what: str, folder: Path) -> None:
    args = ["--qrels", str(folder / "qrels.txt"), str(folder / "runs" / "one.run"), str(folder / "runs" / "two.run")]
    picture = folder / "picture.html"
    result = CliRunner().invoke(
        score, [*args, "-m", "AP", "--draw", what, "--figure", str(picture)], catch_exceptions=False
    )
    assert result.exit_code == 0
    assert "<script" in picture.read_text()


def test_measures_that_rel_makes_the_same_are_one(folder: Path) -> None:
    output = run(folder, "-m", "AP AP(rel=2) RR", "--rel", "2", "--format", "csv").stdout
    assert output.splitlines()[0] == "run,AP(rel=2),RR(rel=2)"


@pytest.mark.parametrize(
    "asked",
    [
        "nDCG@" + "9" * 5000,
        "P(k=" + "9" * 5000 + ")",
        "nDCG(gain=1:inf)",
        "P.",
        "P.inf",
        "G.x",
        "ndcg_cut." + "9" * 5000,
    ],
)
@pytest.mark.parametrize("format", ["text", "trec_eval"])
def test_absurd_parameters_are_refused(folder: Path, asked: str, format: str) -> None:
    with pytest.raises(UsageError) as error:
        run(folder, "-m", asked, "--format", format)
    assert len(str(error.value)) < 500


def test_absurd_parameters_are_one_line(folder: Path) -> None:
    files = ("--qrels", folder / "qrels.txt", folder / "runs" / "one.run")
    for asked in (["nDCG@" + "9" * 5000], ["relstring.x", "--format", "trec_eval", "-q"]):
        done = assay("score", *files, "-m", *asked)
        assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)
