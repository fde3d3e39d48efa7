"""METHODS: every way of scoring runs without judgments, by name, and `predicted`, which applies one.

Where the flow stands: lists → **predicted scores** → combine, accuracy, difficulty. The methods live in one file per
family and register here; each says whether more is better, and `predicted` turns all of them so that more is better.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from assay.core.arrays import Floats
from assay.core.engine import Progress, ordered_map, silent
from assay.core.errors import UsageError
from assay.core.registry import Registry
from assay.data import Run
from assay.data.lists import Lists
from assay.data.scores import ScoreMatrix
from assay.nojudgments.basis import comparable, without_judgments

Method = Callable[..., Floats]

METHODS: Registry[Method] = Registry("method without judgments")
"""Registered with three facts: `short` (the id in Roitero 2020, Table 5.1), `higher` (more is better) and `paper`; and
with `judged`, a function of its parameters, where some of them ask for judgments. No other method sees any."""

SCALES = ("none", "min-max", "z", "min-max-topic", "z-topic")


def predicted(lists: Lists | Sequence[Run], method: str = "emap", *, scale: str = "none", seed: int = 0) -> ScoreMatrix:
    """Scores of every run on every topic by one method, more is always better.

    Where less is better by definition (Spoerri's single docs) the values are negated, as Roitero 2020 does, so that
    everything that takes scores applies. scale: see `scaled`. `METHODS[name].function(lists)` gives the values as
    published.

    >>> runs = [Run.from_lists("a", {"1": ["x", "y"]}), Run.from_lists("b", {"1": ["y", "z"]})]
    >>> predicted(runs, "wu-crestani").values.tolist()
    [[1.0], [1.0]]
    """
    coded = lists if isinstance(lists, Lists) else comparable(lists)
    if not draws_from_judgments(method):
        coded = without_judgments(coded)
    values: Floats = METHODS.call(method, coded, seed=seed)
    entry = METHODS.entry(method)
    given = METHODS.given(method)
    parameters = dict(entry.parameters)
    if "seed" in parameters:
        parameters["seed"] = seed
    parameters |= given
    recipe = ", ".join(f"{key}={value}" for key, value in parameters.items() if value is not None)
    notes = [f"{entry.name}({recipe})", entry.facts["paper"]]
    if not entry.facts["higher"]:
        values = -values
        notes.append("negated")
    signature = "|".join(notes)
    matrix = ScoreMatrix.of(values, runs=coded.runs, topics=coded.topics, measure=method, signature=signature)
    return scaled(matrix, scale)


def predictions(
    lists: Lists | Sequence[Run],
    methods: Sequence[str] | None = None,
    *,
    scale: str = "none",
    seed: int = 0,
    jobs: int = 1,
    progress: Progress = silent,
) -> list[ScoreMatrix]:
    """`predicted` for several methods (all by default), the runs coded once."""
    coded = lists if isinstance(lists, Lists) else comparable(lists)
    names = METHODS.names() if methods is None else list(methods)
    return ordered_map(
        lambda name: predicted(coded, name, scale=scale, seed=seed), names, jobs=jobs, threads=True, progress=progress
    )


def draws_from_judgments(method: str) -> bool:
    """Whether a method, with these parameters, needs judgments to draw its pseudo-relevant docs.

    >>> draws_from_judgments("soboroff"), draws_from_judgments("soboroff(share=exact)")
    (False, True)
    """
    asks: Callable[[dict[str, Any]], bool] | None = METHODS.entry(method).facts.get("judged")
    return asks is not None and asks(METHODS.given(method))


def short_name(method: str) -> str:
    """The id of a method in Roitero 2020, Table 5.1, with its parameters if any.

    >>> short_name("soboroff(duplicates=true)")
    'SNC(duplicates=true)'
    """
    name = method.partition("(")[0].strip()
    return method.strip().replace(name, METHODS[name].facts["short"], 1)


def scaled(matrix: ScoreMatrix, scale: str = "min-max") -> ScoreMatrix:
    """The matrix brought to a common scale.

    `min-max` to [0, 1] over the whole matrix (Roitero 2020, §7.2), `z` to mean 0 and sd 1 over the whole matrix,
    `…-topic` the same for each topic, so that no topic outweighs another; `none`. Where all values are equal they
    become 0.

    >>> m = ScoreMatrix.of([[1, 10], [3, 10], [2, 40]])
    >>> scaled(m, "min-max-topic").values.tolist()
    [[0.0, 0.0], [1.0, 0.0], [0.5, 1.0]]
    """
    if scale not in SCALES:
        raise UsageError(f"no scale {scale!r}; known: {', '.join(SCALES)}")
    if scale == "none":
        return matrix
    axis = 0 if scale.endswith("-topic") else None
    scores = matrix.values
    if scale.startswith("min-max"):
        zero = scores.min(axis=axis, keepdims=True)
        unit = np.ptp(scores, axis=axis, keepdims=True)
    else:
        zero = scores.mean(axis=axis, keepdims=True)
        unit = scores.std(axis=axis, keepdims=True)
    # A spread that is only rounding counts as none.
    varies = unit > 1e-12 * np.abs(scores).max(initial=1e-300)
    values = np.divide(scores - zero, unit, out=np.zeros_like(scores), where=varies)
    return ScoreMatrix(matrix.runs, matrix.topics, values, matrix.measure, f"{matrix.signature}|scale:{scale}")
