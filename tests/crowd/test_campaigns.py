"""Campaigns on the same docs: numbers against plain loops, intervals that cover, and the command on released labels."""

from __future__ import annotations

import csv
import json
import lzma
from pathlib import Path

import numpy as np
import pytest

from assay.agreement.alpha import krippendorff_alpha
from assay.agreement.scales import Scale
from assay.core.errors import DataError, UsageError
from assay.crowd import Campaign, compare_campaigns
from assay.crowd.campaigns import task_agreements
from assay.data import Labels, Qrels
from assay.io import read_labels, write_qrels
from tests.conftest import real_data
from tests.hostile.calls import call
from tests.oracles import crowd as oracle

GRADES = ("pants-fire", "false", "barely-true", "half-true", "mostly-true", "true")


@pytest.fixture(scope="module")
def statements() -> Path:
    return real_data("crowd-truthfulness-scales") / "judgments.tsv"


@pytest.fixture(scope="module")
def experts(statements: Path) -> Qrels:
    with statements.open() as rows:
        graded = {r["item"]: GRADES.index(r["expert_label"]) for r in csv.DictReader(rows, delimiter="\t")
                  if r["source"] == "Politifact"}  # fmt: skip
    return Qrels.from_dict({"all": graded})


@pytest.fixture(scope="module")
def scales(statements: Path) -> list[Campaign]:
    named = {"S3": Scale.interval(0, 2), "S6": Scale.interval(0, 5), "S100": Scale.interval(0, 100)}
    return [
        Campaign.of(name, read_labels(statements, where={"scale": name}, topic="all"), scale)
        for name, scale in named.items()
    ]


def test_the_finer_the_scale_the_better_workers_order_statements(scales: list[Campaign], experts: Qrels) -> None:
    found = compare_campaigns(scales, reference=experts, repeats=5, resamples=200)
    table = found.table()
    assert table.column("labels") == [2178, 2189, 2178]
    assert table.column("agreement of a task") == pytest.approx([0.3865, 0.4660, 0.5370], abs=1e-4)
    assert table.column("agreement of the means") == pytest.approx([0.5350, 0.5591, 0.5864], abs=1e-4)
    assert table.column("α") == pytest.approx([0.2807, 0.3151, 0.2866], abs=1e-4)
    # Workers agree with each other no better on one scale than on another: no difference outlives the correction.
    assert min(difference.corrected_p for difference in found.tested) > 0.05
    names = [curve.name for curve in found.curves]
    assert names == ["labels", "tasks", "fewer-docs", "fewer-labels", "time"]
    labels, tasks, _, fewer, _ = found.curves
    assert labels.curves["S3"][1] == pytest.approx([0.3310, 0.5762, 1.0], abs=1e-4)
    assert all(share[-1] == 1 for _, share in labels.curves.values())
    assert (np.diff(tasks.curves["S100"][1]) <= 0).all()
    assert fewer.curves["S100"][1][0] > fewer.curves["S6"][1][0] > fewer.curves["S3"][1][0]


def test_numbers_are_those_of_plain_loops(scales: list[Campaign], experts: Qrels) -> None:
    fine = scales[2]
    known = experts.to_dict()["all"]
    listed = fine.labels.to_dict()
    tasks: dict[str, list[tuple[float, float]]] = {}
    for doc, worker, label in zip(listed["doc"], listed["worker"], listed["label"], strict=True):
        if doc in known:
            tasks.setdefault(worker, []).append((known[doc], label))
    by_hand = [oracle.pairwise([x for x, _ in rows], [y for _, y in rows]) for rows in tasks.values() if len(rows) > 1]
    assert np.sort(task_agreements(fine, experts)) == pytest.approx(np.sort(by_hand))

    found = compare_campaigns(scales, reference=experts, repeats=2, resamples=50)
    grade_of = np.array([known.get(doc, -1) for doc in listed["doc"]])
    for row in found.parts()["grades"].rows:
        campaign, grade, docs, labels, mean, alpha = row
        if campaign == "S100":
            at = grade_of == grade
            items = np.array(listed["doc"])[at]
            assert (docs, labels) == (len(set(items.tolist())), at.sum())
            assert mean == pytest.approx(fine.labels.label[at].mean())
            assert alpha == pytest.approx(krippendorff_alpha(items, fine.labels.label[at], level="interval"))
    drawn = next(d for d in found.tested if d.what.startswith("agreement") and d.second == "S100")
    means = {doc: fine.labels.label[np.array(listed["doc"]) == doc].mean() for doc in known}
    ordered = [(a, b) for a in known for b in known if known[a] < known[b]]
    assert drawn.of_second == pytest.approx(np.mean([means[a] < means[b] for a, b in ordered]))


