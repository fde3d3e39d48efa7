"""assay standardize: are scores comparable between topics and collections?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli.commands import Group
from assay.cli.inputs import FILE, load_scores, measures_option, numbers, one_matrix, scores_input
from assay.cli.options import Output, jobs_option, output_and_figure_options, output_options, seed_option
from assay.core.errors import UsageError

if TYPE_CHECKING:
    from assay.data.scores import ScoreMatrix
    from assay.standard.factors import Factors

form_option = click.option(
    "--form", default="cdf", show_default=True, metavar="FORM",
    help="z, cdf (Φ of z), t1, U, E or N; with parameters as in 'U(A=0.2)'.",
)  # fmt: skip
smoothing_option = click.option(
    "--smoothing", metavar="HOW", help="virtual (runs of 0 and 1), itself, or 'background(weight=0.3)'."
)
transpose_option = click.option("--transpose", is_flag=True, help="Score matrices have one row per topic.")


@click.group(cls=Group)
def command() -> None:
    """Make scores of different topics and collections comparable.

    \b
    Publish a collection with the factors of its runs, then score a new run without the old ones:
      assay standardize fit trec8.csv --save factors.csv
      assay standardize apply mine.csv --factors factors.csv
    """


@command.command()
@scores_input
@click.option("--save", type=FILE, help="Write the factors here: .csv, .tsv, .jsonl or .parquet.")
@click.option("--keep-scores", is_flag=True, help="Also keep the reference scores, which form E needs.")
@output_options
def fit(matrices: list[ScoreMatrix], save: Path | None, keep_scores: bool, out: Output) -> None:
    """Factors of reference runs: mean and sd.

    Of every topic over these runs; save them to standardize other runs.

    \b
    assay standardize fit trec8.csv --save factors.csv
    """
    from assay.standard.factorfiles import write_factors
    from assay.standard.factors import factors

    found = [factors(m, keep_scores=keep_scores) for m in matrices]
    out.write(*(f.table() for f in found))
    if save is not None:
        write_factors(save, found)
        out.say(f"factors written to {save}")


@command.command()
@scores_input
@click.option("--factors", "factors_path", type=FILE, help="Factors of the reference runs, made by fit.")
@click.option("--reference", type=FILE, help="Scores of the reference runs, instead of --factors.")
@form_option
@smoothing_option
@click.option("--save", type=FILE, help="Write the standardized scores here.")
@output_and_figure_options
def apply(
    matrices: list[ScoreMatrix],
    factors_path: Path | None,
    reference: Path | None,
    form: str,
    smoothing: str | None,
    save: Path | None,
    out: Output,
) -> None:
    """Standardize scores by reference runs.

    By --factors, by --reference, or by the runs themselves if neither is given.

    \b
    assay standardize apply mine.csv --factors factors.csv --form z --save mine-z.csv
    """
    from assay.io.scores import write_scores
    from assay.standard.factors import standardized

    by = [_reference(m, factors_path, reference) for m in matrices]
    scores = [standardized(m, f, form=form, smoothing=smoothing) for m, f in zip(matrices, by, strict=True)]
    out.write(*(_before_and_after(m, s) for m, s in zip(matrices, scores, strict=True)), of=scores)
    if save is not None:
        write_scores(save, scores)
        out.say(f"scores written to {save}")


@command.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, allow_dash=True))
@measures_option
@transpose_option
@click.option(
    "--factors", "factors_paths", type=FILE, multiple=True, help="Factors of the collections; may be repeated."
)
@form_option
@smoothing_option
@click.option("--permutations", type=click.IntRange(min=0), default=1000, show_default=True, help="0 leaves p out.")
@click.option("--halves", type=click.IntRange(min=0), default=0, help="Random halves for errors of two-sample tests.")
@seed_option
@output_and_figure_options
def compare(
    files: tuple[Path, ...],
    measures: str | None,
    transpose: bool,
    factors_paths: tuple[Path, ...],
    form: str,
    smoothing: str | None,
    permutations: int,
    halves: int,
    seed: int,
    out: Output,
) -> None:
    """Put collections side by side.

    One score file each, with the same runs in all of them.
    Raw scores first, then standardized ones (by --factors, or each collection by its own runs).

    \b
    assay standardize compare trec7.csv trec8.csv --factors trec7-factors.csv --factors trec8-factors.csv
    """
    from assay.standard.collections import comparability

    names = [f.name.partition(".")[0] for f in files]
    if len(set(names)) < len(names):
        names = [f"{name} ({i + 1})" for i, name in enumerate(names)]
    raw = {n: one_matrix(_read([f], measures, transpose)) for n, f in zip(names, files, strict=True)}
    known = _joined(factors_paths, next(iter(raw.values())).measure) if factors_paths else None
    after = {n: _standard(m, known, form, smoothing) for n, m in raw.items()}
    with out.progress("permuting") as progress:
        found = [comparability(c, permutations=permutations, seed=seed, progress=progress) for c in (raw, after)]
    tables = [f.table() for f in found]
    if halves:
        tables += _errors(raw, after, halves, seed)
    out.write(*tables, of=found)


@command.command()
@scores_input
@click.option("--target", type=float, multiple=True, default=(0.9, 0.95), show_default=True, help="Wanted reliability.")
@output_and_figure_options
def variance(matrices: list[ScoreMatrix], target: tuple[float, ...], out: Output) -> None:
    """Where the spread of scores comes from.

    Components of variance, φ, ρ, Φ, Eρ², and topics for a wanted reliability.

    \b
    assay standardize variance trec8.csv --target 0.95
    """
    from assay.standard.variance import variance_components

    found = [variance_components(m) for m in matrices]
    out.write(*(f.table(target) for f in found), of=found)


@command.command()
@scores_input
@click.option("--total", is_flag=True, help="Correlate with the mean of all topics, the topic itself among them.")
@output_and_figure_options
def items(matrices: list[ScoreMatrix], total: bool, out: Output) -> None:
    """Does each topic agree with the others?

    Item-total correlation of every topic, over the runs.
    """
    from assay.standard.items import item_total

    found = [item_total(m, rest=not total) for m in matrices]
    out.write(*(f.table() for f in found), of=found)


@command.command()
@scores_input
@click.option("--reference", type=FILE, required=True, help="Scores of the reference runs on the same topics.")
@form_option
@click.option("--sizes", default="2,3,5,10,15,20,30,50", show_default=True, help="Sizes of the reference set.")
@click.option("--samples", type=click.IntRange(min=1), default=2000, show_default=True, help="Random sets per size.")
@seed_option
@jobs_option
@output_and_figure_options
def references(
    matrices: list[ScoreMatrix],
    reference: Path,
    form: str,
    sizes: str,
    samples: int,
    seed: int,
    jobs: int,
    out: Output,
) -> None:
    """How many reference runs are enough?

    And do their factors still serve these runs, compared with the runs' own?
    """
    from assay.standard.reference import longevity, reference_size

    matrix = one_matrix(matrices)
    by = _reference_scores(reference, matrix.measure)
    with out.progress("sampling reference runs") as progress:
        found = reference_size(
            matrix, by, sizes=numbers(sizes), samples=samples, form=form, seed=seed, jobs=jobs, progress=progress
        )
    out.write(longevity(matrix, by, form=form).table(), found.table(), of=found)


@command.command()
@click.argument("collections", nargs=-1, required=True, metavar="YEAR=SCORES…")
@click.option("--reference", required=True, help="Names of the reference runs, parted by commas; all files need them.")
@measures_option
@transpose_option
@form_option
@click.option("--smoothing", default="virtual", show_default=True, help="virtual, itself, background or none.")
@output_and_figure_options
def trend(
    collections: tuple[str, ...],
    reference: str,
    measures: str | None,
    transpose: bool,
    form: str,
    smoothing: str,
    out: Output,
) -> None:
    """Did runs get better over the years?

    All standardized by the same reference runs.

    \b
    assay standardize trend 2019=y19.csv 2020=y20.csv --reference bm25,rm3
    """
    from assay.standard.reference import trend as trend_of

    years: dict[str, Any] = {}
    for text in collections:
        label, equals, path = text.partition("=")
        if not equals:
            raise UsageError(f"{text!r}: write each collection as YEAR=SCORES, e.g. 2019=scores.csv")
        if label in years:
            raise UsageError(f"{text!r}: {label!r} is there twice; give every collection a label of its own")
        years[label] = one_matrix(_read([Path(path)], measures, transpose))
    names = [r.strip() for r in reference.split(",") if r.strip()]
    found = trend_of(years, names, form=form, smoothing=None if smoothing == "none" else smoothing)
    out.write(found.table(), of=found)


def _read(files: list[Path], measures: str | None, transpose: bool) -> list[ScoreMatrix]:
    return load_scores(files, qrels_path=None, measures=measures, transpose=transpose)


def _reference(matrix: ScoreMatrix, factors_path: Path | None, reference: Path | None) -> Factors | ScoreMatrix | None:
    if factors_path is not None and reference is not None:
        raise UsageError("give --factors or --reference, not both")
    if factors_path is not None:
        return _joined((factors_path,), matrix.measure)
    if reference is not None:
        return _reference_scores(reference, matrix.measure)
    return None


def _reference_scores(path: Path, measure: str) -> ScoreMatrix:
    """Scores of reference runs, in the shape of the command's; a file of a single measure serves whatever its name."""
    transpose = bool(click.get_current_context().params.get("transpose"))
    found = _read([path], None, transpose)
    return one_matrix([m for m in found if m.measure == measure] or found)


