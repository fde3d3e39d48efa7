"""Similarity by depth, by p of many runs, of two engines day by day, and the first result of each host."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from assay.cli.similarity import command
from assay.core.errors import AssayError, DataError
from assay.data import Run
from assay.similarity import compare_runs, p_sweep
from assay.similarity.depth_curves import day_curves, depth_curves, persistence_curves
from assay.similarity.hosts import first_per_host


def drawn(name: str, seed: int, topics: int = 4, docs: int = 30) -> Run:
    rng = np.random.default_rng(seed)
    lists = {str(t): [f"d{d}" for d in rng.permutation(docs)[:20]] for t in range(1, topics + 1)}
    return Run.from_lists(name, lists)


def test_by_depth_is_the_comparison_of_cut_runs() -> None:
    a, b = drawn("a", 1), drawn("b", 2)
    found = depth_curves(a, b, ["rbo(p=0.9)", "kendall-top-k"], depths=[5, 20])
    for i, depth in enumerate((5, 20)):
        alone = compare_runs(a, b, p=0.9, depth=depth, measures=["kendall-top-k"])
        assert found.curves["rbo(p=0.9)"][i] == pytest.approx(alone.mean().ext)
        assert found.curves["kendall-top-k"][i] == pytest.approx(np.mean(alone.others["kendall-top-k"]))


def test_figure_7_1_by_depth() -> None:
    """Full evaluation and two pruned ones of Webber 2010, Fig. 7.1: KD and overlap at depth 10."""
    full = ["13392", "12892", "11935", "7566", "12615", "59400", "14288", "373", "12606", "11824"]
    pruned = ["13392", "12892", "12606", "11824", "38863", "46500", "39925", "46560", "61085", "55156"]
    a, b = Run.from_lists("a", {"1": full}), Run.from_lists("b", {"1": pruned})
    found = depth_curves(a, b, ["kendall-top-k", "average-overlap", "rbo(p=0.9)"], depths=[10])
    assert found.curves["kendall-top-k"][0] == pytest.approx(0.04)
    assert found.curves["average-overlap"][0] == pytest.approx(0.516905, abs=1e-6)
    assert found.curves["rbo(p=0.9)"][0] == pytest.approx(0.522836, abs=1e-6)


def test_many_runs_over_p_are_each_a_sweep() -> None:
    runs = [drawn(name, seed) for seed, name in enumerate(("a", "b", "c"))]
    found = persistence_curves(runs, [0.5, 0.9, 0.98])
    for other in runs[1:]:
        alone = p_sweep(runs[0], other, [0.5, 0.9, 0.98])
        assert found.curves[other.name].tolist() == pytest.approx([mean.ext for mean in alone.means])


def test_an_engine_that_takes_over_the_results_of_another_is_seen() -> None:
    """As Alexa began to show those of Live on day 47 of Webber 2010, Fig. 7.6."""
    own = [drawn(f"day{d}", d) for d in range(6)]
    other = [drawn(f"o{d}", 100 + d) for d in range(3)] + own[3:]
    found = day_curves(own, other)
    assert found.curves["mean"][:3].max() < 0.7
    assert found.curves["mean"][3:].tolist() == pytest.approx([1.0, 1.0, 1.0])
    assert "from day2 to day3" in found.recipe
    with pytest.raises(DataError, match="6 days of one engine and 3 of the other"):
        day_curves(own, other[:3])


def test_first_result_per_host() -> None:
    docs = ["http://A.org/1", "https://b.org/", "http://a.org/2", "http://www.a.org/", "http://b.org:8080/x"]
    kept = first_per_host(Run.from_lists("r", {"1": docs, "2": docs[2:]}))
    assert kept.ranking("1") == ["http://A.org/1", "https://b.org/", "http://www.a.org/"]
    assert kept.ranking("2") == docs[2:]
    with pytest.raises(DataError, match="doc 'FT943-1' has no host"):
        first_per_host(Run.from_lists("r", {"1": ["FT943-1"]}))


def write(folder: Path, run: Run) -> None:
    folder.mkdir(exist_ok=True)
    lines = []
    for topic in run.topics:
        for rank, doc in enumerate(run.ranking(topic), start=1):
            lines.append(f"{topic} Q0 http://{doc}.org/ {rank} {100 - rank} {run.name}\n")
    (folder / f"{run.name}.run").write_text("".join(lines))


def test_commands(tmp_path: Path) -> None:
    for day in range(3):
        write(tmp_path / "mine", drawn(f"day{day}", day))
        write(tmp_path / "yours", drawn(f"d{day}", 10 + day))
    mine = [str(path) for path in sorted((tmp_path / "mine").iterdir())]

    def called(*words: str) -> str:
        return CliRunner().invoke(command, list(words), catch_exceptions=False).stdout

    days = called("days", str(tmp_path / "mine"), str(tmp_path / "yours"), "--one-per-host")
    assert "Similarity of two engines on 3 days" in days
    picture = tmp_path / "depths.svg"
    assert "kendall-top-k" in called("depths", *mine[:2], "--at", "5,10", "--figure", str(picture))
    assert picture.exists()
    assert "Similarity of day0 and other runs by p" in called("sweep", *mine, "--at", ".5 .9")
    with pytest.raises(AssayError, match="--ties goes with two runs"):
        called("sweep", *mine, "--at", ".5", "--ties", "a")
