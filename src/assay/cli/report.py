"""`assay report`: one HTML file of all of it, or the same tables as files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli.commands import Command
from assay.cli.inputs import (
    FILE,
    chosen_measures,
    groups_of,
    load_qrels,
    load_scores,
    measures_option,
    policy_options,
    qrels_option,
    run_files,
)
from assay.cli.options import Output, check_targets, jobs_option, seed_option
from assay.core.errors import UsageError

if TYPE_CHECKING:
    from assay.data import Run
    from assay.report.material import Material
    from assay.scoring import Policy

FORMATS = ("html", "latex", "csv", "json")
SECTIONS_HELP = (
    "Only these, parted by commas: summary, leaderboard, comparison, topics, power, pool, ties, similarity, crowd, "
    "agreement, files, method, cite.  [default: all that the files allow]"
)


@click.command(cls=Command)
@click.argument("files", nargs=-1, type=click.Path(path_type=Path, allow_dash=True))
@qrels_option
@measures_option
@click.option("--transpose", is_flag=True, help="Score matrices have one row per topic.")
@click.option("--labels", "labels_path", type=FILE, help="Crowd labels: topic, doc, worker, label.")
@click.option("--scale", help="Of the labels: S2, S4, S100, magnitude, 6 (levels), 0-5, or words as no<maybe<yes.")
@click.option("--column", "columns", multiple=True, metavar="OURS=THEIRS", help="Of the labels, e.g. label=score.")
@click.option("--times", type=float, default=1.0, help="Multiply labels, e.g. 100 for shares of 0–100.")
@click.option("--info", type=FILE, help="Table of runs with the columns run and group: groups leave the pool together.")
@click.option("--baseline", metavar="RUN", help="Test every run against this one.  [default: the best mean]")
@click.option("--sections", metavar="LIST", help=SECTIONS_HELP)
@click.option("--top", type=click.IntRange(min=2), default=30, show_default=True, help="Runs shown in charts.")
@click.option(
    "--alpha", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.05, show_default=True,
    help="Significance; intervals have level 1 − alpha.",
)  # fmt: skip
@click.option("--title", default="Evaluation report", show_default=True)
@click.option("--lenient", is_flag=True, help="Drop bad lines of run files and say which, instead of stopping.")
@click.option("--published", type=FILE, help="Only the chart of published scores: columns year, score, kind, pair.")
@policy_options
@seed_option
@jobs_option
@click.option("--format", type=click.Choice(FORMATS), default="html", show_default=True, help="Tables go to a folder.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Write here.  [default: report.html or report/]")
@click.option("--quiet", is_flag=True, help="No progress, no remarks.")
def command(
    files: tuple[Path, ...], qrels_path: Path | None, measures: str | None, transpose: bool, labels_path: Path | None,
    scale: str | None, columns: tuple[str, ...], times: float, info: Path | None, baseline: str | None,
    sections: str | None, top: int, alpha: float, title: str, lenient: bool, published: Path | None, policy: Policy,
    seed: int, jobs: int, format: str, output: Path | None, quiet: bool,
) -> None:  # fmt: skip
    """Write a report: summary, leaderboard, comparison, topics, power, pool, ties, similarity, oddities, method.

    FILES are run files with --qrels, or score tables without. With --labels also (or only) the quality and agreement of
    crowd workers. The HTML file stands alone and needs no network.

    \b
    assay report --qrels qrels.txt runs/* -o report.html
    assay report scores.csv --baseline bm25 --sections summary,leaderboard,power
    assay report --labels labels.csv --qrels qrels.txt -o crowd.html
    assay report --qrels qrels.txt runs/* --format latex -o tables/
    assay report --published papers.csv scores.csv -o published.html

    --published takes a table of scores from papers: year, score, kind (baseline or improved; run for a run of the
    original track) and pair (rows of one pair are joined). Score tables given beside it are the original runs.
    """
    out = Output(format, output, quiet)
    if published is not None:
        check_targets(out)
        _published(published, files, qrels_path, measures, transpose, out)
        return
    _check_target(out)
    told: dict[str, Any] = {
        "baseline": baseline,
        "top": top,
        "alpha": alpha,
        "policy": policy,
        "seed": seed,
        "jobs": jobs,
    }
    told |= _scores(files, qrels_path, measures, transpose, lenient, policy, jobs, out, groups_of(info))
    if labels_path is not None:
        from assay.cli.crowd import load_labels

        told["labels"], told["scale"] = load_labels(
            path=labels_path, columns=columns, scale=scale, times=times, where=(), topic=None, split=None,
            drop_empty=False, say=out.say,
        )  # fmt: skip
        if qrels_path is not None and not files:
            told["qrels"] = load_qrels(qrels_path)
    from assay.report.material import material

    _write(material(**told), sections.replace(",", " ").split() if sections else None, title, out)


def _check_target(out: Output) -> None:
    """An error before any work where the page or the folder of tables could not be written."""
    if out.format == "html":
        check_targets(out)
        if out.path is not None and out.path.is_dir():
            raise UsageError(f"{out.path} is a folder; name a file, such as {out.path / 'report.html'}")
    elif (out.path or Path("report")).is_file():
        raise UsageError(f"{out.path or 'report'} is a file; tables are written into a folder, name one with -o")


def _scores(
    files: Sequence[Path], qrels_path: Path | None, measures: str | None, transpose: bool, lenient: bool,
    policy: Policy, jobs: int, out: Output, groups: Mapping[str, str],
) -> dict[str, Any]:  # fmt: skip
    """Scores, and the runs and judgments they come from; nothing where no files are named."""
    if not files:
        return {}
    if qrels_path is None:
        from assay.cli.compare import joined_by_measure

        found = load_scores(files, qrels_path=None, measures=measures, transpose=transpose)
        return {"matrices": joined_by_measure(found)}
    from assay.scoring import evaluate

    qrels, paths = load_qrels(qrels_path), run_files(files)
    read, dropped = _runs(paths, lenient, policy.ties == "rank", jobs)
    runs = [replace(r, info=replace(r.info, group=groups.get(r.name, r.info.group))) for r in read]
    with out.progress("scoring") as progress:
        wanted = chosen_measures(measures or "AP nDCG@10")
        found = evaluate(runs, qrels, wanted, policy=policy, jobs=jobs, progress=progress)
    checked = tuple(p for p in paths if str(p) != "-")
    known: dict[str, Any] = {"runs": runs, "qrels": qrels, "matrices": found, "files": checked, "dropped": dropped}
    return known | ({} if str(qrels_path) == "-" else {"qrels_file": qrels_path})


def _runs(paths: Sequence[Path], lenient: bool, ranks: bool, jobs: int) -> tuple[list[Run], tuple[str, ...]]:
    """The runs, with their rank column if it is needed, and the lines that lenient reading dropped."""
    from assay.cli.inputs import load_runs

    if not lenient and not ranks:
        return load_runs(paths, jobs=jobs), ()
    if not lenient:
        from assay.io import read_run

        return [read_run(path, ranks=True) for path in paths], ()
    from assay.check import read_run_leniently

    read = [(path, *read_run_leniently(path)) for path in paths]
    return [run for _, run, _ in read], tuple(f"{path}:{p.line}: {p.what}" for path, _, bad in read for p in bad)


def _write(material: Material, sections: list[str] | None, title: str, out: Output) -> None:
    from assay.report.write import write_page, write_tables

    with out.progress("writing the report") as progress:
        if out.format == "html":
            path = out.path or Path("report.html")
            write_page(path, material, sections=sections, title=title, progress=progress)
        else:
            path = out.path or Path("report")
            write_tables(path, material, format=out.format, sections=sections, progress=progress)
    out.say(f"report written to {path}")


def _published(
    path: Path, files: Sequence[Path], qrels_path: Path | None, measures: str | None, transpose: bool, out: Output
) -> None:
    """The chart of published scores, or its table."""
    from assay.core.tables import render
    from assay.report.figures import save_figure
    from assay.report.published import read_published

    given = load_scores(files, qrels_path=qrels_path, measures=measures, transpose=transpose) if files else []
    runs = given[0].means().tolist() if given else []
    found = read_published(path, runs=runs, measure=given[0].measure if given else (measures or "AP"))
    target = out.path or Path("published.html")
    if out.format == "html":
        save_figure(found, target)
    else:
        target = out.path or Path(f"published.{'tex' if out.format == 'latex' else out.format}")
        Output(out.format, target, out.quiet).text(render([found.table()], out.format))
    out.say(f"published scores written to {target}")
    click.echo(render([found.table()]))
