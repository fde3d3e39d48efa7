"""`assay predict`: what a person sees, and what he is told when the input is wrong."""

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

from assay.cli.predict import command
from assay.data import Qrels, Run
from assay.io import read_qrels, write_qrels, write_run
from assay.io.scores import read_scores
from tests.nojudgments.test_predictors import made
from tests.nojudgments.test_ranking import RELEVANT


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "runs").mkdir()
    for run in made():
        write_run(tmp_path / "runs" / f"{run.name}.run", run)
    write_qrels(tmp_path / "qrels.txt", Qrels.from_dict(RELEVANT))
    write_qrels(tmp_path / "one.qrels", Qrels.from_dict({"1": RELEVANT["1"]}))
    (tmp_path / "old").mkdir()
    rng = np.random.default_rng(1)
    for r in range(6):
        merit = rng.normal(size=(3, 30)) + (r / 2) * (np.arange(30) < 10)
        lists = {str(t): [f"d{i:02d}" for i in np.argsort(-merit[t])[:25]] for t in range(3)}
        write_run(tmp_path / "old" / f"old{r}.run", Run.from_lists(f"old{r}", lists))
    return tmp_path


def predict(*args: object) -> Result:
    return CliRunner().invoke(command, [*map(str, args), "--jobs", "1"], catch_exceptions=False)


def test_ranks_runs_of_a_folder(folder: Path) -> None:
    result = predict(folder / "runs")
    assert result.exit_code == 0
    assert "Runs ranked without judgments" in result.output
    assert "8 runs, 3 topics, no judgments used; combined: average" in result.output
    for run in made():
        assert run.name in result.output


def test_the_truth_stands_beside_the_prediction(folder: Path) -> None:
    result = predict(folder / "runs", "--qrels", folder / "qrels.txt", "-m", "nDCG@10", "--format", "json")
    ranking = json.loads(result.output)
    assert set(ranking["rows"][0]) >= {"rank", "run", "combined", "soboroff", "emap", "true_rank", "true_mean"}


def test_reweighting_shows_weights_and_saves_what_was_judged(folder: Path) -> None:
    given = ["reweight", folder / "runs", "--qrels", folder / "qrels.txt", "--rounds", "3"]
    saved = folder / "judged.txt"
    shown = CliRunner().invoke(
        command, [*map(str, given), "--save", str(saved), "--format", "json"], catch_exceptions=False
    )
    found = json.loads(shown.stdout)
    assert {row["run"] for row in found["rows"]} == {run.name for run in made()}
    assert len({row["weight"] for row in found["rows"]}) > 1
    assert set(found["tau"]) >= {"EMAP without judgments", "EMAP after reweighting", "weights"}
    judged = read_qrels(saved)
    assert len(judged) == 3 * len(RELEVANT)
    assert f"{len(judged)} judgments written to" in shown.stderr
    # What is judged already is not asked again: the rounds continue from there.
    more = CliRunner().invoke(
        command, [*map(str, given), "--judged", str(saved), "--save", str(folder / "more.txt")], catch_exceptions=False
    )
    assert more.exit_code == 0
    assert len(read_qrels(folder / "more.txt")) == 6 * len(RELEVANT)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--epsilon", "0.7"], "epsilon: must lie in"),
        (["--by", "team"], "--by looks at columns of --info"),
        (["--preferences", "some"], "'some' is not one of"),
    ],
)
def test_reweighting_refuses(options: list[str], message: str, folder: Path) -> None:
    given = ["reweight", str(folder / "runs"), "--qrels", str(folder / "qrels.txt"), *options]
    result = CliRunner().invoke(command, given)
    assert result.exit_code != 0
    assert message in f"{result.exception} {result.output}"


def test_accuracy(folder: Path) -> None:
    given = [folder / "runs", "--qrels", folder / "qrels.txt", "-m", "nDCG@10"]
    found = json.loads(predict("accuracy", *given, "--format", "json").output)
    assert {row["method"] for row in found["rows"]} >= {"soboroff", "emap", "combined (average)"}
    assert set(found["rows"][0]) == {"method", "pearson", "tau", "spearman", "tau_ap", "rbo", "error"}


