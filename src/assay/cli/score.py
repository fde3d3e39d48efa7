"""assay score: files in, scores out."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli.columns import named_columns
from assay.cli.commands import TARGET, Command, KnownWord
from assay.cli.inputs import (
    FILE,
    chosen_measures,
    intent_options,
    judgments_of,
    load_qrels,
    measures_at,
    measures_option,
    policy_options,
    run_files,
    run_sources,
    runs_argument,
)
from assay.cli.label_files import gold_options
from assay.cli.modes import is_given, refuse_others
from assay.cli.options import Output, jobs_option, seed_option, with_output
from assay.cli.run_info import by_option, groups_by, kept_runs
from assay.core.errors import UsageError
from assay.core.tables import FORMATS, Table

if TYPE_CHECKING:
    from assay.core.results import Result
    from assay.data import Qrels, Run
    from assay.data.intents import IntentQrels
    from assay.data.scores import Scores
    from assay.measures import Measure
    from assay.scoring import Aligned, Policy

DEFAULT = "AP nDCG@10 P@10 RR"
WITH_GOLD = "DCG@10 P@10"
"""Measures by default if gold docs correct uncertain judgments."""
POLICY = frozenset(
    {"binary", "ties", "missing", "compat", "condensed", "depth", "top_grade", "max_docs", "judged_only"}
)
WORKERS = frozenset({"jobs", "engine", "scheduler"})
TABLES = POLICY | WORKERS | {"by", "per_topic", "save", "draw", "figure", "rel", "lenient", "lengths", "seed"}
AS_TREC_EVAL = frozenset({"complete", "no_summary", "zscores", "rel_format", "run_format", "collection_size"})
OF_PARTS = "a folder of parts"
MODES = {
    "--qrels": frozenset({"qrels_path", "bounds", *TABLES}),
    "--intents": frozenset({"intents", "intent_info", *TABLES}) - {"top_grade", "lengths"},
    "--uncertainty": frozenset({"uncertainty", "seed", "reference", "calibration"}),
    OF_PARTS: frozenset({"qrels_path", "rel", *POLICY, *WORKERS}),
    "--format trec_eval": AS_TREC_EVAL
    | {"qrels_path", "per_topic", "rel", "lenient", "compat", "condensed", "depth", "max_docs", "judged_only"},
}
"""What scores are made of, and the options that have an effect there."""


@click.command(cls=Command)
@runs_argument
@click.option(
    "--qrels", "qrels_path", type=click.Path(path_type=Path, allow_dash=True),
    help="Judgments: topic 0 doc grade, or irds:ID; for runs in parts also the folder of their parts.",
)  # fmt: skip
@intent_options[0]
@intent_options[1]
@measures_option
@by_option("Also the best, median and worst run of each group, by a column of --info, e.g. team.")
@click.option("--per-topic", "-q", is_flag=True, help="Also a row for every topic.")
@click.option("--save", type=TARGET, help="Write all scores to a .csv, .tsv or .parquet file.")
@click.option("--uncertainty", type=FILE, help="Instead of --qrels, uncertain judgments from `assay crowd aggregate`.")
@gold_options
@click.option(
    "--bounds", is_flag=True, help="Also the score if no unjudged doc were relevant, and if all had the top grade."
)
@click.option(
    "--draw", type=KnownWord("assay.report.score_pictures:PICTURES"), default="map",
    show_default=True, help="What --figure shows: scores by topic, raw and standardized, diversity, curves, or ranks.",
)  # fmt: skip
@click.option("--lengths", type=FILE, help="Words per doc (lines `doc words`), for measures of time and cost.")
@click.option("--lenient", is_flag=True, help="Leave out bad lines and say which, instead of stopping.")
@click.option("--plugin", type=click.Path(path_type=Path, exists=True), help="A Python file that registers measures.")
@click.option("-c", "complete", is_flag=True, help="trec_eval's -c: average over all topics of the qrels.")
@click.option("-M", "max_docs", type=click.IntRange(min=1), help="trec_eval's -M: as --depth.")
@click.option("-J", "judged_only", is_flag=True, help="trec_eval's -J: as --condensed.")
@click.option("-n", "no_summary", is_flag=True, help="trec_eval's -n: no `all` rows.")
@click.option("-Z", "zscores", type=FILE, help="trec_eval's -Z: standardize by `topic measure mean sd` lines.")
@click.option(
    "-R", "rel_format", type=KnownWord("assay.trec_eval.asked:FORMATS"), default="qrels",
    help="trec_eval's -R: format of the judgments; prefs: topic group subgroup doc level, the others: qrels.",
)  # fmt: skip
@click.option(
    "-T",
    "run_format",
    type=KnownWord("assay.trec_eval.asked:RUN_FORMATS"),
    default="trec_results",
    help="trec_eval's -T: format of the runs.",
)
@click.option(
    "-N", "collection_size", type=click.IntRange(min=1),
    help="trec_eval's -N: docs in the collection, for utility with a fourth parameter.",
)  # fmt: skip
@policy_options
@seed_option
@jobs_option
@functools.partial(
    with_output, figure=True, formats=(*FORMATS, "trec_eval"), folders="; for runs in parts a folder, for all scores"
)
def command(
    runs: tuple[Path, ...],
    qrels_path: Path | None,
    intents: Path | None,
    intent_info: Path | None,
    uncertainty: Path | None,
    reference: Path | None,
    calibration: str | None,
    measures: str | None,
    by: str | None,
    per_topic: bool,
    save: Path | None,
    bounds: bool,
    draw: str,
    rel: float,
    lengths: Path | None,
    lenient: bool,
    plugin: Path | None,
    complete: bool,
    max_docs: int | None,
    judged_only: bool,
    no_summary: bool,
    zscores: Path | None,
    rel_format: str,
    run_format: str,
    collection_size: int | None,
    policy: Policy,
    seed: int,
    jobs: int,
    out: Output,
) -> None:
    """Score runs against judgments.

    \b
    assay score --qrels qrels.txt bm25.run dpr.run -m 'AP nDCG@10'
    assay score --qrels qrels.txt runs/ --per-topic --save scores.parquet
    assay score --qrels qrels.txt bm25.run --format trec_eval --compat trec_eval-9 -m all_trec -q
    assay score --intents diversity.qrels bm25.run -m 'alpha-nDCG@20 D#-nDCG@10'

    Without --format trec_eval every topic of the qrels counts, as with trec_eval's -c.
    """
    from assay.core.memory import keep_freed_memory

    keep_freed_memory()
    if plugin is not None:
        from assay.measures.plugins import load_plugin

        load_plugin(plugin)
    mode = _mode(runs, out.format, intents, uncertainty)
    refuse_others(mode, MODES)
    policy = _with_short_flags(policy, max_docs, judged_only)
    if mode == OF_PARTS:
        from assay.cli.score_parts import write_scores_of_parts

        asked = measures_at(chosen_measures(measures or DEFAULT), rel, policy.binary is not None)
        write_scores_of_parts(runs, qrels_path, asked, policy, jobs=jobs, out=out)
        return
    _refuse_folders(qrels_path, out.path)
    files = run_files(runs)
    if mode == "--format trec_eval":
        if qrels_path is None:
            raise UsageError("--format trec_eval needs judgments; give --qrels")
        from assay.trec_eval import Options, output, read_judgments, read_zscores

        named = (measures or "official").split()
        options = Options(
            policy.compat or "trec_eval-9", tuple(named), per_topic, complete, rel, policy.depth, policy.condensed,
            not no_summary, read_zscores(zscores) if zscores else {}, rel_format, run_format, collection_size or 0,
        )  # fmt: skip
        judgments = read_judgments(qrels_path, rel_format, columns=named_columns())
        _say_lost(judgments, rel, out)
        out.text("".join(output(run, judgments, options) for run in _read(files, lenient, out)).removesuffix("\n"))
        return
    wanted = chosen_measures(measures or (DEFAULT if reference is None else WITH_GOLD))
    if uncertainty is not None:
        found = uncertain_scores(_read(files, False, out), uncertainty, wanted, reference, calibration, seed, out)
        out.write(*(result.table() for result in found), of=found)
        return
    _check_effects(wanted, policy, out)
    qrels = _judgments(qrels_path, intents, intent_info)
    at_level = measures_at(wanted, rel, policy.binary is not None)
    _score(
        runs, qrels, at_level, policy, by=by, per_topic=per_topic, save=save, bounds=bounds,
        draw=draw, lengths=lengths, lenient=lenient, jobs=jobs, out=out,
    )  # fmt: skip


def _say_lost(judgments: object, rel: float, out: Output) -> None:
    """A remark where no grade is relevant at the level of -l; what trec_eval prints stays as it is."""
    from assay.data import Qrels

    highest = float(judgments.grades.max(initial=0)) if isinstance(judgments, Qrels) else 0.0
    if 0 < highest < rel:
        out.say(f"highest grade {highest:g}: no doc is relevant at grade {rel:g}; give a lower -l")


def _refuse_folders(*paths: Path | None) -> None:
    """An error where a folder is given for what is a file unless runs lie in parts."""
    for path in paths:
        if path is not None and path.is_dir():
            raise UsageError(
                f"{path}: this is a folder; name a file (a folder goes with runs in parts, see assay split)"
            )


def _mode(runs: Sequence[Path], format: str, intents: Path | None, uncertainty: Path | None) -> str:
    """What the scores are made of."""
    if any(path.is_dir() for path in runs):
        from assay.parts.layout import is_parts_folder

        if any(is_parts_folder(path) for path in runs):
            return OF_PARTS
    if format == "trec_eval":
        return "--format trec_eval"
    if uncertainty is not None:
        return "--uncertainty"
    return "--qrels" if intents is None else "--intents"


def _with_short_flags(policy: Policy, max_docs: int | None, judged_only: bool) -> Policy:
    """The policy with trec_eval's -M and -J, which are other names of --depth and --condensed."""
    from dataclasses import replace

    if max_docs is not None and policy.depth is not None:
        raise UsageError("-M and --depth are the same; give one of them")
    if judged_only and policy.condensed:
        raise UsageError("-J and --condensed are the same; give one of them")
    return replace(policy, depth=max_docs or policy.depth, condensed=judged_only or policy.condensed)


