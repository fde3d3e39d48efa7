"""Exports of Label Studio and of doccano as labels."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assay.core.errors import DataError
from assay.io import read_labels

YES_NO = {"Relevant": 1.0, "Not relevant": 0.0}


def choice(answer: str, name: str = "relevance") -> dict[str, Any]:
    return {"from_name": name, "to_name": "text", "type": "choices", "value": {"choices": [answer]}}


def task(number: int, data: dict[str, Any], *annotations: dict[str, Any]) -> dict[str, Any]:
    return {"id": number, "data": data, "annotations": list(annotations), "predictions": []}


def by(person: Any, *results: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"id": 1, "completed_by": person, "result": list(results), "was_cancelled": False, "lead_time": 4.5, **more}


def exported(folder: Path, tasks: list[dict[str, Any]], name: str = "project-1.json") -> Path:
    path = folder / name
    path.write_text(json.dumps(tasks, indent=1))
    return path


TASKS = [
    task(1, {"topic": "q1", "doc": "d1", "text": "…"}, by(1, choice("Relevant")), by(2, choice("Not relevant"))),
    task(2, {"topic": "q1", "doc": "d2", "text": "…"}, by(1, choice("Relevant"), lead_time=9.25)),
]


def test_choices_of_label_studio(tmp_path: Path) -> None:
    labels = read_labels(exported(tmp_path, TASKS), levels=YES_NO)
    assert labels.to_dict() | {"lines": None} == {
        "topic": ["q1", "q1", "q1"],
        "doc": ["d1", "d1", "d2"],
        "worker": ["1", "2", "1"],
        "label": [1.0, 0.0, 1.0],
        "seconds": [4.5, 4.5, 9.25],
        "lines": None,
    }


def test_ratings_numbers_and_people_of_label_studio(tmp_path: Path) -> None:
    rating = {"from_name": "r", "type": "rating", "value": {"rating": 4}}
    number = {"from_name": "r", "type": "number", "value": {"number": 2.5}}
    person = {"id": 7, "email": "anna@example.org"}
    tasks = [
        task(1, {"query_id": 12, "meta": {"docno": "d1"}}, by(person, rating), by(8, number)),
        task(2, {"query_id": 12, "meta": {"docno": "d2"}}, by(8, was_cancelled=True), by(9, was_cancelled=True)),
    ]
    path = exported(tmp_path, tasks)
    labels = read_labels(path, columns={"doc": "meta.docno"})
    assert labels.topics == ("12",)
    assert labels.docs == ("d1",)
    assert set(labels.workers) == {"8", "anna@example.org"}
    assert labels.label.tolist() == [4.0, 2.5]
    lines = tmp_path / "export.jsonl"
    lines.write_text("".join(json.dumps(one) + "\n" for one in tasks))
    assert read_labels(lines, columns={"doc": "meta.docno"}).label.tolist() == [4.0, 2.5]


def test_one_of_several_questions_is_chosen(tmp_path: Path) -> None:
    answers = by(1, choice("Relevant"), choice("Not relevant", "readable"))
    path = exported(tmp_path, [task(1, {"topic": "q1", "doc": "d1"}, answers)])
    with pytest.raises(DataError, match=r"annotations answer 2 questions \(readable, relevance\); choose one with"):
        read_labels(path, levels=YES_NO)
    assert read_labels(path, levels=YES_NO, where={"from_name": "readable"}).label.tolist() == [0.0]


def test_a_field_of_the_data_called_as_ours_stays_apart(tmp_path: Path) -> None:
    path = exported(tmp_path, [task(1, {"topic": "q1", "doc": "d1", "label": "gold?"}, by(1, choice("Relevant")))])
    assert read_labels(path, levels=YES_NO).label.tolist() == [1.0]


@pytest.mark.parametrize(
    ("tasks", "message"),
    [
        ([{"id": 1, "annotations": [], "data": 3}], "json:1: a task has no \"data\""),
        ([{"id": 1, "data": {"topic": 1, "doc": 2}, "annotations": 3}], "json:1: a task has no list of"),
        ([task(1, {"topic": "1", "doc": "2"})], "no task has an annotation with choices, rating, number"),
        ([TASKS[0], task(2, {"topic": "1", "doc": "2"}, by(None, choice("Relevant")))], "json:2: an annotation has no"),
        ([task(1, {"topic": "1", "doc": "2"}, by(1, {"value": {"choices": ["a", "b"]}}))], "json:1: 2 labels (a, b)"),
        ([task(1, {"topic": "1", "doc": "2"}, by(1, choice("Perhaps")))], "json:1: label 'Perhaps' is neither"),
        ([task(1, {"doc": "2"}, by(1, choice("Relevant")))], "no column 'topic'; the columns are: doc, from_name"),
    ],
)  # fmt: skip
def test_bad_exports_of_label_studio(tasks: list[Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        read_labels(exported(tmp_path, tasks), levels=YES_NO)
    assert message in str(caught.value)


TEXTS = [
    {"id": 1, "text": "cats", "topic": "q1", "doc": "d1", "label": ["Relevant"], "Comments": []},
    {"id": 2, "text": "dogs", "topic": "q1", "doc": "d2", "label": ["Not relevant"], "Comments": ["odd"]},
]


@pytest.mark.parametrize("form", ["jsonl", "json", "csv", "data"])
def test_doccano(form: str, tmp_path: Path) -> None:
    path = tmp_path / f"anna.{'jsonl' if form == 'data' else form}"
    if form == "csv":
        path.write_text("id,data,topic,doc,label\n1,cats,q1,d1,Relevant\n2,dogs,q1,d2,Not relevant\n")
    elif form == "json":
        path.write_text(json.dumps(TEXTS))
    else:
        text = "".join(json.dumps(one) + "\n" for one in TEXTS)
        path.write_text(text.replace('"text"', '"data"') if form == "data" else text)
    labels = read_labels(path, levels=YES_NO)
    assert labels.workers == ("anna",)  # doccano writes a file for each annotator
    assert labels.docs == ("d1", "d2")
    assert labels.label.tolist() == [1.0, 0.0]


def test_doccano_with_annotators_and_numbers(tmp_path: Path) -> None:
    path = tmp_path / "all.jsonl"
    rows = [{**one, "annotator": who, "label": ["2"]} for one in TEXTS for who in ("anna", "ben")]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    labels = read_labels(path)
    assert (labels.workers, labels.label.tolist()) == (("anna", "ben"), [2.0] * 4)


def test_several_labels_of_one_text_and_none(tmp_path: Path) -> None:
    path = tmp_path / "anna.jsonl"
    path.write_text(json.dumps(TEXTS[0]) + "\n" + json.dumps({**TEXTS[1], "label": ["a", "b"]}) + "\n")
    with pytest.raises(DataError, match=r"anna.jsonl:2: 2 labels \(a, b\) of one person for one doc"):
        read_labels(path, levels=YES_NO)
    path.write_text(json.dumps(TEXTS[0]) + "\n" + json.dumps({**TEXTS[1], "label": []}) + "\n")
    with pytest.raises(DataError, match=r"anna.jsonl:2: label is empty"):
        read_labels(path, levels=YES_NO)
    assert len(read_labels(path, levels=YES_NO, empty="drop").label) == 1
    (tmp_path / "anna.csv").write_text("id,data,topic,doc,label\n1,cats,q1,d1,Relevant#Not relevant\n")
    with pytest.raises(DataError, match=r"anna.csv:2: 2 labels"):
        read_labels(tmp_path / "anna.csv", levels=YES_NO)
