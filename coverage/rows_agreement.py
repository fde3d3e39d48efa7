"""Agreement of assessors: do the intervals contain what the same assessors would agree on over all docs?"""

from __future__ import annotations

import numpy as np

from assay.agreement import agreement
from assay.agreement.beta_phi import phi
from assay.agreement.result import AGREEMENTS, reference_agreement
from assay.data import Labels, Qrels
from claims import SIZES, Wrong, area, outside
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


def _missed(measure: str) -> Wrong:
    def wrong(case: Case) -> float | None:
        found = agreement(_labels(case), measures=measure, per_topic=False).rows[0]
        if found.low is None or found.high is None:
            return None
        truth = _overlap(case.world) if measure == "overlap" else _kappa(case.world)
        return outside(found.low, truth, found.high)

    return wrong


for name in AGREEMENTS.names():
    if name == "phi":
        continue
    for unit, worlds, every in (("topic", (BY_TOPIC,), SIZES), ("doc", tuple(PREVALENCE), (10, 50, 100))):
        claim(
            f"agreement of 3 assessors lies in its interval over {unit}s ({name})",
            kind="interval",
            unit=unit,
            calls=("assay.agreement.agreement",),
            promises=f"95 % of the intervals contain the agreement over all {unit}s",
            nominal=0.05,
            ms=4.0,
            entries=(f"agreement.AGREEMENTS:{name}",),
            results=("AgreementResult",),
            worlds=worlds,
            sizes=every if name == "alpha" else tuple(n for n in every if n in (10, 50)),
        )(_missed(name))


PHI_TRUTH = 0.6620
"""Over 60,000 docs with 20 labels each; the model's Φ, with any number of labels, is .5."""


@claim(
    "Φ lies in its interval over docs",
    kind="interval",
    unit="doc",
    calls=("assay.agreement.beta_phi.phi",),
    promises="95 % of the intervals contain Φ of all docs with as many labels each, 20 here; the output says so",
    nominal=0.05,
    ms=35.0,
    entries=("agreement.AGREEMENTS:phi",),
    results=("PhiResult", "AgreementResult"),
    worlds=("beta",),
    sizes=(10, 50, 100),
)
def phi_missed(case: Case) -> float | None:
    precision = 4.0
    places = case.rng.uniform(0.2, 0.8, case.n)
    values = case.rng.beta(precision * places[:, None], precision * (1 - places[:, None]), (case.n, 20))
    items = np.repeat(np.arange(case.n), 20)
    found = phi(items, (100 * values).ravel(), scale=(0, 100))
    if found.low is None or found.high is None:
        return None
    return outside(found.low, PHI_TRUTH, found.high)


@claim(
    "pairs of docs that mean labels order as a reference does",
    kind="interval",
    unit="doc",
    calls=("assay.agreement.result.reference_agreement",),
    promises="95 % of the intervals contain the share over all docs of a topic",
    nominal=0.05,
    ms=10.0,
    results=("AgreementResult",),
    worlds=("graded",),
    sizes=(10, 50, 100),
)
def pairs_of_docs(case: Case) -> float | None:
    return _pairs_missed(case, ["1"] * case.n)


@claim(
    "pairs of docs of many topics that mean labels order as a reference does",
    kind="interval",
    unit="topic",
    calls=("assay.agreement.result.reference_agreement",),
    promises="95 % of the intervals contain the share over all topics",
    nominal=0.05,
    ms=10.0,
    results=("AgreementResult",),
    worlds=("graded", BY_TOPIC),
)
def pairs_of_topics(case: Case) -> float | None:
    return _pairs_missed(case, [str(i // 10) for i in range(10 * case.n)])


def _pairs_missed(case: Case, topics: list[str]) -> float | None:
    """Labels of two grades are 20 apart, sd 20; where topics differ, all labels of a topic are moved together."""
    grades = case.rng.integers(0, 2, len(topics))
    moved = np.repeat(case.rng.normal(0, 10, case.n), len(topics) // case.n) if case.world == BY_TOPIC else 0.0
    labels = np.clip(np.round(40 + moved + 20 * grades + case.rng.normal(0, 20, len(topics))), 0, 100)
    docs = [f"d{i}" for i in range(len(topics))]
    rows = [(topic, doc, "w", float(label)) for topic, doc, label in zip(topics, docs, labels, strict=True)]
    known: dict[str, dict[str, int]] = {}
    for topic, doc, grade in zip(topics, docs, grades.tolist(), strict=True):
        known.setdefault(topic, {})[doc] = grade
    found = reference_agreement(Labels.from_rows(rows), Qrels.from_dict(known), per_topic=False).rows[1]
    if found.low is None or found.high is None:
        return None
    return outside(found.low, PAIRS_TRUTH[case.world], found.high)


PAIRS_TRUTH = {"graded": 0.7546, BY_TOPIC: 0.7312}
"""Over eight million pairs of docs of many topics; ties after rounding and cutting count as not ordered."""
