"""The collections of a board: score files, parts of one file, or the collections of a store."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from assay.cli.columns import named_columns, with_columns
from assay.cli.commands import KnownWord
from assay.cli.inputs import force_option, measures_option, name_option, named_measures, transpose_option, words
from assay.cli.modes import Modes, refuse_others
from assay.cli.run_info import info_options, kept_collections
from assay.cli.store_options import DATABASE, FOLDER
from assay.core.errors import UsageError

if TYPE_CHECKING:
    from assay.data.scores import ScoreMatrix

C = TypeVar("C", bound=Callable[..., Any])

OF_FILES = frozenset({"transpose", "means", "name", "force", "parts", "columns"})
OF_STORE = frozenset({"store", "database", "chosen"})
MODES: Modes = {"score files": OF_FILES, "--store": OF_STORE}

files_argument = click.argument("files", nargs=-1, type=click.Path(path_type=Path, allow_dash=True))
part_option = click.option(
    "--part", "parts", multiple=True, metavar="NAME=FIRST-LAST",
    help="Split the topics of one file into collections by their numbers, e.g. trec6=301-350; repeatable.",
)  # fmt: skip


def collections_input(command: C) -> C:
    """FILES… of scores or a store; the command gets `collections`."""

    @functools.wraps(command)
    def run(*args: Any, **kwargs: Any) -> Any:
        of_files = ("files", "transpose", "means", "name", "force", "parts")
        given = {key: kwargs.pop(key) for key in of_files}
        of_store = {key: kwargs.pop(key) for key in OF_STORE}
        measures = kwargs.pop("measures")
        if of_store["store"] or of_store["database"]:
            collections = _of_store(given["files"], measures, **of_store)
        else:
            refuse_others("score files", MODES)
            if not given["files"]:
                raise UsageError("no scores; give score files, or a store with --store")
            collections = load_collections(measures=measures, **given)
        return command(*args, collections=kept_collections(collections), **kwargs)

    options: list[Callable[[Any], Any]] = [
        with_columns(files_argument),
        measures_option,
        transpose_option,
        click.option("--means", is_flag=True, help="Matrices hold means: a row per run, a column per collection."),
        part_option,
        name_option,
        force_option,
        click.option("--store", type=FOLDER, help="Instead of files, the collections of the store in this folder."),
        click.option("--database", default="", metavar="URL", help=DATABASE),
        click.option(
            "--collection", "chosen", multiple=True, metavar="NAME",
            help="Of a store only this collection; repeatable.  [default: all with judgments and two runs]",
        ),
        info_options,
        click.option(
            "--common", type=KnownWord("assay.board.common_set:COMMON"), default="systems", show_default=True,
            help="Where cells are missing: keep systems on all collections, or collections with all systems.",
        ),
    ]  # fmt: skip
    wrapped: Any = run
    for option in reversed(options):
        wrapped = option(wrapped)
    return wrapped


def load_collections(
    files: tuple[Path, ...],
    measures: str | None,
    transpose: bool,
    means: bool,
    name: str | None,
    force: str | None,
    parts: tuple[str, ...],
) -> dict[str, ScoreMatrix]:
    """The collections of the files; with --part those of the parts of one file."""
    from assay.board.common_set import split_topics, topic_ranges
    from assay.io.board_tables import read_collections

    found = read_collections(
        files, measures=named_measures(measures), transpose=transpose, means=means, name=name, force=force,
        columns=named_columns(),
    )  # fmt: skip
    if parts:
        if len(found) != 1:
            raise UsageError(
                f"--part splits the topics of one file, and there are {len(found)} collections; leave it out"
            )
        [matrix] = found.values()
        found = split_topics(matrix, topic_ranges(parts, matrix.topics))
    return found


def _of_store(
    files: tuple[Path, ...], measures: str | None, store: Path | None, database: str, chosen: tuple[str, ...]
) -> dict[str, ScoreMatrix]:
    """The collections of a store, with all its runs: who can read the folder sees the private ones as well."""
    from assay.store import Store
    from assay.store.across import scores_by_collection

    refuse_others("--store", MODES)
    if files:
        raise UsageError(f"{files[0]}: --store takes the scores of a store; give files or --store, not both")
    names = words(measures)
    if len(names) > 1:
        raise UsageError(f"-m {measures}: a board is of one measure; name one")
    files_of_database = store / "files" if database and store else None
    with Store(database or store or "", first_files=files_of_database, make=False) as opened:
        return scores_by_collection(opened, measure=names[0] if names else "", chosen=chosen, seen_by=None)
