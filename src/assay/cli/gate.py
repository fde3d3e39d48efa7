"""`assay gate`: may a new run replace the old one? Pass, fail or undecided, as exit codes for a build server."""

from __future__ import annotations

import functools
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli.columns import named_columns, with_columns
from assay.cli.commands import Command, KnownWord, RegistryOption
from assay.cli.inputs import (
    FILE,
    chosen_measures,
    force_option,
    load_scores,
    measures_option,
    name_option,
    qrels_option,
    transpose_option,
)
from assay.cli.modes import is_given
from assay.cli.options import Output, seed_option, with_output
from assay.core.errors import UsageError
from assay.core.tables import FORMATS
from assay.gate.alarms import JUDGED_DEPTH, MAX_JUDGED_DROP, MIN_JUDGED

if TYPE_CHECKING:
    from assay.data.scores import ScoreMatrix
    from assay.gate import Gate

GATE_FORMATS = (*FORMATS, "junit")
SHARE = click.FloatRange(0, 1)


@click.command(cls=Command)
@with_columns(click.argument("new", type=FILE))
@click.option("--baseline", type=FILE, required=True, help="The run, or its scores, that NEW is to replace.")
@qrels_option
@measures_option
@click.option(
    "--max-drop", "drops", multiple=True, required=True, metavar="DROP",
    help="Largest drop that is allowed: .01, or 2% of the baseline's mean, or for one measure nDCG@10=.01; repeatable.",
)  # fmt: skip
@click.option(
    "--test", cls=RegistryOption, registry="assay.gate.drops:GATE_TESTS", default="auto", show_default=True,
    metavar="NAME", help="Bound of the mean difference, one of: {names}. auto goes by how many topics change.",
)  # fmt: skip
@click.option(
    "--correction", cls=RegistryOption, registry="assay.gate.drops:GATE_CORRECTIONS", default="holm",
    show_default=True, metavar="NAME", help="Correction of what fails for the number of measures, one of: {names}.",
)  # fmt: skip
@click.option("--alpha", type=float, default=0.05, show_default=True, help="Significance level of each direction.")
@click.option(
    "--power",
    type=float,
    default=0.8,
    show_default=True,
    help="Chance of equally good runs to pass, for the topics that it takes.",
)
@click.option(
    "--undecided", type=KnownWord("assay.gate.gated:UNDECIDED"),
    help="Count an undecided gate as this; one with an alarm never counts as a pass.  [default: exit code 3]",
)  # fmt: skip
@click.option(
    "--min-judged", type=SHARE, show_default=f"{MIN_JUDGED:g}", help="Alarm below this share of judged docs in the top."
)
@click.option(
    "--max-judged-drop", type=SHARE, show_default=f"{MAX_JUDGED_DROP:g}",
    help="Alarm where the share of judged docs falls by more than this below the baseline's.",
)  # fmt: skip
@click.option(
    "--judged-depth", type=click.IntRange(min=1), show_default=f"{JUDGED_DEPTH}",
    help="Ranks of each topic in which judged docs are counted.",
)  # fmt: skip
@click.option(
    "-B", "--resamples", type=click.IntRange(min=1), default=10_000, show_default=True,
    help="Number of resamples, for tests that resample.",
)  # fmt: skip
@seed_option
@transpose_option
@name_option
@force_option
@functools.partial(with_output, figure=True, formats=GATE_FORMATS)
def command(
    new: Path, baseline: Path, qrels_path: Path | None, measures: str | None, drops: tuple[str, ...],
    undecided: str | None, transpose: bool, name: str | None, force: str | None, out: Output, **how: Any,
) -> None:  # fmt: skip
    """May a new run replace the old one?

    Passes if every measure of NEW is shown to drop by less than --max-drop against --baseline; fails if one is shown
    to drop by more, or if ids do not match the judgments any more; else it is undecided, and says how many topics
    equally good runs need to pass. Both are runs, with --qrels, or score tables of one run each. A max-drop of 0 passes
    only what is shown to be better.

    \b
    assay gate new.run --baseline old.run --qrels qrels.txt -m nDCG@10 --max-drop .01
    assay gate new.run --baseline old.run --qrels qrels.txt -m 'nDCG@10 RR' --max-drop .01 --max-drop RR=2%
    assay gate new.csv --baseline old.csv --max-drop 2% --format junit -o gate.xml

    Exit code 0 pass, 1 fail, 3 undecided, 2 wrong usage.
    """
    from assay.gate import gate

    _refuse_idle_resamples(how["test"])
    given: dict[str, Any] = {"qrels": qrels_path}
    if qrels_path is None:
        tables = {"measures": measures, "transpose": transpose, "name": name, "force": force}
        given |= {"new": _scores_in(new, tables), "baseline": _scores_in(baseline, tables)}
    else:
        _refuse_options_of_tables(transpose=transpose, measure=name, force_measure=force)
        given |= {"new": new, "baseline": baseline}
        given["measures"] = None if measures is None else chosen_measures(measures)
    with out.progress("gate") as progress:
        result = gate(**given, columns=named_columns(), max_drop=_by_measure(drops), progress=progress, **how)
    _write(result, out, undecided)
    sys.exit(result.exit_code(undecided))


def _scores_in(path: Path, how_read: dict[str, Any]) -> list[ScoreMatrix]:
    """The score tables of a file."""
    return load_scores([path], qrels_path=None, **how_read)


def _write(result: Gate, out: Output, undecided: str | None) -> None:
    """The result in the format asked for; where the verdict is not in a person's sight, it is said as well."""
    if out.format == "junit":
        from assay.gate import junit_xml

        out.write_text(junit_xml(result, undecided), of=result)
    else:
        out.write(result.table(), of=result)
    if out.path is not None or out.format not in ("text", "markdown"):
        out.say(result.verdict)
        for alarm in result.alarms:
            if alarm.what not in result.verdict:
                out.say(alarm.line())
    if undecided is not None and result.outcome == "undecided":
        counted_as = result.counted_as(undecided)
        if counted_as == "undecided":
            out.say(f"undecided by an alarm does not count as a pass (--undecided {undecided})")
        else:
            out.say(f"undecided counts as a {counted_as} (--undecided {undecided})")


def _by_measure(drops: tuple[str, ...]) -> dict[str | None, str]:
    """{measure: drop}; a drop of no measure is that of all others, under None."""
    found: dict[str | None, str] = {}
    for text in drops:
        # parameters of a measure have equals signs too: RBP(p=.8)=.01
        measure, _, drop = text.rpartition("=")
        key = measure.strip() or None
        if key in found:
            raise UsageError(f"--max-drop {text}: {measure or 'a drop of all measures'} is given twice; give it once")
        found[key] = drop
    return found


def _refuse_options_of_tables(**given: Any) -> None:
    for name, value in given.items():
        if value:
            option = "--" + name.replace("_", "-")
            raise UsageError(f"{option} goes with score tables, not with runs and --qrels; leave it out")


def _refuse_idle_resamples(test: str) -> None:
    from assay.gate.drops import draws_resamples

    for name, option in (("resamples", "-B"), ("seed", "--seed")):
        if is_given(name) and not draws_resamples(test):
            raise UsageError(f"{option} has no effect: --test {test} draws no resamples; leave it out")
