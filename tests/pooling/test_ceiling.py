"""The most that a run can score: against all grades that the hidden docs could have, one by one."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from assay.data import Qrels, Run
from assay.data.lists import collected
from assay.measures import MEASURES
from assay.pooling.ceiling import RAISED_BY_MISSED, ceiling
from assay.scoring import evaluate

PLAIN = [
    e.name + ("@3" if "k" in e.parameters else "")
    for e in MEASURES
    if "needs" not in e.facts and not e.facts.get("lower_is_better") and "moving up" not in e.facts.get("breaks", ())
    and e.name not in RAISED_BY_MISSED
] + ["AP", "AP(rel=2)", "nDCG", "Q", "ERR"]  # fmt: skip


@pytest.mark.parametrize("name", PLAIN)
def test_no_grades_of_the_hidden_docs_score_more_and_some_score_as_much(name: str) -> None:
    rng = np.random.default_rng(len(name))
    docs = list("ABCDEFGH")
    for trial in range(4):
        run = Run.from_lists("a", {"1": list(rng.permutation(docs))[:6]})
        grades = dict(zip(docs, rng.integers(0, 4, len(docs)).tolist(), strict=True)) | {"A": 3, "B": 2, "C": 1}
        hidden = list(rng.choice(docs[3:], 3, replace=False))
        if trial:
            del grades[str(rng.choice([d for d in docs[3:] if d not in hidden]))]
        seen = collected([run], Qrels.from_dict({"1": grades}))
        found = ceiling(seen, name, 0, np.array([d in hidden for d in seen.docs]))
        assert found is not None
        every = [
            evaluate([run], Qrels.from_dict({"1": grades | dict(zip(hidden, case, strict=True))}), [name])[0].values[
                0, 0
            ]
            for case in itertools.product(range(4), repeat=len(hidden))
        ]
        assert found[0] == pytest.approx(max(every), abs=1e-12), (run.ranking("1"), grades, hidden)


def test_too_many_cases_have_no_known_ceiling() -> None:
    docs = [f"d{i:03d}" for i in range(120)]
    run = Run.from_lists("a", {"1": docs})
    seen = collected([run], Qrels.from_dict({"1": {d: i % 4 for i, d in enumerate(docs)}}))
    everything = np.ones(len(docs), dtype=bool)
    assert ceiling(seen, "nDCG", 0, everything) is None
    assert ceiling(seen, "nDCG@5", 0, everything) is not None
    assert ceiling(seen, "AP", 0, everything) == pytest.approx([1.0])
    assert ceiling(seen, "P@10", 0, everything) == pytest.approx([1.0])
