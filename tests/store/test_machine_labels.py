"""Machine labels beside those of people: never before, on demand afterwards, and a second look that keeps the first."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.core.errors import DataError, UsageError
from assay.data import Labels, Run
from assay.store import Store
from assay.store.campaign_files import campaign_file
from assay.store.judging_campaign import JudgingCampaign

DOCS = [("1", "a"), ("1", "b"), ("1", "c"), ("1", "d")]
MACHINE = [
    ("1", "a", "gpt", 3),
    ("1", "b", "gpt", 0),
    ("1", "c", "gpt", 1),
    ("1", "a", "llama", 0),
    ("9", "z", "gpt", 2),
]
HUMAN = {"a": 0, "b": 0, "c": 3, "d": 2}


@pytest.fixture
def campaign(store: Store) -> JudgingCampaign:
    """Four docs; two machine judges have labelled some of them, one doc of theirs is not judged here."""
    store.collections.add("pets")
    for name in ("ann", "bob"):
        store.people.add(name)
    made = store.campaigns.add("c", "pets", docs=DOCS, labels=2)
    assert made.machine.add(Labels.from_rows(MACHINE)) == 4
    return made


def judge_all(campaign: JudgingCampaign, name: str) -> dict[str, int]:
    """{doc: item} of all docs, judged as HUMAN says."""
    judged = {}
    while asked := campaign.next(name):
        campaign.judge(name, asked[0].item, HUMAN[asked[0].doc])
        judged[asked[0].doc] = asked[0].item
    return judged


def test_machine_labels_are_shown_to_who_has_judged_and_to_nobody_else(campaign: JudgingCampaign) -> None:
    (asked,) = campaign.next("ann")
    with pytest.raises(UsageError, match="judge the doc first"):
        campaign.machine.show("ann", asked.item)
    assert campaign.machine.seen("ann", asked.item) is None
    campaign.judge("ann", asked.item, 1)
    assert campaign.machine.seen("ann", asked.item) is None, "shown on demand only"
    assert campaign.machine.show("ann", asked.item) == {"gpt": 3.0, "llama": 0.0}
    assert campaign.machine.seen("ann", asked.item) == {"gpt": 3.0, "llama": 0.0}
    with pytest.raises(UsageError, match="judge the doc first"):
        campaign.machine.show("bob", asked.item)


def test_the_order_is_the_same_with_and_without_machine_labels(store: Store) -> None:
    store.collections.add("pets")
    store.people.add("ann")
    store.runs.add("pets", Run.from_lists("one", {"1": list("abcd")}))
    store.runs.add("pets", Run.from_lists("two", {"1": list("dcba")}))
    orders = []
    for name in ("without", "with"):
        campaign = store.campaigns.add(name, "pets", order="hedge", scale="S4")
        if name == "with":
            campaign.machine.add(Labels.from_rows(MACHINE))
        seen = []
        while asked := campaign.next("ann"):
            seen.append(asked[0].doc)
            campaign.judge("ann", asked[0].item, HUMAN[asked[0].doc])
        orders.append(seen)
    assert orders[0] == orders[1]


def test_disagreements_wait_for_a_second_look_and_the_first_is_kept(campaign: JudgingCampaign) -> None:
    item_of = judge_all(campaign, "ann")
    waiting = campaign.machine.queue("ann")
    assert [(one.doc, one.label, one.machine, one.is_relevance) for one in waiting] == [
        ("a", 0.0, {"gpt": 3.0, "llama": 0.0}, True), ("c", 3.0, {"gpt": 1.0}, False),
    ]  # fmt: skip
    assert campaign.machine.queue("bob") == []
    campaign.machine.show("ann", item_of["a"])
    campaign.judge("ann", item_of["a"], 2, id="again")
    campaign.machine.show("ann", item_of["c"])
    campaign.judge("ann", item_of["c"], 3)  # she keeps it
    assert campaign.machine.queue("ann") == []
    log = [(one.doc, one.label, one.second_look, one.stands) for one in campaign.history() if one.doc in "ac"]
    assert log == [
        ("a", 0.0, False, False), ("c", 3.0, False, False), ("a", 2.0, True, True), ("c", 3.0, True, True),
    ]  # fmt: skip
    assert campaign.labels().to_dict()["label"] == [0, 2, 2, 3], "b and d first, then the second looks"
    before = campaign.labels(first=True).to_dict()
    assert dict(zip(before["doc"], before["label"], strict=True)) == HUMAN
    compared = campaign.machine.comparison()
    assert compared is not None
    rows = [(one.judge, one.docs, one.compared, one.agree, one.waiting, one.looked_again, one.changed)
            for one in compared.judges]  # fmt: skip
    assert rows == [("gpt", 3, 3, 1, 0, 2, 1), ("llama", 1, 1, 1, 0, 1, 1)]


def test_taking_back_after_seeing_is_a_second_look_too(campaign: JudgingCampaign) -> None:
    item_of = judge_all(campaign, "ann")
    campaign.machine.show("ann", item_of["d"])
    campaign.undo("ann")  # d was the last
    assert campaign.given_of("ann", item_of["d"]) is None
    campaign.judge("ann", item_of["d"], 0)
    assert [one.second_look for one in campaign.history() if one.doc == "d"] == [False, True, True]
    assert dict(zip(*(campaign.labels(first=True).to_dict()[key] for key in ("doc", "label")), strict=True)) == HUMAN


def test_files_say_which_judgment_counts(campaign: JudgingCampaign) -> None:
    item_of = judge_all(campaign, "ann")
    campaign.machine.show("ann", item_of["a"])
    campaign.judge("ann", item_of["a"], 2)
    header, *lines = campaign_file(campaign, "history").splitlines()
    assert header.endswith("second_look,stands")
    assert [line.split(",")[-2:] for line in lines if ",a," in line] == [["False", "False"], ["True", "True"]]
    assert "1\ta\tann\t2" in campaign_file(campaign, "labels")
    assert "1\ta\tann\t0" in campaign_file(campaign, "first")


def test_a_store_is_rebuilt_with_its_machine_labels(campaign: JudgingCampaign, store: Store, tmp_path: Path) -> None:
    item_of = judge_all(campaign, "ann")
    campaign.machine.show("ann", item_of["a"])
    campaign.judge("ann", item_of["a"], 2)
    store.export(tmp_path / "out")
    with Store.rebuilt(tmp_path / "out", tmp_path / "copy") as copy:
        again = copy.campaigns["c"]
        assert again.machine.comparison() == campaign.machine.comparison()
        assert [one.second_look for one in again.history()] == [one.second_look for one in campaign.history()]
        assert again.machine.seen("ann", again.item("1", "a").item) == {"gpt": 3.0, "llama": 0.0}
        assert copy.check().errors == 0
    assert store.check().errors == 0
    assert [one.label for one in campaign.machine.disagreements("ann")] == [2.0, 3.0]


def test_labels_that_cannot_be_used_are_refused_whole(campaign: JudgingCampaign, store: Store) -> None:
    with pytest.raises(DataError, match=r"label 7\.0 is not on the scale"):
        campaign.machine.add(Labels.from_rows([("1", "d", "gpt", 1), ("1", "b", "gpt", 7)]))
    assert campaign.machine.judges() == {"gpt": 3, "llama": 1}
    with pytest.raises(DataError, match="none of its 1 labels is of a doc of 'c'"):
        campaign.machine.add(Labels.from_rows([("7", "d", "gpt", 1)]))
    pairs = store.campaigns.add("p", "pets", docs=[("1", "a", "b")], scale="preference")
    with pytest.raises(UsageError, match="machine labels are of single docs"):
        pairs.machine.add(Labels.from_rows(MACHINE))


@pytest.mark.parametrize(
    ("scale", "human", "machine", "disagree"),
    [("S100", 50, 74, False), ("S100", 50, 75, True), ("magnitude", 10, 19, False), ("magnitude", 10, 5, True)],
)
def test_what_is_a_disagreement_depends_on_the_scale(
    tmp_path: Path, scale: str, human: float, machine: float, disagree: bool
) -> None:
    with Store(tmp_path / "s") as store:
        store.collections.add("pets")
        store.people.add("ann")
        campaign = store.campaigns.add("c", "pets", docs=[("1", "a")], scale=scale)
        campaign.machine.add(Labels.from_rows([("1", "a", "gpt", machine)]))
        campaign.judge("ann", campaign.next("ann")[0].item, human)
        assert bool(campaign.machine.queue("ann")) is disagree
