"""Two reference sets at once: a collection's own runs for the spread of its topics, common runs for its level.

Scores that are standardized by the runs of their collection are higher where those runs are weak. Runs that are on all
collections say how weak: their mean is made the same everywhere (Webber 2010, §4.7.1, proposes it without a formula).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from assay.core.errors import DataError, UsageError
from assay.core.registry import did_you_mean
from assay.data.scores import ScoreMatrix
from assay.standard.factors import FORM, FORMS, Factors, fit, standardize


def aligned(
    matrix: ScoreMatrix,
    common: Sequence[str],
    by: Factors | ScoreMatrix | None = None,
    *,
    form: str = FORM,
    smoothing: str | None = None,
) -> ScoreMatrix:
    """The scores standardized by the collection's own reference runs, moved so that the common runs average 0 in z.

    z″ = z − mean of z over the common runs and all topics; then the form, which maps z alone (z, cdf or t1). `by` as in
    `standardize`; the common runs must be in the matrix.

    >>> scores = ScoreMatrix.of([[0.2, 0.4], [0.4, 0.6], [0.6, 0.8]], runs=["bm25", "old", "new"])
    >>> moved = aligned(scores, ["bm25"], form="z")
    >>> abs(moved.of_run("bm25")).round(6).tolist(), moved.of_run("new").round(3).tolist()
    ([0.0, 0.0], [2.449, 2.449])
    """
    check_alignment(matrix.measure, matrix.runs, common, form)
    own_sd = FORMS.given(form).get("sd", "population")
    z = standardize(matrix, by, form=f"z(sd={own_sd})", smoothing=smoothing)
    level = z.select(runs=list(common)).values.mean()
    moved = z.values - level
    plain = standardize(matrix, by, form=form, smoothing=smoothing)
    # The form sees the moved z; what it knows of the reference runs beside that is not looked at.
    factors = _factors(matrix, by).of(matrix.topics)
    values = FORMS.call(form, moved, matrix.values, factors)
    return replace(plain, values=values, signature=f"{plain.signature}|aligned:{len(common)} common runs")


def check_alignment(measure: str, runs: Sequence[str], common: Sequence[str], form: str) -> None:
    """An error where the form does not map z alone, or a common run is not among the runs."""
    facts = FORMS.entry(form).facts
    if facts["sample_sd"] or facts["needs_scores"]:
        raise UsageError(f"form {form} is not a function of z alone; align scores of form z, cdf or t1")
    if not common:
        raise UsageError("no common run is named; name runs that are on every collection")
    for run in common:
        if run not in runs:
            raise DataError(f"{measure}: no common run {run!r}{did_you_mean(run, runs)}")


def _factors(matrix: ScoreMatrix, by: Any) -> Factors:
    """The factors of the reference runs."""
    if isinstance(by, Factors):
        return by
    return fit(matrix if by is None else by)
