"""Real collections: every number of the how-to page, the permutation experiments, calibration."""

from __future__ import annotations

import csv
import json
import re
import tarfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from assay.cli.predict import command
from assay.data import Qrels, Run
from assay.data.lists import Lists
from assay.data.scores import ScoreMatrix
from assay.io import read_qrels, read_run
from assay.nojudgments.against_truth import correlations
from assay.nojudgments.basis import average_precision, comparable
from assay.nojudgments.combine import combined, combined_means
from assay.nojudgments.expected import calibration, emap_calibration, expected_ap, relevance
from assay.nojudgments.inject import injection
from assay.nojudgments.learn import Collection, distance, judged_collection, learned
from assay.nojudgments.permute import exchanged_at_random, exchanged_in_order
from assay.nojudgments.predictors import METHODS, predicted
from assay.nojudgments.ranking import taken
from assay.nojudgments.reweight import reweighted_emap
from assay.rankings.correlation import pearson
from assay.rankings.stated_preferences import PREFERENCES, preferred
from assay.scoring import Policy, evaluate
from assay.similarity.shared_preferences import preference_similarity
from tests.conftest import ROOT, real_data

PAGE = ROOT / "docs" / "howto" / "rank-runs-without-judgments.md"


@dataclass(frozen=True)
class Real:
    """A collection with its runs, judgments, and true AP and nDCG@10."""

    folder: Path
    lists: Lists
    qrels: Qrels
    rel: int
    truths: tuple[ScoreMatrix, ...]

    @cache  # noqa: B019 the fixture lives as long as the module
    def predicted(self, method: str) -> ScoreMatrix:
        return predicted(self.lists, method)


def loaded(name: str, folder: Path, ap: str, rel: int) -> Real:
    with tarfile.open(real_data(f"{name}/runs.tar.xz")) as archive:
        archive.extractall(folder, filter="data")
    runs: list[Run] = [read_run(p) for p in sorted((folder / "runs").iterdir())]
    qrels = read_qrels(real_data(f"{name}/qrels.txt"))
    truths = evaluate(runs, qrels, [ap, "nDCG@10"], policy=Policy(compat="trec_eval-9"))
    return Real(folder / "runs", comparable(runs), qrels, rel, tuple(truths))


@pytest.fixture(scope="module")
def covid(tmp_path_factory: pytest.TempPathFactory) -> Real:
    return loaded("trec-covid-round1", tmp_path_factory.mktemp("covid"), "AP", 1)


@pytest.fixture(scope="module")
def passages(tmp_path_factory: pytest.TempPathFactory) -> Real:
    return loaded("trec-dl-2019-passage", tmp_path_factory.mktemp("passages"), "AP(rel=2)", 2)


@pytest.fixture(scope="module")
def deep(tmp_path_factory: pytest.TempPathFactory) -> Real:
    return loaded("trec-dl-2021-passage", tmp_path_factory.mktemp("deep"), "AP(rel=2)", 2)


def table() -> dict[str, list[str]]:
    """Method → cells of the table of the how-to page."""
    rows = [
        line.strip("| ").split(" | ")
        for line in PAGE.read_text(encoding="utf-8").splitlines()
        if line.startswith("| `")
    ]
    return {cells[0].strip("`"): [c.strip() for c in cells[1:]] for cells in rows}


def test_the_page_has_every_method() -> None:
    assert set(table()) == {*METHODS.names(), "soboroff(duplicates=true)"}


def test_true_scores_are_the_official_ones(covid: Real) -> None:
    with real_data("trec-covid-round1/leaderboard.csv").open(encoding="utf-8") as lines:
        official = {row["run"]: row for row in csv.DictReader(lines)}
    for truth, column in zip(covid.truths, ("MAP", "ndcg@10"), strict=True):
        wanted = [float(official[r][column]) for r in truth.runs]
        np.testing.assert_allclose(truth.averages(), wanted, atol=5.1e-5)


@pytest.mark.parametrize("method", list(table()))
def test_numbers_of_the_page(method: str, covid: Real, deep: Real) -> None:
    found = []
    for real in (covid, deep):
        for truth in real.truths:
            values = correlations(truth.averages(), real.predicted(method).averages())
            found += [values["τ"], values["ρ"], values["τ_AP"]]
    # One unit of the last digit: libraries of linear algebra may round sums otherwise.
    assert found == pytest.approx([float(c) for c in table()[method][5:]], abs=0.0011)


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        # Roitero 2020, Table 6.7 and §7.3: with duplicates wins; V4 and all five are weak.
        ("soboroff(duplicates=true)", "soboroff"),
        ("soboroff(duplicates=true)", "wu-crestani"),
        ("nuray-can-borda", "spoerri-all"),
        ("nuray-can-condorcet", "spoerri-single"),
        ("wu-crestani-v1", "wu-crestani-v4"),
    ],
)
def test_order_of_methods_is_that_of_the_literature(better: str, worse: str, covid: Real) -> None:
    tau = [correlations(covid.truths[0].averages(), covid.predicted(m).averages())["τ"] for m in (better, worse)]
    assert tau[0] is not None
    assert tau[1] is not None
    assert tau[0] > tau[1] + 0.05


