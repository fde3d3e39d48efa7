from __future__ import annotations

import csv
import lzma
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from assay.core.errors import DataError, UsageError
from assay.rankings.rank_biased import (
    RBO,
    Ranking,
    parse_ranking,
    persistence_for,
    prefix_weight,
    rank_weight,
    rbd,
    rbo,
    rbo_cut_off,
    rbo_ext,
    rbo_of_scores,
    residual_range,
)
from assay.similarity.overlap import average_overlap, kendall_top_k, overlap
from tests.oracles import similarity as plain

relaxed = settings(deadline=None, max_examples=80)

# Webber 2010, Fig. 7.1: the first ten of a full evaluation and of two pruned ones.
A, B, C = (
    text.split()
    for text in (
        "FBIS4-13392 FT931-12892 FT921-11935 FT933-7566 FT924-12615 FBIS4-59400 FT943-14288 FT941-373 FT923-12606 "
        "FBIS4-11824",
        "FBIS4-13392 FT931-12892 FT923-12606 FBIS4-11824 FBIS4-38863 FBIS4-46500 FBIS4-39925 FBIS4-46560 FBIS4-61085 "
        "FBIS3-55156",
        "FBIS4-13392 FT931-12892 FT921-11935 FT933-7566 FT943-14288 FT923-12606 FBIS4-11824 FBIS4-38863 FT942-2178 "
        "FBIS4-46500",
    )
)


def lists(low: int = 1, high: int = 8) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from("abcdefghijkl"), min_size=low, max_size=high, unique=True)


persistences = st.sampled_from([0.3, 0.5, 0.8, 0.9, 0.98])


# --- figures of the literature


def test_all_values_of_corsi_and_urbano_2024(data: Callable[[str], Path]) -> None:
    """5,000 pairs of rankings with ties × 12 values (data of The Treatment of Ties in Rank-Biased Overlap)."""
    with lzma.open(data("rbo-ties/rbo-expected.csv.xz"), "rt") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 5000
    worst = 0.0
    for row in rows:
        x, y, p = parse_ranking(row["x"]), parse_ranking(row["y"]), float(row["p"])
        for form in "wab":
            found = rbo(x, y, p, ties=form)
            worst = max(worst, *(abs(getattr(found, s) - float(row[f"{form}.{s}"])) for s in SCORES))
    assert worst < 1e-9


SCORES = ("ext", "min", "max", "res")


@pytest.mark.parametrize(
    ("a", "b", "p", "low", "res", "high", "ext"),
    [
        # The lists of Fig. 7.1, 7.4 and 7.2 and an uneven pair; Webber 2010's Eq. 7.11, 7.14, 7.23, 7.30 and 7.32.
        (A, B, 0.8, 0.629098, 0.055994, 0.685092, 0.641484),
        (A, B, 0.9, 0.465070, 0.228990, 0.694059, 0.522836),
        (A, B, 0.98, 0.192833, 0.701616, 0.894449, 0.423796),
        (A, C, 0.8, 0.857936, 0.048552, 0.906488, 0.879612),
        (A, C, 0.9, 0.702410, 0.196739, 0.899149, 0.803500),
        (A, C, 0.98, 0.318731, 0.645000, 0.963732, 0.722915),
        (B, C, 0.9, 0.566199, 0.209208, 0.775407, 0.652847),
        ("abd", "cbe", 0.9, 0.155843, 0.626932, 0.782775, 0.315),
        ("abd", "cbe", 0.5, 0.193147, 0.082894, 0.276042, 0.208333),
        ("abcdefg", "zcavwxy", 0.8, 0.244719, 0.131645, 0.376364, 0.266045),
        ("abcdefg", "zcavwxy", 0.9, 0.221686, 0.358990, 0.580676, 0.288217),
        ("abcdefg", "zcavwxy", 0.98, 0.100074, 0.789562, 0.889636, 0.288720),
        ("abcdefg", "bzaqc", 0.9, 0.332303, 0.392157, 0.724460, 0.529110),
        ("abcdefg", "bzaqc", 0.8, 0.378812, 0.172486, 0.551297, 0.462293),
    ],
)
def test_lists_of_webber_2010(
    a: str | list[str], b: str | list[str], p: float, low: float, res: float, high: float, ext: float
) -> None:
    found = rbo(list(a), list(b), p)
    assert (found.min, found.res, found.max, found.ext) == pytest.approx((low, res, high, ext), abs=1.01e-6)


def test_overlap_and_kendall_of_the_lists_of_fig_7_1() -> None:
    assert [average_overlap(x, y) for x, y in ((A, B), (A, C), (B, C))] == pytest.approx(
        [0.516905, 0.817262, 0.641865], abs=1e-6
    )
    assert [kendall_top_k(x, y) for x, y in ((A, B), (A, C), (B, C))] == pytest.approx([0.04, 0.66, 0.42], abs=1e-9)


