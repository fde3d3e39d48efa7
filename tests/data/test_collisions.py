"""Ids that share a hash, by craft: duplicates are refused and different ids stay different, on every path."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars
import pytest

from assay.core.errors import DataError
from assay.core.ids import Ids, coded
from assay.data import Qrels, Run
from assay.data.aligned import align
from assay.data.intents import IntentQrels, align_intents
from assay.data.lists import collected
from assay.data.order import first_repeat
from assay.io import read_qrels, read_run, rows
from assay.io.intents import read_intent_qrels
from assay.measures import parse
from tests.data.crafted import PAIR, colliding

MANY = colliding(2000)
CHAIN = [PAIR[0], *[PAIR[1]] * 50]
TWICE = "is twice in topic '1' \\(first on line"


def run_lines(docs: Sequence[str], topic: str = "1") -> list[str]:
    return [f"{topic} Q0 {d} {i} {1000 - i}.00 tag" for i, d in enumerate(docs, 1)]


def written(path: Path, lines: Sequence[str]) -> Path:
    path.write_text("".join(line + "\n" for line in lines))
    return path


def test_the_crafted_ids_share_a_hash() -> None:
    assert len(set(MANY)) == len(MANY)
    assert len(set(Ids.of(MANY).hashes().tolist())) == 1
    assert len(set(Ids.of(PAIR).hashes().tolist())) == 1


@pytest.mark.parametrize("blank", [" ", "  ", "\t"])
@pytest.mark.parametrize("docs", [CHAIN, [*MANY[:9], MANY[7]], [*MANY[:9], MANY[0]]])
def test_a_run_file_with_a_hidden_duplicate_names_its_line(tmp_path: Path, docs: list[str], blank: str) -> None:
    """One blank between fields is read by lines that are alike, two by any fields."""
    lines = [line.replace(" ", blank) for line in run_lines(docs)]
    again = next(i for i, d in enumerate(docs) if d in docs[:i])
    message = f"r.txt:{again + 1}: doc .* {TWICE} {docs.index(docs[again]) + 1}\\)"
    with pytest.raises(DataError, match=message):
        read_run(written(tmp_path / "r.txt", lines))


def test_the_line_reader_finds_them_too() -> None:
    reading = rows.read_rows("\n".join(run_lines(CHAIN)).encode(), rows.RUN)
    assert (len(reading.rows), len(reading.problems)) == (2, 49)


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet"])
@pytest.mark.parametrize("value", ["score", "grade"])
def test_tables_with_a_hidden_duplicate(tmp_path: Path, ending: str, value: str) -> None:
    """Large enough to be read by column; the row reader then names the line."""
    docs = [f"d{i}" for i in range(20_000)] + CHAIN
    numbers = [1] * len(docs) if value == "grade" else [float(-i) for i in range(len(docs))]
    frame = polars.DataFrame({"topic": ["1"] * len(docs), "doc": docs, value: numbers})
    # A quote in a cell would leave the table to the row reader at once.
    frame = frame.with_columns(polars.col("doc").replace(PAIR[0], MANY[0]).replace(PAIR[1], MANY[1]))
    assert not any('"' in d for d in MANY[:2])
    path = tmp_path / f"t.{ending}"
    if ending == "parquet":
        frame.write_parquet(path)
    elif ending == "jsonl":
        frame.write_ndjson(path)
    else:
        frame.write_csv(path, separator="," if ending == "csv" else "\t")
    with pytest.raises(DataError, match="is twice in topic '1'"):
        (read_run if value == "score" else read_qrels)(path)


def test_runs_made_in_python_refuse_hidden_duplicates() -> None:
    bounds, scores = np.array([0, len(CHAIN)]), np.arange(len(CHAIN), dtype=np.float64)
    with pytest.raises(DataError, match="is twice in topic '1'"):
        Run.from_rows("r", ["1"], bounds, Ids.of(CHAIN), scores)
    with pytest.raises(DataError, match="twice on topic '1'"):
        collected([Run("r", ("1",), bounds, Ids.of(CHAIN), scores)])


def test_different_docs_with_one_hash_are_different_docs() -> None:
    run = Run.from_lists("r", {"1": MANY, "2": MANY[:2]})
    assert run.duplicate() is None
    assert run.ranking("1") == MANY
    assert Run.from_dict("r", {"1": dict.fromkeys(MANY, 1.0)}).ranking("1") == sorted(MANY, reverse=True)
    assert Run.from_rows("r", ["1"], np.array([0, 2]), Ids.of(PAIR), np.array([2.0, 1.0])).ranking("1") == list(PAIR)


def test_a_judgment_counts_for_its_own_doc_only() -> None:
    a, b = PAIR
    grades = align(Run.from_lists("r", {"1": [a, b]}), Qrels.from_dict({"1": {b: 1}}))
    assert grades.ranked[0].tolist()[1] == 1
    assert grades.hits().tolist() == [[False, True]]
    assert parse("AP")(grades).tolist() == [0.5]


def test_judgments_and_docs_that_all_share_a_hash_are_joined_by_their_bytes() -> None:
    grade = {d: i % 3 for i, d in enumerate(MANY[500:])}
    lists = {"1": MANY[:1500], "2": MANY[1000:]}
    qrels = Qrels.from_dict({"1": grade, "2": {MANY[1500]: 2, "x": 1}, "3": {"y": 1}})
    got = align(Run.from_lists("r", lists), qrels)
    hits = got.hits().tolist()
    assert hits[0] == [grade.get(d, 0) >= 1 for d in lists["1"]]
    assert [i for i, hit in enumerate(hits[1]) if hit] == [500]
    assert got.judged()[0].tolist()[:1500] == [d in grade for d in lists["1"]]


@pytest.mark.parametrize("probability", ["", " 0.5"])
def test_a_qrels_file_with_a_hidden_duplicate_names_its_line(tmp_path: Path, probability: str) -> None:
    lines = [f"1 0 {d} 1{probability}" for d in CHAIN]
    with pytest.raises(DataError, match=f"q.txt:3: doc .* {TWICE} 2\\)"):
        read_qrels(written(tmp_path / "q.txt", lines))


@pytest.mark.parametrize("scattered", [False, True])
def test_topics_that_share_a_hash_are_not_joined(tmp_path: Path, scattered: bool) -> None:
    topics = [*MANY[:3], *MANY[:3]] if scattered else sorted(MANY[:3] * 2)
    qrels = read_qrels(written(tmp_path / "q.txt", [f"{t} 0 d{i} {i % 2}" for i, t in enumerate(topics)]))
    assert sorted(qrels.topics) == sorted(MANY[:3])
    wanted = {t: {f"d{i}": i % 2 for i, u in enumerate(topics) if u == t} for t in MANY[:3]}
    assert qrels.to_dict() == wanted
    lines = [f"{t} Q0 d{i} 1 {9 - i}.5 tag" for i, t in enumerate(topics)]
    run = read_run(written(tmp_path / "r.txt", lines))
    assert {t: set(docs) for t, docs in run.to_dict().items()} == {t: set(docs) for t, docs in wanted.items()}


def test_judgments_by_intent(tmp_path: Path) -> None:
    a, b = MANY[:2]
    with pytest.raises(DataError, match=r"i.txt:3: .* judged twice for intent '1'"):
        read_intent_qrels(written(tmp_path / "i.txt", [f"1 1 {a} 1", f"1 1 {b} 1", f"1 1 {b} 1"]))
    qrels = IntentQrels.from_rows([("1", "1", a, 1), ("1", "2", b, 1), (a, "1", "x", 1), (b, "1", "y", 1)])
    seen = align_intents(Run.from_lists("r", {"1": [b, a], a: ["y"], b: ["y"]}), qrels)
    hits = dict(zip(seen.topics, seen.hits().tolist(), strict=True))
    assert hits["1"] == [[False, True], [True, False]]
    assert (hits[a][0], hits[b][0]) == ([False, False], [True, False])


def test_codes_of_ids_that_share_a_hash() -> None:
    columns = [MANY[:10], [*MANY[5:15], "a", "z"], [], list(PAIR)]
    codes, vocabulary = coded([Ids.of(c) for c in columns])
    names = vocabulary.tolist()
    assert names == sorted({t for c in columns for t in c})
    assert [[names[i] for i in code] for code in codes] == columns


def test_lists_hold_them_apart() -> None:
    runs = [Run.from_lists("r", {"1": MANY[:20]}), Run.from_lists("s", {"1": MANY[10:30]})]
    lists = collected(runs, Qrels.from_dict({"1": {MANY[25]: 2, MANY[40]: 1}}))
    assert lists.docs.tolist() == sorted([*MANY[:30], MANY[40]])
    assert [lists.docs[i] for i in lists.item] == [*MANY[:20], *MANY[10:30]]
    assert {lists.docs[int(i)] for i in np.flatnonzero(lists.relevant())} == {MANY[25], MANY[40]}
    assert lists.graded(Qrels.from_dict({"1": {MANY[3]: 1}})).relevant().sum() == 1
    assert lists.topic(0).docs[lists.topic(0).number(MANY[3])] == MANY[3]


def test_the_answer_is_the_same_whatever_the_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    docs = [f"doc-{i}" for i in range(300)]
    lists = {"1": docs[:200], "2": docs[100:]}
    judged = {t: {d: int(d[-1]) % 3 for d in docs[::2]} for t in "123"}

    def answer() -> list[object]:
        run, qrels = Run.from_lists("r", lists), Qrels.from_dict(judged)
        known = align(run, qrels)
        many = collected([run, Run.from_lists("s", {"2": docs[::-1]})], qrels)
        return [
            known.ranked.tolist(),
            known.ideal.tolist(),
            many.item.tolist(),
            many.docs.tolist(),
            many.grades.tolist(),
        ]

    usual = answer()
    monkeypatch.setattr(Ids, "hashes", lambda self: np.full(len(self), 7, dtype=np.uint64))
    assert answer() == usual
    monkeypatch.setattr(Ids, "hashes", lambda self: (self.lengths % 3).astype(np.uint64) << np.uint64(40))
    assert answer() == usual
    with pytest.raises(DataError, match="is twice in topic"):
        Run.from_rows("r", ["1"], np.array([0, 301]), Ids.of([*docs, docs[150]]), np.arange(301.0))


@pytest.mark.parametrize("repeat", [None, 0, 3, 9])
def test_the_first_repeat_of_a_crowded_bucket(repeat: int | None) -> None:
    docs = MANY[:10] if repeat is None else [*MANY[:10], MANY[repeat], MANY[repeat], MANY[0]]
    words = np.zeros(len(docs), dtype=np.uint64)
    assert first_repeat(words, Ids.of(docs)) == (None if repeat is None else 10)


def test_many_ids_of_one_hash_take_no_longer_than_many_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    """All pairs of 40,000 would be 1.6 billion comparisons."""
    monkeypatch.setattr(Ids, "hashes", lambda self: np.full(len(self), 7, dtype=np.uint64))
    crafted = [f"doc-{i}" for i in range(40_000)]
    start = time.process_time()
    run = Run.from_lists("r", {"1": crafted})
    got = align(run, Qrels.from_dict({"1": dict.fromkeys(crafted[::2], 1)}))
    assert got.hits().sum() == 20_000
    assert len(collected([run]).docs) == 40_000
    assert time.process_time() - start < 5


def test_one_very_long_id_does_not_slow_the_others(tmp_path: Path) -> None:
    docs = ["x" * 4_000_000, *(f"doc-{i}" for i in range(50_000)), "x" * 3_999_999 + "y"]
    start = time.process_time()
    run = read_run(written(tmp_path / "r.txt", run_lines(docs)))
    assert len(run) == len(docs)
    got = align(run, Qrels.from_dict({"1": {docs[-1]: 1, "doc-7": 1}}))
    assert got.hits().sum() == 2
    with pytest.raises(DataError, match="is twice in topic"):
        read_run(written(tmp_path / "r.txt", run_lines([*docs, docs[-1]])))
    assert time.process_time() - start < 5
