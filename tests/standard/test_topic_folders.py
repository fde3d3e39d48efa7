"""A folder of scores is standardized by blocks to the same bits as a whole matrix; what does not fit is refused."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import polars
import pytest
from click.testing import CliRunner

from assay import DataError, UsageError
from assay.cli.main import cli
from assay.core.ids import Ids
from assay.data.topic_names import TopicNames, places_of
from assay.io import topic_scores
from assay.io.topic_scores import TopicScores, read_topic_scores, write_description, write_part
from assay.standard import fit, read_factors, standardize, write_factors
from assay.standard.hybrid import aligned
from assay.standard.topic_folders import fit_topics, standardize_topics

RUNS = tuple(f"run {number}" for number in range(12))
MEASURES = ("AP", "RR")
SIZES = (40, 1, 0, 23)
"""Topics of each part: one has a single topic and one none."""
TOPICS = sum(SIZES)


def written(folder: Path, runs: tuple[str, ...] = RUNS, *, seed: int = 1, first: int = 0) -> Path:
    """A folder of scores of drawn runs, on which one topic is the same for all."""
    rng = np.random.default_rng(seed)
    scores = rng.random((len(runs), len(MEASURES), TOPICS)).round(3)
    scores[:, :, 7] = 0.1
    folder.mkdir()
    for row, run in enumerate(runs):
        start = 0
        for part, size in enumerate(SIZES):
            rows = slice(start, start + size)
            names = [f"q{first + place}" for place in range(start, start + size)]
            missing = np.arange(size) % 5 == row
            write_part(folder, run, part, names, missing, MEASURES, scores[row][:, rows])
            start += size
    write_description(
        folder, runs=runs, measures=MEASURES, signatures=["AP|ties:docid", "RR|ties:docid"],
        topics=TOPICS, parts=len(SIZES),
    )  # fmt: skip
    return folder


@pytest.fixture
def scores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(topic_scores, "SCORES_AT_ONCE", len(RUNS) * len(MEASURES) * 7)  # blocks of 7 topics
    return written(tmp_path / "scores")


def ran(*words: object) -> str:
    done = CliRunner().invoke(cli, [str(word) for word in words], prog_name="assay", catch_exceptions=True)
    if done.exception is not None and done.exit_code:
        raise done.exception
    return done.output


HOW = [
    ("z", None), ("cdf", None), ("t1", "virtual"), ("U", None), ("N", "background(weight=0.3)"), ("E", None),
    ("z", "background"), ("cdf", "itself"),
]  # fmt: skip


@pytest.mark.parametrize(("form", "smoothing"), HOW)
def test_blocks_have_the_bits_of_the_whole(scores: Path, form: str, smoothing: str | None) -> None:
    results = standardize_topics(TopicScores.of(scores), scores.parent / "to", form=form, smoothing=smoothing)
    whole = [standardize(matrix, form=form, smoothing=smoothing) for matrix in read_topic_scores(scores)]
    for after, expected, result in zip(read_topic_scores(scores.parent / "to"), whole, results, strict=True):
        assert (after.runs, after.topics) == (expected.runs, expected.topics)
        assert (after.measure, after.signature) == (expected.measure, expected.signature)
        assert after.values.tobytes() == expected.values.tobytes()
        assert result.means.tobytes() == expected.averages().tobytes()


@pytest.mark.parametrize("by", ["factors", "reference"])
def test_factors_and_reference_runs_of_another_folder(scores: Path, by: str, monkeypatch: pytest.MonkeyPatch) -> None:
    reference = written(scores.parent / "old", RUNS[:5], seed=2)
    target = scores.parent / "to"
    whole = [
        standardize(matrix, other, form="cdf")
        for matrix, other in zip(read_topic_scores(scores), read_topic_scores(reference), strict=True)
    ]
    monkeypatch.setattr(topic_scores, "FEW", 10)
    if by == "factors":
        ran("standardize", "fit", reference, "--save", scores.parent / "factors.parquet")
        ran("standardize", "apply", scores, "--factors", scores.parent / "factors.parquet", "--save", target)
    else:
        ran("standardize", "apply", scores, "--reference", reference, "--save", target)
    monkeypatch.undo()
    for after, expected in zip(read_topic_scores(target), whole, strict=True):
        assert (after.measure, after.signature) == (expected.measure, expected.signature)
        assert after.values.tobytes() == expected.values.tobytes()


def test_aligned_to_common_runs(scores: Path) -> None:
    common = [RUNS[3], RUNS[1]]
    standardize_topics(TopicScores.of(scores), scores.parent / "to", form="t1", common=common)
    whole = [aligned(matrix, common, form="t1") for matrix in read_topic_scores(scores)]
    for after, expected in zip(read_topic_scores(scores.parent / "to"), whole, strict=True):
        assert after.signature == expected.signature
        assert after.values.tobytes() == expected.values.tobytes()
    with pytest.raises(DataError, match="no common run 'nobody'"):
        standardize_topics(TopicScores.of(scores), scores.parent / "more", form="t1", common=["nobody"])
    assert not (scores.parent / "more").exists()


def test_factors_of_blocks_and_their_file(scores: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = [fit(matrix) for matrix in read_topic_scores(scores)]
    by_blocks = fit_topics(TopicScores.of(scores))
    path = scores.parent / "factors.parquet"
    with monkeypatch.context() as few:
        few.setattr(topic_scores, "FEW", 10)
        write_factors(path, by_blocks)
        large = read_factors(path)
        one = read_factors(path, wanted="RR")
    small = read_factors(path)
    assert list(one) == ["RR"]
    for expected, of_blocks in zip(whole, by_blocks, strict=True):
        for found in (of_blocks, large[expected.measure], small[expected.measure]):
            assert found.topics == expected.topics
            assert found.mean.tobytes() == expected.mean.tobytes()
            assert found.sd.tobytes() == expected.sd.tobytes()
            assert (found.runs.tolist(), found.signature) == (expected.runs.tolist(), expected.signature)
    assert by_blocks[0].sd[7] == 0


def test_one_topic_alone_has_the_factors_that_it_has_among_others() -> None:
    from assay.data import ScoreMatrix

    values = np.random.default_rng(3).random((100, 50))
    together = fit(ScoreMatrix.of(values))
    for place in range(50):
        alone = fit(ScoreMatrix.of(values[:, place : place + 1]))
        assert (alone.mean[0], alone.sd[0]) == (together.mean[place], together.sd[place])


def test_what_is_written_is_read_by_other_commands(scores: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(topic_scores, "FEW", 10)
    target = scores.parent / "to"
    said = ran("standardize", "apply", scores, "-m", "RR", "--form", "z", "--save", target)
    assert "z(RR)|ties:docid|std:z|reference:12 runs|smoothing:none" in said
    assert polars.read_csv(target / "means.csv").columns == ["run", "z(RR)"]
    kept = polars.read_parquet(target / "run=run 1" / "part-00000.parquet")["missing"]
    before = polars.read_parquet(scores / "run=run 1" / "part-00000.parquet")["missing"]
    assert kept.to_list() == before.to_list()[: len(kept)]
    for command in (["compare"], ["plan", "audit"], ["standardize", "variance"]):
        assert "z(RR)" in ran(*command, target)


def test_a_summary_stands_for_the_factors_of_millions(scores: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(topic_scores, "FEW", 10)
    record = json.loads(ran("standardize", "fit", scores, "-m", "AP", "--format", "json"))
    [row] = record["rows"]
    assert (row["topics"], row["runs"], row["flat"]) == (TOPICS, "12", 1)
    assert "64 topics" in ran("standardize", "fit", scores, "-m", "AP")


def test_few_topics_of_a_folder_go_to_tables_as_before(scores: Path) -> None:
    table = scores.parent / "z.csv"
    ran("standardize", "apply", scores, "--save", table)
    folder = scores.parent / "z"
    ran("standardize", "apply", scores, "--save", folder)
    tidy = polars.read_csv(table).filter(polars.col("measure") == "cdf(AP)")
    [of_folder] = read_topic_scores(folder, measures=["cdf(AP)"])
    for run, topic, score in tidy.select("run", "topic", "score").sample(20, seed=1).iter_rows():
        assert of_folder.to_dict()[run][topic] == score


REFUSED = [
    (["fit", "@scores", "--save", "@factors.csv"], "go to a Parquet file"),
    (["fit", "@scores", "--keep-scores", "--save", "@factors.parquet"], "--keep-scores is for files of few topics"),
    (["apply", "@scores"], "name it with --save FOLDER"),
    (["apply", "@scores", "--save", "@z.csv"], "written into a folder"),
    (["apply", "@scores", "--save", "@scores"], "this command reads that file"),
    (["apply", "@scores", "--save", "@other"], "it is there already"),
    (["apply", "@scores", "--save", "@z", "--transpose"], "--transpose goes with score tables"),
    (["apply", "@scores", "@scores", "--save", "@z"], "worked through by itself"),
    (["apply", "@scores", "--save", "@z", "--force-measure", "P"], "cannot all be P"),
    (["apply", "@scores", "--save", "@z", "--figure", "@z.svg"], "--figure shows every topic"),
    (["apply", "@scores", "--save", "@z", "--form", "U", "--align", "run 1"], "not a function of z alone"),
    (["apply", "@scores", "--save", "@z", "-m", "ERR"], "no measure 'ERR'"),
    (["apply", "@scores", "--save", "@z", "--reference", "@other"], "no standardization factors for topic 'q0'"),
    (["items", "@scores"], "64 topics are too many for standardize items"),
]  # fmt: skip


@pytest.mark.parametrize(("words", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_what_cannot_be_done_with_millions_is_one_line(
    scores: Path, words: list[str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(scores.parent / "other", first=1000)
    before = sorted(path.name for path in scores.parent.iterdir())
    monkeypatch.setattr(topic_scores, "FEW", 10)
    given = [str(scores.parent / word[1:]) if word.startswith("@") else word for word in words]
    with pytest.raises((DataError, UsageError)) as caught:
        ran("standardize", *given)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert sorted(path.name for path in scores.parent.iterdir()) == before


def damaged(scores: Path, how: str) -> None:
    part = scores / "run=run 3" / "part-00003.parquet"
    frame = polars.read_parquet(part)
    if how == "missing":
        part.unlink()
    elif how == "cut":
        part.write_bytes(part.read_bytes()[:200])
    elif how == "other topics":
        frame.with_columns(topic=polars.lit("x") + polars.col("topic")).write_parquet(part)
    elif how == "fewer topics":
        frame.head(5).write_parquet(part)
    elif how == "nan":
        frame.with_columns(AP=polars.lit(float("nan"))).write_parquet(part)
    elif how == "changed bytes":
        frame.with_columns(AP=polars.lit(-1e200)).write_parquet(part)
    elif how == "empty cells":
        frame.with_columns(AP=polars.lit(None, dtype=polars.Float64)).write_parquet(part)
    elif how == "twice":
        for run in RUNS:
            own = scores / f"run={run}"
            first = polars.read_parquet(own / "part-00000.parquet").head(SIZES[3])
            first.write_parquet(own / "part-00003.parquet")


DAMAGES = {
    "missing": "the part is not there; copy it",
    "cut": "not a part of scores of topics",
    "other topics": "part 3 of run 'run 3' has other topics",
    "fewer topics": "part 3 of run 'run 3' has other topics",
    "nan": "is nan; scores must be finite numbers",
    "changed bytes": "column 'AP' has a score of 1e+200 in size",
    "empty cells": "column 'AP' has empty cells",
    "twice": "topic 'q0' is there twice",
}


@pytest.mark.parametrize("how", DAMAGES)
def test_a_damaged_folder_is_refused_and_nothing_is_left(scores: Path, how: str) -> None:
    damaged(scores, how)
    for words in (["fit", scores], ["apply", scores, "--save", scores.parent / "to"]):
        with pytest.raises(DataError) as caught:
            ran("standardize", *words)
        assert DAMAGES[how] in str(caught.value) or how == "twice"
        assert "\n" not in str(caught.value)
    assert [path.name for path in scores.parent.iterdir()] == ["scores"]
    shutil.rmtree(scores)


def test_places_of_names_in_another_order() -> None:
    names = [f"q{number}" for number in range(500)]
    order = np.random.default_rng(1).permutation(500)
    wanted = [names[place] for place in order] + ["q500", "", "a name that is longer than eight bytes"]
    as_bytes = TopicNames(Ids.of(names)).places_of(TopicNames(Ids.of(wanted)))
    assert as_bytes.tolist() == [*order.tolist(), -1, -1, -1]
    assert as_bytes.tolist() == places_of(tuple(names), tuple(wanted)).tolist()
    assert TopicNames(Ids.of([])).places_of(TopicNames(Ids.of(["q1"]))).tolist() == [-1]
