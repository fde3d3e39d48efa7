"""Nothing that a command writes destroys what it read, or a file of another kind; all output goes through one door."""

from __future__ import annotations

import ast
import errno
import os
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from assay.cli.main import cli
from assay.core.errors import UsageError
from assay.core.files_read import one_command
from assay.io import convert, read_qrels, read_run, write_run
from assay.io.files import write_whole, written
from tests.conftest import ROOT

SOURCE = ROOT / "src" / "assay"
QRELS = "".join(f"{t} 0 d{n} {int(n < 3)}\n" for t in range(1, 7) for n in range(6))
RUN = "".join(f"{t} Q0 d{(n + t) % 6} {n + 1} {9 - n}.5 bm25\n" for t in range(1, 7) for n in range(5))
SCORES = "run,topic,measure,score\n" + "".join(f"{r},{t},AP,{(t + len(r)) / 20}\n" for r in "ab" for t in range(6))
LABELS = "topic,doc,worker,label\n1,a,anna,2\n1,a,ben,1\n1,b,anna,0\n1,b,ben,0\n2,c,anna,1\n2,c,ben,1\n"
FILES = {"q.txt": QRELS, "a.run": RUN, "s.csv": SCORES, "labels.csv": LABELS, "notes.txt": "a shopping list\n"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    os.symlink("q.txt", tmp_path / "link.txt")
    os.link(tmp_path / "q.txt", tmp_path / "hard.txt")
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "b.run").write_text(RUN.replace("bm25", "b"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def assay(words: str) -> Result:
    return CliRunner().invoke(cli, words.split())


def unharmed(folder: Path) -> bool:
    same = all((folder / name).read_text() == text for name, text in FILES.items())
    return same and not [path.name for path in folder.iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize(
    "words",
    [
        "score --qrels q.txt a.run --save q.txt",
        "score --qrels q.txt a.run -o q.txt",
        "score --qrels q.txt a.run -o a.run",
        "score --qrels q.txt a.run -o ./runs/../a.run",
        "score --qrels q.txt a.run -o link.txt",
        "score --qrels q.txt a.run -o hard.txt",
        "score --qrels link.txt a.run -o q.txt",
        "score --qrels hard.txt a.run --save q.txt",
        "score --qrels q.txt runs -o runs/b.run",
        "convert a.run a.run --to msmarco",
        "pool make a.run runs/b.run --save a.run",
        "pool sample a.run --qrels q.txt --save q.txt",
        "standardize fit s.csv --save s.csv",
        "standardize apply s.csv --save s.csv",
        "compare s.csv -o s.csv",
        "crowd aggregate labels.csv --qrels labels.csv",
        "crowd aggregate labels.csv --reference q.txt --uncertainty q.txt",
        "check --qrels q.txt a.run -o q.txt",
        "report --qrels q.txt a.run runs/b.run -o a.run",
        "crowd aggregate labels.csv --save-profile labels.csv",
    ],
)
@pytest.mark.parametrize("force", ["", " --force"])
def test_no_command_destroys_what_it_reads(words: str, force: str, folder: Path) -> None:
    done = assay(words + force)
    assert isinstance(done.exception, UsageError), done.output
    assert re.search(r"^\S+: this command reads that file( as \S+)?, and would destroy it; write", str(done.exception))
    assert unharmed(folder)


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("convert a.run q.txt", "judgments"),
        ("convert q.txt a.run", "a run"),
        ("score --qrels q.txt runs/b.run -o a.run", "a run"),
        ("score --qrels q.txt a.run --save labels.csv", "labels"),
        ("crowd aggregate labels.csv --qrels s.csv", "scores"),
        ("standardize fit s.csv --save labels.csv", "labels"),
        ("compare s.csv -o q.txt", "judgments"),
    ],
)
def test_a_file_of_another_kind_is_replaced_only_by_force(words: str, kind: str, folder: Path) -> None:
    refused = assay(words)
    assert isinstance(refused.exception, UsageError), refused.output
    what = rf"there is a file of another kind already \({kind}\); write to another file, or replace it with --force"
    assert re.search(what, str(refused.exception))
    assert unharmed(folder)
    assert assay(f"{words} --force").exit_code == 0
    assert not unharmed(folder)


@pytest.mark.parametrize(
    "words",
    [
        "score --qrels q.txt a.run -o {}",
        "score --qrels q.txt a.run --format csv -o {}",
        "score --qrels q.txt a.run -q --format json -o {}",
        "score --qrels q.txt a.run --save {}.csv",
        "compare s.csv --format csv -o {}",
        "convert a.run {}.parquet",
        "convert a.run {}.run.gz",
        "convert q.txt {}.json",
        "crowd aggregate labels.csv --qrels {} --uncertainty {}.csv",
        "standardize fit s.csv --save {}.csv",
        "report s.csv -o {}.html",
    ],
)
def test_the_same_command_writes_its_own_files_again(words: str, folder: Path) -> None:
    for _ in range(2):
        done = assay(words.format("out", "out"))
        assert done.exit_code == 0, done.exception
    assert assay("score --qrels q.txt a.run -o notes.txt").exit_code == 0  # nobody can say what it was


def test_two_outputs_do_not_go_to_one_file(folder: Path) -> None:
    done = assay("score --qrels q.txt a.run -o out.csv --save ./out.csv")
    assert "two outputs would go to this file" in str(done.exception)
    assert not (folder / "out.csv").exists()
    assert assay("score --qrels q.txt a.run -o /dev/null --save /dev/null").exit_code == 0


def test_what_a_command_continues_it_may_write(folder: Path) -> None:
    assert assay("plan next --plan exp.json --delta 0.04 --sigma 0.14").exit_code == 0
    assert assay("plan next --plan exp.json s.csv --runs a,b").exit_code == 0
    other = assay("plan next --plan a.run s.csv --runs a,b")
    assert other.exit_code
    assert unharmed(folder)


def test_a_folder_that_is_not_there_is_named_before_any_work(folder: Path) -> None:
    for words in (
        "score --qrels q.txt a.run -o none/t.txt",
        "convert a.run none/b.run",
        "compare s.csv --figure no/f.svg",
    ):
        assert "No such file or directory; make the folder" in str(assay(words).exception)


def test_whoever_calls_functions_may_write_what_he_read(tmp_path: Path) -> None:
    """In a notebook: read, mend, write. But a function that takes both paths is a command."""
    path = tmp_path / "a.run"
    path.write_text(RUN)
    run = read_run(path)
    write_run(path, run)
    write_whole(path, "another kind")
    path.write_text(RUN)
    with pytest.raises(UsageError, match=r"a.run: this command reads that file, and would destroy it"):
        convert(path, path, to="msmarco")
    assert read_run(path).to_dict() == run.to_dict()


def test_standard_input_that_is_a_file_is_read_too(folder: Path) -> None:
    import subprocess
    import sys

    command = [sys.executable, "-m", "assay.cli.main", "score", "--qrels", "-", "a.run", "-o", "q.txt"]
    with open("q.txt", "rb") as file:
        done = subprocess.run(command, stdin=file, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "q.txt: this command reads that file as standard input" in done.stderr
    assert unharmed(folder)


def write_half(path: Path) -> None:
    with written(path) as beside:
        beside.write_text("half")
        raise KeyboardInterrupt


def test_a_full_disk_and_an_interrupt_leave_the_file_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.run"
    path.write_text(RUN)

    def full(self: Path, data: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", full)
        with pytest.raises(OSError, match="No space left"):
            write_whole(path, "new")
    with pytest.raises(KeyboardInterrupt):
        write_half(path)
    assert os.listdir(tmp_path) == ["a.run"]
    assert path.read_text() == RUN


def test_what_was_read_is_forgotten_at_the_end_of_a_command(tmp_path: Path) -> None:
    path = tmp_path / "q.txt"
    path.write_text(QRELS)
    with one_command():
        read_qrels(path)
        with one_command(), pytest.raises(UsageError, match="would destroy it"):
            write_whole(path, QRELS)
        with pytest.raises(UsageError, match="would destroy it"):
            write_whole(path, QRELS)
    write_whole(path, QRELS)


def test_what_is_no_plain_file_is_written_to(tmp_path: Path) -> None:
    with one_command():
        write_whole("/dev/null", "text")
    assert not os.path.isfile("/dev/null")


OWN_FILES = {
    "io/files.py": "the door itself",
    "io/topic_scores.py": "parts in a folder in the making, which is new",
    "parts/layout.py": "moves a folder in the making to its place, which is new or empty",
    "parts/splitting.py": "lines at the ends of parts in a folder in the making, which is new",
    "pooling/journal.py": "adds lines to a journal, each on the disk before the next",
    "standard/factor_columns.py": "polars writes to the file beside, inside the door",
    "store/backups.py": "moves a new folder to its place, which is new",
    "store/exports.py": "moves a new folder to its place, which is new",
    "store/kept_files.py": "files under the hash of their content, never changed",
    "store/store.py": "the lock of a store",
    "store/uploads.py": "what is uploaded, in a temporary folder",
    "web/routes/upload_pages.py": "what is uploaded, in a temporary folder",
    "core/engines/spark_session.py": "what a library says goes nowhere",
    "cli/main.py": "what nobody reads any more goes nowhere",
}
"""Modules that write files of their own, and why they may."""
WRITERS = {
    "write_text", "write_bytes", "to_csv", "savefig", "to_parquet", "sink_parquet", "sink_csv", "sink_ipc", "ZipFile",
    "write_csv", "write_parquet", "write_ipc", "copyfile", "copy2", "copytree", "tofile", "savez", "TarFile",
}  # fmt: skip
IN_MEMORY = {"io/_division.py", "io/sheet.py"}
"""Modules that let polars write to memory."""


def opens_to_write(node: ast.Call) -> bool:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    home = node.func.value.id if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name) else ""
    if name == "write_text" and home in ("out", "self"):  # of Output, which goes through the door
        return False
    if name in WRITERS or (home == "os" and name in ("replace", "rename", "write")) or name == "connect_file":
        return True
    if name == "rename" and len(node.args) == 1 and not isinstance(node.args[0], ast.Dict):
        return True
    if home == "os" and name == "open":
        return any(
            isinstance(part, ast.Attribute) and part.attr.startswith(("O_W", "O_RDW")) for part in ast.walk(node)
        )
    if name == "open" and (home in ("", "gzip", "lzma", "io", "codecs") or len(node.args) == 1):
        modes = [*node.args[1 if home or isinstance(node.func, ast.Name) else 0 :], *(k.value for k in node.keywords)]
        written_modes = [m.value for m in modes if isinstance(m, ast.Constant) and isinstance(m.value, str)]
        return any(set(mode) & set("wax+") for mode in written_modes if set(mode) <= set("rwxabt+"))
    return False


def test_every_writer_goes_through_the_door() -> None:
    found = {
        str(path.relative_to(SOURCE)): [node.lineno for node in ast.walk(ast.parse(path.read_text()))
                                        if isinstance(node, ast.Call) and opens_to_write(node)]
        for path in SOURCE.rglob("*.py")
    }  # fmt: skip
    by_passing = {name: lines for name, lines in found.items() if lines and name not in {*OWN_FILES, *IN_MEMORY}}
    assert not by_passing, "write with assay.io.files.write_whole or written"
    assert not {name for name in OWN_FILES if not found[name]}, "these write nothing any more"


def test_every_option_that_names_a_file_to_write_is_a_target() -> None:
    """What --force and the early look at targets rest on."""
    import importlib

    import click

    from assay.cli.commands import Target
    from assay.cli.main import COMMANDS

    def commands(name: str, command: click.Command) -> list[tuple[str, click.Command]]:
        inside = command.commands.items() if isinstance(command, click.Group) else ()
        return [(name, command), *(pair for n, c in inside for pair in commands(f"{name} {n}", c))]

    unmarked = []
    for name in COMMANDS:
        for place, command in commands(name, importlib.import_module(f"assay.cli.{name}").command):
            for parameter in command.params:
                text = getattr(parameter, "help", "") or ""
                writes = re.match(r"(Also )?(Write|Draw|draw)\b.*\b(here|file)\b", text)
                if isinstance(parameter.type, click.Path) and writes and not isinstance(parameter.type, Target):
                    unmarked.append(f"{place} {parameter.opts[0]}")
            has_target = any(isinstance(parameter.type, Target) for parameter in command.params)
            has_force = any("--force" in parameter.opts for parameter in command.params)
            assert has_target == has_force, place
    assert not unmarked
