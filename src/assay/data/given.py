"""What a person hands over in Python, ids and numbers: read as they are meant, or refused with one line."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Floats
from assay.core.errors import DataError, UsageError

LARGEST_GRADE = 2**31 - 1
T = TypeVar("T", bound=str | int)
D = TypeVar("D", bound=str | int)
"""Ids of topics and of docs as a person gives them."""
Q = TypeVar("Q")
"""Judgments, plain or by intent."""


def id_texts(values: Iterable[object], what: str, where: str) -> list[str]:
    """Ids as strings; whole numbers are read as their decimal digits.

    >>> id_texts(["a", 7], "doc", "bm25")
    ['a', '7']
    """
    ids = list(values)
    if not set(map(type, ids)) <= {str}:
        ids = [_id_text(value, what, where) for value in ids]
    texts: list[str] = ids  # type: ignore[assignment]
    if "" in texts:
        raise DataError(f"{where}: the id of a {what} is empty; every {what} needs one")
    try:
        "".join(texts).encode()
    except UnicodeEncodeError as error:
        raise DataError(f"{where}: the id of a {what} is not valid Unicode ({error.reason}); write it anew") from None
    return texts


def _id_text(value: object, what: str, where: str) -> str:
    if isinstance(value, str):
        return str(value)
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return str(int(value))
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            raise DataError(f"{where}: the id of a {what} is {value!r}, which is not UTF-8; decode it first") from None
    kind = type(value).__name__
    raise DataError(f"{where}: the id of a {what} is {value!r} ({kind}); give a string or a whole number")


def numbers(values: Iterable[object], what: str, where: str) -> Floats:
    """Numbers as 64-bit floats; text, None and NaN are refused."""
    listed: list[Any] = list(values)
    if not set(map(type, listed)) <= {float, int}:
        listed = [_number(value, what, where) for value in listed]
    try:
        found = np.array(listed, dtype=np.float64)
    except OverflowError:
        raise DataError(f"{where}: a {what} is too large for a 64-bit float") from None
    if np.isnan(found).any():
        raise DataError(f"{where}: a {what} is not a number (nan); every doc needs one")
    return found


def _number(value: Any, what: str, where: str) -> float:
    if not isinstance(value, str | bytes):
        try:
            return float(value)
        except (TypeError, ValueError, OverflowError):
            pass
    raise DataError(f"{where}: a {what} is {value!r} ({type(value).__name__}), not a number; give a number")


def binary_grades(grades: npt.NDArray[Any], rel: float) -> npt.NDArray[Any]:
    """1 from a grade on, 0 below it; a negative grade stays what it is, pooled and not judged.

    >>> binary_grades(np.array([3, 1, 0, -1]), 2).tolist()
    [1, 0, 0, -1]
    """
    if not rel > 0:
        raise UsageError(f"the lowest relevant grade of binary judgments must be above 0, not {rel:g}")
    relevant = np.asarray(grades >= rel, dtype=grades.dtype)
    return np.where(grades >= 0, relevant, grades)


def already_binary(judgments: Q, known: float, rel: float) -> Q:
    """Judgments that are binary from a grade on, if that is what is asked for; else an error."""
    if rel == known:
        return judgments
    raise UsageError(
        f"these judgments are binary from grade {known:g} on already; make them binary once, not from {rel:g}"
    )


def as_grades(values: npt.NDArray[Any], where: str) -> npt.NDArray[Any]:
    """Grades as whole numbers where all are whole, else as 64-bit floats: a fraction is never cut.

    >>> as_grades(np.array([2.0, 1.0]), "qrels"), as_grades(np.array([0.7, 1.0]), "qrels")
    (array([2, 1]), array([0.7, 1. ]))
    """
    if values.dtype.kind not in "iufb":
        raise DataError(f"{where}: grades are {values.dtype}, not numbers; give whole numbers or fractions")
    if values.dtype.kind == "f":
        finite = np.isfinite(values)
        if not finite.all():
            raise DataError(f"{where}: a grade is {values[~finite].flat[0]}; every judged doc needs a number")
    largest = max(abs(float(values.max(initial=0))), abs(float(values.min(initial=0))))
    if largest > LARGEST_GRADE:
        raise DataError(f"{where}: a grade is too large ({largest:g}); grades are at most {LARGEST_GRADE} in size")
    whole = values.dtype.kind != "f" or bool((values == np.floor(values)).all())
    return values.astype(np.int64 if whole else np.float64, copy=False)


def small_grades(grades: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Whole grades in 32 bits, which is half the memory; fractions as they are."""
    return grades.astype(np.int32) if grades.dtype.kind == "i" else grades


def refuse_twice(names: Iterable[str], what: str, where: str) -> None:
    """An error if a name is there twice, e.g. as the number 1 and as the text "1"."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise DataError(f"{where}: {what} {name!r} is there twice; keep one")
        seen.add(name)
