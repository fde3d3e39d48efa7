"""Certainty needs labels: single labels, collapsed models and workers at the edge are said, and never certain."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from assay.agreement.ratings import Ratings
from assay.agreement.scales import S2, S100
from assay.core.errors import DataError
from assay.crowd import aggregate, read_uncertain, score_uncertainty, write_uncertain
from assay.crowd.eases import glad
from assay.crowd.identified import collapse_of, unidentified_docs
from assay.crowd.latent import one_coin
from assay.data import Labels, Run
from assay.io import read_labels
from tests.conftest import real_data
from tests.hostile.calls import call

NUMBERS = ("mean", "median", "trimmed", "weighted", "interval")
LEVELS = ("majority", "weighted", "dawid-skene", "one-coin", "glad", "mace", "ordinal")


@pytest.fixture(scope="module")
def s100() -> Labels:
    return read_labels(real_data("crowd-s100-trec8") / "judgments.tsv.xz", times=100)


@pytest.fixture(scope="module")
def votes() -> Labels:
    return read_labels(real_data("crowd-trec2011") / "votes.tsv.xz", split="_")


def first_labels(labels: Labels, docs: slice = slice(None)) -> Labels:
    """Only the first label of these docs; all labels of the others."""
    item, pairs = labels.items()
    _, first = np.unique(item, return_index=True)
    thinned = np.isin(item, np.arange(len(pairs))[docs])
    keep = ~thinned
    keep[first] = True
    return labels.select(keep)


@pytest.mark.parametrize("method", NUMBERS)
def test_one_label_for_each_doc_may_be_anything(s100: Labels, method: str) -> None:
    judged = aggregate(first_labels(s100), method, scale=S100)
    assert set(judged.basis) == {"nothing"}
    assert judged.sd == pytest.approx(100 / np.sqrt(12))
    assert (judged.low == 0).all()
    assert (judged.high == 100).all()
    assert "3881 of 3881 docs have one label, and no doc has two" in judged.warnings[0]


@pytest.mark.parametrize("method", NUMBERS)
def test_one_label_among_docs_with_several_takes_their_spread(s100: Labels, method: str) -> None:
    judged = aggregate(first_labels(s100, slice(0, None, 2)), method, scale=S100)
    one = judged.labels == 1
    assert one.sum() == 1941
    assert {b for b, is_one in zip(judged.basis, one, strict=True) if is_one} == {"pooled"}
    assert {b for b, is_one in zip(judged.basis, one, strict=True) if not is_one} == {"labels"}
    assert judged.sd[one].min() > 4
    assert (judged.low[one] < judged.high[one]).all()
    # One label says less than ten do.
    assert judged.sd[one].mean() > 1.5 * judged.sd[~one].mean()
    if method == "mean":
        item, _ = s100.items()
        of_others = np.isin(item, np.arange(1, 3881, 2))
        value, group = s100.label[of_others], item[of_others]
        mean = np.bincount(group, value) / np.maximum(1, np.bincount(group))
        degrees = of_others.sum() - len(np.unique(group))
        within = np.sqrt(((value - mean[group]) ** 2).sum() / degrees)
        assert judged.sd[one] == pytest.approx(within)


@pytest.mark.parametrize("method", LEVELS)
def test_one_label_for_each_doc_makes_all_levels_possible(votes: Labels, method: str) -> None:
    judged = aggregate(first_labels(votes), method, scale=S2)
    assert set(judged.basis) == {"nothing"}
    assert judged.probability == pytest.approx(0.5)
    assert judged.sd == pytest.approx(0.5)
    assert any("2165 of 2165 docs have one label" in warning for warning in judged.warnings)


def test_a_collapsed_one_coin_is_said_and_not_certain(votes: Labels) -> None:
    judged = aggregate(votes, "one-coin", scale=S2)
    assert (judged.grade == 0).sum() == 2139
    assert "one coin has collapsed: grade 0 for 2139 of 2165 docs, where the votes say so of 1179" in judged.warnings[0]
    assert set(judged.basis) == {"votes"}
    assert judged.sd.min() > 0.005
    by_votes = aggregate(votes, "majority", scale=S2).posterior
    assert judged.posterior is not None
    assert by_votes is not None
    np.testing.assert_allclose(judged.posterior, by_votes)


def test_all_docs_relevant_with_certainty_is_not_certain() -> None:
    """Many docs with few labels by hasty workers: the most likely one coin calls every doc relevant."""
    rng = np.random.default_rng(10)
    docs = np.repeat(np.arange(19_033), 2)
    eager = rng.uniform(0.75, 1.0, 700)
    worker = rng.integers(0, 700, len(docs))
    label = (rng.random(len(docs)) < eager[worker]).astype(float)
    ratings = Ratings.of(docs, label, worker=worker)
    judged = one_coin(ratings)
    assert (judged.grade == 1).sum() > 19_000
    assert "has collapsed" in judged.warnings[0]
    assert judged.sd.min() > 0.1


def test_glad_that_calls_nearly_all_docs_relevant_is_said() -> None:
    """Workers who lean to one answer or the other: GLAD calls .92 relevant; votes .71, truth .6."""
    rng = np.random.default_rng(1)
    truth = rng.random(2000) < 0.6
    docs = np.repeat(np.arange(2000), 5)
    worker = np.concatenate([rng.choice(100, 5, replace=False) for _ in range(2000)])
    log_odds = np.where(truth[docs], np.log(0.72 / 0.28), np.log(0.62 / 0.38)) + rng.normal(0, 1.5, 100)[worker]
    label = (rng.random(len(docs)) < 1 / (1 + np.exp(-log_odds))).astype(float)
    judged = glad(Ratings.of(docs, label, worker=worker))
    assert (judged.grade == 1).mean() == pytest.approx(0.924, abs=0.02)
    assert "GLAD has collapsed: grade 1 for" in judged.warnings[0]
    assert "the probabilities those of the votes" in judged.warnings[0]
    assert set(judged.basis) == {"votes"}


@pytest.mark.parametrize("method", ["dawid-skene", "one-coin"])
def test_workers_who_are_never_wrong_prove_nothing(method: str) -> None:
    labels = read_labels(real_data("crowd-trec2011") / "otherparticipantsvotes.tsv.xz", split="_")
    judged = aggregate(labels, method, scale=S2)
    at_edge = np.array(judged.basis) == "edge"
    assert at_edge.sum() > 100
    assert judged.sd[at_edge].min() > 0.0009
    note = next(note for note in judged.notes if "never wrong" in note)
    assert f"the {at_edge.sum()} docs" in note
    assert judged.posterior is not None
    smoothed = aggregate(labels, f"{method}(smoothing=0.5)", scale=S2)
    assert "edge" not in smoothed.basis


def test_workers_who_share_no_doc_are_unidentified() -> None:
    rows = [("1", "a", "u", 1), ("1", "a", "v", 1), ("1", "b", "u", 0), ("1", "c", "w", 1), ("1", "d", "w", 0)]
    ratings = Ratings.of_labels(Labels.from_rows([(t, d, w, float(y)) for t, d, w, y in rows]), scale=S2)
    assert unidentified_docs(ratings).tolist() == [False, False, True, True]
    assert collapse_of(ratings, np.zeros(4, dtype=np.int64)) == ""


def test_docs_with_one_label_and_those_it_says_nothing_of_are_counted_apart() -> None:
    # Of 4 docs with one label, 1 is by a worker who shares no doc; of the others the workers are known.
    rows = [("1", f"d{i}", w, float(i % 2)) for i in range(6) for w in ("u", "v", "w")]
    rows += [("1", f"one{i}", w, 1.0) for i, w in enumerate(("u", "v", "w", "alone"))]
    labels = Labels.from_rows(rows)
    assert aggregate(labels, "dawid-skene").warnings[-1] == (
        "4 of 10 docs have one label; for 1 of them the worker shares no doc with anybody, so these take the "
        "uncertainty of the docs with several labels."
    )
    assert aggregate(labels, "mean", scale="0-1").warnings[-1] == (
        "4 of 10 docs have one label: their uncertainty is that of the docs with several labels."
    )


def test_scores_carry_it_and_files_keep_it(s100: Labels, tmp_path: Path) -> None:
    judged = aggregate(first_labels(s100), "mean", scale=S100)
    path = tmp_path / "mean.csv"
    write_uncertain(path, judged)
    again = read_uncertain(path)
    assert again.basis == judged.basis
    docs: dict[str, list[str]] = {}
    for topic, doc in judged.items:
        docs.setdefault(topic, []).append(doc)
    scores = score_uncertainty([Run.from_lists("r", docs)], again, "nDCG@10", draws=20)
    assert np.ptp(scores.judged) > 0.01
    assert "Uncertainty of 3881 of 3881 docs rests on nothing" in scores.table().text()
    path.write_text(path.read_text().replace("nothing", "hearsay", 1))
    with pytest.raises(DataError, match="basis 'hearsay' is none of: labels, pooled"):
        read_uncertain(path)


def test_the_command_says_it(tmp_path: Path) -> None:
    labels = real_data("crowd-trec2011") / "votes.tsv.xz"
    out = tmp_path / "crowd.csv"
    done = call(["crowd", "aggregate", str(labels), "--split", "_", "--scale", "S2", "--method", "one-coin",
                 "--uncertainty", str(out), "--format", "json"])  # fmt: skip
    assert done.code == 0
    assert "has collapsed" in done.err
    assert '"basis": "votes"' in done.out
    assert out.read_text().splitlines()[0].endswith("labels,basis,calibration,p(0),p(1)")
