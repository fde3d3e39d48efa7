"""What `assay standardize` reads beside its scores: reference runs, files of factors, one file per collection."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli.columns import named_columns
from assay.cli.inputs import asked_to_transpose, words
from assay.cli.score_folders import refuse_many_topics
from assay.core.errors import UsageError

if TYPE_CHECKING:
    from assay.data.scores import ScoreMatrix
    from assay.standard.factors import Factors


def collections_of(
    files: Sequence[Path], measures: str | None, transpose: bool, name: str | None, force: str | None
) -> dict[str, ScoreMatrix]:
    """One matrix per file, called as its file; files of one name are numbered."""
    from assay.io.score_files import scores_of_collections

    scores = scores_of_collections(
        files, measures=words(measures), transpose=transpose, name=name, force=force, columns=named_columns()
    )
    refuse_many_topics(scores.values())
    return scores


def standardized_by(
    raw: dict[str, ScoreMatrix],
    factors_paths: Sequence[Path],
    form: str,
    smoothing: str | None,
    align: str | None,
    name: str | None,
    force: str | None,
) -> dict[str, ScoreMatrix]:
    """The collections standardized by the factors of all files, or each by its own runs; and aligned, if asked."""
    from assay.standard.factorfiles import read_factors_of

    measure = next(iter(raw.values())).measure
    by = read_factors_of(factors_paths, measure, name=name, force=force) if factors_paths else None
    return {key: standardized(matrix, by, form, smoothing, align) for key, matrix in raw.items()}


def standardized(
    matrix: ScoreMatrix, by: Factors | ScoreMatrix | None, form: str, smoothing: str | None, align: str | None
) -> ScoreMatrix:
    """The scores standardized, with --align so that the common runs have the same mean on every collection."""
    if align is not None:
        from assay.standard.hybrid import aligned

        common = [run.strip() for run in align.split(",") if run.strip()]
        return aligned(matrix, common, by, form=form, smoothing=smoothing)
    from assay.standard import standardize

    return standardize(matrix, by, form=form, smoothing=smoothing)


def years_of(
    collections: Sequence[str], measures: str | None, transpose: bool, name: str | None, force: str | None
) -> dict[str, ScoreMatrix]:
    """The scores of each year, from words such as 2019=scores.csv."""
    files: dict[str, Path] = {}
    for text in collections:
        label, equals, path = text.partition("=")
        if not equals:
            raise UsageError(f"{text!r}: write each collection as YEAR=SCORES, e.g. 2019=scores.csv")
        if label in files:
            raise UsageError(f"{text!r}: {label!r} is there twice; give every collection a label of its own")
        files[label] = Path(path)
    scores = collections_of(list(files.values()), measures, transpose, name, force)
    return dict(zip(files, scores.values(), strict=True))


def reference_files(
    sets: Sequence[str],
    years: dict[str, ScoreMatrix],
    measures: str | None,
    transpose: bool,
    name: str | None,
    force: str | None,
) -> dict[str, ScoreMatrix]:
    """The scores of the reference runs of each year, one file per year; an error where a year has none."""
    references = years_of(sets, measures, transpose, name, force)
    odd = next((label for label in (*years, *references) if label not in years or label not in references), None)
    if odd is not None:
        raise UsageError(
            f"--reference-scores: {odd!r} has scores or reference scores, not both; give both for each year"
        )
    return {label: references[label] for label in years}


def reference_of(
    matrix: ScoreMatrix, factors_path: Path | None, reference: Path | None, force: str | None
) -> Factors | ScoreMatrix | None:
    """What --factors or --reference names."""
    if factors_path is not None and reference is not None:
        raise UsageError("give --factors or --reference, not both")
    if factors_path is not None:
        from assay.standard.factorfiles import read_factors_of

        return read_factors_of([factors_path], matrix.measure, name=_named(), force=force)
    return None if reference is None else reference_scores(reference, matrix, force)


def reference_scores(path: Path, matrix: ScoreMatrix, force: str | None) -> ScoreMatrix:
    """Scores of reference runs, in the shape of the command's: of a file of several measures those of the matrix's."""
    from assay.standard.factorfiles import reference_scores as scores_in

    transpose = asked_to_transpose()
    return scores_in(path, matrix.measure, transpose=transpose, name=_named(), force=force, columns=named_columns())


def refuse_force_without(force: str | None, *sources: Path | None) -> None:
    """An error where --force-measure is given and there is nothing to force."""
    if force is not None and all(source is None for source in sources):
        raise UsageError("--force-measure is about --factors or --reference, and neither is given; leave it out")


def _named() -> str | None:
    """What --measure says."""
    name: str | None = click.get_current_context().params.get("name")
    return name
