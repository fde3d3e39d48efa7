"""Where do the parts of runs and judgments lie? Folders `run=NAME/part-*`, and what says how topics were divided."""

from __future__ import annotations

import json
import math
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import quote, unquote
from zlib import crc32

from assay.core.errors import DataError, UsageError
from assay.io.files import FULL, naming_file, write_whole

RUN_FOLDER = "run="
QRELS_FOLDER = "qrels"
SPLIT_FILE = "parts.json"
UNFINISHED = ".unfinished"
"""A folder in the making."""
PART_FILE = re.compile(r"part-(\d+)[.-].*|part-(\d+)")
"""How parts are called, here and by programs that write Parquet: part-00000.run, part-00000-c000.parquet."""


def part_of(topic: str, parts: int) -> int:
    """The part that a topic belongs to: the CRC-32 of its UTF-8 bytes modulo the number of parts.

    >>> [part_of(topic, 4) for topic in ("301", "302", "303")]
    [2, 0, 2]
    """
    return crc32(topic.encode()) % parts


@dataclass(frozen=True)
class Split:
    """How runs and judgments were divided: what `assay split` writes beside the parts."""

    parts: int
    runs: tuple[str, ...]
    top_grade: float | None
    """The top grade of all judgments; None where they were not split."""
    rule: str = "crc32"

    def write(self, folder: Path) -> None:
        """Write it to its file in the folder."""
        write_whole(folder / SPLIT_FILE, json.dumps(asdict(self), indent=1) + "\n")

    def check(self) -> None:
        """An error where something in it is not of its kind: the file was changed by hand."""
        if type(self.parts) is not int or self.parts < 1:
            raise ValueError(f"the number of parts is {self.parts!r}")
        if not all(isinstance(run, str) for run in self.runs):
            raise ValueError("a run has no name")
        top = self.top_grade
        is_number = isinstance(top, int | float) and not isinstance(top, bool) and math.isfinite(top)
        if top is not None and not is_number:
            raise ValueError(f"the top grade is {top!r}")

    @classmethod
    def read(cls, folder: Path) -> Split | None:
        """How the parts of a folder were divided; None if `assay split` did not write it."""
        path = folder / SPLIT_FILE
        if not path.is_file():
            return None
        try:
            known = json.loads(path.read_text())
            if not isinstance(known["runs"], list):
                raise TypeError("the runs are no list")
            made = cls(known["parts"], tuple(known["runs"]), known["top_grade"], known["rule"])
            made.check()
        except (ValueError, KeyError, TypeError) as error:
            raise DataError(f"{path}: this is not what assay split writes ({error}); split the runs again") from None
        if made.rule != "crc32":
            raise DataError(f"{path}: parts by the rule {made.rule!r} are not known; split the runs again")
        return made


def run_folder(name: str) -> str:
    """The name of the folder of the parts of a run.

    >>> run_folder("a/b")
    'run=a%2Fb'
    """
    return RUN_FOLDER + quote(name, safe=" +,@~")


def is_parts_folder(path: Path) -> bool:
    """Whether a path is a folder of parts: it has folders run=NAME, or its files are called part-…."""
    if not path.is_dir():
        return False
    return bool(run_folders(path)) or bool(loose_parts(path))


def run_folders(folder: Path) -> dict[str, Path]:
    """The folders of the runs by their names, in the order of these."""
    named = [path for path in _visible(folder) if path.name.startswith(RUN_FOLDER)]
    if not any(path.is_dir() for path in named):  # files may be called so
        return {}
    for path in named:
        if not path.is_dir():
            raise DataError(f"{path}: this is no folder, and the parts of a run should be in it; mend or remove it")
    return {unquote(path.name.removeprefix(RUN_FOLDER)): path for path in named}


def loose_parts(folder: Path) -> list[Path]:
    """The files of a folder where all of them are called part-…; none if any is not."""
    files = [path for path in _visible(folder) if not path.is_dir()]
    are_parts = bool(files) and all(PART_FILE.fullmatch(file.name) for file in files)
    return _without_folders(folder) if are_parts else []


def _visible(folder: Path) -> list[Path]:
    """What is in a folder, in the order of the names, without hidden files and marks such as _SUCCESS."""
    return sorted(path for path in folder.iterdir() if not path.name.startswith((".", "_")))


def _without_folders(own: Path) -> list[Path]:
    """The files of a folder of parts; an error where a folder lies between them."""
    inside = _visible(own)
    for path in inside:
        if path.is_dir():
            raise DataError(f"{path}: this is a folder; the parts are files in {own.name} itself")
    return inside


