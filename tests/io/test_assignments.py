"""Files of nuggets, assignments and support: nuggetizer, AutoJudge, tables, and what is wrong with them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assay.core.errors import AssayError, DataError
from assay.data.assignments import Assignments, CitationSupport
from assay.io import recognise
from assay.io.assignments import read_assessed, read_assignments, read_bank, read_support
from assay.io.sheet import write_sheet

VITAL = {"text": "built by Pachacuti", "importance": "vital", "assignment": "support"}
OKAY = {"text": "in Peru", "importance": "okay", "assignment": "partial_support"}
RECORD = {
    "query": "what is machu picchu",
    "qid": "2024-1",
    "answer_text": "An estate that Pachacuti built.",
    "response_length": 5,
    "run_id": "mine",
    "nuggets": [VITAL, OKAY],
}
"""A line as nuggetizer writes it once nuggets are assigned to an answer."""
HEADER = ["topic", "run", "nugget", "importance", "assignment"]
ROWS = [["1", "mine", "n1", "vital", "support"], ["1", "mine", "n2", "okay", "not_support"]]


def written(path: Path, *records: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def listed(found: Assignments) -> list[tuple[str, str, str, bool, float]]:
    rows = []
    for i in range(len(found)):
        names = (found.topics[found.topic[i]], found.runs[found.run[i]], found.nuggets[found.nugget[i]])
        rows.append((*names, bool(found.vital[i]), float(found.credit[i])))
    return rows


def test_lines_of_nuggetizer(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", RECORD, {**RECORD, "qid": 7, "nuggets": []})
    assert recognise(path) == [("assignments", "nuggetizer")]
    found = read_assignments(path)
    assert listed(found) == [
        ("2024-1", "mine", "built by Pachacuti", True, 1.0),
        ("2024-1", "mine", "in Peru", False, 0.5),
    ]
    assert found.topics == ("7", "2024-1")  # a topic without nuggets is a topic
    assert [answer.topic for answer in found.without] == ["7"]


def test_a_line_without_a_run_belongs_to_its_file(tmp_path: Path) -> None:
    path = written(tmp_path / "baseline.jsonl", {"qid": "1", "nuggets": [VITAL]})
    assert read_assignments(path).runs == ("baseline",)
    assert read_assignments([path, written(tmp_path / "b.jsonl", RECORD)]).runs == ("baseline", "mine")


def test_one_object_and_a_list_of_objects_are_read_too(tmp_path: Path) -> None:
    for name, value in (("one.json", RECORD), ("list.json", [RECORD])):
        path = tmp_path / name
        path.write_text(json.dumps(value, indent=1))
        assert recognise(path) == [("assignments", "nuggetizer")]
        assert len(read_assignments(path)) == 2


def test_a_nugget_that_stands_twice_in_a_bank_is_two_nuggets(tmp_path: Path) -> None:
    found = read_assignments(written(tmp_path / "a.jsonl", {**RECORD, "nuggets": [VITAL, VITAL]}))
    assert found.nuggets == ("built by Pachacuti", "built by Pachacuti (2)")


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "json", "parquet"])
def test_tables_of_assignments(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"a.{ending}"
    write_sheet(path, HEADER, ROWS)
    if ending != "parquet":
        assert recognise(path)[0].kind == "assignments"
    assert listed(read_assignments(path)) == [("1", "mine", "n1", True, 1.0), ("1", "mine", "n2", False, 0.0)]


def test_words_that_are_usual_elsewhere_and_columns_that_may_be_missing(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("qid,system,nugget,assignment,judge\n1,mine,n1,Full,x\n1,mine,n2,0.5,x\n1,mine,n3,no,x\n")
    found = read_assignments(path)
    assert found.credit.tolist() == [1.0, 0.5, 0.0]
    assert found.remarks == ("3 of 3 assignments have no importance; their nuggets count as okay",)
    failed = [{**VITAL, "assignment": "failed"}, {**OKAY, "importance": "failed"}]
    remarks = read_assignments(written(tmp_path / "f.jsonl", {**RECORD, "nuggets": failed})).remarks
    assert remarks[0].startswith("2 of 2 rows say failed: such an assignment counts as not supported")


def test_assessors_are_a_column_or_the_files(tmp_path: Path) -> None:
    path = tmp_path / "both.csv"
    path.write_text("topic,run,nugget,importance,assignment,assessor\n1,m,n,okay,yes,anna\n1,m,n,okay,no,gpt\n")
    both = read_assignments(path)
    assert both.assessors == ("anna", "gpt")
    assert both.by("gpt").credit.tolist() == [0.0]
    with pytest.raises(AssayError, match=r"rows of 2 assessors \('anna', 'gpt'\); name one \(--assessor\)"):
        both.by(None)
    with pytest.raises(AssayError, match="no assessor 'ann'; did you mean anna"):
        both.by("ann")
    write_sheet(tmp_path / "x.csv", HEADER, ROWS)
    write_sheet(tmp_path / "y.csv", HEADER, ROWS[:1])
    files = [tmp_path / "x.csv", tmp_path / "y.csv"]
    found = read_assessed(files)
    assert isinstance(found, Assignments)
    assert found.assessors == ("x", "y")


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({**RECORD, "nuggets": [{**VITAL, "assignment": "maybe"}]}, "assignment is 'maybe'; write support, partial_"),
        ({**RECORD, "nuggets": [{**VITAL, "importance": "huge"}]}, "importance is 'huge'; write vital or okay"),
        ({**RECORD, "nuggets": [{"text": "x", "importance": "vital"}]}, "nugget 'x' has no assignment"),
        ({**RECORD, "nuggets": [{"importance": "vital", "assignment": "support"}]}, "no field 'text' with a text"),
        ({**RECORD, "nuggets": {"text": "x"}}, "nuggets are a list of objects"),
        ({**RECORD, "run_id": ""}, "run is empty; write its name"),
        ({"qid": "1", "docid": "d1", "candidate_text": "t", "nuggets": [VITAL]}, "assigned to a retrieved doc"),
    ],
)
def test_bad_lines_of_nuggetizer(record: dict[str, Any], message: str, tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", {**RECORD, "qid": "0"}, record)
    with pytest.raises(DataError) as caught:
        read_assignments(path)
    assert message in str(caught.value)
    assert str(caught.value).startswith(f"{path}:2: ")


def test_answers_that_are_there_twice(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", RECORD, RECORD)
    with pytest.raises(DataError, match=r"a.jsonl:2: nugget 'built by Pachacuti' of topic '2024-1' is there twice for"):
        read_assignments(path)
    rows = [ROWS[0], ["1", "other", "n1", "okay", "support"]]
    write_sheet(tmp_path / "t.csv", HEADER, rows)
    with pytest.raises(DataError, match=r"t.csv:3: nugget 'n1' of topic '1' is vital in one row and okay in another"):
        read_assignments(tmp_path / "t.csv")


def test_banks_of_nuggetizer_and_of_autojudge(tmp_path: Path) -> None:
    nuggets = [{"text": "in Peru", "importance": "okay"}, {"text": "old", "importance": "vital"}]
    path = written(tmp_path / "bank.jsonl", {"query": "q", "qid": "1", "nuggets": nuggets})
    assert recognise(path) == [("nuggets", "nuggetizer")]
    assert read_bank(path) == {"1": {"in Peru": False, "old": True}}
    question = {"question": "Where is it?", "question_id": "c93", "query_id": "2", "answers": {}}
    by_name = {
        "query_id": "2",
        "title_query": "Machu Picchu",
        "format_version": "v3",
        "nugget_bank": {"Where is it?": question},
        "claim_bank": {"It is old.": {"claim": "It is old.", "importance": "vital"}},
    }
    as_list = {"metadata": {"topic_id": "3"}, "nugget_bank": [question, {"question": "Who?", "importance": "okay"}]}
    path = written(tmp_path / "autojudge.jsonl", by_name, as_list)
    assert recognise(path) == [("nuggets", "autojudge")]
    assert read_bank(path) == {
        "2": {"Where is it?": False, "It is old.": True},
        "3": {"Where is it?": False, "Who?": False},
    }
    (tmp_path / "one.json").write_text(json.dumps(by_name, indent=2))
    assert list(read_bank(tmp_path / "one.json")) == ["2"]
    (tmp_path / "bank.csv").write_text("topic,nugget,importance\n1,n1,vital\n1,n2,\n")
    assert read_bank(tmp_path / "bank.csv") == {"1": {"n1": True, "n2": False}}
    (tmp_path / "bad.csv").write_text("topic,nugget,importance\n1,n1,vital\n1,n1,vital\n")
    with pytest.raises(DataError, match=r"bad.csv:3: nugget 'n1' of topic '1' is there twice; keep one"):
        read_bank(tmp_path / "bad.csv")
    with pytest.raises(
        DataError, match=r"autojudge\.jsonl is nuggets of topics; give nuggets assigned to answers here"
    ):
        read_assignments(tmp_path / "autojudge.jsonl")


SUPPORT = "topic,run,sentence,citation,support\n1,mine,s1,d1,full\n1,mine,s1,d2,none\n1,mine,s2,,\n"


def test_support_of_citations(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    path.write_text(SUPPORT + "1,mine,s3,,not_needed\n1,mine,s4,d1,PS\n")
    assert recognise(path) == [("support", "csv")]
    found = read_support(path)
    assert found.credit.tolist() == [1.0, 0.0, 0.0, 0.0, 0.5]
    assert found.cites.tolist() == [True, True, False, False, True]
    assert found.needed.tolist() == [True, True, True, False, True]
    assert isinstance(read_assessed([path]), CitationSupport)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1,mine,s1,d1,full", "sentence 's1' of topic '1' has citation 'd1' twice"),
        ("1,mine,s2,d9,full", "once with and once without one"),
        ("1,mine,s9,d1,", "support is ''; write full, partial or none"),
        ("1,mine,s9,d1,perhaps", "support is 'perhaps'; write full, partial or none"),
        ("1,mine,s9,,full", "support is 'full' without a citation; name the citation"),
        (",mine,s9,d1,full", "topic is empty; write its name"),
    ],
)
def test_bad_lines_of_support(line: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text(f"{SUPPORT}{line}\n")
    with pytest.raises(DataError) as caught:
        read_support(tmp_path / "s.csv")
    assert message in str(caught.value)
    assert "s.csv:" in str(caught.value)


def test_no_rows_are_refused() -> None:
    with pytest.raises(DataError, match="there are no assignments"):
        Assignments.from_rows([])
    with pytest.raises(DataError, match="there are no sentences"):
        CitationSupport.from_rows([])
