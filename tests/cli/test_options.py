"""What all commands share: output that is whole or not there, told early, and as wide as the terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from assay.cli.main import cli
from assay.data.scores import ScoreMatrix
from assay.io.scores import write_scores
from tests.oracles.stats import SAKAI


def every_command(
    group: click.Group = cli, words: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Each command and group of commands, with the words that call it."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield (*words, name), command
            yield from every_command(command, (*words, name))
        else:
            yield (*words, name), command


COMMANDS = {" ".join(words): command for words, command in every_command()}
ASSAY = [sys.executable, "-m", "assay.cli.main"]


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    path = tmp_path / "scores.csv"
    write_scores(path, [ScoreMatrix.of(SAKAI, runs=["x", "y", "z"], measure=m) for m in ("AP", "RR")])
    return path


def in_terminal(columns: int, *arguments: object) -> list[str]:
    """The lines that a command prints in a terminal so wide."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    kept = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES")}
    process = subprocess.Popen([*ASSAY, *map(str, arguments)], stdout=theirs, stderr=subprocess.DEVNULL, env=kept)
    os.close(theirs)
    said = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        said += part
    os.close(ours)
    assert process.wait() == 0
    return said.decode().replace("\r\n", "\n").splitlines()


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_tables_are_not_wider_than_the_terminal(scores: Path, columns: int) -> None:
    lines = in_terminal(columns, "compare", scores, "-m", "AP")
    assert max(map(len, lines)) <= columns
    assert sum(line.startswith("x  ") for line in lines) == {40: 4, 80: 2, 200: 1}[columns]