def _joined(paths: tuple[Path, ...], measure: str) -> Factors:
    """The factors of one measure from several files; a file of a single measure serves whatever its name."""
    from dataclasses import replace

    from assay.standard.factorfiles import read_factors
    from assay.standard.factors import joined

    parts = []
    for path in paths:
        found = read_factors(path)
        if measure not in found and len(found) > 1:
            raise UsageError(f"{path}: no factors of {measure!r}; it has: {', '.join(found)}")
        parts.append(replace(found.get(measure) or next(iter(found.values())), measure=measure))
    return joined(*parts)


def _standard(matrix: ScoreMatrix, by: Factors | None, form: str, smoothing: str | None) -> ScoreMatrix:
    from assay.standard.factors import standardized

    return standardized(matrix, by, form=form, smoothing=smoothing)


def _before_and_after(raw: ScoreMatrix, after: ScoreMatrix) -> Any:
    from assay.core.tables import Table

    order = (-after.means()).argsort(kind="stable")
    place = {int(i): r + 1 for r, i in enumerate((-raw.means()).argsort(kind="stable"))}
    rows = [(raw.runs[i], after.means()[i], raw.means()[i], place[int(i)]) for i in order]
    formats = {"run": "", after.measure: ".4f", raw.measure: ".4f", "rank before": "d"}
    return Table.of(formats, rows, caption=f"{raw.measure}, standardized", notes=[after.signature])


def _errors(raw: dict[str, ScoreMatrix], after: dict[str, ScoreMatrix], splits: int, seed: int) -> list[Any]:
    """False positives and false negatives on random halves of all topics together, raw and standardized."""
    import numpy as np

    from assay.data.scores import ScoreMatrix
    from assay.standard.halves import false_negatives, false_positives

    def pooled(parts: dict[str, ScoreMatrix]) -> ScoreMatrix:
        first = next(iter(parts.values()))
        runs = [r for r in first.runs if all(r in m.runs for m in parts.values())]
        cut = [m.select(runs=runs) for m in parts.values()]
        topics = [f"{name}:{t}" for name, m in parts.items() for t in m.topics]
        return ScoreMatrix.of(np.hstack([m.values for m in cut]), runs=runs, topics=topics, measure=first.measure)

    forms = [pooled(raw), pooled(after)]
    tables = [false_positives(m, splits=splits, seed=seed).table() for m in forms]
    return [*tables, false_negatives(forms, samples=splits, seed=seed).table()]
