"""What repro_eval 0.5.0 says of experiments that are made from a seed: the source of tests/golden/repro_eval.json.

It needs GitPython, pandas and more, so that it is not a dependency of the tests; where it is installed,
`python -m tests.oracles.repro_eval_values` writes the file again.
"""

from __future__ import annotations

import json
import warnings
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

GOLDEN = Path(__file__).parents[1] / "golden" / "repro_eval.json"
TOPICS = [f"{number}" for number in range(301, 331)]
OTHERS = [f"{number}" for number in range(401, 441)]
DEPTH = 60
RBO_P = 0.8

MODULES = ("document_order", "effectiveness", "overall_effects", "statistics")

Lists = dict[str, dict[str, float]]


def made_scores() -> dict[str, dict[str, list[float]]]:
    """{experiment: {run: scores by topic}}: an original, one on the same topics, one on others."""
    rng = np.random.default_rng(18)
    ease = rng.uniform(0.1, 0.6, len(TOPICS))
    other_ease = rng.uniform(0.1, 0.6, len(OTHERS))
    gains = {"original": 0.06, "same": 0.04, "other": 0.05}
    made = {}
    for name, gain in gains.items():
        level = other_ease if name == "other" else ease
        baseline = level + rng.normal(0, 0.03, len(level))
        system = baseline + rng.normal(gain, 0.08, len(level))
        made[name] = {"baseline": np.round(baseline, 6).tolist(), "system": np.round(system, 6).tolist()}
    return made


def made_lists() -> dict[str, dict[str, list[str]]]:
    """{experiment: {topic: docs}}: the replicated lists have some docs in another order, and some new ones."""
    rng = np.random.default_rng(19)
    original = {}
    replicated = {}
    for topic in TOPICS:
        pool = [f"doc{number:04d}" for number in rng.permutation(500)[: DEPTH + 20]]
        noise = np.arange(DEPTH + 20) + rng.normal(0, 6, DEPTH + 20)
        original[topic] = pool[:DEPTH]
        replicated[topic] = [pool[place] for place in np.argsort(noise)[:DEPTH]]
    return {"original": original, "replicated": replicated}


def _measured(scores: list[float], topics: list[str]) -> dict[str, dict[str, float]]:
    """The scores as repro_eval takes them: {topic: {measure: score}}."""
    return {topic: {"AP": score} for topic, score in zip(topics, scores, strict=True)}


def _scored(lists: dict[str, list[str]]) -> Lists:
    """Lists as runs: {topic: {doc: score}}."""
    return {topic: {doc: float(len(docs) - i) for i, doc in enumerate(docs)} for topic, docs in lists.items()}


def values() -> dict[str, Any]:
    """ER, ΔRI, RMSE, p, τ union and RBO as repro_eval computes them."""
    warnings.simplefilter("ignore")
    docs, scores, effects, tests = (import_module(f"repro_eval.measure.{name}") for name in MODULES)
    made = made_scores()
    first = {run: _measured(of_run, TOPICS) for run, of_run in made["original"].items()}
    found: dict[str, Any] = {"source": f"repro_eval {version('repro_eval')}, tests/oracles/repro_eval_values.py"}
    for name, topics in (("same", TOPICS), ("other", OTHERS)):
        again = {run: _measured(of_run, topics) for run, of_run in made[name].items()}
        runs = (first["system"], first["baseline"], again["system"], again["baseline"])
        found[name] = {"effect_ratio": effects.ER(*runs)["AP"], "delta_ri": effects.DRI(*runs)["AP"]}
        for role in ("baseline", "system"):
            paired = name == "same"
            found[name][f"p_{role}"] = tests.ttest(first[role], again[role], rpd=paired)["AP"]
            if paired:
                found[name][f"rmse_{role}"] = scores.RMSE(first[role], again[role])["AP"]
    lists = {name: _scored(of_topics) for name, of_topics in made_lists().items()}
    runs_of_lists = (lists["original"], lists["replicated"])
    found["tau_union"] = docs.KTU(*runs_of_lists, per_topic=True)
    found["rbo"] = docs.RBO(*runs_of_lists, p=RBO_P, depth=DEPTH, pbar=False, per_topic=True)
    return found


if __name__ == "__main__":
    GOLDEN.write_text(json.dumps(values(), indent=1, sort_keys=True) + "\n")