@pytest.mark.parametrize(
    ("method", "tau"),
    [
        ("soboroff(pool=judged,share=judged)", 0.796),
        ("soboroff(pool=judged,share=exact)", 0.802),
        ("soboroff(duplicates=true,share=judged)", 0.669),
    ],
)
def test_soboroff_drawn_from_judgments(method: str, tau: float, covid: Real) -> None:
    runs = [read_run(path) for path in sorted(covid.folder.iterdir())]
    found = predicted(comparable(runs, qrels=covid.qrels), method)
    assert correlations(covid.truths[0].averages(), found.averages())["τ"] == pytest.approx(tau, abs=0.0015)


def test_combination(covid: Real, deep: Real) -> None:
    for real, truth, wanted in ((covid, 0, 0.663), (deep, 1, 0.342)):
        kept = [real.predicted(m) for m in taken(METHODS.names())]
        tau = correlations(real.truths[truth].averages(), combined_means(kept))["τ"]
        assert tau == pytest.approx(wanted, abs=0.002)


def test_what_earlier_collections_teach(covid: Real, deep: Real, tmp_path: Path) -> None:
    """As the how-to page says: the model is as good as its teacher, and the nearer teacher is not the better one."""
    names = taken(METHODS.names())
    disease, passages = (
        Collection(n, y, tuple(real.predicted(m).select(topics=real.truths[0].topics) for m in names), real.truths[0])
        for n, y, real in (("covid", 2020, covid), ("dl21", 2021, deep))
    )
    with tarfile.open(real_data("trec-dl-2019-passage/runs.tar.xz")) as archive:
        archive.extractall(tmp_path, filter="data")
    runs, qrels = [read_run(p) for p in sorted((tmp_path / "runs").iterdir())], "trec-dl-2019-passage/qrels.txt"
    older = judged_collection("dl19", 2019, runs, read_qrels(real_data(qrels)), names, measure="AP(rel=2)", depth=100)
    found = {}
    for target, teacher in ((passages, disease), (passages, older), (disease, older)):
        scores = learned(target, [teacher], "svr").averages()
        assert target.truth is not None
        found[target.name, teacher.name] = correlations(target.truth.averages(), scores)["τ"]
    wanted = {("dl21", "covid"): 0.61, ("dl21", "dl19"): 0.11, ("covid", "dl19"): 0.69}
    assert found == pytest.approx(wanted, abs=0.005)
    plain = correlations(deep.truths[0].averages(), combined_means(passages.predictions))["τ"]
    assert plain == pytest.approx(0.32, abs=0.005)
    assert distance(older, passages) == pytest.approx(0.15, abs=0.005)
    assert distance(disease, passages) == pytest.approx(0.24, abs=0.005)


def test_judged_topics_and_predictions_on_covid(covid: Real) -> None:
    """As the how-to page says: the mean of all methods, true columns put in at random, 30 repetitions."""
    together = combined([covid.predicted(m) for m in taken(METHODS.names())], "average")
    found = injection(together, covid.truths[0], "P1", sizes=[1, 2, 5, 10], repetitions=30)
    assert found.none == pytest.approx(0.66, abs=0.005)
    assert found.taus.mean(axis=0) == pytest.approx([0.67, 0.67, 0.70, 0.75], abs=0.006)
    assert found.alone.mean(axis=0) == pytest.approx([0.57, 0.67, 0.80, 0.87], abs=0.006)


def test_the_command_injects_into_scores_as_the_method_gives_them(covid: Real) -> None:
    """Scaled to [0, 1] the predicted scores weigh too much: τ .785 with five topics, less than those alone."""
    qrels = real_data("trec-covid-round1/qrels.txt")
    method = "soboroff(duplicates=true)"
    given = ["inject", str(covid.folder), "--qrels", str(qrels), "--method", method, "--sizes", "1,2,5,10"]
    shown = CliRunner().invoke(command, [*given, "--format", "json"], catch_exceptions=False)
    found = json.loads(shown.output)["rows"]
    assert [row["tau"] for row in found] == pytest.approx([0.769, 0.782, 0.816, 0.864], abs=0.0015)
    assert [row["tau_judged_alone"] for row in found] == pytest.approx([0.583, 0.677, 0.798, 0.872], abs=0.0015)


