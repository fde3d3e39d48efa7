"""Ids: hashing, coding and comparing agree with plain Python strings."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from assay.core.ids import Ids, aligned_words, coded, joined, load_words

TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=40)
STEMS = st.sampled_from(["a", "ab", "x" * 7, "x" * 8, "x" * 63, "x" * 64, "x" * 1023, "x" * 1024, "x" * 3000])
ENDS = st.text("\0ab", max_size=9)
TEXT_OF_ANY_LENGTH = st.tuples(STEMS, ENDS).map("".join)


@given(st.lists(TEXT, max_size=30))
def test_round_trip(texts: list[str]) -> None:
    ids = Ids.of(texts)
    assert ids.tolist() == texts
    assert ids.packed().tolist() == texts
    assert list(ids) == texts


@given(st.lists(TEXT, min_size=1, max_size=20), st.lists(TEXT, min_size=1, max_size=20))
def test_equal_ids_have_equal_hashes_whatever_stands_around_them(left: list[str], right: list[str]) -> None:
    a, b = Ids.of(left), Ids.of([*right, *left]).take(np.arange(len(right), len(right) + len(left)))
    assert (a.hashes() == b.hashes()).all()
    assert a.same_as(b).all()


@given(st.lists(st.sampled_from(["a", "b", "a-long-id-1", "a-long-id-2", "ab"]), max_size=20))
def test_changes_are_where_an_id_is_not_the_one_before(texts: list[str]) -> None:
    changed = [i for i, t in enumerate(texts) if i == 0 or t != texts[i - 1]]
    assert Ids.of(texts).changes().tolist() == changed


@given(st.lists(TEXT, min_size=1, max_size=20))
def test_different_ids_are_told_apart(texts: list[str]) -> None:
    ids = Ids.of(texts)
    shifted = Ids.of([*texts[1:], texts[0]])
    assert ids.same_as(shifted).tolist() == [a == b for a, b in zip(texts, [*texts[1:], texts[0]], strict=True)]
    assert len(set(ids.hashes().tolist())) == len(set(texts))


@given(st.lists(st.lists(TEXT, max_size=15), max_size=4))
def test_codes_order_as_bytes(columns: list[list[str]]) -> None:
    codes, vocabulary = coded([Ids.of(c) for c in columns])
    names = vocabulary.tolist()
    assert names == sorted({t for c in columns for t in c}, key=str.encode)
    for column, code in zip(columns, codes, strict=True):
        assert [names[i] for i in code] == column


@given(st.lists(st.lists(TEXT, max_size=10), max_size=4))
def test_joined_is_concatenation(columns: list[list[str]]) -> None:
    assert joined([Ids.of(c) for c in columns]).tolist() == [t for c in columns for t in c]


@given(st.lists(TEXT_OF_ANY_LENGTH, max_size=20))
def test_order_and_ranks_are_those_of_the_bytes(texts: list[str]) -> None:
    ids = Ids.of(texts)
    in_order = sorted(range(len(texts)), key=lambda i: texts[i].encode())
    assert ids.byte_order().tolist() == in_order
    place = {t: i for i, t in enumerate(sorted(set(texts), key=str.encode))}
    assert ids.byte_ranks().tolist() == [place[t] for t in texts]


@given(st.lists(TEXT_OF_ANY_LENGTH, min_size=1, max_size=20))
def test_long_ids_and_zero_bytes_are_compared_to_their_end(texts: list[str]) -> None:
    ids, shifted = Ids.of(texts), [*texts[1:], texts[0]]
    assert ids.same_as(Ids.of(shifted)).tolist() == [a == b for a, b in zip(texts, shifted, strict=True)]
    assert len(set(ids.hashes().tolist())) == len(set(texts))
    (code,), vocabulary = coded([ids])
    assert [vocabulary[i] for i in code] == texts


def test_words_are_read_at_any_place() -> None:
    data = bytes(range(40))
    buffer = np.frombuffer(data, dtype=np.uint8)
    at = np.arange(24)
    got = load_words(aligned_words(buffer), at)
    assert got.tolist() == [int.from_bytes(data[i : i + 8], "little") for i in at]
