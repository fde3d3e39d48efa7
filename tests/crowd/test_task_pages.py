"""Pages of tasks in a real browser: what workers see and do, what comes back, and what no page gives away."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.core.errors import DataError, UsageError
from assay.crowd.protocol import Protocol
from assay.crowd.task_answers import collected, read_answers, submit_code
from assay.crowd.task_files import read_tasks, write_tasks
from assay.crowd.task_forms import TestQuestion, form_of
from assay.crowd.task_pages import TaskTexts, task_pages
from assay.crowd.tasks import Tasks, make_pair_tasks, make_tasks
from assay.io import read_labels
from tests.conftest import reloaded
from tests.hostile.calls import call

NASTY = "</script><script>window.bad = 1</script><b>&amp;'\""
"""A text that would do harm where it is taken for HTML."""


def texts(tasks: Tasks) -> TaskTexts:
    docs = {row.doc for row in tasks.rows} | {row.other for row in tasks.rows if row.other}
    described = {"title": f"goldfish {NASTY}", "description": "How do they grow?"}
    topics = {row.topic: described for row in tasks.rows}
    question = TestQuestion("What is looked for?", ("goldfish", "a recipe", NASTY), "goldfish")
    bodies = {doc: {"title": f"Doc {doc}", "text": f"Text of {doc}. {NASTY} " * 20} for doc in docs}
    return TaskTexts(topics, bodies, dict.fromkeys(topics, question))


def single() -> Tasks:
    gold = {"1": {"g0": 0.0, "g1": 1.0}}
    return make_tasks({"1": ["a", "b", "c"]}, gold=gold, docs=5, gold_docs=2, workers=2, seed=3)


def written(folder: Path, tasks: Tasks, form: str, rules: Protocol, scale: str | None = None) -> list[Path]:
    paths = []
    for name, page in task_pages(tasks, texts(tasks), form_of(form, scale), rules):
        (folder / name).write_text(page)
        paths.append(folder / name)
    return paths


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("no Chromium on this machine")
    with playwright.sync_playwright() as running:
        started = running.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--headless"])
        yield started
        started.close()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    context = browser.new_context(viewport={"width": 390, "height": 800})
    opened = context.new_page()
    opened.errors = []
    opened.on("pageerror", lambda error: opened.errors.append(str(error)))
    opened.on("console", lambda message: opened.errors.append(message.text) if message.type == "error" else None)
    yield opened
    assert opened.errors == []
    assert opened.evaluate("window.bad") is None
    context.close()


def begin(page: Any, path: Path, worker: str = "w1") -> None:
    page.goto(f"{path.as_uri()}?worker={worker}")
    page.get_by_label("I have read this").check()
    page.get_by_role("button", name="Begin").click()
    page.get_by_label("1. goldfish").check()
    page.get_by_role("button", name="Next").click()


def no_sideways_scrolling(page: Any) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"))


def test_nothing_on_a_page_tells_which_docs_are_gold(tmp_path: Path) -> None:
    tasks = single()
    for path in written(tmp_path, tasks, "slider", Protocol(start=50, moved=2)):
        text = path.read_text()
        assert "</script><script>window.bad" not in text
        plan = json.loads(text.partition('id="plan">')[2].partition("</script>")[0])
        assert "gold" not in json.dumps({**plan, "description": "", "question": ""}).replace("goldfish", "")
        shapes = {tuple(sorted(doc)) for doc in plan["docs"]}
        assert shapes == {("doc", "text", "title")}
        assert "right" not in plan["question"]
    places = [row.position for row in tasks.rows if row.gold is not None]
    assert len(set(places)) > 2


def test_a_worker_does_a_task_with_the_slider(page: Any, tmp_path: Path) -> None:
    tasks = single()
    first = written(tmp_path, tasks, "slider", Protocol(start=50, moved=3, attempts=2))[0]
    begin(page, first)
    assert no_sideways_scrolling(page)
    for _ in range(4):
        page.get_by_role("button", name="Next").click()
    page.get_by_role("button", name="Submit").click()
    # No slider was moved: the second attempt begins, and says why.
    assert "Move the slider for at least 3 of the 5; so far 0." in page.get_by_role("alert").inner_text()
    reloaded(page)
    assert page.get_by_role("heading", level=1).inner_text() == "Document 1 of 5"
    labels = []
    for i in range(5):
        slider = page.get_by_role("slider")
        slider.focus()
        for _ in range(i + 1):
            page.keyboard.press("PageUp")
        labels.append(int(slider.input_value()))
        if i == 3:
            page.get_by_role("button", name="Back").click()
            page.get_by_role("button", name="Next").click()
            assert int(page.get_by_role("slider").input_value()) == labels[3]
        page.get_by_role("slider").focus()
        page.keyboard.press("Enter")
    assert page.get_by_role("heading", level=1).inner_text() == "Thank you"
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the answers").click()
    answer = tmp_path / download.value.suggested_filename
    download.value.save_as(answer)
    assert json.loads(answer.read_text()) == json.loads(page.get_by_label("Your answers").input_value())

    # Our reader of labels reads the answer as it is.
    read = read_labels(answer)
    assert read.label.tolist() == labels
    assert read.attempt is not None
    assert read.attempt.tolist() == [2] * 5
    assert read.back is not None
    assert read.back.tolist() == [0, 0, 0, 1, 0]
    assert read.seconds is not None
    assert read.seconds.sum() > 0
    assert page.locator("#code").inner_text() == submit_code(json.loads(answer.read_text()))

    question = {"1": TestQuestion("?", ("goldfish", "x"), "goldfish")}
    found = collected(tasks, read_answers([answer]), questions=question)
    joined = found.labels()
    assert joined.tested is not None
    assert joined.tested.tolist() == [1.0] * 5
    planned = tasks.by_task()[found.answers[0].task]
    assert joined.gold is not None
    assert [None if np.isnan(g) else g for g in joined.gold] == [row.gold for row in planned]
    assert found.answers[0].task not in found.open_tasks().by_task()


def test_attempts_end_and_a_topic_is_done_once(page: Any, tmp_path: Path) -> None:
    pages = written(tmp_path, single(), "slider", Protocol(start=50, moved=0, seconds=600.0, on_docs=1, attempts=1))
    begin(page, pages[0])
    for _ in range(4):
        page.get_by_role("button", name="Next").click()
    page.get_by_role("button", name="Submit").click()
    assert page.get_by_role("heading", level=1).inner_text() == "This task cannot be accepted"
    assert "Take at least 600 seconds for 1 of the 5; so far 0." in page.content()
    reloaded(page)
    assert page.get_by_role("heading", level=1).inner_text() == "This task cannot be accepted"
    # Storage of pages from a disk is shared, as that of one host is.
    page.evaluate("localStorage.setItem('assay-topic-1', JSON.stringify({task: 'another'}))")
    page.goto(pages[1].as_uri())
    assert page.get_by_role("heading", level=1).inner_text() == "You have done a task on this topic"


def test_radio_buttons_by_keyboard_alone(page: Any, tmp_path: Path) -> None:
    tasks = single()
    first = written(tmp_path, tasks, "radio", Protocol(attempts=1), scale="not<partly<fully")[0]
    page.goto(f"{first.as_uri()}?worker=w2")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    page.keyboard.press("Enter")
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    for i in range(5):
        assert page.get_by_role("heading", level=1).inner_text() == f"Document {i + 1} of 5"
        page.keyboard.press(str(i % 3 + 1))
        page.keyboard.press("Enter")
    rows = json.loads(page.get_by_label("Your answers").input_value())
    assert [row["label"] for row in rows] == [0, 1, 2, 0, 1]
    assert rows[0]["worker"] == "w2"


def test_magnitudes_and_their_code(page: Any, tmp_path: Path) -> None:
    first = written(tmp_path, single(), "magnitude", Protocol(attempts=1))[0]
    begin(page, first)
    given = ["0.001", "12.5", "100000", "3", "0.25"]
    for number in given:
        page.get_by_role("button", name="Next").or_(page.get_by_role("button", name="Submit")).click()
        assert page.get_by_role("spinbutton").count() == 1, "an empty box must not be accepted"
        page.get_by_role("spinbutton").fill(number)
        page.keyboard.press("Enter")
    rows = json.loads(page.get_by_label("Your answers").input_value())
    assert [row["label"] for row in rows] == [float(number) for number in given]
    assert rows[0]["code"] == submit_code(rows)


def test_pairs_side_by_side(browser: Any, tmp_path: Path) -> None:
    gold = {"1": {"g0": 0.0, "g1": 1.0, "g2": 2.0}}
    tasks = make_pair_tasks({"1": list("abcdef")}, gold=gold, docs=3, gold_docs=1, workers=1)
    first = written(tmp_path, tasks, "pairs", Protocol(attempts=1))[0]
    context = browser.new_context(viewport={"width": 1280, "height": 900}, color_scheme="dark")
    page = context.new_page()
    begin(page, first)
    left, right = (page.get_by_label(f"Document {i}", exact=True).first.bounding_box() for i in (1, 2))
    assert left["y"] == right["y"]
    assert left["x"] + left["width"] <= right["x"]
    for key in "132":
        page.keyboard.press(key)
        page.keyboard.press("Enter")
    answer = tmp_path / "answer.json"
    answer.write_text(page.get_by_label("Your answers").input_value())
    context.close()
    found = collected(tasks, read_answers([answer]))
    found.write(tmp_path / "pairs.csv")
    done = call(["crowd", "preferences", f"{tmp_path}/pairs.csv"])
    assert done.code == 0, done.err
    assert found.columns()["label"] == [1, 0, 0.5]
    with pytest.raises(UsageError, match="no labels"):
        found.labels()


def answered(tasks: Tasks, task: str, worker: str) -> list[dict[str, Any]]:
    rows = [{"topic": row.topic, "doc": row.doc, "worker": worker, "label": 10 * row.position, "task": task,
             "position": row.position, "seconds": 30.5, "attempt": 1, "back": 0, "answer": "goldfish"}
            for row in tasks.by_task()[task]]  # fmt: skip
    return [{**row, "code": submit_code(rows)} for row in rows]


def test_answers_that_do_not_fit_are_left_out(tmp_path: Path) -> None:
    tasks = single()
    write_tasks(tmp_path / "tasks.csv", tasks)
    assert read_tasks(tmp_path / "tasks.csv").rows == tasks.rows
    first, second = tasks.by_task()
    given = {
        "good": answered(tasks, first, "w1"),
        "again": answered(tasks, first, "w2"),
        "same-worker": answered(tasks, second, "w1"),
        "changed": [{**row, "label": 99} for row in answered(tasks, second, "w3")],
        "unknown": [{**row, "task": "x"} for row in answered(tasks, second, "w4")],
        "short": answered(tasks, second, "w5")[:-1],
    }
    (tmp_path / "answers").mkdir()
    for number, (name, rows) in enumerate(given.items()):
        (tmp_path / "answers" / f"{number}-{name}.json").write_text(json.dumps(rows))
    (tmp_path / "bad.csv").write_text("worker,task\n")
    asked = ["crowd", "answers", f"{tmp_path}/answers", "--tasks", f"{tmp_path}/tasks.csv", "--pay", "1", "--fee", "0"]
    done = call([*asked, "--labels", f"{tmp_path}/labels.csv", "--open", f"{tmp_path}/open.csv", "--format", "json"])
    assert done.code == 0, done.err
    counts, left_out = json.loads(done.out)
    amounts = {row["what"]: row["amount"] for row in counts["rows"]}
    assert amounts["answers that fit"] == 1
    assert amounts["cost so far"] == 1
    assert amounts["cost when all are done"] == 2
    assert [row["why"] for row in left_out["rows"]] == [
        "the task has an answer already", "the worker has another task of this topic",
        "the code does not belong to the answers", "no such task was planned", "other docs than the task has",
    ]  # fmt: skip
    assert set(read_tasks(tmp_path / "open.csv").by_task()) == {second}
    checked = call(["crowd", "check", f"{tmp_path}/labels.csv", "--scale", "S100", "--docs", "5", "--show", "conduct"])
    assert checked.code == 0, checked.err

    # Once the answer is rejected its task is open, and the next answer of it counts.
    (tmp_path / "bad.csv").write_text(f"worker,task\nw1,{first}\n")
    done = call([*asked, "--rejected", f"{tmp_path}/bad.csv", "--format", "json"])
    amounts = {row["what"]: row["amount"] for row in json.loads(done.out)[0]["rows"]}
    assert (amounts["answers that fit"], amounts["of them rejected"], amounts["tasks still open"]) == (2, 1, 1)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[1]", "an answer is a list of objects"),
        ("{", "not JSON"),
        ('[{"topic": "1"}]', "doc 1 of the answer has no 'doc'"),
    ],
)
def test_damaged_answers_are_named(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(DataError, match=says):
        read_answers([tmp_path / "a.json"])
