"""The topics that lost most, ranks that equal means share, and columns of a table of runs on a leaderboard."""

from __future__ import annotations

import numpy as np
import pytest

from assay.core.errors import AssayError
from assay.data import RunsInfo
from assay.data.scores import ScoreMatrix
from assay.stats import compare
from tests.oracles.stats import trec8

INFO = RunsInfo("runs.csv", ("team", "mean", "year"), {"CL99XT": ("claritech", ".3", "1999")})


def test_the_worst_topics_are_those_of_a_plain_sort() -> None:
    matrix = trec8()
    board = compare(matrix, baseline="apl8c221", letters=False)
    found = board.worst_topics(7, runs=["CL99XT", "READWARE2"])
    for run in ("CL99XT", "READWARE2"):
        delta = np.round(matrix.of_run(run) - matrix.of_run("apl8c221"), 12)
        lost = sorted((d, t) for t, d in enumerate(delta) if d < 0)[:7]
        rows = [loss for loss in found.losses if loss.run == run]
        assert [loss.topic for loss in rows] == [matrix.topics[t] for _, t in lost]
        assert [loss.delta for loss in rows] == [d for d, _ in lost]
        assert found.lost[run] == int((delta < 0).sum())
    assert found.table().keys == ("run", "topic", "score", "baseline_score", "delta")


def test_the_best_other_run_is_shown_unless_others_are_named() -> None:
    board = compare(trec8(), baseline="apl8c221", letters=False)
    found = board.worst_topics(3, queries={trec8().topics[0]: "a query"})
    assert set(found.lost) == {board.best_other()[0]}
    assert found.table().columns[-1] == "query"
    assert "of 50 topics, 3 are shown" in found.table().notes[0]
    assert found.record()["lost"] == [{"run": run, "lost": count} for run, count in found.lost.items()]


def test_topics_that_were_not_lost_are_not_named() -> None:
    matrix = ScoreMatrix.of([[0.5, 0.4, 0.3], [0.4, 0.4, 0.4]], runs=["new", "old"], measure="AP")
    found = compare(matrix, baseline="old").worst_topics(10)
    assert [loss.topic for loss in found.losses] == ["3"]
    assert found.table().notes == ("new lost 1 of 3 topics",)
    none = compare(matrix.select(topics=["1", "2"]), baseline="old").worst_topics(10)
    assert none.losses == ()
    assert "new lost 0 of 2 topics" in none.table().text()


def test_bad_questions_about_losses() -> None:
    board = compare(trec8(), baseline="apl8c221", letters=False)
    with pytest.raises(AssayError, match="0 topics cannot be shown"):
        board.worst_topics(0)
    with pytest.raises(AssayError, match="no run 'CL99XY'; did you mean CL99X"):
        board.worst_topics(3, runs=["CL99XY"])
    with pytest.raises(AssayError, match="none of the 50 topics has a query"):
        board.worst_topics(3, queries={"1": "x"})


def test_equal_means_share_a_rank_and_the_next_is_left_out() -> None:
    matrix = ScoreMatrix.of([[0.1, 0.2, 0.3], [0.3, 0.1, 0.2], [0.5, 0.5, 0.5], [0.0, 0.1, 0.0]])
    table = compare(matrix).table()
    assert dict(zip(table.column("run"), table.column("rank"), strict=True)) == {
        "run3": 1, "run1": 2, "run2": 2, "run4": 4,
    }  # fmt: skip


def test_columns_of_a_table_of_runs_stand_beside_the_names() -> None:
    board = compare(trec8(), baseline="apl8c221", letters=False).showing(INFO, ["group", "year"])
    table = board.best(2).table()
    assert table.keys[:4] == ("run", "rank", "group", "year")
    row = dict(zip(board.table().column("run"), board.table().rows, strict=True))["CL99XT"]
    assert row[2:4] == ("claritech", "1999")
    with pytest.raises(AssayError, match="the leaderboard has a column 'mean' of its own"):
        board.showing(INFO, ["mean"])
    with pytest.raises(AssayError, match="no column 'tem'; did you mean team"):
        board.showing(INFO, ["tem"])
