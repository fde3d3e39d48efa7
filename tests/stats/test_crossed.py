"""Factorial analysis of variance: statsmodels, the grid of points of Ferro and Silvello, incomplete designs."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from assay.core.errors import DataError
from assay.data.scores import ScoreMatrix
from assay.stats.anova import two_way
from assay.stats.crossed import factorial, read_grid
from tests.conftest import real_data
from tests.oracles.stats import scipy_stats as stats

COMBINATIONS = list(product(["none", "smart"], ["none", "porter", "krovetz"], ["BM25", "LM"]))
DESIGN = {n: tuple(c[i] for c in COMBINATIONS) for i, n in enumerate(("stop", "stem", "model"))}


def example(seed: int = 0) -> ScoreMatrix:
    rng = np.random.default_rng(seed)
    shift = np.array([0.1 * (c[0] == "smart") + 0.05 * (c[1] == "porter") * (c[2] == "LM") for c in COMBINATIONS])
    return ScoreMatrix.of(0.3 + shift[:, None] + rng.normal(0, 0.1, 9) + rng.normal(0, 0.05, (12, 9)))


def test_is_statsmodels() -> None:
    import pandas as pd
    from statsmodels.formula.api import ols
    from statsmodels.stats.anova import anova_lm

    m = example()
    rows = [(*c, f"t{j}", m.values[i, j]) for i, c in enumerate(COMBINATIONS) for j in range(9)]
    frame = pd.DataFrame(rows, columns=["stop", "stem", "model", "topic", "y"])
    table = anova_lm(ols("y ~ C(stop)*C(stem)*C(model) + C(topic)", frame).fit(), typ=2)
    anova = factorial(m, DESIGN).anova
    for source in anova.effects:
        theirs = table.loc[":".join(f"C({p})" for p in source.name.split(" × "))]
        assert source.squares == pytest.approx(theirs["sum_sq"], rel=1e-8)
        assert source.df == theirs["df"]
        assert (source.f, source.p) == pytest.approx((theirs["F"], theirs["PR(>F)"]), rel=1e-6)
    assert anova.residual.squares == pytest.approx(table.loc["Residual", "sum_sq"], rel=1e-8)


def test_the_order_of_the_runs_does_not_matter() -> None:
    m, order = example(), np.random.default_rng(1).permutation(12)
    mixed = ScoreMatrix.of(m.values[order])
    design = {name: [column[i] for i in order] for name, column in DESIGN.items()}
    for one, other in zip(factorial(m, DESIGN).anova.effects, factorial(mixed, design).anova.effects, strict=True):
        assert other.squares == pytest.approx(one.squares, rel=1e-9)


def test_levels_differ_where_their_intervals_do_not_overlap() -> None:
    result = factorial(example(), DESIGN)
    stop, stem, _ = result.factors
    assert stop.levels == ("smart", "none")
    assert stop.letters == ("a", "b")
    residual = result.anova.residual
    assert 2 * stem.half == pytest.approx(
        stats.studentized_range.ppf(0.95, 3, residual.df) * np.sqrt(residual.mean_square / 36), rel=1e-6
    )
    for a, b in ((0, 1), (0, 2), (1, 2)):
        overlap = stem.means[a] - stem.half <= stem.means[b] + stem.half
        assert overlap == bool(set(stem.letters[a]) & set(stem.letters[b]))


@pytest.mark.parametrize("track", ["trec7", "trec8"])
def test_grid_of_points(track: str) -> None:
    """560 systems, 5 stop lists × 7 stemmers × 16 models: the effects part what the two-way analysis calls run."""
    matrix, design = read_grid(real_data(f"trec-grid-of-points/{track}_ap.csv.xz"), measure="AP")
    assert matrix.shape == (560, 50)
    assert [len(set(column)) for column in design.values()] == [5, 7, 16]
    result = factorial(matrix, design)
    whole, parts = two_way(matrix), result.anova.effects[:-1]
    assert sum(s.squares for s in parts) == pytest.approx(whole["run"].squares, rel=1e-9)
    assert sum(s.df for s in parts) == whole["run"].df == 559
    assert result.anova.residual.squares == pytest.approx(whole["residual"].squares, rel=1e-6)
    assert result.anova["topic"].squares == pytest.approx(whole["topic"].squares, rel=1e-9)
    best = {"trec7": ("smart/krovetz/LGD", 0.2334), "trec8": ("indri/krovetz/InexpB2", 0.2741)}[track]
    top = matrix.by_average()
    assert top.runs[0] == best[0]
    assert float(top.averages()[0]) == pytest.approx(best[1], abs=5e-5)
    assert result.factors[0].levels[-1] == "nostop"
    assert len(result.tables()) == 4


def test_a_missing_combination_is_named() -> None:
    m = example()
    short = m.select(runs=m.runs[:-1])
    with pytest.raises(DataError, match=r"0 runs with \(smart, krovetz, LM\)"):
        factorial(short, {n: c[:-1] for n, c in DESIGN.items()})
    with pytest.raises(DataError, match="factor 'stop': 11 entries"):
        factorial(m, {"stop": DESIGN["stop"][:-1]})
    with pytest.raises(DataError, match="at least one factor"):
        factorial(m, {})


def test_reading_a_grid(tmp_path: Path) -> None:
    path = tmp_path / "grid.csv"
    path.write_text("stop,model,1,2\nno,bm25,.1,.2\nno,lm,.2,.3\nyes,bm25,.3,.5\nyes,lm,.2,.4\n")
    matrix, design = read_grid(path)
    assert matrix.runs == ("no/bm25", "no/lm", "yes/bm25", "yes/lm")
    assert design["model"] == ("bm25", "lm", "bm25", "lm")
    path.write_text("1,2\n.1,.2\n")
    with pytest.raises(DataError, match="columns of factors"):
        read_grid(path)
    path.write_text("stop,model,1,2\nno,bm25,.1,NA\n")
    with pytest.raises(DataError, match="'NA'"):
        read_grid(path)


def test_no_variance_is_no_effect() -> None:
    flat = ScoreMatrix.of(np.full((12, 4), 0.5))
    result = factorial(flat, DESIGN)
    assert all(s.p == 1.0 for s in result.anova.effects)
    assert "nan" not in "".join(t.text() for t in result.tables()).lower()
