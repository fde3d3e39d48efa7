"""assay answers: score answers in words, by nuggets, citations, units or reference texts; and who agrees on them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli.commands import Group, KnownWord, RegistryOption
from assay.cli.inputs import FILE
from assay.cli.label_files import show_option, shown_parts
from assay.cli.options import Output, output_and_figure_options
from assay.cli.score_tables import called_measures, named_option, save_option, save_scores, show_scores
from assay.core.errors import UsageError

if TYPE_CHECKING:
    from assay.scoring.assigned_scores import AnswerScores

files_argument = click.argument("files", nargs=-1, required=True, type=FILE)
text_measures = named_option("assay.measures.text:TEXT_MEASURES")
per_topic_option = click.option("--per-topic", "-q", is_flag=True, help="Also a row for every topic.")
bank_option = click.option(
    "--bank", type=FILE, multiple=True,
    help="All nuggets of the topics, where not all stand with every answer. Repeatable.",
)  # fmt: skip
missing_option = click.option(
    "--missing", type=KnownWord("assay.data.policy_names:MISSING"), default="zero", show_default=True,
    help="A topic that a run does not answer.",
)  # fmt: skip
assessor_option = click.option("--assessor", metavar="NAME", help="Whose assignments, where they are of several.")
support_option = click.option(
    "--support", type=FILE, multiple=True, required=True, help="Support of the citations. Repeatable."
)


@click.group(cls=Group)
def command() -> None:
    """Score answers in words.

    \b
    assay answers nuggets assignments.jsonl
    assay answers support support.csv
    assay answers reports assignments.jsonl --support support.csv
    assay answers agreement people.csv gpt.csv
    assay answers units --nuggets key.nuggets run1 run2 -m 'S(L=500) T S#(L=500)'
    assay answers matches matched.csv -m 'NuggetF(beta=3) PyramidF'
    assay answers texts --key references.csv mine.csv -m 'ROUGE(kind=rouge2) POURPRE'
    """


@command.command()
@files_argument
@bank_option
@text_measures
@missing_option
@assessor_option
@per_topic_option
@save_option
@output_and_figure_options
def nuggets(
    files: tuple[Path, ...], bank: tuple[Path, ...], measures: str | None, missing: str, assessor: str | None,
    per_topic: bool, save: Path | None, out: Output,
) -> None:  # fmt: skip
    """Nugget recall of answers: strict or lenient, over vital or all nuggets, or weighted.

    FILES say which nuggets answers have: nuggetizer's JSONL, or tables with topic, run, nugget, importance (vital or
    okay) and assignment (support, partial_support or not_support), perhaps assessor.

    \b
    assay answers nuggets assignments.jsonl
    assay answers nuggets runs/*.jsonl --bank nuggets.jsonl -m 'V_strict A_strict' --save scores.csv
    """
    from assay.scoring.assigned_scores import OF_NUGGETS, evaluate_nuggets

    wanted = called_measures(measures, OF_NUGGETS)
    _show(evaluate_nuggets(files, wanted, bank=bank or None, missing=missing, assessor=assessor), per_topic, save, out)


@command.command()
@files_argument
@text_measures
@missing_option
@assessor_option
@per_topic_option
@save_option
@output_and_figure_options
def support(
    files: tuple[Path, ...], measures: str | None, missing: str, assessor: str | None, per_topic: bool,
    save: Path | None, out: Output,
) -> None:  # fmt: skip
    """Do the citations of answers support their sentences? Weighted precision and recall, sentence precision.

    FILES are tables with a row for each citation: topic, run, sentence, citation, support (full, partial or none),
    perhaps assessor. A sentence without citations has one row with both cells empty, or with support not_needed.

    \b
    assay answers support support.csv
    assay answers support support.csv -m 'SupportP SupportR SentenceP' --per-topic
    """
    from assay.scoring.assigned_scores import OF_SUPPORT, evaluate_support

    wanted = called_measures(measures, OF_SUPPORT)
    _show(evaluate_support(files, wanted, missing=missing, assessor=assessor), per_topic, save, out)


@command.command()
@files_argument
@support_option
@bank_option
@text_measures
@missing_option
@assessor_option
@per_topic_option
@save_option
@output_and_figure_options
def reports(
    files: tuple[Path, ...], support: tuple[Path, ...], bank: tuple[Path, ...], measures: str | None, missing: str,
    assessor: str | None, per_topic: bool, save: Path | None, out: Output,
) -> None:  # fmt: skip
    """Reports with citations: sentence precision, nugget recall and their F1, as ARGUE defines them.

    FILES are assignments of nuggets, and --support is the support of citations; all measures of both can be named.

    \b
    assay answers reports assignments.jsonl --support support.csv
    assay answers reports assignments.jsonl --support support.csv -m 'ArgueF1(recall=W_strict) SentenceP W_strict'
    """
    from assay.scoring.assigned_scores import OF_REPORTS, evaluate_reports

    wanted = called_measures(measures, OF_REPORTS)
    found = evaluate_reports(files, support, wanted, bank=bank or None, missing=missing, assessor=assessor)
    _show(found, per_topic, save, out)


@command.command()
@files_argument
@text_measures
@click.option(
    "--coefficient", "coefficients", cls=RegistryOption, registry="assay.agreement.result:AGREEMENTS", multiple=True,
    metavar="NAME", help="Coefficient of agreement, one of: {names}. Repeatable.",
)  # fmt: skip
@show_option("assay.agreement.assigned_agreement:PARTS")
@click.option(
    "--level", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.95, show_default=True,
    help="Confidence of the intervals.",
)  # fmt: skip
@output_and_figure_options
def agreement(
    files: tuple[Path, ...], measures: str | None, coefficients: tuple[str, ...], show: tuple[str, ...],
    level: float, out: Output,
) -> None:  # fmt: skip
    """Do people and machines agree on assignments of nuggets, or on the support of citations?

    Each of FILES is an assessor, named as the file is; one file alone has a column assessor. Shown are coefficients of
    agreement on single assignments, with intervals over topics, and τ between the orders of the runs.

    \b
    assay answers agreement people.jsonl gpt.jsonl
    assay answers agreement assignments.csv --coefficient kappa --show topics --show runs
    """
    from assay.agreement import assignment_agreement

    with out.progress("leaving out topics") as progress:
        found = assignment_agreement(
            files, called_measures(measures, ()), coefficients=coefficients,
            per_topic="topics" in show, per_run="runs" in show, level=level, progress=progress,
        )  # fmt: skip
    out.write(*shown_parts(found.parts(), show), of=found)


def _show(found: AnswerScores, per_topic: bool, save: Path | None, out: Output) -> None:
    """Print scores, one row per run or also one per topic, and save them where that is asked for."""
    more = [found.per_topic()] if per_topic else []
    # CSV holds one table: the one that was asked for, which has the scores in it.
    tables = more if out.format == "csv" and more else [found.table(), *more]
    out.write(*tables, of=found)
    save_scores(found.scores, save, out)


@command.command()
@click.option("--nuggets", type=FILE, required=True, help="Units of the topics: topic unit weight length.")
@files_argument
@text_measures
@per_topic_option
@save_option
@output_and_figure_options
def units(
    nuggets: Path, files: tuple[Path, ...], measures: str | None, per_topic: bool, save: Path | None, out: Output
) -> None:
    """Direct answers: how early they convey the units, and in how many characters.

    Each of FILES is a run: a line `topic syslen= length` for every topic and lines `topic unit offset`. S and S# need
    the length L after which nothing counts, which depends on the language.

    \b
    assay answers units --nuggets key.nuggets run1 run2 -m 'S(L=500) T S#(L=500)'
    """
    from assay.scoring.answer_scores import OF_UNITS, evaluate_units

    scores = evaluate_units(nuggets, _named(files), called_measures(measures, OF_UNITS))
    show_scores(scores, per_topic, save, out)


@command.command()
@click.argument("file", type=FILE)
@text_measures
@per_topic_option
@save_option
@output_and_figure_options
def matches(file: Path, measures: str | None, per_topic: bool, save: Path | None, out: Output) -> None:
    """Nuggets that assessors found in answers.

    FILE is a table with a row for each run, topic and nugget of the key: run, topic, nugget, vital (yes or no), matched
    (yes or no), length (characters of the answer without white space), and for PyramidF the votes.

    \b
    assay answers matches matched.csv -m 'NuggetR NuggetF(beta=3)'
    """
    from assay.io.answers import read_matches
    from assay.scoring.answer_scores import OF_MATCHES, evaluate_matches

    scores = evaluate_matches(read_matches(file), called_measures(measures, OF_MATCHES))
    show_scores(scores, per_topic, save, out)


@command.command()
@click.option("--key", type=FILE, required=True, help="References or nuggets: a table with topic, text, perhaps vital.")
@files_argument
@text_measures
@per_topic_option
@save_option
@output_and_figure_options
def texts(
    key: Path, files: tuple[Path, ...], measures: str | None, per_topic: bool, save: Path | None, out: Output
) -> None:
    """Overlap of answers with reference texts or nuggets.

    Each of FILES is a run: a table with topic and text, several rows of a topic being several answer strings.

    \b
    assay answers texts --key references.csv mine.csv other.csv -m 'ROUGE(kind=rougeL) POURPRE'
    """
    from assay.io.answers import read_texts
    from assay.scoring.answer_scores import OF_TEXTS, evaluate_texts

    answers = {run: read_texts(path) for run, path in _named(files).items()}
    scores = evaluate_texts(read_texts(key), answers, called_measures(measures, OF_TEXTS))
    show_scores(scores, per_topic, save, out)


def _named(files: tuple[Path, ...]) -> dict[str, Path]:
    """The files by the names of their runs; two of one name are an error."""
    from assay.io.files import file_stem

    named: dict[str, Path] = {}
    for path in files:
        name = file_stem(path) or str(path)
        if name in named:
            raise UsageError(f"{named[name]} and {path} would both be run {name!r}; rename one of the files")
        named[name] = path
    return named