SIZES = (1, 2, 5, 10, 20)
GAINS = {
    "covid": ("TREC-COVID round 1", [-0.002, -0.001, 0, 0, 0]),
    "passages": ("Deep Learning 2019", [-0.035, -0.023, -0.009, -0.002, 0]),
    "deep": ("Deep Learning 2021", [-0.011, -0.007, -0.002, 0, 0]),
}
"""Name on the page, and what the worst method with weighted columns loses to the judged topics alone."""


@pytest.mark.parametrize("mix", ["weighted", "plain"])
@pytest.mark.parametrize("name", GAINS)
def test_gain_over_the_judged_topics_alone(name: str, mix: str, request: pytest.FixtureRequest) -> None:
    """The table of the page, cell by cell; weighted columns lose next to nothing, and nothing from ten topics on."""
    real: Real = request.getfixturevalue(name)
    title, worst = GAINS[name]
    gains = []
    for method in table():
        found = injection(real.predicted(method), real.truths[0], "P1", sizes=SIZES, repetitions=100, mix=mix)
        gains.append(found.taus.mean(axis=0) - found.alone.mean(axis=0))
    [line] = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if f"{title}, `{mix}`" in line]
    printed = [float(cell.replace("−", "-")) for cell in re.findall(r"[+−]?\.\d{3}", line)]
    assert np.mean(gains, axis=0) == pytest.approx(printed[::2], abs=0.0015)
    assert np.min(gains, axis=0) == pytest.approx(printed[1::2], abs=0.0025)
    if mix == "weighted":
        assert np.min(gains, axis=0) == pytest.approx(worst, abs=0.0025)
        assert np.min(gains, axis=0)[3:].min() > -0.005


def test_similar_methods_agree(covid: Real) -> None:
    """Sakai & Lin 2010: counting runs is close to Condorcet. Aslam & Savell 2003: sampling rewards similarity."""
    for one, other, least in (("sakai-lin", "nuray-can-condorcet", 0.95), ("aslam-savell", "soboroff", 0.7)):
        tau = correlations(covid.predicted(one).averages(), covid.predicted(other).averages())["τ"]
        assert tau is not None
        assert tau > least


def likeness_and_worth(real: Real, runs: tuple[str, ...]) -> tuple[list[float], list[float]]:
    """Mean similarity and its correlation with MAP: docs exchanged at random, as they are, exchanged in order."""
    lists = real.lists.select(runs).cut(100)
    relevant = lists.graded(real.qrels).relevant(real.rel)
    ap = average_precision(lists, relevant)
    likeness, worth = [], []
    for made in (exchanged_at_random(lists, relevant), lists, exchanged_in_order(lists, relevant)):
        np.testing.assert_allclose(average_precision(made, relevant), ap)
        alike = preference_similarity(made.to_runs(), ties=False)
        likeness.append(alike.mean())
        worth.append(float(np.corrcoef(alike.to_others(), ap.mean(axis=1))[0, 1]))
    return likeness, worth


def test_permutations_move_similarity_and_its_worth(covid: Real, deep: Real) -> None:
    """Carterette & Allan 2007, Table 5: at random similarity falls and its correlation with MAP rises above .84; in
    order similarity rises to .67–.80 and the correlation falls to −.05 … .6. Every AP stays as it was.
    """
    for real, runs in ((covid, covid.lists.runs[::6]), (deep, deep.lists.runs)):
        likeness, worth = likeness_and_worth(real, runs)
        assert likeness[0] < likeness[1] < likeness[2]
        assert worth[0] > worth[1] > worth[2]
        assert likeness[0] < 0.08 < 0.5 < likeness[2]
        assert worth[0] > 0.84
        assert worth[2] < 0.6
    assert likeness == pytest.approx([0.078, 0.236, 0.843], abs=0.0011)
    assert worth == pytest.approx([0.899, 0.268, 0.014], abs=0.0011)


def test_relevant_docs_are_ranked_more_alike_than_others(deep: Real) -> None:
    """Carterette & Allan 2007, Table 4: about two to one; here 2.5 for all runs, more for fewer."""
    runs = deep.lists.select(deep.lists.runs[::4]).to_runs()
    one, two = (
        preference_similarity(runs, qrels=deep.qrels, among=a, rel=2, ties=False).mean()
        for a in ("relevant", "nonrelevant")
    )
    assert one > 1.5 * two


def fit_of_emap(real: Real, preferences: str, topics: int | None = None) -> tuple[float, float, float]:
    """Share of docs with p < .2, correlation of EMAP with the similarity to the others, and R² of the probabilities."""
    judged = [topic for topic in real.qrels.topics if topic in real.lists.topics]
    lists = comparable(real.lists.to_runs(), depth=100, topics=judged[:topics])
    p = relevance(lists, preferences=preferences)
    to_others = preference_similarity(lists, preferences=preferences, ties=False).to_others()
    correlation = pearson(to_others, expected_ap(lists, p).mean(axis=1))
    fit = calibration(p, lists.graded(real.qrels).relevant(real.rel))
    return float(np.mean(p < 0.2)), correlation, fit.r2


