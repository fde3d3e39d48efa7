"""assay score: files in, scores out."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli.commands import Command
from assay.cli.inputs import (
    FILE,
    chosen_measures,
    load_qrels,
    measures_option,
    policy_options,
    run_files,
    runs_argument,
)
from assay.cli.options import Output, jobs_option, seed_option, with_output
from assay.core.errors import UsageError
from assay.core.tables import FORMATS

if TYPE_CHECKING:
    from assay.data import Qrels, Run
    from assay.data.intents import IntentQrels
    from assay.data.scores import Scores
    from assay.measures import Measure
    from assay.scoring import Aligned, Policy

DEFAULT = "AP nDCG@10 P@10 RR"
ON_RUNS = ("recall-precision", "relevance")
"""Figures that are drawn from the runs themselves."""


@click.command(cls=Command)
@runs_argument
@click.option("--qrels", "qrels_path", type=FILE, help="Judgments: topic 0 doc grade.")
@click.option("--intents", type=FILE, help="Instead of --qrels, judgments by intent: topic intent doc grade.")
@click.option("--intent-info", type=FILE, help="Intents: topic intent probability [inf|nav].")
@measures_option
@click.option("--per-topic", "-q", is_flag=True, help="A row per topic too.")
@click.option("--save", type=click.Path(path_type=Path, dir_okay=False), help="All scores to a .csv, .tsv or .parquet.")
@click.option("--uncertainty", type=FILE, help="Instead of --qrels, judgments in doubt, from `assay crowd aggregate`.")
@click.option("--bounds", is_flag=True, help="Between which scores would judging the unjudged docs leave it?")
@click.option(
    "--draw", type=click.Choice(["map", "distribution", "recall-precision", "relevance"]), default="map",
    show_default=True, help="What --figure shows: scores by run and topic, raw and standardized, curves, or ranks.",
)  # fmt: skip
@click.option("--rel", "-l", type=float, default=1, show_default=True, help="Lowest relevant grade.")
@click.option("--lengths", type=FILE, help="Words per doc (lines `doc words`), for TBG and its kin.")
@click.option("--lenient", is_flag=True, help="Drop bad lines and say which, instead of stopping.")
@click.option("--plugin", type=click.Path(path_type=Path, exists=True), help="A Python file with measures of your own.")
@click.option("-c", "complete", is_flag=True, help="trec_eval's -c: average over all topics of the qrels.")
@click.option("-M", "max_docs", type=click.IntRange(min=1), help="trec_eval's -M: as --depth.")
@click.option("-J", "judged_only", is_flag=True, help="trec_eval's -J: as --condensed.")
@click.option("-n", "no_summary", is_flag=True, help="trec_eval's -n: no `all` rows.")
@click.option("-Z", "zscores", type=FILE, help="trec_eval's -Z: standardize by `topic measure mean sd` lines.")
@click.option(
    "-R", "rel_format", type=click.Choice(["qrels", "prefs", "qrels_prefs", "qrels_jg"]), default="qrels",
    help="trec_eval's -R: format of the judgments; prefs: topic group subgroup doc level, the others: qrels.",
)  # fmt: skip
@click.option("-T", "run_format", type=click.Choice(["trec_results"]), help="trec_eval's -T: format of the runs.")
@click.option(
    "-N", "collection_size", type=click.IntRange(min=1),
    help="trec_eval's -N: docs in the collection. As there, no measure uses it.",
)  # fmt: skip
@policy_options
@seed_option
@jobs_option
@functools.partial(with_output, figure=True, formats=(*FORMATS, "trec_eval"))
def command(
    runs: tuple[Path, ...],
    qrels_path: Path | None,
    intents: Path | None,
    intent_info: Path | None,
    uncertainty: Path | None,
    measures: str | None,
    per_topic: bool,
    save: Path | None,
    bounds: bool,
    draw: str,
    rel: int,
    lengths: Path | None,
    lenient: bool,
    plugin: Path | None,
    complete: bool,
    max_docs: int | None,
    judged_only: bool,
    no_summary: bool,
    zscores: Path | None,
    rel_format: str,
    run_format: str | None,
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
    from dataclasses import replace

    keep_freed_memory()
    if plugin is not None:
        from assay.measures.plugins import load_plugin

        load_plugin(plugin)
    policy = replace(policy, depth=max_docs or policy.depth, condensed=judged_only or policy.condensed)
    files = run_files(runs)
    if measures is None:
        measures = "official" if out.format == "trec_eval" else DEFAULT
    if uncertainty is not None:
        _only_in_doubt({"--qrels": qrels_path, "--intents": intents, "--per-topic": per_topic, "--save": save,
                        "--bounds": bounds, "--lenient": lenient, "--lengths": lengths, "--figure": out.figure,
                        "--format trec_eval": out.format == "trec_eval"})  # fmt: skip
        _in_doubt(files, uncertainty, chosen_measures(measures), seed, out)
        return
    if out.format == "trec_eval":
        from assay.trec_eval import Options, output, read_judgments, read_zscores

        if qrels_path is None:
            raise UsageError("trec_eval has no measures by intent; give --qrels")
        if save or bounds:
            raise UsageError("--save and --bounds do not go with --format trec_eval; leave them or the format out")
        options = Options(
            policy.compat or "trec_eval-9", tuple(measures.split()), per_topic, complete, rel,
            policy.depth, policy.condensed, not no_summary, read_zscores(zscores) if zscores else {}, rel_format,
        )  # fmt: skip
        judgments = read_judgments(qrels_path, rel_format)
        out.text("".join(output(r, judgments, options) for r in _read(files, lenient, out)).removesuffix("\n"))
        return
    qrels = _judgments(qrels_path, intents, intent_info)
    if zscores or no_summary or complete or rel_format != "qrels" or run_format or collection_size:
        raise UsageError("-c, -n, -N, -R, -T and -Z belong to --format trec_eval")
    _score(files, qrels, _with_rel(chosen_measures(measures), rel), policy,
           per_topic=per_topic, save=save, bounds=bounds, draw=draw, lengths=lengths, lenient=lenient, jobs=jobs,
           out=out)  # fmt: skip


def _score(
    files: list[Path], qrels: Qrels | IntentQrels, measures: list[Measure], policy: Policy, *,
    per_topic: bool, save: Path | None, bounds: bool, draw: str, lengths: Path | None, lenient: bool,
    jobs: int, out: Output,
) -> None:  # fmt: skip
    """Everything but trec_eval's own output."""
    from assay.io.lengths import read_lengths
    from assay.scoring import Aligned, evaluate
    from assay.scoring import bounds as score_bounds

    words = read_lengths(lengths) if lengths else None
    runs = _read(files, True, out) if lenient else files
    aligned: Aligned | None = None
    with out.progress("scoring") as progress:
        if bounds or (out.figure is not None and draw in ON_RUNS):
            # The runs are needed again: they are read and joined once for all that is asked.
            aligned = Aligned.of(runs, _plain(qrels, bounds, draw), policy=policy, jobs=jobs, progress=progress)
            scores = aligned.scores(measures, lengths=words, jobs=jobs)
        else:
            scores = evaluate(runs, qrels, measures, policy=policy, lengths=words, jobs=jobs, progress=progress)
    more = [score_bounds(aligned, measures, jobs=jobs).table()] if bounds and aligned is not None else []
    if per_topic:
        more.append(scores.per_topic())
    # CSV holds one table: the one that was asked for, which has the scores in it.
    tables = more if out.format == "csv" and more else [scores.table(), *more]
    out.write(*tables, of=_drawing(draw, scores, aligned) if out.figure else None)
    if save:
        from assay.io.scores import write_scores

        write_scores(save, scores)
        out.say(f"scores written to {save}")