def test_a_true_difference_is_found_and_none_is_not() -> None:
    def campaign(name: str, noise: float, seed: int) -> Campaign:
        rng = np.random.default_rng(seed)
        worth = np.random.default_rng(0).uniform(20, 80, 80)
        rows = [(f"t{d % 8}", f"d{d:02d}", f"w{w}", float(np.clip(round(worth[d] + rng.normal(0, noise)), 0, 100)))
                for d in range(80) for w in range(6)]  # fmt: skip
        return Campaign.of(name, Labels.from_rows(rows), "S100")

    careful, careless, alike = campaign("careful", 5, 1), campaign("careless", 25, 2), campaign("alike", 5, 3)
    found = compare_campaigns([careful, careless, alike], resamples=300)
    of_alpha = {(d.first, d.second): d for d in found.tested if d.what == "α"}
    worse = of_alpha["careful", "careless"]
    assert worse.low is not None
    assert worse.low > 0.2
    assert worse.corrected_p < 0.05
    same = of_alpha["careful", "alike"]
    assert same.low is not None
    assert same.high is not None
    assert same.low < 0 < same.high
    by_topic = [d for d in found.tested if d.what == "mean α of topics"]
    assert by_topic[0].n == 8
    assert by_topic[0].p < 0.05


def test_intervals_of_a_difference_cover_nothing_where_there_is_none() -> None:
    """Two campaigns of the same kind: about 95 % of the intervals of their difference in α hold 0."""
    held = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        worth = rng.uniform(0, 100, 60)
        pair = []
        for name in ("a", "b"):
            rows = [("1", f"d{d:02d}", f"w{w}", float(np.clip(round(worth[d] + rng.normal(0, 30)), 0, 100)))
                    for d in range(60) for w in range(5)]  # fmt: skip
            pair.append(Campaign.of(name, Labels.from_rows(rows), "S100"))
        difference = compare_campaigns(pair, resamples=200).tested[0]
        assert difference.low is not None
        assert difference.high is not None
        held += difference.low <= 0 <= difference.high
    assert 50 <= held <= 60


def test_magnitudes_stand_beside_other_scales() -> None:
    rng = np.random.default_rng(3)
    worth = rng.uniform(1, 10, 40)
    magnitudes = [("1", f"d{d:02d}", f"w{w}", float(worth[d] * 10**w)) for d in range(40) for w in range(4)]
    shares = [("1", f"d{d:02d}", f"w{w}", float(round(10 * worth[d]))) for d in range(40) for w in range(4)]
    pair = [Campaign.of("ME", Labels.from_rows(magnitudes), "magnitude"), Campaign.of("S100", Labels.from_rows(shares))]
    reference = Qrels.from_dict({"1": {f"d{d:02d}": int(worth[d] > 5) for d in range(40)}})
    found = compare_campaigns(pair, reference=reference, resamples=20, repeats=2)
    # Each worker's own modulus is taken out, so both agree fully.
    assert found.table().column("AUC") == [1, 1]
    assert found.table().column("α")[0] == pytest.approx(1)


