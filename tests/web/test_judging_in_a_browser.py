"""The page of an assessor in a real browser: the counts after every key, and what a key looks like."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from assay.store import Store
from tests.conftest import reloaded
from tests.web.test_browser import browser, pytestmark  # noqa: F401

DOCS = [(topic, doc) for topic in ("1", "2") for doc in "abcdef"]
SECOND_JUDGMENTS = [
    ("3 ArrowLeft 0 z 2", [1, 1, 1, 1, 1], [2]),
    ("3 ArrowLeft 0 z y", [1, 1, 1, 1, 1], [0]),
    ("3 ArrowLeft 0 z z", [1, 1, 1, 1, 0], []),
    ("3 ArrowLeft 0 ArrowLeft 1 z z", [1, 1, 1, 1, 1, 1, 1], [3]),
    ("3 2 ArrowLeft ArrowLeft 0 z z", [1, 2, 2, 2, 2, 2, 1], [3]),
    ("3 ArrowLeft 0 z z y y", [1, 1, 1, 1, 0, 1, 1], [0]),
    ("3 ArrowLeft 0 z ArrowRight 1", [1, 1, 1, 1, 1, 2], [1, 3]),
]
"""Keys, how many judgments are by the person after each, and the labels in the end, the latest first."""
COLOURS = (
    """(where) => ["color", "backgroundColor"].map((name) => getComputedStyle(document.querySelector(where))[name])"""
)


@pytest.fixture
def base(tmp_path: Path) -> Iterator[str]:
    """The address of a server with campaigns of grades, of numbers and of few docs."""
    with Store(tmp_path / "store") as store:
        store.collections.add(
            "pets", topics={"1": "cats", "2": "dogs"}, docs={doc: f"text of {doc}" for doc in "abcdef"}
        )
        store.campaigns.add("grades", "pets", docs=DOCS, scale="S4")
        store.campaigns.add("numbers", "pets", docs=DOCS, scale="S100")
        for number in range(len(SECOND_JUDGMENTS)):
            store.campaigns.add(f"keys{number}", "pets", docs=DOCS, scale="S4")
        store.campaigns.add("few", "pets", docs=DOCS[:4], scale="S4")
    command = [sys.executable, "-m", "assay.cli.main", "serve", "--store", str(tmp_path / "store"), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        found = re.search(r"http://\S+/", server.stdout.readline())
        assert found is not None
        yield found.group(0).rstrip("/")
        server.terminate()
        server.wait(20)


@pytest.fixture
def page(browser: Any, base: str) -> Any:  # noqa: F811
    made = browser.new_context(base_url=base).new_page()
    made.set_default_timeout(60_000)
    made.on("pageerror", lambda error: pytest.fail(f"script error: {error}"))
    return made


def test_the_counts_are_right_after_every_key(page: Any) -> None:
    page.goto("/judge/grades?topic=2")
    page.wait_for_selector("html[data-ready=yes]")
    mine = []
    for key in ("3", "2", "z", "y", "s", "1", "ArrowLeft", "0"):
        page.keyboard.press(key)
        mine.append(int(page.inner_text("#progress").split()[0]))
    assert mine == [1, 2, 1, 2, 2, 3, 3, 3]
    page.wait_for_selector("#saved:has-text('all saved')")
    assert "9 answers left" in page.inner_text("#progress")
    page.reload()
    page.wait_for_selector("html[data-ready=yes]")
    assert page.inner_text("#progress").startswith("3 by you, 3 of 12 docs done, 9 answers left")
    page.click("#earlier summary")
    page.click("#given a >> nth=0")
    page.wait_for_selector("html[data-ready=yes]")
    assert "topic=2" in page.url


def ready(page: Any, where: str) -> None:
    page.goto(where)
    page.wait_for_selector("html[data-ready=yes]")


def all_saved(page: Any) -> None:
    page.wait_for_selector("#saved:has-text('all saved')")


def shown(page: Any) -> tuple[int, int]:
    """How many judgments are by the person and how many answers are left, as the page says."""
    words = page.inner_text("#progress").split()
    return int(words[0]), int(words[-3])


def recorded(page: Any, campaign: str) -> tuple[int, int]:
    """The same, as the server says."""
    counts = page.request.get(f"/judge/{campaign}?format=json").json()["progress"]
    return counts["mine"], counts["left"]


def stands(page: Any, campaign: str) -> list[tuple[str, str, float]]:
    """What the person says as the server has it, the latest first: topic, doc, label."""
    given = page.request.get(f"/judge/{campaign}?format=json").json()["given"]
    return [(one["topic"], one["doc"], one["label"]) for one in given]


def test_the_counts_are_right_after_a_second_judgment_is_taken_back(page: Any) -> None:
    for number, (keys, mine, labels) in enumerate(SECOND_JUDGMENTS):
        campaign = f"keys{number}"
        ready(page, f"/judge/{campaign}")
        seen = []
        for key in keys.split():
            page.keyboard.press(key)
            seen.append(shown(page))
            assert sum(seen[-1]) == len(DOCS), keys
        assert [by_person for by_person, _ in seen] == mine, keys
        all_saved(page)
        assert recorded(page, campaign) == seen[-1], keys
        assert [label for _, _, label in stands(page, campaign)] == labels, keys
        page.reload()
        page.wait_for_selector("html[data-ready=yes]")
        assert shown(page) == seen[-1], keys


def test_a_judgment_that_stands_again_is_looked_at(page: Any) -> None:
    ready(page, "/judge/grades")
    doc = page.inner_text(".doc h2")
    for key in ("3", "ArrowLeft", "0", "z"):
        page.keyboard.press(key)
    assert page.inner_text(".doc h2") == doc
    assert page.inner_text("button[name=label][aria-pressed=true]").startswith("3")


def test_counts_do_not_go_back_when_an_older_answer_comes_late(page: Any) -> None:
    """The page asks for docs; before the answer is there, a doc is judged and that is acknowledged."""
    held: list[Any] = []

    def hold_first(route: Any) -> None:
        request = route.request
        if request.method == "GET" and request.resource_type == "fetch" and not held:
            held.append((route, route.fetch()))
        else:
            route.continue_()

    page.route("**/judge/few*", hold_first)
    ready(page, "/judge/few")
    while not held:
        page.wait_for_timeout(20)
    page.keyboard.press("1")
    all_saved(page)
    assert shown(page) == (1, 3)
    ((route, answer),) = held
    with page.expect_response(lambda response: response.request == route.request):
        route.fulfill(response=answer)
    page.wait_for_timeout(100)
    assert shown(page) == (1, 3)
    page.wait_for_timeout(600)  # the page asks once more
    assert shown(page) == recorded(page, "few") == (1, 3)


def test_unsent_answers_survive_a_reload_and_are_counted_then(page: Any) -> None:
    is_down = [True]

    def refuse(route: Any) -> None:
        if route.request.method == "POST" and is_down[0]:
            route.abort()
        else:
            route.continue_()

    page.route("**/judge/grades*", refuse)
    ready(page, "/judge/grades")
    docs = []
    for key in ("1", "2", "3"):
        docs.append(page.inner_text("#topic") + page.inner_text(".doc h2"))
        page.keyboard.press(key)
    assert shown(page) == (3, 9)
    reloaded(page)
    page.wait_for_selector("html[data-ready=yes]")
    assert page.inner_text("#topic") + page.inner_text(".doc h2") not in docs
    assert page.get_attribute("#saved", "data-waiting") == "3"
    is_down[0] = False
    page.wait_for_selector("#progress:has-text('3 by you')")
    assert shown(page) == recorded(page, "grades") == (3, 9)
    assert page.locator("#given li").count() == 3
    page.keyboard.press("z")
    assert shown(page) == (3, 9), "the texts are on their way"
    page.wait_for_selector("#progress:has-text('2 by you')")
    all_saved(page)
    assert recorded(page, "grades") == (2, 10)
    assert [label for _, _, label in stands(page, "grades")] == [2, 1]
    assert page.inner_text("#topic") + page.inner_text(".doc h2") == docs[-1]


def test_judgments_that_came_with_the_page_are_taken_back_one_by_one(page: Any) -> None:
    ready(page, "/judge/grades")
    for key in ("3", "2", "ArrowLeft", "0"):
        page.keyboard.press(key)
    all_saved(page)
    second, first = (doc for _, doc, _ in stands(page, "grades"))
    page.reload()
    page.wait_for_selector("html[data-ready=yes]")
    expected = [(2, [2, 3], second), (1, [3], second), (0, [], first)]
    for mine, labels, doc in expected:
        page.keyboard.press("z")
        page.wait_for_function("(number) => document.querySelectorAll('#given li').length === number", arg=len(labels))
        page.wait_for_selector("#given:not(:has-text('…'))", state="attached")
        page.wait_for_selector(f".doc h2:text-is('{doc}')")
        all_saved(page)
        page.wait_for_function(
            "(said) => document.querySelector('#progress').textContent.startsWith(said)", arg=f"{mine} by"
        )
        assert [label for _, _, label in stands(page, "grades")] == labels
        assert recorded(page, "grades") == shown(page) == (mine, 12 - mine)
    page.keyboard.press("z")
    assert page.inner_text("#saved") == "nothing to take back"
    page.keyboard.press("y")
    all_saved(page)
    assert recorded(page, "grades") == shown(page) == (1, 11)


def test_earlier_judgments_that_came_with_the_page_are_looked_at_one_by_one(page: Any) -> None:
    ready(page, "/judge/grades")
    for key in ("3", "2", "1"):
        page.keyboard.press(key)
    all_saved(page)
    page.reload()
    page.wait_for_selector("html[data-ready=yes]")
    for number, label in enumerate("123"):
        page.keyboard.press("ArrowLeft")
        page.wait_for_selector(f"#desk[data-back='{number}']")
        assert page.inner_text("button[name=label][aria-pressed=true]").startswith(label)
    page.keyboard.press("0")
    all_saved(page)
    assert [label for _, _, label in stands(page, "grades")] == [0, 1, 2]
    assert shown(page) == recorded(page, "grades") == (3, 9)


def test_earlier_judgments_can_be_changed_and_taken_back_when_nothing_is_left(page: Any) -> None:
    ready(page, "/judge/few")
    for key in ("3", "2", "1", "0"):
        page.keyboard.press(key)
    all_saved(page)
    last = stands(page, "few")[0][1]
    ready(page, "/judge/few")
    assert page.is_visible("#empty")
    page.keyboard.press("ArrowLeft")
    page.wait_for_selector(f".doc h2:text-is('{last}')")
    page.wait_for_selector("html[data-ready=yes]")
    page.keyboard.press("2")
    all_saved(page)
    assert [label for _, _, label in stands(page, "few")] == [2, 1, 2, 3]
    ready(page, "/judge/few")
    for label in (0, None):  # it had another label before
        page.keyboard.press("z")
        page.wait_for_selector(f".doc h2:text-is('{last}')")
        page.wait_for_selector("html[data-ready=yes]")
        all_saved(page)
        assert [label for _, _, label in stands(page, "few")] == [*([] if label is None else [label]), 1, 2, 3]
    page.keyboard.press("3")
    all_saved(page)
    assert shown(page) == recorded(page, "few") == (4, 0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_key_can_be_read_on_every_button(page: Any, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)
    page.goto("/judge/numbers")
    inks = [page.evaluate(COLOURS, where) for where in ("button.main kbd", ".keys kbd")]
    assert inks[0] == inks[1]
    assert inks[0][0] != inks[0][1]
