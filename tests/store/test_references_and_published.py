"""Reference sets, published results, and where a run stands."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import assay
from assay.core.errors import UsageError
from assay.data import Run, ScoreMatrix
from assay.data.published import PublishedScore
from assay.io.published import read_published
from assay.standard import fit, standardize
from assay.standard.reference_choice import reference_intervals
from assay.store import Store
from assay.store.context import adds_up, context_lines
from assay.studies.survey import survey


@pytest.fixture
def filled(store: Store) -> Store:
    generator = np.random.default_rng(2)
    docs = [f"d{i}" for i in range(20)]
    store.collections.add("TREC-8", measure="AP")
    store.qrels.add("TREC-8", {str(t): {doc: int(generator.integers(0, 2)) for doc in docs} for t in range(6)})
    for number in range(6):
        lists = {str(t): generator.permutation(docs).tolist() for t in range(6)}
        store.runs.add("TREC-8", Run.from_lists(f"r{number}", lists), manual=number == 0)
    return store


def test_scores_are_standardized_by_named_runs(filled: Store) -> None:
    reference = filled.references.add("TREC-8", "basic", ["r1", "r2", "r3"], note="three")
    assert [run.tag for run in reference.runs] == ["r1", "r2", "r3"]
    matrix = filled.scores.matrix("TREC-8")
    by = matrix.select(runs=["r1", "r2", "r3"])
    found = filled.references.standardized("TREC-8", "basic", resamples=200)
    assert found.means.tolist() == standardize(matrix, by).averages().tolist()
    assert (found.low <= found.means).all()
    assert (found.means <= found.high).all()
    factors = filled.references.factors("TREC-8", "basic")
    assert factors.mean.tolist() == fit(by).mean.tolist()
    with pytest.raises(UsageError, match="has a reference set 'basic' already"):
        filled.references.add("TREC-8", "basic", ["r1", "r2"])
    with pytest.raises(UsageError, match="at least two different"):
        filled.references.add("TREC-8", "one", ["r1", "r1"])
    with pytest.raises(UsageError, match="no reference set 'basics'"):
        filled.references.of("TREC-8", "basics")


def test_the_interval_is_that_of_a_plain_loop() -> None:
    generator = np.random.default_rng(1)
    scores = ScoreMatrix.of(generator.random((5, 8)), measure="AP")
    reference = ScoreMatrix.of(generator.random((7, 8)), measure="AP")
    found = reference_intervals(scores, reference, resamples=300, seed=9)
    rng = np.random.default_rng(9)
    means = []
    for _ in range(300):
        drawn = reference.values[rng.integers(7, size=7)]
        mean, sd = drawn.mean(axis=0), drawn.std(axis=0)
        from scipy.stats import norm

        means.append(norm.cdf((scores.values - mean) / sd).mean(axis=1))
    low, high = np.quantile(means, (0.025, 0.975), axis=0)
    np.testing.assert_allclose(found.low, low, atol=1e-12)
    np.testing.assert_allclose(found.high, high, atol=1e-12)


def test_published_scores_go_in_and_out_and_are_joined(filled: Store, tmp_path: Path) -> None:
    table = tmp_path / "papers.csv"
    table.write_text(
        "paper,year,collection,query type,measure,baseline,improved,significant,excluded\n"
        "Smith,2004,TREC-8,title,AP,.10,.30,yes,\n"
        "Smith,2004,TREC-8,title,AP,.26,.28,no,\n"
        "Smith,2004,TREC-8,full,AP,.40,.50,,\n"
        "Doe,2006,other,title,AP,.20,.21,,\n"
        "Bad,2007,TREC-8,title,AP,.1,.9,,trained on the test topics\n"
    )
    assert filled.published.add(table) == 10
    assert filled.published.add(table) == 0, "the same score is kept once"
    out = tmp_path / "out.csv"
    assert filled.published.write(out) == 10
    assert read_published(out) == filled.published.listed()
    found = filled.published.survey(["TREC-8"])
    pairs = {(e.paper, e.query_type): (e.baseline, e.improved) for e in found.experiments}
    assert pairs == {("Smith", "title"): (0.26, 0.30), ("Smith", "full"): (0.40, 0.50)}
    assert found.tracks["TREC-8", "AP"].tolist() == filled.scores.matrix("TREC-8").averages().tolist()
    filled.published.add([PublishedScore("improved", 0.9, paper="Roe", year=2008, collection="TREC-8", measure="P@10")])
    both = filled.published.survey(["TREC-8"])
    assert both.table().column("measure") == ["AP", "P@10"]
    assert None not in both.table().column("weak baselines"), "a paper in one measure empties no column of another"
    assert both.table().rows[0] == found.table().rows[0]
    filled.published.remove(paper="Roe")
    alone = survey([score for score in read_published(table) if score.collection == "TREC-8"])
    assert [e.gain for e in alone.experiments] == [e.gain for e in found.experiments]
    assert filled.published.remove(paper="Doe") == 2
    with pytest.raises(UsageError, match="no published score of the paper 'Doe'"):
        filled.published.remove(paper="Doe")


def test_nine_thousand_published_means_go_in_and_out(store: Store, tmp_path: Path) -> None:
    import csv
    import lzma

    from tests.conftest import real_data

    path = real_data("trec-published-means/published.tsv.xz")
    scores = []
    with lzma.open(path, "rt") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            if row["measure"].lower() == "map":
                name = f"{row['trec']} {row['track']}"
                paper = f"{row['run']} {row['tool']} {row['block']}"
                scores.append(PublishedScore("run", float(row["value"]), paper=paper, collection=name))
    assert len(scores) > 3000
    assert store.published.add(scores) == len(set(scores))
    out = tmp_path / "means.csv"
    store.published.write(out)
    assert set(read_published(out)) == set(scores)


def test_what_a_score_is_read_against(filled: Store) -> None:
    matrix = filled.scores.matrix("TREC-8")
    runs = filled.runs.listed("TREC-8")
    means = dict(zip(matrix.runs, matrix.averages().tolist(), strict=True))
    by_mean = sorted(means, key=lambda name: -means[name])
    lines = context_lines(matrix, runs)
    assert lines["best run"] == means[by_mean[0]]
    assert lines["best automatic run"] == max(mean for name, mean in means.items() if name != "r0")
    assert lines["median"] == pytest.approx(float(np.median(list(means.values()))))


def test_a_claimed_gain_adds_up_more_the_larger_it_is(filled: Store) -> None:
    matrix = filled.scores.matrix("TREC-8")
    best = matrix.averages().max()
    chances = [adds_up(matrix, best + gain).probability for gain in (-0.2, -0.05, 0, 0.05, 0.2)]
    assert chances == sorted(chances)
    assert chances[2] == pytest.approx(0.5)
    assert assay.Store is Store
