"""Aggregates, all pairs and the common set against plain loops; chances of a false pair and coverage as statistics."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import assay
from assay.board import Board, board
from assay.board.aggregates import AGGREGATES, collection_cells, over_collections, win_shares
from assay.board.common_set import CommonSet, common_set, split_topics, topic_ranges
from assay.board.strata import Strata
from assay.board.told_apart import Comparisons, ends_on_like_these, on_like_these, on_these
from assay.core.arrays import Floats
from assay.core.errors import AssayError, DataError, UsageError
from assay.data import ScoreMatrix
from assay.rankings.fusion import ranks
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
    b = ScoreMatrix.of([[0.2, 0.2], [0.4, 0.4], [0.2, 0.2]], runs=["x", "y", "z"])
    standings = board({"a": a, "b": b}).standings
    assert standings["mean"].values == pytest.approx([0.4, 0.4, 0.2])
    assert standings["borda"].values == pytest.approx([2 + 0.5, 1 + 2, 0 + 0.5])
    assert standings["mean-rank"].values == pytest.approx([1.75, 1.5, 2.75])
    assert standings["wins"].values == pytest.approx([0.5, 0.75, 0.25])
    assert standings["mean"].ranks.tolist() == [1, 1, 3]


def condensed(found: Comparisons) -> dict[tuple[int, int], float]:
    """p of each pair."""
    systems = len(found.p)
    return {(i, j): float(found.p[i, j]) for i in range(systems) for j in range(i + 1, systems)}


@pytest.mark.parametrize("c", [3, 4, 5])
def test_pairs_on_like_collections_are_paired_t_with_holm_up_to_five(c: int) -> None:
    rng = np.random.default_rng(c)
    cells = rng.normal([0.9, 0.6, 0.55, 0.2, 0.2], 0.02, (c, 5))
    found = on_like_these(cells)
    assert condensed(found) == pytest.approx(oracle.paired_p(cells))
    assert f"paired t over {c} collections, Holm over 10 pairs" in found.how
    assert 0 < found.above.sum() < 10


def test_pairs_on_six_like_collections_are_max_t_by_every_flip() -> None:
    rng = np.random.default_rng(6)
    cells = rng.normal([0.9, 0.6, 0.55, 0.2], 0.05, (6, 4))
    cells[:, 2] = cells[:, 1] - 0.01  # a constant difference
    found = on_like_these(cells)
    assert condensed(found) == pytest.approx(oracle.flipped_p(cells))
    assert "flips of 6 collections, all 64" in found.how


def test_pairs_on_these_collections_are_the_stratified_t_with_holm() -> None:
    rng = np.random.default_rng(7)
    blocks = [rng.normal([[0.5], [0.45], [0.3], [0.3]], 0.15, (4, n)) for n in (8, 30, 15)]
    found = on_these(Strata(blocks, None))
    assert condensed(found) == pytest.approx(oracle.stratified_p(blocks))
    assert found.rank_low.tolist() == (1 + found.above.sum(axis=0)).tolist()
    assert found.rank_high.tolist() == (4 - found.above.sum(axis=1)).tolist()


def test_golden_values_of_few_collections() -> None:
    """All six differences of one sign: 2 of 64 flips. d = .10, .12, .11: t 19.05, df 2, p .0027, .027 of ten pairs."""
    rng = np.random.default_rng(0)
    six = np.abs(rng.normal(0.1, 0.05, 6))
    assert (six > 0).all()
    assert on_like_these(np.array([six, np.zeros(6)]).T).p[0, 1] == 2 / 64 == 0.03125
    assert on_like_these(np.array([six, np.zeros(6)]).T, ranks=True).p[0, 1] == 0.03125
    d = np.array([0.10, 0.12, 0.11])
    assert stats.ttest_1samp(d, 0).statistic == pytest.approx(19.05, abs=0.005)
    assert on_like_these(np.array([d, np.zeros(3)]).T).p[0, 1] == pytest.approx(0.0027, abs=5e-5)
    noise = rng.normal(0, 0.5, (3, 3))
    of_ten = on_like_these(np.column_stack([d, np.zeros(3), noise]))
    assert of_ten.p[0, 1] == pytest.approx(0.027, abs=5e-4)


def test_two_collections_and_ranks_on_five_show_nothing() -> None:
    rng = np.random.default_rng(8)
    cells = rng.normal([0.9, 0.1], 0.001, (5, 2))
    for found in (on_like_these(cells[:2]), on_like_these(cells, ranks=True)):
        assert not found.decided
        assert not found.above.any()
        assert np.isnan(found.p).all()
    assert on_like_these(cells).above.sum() == 1


def test_two_collections_of_one_topic_each_have_no_leader() -> None:
    """They had: "significantly better than all others"."""
    one = {name: ScoreMatrix.of([[0.9], [0.5], [0.1]], measure="AP") for name in ("a", "b")}
    made_of_one = board(one)
    assert "which says nothing of collections like these" in made_of_one.verdict
    assert made_of_one.table().column("letters") == [None, None, None]
    assert made_of_one.table().column("rank_low") == [None, None, None]


def test_a_collection_of_one_topic_does_not_enter() -> None:
    collections = {**made(3, 3), "single": ScoreMatrix.of([[0.9], [0.5], [0.1]], measure="P@10")}
    found = board(collections)
    assert found.data.collections == ("c0", "c1", "c2")
    assert "left out are the collections with a single topic (single)" in found.table().notes
    with pytest.raises(DataError, match=r"1 collection has more than one topic \(single: one\); a board needs two"):
        board({"c0": collections["c0"], "single": collections["single"]})


def test_topics_that_hardly_differ_have_the_dirichlet_bound() -> None:
    """Two topics of two collections, all +1: t would say p < .0001; 4 atoms of one sign say 2/16."""
    alike = Strata([np.array([[1.0, 1.0], [0.0, 0.0]])] * 2, (0.0, 1.0))
    assert on_these(alike).p[0, 1] == pytest.approx(2 / 16)
    low, high = alike.ends(0.95)
    assert low[0] == pytest.approx(0.025**0.25)
    assert (high[0], low[1]) == (1.0, 0.0)
    assert on_these(Strata(alike.blocks, None)).p[0, 1] == 1.0
    rng = np.random.default_rng(0)
    sparse = np.zeros((2, 50))
    sparse[0, :12] = 1.0
    wide = Strata([sparse, rng.permuted(sparse, axis=1)], (0.0, 1.0))
    assert on_these(wide).p[0, 1] == pytest.approx(oracle.stratified_p(wide.blocks)[0, 1])


FALSE_PAIRS = [(c, spread) for c in (3, 4, 6) for spread in ("equal", "uneven")]


@pytest.mark.parametrize(("c", "spread"), FALSE_PAIRS)
def test_twenty_equal_systems_on_few_collections_are_seldom_told_apart(c: int, spread: str) -> None:
    """Chance of a false pair, nominal .05, 150 repeats (sd .018): by the bootstrap .22 to .79."""
    rng = np.random.default_rng(10 * c + len(spread))
    sd = np.where(np.arange(20) < 5, 3.0 if spread == "uneven" else 1.0, 1.0)
    wrong = dict.fromkeys(("mean", "wins", "ranks"), 0)
    for _ in range(150):
        blocks = [rng.normal(0, 0.1, 10) + rng.normal(0, 0.04, 20)[:, None] * sd[:, None] for _ in range(c)]
        blocks = [block + rng.normal(0, 0.15, (20, 10)) * sd[:, None] for block in blocks]
        means = np.array([block.mean(axis=1) for block in blocks])
        wins = np.array([win_shares(block.T).mean(axis=0) for block in blocks])
        wrong["mean"] += bool(on_like_these(means).above.any())
        wrong["wins"] += bool(on_like_these(wins).above.any())
        wrong["ranks"] += bool(on_like_these(-ranks(means), ranks=True).above.any())
    assert max(wrong.values()) / 150 <= 0.05 + 2.6 * 0.018
    assert c == 6 or wrong["ranks"] == 0


@pytest.mark.parametrize("kind", ["normal", "success"])
def test_equal_systems_on_these_collections_are_seldom_told_apart(kind: str) -> None:
    rng = np.random.default_rng(len(kind))
    wrong = 0
    for _ in range(150):
        blocks = []
        for n in (10, 12, 10, 15):
            own = rng.random(n)
            successes = (rng.random((20, n)) < own).astype(np.float64)
            blocks.append(own + rng.normal(0, 0.1, (20, n)) if kind == "normal" else successes)
        wrong += bool(on_these(Strata(blocks, (0.0, 1.0) if kind == "success" else None)).above.any())
    assert wrong / 150 <= 0.05 + 2.6 * 0.018


@pytest.mark.parametrize(("over", "count"), [("collections", 4), ("collections", 6), ("topics", 4)])
def test_real_scores_permuted_within_topics_are_seldom_told_apart(over: str, count: int) -> None:
    """The systems of six TREC collections, their scores exchanged on every topic: 60 repeats, sd .028."""
    names = ("adhoc6", "adhoc7", "adhoc8", "web2010", "web2011", "web2012")[:count]
    paths = [real_data(f"trec-score-matrices/anonymous/{name}_ap.csv") for name in names]
    real = [assay.read_scores(path, transpose=True)[0].values for path in paths]
    rng = np.random.default_rng(count)
    wrong = dict.fromkeys(AGGREGATES, 0)
    for _ in range(60):
        collections = {}
        for at, values in enumerate(real):
            better_half = values[np.argsort(-values.mean(axis=1))[: len(values) // 2]]
            chosen = better_half[rng.choice(len(better_half), 10, replace=False)][:, :50]
            collections[f"c{at}"] = ScoreMatrix.of(rng.permuted(chosen, axis=0), measure="AP")
        for name, standing in board(collections, over=over).standings.items():
            wrong[name] += bool(standing.pairs.above.any())
    assert max(wrong.values()) / 60 <= 0.05 + 2.6 * 0.028


def test_a_system_and_its_copy_share_rank_letters_and_interval() -> None:
    twins = {}
    for name, matrix in made(4, 8, 20).items():
        values = np.vstack([matrix.values, matrix.values[:1]])
        twins[name] = ScoreMatrix.of(values, runs=[*matrix.runs, "copy"], measure="P@10")
    table = board(twins).table()
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
    """95 % intervals of the mean of 12 collections, and of 4; rank intervals hold for all systems at once."""
    truth = np.array([0.5, 0.47, 0.47, 0.42, 0.3])
    wanted = np.array([1, 2, 2, 4, 5])
    rng = np.random.default_rng(0)
    trials = 150
    for collections in (12, 4):
        covered, held = 0, 0
        for trial in range(trials):
            blocks = [matrix.values for matrix in simulated(rng, truth, collections, 20).values()]
            cells = np.array([block.mean(axis=1) for block in blocks])
            low, high = ends_on_like_these(cells, None, 0.95)
            covered += int(((low <= truth) & (truth <= high)).sum())
            pairs = on_like_these(cells, resamples=199, seed=trial)
            # of two equal systems either may be second
            held += bool(((pairs.rank_low <= wanted) & (wanted + (wanted == 2) <= pairs.rank_high)).all())
        assert 0.92 <= covered / (trials * len(truth)) <= 0.98
        assert held / trials >= 0.93


def test_intervals_on_these_collections_cover_their_means() -> None:
    rng = np.random.default_rng(1)
    truth = np.array([[0.5, 0.3], [0.2, 0.4], [0.6, 0.6]])
    covered = 0
    for _ in range(300):
        blocks = [rng.normal(truth[:, [c]], 0.2, (3, n)) for c, n in enumerate((8, 20))]
        low, high = Strata(blocks, None).ends(0.95)
        covered += int(((low <= truth.mean(axis=1)) & (truth.mean(axis=1) <= high)).sum())
    assert 0.93 <= covered / 900 <= 0.97


def test_missing_cells_are_counted_and_never_zero() -> None:
    collections = made(4, 3)
    collections["c1"] = collections["c1"].select(runs=["run1", "run2", "run4"])
    found = board(collections)
    assert found.data.missing == 1
    assert found.data.systems == ("run1", "run2", "run4")
    row = next(row for row in found.table().rows if row[0] == "run3")
    assert row[1:-1] == (None,) * (len(row) - 2)
    assert row[-1] == 2
    assert "1 of 12 cells are missing: 1 systems that are not on all collections have no rank" in found.table().notes
    other = board(collections, common="collections")
    assert other.data.collections == ("c0", "c2")
    assert len(other.data.systems) == 4
    assert any("left out are the collections that lack a system (c1)" in note for note in other.table().notes)


def test_only_means_have_collections_as_their_sample() -> None:
    means = {f"c{i}": ScoreMatrix.of([[0.1 * i], [0.2], [0.3]], topics=["mean"]) for i in range(8)}
    found = board(means)
    assert found.leading.pairs.decided
    with pytest.raises(UsageError, match="there is no sample of topics; take collections"):
        board(means, over="topics")


def test_the_conclusions_say_what_all_aggregates_agree_on() -> None:
    found = board(made(6, 8, 25))
    agreed = found.agreed()
    for standing in found.standings.values():
        assert not (agreed & ~standing.pairs.above).any()
    last = found.conclusions().rows[-1]
    assert last[0] == "all of them"
    assert last[3] == int(agreed.sum())
    assert last[2] == len(found.common_group())
    assert found.record()["verdict"] == found.verdict


def test_the_same_seed_gives_the_same_board_whatever_the_order_of_systems() -> None:
    first = board(made(), seed=4)
    again = assay.board(made(), seed=4)
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
        board({"a": a, "b": ScoreMatrix.of([[0.1, 0.2], [0.2, 0.1]], runs=["x", "y"], measure="AP")})
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
    found = board(robust(), over="topics")
    assert found.data.topics == [50, 50, 50, 50, 49]
    assert found.data.systems[found.leading.order[0]] == "pircRB04td3"
    assert found.data.systems[found.standings["mean"].order[0]] == "pircRB04td2"
    assert found.leading.neighbours_apart <= 2
    assert int(found.agreed().sum()) == 3434
    assert len(found.leading.first_group) == 4
    of_others = board(robust())
    assert len(of_others.leading.first_group) == 106
    assert of_others.standings["borda"].pairs.decided is False


def test_terabyte_2006_has_a_leader_on_which_all_aggregates_agree() -> None:
    matrix = assay.read_scores(real_data("trec-score-matrices/named/terabyte2006_ap.csv"))[0]
    parts = topic_ranges(["tb04=701-750", "tb05=751-800", "tb06=801-850"], matrix.topics)
    found = board(split_topics(matrix, parts), over="topics")
    assert found.data.topics == [49, 50, 50]
    firsts = {found.data.systems[standing.order[0]] for standing in found.standings.values()}
    assert firsts == {"indri06AtdnD"}
    assert len(found.leading.first_group) == 4


def test_the_grid_of_points_on_two_collections() -> None:
    from assay.stats import read_grid

    folder = real_data("trec-grid-of-points")
    matrices = {name: read_grid(folder / f"{name}_ap.csv.xz", measure="AP")[0] for name in ("trec7", "trec8")}
    found = board(matrices, over="topics")
    assert len(found.data.systems) == 560
    assert isinstance(found.data, CommonSet)
    assert matrices["trec7"].averages().max() == pytest.approx(0.2334, abs=5e-5)
    # smart/krovetz/LGD and indri/krovetz/InexpB2 are the best by mean on one of them each
    assert len(found.leading.first_group) > 50
