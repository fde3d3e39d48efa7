"""The workbench in a real browser, on SQLite and on PostgreSQL: upload, compare, judge together, export.

The collection is TREC DL 2019 with its passages where the data are at hand, and the simulated one elsewhere.
"""

from __future__ import annotations

import lzma
import os
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from assay.cli.main import cli
from assay.store import Store
from assay.store.filling import add_simulated
from tests.conftest import ROOT

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
ON_A_FARM = os.environ.get("CI") == "true" and not os.environ.get("ASSAY_BROWSER")
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed"),
    pytest.mark.skipif(ON_A_FARM, reason="a whole campaign in a browser takes a quiet machine; set ASSAY_BROWSER=yes"),
]
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
RUNS = 12
"""Runs of the track that are stored; all 37 would only take longer."""


def filled(store: Store, folder: Path) -> str:
    """A collection with texts; its name."""
    base = Path(os.environ.get("ASSAY_DATA", ROOT.parent / "shared" / "data"))
    source = base / "trec-dl-2019-passage"
    queries = base / "machine-judges-dl2019-2021" / "queries-dl2019.tsv"
    if not source.exists() or not queries.exists():
        return add_simulated(store).name
    texts = folder / "docs.tsv"
    with lzma.open(source / "texts.tsv.xz") as packed:
        texts.write_bytes(packed.read())
    store.collections.add("dl19", title="TREC DL 2019", topics=queries, docs=texts, measure="nDCG@10")
    store.qrels.add("dl19", source / "qrels.txt")
    with tarfile.open(source / "runs.tar.xz") as archive:
        members = [member for member in archive.getmembers() if member.isfile()][:RUNS]
        archive.extractall(folder, members=members, filter="data")
    for member in members:
        store.runs.add("dl19", folder / member.name)
    return "dl19"


