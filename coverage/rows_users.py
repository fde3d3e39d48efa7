"""Users, conversations and query variants: units that hold several scores each. Is the unit what counts?"""

from __future__ import annotations

import csv
import functools
import io
import lzma

import numpy as np

from assay.core.arrays import Ints
from assay.data.scores import ScoreMatrix
from assay.hierarchy.conversations import compare_conversations
from assay.hierarchy.variants import query_variants
from assay.interleaving import analyse_planned, interleave, interleave_pairs, plan_interleaving
from assay.interleaving.analysis import METHODS, Interleaved
from assay.interleaving.looks import SPENDING
from claims import FEW, SIZES, Limit, Wrong, area, outside
from worlds import Case, data_file

claim = area("Interleaving: users")
BUSY = ("equal users", "lognormal users", "busy users")
MOVIELENS = "activity of MovieLens"
Log = list[tuple[str, str]]


def _sizes(case: Case) -> Ints:
    """Impressions of n users."""
    if case.world == MOVIELENS:
        return np.asarray(case.rng.choice(activity(), case.n))
    if case.world == "busy users":
        sizes = np.ceil(1 + 5 * case.rng.pareto(1.2, case.n))
        return np.minimum(sizes, 300).astype(np.int64)
    if case.world == "lognormal users":
        return np.ceil(np.exp(case.rng.normal(1.5, 1.0, case.n))).astype(np.int64)
    return np.full(case.n, 8)


