"""From a measure as another tool writes it to the same measure as it is written here."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from assay.core.errors import UsageError
from assay.core.registry import Registry, parse_call
from assay.measures.other_names import ALIASES, RANX_NAMES, REFUSED, SHAPES
from assay.measures.trec_names import ROOTS, our_name


@dataclass(frozen=True)
class Written:
    """A measure taken apart, as somebody wrote it or as it is written here."""

    name: str
    given: dict[str, Any] = field(default_factory=dict)
    at: str = ""
    """What stands after the @."""
    condensed: bool = False
    aggregate: str = ""

    def __str__(self) -> str:
        inside = ",".join(f"{key}={value}" for key, value in self.given.items())
        text = f"{self.name}'" if self.condensed else self.name
        if inside:
            text += f"({inside})"
        if self.at:
            text += f"@{self.at}"
        return f"{self.aggregate}({text})" if self.aggregate else text

    def with_given(self, key: str, value: Any) -> Written:
        """The same with one more parameter."""
        return replace(self, given={**self.given, key: value})


def in_our_words(text: str, known: Registry[Any]) -> str | None:
    """Our way to write a measure that another tool writes so; None where it is ours already, or nobody's.

    known: the measures that there are. A name that means something else elsewhere is an error that says what to write.

    >>> from assay.measures import MEASURES
    >>> [in_our_words(t, MEASURES) for t in ("MRR@10", "map@100-l2", "nDCG(dcg='exp-log2')@10", "RBP@0.9", "AP@10")]
    ['RR@10', 'AP(rel=2)@100', 'nDCG(gain=exp)@10', 'CWLRBP(p=0.9)', None]
    """
    if text in known or _is_ours(_taken_apart(text), known):
        return None
    for shape in SHAPES:
        whole = re.fullmatch(shape.pattern, text)
        if whole:
            return shape.ours.format(**whole.groupdict())
    _refuse(text)
    trec_eval = our_name(text) or our_name(_trec_case(text))
    if trec_eval is not None:
        return trec_eval
    plain, level = _level(text)
    written = _taken_apart(plain)
    ours = _renamed(written, known)
    if ours is None:
        return None
    ours = _in_our_parameters(ours, known)
    if level is not None:
        ours = _with_level(ours, level, known)
    return None if str(ours) == str(written) and level is None else str(ours)


def _is_ours(written: Written, known: Registry[Any]) -> bool:
    """Whether a measure is written as here, so that nothing has to be looked up."""
    if written.name not in known or (written.at and not written.at.isdecimal()):
        return False
    given = [*written.given, "k"] if written.at else list(written.given)
    return set(given) <= set(known[written.name].parameters)


def of_ir_measures(text: str) -> str:
    """A measure of ir_measures where we know that it is one: its ERR has the top grade 4, which is gdeval's.

    >>> of_ir_measures("ERR@20"), of_ir_measures("AP(rel=2)@100")
    ('ERR(top=4)@20', 'AP(rel=2)@100')
    """
    written = _taken_apart(text)
    return str(written.with_given("top", 4)) if written.name == "ERR" else text


def _refuse(text: str) -> None:
    """An error where a name would mislead."""
    for refusal in REFUSED:
        whole = re.fullmatch(refusal.pattern, text)
        if whole:
            raise UsageError(f"{text}: {refusal.instead.format(**whole.groupdict())}")


def _trec_case(text: str) -> str:
    """A text that starts like a name of trec_eval but for capitals, with that name as trec_eval writes it."""
    starts = [root for root in ROOTS if text.lower().startswith(root.lower())]
    root = max(starts, key=len, default="")
    return root + text[len(root) :]


def _level(text: str) -> tuple[str, int | None]:
    """A text without the lowest relevant grade that ranx writes at its end, `-l2`, and that grade."""
    found = re.fullmatch(r"(([^@]+)(?:@\d+)?)-l(\d+)", text)
    if found and found[2] in RANX_NAMES:
        return found[1], int(found[3])
    return text, None


def _taken_apart(text: str) -> Written:
    """The parts of a text; quotes and braces as in Python are read as we write them."""
    body, _, at = text.rpartition("@")
    if not body or ")" in at:
        body, at = text, ""
    unquoted = re.sub(r"""=\s*(['"])(.*?)\1""", r"=\2", body)
    plain = re.sub(r"\{([^{}]*)\}", lambda braces: re.sub(r"\s", "", braces[1]).replace(",", "/"), unquoted)
    name, given = parse_call(plain)
    return Written(name.removesuffix("'"), given, at, name.endswith("'"))


def _renamed(written: Written, known: Registry[Any]) -> Written | None:
    """The same under our name of the measure; None if nobody knows it."""
    form = re.match(r"(DIN#|DIN|D#|D)-", written.name)
    prefix = form[0] if form and written.name not in known else ""
    theirs = written.name.removeprefix(prefix)
    if theirs in known or _is_intent_aware(theirs, known):
        return written
    alias = ALIASES.get(theirs)
    if alias is None:
        ours = _whatever_case(theirs, known)
        if ours is None:
            return None
        alias = ALIASES.get(ours)
        if alias is None:
            return replace(written, name=prefix + ours)
    name, implied = parse_call(alias.ours)
    return replace(written, name=prefix + name, given={**implied, **written.given}, aggregate=alias.aggregate)


def _is_intent_aware(name: str, known: Registry[Any]) -> bool:
    return name.endswith("-IA") and name.removesuffix("-IA") in known


def _whatever_case(name: str, known: Registry[Any]) -> str | None:
    """The name of ours, or of another tool, that is this one but for capitals; ours goes first."""
    for names in (known.names(), list(ALIASES)):
        same = [one for one in names if one.lower() == name.lower()]
        if len(same) == 1:
            return same[0]
    return None


def _parameters(name: str, known: Registry[Any]) -> dict[str, Any]:
    """The parameters of a measure, whatever its form for intents."""
    plain = re.sub(r"^(DIN#|DIN|D#|D)-", "", name)
    plain = plain if plain in known else plain.removesuffix("-IA")
    return known[name if name in known else plain].parameters


def _in_our_parameters(written: Written, known: Registry[Any]) -> Written:
    """The same with the parameters in our words; those that nobody knows are left for the measure to refuse."""
    ours = replace(written, given={})
    if written.name == "IPrec" and written.at:
        ours = replace(ours, at="").with_given("recall", written.at)
    for word, value in written.given.items():
        own = _parameters(ours.name, known)
        translated = WORDS.get(word)
        if word in own or translated is None:
            ours = ours.with_given(word, value)
        else:
            ours = translated(ours, value, own)
    return _on_scale(ours) if "lowest" in ours.given else ours


def _cutoff(ours: Written, value: Any, own: dict[str, Any]) -> Written:
    if ours.at:
        raise UsageError(f"{ours.name}: the cutoff is given twice; write {ours.name}@{ours.at}")
    return replace(ours, at=str(value))


def _judged_only(ours: Written, value: Any, own: dict[str, Any]) -> Written:
    if not isinstance(value, bool):
        raise UsageError(f"{ours.name}: judged_only={value} is not True or False; write {ours.name}' for True")
    return replace(ours, condensed=ours.condensed or value)


def _dcg(ours: Written, value: Any, own: dict[str, Any]) -> Written:
    forms = {"log2": "grade", "exp-log2": "exp"}
    if value not in forms:
        raise UsageError(f"{ours.name}: no dcg {value!r}; known: {', '.join(forms)}")
    return ours if value == "log2" else ours.with_given("gain", forms[value])


def _lowest_grade(ours: Written, value: Any, own: dict[str, Any]) -> Written:
    """The lowest relevant grade; of a measure of gains the lowest grade of the scale, 0 as here unless given."""
    if "rel" in own:
        return ours.with_given("rel", value)
    return ours if value == 0 else ours.with_given("lowest", value)


def _beta(ours: Written, value: Any, own: dict[str, Any]) -> Written:
    """Of SetF, which hands it to trec_eval's set_F."""
    return ours.with_given("x" if ours.name == "SetF" else "beta", value)


def _relative(ours: Written, value: Any, own: dict[str, Any]) -> Written:
    """Of SetP, which is P here."""
    if ours.name != "P":
        return ours.with_given("relative", value)
    return replace(ours, name="RelativeP") if value is True else ours


def _rel(ours: Written, value: Any, own: dict[str, Any]) -> Written:
    """Of NumRet, which then counts the relevant docs."""
    name = "NumRelRet" if ours.name == "NumRet" else ours.name
    return replace(ours, name=name).with_given("rel", value)


WORDS: dict[str, Callable[[Written, Any, dict[str, Any]], Written]] = {
    "cutoff": _cutoff,
    "judged_only": _judged_only,
    "dcg": _dcg,
    "gains": lambda ours, value, own: ours.with_given("gain", value),
    "min_rel": _lowest_grade,
    "max_rel": lambda ours, value, own: ours.with_given("top", value),
    "beta": _beta,
    "relative": _relative,
    "rel": _rel,
}
"""Parameters that another tool calls so, and what they do here; a measure's own parameters go first."""


def _on_scale(ours: Written) -> Written:
    """A scale that starts above 0, as a gain of each of its grades: (grade − lowest) / (highest − lowest)."""
    given = dict(ours.given)
    lowest, highest = given.pop("lowest"), given.get("top")
    if not isinstance(lowest, int) or not isinstance(highest, int) or not 0 < lowest < highest:
        raise UsageError(f"{ours.name}: min_rel={lowest} needs a larger max_rel; both are whole grades")
    gains = [f"{grade}:{max(grade - lowest, 0)}" for grade in range(1, highest + 1)]
    return replace(ours, given={**given, "gain": "/".join(gains)})


def _with_level(ours: Written, level: int, known: Registry[Any]) -> Written:
    """A lowest relevant grade as in ranx: of measures of gain, grades below it gain nothing."""
    own = _parameters(ours.name, known)
    if "rel" in own:
        return ours.with_given("rel", level)
    below = "/".join(f"{grade}:0" for grade in range(1, level))
    return ours.with_given("gain", below) if below else ours


def spellings(text: str) -> list[str]:
    """The names that scores of a measure may carry: as it is given, and as it is written here.

    >>> spellings("MRR"), spellings("my own")
    (['MRR', 'RR'], ['my own'])
    """
    from assay.measures.families import parse  # they read names with this module

    try:
        return [text, str(parse(text))]
    except UsageError:  # scores of a measure that nobody knows here
        return [text]
