"""Registry: name → callable with parameters.

Measures, tests, correlations, judging orders, estimators and aggregators are all found this way, and all are written
the same way on the command line: `name` or `name(key=value, key=value)`. What a name accepts comes from the signature.
"""

from __future__ import annotations

import functools
import inspect
import math
import re
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar, get_args

from assay.core.errors import UsageError

F = TypeVar("F", bound=Callable[..., Any])

KINDS = {"int": "a whole number", "float": "a number", "str": "a word", "bool": "true or false", "None": "none"}
"""The kinds of value that a text can write, in words."""

LARGEST = 1e15
"""No parameter of anything needs a number beyond; sums of squares of such would overflow."""
UNWRITTEN = re.compile(r"Progress|Mapping|Generator")
"""Kinds of value that a program passes, and no text can write."""
MOST_NAMES = 40
"""At most this many known names are listed in an error."""
LONGEST_TEXT = 2000
"""No name with its parameters is longer; a gain for each of a hundred grades takes a third of it."""


@dataclass(frozen=True)
class Within:
    """The limits of a number, written on the annotation of a parameter: `p: Annotated[float, Within(0, 1, open=True)]`.

    >>> 1 in Within(0, 1), 1 in Within(0, 1, open=True), str(Within(1)), str(Within(0, open=True)), str(Within(0, 1))
    (True, False, 'at least 1', 'above 0', 'from 0 to 1')
    """

    low: float
    high: float = math.inf
    open: bool = False
    """Whether the limits themselves are left out."""

    def __contains__(self, value: object) -> bool:
        if not isinstance(value, int | float):
            return False
        return self.low < value < self.high if self.open else self.low <= value <= self.high

    def __str__(self) -> str:
        if self.high == math.inf:
            return f"above {self.low:g}" if self.open else f"at least {self.low:g}"
        return f"between {self.low:g} and {self.high:g}" if self.open else f"from {self.low:g} to {self.high:g}"


@dataclass(frozen=True)
class Entry(Generic[F]):
    """One registered callable: its name, its keyword parameters with their defaults, and facts declared beside it."""

    name: str
    function: F
    parameters: dict[str, Any]
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def summary(self) -> str:
        """The first line of the docstring."""
        return inspect.cleandoc(self.function.__doc__ or "").partition("\n")[0]

    def checked(self, given: dict[str, Any]) -> dict[str, Any]:
        """`given` if every name in it is a parameter and every value of its kind, else an error that says which.

        Where a word is wanted, a number or `none` is one.
        """
        checked = {}
        for key, value in given.items():
            if key not in self.settable():
                known = ", ".join(self.settable()) or "none"
                raise UsageError(f"{self.name}: no parameter {key!r}; it takes: {known}")
            kinds = self.kinds(key)
            if not fits(value, kinds):
                raise UsageError(f"{self.name}: {key}={value!r} is not {' or '.join(KINDS[kind] for kind in kinds)}")
            if isinstance(value, int | float) and abs(value) > LARGEST:
                raise UsageError(f"{self.name}: {key}={value} is too large; give at most {LARGEST:g}")
            limits = self.limits(key)
            if limits is not None and isinstance(value, int | float) and value not in limits:
                raise UsageError(f"{self.name}: {key} must be {limits}, not {value}")
            is_word = kinds == ["str"] and not isinstance(value, str)
            checked[key] = written(value) if is_word else value
        return checked

    def settable(self) -> list[str]:
        """The parameters that a text can write: not those of the program, such as a progress bar or a table."""
        return [key for key in self.parameters if not UNWRITTEN.search(" ".join(self.kinds(key)))]

    def kinds(self, key: str) -> list[str]:
        """The kinds of value that a parameter takes, as its annotation names them, e.g. ["int", "None"]."""
        annotation = inspect.signature(self.function).parameters[key].annotation
        text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
        limited = re.fullmatch(r"(?:typing\.)?Annotated\[(.*?), (?:[a-z.]*\.)?Within\(.*\)\](.*)", text)
        text = limited[1] + limited[2] if limited else text
        return text.split(" | ")

    def limits(self, key: str) -> Within | None:
        """The limits that the annotation of a parameter sets, e.g. `Annotated[float, Within(0, 1)]`."""
        annotation = inspect.signature(self.function).parameters[key].annotation
        if isinstance(annotation, str):
            if "Within(" not in annotation:
                return None
            annotation = eval(annotation, {**vars(sys.modules[self.function.__module__]), "Within": Within})
        parts = [annotation, *get_args(annotation)]
        marks = [mark for part in parts for mark in getattr(part, "__metadata__", ())]
        return next((mark for mark in marks if isinstance(mark, Within)), None)


