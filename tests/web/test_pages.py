"""Every page as HTML and as JSON: the numbers are those of the library, and no name is ever markup."""

from __future__ import annotations

import csv
import io
import json
import re
import threading
import time
import tracemalloc
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from assay.data import Run
from assay.scoring import evaluate
from assay.stats import compare
from assay.store import Store
from assay.store.across import systems_over_collections
from assay.web import write_site
from assay.web.live_pages import LivePages
from assay.web.rendering import Page
from tests.web.conftest import HOSTILE


def pages(store: Store) -> dict[str, str]:
    """An address of each kind of page."""
    runs = store.runs.listed("pets")
    first, second = runs[0].short, runs[1].short
    certificate = store.scores.certify(runs[0].hash)
    if not store.campaigns.listed():
        store.campaigns.add("first", "pets", order="hedge", depth=3, guidelines=HOSTILE, gold={("1", "a"): 2})
    return {
        "collections": "/",
        "collection": "/collection/pets",
        "filtered": "/collection/pets?type=automatic&measure=AP&test=wilcoxon&correction=bonferroni",
        "run": f"/run/{first}?baseline={second}",
        "score": f"/score/{certificate.address}",
        "compare": f"/compare?run={first}&run={second}&measure=AP",
        "topic": f"/topic/pets?topic=1&run={first}&run={second}",
        "hostile topic": "/topic/pets?topic=%3Cscript%3Ealert(1)%3C/script%3E",
        "across": "/across",
        "years": "/years",
        "campaigns": "/campaigns",
        "campaign": "/campaign/first",
        "judge": "/judge/first",
        "experiments": "/experiments",
        "upload": "/upload",
        "people": "/people",
        "login": "/login",
    }


KINDS = (
    "collections", "collection", "filtered", "run", "score", "compare", "topic", "hostile topic", "across", "years",
    "campaigns", "campaign", "judge", "experiments", "upload", "people", "login",
)  # fmt: skip


@pytest.mark.parametrize("which", KINDS)
def test_every_page_is_there_as_html_and_json(which: str, local: TestClient, pets: Store) -> None:
    assert set(pages(pets)) == set(KINDS)
    where = pages(pets)[which]
    page = local.get(where, headers={"accept": "text/html"})
    assert page.status_code == 200, page.text
    assert HOSTILE not in page.text
    assert not re.search("<[^>]*=&#34;", page.text), "a quote of an attribute is escaped, so that it is not one"
    assert page.headers["content-security-policy"].startswith("default-src 'self'")
    assert "unsafe" not in page.headers["content-security-policy"]
    record = local.get(where, headers={"accept": "application/json"})
    assert record.status_code == 200
    assert isinstance(record.json(), dict)
    joined = "&" if "?" in where else "?"
    assert local.get(f"{where}{joined}format=json").json() == record.json()


def test_a_leaderboard_has_the_numbers_of_the_library(local: TestClient, pets: Store) -> None:
    runs = {run.tag: pets.runs.read(run.hash) for run in pets.runs.listed("pets")}
    scores = evaluate(list(runs.values()), pets.qrels.read("pets"), "AP")[0]
    expected = compare(scores, baseline="bm25", test="wilcoxon")
    baseline = next(run.short for run in pets.runs.listed("pets") if run.tag == "bm25")
    board = local.get(f"/collection/pets?measure=AP&baseline={baseline}&test=wilcoxon&format=json").json()["board"]
    rows = {row["run"]: row for row in board["rows"]}
    assert board["verdict"] == expected.verdict
    for row in expected.table().record()["rows"]:
        ours = rows[row["run"]]
        assert {key: ours[key] for key in ("mean", "low", "high", "rank", "letters", "delta", "p_corrected")} == {
            key: row[key] for key in ("mean", "low", "high", "rank", "letters", "delta", "p_corrected")
        }
    assert rows["secret"]["unjudged_percent"] == pytest.approx(100 * 8 / 11)
    marks = {mark["name"]: mark["mean"] for mark in board["marks"]}
    assert marks["best run"] == max(row["mean"] for row in board["rows"])
    automatic = [row["mean"] for row in board["rows"] if row["type"] == "automatic"]
    assert marks["best automatic run"] == max(automatic)


