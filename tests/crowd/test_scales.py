"""Scales as values."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.agreement import agreement
from assay.agreement.scales import MAGNITUDE, PREFERENCE, S2, S4, S100, Scale, default_level, scale_in, scale_of
from assay.core.errors import DataError, UsageError
from assay.crowd import aggregate
from assay.crowd.magnitudes import comparable_magnitudes
from assay.data import Labels
from assay.io import read_labels
from assay.store.judging_plan import JudgingPlan


@pytest.mark.parametrize(
    ("text", "scale"),
    [
        ("S2", S2),
        ("s4", S4),
        (" S100 ", S100),
        ("magnitude", MAGNITUDE),
        ("preference", PREFERENCE),
        ("3", Scale.ordered(3)),
        ("S3", Scale.ordered(3)),
        ("1<2<3", Scale("1<2<3", "categories", (1.0, 2.0, 3.0), 1.0, 3.0)),
        ("-1.0<0<1.5", Scale("-1<0<1.5", "categories", (-1.0, 0.0, 1.5), -1.0, 1.5)),
        ("no<maybe<yes", Scale.ordered(["no", "maybe", "yes"])),
        ("1-5", Scale.interval(1, 5)),
        ("0-1.5", Scale.interval(0, 1.5)),
    ],
)
def test_names(text: str, scale: Scale) -> None:
    assert scale_of(text) == scale


@pytest.mark.parametrize("text", ["five", "1", "5-1", "a<a", "", "1<two<3", "3<2<1", "1<1.0"])
def test_what_is_no_scale(text: str) -> None:
    with pytest.raises(UsageError):
        scale_of(text)


@pytest.mark.parametrize(
    ("scale", "good", "bad"),
    [
        (S2, [0, 1], [0.5, 2, -1]),
        (S4, [0, 3], [1.5, 4]),
        (S100, [0, 33.3, 100], [-0.1, 100.1]),
        (MAGNITUDE, [0.001, 5000], [0, -1]),
        (PREFERENCE, [0, 0.5, 1], [0.3]),
    ],
)
def test_inside_and_outside(scale: Scale, good: list[float], bad: list[float]) -> None:
    assert not scale.outside(np.array(good, dtype=float)).any()
    assert scale.outside(np.array(bad, dtype=float)).all()


def test_the_first_bad_line_is_named() -> None:
    labels = Labels.from_rows([("1", "a", "w", 1.0), ("1", "b", "w", 4.0)], lines=np.array([2, 7]), name="l.csv")
    with pytest.raises(DataError, match=r"l.csv:7: label 4 is not on the scale S4 \(N < M < R < H\); 1 such labels"):
        S4.checked(labels)


@pytest.mark.parametrize(
    ("values", "name"), [([0, 1], "S2"), ([0, 3], "S4"), ([0, 2], "S3"), ([0, 55], "S100"), ([0.5, 1], "S100")]
)
def test_guess(values: list[float], name: str) -> None:
    assert scale_in(Labels.from_rows([("1", f"d{i}", "w", v) for i, v in enumerate(values)])).name == name


def test_no_guess() -> None:
    with pytest.raises(UsageError, match="labels from 1 to 5000 fit no usual scale"):
        scale_in(Labels.from_rows([("1", "a", "w", 1.0), ("1", "b", "w", 5000.0)]))
    with pytest.raises(DataError, match="there are no labels"):
        scale_in(Labels.from_rows([]))


def test_levels_of_measurement() -> None:
    assert [default_level(s) for s in (S2, S4, S100, MAGNITUDE)] == ["nominal", "ordinal", "interval", "ratio"]


@given(st.lists(st.floats(0.01, 1000), min_size=2, max_size=8), st.floats(0.1, 50))
@settings(max_examples=50, deadline=None)
def test_geometric_averaging_takes_each_workers_modulus_away(values: list[float], factor: float) -> None:
    rows = [("1", f"d{i}", "u", v) for i, v in enumerate(values)]
    rows += [("1", f"d{i}", "v", v * factor) for i, v in enumerate(values)]
    labels = Labels.from_rows(rows)
    found = comparable_magnitudes(labels).label
    n = len(values)
    np.testing.assert_allclose(found[:n], found[n:], rtol=1e-9)
    assert np.log(found).mean() == pytest.approx(np.log(labels.label).mean())


ONE_TO_FOUR = "1<2<3<4"
WRITTEN = [(1, 3, 2), ("1", "3", "2"), ("1.0", "3.0", "2.0"), (" 1 ", "3.00", "2e0")]


def table_of(cells: Sequence[object], *, times: int = 2) -> str:
    """A label file in which so many workers give each doc its label."""
    rows = [f"1,d{i},w{w},{cell}" for i, cell in enumerate(cells) for w in range(times)]
    return "topic,doc,worker,label\n" + "\n".join(rows) + "\n"


@pytest.mark.parametrize("written", WRITTEN)
def test_a_label_is_one_grade_however_it_is_written(written: Sequence[object], tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text(table_of(written))
    for scale in (ONE_TO_FOUR, "1.0<2.0<3.0<4.0"):
        labels, named = read_with_scale(path, scale)
        judged = aggregate(labels, "majority", scale=named)
        assert judged.qrels().to_dict() == {"1": {"d0": 1, "d1": 3, "d2": 2}}
    # Words that are numbers, and their grades: 1 is the best.
    turned = read_labels(path, levels={"1": 3.0, "2": 2.0, "3.0": 1.0})
    assert turned.label.tolist() == [3.0, 3.0, 1.0, 1.0, 2.0, 2.0]


def read_with_scale(path: Path, text: str) -> tuple[Labels, Scale]:
    """As a command reads labels."""
    scale = scale_of(text)
    return read_labels(path, levels=scale.words() or None), scale


@pytest.mark.parametrize("scale", [None, "1<2<3<4<5<6", "1.0<2.0<3.0<4.0<5.0<6.0"])
@pytest.mark.parametrize("kind", [int, float])
def test_labels_from_1_to_6_aggregate_as_they_are(scale: str | None, kind: type) -> None:
    rows = [("1", f"d{i}", w, kind(i)) for i in range(1, 7) for w in ("u", "v", "w")]
    for method in ("majority", "dawid-skene(smoothing=0.1)", "ordinal"):
        judged = aggregate(Labels.from_rows(rows), method, scale=scale)
        assert judged.qrels().to_dict() == {"1": {f"d{i}": i for i in range(1, 7)}}
    assert agreement(Labels.from_rows(rows), scale=scale).value("alpha") == 1


def test_grades_that_begin_above_0_say_what_measures_need() -> None:
    rows = [("1", f"d{i}", w, float(i)) for i in range(1, 5) for w in ("u", "v")]
    warned = aggregate(Labels.from_rows(rows), scale=ONE_TO_FOUR).warnings
    assert warned == ("The lowest grade of the scale is 1: measures of relevant docs need rel=2, or every doc counts.",)
    assert aggregate(Labels.from_rows(rows)).warnings == ()


def test_a_scale_that_does_not_fit_names_the_one_that_does() -> None:
    labels = Labels.from_rows([("1", f"d{i}", "w", float(i)) for i in range(1, 7)])
    with pytest.raises(DataError, match="; whole numbers from 1 to 6 are the scale 1<2<3<4<5<6"):
        aggregate(labels, scale="6")


def test_a_campaign_of_labels_from_1_to_6() -> None:
    plan = JudgingPlan(scale="1<2<3<4<5<6")
    assert [plan.label_of(label) for label in (6, "6", "6.0", 1.0)] == [6, 6, 6, 1]
    assert plan.relevant_from == 2
    with pytest.raises(UsageError, match="label 0 is not on the scale 1 < 2"):
        plan.label_of(0)
    with pytest.raises(UsageError, match="whole numbers one apart"):
        JudgingPlan(scale="0<0.5<1")
