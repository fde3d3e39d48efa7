"""Whatever the files hold, a command answers, or it says what is wrong in one line and leaves nothing behind.

Every command that reads files is called with odd files of the kind it wants and with files of the other kinds. Each odd
file is read by the first call that takes its kind, and by some of the others, in turn; with ASSAY_HOSTILE=full all
calls read all files, which takes some minutes.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hostile.calls import CALLS, IN_FOLDERS, WITHOUT_FILES, call, every_command, named, on_a_store, problem_with
from tests.hostile.odd_files import GOOD, good_text, odd_files, runs_text

FULL = os.environ.get("ASSAY_HOSTILE") == "full"
STRIDE = {"report": 60, "compare": 20, "similarity": 20, "pool": 20}
"""Of how many odd files one is read by calls that are not the first of the kind; the slow commands read fewer."""
SLOW = ("score --uncertainty", "compare factorial")
"""Calls that take long for files that are fine: they read every fifth, though no other call takes the kind."""
FORMATS = ["text", "text", "json", "csv", "latex", "html"]
SLOT = re.compile(r"\{([a-z -]+)\}")


class Files:
    """All files, good and odd, in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.out = folder / "out"
        self.good = {kind: self._write("good", name, good_text(kind).encode()) for kind, name in GOOD.items()}
        self.runs = [self._write("runs", f"{name}.run", runs_text(name).encode()) for name in "abcde"]
        self.odd = {kind: [self._write(kind, *file) for file in odd_files(kind)] for kind in GOOD}

    def _write(self, kind: str, name: str, data: bytes) -> Path:
        path = self.folder / kind / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
        return path

    def empty_out(self) -> None:
        """An empty folder for what a call writes."""
        shutil.rmtree(self.out, ignore_errors=True)
        self.out.mkdir()

    def arguments(self, template: str, slot: int = -1, odd: Path | None = None) -> list[str]:
        """The words of a call, with the odd file in one of its slots and good ones in the others."""
        words: list[str] = []
        at = 0
        for word in shlex.split(SLOT.sub(lambda m: "{" + m[1].replace(" ", "_") + "}", template)):
            kind = word[1:-1].replace("_", " ")
            if word == "{runs}":
                words += map(str, self.runs)
            elif word == "{one_run}":
                words.append(str(self.runs[0]))
            elif word == "{run_folder}":
                words.append(str(self.runs[0].parent))
            elif "={" in word:  # a file under a name of its own: 2019={matrix}
                name, _, held = word.partition("={")
                words.append(f"{name}={self.good[held[:-1].replace('_', ' ')]}")
            elif word.startswith("{out}"):
                words.append(word.replace("{out}", str(self.out)))
            elif word.startswith("{"):
                words.append(str(odd if at == slot else self.good[kind]))
                at += 1
            else:
                words.append(word)
        return words


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    return Files(tmp_path_factory.mktemp("hostile"))


def slots(template: str) -> list[str]:
    """The kinds of file that a call takes, in their order."""
    return [kind for kind in SLOT.findall(template) if kind not in ("runs", "one run", "out")]


def odd_calls(template: str, files: Files) -> Iterator[list[str]]:
    """The calls of a template with an odd file each."""
    number = CALLS.index(template)
    slow = template.startswith(SLOW)
    stride = 40 if slow else STRIDE.get(template.split()[0], 8)
    for slot, kind in enumerate(slots(template)):
        first = next(t for t in CALLS if kind in slots(t)) == template
        wrong = [files.good[other] for other in GOOD if other != kind]
        for i, odd in enumerate([*files.odd[kind], *wrong]):
            if FULL or (first and (not slow or i % 5 == 0)) or (i + number) % stride == 0:
                words = files.arguments(template, slot, odd)
                form = FORMATS[(i + number) % len(FORMATS)]
                yield words if form == "text" or "--format" in words else [*words, "--format", form]


@pytest.mark.parametrize("template", CALLS)
def test_an_odd_file_gives_an_answer_or_one_line(template: str, files: Files) -> None:
    problems = []
    for words in odd_calls(template, files):
        files.empty_out()
        problem = problem_with(call(words), words, files.out)
        if problem:
            problems.append(f"{shlex.join(words)}\n{problem[-600:]}")
    assert not problems, f"{len(problems)} problems\n" + "\n\n".join(problems[:5])


@pytest.mark.parametrize("template", CALLS)
def test_good_files_give_an_answer(template: str, files: Files) -> None:
    files.empty_out()
    words = files.arguments(template)
    outcome = call(words)
    assert outcome.code == 0, outcome.err
    assert problem_with(outcome, words, files.out) is None
    assert outcome.out or any(files.out.iterdir())


def test_every_command_that_reads_files_is_called() -> None:
    called = {named(template) for template in CALLS}
    others = {command for command in every_command() if not on_a_store(command)}
    assert others - called == WITHOUT_FILES | IN_FOLDERS