class Registry(Generic[F]):
    """Names of one kind of thing (`kind` is used in messages), in the order of registration."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._entries: dict[str, Entry[F]] = {}

    def register(self, name: str, **facts: Any) -> Callable[[F], F]:
        """Decorator: register a function whose keyword-only parameters are what a user may set."""

        def add(function: F) -> F:
            if name in self._entries:
                raise UsageError(f"{self.kind} {name!r} is registered twice")
            self._entries[name] = Entry(name, function, keyword_parameters(function), facts)
            return function

        return add

    def adopt(self, entry: Entry[F]) -> None:
        """Take in an entry that was registered in another process, in place of an earlier one of that name."""
        self._entries[entry.name] = entry

    def remove(self, name: str) -> None:
        """Forget a name, as a notebook does that defines its function anew."""
        del self._entries[self[name].name]

    def __getitem__(self, name: str) -> Entry[F]:
        try:
            return self._entries[name]
        except KeyError:
            raise UsageError(f"no {self.kind} {name!r}{did_you_mean(name, self._entries)}") from None

    def parse(self, text: str) -> tuple[Entry[F], dict[str, Any]]:
        """The entry and the parameters that a text such as `hedge(beta=0.1)` names."""
        name, given = parse_call(text)
        entry = self[name]
        return entry, entry.checked(given)

    def entry(self, text: str) -> Entry[F]:
        """The entry that a text names; an error where the name or a parameter in its brackets does not exist.

        >>> shapes = Registry("shape")
        >>> @shapes.register("scaled", kind="number")
        ... def scaled(x: float, *, by: float = 2.0) -> float: return x * by
        >>> shapes.entry("scaled(by=5)").facts["kind"]
        'number'
        """
        entry, _ = self.parse(text)
        return entry

    def given(self, text: str) -> dict[str, Any]:
        """The parameters that a text sets in its brackets."""
        _, given = self.parse(text)
        return given

    def bound(self, text: str, **common: Any) -> Callable[..., Any]:
        """The named function with what the text sets, for who calls it many times; `common` as in `call`."""
        entry, given = self.parse(text)
        fitting = {key: value for key, value in common.items() if key in entry.parameters}
        return functools.partial(entry.function, **(fitting | given))

    def call(self, text: str, *data: Any, **common: Any) -> Any:
        """What the named function makes of the data.

        text: a name with the parameters that a person sets, `hedge(beta=0.1)`. common: what the caller sets for all,
        such as seed, jobs, resamples; each function gets those that it takes, and what the person sets goes first.

        >>> shapes = Registry("shape")
        >>> @shapes.register("scaled")
        ... def scaled(x: float, *, by: float = 2.0) -> float: return x * by
        >>> shapes.call("scaled", 3, seed=0), shapes.call("scaled(by=5)", 3, by=7)
        (6.0, 15)
        """
        return self.bound(text, **common)(*data)

    def listed(self) -> str:
        """All names in one line, for help texts."""
        return ", ".join(self._entries)

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[Entry[F]]:
        return iter(self._entries.values())

    def __len__(self) -> int:
        return len(self._entries)

    def names(self) -> list[str]:
        """All names, in the order of registration."""
        return list(self._entries)


def fits(value: Any, kinds: Sequence[str]) -> bool:
    """Whether a value is of one of these kinds (NaN is of none); where a kind is not of KINDS the function must say.

    >>> fits(3, ["float"]), fits("x", ["int", "None"]), fits(None, ["int", "None"]), fits("x", ["PairWeight"])
    (True, False, True, True)
    """
    if not set(kinds) <= set(KINDS):
        return True
    number = isinstance(value, int | float) and not isinstance(value, bool) and value == value
    return (
        "str" in kinds  # a word may look like a number, or be `none`
        or (value is None and "None" in kinds)
        or (number and ("float" in kinds or ("int" in kinds and isinstance(value, int))))
        or (isinstance(value, bool) and "bool" in kinds)
    )


def keyword_parameters(function: Callable[..., Any]) -> dict[str, Any]:
    """The keyword-only parameters of a function and their defaults.

    >>> def f(x, *, k=None, rel=1): ...
    >>> keyword_parameters(f)
    {'k': None, 'rel': 1}
    """
    plain = inspect.unwrap(function, stop=lambda inner: hasattr(inner, "__signature__"))
    if not inspect.isfunction(plain) or hasattr(plain, "__signature__"):
        signature = inspect.signature(function)
        return {p.name: p.default for p in signature.parameters.values() if p.kind is p.KEYWORD_ONLY}
    # Of a plain function the same stands in its code, at a thirtieth of the time: there are some hundreds of them.
    code, defaults = plain.__code__, plain.__kwdefaults__ or {}
    names = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    return {name: defaults.get(name, inspect.Parameter.empty) for name in names}


def one_of(what: str, value: Any, known: Collection[str]) -> str:
    """The value if it is one of the known words, else an error that names them.

    >>> one_of("spread", "local", ("local", "global"))
    'local'
    """
    if value not in known:
        raise UsageError(f"no {what} {value!r}; known: {', '.join(known)}")
    return str(value)


def did_you_mean(name: str, known: Any) -> str:
    """A clause that names the nearest known names, or the known ones if none is near.

    >>> did_you_mean("nDGC", ["nDCG", "AP"])
    '; did you mean nDCG?'
    """
    import difflib

    lowered = {str(k).lower(): str(k) for k in known}
    near = difflib.get_close_matches(name.lower(), list(lowered), n=3, cutoff=0.6)
    if near:
        return f"; did you mean {', '.join(lowered[n] for n in near)}?"
    names = [str(k) for k in known]
    return f"; known: {', '.join(names[:MOST_NAMES])}{f' … ({len(names)} in all)' if len(names) > MOST_NAMES else ''}"


def parse_call(text: str) -> tuple[str, dict[str, Any]]:
    """Name and parameters of a text such as `RBP(p=0.8)`; values are numbers, true, false, none or words.

    >>> parse_call("RBP(p=0.8, gain=exp)")
    ('RBP', {'p': 0.8, 'gain': 'exp'})
    """
    if not isinstance(text, str):
        raise UsageError(f"{text!r} is no name; write it as a text, such as 'name' or 'name(key=value)'")
    refuse_long(text)
    name, bracket, rest = text.strip().partition("(")
    if not bracket:
        return name, {}
    if not rest.endswith(")"):
        raise UsageError(f"{text!r}: the bracket is not closed")
    given: dict[str, Any] = {}
    for part in filter(None, (p.strip() for p in rest[:-1].split(","))):
        key, equals, value = part.partition("=")
        if not equals:
            raise UsageError(f"{text!r}: write parameters as name=value, not {part!r}")
        given[key.strip()] = literal(value.strip())
    return name.strip(), given


def refuse_long(text: str) -> None:
    """An error where a text is longer than any name with its parameters is.

    >>> refuse_long("P@" + "9" * 5000)
    Traceback (most recent call last):
    assay.core.errors.UsageError: 'P@99999999999999999999…': a name of 5,002 characters; write at most 2,000
    """
    if len(text) > LONGEST_TEXT:
        start = repr(text[:22])[:-1]
        raise UsageError(f"{start}…': a name of {len(text):,} characters; write at most {LONGEST_TEXT:,}")


def written(value: Any) -> str:
    """A value as a person writes it.

    >>> [written(literal(text)) for text in ("10", "0.1", "true", "none")]
    ['10', '0.1', 'true', 'none']
    """
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)


def literal(text: str) -> Any:
    """A parameter's value: int, float, bool, None or the word itself.

    >>> [literal(t) for t in ("3", ".5", "true", "none", "exp")]
    [3, 0.5, True, None, 'exp']
    """
    words = {"true": True, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