@pytest.mark.parametrize(
    ("name", "topics", "retrieved", "both"),
    [
        ("passages", 25, (0.04, 0.92, 0.10), (0.24, 0.73, 0.03)),
        ("deep", 20, (0.01, 0.94, 0.08), (0.22, 0.24, 0.04)),
        ("covid", 8, (0.00, 0.95, 0.08), (0.22, 0.55, 0.01)),
    ],
)
def test_a_run_prefers_what_it_retrieved(
    name: str,
    topics: int,
    retrieved: tuple[float, float, float],
    both: tuple[float, float, float],
    request: pytest.FixtureRequest,
) -> None:
    """Carterette & Allan 2007: no doc has p < .2 (Table 2), ρ(d, EMAP) is .988 (§5.1), R² .066 to .123 (Table 2).

    So are the numbers where a run prefers its docs to those that it lacks, and by far not where it says nothing of
    them.
    """
    real = request.getfixturevalue(name)
    assert fit_of_emap(real, "retrieved", topics) == pytest.approx(retrieved, abs=0.0055)
    assert fit_of_emap(real, "both", topics) == pytest.approx(both, abs=0.0055)


def test_similarity_is_emap_on_all_topics(covid: Real, passages: Real, deep: Real) -> None:
    for real, correlation in ((covid, 0.938), (passages, 0.918), (deep, 0.936)):
        assert fit_of_emap(real, "retrieved")[1] == pytest.approx(correlation, abs=0.0011)


def test_counted_preferences_go_with_differences_of_probability(passages: Real) -> None:
    """§5.1: n_ij, here less n_ji, goes with p_i − p_j: .999 there, .84 here, .26 where docs must be ranked both."""
    correlations_of = {}
    lists = comparable(passages.lists.to_runs(), depth=100, topics=passages.qrels.topics[:25])
    for preferences in PREFERENCES:
        p = relevance(lists, preferences=preferences)
        values = []
        for t in range(len(lists.topics)):
            of_topic = lists.topic(t)
            opinions = [preferred(ranks[:, None], ranks[None, :], preferences) for ranks in of_topic.ranks]
            net = np.sum(opinions, axis=0)
            difference = p[of_topic.items][:, None] - p[of_topic.items][None, :]
            values.append(np.corrcoef(net.ravel(), difference.ravel())[0, 1])
        correlations_of[preferences] = float(np.mean(values))
    assert correlations_of == pytest.approx({"retrieved": 0.845, "both": 0.256}, abs=0.0011)


def test_calibration_rises_but_lies_far_below_the_diagonal(deep: Real) -> None:
    """As Table 2 of Carterette & Allan 2007: more probable docs are more often relevant, by far not often enough."""
    found = emap_calibration(deep.lists, deep.qrels, "AP(rel=2)")
    share = found.relevant / np.maximum(found.docs, 1)
    assert (np.diff(share[4:]) > 0).all()
    assert share[9] < 0.5
    assert found.r2 == pytest.approx(0.089, abs=0.0011)
    assert found.deviance == pytest.approx(0.227, abs=0.0011)


@pytest.mark.parametrize(
    ("name", "taus"), [("covid", (0.526, 0.761)), ("passages", (0.604, 0.426)), ("deep", (0.676, 0.294))]
)
def test_which_preferences_rank_better(name: str, taus: tuple[float, float], request: pytest.FixtureRequest) -> None:
    """As the page says: where runs rerank the same docs, the order among these tells more than what a run lacks."""
    real = request.getfixturevalue(name)
    truth = real.truths[0].averages()
    found = [correlations(truth, real.predicted(m).averages())["τ"] for m in ("emap(preferences=both)", "emap")]
    assert found == pytest.approx(list(taus), abs=0.0015)


def test_the_prior_matters_little(covid: Real, deep: Real) -> None:
    for real, tau in ((covid, 0.761), (deep, 0.295)):
        found = correlations(real.truths[0].averages(), real.predicted("emap(alpha=200, beta=200)").averages())["τ"]
        assert found == pytest.approx(tau, abs=0.0015)


def test_a_few_judgments_and_reweighting_on_a_subset(deep: Real) -> None:
    lists = deep.lists.select(deep.lists.runs[::6])
    result = reweighted_emap(lists, deep.qrels, rel=2, depth=50)
    assert len(result.judged) == 53 * int(np.log(len(lists.runs)))
    assert result.expected.shape == (len(lists.runs), 53)
    assert np.ptp(result.weights) > 0
