"""TREC files: everything that is seen in the wild is read, or refused with the line."""

from __future__ import annotations

import gzip
import lzma
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from assay.check import check
from assay.core.errors import DataError
from assay.core.ids import Ids
from assay.data import Qrels, Run
from assay.io import frames, read_qrels, read_run, trec, write_qrels, write_run
from assay.io._bytes.decimals import read_decimals
from assay.io._bytes.fields import pieces
from assay.io.recognition import WrongKind
from assay.io.rows import RUN, read_rows

PLAIN = "1 Q0 a 1 3.5 tag\n1 Q0 b 2 2.5 tag\n010 Q0 a 1 1e-3 tag\n"
EXPECTED = {"1": {"a": 3.5, "b": 2.5}, "010": {"a": 0.001}}
FORMS = {
    "plain": PLAIN,
    "tabs": PLAIN.replace(" ", "\t"),
    "two blanks": PLAIN.replace(" ", "  "),
    "leading blanks": "".join("  " + line + "\n" for line in PLAIN.splitlines()),
    "padded columns": PLAIN.replace(" Q0", "     Q0   "),
    "CR LF": PLAIN.replace("\n", "\r\n"),
    "CR alone": PLAIN.replace("\n", "\r"),
    "a CR alone in the middle": PLAIN.replace("\n", "\r", 1),
    "byte-order mark": "\ufeff" + PLAIN,
    "blank lines": "\n\n" + PLAIN.replace("\n", "\n\n"),
    "comments": "# a\n" + PLAIN.replace("\n", "\n  # b\n"),
    "no last newline": PLAIN.rstrip("\n"),
    "more fields": PLAIN.replace("tag", "tag and more"),
    "ranks from 0 and Q0 missing its zero": PLAIN.replace("Q0", "x").replace(" 1 3", " 0 3"),
    "a plus sign and an exponent": PLAIN.replace("3.5", "+.35e1"),
    "trailing blanks": PLAIN.replace("tag", "tag  \t"),
    "scattered topics": "1 Q0 a 1 3.5 tag\n010 Q0 a 1 1e-3 tag\n1 Q0 b 2 2.5 tag\n",
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_run_is_read(form: str, tmp_path: Path) -> None:
    path = tmp_path / "r.run"
    path.write_bytes(FORMS[form].encode())
    run = read_run(path)
    assert run.to_dict() == EXPECTED
    assert run.name == "tag"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1 Q0 c 3 NA tag", "r.run:2: score is not a number: 'NA'; a run line is \"topic Q0 doc rank score tag\""),
        ("1 Q0 c 3 nan tag", "r.run:2: score is not a number: 'nan'"),
        ("1 Q0 c 3 1_0 tag", "r.run:2: score is not a number: '1_0'"),
        ("1 Q0 c 3 0x1p tag", "r.run:2: score is not a number"),
        ("1 Q0 c 3 1,5 tag", "r.run:2: score is not a number: '1,5'"),
        ("1 Q0 c 3 --1 tag", "r.run:2: score is not a number"),
        ("1 Q0 c 3 \u0663 tag", "r.run:2: score is not a number"),
        ("1 Q0 c 3 . tag", "r.run:2: score is not a number"),
        ("1 Q0 c 3 1.2.3 tag", "r.run:2: score is not a number"),
        ("1 Q0 c 3 1.5", "r.run:2: 5 fields: '1 Q0 c 3 1.5'"),
        ("1 Q0 a 9 1.5 tag", r"r.run:2: doc 'a' is twice in topic '1' \(first on line 1\)"),
    ],
)
def test_a_bad_line_is_an_error_with_its_number(line: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "r.run"
    path.write_text("1 Q0 a 1 3.5 tag\n" + line + "\n2 Q0 z 1 1 tag\n")
    with pytest.raises(DataError, match=message):
        read_run(path)


@pytest.mark.parametrize("cut", ["2", "2 Q0 b 1 1.5", "2 Q0 b 1 1.5 "])
def test_a_file_that_was_cut_in_its_last_line_is_an_error(cut: str, tmp_path: Path) -> None:
    path = tmp_path / "r.run"
    path.write_text("1 Q0 a 1 3.5 tag\n" + cut)
    with pytest.raises(DataError, match=f"r.run:2: {len(cut.split())} fields"):
        read_run(path)


def test_a_duplicate_is_found_far_below_any_cutoff(tmp_path: Path) -> None:
    path = tmp_path / "r.run"
    lines = [f"1 Q0 d{i} {i + 1} {5000 - i} t" for i in range(3000)]
    path.write_text("\n".join([*lines, "1 Q0 d17 3001 0.5 t"]) + "\n")
    with pytest.raises(DataError, match=r"r.run:3001: doc 'd17' is twice in topic '1' \(first on line 18\)"):
        read_run(path)


@pytest.mark.parametrize("line", [b"1 \xa9 b 2 2.5 tag", b"1 Q0 b \xa9 2.5 tag", b"1 Q0 b 2 2.5 \xa9 tag"])
def test_no_field_may_be_other_than_utf8(line: bytes, tmp_path: Path) -> None:
    path = tmp_path / "r.run"
    path.write_bytes(b"1 Q0 a 1 3.5 tag\n" + line + b"\n1 Q0 c 3 1.5 tag\n")
    with pytest.raises(DataError, match=r"r.run:2: not UTF-8: byte 0xa9"):
        read_run(path)
    path.write_bytes(b"# caf\xe9\n1 Q0 a 1 3.5 tag\n")
    assert read_run(path).to_dict() == {"1": {"a": 3.5}}


def test_bytes_that_are_not_utf8_are_named(tmp_path: Path) -> None:
    path = tmp_path / "r.run"
    path.write_bytes(b"1 Q0 a 1 3 t\n1 Q0 caf\xe9 2 2 t\n")
    with pytest.raises(DataError, match=r"r.run:2: not UTF-8: byte 0xe9"):
        read_run(path)
    path.write_bytes("1 Q0 café 1 3 t\n".encode())
    assert read_run(path).ranking("1") == ["café"]


@pytest.mark.parametrize("text", ["", "\n\n", "# only a comment\n"])
def test_a_run_without_lines_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "r.run"
    path.write_text(text)
    with pytest.raises(DataError, match="there is no line of results"):
        read_run(path)
    with pytest.raises(DataError, match="there is no judgment"):
        read_qrels(path)


def test_compressed_and_damaged_files(tmp_path: Path) -> None:
    import zstandard

    packers: dict[str, Callable[[bytes], bytes]] = {
        "gz": gzip.compress,
        "xz": lzma.compress,
        "zst": zstandard.ZstdCompressor().compress,
    }
    for ending, pack in packers.items():
        path = tmp_path / f"r.run.{ending}"
        path.write_bytes(pack(PLAIN.encode()))
        assert read_run(path).to_dict() == EXPECTED
        path.write_bytes(pack(PLAIN.encode() * 50)[:-7])
        with pytest.raises(DataError, match="damaged"):
            read_run(path)


def test_metadata_of_the_comment_header_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "r.run"
    path.write_text("# ir_metadata.start\n# tag: bm25\n# actor:\n#   name: me\n# ir_metadata.end\n" + PLAIN)
    metadata = read_run(path).info.metadata
    assert (metadata["tag"], metadata["name"]) == ("bm25", "me")


@pytest.mark.parametrize("ending", ["run", "run.gz", "csv", "tsv", "jsonl", "parquet", "csv.zst"])
def test_runs_and_qrels_round_trip(ending: str, tmp_path: Path) -> None:
    run = Run.from_dict("r", {"1": {"a": 0.1 + 0.2, "ü": -1e-300}, "2": {"c": 1e22}})
    qrels = Qrels.from_dict({"1": {"a": 2, "b": -1}, "2": {"c": 0}})
    write_run(tmp_path / f"x.{ending}", run)
    write_qrels(tmp_path / f"y.{ending}", qrels)
    assert read_run(tmp_path / f"x.{ending}").to_dict() == run.to_dict()
    assert read_qrels(tmp_path / f"y.{ending}").to_dict() == qrels.to_dict()


@pytest.mark.parametrize("ending", ["txt", "csv"])
def test_sampling_probabilities_round_trip(ending: str, tmp_path: Path) -> None:
    qrels = Qrels(("1",), np.array([0, 2]), Ids.of("ab"), np.array([1, 0]), np.array([0.25, 1.0]))
    write_qrels(tmp_path / f"q.{ending}", qrels)
    back = read_qrels(tmp_path / f"q.{ending}").probabilities
    assert back is not None
    assert back.tolist() == [0.25, 1.0]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1 0 b 0,5", "q.txt:2: grade is not a number: '0,5'"),
        ("1 0 b x", "q.txt:2: grade is not a number: 'x'"),
        ("1 0 b", "q.txt:2: 3 fields"),
        ("1 0 b 1 2 3", "q.txt:2: 6 fields"),
        ("1 0 a 1", "q.txt:2: doc 'a' is twice in topic '1'"),
        ("1 0 b 1 0.5", "q.txt:2: 5 fields"),
    ],
)
def test_bad_judgments_name_the_line(line: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "q.txt"
    path.write_text("1 0 a 1\n" + line + "\n")
    with pytest.raises(DataError, match=message):
        read_qrels(path)


def test_judgments_with_a_bad_probability(tmp_path: Path) -> None:
    path = tmp_path / "q.txt"
    path.write_text("1 0 a 1 0.5\n1 0 b 1 1.5\n")
    with pytest.raises(DataError, match=r"q.txt:2: probability is not in \(0, 1\]: '1.5'"):
        read_qrels(path)


def test_comments_in_judgments_are_fine_wherever_they_stand(tmp_path: Path) -> None:
    path = tmp_path / "q.txt"
    path.write_text("# one\n# two\n1 0 a 1\n\n# last\n")
    assert read_qrels(path).to_dict() == {"1": {"a": 1}}


@settings(max_examples=300)
@given(st.floats(allow_nan=False), st.sampled_from(["r", ".3f", ".17g", ".1e", ".6f", "g", ".12f"]))
def test_decimals_are_those_of_python(value: float, form: str) -> None:
    text = repr(value) if form == "r" else f"{value:{form}}"
    got = read_decimals(Ids.of([text, "x" + text, text + "0" if "e" not in text and "." in text else text]))
    assert got[0] == float(text)
    assert np.isnan(got[1])
    assert got[2] == float(text)


@given(st.text("0123456789.-+e ", min_size=1, max_size=24).map(str.strip).filter(bool))
def test_what_python_refuses_is_refused(text: str) -> None:
    if " " in text:
        return
    try:
        wanted = float(text)
    except ValueError:
        wanted = float("nan")
    np.testing.assert_equal(read_decimals(Ids.of([text]))[0], wanted)


def test_a_large_file_is_read_piece_by_piece_by_threads(tmp_path: Path) -> None:
    path = tmp_path / "r.run"
    lines = [f"{t} Q0 doc{d} {d} {9000 - d}.25 run" for t in range(120) for d in range(1600)]
    path.write_text("\n".join(lines) + "\n")
    one, two = read_run(path, threads=1), read_run(path, threads=2)
    assert len(pieces(np.fromfile(path, np.uint8))) > 1
    assert one.topics == two.topics == tuple(str(t) for t in range(120))
    assert one.to_dict() == two.to_dict()
    for other in ("\n\n".join(lines) + "\n", "\n".join(lines).replace("00.25 ", "00.250000000 ") + "\n"):
        path.write_text(other)
        assert read_run(path, threads=2).to_dict() == one.to_dict()


def test_topics_stay_strings(tmp_path: Path) -> None:
    path = tmp_path / "q.txt"
    path.write_text("010 0 a 1\n10 0 a 1\n9 0 a 1\n")
    assert read_qrels(path).topics == ("9", "010", "10")


@pytest.mark.parametrize("rank", ["x", "1.5", "1e300", "nan"])
def test_a_rank_is_needed_only_where_ranks_are_used(rank: str, tmp_path: Path) -> None:
    path = tmp_path / "r.run"
    path.write_text(f"1 Q0 a 1 3 t\n1 Q0 b {rank} 3 t\n")
    assert len(read_run(path)) == 2
    with pytest.raises(DataError, match=f"r.run:2: rank is not a whole number: '{rank}'"):
        read_run(path, ranks=True)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"1 0 c 99999999999", "q.txt:2: grade is too large: '99999999999'"),
        (b"caf\xe9 0 c 1", "q.txt:2: not UTF-8: byte 0xe9"),
        (b"1 0 caf\xe9 1", "q.txt:2: not UTF-8: byte 0xe9"),
        (b"1 0 c \xd9\xa3", "q.txt:2: grade is not a number"),
    ],
)
def test_a_bad_judgment_is_an_error_with_its_number(line: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "q.txt"
    path.write_bytes(b"1 0 a 1\r\n" + line + b"\n2 0 z 0\n")
    with pytest.raises(DataError, match=message):
        read_qrels(path)


def test_judgments_whose_lines_end_in_a_bare_return(tmp_path: Path) -> None:
    path = tmp_path / "q.txt"
    path.write_bytes(b"1 0 a 1\r1 0 b 0\r2 0 a 2\r")
    assert read_qrels(path).to_dict() == {"1": {"a": 1, "b": 0}, "2": {"a": 2}}


def test_both_readers_part_fields_alike(tmp_path: Path) -> None:
    """A no-break space belongs to a doc id, a form feed separates, in the fast reader and in the line reader."""
    data = "1 Q0 a\u00a0b\x0c1 3 t\n1 Q0 c\u2003d 2\x0b2 t\n".encode()
    path = tmp_path / "r.run"
    path.write_bytes(data)
    slow = read_rows(data, RUN)
    assert read_run(path).ranking("1") == ["a\u00a0b", "c\u2003d"] == [row.doc for row in slow.rows]
    assert not slow.problems


CONTROLS = [byte for byte in range(32) if byte not in b"\t\n\x0b\x0c\r"]


@pytest.mark.parametrize("byte", CONTROLS, ids=hex)
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"], ids=["LF", "CR LF", "CR"])
def test_a_control_byte_is_refused_and_shifts_no_column(byte: int, end: bytes, tmp_path: Path) -> None:
    """good\\x1c5 2 0.1 t: a reader that takes it for a blank reads the rank as the score."""
    control = bytes([byte])
    path = tmp_path / "r.run"
    for second in (b"1 Q0 good" + control + b"5 2 0.1 t", control + b"1 Q0 b 2 0.1 t", b"1 Q0 b 2 0.1 t" + control):
        path.write_bytes(end.join([b"1 Q0 a 1 0.5 t", second, b"1 Q0 c 3 0.1 t", b""]))
        with pytest.raises(DataError, match=rf"r\.run:2: control byte {byte:#04x} in '.*'; take it out, or write a bl"):
            read_run(path)
        with pytest.raises(DataError, match=rf"r\.run:2: control byte {byte:#04x}"):
            read_run(path, ranks=True)
        assert [(f.line, f.level) for f in check(path).found][:1] == [(2, "error")]
    path = tmp_path / "q.txt"
    path.write_bytes(end.join([b"1 0 a 1", b"1 0 good" + control + b" 0", b""]))
    with pytest.raises(DataError, match=rf"q\.txt:2: control byte {byte:#04x}"):
        read_qrels(path)
    path.write_bytes(end.join([b"1 a L1", b"1 good" + control + b" L0", b""]))
    with pytest.raises(DataError, match=rf"q\.txt:2: control byte {byte:#04x}"):
        read_qrels(path)
    path.write_bytes(end.join([b"1\ta\t1", b"1\tgood" + control + b"\t2", b""]))
    with pytest.raises(DataError, match=rf"q\.txt:2: control byte {byte:#04x}"):
        read_run(path)


def test_a_control_byte_in_a_comment_is_no_part_of_the_data(tmp_path: Path) -> None:
    path = tmp_path / "r.run"
    path.write_bytes(b"# made by \x1b[1mhand\n1 Q0 a 1 0.5 t\n  # \x1c\n1 Q0 b 2 0.25 t\n")
    assert read_run(path).to_dict() == {"1": {"a": 0.5, "b": 0.25}}
    path.write_bytes(b"\x1c# made by hand\n1 Q0 a 1 0.5 t\n")
    with pytest.raises(DataError, match=r"r\.run:1: control byte 0x1c"):
        read_run(path)


OBJECTS = '{"topic": "1", "doc": "a", "score": 0.5}\n{"topic": "1", "doc": "b", "score": NUMBER}\n'


@pytest.mark.parametrize("number", ["1e400", "-1e400", "9" * 100_000, "-" + "9" * 400])
def test_a_number_beyond_all_floats_is_refused_with_its_line(number: str, tmp_path: Path) -> None:
    path = tmp_path / "r.run"
    lines = [f"1 Q0 d{n} {n} {1 / n} t" for n in range(1, 100)]
    for many in (lines[:1], lines):
        path.write_text("\n".join([*many, f"1 Q0 z 100 {number} t", ""]))
        with pytest.raises(
            DataError, match=rf"r\.run:{len(many) + 1}: score is too large for a 64-bit float: '-?[19]"
        ) as it:
            read_run(path)
        assert len(str(it.value)) < 300
        assert any(f.line == len(many) + 1 and f.level == "error" for f in check(path).found)
    path.write_text(f"topic,doc,score\n1,a,0.5\n1,b,{number}\n")
    with pytest.raises(DataError, match=r"r\.run:3: .*too large"):
        read_run(path)
    if len(number) < 1000:  # of thousands of digits Python itself says so
        for name, text in (("r.json", '{"1": {"a": 0.5,\n"b": NUMBER}}'), ("r.jsonl", OBJECTS)):
            (tmp_path / name).write_text(text.replace("NUMBER", number))
            with pytest.raises(DataError, match=rf"{name}:?2?: .*too large"):
                read_run(tmp_path / name)
    path = tmp_path / "q.txt"
    path.write_text(f"1 0 a 1\n1 0 b {number}\n")
    with pytest.raises(DataError, match=r"q\.txt:2: grade is too large"):
        read_qrels(path)


def test_a_score_that_is_written_as_infinite_is_infinite(tmp_path: Path) -> None:
    path = tmp_path / "r.run"
    words = ["inf", "-inf", "Infinity", "+INF"]
    path.write_text("".join(f"1 Q0 d{n} {n} {word} t\n" for n, word in enumerate(words)))
    assert list(read_run(path).to_dict()["1"].values()).count(math.inf) == 3
    path = tmp_path / "r.json"
    path.write_text('{"1e400": {"a": Infinity, "1e400": -Infinity}}')
    assert read_run(path).to_dict() == {"1e400": {"a": math.inf, "1e400": -math.inf}}


def test_a_bare_return_ends_a_line_in_both_readers(tmp_path: Path) -> None:
    """Also where, taken for a blank, it would leave lines of six fields."""
    path = tmp_path / "r.run"
    path.write_bytes(b"1\rQ0 a 1 3.5 t\n2 Q0 b 2 2.5 t\n")
    with pytest.raises(DataError, match=r"r.run:1: 1 fields"):
        read_run(path)


BYTES = b" \n\t\r0.-a#\x00\x0b\x0c\x1c\xa9"
NUMBER = st.one_of(
    st.floats(-1e6, 1e6).map(repr), st.decimals(-99, 999, places=4).map(str), st.integers(0, 99).map(str)
)
FIELDS = st.tuples(st.sampled_from(["7", "12", "q-1"]), st.text("abé0-", min_size=1, max_size=18), NUMBER)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(FIELDS, min_size=1, max_size=15),
    st.lists(st.tuples(st.integers(0, 500), st.sampled_from(BYTES)), max_size=3),
    st.sampled_from([20, 100, 1 << 20]),
)
def test_the_fast_reader_reads_what_the_line_reader_reads(
    tmp_path_factory: pytest.TempPathFactory,
    lines: list[tuple[str, str, str]],
    changes: list[tuple[int, int]],
    size: int,
) -> None:
    """Whatever bytes of a file are changed, and wherever it is cut into pieces; or they make it one of another kind."""
    data = bytearray("".join(f"{t} Q0 {d} {i} {x} tag\n" for i, (t, d, x) in enumerate(lines)).encode())
    for at, byte in changes:
        data[at % len(data)] = byte
    assume(any(data[0:3:2]) and any(data[1:4:2]))  # else it would be UTF-16
    path = tmp_path_factory.getbasetemp() / "any.run"
    path.write_bytes(data)
    slow = read_rows(bytes(data), RUN)
    wanted: dict[str, dict[str, float]] = {}
    for row in slow.rows:
        wanted.setdefault(row.topic, {})[row.doc] = float(row.fields[4])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trec, "pieces", lambda text: pieces(text, size))
        if slow.problems or not slow.rows:
            where = f"any.run:{slow.problems[0].line}:" if slow.problems else "there is no line"
            with pytest.raises(DataError, match=f"{where}|; give a run here"):
                read_run(path)
            return
        try:
            read = read_run(path).to_dict()
        except WrongKind:
            return
        assert read == wanted


