"""Measure: a name and parameters, written `nDCG@10`, `AP(rel=2)@100`, `RBP(p=0.8)`; and the registry they come from.

A registered function takes Grades and returns one score per topic. Forms build new measures from any of them:
`X'` on the condensed list, `median(X)`, `geometric(X)`, `harmonic(X)` instead of the mean; those for intents are in
`intent_aware`.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from assay.core.arrays import Floats
from assay.core.errors import UsageError
from assay.core.lazy import np
from assay.core.registry import Entry, Registry, parse_call, refuse_long
from assay.data.averages import AGGREGATES, averaged
from assay.data.grades import Grades

if TYPE_CHECKING:
    import numpy.typing as npt

Scores = Floats

MEASURES: Registry[Callable[..., Scores]] = Registry("measure")
"""Every measure. Facts that may be declared beside one:

paper; linear (in the gains of its ranks); range (unit, nonneg, count, any); breaks (laws it does not keep); needs
(lengths, inclusion, intents); aggregate (how topics become one number); lower_is_better; uses_top (it depends on the
top grade of the scale); bounded (more gain at a rank never lowers it, and nothing else that is judged matters);
unsure (why judging more can move it either way, where it is not for the sake of R or of the ideal list); caution (how
far its estimates from sampled judgments are off: printed with its explanation and below tables of such scores).
"""

MeasureFunction = Callable[..., Scores]


def measure(name: str, **facts: Any) -> Callable[[MeasureFunction], MeasureFunction]:
    """Decorator: a measure of your own, under this name for `evaluate`, the command line and everything else.

    The function takes Grades and returns one score per topic; its keyword-only parameters can be set by name. facts:
    what is declared beside it, see MEASURES.

    >>> from assay.data import Qrels, Run, align
    >>> @measure("FirstHit", bounded=True)
    ... def first_hit(g: Grades, *, rel: float = 1) -> Scores:
    ...     return g.hits(rel, 1).sum(axis=1).astype(float)
    >>> g = align(Run.from_lists("r", {"1": ["a", "b"]}), Qrels.from_dict({"1": {"a": 2}}))
    >>> parse("FirstHit(rel=2)")(g).tolist()
    [1.0]
    >>> MEASURES.remove("FirstHit")
    """
    return MEASURES.register(name, **facts)


FORMS = ("", "D", "D#", "DIN", "DIN#", "IA")


@dataclass(frozen=True)
class Measure:
    """One measure with its parameters. Hashable; `parse(str(m)) == m`, however it was made.

    Parameters are kept in the order of the measure's signature, and those that have their default value are left out.

    >>> m = parse("AP(rel=2)@100")
    >>> m.name, dict(m.parameters), str(m)
    ('AP', {'k': 100, 'rel': 2}, 'AP(rel=2)@100')
    >>> Measure("F", (("beta", 2), ("rel", 2.0), ("k", None))) == parse("F(rel=2,beta=2)")
    True
    """

    name: str
    parameters: tuple[tuple[str, Any], ...] = ()
    condensed: bool = False
    aggregate: str = "mean"
    form: str = ""
    """Intent-aware form: D, D#, DIN, DIN#, IA, or none."""

    def __post_init__(self) -> None:
        if self.aggregate not in AGGREGATES:
            raise UsageError(f"no aggregate {self.aggregate!r}; known: {', '.join(AGGREGATES)}")
        if self.form not in FORMS:
            raise UsageError(f"no form {self.form!r}; known: {', '.join(FORMS[1:])}")
        object.__setattr__(self, "parameters", _canonical(self.entry, dict(self.parameters)))

    def __str__(self) -> str:
        return self._text(dict(self.parameters))

    def with_rel(self, rel: float) -> Measure:
        """The measure with this lowest relevant grade, where it has such a parameter and does not set it itself.

        >>> str(parse("AP@100").with_rel(2)), str(parse("AP(rel=3)").with_rel(2)), str(parse("nDCG").with_rel(2))
        ('AP(rel=2)@100', 'AP(rel=3)', 'nDCG')
        """
        if "rel" not in self.entry.parameters or "rel" in dict(self.parameters):
            return self
        return replace(self, parameters=(*self.parameters, ("rel", rel)))

    @property
    def needs_rel(self) -> bool:
        """Whether it counts relevant docs, and does not say which grades are.

        >>> parse("AP").needs_rel, parse("AP(rel=2)").needs_rel, parse("nDCG@10").needs_rel
        (True, False, False)
        """
        return "rel" in self.entry.parameters and "rel" not in dict(self.parameters)

    @property
    def rel(self) -> float:
        """The lowest grade that it counts as relevant: as it says, else its default; 1 where it has none.

        >>> parse("AP(rel=2)").rel, parse("AP").rel, parse("nDCG@10").rel
        (2, 1, 1)
        """
        own = dict(self.parameters).get("rel", self.entry.parameters.get("rel"))
        return 1 if own is None else own

    @property
    def uses_lengths(self) -> bool:
        """Whether the words of docs matter: as the time or cost of reading them."""
        asks = self.entry.facts.get("needs") == "lengths"
        return asks or dict(self.parameters).get("cost", self.entry.parameters.get("cost")) == "lengths"

    def in_full(self) -> str:
        """The measure with the defaults of its own parameters written out; cutoff, rel and gain aside.

        >>> parse("RBP").in_full(), parse("median(RBP@5)").in_full(), parse("AP").in_full()
        ('RBP(p=0.8)', 'median(RBP(p=0.8)@5)', 'AP')
        """
        given = dict(self.parameters)
        shown = {}
        for key, default in self.entry.parameters.items():
            own = default is not None and key not in ("k", "rel", "gain")
            if key in given or own:
                shown[key] = given.get(key, default)
        return self._text(shown)

    def _text(self, parameters: dict[str, Any]) -> str:
        """The measure as it is written, with these parameters."""
        k = parameters.pop("k", None)
        inside = ",".join(f"{key}={_written(value)}" for key, value in parameters.items())
        text = f"{self.name}-IA" if self.form == "IA" else self.name
        if self.form not in ("", "IA"):
            text = f"{self.form}-{text}"
        if self.condensed:
            text += "'"
        if inside:
            text += f"({inside})"
        if k is not None:
            text += f"@{k}"
        return text if self.aggregate == _usual_aggregate(self.entry) else f"{self.aggregate}({text})"

    @property
    def entry(self) -> Entry[Callable[..., Scores]]:
        """What the registry knows of it."""
        return MEASURES[self.name]

    def __reduce__(self) -> tuple[Any, ...]:
        """A measure of one's own takes its function along to other processes, where nobody has registered it."""
        is_own = self.entry.function.__module__.partition(".")[0] != "assay"
        fields = (self.name, self.parameters, self.condensed, self.aggregate, self.form)
        return _received, (fields, self.entry if is_own else None)

    def __call__(self, g: Grades) -> Scores:
        """One score per topic."""
        if self.form or self.entry.facts.get("needs") == "intents":
            raise UsageError(f"{self} needs judgments by intent; give them instead of plain qrels")
        seen = g.condensed() if self.condensed else g
        return self.entry.function(seen, **dict(self.parameters))

    def average(self, scores: npt.NDArray[np.float64]) -> float:
        """Scores over the topics in one number: mean, median, geometric or harmonic mean (floor 1e-5) or sum."""
        return averaged(scores, self.aggregate)

    @property
    def k(self) -> int | None:
        """The cutoff, if it has one."""
        return dict(self.parameters).get("k")