def _check_effects(measures: list[Measure], policy: Policy, out: Output) -> None:
    """An error where an option is given that none of the measures, or nothing that is shown, looks at."""
    if is_given("draw") and out.figure is None:
        raise UsageError("--draw says what the figure shows; name its file with --figure")
    if is_given("lengths") and not any(m.uses_lengths for m in measures):
        raise UsageError("--lengths has no effect: none of these measures looks at lengths or costs; leave it out")
    if is_given("seed") and policy.ties != "average":
        raise UsageError("--seed has no effect: only --ties average may draw orders; leave it out")
    if is_given("top_grade") and not any(m.entry.facts.get("uses_top") for m in measures) and not is_given("bounds"):
        raise UsageError("--top-grade has no effect: none of these measures looks at the top grade; leave it out")


def _score(
    paths: Sequence[Path], qrels: Qrels | IntentQrels, measures: list[Measure], policy: Policy, *,
    by: str | None, per_topic: bool, save: Path | None, bounds: bool, draw: str, lengths: Path | None, lenient: bool,
    jobs: int, out: Output,
) -> None:  # fmt: skip
    """Everything but trec_eval's own output."""
    from assay.scoring import Aligned, evaluate

    words = _words_of_docs(lengths) if lengths else None
    runs = _read(run_files(paths), True, out) if lenient else run_sources(paths)
    columns = named_columns()
    aligned: Aligned | None = None
    with out.progress("scoring") as progress:
        if bounds or (out.figure is not None and _is_of_runs(draw)):
            # The runs are needed again: they are read and joined once for all that is asked.
            aligned = Aligned.of(
                runs, _plain(qrels, bounds, draw), policy=policy, columns=columns, jobs=jobs, progress=progress
            )
            scores = aligned.scores(measures, lengths=words, jobs=jobs)
        else:
            scores = evaluate(
                runs, qrels, measures, policy=policy, lengths=words, columns=columns, jobs=jobs, progress=progress
            )
    more = [_bounds(aligned, measures, jobs)] if bounds and aligned is not None else []
    if per_topic:
        more.append(scores.per_topic())
    if by is not None:
        from assay.stats.run_places import run_groups

        more.append(run_groups(list(scores), groups_by(by), by=by).table())
    # CSV holds one table: the one that was asked for, which has the scores in it.
    tables = more if out.format == "csv" and more else [scores.table(), *more]
    out.write(*tables, of=scores, drawn=_pictures(scores, draw, aligned) if out.figure else None)
    if save:
        from assay.io.scores import write_scores

        write_scores(save, scores)
        out.say(f"scores written to {save}")


