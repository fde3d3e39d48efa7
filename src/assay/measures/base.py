"""Measure: a name and parameters, written `nDCG@10`, `AP(rel=2)@100`, `RBP(p=0.8)`; and the registry they come from.

A registered function takes Grades and returns one score per topic. Forms build new measures from any of them:
`X'` on the condensed list, `median(X)`, `geometric(X)` instead of the mean; the intent-aware forms are in `diversity`.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.core.errors import UsageError
from assay.core.registry import Entry, Registry, parse_call
from assay.data.grades import Grades
from assay.measures.trec_names import our_name

Scores = npt.NDArray[np.float64]

MEASURES: Registry[Callable[..., Scores]] = Registry("measure")
"""Every measure; facts: paper, linear (in the gains of its ranks), range, breaks (laws it does not keep), needs."""

measure = MEASURES.register

AGGREGATES = ("mean", "median", "geometric", "sum")


@dataclass(frozen=True)
class Measure:
    """One measure with its parameters. Hashable; `parse(str(m)) == m`.

    >>> m = parse("AP(rel=2)@100")
    >>> m.name, dict(m.parameters), str(m)
    ('AP', {'k': 100, 'rel': 2}, 'AP(rel=2)@100')
    """

    name: str
    parameters: tuple[tuple[str, Any], ...] = ()
    condensed: bool = False
    aggregate: str = "mean"
    form: str = ""
    """Intent-aware form: D, D#, DIN, DIN#, IA, or none."""

    def __str__(self) -> str:
        given = dict(self.parameters)
        k = given.pop("k", None)
        inside = ",".join(f"{key}={_written(value)}" for key, value in given.items())
        head = self.name if self.form in ("", "IA") else f"{self.form}-{self.name}"
        tail = "-IA" if self.form == "IA" else ""
        text = head + tail + ("'" if self.condensed else "") + (f"({inside})" if inside else "")
        text += "" if k is None else f"@{k}"
        return text if self.aggregate == _aggregate(self.entry) else f"{self.aggregate}({text})"

    def in_full(self) -> Measure:
        """The same measure with the defaults of its own parameters written out; cutoff, rel and gain aside.

        >>> str(parse("RBP").in_full())
        'RBP(p=0.8)'
        """
        given = dict(self.parameters)
        known = {k: given.get(k, v) for k, v in self.entry.parameters.items()}
        shown = {k: v for k, v in known.items() if k in given or (v is not None and k not in ("k", "rel", "gain"))}
        return replace(self, parameters=tuple(shown.items()))

    @property
    def entry(self) -> Entry[Callable[..., Scores]]:
        """What the registry knows of it."""
        return MEASURES[self.name]

    def __call__(self, g: Grades) -> Scores:
        """One score per topic."""
        if self.form or self.entry.facts.get("needs") == "intents":
            raise UsageError(f"{self} needs judgments by intent; give them instead of plain qrels")
        seen = g.condensed() if self.condensed else g
        return self.entry.function(seen, **dict(self.parameters))

    def average(self, scores: npt.NDArray[np.float64]) -> float:
        """Scores over the topics in one number: mean, median, geometric mean (floor 1e-5, as in trec_eval) or sum."""
        if not len(scores):
            return 0.0
        if self.aggregate == "median":
            return float(np.median(scores))
        if self.aggregate == "geometric":
            return float(np.exp(np.log(np.maximum(scores, 1e-5)).mean()))
        return float(scores.sum() if self.aggregate == "sum" else scores.mean())

    @property
    def k(self) -> int | None:
        """The cutoff, if it has one."""
        return dict(self.parameters).get("k")


def parse(text: str) -> Measure:
    """The measure that a text names, in our way of writing or by trec_eval's name.

    >>> parse("median(nDCG@10)").aggregate, parse("AP'").condensed, str(parse("ndcg_cut_10"))
    ('median', True, 'nDCG@10')
    """
    text = text.strip()
    wrapped = re.fullmatch(r"(mean|median|geometric|sum)\((.*)\)", text)
    if wrapped:
        inner = parse(wrapped[2])
        return Measure(inner.name, inner.parameters, inner.condensed, wrapped[1], inner.form)
    theirs = our_name(text)
    if theirs is not None and text not in MEASURES:
        return parse(theirs)
    body, k = _cutoff(text)
    name, given = parse_call(body)
    if k is not None and "k" in given:
        raise UsageError(f"{text!r}: the cutoff is given twice; write {name}@{k}")
    condensed = name.endswith("'")
    name, form = _form(name.removesuffix("'"))
    entry = MEASURES[name]
    given = entry.checked(given if k is None else given | {"k": k})
    ordered = tuple((key, _checked(entry, key, given[key])) for key in entry.parameters if key in given)
    kept = tuple((key, value) for key, value in ordered if value != entry.parameters[key])
    _required(entry, dict(kept))
    return Measure(name, kept, condensed, _aggregate(entry), form)


