"""assay pool: pools and samples, what to judge next, what judging orders find, what a pool hides, adjusted scores."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli.commands import Group
from assay.cli.inputs import FILE, groups_of, load_qrels, load_runs, numbers, runs_argument
from assay.cli.options import Output, jobs_option, output_and_figure_options, output_options, seed_option
from assay.core.errors import UsageError

if TYPE_CHECKING:
    from assay.data.lists import Lists
    from assay.pooling import Journal, Judging

BY = click.Choice(["run", "group"])

groups_option = click.option("--groups", type=FILE, help="A table with columns run and group (or team).")
depth_option = click.option("--depth", type=click.IntRange(min=1), default=100, show_default=True, help="Pool depth.")
rel_option = click.option("--rel", "-l", type=int, default=1, show_default=True, help="Lowest relevant grade.")
by_option = click.option("--by", type=BY, default="run", show_default=True, help="Each run, or each group as one.")
judgments_option = click.option("--qrels", "-q", "qrels_path", type=FILE, required=True, help="Judgments.")
unjudged_option = click.option(
    "--unjudged", type=click.Choice(["nonrelevant", "condensed", "relevant"]), default="nonrelevant",
    show_default=True, help="What docs without judgment count as.",
)  # fmt: skip


@click.group(cls=Group)
def command() -> None:
    """What to judge next, and what a pool hides.

    \b
    assay pool make runs/ --method 'depth(k=100)' --save pool.qrels
    assay pool next runs/ --order hedge --journal my.qrels --judge
    assay pool curve runs/ --qrels q.txt --order depth --order hedge
    assay pool bias runs/ --qrels q.txt --depth 10 --by group --groups teams.csv
    assay pool adjust runs/ --qrels q.txt --run mine --depth 10
    """


@command.command()
@runs_argument
@click.option("--method", "-p", default="depth(k=100)", show_default=True, help="A pool or a sample, see above.")
@click.option("--qrels", "-q", "qrels_path", type=FILE, help="Judgments, to count relevant docs and to grade a sample.")
@click.option("--save", type=click.Path(path_type=Path, dir_okay=False), help="The pool as a qrels file.")
@click.option("--contributions", "who", is_flag=True, help="What each run (or group) brought, instead of the docs.")
@by_option
@groups_option
@rel_option
@seed_option
@output_and_figure_options
def make(
    runs: tuple[Path, ...], method: str, qrels_path: Path | None, save: Path | None, who: bool, by: str,
    groups: Path | None, rel: int, seed: int, out: Output,
) -> None:  # fmt: skip
    """The docs to judge: a pool or a sample of it.

    \b
    Pools:   depth(k=100), take(n=…), rrf(n=…,c=60), borda(n=…), condorcet(n=…), combsum(n=…), combmnz(n=…), dcg(n=…),
             rbp(n=…,p=0.8)
    Samples: uniform(share=0.1), stratified(depths=10/100,rates=1/0.1), statap(n=50)

    n is docs per topic. --save writes `topic 0 doc grade`, the grade −1 until a doc is judged; for a sample a fifth
    column holds the probability of each doc, and all pooled docs are there, so that infAP, xinfAP and statAP can be
    computed. --figure shows what each run (or group) brought to a pool.

    \b
    Example: assay pool make runs/ --method 'rrf(n=50)' --save pool.qrels
    """
    from assay.core.registry import parse_call
    from assay.io import write_qrels
    from assay.pooling import SAMPLES, contributions, pool, sample

    sampled = parse_call(method)[0] in SAMPLES
    if sampled and (by == "group" or who or out.figure):
        raise UsageError("a sample is drawn from all runs; --by group, --contributions and --figure are for pools")
    seen = _lists(runs, qrels_path, groups=groups)
    if sampled:
        drawn = sample(seen, method, seed=seed)
        out.write(drawn.table())
        if save is not None:
            write_qrels(save, drawn.qrels(seen if qrels_path is not None else None, unjudged=0))
        return
    chosen = pool(seen, method, by=by)
    brought = contributions(seen, chosen, by=by, rel=rel)
    out.write(brought.table() if who else chosen.table(), of=brought)
    if save is not None:
        write_qrels(save, chosen.qrels())


@command.command("next")
@runs_argument
@click.option("--order", default="move-to-front", show_default=True, help="Judging order, see above.")
@click.option(
    "--journal", type=click.Path(path_type=Path, dir_okay=False), help="Judgments so far; they are added here."
)
@click.option("-n", "count", type=click.IntRange(min=1), default=10, show_default=True, help="How many docs to name.")
@click.option(
    "--tell", nargs=3, type=str, multiple=True, metavar="TOPIC DOC GRADE", help="Add a judgment to the journal."
)
@click.option("--judge", is_flag=True, help="Ask for the grades, one doc after the other.")
@click.option("--confidence", type=click.FloatRange(0.5, 1), help="With order mtc: stop when all pairs are that sure.")
@click.option("--spread", type=click.Choice(["local", "global"]), default="local", show_default=True,
              help="The same number for every topic, or where it pays most.")  # fmt: skip
@depth_option
@rel_option
@by_option
@groups_option
@seed_option
@output_options
def next_docs(
    runs: tuple[Path, ...], order: str, journal: Path | None, count: int, tell: tuple[tuple[str, str, str], ...],
    judge: bool, confidence: float | None, spread: str, depth: int, rel: int, by: str, groups: Path | None, seed: int,
    out: Output,
) -> None:  # fmt: skip
    """The next docs to judge, given the judgments of the journal.

    The journal is a qrels file. Each judgment is on the disk before the next doc is asked: stop and go on as you like.

    \b
    Orders: depth, move-to-front, hedge(beta=0.1), max-mean, thompson, ucb, epsilon-greedy (each with rate=0 for the
            non-stationary form), random, residual(aim=minimise|equalise|top,p=0.8), mtc(prior=0.5),
            reweighting(epsilon=0.1)

    \b
    Example: assay pool next runs/ --order hedge --journal my.qrels --judge
    """
    from assay.core.tables import Table
    from assay.pooling import Journal, Judging

    if (judge or tell) and journal is None:
        raise UsageError("judgments need a place to be kept; give --journal FILE")
    kept = Journal(journal) if journal is not None else None
    session = Judging(_lists(runs, None, depth=depth, groups=groups), order, depth=depth, rel=rel, seed=seed,
                      spread=spread, by=by)  # fmt: skip
    if kept is not None:
        _resume(session, kept, out)
        for topic, doc, grade in tell:
            _record(session, kept, topic, doc, _grade(grade))
    if judge and kept is not None:
        _ask(session, kept, confidence, out)
        return
    tables = []
    if confidence is not None:
        found = session.confidence()
        session.focus(found.undecided(confidence))
        tables.append(found.table(confidence))
    rows = [(topic, doc) for topic, doc in session.next(count)]
    note = f"order {order}, depth {depth}, spread {spread}, seed {seed}; {session.judged()} docs are judged"
    out.write(Table.of({"topic": "", "doc": ""}, rows, caption="Judge next", notes=[note]), *tables)


def _resume(session: Judging, kept: Journal, out: Output) -> None:
    """Tell the session what the journal holds; grade −1 is a doc that was pooled and not judged."""
    from assay.pooling.voters import POOLED

    before, remark = kept.read()
    made = [j for j in before if j.grade != POOLED]
    session.tell(made)
    if remark:
        out.say(remark)
    if len(made) < len(before):
        out.say(f"{kept.path}: {len(before) - len(made)} docs have grade -1, which means not judged; they are asked")


def _ask(session: Judging, kept: Journal, confidence: float | None, out: Output) -> None:
    """Ask for one grade after the other until the person stops, the pools are judged or the pairs are sure."""
    aside: set[tuple[str, str]] = set()
    try:
        while True:
            if confidence is not None:
                found = session.confidence()
                if found.reached(confidence):
                    out.say(f"every pair of runs is decided at {confidence}")
                    break
                session.focus(found.undecided(confidence))
            todo = [d for d in session.next(len(aside) + 1) if d not in aside]
            if not todo:
                out.say("every doc of the pools is judged" if not aside else f"{len(aside)} docs were put aside")
                break
            topic, doc = todo[0]
            answer = click.prompt(f"topic {topic}  doc {doc}  grade (a number; s puts it aside, q stops)", err=True)
            if answer in ("q", "quit"):
                break
            if answer in ("s", "skip"):
                aside.add((topic, doc))
                continue
            try:
                _record(session, kept, topic, doc, _grade(answer))
            except UsageError as error:
                out.say(str(error), now=True)
    except click.Abort:
        click.echo(err=True)
    out.text(f"{session.judged()} docs judged, {_relevant(session)} relevant")


def _record(session: Judging, kept: Journal, topic: str, doc: str, grade: int) -> None:
    """A judgment that the session accepts goes to the journal, and to the disk."""
    from assay.pooling import Judgment

    judgment = Judgment(topic, doc, grade)
    session.tell([judgment])
    kept.append([judgment])


def _grade(text: str) -> int:
    from assay.pooling.voters import POOLED

    try:
        grade = int(text)
    except ValueError:
        raise UsageError(f"a grade is a whole number, not {text!r}") from None
    if grade == POOLED:
        raise UsageError("grade -1 means pooled and not judged; give 0 or more, or -2 for spam")
    return grade


def _relevant(session: Judging) -> int:
    return sum(grade >= session.rel for judged in session.judgments for grade in judged.values())


@command.command()
@runs_argument
@judgments_option
@click.option("--order", "orders", multiple=True, default=("depth", "move-to-front", "hedge", "max-mean", "mtc"),
              show_default=True, help="A judging order; give it again for more.")  # fmt: skip
@click.option("--measure", "-m", default="AP", show_default=True, help="What the runs are scored by, e.g. 'AP(rel=2)'.")
@click.option("--budgets", help="Docs per topic, e.g. '5 10 50'.")
@click.option("--repetitions", "-r", type=click.IntRange(min=1), default=1, show_default=True)
@click.option("--all-docs", is_flag=True, help="Docs nobody judged count as not relevant, instead of being taken out.")
@depth_option
@rel_option
@seed_option
@jobs_option
@output_and_figure_options
def curve(
    runs: tuple[Path, ...], qrels_path: Path, orders: tuple[str, ...], measure: str, budgets: str | None,
    repetitions: int, all_docs: bool, depth: int, rel: int, seed: int, jobs: int, out: Output,
) -> None:  # fmt: skip
    """Relevant docs found, τ to the full judgments and bias, by number of judgments, for several orders.

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
@click.option("--measure", "-m", default="AP", show_default=True, help="What the runs are scored by, e.g. 'AP(rel=2)'.")
@depth_option
@rel_option
@by_option
@groups_option
@output_and_figure_options
def bias(
    runs: tuple[Path, ...], qrels_path: Path, measure: str, depth: int, rel: int, by: str, groups: Path | None,
    out: Output,
) -> None:  # fmt: skip
    """What each run (or group) would lose, had it not been in the pool.

    \b
    Example: assay pool bias runs/ --qrels q.txt -m nDCG@10 --depth 10
    """
    from assay.pooling import left_out

    found = left_out(_lists(runs, qrels_path, groups=groups), measure, depth=depth, by=by, rel=rel)
    out.write(found.table(), of=found)