@pytest.mark.parametrize(("level", "n"), [("runs", "8 runs"), ("topics", "3 topics"), ("cells", "24 cells")])
def test_accuracy_at_every_level(folder: Path, level: str, n: str) -> None:
    given = [folder / "runs", "--qrels", folder / "qrels.txt", "--method", "emap", "--method", "sakai-lin"]
    result = predict("accuracy", *given, "--level", level, "--figure", folder / "methods.svg")
    assert n in result.output
    assert "combined (average)" in result.output
    assert (folder / "methods.svg").read_text().startswith("<svg")


def test_agreement_of_methods(folder: Path) -> None:
    methods = ["--method", "emap", "--method", "sakai-lin", "--method", "aslam-savell"]
    found = json.loads(predict("agreement", folder / "runs", *methods, "--format", "json").output)
    assert len(found["rows"]) == 3


def compared(folder: Path, *args: object) -> Result:
    collections = ["--collection", "new", folder / "qrels.txt", folder / "runs"]
    collections += ["--collection", "old", folder / "qrels.txt", folder / "old"]
    return predict("compare", *collections, "--method", "emap", "--method", "sakai-lin", *args)


def test_methods_over_collections(folder: Path) -> None:
    found = json.loads(compared(folder, "--format", "json").output)
    assert {row["method"] for row in found["rows"]} == {"emap", "sakai-lin", "combined (average)", "oracle"}
    assert set(found["rows"][0]) == {"method", "new", "old", "median", "mean", "lowest", "highest"}
    tests = compared(folder, "--tests", "--format", "csv").output
    assert tests.splitlines()[0] == "method,other,delta,p,p_corrected"
    assert len(tests.splitlines()) == 7
    drawn = compared(
        folder, "--figure", folder / "boxes.svg", "--boxes", "collection", "--measure-of", "old", "nDCG@10"
    )
    assert "old: 6 runs, 3 topics, nDCG@10" in drawn.output
    assert (folder / "boxes.svg").exists()


def test_ease_of_topics_in_two_score_tables(folder: Path) -> None:
    for name, method in (("one", "emap"), ("two", "sakai-lin")):
        predict(folder / "runs", "--method", method, "--save", folder / f"{name}.csv")
    result = CliRunner().invoke(command, ["ease", str(folder / "one.csv"), str(folder / "two.csv")])
    assert "Ease of 3 topics (AAP): one (1) and two (2)" in result.output


def test_quarters_by_the_truth(folder: Path) -> None:
    given = ["--qrels", folder / "qrels.txt", "--quarters", "--order", "true", "--geometric"]
    assert "Predicted GAAP by quarter of true ease" in predict("difficulty", folder / "runs", *given).output


def test_difficulty(folder: Path) -> None:
    given = [folder / "runs", "--qrels", folder / "qrels.txt"]
    found = json.loads(predict("difficulty", *given, "--format", "json").output)
    assert len(found["rows"]) == 3
    assert set(found["rows"][0]) == {"topic", "quarter", "predicted", "true"}
    alone = predict("difficulty", folder / "runs", "--method", "emap")
    assert "Topic difficulty by emap" in alone.output
    quarters = predict("difficulty", *given, "--quarters", "--format", "csv")
    assert quarters.output.splitlines()[0] == "quarters,delta,p_corrected"


def test_chosen_methods_and_combination(folder: Path) -> None:
    result = predict(
        folder / "runs", "--method", "emap", "--method", "soboroff(duplicates=true)", "--combine", "condorcet",
        "--format", "csv", "--seed", "3",
    )  # fmt: skip
    (header, *rows) = list(csv.reader(io.StringIO(result.output)))
    assert header == ["rank", "run", "kind", "combined", "emap", "soboroff(duplicates=true)"]
    assert len(rows) == 8


def test_many_methods_fit_a_terminal_and_are_all_there_on_request(folder: Path) -> None:
    short, wide = predict(folder / "runs").output, predict(folder / "runs", "--ranks").output
    assert "median rank  best  worst" in short
    assert max(map(len, short.splitlines()[:12])) <= 100
    assert "SPO-SA  EMAP" in wide
    (header, *_) = csv.reader(io.StringIO(predict(folder / "runs", "--format", "csv").output))
    assert header[-1] == "emap"