def parse_many(text: str) -> list[Measure]:
    """Measures from a text, parted by blanks or commas outside brackets.

    >>> [str(m) for m in parse_many("AP, nDCG@10 RBP(p=0.5,gain=exp)")]
    ['AP', 'nDCG@10', 'RBP(p=0.5,gain=exp)']
    """
    one = r"(?:[^\s,()]|\([^()]*(?:\([^()]*\)[^()]*)*\))+"
    if re.sub(one, "", text).strip(", \t\n"):
        raise UsageError(f"{text!r}: the brackets do not match; write measures as in 'AP(rel=2)@100 RBP(p=0.8)'")
    return [parse(p) for p in re.findall(one, text)]


def _cutoff(text: str) -> tuple[str, int | None]:
    found = re.fullmatch(r"(.*)@([^@()]*)", text)
    if not found:
        return text, None
    if not found[2].isdecimal() or int(found[2]) < 1:
        raise UsageError(f"{text!r}: the cutoff after @ must be a whole number from 1, not {found[2]!r}")
    return found[1], int(found[2])


def _form(name: str) -> tuple[str, str]:
    """A name without its intent-aware form, and the form."""
    if name in MEASURES:
        return name, ""
    for form in ("DIN#", "DIN", "D#", "D"):
        if name.startswith(f"{form}-") and name.removeprefix(f"{form}-") in MEASURES:
            return name.removeprefix(f"{form}-"), form
    if name.endswith("-IA") and name.removesuffix("-IA") in MEASURES:
        return name.removesuffix("-IA"), "IA"
    return name, ""


LIMITS: dict[str, tuple[Callable[[float], bool], str]] = {
    "k": (lambda x: x >= 1, "at least 1"),
    "p": (lambda x: 0 < x < 1, "between 0 and 1"),
    "alpha": (lambda x: 0 <= x <= 1, "from 0 to 1"),
    "gamma": (lambda x: 0 <= x <= 1, "from 0 to 1"),
    "recall": (lambda x: 0 <= x <= 1, "from 0 to 1"),
    "beta": (lambda x: x >= 0, "at least 0"),
    "x": (lambda x: x >= 0, "at least 0"),
    "times": (lambda x: x > 0, "above 0"),
    "halflife": (lambda x: x > 0, "above 0"),
    "L": (lambda x: x > 0, "above 0"),
    "top": (lambda x: x >= 1, "at least 1"),
    "floor": (lambda x: 0 < x < 0.5, "above 0 and below 0.5"),
}
"""What the parameters of a name may be, whatever measure has them."""


def _checked(entry: Entry[Callable[..., Scores]], key: str, value: Any) -> Any:
    """A parameter's value, within the limits of its name; a number where a word is wanted is written as one."""
    inside, words = LIMITS.get(key, (None, ""))
    if inside is not None and value is not None and not inside(value):
        raise UsageError(f"{entry.name}: {key} must be {words}, not {value}")
    return _written(value) if "str" in entry.kinds(key) and not isinstance(value, str) else value


def _aggregate(entry: Entry[Callable[..., Scores]]) -> str:
    """How topics become one number, unless a person says otherwise: counts are summed, everything else is averaged."""
    return str(entry.facts.get("aggregate", "mean"))


def _required(entry: Entry[Callable[..., Scores]], given: dict[str, Any]) -> None:
    for key, default in entry.parameters.items():
        if default is inspect.Parameter.empty and key not in given:
            how = f"{entry.name}@10" if key == "k" else f"{entry.name}({key}=…)"
            raise UsageError(f"{entry.name} needs {key}; write {how}")


def _written(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return str(value).lower()
    return repr(value) if isinstance(value, float) else str(value)


def ratio(numerator: npt.ArrayLike, denominator: npt.ArrayLike) -> Scores:
    """numerator / denominator, 0 where the denominator is 0.

    >>> ratio([1.0, 2.0], [2.0, 0.0]).tolist()
    [0.5, 0.0]
    """
    over, under = np.broadcast_arrays(np.asarray(numerator, np.float64), np.asarray(denominator, np.float64))
    return np.divide(over, under, out=np.zeros(over.shape), where=under != 0)


def in_order(values: npt.NDArray[np.float64]) -> Scores:
    """Row sums, added from the first rank on as trec_eval does, so that even the last digit rounds as it does there.

    >>> in_order(np.array([[0.1, 0.2, 0.3]])).tolist()
    [0.6000000000000001]
    """
    return values.cumsum(axis=1)[:, -1] if values.shape[1] else np.zeros(len(values))
