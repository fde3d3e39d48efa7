"""Tables cannot be changed, neither through their arrays nor through the arrays that they were made of."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from copy import copy, deepcopy
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from assay.core.arrays import kept
from assay.core.ids import Ids
from assay.data import Labels, Qrels, Run, Topics
from assay.data.aligned import align
from assay.data.intents import IntentQrels
from assay.data.order import Moves
from assay.io import read_qrels, read_run
from assay.measures import parse


def made(folder: Path) -> dict[str, Any]:
    """Every kind of table, by every maker."""
    (folder / "r.txt").write_text("1 Q0 a 1 0.50 t\n1 Q0 b 2 0.50 t\n2 Q0 a 1 0.25 t\n2 Q0 c 2 0.75 t\n")
    (folder / "q.txt").write_text("1 0 a 1 0.5\n1 0 b 0 1.0\n2 0 c 2 1.0\n")
    (folder / "r.csv").write_text("topic,doc,score,rank\n1,a,0.5,1\n1,b,0.25,2\n")
    run = read_run(folder / "r.txt", ranks=True)
    labels = Labels.from_rows([("1", "a", "w", 1), ("1", "b", "w", 0)], seconds=np.array([1.0, 2.0]))
    return {
        "run from a file": run,
        "run read plainly": read_run(folder / "r.txt"),
        "run in another order": run.ordered("docid-asc"),
        "run cut": run.cut(1),
        "run from a table": read_run(folder / "r.csv"),
        "run from a dict": Run.from_dict("r", {"1": {"a": 1, "b": 2}}),
        "run from lists": Run.from_lists("r", {"1": ["a", "b"]}),
        "qrels from a file": read_qrels(folder / "q.txt"),
        "qrels from a dict": Qrels.from_dict({"1": {"a": 1}}),
        "intents": IntentQrels.from_rows([("1", "1", "a", 1), ("1", "2", "b", 1)]),
        "labels": labels,
        "some labels": labels.select([0]),
        "ids": Ids.of(["a", "b"]),
    }


def test_every_array_is_read_only_with_all_that_it_is_a_view_of(tmp_path: Path) -> None:
    seen = 0
    for what, table in made(tmp_path).items():
        columns = [getattr(table, f.name) for f in fields(table)]
        if not isinstance(table, Ids) and isinstance(getattr(table, "docs", None), Ids):
            columns += [table.docs.buffer, table.docs.starts, table.docs.lengths]
        if isinstance(table, Run) and table.came is not None:
            columns += [table.came.rows, table.came.places]
        for column in columns:
            while isinstance(column, np.ndarray):
                assert not column.flags.writeable, what
                seen += 1
                column = column.base
    assert seen > 60


@pytest.mark.parametrize("copied", [copy, deepcopy, lambda table: pickle.loads(pickle.dumps(table))])
def test_copies_are_read_only_too(copied: Callable[[Any], Any], tmp_path: Path) -> None:
    for what, table in made(tmp_path).items():
        for array in arrays_of(copied(table)):
            assert not array.flags.writeable, what
    qrels = copied(Qrels.from_dict({"1": {"a": 1, "b": 0}}))
    with pytest.raises(ValueError, match="read-only"):
        qrels.grades[:] = 3
    assert parse("AP")(align(Run.from_lists("r", {"1": ["b", "a"]}), qrels)).tolist() == [0.5]


def arrays_of(table: object) -> Iterator[npt.NDArray[Any]]:
    """Every array that a table holds, and every array that it is a view of."""
    for value in vars(table).values():
        if isinstance(value, Ids | Moves):
            yield from arrays_of(value)
        while isinstance(value, np.ndarray):
            yield value
            value = value.base


def test_judgments_cannot_be_changed_under_what_was_made_of_them() -> None:
    qrels = Qrels.from_dict({"1": {"a": 1, "b": 0}})
    run = Run.from_lists("r", {"1": ["b", "a"]})
    before = parse("AP")(align(run, qrels)).tolist()
    with pytest.raises(ValueError, match="read-only"):
        qrels.grades[:] = 3
    with pytest.raises(ValueError, match="read-only"):
        qrels.grades[:1][0] = 3
    with pytest.raises(ValueError, match="read-only"):
        run.scores.sort()
    with pytest.raises(ValueError, match="read-only"):
        run.docs.starts[0] = 1
    assert parse("AP")(align(run, qrels)).tolist() == before == [0.5]


def test_a_persons_own_arrays_stay_his_own() -> None:
    bounds, scores, grades = np.array([0, 3]), np.array([1.0, 3.0, 2.0]), np.array([0, 1, 2])
    run = Run.from_rows("r", ["1"], bounds, Ids.of("abc"), scores)
    qrels = Qrels(("1",), bounds, Ids.of("abc"), grades)
    assert scores.tolist() == [1.0, 3.0, 2.0], "we have not sorted it"
    scores[:], grades[:], bounds[:] = 0, 7, 0
    assert run.to_dict() == {"1": {"b": 3.0, "c": 2.0, "a": 1.0}}
    assert qrels.to_dict() == {"1": {"a": 0, "b": 1, "c": 2}}


def test_a_read_only_array_of_a_person_is_not_sorted_in_place() -> None:
    scores = np.array([1.0, 3.0, 3.0])
    scores.setflags(write=False)
    Run.from_rows("r", ["1"], np.array([0, 3]), Ids.of("abc"), scores)
    assert scores.tolist() == [1.0, 3.0, 3.0]


def test_a_read_only_view_of_a_writable_array_is_copied() -> None:
    base = np.arange(3)
    view = base[:]
    view.setflags(write=False)
    assert kept(view) is not view
    own = np.arange(3)
    own.setflags(write=False)
    assert kept(own) is own
    assert kept(own[1:]).base is own


@pytest.mark.parametrize(
    ("table", "text"),
    [
        (Run.from_lists("bm25", {"1": ["a", "b"], "2": ["c"]}), "Run('bm25', 2 topics, 3 docs)"),
        (Run.from_lists("r", {t: range(1000) for t in range(50)}), "Run('r', 50 topics, 50,000 docs)"),
        (Qrels.from_dict({"1": {"a": 0, "b": 3}}), "Qrels('qrels', 1 topic, 2 docs, grades 0–3)"),
        (Qrels.from_dict({"1": {"a": -1, "b": 2.5}}, name="q"), "Qrels('q', 1 topic, 2 docs, grades -1–2.5)"),
        (Qrels.from_dict({}), "Qrels('qrels', 0 topics, 0 docs)"),
        (Labels.from_rows([]), "Labels('labels', 0 labels of 0 workers, 0 topics, 0 docs)"),
        (Topics(("1",), ({"title": "x"},)), "Topics(1 topic, title)"),
        (IntentQrels.from_rows([("1", "1", "a", 1)]), "IntentQrels('intents', 1 topic, 1 doc, up to 1 intent)"),
        (Ids.of("abcde"), "Ids('a', 'b', 'c', … 5)"),
    ],
)  # fmt: skip
def test_tables_print_in_one_line(table: object, text: str) -> None:
    assert repr(table) == text


def test_what_a_table_holds_as_plain_python() -> None:
    rows = [("1", "i", "a", 2), ("1", "j", "a", 0), ("1", "j", "b", 1), ("2", "k", "c", 1)]
    assert IntentQrels.from_rows(rows).to_dict() == {
        "1": {"a": {"i": 2, "j": 0}, "b": {"i": 0, "j": 1}},
        "2": {"c": {"k": 1}},
    }
    assert Topics(("1",), ({"title": "x"},)).to_dict() == {"1": {"title": "x"}}
