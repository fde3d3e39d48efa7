"""Small collections that several tests of pooling use."""

from __future__ import annotations

import string

import numpy as np
from hypothesis import strategies as st

from assay.data import Qrels, Run
from assay.data.lists import Lists, TopicLists, collected

TOY = {"s1": "CBAED", "s2": "CFAHG", "s3": "DCAGB"}
TOY_RELEVANT = set("AFG")


def topic(rankings: dict[str, str]) -> TopicLists:
    """The lists of one topic, each a string of one-letter docs."""
    return collected([Run.from_lists(name, {"1": list(docs)}) for name, docs in rankings.items()]).topic(0)


@st.composite
def rankings(draw: st.DrawFn) -> dict[str, str]:
    """Two to five runs of up to eight one-letter docs."""
    letters = string.ascii_uppercase[: draw(st.integers(2, 8))]
    size = draw(st.integers(2, 5))
    out = {}
    for s in range(size):
        order = draw(st.permutations(letters))
        out[f"s{s}"] = "".join(order[: draw(st.integers(1, len(letters)))])
    return out


def made(seed: int, *, runs: int = 12, topics: int = 8, docs: int = 60, depth: int = 25) -> tuple[list[Run], Qrels]:
    """Runs of differing quality over docs of which a quarter is relevant; every doc is judged."""
    rng = np.random.default_rng(seed)
    relevant = rng.random((topics, docs)) < 0.25
    quality = np.linspace(0.2, 2.0, runs)
    tables: list[dict[str, list[str]]] = [{} for _ in range(runs)]
    for t in range(topics):
        for s in range(runs):
            order = np.argsort(-(quality[s] * relevant[t] + rng.normal(size=docs)))[:depth]
            tables[s][str(t + 1)] = [f"d{d:03d}" for d in order]
    grades = {str(t + 1): {f"d{d:03d}": int(relevant[t, d]) for d in range(docs)} for t in range(topics)}
    return [Run.from_lists(f"r{s:02d}", table) for s, table in enumerate(tables)], Qrels.from_dict(grades)


def made_lists(seed: int, **sizes: int) -> Lists:
    """The same, coded."""
    return collected(*made(seed, **sizes))
