"""JSON as people write it, with the line of whatever is wrong; a name that stands twice in an object is an error."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from assay.core.errors import DataError
from assay.io.rows import overflow_of

OVERFLOW = re.compile(rb"[:\[,]\s*(-?(?:\d+(?:\.\d+)?[eE]\+?\d{3,}|\d{309,}(?:\.\d+)?))\s*[,}\]]")
"""Numbers that may be beyond all floats."""


def json_value(where: str, text: str, *, line: int = 1) -> Any:
    """The value of a JSON text that begins on that line.

    >>> json_value("x.json", '{"1": {"a": 2.5}}')
    {'1': {'a': 2.5}}
    """
    try:
        value = json.loads(text, object_pairs_hook=_object)
        if "\\u" in text:  # half of a pair of surrogates can be written in JSON, but stands for no character
            json.dumps(value, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        raise DataError.at(where, line + error.lineno - 1, f"not JSON: {error.msg}") from None
    except RecursionError:
        raise DataError.at(where, line, "not JSON: nested too deep") from None
    except UnicodeEncodeError:
        what = "a \\u escape is half of a pair of surrogates and no character; write both or neither"
        raise DataError.at(where, line, what) from None
    except _Twice as twice:
        raise DataError.at(where, line, f"{str(twice)!r} is there twice in one object; keep one of the two") from None
    except ValueError:  # Python refuses to read integers of thousands of digits
        raise DataError.at(where, line, "a number has thousands of digits; write it shorter") from None
    return value


def refuse_overflow(where: str, data: bytes, what: str) -> None:
    """An error for the first number in a JSON text that is beyond all floats; for whoever found an infinite value."""
    for found in OVERFLOW.finditer(data):
        problem = overflow_of(what, found[1].decode())
        if problem:
            raise DataError.at(where, data.count(b"\n", 0, found.start(1)) + 1, problem)


def json_lines(where: str, text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a JSONL text, each with its line."""
    # Only a line feed ends a line: JSON strings may hold the other characters that end lines elsewhere.
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield number, json_object(where, number, line)


def json_object(where: str, number: int, line: str) -> dict[str, Any]:
    """The object on a line of JSONL."""
    record = json_value(where, line, line=number)
    if not isinstance(record, dict):
        raise DataError.at(where, number, 'a line is not an object; write {"topic": …, "doc": …}')
    return record


class _Twice(ValueError):
    """A name that stands twice in an object."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise _Twice(name)
            seen.add(name)
    return made
