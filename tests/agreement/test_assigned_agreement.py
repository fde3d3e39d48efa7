"""Agreement on assignments of nuggets and support: κ and α of the same items, τ of the same runs."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from scipy.stats import kendalltau

from assay.agreement import agreement, cohen_kappa
from assay.agreement.assigned_agreement import assignment_agreement
from assay.core.errors import AssayError
from assay.data import Labels
from assay.data.assignments import Assignments, CitationSupport
from assay.scoring.assigned_scores import evaluate_nuggets
from tests.hostile.calls import call

WORDS = ("not_support", "partial_support", "support")
RUNS = [f"r{i}" for i in range(5)]


def assigned(seed: int = 0) -> list[tuple[str, str, str, str, str, str]]:
    """Rows of people on topics 1 to 6 and of a machine on 1 to 9, which says the same three times out of four."""
    rng = random.Random(seed)
    rows = []
    for t in range(1, 10):
        for skill, run in enumerate(RUNS, start=1):
            for n in range(6):
                importance = "vital" if n < 3 else "okay"
                word = rng.choices(WORDS, weights=(6 - skill, 2, skill))[0]
                other = word if rng.random() < 0.75 else rng.choice(WORDS)
                if t <= 6:
                    rows.append((str(t), run, f"n{n}", importance, word, "people"))
                rows.append((str(t), run, f"n{n}", importance, other, "machine"))
    return rows


def test_coefficients_are_those_of_labels_of_the_same_items() -> None:
    rows = assigned()
    found = assignment_agreement(Assignments.from_rows(rows), per_topic=True, per_run=True)
    by_item: dict[tuple[str, ...], dict[str, int]] = {}
    for topic, run, nugget, _, word, assessor in rows:
        by_item.setdefault((topic, run, nugget), {})[assessor] = WORDS.index(word)
    both = [(item, said) for item, said in by_item.items() if len(said) == 2]
    first = [said["people"] for _, said in both]
    second = [said["machine"] for _, said in both]
    assert found.value("kappa") == pytest.approx(cohen_kappa(first, second))
    of_topic = [(said["people"], said["machine"]) for item, said in both if item[0] == "4"]
    assert found.value("kappa", topic="4") == pytest.approx(cohen_kappa(*zip(*of_topic, strict=True)))
    of_run = [(said["people"], said["machine"]) for item, said in both if item[1] == "r2"]
    assert found.value("kappa", run="r2") == pytest.approx(cohen_kappa(*zip(*of_run, strict=True)))
    labels = Labels.from_rows([(t, f"{r} {n}", who, WORDS.index(word)) for t, r, n, _, word, who in rows])
    alone = agreement(labels, measures=["alpha(level=ordinal)"], scale="3")
    assert found.value("alpha") == alone.value("alpha")
    assert found.table().rows[0][-2] == len(both)


def test_order_of_runs_is_that_of_the_scores_on_common_topics() -> None:
    made = Assignments.from_rows(assigned())
    found = assignment_agreement(made, ["V_strict", "A_lenient"])
    common = [str(t) for t in range(1, 7)]
    for measure in ("V_strict", "A_lenient"):
        means = []
        for who in ("people", "machine"):
            matrix = evaluate_nuggets(made, [measure], assessor=who)[measure]
            means.append(matrix.select(topics=common).averages())
        assert found.tau(measure) == pytest.approx(kendalltau(*means).statistic)
    row = found.orders[0]
    assert (row.first, row.second, row.runs, row.topics) == ("people", "machine", tuple(RUNS), 6)
    with pytest.raises(AssayError, match="no orders by 'V_lenient'"):
        found.tau("V_lenient")
    with pytest.raises(AssayError, match="agreement on run 'r1' was not asked for"):
        found.value("kappa", run="r1")


def test_support_of_citations_is_agreed_on_too() -> None:
    rows = [("1", "a", "s1", "d1", "full"), ("1", "a", "s2", "d1", "none"), ("1", "a", "s3", "", "")]
    both = [(*row, who) for row in rows for who in ("x", "y")]
    found = assignment_agreement(CitationSupport.from_rows(both))
    assert found.value("kappa") == 1.0
    assert [row.measure for row in found.orders] == ["SupportP", "SupportR", "SupportF1"]
    assert found.orders[0].tau is None  # one run alone has no order
    assert "–: undefined" in found.order_table().notes[-1]


def test_assessors_who_share_nothing_are_refused() -> None:
    rows = [("1", "a", "n", "okay", "yes", "x"), ("2", "a", "n", "okay", "yes", "y")]
    with pytest.raises(AssayError, match="no item has labels of two assessors"):
        assignment_agreement(Assignments.from_rows(rows))


def test_files_of_two_assessors_on_the_command_line(tmp_path: Path) -> None:
    for who in ("people", "machine"):
        lines: dict[tuple[str, str], list[dict[str, str]]] = {}
        for topic, run, nugget, importance, word, assessor in assigned():
            if assessor == who:
                fields = {"text": nugget, "importance": importance, "assignment": word}
                lines.setdefault((topic, run), []).append(fields)
        records = [{"qid": topic, "run_id": run, "nuggets": nuggets} for (topic, run), nuggets in lines.items()]
        (tmp_path / f"{who}.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    files = [str(tmp_path / "people.jsonl"), str(tmp_path / "machine.jsonl")]
    figure = tmp_path / "orders.svg"
    words = ["answers", "agreement", *files, "--format", "json", "-m", "V_strict", "--figure", str(figure)]
    done = call(words)
    assert (done.code, done.fell_over) == (0, None), done.err
    coefficients, orders = json.loads(done.out)
    found = assignment_agreement(Assignments.from_rows(assigned()), ["V_strict"])
    assert coefficients["rows"][0]["value"] == pytest.approx(found.value("alpha"))
    assert orders["rows"][0]["tau"] == pytest.approx(found.tau("V_strict"))
    assert figure.read_text().startswith("<svg")
    for part, rows in (("topics", 4 * 9), ("runs", 4 * len(RUNS)), ("orders", 6)):
        as_csv = call(["answers", "agreement", *files, "--format", "csv", "--show", part])
        assert len(as_csv.out.splitlines()) == 1 + rows, as_csv.err