def test_what_cannot_be_compared_is_refused(scales: list[Campaign]) -> None:
    with pytest.raises(UsageError, match="two campaigns or more with different names"):
        compare_campaigns(scales[:1])
    stranger = Campaign.of("other", Labels.from_rows([("1", "a", "w", 1), ("1", "b", "w", 0)]), "S2")
    with pytest.raises(DataError, match="no doc was judged in all of them"):
        compare_campaigns([scales[0], stranger])


def test_the_command_on_four_pilots(tmp_path: Path) -> None:
    path = real_data("crowd-nyt-2p-3p") / "judgments.tsv.xz"
    grades: dict[str, dict[str, int]] = {}
    with lzma.open(path, "rt") as rows:
        for row in csv.DictReader(rows, delimiter="\t"):
            grades.setdefault(row["topic"], {})[row["docid"]] = int(row["nist_grade"])
    write_qrels(tmp_path / "nist", Qrels.from_dict(grades))
    asked = ["crowd", "compare", str(path), "--by", "pilot", "--drop-empty"]
    done = call([*asked, "--reference", f"{tmp_path}/nist", "--resamples", "100", "--repeats", "3", "--format", "json",
                 "--figure", f"{tmp_path}/f.svg"])  # fmt: skip
    assert done.code == 0, done.err
    campaigns, tested, by_grade = json.loads(done.out)
    alpha = {row["campaign"]: row["alpha"] for row in campaigns["rows"]}
    assert alpha["3P-Doc-High"] == pytest.approx(0.31, abs=0.005)
    assert max(alpha, key=alpha.__getitem__) == "3P-Doc-High"
    # Marking the text takes longer, by far.
    times = [row for row in tested["rows"] if row["what"] == "median seconds of a doc"]
    assert len(times) == 6
    assert all(row["p_corrected"] < 0.01 for row in times)
    assert len(by_grade["rows"]) == 12
    assert len(list(tmp_path.glob("f-*.svg"))) == 5
    curve = call([*asked, "--show", "time", "--format", "csv", "--resamples", "20"])
    assert curve.out.splitlines()[0].startswith("campaign,")
    for given, words in (
        (["--scale", "5P=S2"], "there is no such campaign; there are: 2P-Doc"),
        (["--scale", "S2", "--scale", "S4"], "is given for all campaigns already"),
        (["--repeats", "3"], "--repeats has no effect without --reference"),
    ):
        refused = call([*asked, *given])
        assert refused.code == 2
        assert words in refused.err


def test_what_cannot_be_tested_is_named_and_makes_no_other_row_harder() -> None:
    """Three campaigns with one label a doc have no α: what is left is the time, and its family is the time alone."""
    rng = np.random.default_rng(0)

    def campaign(name: str, seconds: float) -> Campaign:
        rows = [(str(d % 8), f"d{d:02d}", f"{name}{d % 5}", float(d % 4)) for d in range(40)]
        return Campaign.of(name, Labels.from_rows(rows, seconds=seconds * rng.lognormal(0, 0.2, 40)), "S4")

    found = compare_campaigns([campaign("a", 10), campaign("b", 20), campaign("c", 30)], resamples=50)
    assert {one.what for one in found.tested} == {"median seconds of a doc"}
    assert [one.what for one in found.untested] == ["α", "mean α of topics"] * 3
    smallest = min(one.p for one in found.tested)
    assert min(one.corrected_p for one in found.tested) == pytest.approx(3 * smallest)
    note = found.difference_table().notes[1]
    assert note.startswith(
        "Not tested, and not counted: α of a and b (undefined for a and b); mean α of topics of a and b"
    )
    assert "(defined on 0 topics, a test needs 6)" in note
    one = compare_campaigns([campaign("a", 10), campaign("b", 20)], resamples=50)
    assert [difference.corrected_p for difference in one.tested] == [difference.p for difference in one.tested]
