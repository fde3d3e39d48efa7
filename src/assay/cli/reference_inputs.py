"""What `assay standardize` reads beside its scores: reference runs, files of factors, one file per collection."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli.inputs import load_scores, one_matrix
from assay.core.errors import UsageError

if TYPE_CHECKING:
    from assay.data.scores import ScoreMatrix
    from assay.standard.factors import Factors


def collections_of(
    files: Sequence[Path], measures: str | None, transpose: bool, name: str | None, force: str | None
) -> dict[str, ScoreMatrix]:
    """One matrix per file, called as its file; files of one name are numbered."""
    stems = [path.name.partition(".")[0] for path in files]
    if len(set(stems)) < len(stems):
        stems = [f"{stem} ({i})" for i, stem in enumerate(stems, 1)]
    scores = {}
    for stem, path in zip(stems, files, strict=True):
        loaded = load_scores([path], qrels_path=None, measures=measures, transpose=transpose, name=name, force=force)
        scores[stem] = one_matrix(loaded)
    return scores


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

    measure = next(iter(raw.values())).measure
    by = factors_of(factors_paths, measure, name, force) if factors_paths else None
    return {key: standardize(matrix, by, form=form, smoothing=smoothing) for key, matrix in raw.items()}


def reference_of(
    matrix: ScoreMatrix, factors_path: Path | None, reference: Path | None, force: str | None
) -> Factors | ScoreMatrix | None:
    """What --factors or --reference names."""
    if factors_path is not None and reference is not None:
        raise UsageError("give --factors or --reference, not both")
    if factors_path is not None:
        return factors_of([factors_path], matrix.measure, _named(), force)
    return None if reference is None else reference_scores(reference, matrix, force)


def reference_scores(path: Path, matrix: ScoreMatrix, force: str | None) -> ScoreMatrix:
    """Scores of reference runs, in the shape of the command's: of a file of several measures those of the matrix's."""
    from assay.data.quantities import canonical
    from assay.io.scores import score_tables

    transpose = bool(click.get_current_context().params.get("transpose"))
    tables = score_tables(path, transpose=transpose, name=_named())
    if force is not None:
        tables = [table.renamed(force) for table in tables]
    same = [table for table in tables if canonical(table.measure) == canonical(matrix.measure)]
    return one_matrix(same or tables)


def factors_of(paths: Sequence[Path], measure: str, name: str | None, force: str | None) -> Factors:
    """The factors of one measure from several files; those of a file's only measure where that is another."""
    from assay.standard import read_factors
    from assay.standard.factors import joined_factors

    parts = []
    for path in paths:
        by_measure = read_factors(path, measure=name)
        if measure not in by_measure and len(by_measure) > 1:
            raise UsageError(f"{path}: no factors of {measure!r}; it has: {', '.join(by_measure)}")
        part = by_measure.get(measure) or next(iter(by_measure.values()))
        parts.append(part if force is None else part.renamed(force))
    return joined_factors(*parts)


def refuse_force_without(force: str | None, *sources: Path | None) -> None:
    """An error where --force-measure is given and there is nothing to force."""
    if force is not None and all(source is None for source in sources):
        raise UsageError("--force-measure is about --factors or --reference, and neither is given; leave it out")


def _named() -> str | None:
    """What --measure says."""
    name: str | None = click.get_current_context().params.get("name")
    return name
