"""assay crowd: every command on small files, and bad input."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from assay.cli.crowd import command
from assay.crowd.uncertain import read_uncertain
from assay.errors import AssayError
from assay.io import read_qrels


def run(*arguments: object) -> Result:
    return CliRunner().invoke(command, [str(a) for a in arguments], catch_exceptions=True)


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


def test_check_as_json_is_a_list_of_tables(files: Path) -> None:
    done = run("check", files / "labels.csv", "--scale", "S100", "--format", "json", "--quiet")
    tables = json.loads(done.output)
    assert len(tables) == 6
    assert tables[3]["rows"][-1]["topic"] == "all"


def test_aggregate_writes_qrels_and_uncertainty(files: Path) -> None:
    done = run(
        "aggregate", files / "labels.csv", "--scale", "S100", "--method", "interval", "--qrels", files / "out.qrels",
        "--uncertainty", files / "out.csv", "--workers", 2, "--most", 2,
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "interval model: converged" in done.output
    judged = read_uncertain(files / "out.csv")
    assert read_qrels(files / "out.qrels").to_dict() == judged.qrels().to_dict()
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
    assert read_qrels(tmp_path / "q").to_dict()["1"]["a"] > 50
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
    ],
)
def test_bad_input_is_one_clear_error(tmp_path: Path, text: str, arguments: list[str], message: str) -> None:
    path = tmp_path / "labels.csv"
    path.write_text(f"topic,doc,worker,label\n{text}\n")
    done = run("aggregate", path, *arguments)
    assert isinstance(done.exception, AssayError)
    assert message in str(done.exception)


def test_check_reports_what_is_odd_and_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("topic,doc,worker,label\n1,a,w,1\n1,a,w,7\n1,b,v,1\n1,b,u,0\n1,c,u,0\n")
    done = run("check", path, "--scale", "S2", "--docs", 0)
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
