"""Collections, versions of judgments, runs and people of a store, on SQLite and PostgreSQL."""

from __future__ import annotations

import gzip
import hashlib
import re
import threading
import time
from pathlib import Path

import pytest

import assay
from assay.core.errors import AssayError, DataError, UsageError
from assay.data import Qrels, Run
from assay.store import Store
from assay.store.schema import sa
from assay.store.stored_runs import names_of

KNOWN = 0.3
"""Seconds for which a token is known in tests."""
HEADER = """# ir_metadata.start
# actor:
#   team: the lab
# method:
#   automatic: true
# research goal:
#   year: 2021
# implementation:
#   repository: https://example.org/code
# ir_metadata.end
"""


def lines(tag: str, *docs: str) -> str:
    return "".join(f"1 Q0 {doc} {rank} {9 - rank} {tag}\n" for rank, doc in enumerate(docs, 1))


def test_a_collection_has_topics_and_docs_with_texts(store: Store, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text('{"_id": "d1", "title": "Cats", "text": "sleep"}\n{"_id": "d2", "text": "bark"}\n')
    store.collections.add(
        "pets", topics={"2": "dogs", "10": {"title": "cats", "description": "lazy <script>"}}, docs={"d9": "fish"},
        lookup=corpus, title="Pets ☃", year=2026, measure="nDCG@10",
    )  # fmt: skip
    assert store.collections.topics("pets").to_dict() == {
        "2": {"title": "dogs"},
        "10": {"title": "cats", "description": "lazy <script>"},
    }
    texts = store.collections.docs("pets", ["d9", "d2", "unknown"])
    assert texts == {"d9": {"text": "fish"}, "d2": {"text": "bark"}}
    corpus.unlink()
    assert store.collections.docs("pets", ["d2"]) == {"d2": {"text": "bark"}}, "what was looked up is kept"
    pets = store.collections["pets"]
    assert (pets.topics, pets.docs, pets.qrels, pets.runs) == (2, 2, 0, 0)
    assert (pets.title, pets.year, pets.measure) == ("Pets ☃", 2026, "nDCG@10")
    assert "pets" in store.collections
    assert "cats" not in store.collections


def test_a_name_is_taken_once(store: Store) -> None:
    store.collections.add("pets")
    with pytest.raises(UsageError, match="there is a collection 'pets' already"):
        store.collections.add("pets")
    with pytest.raises(UsageError, match="no collection 'pet'; did you mean pets"):
        _ = store.collections["pet"]


def test_what_no_database_holds_is_refused_in_words(store: Store) -> None:
    with pytest.raises(DataError, match="zero byte"):
        store.collections.add("a\x00b")
    with pytest.raises(DataError, match="not valid Unicode"):
        store.collections.add("pets", docs={"d": "half \ud800"})
    assert store.collections.listed() == []


def test_judgments_have_versions_that_do_not_change(store: Store) -> None:
    store.collections.add("pets")
    first = store.qrels.add("pets", {"1": {"b": 1, "a": 0}}, label="pilot")
    again = store.qrels.add("pets", Qrels.from_dict({"1": {"a": 0, "b": 1}}))
    assert again == first, "the same judgments in another order are the same version"
    second = store.qrels.add("pets", {"1": {"a": 2, "b": 1}, "2": {"c": -1}})
    assert (first.version, second.version) == (1, 2)
    assert (second.topics, second.pooled, second.judged, second.relevant) == (2, 3, 2, 2)
    assert store.qrels.version("pets") == second
    for which in (1, "1", "pilot", first.hash, first.hash[:8]):
        assert store.qrels.version("pets", which) == first
    assert store.qrels.read("pets", 1).to_dict() == {"1": {"a": 0, "b": 1}}
    with pytest.raises(UsageError, match="no version 7"):
        store.qrels.version("pets", 7)


def test_versions_that_come_at_once_get_numbers_of_their_own(store: Store) -> None:
    store.collections.add("pets")
    threads = [threading.Thread(target=store.qrels.add, args=("pets", {"1": {f"d{number}": 1}})) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [version.version for version in store.qrels.listed("pets")] == list(range(1, 9))


def test_odd_ids_and_fractions_of_judgments_come_back(store: Store) -> None:
    store.collections.add("odd")
    odd: dict[str, dict[str, float]] = {"topic one": {"doc with blanks": 0.5, "#": 1}, "ü": {"<b>": -1}}
    store.qrels.add("odd", odd)
    assert store.qrels.read("odd").to_dict() == Qrels.from_dict(odd).to_dict()


def test_a_run_is_kept_as_it_was_given_and_read_back(store: Store, tmp_path: Path) -> None:
    store.collections.add("pets")
    text = (HEADER + lines("bm25", "a", "b")).encode()
    packed = tmp_path / "my run.gz"
    packed.write_bytes(gzip.compress(text))
    (run,) = store.runs.add("pets", packed, query_type="title", visibility="link")
    assert run.hash == hashlib.sha256(text).hexdigest()
    assert store.runs.content(run.hash) == text
    assert (run.tag, run.team, run.year, run.kind) == ("bm25", "the lab", 2021, "automatic")
    assert run.code == "https://example.org/code"
    assert (run.query_type, run.visibility) == ("title", "link")
    assert "team: the lab" in run.metadata["ir_metadata"]
    assert store.runs.read(run.hash[:8]).ranking("1") == ["a", "b"]
    assert store.runs.add("pets", packed) == [run], "the same content is the same run"
    changed = store.runs.change(run.hash, team="other", manual=True)
    assert (changed.team, changed.kind, changed.hash) == ("other", "manual", run.hash)
    with pytest.raises(UsageError, match="no fact 'colour'"):
        store.runs.change(run.hash, colour="red")


def test_a_table_of_several_runs_is_several_runs(store: Store, tmp_path: Path) -> None:
    store.collections.add("pets")
    table = tmp_path / "runs.csv"
    table.write_text("run,topic,doc,score\none,1,a b,2\none,1,c,1\ntwo,1,c,2\n")
    stored = store.runs.add("pets", table)
    assert [run.tag for run in stored] == ["one", "two"]
    assert store.runs.read(stored[0].hash).ranking("1") == ["a b", "c"]


def test_names_of_runs_with_one_tag_differ(store: Store) -> None:
    store.collections.add("pets")
    store.qrels.add("pets", {"1": {"a": 1}})
    for docs in (["a", "b"], ["b", "a"]):
        store.runs.add("pets", Run.from_lists("bm25", {"1": docs}))
    listed = store.runs.listed("pets")
    names = names_of(listed)
    assert all(re.fullmatch(r"bm25 \([0-9a-f]{6}\)", name) for name in names)
    assert store.scores.matrix("pets", "RR").runs == tuple(names)
    assert store.runs.find("pets", names[1]) == listed[1]
    with pytest.raises(UsageError, match="stands for 2 of them"):
        store.runs.find("pets", "bm25")


def test_a_run_belongs_to_one_collection(store: Store) -> None:
    store.collections.add("pets")
    store.collections.add("cars")
    run = Run.from_lists("bm25", {"1": ["a"]})
    store.runs.add("pets", run)
    with pytest.raises(DataError, match="the same run is in collection 'pets'"):
        store.runs.add("cars", run)


def test_private_runs_are_seen_by_their_owner_and_by_organisers(store: Store) -> None:
    store.collections.add("pets")
    ann, _ = store.people.add("ann", "assessor")
    bob, _ = store.people.add("bob", "assessor")
    boss, _ = store.people.add("boss", "organiser")
    for tag, visibility in (("p", "public"), ("l", "link"), ("x", "private")):
        store.runs.add("pets", Run.from_lists(tag, {"1": [tag]}), owner="ann", visibility=visibility)
    seen = {}
    for viewer in (None, "public", ann, bob, boss):
        seen[viewer] = [run.tag for run in store.runs.listed("pets", seen_by=viewer)]
    assert seen == {None: ["l", "p", "x"], "public": ["p"], ann: ["l", "p", "x"], bob: ["p"], boss: ["l", "p", "x"]}
    hidden = store.runs.find("pets", "x")
    assert [hidden.visible_to(person) for person in (None, ann, bob, boss)] == [False, True, False, True]


def test_runs_are_chosen_by_what_is_known_of_them(store: Store) -> None:
    store.collections.add("pets")
    facts = [("a", "x", 2020, True), ("b", "x", 2021, False), ("c", "y", 2021, None)]
    for tag, team, year, manual in facts:
        store.runs.add("pets", Run.from_lists(tag, {"1": [tag]}), team=team, year=year, manual=manual)
    assert [run.tag for run in store.runs.listed("pets", team="x")] == ["a", "b"]
    assert [run.tag for run in store.runs.listed("pets", year=2021, kind="automatic")] == ["b"]
    info = store.runs.info(store.runs.listed("pets"))
    assert info.column("type") == {"a": "manual", "b": "automatic", "c": ""}


def test_a_person_who_is_shut_out_elsewhere_is_out_within_a_second_whoever_else_is_active(
    store: Store, address: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assay.store.people.KNOWN_SECONDS", KNOWN)
    where, files = address
    tokens = {name: store.people.add(name)[1] for name in ("ann", "ben", "eve")}
    for name, token in tokens.items():
        known = store.people.of_token(token)
        assert known is not None
        assert known.name == name
    with Store(where, files=files) as elsewhere:
        elsewhere.people.end("eve")
        elsewhere.people.change_role("ben", "reader")
    ended = time.monotonic()
    while store.people.of_token(tokens["eve"]) is not None:
        assert time.monotonic() < ended + KNOWN + 5
        assert store.people.of_token(tokens["ann"]) is not None
        time.sleep(0.01)
    time.sleep(KNOWN)
    reader = store.people.of_token(tokens["ben"])
    assert reader is not None
    assert reader.role == "reader"
    assert store.people.lately_of_token(tokens["eve"]) is None


def test_people_who_are_active_are_looked_up_together(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.store.people.KNOWN_SECONDS", KNOWN)
    tokens = [store.people.add(f"p{number}")[1] for number in range(20)]
    for token in tokens * 2:
        assert store.people.of_token(token) is not None
    lookups: list[str] = []
    sa.event.listen(store.database.engine, "before_cursor_execute", lambda c, cursor, text, *rest: lookups.append(text))
    time.sleep(KNOWN)
    for token in tokens * 2:
        assert store.people.of_token(token) is not None
    assert len([text for text in lookups if "token_hash" in text]) == 1


def test_tokens_are_shown_once_and_stored_as_hashes(store: Store) -> None:
    person, token = store.people.add("ann", "assessor")
    assert store.people.of_token(token) == person
    assert store.people.of_token("guess") is None
    newer = store.people.new_token("ann")
    assert store.people.of_token(token) is None
    assert store.people.of_token(newer) == person
    store.people.end("ann")
    assert store.people.of_token(newer) is None
    with pytest.raises(UsageError, match="no role 'king'"):
        store.people.add("bob", "king")
    with pytest.raises(UsageError, match="there is a person 'ann' already"):
        store.people.add("ann")
    secret = newer.encode()
    if store.folder is not None:
        kept = b"".join(path.read_bytes() for path in store.folder.iterdir() if path.is_file())
        assert secret not in kept
        assert token.encode() not in kept


def test_a_second_server_on_one_folder_says_so(tmp_path: Path) -> None:
    with Store(tmp_path / "s") as one, Store(tmp_path / "s") as other:
        with one.served(), pytest.raises(UsageError, match=r"another server works on this store \(process \d+\)"), \
                other.served():  # fmt: skip
            pass
        with other.served():
            pass


def test_where_no_store_can_be(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("x")
    with pytest.raises(UsageError, match="a store is a folder"):
        Store(file)
    with pytest.raises(UsageError, match="there is no store here"):
        Store(tmp_path / "none", make=False)
    assert not (tmp_path / "none").exists()
    with pytest.raises(UsageError, match="does not work on mysql"):
        Store("mysql://x")
    folder = tmp_path / "bad"
    folder.mkdir()
    (folder / "store.db").write_text("this is no database, but a text of some length" * 50)
    with pytest.raises(AssayError, match="not a database; the file is no store"):
        Store(folder)


def test_a_server_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    pytest.importorskip("psycopg")
    with pytest.raises(
        DataError, match=r"postgresql\+psycopg://me:\*\*\*@127\.0\.0\.1:1/x: .*is the server running"
    ) as told:
        Store("postgresql://me:secret@127.0.0.1:1/x", files=tmp_path)
    assert "\n" not in str(told.value)
    assert "secret" not in str(told.value)


def test_the_store_is_a_public_name() -> None:
    assert assay.Store is Store
