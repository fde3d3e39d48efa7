"""Policy: every choice that a score rests on beside its measure, declared once and printed as a signature."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

import numpy as np

from assay.core.errors import UsageError
from assay.core.registry import LARGEST, did_you_mean, one_of
from assay.data import Qrels
from assay.data.averages import signature_of_name
from assay.data.grades import Grades
from assay.data.intents import IntentQrels
from assay.data.policy_names import COMPAT, MISSING, TIES, UNJUDGED_AS
from assay.measures import Measure
from assay.version import __version__

J = TypeVar("J", bound=Qrels | IntentQrels)


@dataclass(frozen=True)
class Policy:
    """Every choice that a score rests on beside its measure; printed in its signature.

    >>> from assay.measures import parse
    >>> Policy(missing="drop").signature(parse("nDCG@10"))
    'nDCG@10|gain:grade|ties:docid|missing:drop|unjudged:0|assay:0.1'
    """

    ties: str = "docid"
    missing: str = "zero"
    compat: str | None = None
    condensed: bool = False
    depth: int | None = None
    unjudged: str = "0"
    """`0`: not relevant; `top`: as if all had the top grade, the other end of what judging them could show."""
    top: float | None = None
    """The top grade of the scale; by default the largest grade of the judgments."""
    binary: float | None = None
    """The grade from which on a doc counts as relevant, 1, and below as not, 0; True is 1. None: grades as they are."""
    seed: int = 0

    def __post_init__(self) -> None:
        if isinstance(self.binary, bool | np.bool_):
            object.__setattr__(self, "binary", 1 if self.binary else None)
        if self.binary is not None and not _is_number(self.binary):
            raise UsageError(f"binary={self.binary!r} is not True, False or the lowest relevant grade")
        if self.binary is not None and not 0 < self.binary <= LARGEST:
            raise UsageError(f"the lowest relevant grade of binary judgments must be above 0, not {self.binary}")
        one_of("tie policy", self.ties, TIES)
        one_of("policy for missing topics", self.missing, MISSING)
        if self.compat is not None:
            one_of("compat", self.compat, COMPAT)
        one_of("policy for unjudged docs", self.unjudged, UNJUDGED_AS)
        if not isinstance(self.condensed, bool | np.bool_):
            raise UsageError(f"condensed={self.condensed!r} is not True or False")
        if self.depth is not None and not (_is_whole(self.depth) and 1 <= self.depth <= LARGEST):
            raise UsageError(f"depth={self.depth!r} is not a whole number from 1 to {LARGEST:g}")
        if self.top is not None and not (_is_number(self.top) and 0 < self.top <= LARGEST):
            raise UsageError(f"top={self.top!r} is not a grade above 0 and at most {LARGEST:g}")
        if not (_is_whole(self.seed) and self.seed >= 0):
            raise UsageError(f"seed={self.seed!r} is not a whole number of at least 0")

    def judgments(self, qrels: J) -> J:
        """The judgments as they are scored: binary, where that is chosen."""
        if self.binary is None:
            return qrels
        made: Any = qrels.binary(self.binary)  # of the same type
        return made

    def on(self, qrels: Qrels | IntentQrels) -> Policy:
        """The same choices with what these judgments are: their top grade where none was chosen, binary or not."""
        if qrels.binary_from is not None and self.top not in (None, 1):
            raise UsageError(f"top={self.top:g} is not the top grade of binary judgments, which is 1; leave it out")
        if self.binary != qrels.binary_from:
            return replace(self, binary=qrels.binary_from).on(qrels)
        largest = qrels.top_grade()
        if self.top is None:
            return replace(self, top=largest)
        if self.top < largest:
            raise UsageError(f"top={self.top:g} is below the grade {largest:g} of {qrels.name}; the top is the largest")
        return self

    def signature(self, measure: Measure, ties: str | None = None) -> str:
        """What a score rests on, e.g. `nDCG@10|gain:grade|ties:docid|missing:zero|unjudged:0|assay:0.1`."""
        given = dict(measure.parameters)
        gain = given.get("gain", measure.entry.parameters.get("gain"))
        measure_needs_top = measure.entry.facts.get("uses_top") and given.get("top") is None
        needs_top = measure_needs_top or self.unjudged == "top"
        # the name of a count of a person's own does not say that it is summed
        parts = [signature_of_name(measure.in_full(), measure.aggregate)]
        if gain:
            parts.append(f"gain:{gain}")
        if self.binary is not None:
            parts.append(f"binary:{self.binary:g}")
        if self.top is not None and needs_top:
            parts.append(f"top:{self.top:g}")
        parts.append(f"ties:{ties or self.ties}")
        parts.append(f"missing:{self.missing}")
        removed = self.condensed or measure.condensed
        parts.append("unjudged:removed" if removed else f"unjudged:{self.unjudged}")
        if self.depth:
            parts.append(f"depth:{self.depth}")
        if self.compat:
            parts.append(f"compat:{self.compat}")
        minor_version = ".".join(__version__.split(".")[:2])
        parts.append(f"assay:{minor_version}")
        return "|".join(parts)


def refuse_unscorable(measures: Sequence[Measure], policy: Policy, judgments: Qrels | IntentQrels) -> None:
    """An error for measures that cannot see what is relevant in these judgments.

    Judgments that were made binary have no grade above 1. On a scale of many levels, 0–100 say, nobody knows from where
    on a doc is relevant: a person does.
    """
    _refuse_lost_grades(measures, policy)
    unsaid = [measure for measure in measures if measure.needs_rel]
    if not unsaid or isinstance(judgments, IntentQrels):
        return
    scale = judgments.fine_scale()
    if scale is not None:
        first, half = unsaid[0], (scale.low + scale.high) / 2
        raise UsageError(
            f"{first}: {judgments.name} has grades on a scale of many levels ({scale}), and which of them are relevant "
            f"nobody said; name the lowest, e.g. {first.with_rel(half)}, or cut the judgments (binary={half:g})"
        )


def _refuse_lost_grades(measures: Sequence[Measure], policy: Policy) -> None:
    """An error where a measure asks for a grade above 1 of judgments that were made binary: it would find none."""
    for measure in measures:
        rel = dict(measure.parameters).get("rel")
        if policy.binary is not None and rel is not None and rel > 1:
            raise UsageError(
                f"{measure}: binary judgments have the grades 0 and 1; leave rel out, make them binary from {rel:g} on"
            )


def _is_whole(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def chosen_policy(policy: Policy | None, choices: Mapping[str, Any]) -> Policy:
    """A policy with some choices given by name."""
    known = [f.name for f in fields(Policy)]
    for name in choices:
        if name not in known:
            raise UsageError(f"no choice {name!r}{did_you_mean(name, known)}")
    return replace(policy or Policy(), **choices)


def prepared(g: Grades, policy: Policy) -> Grades:
    """Grades as the policy wants them: cut, condensed, or with the unjudged docs supposed to be of the top grade."""
    if policy.top is not None:
        g = replace(g, top=policy.top)
    if policy.depth is not None:
        g = g.cut(policy.depth)
    if policy.condensed:
        g = g.condensed()
    if policy.unjudged == "top":
        g = g.supposing(g.top)
    return g
