"""Δ, tests and intervals by user: by hand, against scipy and statsmodels, and as statistics."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binomtest

from assay.core.errors import AssayError, DataError
from assay.data.impressions import Impressions
from assay.interleaving import interleave, interleave_pairs
from assay.interleaving.analysis import sign_p
from assay.io.impressions import read_impressions

LOG = [("ann", "new"), ("ann", "new"), ("bob", "old"), ("bob", "new"), ("cy", "new"), ("cy", "tie")]


def drawn(rng: np.random.Generator, users: int, mean: float, spread: float) -> list[tuple[str, str]]:
    """A log of users whose own preferences vary around a mean, with 1 to 8 impressions each and some ties."""
    log = []
    for user in range(users):
        chance = np.clip(0.5 + mean + rng.normal(0, spread), 0.02, 0.98)
        for _ in range(rng.integers(1, 9)):
            winner = "tie" if rng.random() < 0.2 else ("new" if rng.random() < chance else "old")
            log.append((f"u{user}", winner))
    return log


def test_counts_and_delta_by_hand() -> None:
    """4 wins, 1 loss, 1 tie of 6. Users' own Δ are ½, 0, ¼: their mean is ¼ with error .25/√3 = √3/12."""
    found = interleave(LOG)
    one = found.preferences[0]
    assert (one.system, one.baseline, one.wins, one.losses, one.ties, one.users) == ("new", "old", 4, 1, 1, 3)
    assert one.delta == 0.25
    assert one.error == pytest.approx(np.sqrt(3) / 12)
    assert one.p_users == pytest.approx(0.5)  # two users prefer new, one neither
    turned = interleave(LOG, baseline="new").preferences[0]
    assert (turned.delta, turned.wins) == (-0.25, 1)
    assert turned.p == one.p
    assert "new and old are not significantly different" in found.verdict


def log_of_users(counts: list[int], sums: list[int]) -> list[tuple[str, str]]:
    """Users with so many impressions and so many more wins than losses."""
    log = []
    for user, (count, lead) in enumerate(zip(counts, sums, strict=True)):
        wins = [("new" if lead > 0 else "old")] * abs(lead)
        log += [(f"u{user}", winner) for winner in wins + ["tie"] * (count - abs(lead))]
    return log


def test_both_means_have_the_printed_values() -> None:
    """Golden values of sums +1 and −1, so Δ is half of them."""
    log = log_of_users([40, 6, 5, 3, 2, 1], [10, 2, -1, 3, 0, 1])
    users = interleave(log).preferences[0]
    assert [2 * users.delta, 2 * users.error] == pytest.approx([0.397222, 0.205499], abs=6e-7)
    items = interleave(log, method="impressions")
    one = items.preferences[0]
    assert [2 * one.delta, 2 * one.error] == pytest.approx([0.263158, 0.0632628], abs=6e-7)
    assert one.method == "Dirichlet bound"  # two of the six users have the same mean
    assert "one user makes 70 % of the log" in items.verdict


def test_equal_users_make_both_means_one() -> None:
    rng = np.random.default_rng(0)
    log = [(f"u{u}", "new" if rng.random() < 0.6 else "old") for u in range(30) for _ in range(5)]
    users, items = (interleave(log, method=method).preferences[0] for method in ("users", "impressions"))
    assert [users.delta, users.error, users.p] == pytest.approx([items.delta, items.error, items.p], rel=1e-6)


def busy(rng: np.random.Generator, users: int, shape: float = 1.2) -> list[tuple[str, str]]:
    """Users who lean one way or the other, without a preference in all; some are far busier than others."""
    log = []
    for user in range(users):
        chance = rng.beta(3, 3)
        count = min(5000, 1 + int(rng.pareto(shape)))
        log += [(f"u{user}", "new" if won else "old") for won in rng.random(count) < chance]
    return log


def test_a_busy_user_makes_no_preference() -> None:
    """Type I .12–.17 by the usual cluster t (spec of clusters, §6); both means here hold theirs."""
    rng = np.random.default_rng(3)
    trials, wrong = 250, {"users": 0, "impressions": 0}
    for _ in range(trials):
        log = busy(rng, 25)
        for method in wrong:
            one = interleave(log, method=method).preferences[0]
            wrong[method] += one.p is not None and one.p < 0.05
    most = 0.05 + 2.6 * np.sqrt(0.05 * 0.95 / trials)
    assert wrong["users"] / trials <= most
    assert wrong["impressions"] / trials <= most + 0.02  # CR2 is up to .07 there


def test_intervals_over_users_cover() -> None:
    rng = np.random.default_rng(4)
    trials = 250
    covered = 0
    for _ in range(trials):
        one = interleave(drawn(rng, 40, 0.0, 0.35)).preferences[0]
        assert one.low is not None
        assert one.high is not None
        covered += one.low <= 0 <= one.high
    assert covered / trials >= 0.95 - 2.6 * np.sqrt(0.05 * 0.95 / trials)


def test_users_who_are_nearly_all_alike_get_the_bound() -> None:
    log = [(f"u{i}", "new") for i in range(3)] + [("u9", "old"), ("u9", "new")]
    one = interleave(log).preferences[0]
    assert one.method == "Dirichlet bound"
    assert one.low is not None
    assert one.p is not None
    assert one.low < 0 < one.p
    items = interleave(log, method="impressions").preferences[0]
    assert items.low is not None
    assert items.high is not None
    assert -0.5 < items.low < items.delta < items.high <= 0.5


