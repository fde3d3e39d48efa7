"""Folders of scores of topics, which some commands work through block by block instead of reading them whole."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli.run_info import kept_names
from assay.core.errors import UsageError

if TYPE_CHECKING:
    from assay.data.scores import ScoreMatrix
    from assay.io.topic_scores import TopicScores

ANY_NUMBER_OF_TOPICS = frozenset(
    {
        "compare runs", "compare pairs", "compare table", "compare anova", "compare friedman", "compare one-way",
        "plan audit", "plan bias", "plan topics", "report",
        "standardize fit", "standardize apply", "standardize variance", "standardize longevity",
    }
)  # fmt: skip
"""Commands that read the scores of millions of topics."""
MAIN_ONES = "compare, plan audit, report and standardize apply take more; or give scores of a sample of the topics"


def refuse_many_topics(matrices: Iterable[ScoreMatrix]) -> None:
    """An error where a command that shows or stores every topic is given the scores of millions of them."""
    from assay.io.topic_scores import FEW

    topics = max((len(matrix.topics) for matrix in matrices), default=0)
    name = " ".join(click.get_current_context().command_path.split()[1:])
    if topics > FEW and name not in ANY_NUMBER_OF_TOPICS:
        what = f"{topics:,} topics are too many for {name}, which works up to {FEW:,}"
        raise UsageError(f"{what}; {MAIN_ONES}")


def folder_in_blocks(
    files: Sequence[Path], save: Path | None, measures: Sequence[Any], force: str | None, options: dict[str, Any]
) -> TopicScores | None:
    """The folder of scores that is worked through block by block; None where the files are read whole.

    That is the case where its topics are many, or where a folder of scores is to be written. options: those that
    such a folder has no use for, by name.
    """
    from assay.io import topic_scores

    folders = [path for path in files if topic_scores.is_topic_scores(path)]
    if not folders:
        return None
    scores = topic_scores.TopicScores.of(folders[0], measures=measures)
    is_large = any(topic_scores.TopicScores.of(path).topics > topic_scores.FEW for path in folders)
    if not is_large and (save is None or not is_folder_name(save)):
        return None
    if len(files) > 1:
        raise UsageError(
            f"{folders[0]}: a folder of scores is worked through by itself; score all runs into one folder"
        )
    for option, value in options.items():
        if value:
            raise UsageError(f"{option} goes with score tables; {folders[0]} is a folder of scores, leave it out")
    scores = scores.of_runs(kept_names(scores.runs))
    return scores if force is None else scores.renamed(force)


def is_folder_name(path: Path) -> bool:
    """Whether scores that are saved here become a folder: the name has no ending of a table."""
    from assay.io.files import table_format

    return table_format(path) is None and not path.is_file()


def check_scores_target(save: Path | None, topics: int) -> None:
    """An error before any work where the scores of millions of topics would go to another place than a folder."""
    if save is None:
        return
    if not is_folder_name(save):
        raise UsageError(
            f"{save}: the scores of {topics:,} topics are written into a folder; name one, e.g. --save {save.stem}"
        )
