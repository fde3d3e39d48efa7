"""Aggregates, draws, all pairs and the common set against plain loops; coverage as statistics."""

from __future__ import annotations

import numpy as np
import pytest

import assay
from assay.board import Board, board
from assay.board.aggregates import AGGREGATES, collection_cells, over_collections
from assay.board.common_set import CommonSet, common_set, split_topics, topic_ranges
from assay.board.simultaneous import comparisons
from assay.board.two_stage import replicates
from assay.core.arrays import Floats
from assay.core.errors import AssayError, DataError, UsageError
from assay.data import ScoreMatrix
from assay.standard import standardize
from tests.conftest import real_data
from tests.oracles import board as oracle


def made(systems: int = 5, collections: int = 6, topics: int = 12, *, seed: int = 0) -> dict[str, ScoreMatrix]:
    """Collections of different numbers of topics, with scores that tie now and then."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(0.5, 0.1, (systems, 1))
    found = {}
    for c in range(collections):
        scores = quality + rng.normal(0, 0.05, (systems, 1)) + rng.normal(0, 0.15, (systems, topics + c))
        found[f"c{c}"] = ScoreMatrix.of(scores.round(1), measure="P@10")
    return found


def test_aggregates_are_those_of_the_plain_loops() -> None:
    data = common_set(made())
    cells = collection_cells(data)
    wanted = oracle.aggregates(data.scores)
    for name, values in wanted.items():
        assert over_collections(name, cells[name]) == pytest.approx(values)
    standardized = [standardize(matrix).averages() for matrix in made().values()]
    assert over_collections("standardized", cells["standardized"]) == pytest.approx(np.mean(standardized, axis=0))


def test_golden_values_by_hand() -> None:
    """Three systems, two collections: x .5 .7 | .2, y .6 .2 | .4, z .1 .3 | .2.

    Means: x (.6, .2) → .4; y (.4, .4) → .4; z (.2, .2) → .2. Ranks: a 1 2 3; b 2.5 1 2.5. Wins of x: topic 1 beats z
    (1/2), topic 2 beats both (1), so .75 on a; on b it ties z and loses to y (.25): (.75 + .25)/2 = .5.
    Wins of y: both, none, both: (.5 + 1)/2.
    """
    a = ScoreMatrix.of([[0.5, 0.7], [0.6, 0.2], [0.1, 0.3]], runs=["x", "y", "z"])
    b = ScoreMatrix.of([[0.2], [0.4], [0.2]], runs=["x", "y", "z"])
    standings = board({"a": a, "b": b}, resamples=50).standings
    assert standings["mean"].values == pytest.approx([0.4, 0.4, 0.2])
    assert standings["borda"].values == pytest.approx([2 + 0.5, 1 + 2, 0 + 0.5])
    assert standings["mean-rank"].values == pytest.approx([1.75, 1.5, 2.75])
    assert standings["wins"].values == pytest.approx([0.5, 0.75, 0.25])
    assert standings["mean"].ranks.tolist() == [1, 1, 3]


def test_draws_are_distributed_as_one_resample_at_a_time() -> None:
    """The pools change nothing in distribution: mean and sd of each system, and quantiles of the means."""
    data = common_set(made(3, 6, 8))
    ours = replicates(data, resamples=4000, seed=1)["mean"]
    plain = oracle.two_stage_means(data.scores, 4000, seed=2)
    assert ours.mean(axis=0) == pytest.approx(plain.mean(axis=0), abs=0.004)
    assert ours.std(axis=0) == pytest.approx(plain.std(axis=0), rel=0.06)
    ends = [0.025, 0.25, 0.75, 0.975]
    assert np.quantile(ours, ends, axis=0) == pytest.approx(np.quantile(plain, ends, axis=0), abs=0.006)


@pytest.mark.parametrize("over", ["collections", "topics"])
def test_one_stage_has_the_variance_of_its_formula(over: str) -> None:
    data = common_set(made(3, 8, 20))
    drawn = replicates(data, over=over, resamples=20_000, seed=0)["mean"]
    means = np.array([part.mean(axis=1) for part in data.scores])
    if over == "collections":
        variance = means.var(axis=0) / len(means)
    else:
        within = [part.var(axis=1) / part.shape[1] for part in data.scores]
        variance = np.sum(within, axis=0) / len(means) ** 2
    assert drawn.var(axis=0) == pytest.approx(variance, rel=0.08)


def test_borda_and_mean_rank_of_a_draw_go_together() -> None:
    data = common_set(made())
    drawn = replicates(data, resamples=200)
    assert drawn["borda"] == pytest.approx(len(data.collections) * (len(data.systems) - drawn["mean-rank"]))
    assert list(drawn) == list(AGGREGATES)


def test_all_pairs_are_those_of_the_plain_loops() -> None:
    rng = np.random.default_rng(3)
    values = np.array([0.6, 0.55, 0.4, 0.1, 0.1])
    draws = rng.multivariate_normal(values, 0.002 * (np.eye(5) + 0.5), 400)
    found = comparisons(values, draws, level=0.9)
    pairs = [tuple(pair) for pair in np.argwhere(found.above).tolist()]
    assert pairs == oracle.pairs_apart(values, draws, 0.9)
    assert 0 < len(pairs) < 10
    assert found.rank_low.tolist() == [1 + sum(j == s for _, j in pairs) for s in range(5)]
    assert found.rank_high.tolist() == [5 - sum(i == s for i, _ in pairs) for s in range(5)]


def test_a_system_and_its_copy_share_rank_letters_and_interval() -> None:
    twins = {}
    for name, matrix in made(4, 8, 20).items():
        values = np.vstack([matrix.values, matrix.values[:1]])
        twins[name] = ScoreMatrix.of(values, runs=[*matrix.runs, "copy"], measure="P@10")
    table = board(twins, resamples=300).table()
    rows = {row[0]: row[1:] for row in table.rows}
    assert rows["run1"] == rows["copy"]


def simulated(rng: np.random.Generator, truth: Floats, collections: int, topics: int) -> dict[str, ScoreMatrix]:
    """Systems whose quality varies between collections and topics, as many as in a board."""
    systems = len(truth)
    found = {}
    for c in range(collections):
        own = truth[:, None] + rng.normal(0, 0.04, (systems, 1)) + rng.normal(0, 0.05)
        scores = own + rng.normal(0, 0.1, topics) + rng.normal(0, 0.15, (systems, topics))
        found[f"c{c}"] = ScoreMatrix.of(scores)
    return found


def test_intervals_cover_the_truth_and_ranks_the_true_ranks() -> None:
    """95 % intervals of the mean of 12 collections; rank intervals hold for all systems at once."""
    truth = np.array([0.5, 0.47, 0.47, 0.42, 0.3])
    wanted = np.array([1, 2, 2, 4, 5])
    rng = np.random.default_rng(0)
    covered, held, trials = 0, 0, 150
    for trial in range(trials):
        standing = board(simulated(rng, truth, 12, 20), resamples=300, seed=trial).standings["mean"]
        covered += int(((standing.low <= truth) & (truth <= standing.high)).sum())
        # of two equal systems either may be second
        low, high = standing.pairs.rank_low, standing.pairs.rank_high
        held += bool(((low <= wanted) & (wanted + (wanted == 2) <= high)).all())
    assert 0.90 <= covered / (trials * len(truth)) <= 0.985
    assert held / trials >= 0.93


def test_equal_systems_are_seldom_told_apart() -> None:
    """The chance of one wrong conclusion or more is that of the level."""
    rng = np.random.default_rng(1)
    wrong = 0
    for trial in range(120):
        standing = board(simulated(rng, np.full(6, 0.4), 15, 15), resamples=300, seed=trial).standings["mean"]
        wrong += bool(standing.pairs.above.any())
    assert wrong / 120 <= 0.1


def test_missing_cells_are_counted_and_never_zero() -> None:
    collections = made(4, 3)
    collections["c1"] = collections["c1"].select(runs=["run1", "run2", "run4"])
    found = board(collections, resamples=50)
    assert found.data.missing == 1
    assert found.data.systems == ("run1", "run2", "run4")
    row = next(row for row in found.table().rows if row[0] == "run3")
    assert row[1:-1] == (None,) * (len(row) - 2)
    assert row[-1] == 2
    assert "1 of 12 cells are missing: 1 systems that are not on all collections have no rank" in found.table().notes
    other = board(collections, common="collections", resamples=50)
    assert other.data.collections == ("c0", "c2")
    assert len(other.data.systems) == 4
    assert any("left out are the collections that lack a system (c1)" in note for note in other.table().notes)


def test_only_means_are_drawn_by_collection() -> None:
    means = {f"c{i}": ScoreMatrix.of([[0.1 * i], [0.2], [0.3]], topics=["mean"]) for i in range(8)}
    found = board(means, resamples=100)
    assert "only means are known: collections are drawn again, topics cannot be" in found.table().notes
    with pytest.raises(UsageError, match="no topics can be drawn"):
        board(means, over="topics")


def test_the_conclusions_say_what_all_aggregates_agree_on() -> None:
    found = board(made(6, 8, 25), resamples=300)
    agreed = found.agreed()
    for standing in found.standings.values():
        assert not (agreed & ~standing.pairs.above).any()
    last = found.conclusions().rows[-1]
    assert last[0] == "all of them"
    assert last[3] == int(agreed.sum())
    assert last[2] == len(found.common_group())
    assert found.record()["verdict"] == found.verdict


def test_the_same_seed_gives_the_same_board_whatever_the_order_of_systems() -> None:
    first = board(made(), resamples=100, seed=4)
    again = assay.board(made(), resamples=100, seed=4)
    assert isinstance(again, Board)
    assert first.table() == again.table()
    turned = {name: matrix.select(runs=matrix.runs[::-1]) for name, matrix in made().items()}
    reversed_board = board(turned, resamples=100, seed=4)
    assert reversed_board.standings["mean"].low == pytest.approx(first.standings["mean"].low[::-1])


@pytest.mark.parametrize(
    ("collections", "message"),
    [
        ({"a": [[0.1], [0.2]]}, "1 collection given; a board takes at least two"),
        ({"a": [[0.1]], "b": [[0.1]]}, "1 systems are on all 2 collections; a board needs at least two"),
        ({}, "0 collection given"),
    ],
)
def test_too_little_is_one_clear_line(collections: dict[str, list[list[float]]], message: str) -> None:
    with pytest.raises(AssayError, match=message):
        board({name: ScoreMatrix.of(values) for name, values in collections.items()})


def test_bad_input_is_one_clear_line() -> None:
    a = ScoreMatrix.of([[0.1, 0.2], [0.3, 0.4]], measure="AP")
    with pytest.raises(UsageError, match=r"AP and P@10 are not the same measure"):
        board({"a": a, "b": ScoreMatrix.of([[0.1], [0.2]], measure="P@10")})
    with pytest.raises(DataError, match="0 systems are on all 2 collections"):
        board({"a": a, "b": ScoreMatrix.of([[0.1], [0.2]], runs=["x", "y"], measure="AP")})
    geometric = ScoreMatrix.of([[0.1, 0.2], [0.3, 0.4]], measure="geometric(AP)")
    with pytest.raises(UsageError, match="rests on means"):
        board({"a": geometric, "b": geometric})
    with pytest.raises(UsageError, match="list where collections are expected; give collections as"):
        board([a, a])  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="aggregate"):
        board({"a": a, "b": a}, aggregate="median")
    with pytest.raises(UsageError, match="level must lie between 0 and 1"):
        board({"a": a, "b": a}, level=1.5)
    with pytest.raises(UsageError, match="resamples must be at least 1"):
        board({"a": a, "b": a}, resamples=0)


def test_parts_of_topics() -> None:
    matrix = ScoreMatrix.of([[0.1, 0.2, 0.3, 0.4]], topics=["301", "302", "601", "x"])
    parts = topic_ranges(["old=301-350", "new=601-700"], matrix.topics)
    assert parts == {"old": ["301", "302"], "new": ["601"]}
    assert split_topics(matrix, parts)["new"].values.tolist() == [[0.3]]
    for text, message in (("old", "NAME=FIRST-LAST"), ("old=1-2", "no topic has a number from 1 to 2")):
        with pytest.raises(UsageError, match=message):
            topic_ranges([text], matrix.topics)
    with pytest.raises(UsageError, match="'301' is in the parts 'a' and 'b'"):
        split_topics(matrix, {"a": ["301"], "b": ["301"]})
    with pytest.raises(UsageError, match="has no topic"):
        split_topics(matrix, {"a": []})


def robust() -> dict[str, ScoreMatrix]:
    path = real_data("trec-score-matrices/named/robust2004_ap.csv")
    matrix = assay.read_scores(path)[0]
    ranges = ["trec6=301-350", "trec7=351-400", "trec8=401-450", "robust03=601-650", "robust04=651-700"]
    return split_topics(matrix, topic_ranges(ranges, matrix.topics))


def test_robust_2004_on_five_sets_of_topics() -> None:
    """What the how-to says: 110 systems, 5 sets of topics; neighbours cannot be told apart."""
    found = board(robust())
    assert found.data.topics == [50, 50, 50, 50, 49]
    assert found.data.systems[found.leading.order[0]] == "pircRB04td3"
    assert found.data.systems[found.standings["mean"].order[0]] == "pircRB04td2"
    assert found.leading.neighbours_apart <= 2
    assert found.agreed().sum() < 0.5 * 110 * 109 / 2
    group = len(found.leading.first_group)
    assert 10 <= group <= 30


def test_terabyte_2006_has_a_leader_on_which_all_aggregates_agree() -> None:
    matrix = assay.read_scores(real_data("trec-score-matrices/named/terabyte2006_ap.csv"))[0]
    parts = topic_ranges(["tb04=701-750", "tb05=751-800", "tb06=801-850"], matrix.topics)
    found = board(split_topics(matrix, parts))
    assert found.data.topics == [49, 50, 50]
    firsts = {found.data.systems[standing.order[0]] for standing in found.standings.values()}
    assert firsts == {"indri06AtdnD"}
    assert len(found.leading.first_group) == 7


def test_the_grid_of_points_on_two_collections() -> None:
    from assay.stats import read_grid

    folder = real_data("trec-grid-of-points")
    matrices = {name: read_grid(folder / f"{name}_ap.csv.xz", measure="AP")[0] for name in ("trec7", "trec8")}
    found = board(matrices, over="topics", resamples=200)
    assert len(found.data.systems) == 560
    assert isinstance(found.data, CommonSet)
    assert matrices["trec7"].averages().max() == pytest.approx(0.2334, abs=5e-5)
    # smart/krovetz/LGD and indri/krovetz/InexpB2 are the best by mean on one of them each
    assert len(found.leading.first_group) > 50
