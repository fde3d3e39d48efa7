"""The reference pages, from the registries and the commands themselves: `python docs/make_reference.py`."""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import click

from assay.cli.main import COMMANDS
from assay.core.registry import Entry, Registry
from assay.measures.explained import described
from assay.measures.other_names import (
    ALIASES,
    OTHER_MEANINGS,
    REFUSED,
    SHAPES,
    WORDS,
    Refusal,
    aliases_of,
    trec_eval_names,
)

REQUIRED = inspect.Parameter.empty
HERE = Path(__file__).resolve().parent / "reference"
SHIPPED = HERE.parent.parent / "src" / "assay" / "cli" / "schema.json"
"""The copy of the JSON schema that `assay help schema` prints."""

REGISTRIES = {
    "measures": ("Measures", "assay.measures.base", "MEASURES"),
}
"""Page → title, module and name of each registry that has a page of its own."""


def pages() -> dict[str, str]:
    """Every reference page and its text, the JSON schema among them."""
    out = {"commands.md": commands_page()}
    for page, (title, module, name) in REGISTRIES.items():
        importlib.import_module("assay.measures")
        out[f"{page}.md"] = registry_page(title, getattr(importlib.import_module(module), name))
    out["measure-names.md"] = measure_names_page()
    out["methods.md"] = methods_page()
    out["api.md"] = api_page()
    # It calls every command, and the tests whose calls it repeats import this file.
    from make_schema import schema_pages

    return out | schema_pages()


WIDTH = 110
"""Characters of a line that a page of 1,280 pixels shows whole."""

PACKAGES = (
    "data", "io", "measures", "scoring", "parts", "rankings", "stats", "standard", "plan", "hierarchy", "gate",
    "interleaving", "similarity", "agreement", "crowd", "pooling", "topics", "board", "replication", "nojudgments",
    "judges", "studies", "report", "store",
)  # fmt: skip
"""Packages whose names are public, in the order of the layers."""
MODULES = ("spark",)
"""Modules of one public name."""


def exported() -> Iterator[tuple[str, str, Any]]:
    """Every public name: the module that exports it, the name, and what it stands for."""
    top = importlib.import_module("assay")
    for name in top.__all__:
        if name.startswith("__"):
            continue
        home = importlib.import_module(f"assay.{name}") if name in top._CALLABLE else top
        yield "assay", name, getattr(home, name)
    for package in (*PACKAGES, *MODULES):
        module = importlib.import_module(f"assay.{package}")
        for name in module.__all__:
            yield f"assay.{package}", name, getattr(module, name)


def api_page() -> str:
    """Every public name with its signature, what it does and an example."""
    parts = ["# Python\n\nEvery public name. What `assay` exports is listed once, under `assay`.\n"]
    seen: dict[int, str] = {}
    current = ""
    for module, name, thing in exported():
        if module != current:
            parts.append(f"## {module}\n\n{inspect.getdoc(importlib.import_module(module)) or ''}\n")
            current = module
        if id(thing) in seen:
            parts.append(f"`{module}.{name}`: see [`{seen[id(thing)]}`](#{_anchor(seen[id(thing)])}).\n")
            continue
        seen[id(thing)] = f"{module}.{name}"
        parts.append(_api_entry(module, name, thing))
    return "\n".join(parts)


def _anchor(heading: str) -> str:
    return heading.lower().replace(".", "")


def _api_entry(module: str, name: str, thing: Any) -> str:
    """One name: a heading, its signature, its docstring with the example as a block."""
    head = f"### {module}.{name}\n"
    if not (inspect.isclass(thing) or inspect.isfunction(thing)):
        # In the order of the alphabet: that of registration depends on what was imported first.
        names = ", ".join(sorted(thing.names(), key=str.lower)) if isinstance(thing, Registry) else ""
        kind = f"The registry of every {thing.kind}: {names}." if names else repr(thing)
        return f"{head}\n{kind}\n"
    text = inspect.cleandoc(thing.__doc__ or "")
    said, mark, example = text.partition("\n>>>")
    block = f"\n```pycon\n{(mark + example).strip()}\n```\n" if example else ""
    return f"{head}\n```text\n{_signature(name, thing)}\n```\n\n{said.rstrip()}\n{block}"


