"""Crowd experiments of a store: who gets which task, what is checked, what is counted, and what comes out."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.cli.main import cli
from assay.core.errors import AssayError, DataError, UsageError
from assay.crowd.preference_pairs import read_preferences
from assay.crowd.task_files import read_tasks
from assay.crowd.task_forms import TestQuestion
from assay.data import Run
from assay.io import read_labels
from assay.store import Store
from assay.store.experiment_files import experiment_file, export_experiment
from assay.store.experiment_growth import add_tasks
from assay.store.experiment_schema import assignments, submissions, tasks
from assay.store.experiment_standing import checkup_of, standing_of
from assay.store.schema import sa
from tests.conftest import ROOT
from tests.store.conftest import BACKENDS
from tests.store.crowd_workers import DOCS, GOLD, POOL, answer_rows, done, experiment, right_labels


def test_what_a_page_gets_does_not_say_which_docs_are_gold(store: Store) -> None:
    own = experiment(store, docs=4)
    places = set()
    for number in range(8):
        given = own.given(f"w{number}")
        assert given is not None
        plan = own.page_plan(given, "/crowd/x")
        text = json.dumps(plan)
        assert "gold" not in text
        assert {tuple(sorted(doc)) for doc in plan["docs"]} == {("doc", "text", "title")}
        assert [doc["doc"] for doc in plan["docs"]] == ["1", "2", "3", "4"]
        assert given.rows[0].task not in text
        assert own.key not in text
        places.add(tuple(row.position for row in given.rows if row.gold is not None))
    assert len(places) > 2, "gold docs stand at random places"


def test_the_seed_is_random_unless_it_is_chosen(store: Store) -> None:
    first = experiment(store, "first", seed=None)
    second = experiment(store, "second", seed=None)
    assert None not in (first.plan.seed, second.plan.seed)
    assert first.plan.seed != second.plan.seed
    assert len(first.key) >= 32
    assert first.key != second.key


def test_a_worker_fails_is_asked_again_and_gets_a_code(store: Store) -> None:
    own = experiment(store, attempts=2)
    first = done(own, "w", right=False)
    assert first is not None
    assert (first.state, first.attempt, first.code) == ("again", 2, "")
    assert "gold" not in " ".join(first.warnings)
    second = done(own, "w")
    assert second is not None
    assert second.state == "accepted"
    assert len(second.code) == 12
    assert own.codes("w") == [second.code]
    # The next task is of the other topic, and then there is none.
    third = own.given("w")
    assert third is not None
    assert third.rows[0].topic == "2"
    assert (done(own, "w", right=False), done(own, "w", right=False), own.given("w"))[2] is None
    standing = standing_of(own)
    assert (standing.done, standing.failed, standing.tasks) == (1, 1, 8)
    assert [one.failed for one in standing.given if one.state == "failed"] == [("gold order",)]
    assert standing.cost == pytest.approx(0.24)
    assert store.check().errors == 0


def test_a_failed_task_is_offered_to_another_worker(store: Store) -> None:
    own = experiment(store, attempts=1, workers=1)
    given = own.given("bad")
    assert given is not None
    done(own, "bad", right=False)
    again = own.given("good")
    assert again is not None
    assert [row.doc for row in again.rows] == [row.doc for row in given.rows]


def test_an_answer_counts_once_however_often_it_is_sent(store: Store) -> None:
    own = experiment(store)
    given = own.given("w")
    assert given is not None
    rows = answer_rows(own.page_plan(given, "/"), right_labels(given))
    replies = [own.answer(rows, id="once-and-no-more") for _ in range(3)]
    assert [reply.again for reply in replies] == [False, True, True]
    assert len({reply.code for reply in replies}) == 1
    with store.database.reading() as connection:
        assert connection.execute(sa.select(sa.func.count()).select_from(submissions)).scalar_one() == 1
    with pytest.raises(UsageError, match="stands for another answer"):
        own.answer(answer_rows(own.page_plan(given, "/"), [1, 2, 3, 4]), id="once-and-no-more")


def odd_answers() -> list[tuple[str, dict[str, Any], str]]:
    return [
        ("another task", {"task": "x"}, "no such task was given to this worker"),
        ("another worker", {"worker": "v"}, "no such task was given to this worker"),
        ("other docs", {"doc": "1"}, "other docs than the task has"),
        ("another topic", {"topic": "2"}, "topic 2, not 1"),
        ("another attempt", {"attempt": 2}, "attempt 2 where attempt 1 comes next"),
        ("more time than went by", {"seconds": 500}, "seconds are more than went by"),
        ("time that runs back", {"seconds": -1}, "a number of at least 0"),
        ("back by halves", {"back": 0.5}, "a whole number"),
        ("a label off the scale", {"label": 101}, "not on the scale"),
        ("no number", {"label": "50"}, "it must be a number"),
        ("not a number", {"label": float("nan")}, "it must be a number"),
        ("a list for a worker", {"worker": []}, "it must be a text"),
        ("positions of another", {"position": 1}, "other positions"),
        ("a code of another", {"code": "ABC"}, "the code does not belong"),
    ]


@pytest.mark.parametrize(
    ("changes", "says"), [(c, s) for _, c, s in odd_answers()], ids=[n for n, _, _ in odd_answers()]
)
def test_an_odd_answer_is_refused_and_nothing_is_stored(store: Store, changes: dict[str, Any], says: str) -> None:
    own = experiment(store)
    given = own.given("w")
    assert given is not None
    try:
        rows = answer_rows(own.page_plan(given, "/"), right_labels(given), **changes)
    except (TypeError, ValueError):  # no code can be made of such labels
        rows = answer_rows(own.page_plan(given, "/"), right_labels(given), **changes, code="X")
    with pytest.raises(AssayError, match=says):
        own.answer(rows, id="something odd")
    with store.database.reading() as connection:
        assert connection.execute(sa.select(sa.func.count()).select_from(submissions)).scalar_one() == 0
    assert done(own, "w") is not None, "the worker goes on where it was"


def test_after_the_end_nothing_is_taken(store: Store) -> None:
    own = experiment(store, attempts=1)
    given = own.given("w")
    assert given is not None
    rows = answer_rows(own.page_plan(given, "/"), right_labels(given))
    own.answer(rows, id="the first one")
    with pytest.raises(UsageError, match="submitted already"):
        own.answer(rows, id="the second one")
    failed = own.given("v")
    assert failed is not None
    done(own, "v", right=False)
    with pytest.raises(UsageError, match="all attempts of the task are used"):
        own.answer(answer_rows(own.page_plan(failed, "/"), [1, 2, 3, 4]), id="another one")


def test_a_task_that_was_left_goes_to_another(store: Store) -> None:
    own = experiment(store)
    left = own.given("w")
    assert left is not None
    held = own.given("u")
    assert held is not None
    assert held.rows != left.rows, "two workers are never at the same task"
    with store.database.writing() as connection:
        connection.execute(sa.update(assignments).where(assignments.c.worker == "w").values(until=time.time() - 1))
    taken = own.given("v")
    assert taken is not None
    assert taken.rows == left.rows
    assert taken.id != left.id
    with pytest.raises(UsageError, match="given to another worker meanwhile"):
        own.answer(answer_rows(own.page_plan(left, "/"), right_labels(left)), id="far too late")
    # Who left a task may still do one of the topic.
    again = own.given("w")
    assert again is not None
    assert again.rows[0].topic == "1"
    assert again.rows not in (left.rows, held.rows)


def test_who_is_late_may_finish_where_nobody_else_took_the_task(store: Store) -> None:
    own = experiment(store, away=0.0)
    given = own.given("w")
    assert given is not None
    reply = done(own, "w")
    assert reply is not None
    assert reply.state == "accepted"


def test_many_workers_at_once_give_every_doc_exactly_its_labels(store: Store) -> None:
    own = experiment(store, workers=5, attempts=2)
    errors: list[BaseException] = []

    def work(number: int) -> None:
        try:
            idle = 0
            while idle < 3:
                reply = done(own, f"w{number}", right=number % 4 > 0)
                idle = idle + 1 if reply is None else 0
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(24)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    for number in range(24, 44):  # who comes later does what others failed at the very end
        while done(own, f"w{number}") is not None:
            pass
    standing = standing_of(own)
    assert standing.done == standing.tasks == 20
    accepted = [one for one in standing.given if one.state == "accepted"]
    assert max(Counter((one.worker, one.topic) for one in standing.given if one.state != "left").values()) == 1
    assert max(Counter(one.task for one in accepted).values()) == 1
    own_labels: Counter[tuple[str, str]] = Counter()
    columns = standing.answers.columns()
    kept = {(one.task, one.worker) for one in accepted}
    for topic, doc, task, worker, gold in zip(
        columns["topic"], columns["doc"], columns["task"], columns["worker"], columns["gold"], strict=True
    ):
        if gold is None and (task, worker) in kept:
            own_labels[topic, doc] += 1
    assert set(own_labels) == {(topic, doc) for topic, docs in POOL.items() for doc in docs}
    assert set(own_labels.values()) == {5}
    assert store.check().errors == 0


def test_the_limit_of_tasks_of_a_worker_and_a_closed_experiment(store: Store) -> None:
    own = experiment(store, tasks_per_worker=1)
    done(own, "w")
    assert own.given("w") is None
    begun = own.given("v")
    own.close()
    assert own.given("u") is None
    assert own.given("v") == begun, "who has begun may finish"
    assert done(own, "v") is not None
    own.reopen()
    assert own.given("u") is not None


def test_the_test_question_and_the_time_are_checked_here(store: Store) -> None:
    asked = {topic: TestQuestion("What is looked for?", ("pets", "cars"), "pets") for topic in POOL}
    own = experiment(store, questions=asked, seconds=0.5, on_docs=2)
    given = own.given("w")
    assert given is not None
    plan = own.page_plan(given, "/")
    assert plan["question"] == {"text": "What is looked for?", "options": ["pets", "cars"]}
    first = own.answer(answer_rows(plan, right_labels(given), answer="cars"), id="first attempt")
    assert len(first.warnings) == 2
    assert "Take at least 0.5 seconds for 2 of the 4; so far 0." in first.warnings
    again = own.given("w")
    assert again is not None
    assert again.attempt == 2
    rows = answer_rows(own.page_plan(again, "/"), right_labels(given), answer="pets", seconds=0.6)
    assert own.answer(rows, id="second attempt").state == "accepted"


def test_pairs_magnitudes_and_radio_buttons(store: Store, tmp_path: Path) -> None:
    pairs = experiment(store, "pairs", form="pairs", docs=3, gold_docs=1, pairs_per_doc=2)
    given = pairs.given("w")
    assert given is not None
    plan = pairs.page_plan(given, "/")
    assert [doc["other"]["doc"] for doc in plan["docs"]] == ["1b", "2b", "3b"]
    right = [0.5 if row.gold is None else row.gold for row in given.rows]
    wrong = [0.5 for _ in given.rows]
    assert pairs.answer(answer_rows(plan, wrong), id="undecided").state == "again"
    plan = pairs.page_plan(pairs.given("w") or given, "/")
    assert pairs.answer(answer_rows(plan, right), id="decided at last").state == "accepted"
    table = experiment_file(pairs, "labels")
    assert table.splitlines()[0].startswith("topic,doc,other,worker,label")
    (tmp_path / "pairs.csv").write_text(table)
    assert len(read_preferences(tmp_path / "pairs.csv").labels) == 3
    with pytest.raises(UsageError, match="not measured of pairs"):
        experiment_file(pairs, "bonus")
    magnitudes = experiment(store, "magnitudes", form="magnitude")
    given = magnitudes.given("w")
    assert given is not None
    labels = [0.001 if row.gold == 0 else 12.5 for row in given.rows]
    assert magnitudes.answer(answer_rows(magnitudes.page_plan(given, "/"), labels), id="12345678").state == "accepted"
    radio = experiment(store, "radio", form="radio", scale="no<maybe<yes")
    given = radio.given("w")
    assert given is not None
    labels = [row.gold or 0 for row in given.rows]
    assert radio.answer(answer_rows(radio.page_plan(given, "/"), labels), id="abcdefgh").state == "accepted"


def test_files_are_read_by_the_commands(store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = experiment(store, attempts=1)
    for number in range(12):
        done(own, f"w{number}", right=number != 3)
    standing = standing_of(own)
    assert standing.done == 8
    folder = tmp_path / "out"
    assert sorted(path.name for path in export_experiment(own, folder)) == [
        "accepted.csv", "bonus.csv", "labels.csv", "rejected.csv", "tasks.csv", "workers.csv",
    ]  # fmt: skip
    labels = read_labels(folder / "labels.csv")
    for column in (labels.seconds, labels.position, labels.attempt, labels.gold, labels.back, labels.task):
        assert column is not None
    assert len(labels) == 4 * (8 + standing.failed)
    assert read_tasks(folder / "tasks.csv").rows == own.tasks().rows
    # The command finds the same tasks to reject as the server did.
    check = ["crowd", "check", str(folder / "labels.csv"), "--scale", "S100", "--start", "50", "--moved", "2"]
    lists = ["--rejected", str(tmp_path / "bad.csv"), "--accepted", str(tmp_path / "good.csv")]
    cli.main([*check, *lists], standalone_mode=False)
    rejected = {tuple(line.split(",")[:2]) for line in (tmp_path / "bad.csv").read_text().splitlines()}
    assert rejected == {tuple(line.split(",")[:2]) for line in (folder / "rejected.csv").read_text().splitlines()}
    assert len(rejected) == 1 + standing.failed
    good = read_labels(tmp_path / "good.csv")
    assert np.array_equal(np.sort(good.label), np.sort(read_labels(folder / "accepted.csv").label))
    qrels = tmp_path / "crowd.qrels"
    aggregate = ["crowd", "aggregate", str(folder / "accepted.csv"), "--scale", "S100", "--method", "mean"]
    cli.main([*aggregate, "--qrels", str(qrels)], standalone_mode=False)
    assert len(qrels.read_text().splitlines()) == 12
    checkup = checkup_of(own, standing)
    assert checkup is not None
    assert len(checkup.accepted.rejected) == standing.failed
    capsys.readouterr()


def test_what_cannot_be_an_experiment_is_said(store: Store) -> None:
    own = experiment(store)
    assert own.name == "x"
    with pytest.raises(UsageError, match="there is an experiment 'x' already"):
        experiment(store)
    cases: list[tuple[dict[str, Any], str]] = [
        ({"pool": {"1": ["nowhere"]}}, "no text for 1 of"),
        ({"pool": {"9": ["a"]}, "gold": {"9": {"b": 0, "c": 1}}}, "no text for 1 of 1 topics"),
        ({"form": "radio"}, "radio buttons need a scale"),
        ({"moved": 2, "form": "magnitude"}, "has no slider"),
        ({"docs": 2}, "leave 0 for the pool"),
        ({"attempts": 0}, "attempts is 0"),
        ({"depth": 3}, "an experiment has one of the two"),
        ({"colour": "red"}, "no choice 'colour'"),
        ({"questions": {"1": TestQuestion("?", ("a", "b"), "a")}}, "no question for 1 of 2 topics"),
    ]
    for number, (choices, says) in enumerate(cases):
        given = {"pool": POOL, "gold": GOLD, **choices}
        with pytest.raises(AssayError, match=says):
            store.experiments.add(f"bad {number}", "pets", **given)
    assert [one.name for one in store.experiments.listed()] == ["x"]
    with pytest.raises(DataError, match="no answers yet"):
        experiment_file(own, "labels")


def test_docs_of_runs_and_the_cost_beforehand(store: Store) -> None:
    store.collections.add("pets", topics={"1": "cats"}, docs=DOCS)
    store.runs.add("pets", Run.from_lists("one", {"1": list("abc")}))
    store.runs.add("pets", Run.from_lists("two", {"1": list("dab")}))
    estimate = store.experiments.estimate("pets", depth=2)
    assert (estimate.tasks, estimate.labels) == (10, 30)
    assert store.experiments.listed() == []
    own = store.experiments.add("x", "pets", depth=2)
    assert {row.doc for row in own.tasks().rows} == {"a", "b", "d"}
    assert standing_of(own).estimate.money == estimate.money


@pytest.mark.parametrize("target", BACKENDS)
def test_an_experiment_is_exported_and_rebuilt_to_the_same_answers(
    store: Store, tmp_path: Path, target: str, new_database: Callable[[str], tuple[str, Path]]
) -> None:
    own = experiment(store, f"a / {chr(0x2603)}", attempts=2)
    for number in range(4):
        done(own, f"w{number}", right=number != 1)
    folder = store.export(tmp_path / "out")
    where, files = new_database(target)
    with Store.rebuilt(folder, where, files=files) as again:
        copy = again.experiments[own.name]
        assert (copy.key, copy.plan, copy.made) == (own.key, own.plan, own.made)
        assert copy.tasks().rows == own.tasks().rows
        assert standing_of(copy).given == standing_of(own).given
        for what in ("labels", "workers", "tasks"):
            assert experiment_file(copy, what) == experiment_file(own, what)
        assert copy.given("w1") == own.given("w1"), "who was at a task goes on with it"
        assert again.check().errors == 0
    (folder / "experiments" / "1-a" / "tasks.jsonl").unlink()
    with pytest.raises(DataError, match=r"tasks.jsonl: the file is not there"):
        Store.rebuilt(folder, tmp_path / "another")


def test_a_count_that_is_wrong_is_found(store: Store) -> None:
    own = experiment(store)
    done(own, "w")
    with store.database.writing() as connection:
        connection.execute(sa.update(assignments).values(attempts=2))
        connection.execute(sa.update(tasks).values(is_done=False))
    found = store.check()
    assert found.errors == 2
    assert "2 attempts are written down, and the log has 1" in str(found.table())
    assert "1 accepted answers, and it is marked as not done" in str(found.table())


def test_more_tasks_go_where_labels_matter(store: Store) -> None:
    own = experiment(store, workers=1)
    with pytest.raises(DataError, match="no accepted answers yet"):
        add_tasks(store, "x")
    for number in range(4):
        done(own, f"w{number}")
    for tag, docs in (("one", "abcd"), ("two", "abdc")):
        store.runs.add("pets", Run.from_lists(tag, {topic: list(docs) for topic in POOL}))
    before = own.tasks()
    added = add_tasks(store, "x", labels=4, measure="DCG@4")
    # The runs differ in the order of c and d alone.
    assert {row.doc for row in added.tasks.rows if row.gold is None} == {"c", "d"}
    assert {row.doc for row in added.tasks.rows if row.gold is not None} == {"e", "f", "g", "h"}
    now = own.tasks().by_task()
    assert len(now) == len(before.by_task()) + len(added.tasks.by_task())
    assert sorted(now) == sorted(set(now))
    standing = standing_of(own)
    assert (standing.done, standing.tasks) == (4, 6)
    assert done(own, "somebody new") is not None
    assert store.check().errors == 0
    pairs = experiment(store, "pairs", form="pairs", docs=3, gold_docs=1)
    with pytest.raises(UsageError, match="in pairs"):
        add_tasks(store, pairs.name)


PROGRAM = """
import sys
sys.path.insert(0, sys.argv[4])
from assay.store import Store
from tests.store.crowd_workers import done
where, files, name = sys.argv[1:4]
own = Store(where, files=files).experiments["x"]
for number in range(1000):
    id = f"{name}-{number}-answer"
    if done(own, f"{name}-{number}", id=id) is not None:
        print(id, flush=True)
"""


def test_processes_that_are_killed_lose_no_acknowledged_answer(
    store: Store, address: tuple[str, Path], tmp_path: Path
) -> None:
    own = experiment(store, workers=500)
    where, files = address
    processes = []
    for name in ("p", "q"):
        log = tmp_path / name
        with open(log, "wb") as output:
            command = [sys.executable, "-c", PROGRAM, where, str(files), name, str(ROOT)]
            processes.append((subprocess.Popen(command, stdout=output), log))
    deadline = time.time() + 60
    while not all(log.read_bytes() for _, log in processes) and time.time() < deadline:
        time.sleep(0.02)
    for process, _ in processes:
        process.kill()
        process.wait()
    kept = {line for _, log in processes for line in log.read_text().split("\n")[:-1]}
    with store.database.reading() as connection:
        ids = list(connection.execute(sa.select(submissions.c.id)).scalars())
    assert kept
    assert kept <= set(ids), "an acknowledged answer is lost"
    assert len(ids) == len(set(ids))
    assert standing_of(own).done == len(ids)
    assert store.check().errors == 0
