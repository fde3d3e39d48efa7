"""Everything long, on a small collection: what each engine has to give the same bits for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import assay
from assay.data import Labels, ScoreMatrix
from assay.data.lists import collected
from assay.judges import judge
from assay.nojudgments import predict
from assay.plan.audits import one_sigma
from assay.pooling import curves
from assay.pooling.adjustment_errors import adjustment_accuracy
from assay.similarity.matrix import similarity_matrix
from assay.similarity.shared_preferences import preference_similarity
from assay.stats.pairwise import all_pairs
from assay.studies import simulate
from assay.studies.incompleteness import incompleteness
from assay.studies.method_comparison import method_tests
from assay.topics import hold_out

SMALL = simulate(topics=12, docs=100, depth=30, runs_per_group=3, manual_runs=0)
RUNS = list(SMALL.runs)
QRELS = SMALL.qrels
SCORES = assay.evaluate(RUNS, QRELS, "AP")["AP"]
MANY = ScoreMatrix.of(np.random.default_rng(0).random((80, 50)), measure="AP")
"""Enough runs that their pairs are tested in several chunks."""
JOBS = 2


def _judged() -> Any:
    """Two machine judges, who are wrong now and then."""
    rng = np.random.default_rng(1)
    rows = []
    for topic, docs in QRELS.to_dict().items():
        for doc, grade in docs.items():
            for name in ("kind", "strict"):
                shift = int(rng.integers(0, 2)) * (1 if name == "kind" else -1)
                rows.append((topic, doc, name, int(min(max(grade + shift, 0), 2))))
    return judge(QRELS, Labels.from_rows(rows), RUNS, measure="nDCG@10", resamples=50, jobs=JOBS)


WORK: dict[str, Callable[[], Any]] = {
    "score": lambda: assay.evaluate(RUNS, QRELS, "AP nDCG@10 RR", jobs=JOBS),
    "all pairs": lambda: all_pairs(MANY, "randomisation", resamples=500, jobs=JOBS),
    "compare": lambda: assay.compare(MANY, test="wilcoxon", interval="percentile", resamples=200, jobs=JOBS),
    "similarity": lambda: similarity_matrix(RUNS, "rbo(p=0.9)", jobs=JOBS),
    "preferences": lambda: preference_similarity(RUNS, jobs=JOBS),
    "topics": lambda: hold_out(SCORES, cardinalities=(3, 6), splits=8, jobs=JOBS),
    "predict": lambda: predict(RUNS, ["soboroff", "wu-crestani", "aslam-savell", "nuray-can-condorcet"], jobs=JOBS),
    "pool curve": lambda: curves(RUNS, ["depth", "mtc"], qrels=QRELS, depth=10, repetitions=2, jobs=JOBS),
    "pool adjustment": lambda: adjustment_accuracy(
        collected(RUNS, QRELS), "P@5", depth=5, widths=[2], samples=4, topic_samples=5, common=[2], jobs=JOBS
    ),
    "judge audit": _judged,
    "study incompleteness": lambda: incompleteness(RUNS, QRELS, ["AP", "bpref"], shares=[1, 0.5], draws=3, jobs=JOBS),
    "study methods": lambda: method_tests(
        "topics(count=2)", ["predict"], {"a": (RUNS, QRELS), "b": (RUNS[:8], QRELS)}, sizes=[4], subsets=3, jobs=JOBS
    ),
    "plan": lambda: one_sigma(SCORES, resamples=20, jobs=JOBS),
}
"""By name."""


def in_bits(thing: Any) -> str:
    """All that a result says, with the last bit of every number."""
    if hasattr(thing, "record"):
        return repr(_written(thing.record()))
    return repr([_written(part.record()) for part in thing])


def _written(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _written(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_written(inner) for inner in value]
    return float(value).hex() if isinstance(value, float) else value
