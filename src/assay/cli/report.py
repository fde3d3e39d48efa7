"""`assay report`: one HTML file of all of it, or the same tables as files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli.board_inputs import load_collections, part_option
from assay.cli.columns import column_option, named_columns, refuse_unused_columns
from assay.cli.commands import Command, KnownWord, RegistryOption, Target
from assay.cli.inputs import (
    FILE,
    chosen_measures,
    force_option,
    kept_files,
    load_qrels,
    load_runs,
    load_scores,
    measures_at,
    measures_option,
    name_option,
    policy_options,
    qrels_option,
    transpose_option,
    words,
)
from assay.cli.label_files import scale_option
from assay.cli.modes import is_given
from assay.cli.options import Output, jobs_option, seed_option
from assay.cli.run_info import has_info, info_alone, is_filtered, kept_collections, runs_info
from assay.core.errors import UsageError

if TYPE_CHECKING:
    from assay.report.material import Material
    from assay.scoring import Policy

LABEL_OPTIONS = {"scale": "--scale", "times": "--times"}
RUN_OPTIONS = {
    "pool_runs": "--pool-runs", "lenient": "--lenient", "ties": "--ties", "missing": "--missing",
    "rel": "--rel", "binary": "--binary",
    "compat": "--compat", "condensed": "--condensed", "depth": "--depth", "top_grade": "--top-grade",
}  # fmt: skip
SCORE_OPTIONS = {"transpose": "--transpose", "name": "--measure", "force": "--force-measure"}


@click.command(cls=Command)
@click.argument("files", nargs=-1, type=click.Path(path_type=Path, allow_dash=True))
@qrels_option
@measures_option
@transpose_option
@name_option
@force_option
@click.option("--board", is_flag=True, help="Score files of one collection each: who leads over all of them.")
@part_option
@click.option("--labels", "labels_path", type=FILE, help="Crowd labels: topic, doc, worker, label.")
@click.option("--judge", "judge_path", type=FILE, help="Labels of machine judges, to be audited against --qrels.")
@scale_option
@column_option
@click.option("--times", type=float, default=1.0, help="Multiply labels, e.g. 100 for shares of 0–100.")
@info_alone("runs of one team leave the pool together")
@click.option(
    "--pool-runs", multiple=True, type=click.Path(path_type=Path, exists=True),
    help="The runs that were pooled, files or folders; without them a pool is spoken of only where it is plain.",
)  # fmt: skip
@click.option("--baseline", metavar="RUN", help="Test every run against this one.  [default: the best mean]")
@click.option(
    "--sections", cls=RegistryOption, registry="assay.report.sections:ORDER", metavar="LIST",
    help="Only these, separated by commas: {names}.  [default: all that the files allow]",
)  # fmt: skip
@click.option("--top", type=click.IntRange(min=2), default=30, show_default=True, help="Runs in charts of means.")
@click.option(
    "--alpha", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.05, show_default=True,
    help="Significance level; intervals have level 1 − alpha.",
)  # fmt: skip
@click.option("--title", default="Evaluation report", show_default=True, help="Title of the page.")
@click.option("--lenient", is_flag=True, help="Drop bad lines of run files and say which, instead of stopping.")
@policy_options
@seed_option
@jobs_option
@click.option(
    "--format",
    type=KnownWord("assay.report.write:FORMATS"),
    default="html",
    show_default=True,
    help="Tables go to a folder.",
)
@click.option("-o", "--output", type=Target(dir_okay=True), help="Write here.  [default: report.html or report/]")
@click.option("--quiet", is_flag=True, help="No progress, no remarks.")
def command(
    files: tuple[Path, ...], qrels_path: Path | None, measures: str | None, transpose: bool, name: str | None,
    force: str | None, board: bool, parts: tuple[str, ...], labels_path: Path | None, judge_path: Path | None,
    scale: str | None, times: float, pool_runs: tuple[Path, ...], baseline: str | None, sections: str | None,
    top: int, alpha: float, title: str, lenient: bool, rel: float, policy: Policy, seed: int, jobs: int, format: str,
    output: Path | None, quiet: bool,
) -> None:  # fmt: skip
    """Write a report: who leads and how surely, and what the topics, the pool and the files allow to say.

    FILES are run files with --qrels, or score tables without; with --board score tables of one collection each. With
    --labels also (or only) the quality and agreement of crowd workers. The HTML file stands alone and needs no network.

    \b
    assay report --qrels qrels.txt runs/* -o report.html
    assay report scores.csv --baseline bm25 --sections summary,leaderboard,power
    assay report trec6.csv trec7.csv trec8.csv --board -o board.html
    assay report --labels labels.csv --qrels qrels.txt -o crowd.html
    assay report --qrels qrels.txt --judge judges.csv runs/* --sections judges -o judges.html
    assay report --qrels qrels.txt runs/* --format latex -o tables/
    """
    out = Output(format, output, quiet)
    _check_target(out)
    if format == "html":
        from assay.report.page import begin_chart_library

        begin_chart_library()
    _refuse_info(of_runs=bool(files) and qrels_path is not None, of_scores=bool(files))
    _refuse(LABEL_OPTIONS, unless=labels_path is not None, what="--labels")
    _refuse(RUN_OPTIONS, unless=bool(files) and qrels_path is not None, what="run files and --qrels")
    made: dict[str, Any] = {"baseline": baseline, "top": top, "alpha": alpha, "seed": seed, "jobs": jobs}
    _refuse(SCORE_OPTIONS, unless=bool(files) and qrels_path is None, what="score tables")
    _refuse({"parts": "--part"}, unless=board, what="--board")
    if board:
        made["collections"] = _collections(files, qrels_path, measures, transpose, name, force, parts)
    elif files and qrels_path is None:
        made["matrices"] = _joined_scores(files, measures, transpose, name, force)
    elif files and qrels_path is not None:
        made |= _aligned(files, qrels_path, measures, lenient, rel, policy, jobs, out)
        made["pool_runs"] = load_runs(pool_runs, jobs=jobs, filtered=False) if pool_runs else None
    if labels_path is not None:
        from assay.cli.label_files import load_labels

        made["labels"], made["scale"] = load_labels(
            labels_path, scale=scale, grades=(), times=times, where=(), topic=None, split=None,
            drop_empty=False, say=out.say,
        )  # fmt: skip
        if qrels_path is not None and not files:
            made["qrels"] = load_qrels(qrels_path)
    if judge_path is not None:
        from assay.io.labels import read_labels

        made["machine"] = read_labels(judge_path, columns=named_columns())
        if qrels_path is not None and not files:
            made["qrels"] = load_qrels(qrels_path)
    from assay.report.material import material

    refuse_unused_columns()
    found = material(**made)
    made.clear()  # scores of millions of topics are held once
    _write(found, words(sections) or None, title, out)


def _refuse(options: dict[str, str], *, unless: bool, what: str) -> None:
    """An error if one of these options is given although there is nothing that it could act on."""
    for name, option in options.items():
        if not unless and is_given(name):
            raise UsageError(f"{option} goes with {what}; leave it out or give them")


def _refuse_info(*, of_runs: bool, of_scores: bool) -> None:
    """An error where the table of runs has nothing to act on: teams are those of pooled runs, --where any runs."""
    if has_info() and not (of_runs or (of_scores and is_filtered())):
        raise UsageError("--info goes with run files and --qrels, or with --where; leave it out or give them")


def _check_target(out: Output) -> None:
    """An error before any work where the page or the folder of tables could not be written."""
    if out.format == "html":
        if out.path is not None and out.path.is_dir():
            raise UsageError(f"{out.path} is a folder; name a file, such as {out.path / 'report.html'}")
    elif (out.path or Path("report")).is_file():
        raise UsageError(f"{out.path or 'report'} is a file; tables are written into a folder, name one with -o")


def _joined_scores(
    files: Sequence[Path], measures: str | None, transpose: bool, name: str | None, force: str | None
) -> Any:
    """One matrix per measure, with the runs of all score files."""
    from assay.data.scores import joined

    tables = load_scores(files, qrels_path=None, measures=measures, transpose=transpose, name=name, force=force)
    return joined(tables, force=force)


def _collections(
    files: tuple[Path, ...], qrels_path: Path | None, measures: str | None, transpose: bool, name: str | None,
    force: str | None, parts: tuple[str, ...],
) -> Any:  # fmt: skip
    """The scores of every collection, for --board."""
    from assay.board.common_set import checked

    if qrels_path is not None:
        raise UsageError("--board takes scores of many collections, and --qrels judges one; leave one of them out")
    if not files:
        raise UsageError("--board takes score files of several collections; give them")
    found = load_collections(
        files, measures=measures, transpose=transpose, means=False, name=name, force=force, parts=parts
    )
    return checked(kept_collections(found))


def _aligned(
    files: Sequence[Path], qrels_path: Path, measures: str | None, lenient: bool, rel: float, policy: Policy,
    jobs: int, out: Output,
) -> dict[str, Any]:  # fmt: skip
    """The runs aligned with the judgments, and the files that they come from."""
    from assay.report.material import aligned_files

    paths = kept_files(files)
    with out.progress("reading runs") as progress:
        aligned, dropped = aligned_files(
            paths, load_qrels(qrels_path), policy=policy, lenient=lenient, groups=_teams(),
            columns=named_columns(), jobs=jobs, progress=progress,
        )  # fmt: skip
    # Oddities are looked for in files that can be read again, and that hold a run each.
    from_files = not any(str(path) == "-" for path in paths) and len(paths) == len(aligned.names)
    return {
        "runs": aligned,
        "measures": measures_at(chosen_measures(measures or "AP nDCG@10"), rel, policy.binary is not None),
        "files": paths if from_files else (),
        "dropped": dropped,
        "qrels_file": None if str(qrels_path) == "-" else qrels_path,
    }


def _teams() -> dict[str, str]:
    """The team of each run, where the table of runs has teams."""
    table = runs_info()
    return table.column("team") if table is not None and ("team" in table or not is_filtered()) else {}


def _write(material: Material, sections: list[str] | None, title: str, out: Output) -> None:
    from assay.report.write import write_report

    with out.progress("writing the report") as progress:
        path = write_report(
            out.path, material, format=out.format, sections=sections, title=title, progress=progress
        )  # fmt: skip
    out.say(f"report written to {path}")
