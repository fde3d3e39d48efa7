"""A topic has the same score, to the last bit, whatever topics stand beside it: what scoring by parts rests on."""

from __future__ import annotations

import numpy as np
import pytest

from assay import Policy, evaluate, score_part
from assay.core.errors import AssayError
from assay.measures import MEASURES

TOPICS = 12
DOCS = 500
TOP = 3
POLICIES = {
    "plain": Policy(top=TOP),
    "average": Policy(top=TOP, ties="average"),
    "condensed": Policy(top=TOP, condensed=True),
    "top": Policy(top=TOP, unjudged="top"),
    "depth": Policy(top=TOP, depth=50),
}
LENGTHS = {f"d{doc}": 100.0 + doc for doc in range(DOCS)}
RNG = np.random.default_rng(4)


def _drawn_run(decimals: int) -> dict[str, dict[str, float]]:
    """Lists of very different lengths, some of one doc; few decimals make ties."""
    run = {}
    for topic in range(TOPICS):
        docs = RNG.permutation(DOCS)[: int(RNG.integers(1, 400))]
        run[str(topic)] = {f"d{doc}": round(float(RNG.random()), decimals) for doc in docs}
    return run


def _drawn_qrels() -> dict[str, dict[str, int]]:
    qrels = {}
    for topic in range(TOPICS):
        docs = RNG.permutation(DOCS)[: int(RNG.integers(1, 300))]
        qrels[str(topic)] = {f"d{doc}": int(RNG.integers(-1, TOP + 1)) for doc in docs}
    qrels["0"]["d0"] = TOP
    return qrels


RUN = _drawn_run(6)
TIED_RUN = _drawn_run(1)
QRELS = _drawn_qrels()


def _names(name: str) -> list[str]:
    return [name, f"{name}@10", f"{name}@150"]


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", [entry.name for entry in MEASURES if entry.facts.get("needs") != "intents"])
def test_a_topic_alone_has_the_same_bits(name: str, policy: str) -> None:
    rules = POLICIES[policy]
    run = TIED_RUN if rules.ties == "average" else RUN
    wanted = []
    for spelling in _names(name):
        try:
            score_part(run, QRELS, spelling, rules, lengths=LENGTHS)
        except AssayError:  # a measure without a cutoff, with a cutoff that it needs, or of drawn orders
            continue
        wanted.append(spelling)
    if not wanted:
        pytest.skip(f"{name} is not computed from plain judgments under this policy")
    together = evaluate({"r": run}, QRELS, wanted, policy=rules, lengths=LENGTHS)
    for place, topic in enumerate(together.topics):
        alone = score_part({topic: run[topic]}, {topic: QRELS[topic]}, wanted, rules, lengths=LENGTHS)
        assert alone.values[:, 0].tolist() == [matrix.values[0, place] for matrix in together]
        assert alone.signatures == tuple(matrix.signature for matrix in together)