def _received(fields: tuple[Any, ...], own: Entry[Callable[..., Scores]] | None) -> Measure:
    """A measure as another process sent it."""
    if own is not None:
        MEASURES.adopt(own)
    return Measure(*fields)


def parse(text: str) -> Measure:
    """The measure that a text names, in our way of writing or in that of another tool.

    >>> parse("median(nDCG@10)").aggregate, parse("AP'").condensed, str(parse("ndcg_cut_10")), str(parse("MRR@10"))
    ('median', True, 'nDCG@10', 'RR@10')
    """
    text = text.strip()
    refuse_long(text)
    wrapped = re.fullmatch(rf"({'|'.join(AGGREGATES)})\((.*)\)", text)
    if wrapped:
        return replace(parse(wrapped[2]), aggregate=wrapped[1])
    if not _is_plainly_ours(text):
        from assay.measures.translation import in_our_words

        ours = in_our_words(text, MEASURES)
        if ours is not None:
            return parse(ours)
    body, k = _cutoff(text)
    name, given = parse_call(body)
    if k is not None and "k" in given:
        raise UsageError(f"{text!r}: the cutoff is given twice; write {name}@{k}")
    if k is not None:
        given["k"] = k
    condensed = name.endswith("'")
    name, form = _form(name.removesuffix("'"))
    return Measure(name, tuple(given.items()), condensed, _usual_aggregate(MEASURES[name]), form)