def test_earlier_collections_teach(folder: Path) -> None:
    args = ["--method", "emap", "--method", "sakai-lin", "--method", "wu-crestani-v4", "--qrels", folder / "qrels.txt"]
    earlier = ["--year", 2001, "--earlier", "old", 2000, folder / "qrels.txt", folder / "old"]
    result = predict("learn", folder / "runs", *args, *earlier)
    assert "svr trained on old (2000) of 2 methods (without wu-crestani-v4)" in result.output
    ridge = predict("learn", folder / "runs", *args, *earlier, "--model", "ridge(alpha=2)", "--nearest", 1)
    assert "ridge(alpha=2) trained on old" in ridge.output


def test_a_trained_model_is_saved_and_used_later(folder: Path) -> None:
    methods = ["--method", "emap", "--method", "sakai-lin"]
    earlier = ["--year", 2001, "--earlier", "old", 2000, folder / "qrels.txt", folder / "old"]
    model = folder / "model.json"
    first = predict("learn", folder / "runs", *methods, *earlier, "--save-model", model, "--format", "csv")
    again = predict("learn", folder / "runs", "--year", 2001, "--saved", model, "--format", "csv")
    assert first.exit_code == again.exit_code == 0
    assert first.stdout == again.stdout
    assert json.loads(model.read_text())["methods"] == ["emap", "sakai-lin"]


def test_one_run_of_each_group(folder: Path) -> None:
    teams = "".join(f"r{i},{'ab'[i % 2]}\n" for i in range(8))
    (folder / "teams.csv").write_text(f"run,team\n{teams}")
    args = ["--qrels", folder / "qrels.txt", "--method", "emap", "--info", folder / "teams.csv", "--by", "team"]
    result = predict("accuracy", folder / "runs", *args, "--per-group", "random", "--seed", 3)
    assert "One run of each group, drawn at random: 2 of 8 runs." in result.output
    ranked = predict(folder / "runs", *args, "--format", "json")
    assert sorted(row["run"] for row in json.loads(ranked.output)["rows"]) == ["r0", "r1"]


def test_transfer_over_collections(folder: Path) -> None:
    collections = ["--collection", "new", folder / "qrels.txt", folder / "runs"]
    collections += ["--collection", "old", folder / "qrels.txt", folder / "old"]
    args = [*collections, "--method", "emap", "--method", "sakai-lin", "--model", "ridge"]
    result = predict("transfer", *args, "--figure", folder / "map.svg")
    assert "ridge trained on one collection and tested on another" in result.output
    assert (folder / "map.svg").exists()


def test_judged_topics_are_mixed_in(folder: Path) -> None:
    result = predict(folder / "runs", "--method", "emap", "--judged", folder / "one.qrels")
    assert "True AP on 1 of 3 topics" in result.output
    with_truth = predict(folder / "runs", "--judged", folder / "one.qrels", "--qrels", folder / "qrels.txt")
    assert "judged AP  true rank" in with_truth.output


def test_what_more_judged_topics_would_bring(folder: Path) -> None:
    args = ["--qrels", folder / "qrels.txt", "--method", "emap", "--choice", "P1", "--choice", "P2", "-r", 4]
    result = predict("inject", folder / "runs", *args, "--sizes", "1,2", "--format", "json")
    chance, likeness = json.loads(result.output)
    assert [row["judged"] for row in chance["rows"]] == [1, 2]
    assert "repetitions=4" in chance["notes"][0]
    assert likeness["rows"][0]["tau_sd"] is None
    sheet = predict("inject", folder / "runs", *args, "--sizes", "1,2", "--format", "csv").output
    assert len(sheet.splitlines()) == 5
    picture = folder / "grown.svg"
    assert predict("inject", folder / "runs", *args, "--figure", picture, "--quiet").exit_code == 0
    assert len(list(folder.glob("grown*.svg"))) == 2


def calibrated(folder: Path, measure: str) -> list[dict[str, object]]:
    args = ["calibration", folder / "runs", "--qrels", folder / "graded.qrels", "-m", measure, "--format", "json"]
    rows: list[dict[str, object]] = json.loads(CliRunner().invoke(command, [*map(str, args)]).output)["rows"]
    return rows