def test_a_pipe_gets_whole_rows(scores: Path) -> None:
    done = subprocess.run([*ASSAY, "compare", scores, "-m", "AP"], capture_output=True, text=True, check=True)
    assert sum(line.startswith("x  ") for line in done.stdout.splitlines()) == 1


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (["-o", "no/where.csv"], "make the folder 'no' first"),
        (["--figure", "no/where.png"], "make the folder 'no' first"),
        (["--figure", "board.bmp"], "a figure is written as .svg, .png, .pdf"),
    ],
)
def test_what_cannot_be_written_is_told_before_anything_is(scores: Path, target: list[str], message: str) -> None:
    done = subprocess.run(
        [*ASSAY, "compare", scores.name, *target], cwd=scores.parent, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert [p.name for p in scores.parent.iterdir()] == ["scores.csv"]


def test_a_result_without_a_figure_is_told_before_its_table_is_written(tmp_path: Path) -> None:
    asked = ["plan", "trial", "--sigma", "0.1", "--delta", "0.05", "--topics", "40", "--figure", "x.svg"]
    done = subprocess.run([*ASSAY, *asked], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "there is no figure of a TrialPlan; leave --figure out" in done.stderr
    assert not list(tmp_path.iterdir())


def test_figures_of_several_measures_are_numbered(scores: Path) -> None:
    done = subprocess.run(
        [*ASSAY, "compare", scores, "--figure", "board.svg", "--format", "csv"],
        cwd=scores.parent, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stderr.splitlines() == ["figure written to board-1.svg", "figure written to board-2.svg"]
    assert (scores.parent / "board-2.svg").read_text().startswith("<svg")
    header, *rows = done.stdout.splitlines()
    assert header.startswith("table,run,rank,mean,")
    assert [r.partition(",")[0] for r in rows] == ['"AP'] * 3 + ['"RR'] * 3


@pytest.mark.parametrize("measures", [["-m", "RR"], ["-mRR"], ["-m=RR"], ["--measures", "RR"], ["--measures=RR"]])
def test_an_option_of_one_letter_takes_its_value_in_every_way(measures: list[str], tmp_path: Path) -> None:
    run, qrels = tmp_path / "run", tmp_path / "qrels"
    run.write_text("1 Q0 a 1 2.5 bm25\n1 Q0 b 2 1.5 bm25\n")
    qrels.write_text("1 0 b 1\n")
    result = CliRunner().invoke(cli, ["score", "--qrels", str(qrels), str(run), *measures, "--format=csv"])
    assert (result.exit_code, result.stdout) == (0, "run,RR\nbm25,0.5\n")


@pytest.mark.parametrize("given", [["--qrels"], ["--quiet=3"], ["-q=3"], ["-x"], ["--nowhere"]])
def test_an_option_that_is_not_understood_leads_to_the_help_of_its_command(given: list[str]) -> None:
    done = subprocess.run([*ASSAY, "score", *given], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.endswith("; see 'assay score --help'\n")
    assert done.stderr.count("\n") == 1


def test_an_empty_list_of_measures_is_not_the_usual_one(scores: Path) -> None:
    for measures in (["-m", ""], ["-m="], ["-m", " ", "-m", ""]):
        result = CliRunner().invoke(cli, ["compare", str(scores), *measures])
        assert str(result.exception) == "--measures is empty, no measure is named; name one, or leave it out"


@pytest.mark.parametrize("words", COMMANDS)
def test_every_option_of_one_value_is_given_once(words: str) -> None:
    """In every spelling, on every command; options that collect their values accumulate instead."""
    for option in COMMANDS[words].params:
        if not isinstance(option, click.Option) or option.multiple or option.name in ("help", "version"):
            continue
        value = [] if option.is_flag else ["1"] * option.nargs
        for spelling in (*option.opts, *option.secondary_opts):
            result = CliRunner().invoke(cli, [*words.split(), spelling, *value, option.opts[0], *value])
            assert str(result.exception) == f"{max(option.opts, key=len)} is given twice; give it once"


def test_measures_accumulate_wherever_several_are_taken() -> None:
    for words, command in COMMANDS.items():
        several = [option for option in command.params if option.name == "measures"]
        assert all(isinstance(option, click.Option) and option.multiple for option in several), words


def test_a_short_flag_has_one_meaning_in_all_commands() -> None:
    """One long name, whatever the command; trec_eval's own letters mean what they mean there, in `score` alone."""
    meanings: dict[str, dict[str, list[str]]] = {}
    for words, command in COMMANDS.items():
        for option in command.params:
            longest = max(option.opts, key=len)
            for flag in option.opts:
                if flag.startswith("-") and not flag.startswith("--"):
                    meanings.setdefault(flag, {}).setdefault(longest, []).append(words)
    assert {flag: found for flag, found in meanings.items() if len(found) > 1} == {}
    without_a_long_name = {flag: found[flag] for flag, found in meanings.items() if flag in found}
    assert without_a_long_name == {flag: ["score"] for flag in ("-c", "-M", "-J", "-n", "-Z", "-R", "-T", "-N")}
    assert list(meanings["-q"]) == ["--per-topic"]
    assert list(meanings["-l"]) == ["--rel"]


MEASURES_SIDE_BY_SIDE = ("similarity scores", "similarity d-rank", "predict ease")
"""Commands that ask how far measures or tables agree: they join no scores, so there is nothing to force."""
TAKE_SCORES = [words for words, command in COMMANDS.items() if any("--transpose" in p.opts for p in command.params)]


@pytest.mark.parametrize("words", TAKE_SCORES)
def test_whoever_reads_scores_can_be_told_their_measure(words: str) -> None:
    options = {name for parameter in COMMANDS[words].params for name in parameter.opts}
    assert "--measure" in options
    assert "--force-measure" in options or words in MEASURES_SIDE_BY_SIDE


@pytest.mark.parametrize(
    "words",
    ["compare runs", "compare pairs", "standardize variance", "standardize fit", "study discriminative", "plan topics"],
)
def test_one_measure_under_two_policies_is_joined_only_by_force(words: str, tmp_path: Path) -> None:
    for name, policy in (("raw", "unjudged:0"), ("condensed", "unjudged:removed")):
        runs = [f"{name}{i}" for i in range(3)]
        matrix = ScoreMatrix.of(SAKAI, runs=runs, measure="AP", signature=f"AP|{policy}")
        write_scores(tmp_path / f"{name}.csv", [matrix])
    asked = [*words.split(), str(tmp_path / "raw.csv"), str(tmp_path / "condensed.csv")]
    refused = CliRunner().invoke(cli, asked)
    assert "AP|unjudged:0 and AP|unjudged:removed; score both alike, or --force-measure" in str(refused.exception)
    forced = CliRunner().invoke(cli, [*asked, "--force-measure", "AP"])
    assert forced.exit_code == 0, forced.exception


HAVE_REL = [words for words, command in COMMANDS.items() if any("--rel" in p.opts for p in command.params)]


@pytest.mark.parametrize("words", HAVE_REL)
def test_the_lowest_relevant_grade_may_be_a_fraction(words: str) -> None:
    """Grades may be fractions, so where they begin to be relevant may be one."""
    [option] = [option for option in COMMANDS[words].params if "--rel" in option.opts]
    assert option.type.convert("0.5", option, None) == 0.5