@command.command()
@runs_argument
@judgments_option
@click.option("--run", "name", required=True, help="The run that was not pooled; the others were.")
@click.option("--common", help="Topics judged for the new run as well, e.g. '3 7 12'; without them: from the systems.")
@click.option(
    "--measure", "-m", default="tRBP@10", show_default=True, help="What the runs are scored by, e.g. 'AP(rel=2)'."
)
@click.option("--depth", type=click.IntRange(min=1), default=10, show_default=True, help="Pool depth.")
@unjudged_option
@by_option
@groups_option
@output_and_figure_options
def adjust(
    runs: tuple[Path, ...], qrels_path: Path, name: str, common: str | None, measure: str, depth: int, unjudged: str,
    by: str, groups: Path | None, out: Output,
) -> None:  # fmt: skip
    """What a run would score on average, had it been in the pool, and whether adjusting helps.

    \b
    Example: assay pool adjust runs/ --qrels q.txt --run mine --common '3 7 12' --depth 10
    """
    from assay.pooling import adjusted

    topics = None if common is None else common.replace(",", " ").split()
    seen = _lists(runs, qrels_path, groups=groups)
    found = adjusted(seen, name, measure=measure, depth=depth, common=topics, unjudged=unjudged, by=by)
    out.write(found.table(), of=found)


