"""Which measures are there, and what is each? The list of all, and one with its parameters, formula and paper."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any

from assay.core.registry import Entry, Registry, parse_call
from assay.core.results import Result
from assay.core.tables import Table
from assay.measures import MEASURES, SESSION_MEASURES, TEXT_MEASURES, parse
from assay.measures.fairness import FAIRNESS_MEASURES
from assay.measures.other_names import aliases_of
from assay.measures.preferred import PREFERENCES

NOTES = (
    "",
    "Write nDCG@10, AP(rel=2)@100, RBP(p=0.8); X' scores the condensed list; median(X), geometric(X), harmonic(X).",
    "Measures called prefs_… need preferences: assay score --format trec_eval -R prefs. Those of sessions, answers "
    "and fairness are computed by the commands of these names.",
    "Names of trec_eval, ir_measures, ranx and cwl_eval are read too: MAP, ndcg_cut_10, recall@100, MRR@10.",
)


REGISTRIES: dict[str, Registry[Any]] = {
    "score": MEASURES,
    "score -R prefs": PREFERENCES,
    "sessions": SESSION_MEASURES,
    "answers": TEXT_MEASURES,
    "fairness": FAIRNESS_MEASURES,
}
"""Every registry of measures, by the command that computes them."""


@dataclass(frozen=True)
class MeasureList(Result):
    """Every measure that is registered at this moment."""

    def table(self) -> Table:
        """One row per measure, in the order of the alphabet: its parameters and what it is."""
        rows = []
        for command, registry in REGISTRIES.items():
            for entry in registry:
                rows.append((entry.name, written_parameters(entry), command, entry.summary))
        by_name = sorted(rows, key=lambda row: row[0].lower())
        return Table.of({"measure": "", "parameters": "", "command": "", "what it is": ""}, by_name, notes=NOTES)


@dataclass(frozen=True)
class Explanation(Result):
    """One measure: how it is written, its docstring without the example, its paper, its other names."""

    form: str
    what: str
    paper: str
    other_names: str = ""

    def table(self) -> Table:
        """One row."""
        row = (self.form, " ".join(self.what.split()), self.paper, self.other_names)
        return Table.of({"measure": "", "what it is": "", "paper": "", "also called": ""}, [row])

    def text(self) -> str:
        """The same as a person reads it."""
        parts = [self.form, self.what]
        if self.paper:
            parts.append(f"Paper: {self.paper}")
        if self.other_names:
            parts.append(f"Also called: {self.other_names}")
        return "\n\n".join(parts)


def explained(name: str) -> Explanation:
    """What a measure is; the name may be another tool's, and have a cutoff and parameters, as in nDCG@10.

    >>> explained("P@10").form
    'P(k=none, rel=1)'
    """
    entry = _entry(name)
    what = described(entry)
    paper = str(entry.facts.get("paper", ""))
    other_names = ", ".join(aliases_of(entry.name))
    return Explanation(f"{entry.name}({written_parameters(entry)})", what, paper, other_names)


def _entry(name: str) -> Entry[Any]:
    """What the registries know of a measure."""
    for registry in REGISTRIES.values():
        if name in registry:
            return registry[name]
    for registry in (SESSION_MEASURES, TEXT_MEASURES, FAIRNESS_MEASURES):
        if parse_call(name)[0] in registry:
            return registry.entry(name)
    return parse(name).entry


def described(entry: Entry[Any]) -> str:
    """What the docstring says without its example, and how far the measure can be off."""
    what = inspect.cleandoc(entry.function.__doc__ or "").partition("\n>>>")[0].rstrip()
    caution = entry.facts.get("caution")
    return f"{what}\n\nMind: {caution}." if caution else what


def written_parameters(entry: Entry[Any]) -> str:
    """The parameters with their defaults, as a person writes them."""
    return ", ".join(f"{key}={_shown(value)}" for key, value in entry.parameters.items())


def _shown(value: object) -> str:
    if value is inspect.Parameter.empty:
        return "required"
    return "none" if value is None else str(value)
