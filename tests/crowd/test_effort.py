"""Running out of values, time, fewer labels; protocol; tasks; profiles; scales: by hand and by laws."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.agreement.across_scales import ordered_pairs
from assay.agreement.scales import MAGNITUDE, S100
from assay.core.errors import DataError, UsageError
from assay.crowd.effort import fewer_docs, fewer_judgments, run_out, time_by_position
from assay.crowd.profiles import gain_profile
from assay.data import Labels, Qrels


def task(worker: str, *values: float, topic: str = "1", first: int = 0) -> list[tuple[str, str, str, float]]:
    return [(topic, f"d{first + i}", worker, float(v)) for i, v in enumerate(values)]


def test_run_out_by_hand() -> None:
    rows = task("u", 0, 0, 0, 50, 100) + task("v", 100, 7, 7, 8, 7, first=10) + task("w", 20, 30, 40, 50, 60, first=20)
    found = run_out(Labels.from_rows(rows), scale=S100)
    assert found.low.tolist() == [2, 0, 0, 1, 0, 0]
    assert found.high.tolist() == [1, 2, 0, 0, 0, 0]
    assert found.potential == (2, 0)
    assert found.chances == 12
    assert found.confirmed == 0
    # v: 7 after 7; 8 after 7 and 7 but not after 8; 7 after 7 and 8.
    assert (found.gaps, found.gaps_near_zero) == (1, 1)


def test_table_9_1_arithmetic() -> None:
    # Roitero 2020, Table 9.1: tasks with exactly k zeros and hundreds, 7,059 tasks of 8 docs.
    zeros = [2355, 803, 694, 689, 736, 786, 641, 355]
    hundreds = [3796, 1808, 846, 398, 133, 55, 19, 4]
    rows = []
    for number, (count, value) in enumerate(((zeros, 0.0), (hundreds, 100.0))):
        at = 0
        for k, n in enumerate(count):
            for _ in range(n // 20):  # a twentieth of the tasks, and the sums of a twentieth
                rows += task(f"w{number}-{at}", *([value] * k + [50.0] * (8 - k)), topic=str(number))
                at += 1
    found = run_out(Labels.from_rows(rows), scale=S100)
    expected = [sum((k - 1) * (n // 20) for k, n in enumerate(c) if k > 1) for c in (zeros, hundreds)]
    assert list(found.potential) == expected
    assert [sum((k - 1) * n for k, n in enumerate(c) if k > 1) for c in (zeros, hundreds)] == [12759, 2380]
    assert 12759 + 2380 == 15139
    assert (sum(zeros), sum(hundreds)) == (7059, 7059)


def test_confirmed_when_the_crowd_puts_the_doc_beyond_the_first() -> None:
    rows = task("u", 0, 0) + task("v", 40, 10) + task("w", 60, 20)
    assert run_out(Labels.from_rows(rows), scale=S100).confirmed == 1
    rows = task("u", 0, 0) + task("v", 10, 40) + task("w", 20, 60)
    assert run_out(Labels.from_rows(rows), scale=S100).confirmed == 0


def test_positions_decide_the_order() -> None:
    rows = task("u", 7, 8, 7)
    position = np.array([3, 1, 2])
    assert run_out(Labels.from_rows(rows), scale=S100).gaps == 1
    assert run_out(Labels.from_rows(rows, position=position), scale=S100).gaps == 1
    assert run_out(Labels.from_rows(task("u", 7, 7, 8), position=np.array([1, 2, 3])), scale=S100).gaps == 0


def test_a_task_that_several_workers_did_is_one_of_each() -> None:
    from assay.crowd.protocol import Protocol, check_protocol
    from assay.crowd.quality import worker_quality

    rows = task("u", 0, 0, 50) + task("v", 100, 7, 8) + task("w", 20, 30, 40)
    name, position = np.array(["1-1"] * 9, dtype=object), np.tile([1, 2, 3], 3)
    labels = Labels.from_rows(rows, task=name, position=position, seconds=np.arange(9.0))
    plain = Labels.from_rows(rows, position=position, seconds=np.arange(9.0))
    assert run_out(labels, scale=S100).low.tolist() == run_out(plain, scale=S100).low.tolist() == [2, 0, 1, 0]
    assert time_by_position(labels).table().rows == time_by_position(plain).table().rows
    assert fewer_docs(labels, REFERENCE).amounts == (2, 3)
    checked = check_protocol(labels, Protocol(docs=3, gold=None, seconds=None, start=None, attempts=None))
    assert (checked.tasks, checked.failures) == (3, ())
    assert worker_quality(labels, scale=S100).table().column("tasks") == [1, 1, 1]


def test_scales_without_ends_cannot_run_out() -> None:
    with pytest.raises(UsageError, match="has no ends"):
        run_out(Labels.from_rows(task("u", 1, 2)), scale=MAGNITUDE)


def test_time_by_position_and_experience() -> None:
    rows = task("u", 1, 2) + task("u", 1, 2, topic="2") + task("v", 1, 2)
    labels = Labels.from_rows(rows, seconds=np.array([40.0, 20, 10, 8, 60, np.nan]))
    found = time_by_position(labels)
    table = found.table()
    assert table.column("labels") == [3, 2]
    assert table.column("mean") == pytest.approx([110 / 3, 14])
    assert table.column("cumulated mean") == pytest.approx([110 / 3, 110 / 3 + 14])
    assert table.column("first: mean") == pytest.approx([50, 20])
    assert found.unknown == 1
    assert found.learning_table().column("mean") == pytest.approx([40, 9])
    with pytest.raises(DataError, match="no column of seconds"):
        time_by_position(Labels.from_rows(rows))


REFERENCE = Qrels.from_dict({"1": {f"d{i}": int(i >= 4) for i in range(8)}})


def test_fewer_docs_looks_at_the_first_ones_only() -> None:
    labels = Labels.from_rows(task("u", 1, 2, 3, 4, 5, 6, 7, 8) + task("v", 9, 9, 9, 9, 1, 1, 1, 1))
    found = fewer_docs(labels, REFERENCE)
    assert found.amounts == (2, 3, 4, 5, 6, 7, 8)
    assert found.agreement[-1].tolist() == pytest.approx([16 / 28, 0])
    assert found.agreement[0].tolist() == [0, 0]
    assert found.above(8, np.array([0.0, 0.5, 0.6])).tolist() == [0.5, 0.5, 0]
    untied = fewer_docs(labels, REFERENCE, untied=True)
    assert untied.agreement[-1].tolist() == [1, 0]
    assert len(untied.agreement[0]) == 0
    assert untied.table().column("docs per task") == [5, 6, 7, 8]


def test_fewer_judgments_with_all_labels_is_the_whole_and_less_is_worse() -> None:
    rng = np.random.default_rng(0)
    rows = [("1", f"d{d}", f"w{w}", float(10 * (d >= 4) + rng.normal(0, 12))) for d in range(8) for w in range(10)]
    labels = Labels.from_rows(rows)
    found = fewer_judgments(labels, REFERENCE, repeats=30)
    means = [a[0] for a in found.agreement]
    item, _ = labels.items()
    mean = np.bincount(item, labels.label) / 10
    whole = ordered_pairs(np.zeros(8, int), np.arange(8) // 4, mean).agreement()[0]
    assert means[-1] == pytest.approx(whole)
    assert means[0] < means[4] < means[9] + 0.05
    again = fewer_judgments(labels, REFERENCE, repeats=30)
    assert [a.tolist() for a in again.agreement] == [a.tolist() for a in found.agreement]


def test_gain_profile_and_its_shape() -> None:
    values = {0: (0, 0, 10), 1: (60, 70, 80), 2: (80, 90, 95), 3: (90, 95, 100)}
    rows = [("1", f"d{g}{i}", f"w{i}", float(v)) for g, vs in values.items() for i, v in enumerate(vs)]
    reference = Qrels.from_dict({"1": {f"d{g}{i}": g for g in values for i in range(3)}})
    found = gain_profile(Labels.from_rows(rows), reference)
    assert found.levels == (0, 1, 2, 3)
    assert found.quartiles[:, 1].tolist() == [0, 70, 90, 95]
    assert found.shape == "sub-linear"
    assert found.count == (3, 3, 3, 3)
    squares = Labels.from_rows([(t, d, w, 10.0 ** int(d[1])) for t, d, w, _ in rows])
    assert gain_profile(squares, reference).shape == "super-linear"
    straight = Labels.from_rows([(t, d, w, float(d[1])) for t, d, w, _ in rows])
    assert gain_profile(straight, reference, aggregated=True).shape == "linear"
    with pytest.raises(DataError, match="no doc has a grade"):
        gain_profile(Labels.from_rows(rows), Qrels.from_dict({"2": {"x": 1}}))


def test_protocol_names_every_failure_and_why() -> None:
    from assay.crowd.protocol import check_protocol, protocol_of

    rows = task("good", 10, 90, 30, 40) + task("fast", 10, 90, 30, 40) + task("still", 50, 50, 50, 40)
    rows += task("wrong", 90, 10, 30, 40) + task("short", 10, 90, 30) + task("often", 10, 90, 30, 40)
    n = len(rows)
    seconds = np.full(n, 30.0)
    seconds[4:8] = 3
    gold = np.array([{"d0": 0.0, "d1": 100.0}.get(r[1], np.nan) for r in rows])
    attempt = np.ones(n, dtype=np.int64)
    attempt[-1] = 4
    labels = Labels.from_rows(rows, seconds=seconds, gold=gold, attempt=attempt, lines=np.arange(2, n + 2))
    found = check_protocol(labels, protocol_of("s100", docs=4, on_docs=3, moved=2))
    named = {(f.check, f.worker, f.why, f.line) for f in found.failures}
    assert named == {
        ("docs", "short", "3 docs, not 4", 18),
        ("seconds", "fast", "0 docs with 20 s or more", 6),
        ("moved", "still", "1 labels moved from the preset", 10),
        ("gold order", "still", "gold doc d1 got 50, d0, which is worse, 50", 11),
        ("gold order", "wrong", "gold doc d1 got 10, d0, which is worse, 90", 15),
        ("attempts", "often", "4 attempts", 21),
    }
    assert (found.tasks, found.failed("gold order"), found.unchecked) == (
        6,
        2,
        ("test question (no column of tested)",),
    )
    assert found.summary().column("check") == ["docs", "seconds", "moved", "attempts", "gold order"]


def test_protocol_says_what_it_cannot_check_and_who_came_twice() -> None:
    from assay.crowd.protocol import Protocol, check_protocol, protocol_of

    rows = [*task("u", 1, 2), *task("u", 1, 2)]
    labels = Labels.from_rows(rows, task=np.array(["A", "A", "B", "B"], dtype=object))
    found = check_protocol(labels, replace(protocol_of("s100", docs=2, gold=1), start=None))
    assert [f.check for f in found.failures] == ["topic twice", "doc twice", "doc twice"]
    assert len(found.unchecked) == 4
    assert "Not checkable: gold docs (no column of gold labels)." in found.table().notes
    assert check_protocol(labels, Protocol(None, None, None, 0, None, 0, None, False)).failures == ()


def test_without_a_protocol_only_the_order_of_gold_docs_is_checked() -> None:
    """Docs per task, seconds, sliders and attempts differ from one experiment to the next."""
    from assay.crowd.protocol import check_protocol, protocol_of

    rows = [*task("u", 50, 50, 50), *task("v", 90, 10)]
    gold = np.array([{"d0": 0.0, "d1": 100.0}.get(r[1], np.nan) for r in rows])
    seconds, attempt = np.full(len(rows), 0.1), np.full(len(rows), 9)
    found = check_protocol(Labels.from_rows(rows, gold=gold, seconds=seconds, attempt=attempt))
    assert [(f.check, f.worker) for f in found.failures] == [("gold order", "u"), ("gold order", "v")]
    assert found.unchecked == ()
    assert "a protocol says what else" in found.summary().notes[-1]
    strict = check_protocol(Labels.from_rows(rows, gold=gold, seconds=seconds, attempt=attempt), protocol_of("s100"))
    assert {f.check for f in strict.failures} == {"docs", "seconds", "moved", "attempts", "gold order"}
    on_all = check_protocol(Labels.from_rows(rows, seconds=seconds), protocol_of(seconds=0.1)).failures
    assert on_all == ()
    with pytest.raises(UsageError, match="no protocol 's10'; known: none, s100"):
        protocol_of("s10")


def test_gold_docs_are_those_that_everybody_judged() -> None:
    from assay.crowd.protocol import with_gold

    rows = [("1", d, w, 30.0) for w in "uvw" for d in ("g", f"own-{w}")]
    marked = with_gold(Labels.from_rows(rows), Qrels.from_dict({"1": {"g": 1, "own-u": 0}}), scale=S100)
    assert marked.gold is not None
    assert np.nan_to_num(marked.gold, nan=-1).tolist() == [100, -1] * 3


@given(
    docs=st.integers(1, 40),
    room=st.integers(2, 9),
    workers=st.integers(1, 10),
    gold=st.booleans(),
    seed=st.integers(0, 99),
)
@settings(max_examples=60, deadline=None)
def test_tasks_are_balanced(docs: int, room: int, workers: int, gold: bool, seed: int) -> None:
    from assay.crowd.tasks import make_tasks

    pool = {"1": [f"d{i}" for i in range(docs)]}
    known = {"1": {"good": 2, "bad": 0, "fair": 1}} if gold else None
    made = make_tasks(pool, gold=known, docs=room + 2 * gold, workers=workers, seed=seed)
    tasks: dict[str, list[str]] = {}
    for r in made.rows:
        tasks.setdefault(r.task, []).append(r.doc)
        assert (r.gold is not None) == (r.doc in ("good", "bad", "fair"))
    for own in tasks.values():
        assert len(set(own)) == len(own)
        assert len(own) == min(room, docs) + 2 * gold
        if gold:
            assert {"good", "bad"} <= set(own)
    seen = Counter(r.doc for r in made.rows if r.gold is None)
    assert set(seen) == set(pool["1"])
    assert set(seen.values()) <= {workers, workers + 1}
    assert made.rows == make_tasks(pool, gold=known, docs=room + 2 * gold, workers=workers, seed=seed).rows


@pytest.mark.parametrize(("told", "message"), [({"workers": 0}, "0 workers per doc"), ({"docs": 0}, "at least 1 is")])
def test_tasks_need_workers_and_room(told: dict[str, int], message: str) -> None:
    from assay.crowd.tasks import make_tasks

    with pytest.raises(UsageError, match=message):
        make_tasks({"1": ["a", "b"]}, workers=told.get("workers", 10), docs=told.get("docs", 8))


def test_tasks_of_the_usual_size_and_their_files(tmp_path: Path) -> None:
    from assay.crowd.task_files import read_pool, write_tasks
    from assay.crowd.tasks import make_tasks

    path = tmp_path / "pool.qrels"
    path.write_text("".join(f"401 0 d{i} 0\n" for i in range(60)))
    gold = {"401": {"g0": 0, "g1": 1}}
    made = make_tasks(read_pool(path), gold=gold)
    table = made.table()
    assert table.rows == (("401", 60, 100, 10, 10),)
    positions = Counter(r.position for r in made.rows if r.gold is not None)
    assert min(positions.values()) > 5  # gold docs may stand anywhere
    write_tasks(tmp_path / "tasks.csv", made)
    assert (tmp_path / "tasks.csv").read_text().splitlines()[0] == "task,topic,position,doc,gold"
    assert read_pool(tmp_path / "tasks.csv")["401"][:2] == [r.doc for r in made.rows[:2]]
    path.write_text("401 d0\n401 Q0 d1\n")
    with pytest.raises(DataError, match=r"pool.qrels:2: 3 fields; a pool line is 'topic doc' or a qrels line"):
        read_pool(path)
    with pytest.raises(DataError, match="topic 401: 1 gold docs, and each task has 2; give more gold docs"):
        make_tasks({"401": ["a"]}, gold={"401": {"g": 1}})
    with pytest.raises(UsageError, match="leave 0 for the pool"):
        make_tasks({"401": ["a"]}, gold=gold, docs=2)