@command.command()
@runs_argument
@judgments_option
@click.option(
    "--measure", "-m", default="tRBP@10", show_default=True, help="What the runs are scored by, e.g. 'AP(rel=2)'."
)
@click.option("--depth", type=click.IntRange(min=1), default=10, show_default=True, help="Pool depth.")
@click.option("--widths", default="2 4 10", show_default=True, help="Numbers of pooled runs.")
@click.option("--common", default="10", show_default=True, help="Numbers of common topics.")
@click.option("--samples", type=click.IntRange(min=1), default=100, show_default=True, help="Draws of runs.")
@click.option("--topic-samples", type=click.IntRange(min=1), default=200, show_default=True, help="Draws of topics.")
@unjudged_option
@seed_option
@jobs_option
@output_and_figure_options
def accuracy(
    runs: tuple[Path, ...], qrels_path: Path, measure: str, depth: int, widths: str, common: str, samples: int,
    topic_samples: int, unjudged: str, seed: int, jobs: int, out: Output,
) -> None:  # fmt: skip
    """How far adjusted scores are from the truth: random runs pooled, one more estimated.

    \b
    Example: assay pool accuracy runs/ --qrels q.txt --widths '2 4 10 20' --common '10 20'
    """
    from assay.pooling import adjustment_accuracy

    seen = _lists(runs, qrels_path)
    with out.progress("drawing pools") as progress:
        found = adjustment_accuracy(
            seen, measure, depth=depth, widths=numbers(widths), common=numbers(common), samples=samples,
            topic_samples=topic_samples, unjudged=unjudged, seed=seed, jobs=jobs, progress=progress,
        )  # fmt: skip
    out.write(found.table(), of=found)


def _lists(
    runs: tuple[Path, ...], qrels_path: Path | None, *, depth: int | None = None, groups: Path | None = None
) -> Lists:
    from assay.data.lists import collected

    qrels = None if qrels_path is None else load_qrels(qrels_path)
    return collected(load_runs(runs), qrels, depth=depth, groups=groups_of(groups))
