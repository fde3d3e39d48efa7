"""What `assay standardize` reads beside its scores: reference runs, files of factors, one file per collection."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli.columns import named_columns
from assay.cli.inputs import asked_to_transpose, words
from assay.core.errors import UsageError

if TYPE_CHECKING:
    from assay.data.scores import ScoreMatrix
    from assay.standard.factors import Factors


def collections_of(
    files: Sequence[Path], measures: str | None, transpose: bool, name: str | None, force: str | None
) -> dict[str, ScoreMatrix]:
    """One matrix per file, called as its file; files of one name are numbered."""
    from assay.io.score_files import scores_of_collections

    return scores_of_collections(
        files, measures=words(measures), transpose=transpose, name=name, force=force, columns=named_columns()
    )


def standardized_by(
    raw: dict[str, ScoreMatrix],
    factors_paths: Sequence[Path],
    form: str,
    smoothing: str | None,
    name: str | None,
    force: str | None,
) -> dict[str, ScoreMatrix]:
    """The collections standardized by the factors of all files, or each by its own runs."""
    from assay.standard import standardize
    from assay.standard.factorfiles import read_factors_of

    measure = next(iter(raw.values())).measure
    by = read_factors_of(factors_paths, measure, name=name, force=force) if factors_paths else None
    return {key: standardize(matrix, by, form=form, smoothing=smoothing) for key, matrix in raw.items()}


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
