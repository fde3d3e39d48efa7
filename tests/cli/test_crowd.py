"""assay crowd: every command on small files, and bad input."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from assay.cli.crowd import command
from assay.core.errors import AssayError
from assay.crowd import read_uncertain
from assay.crowd.uncertain import COLUMNS
from assay.io import read_qrels


def run(*arguments: object) -> Result:
    return CliRunner().invoke(command, [str(a) for a in arguments], catch_exceptions=True)


def written_grades(path: Path) -> dict[str, dict[str, float]]:
    """Topic → doc → grade of the lines of a qrels file, as they stand there."""
    found: dict[str, dict[str, float]] = {}
    for line in path.read_text().splitlines():
        topic, _, doc, grade = line.split()
        found.setdefault(topic, {})[doc] = float(grade)
    return found


@pytest.fixture
def files(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    lines, qrels, gold = ["topic,doc,worker,label,seconds"], [], []
    for t in ("1", "2"):
        for d in range(12):
            worth = rng.uniform(0, 100)
            qrels.append(f"{t} 0 d{d} {int(worth > 55)}")
            lines += [
                f"{t},d{d},w{w},{int(np.clip(worth + rng.normal(0, 12), 0, 100))},{rng.uniform(10, 60):.1f}"
                for w in range(6)
            ]
        gold += [f"{t} 0 g0 0", f"{t} 0 g1 1"]
        for k, name in enumerate(("good", "bad")):
            run_lines = [f"{t} Q0 d{d} {d + 1} {(12 - d) if k else d} {name}" for d in range(12)]
            with (tmp_path / f"{name}.run").open("a") as file:
                file.write("\n".join(run_lines) + "\n")
    (tmp_path / "labels.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "expert.qrels").write_text("\n".join(qrels) + "\n")
    (tmp_path / "gold.qrels").write_text("\n".join(gold) + "\n")
    return tmp_path


def test_check(files: Path) -> None:
    done = run("check", files / "labels.csv", "--scale", "S100", "--reference", files / "expert.qrels", "--start", 50)
    assert done.exit_code == 0, done.output
    for words in ("Nothing odd was found", "Protocol: 12 tasks", "Quality per topic", "Workers, most suspect first"):
        assert words in done.output
    assert "AUC" in done.output
    short = run("check", files / "labels.csv", "--scale", "S100", "--most", 0).output
    assert "AUC" not in short
    assert "Workers, most suspect first" not in short


def test_check_as_json_is_a_list_of_tables(files: Path) -> None:
    done = run("check", files / "labels.csv", "--scale", "S100", "--format", "json", "--quiet")
    tables = json.loads(done.output)
    assert len(tables) == 7
    assert tables[3]["rows"][-1]["topic"] == "all"


def test_aggregate_writes_qrels_and_uncertainty(files: Path) -> None:
    done = run(
        "aggregate", files / "labels.csv", "--scale", "S100", "--method", "interval", "--qrels", files / "out.qrels",
        "--uncertainty", files / "out.csv", "--workers", 2, "--most", 2,
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "interval model: converged" in done.output
    judged = read_uncertain(files / "out.csv")
    assert written_grades(files / "out.qrels") == judged.qrels().to_dict()
    assert len(judged) == 24


def test_aggregate_of_words_with_a_reference(tmp_path: Path) -> None:
    (tmp_path / "l.tsv").write_text(
        "item\twho\tsays\n" + "".join(f"t_d{d}\tw{w}\t{'yes' if d % 2 else 'no'}\n" for d in range(4) for w in range(3))
    )
    (tmp_path / "q").write_text("".join(f"t 0 d{d} {d % 2}\n" for d in range(4)))
    done = run(
        "aggregate", tmp_path / "l.tsv", "--column", "worker=who", "--column", "label=says", "--split", "_",
        "--scale", "no<yes", "--method", "dawid-skene", "--reference", tmp_path / "q",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "Agreement with the reference" in done.output


def test_transform_writes_qrels_and_ranks_runs(files: Path) -> None:
    done = run(
        "transform", files / "labels.csv", "--scale", "S100", "--way", "D_a+t", "--target", files / "expert.qrels",
        "--qrels", files / "two.qrels", "--run", files / "good.run", "--run", files / "bad.run",
        "--reference", files / "expert.qrels",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "S100 → 2 levels by D_a+t" in done.output
    assert "Kendall τ_b" in done.output
    assert set(read_qrels(files / "two.qrels").grades.tolist()) == {0, 1}


def test_transform_to_four_levels_tries_all_triples(files: Path) -> None:
    done = run("transform", files / "labels.csv", "--scale", "S100", "--levels", 4, "--way", "Tw_alpha")
    assert "exact search over 161700 cuts" in done.output


def test_effort_and_profile(files: Path) -> None:
    done = run("effort", files / "labels.csv", "--scale", "S100", "--reference", files / "expert.qrels", "--repeats", 2)
    assert done.exit_code == 0, done.output
    for words in ("at an end of the scale", "Seconds by position", "by docs per task", "by labels per doc"):
        assert words in done.output
    assert "Without a column of positions the first docs are those of the file." in done.output
    done = run("profile", files / "labels.csv", "--scale", "S100", "--reference", files / "expert.qrels")
    assert "Gain profile" in done.output


def test_tasks(files: Path) -> None:
    done = run(
        "tasks", files / "expert.qrels", "--gold", files / "gold.qrels", "--to", files / "tasks.csv", "--seed", 3
    )
    assert done.exit_code == 0, done.output
    assert "8 docs per task, 2 of them gold; 10 workers; seed 3." in done.output
    assert len((files / "tasks.csv").read_text().splitlines()) == 1 + 2 * 20 * 8


def test_preferences_and_methods(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("topic,doc,other,worker,label\n1,a,b,w,1\n1,b,c,v,1\n")
    done = run("preferences", tmp_path / "p.csv", "--qrels", tmp_path / "q", "--uncertainty", tmp_path / "u.csv")
    assert done.exit_code == 0, done.output
    assert written_grades(tmp_path / "q")["1"]["a"] > 50
    listed = run("methods").output
    assert "dawid-skene" in listed
    assert "Tw_alpha" in listed


@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        ("1,a,w,1\n1,a,v,yes", [], "labels.csv:3: label is not a number: 'yes'"),
        ("1,a,w,1\n1,a,v,7", ["--scale", "S2"], "labels.csv:3: label 7 is not on the scale S2"),
        ("1,a,w,1", ["--method", "mode"], "no aggregation 'mode'"),
        ("1,a,w,1", ["--column", "label"], "--column 'label' is not of the form name=value"),
        ("1,a,w,1", ["--scale", "huge"], "no scale 'huge'"),
        ("1,a,w,", [], "labels.csv:2: label is empty"),
        ("1,a,w,1\n1,a,v,nan", [], "labels.csv:3: label is not a number: 'nan'"),
        ("1,a,w,1\n1,a,v", [], "labels.csv:3: 3 cells where the header has 4"),
        ("1,a,w,1\n1,a,,0", [], "labels.csv:3: worker is empty"),
        ("1,a,w,-3\n1,a,v,500", [], "labels from -3 to 500 fit no usual scale; say which it is (--scale)"),
        ("1,a,w,1", ["--times", "0"], "labels times 0 say nothing; the factor must be above 0"),
        ("1,a,w,1", ["--method", "mace(restarts=0)"], "mace: restarts must be at least 1, not 0"),
        ("1,a,w,1", ["--method", "mace(theta=0)"], "mace: theta must be above 0, not 0"),
        ("1,a,w,1", ["--method", "glad(iterations=0)"], "glad: iterations must be at least 1, not 0"),
        ("1,a,w,1", ["--method", "dawid-skene(smoothing=-1)"], "dawid-skene: smoothing must be at least 0, not -1"),
        ("1,a,w,1", ["--method", "ordinal(iterations=0)"], "ordinal: iterations must be at least 1, not 0"),
        ("1,a,w,1", ["--method", "bradley-terry"], "bradley-terry needs preference pairs"),
    ],
)
def test_bad_input_is_one_clear_error(tmp_path: Path, text: str, arguments: list[str], message: str) -> None:
    path = tmp_path / "labels.csv"
    path.write_text(f"topic,doc,worker,label\n{text}\n")
    done = run("aggregate", path, *arguments)
    assert isinstance(done.exception, AssayError)
    assert message in str(done.exception)


@pytest.mark.parametrize(
    ("header", "row", "message"),
    [
        ("topic,doc,label", "1,a,1", "labels.csv: no column 'worker'; the columns are: topic, doc, label"),
        ("topic,doc,worker,label,label", "1,a,w,1,0", "more than one column is called 'label'; rename all but one"),
        ("topic,doc,worker,label,seconds", "1,a,w,1,-5", "labels.csv:2: seconds is below 0: '-5'"),
        ("topic,doc,worker,label,seconds", "1,a,w,1,soon", "labels.csv:2: seconds is not a number: 'soon'"),
        ("topic,doc,worker,label,position", "1,a,w,1,1.5", "labels.csv:2: position is not a whole number: '1.5'"),
        ("topic,doc,worker,label", "", "labels.csv: there are no labels"),
    ],
)
@pytest.mark.parametrize("name", ["check", "aggregate", "transform", "effort"])
def test_bad_columns_stop_every_command(tmp_path: Path, name: str, header: str, row: str, message: str) -> None:
    (tmp_path / "labels.csv").write_text(f"{header}\n{row}\n")
    done = run(name, tmp_path / "labels.csv")
    assert isinstance(done.exception, AssayError)
    assert message in str(done.exception)
    assert not done.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ["check", "--reference"],
        ["check", "--gold"],
        ["aggregate", "--method", "mean", "--reference"],
        ["transform", "--way", "D_a+t", "--target"],
        ["effort", "--reference"],
        ["profile", "--reference"],
    ],
)
def test_judgments_of_other_docs_are_refused_and_nothing_is_written(files: Path, arguments: list[str]) -> None:
    (files / "other.qrels").write_text("9 0 z 1\n")
    writing = ["--qrels", files / "out.qrels"] if arguments[0] in ("aggregate", "transform") else []
    done = run(arguments[0], files / "labels.csv", "--scale", "S100", *writing, *arguments[1:], files / "other.qrels")
    assert isinstance(done.exception, AssayError)
    assert "a grade in other.qrels" in str(done.exception)
    assert not (files / "out.qrels").exists()


@pytest.mark.parametrize("option", ["--repeats", "--most-labels"])
def test_effort_draws_something(files: Path, option: str) -> None:
    done = run("effort", files / "labels.csv", "--scale", "S100", "--reference", files / "expert.qrels", option, 0)
    assert done.exit_code == 2
    assert f"Invalid value for '{option}'" in done.stderr


def test_repeats_and_a_guessed_scale_are_said(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("topic,doc,worker,label\n1,a,w,1\n1,a,w,0\n1,b,v,2\n1,b,u,0\n")
    done = run("aggregate", path, "--method", "mean")
    assert "scale taken to be S3 (0 < 1 < 2); --scale says otherwise" in done.stderr
    assert "same worker twice on a doc, 1 labels (lines 3): all count" in done.stderr
    assert "the last counts" in run("aggregate", path, "--method", "mean", "--repeats", "last").stderr
    assert "the first counts" in run("transform", path, "--way", "Tw_alpha").stderr
    assert not run("aggregate", path, "--method", "mean", "--quiet").stderr


def test_workers_are_shown_where_a_method_knows_them(files: Path) -> None:
    shown = run("aggregate", files / "labels.csv", "--scale", "S100", "--method", "interval", "--workers", 2)
    assert "Workers by interval model, the first 2 of 6" in shown.output
    plain = run("aggregate", files / "labels.csv", "--scale", "S100", "--method", "mean", "--workers", 2, "--most", 0)
    assert "--workers has no effect with mean, which says nothing about workers" in str(plain.exception)
    assert not plain.stdout
    short = run("aggregate", files / "labels.csv", "--scale", "S100", "--method", "mean", "--most", 0)
    assert "least certain" not in short.stdout


def test_figures_of_numbers_and_of_levels(files: Path, tmp_path: Path) -> None:
    pytest.importorskip("altair")
    picture = tmp_path / "grades.json"
    run("aggregate", files / "labels.csv", "--scale", "S100", "--method", "mean", "--figure", picture)
    assert "grade with its 95 % interval" in picture.read_text()
    # Levels stand in their order, whichever of them are the sure ones.
    rows = [(d, w, d if w or d > 2 else 0) for d in range(5) for w in range(6)]
    text = "topic,doc,worker,label\n" + "".join(f"1,d{d},w{w},{y}\n" for d, w, y in rows)
    (tmp_path / "levels.csv").write_text(text)
    run("aggregate", tmp_path / "levels.csv", "--method", "majority", "--figure", picture)
    assert json.dumps(["0", "1", "2", "3", "4"]) in json.dumps(json.loads(picture.read_text()))


def test_a_matrix_per_worker_needs_labels(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("topic,doc,worker,label\n" + "".join(f"1,d{d},w{w},{d % 3}\n" for d in range(3) for w in range(3)))
    assert "6 free cells and the typical worker 3 labels" in run("aggregate", path, "--method", "dawid-skene").output
    assert "free cells" not in run("aggregate", path, "--method", "one-coin").output


def test_check_reports_what_is_odd_and_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("topic,doc,worker,label\n1,a,w,1\n1,a,w,7\n1,b,v,1\n1,b,u,0\n1,c,u,0\n")
    done = run("check", path, "--scale", "S2")
    assert done.exit_code == 0, done.output
    for words in ("label outside the scale", "same worker twice on a doc", "doc with one label", "worker with one"):
        assert words in done.output
    assert "1 labels outside the scale are left out" in done.stderr


def test_dropped_rows_are_named(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("topic,doc,worker,label\n1,a,w,1\n1,a,v,\n")
    done = run("aggregate", path, "--drop-empty")
    assert "1 rows without label left out: lines 3" in done.stderr


def test_runs_need_a_reference(files: Path) -> None:
    done = run("transform", files / "labels.csv", "--scale", "S100", "--run", files / "good.run")
    assert "--run needs --reference" in str(done.exception)
    done = run("effort", files / "labels.csv", "--scale", "S4")
    assert isinstance(done.exception, AssayError)


def test_choices_are_those_of_the_library() -> None:
    """What is typed on the command line is what the library knows; names of methods and ways come from registries."""
    from assay.agreement.ratings import REPEATS
    from assay.crowd.checkup import PARTS
    from assay.crowd.cuts import SCOPES

    def choices(name: str, option: str) -> list[str]:
        found = next(p for p in command.commands[name].params if p.name == option)
        return list(found.type.choices)  # type: ignore[attr-defined]

    assert choices("aggregate", "repeats") == list(REPEATS)
    assert choices("transform", "scope") == list(SCOPES)
    assert ", ".join(PARTS) in " ".join(run("check", "--help").output.split())
    import assay.crowd.aggregation  # noqa: F401  (it registers the models)
    from assay.crowd.vote import AGGREGATIONS

    # Lines may break within a name such as one-coin.
    listed = f"One of: {AGGREGATIONS.listed()};".replace(" ", "")
    assert listed in "".join(run("aggregate", "--help").output.split())
    assert "H_t+a, H_a+t, Tw_alpha, H, D_a+t, D_t+a" in " ".join(run("transform", "--help").output.split())


def test_a_refusal_is_one_line(files: Path) -> None:
    """The remarks on the scale and on repeated labels belong to an answer; where there is none there is one line."""
    (files / "other.qrels").write_text("9 0 z 1\n")
    done = run("aggregate", files / "labels.csv", "--method", "mean", "--reference", files / "other.qrels")
    assert isinstance(done.exception, AssayError)
    assert not done.stderr
    done = run("aggregate", files / "labels.csv", "--method", "mean", "--qrels", files / "none" / "q")
    assert "make the folder" in str(done.exception)
    assert not done.output


def test_every_result_has_a_record_with_plain_keys(files: Path) -> None:
    from assay.crowd import aggregate, worker_quality
    from assay.crowd.checkup import check_labels
    from assay.crowd.effort_summary import judging_effort
    from assay.io.labels import read_labels

    labels, experts = read_labels(files / "labels.csv"), read_qrels(files / "expert.qrels")
    results = [
        aggregate(labels, "interval"), worker_quality(labels), check_labels(labels, reference=experts),
        judging_effort(labels, reference=experts, repeats=2),
    ]  # fmt: skip
    for result in results:
        record = result.record()
        assert json.loads(json.dumps(record, allow_nan=False)) == record
        for table in result.tables():
            assert all(key.isascii() for key in table.keys)
    assert {"worker", "labels", "agreement", "alpha_gain"} <= set(results[1].table().keys)
    assert set(results[0].table().keys) == set(COLUMNS)
