"""How far probabilities hold: golden scores, the reliability table over topics, and what calibration does to a file."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.testing import assert_allclose

from assay.agreement.scales import S2
from assay.cli.crowd import command as crowd
from assay.core.errors import DataError
from assay.crowd import aggregate, calibrated, read_uncertain, reliability, write_uncertain
from assay.crowd.probability_checks import scores_of
from assay.crowd.uncertain import Uncertain
from assay.data import Qrels
from assay.io import read_labels
from assay.stats.clustered import share_of
from tests.conftest import real_data
from tests.crowd.informed_runs import ITEMS, TOPICS, World, uniform, world
from tests.crowd.test_recalibration import P, Y
from tests.crowd.test_released import trec2011


def test_golden_scores() -> None:
    brier, log = scores_of(P, Y)
    assert brier == pytest.approx(0.20376, abs=5e-6)
    assert log == pytest.approx(0.598792, abs=5e-7)


def judged(p: np.ndarray, topics: int = 5) -> Uncertain:
    items = [(str(i * topics // len(p)), str(i)) for i in range(len(p))]
    return Uncertain.of_posterior("demo", items, np.column_stack([1 - p, p]), levels=[0, 1], labels=[5] * len(p))


def reference(of: Uncertain, relevant: np.ndarray) -> Qrels:
    frame = of.qrels()
    return Qrels(frame.topics, frame.bounds, frame.docs, relevant.astype(int))


def test_bins_hold_all_docs_and_topics_are_their_units() -> None:
    found = reliability(judged(P), reference(judged(P), Y))
    assert [b.docs for b in found.bins] == [1, 1, 1, 1, 1, 1, 1, 3]  # .1–.2, .2–.3, …; .9, .95 and .99
    assert found.scores == (("raw", *scores_of(P, Y)),)
    last = found.bins[-1]
    # .90, .95 and .99 are of topics 3, 4 and 4: 0 of 1 and 2 of 2 are relevant.
    share = share_of([0, 2], [1, 2])
    assert (last.low, last.high) == (share.low, share.high)
    assert (last.mean, last.share) == pytest.approx((2.84 / 3, 2 / 3))
    assert found.bins[0].low is None  # one topic
    assert "fewer than 80 docs or 2 topics with grades: too few to calibrate" in found.notes


def test_docs_that_workers_call_certain() -> None:
    """The labels of TREC 2011: .99 is right in .90 with Dawid–Skene and MACE, .87 with majority; Platt mends it."""
    labels = read_labels(real_data("crowd-trec2011") / "otherparticipantsvotes.tsv.xz", split="_")
    for method, share in (("dawid-skene", 0.905), ("mace", 0.903), ("majority", 0.866)):
        found = reliability(aggregate(labels, method, scale=S2), trec2011())
        right = re.search(r"probability of \.99 or more, (\.\d+) are right \[", found.notes[0])
        assert right is not None
        assert float(right[1]) == pytest.approx(share, abs=0.01)
        assert found.notes[0].endswith("calibrate them (--calibration)")
        log = {name: score for name, _, score in found.scores}
        assert list(log) == ["raw", "platt", "beta", "isotonic"]
        assert log["platt"] < 0.5 * log["raw"]


def test_intervals_of_bins_cover_with_topics_as_units() -> None:
    """Probabilities that are right but for an effect of each topic."""
    rng = np.random.default_rng(2)
    inside = []
    for _ in range(25):
        p = rng.uniform(0.02, 0.98, 2000)
        shift = np.repeat(rng.normal(0, 0.8, TOPICS), 50)
        true = 1 / (1 + np.exp(-np.log(p / (1 - p)) - shift))
        of = judged(p, TOPICS)
        found = reliability(of, reference(of, rng.random(2000) < true))
        # What the share is on average over topics: E σ(logit p + N(0, .8)).
        nodes, weights = np.polynomial.hermite_e.hermegauss(40)
        for b in found.bins[:10]:
            here = (p >= b.start) & (p < b.start + 0.1)
            mean = (1 / (1 + np.exp(-np.log(p[here] / (1 - p[here]))[:, None] - 0.8 * nodes))) @ weights / weights.sum()
            inside.append(b.low <= mean.mean() <= b.high)
    assert 0.91 <= np.mean(inside) <= 0.99


@pytest.fixture(scope="module")
def small_world() -> tuple[World, Uncertain, Qrels]:
    rng = np.random.default_rng(8)
    w = world(rng)
    return w, w.judged(w.raw), w.gold(uniform(rng, 5)[0], None)


def test_calibrated_judgments_hold_and_files_say_so(
    small_world: tuple[World, Uncertain, Qrels], tmp_path: Path
) -> None:
    w, raw, gold = small_world
    found = calibrated(raw, gold)
    truth = w.relevant.ravel()
    assert found.posterior is not None
    assert raw.posterior is not None
    assert scores_of(found.posterior[:, 1], truth)[1] < scores_of(raw.posterior[:, 1], truth)[1]
    assert found.items == raw.items == tuple(ITEMS)
    write_uncertain(tmp_path / "c.csv", found)
    again = read_uncertain(tmp_path / "c.csv")
    assert again.calibration == "platt"
    assert again.probabilities_note() == "probabilities: calibrated by platt on gold docs, each topic from others"
    assert again.posterior is not None
    assert_allclose(again.posterior, found.posterior)
    checked = reliability(again, gold)
    assert [name for name, _, _ in checked.scores] == ["platt"]
    write_uncertain(tmp_path / "r.csv", raw)
    assert read_uncertain(tmp_path / "r.csv").calibration == "raw"


def test_what_cannot_be_calibrated() -> None:
    of = judged(P)
    with pytest.raises(DataError, match="a calibration needs 80 gold docs; the reference has 10"):
        calibrated(of, reference(of, Y))
    numbers = aggregate({"1": {"a": {"v": 10, "w": 30}}}, "mean", scale="S100")
    with pytest.raises(DataError, match="estimates numbers, without probabilities"):
        reliability(numbers, Qrels.from_dict({"1": {"a": 1}}))
    with pytest.raises(DataError, match="estimates numbers, without probabilities"):
        calibrated(numbers, Qrels.from_dict({"1": {"a": 1}}))


def test_the_picture_has_a_point_for_each_bin(small_world: tuple[World, Uncertain, Qrels]) -> None:
    _, raw, gold = small_world
    found = reliability(raw, gold, calibration="isotonic")
    drawn = found.figure()
    rows = drawn.spec["datasets"]["rows"]
    assert len(rows) == len(found.bins)
    assert {row["probabilities"] for row in rows} == {"raw", "isotonic"}


def test_the_command_prints_draws_and_writes_it(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    truth = rng.random((10, 12)) < 0.4
    rows = ["topic,doc,worker,label"]
    lines = []
    for topic in range(10):
        for doc in range(12):
            lines.append(f"{topic} 0 d{doc} {int(truth[topic, doc])}\n")
            for worker in rng.choice(8, 3, replace=False):
                label = truth[topic, doc] if rng.random() < 0.7 else not truth[topic, doc]
                rows.append(f"{topic},d{doc},w{worker},{int(label)}")
    (tmp_path / "labels.csv").write_text("\n".join(rows) + "\n")
    (tmp_path / "gold.qrels").write_text("".join(lines))
    words = ["aggregate", str(tmp_path / "labels.csv"), "--method", "dawid-skene", "--scale", "S2", "--reference",
             str(tmp_path / "gold.qrels")]  # fmt: skip
    done = CliRunner().invoke(crowd, [*words, "--figure", str(tmp_path / "f.svg")])
    assert done.exit_code == 0, done.output
    assert "How far the probabilities of Dawid–Skene hold, against the reference" in done.stdout
    assert "Reliability of the probabilities of Dawid–Skene" in done.stdout
    assert (tmp_path / "f-2.svg").exists()
    more = ["--calibration", "isotonic", "--uncertainty", str(tmp_path / "u.csv"), "--show", "calibration"]
    done = CliRunner().invoke(crowd, [*words, *more])
    assert done.exit_code == 0, done.output
    assert read_uncertain(tmp_path / "u.csv").calibration == "isotonic"
    done = CliRunner().invoke(crowd, [*words[:-2], "--calibration", "platt"])
    assert "--calibration has no effect without --reference" in str(done.exception) + done.output
