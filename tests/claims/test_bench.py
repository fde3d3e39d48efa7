"""The bench itself: seeds and jobs, what is kept and done again, when a cell fails, what the page says."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import assay
from assay.core.errors import DataError
from bench import main
from cells import Cell, Tally, Task, measured, tallied
from claims import ROWS, Limit, Row, area, chosen, loaded, outside
from holds import page, short
from kept import add, is_fresh, kept, line_of, missing, put_in_order
from tests.conftest import ROOT, real_data
from worlds import BETTER, FILES, PERMUTED, REDRAWN, Case, real_scores


@pytest.fixture
def coin(monkeypatch: pytest.MonkeyPatch) -> Iterator[Row]:
    """A claim that is wrong in 3 of 10."""
    loaded()

    def wrong(case: Case) -> float | None:
        if case.n == 5:
            raise DataError("too few")
        return case.rng.random() < (0.3 if case.world == "bad" else 0.04)

    declared: dict[str, Any] = {"kind": "p", "unit": "topic", "calls": ("assay.stats.compare_two",), "ms": 1.0}
    limit = Limit("bad at 10", 0.5, ("bad",), (10,))
    area("Coins")("coin", **declared, promises="5 %", nominal=0.05, worlds=("good", "bad"), limits=(limit,))(wrong)
    yield ROWS["coin"]
    del ROWS["coin"]


def cell(row: Row, world: str, n: int, wrong: float, made: int = 1000) -> Cell:
    return Cell(row.name, world, n, row.declared, Tally(made, made, wrong, wrong, 1.0))


def test_repeats_are_the_same_in_whatever_blocks(coin: Row) -> None:
    whole = tallied(Task("coin", "bad", 50, 0, 60))
    parts = [tallied(Task("coin", "bad", 50, 0, 20)), tallied(Task("coin", "bad", 50, 20, 60))]
    assert whole is not None
    assert parts[0] is not None
    assert parts[1] is not None
    assert Tally.summed([parts[0], parts[1]])[:4] == whole[:4]
    other = tallied(Task("coin", "bad", 10, 0, 60))
    assert other is not None
    assert other.wrong != whole.wrong or other.made == whole.made


def test_jobs_and_engines_change_nothing() -> None:
    row = next(iter(loaded().values()))
    alone = [c.tally[:4] for c in measured(row, row.cells[:3], 100)]
    with assay.engine("local", jobs=2):
        assert [c.tally[:4] for c in measured(row, row.cells[:3], 100)] == alone


def test_a_refusal_is_no_claim(coin: Row) -> None:
    tally = tallied(Task("coin", "good", 5, 0, 10))
    assert tally is not None
    assert (tally.repeats, tally.made) == (10, 0)
    assert math.isnan(cell(coin, "good", 5, 0, 0).error)
    assert not cell(coin, "good", 5, 0, 0).fails(coin)


def test_a_cell_fails_beyond_chance_unless_it_is_named(coin: Row) -> None:
    sd = math.sqrt(0.05 * 0.95 / 1000)
    assert cell(coin, "good", 50, 60).deviation(0.05) == pytest.approx(sd)
    assert not cell(coin, "good", 50, math.floor(1000 * (0.05 + 2.6 * sd))).fails(coin)
    assert cell(coin, "good", 50, math.ceil(1000 * (0.05 + 2.6 * sd))).fails(coin)
    assert cell(coin, "bad", 10, 300).limit(coin) is not None
    assert cell(coin, "bad", 10, 501).limit(coin) is None
    assert cell(coin, "bad", 50, 300).limit(coin) is None


def test_shares_of_claims_vary_as_they_do(coin: Row) -> None:
    of_shares = Cell("coin", "good", 10, "", Tally(100, 100, 10.0, 2.0, 1.0))
    assert of_shares.deviation(0.05) == pytest.approx(math.sqrt((0.02 - 0.01) / 100))


def test_a_cell_that_fails_is_measured_again(coin: Row) -> None:
    found = {c.world: c for c in measured(coin, [("good", 50), ("bad", 50)], 100)}
    assert found["good"].tally.repeats == 100
    assert found["bad"].tally.repeats == 400
    assert found["bad"].fails(coin)


def test_what_is_kept_is_not_measured_again(coin: Row, tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    assert kept(path) == {}
    own = cell(coin, "bad", 10, 300)
    add(own, path)
    assert kept(path)["coin", "bad", 10][:4] == own[:4]
    assert ("bad", 10) not in missing(coin, kept(path), 1000)
    assert ("bad", 10) in missing(coin, kept(path), 2000)
    assert not is_fresh(coin, own._replace(declared="other"), 1)
    with path.open("a") as file:
        file.write('{"claim": "co')
    assert len(kept(path)) == 1
    add(own._replace(row="gone"), path)
    put_in_order([coin], path)
    assert path.read_text() == line_of(own) + "\n"


def test_the_page_says_what_came_out(coin: Row) -> None:
    cells = [cell(coin, "good", 50, 49), cell(coin, "bad", 10, 300), cell(coin, "bad", 50, 300)]
    text = page([coin], {(c.row, c.world, c.n): c for c in cells})
    assert "**0 of 1 claims hold** in the 3 cells that were measured" in text
    assert "good · · · .049 ·" in text
    assert "bad · *.300* · **.300** ·" in text
    assert "bad at 10 (up to .500)" in text
    assert (short(0.05), short(1)) == (".050", "1.000")


def test_a_share_that_is_kept_is_completed_later(
    coin: Row, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for module in ("kept", "bench"):
        monkeypatch.setattr(f"{module}.kept", lambda path=tmp_path / "results.jsonl": kept(path), raising=False)
    monkeypatch.setattr("bench.add", lambda c: add(c, tmp_path / "results.jsonl"))
    monkeypatch.setattr("bench.put_in_order", lambda rows: put_in_order(rows, tmp_path / "results.jsonl"))
    monkeypatch.setattr("bench.PAGE", tmp_path / "page.md")

    def run(*words: str) -> str:
        monkeypatch.setattr("sys.argv", ["bench.py", "--only", "coin", *words])
        main()
        return capsys.readouterr().out

    assert "coin (10 cells of 100" in run("--share", ".05")
    assert "coin (" not in run("--share", ".05")
    assert "FAILS: coin: bad" in run("--page")
    assert "coin" in (tmp_path / "page.md").read_text()
    assert "not measured: coin: good, n 10" in run("--check")
    assert "CPU in all" in run("--budget")


def test_rows_are_chosen_by_file_and_name() -> None:
    assert chosen() == list(loaded().values())
    assert {row.wrong.__module__ for row in chosen(rows="pairs")} == {"rows_pairs"}
    assert [row.name for row in chosen(only="PAIRED T")] == ["one run is better (paired t, one-sided)"]


@pytest.mark.parametrize("world", ["normal", "skewed", "0/1", "sparse", "uneven"])
def test_the_truth_of_a_world_is_its_mean(world: str) -> None:
    for name in (world, f"{world}, a third better"):
        drawn = Case(name, 40_000, np.random.default_rng(1)).runs(6)
        assert drawn.values.mean(axis=1) == pytest.approx(drawn.truth, abs=0.01)
        assert (drawn.truth[4:].min() > drawn.truth[:4].max()) == ("third" in name)
    assert set(BETTER) == {"normal", "skewed", "0/1", "sparse", "uneven"}
    pair = Case(world, 40_000, np.random.default_rng(1)).pair()
    assert pair.values.mean(axis=1) == pytest.approx(pair.truth, abs=0.01)
    one = Case(world, 40_000, np.random.default_rng(1)).run()
    assert one.values.mean() == pytest.approx(one.truth[0], abs=0.01)


@pytest.mark.parametrize("measure", FILES)
def test_real_scores_are_there_and_exchanged_or_drawn_again(measure: str) -> None:
    real_data(FILES[measure])
    scores = real_scores(measure)
    assert (np.diff(scores.mean(axis=1)) <= 1e-12).all()
    assert f"{measure} permuted" in PERMUTED
    assert f"{measure} redrawn" in REDRAWN
    permuted = Case(f"{measure} permuted", 20, np.random.default_rng(0)).runs(5)
    assert permuted.values.shape == (5, 20)
    redrawn = Case(f"{measure} redrawn", 20_000, np.random.default_rng(0)).runs(5)
    assert redrawn.values.mean(axis=1) == pytest.approx(redrawn.truth, abs=0.02)


def test_the_folder_is_no_package() -> None:
    """`import coverage` means the program of that name, or nothing: numba asks for it when it compiles."""
    assert not (ROOT / "coverage" / "__init__.py").exists()
    found = importlib.util.find_spec("coverage")
    assert found is None or found.origin is not None


def test_an_interval_that_touches_the_truth_contains_it() -> None:
    assert not outside(0.1, 0.1, 0.2)
    assert outside(0.1, 0.3, 0.2)
