"""A crowd experiment in a real browser: an organiser makes it, a worker does a task on a phone, files come out."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from assay.cli.main import cli
from assay.io import read_labels
from assay.store import Store
from tests.conftest import reloaded
from tests.store.crowd_workers import done
from tests.web.test_browser import FLAGS, browser, pytestmark  # noqa: F401

assert FLAGS
TOPICS = {"1": "cats at home", "2": "dogs in town"}
GOLD = "1 g 0\n1 h 2\n2 g 0\n2 h 2\n"
QUESTIONS = (
    "topic,question,options,answer\n1,What is looked for?,cats|cars,cats\n2,What is looked for?,cars|dogs,dogs\n"
)
NASTY = "</script><script>window.bad = 1</script>"


@dataclass
class Served:
    """A server with an organiser, and the store behind it."""

    base: str
    token: str
    store: Store


@pytest.fixture
def served(address: tuple[str, Path]) -> Iterator[Served]:
    where, files = address
    with Store(where, files=files) as store:
        texts = {doc: {"title": f"Doc {NASTY}", "text": f"text of {doc}. {NASTY} " * 10} for doc in "abcdgh"}
        store.collections.add("pets", topics=TOPICS, docs=texts)
        token = store.people.add("olga", "organiser")[1]
        place = ["--database", where] if "://" in where else ["--store", where]
        command = [sys.executable, "-m", "assay.cli.main", "serve", *place, "--port", "0", "--tokens"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            line = server.stdout.readline()
            found = re.search(r"http://\S+/", line)
            try:
                assert found, line + (server.stderr.read() if server.stderr else "")
                yield Served(found.group(0).rstrip("/"), token, store)
            finally:
                server.terminate()
                server.wait(20)


def opened(browser: Any, served: Served, width: int, **how: Any) -> Any:  # noqa: F811
    """A page that fails the test where a script fails or something comes from elsewhere."""
    context = browser.new_context(
        viewport={"width": width, "height": 844}, base_url=served.base, accept_downloads=True, **how
    )
    page = context.new_page()
    page.set_default_timeout(60_000)
    page.on("pageerror", lambda error: pytest.fail(f"script error: {error}"))
    page.on("request", lambda asked: asked.url.startswith((served.base, "blob:")) or pytest.fail(asked.url))
    page.on("console", lambda said: "Content Security Policy" in said.text and pytest.fail(said.text))
    return page


def no_sideways_scrolling(page: Any) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"))


def heading(page: Any) -> str:
    return str(page.get_by_role("heading", level=1).inner_text())


def labelled(page: Any, *, right: bool) -> dict[str, int]:
    """Label every doc of a task by keyboard and touch, gold docs in the right order or turned round; {doc: label}."""
    given = {}
    for position in range(1, 5):
        page.wait_for_selector(f"h1:text-is('Document {position} of 4')")
        assert no_sideways_scrolling(page)
        doc = page.inner_text("article").partition("text of ")[2][0]
        is_high = (doc == "h") == right
        slider = page.get_by_role("slider", name="How relevant is this document?")
        box = slider.bounding_box()
        share = 0.5 if doc in "abcd" else (0.9 if is_high else 0.1)
        # A finger where the label stands on the slider, then the keyboard for the last step.
        slider.tap(position={"x": box["width"] * share, "y": box["height"] / 2})
        slider.focus()
        page.keyboard.press("ArrowRight")
        given[doc] = int(slider.input_value())
        if position == 2:
            page.get_by_role("button", name="Back").tap()
            page.wait_for_selector("h1:text-is('Document 1 of 4')")
            page.get_by_role("button", name="Next").tap()
            page.wait_for_selector("h1:text-is('Document 2 of 4')")
        if position < 4:
            page.get_by_role("slider").focus()
            page.keyboard.press("Enter")
    return given


def test_an_experiment_from_the_form_to_the_labels(browser: Any, served: Served, tmp_path: Path) -> None:  # noqa: F811
    organiser = opened(browser, served, 1280)
    organiser.goto("/experiments")
    organiser.fill("input[name=token]", served.token)
    organiser.click("button.main")
    organiser.wait_for_selector("h1:text-is('Crowd experiments')")
    organiser.fill("input[name=name]", "s100")
    organiser.fill("textarea[name=pool]", "".join(f"{topic} {doc}\n" for topic in TOPICS for doc in "abcd"))
    organiser.fill("textarea[name=gold]", GOLD)
    organiser.fill("textarea[name=questions]", QUESTIONS)
    organiser.fill("input[name=docs]", "4")
    organiser.fill("input[name=workers]", "1")
    organiser.fill("input[name=attempts]", "3")
    organiser.fill("textarea[name=consent]", f"Please take part. {NASTY}")
    organiser.get_by_role("button", name="Estimate cost and time").click()
    organiser.wait_for_selector("h2:text-is('What it will cost')")
    organiser.get_by_role("button", name="Start the experiment").click()
    organiser.wait_for_selector("h1:text-is('s100')")
    link = organiser.inner_text("#workers-link") + "w1"

    worker = opened(browser, served, 390, has_touch=True, is_mobile=True, color_scheme="dark")
    worker.goto(link)
    assert NASTY in worker.inner_text("main")
    worker.get_by_label("I have read this").tap()
    worker.get_by_role("button", name="Begin").tap()
    worker.get_by_label("cats").tap()
    worker.get_by_role("button", name="Next").tap()
    labelled(worker, right=False)
    worker.get_by_role("button", name="Submit").tap()
    worker.wait_for_selector("[role=alert]")
    assert heading(worker) == "What is looked for"
    warned = worker.inner_text("[role=alert]")
    assert "Attempt 2 of 3" in warned
    assert "gold" not in warned
    reloaded(worker)
    assert "Attempt 2 of 3" in worker.inner_text("[role=alert]"), "a reload gives no new attempt"
    worker.get_by_role("button", name="Next").tap()
    labels = labelled(worker, right=True)
    # Another window of the same worker was faster: this one is told, and goes on with what it has.
    done(served.store.experiments["s100"], "w1", right=False)
    worker.get_by_role("button", name="Submit").tap()
    worker.wait_for_selector("h1:text-is('Your answers were not taken')")
    assert "attempt 2 where attempt 3 comes next" in worker.inner_text("[role=alert]")
    worker.get_by_role("button", name="Load the task again").tap()
    for position in range(1, 4):
        worker.wait_for_selector(f"h1:text-is('Document {position} of 4')")
        worker.get_by_role("button", name="Next").tap()
    worker.wait_for_selector("h1:text-is('Document 4 of 4')")
    worker.context.set_offline(True)
    worker.get_by_role("button", name="Submit").tap()
    worker.wait_for_selector("#said:has-text('sent again')")
    worker.context.set_offline(False)
    worker.wait_for_selector("#code")
    code = worker.inner_text("#code")
    assert worker.evaluate("window.bad") is None
    worker.get_by_role("button", name="Is there another task for me?").tap()
    worker.wait_for_selector("#earlier")
    assert code in worker.inner_text("#earlier")

    organiser.reload()
    organiser.wait_for_selector("section[aria-labelledby=quality] table")
    assert no_sideways_scrolling(organiser)
    assert organiser.locator("section[aria-labelledby=given] tbody tr").count() == 2
    assert code in organiser.inner_text("section[aria-labelledby=given]")
    with organiser.expect_download() as download:
        organiser.click("a:text-is('labels')")
    path = tmp_path / "labels.csv"
    download.value.save_as(path)
    read = read_labels(path)
    names = [read.docs[i] for i in read.doc.tolist()]
    assert dict(zip(names, read.label.tolist(), strict=True)) == labels
    assert read.attempt is not None
    assert read.back is not None
    assert read.seconds is not None
    assert set(read.attempt.tolist()) == {3}
    # Pages count over all attempts of a task: once back in each.
    assert read.back.tolist() == [0, 2, 0, 0]
    assert read.seconds.sum() > 0
    arguments = ["crowd", "check", str(path), "--scale", "S100", "--start", "50", "--moved", "2", "--test-question"]
    cli.main(arguments, standalone_mode=False)
    cli.main(["crowd", "aggregate", str(path), "--scale", "S100", "--method", "mean"], standalone_mode=False)
