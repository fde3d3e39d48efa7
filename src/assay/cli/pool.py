"""assay pool: pools and samples, what to judge next, what judging orders find, what a pool hides, adjusted scores."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli.asking import ask, resumed
from assay.cli.commands import TARGET, Group, KnownWord, RegistryOption
from assay.cli.inputs import FILE, load_qrels, load_runs, numbers, one_measure, runs_argument, words
from assay.cli.modes import is_given
from assay.cli.options import Output, jobs_option, output_and_figure_options, output_options, seed_option
from assay.cli.run_info import by_option, groups_by
from assay.core.errors import UsageError

if TYPE_CHECKING:
    from assay.data.lists import Lists

ORDERS = "assay.pooling.judging:ORDERS"

depth_option = click.option("--depth", type=click.IntRange(min=1), default=100, show_default=True, help="Pool depth.")
own_rel_option = click.option("--rel", "-l", type=float, help="Lowest relevant grade.  [default: the measure's own]")
rel_option = click.option("--rel", "-l", type=float, default=1, show_default=True, help="Lowest relevant grade.")
groups_by_option = by_option("Each run, or each group of runs by a column of --info as one, e.g. team.", "run")
judgments_option = click.option("--qrels", "qrels_path", type=FILE, required=True, help="Judgments.")
save_option = click.option("--save", type=TARGET, help="Write the pool to a qrels file.")
journal_option = click.option(
    "--journal", type=click.Path(path_type=Path, dir_okay=False), help="Judgments so far; new ones are added here."
)
pool_option = click.option(
    "--method", "-p", cls=RegistryOption, registry="assay.pooling.pools:POOLS", default="depth(k=100)",
    show_default=True, help="How to pool, e.g. 'rrf(n=50)' for 50 docs per topic. One of: {names}.",
)  # fmt: skip
unjudged_option = click.option(
    "--unjudged", type=KnownWord("assay.pooling.rescoring:TREATMENTS"), default="nonrelevant",
    show_default=True, help="How unjudged docs count.",
)  # fmt: skip


@click.group(cls=Group)
def command() -> None:
    """What to judge next, and what a pool hides.

    \b
    assay pool make runs/ --method 'depth(k=100)' --save pool.qrels
    assay pool next runs/ --order hedge --journal my.qrels --judge
    assay pool curve runs/ --qrels q.txt --order depth --order hedge
    assay pool bias runs/ --qrels q.txt --depth 10 --info runs.csv --by team
    assay pool adjust runs/ --qrels q.txt --run mine --depth 10
    """


@command.command()
@runs_argument
@pool_option
@click.option(
    "--budget", type=click.IntRange(min=1),
    help="At most N docs over all topics. A pool by depth gets the greatest depth (at most its k) that N docs pay for; "
    "any other method the same number of docs for every topic (at most its n), and what a topic cannot use goes to the "
    "others.",
)  # fmt: skip
@save_option
@groups_by_option
@output_options
def make(
    runs: tuple[Path, ...], method: str, budget: int | None, save: Path | None, by: str,
    out: Output,
) -> None:  # fmt: skip
    """List the docs to judge: a pool.

    --save writes `topic 0 doc grade`, grade -1 until a doc is judged; with --quiet too, nothing is printed unasked.

    \b
    assay pool make runs/ --method 'rrf(n=50)' --save pool.qrels
    assay pool make runs/ --budget 2000 --save pool.qrels --quiet
    """
    from assay.core.registry import parse_call
    from assay.io import write_qrels
    from assay.pooling import pool
    from assay.pooling.sampling import SAMPLES

    if parse_call(method)[0] in SAMPLES:
        raise UsageError(f"{method} is a sample; `assay pool sample` draws it")
    chosen = pool(_lists(runs, None, by=by), method, by=_voters(by), budget=budget)
    if save is not None:
        write_qrels(save, chosen.qrels())
        out.say(f"{len(chosen)} docs of pool {chosen.method} written to {save}")
    if not _is_silent(save, out):
        out.write(chosen.table(), of=chosen)


@command.command()
@runs_argument
@pool_option
@click.option("--qrels", "qrels_path", type=FILE, help="Judgments, to count relevant docs.")
@groups_by_option
@rel_option
@output_and_figure_options
def contributions(
    runs: tuple[Path, ...], method: str, qrels_path: Path | None, by: str, rel: float, out: Output
) -> None:
    """Show what each run (or group) brings to a pool.

    \b
    Example: assay pool contributions runs/ --method 'depth(k=10)' --info runs.csv --by team
    """
    from assay.pooling import pool
    from assay.pooling.pools import contributions as brought

    if qrels_path is None:
        _refuse("rel", "--rel counts relevant docs; give --qrels")
    seen = _lists(runs, qrels_path, by=by)
    voters = _voters(by)
    found = brought(seen, pool(seen, method, by=voters), by=voters, rel=rel)
    out.write(found.table(), of=found)


@command.command("sample")
@runs_argument
@click.option(
    "--method", "-p", cls=RegistryOption, registry="assay.pooling.sampling:SAMPLES", default="uniform(share=0.1)",
    show_default=True, help="How to draw, e.g. 'statap(n=50)'. One of: {names}.",
)  # fmt: skip
@click.option("--qrels", "qrels_path", type=FILE, help="Judgments: with --save, the grades of the drawn docs.")
@save_option
@seed_option
@output_options
def drawn(
    runs: tuple[Path, ...], method: str, qrels_path: Path | None, save: Path | None, seed: int, out: Output
) -> None:
    """List the docs to judge: a random sample of a pool, with the probability of every doc.

    --save writes all pooled docs, with the probability in a fifth column, so that infAP, xinfAP and statAP can be
    computed; the grade is -1 until a doc is judged. Take stratified and xinfAP for scores near AP: infAP and statAP are
    far off where few docs are judged (assay measures statAP). With --quiet too, nothing is printed unless -o or
    --format asks.

    \b
    Example: assay pool sample runs/ --method 'stratified(depths=10/100,rates=1/0.1)' --save sample.qrels
    """
    from assay.io import write_qrels
    from assay.pooling import sample

    if save is None and qrels_path is not None:
        raise UsageError("--qrels grades the drawn docs in the file that --save writes; give --save")
    seen = _lists(runs, qrels_path)
    found = sample(seen, method, seed=seed)
    if save is not None:
        write_qrels(save, found.qrels(seen if qrels_path is not None else None, unjudged=0))
        out.say(f"{len(found)} pooled docs, {found.drawn()} of them drawn, written to {save}")
    if not _is_silent(save, out):
        out.write(found.table(), of=found)


order_option = click.option(
    "--order", cls=RegistryOption, registry=ORDERS, default="move-to-front", show_default=True,
    help="Judging order, with parameters in brackets: 'hedge(beta=0.2)'; rate=0 is the non-stationary form of the "
    "bandits. One of: {names}.",
)  # fmt: skip


@command.command("next")
@runs_argument
@order_option
@journal_option
@click.option("--count", type=click.IntRange(min=1), default=10, show_default=True, help="How many docs to list.")
@click.option(
    "--tell", nargs=3, type=str, multiple=True, metavar="TOPIC DOC GRADE", help="Add a judgment to the journal."
)
@click.option("--judge", is_flag=True, help="Ask for grades, one doc after the other.")
@click.option(
    "--confidence", type=click.FloatRange(0.5, 1),
    help="With order mtc: judge for pairs of runs not yet decided at this probability; stop when none is left.",
)  # fmt: skip
@click.option("--labels", "labels_path", type=FILE, help="Labels of a machine judge, for order label-variance.")
@click.option("--judge-name", metavar="NAME", help="The judge of --labels, where they are of several.")
@click.option("--spread", type=KnownWord("assay.pooling.judging:SPREADS"), default="local", show_default=True,
              help="local: as many docs for every topic; global: where they help most.")  # fmt: skip
@depth_option
@rel_option
@groups_by_option
@seed_option
@output_options
def next_docs(
    runs: tuple[Path, ...], order: str, journal: Path | None, count: int, tell: tuple[tuple[str, str, str], ...],
    judge: bool, confidence: float | None, labels_path: Path | None, judge_name: str | None, spread: str, depth: int,
    rel: float, by: str, seed: int, out: Output,
) -> None:  # fmt: skip
    """List the next docs to judge, given the judgments of the journal.

    The journal is a qrels file. Each judgment is saved before the next doc is shown: stop and continue at will.

    \b
    Example: assay pool next runs/ --order hedge --journal my.qrels --judge
    """
    from assay.cli.label_files import machine_labels
    from assay.pooling import Judging
    from assay.pooling.desk import next_docs as upcoming

    if (judge or tell) and journal is None:
        raise UsageError("judgments need a place to be kept; give --journal FILE")
    if judge:
        _refuse("count", "--count names docs, and --judge asks for their grades; leave one out")
    seen = _lists(runs, None, depth=depth, by=by)
    machine = machine_labels(order, labels_path, judge_name)
    session = Judging(seen, order, depth=depth, rel=rel, seed=seed, spread=spread, by=_voters(by), machine=machine)
    if journal is not None:
        desk = resumed(session, journal, confidence, out)
        for topic, doc, grade in tell:
            desk.record(topic, doc, grade)
        if judge:
            ask(desk, out)
            return
    found = upcoming(session, count, confidence=confidence)
    out.write(found.table(), of=found)


@command.command()
@runs_argument
@click.option("--order", default="mtc", show_default=True, help="mtc, with its parameters: 'mtc(prior=0.1)'.")
@journal_option
@click.option("--level", type=click.FloatRange(0.5, 1), default=0.95, show_default=True, help="When a pair is decided.")
@depth_option
@rel_option
@output_and_figure_options
def confidence(
    runs: tuple[Path, ...], order: str, journal: Path | None, level: float, depth: int, rel: float, out: Output
) -> None:
    """Show how sure the order of the runs is after the judgments of the journal.

    \b
    Example: assay pool confidence runs/ --journal my.qrels
    """
    from assay.pooling import Judging

    session = Judging(_lists(runs, None, depth=depth), order, depth=depth, rel=rel)
    if journal is None:
        _refuse("rel", "--rel reads the judgments of the journal; give --journal")
    else:
        resumed(session, journal, None, out)
    found = session.confidence()
    out.write(found.table(level), of=found)


@command.command()
@runs_argument
@judgments_option
@click.option(
    "--order", "orders", cls=RegistryOption, registry=ORDERS, multiple=True, show_default=True,
    default=("depth", "move-to-front", "hedge", "max-mean", "mtc"),
    help="A judging order, repeatable. One of: {names}.",
)  # fmt: skip
@one_measure("Measure of the runs, e.g. 'AP(rel=2)'.", "AP")
@click.option("--budgets", help="Docs per topic, e.g. '5 10 50'.")
@click.option("--repetitions", "-r", type=click.IntRange(min=1), default=1, show_default=True,
              help="Replays of each order, with the runs in another order each time.")  # fmt: skip
@click.option("--all-docs", is_flag=True, help="Unjudged docs count as not relevant instead of being removed.")
@depth_option
@own_rel_option
@seed_option
@jobs_option
@output_and_figure_options
def curve(
    runs: tuple[Path, ...], qrels_path: Path, orders: tuple[str, ...], measure: str, budgets: str | None,
    repetitions: int, all_docs: bool, depth: int, rel: float | None, seed: int, jobs: int, out: Output,
) -> None:  # fmt: skip
    """Show relevant docs found, τ-a with the full judgments and bias, by number of judgments, for several orders.

    \b
    Example: assay pool curve runs/ --qrels q.txt --order depth --order hedge --budgets '10 50 100'
    """
    from assay.pooling import curves

    seen = _lists(runs, qrels_path)
    with out.progress("judging") as progress:
        found = curves(
            seen, orders, measure=measure, depth=depth, budgets=numbers(budgets) if budgets else None,
            repetitions=repetitions, rel=rel, judged_only=not all_docs, seed=seed, jobs=jobs, progress=progress,
        )  # fmt: skip
    out.write(found.table(), of=found)


@command.command()
@runs_argument
@judgments_option
@one_measure("Measure of the runs, e.g. 'AP(rel=2)'.", "AP")
@depth_option
@own_rel_option
@groups_by_option
@output_and_figure_options
def bias(
    runs: tuple[Path, ...], qrels_path: Path, measure: str, depth: int, rel: float | None, by: str, out: Output
) -> None:
    """Show what each run (or group) would lose if it had not been in the pool.

    RUNS are the runs that were pooled; a note says how many judged docs none of them accounts for.

    \b
    Example: assay pool bias runs/ --qrels q.txt -m nDCG@10 --depth 10
    """
    from assay.pooling import left_out

    seen = _lists(runs, qrels_path, by=by)
    found = left_out(seen, measure, depth=depth, by=_voters(by), rel=rel)
    out.write(found.table(), of=found)


@command.command()
@runs_argument
@judgments_option
@click.option("--run", "name", required=True, help="The run that was not pooled; the others were.")
@click.option("--common", help="Topics judged for the new run as well, e.g. '3 7 12'; without them: from the systems.")
@one_measure("Measure of the runs, e.g. 'AP(rel=2)'.", "tRBP@10")
@click.option("--depth", type=click.IntRange(min=1), default=10, show_default=True, help="Pool depth.")
@unjudged_option
@groups_by_option
@output_and_figure_options
def adjust(
    runs: tuple[Path, ...], qrels_path: Path, name: str, common: str | None, measure: str, depth: int, unjudged: str,
    by: str, out: Output,
) -> None:  # fmt: skip
    """Estimate the mean score of a run if it had been in the pool, and whether adjusting helps.

    Docs that only the new run has are hidden, whether somebody judged them or not.

    \b
    Example: assay pool adjust runs/ --qrels q.txt --run mine --common '3 7 12' --depth 10
    """
    from assay.pooling import adjusted

    topics = None if common is None else words(common)
    if topics is not None:
        _refuse("by", "--by is for adjusting from the systems; with --common the run's own docs alone count")
    seen = _lists(runs, qrels_path, by=by)
    found = adjusted(seen, name, measure=measure, depth=depth, common=topics, unjudged=unjudged, by=_voters(by))
    out.write(found.table(), of=found)


def _is_silent(save: Path | None, out: Output) -> bool:
    """Whether the file of --save is all that was asked for."""
    return save is not None and out.quiet and not (out.path or is_given("format"))


def _refuse(name: str, message: str) -> None:
    """An error if an option is given that would have no effect."""
    if is_given(name):
        raise UsageError(message)


def _lists(runs: tuple[Path, ...], qrels_path: Path | None, *, depth: int | None = None, by: str = "run") -> Lists:
    """The runs and judgments, the runs in the groups that --by asks for."""
    from assay.data.lists import collected

    groups = {} if by == "run" else groups_by(by)
    qrels = None if qrels_path is None else load_qrels(qrels_path)
    return collected(load_runs(runs), qrels, depth=depth, groups=groups)


def _voters(by: str) -> str:
    """Who counts as one: each run, or each group by a column of --info."""
    return "run" if by == "run" else "group"


# The commands of this group that stand in another file are added when that file is imported.
from assay.cli import pool_draws  # noqa: E402, F401
