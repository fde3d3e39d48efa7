"""Agreement of assessors: do the intervals contain what the same assessors would agree on over all docs?"""

from __future__ import annotations

import numpy as np

from assay.agreement import agreement
from assay.agreement.beta_phi import phi
from assay.agreement.result import AGREEMENTS, reference_agreement
from assay.data import Labels, Qrels
from claims import SIZES, Limit, Wrong, area, outside
from worlds import Case

claim = area("Agreement of assessors")
WORKERS = 3
PREVALENCE = {"half relevant": 0.5, "a tenth relevant": 0.1}
RIGHT = 0.85
"""An assessor finds the true label of a doc with this probability."""
BY_TOPIC = "topics differ"


def _labels(case: Case) -> Labels:
    """Labels of n docs; where topics differ, of n topics with 10 docs each, which are easy or hard together."""
    rows = []
    if case.world != BY_TOPIC:
        truth = case.rng.random(case.n) < PREVALENCE[case.world]
        right = np.full(case.n, RIGHT)
        topics = ["1"] * case.n
    else:
        share = np.repeat(case.rng.beta(1, 2, case.n), 10)
        truth = case.rng.random(10 * case.n) < share
        right = np.repeat(np.where(case.rng.random(case.n) < 0.5, 0.98, 0.72), 10)
        topics = [str(i // 10) for i in range(10 * case.n)]
    for doc, (is_relevant, chance, topic) in enumerate(zip(truth, right, topics, strict=True)):
        for worker in range(WORKERS):
            label = is_relevant if case.rng.random() < chance else not is_relevant
            rows.append((topic, f"d{doc}", f"w{worker}", int(label)))
    return Labels.from_rows(rows)


def _kappa(world: str) -> float:
    """Chance-corrected agreement of two assessors over all docs: 1 − seen/expected disagreement."""
    share, rights = (1 / 3, (0.98, 0.72)) if world == BY_TOPIC else (PREVALENCE[world], (RIGHT,))
    seen = float(np.mean([2 * right * (1 - right) for right in rights]))
    called = float(np.mean([share * right + (1 - share) * (1 - right) for right in rights]))
    return 1 - seen / (2 * called * (1 - called))


def _overlap(world: str) -> float:
    """|A ∩ B| / |A ∪ B| of two assessors over all docs."""
    share, rights = (1 / 3, (0.98, 0.72)) if world == BY_TOPIC else (PREVALENCE[world], (RIGHT,))
    both = float(np.mean([share * right**2 + (1 - share) * (1 - right) ** 2 for right in rights]))
    called = float(np.mean([share * right + (1 - share) * (1 - right) for right in rights]))
    return both / (2 * called - both)


def _left_out(measure: str) -> Wrong:
    def wrong(case: Case) -> float | None:
        found = agreement(_labels(case), measures=measure, per_topic=False, resamples=499, seed=case.seed()).rows[0]
        if found.low is None or found.high is None:
            return None
        truth = _overlap(case.world) if measure == "overlap" else _kappa(case.world)
        return outside(found.low, truth, found.high)

    return wrong


for name in AGREEMENTS.names():
    if name == "phi":
        continue
    claim(
        f"agreement of 3 assessors lies in its interval ({name})",
        kind="interval",
        unit="doc",
        calls=("assay.agreement.agreement",),
        promises="95 % of the intervals contain the agreement over all docs",
        nominal=0.05,
        ms=6.0,
        entries=(f"agreement.AGREEMENTS:{name}",),
        results=("AgreementResult",),
        worlds=(*PREVALENCE, BY_TOPIC),
        sizes=SIZES if name == "alpha" else (10, 50),
    )(_left_out(name))


@claim(
    "Φ lies in its likelihood interval",
    kind="interval",
    unit="doc",
    calls=("assay.agreement.beta_phi.phi",),
    promises="95 % of the intervals contain Φ; 20 labels a doc",
    nominal=0.05,
    ms=25.0,
    entries=("agreement.AGREEMENTS:phi",),
    results=("PhiResult", "AgreementResult"),
    worlds=("beta",),
    sizes=(1, 5, 10),
    limits=(Limit("with few labels an item Φ is biased upwards", 0.3),),
)
def phi_left_out(case: Case) -> float:
    precision = 4.0
    places = case.rng.uniform(0.2, 0.8, case.n)
    values = case.rng.beta(precision * places[:, None], precision * (1 - places[:, None]), (case.n, 20))
    items = np.repeat(np.arange(case.n), 20)
    found = phi(items, (100 * values).ravel(), scale=(0, 100))
    return outside(found.low, 1 - 2 ** (1 - precision / 2), found.high)


@claim(
    "pairs of docs that mean labels order as a reference does",
    kind="interval",
    unit="doc",
    calls=("assay.agreement.result.reference_agreement",),
    promises="95 % of the intervals contain the share over all docs",
    nominal=0.05,
    ms=7.0,
    results=("AgreementResult",),
    worlds=("graded",),
)
def pairs_left_out(case: Case) -> float | None:
    grades = case.rng.integers(0, 2, case.n)
    labels = np.clip(np.round(50 + 20 * grades + case.rng.normal(0, 20, case.n)), 0, 100)
    docs = [f"d{i}" for i in range(case.n)]
    rows = [("1", doc, "w", float(label)) for doc, label in zip(docs, labels, strict=True)]
    reference = Qrels.from_dict({"1": dict(zip(docs, grades.tolist(), strict=True))})
    found = reference_agreement(
        Labels.from_rows(rows), reference, per_topic=False, resamples=499, seed=case.seed()
    ).rows[1]
    if found.low is None or found.high is None:
        return None
    # Two labels with sd 20 whose means are 20 apart, rounded: the first is above with this probability.
    return outside(found.low, PAIRS_TRUTH, found.high)


PAIRS_TRUTH = 0.7545
"""Over a million pairs; ties after rounding and cutting count as not ordered."""
