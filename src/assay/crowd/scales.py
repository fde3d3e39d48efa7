"""On which scale did the workers answer, and does every label lie on it?

Scales are values: binary, ordered categories, 0–100, magnitude estimation, preference pairs. Labels outside their scale
are refused with their lines; magnitudes are made comparable by geometric averaging.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from assay.core.arrays import Floats
from assay.core.errors import DataError, UsageError
from assay.data import Labels

SHORT_UNIT = 4


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
        """Ordered categories: their number, or their words from the lowest to the highest."""
        words = () if isinstance(levels, int) else tuple(levels)
        count = levels if isinstance(levels, int) else len(words)
        if count < 2 or len(set(words)) != len(words):
            raise UsageError(f"a scale needs two or more different levels, not {levels!r}")
        numbers = tuple(float(i) for i in range(count))
        return cls(name or f"S{count}", "categories", numbers, 0.0, float(count - 1), words)

    @classmethod
    def interval(cls, low: float, high: float, *, name: str = "") -> Scale:
        """Numbers from low to high; with whole limits the levels are the whole numbers between them."""
        if not low < high:
            raise UsageError(f"a scale from {low:g} to {high:g} is empty; write the lower limit first")
        whole = float(low).is_integer() and float(high).is_integer()
        levels = tuple(float(v) for v in range(int(low), int(high) + 1)) if whole else ()
        return cls(name or f"{low:g}-{high:g}", "interval", levels, float(low), float(high))

    def words(self) -> dict[str, float]:
        """Word → number, for a scale of words."""
        return dict(zip(self.names, self.levels, strict=False))

    def outside(self, label: Floats) -> npt.NDArray[np.bool_]:
        """Which labels are not on the scale. An interval scale takes any number between its limits."""
        if self.kind in ("categories", "preference"):
            return ~np.isin(label, self.levels)
        if self.kind == "ratio":
            return ~((label > 0) & np.isfinite(label))
        return ~((label >= self.low) & (label <= self.high))

    def checked(self, labels: Labels) -> Labels:
        """The labels if all lie on the scale, else an error that names the first line that does not."""
        bad = np.flatnonzero(self.outside(labels.label))
        if len(bad):
            line = None if labels.lines is None else int(labels.lines[bad[0]])
            what = f"label {labels.label[bad[0]]:g} is not on the scale {self.name} ({self.described()})"
            raise DataError.at(labels.name, line, f"{what}; {len(bad)} such labels")
        return labels

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

    def alpha_level(self) -> str:
        """The level of measurement at which Krippendorff's α of this scale is taken."""
        return {"interval": "interval", "ratio": "ratio"}.get(
            self.kind, "nominal" if len(self.levels) == 2 else "ordinal"
        )


S2 = Scale.ordered(("no", "yes"), name="S2")
S4 = Scale.ordered(("N", "M", "R", "H"), name="S4")
S100 = Scale.interval(0, 100, name="S100")
MAGNITUDE = Scale("magnitude", "ratio")
PREFERENCE = Scale("preference", "preference", (0.0, 0.5, 1.0), 0.0, 1.0, ("other", "tie", "this"))
NAMED = {s.name.lower(): s for s in (S2, S4, S100, MAGNITUDE, PREFERENCE)}


def scale_of(text: str) -> Scale:
    """The scale that a text names: S2, S4, S100, magnitude, preference, `0-5`, `6` (levels 0–5) or `no<maybe<yes`.

    >>> [scale_of(t).described() for t in ("s100", "3", "0-5", "no<maybe<yes")]
    ['0 to 100', '0 < 1 < 2', '0 to 5', 'no < maybe < yes']
    """
    known = NAMED.get(text.strip().lower())
    if known is not None:
        return known
    if "<" in text:
        return Scale.ordered([w.strip() for w in text.split("<")])
    if text.strip().isdecimal():
        return Scale.ordered(int(text))
    low, _, high = text.partition("-")
    try:
        return Scale.interval(float(low), float(high))
    except ValueError:
        names = ", ".join(s.name for s in NAMED.values())
        raise UsageError(f"no scale {text!r}; known: {names}, a number of levels, low-high, or word<word") from None


def scale_in(labels: Labels) -> Scale:
    """The scale that the labels look like: whole numbers 0…k with k < 20 are categories, otherwise 0–100 or ratio.

    A guess, for a person who did not say; the tables name it.

    >>> scale_in(Labels.from_rows([("1", "a", "w", 0), ("1", "b", "w", 1)])).name
    'S2'
    """
    if not len(labels):
        raise DataError(f"{labels.name}: there are no labels")
    low, high = float(labels.label.min()), float(labels.label.max())
    whole = bool((labels.label == np.floor(labels.label)).all())
    if whole and low >= 0 and high < 20:
        return S2 if high <= 1 else S4 if high == 3 else Scale.ordered(int(high) + 1)
    if low >= 0 and high <= 100:
        return S100
    raise UsageError(f"{labels.name}: labels from {low:g} to {high:g} fit no usual scale; say which it is (--scale)")


def comparable_magnitudes(labels: Labels, *, task: npt.NDArray[np.int64] | None = None) -> Labels:
    """Magnitudes with each worker's own modulus taken out: geometric averaging within a topic.

    log s' = log s − mean log s of the unit (one worker, one topic) + mean log s of the topic. Units of fewer than four
    docs lose true differences with their mean: `short_units` names them. Zero or negative labels are an error.
    Turpin et al. 2015; Maddalena et al. 2017.

    >>> rows = [("t", "a", "1", 10), ("t", "b", "1", 100), ("t", "a", "2", 1), ("t", "b", "2", 10)]
    >>> comparable_magnitudes(Labels.from_rows(rows)).label.round(3).tolist()
    [3.162, 31.623, 3.162, 31.623]
    """
    MAGNITUDE.checked(labels)
    unit = units(labels) if task is None else task
    logs = np.log(labels.label)
    moved = logs - _group_mean(unit, logs) + _group_mean(labels.topic, logs)
    return replace(labels, label=np.exp(moved))


def units(labels: Labels) -> npt.NDArray[np.int64]:
    """Each row's (topic, worker) as a number: the task units of a file without a task column."""
    key = labels.topic * len(labels.workers) + labels.worker
    return np.unique(key, return_inverse=True)[1].astype(np.int64)


def short_units(labels: Labels) -> int:
    """How many (topic, worker) units hold fewer than four docs."""
    return int((np.bincount(units(labels)) < SHORT_UNIT).sum())


def _group_mean(group: npt.NDArray[np.int64], values: Floats) -> Floats:
    return (np.bincount(group, values) / np.maximum(1, np.bincount(group)))[group]
