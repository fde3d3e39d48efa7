"""assay check: what is odd in the files, with line numbers, and what a collection consists of."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from assay.cli.columns import named_columns, with_columns
from assay.cli.commands import Command
from assay.cli.inputs import FILE, binary_option, intent_options, kept_files, load_qrels, load_runs, rel_option
from assay.cli.modes import is_given
from assay.cli.options import Output, output_and_figure_options
from assay.cli.run_info import by_option, has_info, info_alone, info_for, is_filtered
from assay.core.errors import UsageError

if TYPE_CHECKING:
    from assay.core.results import Result
    from assay.core.tables import Table
    from assay.pooling.collection_facts import CollectionFacts, PoolByType


@click.command(cls=Command)
@with_columns(click.argument("runs", nargs=-1, type=click.Path(path_type=Path, allow_dash=True)))
@info_alone("also what runs of each type brought to the judged docs, with --qrels")
@click.option("--qrels", "qrels_path", type=FILE, help="Judgments to check too, and to check the runs against.")
@intent_options[0]
@intent_options[1]
@click.option("--ties", is_flag=True, help="Only the table that says how far ties could move a score; with --qrels.")
@click.option("--all", "every", is_flag=True, help="Every finding, also of many files.  [default for CSV and JSON]")
@click.option("--per-topic", is_flag=True, help="Also the judged and relevant docs of every topic; with --qrels.")
@click.option(
    "--part", "parts", multiple=True, metavar="NAME=TOPICS",
    help="Describe parts of the topics side by side, e.g. T8=401-450; repeatable, with --qrels.",
)  # fmt: skip
@by_option("Column of --info to group by.", "type")
@click.option("--depth", type=click.IntRange(min=1), help="With --info: only the first N docs of each run.")
@rel_option
@binary_option
@output_and_figure_options
def command(
    runs: tuple[Path, ...], qrels_path: Path | None, intents: Path | None, intent_info: Path | None, ties: bool,
    every: bool, per_topic: bool,
    parts: tuple[str, ...], by: str, depth: int | None, rel: float, binary: bool, out: Output,
) -> None:  # fmt: skip
    """Say what is odd in run and qrels files, with line numbers.

    Judgments alone are also described: how many docs are pooled, judged and relevant per topic, and of which grade.

    \b
    assay check --qrels qrels.txt bm25.run
    assay check --qrels qrels.txt runs/ --all
    assay check --qrels qrels.txt --part old=351-450 --part new=601-700 --figure relevant.svg
    assay check --qrels qrels.txt runs/ --info runs.csv --by type --depth 10
    assay check --intents web.dqrels --intent-info web.intents runs/

    Of more than 10 files with findings: how many files have each kind of finding and the worst file of each, the first
    errors, and the scores that ties could move most; --all shows the rest.

    Exit code 1 if there are errors, 0 if there are only remarks.
    """
    from assay.check import check

    if intents is not None or intent_info is not None:
        _check_by_intent(runs, qrels_path, intents, intent_info, out)
    _refuse_without(runs, qrels_path, ties)
    info = has_info() and qrels_path is not None
    described = not runs or per_topic or bool(parts)
    if is_given("rel") and not (binary or described or info):
        raise UsageError("--rel says from which grade on --binary counts a doc as relevant; give both")
    if ties and every:
        raise UsageError("--all has no effect with --ties, which shows the whole table; leave it out")
    if out.figure is not None and not (described or info):
        raise UsageError(
            "--figure draws the judged docs of each topic or, with --info, of each type of run; see --help"
        )
    with out.progress("checking") as progress:
        findings = check(
            kept_files(runs), qrels_path, binary=rel if binary else False, columns=named_columns(), progress=progress
        )
    results: list[Result] = []
    details: list[Table] = []
    if qrels_path is not None and not findings.errors:
        if described:
            facts = _facts(qrels_path, parts, rel)
            results.append(facts)
            details += [facts.table(), *([facts.topics_table()] if per_topic else [])]
        if info:
            pool = _pool_by_type(runs, qrels_path, by, depth, rel)
            results.append(pool)
            details.append(pool.table())
    odd = [findings.ties] if ties else findings.shown(every=every or out.format in ("csv", "json"))
    if out.format != "csv":
        out.write(*details, *odd, of=results or findings)
    else:
        # CSV holds one table: the last of what was asked for, or what is odd.
        out.write(details[-1] if details else odd[0], of=results or findings)
        if details and findings.found:
            out.say(f"{len(findings.found)} findings are not in this CSV; read them in text or JSON")
    sys.exit(1 if findings.errors else 0)


def _check_by_intent(
    runs: tuple[Path, ...], qrels_path: Path | None, intents: Path | None, intent_info: Path | None, out: Output
) -> NoReturn:
    """Say what is odd in judgments by intent, and in the runs beside them; every topic is described."""
    from dataclasses import replace

    from assay.check import check, check_intents

    if qrels_path is not None:
        raise UsageError("--qrels and --intents are both judgments of the runs; give one of them")
    if intents is None:
        raise UsageError("--intent-info describes the intents of --intents; give that as well")
    for name in ("ties", "per_topic", "parts", "by", "depth", "rel", "binary"):
        if is_given(name):
            raise UsageError(f"--{name.replace('_', '-')} goes with --qrels, not with --intents; leave it out")
    found, facts, plain = check_intents(intents, intent_info)
    with out.progress("checking") as progress:
        of_runs = check(kept_files(runs), plain, columns=named_columns(), progress=progress)
    findings = replace(of_runs, found=(*found, *of_runs.found))
    tables = [] if facts is None else [facts.table()]
    if out.format == "csv":
        out.write(tables[0] if tables else findings.table(), of=facts or findings)
    else:
        every = is_given("every") or out.format == "json"
        out.write(*tables, *findings.shown(every=every), of=facts or findings)
    sys.exit(1 if findings.errors else 0)


def _refuse_without(runs: tuple[Path, ...], qrels_path: Path | None, ties: bool) -> None:
    """Options that have no effect without another one."""
    if not runs and qrels_path is None:
        raise UsageError("nothing to check; give run files, or judgments with --qrels")
    if qrels_path is None:
        if ties:
            raise UsageError("--ties says how far scores could move; give --qrels")
        for name, text in (("binary", "changes judgments"), ("per_topic", "describes judgments")):
            if is_given(name):
                raise UsageError(f"--{name.replace('_', '-')} {text}; give --qrels")
        if is_given("parts"):
            raise UsageError("--part describes judgments; give --qrels")
        if has_info() and not is_filtered():
            raise UsageError("--info describes judgments by type of run, or goes with --where; give --qrels or that")
    if ties and not runs:
        raise UsageError("--ties says how far scores could move; give runs as well")
    if has_info() and not runs:
        raise UsageError("--info says what is known of runs; give the runs as well")
    for name in ("by", "depth"):
        if is_given(name) and not (has_info() and qrels_path is not None):
            raise UsageError(f"--{name} goes with --info, the table of runs, and --qrels; give both")


def _facts(qrels_path: Path, parts: tuple[str, ...], rel: float) -> CollectionFacts:
    from assay.pooling.collection_facts import describe

    named: dict[str, str] = {}
    for text in parts:
        name, equals, topics = text.partition("=")
        if not equals or not name or not topics:
            raise UsageError(f"--part {text!r}: write NAME=TOPICS, e.g. T8=401-450")
        if name in named:
            raise UsageError(f"--part {text!r}: {name!r} is there twice; give every part a name of its own")
        named[name] = topics
    return describe(load_qrels(qrels_path), rel=rel, parts=named)


def _pool_by_type(runs: tuple[Path, ...], qrels_path: Path, by: str, depth: int | None, rel: float) -> PoolByType:
    from assay.pooling.collection_facts import pool_by_type

    table = info_for("--by")
    return pool_by_type(load_runs(runs), load_qrels(qrels_path), table, column=by, depth=depth, rel=rel)
