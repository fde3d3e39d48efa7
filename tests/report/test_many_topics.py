"""A report of more topics than a page can show: whole numbers, no mark for each topic, and it says so."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from assay.cli.main import cli
from assay.core.tables import Table
from assay.data import ScoreMatrix
from assay.io import topic_scores
from assay.io.topic_scores import write_description, write_part
from assay.report import material as of_report
from assay.report.figure import Figure
from assay.report.material import material
from assay.report.sections import made
from assay.report.write import report

TOPICS = 3000
RUNS = ("bm25", "dense", "fused")
MEASURES = ("AP", "RR")


def drawn() -> dict[str, np.ndarray]:
    """Scores by measure, runs × topics: fused leads, dense is second."""
    rng = np.random.default_rng(2)
    shared = rng.random(TOPICS)
    scores = [np.clip(shared + rng.normal(0.02 * place, 0.1, TOPICS), 0, 1) for place in range(len(RUNS))]
    ap = np.array(scores).round(4)
    return {"AP": ap, "RR": 1 / np.ceil(1 + 9 * (1 - ap))}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("many") / "scores"
    base.mkdir()
    scores = drawn()
    names = [f"q{place}" for place in range(TOPICS)]
    for row, run in enumerate(RUNS):
        values = np.array([scores[measure][row] for measure in MEASURES])
        write_part(base, run, 0, names, np.zeros(TOPICS, dtype=bool), MEASURES, values)
    write_description(base, runs=RUNS, measures=MEASURES, signatures=MEASURES, topics=TOPICS, parts=1)
    return base


@pytest.fixture
def few_marks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of_report, "MOST_TOPICS", 1000)
    monkeypatch.setattr(topic_scores, "FEW", 1000)


def matrices() -> list[ScoreMatrix]:
    return [ScoreMatrix.of(values, runs=RUNS, measure=measure) for measure, values in drawn().items()]


def test_no_chart_or_table_has_a_mark_or_row_per_topic(few_marks: None) -> None:
    sections = made(material(matrices=matrices()))
    assert [section.name for section in sections][:5] == ["summary", "leaderboard", "comparison", "topics", "power"]
    for section in sections:
        for block in section.blocks:
            assert not (isinstance(block, str) and block.startswith("Not shown")), block
            if isinstance(block, Figure):
                assert max(len(rows) for rows in block.spec["datasets"].values()) <= 500
            if isinstance(block, Table):
                assert len(block.rows) <= 10


def test_what_is_left_is_exact_and_says_what_it_is(few_marks: None) -> None:
    summarised = {section.name: section for section in made(material(matrices=matrices()))}
    assert "The topics are summarised" in " ".join(map(str, summarised["summary"].blocks))
    assert "3,000 topics are summarised" in str(summarised["topics"].blocks[0])
    ap = drawn()["AP"]
    difference = ap[2] - ap[1]
    spread, gains, losses, alone = summarised["comparison"].tables()[:4]
    assert spread.column("median") == [pytest.approx(float(np.median(difference)), abs=1e-12)]
    assert gains.rows[0][1] == str(int(difference.argmax()) + 1)
    assert losses.rows[0][1] == str(int(difference.argmin()) + 1)
    assert alone.column("wins") == [int((difference > 1e-12).sum())]
    widest = summarised["topics"].tables()[-1]
    assert widest.rows[0][0] == str(int(ap.std(axis=0).argmax()) + 1)


def test_the_rest_of_the_page_is_that_of_few_topics(few_marks: None, monkeypatch: pytest.MonkeyPatch) -> None:
    summarised = {section.name: section for section in made(material(matrices=matrices()))}
    monkeypatch.undo()
    whole = {section.name: section for section in made(material(matrices=matrices()))}
    for name in ("leaderboard", "power", "method"):
        # As printed: the runs stand in another order, and so do sums over them.
        ours = [table.cells() for table in summarised[name].tables()]
        assert ours == [table.cells() for table in whole[name].tables()]
    # After the distribution and the topics with the largest differences the comparison goes on as usual.
    rest = [table.cells() for table in summarised["comparison"].tables()][3:]
    assert rest == [table.cells() for table in whole["comparison"].tables()]


def test_a_folder_becomes_a_small_page_and_tables(folder: Path, few_marks: None, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    done = CliRunner().invoke(cli, ["report", str(folder), "-o", str(page)], prog_name="assay")
    assert done.exit_code == 0, done.output
    text = page.read_text()
    assert "3,000 topics are too many for a mark each" in text
    assert len(text) < 2_000_000
    assert text.count("q12") < 60  # names of topics are few
    tables = tmp_path / "tables"
    done = CliRunner().invoke(
        cli, ["report", str(folder), "--format", "json", "--sections", "topics", "-o", str(tables)], prog_name="assay"
    )
    assert done.exit_code == 0, done.output
    first = json.loads((tables / "01-topics-1.json").read_text())
    assert [row["run"] for row in first["rows"]] == ["fused", "dense", "bm25"]


def test_one_run_has_nothing_to_be_compared_with(few_marks: None, tmp_path: Path) -> None:
    [ap, _] = matrices()
    page = report(ap.select(runs=["bm25"]), path=tmp_path / "one.html")
    text = page.read_text()
    assert "means only" in text
    assert "AP over 3,000 topics" in text
