"""On which scale did the workers answer, does every label lie on it, and at which level is it measured?

Scales are values: binary, ordered categories, 0–100, magnitude estimation, preference pairs. Labels outside their scale
are refused with their lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from assay.core.arrays import Bools, Floats
from assay.core.errors import DataError, UsageError
from assay.data import Labels
from assay.data.labels import number_in

Level = Literal["nominal", "ordinal", "interval", "ratio"]
LEVELS: tuple[Level, ...] = ("nominal", "ordinal", "interval", "ratio")
LARGEST = 1e100
"""Labels and seconds up to this size can be squared and added up; a larger one is a mistake in the file."""
MOST_LEVELS = 10_000
"""Levels that are listed one by one; a longer scale is a range of numbers."""


@dataclass(frozen=True)
class Scale:
    """A judgment scale: its name, its kind and its levels or limits.

    kind: `categories` (ordered levels 0, 1, …), `interval` (numbers from low to high), `ratio` (numbers above 0),
    `preference` (0 = the other doc, 1 = this doc, .5 = a tie).

    >>> S4.levels, S4.words()
    ((0.0, 1.0, 2.0, 3.0), {'N': 0.0, 'M': 1.0, 'R': 2.0, 'H': 3.0})
    >>> S100.outside(np.array([0, 50, 101])).tolist()
    [False, False, True]
    """

    name: str
    kind: str
    levels: tuple[float, ...] = ()
    low: float = 0.0
    high: float = np.inf
    names: tuple[str, ...] = ()

    @classmethod
    def ordered(cls, levels: int | Sequence[str], *, name: str = "") -> Scale:
        """Ordered categories: their number, or their words from the lowest to the highest.

        Words that are numbers are levels as they are, so that a label 1 and a label 1.0 are one level; other words
        are the levels 0, 1, …

        >>> Scale.ordered(["1", "2", "3"]).levels, Scale.ordered(["no", "maybe", "yes"]).levels
        ((1.0, 2.0, 3.0), (0.0, 1.0, 2.0))
        """
        if isinstance(levels, int):
            words: tuple[str, ...] = ()
            count = levels
        else:
            words = tuple(levels)
            count = len(words)
        if count < 2 or len(set(words)) != len(words):
            raise UsageError(f"a scale needs two or more different levels, not {levels!r}")
        if count > MOST_LEVELS:
            raise UsageError(f"a scale of {count} levels is too fine; write it as a range, 0-{count - 1}")
        numbers = _numbers_of(words)
        if numbers is not None:
            return cls(name or "<".join(f"{number:g}" for number in numbers), "categories", numbers, *_ends(numbers))
        numbers = tuple(float(i) for i in range(count))
        return cls(name or f"S{count}", "categories", numbers, *_ends(numbers), words)

    @classmethod
    def interval(cls, low: float, high: float, *, name: str = "") -> Scale:
        """Numbers from low to high; with whole limits the levels are the whole numbers between them."""
        low = float(low)
        high = float(high)
        if not low < high:
            raise UsageError(f"a scale from {low:g} to {high:g} holds no numbers; write the lower limit first")
        if max(abs(low), abs(high)) > LARGEST:
            raise UsageError(f"a scale from {low:g} to {high:g} is too long; its limits must lie within ±{LARGEST:g}")
        levels: tuple[float, ...] = ()
        whole = low.is_integer() and high.is_integer()
        if whole and high - low < MOST_LEVELS:
            levels = tuple(float(level) for level in range(int(low), int(high) + 1))
        return cls(name or f"{low:g}-{high:g}", "interval", levels, low, high)

    def words(self) -> dict[str, float]:
        """Word → number, for a scale of words."""
        return dict(zip(self.names, self.levels, strict=False))

    def titles(self) -> tuple[str, ...]:
        """The levels as somebody who judges reads them; nothing for a scale of numbers.

        >>> S4.titles()
        ('not relevant', 'marginally relevant', 'relevant', 'highly relevant')
        """
        return TITLES_OF_S4 if self.names == S4.names else self.names

    def outside(self, label: Floats) -> Bools:
        """Which labels are not on the scale. An interval scale takes any number between its limits."""
        if self.kind in ("categories", "preference"):
            return ~np.isin(label, self.levels)
        if self.kind == "ratio":
            return ~((label > 0) & np.isfinite(label))
        return ~((label >= self.low) & (label <= self.high))

    def checked(self, labels: Labels) -> Labels:
        """The labels if all lie on the scale, else an error that names the first line that does not."""
        bad = np.flatnonzero(self.outside(labels.label))
        if not len(bad):
            return labels
        first = bad[0]
        line = None if labels.lines is None else int(labels.lines[first])
        what = f"label {labels.label[first]:g} is not on the scale {self.name} ({self.described()})"
        raise DataError.at(labels.name, line, f"{what}; {len(bad)} such labels{_advice(self, labels.label)}")

    def described(self) -> str:
        """The levels or limits in words.

        >>> S2.described(), S100.described(), MAGNITUDE.described()
        ('no < yes', '0 to 100', 'above 0')
        """
        if self.kind == "ratio":
            return "above 0"
        if self.kind == "interval":
            return f"{self.low:g} to {self.high:g}"
        return " < ".join(self.names or [f"{v:g}" for v in self.levels])

    @property
    def relevant_from(self) -> float:
        """The label from which on a doc is relevant if nobody says: the second level, or the middle of a range.

        >>> S4.relevant_from, Scale.ordered(["1", "2", "3"]).relevant_from, S100.relevant_from
        (1.0, 2.0, 50.0)
        """
        if self.kind == "interval":
            return (self.low + self.high) / 2
        return self.levels[1] if self.kind == "categories" else 1.0

    @property
    def width(self) -> float:
        """From the lowest to the highest label; infinite for magnitudes."""
        return self.high - self.low


def _numbers_of(words: Sequence[str]) -> tuple[float, ...] | None:
    """The levels of words that are all numbers; None for words. A mixture, or numbers that do not rise, is an error."""
    numbers = [number_in(word) for word in words]
    known = [number for number in numbers if number is not None]
    if not known:
        return None
    text = "<".join(words)
    if len(known) < len(words):
        raise UsageError(f"a scale {text} of words and numbers; write either, and give words their numbers (--grades)")
    if (np.diff(known) <= 0).any():
        raise UsageError(f"a scale {text} whose numbers do not rise; give them grades that do, e.g. --grades 1=3")
    return tuple(known)


def _ends(levels: tuple[float, ...]) -> tuple[float, float]:
    return levels[0], levels[-1]


def _advice(scale: Scale, label: Floats) -> str:
    """How the scale is written on which labels of a few whole numbers lie, where it is not the one that was named."""
    whole = bool((label == np.floor(label)).all())
    low, high = float(label.min()), float(label.max())
    if scale.kind != "categories" or not whole or not 1 <= high - low < MOST_USUAL:
        return ""
    fitting = "<".join(f"{level:g}" for level in range(int(low), int(high) + 1))
    return f"; whole numbers from {low:g} to {high:g} are the scale {fitting}"


MOST_USUAL = 20
"""Whole numbers from 0 to below this look like categories."""
S2 = Scale.ordered(("no", "yes"), name="S2")
S4 = Scale.ordered(("N", "M", "R", "H"), name="S4")
TITLES_OF_S4 = ("not relevant", "marginally relevant", "relevant", "highly relevant")
"""What its letters stand for."""
S100 = Scale.interval(0, 100, name="S100")
MAGNITUDE = Scale("magnitude", "ratio")
PREFERENCE = Scale("preference", "preference", (0.0, 0.5, 1.0), 0.0, 1.0, ("other", "tie", "this"))
NAMED = {s.name.lower(): s for s in (S2, S4, S100, MAGNITUDE, PREFERENCE)}
NAMES = tuple(s.name for s in NAMED.values())
"""The scales that have a name of their own."""


def default_level(scale: Scale) -> Level:
    """The level of measurement at which α of labels on this scale is taken, wherever nobody says otherwise.

    Two levels are nominal (all levels of measurement agree on them), graded relevance is ordinal, numbers between two
    limits are interval, magnitudes are ratio. Krippendorff 2004, ch. 11.

    >>> [default_level(s) for s in (S2, S4, S100, MAGNITUDE)]
    ['nominal', 'ordinal', 'interval', 'ratio']
    """
    if scale.kind == "interval":
        return "interval"
    if scale.kind == "ratio":
        return "ratio"
    return "nominal" if len(scale.levels) == 2 else "ordinal"


def checked_level(level: str) -> None:
    """An error unless α knows the level."""
    if level not in LEVELS:
        raise UsageError(f"α has no level {level!r}; known: {', '.join(LEVELS)}")


def scale_of(text: str) -> Scale:
    """The scale that a text names: S2, S4, S100, magnitude, preference, `0-5`, `6` (levels 0–5), `1<2<3`, `no<yes`.

    >>> [scale_of(t).described() for t in ("s100", "3", "0-5", "no<maybe<yes", "1<2<3")]
    ['0 to 100', '0 < 1 < 2', '0 to 5', 'no < maybe < yes', '1 < 2 < 3']
    """
    known = NAMED.get(text.strip().lower())
    if known is not None:
        return known
    if "<" in text:
        return Scale.ordered([w.strip() for w in text.split("<")])
    count = text.strip().lower().removeprefix("s")
    if count.isdecimal():
        return Scale.ordered(int(count))
    low, _, high = text.partition("-")
    try:
        limits = float(low), float(high)
    except ValueError:
        names = ", ".join(s.name for s in NAMED.values())
        raise UsageError(f"no scale {text!r}; known: {names}, a number of levels, low-high, or word<word") from None
    return Scale.interval(*limits)


def given_scale(scale: Scale | str | None) -> Scale | None:
    """The scale that a person gives, by itself or by its name; None where nobody gave one.

    >>> given_scale("S100") == S100, given_scale(S4) == S4, given_scale(None)
    (True, True, None)
    """
    if scale is None or isinstance(scale, Scale):
        return scale
    if isinstance(scale, str):
        return scale_of(scale)
    kind = type(scale).__name__
    raise UsageError(f"{kind} where a scale is expected ({scale!r}); give its name, e.g. 'S4' or '0-100', or a Scale")


def scale_for(labels: Labels, scale: Scale | str | None) -> Scale:
    """The scale that a person gives, by itself or by its name, or else the one that the labels look like."""
    return given_scale(scale) or scale_in(labels)


def scale_in(labels: Labels) -> Scale:
    """The scale that the labels look like: whole numbers 0…k with k < 20 are categories, otherwise 0–100.

    A guess, for a person who did not say; the tables name it. Labels that look like none are an error.

    >>> scale_in(Labels.from_rows([("1", "a", "w", 0), ("1", "b", "w", 1)])).name
    'S2'
    """
    if not len(labels):
        raise DataError(f"{labels.name}: there are no labels")
    found = usual_scale(labels.label)
    if found is None:
        low, high = labels.label.min(), labels.label.max()
        raise UsageError(
            f"{labels.name}: labels from {low:g} to {high:g} fit no usual scale; say which it is (--scale)"
        )
    return found


def usual_scale(values: Floats) -> Scale | None:
    """The scale that numbers look like, None if they look like none of the usual ones."""
    low = float(values.min(initial=np.inf))
    high = float(values.max(initial=-np.inf))
    whole = bool((values == np.floor(values)).all())
    if whole and low >= 0 and high < MOST_USUAL:
        if high <= 1:
            return S2
        if high == 3:
            return S4
        return Scale.ordered(int(high) + 1)
    if low >= 0 and high <= 100:
        return S100
    return None


def scale_seen(values: Floats) -> Scale:
    """The usual scale of these numbers or, where there is none, the numbers from the lowest to the highest of them.

    For agreement, which needs a level of measurement and no limits.
    """
    usual = usual_scale(values)
    if usual is not None:
        return usual
    low = float(values.min(initial=0))
    high = float(values.max(initial=0))
    return Scale("numbers", "interval", (), low, high)


def without_exponent(values: Floats) -> Floats:
    """The values divided by a power of two, so that the largest is about 1 and no square of them overflows.

    The division is exact, and κ and α do not depend on the unit of the labels.

    >>> without_exponent(np.array([0.0, 3.0])).tolist()
    [0.0, 0.75]
    """
    _, exponent = np.frexp(np.abs(values).max(initial=0.0))
    return np.ldexp(values, -exponent)
