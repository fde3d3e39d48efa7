"""One small real result of every kind that has a figure, all from the simulated collection."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from assay.data import Labels, Qrels, Run
from assay.data.scores import ScoreMatrix
from assay.scoring import Aligned, evaluate
from assay.studies.simulate import Collection, simulate

EVIL = "<script>alert(1)</script>"
ZOO: dict[str, Callable[[], Any]] = {}


@cache
def collection() -> Collection:
    return simulate(topics=12, docs=200, depth=40, runs_per_group=2, manual_runs=1, workers=20)


@cache
def scores() -> tuple[ScoreMatrix, ...]:
    return tuple(evaluate(collection().runs, collection().qrels, ["AP", "nDCG@10", "P@10"]))


def hostile_names() -> tuple[list[Run], Qrels, Labels]:
    """Runs, judgments and labels in which every name is a script."""
    topics, docs = [f"{EVIL}{t}" for t in range(6)], [f"d{i}{EVIL}" for i in range(6)]
    runs = [Run.from_lists(f"{EVIL}{r}", {t: docs[i * r % 5 :] for i, t in enumerate(topics)}) for r in range(1, 5)]
    qrels = Qrels.from_dict({t: {d: (i + j) % 3 for j, d in enumerate(docs)} for i, t in enumerate(topics)})
    rows = [(t, d, f"{EVIL}w{w}", float((i + w) % 3)) for t in topics for i, d in enumerate(docs) for w in range(4)]
    return runs, qrels, Labels.from_rows(rows)


def kept(make: Callable[[], Any]) -> Callable[[], Any]:
    """Register a result by the name of the function that makes it; it is made once."""
    once = cache(make)
    ZOO[make.__name__] = once
    return once


@kept
def score_matrix() -> Any:
    return scores()[0]


@kept
def leaderboard() -> Any:
    from assay.stats import compare

    return compare(scores()[0], baseline="cygnus1")


@kept
def score_densities() -> Any:
    from assay.stats.shape import score_densities as densities

    return densities(scores()[0], names=["atlas1", "borea1"])


@kept
def rank_weights() -> Any:
    from assay.measures import parse
    from assay.measures.rank_weights import rank_weights as weights

    return weights([parse("RBP"), parse("P@10"), parse("DCG")], depth=20)


@kept
def curves_by_depth() -> Any:
    from assay.similarity.depth_curves import depth_curves

    return depth_curves(collection().runs[0], collection().runs[1])


@kept
def curves_by_day() -> Any:
    from assay.similarity.depth_curves import day_curves

    return day_curves(collection().runs[:3], collection().runs[3:6])


@kept
def entropy() -> Any:
    from assay.measures import parse
    from assay.studies.max_entropy import entropy_study

    return entropy_study(collection().runs[:3], collection().qrels, [parse("AP"), parse("P@10")], depth=40)


@kept
def two_runs() -> Any:
    from assay.stats.two_runs import compare_two

    return compare_two(scores()[0].of_run("atlas1"), scores()[0].of_run("borea1"), names=("atlas1", "borea1"))


@kept
def gated() -> Any:
    from assay.gate import gate

    runs = {run.name: run for run in collection().runs}
    return gate(runs["borea1"], runs["atlas1"], collection().qrels, "AP nDCG@10 P@10", max_drop="5%")


@kept
def two_topic_sets() -> Any:
    from assay.stats.two_sample import compare_topic_sets

    return compare_topic_sets(scores()[0].of_run("atlas1")[:6], scores()[0].of_run("atlas1")[6:], names=("old", "new"))


@kept
def all_runs_on_two_topic_sets() -> Any:
    from assay.stats import compare_sets

    ap = scores()[0]
    return compare_sets(ap.select(topics=ap.topics[:6]), ap.select(topics=ap.topics[6:]))


@kept
def factors() -> Any:
    from assay.stats import factorial

    rng = np.random.default_rng(0)
    names = [f"{stop}-{model}" for stop in "ab" for model in "xyz"]
    design = {"stop": [n[0] for n in names], "model": [n[2] for n in names]}
    matrix = ScoreMatrix.of(rng.random((6, 8)) / 4 + np.arange(6)[:, None] / 10, runs=names)
    return factorial(matrix, design)


@kept
def score_spread() -> Any:
    from assay.stats.spread import score_spread

    return score_spread(scores()[0])


@kept
def difference_spread() -> Any:
    from assay.stats.spread import difference_spread

    matrix = scores()[0]
    return difference_spread(matrix, *matrix.runs[:2])


@kept
def density() -> Any:
    from assay.stats.shape import density

    return density(scores()[0].of_run("atlas1"))


@kept
def pairs() -> Any:
    from assay.stats import all_pairs

    return all_pairs(scores()[0], "t")


@kept
def recall_precision() -> Any:
    from assay.report.curves import recall_precision

    return recall_precision(Aligned.of(collection().runs, collection().qrels))


@kept
def grades() -> Any:
    from assay.data.aligned import align

    return align(collection().runs[0], collection().qrels)


@kept
def overlap_by_depth() -> Any:
    from assay.report.curves import overlap_by_depth

    return overlap_by_depth(collection().runs[0], collection().runs[1])


@kept
def overlap_by_topic() -> Any:
    from assay.similarity.by_topic import compare_runs

    return compare_runs(collection().runs[0], collection().runs[1])


@kept
def overlap_by_p() -> Any:
    from assay.similarity.by_topic import p_sweep

    return p_sweep(collection().runs[0], collection().runs[1], [0.5, 0.8, 0.9, 0.95])


@kept
def similarity() -> Any:
    from assay.similarity.matrix import rbo_matrix

    return rbo_matrix(collection().runs)


@kept
def shared_preferences() -> Any:
    from assay.similarity.shared_preferences import preference_similarity

    return preference_similarity(collection().runs[:5], depth=20)


@kept
def over_time() -> Any:
    from assay.similarity.over_time import series

    return series(collection().runs[:6])


@kept
def two_rankings() -> Any:
    from assay.similarity.systems import compare_rankings

    return compare_rankings(scores()[0], scores()[1], resamples=20)


@kept
def contingency() -> Any:
    from assay.agreement.kappa import contingencies
    from assay.agreement.ratings import Ratings

    return contingencies(Ratings.of_qrels([collection().qrels, collection().truth]))[0]


@kept
def crowd_ranking() -> Any:
    from assay.crowd.system_ranking import ranking_agreement

    return ranking_agreement(list(collection().runs), collection().qrels, collection().truth)


@kept
def power_over_topics() -> Any:
    from assay.plan.powers import power_curve

    return power_curve([10, 25, 50, 100, 200], sigmas=[0.1, 0.2])


@kept
def power_to_find() -> Any:
    from assay.plan.powers import power_curve

    return power_curve([10, 25, 50, 100, 200], sigmas=[0.1, 0.2], delta=0.05)


@kept
def audit() -> Any:
    from assay.plan import audit

    return audit(scores()[0])


@kept
def one_sigma() -> Any:
    from assay.plan.audits import one_sigma

    return one_sigma(scores()[0], resamples=50)


@kept
def trial() -> Any:
    from assay.plan.trials import best_trial

    return best_trial(0.15, delta=0.05)


@kept
def depth() -> Any:
    from assay.plan import depth

    return depth(collection().runs, collection().qrels, pairs=20, depths=(5, 10, 20), budget=500)


@kept
def stopping() -> Any:
    from assay.plan.stopping import stopping_bias

    return stopping_bias(scores()[0], pairs=2, target=20, minimum=10, samples=50)


@kept
def sigma_samples() -> Any:
    from assay.plan.drawn_topics import sigma_samples

    return sigma_samples(scores()[0], topics=5, samples=50)


@kept
def topic_inclusion() -> Any:
    from assay.plan.drawn_topics import topic_inclusion

    matrix = scores()[0]
    return topic_inclusion(matrix.select(runs=matrix.runs[:2]), delta=0.1, minimum=3, trials=50)


@kept
def components() -> Any:
    from assay.standard.variance import variance_components

    return variance_components(scores()[0])


def _halves() -> tuple[ScoreMatrix, ScoreMatrix]:
    matrix = scores()[0]
    return matrix.select(topics=matrix.topics[:6]), matrix.select(topics=matrix.topics[6:])


@kept
def comparability() -> Any:
    from assay.standard.collections import comparability

    first, second = _halves()
    return comparability({"early": first, "late": second, "all": scores()[0]})


@cache
def _four_collections() -> dict[str, ScoreMatrix]:
    matrix = scores()[0]
    parts = {f"part {i + 1}": matrix.select(topics=matrix.topics[3 * i : 3 * i + 3]) for i in range(4)}
    parts["part 2"] = parts["part 2"].select(runs=matrix.runs[1:])
    return parts


@kept
def board() -> Any:
    from assay.board import board

    return board(_four_collections(), resamples=100)


@kept
def random_effects() -> Any:
    from assay.board import random_effects

    return random_effects(_four_collections(), scores()[0].runs[1])


@kept
def left_out_of_board() -> Any:
    from assay.board import leave_one_out

    return leave_one_out(_four_collections())


@kept
def collection_subsets() -> Any:
    from assay.board import best_collections

    return best_collections(_four_collections())


@cache
def _turns() -> ScoreMatrix:
    matrix = scores()[0]
    ids = [f"{place // 3}_{place % 3}" for place in range(len(matrix.topics))]
    return ScoreMatrix.of(matrix.values, runs=matrix.runs, topics=ids, measure=matrix.measure)


@kept
def query_variants() -> Any:
    from assay.hierarchy import query_variants

    return query_variants(_turns())


@kept
def conversations() -> Any:
    from assay.hierarchy import compare_conversations

    return compare_conversations(_turns())


@kept
def interleaved() -> Any:
    from assay.data.impressions import Impressions
    from assay.interleaving import interleave_pairs

    rng = np.random.default_rng(0)
    rows = []
    for i in range(300):
        clicks = rng.poisson([0.9, 0.6, 0.5]).tolist()
        rows.append((f"u{i % 50}", str(i), dict(zip(("dense", "bm25", "tf"), clicks, strict=True))))
    return interleave_pairs(Impressions.from_rows(rows))


@kept
def replication() -> Any:
    from assay.replication import replicate

    matrix = scores()[0]
    baseline, system = matrix.runs[:2]
    half = len(matrix.topics) // 2
    first, second = matrix.select(topics=matrix.topics[:half]), matrix.select(topics=matrix.topics[half:])
    return replicate(first, second, baseline=baseline, system=system, resamples=100)


@kept
def score_series() -> Any:
    from assay.replication import score_series

    return score_series(_four_collections(), resamples=50)


@kept
def ratio_coverage() -> Any:
    from assay.replication import ratio_coverage

    return ratio_coverage(topics=[20], effects=[1.0], trials=20, resamples=20)


@kept
def reference_size() -> Any:
    from assay.standard.reference import reference_size

    return reference_size(scores()[0], scores()[0], sizes=(3, 5, 8), samples=20)


@kept
def trend() -> Any:
    from assay.standard import trend

    first, second = _halves()
    return trend({"2025": first, "2026": second}, list(first.runs[:4]))


@kept
def item_total() -> Any:
    from assay.standard.items import item_total

    return item_total(scores()[0])


@kept
def topic_series() -> Any:
    from assay.topics import best_topics

    return best_topics(scores()[0], search="swap(starts=2, rounds=2)", repetitions=50, holdout=False)


@kept
def topic_search() -> Any:
    return topic_series().found


@kept
def stability() -> Any:
    from assay.topics import subset_stability

    return subset_stability(topic_series().found)


@kept
def conclusions() -> Any:
    from assay.topics import compare_conclusions

    return compare_conclusions(topic_series().found)


@kept
def holdout() -> Any:
    from assay.topics import hold_out

    return hold_out(scores()[0], splits=2, repetitions=20, cardinalities=(3, 6, 9), search="swap(starts=2, rounds=2)")


@kept
def clusters() -> Any:
    from assay.topics import cluster_series
    from assay.topics.problem import problem

    return cluster_series(problem(scores()[0]), repetitions=20)


@kept
def hits() -> Any:
    from assay.topics.hits import hits

    return hits(scores()[0])


@kept
def growth() -> Any:
    from assay.topics.synthetic import growth

    return growth(scores()[0], sizes=(6, 10), draws=2)


@kept
def predicted() -> Any:
    from assay.nojudgments.ranking import ranked

    return ranked(collection().runs, ["wu-crestani", "aslam-savell"], truth=scores()[0])


@kept
def predicted_alone() -> Any:
    from assay.nojudgments.ranking import ranked

    return ranked(collection().runs, ["wu-crestani", "aslam-savell"])


@kept
def difficulty() -> Any:
    from assay.nojudgments.difficulty import difficulty

    return difficulty(predicted().by_topic(), scores()[0])


@kept
def calibration() -> Any:
    from assay.nojudgments.expected import calibration

    rng = np.random.default_rng(0)
    p = rng.random(500)
    return calibration(p, rng.random(500) < p)


@kept
def accuracies() -> Any:
    return predicted().accuracy()


@kept
def method_agreement() -> Any:
    return predicted().agreement()


@kept
def methods_compared() -> Any:
    from assay.nojudgments.learn import Collection
    from assay.nojudgments.over_collections import methods_compared

    found = predicted()
    collections = [Collection(name, 2001, found.predictions, found.truth) for name in ("one", "two")]
    return methods_compared(collections)


@kept
def transfer() -> Any:
    from assay.nojudgments.between_collections import transfer
    from assay.nojudgments.learn import Collection

    found = predicted()
    return transfer([Collection(name, 2001, found.predictions, found.truth) for name in ("one", "two")], "ridge")


@kept
def ease_comparison() -> Any:
    from assay.nojudgments.ease import ease_comparison

    return ease_comparison(scores()[0], predicted().by_topic())


@kept
def injection() -> Any:
    from assay.nojudgments.inject import injection

    return injection(predicted().by_topic(), scores()[0], "P1", sizes=(2, 4, 8), repetitions=2)


@kept
def judging() -> Any:
    from assay.data.lists import collected
    from assay.pooling import curves

    return curves(
        collected(collection().runs, collection().qrels), ["depth", "move-to-front"], budgets=[5, 10, 20], depth=20
    )


@kept
def left_out() -> Any:
    from assay.data.lists import collected
    from assay.pooling import left_out

    return left_out(collected(collection().runs, collection().qrels), depth=20)


@kept
def contributions() -> Any:
    from assay.data.lists import collected
    from assay.pooling import pool
    from assay.pooling.pools import contributions

    seen = collected(collection().runs, collection().qrels)
    return contributions(seen, pool(seen, "depth(k=10)"))


@kept
def adjustment() -> Any:
    from assay.data.lists import collected
    from assay.pooling import adjusted

    return adjusted(collected(collection().runs, collection().qrels), "eridan1", depth=20)


@kept
def adjustment_errors() -> Any:
    from assay.data.lists import collected
    from assay.pooling.adjustment_errors import adjustment_accuracy

    seen = collected(collection().runs, collection().qrels, depth=20)
    return adjustment_accuracy(seen, widths=(3, 5), common=(2, 4), samples=2, topic_samples=2, depth=10)


@kept
def unpooled_bias() -> Any:
    from assay.data.lists import collected
    from assay.pooling.adjustment_errors import unpooled_bias

    seen = collected(collection().runs, collection().qrels, depth=20)
    return unpooled_bias(seen, widths=(3, 5), samples=3)


@kept
def confidence() -> Any:
    from assay.data.lists import collected
    from assay.pooling.judging import topic_orders
    from assay.pooling.mtc import confidence

    seen = collected(collection().runs[:5], collection().qrels, depth=10)
    return confidence(topic_orders([seen.topic(t) for t in range(len(seen.topics))], "mtc", seed=0))


@kept
def workers() -> Any:
    from assay.crowd.quality import worker_quality

    return worker_quality(collection().labels)


@kept
def topic_quality() -> Any:
    from assay.crowd.quality import topic_quality

    return topic_quality(collection().labels, reference=collection().qrels)


@kept
def doc_quality() -> Any:
    from assay.crowd.quality import doc_quality

    return doc_quality(collection().labels)


@kept
def crowd_reliability() -> Any:
    from assay.crowd import reliability
    from tests.crowd.informed_runs import uniform, world

    rng = np.random.default_rng(0)
    drawn = world(rng)
    return reliability(drawn.judged(drawn.raw), drawn.gold(uniform(rng, 5)[0], None))


@kept
def aggregated() -> Any:
    from assay.crowd.aggregation import aggregate

    return aggregate(collection().labels)


@kept
def cuts() -> Any:
    from assay.crowd.cuts import best_cuts

    return best_cuts(collection().labels, "H_t+a")


@kept
def honest_cuts() -> Any:
    from assay.crowd import honest_cuts

    return honest_cuts(collection().labels, "Tw_alpha", halves=6)


@kept
def ranking_over_cuts() -> Any:
    from assay.crowd.cut_rankings import ranking_over_cuts

    return ranking_over_cuts(collection().runs[:5], collection().labels, honest_cuts(), measure="AP", draws=5)


@kept
def cuts_by_tau() -> Any:
    from assay.crowd.cut_rankings import cuts_by_tau

    return cuts_by_tau(collection().runs[:6], collection().labels, collection().qrels, "Tw_alpha", measure="AP")


@kept
def cut_groups() -> Any:
    from assay.crowd.cutgroups import cut_groups

    return cut_groups(collection().labels, levels=3, reference=collection().qrels, size=1)


@kept
def conduct() -> Any:
    from dataclasses import replace

    from assay.crowd.conduct import conduct

    labels = collection().labels
    went = np.arange(len(labels)) % 7 == 0
    return conduct(replace(labels, back=went.astype(np.int64), tested=1.0 - went))


@kept
def gold_docs() -> Any:
    from dataclasses import replace

    from assay.crowd.conduct import gold_docs

    labels = collection().labels
    first_docs = np.where(labels.doc < 4, 1.0 * labels.doc, np.nan)
    return gold_docs(replace(labels, gold=first_docs))


@kept
def allocation() -> Any:
    from assay.crowd.allocation import next_labels

    return next_labels(collection().labels, collection().runs[:4], "DCG@10")


@kept
def allocation_replay() -> Any:
    from assay.crowd.allocation_replay import replay_allocation

    return replay_allocation(collection().labels, collection().runs[:4], "DCG@10", most_labels=2, repeats=2)


@kept
def gain_profile() -> Any:
    from assay.crowd.profiles import gain_profile

    return gain_profile(collection().labels, collection().qrels)


@kept
def time_by_position() -> Any:
    from assay.crowd.effort import time_by_position

    return time_by_position(collection().labels)


@kept
def fewer_judgments() -> Any:
    from assay.crowd.effort import fewer_judgments

    return fewer_judgments(collection().labels, collection().qrels, most=4, repeats=3)


@kept
def run_out() -> Any:
    from assay.agreement.scales import scale_in
    from assay.crowd.effort import run_out

    return run_out(collection().labels, scale=scale_in(collection().labels))


@kept
def labels() -> Any:
    return collection().labels


@kept
def agreement() -> Any:
    from assay.agreement.result import agreement

    return agreement(collection().labels, measures=["alpha(level=ordinal)"])


@kept
def collection_facts() -> Any:
    from assay.pooling.collection_facts import describe

    return describe(collection().qrels)


@kept
def collection_parts() -> Any:
    from assay.pooling.collection_facts import describe

    return describe(collection().qrels, parts={"first": "301-310", "second": "311-399"})


@kept
def pool_by_type() -> Any:
    from assay.data.info import RunsInfo
    from assay.pooling.collection_facts import pool_by_type

    runs = collection().runs
    types = {run.name: ("manual",) if "man" in run.name else ("automatic",) for run in runs}
    return pool_by_type(runs, collection().qrels, RunsInfo("runs.csv", ("type",), types), depth=10)


@kept
def half_errors() -> Any:
    from assay.standard.halves import half_errors

    return half_errors(list(scores())[:2], splits=50)


@kept
def sets_of_one_size() -> Any:
    from assay.topics import search_subsets

    return search_subsets(scores()[0], cardinalities=(3,), search="swap(rounds=1)")


@kept
def subset_means() -> Any:
    from assay.topics.subset_means import subset_means

    return subset_means(topic_series().found, (2, 4))


@kept
def cluster_list() -> Any:
    from assay.topics.clusters import cluster_list

    return cluster_list(scores()[0], 3, linkage="k-means")


@kept
def best_against_a_truth() -> Any:
    from assay.topics import best_topics

    predicted, judged = scores()[:2]
    return best_topics(predicted, truth=judged, search="swap(rounds=1)", repetitions=50, holdout=False)


@kept
def good_subsets() -> Any:
    from assay.topics import good_subsets

    return good_subsets(scores()[0], {"tau": 0.8, "pearson": 0.9}, repetitions=50)


@kept
def incompleteness() -> Any:
    from assay.studies import incompleteness, simulate

    small = simulate(topics=6, docs=100, depth=30, runs_per_group=1, manual_runs=0)
    return incompleteness(small.runs, small.qrels, ["AP", "bpref"], shares=[1, 0.5, 0.2], draws=2)


@kept
def discriminative_power() -> Any:
    from assay.studies.discriminative import discriminative_power

    return discriminative_power(list(scores()), resamples=50)


@kept
def swaps() -> Any:
    from assay.studies.swaps import swap_rates

    return swap_rates(scores()[0], draws=20)


@kept
def predictivity() -> Any:
    from assay.studies.measure_rankings import predictivity

    return predictivity(list(scores()), splits=10)


@kept
def measure_tau() -> Any:
    from assay.studies.measure_rankings import measure_tau

    return measure_tau(list(scores()))


@kept
def concordance() -> Any:
    from assay.studies.concordance import concordance

    return concordance(scores()[0], scores()[1], [scores()[2]])


@kept
def methods() -> Any:
    from assay.studies.method_comparison import method_test

    some = (collection().runs, collection().qrels)
    return method_test("topics(count=3)", "topics(count=6)", {"one": some, "two": some}, sizes=(4, 6), subsets=4)


def types_of_runs() -> dict[str, list[str]]:
    manual = [run.name for run in collection().runs if run.name.startswith("hand")]
    return {"manual": manual, "automatic": [run.name for run in collection().runs if run.name not in manual]}


@kept
def run_similarity() -> Any:
    from assay.studies import similarity_study

    return similarity_study(collection().runs, collection().qrels, groups=types_of_runs())


@kept
def exchanged() -> Any:
    from assay.studies import exchange_study

    return exchange_study(collection().runs, collection().qrels)


@kept
def reweighted() -> Any:
    from assay.nojudgments.after_reweighting import reweighted_ranking

    return reweighted_ranking(collection().runs, collection().qrels, groups=types_of_runs())


@kept
def votes() -> Any:
    from assay.studies.votes import Vote, predictive_power

    better = scores()[0].of_run("atlas1") > scores()[0].of_run("eridan1")
    cast = [
        Vote(t, "atlas1", "eridan1", "left" if good else "right")
        for t, good in zip(scores()[0].topics, better, strict=True)
    ]
    return predictive_power(scores()[1], cast)


@kept
def swapped_lists() -> Any:
    from assay.studies.swapped_lists import swapped_lists

    return swapped_lists(swaps=5, repetitions=3)


@kept
def published() -> Any:
    from assay.data.published import PublishedScore
    from assay.studies import survey

    reported = [
        ("baseline", 0.20, "a", 2001), ("improved", 0.23, "a", 2001), ("baseline", 0.19, "b", 2004),
        ("improved", 0.25, "b", 2004), ("improved", 0.21, "", 2006),
    ]  # fmt: skip
    rows = [PublishedScore(kind, score, paper=paper, year=year) for kind, score, paper, year in reported]
    return survey(rows, tracks={"": [scores()[0]]})


@kept
def campaign_curves() -> Any:
    from assay.crowd.campaigns import Campaign, label_distributions

    campaigns = []
    for name in ("first", "second"):
        rows = [("1", doc, worker, (i + len(name)) % 4) for i, doc in enumerate("abcdefgh") for worker in "uv"]
        campaigns.append(Campaign.of(name, Labels.from_rows(rows), "S4"))
    return label_distributions(campaigns)


@cache
def judge_audit() -> Any:
    from assay.judges import judge

    made = collection()
    return judge(made.qrels, made.machine, made.runs, resamples=50)


@kept
def judges_audited() -> Any:
    return judge_audit()


@kept
def judge_labels() -> Any:
    return judge_audit().labels


@kept
def judge_rankings() -> Any:
    return judge_audit().rankings


@kept
def judge_bias() -> Any:
    return judge_audit().bias[1]


@kept
def judge_conclusions() -> Any:
    return judge_audit().conclusions


@kept
def judge_circularity() -> Any:
    return judge_audit().circularity


@kept
def judge_panel() -> Any:
    return judge_audit().panel


def assigned_answers() -> Any:
    """Nuggets that people and a machine assigned to the answers of three runs."""
    from assay.data.assignments import Assignments

    words = ("support", "partial_support", "not_support", "support", "not_support")
    rows = []
    for topic in range(6):
        for skill, run in enumerate(("good", "fair", "poor")):
            for nugget in range(4):
                importance = ("vital", "okay")[nugget % 2]
                by_people = words[(topic + nugget * (skill + 1)) % 5]
                by_machine = words[(topic + nugget * (skill + 1) + (topic == 2)) % 5]
                rows.append((str(topic), run, f"n{nugget}", importance, by_people, "people"))
                rows.append((str(topic), run, f"n{nugget}", importance, by_machine, "machine"))
    return Assignments.from_rows(rows)


@kept
def answer_scores() -> Any:
    from assay.scoring.assigned_scores import evaluate_nuggets

    return evaluate_nuggets(assigned_answers(), assessor="people")


@kept
def assignment_agreement() -> Any:
    from assay.agreement.assigned_agreement import assignment_agreement as agreed

    return agreed(assigned_answers(), ["V_strict", "A_lenient"], per_topic=True, per_run=True)


@kept
def judge_estimates() -> Any:
    from assay.judges import estimate

    made = collection()
    few = {topic: docs for i, (topic, docs) in enumerate(made.qrels.to_dict().items()) if i < 6}
    return estimate(few, made.machine, made.runs, judge="careful")


@kept
def judge_doc_estimates() -> Any:
    from assay.data.lists import collected
    from assay.judges import estimate_docs
    from assay.pooling import sample

    made = collection()
    lists = collected(made.runs, made.qrels)
    drawn = sample(lists, "uniform(share=0.3,k=10)").qrels(lists, unjudged=0)
    return estimate_docs(drawn, made.machine, made.runs, judge="careful")


@kept
def run_in_a_store() -> Any:
    from tempfile import TemporaryDirectory

    from assay.store import Store
    from assay.store.run_facts import run_facts

    made = collection()
    with TemporaryDirectory() as folder, Store(folder) as store:
        store.collections.add("simulated", measure="AP")
        store.qrels.add("simulated", made.qrels)
        added = [store.runs.add("simulated", run)[0] for run in made.runs[:4]]
        return run_facts(store, added[1], baseline=added[0])