def test_looking_at_any_time() -> None:
    rng = np.random.default_rng(5)
    log = drawn(rng, 200, 0.2, 0.2)
    fixed, always = (interleave(log, method=m).preferences[0] for m in ("users", "always(users=200)"))
    assert fixed.low is not None
    assert always.low is not None
    assert always.low < fixed.low
    assert always.delta == fixed.delta
    with pytest.raises(DataError, match="at least 30"):
        interleave(log[:20], method="always")


@pytest.mark.parametrize(("wins", "losses"), [(0, 0), (1, 0), (8, 2), (5, 5), (60, 41), (0, 13)])
def test_the_sign_test_is_that_of_scipy(wins: int, losses: int) -> None:
    expected = binomtest(wins, wins + losses).pvalue if wins + losses else 1.0
    assert sign_p(wins, losses) == pytest.approx(expected)


def test_pairs_of_a_multileaved_log() -> None:
    rows = [(f"u{i % 10}", str(i), {"a": 2 if i % 3 else 0, "b": 1, "c": 0}) for i in range(60)]
    rows += [("u1", "only a", {"a": 1})]
    found = interleave_pairs(Impressions.from_rows(rows))
    table = found.table()
    assert list(zip(table.column("system"), table.column("baseline"), strict=True)) == [
        ("a", "b"),
        ("a", "c"),
        ("b", "c"),
    ]
    assert table.column("impressions") == [60, 60, 60]  # one has a alone
    assert table.column("wins") == [40, 40, 60]
    assert table.column("ties") == [0, 20, 0]
    assert found.corrected_p[0] is not None
    assert found.preferences[2].p == pytest.approx(2 * 2.0**-10)  # b always beats c: each of ten users
    assert found.corrected_p[2] == pytest.approx(3 * 2 * 2.0**-10)  # the smallest of three p
    assert found.figure().name == "preference-intervals"


def test_logs_in_three_forms_are_the_same(tmp_path: Path) -> None:
    winners = tmp_path / "winners.csv"
    winners.write_text("user,query,winner\n" + "".join(f"{u},q,{w}\n" for u, w in LOG))
    clicks = tmp_path / "clicks.tsv"
    credit = {"new": "2\t1", "old": "0\t1", "tie": "1\t1"}
    clicks.write_text("user\tclicks_new\tclicks_old\n" + "".join(f"{u}\t{credit[w]}\n" for u, w in LOG))
    teams = tmp_path / "teams.csv"
    lines = ["user,impression,rank,team,clicked"]
    for i, (user, winner) in enumerate(LOG):
        lines += [
            f"{user},{i},1,,1",
            f"{user},{i},2,new,{int(winner != 'old')}",
            f"{user},{i},3,old,{int(winner != 'new')}",
        ]
    teams.write_text("\n".join(lines) + "\n")
    expected = interleave(LOG).table()
    for path in (winners, clicks, teams):
        assert interleave(path).table() == expected


def test_impressions_without_clicks_are_left_out_or_ties(tmp_path: Path) -> None:
    path = tmp_path / "clicks.csv"
    path.write_text("user,clicks_a,clicks_b\nx,1,0\nx,0,0\ny,0,1\nz,1,0\n")
    found = interleave(path)
    assert (found.preferences[0].n, found.dropped) == (3, 1)
    assert "1 impression without a credited click left out" in found.table().notes
    assert interleave(path, no_clicks="tie").preferences[0].ties == 1
    nameless = interleave([(None, "a"), (None, "b"), (None, "a")])
    assert nameless.preferences[0].users == 3
    assert "the log names no users: every impression counts as one of a user of its own" in nameless.table().notes


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("user,winner\nx,a\nx,b\n", "1 user; an interval by user needs at least two"),
        ("user,winner\nx,a\ny,a\n", r"1 systems win \(a\); interleaving compares two"),
        ("user,winner\nx,a\ny,b\nz,c\n", r"3 systems win \(a, b, c\)"),
        ("user,winner\n,a\ny,b\n", "the user is empty"),
        ("user,clicks_a,clicks_b\nx,0,0\n", "no impression has a click that was credited"),
        ("user,clicks_a,clicks_b\nx,-1,0\n", "-1 clicks; clicks are 0 or more"),
        ("user,clicks_a,clicks_b\nx,many,0\n", "clicks_a is not a number"),
        ("user,impression,team,clicked\nx,1,a,1\ny,1,b,0\n", "impression '1' has two users, 'x' and 'y'"),
        ("user,impression,team,clicked\nx,1,a,1\n", "1 system; interleaving compares two or more"),
        ("user,score\nx,1\n", "a log of impressions has a column winner"),
    ],
)
def test_bad_logs_are_one_clear_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "log.csv"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        interleave(read_impressions(path))


def test_bad_requests_are_one_clear_line() -> None:
    three = Impressions.from_rows([("x", "1", {"a": 1, "b": 0}), ("y", "2", {"c": 1, "b": 0})])
    for log, how, message in (
        (LOG, {"baseline": "odl"}, "no system 'odl'"),
        (LOG, {"system": "new"}, "against which"),
        (LOG, {"system": "new", "baseline": "new"}, "compared with itself"),
        (LOG, {"method": "exact"}, "no method 'exact'"),
        (LOG, {"no_clicks": "keep"}, "no_clicks"),
        (LOG, {"level": 2.0}, "level must lie between 0 and 1"),
        (three, {}, "3 systems; name two with --system and --baseline"),
        (three, {"system": "a", "baseline": "c"}, "no impression shows both 'a' and 'c'"),
        (7, {}, "int where impressions are expected"),
        ([], {}, "0 systems win"),
    ):
        with pytest.raises(AssayError, match=message):
            interleave(log, **how)
    with pytest.raises(DataError, match="impression '2' has no user, and others have"):
        Impressions.from_rows([("x", "1", {"a": 1, "b": 0}), (None, "2", {"a": 1, "b": 0})])
