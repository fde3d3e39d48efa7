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
from tests.web.test_browser import browser, pytestmark  # noqa: F401

DOCS = [(topic, doc) for topic in ("1", "2") for doc in "abcdef"]
COLOURS = (
    """(where) => ["color", "backgroundColor"].map((name) => getComputedStyle(document.querySelector(where))[name])"""
)


@pytest.fixture
def base(tmp_path: Path) -> Iterator[str]:
    """The address of a server with a campaign of grades and one of numbers."""
    with Store(tmp_path / "store") as store:
        store.collections.add(
            "pets", topics={"1": "cats", "2": "dogs"}, docs={doc: f"text of {doc}" for doc in "abcdef"}
        )
        store.campaigns.add("grades", "pets", docs=DOCS, scale="S4")
        store.campaigns.add("numbers", "pets", docs=DOCS, scale="S100")
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


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_key_can_be_read_on_every_button(page: Any, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)
    page.goto("/judge/numbers")
    inks = [page.evaluate(COLOURS, where) for where in ("button.main kbd", ".keys kbd")]
    assert inks[0] == inks[1]
    assert inks[0][0] != inks[0][1]