def test_overlaps_of_the_lists_of_fig_7_1_depth_by_depth() -> None:
    found = [[round(k * overlap(x, y, k=k)) for k in range(1, 11)] for x, y in ((A, B), (A, C), (B, C))]
    assert found == [
        [1, 2, 2, 2, 2, 2, 2, 2, 3, 4],
        [1, 2, 3, 4, 4, 4, 5, 5, 6, 7],
        [1, 2, 2, 2, 2, 3, 4, 5, 5, 6],
    ]


def test_agreements_of_fig_7_4() -> None:
    """⟨a, b, d⟩ and ⟨c, b, e⟩: the least and the most that depths 1 to 6 can agree; full agreement from depth 5 on."""
    a, b = list("abd"), list("cbe")
    low, high = plain.worst_continuation(a, b, 6), plain.best_continuation(a, b, 6)
    assert [overlap(*low, k=k) for k in range(1, 7)] == pytest.approx([0, 1 / 2, 1 / 3, 1 / 4, 1 / 5, 1 / 6])
    assert [overlap(*high, k=k) for k in range(1, 7)] == pytest.approx([0, 1 / 2, 1 / 3, 3 / 4, 1, 1])


def test_fig_7_4_cut_off_sum_and_its_name() -> None:
    assert rbo_cut_off(list("abd"), list("cbe"), 0.9, k=3) == pytest.approx(0.072, abs=1e-9)
    assert rbo_cut_off(list("abd"), list("cbe"), 0.5, k=3) == pytest.approx(0.166667, abs=1e-6)
    assert rbo_cut_off(A, A, 0.9, k=10) == pytest.approx(1 - 0.9**10)
    assert rbo_ext(A, A, 0.9) == pytest.approx(1)


def test_residuals_at_depth_ten() -> None:
    smallest, largest = residual_range(0.9, 10)
    assert (round(smallest, 3), round(largest, 3)) == (0.144, 0.254)
    assert (smallest, largest) == pytest.approx((0.144415, 0.254442), abs=1e-6)
    assert rbo(A, A, 0.9).res == pytest.approx(smallest)
    assert rbo(A, [f"x{i}" for i in range(10)], 0.9).res == pytest.approx(largest)


def test_identical_lists_of_seven() -> None:
    found = rbo(list("abcdefg"), list("abcdefg"), 0.9)
    assert round(found.min, 3) == 0.767
    assert found.min == pytest.approx(0.767139, abs=1e-6)
    assert found.min == pytest.approx(prefix_weight(0.9, 7))
    assert found.ext == pytest.approx(1)


@pytest.mark.parametrize(
    ("p", "depths", "weights"),
    [
        (0.5, (1, 2, 5, 10), (0.6931, 0.8863, 0.9918, 0.9998)),
        (0.8, (1, 2, 5, 10), (0.4024, 0.6047, 0.8609, 0.9690)),
        (0.9, (1, 2, 5, 10, 20, 50), (0.2558, 0.4117, 0.6720, 0.8556, 0.9656, 0.9992)),
        (0.95, (1, 2, 5, 10, 20, 50), (0.1577, 0.2653, 0.4763, 0.6724, 0.8534, 0.9813)),
        (0.98, (1, 2, 5, 10, 20, 50, 100), (0.0798, 0.1397, 0.2723, 0.4226, 0.6096, 0.8522, 0.9631)),
    ],
)
def test_weight_of_prefixes(p: float, depths: tuple[int, ...], weights: tuple[float, ...]) -> None:
    assert tuple(round(prefix_weight(p, d), 4) for d in depths) == weights


def test_weight_of_prefixes_as_printed_and_to_more_digits() -> None:
    assert round(prefix_weight(0.9, 10), 2) == 0.86
    assert prefix_weight(0.9, 10) == pytest.approx(0.855585, abs=1e-6)
    # Webber 2010 calls W(1:50) at .98 "the same" 86 %; its formula gives 85 %.
    assert prefix_weight(0.98, 50) == pytest.approx(0.852234, abs=1e-6)
    assert sum(rank_weight(0.9, d) for d in range(1, 11)) == pytest.approx(prefix_weight(0.9, 10))
    assert rank_weight(0.9, 3) == pytest.approx(0.1 / 0.9 * sum(0.9**i / i for i in range(3, 2000)))


