"""Topic files."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.core.errors import DataError
from assay.io.topics import read_topics

OPEN = """<top>
<num> Number: 401
<title> foreign minorities, Germany
<desc> Description:
What language and cultural
differences?
<narr> Narrative:
A relevant doc.
</top>
<top>
<num> Number: 402
<title> behavioral genetics
</top>
"""


def test_sgml_with_open_tags(tmp_path: Path) -> None:
    path = tmp_path / "t"
    path.write_text(OPEN)
    topics = read_topics(path)
    assert topics.ids == ("401", "402")
    assert topics.fields[0] == {
        "title": "foreign minorities, Germany",
        "description": "What language and cultural differences?",
        "narrative": "A relevant doc.",
    }
    closed = OPEN.replace("Germany", "Germany </title>").replace("401", "401 </num>")
    path.write_text(closed)
    assert read_topics(path).fields[0]["title"] == "foreign minorities, Germany"


def test_lines_and_tables(tmp_path: Path) -> None:
    (tmp_path / "q.tsv").write_text("1\tfirst query\n010\tsecond: query\n")
    assert read_topics(tmp_path / "q.tsv").ids == ("1", "010")
    (tmp_path / "q.csv").write_text("qid,text\n7,hello\n")
    assert read_topics(tmp_path / "q.csv").fields == ({"title": "hello"},)
    (tmp_path / "q.csv").write_text("query,qid\nhello world,7\n")
    assert read_topics(tmp_path / "q.csv").queries() == {"7": "hello world"}
    (tmp_path / "queries.jsonl").write_text('{"_id": "7", "text": "hello", "metadata": {"url": "x"}}\n')
    assert read_topics(tmp_path / "queries.jsonl").queries() == {"7": "hello"}


@pytest.mark.parametrize(
    ("text", "message"),
    [("", "no topic"), ("nothing", "t:1: 'nothing' is not"), ("1\ta\n1\tb\n", "topic '1' is there twice"),
     ("<top><title> x</top>", "has no <num>")],
)  # fmt: skip
def test_bad_topics(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "t").write_text(text)
    with pytest.raises(DataError, match=message):
        read_topics(tmp_path / "t")
