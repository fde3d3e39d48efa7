"""Several score files: whose measures are wanted, what those are called that say no name, and the one of them all."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from assay.core.errors import UsageError
from assay.data.quantities import canonical
from assay.data.scores import ScoreMatrix, joined
from assay.io.column_names import Named
from assay.io.scores import score_tables
from assay.io.topic_scores import is_topic_scores, read_topic_scores


def read_score_files(
    paths: Sequence[str | Path],
    *,
    measures: Sequence[str | Sequence[str]] = (),
    transpose: bool = False,
    name: str | None = None,
    force: str | None = None,
    columns: Named = None,
) -> list[ScoreMatrix]:
    """The matrices of all files, or of some measures.

    name: what matrices are called whose file does not name its measure, by default as the file; an error where every
    file does. force: the measure that all of them are, whatever the files say. columns: our column → that of the
    tables.
    """
    matrices: list[ScoreMatrix] = []
    for path in paths:
        if is_topic_scores(path):
            if transpose:
                raise UsageError(f"--transpose goes with score tables; {path} is a folder of scores, leave it out")
            matrices += read_topic_scores(path, measures=measures)
        else:
            matrices += score_tables(path, transpose=transpose, name=name, columns=columns)
    if name is not None and canonical(name) not in {canonical(matrix.measure) for matrix in matrices}:
        have = ", ".join(dict.fromkeys(matrix.measure for matrix in matrices))
        raise UsageError(f"--measure {name}: the files name their measures themselves ({have}); choose with -m")
    if measures:
        matrices = of_measures(matrices, measures)
    return matrices if force is None else [matrix.renamed(force) for matrix in matrices]


def of_measures(matrices: Sequence[ScoreMatrix], measures: Sequence[str | Sequence[str]]) -> list[ScoreMatrix]:
    """The matrices of these measures, in this order; an error if there is none of one of them.

    A measure may be given by several names: the first that the files have counts.

    >>> ap, rr = (ScoreMatrix.of([[0.5]], measure=name) for name in ("AP", "RR"))
    >>> [matrix.measure for matrix in of_measures([ap, rr], ["AP"])]
    ['AP']
    """
    known = [canonical(matrix.measure) for matrix in matrices]
    chosen: dict[int, ScoreMatrix] = {}
    for names in measures:
        spellings = [canonical(text) for text in ([names] if isinstance(names, str) else names)]
        name = next((text for text in spellings if text in known), None)
        if name is None:
            have = ", ".join(sorted({matrix.measure for matrix in matrices}))
            raise UsageError(f"no measure {spellings[0]!r} in these files; they have: {have}")
        chosen |= {at: matrices[at] for at, text in enumerate(known) if text == name}
    return list(chosen.values())


def only_measure(matrices: Sequence[ScoreMatrix]) -> ScoreMatrix:
    """The only matrix, for what works on one measure; several tables of it are joined.

    >>> only_measure([ScoreMatrix.of([[0.5]], measure="AP")]).measure
    'AP'
    """
    found = joined(matrices)
    if len(found) != 1:
        names = ", ".join(matrix.measure for matrix in found)
        raise UsageError(f"this works on one measure, and there are {len(found)} ({names}); choose one with -m")
    return found[0]


def scores_of_collections(
    paths: Sequence[Path],
    *,
    measures: Sequence[str | Sequence[str]] = (),
    transpose: bool = False,
    name: str | None = None,
    force: str | None = None,
    columns: Named = None,
) -> dict[str, ScoreMatrix]:
    """One matrix for each file, called as its file; files of one name are numbered."""
    stems = [path.name.partition(".")[0] for path in paths]
    if len(set(stems)) < len(stems):
        stems = [f"{stem} ({i})" for i, stem in enumerate(stems, 1)]
    scores = {}
    for stem, path in zip(stems, paths, strict=True):
        of_file = read_score_files(
            [path], measures=measures, transpose=transpose, name=name, force=force, columns=columns
        )
        scores[stem] = only_measure(of_file)
    return scores