@pytest.mark.parametrize(
    ("depth", "p"), [(13, 0.9493), (11, 0.9401), (8, 0.9177), (6, 0.8905), (3, 0.7840)]
)  # TREC-8, Robust 2004, Terabyte 2006 with manual runs, Terabyte 2006, Web 2014: the top 10 % of the runs
def test_p_for_three_quarters_of_the_weight(depth: int, p: float) -> None:
    assert round(persistence_for(depth, 0.75), 4) == p
    assert prefix_weight(persistence_for(depth, 0.75), depth) == pytest.approx(0.75)


@pytest.mark.parametrize(("p", "depth"), [(0.5, 2), (0.8, 5), (0.9, 10), (0.95, 20), (0.97, 33.3)])
def test_expected_depth(p: float, depth: float) -> None:
    assert round(1 / (1 - p), 1) == depth


def test_tied_agreement_of_the_form_w() -> None:
    """S: a=1, b=c=2, d=4; T: b=1, a=c=2, d=4: agreements 0, 1, 1, 1 where plain counting would give 1.5 at depth 2."""
    s, t = parse_ranking("a (b c) d"), parse_ranking("b (a c) d")
    assert rbo_ext(s, t, 0.9, ties="w") == pytest.approx(0.9)


# --- what fails as a universal claim, and is kept as a counterexample


def test_ext_may_rise_with_a_disjoint_item_and_fall_with_a_conjoint_one() -> None:
    """Webber 2010, §7.3.6 claims monotone EXT when the shorter list grows; it holds only for the longer one."""
    assert rbo_ext(list("abc"), ["b"], 0.9) == pytest.approx(0.315)
    assert rbo_ext(list("abc"), ["b", "z"], 0.9) == pytest.approx(0.450)
    assert rbo_ext(list("abcd"), ["a"], 0.9) == pytest.approx(1.0)
    assert rbo_ext(list("abcd"), ["a", "c"], 0.9) == pytest.approx(0.759250)


def test_distance_is_no_metric_across_lengths() -> None:
    one, three, two = ["c"], ["c", "a", "e"], ["e", "b"]
    assert rbd(one, two) == pytest.approx(1.0)
    assert rbd(one, three) + rbd(three, two) == pytest.approx(0.73, abs=0.005)
    assert rbd(one, two) > rbd(one, three) + rbd(three, two)
    assert rbd(one, three) == pytest.approx(0)  # different lists: one is a prefix of the other
    assert 1 - rbo(one, one, 0.9).min > 0


# --- what holds


@relaxed
@given(lists(), lists(), persistences)
def test_ext_lies_between_the_bounds_and_is_symmetric(a: list[str], b: list[str], p: float) -> None:
    found, turned = rbo(a, b, p), rbo(b, a, p)
    assert -1e-12 <= found.min <= found.ext + 1e-12
    assert found.ext <= found.max + 1e-12 <= 1 + 2e-12
    assert (found.ext, found.min, found.max) == pytest.approx((turned.ext, turned.min, turned.max), abs=1e-12)


@relaxed
@given(lists(), lists(), persistences)
def test_ext_is_the_plain_loop(a: list[str], b: list[str], p: float) -> None:
    assert rbo_ext(a, b, p) == pytest.approx(plain.rbo_ext(a, b, p), abs=1e-12)


@relaxed
@given(lists(), lists(), st.sampled_from([0.3, 0.5, 0.7]))
def test_bounds_are_reached_by_the_worst_and_the_best_continuation(a: list[str], b: list[str], p: float) -> None:
    found = rbo(a, b, p)
    n = 130
    # Beyond n the worst continuation still holds X/d in common, the best one agrees fully.
    assert found.min == pytest.approx(plain.rbo_sum(*plain.worst_continuation(a, b, n), p), abs=1e-12)
    assert found.max == pytest.approx(plain.rbo_sum(*plain.best_continuation(a, b, n), p) + p**n, abs=1e-12)


@relaxed
@given(lists(2, 8), lists(2, 8), persistences)
def test_bounds_only_tighten_as_lists_grow(a: list[str], b: list[str], p: float) -> None:
    before, after = rbo(a[:-1], b, p), rbo(a, b, p)
    assert after.min >= before.min - 1e-12
    assert after.max <= before.max + 1e-12
    both = rbo(a[:-1], b[:-1], p)
    assert after.min >= both.min - 1e-12
    assert after.max <= both.max + 1e-12


@relaxed
@given(st.integers(2, 8).flatmap(lambda n: st.tuples(lists(n, n), lists(n, n))), persistences)
def test_on_even_lists_ext_moves_with_the_last_agreement(pair: tuple[list[str], list[str]], p: float) -> None:
    a, b = pair
    k = len(a)
    change = len(set(a) & set(b)) / k - len(set(a[:-1]) & set(b[:-1])) / (k - 1)
    moved = rbo_ext(a, b, p) - rbo_ext(a[:-1], b[:-1], p)
    assert moved * change >= -1e-12
    assert (abs(change) < 1e-12) == (abs(moved) < 1e-12)


