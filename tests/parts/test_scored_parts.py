"""Parts have the scores of the whole, bit for bit, for 1, 2, 7 or 1,000 of them; what does not fit is refused."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path

import numpy as np
import polars
import pytest
from click.testing import CliRunner

from assay import DataError, Scores, UsageError, compare, evaluate
from assay.cli.compare import command as compare_command
from assay.cli.main import cli
from assay.cli.score import command as score
from assay.cli.split import command as split
from assay.data.topic_names import TopicNames
from assay.io import topic_scores
from assay.io.brought import scores_of
from assay.io.topic_scores import read_topic_scores
from assay.parts import score_parts, scored_parts, split_runs
from tests.parts.drawn_runs import drawn_judgments, drawn_lines, written

MEASURES = "AP nDCG@10 P@5 ERR Q geometric(AP) NumRel"
TOPICS = 80
RUNS = ("a", "b")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for seed, name in enumerate(RUNS, 1):
        written(tmp_path / f"{name}.run", drawn_lines(TOPICS, seed, tag=name))
    written(tmp_path / "qrels.txt", drawn_judgments(TOPICS, 1))
    return tmp_path


def run_paths(folder: Path) -> list[Path]:
    return [folder / f"{name}.run" for name in RUNS]


def whole_scores(folder: Path, *, missing: str = "zero") -> Scores:
    return evaluate(run_paths(folder), folder / "qrels.txt", MEASURES, missing=missing)


def assert_same_scores(to: Path, whole: Scores) -> None:
    """The scores of a folder are those of the whole, whatever the order of the topics."""
    for matrix, expected in zip(read_topic_scores(to), whole, strict=True):
        assert (matrix.measure, matrix.signature) == (expected.measure, expected.signature)
        assert matrix.to_dict() == expected.to_dict()


def shuffled_map(function: object, items: object, **_: object) -> list[object]:
    """As ordered_map, with the parts done in another order."""
    todo = list(items)  # type: ignore[call-overload]
    done = {}
    for place in np.random.default_rng(len(todo)).permutation(len(todo)).tolist():
        done[place] = function(todo[place])  # type: ignore[operator]
    return [done[place] for place in range(len(todo))]


@pytest.mark.parametrize("parts", [1, 2, 7, 1000])
@pytest.mark.parametrize("missing", ["zero", "drop"])
def test_any_number_of_parts_has_the_bits_of_the_whole(folder: Path, parts: int, missing: str,
                                                       monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    whole = whole_scores(folder, missing=missing)
    split_runs(run_paths(folder), parts, folder / "parts", qrels=folder / "qrels.txt")
    monkeypatch.setattr(scored_parts, "ordered_map", shuffled_map)
    to = folder / "scores"
    found = score_parts(folder / "parts", folder / "parts" / "qrels", MEASURES, to=to, missing=missing)
    assert found.topics == len(whole.topics)
    if parts < 1000 or missing == "zero":
        assert_same_scores(to, whole)
    gathered = score_parts(folder / "parts", folder / "qrels.txt", MEASURES, missing=missing)
    for run in RUNS:
        assert gathered.averages(run) == found.averages(run)
        exact = [math.fsum(whole["AP"].of_run(run)) / len(whole.topics), math.fsum(whole["NumRel"].of_run(run))]
        assert [found.averages(run)[0], found.averages(run)[6]] == exact
        expected = [matrix.averages()[matrix.runs.index(run)] for matrix in whole]
        assert np.allclose(found.averages(run), expected, rtol=1e-12, atol=0)


def test_workers_do_not_change_a_byte(folder: Path) -> None:
    split_runs(run_paths(folder), 9, folder / "parts", qrels=folder / "qrels.txt")
    for jobs in (1, 2):
        score_parts(folder / "parts", folder / "parts" / "qrels", MEASURES, to=folder / f"to{jobs}", jobs=jobs)
    files = sorted(path.relative_to(folder / "to1") for path in (folder / "to1").rglob("*") if path.is_file())
    assert len(files) == 2 + 2 * 9
    for file in files:
        assert (folder / "to1" / file).read_bytes() == (folder / "to2" / file).read_bytes()


@pytest.mark.parametrize("layout", ["folders", "column"])
def test_parquet_as_clusters_write_it(folder: Path, layout: str) -> None:
    rows = []
    for path in run_paths(folder):
        for line in path.read_text().splitlines():
            topic, _, doc, rank, value, tag = line.split()
            rows.append({"run": tag, "topic": topic, "doc": doc, "rank": int(rank), "score": float(value)})
    frame = polars.DataFrame(rows)
    topics = frame["topic"].unique(maintain_order=True).to_list()
    parts = folder / "parts"
    for number in range(3):
        own = frame.filter(polars.col("topic").is_in(topics[number::3]))
        if layout == "column":
            parts.mkdir(exist_ok=True)
            own.write_parquet(parts / f"part-0000{number}-c000.parquet")
            continue
        for name in RUNS:
            (parts / f"run={name}").mkdir(parents=True, exist_ok=True)
            of_run = own.filter(polars.col("run") == name).drop("run")
            of_run.write_parquet(parts / f"run={name}" / f"part-{number}.parquet")
    (parts / "_SUCCESS").touch()
    score_parts(parts, folder / "qrels.txt", MEASURES, to=folder / "scores")
    assert_same_scores(folder / "scores", whole_scores(folder))


def test_lines_that_are_not_together_are_sorted_by_split(folder: Path) -> None:
    whole = whole_scores(folder)
    for path in run_paths(folder):
        lines = path.read_text().splitlines(keepends=True)
        order = np.random.default_rng(1).permutation(len(lines)).tolist()
        written(path, [lines[i] for i in order])
    split_runs(run_paths(folder), 5, folder / "parts", qrels=folder / "qrels.txt")
    score_parts(folder / "parts", folder / "parts" / "qrels", MEASURES, to=folder / "scores")
    assert_same_scores(folder / "scores", whole)


def test_as_a_person_does_it(folder: Path) -> None:
    runs = [str(path) for path in run_paths(folder)]
    done = CliRunner().invoke(
        split, [*runs, "--qrels", str(folder / "qrels.txt"), "--parts", "4", "-o", str(folder / "parts")]
    )
    assert done.exit_code == 0, done.output
    command = [str(folder / "parts"), "--qrels", str(folder / "parts" / "qrels"), "-o", str(folder / "scores")]
    scored = CliRunner().invoke(score, [*command, "-m", "AP nDCG@10"])
    assert scored.exit_code == 0, scored.output
    ordinary = CliRunner().invoke(score, [*runs, "--qrels", str(folder / "qrels.txt"), "-m", "AP nDCG@10"])
    assert scored.stdout == ordinary.stdout
    compared = CliRunner().invoke(compare_command, [str(folder / "scores"), "-m", "AP", "--baseline", "a"])
    assert compared.exit_code == 0, compared.output
    assert f"{TOPICS - 2} topics" in compared.output


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--info", "info.csv", "--where", "team=x"], "--info and --where have no effect on parts"),
        (["--column", "doc=id"], "--column has no effect on parts"),
        (["--intents", "qrels.txt"], "--intents does not go with a folder of parts"),
        (["-o", "out.csv"], "out.csv: the scores of parts are written into a folder; name one, e.g. -o out"),
    ],
)
def test_an_option_without_effect_on_parts_is_an_error(
    options: list[str], message: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    split_runs(run_paths(folder), 2, "parts", qrels="qrels.txt")
    written(folder / "info.csv", ["run,team\n", "a,x\n"])
    done = CliRunner().invoke(
        cli, ["score", "parts", "--qrels", "parts/qrels", "-m", "AP", *options], prog_name="assay"
    )
    assert isinstance(done.exception, UsageError)
    assert message in str(done.exception)
    assert not (folder / "out.csv").exists()


def test_names_as_bytes_compare_like_others(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    split_runs(run_paths(folder), 4, folder / "parts", qrels=folder / "qrels.txt")
    score_parts(folder / "parts", folder / "parts" / "qrels", "AP", to=folder / "scores")
    plain = scores_of(folder / "scores")[0]
    monkeypatch.setattr(topic_scores, "FEW", 0)
    compact = scores_of(folder / "scores")[0]
    assert isinstance(compact.topics, TopicNames)
    assert compact.topics == plain.topics
    for test in ("t", "wilcoxon", "sign"):
        assert compare(compact, baseline="a", test=test).record() == compare(plain, baseline="a", test=test).record()


def test_commands_that_show_every_topic_refuse_millions(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    split_runs(run_paths(folder), 2, folder / "parts", qrels=folder / "qrels.txt")
    score_parts(folder / "parts", folder / "parts" / "qrels", "AP", to=folder / "scores")
    monkeypatch.setattr(topic_scores, "FEW", 10)
    scores = str(folder / "scores")
    for name, words in {"standardize items": [scores], "standardize errors": [scores, scores]}.items():
        done = CliRunner().invoke(cli, [*name.split(), *words], prog_name="assay")
        assert isinstance(done.exception, UsageError)
        assert f"78 topics are too many for {name}" in str(done.exception)
    assert CliRunner().invoke(cli, ["plan", "audit", str(folder / "scores")], prog_name="assay").exit_code == 0


def refused(folder: Path, qrels: Path, **choices: object) -> str:
    with pytest.raises((DataError, UsageError)) as caught:
        score_parts(folder, qrels, "AP", to=folder.parent / "refused", **choices)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)
    assert not (folder.parent / "refused").exists()
    assert not list(folder.parent.glob(".*unfinished*"))
    return str(caught.value)


def test_what_does_not_fit_is_one_clear_line(folder: Path) -> None:
    parts = folder / "parts"
    split_runs(run_paths(folder), 4, parts, qrels=folder / "qrels.txt")
    qrels = parts / "qrels"
    first = parts / "run=a" / "part-00000.run"
    copy = parts / "run=a" / "part-00000.copy.run"
    shutil.copy(first, copy)
    assert "part 0 is there twice" in refused(parts, qrels)
    assert "part 0 is there twice" in refused(parts, folder / "qrels.txt")
    copy.unlink()
    second = parts / "run=a" / "part-00001.run"
    kept = second.read_bytes()
    shutil.copy(first, second)
    assert "belongs to part 0 of 4, and this is part 1" in refused(parts, qrels)
    second.unlink()
    assert "part 1 of 4 is not there" in refused(parts, qrels)
    assert "part 1 of 4 is not there" in refused(parts, folder / "qrels.txt")
    second.write_bytes(kept)
    split_runs(run_paths(folder), 3, folder / "other", qrels=folder / "qrels.txt")
    assert "part 3 of 4 is not there" in refused(parts, folder / "other" / "qrels")
    strange = written(folder / "strange.txt", ["x1 0 d1 1\n", "x2 0 d1 1\n"])
    assert "have none of the 2 topics" in refused(parts, strange)
    assert "draw orders" in refused(parts, qrels, ties="average")
    assert "has no docs for topic" in refused(parts, qrels, missing="error")
    with pytest.raises(UsageError, match="median"):
        score_parts(parts, qrels, "median(AP)")
    (parts / "parts.json").unlink()
    assert "give the judgments as one file" in refused(parts, qrels)
    shutil.copy(first, copy)
    assert "is also in part-00000.copy.run" in refused(parts, folder / "qrels.txt")


def test_what_lies_beside_the_parts_is_refused(folder: Path) -> None:
    parts = folder / "parts"
    split_runs(run_paths(folder), 2, parts)
    whole = folder / "qrels.txt"
    (parts / "run=c").mkdir()
    assert "run 'c' is not in both" in refused(parts, whole)
    (parts / "parts.json").unlink()
    assert "run=c: the folder of the run has no part" in refused(parts, whole)
    (parts / "run=c" / "year=2020").mkdir()
    assert "run=c/year=2020: this is a folder" in refused(parts, whole)
    (parts / "run=c" / "year=2020").rmdir()
    (parts / "run=c" / "part-0.run").symlink_to(folder / "nowhere")
    with pytest.raises(FileNotFoundError, match=r"run=c/part-0\.run"):
        score_parts(parts, whole, "AP")
    shutil.rmtree(parts / "run=c")
    (parts / "run=c").symlink_to(folder / "nowhere")
    assert "run=c: this is no folder, and the parts of a run should be in it" in refused(parts, whole)


def test_a_folder_between_the_parts_is_refused_however_they_came_there(folder: Path) -> None:
    parts = folder / "parts"
    split_runs(run_paths(folder), 2, parts)
    (parts / "run=a" / "part-00004").mkdir()
    assert "run=a/part-00004: this is a folder" in refused(parts, folder / "qrels.txt")
    (parts / "run=b" / "more").mkdir()
    assert "run=b/more: this is a folder" in refused(parts / "run=b", folder / "qrels.txt")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("parts", math.inf),
        ("parts", 0),
        ("parts", "3"),
        ("runs", [1]),
        ("runs", "abc"),
        ("top_grade", True),
        ("top_grade", math.nan),
        ("top_grade", "x"),
    ],
)
def test_a_split_whose_description_was_changed_is_refused(key: str, value: object, folder: Path) -> None:
    parts = folder / "parts"
    split_runs(run_paths(folder), 3, parts, qrels=folder / "qrels.txt")
    known = json.loads((parts / "parts.json").read_text())
    (parts / "parts.json").write_text(json.dumps({**known, key: value}))
    for qrels in (parts / "qrels", folder / "qrels.txt"):
        assert "parts.json: this is not what assay split writes" in refused(parts, qrels)


def test_split_refuses_what_it_cannot_divide(folder: Path) -> None:
    run = folder / "a.run"
    (folder / "full").mkdir()
    (folder / "full" / "file").touch()
    with pytest.raises(UsageError, match="there already"):
        split_runs([run], 2, folder / "full")
    lines = run.read_text().splitlines(keepends=True)
    written(run, [*lines[:10], "q1 Q0 d1\n", *lines[10:]])
    with pytest.raises(DataError, match=r"a\.run:11: 3 fields"):
        split_runs([run], 2, folder / "new")
    assert not (folder / "new").exists()
    nested = written(folder / "t.json", ['{"1": {"a": 2.5}}'])
    with pytest.raises(DataError, match=r"only TREC runs .* and tables"):
        split_runs([nested], 2, folder / "new")


def test_a_folder_of_scores_that_was_changed_is_refused(folder: Path) -> None:
    split_runs(run_paths(folder), 3, folder / "parts", qrels=folder / "qrels.txt")
    to = folder / "scores"
    score_parts(folder / "parts", folder / "parts" / "qrels", "AP", to=to)
    part = to / "run=b" / "part-00001.parquet"
    kept = part.read_bytes()
    part.unlink()
    with pytest.raises(DataError, match="not there"):
        read_topic_scores(to)
    part.write_bytes(b"PAR1 nothing")
    with pytest.raises(DataError, match="not a part of scores"):
        read_topic_scores(to)
    shutil.copy(to / "run=b" / "part-00002.parquet", part)
    with pytest.raises(DataError, match="other topics"):
        read_topic_scores(to)
    part.write_bytes(kept)
    with pytest.raises(UsageError, match="no measure 'RR'"):
        read_topic_scores(to, measures=["RR"])


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("topics", -3), ("topics", math.inf), ("topics", "78"), ("parts", -1), ("measures", ["AP", "RR"]),
        ("measures", "AP"), ("runs", ["a", "a"]), ("runs", []), ("signatures", None),
        ("format", "assay topic scores 2"),
    ],
)  # fmt: skip
def test_a_description_that_was_changed_is_refused(key: str, value: object, folder: Path) -> None:
    split_runs(run_paths(folder), 3, folder / "parts", qrels=folder / "qrels.txt")
    to = folder / "scores"
    score_parts(folder / "parts", folder / "parts" / "qrels", "AP", to=to)
    known = json.loads((to / "scores.json").read_text())
    (to / "scores.json").write_text(json.dumps({**known, key: value}))
    with pytest.raises(DataError, match=r"scores\.json: this does not describe scores of topics \(.*\); score"):
        read_topic_scores(to)


def test_a_folder_may_be_called_anything(folder: Path) -> None:
    split_runs(run_paths(folder), 3, folder / "parts [1]", qrels=folder / "qrels.txt")
    to = folder / "s*[1]?"
    score_parts(folder / "parts [1]", folder / "parts [1]" / "qrels", MEASURES, to=to)
    assert_same_scores(to, whole_scores(folder))
