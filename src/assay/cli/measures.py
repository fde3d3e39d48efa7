"""assay measures: list the measures, or explain one with formula, edges and paper."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import click

from assay.cli.commands import Command
from assay.cli.options import Output, output_options
from assay.core.registry import Entry
from assay.core.tables import Table


@click.command(cls=Command)
@click.argument("name", required=False)
@click.option("--plugin", type=click.Path(path_type=Path, exists=True), help="A Python file with measures of your own.")
@output_options
def command(name: str | None, plugin: Path | None, out: Output) -> None:
    """List the measures, or explain one.

    \b
    assay measures
    assay measures nDCG
    assay measures MRR
    """
    if plugin is not None:
        from assay.measures.plugins import load_plugin

        load_plugin(plugin)
    if name is None:
        out.write(listing())
    elif out.format == "text":
        out.text(explanation(name))
    else:
        out.write(explained(name))


def listing() -> Table:
    """Every measure with its parameters and what it is."""
    from assay.measures import MEASURES
    from assay.measures.preferred import PREFERENCES

    rows = [(entry.name, _parameters(entry), entry.summary) for entry in (*MEASURES, *PREFERENCES)]
    notes = [
        "",
        "Write nDCG@10, AP(rel=2)@100, RBP(p=0.8); X' scores the condensed list; median(X), geometric(X).",
        "Measures called prefs_… need preferences: assay score --format trec_eval -R prefs.",
        "Names of trec_eval, ir_measures, ranx and cwl_eval are read too: MAP, ndcg_cut_10, recall@100, MRR@10.",
    ]
    return Table.of(
        {"measure": "", "parameters": "", "what it is": ""}, sorted(rows, key=lambda r: r[0].lower()), notes=notes
    )


def explanation(name: str) -> str:
    """One measure: how it is written, its docstring, its paper, its other names."""
    form, text, paper, other_names = _parts(name)
    parts = [form, text]
    if paper:
        parts.append(f"Paper: {paper}")
    if other_names:
        parts.append(f"Also called: {other_names}")
    return "\n\n".join(parts)


def explained(name: str) -> Table:
    """The same as a table of one row."""
    form, text, paper, other_names = _parts(name)
    columns = {"measure": "", "what it is": "", "paper": "", "also called": ""}
    return Table.of(columns, [(form, " ".join(text.split()), paper, other_names)])


def _parts(name: str) -> tuple[str, str, str, str]:
    """How a measure is written, what it is, its paper, its other names.

    The name may be another tool's, and it may have a cutoff and parameters, as in nDCG@10.
    """
    from assay.measures.other_names import aliases_of

    entry = _entry(name)
    text = inspect.cleandoc(entry.function.__doc__ or "").partition("\n>>>")[0].rstrip()
    paper = str(entry.facts.get("paper", ""))
    return f"{entry.name}({_parameters(entry)})", text, paper, ", ".join(aliases_of(entry.name))


def _entry(name: str) -> Entry[Any]:
    """What the registries know of a measure."""
    from assay.measures import MEASURES, parse
    from assay.measures.preferred import PREFERENCES

    if name in PREFERENCES:
        return PREFERENCES[name]
    return MEASURES[name] if name in MEASURES else parse(name).entry


def _parameters(entry: Entry[Any]) -> str:
    return ", ".join(f"{key}={_shown(value)}" for key, value in entry.parameters.items())


def _shown(value: object) -> str:
    if value is inspect.Parameter.empty:
        return "required"
    return "none" if value is None else str(value)
