"""assay score on a folder of parts: means on standard output, and with -o the scores of every topic in a folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from assay.cli.columns import named_columns
from assay.cli.options import Output
from assay.cli.run_info import has_info
from assay.cli.score_folders import is_folder_name
from assay.core.errors import UsageError

if TYPE_CHECKING:
    from assay.measures import Measure
    from assay.scoring import Policy


def write_scores_of_parts(
    folders: Sequence[Path],
    qrels: Path | None,
    measures: Sequence[Measure],
    policy: Policy,
    *,
    jobs: int,
    out: Output,
) -> None:
    """Score the parts of one folder."""
    from assay.io.files import file_stem
    from assay.parts import score_parts

    if len(folders) != 1:
        raise UsageError(f"{folders[0]}: a folder of parts is scored by itself; give it alone")
    if qrels is None:
        raise UsageError(f"give --qrels: the judgments, or {folders[0] / 'qrels'} where assay split has divided them")
    if named_columns():
        raise UsageError("--column has no effect on parts: their columns have the usual names; leave it out")
    if has_info():
        raise UsageError("--info and --where have no effect on parts; give them to assay compare with the scores")
    if out.path is not None and not is_folder_name(out.path):
        what = "the scores of parts are written into a folder"
        name = file_stem(out.path) or "scores"
        example = f"{name}-scores" if Path(name).exists() else name
        raise UsageError(f"{out.path}: {what}; name one, e.g. -o {example}")
    with out.progress("scoring parts") as progress:
        scored = score_parts(folders[0], qrels, measures, to=out.path, policy=policy, jobs=jobs, progress=progress)
    # -o is the folder of all scores here: the table of means goes to the terminal.
    replace(out, path=None).write(scored.table(), of=scored)
    if out.path is not None:
        out.say(f"scores of {scored.topics} topics written to {out.path}")
