"""How alike are two things that rank? Two runs, two score matrices or two lists: one function for all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from assay.core.dataframes import library_of
from assay.core.errors import UsageError
from assay.data import Run, ScoreMatrix, Scores
from assay.io.brought import holds_docs, run_of, score_matrix_of
from assay.io.column_names import Named, refuse_unused, shared_columns
from assay.rankings.rank_biased import RBO, Items, Ranking, rbo
from assay.similarity.by_topic import RunSimilarity, compare_runs
from assay.similarity.systems import RankingComparison, compare_rankings

FOR_LISTS = ("p", "ties")
FOR_RUNS = ("p", "ties", "depth", "measures")
FOR_SCORES = ("measures", "resamples", "seed")


def similarity(
    a: Any,
    b: Any,
    *,
    p: float | None = None,
    ties: str | None = None,
    depth: int | None = None,
    measures: Sequence[str] | None = None,
    resamples: int | None = None,
    seed: int | None = None,
    columns: Named = None,
) -> RunSimilarity | RankingComparison | RBO:
    """How alike two runs are on each topic, two score matrices as rankings of their runs, or two lists of items.

    Two runs: RBO at p (.9), ties (`order`, `w`, `a`, `b`), only the first `depth` docs, other list similarities as
    `measures`. Two score matrices: correlations (`measures`, τ-b and others by default) with intervals from `resamples`
    bootstrap samples of the topics. Two lists, best first, tied items in a set: RBO at p with the tie form `ties`.
    A run may also be a path, {topic: {doc: score}} or a data frame with topics and docs; scores a data frame with runs
    and topics. columns: our column → that of the tables which have it. An option that the kind of
    data has no use for is an error.

    >>> print(similarity(["a", "b", "d"], ["c", "b", "e"]))
    0.3150 [0.1558 – 0.7828]
    >>> x, y = ScoreMatrix.of([[0.1, 0.2], [0.3, 0.5]]), ScoreMatrix.of([[0.3, 0.1], [0.4, 0.5]])
    >>> similarity(x, y, measures=["tau-b"], resamples=0).record()["tau"]
    1.0
    """
    options = {"p": p, "ties": ties, "depth": depth, "measures": measures, "resamples": resamples, "seed": seed}
    given = {name: value for name, value in options.items() if value is not None}
    shared = shared_columns(columns)
    a = _known(a, "a", shared)
    b = _known(b, "b", shared)
    refuse_unused(shared, columns)
    if isinstance(a, Run) and isinstance(b, Run):
        return compare_runs(a, b, **_only(FOR_RUNS, given, "two runs"))
    if isinstance(a, ScoreMatrix) and isinstance(b, ScoreMatrix):
        return compare_rankings(a, b, **_only(FOR_SCORES, given, "two score matrices"))
    for one in (a, b):
        if isinstance(one, Run | ScoreMatrix):
            raise UsageError(
                f"{type(a).__name__} and {type(b).__name__} cannot be compared; give two runs, two score matrices or "
                "two lists"
            )
    return rbo(a, b, **_only(FOR_LISTS, given, "two lists"))


def _known(thing: Any, name: str, columns: Named) -> Run | ScoreMatrix | Items | Ranking:
    """A run or scores where the thing holds them, a list of items as it is."""
    if isinstance(thing, Run | ScoreMatrix | Ranking):
        return thing
    if isinstance(thing, str | Path | Mapping):
        return run_of(thing, columns=columns, name=name)
    if library_of(thing) is None:
        if not isinstance(thing, Iterable):
            raise UsageError(
                f"{type(thing).__name__} cannot be compared; give two runs, two score matrices or two lists"
            )
        return score_matrix_of(thing) if isinstance(thing, Scores) else thing  # type: ignore[return-value]
    if holds_docs(thing):
        return run_of(thing, columns=columns, name=name)
    return score_matrix_of(thing, columns=columns)


def _only(known: Sequence[str], given: dict[str, Any], what: str) -> dict[str, Any]:
    """The options, all of which must be known for this kind of data."""
    for name in given:
        if name not in known:
            raise UsageError(f"{name} has no effect on {what}; they take {', '.join(known)}")
    return given
