"""Which systems are on which collections, and where may they be ranked? Missing cells are counted, never 0.

A system is what runs of one name have in common: a run called bm25 on two collections is the system bm25.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from assay.core.arrays import Bools, Floats
from assay.core.errors import DataError, UsageError
from assay.core.registry import one_of
from assay.data.scores import ScoreMatrix, same_scores
from assay.data.tested_means import needs_means
from assay.io.brought import score_matrix_of
from assay.standard import standardize
from assay.standard.factors import FORM
from assay.stats.limits import possible_scores

COMMON = ("systems", "collections")
"""What is kept where cells are missing: systems that are on all collections, or collections that have all systems."""
COLLECTIONS = (
    "give collections as {collection: scores}: each a ScoreMatrix, a path, {run: {topic: score}}, a data frame, or "
    "what assay.evaluate returns for one measure"
)


@dataclass(frozen=True, eq=False)
class CommonSet:
    """The scores that systems are ranked by, one systems × topics array for each collection; and what was left out."""

    systems: tuple[str, ...]
    collections: tuple[str, ...]
    measure: str
    scores: tuple[Floats, ...]
    standardized: tuple[Floats, ...]
    """The same scores relative to all runs of their collection, topic by topic."""
    limits: tuple[float, float] | None
    """The least and largest score of the measure; None where that is not known, or there is none."""
    of_one_topic: tuple[str, ...]
    """Collections that are left out, since one topic says nothing of how scores vary on it."""
    every_system: tuple[str, ...]
    every_collection: tuple[str, ...]
    every_mean: Floats
    """Standardized means of every system on every collection; nan where a cell is missing."""

    @property
    def topics(self) -> list[int]:
        """Topics of each collection."""
        return [part.shape[1] for part in self.scores]

    @property
    def present(self) -> Bools:
        """Which cells there are: every system × every collection."""
        return np.isfinite(self.every_mean)

    @property
    def missing(self) -> int:
        """Cells without scores."""
        return int((~self.present).sum())

    @property
    def means_only(self) -> bool:
        """Whether all that is known of each collection is one number per system."""
        return max(self.topics) == 1

    def notes(self) -> list[str]:
        """What was left out, and why."""
        missing = [self._of_missing()] if self.missing else []
        if self.of_one_topic:
            missing.append(f"left out are the collections with a single topic ({', '.join(self.of_one_topic)})")
        return missing

    def _of_missing(self) -> str:
        """How many cells are missing, and what was left out for it."""
        cells = f"{self.missing} of {self.present.size} cells are missing"
        without = len(self.every_system) - len(self.systems)
        if without:
            return f"{cells}: {without} systems that are not on all collections have no rank"
        dropped = [name for name in self.every_collection if name not in self.collections]
        return f"{cells}: left out are the collections that lack a system ({', '.join(dropped)})"


def common_set(collections: Mapping[str, Any], *, common: str = "systems", form: str = FORM) -> CommonSet:
    """The systems and collections without a missing cell, with raw and standardized scores.

    collections: {collection: its scores}. common: one of COMMON. form: that of the standardized scores.

    >>> a = ScoreMatrix.of([[0.1, 0.2], [0.3, 0.4], [0.5, 0.5]], runs=["x", "y", "z"])
    >>> b = ScoreMatrix.of([[0.2, 0.1], [0.3, 0.4]], runs=["x", "y"])
    >>> found = common_set({"a": a, "b": b})
    >>> found.systems, found.missing
    (('x', 'y'), 1)
    """
    one_of("common", common, COMMON)
    matrices = checked(collections)
    of_one_topic = () if all(len(m.topics) == 1 for m in matrices.values()) else _of_one_topic(matrices)
    matrices = {name: matrix for name, matrix in matrices.items() if name not in of_one_topic}
    if len(matrices) < 2:
        raise DataError(
            f"{len(matrices)} collection has more than one topic ({', '.join(of_one_topic)}: one); a board needs two"
        )
    every_system = tuple(dict.fromkeys(run for matrix in matrices.values() for run in matrix.runs))
    after = {name: standardize(matrix, form=form) for name, matrix in matrices.items()}
    means = np.full((len(every_system), len(matrices)), np.nan)
    place = {system: at for at, system in enumerate(every_system)}
    for at, matrix in enumerate(after.values()):
        rows = [place[run] for run in matrix.runs]
        means[rows, at] = matrix.averages()
    present = np.isfinite(means)
    every_collection = tuple(matrices)
    if common == "systems":
        systems = tuple(system for system, there in zip(every_system, present.all(axis=1), strict=True) if there)
        kept = every_collection
    else:
        systems = every_system
        kept = tuple(name for name, there in zip(every_collection, present.all(axis=0), strict=True) if there)
    _refuse_too_few(systems, kept, common)
    measure = next(iter(matrices.values())).measure
    return CommonSet(
        systems=systems,
        collections=kept,
        measure=measure,
        scores=tuple(matrices[name].select(runs=systems).values for name in kept),
        standardized=tuple(after[name].select(runs=systems).values for name in kept),
        limits=_limits(matrices.values()),
        of_one_topic=of_one_topic,
        every_system=every_system,
        every_collection=every_collection,
        every_mean=means,
    )


def _of_one_topic(matrices: Mapping[str, ScoreMatrix]) -> tuple[str, ...]:
    return tuple(name for name, matrix in matrices.items() if len(matrix.topics) == 1)


def _limits(matrices: Iterable[ScoreMatrix]) -> tuple[float, float] | None:
    """The limits of a score that hold on all collections."""
    limits = {possible_scores(matrix) for matrix in matrices}
    known = limits.pop() if len(limits) == 1 else None
    return known if known is not None and np.isfinite(known).all() else None


def checked(collections: Mapping[str, Any], what: str = "a board") -> dict[str, ScoreMatrix]:
    """At least two collections with scores of one measure under one policy, whose average is the mean.

    what: the thing that is made of them, for errors.
    """
    if not isinstance(collections, Mapping):
        raise UsageError(f"{type(collections).__name__} where collections are expected; {COLLECTIONS}")
    if len(collections) < 2:
        raise UsageError(
            f"{len(collections)} collection given; {what} takes at least two, and `assay compare` ranks runs on one"
        )
    matrices = {str(name): score_matrix_of(scores) for name, scores in collections.items()}
    for one, other in combinations(matrices.values(), 2):
        same_scores(one, other)
    for name, matrix in matrices.items():
        needs_means(matrix, what)
        if not len(matrix.runs) or not len(matrix.topics):
            raise DataError(
                f"{name}: {len(matrix.runs)} systems and {len(matrix.topics)} topics; one of each is needed"
            )
    return matrices


def _refuse_too_few(systems: Sequence[str], collections: Sequence[str], common: str) -> None:
    """An error where the common set is too small to rank anything."""
    if common == "systems" and len(systems) < 2:
        raise DataError(
            f"{len(systems)} systems are on all {len(collections)} collections; a board needs at least two of the "
            "same name in all of them"
        )
    if len(collections) < 2:
        raise DataError(
            f"{len(collections)} collections have all {len(systems)} systems; a board needs at least two, or take "
            "--common systems"
        )
    if len(systems) < 2:
        raise DataError(f"{len(systems)} system in all; a board needs at least two")


def split_topics(scores: Any, parts: Mapping[str, Sequence[str | int]]) -> dict[str, ScoreMatrix]:
    """One collection for each part of the topics, as where a track used the topics of earlier years again.

    A topic that no part names is left out; a topic in two parts is an error, because collections must not overlap.

    >>> m = ScoreMatrix.of([[0.1, 0.2, 0.3]], topics=["301", "302", "601"])
    >>> split_topics(m, {"old": ["301", "302"], "new": ["601"]})["old"].topics
    ('301', '302')
    """
    matrix = score_matrix_of(scores)
    home: dict[str, str] = {}
    for name, topics in parts.items():
        if not len(topics):
            raise UsageError(f"part {name!r} has no topic; name some or leave it out")
        for topic in map(str, topics):
            if topic in home:
                raise UsageError(f"topic {topic!r} is in the parts {home[topic]!r} and {name!r}; put it in one of them")
            home[topic] = name
    return {name: matrix.select(topics=topics) for name, topics in parts.items()}


def topic_ranges(texts: Sequence[str], topics: Sequence[str]) -> dict[str, list[str]]:
    """{part: topics} of texts such as trec6=301-350: the topics whose numbers lie in that range, both ends included.

    >>> topic_ranges(["old=301-302", "new=601-601"], ["301", "302", "601"])
    {'old': ['301', '302'], 'new': ['601']}
    """
    parts: dict[str, list[str]] = {}
    for text in texts:
        name, _, ends = text.partition("=")
        first, dash, last = ends.partition("-")
        if not (name and dash and first.isdecimal() and last.isdecimal()):
            raise UsageError(f"{text!r}: write a part of the topics as NAME=FIRST-LAST, e.g. trec6=301-350")
        if name in parts:
            raise UsageError(f"{text!r}: the part {name!r} is there twice; give every part a name of its own")
        parts[name] = [topic for topic in topics if topic.isdecimal() and int(first) <= int(topic) <= int(last)]
        if not parts[name]:
            raise UsageError(f"{text!r}: no topic has a number from {first} to {last}; check the range")
    return parts
