"""Between which scores would judging everything leave a run?

Two scenarios: no unjudged doc is relevant; and every unjudged doc has the top grade, as have docs at the ranks past the
end of the list, down to the cutoff of the measure or without end, wherever the measure would count them. They are the
ends of a range where more gain at a rank never lowers the measure and nothing else that is judged matters. Elsewhere
they are two scenarios and no more: judging can raise R or the ideal list, and the second may be the lower one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.core.results import Result
from assay.core.tables import Table
from assay.data.grades import UNJUDGED, Grades, gain_mapping, gain_of
from assay.measures.base import Measure, Scores
from assay.measures.browsing import DEPTH
from assay.measures.families import parse
from assay.measures.gain import top_gain
from assay.measures.ties import expected

RANGE = "range"
TWO_SCENARIOS = "two scenarios"

COST_LIMITS = ("BPM", "BPMdynamic")
"""Measures whose k is what a user may spend, not a rank."""
FIRST_ONLY = ("RR", "Success")
"""Measures to which one more relevant doc says all."""
ENDLESS = ("DCG", "DCGjk", "SP")
"""Measures that grow without end with the length of a list, unless they are cut."""
SATISFIED = ("ERR", "ERRlin")
"""Measures of a user who stops for ever once a doc satisfies."""
LONGEST_TAIL = 5000
"""Ranks past the end of the lists that are filled; of a deeper cutoff, at most this many from the top."""


@dataclass(frozen=True, eq=False)
class Bounds(Result):
    """The scores of a run in two scenarios, by topic."""

    measure: str
    topics: Sequence[str]
    low: Scores
    """No unjudged doc is relevant."""
    high: Scores
    """Every unjudged doc, and every doc past the end of the list, has the top grade."""
    kind: str
    """`range` where the true score lies between the two whatever is judged, else `two scenarios`."""
    why: str
    """A sentence that says why it is one or the other."""

    def table(self) -> Table:
        """One row per topic."""
        rows = zip(self.topics, self.low.tolist(), self.high.tolist(), strict=True)
        formats = {"topic": "", "unjudged not relevant": ".4f", "unjudged top grade": ".4f"}
        keys = {"unjudged not relevant": "low", "unjudged top grade": "high"}
        return Table.of(formats, list(rows), caption=f"{self.measure}: {self.kind}", notes=["", self.why], keys=keys)


def bounds_of(measure: str | Measure, grades: Grades, *, seed: int = 0) -> Bounds:
    """The scores of a run with unjudged docs not relevant, and with them and all that may follow at the top grade.

    seed: for ties="average", where the orders of tied docs are too many to list.

    >>> from assay.data import Qrels, Run, align
    >>> run = Run.from_lists("r", {"1": ["a", "b", "c", "d"]})
    >>> two = bounds_of("P@4", align(run, Qrels.from_dict({"1": {"a": 1, "b": -1, "c": 0}})))
    >>> two.low.tolist(), two.high.tolist(), two.kind
    ([0.25], [0.75], 'range')
    >>> two = bounds_of("RBP(p=0.5)", align(run.cut(2), Qrels.from_dict({"1": {"a": 1, "b": 0}})))
    >>> two.low.tolist(), two.high.tolist()
    ([0.5], [0.75])
    """
    m = parse(measure) if isinstance(measure, str) else measure
    seen = grades.condensed() if m.condensed else grades
    kind, why = _kind(m, seen)
    longer = _continued(m, seen)
    supposed = longer.supposing(longer.top)
    high = _score(replace(m, condensed=False), supposed, seed) + _tail(m, seen)
    return Bounds(str(m), grades.topics, _score(m, grades, seed), high, kind, why)


def _score(m: Measure, g: Grades, seed: int) -> Scores:
    return m(g) if g.tied is None else expected(m, g, seed=seed)[0]


def _kind(m: Measure, g: Grades) -> tuple[str, str]:
    """Whether the two scenarios are the ends of a range, and why."""
    facts, given = m.entry.facts, dict(m.parameters)
    not_a_range = "The true score may lie outside of the two, and the second may be the lower one"
    if m.condensed:
        return TWO_SCENARIOS, f"{not_a_range}: a doc that is judged joins the condensed list and moves all below it."
    if "unsure" in facts:
        return TWO_SCENARIOS, f"{not_a_range}: {facts['unsure']}."
    if not facts.get("bounded"):
        what = "R, the number of relevant docs," if "rel" in m.entry.parameters else "the ideal list"
        return TWO_SCENARIOS, f"{not_a_range}: every relevant doc that is found also raises {what} that it divides by."
    if facts.get("needs") == "lengths" or given.get("cost", "lengths") != "lengths":
        return TWO_SCENARIOS, f"{not_a_range}: what docs cost that are not judged or not in the list is not known."
    if given.get("value", "EU") not in ("EU", "ETU"):
        return TWO_SCENARIOS, f"{not_a_range}: what docs cost that are not in the list is not known."
    if m.name in ENDLESS and m.k is None:
        return TWO_SCENARIOS, "The second may be higher still: without a cutoff a longer list adds gain without end."
    if m.k is None and not _end_is_known(m):
        return TWO_SCENARIOS, "The second may be higher still: what docs past the end of the list add is not known."
    filled = _depth_counted(m, g)
    if m.k is not None and filled is not None and filled < m.k and m.name not in (*COST_LIMITS, *FIRST_ONLY):
        return TWO_SCENARIOS, f"The second may be higher still: of the ranks past a list's end, {filled:,} are filled."
    if not _top_gains_most(given.get("gain", "grade"), g.top):
        return TWO_SCENARIOS, f"{not_a_range}: the mapping of gains does not give the top grade the highest one."
    return RANGE, "More gain at a rank never lowers it, and nothing else that is judged matters."


def _end_is_known(m: Measure) -> bool:
    """Whether it is known what docs past the end of a list can add to a measure without a cutoff."""
    known = m.name in TAILS or m.name in FIRST_ONLY or m.name in SATISFIED
    return known or "value" in m.entry.parameters or m.entry.facts.get("range") == "count"


def _top_gains_most(gain: str, top: float) -> bool:
    """Whether no grade up to the top gains more than the top grade, and none less than an unjudged doc."""
    if gain in ("grade", "exp", "binary"):
        return True
    mapping = gain_mapping(gain)
    reachable = [value for grade, value in mapping.items() if grade <= top]
    highest = float(gain_of(np.array([float(top)]), gain)[0])
    # Grades that the mapping does not name gain themselves.
    return highest >= max([top, *reachable]) and min([0.0, *reachable]) >= 0 and mapping.get(0.0, 0.0) == 0


def _continued(m: Measure, g: Grades) -> Grades:
    """The lists with unjudged docs at the ranks past their end, as far down as the measure counts them."""
    depth = _depth_counted(m, g)
    if depth is None or depth <= int(g.retrieved.min(initial=depth)):
        return g
    width = max(depth, g.depth)
    retrieved = np.maximum(g.retrieved, depth)
    ranked = _widened(g.ranked, width, UNJUDGED)
    return replace(
        g,
        ranked=ranked,
        retrieved=retrieved,
        tied=None if g.tied is None else _widened(g.tied, width, False),
        lengths=None if g.lengths is None else _widened(g.lengths, width, 1.0),
        inclusion=None if g.inclusion is None else _widened(g.inclusion, width, 1.0),
    )


def _widened(values: npt.NDArray[Any], width: int, fill: float) -> npt.NDArray[Any]:
    out = np.full((len(values), width), fill, dtype=values.dtype)
    out[:, : values.shape[1]] = values
    return out


def _depth_counted(m: Measure, g: Grades) -> int | None:
    """How far down ranks are filled; None where none are, or where a closed form takes their place."""
    if m.name in TAILS or m.entry.facts.get("range") == "count":
        return None
    if m.name in FIRST_ONLY:
        return g.depth + 1 if m.k is None else min(m.k, g.depth + 1)
    if "value" in m.entry.parameters and (m.k is None or m.name in COST_LIMITS):
        return DEPTH
    if m.k is None and m.name in SATISFIED:
        return g.depth + _docs_until_satisfied(m, g)
    return None if m.k is None else min(m.k, max(g.depth, LONGEST_TAIL))


def _docs_until_satisfied(m: Measure, g: Grades) -> int:
    """How many docs of the top grade it takes until nobody is left unsatisfied."""
    goes_on = 1 - _stop_of_top(m, g)
    if goes_on <= 0:
        return 1
    return int(min(LONGEST_TAIL, np.ceil(np.log(1e-17) / np.log(goes_on)) + 1)) if goes_on < 1 else 1


def _stop_of_top(m: Measure, g: Grades) -> float:
    """The probability to stop at a doc of the top grade."""
    one = replace(g, topics=("",), ranked=np.array([[float(g.top)]]), retrieved=np.ones(1, np.int64),
                  ideal=np.array([[float(g.top)]]), tied=None, lengths=None, inclusion=None,
                  judged_inclusion=None)  # fmt: skip
    return float(m(one)[0])


def _tail(m: Measure, g: Grades) -> Scores:
    """What ranks past the end of the lists can add, beside those that were filled."""
    if m.name in TAILS:
        return TAILS[m.name](m, g)
    if m.k is None and m.name in SATISFIED:
        filled = _docs_until_satisfied(m, g)
        left = (1 - _stop_of_top(m, g)) ** filled / (g.depth + filled + 1)
        return np.full(len(g.topics), left if filled == LONGEST_TAIL else 0.0)
    return np.zeros(len(g.topics))


def _ranks_missing(m: Measure, g: Grades) -> Scores:
    """Ranks down to the cutoff at which a list has no doc; 0 where there is no cutoff, or no doc can be relevant."""
    rel = dict(m.parameters).get("rel", m.entry.parameters["rel"])
    if m.k is None or g.top < rel:
        return np.zeros(len(g.topics))
    return np.maximum(m.k - g.retrieved, 0).astype(np.float64)


def _precision_tail(m: Measure, g: Grades) -> Scores:
    return _ranks_missing(m, g) / (m.k or 1)


def _rbp_tail(m: Measure, g: Grades) -> Scores:
    """p^n − p^k for a list of n docs, or p^n without a cutoff, times the share of the highest gain that the top has."""
    given = {**m.entry.parameters, **dict(m.parameters)}
    p, k, rel = given["p"], given["k"], given["rel"]
    n = g.retrieved.astype(np.float64)
    weight = p**n if k is None else np.maximum(p**n - p**k, 0.0)
    if rel is not None:
        return weight * float(g.top >= rel)
    gain_of_top = float(gain_of(np.array([float(g.top)]), given["gain"])[0])
    highest = top_gain(g, given["gain"], given["top"])
    return weight * (min(gain_of_top / highest, 1.0) if highest > 0 else 0.0)


def _truncated_rbp_tail(m: Measure, g: Grades) -> Scores:
    given = {**m.entry.parameters, **dict(m.parameters)}
    return _rbp_tail(m, g) / (1 - given["p"] ** given["k"])


TAILS: dict[str, Callable[[Measure, Grades], Scores]] = {
    "NumRelRet": _ranks_missing,
    "P": _precision_tail,
    "RBP": _rbp_tail,
    "tRBP": _truncated_rbp_tail,
}
"""What ranks past the end of a list add to measures that have a closed form for it."""
