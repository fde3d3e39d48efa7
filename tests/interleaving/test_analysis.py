"""Δ, tests and intervals by user: by hand, against scipy and statsmodels, and as statistics."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.stats import binomtest

from assay.core.errors import AssayError, DataError, UsageError
from assay.data.impressions import Impressions
from assay.interleaving import interleave, interleave_pairs
from assay.interleaving.analysis import cluster_error, sign_p
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
    """4 wins, 1 loss, 1 tie of 6: Δ = 4.5/6 − 1/2 = 1/4. Sums of the users' outcomes 2, 0, 1 with mean ½ per
    impression: residuals 1, −1, 0, so that the error is ½·√(3/2·2)/6 = √3/12."""
    found = interleave(LOG)
    one = found.preferences[0]
    assert (one.system, one.baseline, one.wins, one.losses, one.ties, one.users) == ("new", "old", 4, 1, 1, 3)
    assert one.delta == 0.25
    assert one.error == pytest.approx(np.sqrt(3) / 12)
    assert one.p_sign == pytest.approx(0.375)  # 2·(1 + 5)/2⁵
    assert one.p_users == pytest.approx(0.5)  # two users prefer new, one neither
    turned = interleave(LOG, baseline="new").preferences[0]
    assert (turned.delta, turned.wins) == (-0.25, 1)
    assert turned.p == one.p
    assert "new and old are not significantly different" in found.verdict


@pytest.mark.parametrize(("wins", "losses"), [(0, 0), (1, 0), (8, 2), (5, 5), (60, 41), (0, 13)])
def test_the_sign_test_is_that_of_scipy(wins: int, losses: int) -> None:
    expected = binomtest(wins, wins + losses).pvalue if wins + losses else 1.0
    assert sign_p(wins, losses) == pytest.approx(expected)


def test_the_error_is_that_of_statsmodels() -> None:
    log = drawn(np.random.default_rng(0), 30, 0.1, 0.2)
    values = np.array([{"new": 1.0, "tie": 0.5, "old": 0.0}[winner] for _, winner in log])
    groups = np.array([int(user[1:]) for user, _ in log])
    fitted = sm.OLS(values, np.ones(len(values))).fit(cov_type="cluster", cov_kwds={"groups": groups}, use_t=True)
    one = interleave(log, level=0.9).preferences[0]
    assert one.delta == pytest.approx(fitted.params[0] - 0.5)
    assert one.error == pytest.approx(fitted.bse[0])
    low, high = fitted.conf_int(0.1)[0]
    assert (one.low, one.high) == pytest.approx((low - 0.5, high - 0.5))


def test_the_bootstrap_draws_users_with_all_their_impressions() -> None:
    log = drawn(np.random.default_rng(1), 25, 0.05, 0.2)
    by_user: dict[str, list[float]] = {}
    for user, winner in log:
        by_user.setdefault(user, []).append({"new": 0.5, "tie": 0.0, "old": -0.5}[winner])
    rng = np.random.default_rng(2)
    names = list(by_user)
    plain = []
    for _ in range(3000):
        chosen = rng.choice(names, len(names))
        plain.append(np.mean([value for name in chosen for value in by_user[name]]))
    one = interleave(log, interval="bootstrap", resamples=3000).preferences[0]
    assert (one.low, one.high) == pytest.approx(np.quantile(plain, [0.025, 0.975]), abs=0.008)
    assert (
        interleave(log, interval="bootstrap").preferences[0].low
        == interleave(log, interval="bootstrap").preferences[0].low
    )


def test_intervals_by_user_cover_and_those_of_impressions_would_not() -> None:
    """40 users with preferences of their own: the interval by user holds 95 %, impressions as independent do not."""
    rng = np.random.default_rng(3)
    trials = 250
    covered = {"normal": 0, "bootstrap": 0}
    wrong = {"users": 0, "impressions": 0, "sign of users": 0}
    for _ in range(trials):
        log = drawn(rng, 40, 0.0, 0.35)
        for interval in covered:
            one = interleave(log, interval=interval, resamples=300).preferences[0]
            covered[interval] += one.low <= 0 <= one.high
        assert one.p is not None
        wrong["users"] += one.p < 0.05
        wrong["impressions"] += one.p_sign < 0.05
        wrong["sign of users"] += one.p_users < 0.05
    assert 0.91 <= covered["normal"] / trials <= 0.985
    assert 0.90 <= covered["bootstrap"] / trials <= 0.985
    assert wrong["users"] / trials <= 0.085
    assert wrong["sign of users"] / trials <= 0.085
    assert wrong["impressions"] / trials >= 0.12


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
    assert found.preferences[2].p is None  # b always beats c: users do not vary
    assert found.corrected_p[2] == pytest.approx(3 * 2 * 2**-10)  # all ten users, the smallest of three p
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
    assert "1 impressions without a credited click are left out" in found.table().notes
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
        (LOG, {"interval": "exact"}, "interval"),
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
    with pytest.raises(UsageError, match="resamples must be at least 1"):
        interleave(LOG, interval="bootstrap", resamples=0)
    assert cluster_error(np.array([1.0, 1.0]), np.array([1.0, 1.0])) == 0