def parts_of_run(own: Path) -> list[Path]:
    """The parts in the folder of a run; an error where there is none, or where a folder lies between them."""
    inside = _without_folders(own)
    if not inside:
        raise DataError(f"{own}: the folder of the run has no part; write it again, or remove it")
    return inside


def whole_runs(folder: Path, split: Split) -> dict[str, dict[int, Path]]:
    """The parts of each run that `assay split` divided, by their numbers; one that is missing is an error."""
    folders = run_folders(folder)
    if set(folders) != set(split.runs):
        odd = sorted(set(folders) ^ set(split.runs))[0]
        raise DataError(f"{folder}: run {odd!r} is not in both the folder and {SPLIT_FILE}; split the runs again")
    return {run: whole_parts(own, split.parts) for run, own in folders.items()}


def whole_parts(folder: Path, parts: int) -> dict[int, Path]:
    """All parts of a folder by their numbers; one that is missing is an error."""
    found = numbered_parts(folder, parts)
    absent = [number for number in range(parts) if number not in found]
    if absent:
        raise DataError(f"{folder}: part {absent[0]} of {parts} is not there; copy it, or split the runs again")
    return found


def numbered_parts(folder: Path, parts: int) -> dict[int, Path]:
    """The parts of a folder by their numbers; a part that is there twice, or that there should not be, is an error."""
    found: dict[int, Path] = {}
    for file in _without_folders(folder):
        named = PART_FILE.fullmatch(file.name)
        if named is None:
            raise DataError(f"{file}: this is no part (they are called part-00000 and so on); move it elsewhere")
        number = int(named[1] or named[2])
        if number >= parts:
            raise DataError(f"{file}: there are {parts} parts, numbered from 0; the folder is of another split")
        if number in found:
            raise DataError(f"{file}: part {number} is there twice, also as {found[number].name}; keep one of them")
        found[number] = file
    return found


def check_topics(where: Path, topics: Sequence[str], number: int, parts: int) -> None:
    """An error where a topic is in a part that it does not belong to: parts that overlap, or of another split."""
    for topic in topics:
        own = part_of(topic, parts)
        if own != number:
            what = f"topic {topic!r} belongs to part {own} of {parts}, and this is part {number}"
            raise DataError(f"{where}: {what}; the parts overlap or are of another split: run assay split again")


def check_target(folder: Path) -> None:
    """An error where a folder to be written is there already and not empty, or cannot be made."""
    if not folder.parent.is_dir():
        raise UsageError(f"{folder}: No such file or directory; make the folder {str(folder.parent)!r} first")
    if folder.is_symlink() and not folder.exists():
        raise UsageError(f"{folder}: it is a link that leads nowhere; name a folder that is new or empty")
    if folder.exists() and (not folder.is_dir() or not _is_empty(folder)):
        raise UsageError(f"{folder}: it is there already; name a folder that is new or empty")


def _is_empty(folder: Path) -> bool:
    """Whether a folder has nothing in it but what an interrupted command left."""
    return all(path.name == UNFINISHED for path in folder.iterdir())


def check_finished(folder: Path) -> None:
    """An error where the command that wrote a folder was interrupted at its end."""
    if (folder / UNFINISHED).exists():
        raise DataError(f"{folder}: it was not written to its end; empty the folder and write it again")


@contextmanager
def made_whole(target: Path) -> Iterator[Path]:
    """A folder that becomes the target when all went well, and is gone otherwise.

    It lies beside the target; in it where that is there already and empty: another disk may begin there, it may be a
    link, or the folder that the person is in. Then what describes the folder is put to its place last. Its path is
    given in full: workers that write into it may have another current folder.
    """
    is_there = target.exists()
    place = target.absolute()
    made = place / UNFINISHED if is_there else place.with_name(f".{place.name}{UNFINISHED}")
    shutil.rmtree(made, ignore_errors=True)
    try:
        with naming_file(target, only=FULL):
            made.mkdir()
            yield made
            if is_there:
                _moved_in(made, place)
            else:
                made.rename(place)
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _moved_in(made: Path, place: Path) -> None:
    """Move what was made into a folder that is empty: all of it or, after an error or an interrupt, nothing."""
    moved: list[Path] = []
    try:
        for path in sorted(made.iterdir(), key=lambda path: (path.is_file(), path.name)):
            moved.append(place / path.name)
            path.rename(moved[-1])
    except BaseException:
        for path in moved:
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
        raise