def _is_plainly_ours(text: str) -> bool:
    """Whether it is a name of ours, with a cutoff at most: then the words of other tools need not be loaded."""
    name, _, k = text.partition("@")
    return name in MEASURES and (not k or (k.isdecimal() and "k" in MEASURES[name].parameters))


def parse_many(text: str) -> list[Measure]:
    """Measures from a text, separated by blanks or commas outside brackets.

    >>> [str(m) for m in parse_many("AP, nDCG@10 RBP(p=0.5,gain=exp)")]
    ['AP', 'nDCG@10', 'RBP(p=0.5,gain=exp)']
    """
    one = r"(?:[^\s,()]|\([^()]*(?:\([^()]*\)[^()]*)*\))+"
    if re.sub(one, "", text).strip(", \t\n"):
        refuse_long(text)
        raise UsageError(f"{text!r}: the brackets do not match; write measures as in 'AP(rel=2)@100 RBP(p=0.8)'")
    return [parse(p) for p in re.findall(one, text)]


def _cutoff(text: str) -> tuple[str, int | None]:
    """A text without its cutoff, and the cutoff."""
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


def _canonical(entry: Entry[Callable[..., Scores]], given: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    """Parameters that are checked, in the order of the signature, without those that have their default value."""
    checked = entry.checked(dict(given))
    kept = []
    for key, default in entry.parameters.items():
        if key in checked:
            value = _plain(entry, key, checked[key])
            if value != default:
                kept.append((key, value))
        elif default is inspect.Parameter.empty:
            how = f"{entry.name}@10" if key == "k" else f"{entry.name}({key}=…)"
            raise UsageError(f"{entry.name} needs {key}; write {how}")
    return tuple(kept)


def _plain(entry: Entry[Callable[..., Scores]], key: str, value: Any) -> Any:
    """A value in the one way in which it is written: words as words, and rel=2 rather than rel=2.0."""
    if "str" in entry.kinds(key) and not isinstance(value, str):
        return _written(value)
    whole = isinstance(value, float) and value.is_integer()
    return int(value) if whole and not isinstance(entry.parameters[key], float) else value


def _usual_aggregate(entry: Entry[Callable[..., Scores]]) -> str:
    """How topics become one number, unless a person says otherwise: counts are summed, everything else is averaged."""
    return str(entry.facts.get("aggregate", "mean"))


def _written(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return str(value).lower()
    return repr(value) if isinstance(value, float) else str(value)


def ratio(numerator: npt.ArrayLike, denominator: npt.ArrayLike) -> Scores:
    """numerator / denominator, 0 where the denominator is 0.

    >>> ratio([1.0, 2.0], [2.0, 0.0]).tolist()
    [0.5, 0.0]
    """
    over = np.asarray(numerator, np.float64)
    under = np.asarray(denominator, np.float64)
    shape = over.shape if over.shape == under.shape else np.broadcast_shapes(over.shape, under.shape)
    return np.divide(over, under, out=np.zeros(shape), where=under != 0)


def in_order(values: npt.NDArray[np.floating[Any]] | npt.NDArray[np.bool_]) -> Scores:
    """Row sums, added from the first rank on as trec_eval does, so that even the last digit rounds as it does there.

    Zeros past the end of a list change nothing, so that a topic has the same bits whatever lists stand beside it.

    >>> in_order(np.array([[0.1, 0.2, 0.3]])).tolist()
    [0.6000000000000001]
    """
    if not values.shape[1]:
        return np.zeros(len(values))
    if values.dtype == bool:  # counts are exact in any order
        return values.sum(axis=1).astype(np.float64)
    return values.cumsum(axis=1)[:, -1]