def test_a_table_of_strange_names_comes_back(tmp_path: Path) -> None:
    run = Run.from_dict("r", {"1": {"a\u2028b": 2.0, "c\x85d": 1.0}})
    write_run(tmp_path / "r.jsonl", run)
    assert read_run(tmp_path / "r.jsonl").to_dict() == run.to_dict()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("topic,doc,rank,score\n1,a,nan,1\n", "t.csv:2: rank is not a whole number"),
        ("topic,doc,rank,score\n1,a,1e300,1\n", "t.csv:2: rank is not a whole number"),
        ("topic,doc,score\n1,a,1_0\n", "t.csv:2: score is not a number: '1_0'"),
        ("topic,doc,score\n1,,1\n", "t.csv:2: the topic or the doc is empty"),
    ],
)
def test_a_bad_row_of_a_table_is_an_error_with_its_line(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        read_run(path)
    path.write_text("topic,doc,grade\n1,a,1e300\n")
    with pytest.raises(DataError, match=r"t\.csv:2: grade is '1e300'; a finite number"):
        read_qrels(path)


FRACTIONS = {"1": {"a": 0.5, "b": 2.0, "c": -1.0}, "2": {"a": 0.1}}


@pytest.mark.parametrize("ending", ["txt", "txt.gz", "csv", "tsv", "jsonl", "parquet"])
@pytest.mark.parametrize("large", [0, 10**9])
def test_fractional_grades_round_trip(ending: str, large: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "LARGE", large)
    path = tmp_path / f"q.{ending}"
    write_qrels(path, Qrels.from_dict(FRACTIONS))
    again = read_qrels(path)
    assert again.grades.dtype == np.float64
    assert again.to_dict() == FRACTIONS
    write_qrels(path, Qrels.from_dict({"1": {"a": 2, "b": 0}}))
    assert read_qrels(path).grades.dtype == np.int64


@pytest.mark.parametrize("written", ["1.0", "2e0", "1"])
def test_whole_grades_are_whole_however_they_are_written(written: str, tmp_path: Path) -> None:
    path = tmp_path / "q.txt"
    path.write_text(f"1 0 a {written}\n1 0 b 0\n")
    assert read_qrels(path).grades.dtype == np.int64
