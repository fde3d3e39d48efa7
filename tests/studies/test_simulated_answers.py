"""Simulated answers: the files say what the objects say, seeds decide all, and estimates from them cover the truth."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from assay.core.errors import AssayError
from assay.judges import estimate_scores
from assay.scoring import evaluate_nuggets, evaluate_support
from assay.studies.simulated_answers import simulate_answers, write_answers


def test_files_hold_what_was_simulated(tmp_path: Path) -> None:
    made = simulate_answers(3, topics=12, human_topics=4)
    write_answers(made, tmp_path)
    folder = tmp_path / "answers"
    for name, assigned in (("people", made.people), ("machine", made.machine)):
        read, held = evaluate_nuggets(folder / f"{name}.jsonl"), evaluate_nuggets(assigned)
        for one, other in zip(read.scores, held.scores, strict=True):
            assert (one.runs, one.topics) == (other.runs, other.topics)
            assert one.values.tolist() == other.values.tolist()
    read, held = evaluate_support(folder / "support.csv"), evaluate_support(made.support)
    assert read["SupportF1"].values.tolist() == held["SupportF1"].values.tolist()


def test_a_seed_decides_all_and_people_see_the_truth() -> None:
    one, again, other = (simulate_answers(seed, topics=10, human_topics=5) for seed in (1, 1, 2))
    assert one.machine.credit.tolist() == again.machine.credit.tolist()
    assert one.machine.credit.tolist() != other.machine.credit.tolist()
    people, truth = (evaluate_nuggets(assigned)["A_lenient"] for assigned in (one.people, one.truth))
    assert people.values.tolist() == truth.select(topics=people.topics).values.tolist()
    with pytest.raises(AssayError, match="11 human topics of 10; give between 1 and 10"):
        simulate_answers(topics=10, human_topics=11)


def test_intervals_of_few_people_and_a_lenient_machine_cover_the_truth() -> None:
    """50 simulations of 4 assistants: .95 is wanted; the machine alone is far from it."""
    held = []
    machine_bias = []
    for seed in range(50):
        made = simulate_answers(seed, topics=60, human_topics=15)
        parts = (made.people, made.machine, made.truth)
        people, machine, truth = (evaluate_nuggets(part, ["A_lenient"])["A_lenient"] for part in parts)
        found = estimate_scores(people, machine)
        low, high = found.interval
        wanted = truth.averages()
        held += ((low <= wanted) & (wanted <= high)).tolist()
        machine_bias += (found.machine_only - wanted).tolist()
    assert 0.90 <= np.mean(held) <= 1
    assert np.mean(machine_bias) > 0.08
