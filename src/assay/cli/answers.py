"""assay answers: score answers in words, by units, by nuggets that assessors matched, or by reference texts."""

from __future__ import annotations

from pathlib import Path

import click

from assay.cli.commands import Group
from assay.cli.inputs import FILE
from assay.cli.options import Output, output_and_figure_options
from assay.cli.score_tables import called_measures, named_option, save_option, show_scores
from assay.core.errors import UsageError

files_argument = click.argument("files", nargs=-1, required=True, type=FILE)
text_measures = named_option("assay.measures.text:TEXT_MEASURES")
per_topic_option = click.option("--per-topic", "-q", is_flag=True, help="Also a row for every topic.")


@click.group(cls=Group)
def command() -> None:
    """Score answers in words.

    \b
    assay answers units --nuggets key.nuggets run1 run2 -m 'S(L=500) T S#(L=500)'
    assay answers matches matched.csv -m 'NuggetF(beta=3) PyramidF'
    assay answers texts --key references.csv mine.csv -m 'ROUGE(kind=rouge2) POURPRE'
    """


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