def _signature(name: str, thing: Any) -> str:
    """How a thing is called, as it is written in the source; a class by what its makers take."""
    try:
        signature = inspect.signature(thing)
    except (TypeError, ValueError):
        return f"{name}(…)"
    parameters = [_plain(str(parameter)) for parameter in signature.parameters.values()]
    kinds = [parameter.kind for parameter in signature.parameters.values()]
    if inspect.Parameter.KEYWORD_ONLY in kinds and inspect.Parameter.VAR_POSITIONAL not in kinds:
        parameters.insert(kinds.index(inspect.Parameter.KEYWORD_ONLY), "*")
    answer = signature.return_annotation
    returns = "" if answer is inspect.Signature.empty else f" -> {_plain(inspect.formatannotation(answer))}"
    one_line = f"{name}({', '.join(parameters)}){returns}"
    if len(one_line) <= WIDTH:
        return one_line
    lines = "".join(f"    {parameter},\n" for parameter in parameters)
    return f"{name}(\n{lines}){returns}"


def _plain(text: str) -> str:
    """An annotation as it stands in the source: without the quotes around it and the address of a default."""
    without_address = re.sub(r" at 0x[0-9a-f]+", "", text)
    return re.sub(r"(^|: )'([^']*)'", r"\1\2", without_address)


def commands_page() -> str:
    """What every command's --help says."""
    parts = ["# Commands\n\n`assay COMMAND --help` says the same.\n"]
    for name in COMMANDS:
        command = importlib.import_module(f"assay.cli.{name}").command
        parts += (help_text(path, c) for path, c in walk(f"assay {name}", command))
    return "\n".join(parts)