def test_the_baseline_is_marked_on_the_leaderboard(local: TestClient) -> None:
    page = local.get("/collection/pets", headers={"accept": "text/html"})
    assert page.text.count('<tr class="base">') == 1


def test_tables_can_be_taken_home(local: TestClient) -> None:
    rows = list(csv.DictReader(io.StringIO(local.get("/collection/pets?format=csv").text)))
    assert {row["run"] for row in rows} == {"bm25", "dense", HOSTILE, "secret"}
    assert "\\begin{tabular}" in local.get("/collection/pets?format=latex").text
    assert local.get("/collection/pets?format=docx").status_code == 400
    assert local.get("/login?format=csv").status_code == 400


def test_the_file_of_a_run_comes_back_as_it_was(local: TestClient, pets: Store) -> None:
    run = pets.runs.listed("pets")[0]
    answer = local.get(f"/run/{run.short}/file")
    assert answer.content == pets.runs.content(run.hash)
    assert answer.headers["content-disposition"] == f'attachment; filename="{run.short}.run"'


def test_a_certified_score_outlives_new_judgments(local: TestClient, pets: Store) -> None:
    run = pets.runs.listed("pets")[0]
    where = local.get(f"/run/{run.short}?format=json").json()["certificate"]["address"]
    before = local.get(where, headers={"accept": "application/json"}).json()
    pets.qrels.add("pets", {"1": {"a": 0, "b": 3}})
    assert local.get(where, headers={"accept": "application/json"}).json() == before
    assert local.get(f"/run/{run.short}?format=json").json()["certificate"]["address"] != where


