"""Pools and predictions: is the order of runs as sure as minimal test collections say, are adjusted scores?"""

from __future__ import annotations

import numpy as np

from assay.data import Run
from assay.data.scores import ScoreMatrix
from assay.nojudgments.difficulty import difficulty
from assay.pooling import Judging
from assay.pooling.adjust import from_systems, from_topics
from assay.pooling.journal import Judgment
from assay.store.context import adds_up
from claims import FEW, Limit, area
from worlds import Case

claim = area("Pools and predictions")
DOCS = 12


@claim(
    "pairs of runs that are decided by minimal test collections",
    kind="probability",
    unit="doc",
    calls=("assay.pooling.Judging",),
    promises="a decided order (probability ≥ .95) is wrong in at most 5 %, if a doc is relevant with the prior chance",
    nominal=0.05,
    ms=10.0,
    results=("Confidence", "StopAdvice"),
    worlds=("relevance as the prior", "a tenth relevant"),
    sizes=(20, 40),
    limits=(Limit("relevance that is not as the prior supposes", 0.5, ("a tenth relevant",)),),
)
def decided_and_wrong(case: Case) -> float | None:
    share = 0.5 if case.world == "relevance as the prior" else 0.1
    docs = [f"d{i:02d}" for i in range(DOCS)]
    truth = {f"t{t}": dict(zip(docs, (case.rng.random(DOCS) < share).tolist(), strict=True)) for t in range(5)}
    runs = []
    for name in "abc":
        lists = {topic: [docs[i] for i in case.rng.permutation(DOCS)[:8]] for topic in truth}
        runs.append(Run.from_lists(name, lists))
    session = Judging(runs, "mtc(measure=dcg)", seed=case.seed())
    for _ in range(case.n):
        session.tell([Judgment(topic, doc, int(truth[topic][doc])) for topic, doc in session.next(1)])
    sure = session.confidence()
    scores = [
        np.mean([sum(truth[t][d] / np.log2(r + 2) for r, d in enumerate(run.to_dict()[t])) for t in truth])
        for run in runs
    ]
    place = {run.name: i for i, run in enumerate(runs)}
    claims = [
        (scores[place[sure.runs[a]]], scores[place[sure.runs[b]]])
        for a in range(3)
        for b in range(3)
        if a != b and sure.above[a, b] >= 0.95
    ]
    return float(np.mean([one < other - 1e-9 for one, other in claims])) if claims else None


@claim(
    "an adjusted mean is nearer to the truth, from common topics",
    kind="probability",
    unit="topic",
    calls=("assay.pooling.adjust.from_topics",),
    promises="if P(helps) is .95 or more, it does in 95 %",
    nominal=0.05,
    ms=0.4,
    results=("Adjustment",),
    worlds=("normal", "skewed"),
    sizes=FEW,
)
def adjustment_does_not_help(case: Case) -> float | None:
    bias = np.abs(case.rng.normal(0.02, 0.03, 100)) if case.world == "normal" else case.rng.exponential(0.02, 100)
    unpooled = case.rng.normal(0.4, 0.1, 100)
    pooled = unpooled + bias
    common = np.arange(case.n)
    found = from_topics(unpooled, pooled[common], common=common)
    if found.helps is None or found.helps < 0.95:
        return None
    return abs(found.adjusted - pooled.mean()) > abs(unpooled.mean() - pooled.mean())


@claim(
    "an adjusted mean is nearer to the truth, from pooled systems",
    kind="probability",
    unit="run",
    calls=("assay.pooling.adjust.from_systems",),
    promises="if P(helps) is .95 or more, it does in 95 %",
    nominal=0.05,
    ms=0.4,
    results=("Adjustment",),
    worlds=("alike systems",),
    sizes=FEW,
)
def systems_do_not_help(case: Case) -> float | None:
    losses = case.rng.normal(0.03, 0.01, case.n + 1)
    scores = case.rng.normal(0.4, 0.1, (case.n + 1, 50))
    noise = case.rng.normal(0, 0.01, scores.shape)
    unpooled = scores - losses[:, None] - (noise - noise.mean(axis=1, keepdims=True))
    found = from_systems(scores[:-1], unpooled[:-1], unpooled[-1])
    if found.helps is None or found.helps < 0.95:
        return None
    true = scores[-1].mean()
    return abs(found.adjusted - true) > abs(unpooled[-1].mean() - true)


@claim(
    "a published score is above the best stored run",
    kind="probability",
    unit="topic",
    calls=("assay.store.context.adds_up",),
    promises="if the probability is .95 or more, it is in 95 % (the published run is no better than the best)",
    nominal=0.05,
    ms=0.4,
    results=("AddsUp", "OverTheYears"),
    worlds=("normal",),
    sizes=FEW,
)
def adds_up_wrongly(case: Case) -> float:
    ease = case.rng.normal(0.4, 0.1, case.n)
    values = ease + np.array([0.05, 0.0, 0.0])[:, None] + case.rng.normal(0, 0.06, (3, case.n))
    claimed = float((ease + 0.05 + case.rng.normal(0, 0.06, case.n)).mean())
    return adds_up(ScoreMatrix.of(values, measure="AP"), claimed).probability >= 0.95


@claim(
    "topics that are predicted hard are harder",
    kind="p",
    unit="topic",
    calls=("assay.nojudgments.difficulty.difficulty",),
    promises="any corrected p < .05 in at most 5 % if the prediction says nothing",
    nominal=0.05,
    ms=6.0,
    results=("Difficulty",),
    worlds=("normal",),
    sizes=(25, 50, 100),
)
def quarters_differ(case: Case) -> float:
    predicted, truth = (_of_topics(case, name) for name in ("guess", "AP"))
    return any(p < 0.05 for *_, p in difficulty(predicted, truth).tests)


def _of_topics(case: Case, measure: str) -> ScoreMatrix:
    """Scores of 5 runs on topics of differing ease."""
    values = case.rng.normal(0.4, 0.1, case.n) + case.rng.normal(0, 0.05, (5, case.n))
    return ScoreMatrix.of(values.clip(0, 1), measure=measure)
