"""Run lines that are all alike, as most programs write them, read without looking for every blank.

Within a piece of text the doc mostly starts at one distance from the start of its line, and the score, written with one
number of decimals, ends at one distance from its end. Both ends of all lines are taken as words of eight bytes, and
only the end of the doc and the start of the score are looked for. Where a line differs, the answer is None and
`fields` reads the piece.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Bytes, Ints, Keys, Words
from assay.core.ids import LONG, MASKS, WORD, Ids, aligned_words, first_mark, hashes_of_words, load_window, load_words
from assay.data.order import short_keys
from assay.io._bytes.bits import BLANK, has_other_controls, newlines
from assay.io._bytes.decimals import fixed_point
from assay.io._bytes.fields import COMMENT

FIELDS = 6
LONGEST_PREFIX, MOST_DECIMALS = 2 * WORD, 6
SAMPLE = 1 << 12
_PAST_BLANK = np.uint64(0x2121212121212121)
_HIGH = np.uint64(0x8080808080808080)


class Layout(NamedTuple):
    """Where things stand in a line: bytes before the doc, digits after the score's dot, bytes from its end on."""

    before_doc: int
    decimals: int
    after_score: int

    @classmethod
    def of(cls, line: bytes) -> Layout | None:
        """The layout of a line with its newline; None where it has not six fields separated by single blanks.

        >>> Layout.of(b"401 Q0 FT911-3 1 12.25 bm25\\n")
        Layout(before_doc=7, decimals=2, after_score=6)
        """
        fields = line.split()
        if len(fields) != FIELDS or line.startswith(b"#"):
            return None
        if sum(map(len, fields)) + FIELDS != len(line):  # more than one blank between two fields
            return None
        topic, second, _, _, score, tag = fields
        decimals = score.partition(b".")[2]
        layout = cls(len(topic) + len(second) + 2, len(decimals), len(tag) + 2)
        if layout.before_doc > LONGEST_PREFIX or not 1 <= layout.decimals <= MOST_DECIMALS:
            return None
        return layout


@dataclass(frozen=True, eq=False)
class RunLines:
    """What the lines of a piece of a run say: where a topic starts and its id there, docs, their keys, scores."""

    changes: Ints
    topics: Ids
    docs: Ids
    keys: Keys
    scores: npt.NDArray[np.float64]
    tag: Ids
    """The tag of the last line."""
    ranks: npt.NDArray[np.float64] | None = None


