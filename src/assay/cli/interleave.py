"""assay interleave: which of two rankers do users prefer?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli.commands import TARGET, Group, KnownWord, RegistryOption
from assay.cli.inputs import FILE
from assay.cli.modes import is_given
from assay.cli.options import Output, output_and_figure_options, output_options
from assay.core.errors import UsageError

if TYPE_CHECKING:
    from assay.data.impressions import Impressions

SHARE = click.FloatRange(0, 1, min_open=True, max_open=True)
FIXED = {
    "system": "--system",
    "baseline": "--baseline",
    "level": "--level",
    "method": "--method",
    "no_clicks": "--no-clicks",
}
"""Options that a plan answers for."""

no_clicks_option = click.option(
    "--no-clicks", type=KnownWord("assay.interleaving.analysis:NO_CLICKS"), default="drop", show_default=True,
    help="Impressions in which no system got a click: leave them out, or count them as ties.",
)  # fmt: skip


method_option = click.option(
    "--method", cls=RegistryOption, registry="assay.interleaving.analysis:METHODS", default="users", show_default=True,
    metavar="NAME", help="What Δ is the mean of: {names}; always(users=500) if you look at any time.",
)  # fmt: skip
level_option = click.option("--level", type=SHARE, default=0.95, show_default=True, help="Level of the intervals.")


def _refuse_no_clicks(log: Path, impressions: Impressions) -> None:
    """An error where --no-clicks is given and the log says who won instead of who got clicks."""
    if is_given("no_clicks") and impressions.has_winners:
        raise UsageError(f"{log}: --no-clicks goes with logs of clicks, and this one has winners; leave it out")


@click.group(cls=Group, default="analyse")
def command() -> None:
    """Which of two rankers do users prefer?

    LOG is a table of interleaved lists: user and winner; or user, clicks_A and clicks_B; or user, impression, team and
    clicked, a row for each doc that was shown.

    \b
    assay interleave plan --effect .02 --system new --baseline old --save plan.json
    assay interleave log.csv --plan plan.json
    assay interleave log.csv --baseline old --method 'always(users=500)'
    """


@command.command()
@click.argument("log", type=FILE)
@click.option("--system", metavar="NAME", help="The system, where there are more than two.")
@click.option("--baseline", metavar="NAME", help="What it is compared with.  [default: the second by name]")
@click.option(
    "--plan", "plan_path", type=FILE, help="The plan that was made beforehand; it fixes n, α and the systems."
)
@no_clicks_option
@method_option
@level_option
@output_and_figure_options
def analyse(
    log: Path, system: str | None, baseline: str | None, plan_path: Path | None, no_clicks: str, method: str,
    level: float, out: Output,
) -> None:  # fmt: skip
    """How much more often is one preferred, and is it real (the default)?

    Δ = (wins + ties/2)/impressions − 1/2 of each user, since the impressions of a user are not independent; with
    --method impressions that of all impressions, in which busy users count more. With --plan a log that is shorter than
    planned is refused.

    \b
    assay interleave log.csv --baseline old
    """
    from assay.interleaving import analyse_planned, interleave, read_plan
    from assay.io.impressions import read_impressions

    if plan_path is None:
        impressions = read_impressions(log)
        how: dict[str, Any] = {"method": method, "no_clicks": no_clicks, "level": level}
        result = interleave(impressions, system=system, baseline=baseline, **how)
        _refuse_no_clicks(log, impressions)
    else:
        for name, option in FIXED.items():
            if is_given(name):
                raise UsageError(f"{option} is fixed by the plan; leave it out")
        result = analyse_planned(log, read_plan(plan_path))
    out.write(result.table(), of=result)
    out.say(result.verdict)


@command.command()
@click.argument("log", type=FILE)
@no_clicks_option
@method_option
@level_option
@output_and_figure_options
def pairs(log: Path, no_clicks: str, method: str, level: float, out: Output) -> None:
    """Every pair of the systems of a multileaved log.

    Each pair over the impressions that show both; p corrected by Holm.

    \b
    assay interleave pairs log.csv --figure pairs.png
    """
    from assay.interleaving import interleave_pairs
    from assay.io.impressions import read_impressions

    impressions = read_impressions(log)
    result = interleave_pairs(impressions, no_clicks=no_clicks, method=method, level=level)
    _refuse_no_clicks(log, impressions)
    out.write(result.table(), of=result)
    out.say(result.verdict)


@command.command()
@click.option("--effect", type=float, required=True, help="The Δ worth finding, e.g. .02.")
@click.option("--system", default="a", show_default=True, metavar="NAME", help="The system.")
@click.option("--baseline", default="b", show_default=True, metavar="NAME", help="What it is compared with.")
@click.option("--alpha", type=SHARE, default=0.05, show_default=True, help="Significance, over all looks.")
@click.option("--power", type=SHARE, default=0.8, show_default=True, help="Chance to find the effect.")
@click.option("--ties", type=float, default=0.0, show_default=True, help="Share of impressions that tie.")
@click.option(
    "--design", type=float, default=1.0, show_default=True,
    help="Design effect: 1 + (m − 1)ρ for m impressions per user that correlate with ρ.",
)  # fmt: skip
@click.option("--pilot", type=FILE, help="A log from which ties and design effect are taken.")
@click.option("--looks", type=click.IntRange(min=1), default=1, show_default=True, help="How often one may look.")
@click.option(
    "--spending", cls=RegistryOption, registry="assay.interleaving.looks:SPENDING", default="obrien-fleming",
    show_default=True, metavar="NAME", help="How the looks share α: {names}.",
)  # fmt: skip
@click.option(
    "--method", type=KnownWord("assay.interleaving.preregistered:PLANNED"), default="users", show_default=True,
    help="What Δ is the mean of.",
)  # fmt: skip
@no_clicks_option
@click.option("--save", type=TARGET, help="Write the plan to this new file.")
@output_options
def plan(save: Path | None, pilot: Path | None, out: Output, **choices: Any) -> None:
    """How many impressions, fixed before the first of them.

    The file of a plan is sealed: it is never overwritten, and a file that was changed is refused.

    \b
    assay interleave plan --effect .02 --ties .3 --design 1.4 --system new --baseline old --save plan.json
    """
    from assay.interleaving import plan_interleaving

    if pilot is not None and (is_given("ties") or is_given("design")):
        raise UsageError("--pilot says what --ties and --design are; leave them out")
    made = plan_interleaving(pilot=pilot, **choices)
    if save is not None:
        made.save(save)
    out.write(made.table(), of=made)
    if save is not None:
        out.say(f"plan written to {save}")
