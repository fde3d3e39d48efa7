"""`assay predict`: which run is best without judgments? With --qrels also how good the prediction was."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli.commands import Command
from assay.cli.inputs import FILE, load_qrels, load_runs, numbers, qrels_option
from assay.cli.options import Output, jobs_option, output_and_figure_options, seed_option
from assay.core.errors import UsageError

if TYPE_CHECKING:
    from assay.core.tables import Table
    from assay.data import Qrels, Run
    from assay.data.lists import Lists
    from assay.data.scores import ScoreMatrix
    from assay.nojudgments.expected import Calibration
    from assay.nojudgments.inject import Injection
    from assay.nojudgments.learn import Lessons
    from assay.nojudgments.ranking import RunRanking


@click.command(cls=Command)
@click.argument("runs", nargs=-1, type=click.Path(path_type=Path, allow_dash=True))
@click.option(
    "--method", "methods", multiple=True, metavar="NAME",
    help="Only this method; may be repeated, parameters in brackets: 'soboroff(duplicates=true)'. --list shows all.",
)  # fmt: skip
@click.option(
    "--combine", metavar="NAME",
    help="Combination of the methods: average (the default), rank-position, borda, condorcet; with --earlier a model: "
    "svr (then the default), ridge, linear, random-forest.",
)  # fmt: skip
@click.option(
    "--earlier", multiple=True, nargs=4, metavar="NAME YEAR QRELS RUNS",
    type=(str, int, FILE, click.Path(path_type=Path)),
    help="A judged collection of an earlier year, from which a model learns what the methods are worth: a name, its "
    "year, judgments, a folder of runs. May be repeated; needs --year.",
)  # fmt: skip
@click.option("--year", type=int, help="The year of RUNS: only collections of earlier years may teach.")
@click.option("--nearest", type=click.IntRange(min=1), help="Only so many earlier collections, the most similar ones.")
@click.option(
    "--judged", type=FILE,
    help="Judgments of some topics: there the true scores take the place of the predicted ones in the combination.",
)  # fmt: skip
@qrels_option
@click.option(
    "--measure", "-m", default="AP", show_default=True, help="With --qrels, --judged or --earlier: what is true."
)
@click.option(
    "--inject", multiple=True, metavar="CHOICE",
    help="With --qrels: how τ would grow if more and more topics were judged, chosen by P1 (chance), P2, P3, P4, or, "
    "knowing the truth, T1 … T5. May be repeated; --list explains them.",
)  # fmt: skip
@click.option("--sizes", metavar="LIST", help="--inject: numbers of judged topics, e.g. 5,10,20.")
@click.option("--repetitions", "-r", type=click.IntRange(min=1), default=100, show_default=True,
              help="--inject: how often the choices that chance takes part in are made.")  # fmt: skip
@click.option("--depth", type=click.IntRange(min=1), default=1000, show_default=True, help="Docs of each list to use.")
@click.option("--manual", multiple=True, metavar="RUN", help="A run made with a person's help; may be repeated.")
@click.option("--manual-list", type=FILE, help="A file with the names of the manual runs, one a line.")
@click.option(
    "--ranks", is_flag=True, help="The rank by every method, also where they are many; always in csv and json."
)
@click.option("--topics", is_flag=True, help="Also which topics are hard, by the mean of the methods.")
@click.option("--save", type=FILE, help="Write the predicted scores (runs × topics) to this file.")
@click.option(
    "--scale", default="none", show_default=True, metavar="NAME",
    help="Scale of the saved scores: none, min-max, z, min-max-topic, z-topic.",
)  # fmt: skip
@click.option(
    "--calibration", is_flag=True, help="With --qrels: also how well EMAP's probabilities fit, and its figure."
)
@click.option("--list", "listed", is_flag=True, help="List methods, combinations, models and choices, and stop.")
@seed_option
@jobs_option
@output_and_figure_options
def command(
    runs: Sequence[Path], methods: Sequence[str], combine: str | None,
    earlier: Sequence[tuple[str, int, Path, Path]], year: int | None, nearest: int | None, judged: Path | None,
    qrels_path: Path | None, measure: str, inject: Sequence[str], sizes: str | None, repetitions: int, depth: int,
    manual: Sequence[str], manual_list: Path | None, ranks: bool, topics: bool, calibration: bool, save: Path | None,
    scale: str, listed: bool, seed: int, jobs: int, out: Output,
) -> None:  # fmt: skip
    """Rank runs without judgments.

    RUNS are run files of one collection, or folders of them. Each method scores a run by what the other runs
    retrieved; the table gives the ranks by the methods and by their combination. With --qrels a second table says how
    well each agrees with the true ranking.

    \b
    assay predict runs/
    assay predict runs/ --qrels qrels.txt -m nDCG@10 --manual-list manual.txt
    assay predict a.run b.run c.run --method emap --method 'soboroff(duplicates=true)'
    A few topics are judged, or earlier collections:
      assay predict runs/ --judged few.qrels
      assay predict runs/ --year 2021 --earlier dl19 2019 dl19/qrels.txt dl19/runs --combine ridge
    What judging more topics would bring:
      assay predict runs/ --qrels qrels.txt --inject P1 --inject P3 --sizes 5,10,20
    """
    from assay.nojudgments import comparable
    from assay.nojudgments.ranking import ranked

    if listed:
        out.write(*_listed())
        return
    _check(runs, qrels_path, inject, calibration, earlier, year)
    loaded = _marked(load_runs(runs, jobs=jobs), [*manual, *_names(manual_list)])
    truth, known = (None if q is None else _truth(loaded, q, measure) for q in (qrels_path, judged))
    lists = comparable(loaded, depth=depth)
    with out.progress("methods") as progress:
        lessons = _lessons(earlier, year, nearest, methods, measure=measure, depth=depth, seed=seed, jobs=jobs)
        result = ranked(
            lists, methods or None, combine=combine or ("svr" if earlier else "average"), lessons=lessons, judged=known,
            truth=truth, scale=scale, seed=seed, jobs=jobs, progress=progress,
        )  # fmt: skip
    grown = _injections(result, inject, sizes, repetitions, seed, out)
    fit = [_calibration(lists, load_qrels(qrels_path))] if calibration and qrels_path is not None else []
    shown = [result.table(wide=ranks or out.format in ("csv", "json"))]
    shown += [] if truth is None else [result.accuracy_table()]
    shown += [*(_difficulty(result) if topics else []), *(g.table() for g in grown), *(f.table() for f in fit)]
    out.write(*shown, of=fit[0] if fit else grown or result)
    if save is not None:
        from assay.io.scores import write_scores

        write_scores(save, result.predictions)
        out.say(f"predicted scores written to {save}")


def _check(
    runs: Sequence[Path], qrels: Path | None, inject: Sequence[str], calibration: bool, earlier: Sequence[object],
    year: int | None,
) -> None:  # fmt: skip
    """Refuse options that lack what they need, before any work."""
    if not runs:
        raise UsageError("name two run files or more (RUNS), or a folder of them")
    for option, wanted in (("--inject", bool(inject)), ("--calibration", calibration)):
        if wanted and qrels is None:
            raise UsageError(f"{option} compares with the truth; give --qrels")
    if bool(earlier) != (year is not None):
        raise UsageError("--earlier and --year go together: only collections of years before --year may teach")


def _lessons(
    earlier: Sequence[tuple[str, int, Path, Path]], year: int | None, nearest: int | None, methods: Sequence[str],
    *, measure: str, depth: int, seed: int, jobs: int,
) -> Lessons | None:  # fmt: skip
    """The earlier collections with what the methods say of them; the methods that no combination takes are left out."""
    from assay.nojudgments import METHODS
    from assay.nojudgments.learn import Lessons, judged_collection
    from assay.nojudgments.ranking import taken

    if year is None:
        return None
    names = taken(methods or METHODS.names())
    taught = [
        judged_collection(
            name, when, load_runs([runs], jobs=jobs), load_qrels(qrels), names, measure=measure, depth=depth, seed=seed,
            jobs=jobs,
        )
        for name, when, qrels, runs in earlier
    ]  # fmt: skip
    return Lessons(tuple(taught), year, nearest)


def _injections(
    result: RunRanking, choices: Sequence[str], sizes: str | None, repetitions: int, seed: int, out: Output
) -> list[Injection]:
    """For each choice of topics how τ grows with the number of judged ones."""
    from assay.nojudgments.inject import injection

    if result.truth is None or not choices:
        return []
    chosen = numbers(sizes) if sizes else None
    with out.progress("judging topics") as progress:
        return [
            injection(
                result.by_topic(), result.truth, choice, sizes=chosen, repetitions=repetitions, seed=seed,
                progress=progress,
            )
            for choice in choices
        ]  # fmt: skip


def _calibration(lists: Lists, qrels: Qrels) -> Calibration:
    """How well the probabilities of EMAP, at its own depth, fit the judgments."""
    from assay.nojudgments.expected import calibration, relevance

    cut = lists.cut(100)
    return calibration(relevance(cut), cut.graded(qrels).relevant())


def _listed() -> list[Table]:
    """The methods, and everything else that is chosen by name."""
    from assay.core.tables import Table
    from assay.nojudgments import METHODS
    from assay.nojudgments.combine import FUSIONS
    from assay.nojudgments.inject import CHOICES
    from assay.nojudgments.learn import MODELS

    better = {True: "more", False: "less"}
    methods = [(e.name, e.facts["short"], better[e.facts["higher"]], e.summary, e.facts["paper"]) for e in METHODS]
    columns = {"method": "", "id": "", "better": "", "what it scores": "", "paper": ""}
    other = {"Combinations (--combine)": FUSIONS, "Models (--combine, with --earlier)": MODELS,
             "Choices of topics to judge (--inject)": CHOICES}  # fmt: skip
    return [
        Table.of(columns, methods, caption="Methods (--method)"),
        *(Table.of({"name": "", "what": ""}, [(e.name, e.summary) for e in r], caption=c) for c, r in other.items()),
    ]


def _marked(runs: Sequence[Run], manual: Sequence[str]) -> list[Run]:
    """The runs, those named marked as manual."""
    from assay.core.registry import did_you_mean

    known = [r.name for r in runs]
    for name in manual:
        if name not in known:
            raise UsageError(f"--manual: no run {name!r}{did_you_mean(name, known)}")
    return [replace(r, info=replace(r.info, manual=True)) if r.name in set(manual) else r for r in runs]


def _names(path: Path | None) -> list[str]:
    if path is None:
        return []
    from assay.io.files import read_bytes
    from assay.io.sheet import decoded

    lines = decoded(str(path), read_bytes(path)).splitlines()
    return [line.strip() for line in lines if line.strip()]


def _truth(runs: Sequence[Run], qrels_path: Path, measure: str) -> ScoreMatrix:
    from assay.scoring import evaluate

    return evaluate(runs, load_qrels(qrels_path), measure)[0]


def _difficulty(result: RunRanking) -> list[Table]:
    """Topics by predicted ease, the hardest first; with the truth also how well that was predicted."""
    from assay.core.tables import Table
    from assay.nojudgments.difficulty import average_ap, difficulty

    combined = result.by_topic()
    if result.truth is not None:
        found = difficulty(combined, result.truth)
        return [found.table(), *([found.quarters()] if found.tests else [])]
    ease = average_ap(combined)
    rows = [(combined.topics[i], ease[i]) for i in ease.argsort(kind="stable")]
    caption = f"Topic difficulty by {combined.measure}: mean over runs, the hardest first"
    return [Table.of({"topic": "", "predicted": ".4f"}, rows, caption=caption, notes=[combined.signature])]
