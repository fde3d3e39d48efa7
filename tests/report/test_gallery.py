"""The gallery shows files that are there, small and text, under commands that the command line takes."""

from __future__ import annotations

import importlib
import re
import shlex

import click
import pytest

from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "gallery.md").read_text()
BLOCKS = re.findall(r"^```text\n(.*?)^```", PAGE, re.M | re.S)
COMMANDS = [line for block in BLOCKS for line in re.sub(r" \\\n +", " ", block).splitlines()]
SHOWN = re.findall(r"!\[([^\]]+)\]\(gallery/([\w-]+\.svg)\)", PAGE)


def test_every_file_is_shown_and_every_figure_is_made_on_the_page() -> None:
    files = {p.name for p in (ROOT / "docs" / "gallery").iterdir()}
    assert {name for _, name in SHOWN} == files
    assert len(SHOWN) == len(files)
    for name in files:
        assert f"--figure {name}" in PAGE or f'save("{name}")' in PAGE or f"-o {name}" in PAGE


@pytest.mark.parametrize("name", [name for _, name in SHOWN])
def test_files_are_small_text_with_a_description(name: str) -> None:
    text = (ROOT / "docs" / "gallery" / name).read_text()
    assert text.startswith("<svg")
    assert len(text.encode()) <= 60_000
    assert "aria-label=" in text
    assert "<image" not in text
    assert "://" not in re.sub(r'xmlns(:\w+)?="[^"]*"', "", text)


@pytest.mark.parametrize("line", COMMANDS)
def test_commands_are_taken(line: str) -> None:
    _, name, *words = shlex.split(line)
    command: click.Command = importlib.import_module(f"assay.cli.{name}").command
    while isinstance(command, click.Group):
        default = getattr(command, "default", None)
        if default is not None and words[0] not in command.commands:
            words = [default, *words]
        command, words = command.commands[words[0]], words[1:]
    taken = command.make_context(name, words).params
    assert taken.get("figure")
