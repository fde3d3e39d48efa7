"""How good is each cut of a scale? α of any cut on any part of the labels, by one of the ways of choosing."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np

from assay.agreement.ratings import single
from assay.agreement.scales import Scale, scale_for
from assay.core.arrays import Floats, Ints
from assay.core.errors import UsageError
from assay.crowd.cuts import checked_levels, checked_words, mean_alpha
from assay.crowd.cutsearch import every
from assay.crowd.cutsums import CutSums
from assay.crowd.cutways import WAYS, parts_of, source_of
from assay.data import Labels, Qrels

MOST_CUTS = 5_000_000
"""More cuts than this are not all kept with their α."""


@dataclass(frozen=True, eq=False)
class CutScorer:
    """The sums of a set of labels, from which α of any cut follows."""

    sums: list[CutSums]
    scope: str
    undefined: str

    def alpha(self, cuts: Ints) -> Floats:
        """α of each cut, a row of places on the scale; not finite where it is undefined."""
        return mean_alpha(self.sums, cuts, self.scope, self.undefined)

    @property
    def tasks(self) -> int:
        """How many groups of labels have an α of their own."""
        return sum(len(of_part.values) for of_part in self.sums)


@dataclass(frozen=True, eq=False)
class CutChoice:
    """How cuts are compared: by which way, between which scales, and what is done with what is missing."""

    way: str
    scale: Scale
    levels: int
    target: Qrels | None
    scope: str
    unjudged: str
    undefined: str
    ties: str
    aggregate: str

    @classmethod
    def of(
        cls,
        labels: Labels,
        way: str,
        *,
        levels: int,
        source: Scale | str | None,
        target: Qrels | None,
        scope: str = "topics",
        unjudged: str = "zero",
        undefined: str = "skip",
        ties: str = "low",
        aggregate: str = "median",
    ) -> CutChoice:
        """The choice, if its words are known and the scale can be cut so; the parameters are those of `best_cuts`."""
        checked_words(scope, unjudged, undefined, "exact", ties, aggregate)
        needs_target = WAYS[way].facts["target"]
        if needs_target and target is None:
            raise UsageError(
                f"{way} needs judgments on the target scale; give a target, or use H_t+a, H_a+t or Tw_alpha"
            )
        scale = scale_for(labels, source)
        checked_levels(scale, levels)
        used_target = target if needs_target else None
        return cls(way, scale, levels, used_target, scope, unjudged, undefined, ties, aggregate)

    @property
    def places(self) -> int:
        """Between which neighbouring levels a cut point can lie."""
        return len(self.scale.levels) - 1

    @property
    def count(self) -> int:
        """How many cuts there are."""
        return comb(self.places, self.levels - 1)

    def scorer(self, labels: Labels) -> CutScorer:
        """What scores any cut on these labels."""
        entry = WAYS[self.way]
        whole = source_of(labels, self.scale, self.target, self.levels, self.unjudged, self.ties, self.aggregate)
        # The labels of one topic are one whole; those of all topics are compared task by task, topic by topic.
        scope = "pooled" if self.scope == "topics" else self.scope
        by_task = entry.facts["by_task"] and self.scope != "topics"
        _, parts = parts_of(labels, whole, scope, by_task)
        sums = [entry.function(part) for part in parts]
        return CutScorer(sums, scope, self.undefined)

    def parts(self, labels: Labels) -> list[tuple[str, Labels]]:
        """The labels of each topic with its name, or all labels as one; a repeated label of a doc counts once."""
        kept = single(labels, "first")
        if self.scope != "topics":
            return [("all", kept)]
        parts = []
        for topic in np.unique(kept.topic).tolist():
            parts.append((kept.topics[topic], kept.select(kept.topic == topic)))
        return parts

    def all_cuts(self, labels: Labels) -> tuple[Ints, Floats]:
        """Every cut for which α is defined, as places on the scale, and its α; the best first, ties as they come."""
        if self.count > MOST_CUTS:
            raise UsageError(f"{self.count} cuts are too many to keep them all; take fewer levels than {self.levels}")
        scorer = self.scorer(labels)
        blocks = list(every(self.places, self.levels - 1, scorer.tasks))
        cuts = np.concatenate(blocks)
        alpha = np.concatenate([scorer.alpha(block) for block in blocks])
        best_first = np.argsort(-alpha, kind="stable")
        defined = best_first[np.isfinite(alpha[best_first])]
        return cuts[defined], alpha[defined]

    def points(self, cuts: Ints) -> Floats:
        """The labels up to which each cut point goes."""
        return np.array(self.scale.levels)[cuts]