@relaxed
@given(lists(3, 8), lists(1, 8), persistences)
def test_ext_moves_with_a_new_item_of_the_longer_list(long: list[str], short: list[str], p: float) -> None:
    assume(len(long) > len(short))
    moved = rbo_ext(long, short, p) - rbo_ext(long[:-1], short, p)
    assert moved >= -1e-12 if long[-1] in short else moved <= 1e-12


@relaxed
@given(st.integers(1, 6).flatmap(lambda n: st.tuples(lists(n, n), lists(n, n), lists(n, n))), persistences)
def test_triangle_inequality_among_lists_of_one_length(three: tuple[list[str], list[str], list[str]], p: float) -> None:
    a, b, c = three
    assert rbd(a, c, p) <= rbd(a, b, p) + rbd(b, c, p) + 1e-12
    low = {(i, j): 1 - rbo(three[i], three[j], p).min for i, j in ((0, 1), (1, 2), (0, 2))}
    assert low[0, 2] <= low[0, 1] + low[1, 2] + 1e-12


@relaxed
@given(lists(), lists(), persistences)
def test_the_three_tie_forms_are_one_without_ties(a: list[str], b: list[str], p: float) -> None:
    w, x, y = (rbo(a, b, p, ties=form) for form in "wab")
    assert (w.ext, w.min, w.max) == pytest.approx((x.ext, x.min, x.max), abs=1e-12)
    assert (w.ext, w.min, w.max) == pytest.approx((y.ext, y.min, y.max), abs=1e-12)


def test_the_form_a_is_the_mean_over_the_orders_of_the_ties() -> None:
    x = [3.0, 2.0, 2.0, 2.0, 1.0]
    y = [1.0, 5.0, 5.0, 2.0, 3.0]
    every = [rbo_ext(a, b, 0.9) for a in plain.orders(x) for b in plain.orders(y)]
    assert rbo_of_scores(x, y, p=0.9) == pytest.approx(np.mean(every), abs=1e-12)


def test_renaming_items_changes_nothing() -> None:
    renamed = {x: f"doc{i}" for i, x in enumerate("abcdefgz")}
    a, b = "abcdefg", "zcag"
    assert rbo([renamed[x] for x in a], [renamed[x] for x in b], 0.8) == rbo(list(a), list(b), 0.8)


def test_rankings_of_scores_choose_p_and_reverse() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.random(129), rng.random(129)
    assert rbo_of_scores(x, y) == rbo_of_scores(x, y, p=persistence_for(13, 0.75))
    assert rbo_of_scores(x, y, heavy="bottom", p=0.9) == pytest.approx(rbo_of_scores(-x, -y, p=0.9))
    assert rbo_of_scores(x, x) == pytest.approx(1)


def test_report_form() -> None:
    assert str(rbo(list("abd"), list("cbe"), 0.9)) == "0.3150 [0.1558 – 0.7828]"
    assert isinstance(rbo(["a"], ["a"]), RBO)


# --- bad input


@pytest.mark.parametrize("p", [0.0, 1.0, -0.1, 1.5, float("nan")])
def test_p_outside_its_range_is_refused(p: float) -> None:
    with pytest.raises(UsageError, match="strictly between 0 and 1"):
        rbo(["a"], ["a"], p)


def test_lists_with_duplicates_and_empty_lists_are_refused() -> None:
    with pytest.raises(DataError, match="'b' twice"):
        rbo(["a", "b", "b"], ["a"])
    with pytest.raises(DataError, match="'a' twice"):
        Ranking.of(["a", {"a", "c"}])
    with pytest.raises(DataError, match="empty"):
        rbo([], ["a"])
    with pytest.raises(UsageError, match="parse_ranking"):
        rbo("abc", ["a"])


def test_lists_of_one_item() -> None:
    same, other = rbo(["a"], ["a"], 0.9), rbo(["a"], ["b"], 0.9)
    assert (same.ext, same.max) == pytest.approx((1, 1))
    assert (other.ext, other.min) == (0, 0)


def test_unknown_forms_and_cuts_are_refused() -> None:
    with pytest.raises(UsageError, match="tie form 'c'"):
        rbo(["a"], ["a"], ties="c")
    with pytest.raises(UsageError, match="k must lie within both"):
        rbo_cut_off(["a"], ["a", "b"], k=2)
    with pytest.raises(UsageError, match="between 0 and 1"):
        persistence_for(10, 1.0)
    with pytest.raises(UsageError, match="at least one rank"):
        prefix_weight(0.9, 0)
    with pytest.raises(DataError, match="not a number"):
        Ranking.of_scores([1.0, float("nan")])
