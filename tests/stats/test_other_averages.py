"""Comparisons of measures whose average is not the mean: geometric means on logs, sums as means, medians not at all."""

from __future__ import annotations

import lzma
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from assay.core.errors import UsageError
from assay.data.scores import ScoreMatrix, Scores
from assay.io import read_qrels
from assay.scoring import evaluate
from assay.similarity.systems import compare_rankings
from assay.stats import all_pairs, compare, paper_table, runs_normality
from assay.studies import discriminative_power, predictivity
from assay.studies.discriminative import difference_needed
from assay.topics.problem import problem
from tests.conformance.test_official_scores import unpacked
from tests.conftest import real_data

RNG = np.random.default_rng(11)
VALUES = np.round(RNG.random((5, 12)) ** 2, 3)
VALUES[1, 3] = 0.0
RUNS = list("abcde")
TOPICS = [str(t) for t in range(1, 13)]
AP = ScoreMatrix.of(VALUES, runs=RUNS, topics=TOPICS, measure="AP")
GMAP = ScoreMatrix.of(VALUES, runs=RUNS, topics=TOPICS, measure="geometric(AP)")
MEDIAN = ScoreMatrix.of(VALUES, runs=RUNS, topics=TOPICS, measure="median(AP)")
COUNTS = ScoreMatrix.of(np.rint(20 * VALUES), runs=RUNS, topics=TOPICS, measure="NumRelRet")
LOGS = np.log(np.maximum(VALUES, 1e-5))


def test_geometric_means_are_tested_on_logs_and_shown_as_ratios() -> None:
    board = compare(GMAP, baseline="a", correction="none", letters=False)
    rows = {row["run"]: row for row in board.record()["rows"]}
    for i, run in enumerate(RUNS):
        assert rows[run]["geometric_mean"] == pytest.approx(stats.gmean(np.maximum(VALUES[i], 1e-5)))
        own = stats.t.interval(0.95, 11, LOGS[i].mean(), stats.sem(LOGS[i]))
        assert rows[run]["low"] == pytest.approx(np.exp(own[0]))
        assert rows[run]["high"] == pytest.approx(min(1.0, np.exp(own[1])))
        if run == "a":
            continue
        test = stats.ttest_rel(LOGS[i], LOGS[0])
        low, high = test.confidence_interval(0.95)
        ratio = stats.gmean(np.maximum(VALUES[i], 1e-5)) / stats.gmean(np.maximum(VALUES[0], 1e-5))
        assert rows[run]["p_corrected"] == pytest.approx(test.pvalue)
        assert rows[run]["ratio"] == pytest.approx(ratio)
        assert (rows[run]["ratio_low"], rows[run]["ratio_high"]) == pytest.approx((np.exp(low), np.exp(high)))
    assert board.matrix.runs == tuple(sorted(RUNS, key=lambda run: -rows[run]["geometric_mean"]))
    text = board.table().text()
    assert "geometric means are tested as means of logs of max(score, 1e-05)" in text
    assert "of each difference alone" in text


def test_the_verdict_says_that_it_is_of_geometric_means() -> None:
    values = [[0.8, 0.6, 0.9, 0.7], [0.2, 0.1, 0.3, 0.2]]
    board = compare(ScoreMatrix.of(values, runs=["new", "old"], measure="geometric(AP)"), baseline="old")
    assert board.verdict.startswith("new beats old: geometric means × 3.")
    worse = compare(ScoreMatrix.of(values[::-1], runs=["new", "old"], measure="geometric(AP)"), baseline="old")
    assert worse.verdict.startswith("new is worse than old: geometric means × .251")
    counts = compare(ScoreMatrix.of([[3, 4, 6], [1, 1, 2]], runs=["new", "old"], measure="NumRelRet"), baseline="old")
    assert "sums +9.000 [" in counts.verdict


@pytest.mark.parametrize("test", ["t", "tukey", "randomised-tukey"])
def test_all_pairs_of_geometric_means(test: str) -> None:
    found = all_pairs(GMAP, test, resamples=50)
    of_logs = all_pairs(ScoreMatrix.of(LOGS, runs=RUNS), test, resamples=50)
    assert found.p.tolist() == of_logs.p.tolist()
    geometric = GMAP.averages()
    assert found.shown_amounts()["ratio"] == pytest.approx(geometric[found.first] / geometric[found.second])
    assert found.table().column("ratio low") == pytest.approx(np.exp(of_logs.table().column("low")).tolist())


def test_sums_are_tested_as_means_and_shown_as_sums() -> None:
    board = compare(COUNTS, baseline="a").record()
    of_means = compare(COUNTS.renamed("mean(NumRelRet)"), baseline="a").record()
    for row, mean in zip(board["rows"], of_means["rows"], strict=True):
        assert row["p_corrected"] == mean["p_corrected"]
        assert row["sum"] == pytest.approx(12 * mean["mean"])
        if row["delta_low"] is None:  # a count has no upper end, and few topics differ
            assert row["run"] == "a" or mean["delta_low"] is None
        else:
            assert (row["delta"], row["delta_low"]) == pytest.approx((12 * mean["delta"], 12 * mean["delta_low"]))


