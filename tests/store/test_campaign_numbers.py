"""What an organiser sees of a campaign: progress, cost, agreement, the board, what comes next, whether to stop."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import assay
from assay.core.errors import DataError
from assay.data import Qrels, Run
from assay.store import Store
from assay.store.judging_campaign import JudgingCampaign

RUNS = {
    "good": {"1": ["r1", "r2", "n1", "n2"], "2": ["r3", "n3", "n4"]},
    "poor": {"1": ["n1", "n2", "r1"], "2": ["n3", "r3", "n5"]},
}


def truth(doc: str) -> int:
    return 2 if doc.startswith("r") else 0


@pytest.fixture
def campaign(store: Store) -> JudgingCampaign:
    store.collections.add("pets")
    for tag, lists in RUNS.items():
        store.runs.add("pets", Run.from_lists(tag, lists))
    for name in ("ann", "bob"):
        store.people.add(name)
    gold = {("1", "g"): 2.0}
    return store.campaigns.add("c", "pets", scale="no<maybe<yes", labels=2, price=0.5, gold=gold, gold_every=4)


def judge(campaign: JudgingCampaign, most: int = 1000) -> None:
    """Both judge; bob is wrong on doc n1."""
    for _ in range(most):
        asked = [(name, one) for name in ("ann", "bob") for one in campaign.next(name)]
        if not asked:
            return
        for name, one in asked:
            grade = 1 if (name, one.doc) == ("bob", "n1") else truth(one.doc)
            campaign.judge(name, one.item, grade, seconds=10 if name == "ann" else 20)


def test_before_anybody_judges(campaign: JudgingCampaign) -> None:
    progress = campaign.progress()
    assert (progress.items, progress.done, progress.answers, progress.left) == (8, 0, 0, 16)
    assert progress.cost_left == 8.0
    assert campaign.agreement() is None
    assert campaign.quality() is None
    assert campaign.checked() is None
    assert campaign.qrels().to_dict() == {"1": {"g": 2}}
    board = campaign.leaderboard("P@2")
    assert board.means.tolist() == [0.0, 0.0]
    assert board.high.tolist() == [1.0, 1.0]
    assert not campaign.stop_now().stop


def test_numbers_while_people_judge(campaign: JudgingCampaign) -> None:
    judge(campaign)
    progress = campaign.progress()
    assert (progress.items, progress.done, progress.left) == (8, 8, 0)
    assert {person.person: person.seconds for person in progress.people} == {"ann": 10.0, "bob": 20.0}
    golden = sum(given.doc == "g" for given in campaign.history())
    assert golden >= 1
    assert progress.answers == 16 + golden
    assert progress.cost == 0.5 * (16 + golden)
    labels = campaign.labels()
    assert labels.seconds is not None
    assert labels.gold is not None
    assert np.isfinite(labels.gold).sum() == golden
    result = campaign.agreement()
    assert result is not None
    ours = {row.measure: row.value for row in result.rows}
    theirs = assay.agreement(labels, scale=campaign.plan.scale_of_labels, per_topic=False)
    assert ours == {row.measure: row.value for row in theirs.rows}
    quality = campaign.quality()
    assert quality is not None
    assert set(quality.workers) == {"ann", "bob"}
    expected = {"1": {"r1": 2, "r2": 2, "n1": 0, "n2": 0, "g": 2}, "2": {"r3": 2, "n3": 0, "n4": 0, "n5": 0}}
    assert campaign.qrels().to_dict() == Qrels.from_dict(expected).to_dict()
    assert campaign.stop_now().stop
    assert campaign.stop_now().why == "every doc has all its labels"


def test_the_board_narrows_and_ends_at_the_scores(campaign: JudgingCampaign) -> None:
    widths = []
    for _ in range(6):
        board = campaign.leaderboard("P@2")
        widths.append(float((board.high - board.low).sum()))
        judge(campaign, 2)
    judge(campaign)
    assert widths == sorted(widths, reverse=True)
    assert widths[0] > widths[-1]
    board = campaign.leaderboard("P@2")
    final = assay.evaluate([Run.from_lists(tag, lists) for tag, lists in RUNS.items()], campaign.qrels(), "P@2")[0]
    assert board.means.tolist() == final.averages().tolist()
    assert board.low.tolist() == board.high.tolist()
    assert board.judged == board.pooled == 9


def test_what_comes_next_and_why(campaign: JudgingCampaign) -> None:
    docs = campaign.upcoming(3).docs
    expected = campaign.next("ann", 3)
    assert len(docs) == 3
    assert {(one.topic, one.doc) for one in expected if one.doc != "g"} <= {(one.topic, one.doc) for one in docs}
    for doc in docs:
        ranks = {tag: lists[doc.topic].index(doc.doc) + 1 for tag, lists in RUNS.items() if doc.doc in lists[doc.topic]}
        assert doc.runs == len(ranks)
        assert doc.best_rank == min(ranks.values())
        assert doc.best_run in ranks


def test_stop_says_how_sure_the_order_is(campaign: JudgingCampaign) -> None:
    before = campaign.stop_now()
    judge(campaign, 3)
    after = campaign.stop_now()
    assert before.pairs == after.pairs == 1
    assert 0 <= after.expected_swaps <= 0.5
    assert after.expected_tau == 1 - 2 * after.expected_swaps
    assert campaign.stop_now(level=0.5).decided == 1


def test_what_an_organiser_takes_out_is_read_by_other_commands(campaign: JudgingCampaign, tmp_path: Path) -> None:
    judge(campaign)
    assay.write(tmp_path / "labels.csv", campaign.labels())
    assay.write(tmp_path / "qrels.txt", campaign.qrels())
    labels = assay.read_labels(tmp_path / "labels.csv")
    assert len(labels) == len(campaign.labels())
    again = assay.aggregate(labels, "majority", scale="no<maybe<yes").qrels()
    assert again.to_dict().keys() == campaign.qrels().to_dict().keys()
    assert assay.read_qrels(tmp_path / "qrels.txt").to_dict() == campaign.qrels().to_dict()


def test_preference_campaigns_have_pairs_and_grades(store: Store) -> None:
    store.collections.add("pets")
    store.runs.add("pets", Run.from_lists("a", {"1": ["x", "y", "z"]}))
    store.people.add("ann")
    campaign = store.campaigns.add("p", "pets", scale="preference", pool="depth")
    while asked := campaign.next("ann"):
        campaign.judge("ann", asked[0].item, 1)  # always the first: x over y over z
    grades = campaign.qrels().to_dict()["1"]
    assert grades["x"] > grades["y"] > grades["z"]
    assert len(campaign.preferences().labels) == 3
    assert campaign.agreement() is None
    with pytest.raises(assay.UsageError, match="ask for its preferences"):
        campaign.labels()


def test_checks_of_the_plan_name_who_was_too_fast(store: Store) -> None:
    store.collections.add("pets")
    store.runs.add("pets", Run.from_lists("a", {"1": ["x", "y", "z"]}))
    store.people.add("ann")
    campaign = store.campaigns.add("p", "pets", seconds=5, pool="depth")
    while asked := campaign.next("ann"):
        campaign.judge("ann", asked[0].item, 1, seconds=1)
    checked = campaign.checked()
    assert checked is not None
    assert [failure.worker for failure in checked.failures] == ["ann"]


def test_a_campaign_without_a_judgment_has_no_qrels(store: Store) -> None:
    store.collections.add("pets")
    campaign = store.campaigns.add("p", "pets", docs=[("1", "x")])
    with pytest.raises(DataError, match="has no judgment yet"):
        campaign.qrels()
