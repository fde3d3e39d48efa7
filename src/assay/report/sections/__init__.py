"""The sections of a report: each takes the material and gives words, figures and tables.

Sections are registered by name with what they need (scores, runs, collections, labels, files); `--sections` picks
among them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from assay.core.engine import Progress, silent
from assay.core.errors import AssayError, UsageError
from assay.core.registry import Registry
from assay.core.tables import Table
from assay.report.figure import Figure
from assay.report.material import Material

Block = str | Figure | Table
"""A paragraph, a chart or a table."""
SECTIONS: Registry[Callable[[Material], Iterator[Block]]] = Registry("section")
ORDER = (
    "summary", "leaderboard", "comparison", "topics", "power", "board", "effects", "collections",
    "pool", "ties", "similarity", "crowd", "agreement", "judges", "files", "method", "cite",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Section:
    """A part of the report: its name (also its anchor), its title and its blocks in order."""

    name: str
    title: str
    blocks: tuple[Block, ...]

    def tables(self) -> list[Table]:
        """The tables in it."""
        return [b for b in self.blocks if isinstance(b, Table)]


def chosen(material: Material, names: Sequence[str] | None = None) -> list[str]:
    """The sections asked for, or all for which there is something; an error for one that lacks what it needs."""
    from assay.report.sections import (  # noqa: F401  they register their sections
        closing,
        of_collections,
        of_judges,
        of_labels,
        of_runs,
        of_scores,
    )

    if names is None:
        return [name for name in ORDER if material.has(SECTIONS[name].facts["need"])]
    for name in names:
        need = SECTIONS[name].facts["need"]
        if not material.has(need):
            raise UsageError(f"section {name!r} needs {_NEEDS[need]}")
    return list(names)


_NEEDS = {
    "scores": "scores: runs with --qrels, or score files", "runs": "run files with --qrels", "labels": "--labels",
    "machine": "--judge and --qrels", "collections": "score files of several collections and --board",
    "files": "run files or --qrels",
}  # fmt: skip


def made(material: Material, names: Sequence[str] | None = None, *, progress: Progress = silent) -> list[Section]:
    """The sections, in order. A section that the data do not allow says why instead."""
    todo = chosen(material, names)
    found = []
    for i, name in enumerate(todo):
        entry = SECTIONS[name]
        found.append(Section(name, entry.facts["title"], tuple(_blocks(entry.function(material)))))
        progress(i + 1, len(todo))
    return found


def _blocks(source: Iterable[Block]) -> Iterator[Block]:
    """Blocks until the end or until the data do not allow more."""
    try:
        yield from source
    except AssayError as error:
        yield f"Not shown: {error}."
