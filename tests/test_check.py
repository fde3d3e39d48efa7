"""What `check` says of judgments and runs: judged is a grade of at least 0, and what cannot be read is said once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from assay.check import check, check_qrels, check_run
from assay.cli.check import command
from assay.io import read_qrels

RUN = "".join(f"1 Q0 {doc} {i} {9 - i} r\n" for i, doc in enumerate("abcd", 1))


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_a_doc_that_is_only_pooled_is_not_judged(tmp_path: Path) -> None:
    run = write(tmp_path, "r.run", RUN)
    qrels = write(tmp_path, "q.txt", "1 0 a 1\n1 0 b -1\n1 0 c 0\n1 0 d -1\n")
    said = [finding.what for finding in check([run], qrels).found]
    assert "2 negative grades: pooled but not judged" in said
    assert any(what.startswith("unjudged docs: 50.0 % of the top 5") for what in said)


def test_fractional_grades_are_no_error(tmp_path: Path) -> None:
    qrels = write(tmp_path, "q.txt", "1 0 a 0.5\n1 0 b 2\n1 0 c 0\n")
    assert check_qrels(qrels) == []
    assert check([write(tmp_path, "r.run", RUN)], qrels).errors == 0


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (RUN.encode("utf-16"), "UTF-16"),
        (b"\xef\xbb\xbf\xef\xbb\xbf" + RUN.encode(), "two byte-order marks"),
        (b"\x1f\x8b" + b"x" * 30, "the compressed file is damaged"),
    ],
)
def test_what_cannot_be_read_is_one_finding(data: bytes, words: str, tmp_path: Path) -> None:
    path = tmp_path / "odd.run"
    path.write_bytes(data)
    for found in (check_run(path), check_qrels(path)):
        assert len(found) == 1
        assert words in found[0].what
        assert found[0].level == "error"


def test_a_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    run = write(tmp_path, "r.run", RUN)
    with pytest.raises(FileNotFoundError):
        check([tmp_path / "none"])
    with pytest.raises(FileNotFoundError):
        check([run], tmp_path / "none")


def test_the_record_counts(tmp_path: Path) -> None:
    found = check([write(tmp_path, "r.run", RUN + "1 Q0 a 5 1 r\n1 Q0 e 6 5 r\n")], write(tmp_path, "q", "1 0 a 1\n"))
    record = found.record()
    assert (record["errors"], record["result"]) == (1, "findings")
    assert len(record["more"]) == 1
    assert read_qrels(tmp_path / "q").topics == ("1",)


def many_runs(folder: Path, runs: int) -> list[Path]:
    """Runs of which the fourth has most ties, the sixth a bad line, and all lack a topic."""
    paths = []
    for i in range(runs):
        scores = [5.0] * (4 if i == 3 else 2) + [1.0] * (i != 3) + [0.5] * (i != 3)
        lines = [
            f"1 Q0 {doc} {rank} {score} r{i}" for rank, (doc, score) in enumerate(zip("abcd", scores, strict=True), 1)
        ]
        lines += ["1 Q0 e 5 NA r5"] * (i == 5)
        paths.append(write(folder, f"r{i:02d}.run", "\n".join(lines) + "\n"))
    return paths


def test_of_many_files_a_person_sees_the_kinds_and_the_worst(tmp_path: Path) -> None:
    qrels = write(tmp_path, "q.txt", "1 0 a 1\n2 0 b 1\n")
    found = check(many_runs(tmp_path, 12), qrels)
    summary, errors, ties = found.shown()
    assert [row[1:3] for row in summary.rows][:2] == [("bad lines", 1), ("ties", 12)]
    worst = dict(zip(summary.column("kind"), summary.column("worst"), strict=True))
    assert worst["bad lines"].endswith("r05.run")
    assert worst["ties"].endswith("r03.run")
    assert summary.column("there")[1].startswith("4 docs are tied with another")
    assert summary.notes == (f"1 errors, {len(found.found) - 1} remarks; --all shows every one",)
    assert errors.column("where") == [f"{tmp_path / 'r05.run'}:5"]
    assert len(ties.rows) == 5
    assert "5 of 48 scores" in ties.caption
    assert "--all shows the rest" in ties.caption
    moves = [row[-1] for row in found.ties.rows]
    assert [row[-1] for row in ties.rows] == sorted(moves, reverse=True)[:5]
    assert [table.rows for table in found.shown(every=True)] == [table.rows for table in found.tables()]


def test_of_few_files_everything_is_shown(tmp_path: Path) -> None:
    qrels = write(tmp_path, "q.txt", "1 0 a 1\n2 0 b 1\n")
    found = check(many_runs(tmp_path, 9), qrels)
    assert [table.caption for table in found.shown()] == [table.caption for table in found.tables()]


def assay_check(*args: object) -> Result:
    return CliRunner().invoke(command, [str(arg) for arg in args], catch_exceptions=False)


def test_judgments_alone_are_described(tmp_path: Path) -> None:
    qrels = write(tmp_path, "q.txt", "1 0 a 1\n1 0 b 0\n2 0 c 2\n2 0 d 0\n")
    whole = assay_check("--qrels", qrels, "--per-topic")
    assert whole.exit_code == 0
    assert "2 topics" in whole.stdout
    assert "Docs of each topic" in whole.stdout
    rows = json.loads(assay_check("--qrels", qrels, "--part", "x=1", "--format", "json").stdout)[0]["rows"]
    assert rows[0]["relevant"] == 1
    first = assay_check("--qrels", qrels, "--format", "csv").stdout.splitlines()[0]
    assert first.startswith("docs,all,per_topic")


def test_types_of_runs(tmp_path: Path) -> None:
    qrels = write(tmp_path, "q.txt", "1 0 a 1\n1 0 b 0\n")
    run = write(tmp_path, "r.run", RUN)
    info = write(tmp_path, "info.csv", "run,type\nr,manual\n")
    done = assay_check("--qrels", qrels, run, "--info", info, "--depth", 2, "--figure", tmp_path / "f.svg")
    assert done.exit_code == 0, done.output
    assert "Judged docs by type of run" in done.stdout
    assert (tmp_path / "f.svg").exists()


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ([], "nothing to check"),
        (["{run}", "--per-topic"], "--per-topic describes judgments; give --qrels"),
        (["{run}", "--part", "a=1"], "--part describes judgments; give --qrels"),
        (["--qrels", "{qrels}", "--part", "a"], "write NAME=TOPICS"),
        (["--qrels", "{qrels}", "--part", "a=1", "--part", "a=1"], "'a' is there twice"),
        (["--qrels", "{qrels}", "--info", "{run}"], "--info says what is known of runs; give the runs"),
        (["--qrels", "{qrels}", "--by", "team"], "--by goes with --info"),
        (["--qrels", "{qrels}", "--depth", "3"], "--depth goes with --info"),
        (["--qrels", "{qrels}", "--ties"], "give runs as well"),
        (["--qrels", "{qrels}", "{run}", "--rel", "2"], "--rel says from which grade on"),
        (["--qrels", "{qrels}", "{run}", "--figure", "f.svg"], "--figure draws the judged docs"),
    ],
)
def test_options_without_effect_are_errors(args: list[str], message: str, tmp_path: Path) -> None:
    files = {"run": write(tmp_path, "r.run", RUN), "qrels": write(tmp_path, "q.txt", "1 0 a 1\n")}
    done = CliRunner().invoke(command, [arg.format(**files) for arg in args])
    assert done.exit_code != 0
    said = str(done.exception) + done.output
    assert message in said
