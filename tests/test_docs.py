"""Every block of the docs runs: Python as it stands, console commands with the output that the page shows."""

from __future__ import annotations

import importlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import pytest

from assay.measures import MEASURES
from tests.conftest import ROOT

PAGES = sorted([*(ROOT / "docs").rglob("*.md"), ROOT / "README.md"])


def blocks(path: Path, language: str) -> list[str]:
    """The blocks of a language; those in a tab or a list are indented."""
    fenced = re.finditer(rf"^( *)```{language}\n(.*?)^\1```", path.read_text(), re.MULTILINE | re.DOTALL)
    return [textwrap.dedent(block.group(2)) for block in fenced]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that `assay demo` makes."""
    from assay.studies.simulate import simulate, write_collection
    from assay.studies.simulated_answers import simulate_answers, write_answers

    folder = tmp_path_factory.mktemp("made")
    write_collection(simulate(), folder)
    write_answers(simulate_answers(), folder)
    return folder


@pytest.fixture
def demo(made: Path, tmp_path: Path) -> Path:
    """A folder of one page's own with demo/ in it, in which its blocks run."""
    shutil.copytree(made, tmp_path / "demo")
    return tmp_path


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p, "python")], ids=lambda p: str(p.relative_to(ROOT)))
def test_python_blocks_run(page: Path, demo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(demo)
    # A page may register a measure of its own; it ends with the page.
    monkeypatch.setattr(MEASURES, "_entries", dict(MEASURES._entries))
    names: dict[str, object] = {"__name__": "docs"}
    for block in blocks(page, "python"):
        exec(compile(block, str(page), "exec"), names)


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p, "console")], ids=lambda p: str(p.relative_to(ROOT)))
def test_console_blocks_print_what_the_page_shows(page: Path, demo: Path) -> None:
    for block in blocks(page, "console"):
        for command, shown in steps(block):
            done = subprocess.run(
                ["bash", "-c", command], cwd=demo, capture_output=True, text=True, check=False, env=environment()
            )
            assert done.returncode == 0, f"{command}\n{done.stderr}"
            if shown:
                assert_shown(shown, done.stdout.rstrip().splitlines(), command)


def steps(block: str) -> Iterator[tuple[str, list[str]]]:
    """Commands (lines after `$ `, the continued ones joined) and the lines shown after each."""
    joined = re.sub(r" \\\n +", " ", block)
    for part in re.split(r"^\$ ", joined, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield command, output.rstrip().splitlines()


def assert_shown(shown: list[str], printed: list[str], command: str) -> None:
    """What is printed is what is shown; a line of three dots stands for any lines."""
    parts = [list(part) for dots, part in groupby(shown, "...".__eq__) if not dots]
    if "..." not in shown:
        assert printed == shown, command
        return
    if shown[0] != "...":
        head = parts.pop(0)
        assert printed[: len(head)] == head, command
        printed = printed[len(head) :]
    if parts and shown[-1] != "...":
        tail = parts.pop()
        assert printed[-len(tail) :] == tail, command
        printed = printed[: -len(tail)]
    for part in parts:
        assert part[0] in printed, command
        first = printed.index(part[0])
        assert printed[first : first + len(part)] == part, command
        printed = printed[first + len(part) :]


def environment() -> dict[str, str]:
    """With `assay` on the path, and lines as wide as they like."""
    bin_folder = str(Path(sys.executable).parent)
    return {**os.environ, "PATH": bin_folder + os.pathsep + os.environ["PATH"], "COLUMNS": "200"}


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_docs_import_only_public_names(page: Path) -> None:
    """From `assay` or `assay.<package>`, never from a module within a package."""
    text = page.read_text()
    deep = re.findall(r"^(?:>>> )?(?:from|import) (assay\.\w+\.[\w.]+)", text, re.MULTILINE)
    assert deep == []
    for package, names in re.findall(r"^(?:>>> )?from (assay(?:\.\w+)?) import \(?([\w, ]+)", text, re.MULTILINE):
        module = importlib.import_module(package)
        for name in re.split(r"[,\s]+", names.strip()):
            assert name in module.__all__, f"{name} is not exported by {package}"


def test_links_lead_somewhere() -> None:
    broken = []
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text()):
            if not target.startswith(("http", "mailto")) and not (page.parent / target).exists():
                broken.append(f"{page.relative_to(ROOT)}: {target}")
    assert not broken


def test_console_commands_are_of_assay() -> None:
    for page in PAGES:
        for block in blocks(page, "console"):
            for command, _ in steps(block):
                assert shlex.split(command)[0] in ("assay", "head", "ls", "cat", "make", "pip", "mkdir"), command


def test_the_reference_is_what_the_code_says() -> None:
    """`python docs/make_reference.py` has been run since the last change."""
    script = ROOT / "docs" / "make_reference.py"
    done = subprocess.run([sys.executable, str(script), "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_no_table_or_command_is_cut_off_on_a_page_of_1280_pixels(page: Path) -> None:
    """138 characters fit there; a longer sentence is wrapped, which would spoil a table and a command."""
    fenced = re.findall(r"^ *```[a-z]+\n(.*?)^ *```", page.read_text(), re.MULTILINE | re.DOTALL)
    long = [line for block in fenced for line in block.splitlines() if len(line) > 138]
    # Commands of the reproduction page have many parameters; they are wrapped, and copied whole.
    is_command = ("$",) if page.name == "reproduction.md" else ("$", "assay")
    assert [line for line in long if "  " in line or line.startswith(is_command)] == []
