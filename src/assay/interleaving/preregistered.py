"""How many impressions, and when may one look? A plan that is written to a file before the first impression.

The plan fixes the difference worth finding, α, power and the number of impressions. It is sealed by a hash, never
overwritten, and an analysis under it refuses a log that is too short, so that nobody stops when p happens to be small.
Several looks share α by a spending function, see looks.py.
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from assay.core.errors import DataError, UsageError
from assay.core.registry import one_of
from assay.core.results import Result
from assay.core.tables import Table
from assay.interleaving.analysis import Interleaved, interleave
from assay.interleaving.looks import SPENDING, bounds_of, growth
from assay.io.files import read_bytes, write_whole
from assay.io.impressions import impressions_of

PLANNED = ("users", "impressions")
"""What Δ may be the mean of under a plan."""
SEAL = "seal"
"""The key of the hash in the file of a plan."""


@dataclass(frozen=True)
class InterleavingPlan(Result):
    """What was fixed before the first impression.

    effect: the Δ worth finding. ties: share of impressions that tie. design: how many times the variance of Δ is that
    of independent impressions, 1 + (m − 1)·ρ for m impressions per user and correlation ρ within users.

    >>> plan_interleaving(0.02, ties=0.2).impressions
    3917
    """

    unit = "user"

    system: str
    baseline: str
    effect: float
    alpha: float
    power: float
    ties: float
    design: float
    looks: int
    spending: str
    """How the looks share α: one of SPENDING."""
    method: str
    """Of what Δ is the mean: users or impressions."""
    no_clicks: str
    impressions: int

    @property
    def looks_at(self) -> tuple[int, ...]:
        """The numbers of impressions at which one may look."""
        return tuple(math.ceil(self.impressions * look / self.looks) for look in range(1, self.looks + 1))

    @property
    def alphas(self) -> tuple[float, ...]:
        """The level of each look: that of its bound of |z|."""
        from scipy.special import ndtr

        return tuple((2 * ndtr(-bounds_of(self.looks, self.alpha, self.spending))).tolist())

    def table(self) -> Table:
        """One row: what is fixed, and the impressions that it takes."""
        columns = {
            "system": "", "baseline": "", "Δ": ".4f", "α": "g", "power": "g", "ties": "g", "design effect": "g",
            "looks": "d", "impressions": "d",
        }  # fmt: skip
        row = [self.system, self.baseline, self.effect, self.alpha, self.power, self.ties, self.design]
        row += [self.looks, self.impressions]
        notes = [
            "impressions: (z₁₋α/₂ + z_power)²·((1 − ties)/4 − Δ²)·design effect/Δ²; those without a credited click "
            f"{'count as ties' if self.no_clicks == 'tie' else 'do not count'}; Δ is the mean of {self.method}",
        ]
        if self.looks > 1:
            at = ", ".join(f"{n:,} (α = {alpha:.2g})" for n, alpha in zip(self.looks_at, self.alphas, strict=True))
            larger = growth(self.looks, self.alpha, self.power, self.spending)
            notes.append(f"one may look at {at} impressions; spending {self.spending}, {larger:.3f} times one look")
        return Table.of(columns, [row], caption="Plan of an interleaving experiment", notes=notes)

    def save(self, path: str | Path) -> None:
        """Write the plan with its seal to a new file; a file that is there is an error."""
        target = Path(path)
        if target.exists():
            raise UsageError(f"{target}: there is a plan already, and a plan is not changed midway; name another file")
        facts = asdict(self)
        write_whole(target, json.dumps({**facts, SEAL: seal_of(facts)}, indent=2, ensure_ascii=False) + "\n")


def plan_interleaving(
    effect: float,
    *,
    system: str = "a",
    baseline: str = "b",
    alpha: float = 0.05,
    power: float = 0.8,
    ties: float = 0.0,
    design: float = 1.0,
    looks: int = 1,
    spending: str = "obrien-fleming",
    method: str = "users",
    no_clicks: str = "drop",
    pilot: Any = None,
) -> InterleavingPlan:
    """The impressions that find a true Δ of `effect` with this power by a two-sided test.

    looks: how often one may look, after equal shares of the impressions; spending: how they share α, one of SPENDING.
    method: what Δ is the mean of, "users" or "impressions". pilot: a log of the same kind of traffic, from which the
    share of ties and the design effect are taken.

    >>> plan_interleaving(0.05).impressions, plan_interleaving(0.05, looks=2).looks_at
    (778, (392, 784))
    """
    from scipy.special import ndtri

    for name, value, low, high in (
        ("effect", effect, 0.0, 0.5), ("alpha", alpha, 0.0, 1.0), ("power", power, 0.0, 1.0),
    ):  # fmt: skip
        if not low < value < high:
            raise UsageError(f"{name} must lie between {low:g} and {high:g}, not {value:g}")
    if not 0 <= ties < 1:
        raise UsageError(f"ties must be a share from 0 to below 1, not {ties:g}")
    if not 0 < design < math.inf:
        raise UsageError(f"the design effect must be above 0, not {design:g}")
    one_of("method", method, PLANNED)
    if looks < 1:
        raise UsageError(f"looks must be at least 1, not {looks}")
    if system == baseline:
        raise UsageError(f"{system!r} is planned against itself; name two systems")
    if pilot is not None:
        ties, design = of_pilot(pilot, no_clicks, method)
    variance = (1 - ties) / 4 - effect**2
    if variance <= 0:
        raise UsageError(f"with {ties:.0%} ties Δ cannot be {effect:g}; it is at most {(1 - ties) / 2:g}")
    quantiles = ndtri(1 - alpha / 2) + ndtri(power)
    larger = growth(looks, alpha, power, spending) if looks > 1 else 1.0
    needed = math.ceil(quantiles**2 * larger * variance * design / effect**2)
    return InterleavingPlan(
        system=system,
        baseline=baseline,
        effect=effect,
        alpha=alpha,
        power=power,
        ties=ties,
        design=design,
        looks=looks,
        spending=SPENDING.entry(spending).name,
        method=method,
        no_clicks=no_clicks,
        impressions=max(needed, 2 * looks),
    )


def of_pilot(pilot: Any, no_clicks: str = "drop", method: str = "users") -> tuple[float, float]:
    """The share of ties, and how many times the variance of Δ by user is that of independent impressions.

    >>> log = [(f"u{i // 2}", "a" if i // 2 % 2 else "b") for i in range(40)]
    >>> ties, design = of_pilot(log)
    >>> ties, round(design, 4)
    (0.0, 2.1053)
    """
    found = interleave(pilot, no_clicks=no_clicks, method=method).preferences[0]
    ties = found.ties / found.n
    independent = ((1 - ties) / 4 - found.delta**2) / found.n
    if independent <= 0:
        raise DataError("the pilot has no variance: all impressions have the same winner; give ties and design effect")
    # below 1 is chance: users do not make impressions more precise than independent ones
    return ties, max(1.0, found.error**2 / independent)


def seal_of(facts: dict[str, Any]) -> str:
    """The hash of what a plan fixes."""
    return hashlib.sha256(json.dumps(facts, sort_keys=True, ensure_ascii=False).encode()).hexdigest()[:16]


def read_plan(path: str | Path) -> InterleavingPlan:
    """The plan of a file; one that was changed since it was written is an error.

    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "plan.json"
    >>> plan_interleaving(0.05).save(target)
    >>> read_plan(target).impressions
    778
    """
    try:
        facts = json.loads(read_bytes(path))
    except (UnicodeDecodeError, json.JSONDecodeError):
        raise DataError(f"{path}: not a plan of an interleaving experiment; it is no JSON") from None
    wanted = set(InterleavingPlan.__dataclass_fields__)
    if not isinstance(facts, dict) or set(facts) != {*wanted, SEAL}:
        raise DataError(f"{path}: not a plan of an interleaving experiment; make one with assay interleave plan")
    seal = facts.pop(SEAL)
    if seal != seal_of(facts):
        raise DataError(f"{path}: the plan was changed after it was written; a plan is not changed midway")
    return InterleavingPlan(**facts)


def analyse_planned(log: Any, plan: InterleavingPlan) -> Interleaved:
    """The analysis that the plan allows: of the first impressions of the log, at the last look that they reach.

    A log that does not reach the first look is an error: looking early is what a plan is made against.

    >>> log = [(f"u{i}", "a" if i % 5 < 3 else "b") for i in range(900)]
    >>> analyse_planned(log, plan_interleaving(0.05)).preferences[0].n
    778
    """
    every = impressions_of(log)
    counted = every if plan.no_clicks == "tie" or every.has_winners else every.clicked()
    both = counted.shared(plan.system, plan.baseline)
    count = len(both.credit)
    reached = [n for n in plan.looks_at if n <= count]
    if not reached:
        raise UsageError(
            f"{every.name}: {count:,} impressions count, and the plan says {plan.looks_at[0]:,}; collect the others "
            "before you look"
        )
    n = reached[-1]
    alpha = plan.alphas[len(reached) - 1]
    found = interleave(
        both.first(n), system=plan.system, baseline=plan.baseline, method=plan.method, no_clicks="tie", level=1 - alpha
    )
    look = f"look {len(reached)} of {plan.looks}" if plan.looks > 1 else "the one look"
    after = "" if count == n else f", and {count - n:,} later ones are left out"
    said = f"as planned: {look}, the first {n:,} impressions{after}; α = {alpha:.2g}"
    return replace(found, said=(said,), dropped=len(every.credit) - len(counted.credit))