def _words_of_docs(path: Path) -> dict[str, float]:
    from assay.io.lengths import read_lengths

    return read_lengths(path)


def _bounds(aligned: Aligned, measures: list[Measure], jobs: int) -> Table:
    from assay.scoring import bounds

    return bounds(aligned, measures, jobs=jobs).table()


def _is_of_runs(draw: str) -> bool:
    from assay.report.score_pictures import ON_RUNS

    return draw in ON_RUNS


def _pictures(scores: Scores, draw: str, aligned: Aligned | None) -> object:
    from assay.report.score_pictures import score_pictures

    return score_pictures(scores, draw, aligned=aligned)


def _plain(qrels: Qrels | IntentQrels, bounds: bool, draw: str) -> Qrels:
    """The judgments if they are not by intent, else an error."""
    from assay.data import Qrels

    if isinstance(qrels, Qrels):
        return qrels
    raise UsageError(f"{'--bounds' if bounds else f'--draw {draw}'} needs plain judgments; give --qrels")


def uncertain_scores(
    runs: Sequence[Run], judgments: Path, measures: list[Measure], reference: Path | None, calibration: str | None,
    seed: int, out: Output, *, baseline: str | None = None,
) -> Sequence[Result]:  # fmt: skip
    """Scores under uncertain judgments: with gold docs and intervals, or under draws of the judgments."""
    from assay.crowd import gold_scores, read_uncertain, score_uncertainty

    uncertain = read_uncertain(judgments)
    if reference is not None:
        if is_given("seed"):
            raise UsageError("--seed has no effect with --reference, where nothing is drawn; leave it out")
        gold = load_qrels(reference)
        return [gold_scores(runs, uncertain, gold, m, baseline=baseline, calibration=calibration) for m in measures]
    if calibration is not None:
        raise UsageError("--calibration has no effect without --reference; leave it out")
    with out.progress("drawing judgments") as progress:
        return [
            score_uncertainty(runs, uncertain, str(m), baseline=baseline, seed=seed, progress=progress)
            for m in measures
        ]


def _judgments(qrels: Path | None, intents: Path | None, info: Path | None) -> Qrels | IntentQrels:
    """The judgments, plain or by intent."""
    judgments = judgments_of(qrels, intents, info)
    if judgments is None:
        raise UsageError("give --qrels, or --intents for judgments by intent, or --uncertainty for uncertain judgments")
    return judgments


def _read(files: list[Path], lenient: bool, out: Output) -> list[Run]:
    from assay.check import read_runs_leniently
    from assay.io import read_runs

    columns = named_columns()
    if not lenient:
        return kept_runs([run for path in files for run in read_runs(path, columns=columns)])
    runs, remarks = read_runs_leniently(files, columns=columns)
    for remark in remarks:
        out.say(remark)
    return kept_runs(runs)