def test_calibration_counts_what_the_measure_counts(folder: Path) -> None:
    """With grades 1 for all that was relevant, AP(rel=2) has nothing relevant; with grades 2 it has all of it."""
    low = {t: {d: int(g > 0) for d, g in docs.items()} for t, docs in RELEVANT.items()}
    write_qrels(folder / "graded.qrels", Qrels.from_dict(low))
    some = calibrated(folder, "AP")
    assert any(row["share_relevant"] for row in some)
    assert not any(row["share_relevant"] for row in calibrated(folder, "AP(rel=2)"))
    write_qrels(folder / "graded.qrels", Qrels.from_dict({t: {d: 2 * g for d, g in x.items()} for t, x in low.items()}))
    assert calibrated(folder, "AP(rel=2)") == some
    fewer = calibrated(folder, "AP(rel=2)@3")
    assert sum(int(str(row["docs"])) for row in fewer) < sum(int(str(row["docs"])) for row in some)


def test_manual_runs_are_marked(folder: Path) -> None:
    (folder / "manual.txt").write_text("r1\n\nr4\n")
    result = predict(folder / "runs", "--method", "sakai-lin", "--manual-list", folder / "manual.txt", "--manual", "r5")
    assert result.output.count(" manual ") == 4
    assert "3 manual (r1, r4, r5)" in result.output
    assert "Tyranny of the masses" in result.output


def test_predicted_scores_can_be_saved(folder: Path) -> None:
    result = predict(folder / "runs", "--method", "emap", "--method", "sakai-lin", "--save", folder / "p.csv")
    assert result.exit_code == 0
    emap, count, together = read_scores(folder / "p.csv")
    assert [m.measure for m in (emap, count, together)] == ["emap", "sakai-lin", "combined-average"]
    np.testing.assert_allclose(together.values, (unit(emap.values) + unit(count.values)) / 2, atol=1e-9)
    predict(folder / "runs", "--method", "wu-crestani", "--save", folder / "s.csv", "--scale", "min-max")
    (scaled,) = read_scores(folder / "s.csv")
    assert (scaled.values.min(), scaled.values.max()) == (0, 1)


def unit(values: np.ndarray) -> np.ndarray:
    """Brought to [0, 1]."""
    scaled: np.ndarray = (values - values.min()) / np.ptp(values)
    return scaled


@pytest.mark.parametrize(
    ("args", "measures"),
    [
        (["--method", "emap"], ["emap"]),
        (["--method", "emap", "--method", "sakai-lin", "--combine", "borda"], ["emap", "sakai-lin", "combined-borda"]),
        (["--method", "emap", "--method", "wu-crestani-v4"], ["emap", "wu-crestani-v4"]),
        (["--method", "emap", "--judged", "one.qrels"], ["emap", "emap+1"]),
    ],
)
def test_the_combination_is_saved_where_it_is_more_than_one_method(
    folder: Path, args: list[str], measures: list[str]
) -> None:
    given = [folder / word if word.endswith(".qrels") else word for word in args]
    assert predict(folder / "runs", *given, "--save", folder / "p.csv").exit_code == 0
    assert [m.measure for m in read_scores(folder / "p.csv")] == measures


def test_what_a_model_learnt_is_saved(folder: Path) -> None:
    earlier = ["--year", 2001, "--earlier", "old", 2000, folder / "qrels.txt", folder / "old"]
    methods = ["--method", "emap", "--method", "sakai-lin"]
    predict("learn", folder / "runs", *methods, *earlier, "--model", "ridge", "--save", folder / "p.csv")
    assert [m.measure for m in read_scores(folder / "p.csv")] == ["emap", "sakai-lin", "learned-ridge"]


