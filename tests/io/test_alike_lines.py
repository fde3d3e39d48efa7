"""Lines that are all alike are read as any lines are, or not at all."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from assay.data.order import short_keys
from assay.io._bytes.alike_lines import RunLines, alike_lines
from assay.io._bytes.fields import Text
from assay.io.rows import RUN, read_rows

PLAIN = b"401 Q0 FT911-3 1 12.25 bm25\n401 Q0 LA-1 2 -2.50 bm25\n402 Q0 FBIS3-10082-long-id 1 0.07 bm25\n"


def test_topics_docs_scores_and_tag() -> None:
    found = _alike(PLAIN)
    assert found is not None
    assert _rows(found) == [("401", "FT911-3", 12.25), ("401", "LA-1", -2.5), ("402", "FBIS3-10082-long-id", 0.07)]
    assert found.tag.tolist() == ["bm25"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("LA-1 2", "LA-1  2"),
        ("LA-1 2", "LA-1"),
        ("LA-1 2", "LA-1 2 3"),
        ("LA-1", ""),
        ("Q0 LA-1", "Q LA-1"),
        ("401 Q0 LA", "4 Q01 LA"),
        ("401 Q0 LA", " 01 Q0 LA"),
        ("401 Q0 LA", "401Q Q0LA"),
        ("401 Q0 LA-1 2 -2.50 bm25\n", "\n"),
        ("401 Q0 LA-1 2 -2.50 bm25\n", "401\n"),
        ("401 Q0 LA-1 2 -2.50 bm25\n", "# a comment, by its form a run line?\n"),
        ("401 Q0 LA", "#01 Q0 LA"),
        ("-2.50", "-2.5"),
        ("-2.50", "2.5e"),
        ("-2.50", "--2.50"),
        ("-2.50", "-.50"),
        ("-2.50", ".50"),
        ("-2.50", "2,50"),
        ("-2.50", "+2.50"),
        ("-2.50", "123456789.50"),
        ("2 -2.50 bm25", "2 -2.50 bm2"),
        ("2 -2.50 bm25", "2 -2.50bm25 "),
        ("2 -2.50 bm25", "2 -2.50 bm25\r"),
        ("0.07 bm25\n", "0.07 bm25"),
        ("12.25", "12"),
        ("12.25", "12.2500000"),
    ],
)
def test_a_line_of_another_layout_is_left_to_the_other_reader(old: str, new: str) -> None:
    assert _alike(PLAIN.replace(old.encode(), new.encode(), 1)) is None


def test_a_long_second_field_is_left_to_the_other_reader() -> None:
    assert _alike(PLAIN.replace(b" Q0 ", b" iteration-number-1 ")) is None


FIELD = st.text("abcXYZ019-._#é\u2003", min_size=1, max_size=20)
SCORE = st.decimals(-99999, 999999, allow_nan=False, allow_infinity=False, places=3).map(str)
LINE = st.tuples(st.sampled_from(["1", "12", "topic-1"]), st.just("Q0"), FIELD, st.integers(0, 9999).map(str), SCORE)


@settings(max_examples=300, deadline=None)
@given(
    st.lists(LINE, min_size=1, max_size=12, unique_by=lambda line: line[2]),
    st.lists(st.tuples(st.integers(0, 400), st.sampled_from(b" \n\t0.a-#\r")), max_size=2),
)
def test_what_is_read_is_what_the_line_reader_reads(
    lines: list[tuple[str, ...]], changed: list[tuple[int, int]]
) -> None:
    data = bytearray("".join(" ".join([*line, "tag"]) + "\n" for line in lines).encode())
    for at, byte in changed:
        data[at % len(data)] = byte
    assume(data.decode(errors="ignore").encode() == data)  # whether ids are UTF-8 is looked at later
    found = _alike(bytes(data))
    if found is not None:
        slow = read_rows(bytes(data), RUN)
        assume(not any("twice" in problem.what for problem in slow.problems))
        assert [(row.topic, row.doc, float(row.fields[4])) for row in slow.rows] == _rows(found)
        assert not slow.problems
        assert found.tag.tolist() == [slow.rows[-1].fields[5]]
        assert (found.keys == short_keys(found.docs.hashes())).all()


@given(st.lists(LINE, min_size=1, max_size=12).filter(lambda lines: len({line[0] for line in lines}) == 1))
def test_lines_of_one_layout_are_read(lines: list[tuple[str, ...]]) -> None:
    usual = [line for line in lines if line[0][0] != "#" and len(line[4].lstrip("-").partition(".")[0]) <= 6]
    data = "".join(" ".join([*line, "tag"]) + "\n" for line in usual).encode()
    assert not usual or _alike(data) is not None


def _alike(data: bytes) -> RunLines | None:
    """The lines in the middle of a larger text, so that nothing lies at a whole address by chance."""
    text = Text.of(b"x x x x x x\n" + data)
    return alike_lines(text.buffer, text.length - len(data), text.length) if data else None


def _rows(found: RunLines) -> list[tuple[str, str, float]]:
    sizes = np.diff(found.changes, append=len(found.docs))
    topics = [t for t, n in zip(found.topics.tolist(), sizes, strict=True) for _ in range(n)]
    return list(zip(topics, found.docs.tolist(), found.scores.tolist(), strict=True))