def alike_lines(buffer: Bytes, start: int, stop: int) -> RunLines | None:
    """The lines of buffer[start:stop], if all of them have one layout."""
    text = buffer[start:stop]
    layout = _layout(text)
    if layout is None:
        return None
    ends = newlines(text)
    # Six blanks of each line are looked at below: where that is all there are, no field has a blank in it.
    if np.count_nonzero(text <= BLANK) != FIELDS * len(ends) or has_other_controls(text, len(ends)):
        return None
    ends += start
    starts = np.concatenate([[start], ends[:-1] + 1])
    words = aligned_words(buffer)
    left = load_window(words, starts, (layout.before_doc + 2 * WORD - 1) // WORD)
    topics = _topics(buffer, starts, left, layout.before_doc)
    doc_starts = starts + layout.before_doc
    docs = _docs(buffer, words, doc_starts, _from_byte(left, layout.before_doc))
    score_ends = ends + (1 - layout.after_score)
    scores = _scores(buffer, words, score_ends, layout.decimals)
    if topics is None or docs is None or scores is None:
        return None
    if not (doc_starts + docs.ids.lengths + 2 < scores.starts).all():  # the rank stands between
        return None
    tag = Ids(buffer, score_ends[-1:] + 1, np.array([layout.after_score - 2]))
    return RunLines(*topics, docs.ids, docs.keys, scores.values, tag)


def _layout(text: Bytes) -> Layout | None:
    """The layout of the first line, if the last one and one in the middle have it too."""
    head = text[:SAMPLE].tobytes()
    middle = text[len(text) // 2 :][:SAMPLE].tobytes()
    tail = text[-SAMPLE:].tobytes()
    first = head.partition(b"\n")[0] + b"\n"
    last = tail[:-1].rpartition(b"\n")[2] + tail[-1:]
    layouts = {Layout.of(first), Layout.of(last)}
    after_newline = middle.partition(b"\n")[2]
    inner, newline, _ = after_newline.partition(b"\n")
    if newline:
        layouts.add(Layout.of(inner + newline))
    if len(layouts) > 1:
        return None
    return layouts.pop()


def _topics(buffer: Bytes, starts: Ints, left: list[Words], size: int) -> tuple[Ints, Ids] | None:
    """The lines whose first `size` bytes are not those of the line before, and the topics that stand there.

    None unless these bytes are two fields, each with a blank behind it.
    """
    new = np.ones(len(starts), dtype=bool)
    new[1:] = _differ(left[0], size)
    if size > WORD:
        new[1:] |= _differ(left[1], size - WORD)
    changes = np.flatnonzero(new)
    at = starts[changes]
    blank = buffer[at[:, None] + np.arange(size)] <= BLANK
    lengths = blank.argmax(axis=1)
    two_fields = (blank.sum(axis=1) == 2) & blank[:, -1] & ~blank[:, -2] & (lengths > 0)
    if not two_fields.all() or (buffer[at] == COMMENT).any():
        return None
    return changes, Ids(buffer, at, lengths)


def _differ(word: Words, size: int) -> npt.NDArray[np.bool_]:
    """Whether the first bytes of each word but the first are other than those of the word before."""
    difference = word[1:] ^ word[:-1]
    difference &= MASKS[min(size, WORD)]
    return difference != 0


def _from_byte(window: list[Words], byte: int) -> Words:
    """The eight bytes from that byte of the window on."""
    first = byte // WORD
    bits = np.uint64(byte % WORD * 8)
    if not bits:
        return window[first].copy()
    word = window[first] >> bits
    word |= window[first + 1] << (np.uint64(64) - bits)
    return word


class _Docs(NamedTuple):
    ids: Ids
    keys: Keys


def _docs(buffer: Bytes, words: Words, at: Ints, word: Words) -> _Docs | None:
    """The docs that start at these places, and their keys; word: the first eight bytes from there.

    None where there is no doc at one of the places, or a very long one.
    """
    lengths = _before_blank(word).astype(np.int64)
    if not lengths.all():
        return None
    if (lengths < WORD).all():
        hashes = hashes_of_words([word], lengths)
        return _Docs(Ids(buffer, at, lengths), short_keys(hashes))
    whole = _until_blank(words, at, lengths)
    if whole is None:
        return None
    docs = Ids(buffer, at, whole)
    return _Docs(docs, short_keys(docs.hashes()))


def _until_blank(words: Words, at: Ints, lengths: Ints) -> Ints | None:
    """The lengths of the fields that start at these places; None where one is very long.

    lengths: how many of the first eight bytes from there stand before a blank.
    """
    lengths = lengths.copy()
    rows = np.flatnonzero(lengths == WORD)
    offset = WORD
    while len(rows):
        if offset > LONG:
            return None
        more = _before_blank(load_words(words, at[rows] + offset))
        lengths[rows] += more
        rows = rows[more == WORD]
        offset += WORD
    return lengths


def _before_blank(word: Words) -> npt.NDArray[np.uint8]:
    """How many bytes of each word stand before its first blank; 8 if there is none."""
    marks = word - _PAST_BLANK
    marks &= ~word
    marks &= _HIGH
    return first_mark(marks)


class _Scores(NamedTuple):
    values: npt.NDArray[np.float64]
    starts: Ints


def _scores(buffer: Bytes, words: Words, ends: Ints, decimals: int) -> _Scores | None:
    """The numbers that end at these places and have that many decimals, with a blank on both sides."""
    if not (buffer.take(ends) <= BLANK).all():
        return None
    first, second = load_window(words, ends - 2 * WORD, 2)
    place_of_dot = WORD - 1 - decimals
    dot = (second >> np.uint64(8 * place_of_dot)) & np.uint64(0xFF)
    if not (dot == ord(".")).all():
        return None
    before_dot = _from_byte([first, second], place_of_dot)
    digits = _before_blank(before_dot.byteswap())
    if digits.min() < 1 or digits.max() == WORD:
        return None
    values = fixed_point(before_dot, digits, second, decimals)
    if values is None:
        return None
    starts = ends - (decimals + 1) - digits
    return _Scores(values, starts)