@functools.cache
def activity() -> Ints:
    """How many films each user of MovieLens rated, in tens."""
    text = lzma.decompress(data_file("movielens-latest-small/ratings.csv.xz").read_bytes()).decode()
    users = [row["user_id"] for row in csv.DictReader(io.StringIO(text))]
    return -(-np.unique(users, return_counts=True)[1] // 10)


def _log(case: Case, systems: tuple[str, str] = ("new", "old")) -> Log:
    """Impressions of users who lean to one of the systems, half of them to each on average."""
    log: Log = []
    for user, (size, leaning) in enumerate(zip(_sizes(case), case.rng.beta(3, 3, case.n), strict=True)):
        wins = case.rng.random(size) < leaning
        log += [(f"u{user}", systems[0] if win else systems[1]) for win in wins.tolist()]
    return log


def _row(found: Interleaved) -> dict[str, float]:
    row: dict[str, float] = found.record()["rows"][0]
    return row


def _preferred(method: str) -> Wrong:
    def wrong(case: Case) -> float | None:
        p = _row(interleave(_log(case), baseline="old", method=method)).get("p")
        return None if p is None else p < 0.05

    return wrong


def _preference_left_out(method: str) -> Wrong:
    def wrong(case: Case) -> float | None:
        row = _row(interleave(_log(case), baseline="old", method=method))
        return None if row["low"] is None or row["high"] is None else outside(row["low"], 0.0, row["high"])

    return wrong


def _ever_preferred(case: Case) -> float:
    """Whether a sequence that may be looked at each day ever leaves out 0, in 20 looks from 30 users on."""
    log = _independent(case, 10 * case.n)
    looks = np.unique(np.geomspace(30, len(log), 20).astype(int))
    rows = (_row(interleave(log[:n], baseline="b", method=f"always(users={case.n})")) for n in looks.tolist())
    return any(row["low"] is not None and outside(row["low"], 0.0, row["high"]) for row in rows)


FEW_USERS = Limit("few users, some of them busy: cluster-robust errors are a little too small", 0.07)
for name in METHODS.names():
    if name == "always":
        continue
    is_default = name == "users"
    common = {"unit": "user", "calls": ("assay.interleaving.interleave",), "results": ("Interleaved",), "ms": 2.5}
    common |= {"entries": (f"interleaving.METHODS:{name}",), "worlds": BUSY, "real": (MOVIELENS,), "nominal": 0.05}
    common |= {"limits": (FEW_USERS,)}
    claim(
        f"users prefer a system (mean of {name})",
        kind="p",
        promises="p < .05 in 5 % if they prefer none",
        sizes=SIZES,
        **common,
    )(_preferred(name))
    claim(
        f"the preference of users lies in its interval (mean of {name})",
        kind="interval",
        promises="95 % of the intervals contain it",
        sizes=SIZES if is_default else FEW,
        **common,
    )(_preference_left_out(name))

claim(
    "users prefer a system, looked at any time",
    kind="verdict",
    unit="user",
    calls=("assay.interleaving.interleave",),
    promises="ever significant in at most 5 % if they prefer none; 20 looks from 30 users to ten times the plan",
    nominal=0.05,
    ms=50.0,
    entries=("interleaving.METHODS:always",),
    results=("Interleaved",),
    worlds=("one impression a user",),
    sizes=(50, 100),
)(_ever_preferred)


@claim(
    "some pair of 4 multileaved systems",
    kind="p",
    unit="user",
    calls=("assay.interleaving.interleave_pairs",),
    promises="any corrected p < .05 in at most 5 %",
    nominal=0.05,
    ms=12.0,
    results=("Interleaved",),
    worlds=BUSY[:1],
    sizes=FEW,
)
def multileaved(case: Case) -> float:
    from assay.data import Impressions

    rows = []
    for user in range(case.n):
        liking = case.rng.dirichlet(np.full(4, 3.0))
        for i in range(4):
            winner = case.rng.choice(4, p=liking)
            rows.append((f"u{user}", f"{user}-{i}", {s: int(winner == at) for at, s in enumerate("abcd")}))
    found = interleave_pairs(Impressions.from_rows(rows))
    return any(p is not None and p < 0.05 for p in found.corrected_p)


def _independent(case: Case, count: int, share: float = 0.5) -> Log:
    wins = case.rng.random(count) < share
    return [(f"u{i}", "a" if win else "b") for i, win in enumerate(wins.tolist())]


def _ever_significant(spending: str) -> Wrong:
    def wrong(case: Case) -> float:
        plan = plan_interleaving(1.4 / np.sqrt(case.n), looks=4, spending=spending)
        log = _independent(case, plan.impressions + 8)
        for n in plan.looks_at:
            row = _row(analyse_planned(log[:n], plan))
            if row["low"] > 0 or row["high"] < 0:
                return 1.0
        return 0.0

    return wrong


for name in SPENDING.names():
    claim(
        f"an experiment with 4 planned looks ({name})",
        kind="verdict",
        unit="user",
        calls=("assay.interleaving.analyse_planned", "assay.interleaving.plan_interleaving"),
        promises="significant at any look in at most 5 % if users prefer none",
        nominal=0.05,
        ms=13.0,
        entries=(f"interleaving.SPENDING:{name}",),
        results=("Interleaved", "InterleavingPlan"),
        worlds=("one impression a user",),
        sizes=(20, 100, 400),
    )(_ever_significant(name))


@claim(
    "the impressions that a preference needs",
    kind="power",
    unit="user",
    calls=("assay.interleaving.plan_interleaving",),
    promises="this many find it with power .8",
    nominal=0.2,
    ms=2.0,
    results=("InterleavingPlan",),
    worlds=("one impression a user",),
    sizes=(100, 400),
)
def impressions_needed(case: Case) -> float:
    effect = 1.4 / np.sqrt(case.n)
    plan = plan_interleaving(effect)
    row = _row(interleave(_independent(case, plan.impressions, 0.5 + effect), baseline="b"))
    return row["p"] >= 0.05


claim = area("Conversations and query variants")


def _turns(case: Case, runs: int = 2) -> ScoreMatrix:
    """Scores on turns of n conversations, of 1 to 12 turns where they are uneven."""
    sizes = case.rng.integers(1, 13, case.n) if case.world.startswith("uneven") else np.full(case.n, 5)
    topics = [f"{c}_{t}" for c, size in enumerate(sizes.tolist()) for t in range(size)]
    shared = np.repeat(case.rng.normal(0, 0.1, (runs, case.n)), sizes, axis=1)
    values = 0.5 + shared + case.rng.normal(0, 0.1, (runs, len(topics)))
    return ScoreMatrix.of(values.clip(0, 1), topics=topics, measure="AP")


@claim(
    "runs differ on conversations",
    kind="p",
    unit="conversation",
    calls=("assay.hierarchy.compare_conversations",),
    promises="p < .05 in 5 % if no run is better",
    nominal=0.05,
    ms=0.7,
    results=("Conversations",),
    worlds=("even turns", "uneven turns"),
)
def conversations_differ(case: Case) -> float:
    return compare_conversations(_turns(case), baseline="run1").rows[0].corrected_p < 0.05


@claim(
    "the difference on conversations lies in its interval, each turn counted alike",
    kind="interval",
    unit="conversation",
    calls=("assay.hierarchy.compare_conversations",),
    promises="95 % of the intervals contain it",
    nominal=0.05,
    ms=0.6,
    results=("Conversations",),
    worlds=("even turns", "uneven turns"),
    sizes=SIZES,
    limits=(Limit("cluster-robust errors of few conversations", 0.07, ("uneven turns",), (5, 10)),),
)
def turns_left_out(case: Case) -> float:
    row = compare_conversations(_turns(case), baseline="run1", weights="turns").rows[0]
    return outside(row.low, 0.0, row.high)


@claim(
    "any of 5 runs differs from a baseline on conversations",
    kind="p",
    unit="conversation",
    calls=("assay.hierarchy.compare_conversations",),
    promises="any corrected p < .05 in at most 5 %",
    nominal=0.05,
    ms=1.5,
    results=("Conversations",),
    worlds=("even turns", "uneven turns"),
    sizes=FEW,
)
def conversations_family(case: Case) -> float:
    found = compare_conversations(_turns(case, 6), baseline="run1")
    return any(row.corrected_p < 0.05 for row in found.rows)


@claim(
    "systems differ over query variants",
    kind="p",
    unit="topic",
    calls=("assay.hierarchy.query_variants",),
    promises="p < .05 in 5 % if they do not",
    nominal=0.05,
    ms=0.3,
    results=("QueryVariants",),
    worlds=("3 variants a topic",),
)
def systems_differ(case: Case) -> float | None:
    topics = [f"{t}_{v}" for t in range(case.n) for v in range(3)]
    both = np.repeat(case.rng.normal(0, 0.05, (5, case.n)), 3, axis=1)
    ease = np.repeat(case.rng.normal(0, 0.1, case.n), 3) + case.rng.normal(0, 0.05, len(topics))
    values = 0.5 + both + ease + case.rng.normal(0, 0.05, (5, len(topics)))
    found = query_variants(ScoreMatrix.of(values.clip(0, 1), topics=topics, measure="AP"))
    p = found["system"].p
    return None if p is None else p < 0.05
