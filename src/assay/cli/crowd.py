"""assay crowd: from many workers to judgments one can trust."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli.columns import named_values
from assay.cli.commands import TARGET, Group, KnownWord, RegistryOption
from assay.cli.inputs import FILE
from assay.cli.label_files import (
    calibration_option,
    has_effect,
    labels_input,
    read_reference,
    reference_option,
    say_left_out,
    say_repeats,
    show_option,
    shown_parts,
)
from assay.cli.label_files import load_labels as load_labels
from assay.cli.options import Output, output_and_figure_options, output_options

if TYPE_CHECKING:
    from assay.agreement.scales import Scale
    from assay.crowd import Uncertain
    from assay.crowd.acceptance import Acceptance
    from assay.data import Labels, Qrels

COUNT = click.IntRange(min=0)


@click.group(cls=Group)
def command() -> None:
    """From many workers to judgments one can trust.

    LABELS is a table (CSV, TSV, JSONL, Parquet, compressed or not) with the columns topic, doc, worker, label and
    perhaps task, position, seconds, attempt, gold. --column says which columns hold them under other names.

    \b
    Are the workers any good, and what is odd in the file:
      assay crowd check labels.csv --scale S100 --reference expert.qrels
    Qrels with their uncertainty:
      assay crowd aggregate labels.csv --method dawid-skene --qrels crowd.qrels --uncertainty crowd.csv
    Two campaigns on the same docs:
      assay crowd compare s100.tsv s4.tsv --scale s100=S100 --scale s4=S4 --reference expert.qrels
    From 0–100 to relevant or not:
      assay crowd transform labels.csv --scale S100 --levels 2 --way D_a+t --target expert.qrels --qrels binary.qrels
    """


@command.command()
@output_and_figure_options
@labels_input
@reference_option
@click.option("--gold", type=FILE, help="Qrels of gold docs, where the file has no gold column.")
@click.option(
    "--protocol", "protocol_name", cls=RegistryOption, registry="assay.crowd.protocol:PROTOCOLS", default="none",
    show_default=True, metavar="NAME",
    help="What every task must fulfil, one of: {names}. none: gold docs in the right order, where there are any; s100: "
    "the checks of the 0–100 collection of Roitero et al. 2018. The options below add or change a check.",
)  # fmt: skip
@click.option("--docs", type=click.IntRange(min=1), help="Docs per task.")
@click.option("--gold-docs", type=click.IntRange(min=1), help="Gold docs per task.")
@click.option("--seconds", type=click.FloatRange(min=0, min_open=True), help="Minimum seconds on --on-docs docs.")
@click.option("--on-docs", type=click.IntRange(min=1), help="Docs that must take --seconds.  [default: all of a task]")
@click.option("--start", type=float, help="Preset value of the slider; checks that it was moved.")
@click.option("--moved", type=click.IntRange(min=1), help="Docs on which it must be moved.  [default: 1]")
@click.option("--attempts", type=click.IntRange(min=1), help="Maximum attempts.")
@click.option("--test-question", is_flag=True, help="The test question must be answered right.")
@click.option("--accepted", type=TARGET, help="Write the labels of tasks that pass all checks here.")
@click.option("--rejected", type=TARGET, help="Write the tasks that fail a check here, with their workers and reasons.")
@click.option("--bonus", type=TARGET, help="Write the workers who deserve a bonus here.")
@click.option("--bonus-share", type=click.FloatRange(0, 1), default=0.25, show_default=True,
              help="Share of the workers without a rejected task and without suspicion.")  # fmt: skip
@click.option("--most", type=COUNT, default=10, show_default=True, help="Rows of workers, docs and failures.")
@show_option("assay.crowd.checkup:PARTS")
def check(
    labels: Labels,
    scale: Scale,
    reference: Path | None,
    gold: Path | None,
    protocol_name: str,
    docs: int | None,
    gold_docs: int | None,
    seconds: float | None,
    on_docs: int | None,
    start: float | None,
    moved: int | None,
    attempts: int | None,
    test_question: bool,
    accepted: Path | None,
    rejected: Path | None,
    bonus: Path | None,
    bonus_share: float,
    most: int,
    show: tuple[str, ...],
    out: Output,
) -> None:
    """What is odd, which tasks fail which check, and which workers deserve a second look.

    \b
      assay crowd check labels.tsv --scale S100 --times 100 --reference trec8.qrels --protocol s100
      assay crowd check labels.csv --docs 10 --seconds 5
      assay crowd check labels.csv --accepted good.csv --rejected bad.csv --bonus bonus.csv
      assay crowd check labels.tsv --show workers --most 1000 --format csv
    """
    from assay.crowd.acceptance import refuse_nothing_accepted
    from assay.crowd.checkup import check_labels
    from assay.crowd.protocol import protocol_of

    has_effect("bonus_share", bonus is not None, "without --bonus")
    protocol = protocol_of(
        protocol_name, docs=docs, gold=gold_docs, seconds=seconds, on_docs=on_docs, start=start, moved=moved,
        attempts=attempts, test_question=test_question or None,
    )  # fmt: skip
    has_effect("on_docs", protocol.seconds is not None, "without the check of seconds")
    has_effect("moved", protocol.start is not None, "without --start")
    result = check_labels(
        labels,
        scale=scale,
        reference=read_reference(reference),
        gold=read_reference(gold),
        protocol=protocol,
        bonus_share=bonus_share,
    )
    if accepted is not None:
        refuse_nothing_accepted(result.accepted)
    drawn = result.drawn()
    out.write(*shown_parts(result.parts(most=most), show), of=result, drawn=drawn)
    for warning in result.warnings:
        out.say(warning)
    write_lists(result.accepted, accepted, rejected, bonus, out)


def write_lists(
    found: Acceptance, accepted: Path | None, rejected: Path | None, bonus: Path | None, out: Output
) -> None:
    """The accepted labels, the rejected tasks and the bonus list, where a path was given."""
    from assay.crowd.acceptance import write_bonus, write_rejected
    from assay.io.labels import write_labels

    if accepted:
        write_labels(accepted, found.accepted)
        out.say(f"{len(found.accepted)} accepted labels written to {accepted}")
    if rejected:
        write_rejected(rejected, found.rejected)
        out.say(f"{len(found.rejected)} rejected tasks written to {rejected}")
    if bonus:
        write_bonus(bonus, found.bonus)
        out.say(f"{len(found.bonus)} workers with a bonus written to {bonus}")


@command.command()
@output_and_figure_options
@labels_input
@click.option(
    "--method",
    default="majority",
    show_default=True,
    cls=RegistryOption,
    registry="assay.crowd.aggregation:AGGREGATIONS",
    help="One of: {names}; parameters as in 'dawid-skene(restarts=5)'. See `assay crowd methods`.",
)
@click.option("--repeats", default="all", show_default=True, type=KnownWord("assay.agreement.ratings:REPEATS"),
              help="Where a worker labelled a doc more than once.")  # fmt: skip
@click.option("--qrels", "qrels_path", type=TARGET, help="Write the qrels here.")
@click.option("--uncertainty", type=TARGET, help="Write grade, low, high, probability and sd of each doc here.")
@click.option("--workers", type=COUNT, default=0, help="Also show N workers as the model sees them.")
@click.option("--most", type=COUNT, default=10, show_default=True, help="Show the N least certain docs.")
@reference_option
@click.option("--cut", type=float, help="Label from which on a doc is relevant, for --reference.  [default: where κ "
              "with it is highest; the middle of the scale if both are on it]")  # fmt: skip
@click.option("--rel", type=float, help="Grade of the reference from which on a doc is relevant.  [default: that of "
              "--cut if the reference is on the scale of the labels, else 1]")  # fmt: skip
@click.option("--give", type=KnownWord("assay.crowd.uncertain:GIVEN"), default="level", show_default=True,
              help="Grades of methods for levels: the most probable, or the expected one, a fraction.")  # fmt: skip
@calibration_option
@show_option("assay.crowd.uncertain:PARTS")
def aggregate(
    labels: Labels,
    scale: Scale,
    method: str,
    repeats: str,
    qrels_path: Path | None,
    uncertainty: Path | None,
    workers: int,
    most: int,
    reference: Path | None,
    cut: float | None,
    rel: float | None,
    give: str,
    calibration: str | None,
    show: tuple[str, ...],
    out: Output,
) -> None:
    """Qrels from workers, and how sure each grade is.

    Means and other numbers keep their fractions, in the qrels too; --give expected gives models of levels fractions.
    With --reference also how far the probabilities hold.

    \b
      assay crowd aggregate labels.csv --method 'dawid-skene(restarts=5)' --qrels crowd.qrels --uncertainty crowd.csv
      assay crowd aggregate labels.csv --method dawid-skene --reference gold.qrels --calibration platt
    """
    from assay.crowd import aggregate as aggregated
    from assay.crowd.probability_checks import calibrated, reliability
    from assay.crowd.reference_agreement import agreement_with_reference

    has_effect("cut", reference is not None, "without --reference")
    has_effect("rel", reference is not None, "without --reference")
    has_effect("calibration", reference is not None, "without --reference")
    judged = aggregated(labels, method, scale=scale, repeats=repeats)
    has_effect("give", judged.posterior is not None, f"with {judged.method}, whose grades are numbers already")
    has_effect("workers", bool(judged.workers), f"with {judged.method}, which says nothing about workers")
    known = read_reference(reference)
    compared = checked = None
    if known is not None:
        compared = agreement_with_reference(labels, known, [judged.giving(give)], scale=scale, cut=cut, rel=rel)
        if judged.posterior is not None:
            checked = reliability(judged, known, cut=compared.cut, rel=compared.rel, calibration=calibration)
        if calibration is not None:
            judged = calibrated(judged, known, calibration, rel=compared.rel)
            compared = agreement_with_reference(labels, known, [judged.giving(give)], scale=scale, cut=cut, rel=rel)
    judged = judged.giving(give)
    refuse_unwritable(judged, qrels_path)
    parts = judged.parts(most=most, workers=workers, reference=compared, calibration=checked)
    out.write(*shown_parts(parts, show), of=judged, drawn=None if checked is None else [judged, checked])
    say_repeats(labels, scale, out, "all count" if repeats == "all" else f"the {repeats} counts")
    _say_shared_errors(labels, known, out)
    write_judgments(judged, qrels_path, uncertainty, out)


def _say_shared_errors(labels: Labels, reference: Qrels | None, out: Output) -> None:
    """Where workers labelled all docs, as machine judges do: whether they err together, or that nobody can see it."""
    from assay.crowd.shared_errors import shared_errors_remark

    remark = shared_errors_remark(labels, reference)
    if remark is not None:
        out.say(remark)


def refuse_unwritable(judged: Uncertain, qrels: Path | None) -> None:
    """An error, before anything is shown, if the qrels cannot be written as the file that was named."""
    from assay.io.writers import refuse_unfit

    if qrels:
        refuse_unfit(qrels, judged.qrels())


def write_judgments(judged: Uncertain, qrels: Path | None, uncertainty: Path | None, out: Output) -> None:
    """The judgments as qrels, and with their uncertainty, where a path was given; and what a person must know."""
    from assay.crowd import write_uncertain
    from assay.io import write_qrels

    for warning in judged.warnings:
        out.say(warning)
    if qrels:
        write_qrels(qrels, judged.qrels())
        out.say(f"qrels written to {qrels}")
    if uncertainty:
        write_uncertain(uncertainty, judged)
        out.say(f"uncertainty written to {uncertainty}")


@command.command()
@output_options
def methods(out: Output) -> None:
    """The aggregations and the ways of choosing a cut, with their parameters."""
    from assay.crowd.listing import known_methods

    out.write(known_methods())


@command.command()
@click.argument("path", metavar="PREFERENCES", type=FILE)
@click.option("--column", "columns", multiple=True, metavar="OURS=THEIRS", help="E.g. other=doc2; repeatable.")
@click.option("--where", multiple=True, metavar="COLUMN=VALUE", help="Only these rows; repeatable.")
@click.option("--topic", help="The topic of all rows, if the file has no such column.")
@click.option("--drop-empty", is_flag=True, help="Leave out rows without a label, and say which.")
@click.option("--prior", default=0.5, show_default=True, help="Wins and losses added to each doc.")
@click.option("--qrels", "qrels_path", type=TARGET, help="Write the qrels here.")
@click.option("--uncertainty", type=TARGET, help="Write grade, low, high and sd of each doc here.")
@click.option("--most", type=COUNT, default=20, show_default=True, help="Show at most N docs.")
@show_option("assay.crowd.preference_pairs:PARTS")
@output_and_figure_options
def preferences(
    path: Path,
    columns: tuple[str, ...],
    where: tuple[str, ...],
    topic: str | None,
    drop_empty: bool,
    prior: float,
    qrels_path: Path | None,
    uncertainty: Path | None,
    most: int,
    show: tuple[str, ...],
    out: Output,
) -> None:
    """Grades from preference pairs: columns topic, doc, other, worker, label (1 this doc, 0 the other, .5 a tie).

    The labels may also be the words this, other and tie.

    \b
      assay crowd preferences pairs.csv --qrels crowd.qrels
    """
    from assay.crowd import aggregate as aggregated
    from assay.crowd.preference_pairs import preferences_and_empty

    pairs, left_out = preferences_and_empty(
        path,
        columns=named_values(columns, "--column"),
        where=named_values(where, "--where"),
        topic=topic,
        empty="drop" if drop_empty else "error",
    )
    say_left_out(left_out, out.say)
    judged = aggregated(pairs, "bradley-terry", prior=prior)
    refuse_unwritable(judged, qrels_path)
    out.write(*shown_parts(judged.parts(most=most, workers=0), show), of=judged)
    write_judgments(judged, qrels_path, uncertainty, out)


# The other commands of the group live in a file of their own and join it when it is imported.
from assay.cli import crowd_allocation, crowd_campaigns, crowd_cuts, crowd_scales, crowd_tasks  # noqa: E402, F401
