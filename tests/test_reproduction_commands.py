"""The commands of the reproduction page are those of the command line, and the files that they name can be made."""

from __future__ import annotations

import importlib
import re
import shlex
from pathlib import Path

import click
import pytest
from reproduction.files import FILES, main
from reproduction.items import Item
from reproduction.page import loaded
from reproduction.places import SAKAI, STANDARDIZATION, WEBBER

from tests.conftest import real_data

ITEMS = [item for item in loaded() if item.command]
OWN_FILES = (WEBBER, STANDARDIZATION, SAKAI)


def commands(item: Item) -> list[str]:
    return re.sub(r" \\\n *", " ", item.command).strip().splitlines()


@pytest.mark.parametrize("command_line", dict.fromkeys(line for item in ITEMS for line in commands(item)))
def test_commands_are_taken(command_line: str) -> None:
    program, name, *words = shlex.split(command_line)
    if program == "python":
        # Either a line of Python, or the program of this page with the name of an item.
        if name == "-c":
            compile(words[0], "the command", "exec")
        else:
            assert [name, words[0]] == ["-m", "reproduction.page"]
            assert set(words[1:]) <= {item.key for item in ITEMS}
        return
    assert program == "assay"
    command: click.Command = importlib.import_module(f"assay.cli.{name}").command
    while isinstance(command, click.Group):
        default = getattr(command, "default", None)
        if default is not None and words[0] not in command.commands:
            words = [default, *words]
        command, words = command.commands[words[0]], words[1:]
    command.make_context(name, words)


@pytest.mark.parametrize("item", [i for i in ITEMS if i.work in OWN_FILES], ids=lambda i: i.key)
def test_files_of_commands_are_made_by_the_module_of_files(item: Item) -> None:
    words = item.command.replace("'", " ").split()
    saved = {words[place + 1] for place, word in enumerate(words) if word == "--save"}
    asked = {word for word in words if re.fullmatch(r"[\w-]+\.(csv|qrels|run|intents)", word)}
    assert asked - saved <= FILES.keys()


def test_files_are_written(tmp_path: Path) -> None:
    real_data("trec-score-matrices")
    real_data("trec-robust-2004")
    main(str(tmp_path))
    assert {p.name for p in tmp_path.iterdir()} == FILES.keys()
    assert all(p.stat().st_size for p in tmp_path.iterdir())