def test_paper_tables_mark_geometric_means_by_tests_on_logs() -> None:
    table = paper_table(Scores((AP, GMAP)), baseline="a", correction="none")
    assert table.tests is not None
    of_logs = [one for one in table.tests.tests if one.measure == "geometric(AP)"]
    for one in of_logs:
        expected = stats.ttest_rel(LOGS[RUNS.index(one.run)], LOGS[0])
        assert one.p == pytest.approx(expected.pvalue)
        assert "ratio" in one.record()
    notes = " ".join(table.notes())
    assert "means, geometric(AP) the geometric mean over 12 topics" in notes
    assert "geometric means are tested as means of logs" in notes


def test_medians_are_refused_by_tests_of_means() -> None:
    for ask in (compare, all_pairs, runs_normality, lambda m: predictivity([m], splits=4)):
        with pytest.raises(UsageError, match=r"median\(AP\): a test of means says nothing of medians; take AP"):
            ask(MEDIAN)


def test_rankings_are_compared_by_what_the_measures_average() -> None:
    geometric = [stats.gmean(np.maximum(row, 1e-5)) for row in VALUES]
    tau = stats.kendalltau(VALUES.mean(axis=1), geometric)[0]
    assert tau < 1
    found = compare_rankings(AP, GMAP, measures=["tau-b", "pearson"], resamples=20)
    assert found.correlations[0].value == pytest.approx(tau)
    assert found.correlations[1].value == pytest.approx(np.corrcoef(VALUES.mean(axis=1), geometric)[0, 1])
    assert "means of the first and geometric means of the second over 12 topics" in found.recipe
    medians = compare_rankings(AP, MEDIAN, measures=["tau-b"], resamples=50)
    expected = stats.kendalltau(VALUES.mean(axis=1), np.median(VALUES, axis=1))[0]
    assert medians.correlations[0].value == pytest.approx(expected)
    low, high = medians.correlations[0].low, medians.correlations[0].high
    assert low is not None
    assert high is not None
    assert low < high
    with_itself = compare_rankings(MEDIAN, MEDIAN, measures=["tau-b"], resamples=50)
    assert (with_itself.correlations[0].low, with_itself.correlations[0].high) == (1.0, 1.0)


def test_subsets_of_topics_rank_by_geometric_means() -> None:
    ready = problem(GMAP)
    assert ready.named[1] == "gmap"
    assert ready.full == pytest.approx(GMAP.averages(), rel=1e-6)
    assert problem(GMAP, scale="gmap").of_topics(["1", "2"]) == ready.of_topics(["1", "2"])
    with pytest.raises(UsageError, match="is a geometric mean, the scale gmap; leave out the scale logit"):
        problem(GMAP, scale="logit")
    with pytest.raises(UsageError, match="a subset of topics rests on means; take AP"):
        problem(MEDIAN)


def test_studies_of_geometric_means_work_on_logs() -> None:
    logs = ScoreMatrix.of(LOGS, runs=RUNS, topics=TOPICS, measure="logs")
    found = discriminative_power([GMAP], test="t", two_sample=True)
    of_logs = discriminative_power([logs], test="t", two_sample=True)
    assert found.p[0].tolist() == of_logs.p[0].tolist()
    assert found.unpaired[0].p.tolist() == of_logs.unpaired[0].p.tolist()
    needed = difference_needed(logs)
    assert needed is not None
    assert found.needed[0] == pytest.approx(np.exp(needed))
    assert "geometric means are tested as means of logs" in found.table().notes[-1]
    assert (
        predictivity([GMAP], splits=10, keep=1.0).tau.tolist() == predictivity([logs], splits=10, keep=1.0).tau.tolist()
    )


@pytest.fixture(scope="module")
def passages(tmp_path_factory: pytest.TempPathFactory) -> Scores:
    root = real_data("trec-dl-2019-passage")
    files = unpacked(root / "runs.tar.xz", tmp_path_factory.mktemp("dl2019"))
    return evaluate(files, read_qrels(root / "qrels.txt"), ["AP", "gm_map"], jobs=2)


def official_gmap(path: Path) -> dict[str, str]:
    """GMAP of every run, as trec_eval prints it."""
    found = {}
    with lzma.open(path, "rt") as lines:
        for line in lines:
            run, topic, measure, value = line.rstrip("\n").split("\t")
            if (topic, measure) == ("all", "gm_map"):
                found[run] = value
    return found


def test_gmap_of_a_real_track_is_trec_evals_in_score_and_compare(passages: Scores) -> None:
    gmap = passages["geometric(AP)"]
    official = official_gmap(real_data("trec-dl-2019-passage/trec_eval-per-topic.tsv.xz"))
    board = compare(gmap, letters=False)
    shown = {row["run"]: row["geometric_mean"] for row in board.record()["rows"]}
    assert len(official) == 36
    for run, value in official.items():
        assert f"{shown[run]:.4f}" == value
    of_score = dict(zip(passages.runs, passages.averages()[1], strict=True))
    assert shown == of_score
    assert (round(of_score["idst_bert_p3"], 4), round(float(passages["AP"].of_run("idst_bert_p3").mean()), 4)) == (
        0.4598,
        0.5307,
    )


def test_gmap_ranks_a_real_track_otherwise_than_map(passages: Scores) -> None:
    found = compare_rankings(*passages, measures=["tau-b"], resamples=0)
    geometric = stats.gmean(np.maximum(passages[1].values, 1e-5), axis=1)
    expected = stats.kendalltau(passages[0].values.mean(axis=1), geometric)[0]
    assert found.correlations[0].value == pytest.approx(expected)
    assert round(expected, 4) == 0.8829