@pytest.mark.parametrize(
    ("where", "status", "says"),
    [
        ("/nothing", 404, "no such page"),
        ("/collection/petz", 404, "pets"),
        ("/run/ffffff", 404, "no run"),
        ("/score/none", 404, "no certified score"),
        ("/collection/pets?measure=nonsense", 400, "nonsense"),
        ("/collection/pets?test=nonsense", 400, "nonsense"),
        ("/collection/pets?baseline=nonsense", 400, "baseline"),
        ("/collection/pets?team=nobody", 400, "widen the filter"),
        ("/collection/pets?qrels=7", 400, "no version"),
        ("/compare", 400, "at least two"),
        ("/topic/pets?topic=99", 400, "no topic"),
        ("/topic/pets?topic=1&depth=0", 400, "depth"),
        ("/topic/pets", 422, "topic"),
        ("/topic/pets?topic=1&depth=many", 422, "depth"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(where: str, status: int, says: str, local: TestClient) -> None:
    answer = local.get(where, headers={"accept": "application/json"})
    assert answer.status_code == status
    assert says in answer.json()["error"]
    assert "\n" not in answer.json()["error"]
    page = local.get(where, headers={"accept": "text/html"})
    assert page.status_code == status
    assert "Traceback" not in page.text


def test_a_system_that_lacks_a_collection_has_an_empty_cell_and_no_rank(local: TestClient, pets: Store) -> None:
    pets.collections.add("birds", measure="AP")
    pets.qrels.add("birds", {"1": {"a": 1, "b": 0}, "2": {"a": 0, "b": 1}})
    for tag, docs in {"bm25": "ab", "other": "ba"}.items():
        pets.runs.add("birds", Run.from_lists(tag, {"1": list(docs), "2": list(docs)}))
    record = local.get("/across?format=json").json()
    rows = {row["system"]: row for row in record["rows"]}
    assert rows["bm25"]["rank"] == 1
    assert rows["bm25"]["collections"] == 2
    assert rows["dense"]["rank"] is None
    assert rows["dense"]["standardized_mean"] is None
    assert rows["dense"]["collection_1"] is None
    assert rows["dense"]["collection_2"] is not None
    assert record["missing_cells"] == 4
    assert "board" not in record  # one system alone is on both collections
    page = local.get("/across", headers={"accept": "text/html"}).text
    assert "Not shown: the collections have different measures" in page
    assert ">nan<" not in page
    page = local.get("/across?measure=AP", headers={"accept": "text/html"}).text
    assert "Not shown: 1 systems are on all 2 collections" in page
    pets.runs.add("birds", Run.from_lists("dense", {"1": ["b", "a"], "2": ["b", "a", "c"]}))
    record = local.get("/across?measure=AP&format=json").json()
    expected = systems_over_collections(pets, measure="AP")
    assert record["board"]["verdict"] == expected.board.verdict
    assert record["lead"]["rows"][-1]["collection"] == "a new collection"
    page = local.get("/across?measure=AP", headers={"accept": "text/html"}).text
    ranks, _, forest = expected.figures()
    for title in (ranks.title, "systems on 2 collections, standardized", forest.title):
        assert title in page


def test_a_site_has_every_public_page_and_no_other_address(pets: Store, tmp_path: Path) -> None:
    written = write_site(pets, tmp_path / "site")
    files = {file.name for file in (tmp_path / "site").glob("*.html")}
    assert set(written.files) == files
    public = [run.short for run in pets.runs.listed("pets", seen_by="public")]
    assert {f"run-{short}.html" for short in public} < files
    assert len([name for name in files if name.startswith("topic")]) == 4
    for file in files:
        text = (tmp_path / "site" / file).read_text()
        assert HOSTILE not in text
        assert "secret" not in text
        for link in text.split('href="')[1:]:
            target = link.partition('"')[0].partition("#")[0]
            assert not target or (tmp_path / "site" / target).is_file(), (file, target)


def test_the_page_of_a_collection_follows_the_texts_of_its_topics(pets: Store, local: TestClient) -> None:
    assert "birds" in local.get("/collection/pets").text
    pets.collections.add_topics("pets", {"2": "penguins"})
    assert "penguins" in local.get("/collection/pets").text


def test_the_page_of_a_campaign_can_be_followed(pets: Store, local: TestClient) -> None:
    campaign = pets.campaigns.add("first", "pets", order="hedge", depth=3, labels=1)
    follows = {"accept": "text/html", "assay-follows": "yes"}
    page = local.get("/campaign/first")
    tag = page.headers["etag"]
    assert local.get("/campaign/first", headers={**follows, "if-none-match": tag}).status_code == 304
    (asked,) = campaign.next("local")
    campaign.judge("local", asked.item, 2)
    at_once = local.get("/campaign/first", headers={**follows, "if-none-match": tag})
    assert at_once.status_code == 304, "a page that was just made is new enough for who follows it"
    fresh = local.get("/campaign/first")
    assert fresh.headers["etag"] != tag, "who opens the page gets it as it is now"
    assert local.get("/campaign/first", headers={"if-none-match": fresh.headers["etag"]}).status_code == 200
    assert json.loads(local.get("/campaign/first?format=json").text)["progress"]["answers"] == 1
    assert local.get("/campaign/first?measure=P@5").headers["etag"] != fresh.headers["etag"]
    campaign.close()
    assert local.get("/campaign/first").headers["etag"] != fresh.headers["etag"]


def test_a_page_is_made_once_for_all_who_follow_it() -> None:
    pages = LivePages()
    made: list[int] = []

    def make() -> Page:
        made.append(1)
        time.sleep(0.05)
        return Page("error.html", "x", {"n": len(made)})

    threads = [threading.Thread(target=pages.page, args=("c", 1, make), kwargs={"follows": True}) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1
    assert pages.page("c", 2, make, follows=True).page.record == {"n": 1}, "it was made a moment ago"
    assert pages.page("c", 2, make, follows=False).page.record == {"n": 2}


def test_levels_are_shown_in_words_and_not_as_letters(local: TestClient, pets: Store) -> None:
    pets.campaigns.add("words", "pets", order="hedge", depth=3, scale="S4")
    record = local.get("/judge/words", headers={"accept": "application/json"}).json()
    assert record["scale"]["names"] == ["not relevant", "marginally relevant", "relevant", "highly relevant"]
    page = local.get("/judge/words", headers={"accept": "text/html"}).text
    assert "<kbd>3</kbd> highly relevant" in page


def test_a_get_costs_no_more_than_the_lists_are_long(local: TestClient, pets: Store) -> None:
    """Of 100,000,000 ranks once a reader took 19 GB."""
    for measure in ("SDCG@100000000", "Compat@100000000"):
        tracemalloc.start()
        page = local.get(f"/collection/pets?measure={measure}")
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert page.status_code == 200
        assert most < 50 * 2**20
    assert local.get(f"/collection/pets?measure=SDCG@{'9' * 5000}").status_code == 400
