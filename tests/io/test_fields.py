"""Fields and decimals as whole columns are those that a plain loop and Python read."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.ids import Ids, places_ascending
from assay.io._bytes import decimals
from assay.io._bytes.bits import bit_words, newlines, set_bits
from assay.io._bytes.decimals import read_decimals
from assay.io._bytes.fields import Text, fields

WORDS = st.text("ab1.-é", min_size=1, max_size=70)
LINES = st.lists(st.tuples(WORDS, WORDS, WORDS), min_size=1, max_size=12)


@given(LINES, st.sampled_from(" \t"), st.integers(0, 40))
def test_fields_are_those_of_split(rows: list[tuple[str, ...]], separator: str, before: int) -> None:
    body = "".join(separator.join(row) + "\n" for row in rows).encode()
    text = Text.of(b"x" * before + body)
    found = fields(text.buffer, before, text.length, 3)
    assert found is not None
    assert found.lines == len(rows)
    for column in range(3):
        assert found.column(column).tolist() == [row[column] for row in rows]


@pytest.mark.parametrize(
    "line", [b"a  b\n", b"a\n", b" a b\n", b"a b \n", b"a b c d e\n\n", b"a b", b"\n", b"a\rb c\n", b"a b c\r"]
)
def test_odd_lines_are_read_as_split_reads_them_or_not_at_all(line: bytes) -> None:
    text = Text.of(b"1 2 3\n" + line + b"4 5 6\n")
    found = fields(text.buffer, 0, text.length, 3)
    rows = [row.split() for row in text.bytes().split(b"\n") if row.strip()]
    if found is None:
        assert b"\r" in line or min(map(len, rows)) < 3
    else:
        assert found.column(1).tolist() == [row[1].decode() for row in rows]


@given(st.binary(max_size=200).map(lambda raw: raw.replace(b"\x01", b"\n")))
def test_newlines_are_all_newlines(raw: bytes) -> None:
    text = np.frombuffer(raw, np.uint8)
    assert newlines(text).tolist() == [i for i, byte in enumerate(raw) if byte == 10]


@given(st.lists(st.booleans(), min_size=1, max_size=400), st.integers(1, 6), st.data())
def test_set_bits_are_the_next_ones(marked: list[bool], count: int, data: st.DataObject) -> None:
    starts = data.draw(st.lists(st.integers(0, len(marked) - 1), min_size=1, max_size=5))
    wanted = []
    for start in starts:
        ahead = [i - start for i in range(start, len(marked)) if marked[i]]
        wanted.append(ahead[:count])
    found = set_bits(bit_words(np.array(marked)), np.array(starts), count)
    if all(len(places) == count and places[-1] < 128 for places in wanted):
        assert found is not None
        assert np.array(found).T.tolist() == wanted
    else:
        assert found is None


DIGITS = st.text("0123456789", max_size=26)


@given(st.lists(st.tuples(st.sampled_from(["", "-", "+"]), DIGITS, st.sampled_from(["", ".", "..", "e"]), DIGITS)))
def test_decimals_are_those_of_python(parts: list[tuple[str, str, str, str]]) -> None:
    texts = ["".join(part) or "x" for part in parts]
    wanted = []
    for text in texts:
        try:
            value = float(text)
            wanted.append(float("nan") if np.isinf(value) else value)  # no digits are infinite
        except ValueError:
            wanted.append(float("nan"))
    got = read_decimals(Ids.of(texts))
    is_number = ~np.isnan(wanted)
    assert np.isnan(got).tolist() == (~is_number).tolist()
    assert got[is_number].view(np.uint64).tolist() == np.array(wanted)[is_number].view(np.uint64).tolist()


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=30))
def test_every_float_comes_back_from_its_digits(values: list[float]) -> None:
    got = read_decimals(Ids.of([repr(value) for value in values]))
    assert got.view(np.uint64).tolist() == np.array(values, dtype=np.float64).view(np.uint64).tolist()


def _around_middles(count: int) -> list[str]:
    """Decimals in the middle between two 64-bit floats, and one in the last place to either side of it."""
    rng = np.random.default_rng(0)
    texts = []
    for exponent in rng.integers(-7, 10, count).tolist():
        odd = int(rng.integers(2**52, 2**53)) * 2 + 1
        middle = Fraction(odd) * Fraction(2) ** (exponent - 53)
        digits = 17 - len(str(int(middle)))
        whole = round(middle * 10**digits)
        texts += [f"{n // 10**digits}.{n % 10**digits:0{digits}}" for n in (whole - 1, whole, whole + 1)]
    return [*texts, "9007199254740993", "9007199254740995", "4503599627370497.5", "1125899906842624.125"]


@pytest.mark.parametrize("has_64_bits", [True, False])
def test_decimals_are_rounded_once(has_64_bits: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not has_64_bits:  # as on a machine whose long floats are no longer than others
        monkeypatch.setattr(decimals, "_HAS_64_BITS", False)
    texts = _around_middles(2000)
    assert read_decimals(Ids.of(texts)).tolist() == [float(text) for text in texts]


IDS = st.lists(st.binary(min_size=1, max_size=80) | st.sampled_from([b"a", b"a\0", b"a\0\0", b"b" * 70, b"b" * 71]))


@given(IDS)
def test_ids_are_ranked_by_their_bytes(raw: list[bytes]) -> None:
    ids = Ids.of(raw)
    distinct = sorted(set(raw))
    assert ids.byte_ranks().tolist() == [distinct.index(text) for text in raw]
    assert ids.byte_order().tolist() == sorted(range(len(raw)), key=lambda i: (raw[i], i))


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), unique=True))
def test_places_ascend_by_both_numbers(pairs: list[tuple[int, int]]) -> None:
    first = np.array([a for a, _ in pairs], dtype=np.int64)
    then = np.array([b for _, b in pairs], dtype=np.int64)
    assert places_ascending(first, then).tolist() == sorted(range(len(pairs)), key=lambda i: pairs[i])
