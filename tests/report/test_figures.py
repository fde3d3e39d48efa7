"""Every figure is drawn from a real result, is valid Vega-Lite, says what it is about, and can be saved."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from assay.core.errors import UsageError
from assay.report import figure, save_figure
from assay.report.figure import Figure, plain_value, rows_of
from assay.report.figures import drawings
from tests.report.zoo import ZOO, collection, scores


@cache
def validator() -> Any:
    """The Vega-Lite schema that altair ships."""
    import altair
    import jsonschema

    [path] = Path(altair.__file__).parent.glob("vegalite/v*/schema/vega-lite-schema.json")
    return jsonschema.Draft7Validator(json.loads(path.read_text()))


def valid(spec: dict[str, Any]) -> bool:
    """Whether a specification is valid Vega-Lite; of the rows of data only the first few are looked at."""
    short = {name: rows[:3] for name, rows in spec["datasets"].items()}
    return bool(validator().is_valid({**spec, "datasets": short}))


def test_validity_is_told_from_its_opposite() -> None:
    spec = figure(scores()[0]).standalone()
    assert valid(spec)
    assert not valid({**spec, "mark": {"type": "no such mark"}})
    assert not valid({**spec, "encoding": {"x": {"field": "run", "type": "no such type"}}})


@pytest.mark.parametrize("name", ZOO)
def test_every_figure_is_valid_and_speaks_for_itself(name: str) -> None:
    drawing = figure(ZOO[name]())
    assert valid(drawing.standalone()), name
    assert valid({**drawing.embedded(), "width": "container"} if "facet" not in drawing.spec else drawing.embedded())
    assert len(drawing.title) > 12
    assert len(drawing.description) > 12
    assert not {"None", "nan"} & set(drawing.title.split() + drawing.description.split())
    assert all(any(row.values() for row in rows) for rows in drawing.spec["datasets"].values() if rows)
    json.dumps(drawing.spec, allow_nan=False)


@pytest.mark.parametrize("name", ZOO)
def test_fields_of_a_figure_are_in_its_rows(name: str) -> None:
    spec = figure(ZOO[name]()).spec
    columns = {key for rows in spec["datasets"].values() for row in rows[:1] for key in row}
    columns |= {t["as"] for t in spec.get("transform", []) if isinstance(t.get("as"), str)}
    for used in fields(spec):
        assert used in columns, (name, used)


def fields(part: Any) -> set[str]:
    """Every field that an encoding names."""
    if isinstance(part, list):
        return {f for inner in part for f in fields(inner)}
    if not isinstance(part, dict):
        return set()
    own = {part["field"]} if isinstance(part.get("field"), str) else set()
    return own | {f for key, inner in part.items() if key != "datasets" for f in fields(inner)}


def test_every_result_that_has_a_figure_is_drawn_here_and_every_name_exists() -> None:
    kinds = [type(made()) for made in ZOO.values()]
    drawn = {f"{kind.__module__.split('.')[1]}.{kind.__qualname__}" for kind in kinds}
    assert set(drawings()) == drawn


def test_a_result_without_figure_and_a_wrong_ending_are_errors(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no figure of a Qrels"):
        figure(collection().qrels)
    with pytest.raises(UsageError, match="no figure of this command"):
        save_figure(None, tmp_path / "x.svg")
    with pytest.raises(UsageError, match=r"\.svg, \.png, \.pdf"):
        save_figure(scores()[0], tmp_path / "x.gif")
    assert not list(tmp_path.iterdir())


def test_figures_are_saved_in_every_format(tmp_path: Path) -> None:
    board = ZOO["components"]()
    starts = {"svg": b"<svg", "png": b"\x89PNG", "pdf": b"%PDF", "html": b"<!doctype html>", "json": b"{"}
    for ending, start in starts.items():
        save_figure(board, tmp_path / f"x.{ending}")
        assert (tmp_path / f"x.{ending}").read_bytes().startswith(start)


def test_several_results_are_one_page_or_numbered_files(tmp_path: Path) -> None:
    both = [scores()[0], scores()[1]]
    save_figure(both, tmp_path / "x.html")
    assert (tmp_path / "x.html").read_text().count("data-chart=") == 2
    save_figure(both, tmp_path / "y.svg")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["x.html", "y-1.svg", "y-2.svg"]
    assert f">{scores()[1].measure} of" in (tmp_path / "y-2.svg").read_text()


def test_pictures_stay_small_with_many_runs_and_topics() -> None:
    import numpy as np

    from assay.data.scores import ScoreMatrix
    from assay.report.figures.data import score_map
    from assay.report.figures.similarity import similarity_map
    from assay.similarity.matrix import SimilarityMatrix

    rng = np.random.default_rng(0)
    drawing = score_map(ScoreMatrix.of(rng.random((143, 1000)), measure="AP"), top=30)
    assert len(drawing.spec["datasets"]["rows"]) == 30 * 100
    assert drawing.title == "AP of 30 of 143 runs on 100 of 1,000 topics (those on which the runs differ most)"
    square = rng.random((143, 143))
    runs = tuple(f"r{i}" for i in range(143))
    alike = SimilarityMatrix(runs, (square + square.T) / 2, square, np.ones((143, 143), dtype=np.int64), "RBO")
    assert len(similarity_map(alike).spec["datasets"]["rows"]) == 60 * 60


def test_leaderboard_shows_the_means_and_always_the_baseline() -> None:
    from assay.report.figures.stats import leaderboard

    board = ZOO["leaderboard"]()
    rows = leaderboard(board, top=3).spec["datasets"]["rows"]
    assert [r["run"] for r in rows] == [*board.matrix.runs[:2], "cygnus1"]
    assert rows[0]["mean"] == pytest.approx(board.matrix.averages()[0], abs=1e-6)
    assert rows[-1]["kind"] == "baseline"


def test_differences_are_sorted_and_sum_to_the_difference_of_means() -> None:
    from assay.report.figures.stats import differences

    a, b = scores()[0].of_run("atlas1"), scores()[0].of_run("borea1")
    rows = differences(a - b, topics=scores()[0].topics, runs=("atlas1", "borea1")).spec["datasets"]["rows"]
    values = [r["difference"] for r in rows]
    assert values == sorted(values, reverse=True)
    assert sum(values) / len(values) == pytest.approx(a.mean() - b.mean(), abs=1e-5)


def test_relevance_map_counts_what_the_grades_say() -> None:
    grades = ZOO["grades"]()
    rows = figure(grades).spec["datasets"]["rows"]
    relevant = sum(r["kind"].startswith("grade") for r in rows)
    assert relevant == int((grades.ranked[:, :50] > 0).sum())
    assert sum(r["kind"] == "not judged" for r in rows) == int((grades.inside() & ~grades.judged())[:, :50].sum())


def test_intervals_of_grades_that_are_fractions_are_not_shown_as_whole_numbers() -> None:
    from assay.crowd import aggregate
    from assay.data import Labels

    rows = [("1", f"d{doc}", f"w{w}", ((7 * doc + 3 * w) % 41) / 41) for doc in range(30) for w in range(3)]
    spec = figure(aggregate(Labels.from_rows(rows), "mean")).spec
    ends = [row[end] for row in spec["datasets"]["rows"] for end in ("low", "high")]
    assert any(end != round(end) for end in ends)
    [line] = [layer for layer in spec["layer"] if "tooltip" in layer["encoding"]]
    forms = {tip["field"]: tip.get("format") for tip in line["encoding"]["tooltip"]}
    assert forms["low"] == forms["high"] == forms["grade"] == ".4~g"


def test_overlap_by_depth_narrows_and_contains_ext() -> None:
    found = ZOO["overlap_by_depth"]()
    assert (found.low <= found.ext + 1e-12).all()
    assert (found.ext <= found.high + 1e-12).all()
    width = found.high - found.low
    assert width[-1] < width[0] / 2
    assert found.table().column("depth") == list(found.depths)
    from assay.report.curves import overlap_by_depth

    with pytest.raises(UsageError, match="at least 1"):
        overlap_by_depth(*collection().runs[:2], depths=[0])


def test_recall_precision_is_the_interpolated_precision_of_each_level() -> None:
    from assay.scoring import evaluate

    found = ZOO["recall_precision"]()
    [half] = evaluate(collection().runs, collection().qrels, ["IPrec(recall=0.5)"])
    assert found.precision[:, 5] == pytest.approx(half.averages())
    assert (found.precision[:, :-1] >= found.precision[:, 1:] - 1e-12).all()
    assert found.table().columns[1:3] == ("0.0", "0.1")


def test_notebooks_see_the_chart_and_altair_can_take_it_over() -> None:
    drawing = figure(ZOO["components"]())
    bundle = drawing._repr_mimebundle_()
    assert bundle["application/vnd.vegalite.v6+json"]["title"]["text"] == drawing.title
    assert drawing.chart().to_dict()["datasets"]["rows"] == drawing.spec["datasets"]["rows"]


def test_rows_are_plain_json() -> None:
    import numpy as np

    assert rows_of(a=np.array([1, 2]), b=np.array([0.1, np.nan])) == [{"a": 1, "b": 0.1}, {"a": 2, "b": None}]
    assert plain_value(np.float64("inf")) is None
    assert isinstance(Figure("n", "t", "d", {"datasets": {}}).rendered("json"), str)
