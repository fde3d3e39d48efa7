"""Options that a message names: each exists, on the command that says it or on the one that the message names."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import assay
from assay.cli.commands import OPTION
from assay.cli.main import cli
from assay.data.scores import ScoreMatrix
from assay.io.scores import write_scores
from tests.cli.test_options import COMMANDS
from tests.oracles.stats import SAKAI

SOURCE = Path(str(assay.__file__)).parent
NO_OPTION = {"--jp-layout-color0", "--vscode-editor-background"}
"""Variables of style sheets."""
BEGINNINGS = {"--replicated-"}
"""Options of which a message makes the rest."""
Function = ast.FunctionDef | ast.AsyncFunctionDef


def options_of(command: click.Command) -> set[str]:
    """The options of a command, of a group with those of the command that runs where none is named."""
    usual = getattr(command, "default", None)
    of_usual = options_of(command.commands[usual]) if isinstance(command, click.Group) and usual else set()
    return of_usual | {"--help"} | {word for p in command.params for word in (*p.opts, *p.secondary_opts)}


KNOWN = {option for command in COMMANDS.values() for option in options_of(command)} | {
    option for option in options_of(cli) if option.startswith("--")
}


def texts(tree: ast.AST) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


def test_every_option_that_a_text_names_is_one_of_some_command() -> None:
    unknown = []
    for path in sorted(SOURCE.rglob("*.py")):
        for line, text in texts(ast.parse(path.read_text())):
            for option in OPTION.findall(text):
                begun = any(text.endswith(beginning) and beginning.startswith(option) for beginning in BEGINNINGS)
                if option not in KNOWN | NO_OPTION and not begun:
                    unknown.append(f"{path.name}:{line} {option}")
    assert unknown == []


def functions(module: str) -> dict[str, Function]:
    tree = ast.parse((SOURCE / "cli" / f"{module}.py").read_text())
    return {node.name: node for node in tree.body if isinstance(node, Function)}


def reached(name: str, there: dict[str, Function]) -> set[str]:
    """The functions of a module that one of them calls, and those that they call."""
    found, due = {name}, [name]
    while due:
        for node in ast.walk(there[due.pop()]):
            if isinstance(node, ast.Name) and node.id in there and node.id not in found:
                found.add(node.id)
                due.append(node.id)
    return found


def named_in(text: str) -> set[str]:
    """The options of commands whose names stand in a text."""
    return {
        option
        for words, command in COMMANDS.items()
        if f"assay {words}" in text or (" " in words and words in text)
        for option in options_of(command)
    }


MODULES = sorted({c.callback.__module__.rpartition(".")[2] for c in COMMANDS.values() if c.callback is not None})


@pytest.mark.parametrize("module", MODULES)
def test_an_option_that_a_command_names_is_its_own_or_that_of_the_command_it_names(module: str) -> None:
    there = functions(module)
    callers: dict[str, set[str]] = {}
    for command in COMMANDS.values():
        callback = inspect.unwrap(command.callback) if command.callback else None
        if callback is not None and callback.__module__ == f"assay.cli.{module}" and callback.__name__ in there:
            for name in reached(callback.__name__, there):
                callers.setdefault(name, set()).update(options_of(command))
    foreign = []
    for name, options in callers.items():
        for line, text in texts(ast.Module(there[name].body, [])):
            allowed = options | named_in(text)
            foreign += [f"{module}.py:{line} {o}" for o in OPTION.findall(text) if o not in allowed]
    assert foreign == []


def said(*arguments: object) -> str:
    found = CliRunner().invoke(cli, [str(argument) for argument in arguments])
    assert found.exit_code != 0
    return str(found.exception)


def test_an_error_leaves_out_an_option_that_the_command_does_not_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for measure in ("AP", "RR"):
        write_scores(Path(f"{measure}.csv"), [ScoreMatrix.of(SAKAI, runs=["x", "y", "z"], measure=measure)])
    estimated = said("judge", "estimate", "--human", "AP.csv", "--machine", "RR.csv")
    assert estimated == "AP and RR are not the same measure"
    compared = said("compare", "sets", "AP.csv", "RR.csv")
    assert compared == "AP and RR are not the same measure; --force-measure NAME says that they are"
    Path("turned.csv").write_text("topic,x,y\n" + "".join(f"{t},0.{t},0.5\n" for t in range(1, 9)))
    estimated = said("judge", "estimate", "--human", "turned.csv", "--machine", "turned.csv")
    assert "the table looks transposed" in estimated
    assert "--transpose" not in estimated
    assert said("compare", "turned.csv").endswith("; use --transpose (transpose=True)")


def test_predict_names_its_option_of_the_measure(tmp_path: Path) -> None:
    runs = tmp_path / "a.run"
    runs.write_text("1 Q0 d1 1 2.0 a\n")
    for command in ("rank", "difficulty"):
        assert said("predict", command, runs, "-m", "AP").startswith("--measures ")