@pytest.fixture
def served(address: tuple[str, Path], tmp_path: Path) -> Iterator[tuple[str, str, dict[str, str]]]:
    """The address of a server with tokens, the name of its collection, and a token for each person."""
    where, files = address
    with Store(where, files=files) as store:
        collection = filled(store, tmp_path)
        tokens = {name: store.people.add(name, role)[1] for name, role in PEOPLE.items()}
    place = ["--database", where] if "://" in where else ["--store", where]
    command = [sys.executable, "-m", "assay.cli.main", "serve", *place, "--port", "0", "--tokens"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        line = server.stdout.readline()
        found = re.search(r"http://\S+/", line)
        try:
            assert found, line + (server.stderr.read() if server.stderr else "")
            yield found.group(0).rstrip("/"), collection, tokens
        finally:
            server.terminate()
            server.wait(20)


PEOPLE = {"olga": "organiser", "ann": "assessor", "ben": "assessor"}


@pytest.fixture
def browser() -> Iterator[Any]:
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield made
        made.close()


@pytest.fixture
def logged_in(browser: Any, served: tuple[str, str, dict[str, str]]) -> Callable[[str], Any]:
    """A function: person → a page of a browser of that person, logged in; no page loads anything from elsewhere."""
    base, _, tokens = served

    def page_of(name: str, width: int = 1280) -> Any:
        context = browser.new_context(viewport={"width": width, "height": 900}, base_url=base, accept_downloads=True)
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.on("pageerror", lambda error: pytest.fail(f"script error: {error}"))
        page.on("request", lambda request: request.url.startswith((base, "blob:", "data:")) or pytest.fail(request.url))
        page.on("console", lambda message: "Content Security Policy" in message.text and pytest.fail(message.text))
        page.goto("/")
        page.fill("input[name=token]", tokens[name])
        page.click("button.main")
        page.wait_for_selector("h1:has-text('Collections')")
        return page

    return page_of


def ready(page: Any) -> None:
    page.wait_for_selector("html[data-ready=yes]", timeout=90_000)
    overflow = page.evaluate("() => document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert overflow <= 0, page.url


def test_upload_compare_and_look(
    served: tuple[str, str, dict[str, str]], logged_in: Callable[[str], Any], tmp_path: Path
) -> None:
    _, collection, _ = served
    page = logged_in("ann")
    page.goto(f"/collection/{collection}")
    ready(page)
    topic = page.locator('details a[href^="/topic/"]').first.text_content()
    bad = tmp_path / "bad.run"
    bad.write_text(f"{topic} Q0 a 1 3 mine\n{topic} Q0 b 2 many mine\n")
    page.goto(f"/upload?collection={collection}")
    page.set_input_files("input[type=file]", bad)
    page.click("button.main")
    page.wait_for_selector("text=bad.run:2")
    good = tmp_path / "good.run"
    good.write_text(f"{topic} Q0 a 1 3 mine\n{topic} Q0 b 2 2 mine\n")
    page.select_option("select[name=collection]", collection)
    page.set_input_files("input[type=file]", good)
    page.click("button.main")
    page.wait_for_selector("h1:has-text('mine')")
    ready(page)
    assert "rank" in page.inner_text(".verdict")
    page.click('a[href^="/score/"]')
    page.wait_for_selector("text=never changes")
    page.goto(f"/collection/{collection}")
    ready(page)
    page.locator("tbody input[type=checkbox]").nth(0).check()
    page.locator("tbody input[type=checkbox]").nth(1).check()
    page.click("text=Compare the chosen runs")
    ready(page)
    assert "paired t test" in page.inner_text(".verdict")
    page.locator('tbody a[href^="/topic/"]').first.click()
    page.wait_for_selector(".hits li")
    ready(page)
    assert page.locator(".side section").count() == 2


def test_every_page_fits_a_phone(served: tuple[str, str, dict[str, str]], logged_in: Callable[..., Any]) -> None:
    _, collection, _ = served
    page = logged_in("olga", width=390)
    page.goto(f"/collection/{collection}")
    run = page.locator('tbody a[href^="/run/"]').first.get_attribute("href")
    topic = page.locator('details a[href^="/topic/"]').first.get_attribute("href")
    listed = ["/", "/across", "/years", "/campaigns", "/experiments", "/upload", "/people"]
    for where in [*listed, f"/collection/{collection}", run, topic]:
        page.goto(where)
        ready(page)


def test_two_assessors_judge_together(
    served: tuple[str, str, dict[str, str]], logged_in: Callable[..., Any], tmp_path: Path
) -> None:
    _, collection, _ = served
    organiser = logged_in("olga")
    organiser.goto("/campaigns")
    organiser.fill("input[name=name]", "first look")
    organiser.select_option("select[name=collection]", collection)
    organiser.fill("input[name=depth]", "5")
    organiser.fill("input[name=labels]", "2")
    organiser.fill("textarea[name=guidelines]", "Grade 3 answers the query.")
    organiser.click("text=Start the campaign")
    organiser.wait_for_selector("h1:has-text('first look')")
    ready(organiser)
    assert "Nothing is judged yet" in organiser.inner_text("main")
    labels = {}
    for name, width in (("ann", 1280), ("ben", 390)):
        page = logged_in(name, width)
        page.goto("/judge/first look")
        labels[name] = judged(page, 30)
    assert len(labels["ann"]) == len(labels["ben"]) == 30
    organiser.reload()
    ready(organiser)
    shown = organiser.inner_text("main")
    assert "answers\n60" in shown
    assert "No two people" not in shown
    assert organiser.locator("section[aria-labelledby=board] tbody tr").count() > 2
    exported = {}
    for what in ("labels", "judgments"):
        with organiser.expect_download() as download:
            organiser.click(f"a:text-is('{what}')")
        exported[what] = tmp_path / download.value.suggested_filename
        download.value.save_as(exported[what])
    lines = exported["labels"].read_text().splitlines()[1:]
    assert len(lines) == 60
    said = {(fields[2], fields[1]): float(fields[3]) for fields in (line.split("\t") for line in lines)}
    for name, given in labels.items():
        assert {doc: label for (who, doc), label in said.items() if who == name} == given
    run = tmp_path / "any.run"
    topic, _, doc, _ = exported["judgments"].read_text().split()[:4]
    run.write_text(f"{topic} Q0 {doc} 1 1 any\n")
    for arguments in (
        ["crowd", "aggregate", str(exported["labels"]), "--scale", "S4"],
        ["score", "--qrels", str(exported["judgments"]), str(run)],
    ):
        cli.main(arguments, standalone_mode=False)


def judged(page: Any, docs: int) -> dict[str, float]:
    """Judge by keyboard, with an undo, a skip and a reload on the way; {doc: label} as it should be in the end."""
    ready(page)
    given: dict[str, float] = {}
    undone = skipped = False
    while len(given) < docs:
        doc = page.inner_text(".doc h2")
        assert doc not in given, "a doc came twice"
        if len(given) == 3 and not undone:
            undone = True
            page.keyboard.press("3")
            changed(page, doc)
            page.keyboard.press("z")
            page.wait_for_selector(f".doc h2:text-is('{doc}')")
        if len(given) == 5 and not skipped:
            skipped = True
            page.keyboard.press("s")
            changed(page, doc)
            continue
        label = len(given) % 4
        page.keyboard.press(str(label))
        given[doc] = float(label)
        if len(given) == 10:
            page.wait_for_selector('#saved[data-waiting="0"]')
            page.reload()
            ready(page)
        elif len(given) < docs:
            changed(page, doc)
    page.wait_for_selector('#saved[data-waiting="0"]')
    return given


def changed(page: Any, doc: str) -> None:
    page.wait_for_selector(f".doc h2:not(:text-is('{doc}'))")


def test_what_is_not_acknowledged_is_sent_again(
    served: tuple[str, str, dict[str, str]], logged_in: Callable[..., Any]
) -> None:
    _base, collection, _tokens = served
    organiser = logged_in("olga")
    organiser.request.post("/campaigns", form={"name": "slow", "collection": collection, "depth": "3"})
    page = logged_in("ann")
    page.goto("/judge/slow")
    ready(page)
    page.context.set_offline(True)
    for key in "0123":
        before = page.inner_text(".doc h2")
        page.keyboard.press(key)
        changed(page, before)
    assert page.get_attribute("#saved", "data-waiting") == "4"
    page.context.set_offline(False)
    page.wait_for_selector('#saved[data-waiting="0"]', timeout=90_000)
    log = organiser.request.get("/labels/slow?what=history").text().splitlines()[1:]
    assert [float(line.split(",")[6]) for line in log] == [0, 1, 2, 3]


def test_the_organiser_follows_while_somebody_judges(
    served: tuple[str, str, dict[str, str]], logged_in: Callable[..., Any]
) -> None:
    _base, collection, _tokens = served
    organiser = logged_in("olga")
    organiser.request.post("/campaigns", form={"name": "live", "collection": collection, "depth": "3"})
    organiser.goto("/campaign/live")
    ready(organiser)
    assert "Nothing is judged yet" in organiser.inner_text("[data-live=board]")
    organiser.fill("input[name=measure]", "P@5")
    organiser.focus("input[name=measure]")
    organiser.evaluate("() => window.scrollTo(0, 120)")
    page = logged_in("ann")
    page.goto("/judge/live")
    ready(page)
    for key in "123":
        before = page.inner_text(".doc h2")
        page.keyboard.press(key)
        changed(page, before)
    page.wait_for_selector('#saved[data-waiting="0"]')
    organiser.wait_for_selector("[data-live=facts] dd:text-is('3')", timeout=90_000)
    organiser.wait_for_selector("[data-live=board] tbody tr", timeout=90_000)
    assert organiser.input_value("input[name=measure]") == "P@5", "what is typed stays"
    assert organiser.evaluate("() => document.activeElement.name") == "measure"
    assert organiser.evaluate("() => window.scrollY") == 120
    ready(organiser)
