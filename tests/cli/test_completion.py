"""The shell knows how a line may go on: real bash completes it, zsh and fish get what they ask for, all of it fast."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest

from assay.cli.commands import KnownWord, RegistryOption
from assay.cli.main import COMMANDS as TOP
from tests.cli.test_options import ASSAY, COMMANDS

BIN = Path(sys.executable).parent
LINES = [
    ("assay sc", ["score"]),
    ("assay compare pa", ["pairs"]),
    ("assay score --mi", ["--missing"]),
    ("assay score --missing ", ["zero", "drop", "error"]),
    ("assay score -m nD", ["nDCG", "nDCGjk", "nDCGrel"]),
    ("assay score -m 'AP nDCGr", ["AP nDCGrel"]),
    ("assay compare --alter", ["--alternative"]),
    ("assay compare scores.csv --alter", ["--alternative"]),
    ("assay compare scores.csv --test ran", ["randomisation", "randomised-tukey"]),
    ("assay crowd check labels.csv --protocol s", ["s100"]),
    ("assay crowd check labels.csv --show t", ["topics"]),
    ("assay help sco", ["score"]),
    ("assay help plan po", ["power"]),
]


def environment() -> dict[str, str]:
    return {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}


def completed(line: str, shell: str = "bash") -> list[str]:
    """What assay answers a shell that asks how the line may go on."""
    words = shlex.split(line + ("'" if line.count("'") % 2 else ""))
    number = len(words) - (not line.endswith(" "))
    asked = {"COMP_WORDS": line, "COMP_CWORD": str(number), "_ASSAY_COMPLETE": f"{shell}_complete"}
    done = subprocess.run(ASSAY, capture_output=True, text=True, check=True, env={**os.environ, **asked})
    assert done.stderr == ""
    return done.stdout.splitlines()


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash here")
@pytest.mark.skipif(not (BIN / "assay").exists(), reason="assay is not installed as a command")
@pytest.mark.parametrize(("line", "words"), LINES)
def test_bash_completes(line: str, words: list[str]) -> None:
    """The function that bash is given, called as bash calls it."""
    typed = shlex.split(line + ("'" if line.count("'") % 2 else "")) + [""] * line.endswith(" ")
    # Bash hands over the words as they are typed, an open quote with them.
    shown = [f"'{word}" if " " in word else word for word in typed]
    program = f"""
        eval "$(_ASSAY_COMPLETE=bash_source assay)"
        COMP_WORDS=({shlex.join(shown)}); COMP_CWORD={len(shown) - 1}
        _assay_completion assay
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=True, env=environment())
    assert done.stdout.splitlines() == words
    assert done.stderr == ""


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_is_given_a_function(shell: str) -> None:
    asked = {**os.environ, "_ASSAY_COMPLETE": f"{shell}_source"}
    done = subprocess.run(ASSAY, capture_output=True, text=True, check=True, env=asked)
    assert f"_ASSAY_COMPLETE={shell}_complete" in done.stdout


def test_zsh_is_told_what_each_command_is() -> None:
    answer = completed("assay sc", "zsh")
    assert answer == ["plain", "score", TOP["score"]]


@pytest.mark.parametrize("line", ["assay nosuch --", "assay score --seed 1 --seed 2 --mi", "assay help nosuch x"])
def test_a_line_that_is_wrong_already_is_completed_in_silence(line: str) -> None:
    completed(line)


@pytest.mark.parametrize("words", COMMANDS)
def test_every_choice_can_be_completed(words: str) -> None:
    """Names of registries and constants, and measures, wherever an option takes them."""
    context = click.Context(COMMANDS[words])
    for option in COMMANDS[words].params:
        offered = option.shell_complete(context, "")
        if isinstance(option, RegistryOption):
            assert {item.value for item in offered} == set(option.names().split(", "))
        elif isinstance(option.type, KnownWord):
            assert [item.value for item in offered] == list(option.type.choices)
        elif "-m" in option.opts:
            assert "nDCG" in {item.value for item in offered}


@pytest.mark.parametrize("line", ["assay ", "assay score --", "assay compare --", "assay help "])
def test_names_of_commands_and_options_need_no_numpy(line: str) -> None:
    words = line.split()
    number = len(words) - (not line.endswith(" "))
    code = "import sys\nfrom assay.cli.main import main\ntry:\n    main()\nexcept SystemExit:\n    pass\n"
    code += "assert 'numpy' not in sys.modules, 'numpy was imported'\n"
    asked = {"COMP_WORDS": line, "COMP_CWORD": str(number), "_ASSAY_COMPLETE": "bash_complete"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env={**os.environ, **asked}
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("plain,")


@pytest.mark.parametrize("words", [(), ("score",), ("plan",), ("plan", "power"), ("help",)])
def test_help_is_what_the_option_says(words: tuple[str, ...]) -> None:
    by_command = subprocess.run([*ASSAY, "help", *words], capture_output=True, text=True, check=True)
    by_option = subprocess.run([*ASSAY, *words, "--help"], capture_output=True, text=True, check=True)
    assert by_command.stdout == by_option.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["scor"], "assay: no command 'scor'; did you mean score, store?\n"),
        (["plan", "powr"], "assay: no command 'powr'; did you mean power?\n"),
        (["score", "x"], "assay: assay score has no commands below it; leave 'x' out\n"),
    ],
)
def test_help_for_a_command_that_is_not_there(words: list[str], message: str) -> None:
    done = subprocess.run([*ASSAY, "help", *words], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", message)