def test_list_of_methods() -> None:
    result = CliRunner().invoke(command, ["methods", "--format", "csv"])
    assert result.exit_code == 0
    listed = {row["name"]: row for row in csv.DictReader(io.StringIO(result.output))}
    better = [listed[f"spoerri-{name}"]["better"] for name in ("single", "all", "difference")]
    assert better == ["less", "more", "less"]
    assert listed["emap"]["paper"] == "Carterette & Allan 2007"
    for name in ("rank-position", "random-forest", "P4", "T5"):
        assert name in listed


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["runs/r0.run"], "give two or more"),
        (["runs", "--manual", "r99"], "no run 'r99'"),
        (["runs", "--method", "sobroff"], "did you mean soboroff"),
        (["runs", "--combine", "mean"], "no fusion 'mean'"),
        (["runs", "--qrels", "nowhere.txt"], "nowhere.txt"),
        (["nowhere.run", "runs"], "nowhere.run"),
        (["rank"], "RUNS"),
        (["runs", "--method", "emap", "--method", "emap"], "'emap' is there twice"),
        (["inject", "runs", "--choice", "P1"], "--qrels"),
        (["calibration", "runs"], "--qrels"),
        (["accuracy", "runs"], "--qrels"),
        (["runs", "-m", "AP"], "give --qrels or --judged"),
        (["runs", "--scale", "z"], "give --save"),
        (["runs", "--mix", "plain"], "give --judged"),
        (["runs", "--method", "soboroff(share=exact)"], "draws from judgments, and there are none"),
        (
            ["accuracy", "runs", "--qrels", "qrels.txt", "--level", "docs", "--method", "emap"],
            "'docs' is not one of 'runs', 'topics', 'cells'",
        ),
        (["difficulty", "runs", "--order", "true"], "give --quarters"),
        (["runs", "--per-group", "first"], "give --by and --info"),
        (["runs", "--by", "team"], "--info"),
        (["runs", "--method", "emap", "--info", "teams.csv", "--by", "team", "--per-group", "best"], "give qrels"),
        (["compare"], "--collection"),
        (["compare", "--collection", "a", "qrels.txt", "runs", "--tests"], "two collections or more"),
        (["compare", "--collection", "a", "qrels.txt", "runs", "--boxes", "method"], "give --figure"),
        (["compare", "--collection", "a", "qrels.txt", "runs", "--measure-of", "b", "AP"], "no such collection"),
        (["ease", "qrels.txt"], "SECOND"),
        (["agreement", "runs", "--method", "emap"], "needs two or more"),
        (["inject", "runs", "--qrels", "qrels.txt", "--method", "emap", "--mix", "shaken"], "no mixture of judged and"),
        (["runs", "--combine", "average", "--combine", "borda"], "--combine is given twice"),
        (["runs", "--manual-list", "nowhere.txt"], "nowhere.txt"),
        (["difficulty", "runs", "--quarters"], "give --qrels"),
        (["calibration", "runs", "--qrels", "qrels.txt", "--seed", "1"], "--seed"),
        (["inject", "runs", "--qrels", "qrels.txt", "--method", "emap", "--choice", "P9"], "to judge 'P9'"),
        (["inject", "runs", "--qrels", "qrels.txt", "--method", "emap", "--sizes", "9"], "between 1 and 3"),
        (["learn", "runs", "--year", "2001"], "--earlier"),
        (["learn", "runs", "--year", "2001", "--saved", "qrels.txt"], "not a saved model"),
        (["learn", "runs", "--year", "2001", "--saved", "qrels.txt", "--model", "svr"], "--model goes with --earlier"),
        (["transfer", "--collection", "a", "qrels.txt", "runs", "--method", "emap"], "two collections or more"),
        (["learn", "runs", "--earlier", "old", "2000", "qrels.txt", "old"], "--year"),
        (["learn", "runs", "--earlier", "old", "x", "qrels.txt", "old", "--year", "1"], "'x' is not a valid integer"),
        (
            ["learn", "runs", "--earlier", "old", "2000", "qrels.txt", "old", "--year", "2000", "--method", "emap"],
            "not earlier",
        ),
        (["learn", "runs", "--earlier", "o", "1", "no.txt", "old", "--year", "2"], "no.txt"),
        (["runs", "--combine", "svr"], "svr learns from earlier collections"),
        (["runs", "--judged", "none.qrels", "--method", "emap"], "none of the 1 topics"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(folder: Path, args: list[str], message: str) -> None:
    (folder / "none.qrels").write_text("99 0 a 1\n")
    (folder / "teams.csv").write_text("run,team\nr0,a\nr1,a\n")
    done = subprocess.run(
        [sys.executable, "-m", "assay.cli.main", "predict", *args], cwd=folder, capture_output=True, text=True
    )
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