def walk(path: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    """A command and the commands in it."""
    yield path, command
    if isinstance(command, click.Group):
        for name in sorted(command.commands):
            yield from walk(f"{path} {name}", command.commands[name])


def help_text(path: str, command: click.Command) -> str:
    """A section with the help of a command."""
    level = "#" * min(4, path.count(" ") + 1)
    context = click.Context(command, info_name=path, terminal_width=100, max_content_width=100)
    return f"{level} {path}\n\n```text\n{command.get_help(context)}\n```\n"


def registry_page(title: str, registry: Registry[Any]) -> str:
    """Every measure with its parameters, docstring, paper and a worked example."""
    from worked_examples import INTRODUCTION, worked

    entries = sorted(registry, key=lambda e: e.name.lower())
    sections = [f"{section(e)}{_also_called(e.name)}\n{worked(e)}" for e in entries]
    return "\n".join([f"# {title}\n", INTRODUCTION, *sections])


def _also_called(measure: str) -> str:
    """A line with the other names of a measure, if it has any."""
    others = aliases_of(measure)
    return f"\nAlso called: {', '.join(others)}\n" if others else ""


def section(entry: Entry[Any], level: int = 2) -> str:
    """One entry."""
    given = ", ".join(f"{k}={_shown(v)}" for k, v in entry.parameters.items() if not callable(v) or v is REQUIRED)
    head = (
        f"{'#' * level} {entry.name}\n\n`{entry.name}({given})`"
        if given
        else f"{'#' * level} {entry.name}\n\n`{entry.name}`"
    )
    text = described(entry)
    paper = f"\n\nPaper: {entry.facts['paper']}" if entry.facts.get("paper") else ""
    return f"{head}\n\n{text}{paper}\n"


def measure_names_page() -> str:
    """What other tools call measures, and how they are written here."""
    parts = [
        "# Measure names of other tools\n",
        "Measures may be written as trec_eval, ir_measures, ranx and cwl_eval write them, in capitals or not. What is "
        "printed is our name. A name is read only where it gives the number that its tool gives; tests compare them.\n",
        "## Names that are read\n",
        markdown_table(("there", "here", "who writes so"), _names_that_are_read()),
        "Names of cwl_eval have their parameters in them; … stands for theirs.\n",
        markdown_table(("there", "here"), [(_code(s.example), _code(s.shown)) for s in SHAPES]),
        "Of trec_eval's names those with a cutoff or a level end in any other number, too.\n",
        markdown_table(("trec_eval", "here"), [(_code(theirs), _code(ours)) for theirs, ours in trec_eval_names()]),
        "## Parameters that are read\n",
        markdown_table(("there", "here"), [(_code(theirs), ours) for theirs, ours in WORDS]),
        "## Names that mean something else here\n",
        "Here our measure is meant. An object of ir_measures given to `evaluate` is what ir_measures means.\n",
        markdown_table(("name", "tool", "what it is there", "write here"), _other_meanings()),
        "## Names that are refused\n",
        markdown_table(("name", "tool", "what to write"), [(_code(r.example), r.tool, _instead(r)) for r in REFUSED]),
    ]
    return "\n".join(parts)


def _names_that_are_read() -> list[tuple[str, ...]]:
    """One row per other name."""
    return [(_code(name), _code(str(alias)), ", ".join(alias.tools)) for name, alias in ALIASES.items()]


def _other_meanings() -> list[tuple[str, ...]]:
    return [(_code(m.name), m.tool, m.there, _code(m.ours) if m.ours else "") for m in OTHER_MEANINGS]


def _instead(refusal: Refusal) -> str:
    """What the message says about the example."""
    whole = re.fullmatch(refusal.pattern, refusal.example)
    return refusal.instead.format(**whole.groupdict()) if whole else refusal.instead


def _code(text: str) -> str:
    return f"`{text}`"


def markdown_table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A table of Markdown."""
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def methods_page() -> str:
    """All other registries: tests, corrections, correlations, orders, methods, aggregations, searches, studies."""
    parts = ["# Methods\n\nWhat a person picks by name, by family.\n"]
    for title, registry in other_registries():
        parts.append(f"## {title}\n")
        with_example = registry.kind in WITH_EXAMPLES
        parts += [section(e, 3) + (_example(e) if with_example else "") for e in registry]
    return "\n".join(parts)


WITH_EXAMPLES = ("session measure", "text measure", "measure of preferences", "fairness measure")
"""Kinds of measures whose worked example is the one of their docstring, which the tests run."""


def _example(entry: Entry[Any]) -> str:
    """The example of a docstring as a block; nothing where it has none."""
    _, mark, example = inspect.cleandoc(entry.function.__doc__ or "").partition("\n>>>")
    return f"\n```pycon\n{(mark + example).strip()}\n```\n" if example else ""


def other_registries() -> Iterable[tuple[str, Registry[Any]]]:
    """Every Registry that is a module-level name, with the kind of thing that it holds."""
    found: dict[int, tuple[str, Registry[Any]]] = {}
    root = Path(importlib.import_module("assay").__file__ or "").parent
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        if parts[0] in ("cli", "report") or parts[-1] == "__init__" or parts[-1].startswith("_"):
            continue
        module = importlib.import_module(".".join(("assay", *parts)))
        for value in vars(module).values():
            if isinstance(value, Registry) and value.kind != "measure":
                found.setdefault(id(value), (value.kind.capitalize(), value))
    return sorted(found.values(), key=lambda pair: pair[0])


def _shown(value: object) -> str:
    return "required" if value is REQUIRED else str(value).lower() if value is None else str(value)


if __name__ == "__main__":
    HERE.mkdir(exist_ok=True)
    made = pages()
    targets = {HERE / name: text for name, text in made.items()} | {SHIPPED: made["schema.json"]}
    for path, text in targets.items():
        if sys.argv[1:] == ["--check"] and path.read_text() != text:
            sys.exit(f"{path.name} is out of date; run python docs/make_reference.py")
        path.write_text(text)