def _plain(qrels: Qrels | IntentQrels, bounds: bool, draw: str) -> Qrels:
    """The judgments if they are not by intent, else an error."""
    from assay.data import Qrels

    if isinstance(qrels, Qrels):
        return qrels
    raise UsageError(f"{'--bounds' if bounds else f'--draw {draw}'} needs plain judgments; give --qrels")


def _drawing(draw: str, scores: Scores, aligned: Aligned | None) -> object:
    """What the figure is made of."""
    if aligned is not None and draw == "recall-precision":
        from assay.report.curves import recall_precision

        return recall_precision(aligned)
    if aligned is not None and draw == "relevance":
        from assay.report.figures.data import relevance_map

        return [relevance_map(aligned.grades(run), run=run) for run in aligned.names]
    if draw == "distribution":
        from assay.report.figures.data import distribution
        from assay.standard import standardize

        return [distribution(matrix, standardize(matrix, form="z")) for matrix in scores]
    return scores[0] if len(scores) == 1 else list(scores)


def _only_in_doubt(others: dict[str, object]) -> None:
    """An error if an option is given that scores with the doubt of their judgments do not have."""
    given = [name for name, value in others.items() if value]
    if given:
        raise UsageError(f"{given[0]} does not go with --uncertainty; leave one of them out")


def _in_doubt(files: list[Path], uncertainty: Path, measures: list[Measure], seed: int, out: Output) -> None:
    """Scores with the doubt of their judgments."""
    from assay.crowd import read_uncertain, score_uncertainty

    judgments, runs = read_uncertain(uncertainty), _read(files, False, out)
    with out.progress("drawing judgments") as progress:
        found = [score_uncertainty(runs, judgments, str(m), seed=seed, progress=progress) for m in measures]
    out.write(*(f.table() for f in found))


def _judgments(qrels: Path | None, intents: Path | None, info: Path | None) -> Qrels | IntentQrels:
    """The judgments, plain or by intent."""
    if (qrels is None) == (intents is None):
        raise UsageError("give --qrels, or --intents for judgments by intent, or --uncertainty for judgments in doubt")
    if qrels is not None:
        return load_qrels(qrels)
    from assay.io.intents import read_intent_qrels

    return read_intent_qrels(intents or "", intents=info)


def keep_freed_memory() -> None:
    """Tell the C library to keep the memory that arrays give back, for the arrays to come.

    glibc returns it to the system at once and asks for it again a moment later, which costs a third of the time of
    reading a large run. Elsewhere there is nothing to tell.
    """
    import ctypes
    import sys

    if sys.platform == "linux":
        libc = ctypes.CDLL(None)
        trim_threshold, mmap_threshold, size = -1, -3, 1 << 28
        if hasattr(libc, "mallopt"):
            libc.mallopt(trim_threshold, 2 * size)
            libc.mallopt(mmap_threshold, size)


def _read(files: list[Path], lenient: bool, out: Output) -> list[Run]:
    from assay.check import read_run_leniently
    from assay.io import read_run

    if not lenient:
        return [read_run(path, ranks=False) for path in files]
    runs = []
    for path in files:
        run, dropped = read_run_leniently(path)
        for problem in dropped[:10]:
            out.say(f"{path}:{problem.line}: dropped: {problem.what}")
        if dropped:
            out.say(f"{path}: {len(dropped)} lines dropped in all")
        runs.append(run)
    return runs


def _with_rel(measures: list[Measure], rel: float) -> list[Measure]:
    """The measures with --rel, where they have such a parameter and do not set it themselves."""
    from dataclasses import replace

    return [
        replace(m, parameters=(*m.parameters, ("rel", rel)))
        if rel != 1 and "rel" in m.entry.parameters and "rel" not in dict(m.parameters)
        else m
        for m in measures
    ]
