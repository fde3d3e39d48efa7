"""Units of what is said of judges: topics where labels come by topic, docs where docs were drawn, no width of 0."""

from __future__ import annotations

import dataclasses
from functools import cache

import numpy as np
import numpy.typing as npt
import pytest
from sklearn.metrics import cohen_kappa_score

import assay
from assay.agreement.alpha import alpha_of_coincidences
from assay.core.errors import DataError
from assay.data import Labels, Qrels, ScoreMatrix
from assay.data.lists import collected
from assay.judges import estimate_docs, estimate_scores, judge, prevalence, rogan_gladen
from assay.judges.judge_differences import compared, jackknife_ends, leave_topics_out, pseudo_values
from assay.judges.label_audit import label_audit
from assay.judges.label_cuts import cut_of
from assay.judges.labelled_pairs import Labelled, labelled, middle
from assay.judges.little_seen import says_little
from assay.judges.relevant_share import BOUNDS, T, prevalence_of
from assay.judges.topic_estimators import ESTIMATORS, estimated
from assay.judges.topic_means import mean_ends, mean_p
from assay.pooling import sample
from assay.stats.clustered import jackknife
from assay.stats.max_t import flipped_family
from tests.judges.simulated import labels_of
from tests.judges.test_audit import collection, real_audit, real_labels

Floats = npt.NDArray[np.float64]
PEOPLE = [[8, 2, 3, 27], [5, 3, 2, 30], [12, 1, 6, 21], [2, 2, 1, 35], [9, 4, 4, 23], [6, 1, 2, 31]]
CALLED = list(zip([14, 9, 20, 5, 11, 16, 7, 12], [40, 40, 38, 40, 40, 42, 40, 40], strict=True))
RNG = np.random.default_rng


# Prevalence ---------------------------------------------------------------------------------------------------------


def test_rogan_gladen_by_topics_as_worked_out() -> None:
    found = rogan_gladen(PEOPLE, CALLED)
    assert found.value is not None
    assert (found.sensitivity, found.false_positives) == pytest.approx((0.763636, 0.097297), abs=5e-7)
    assert (found.called, found.value) == pytest.approx((0.293750, 0.294824), abs=5e-7)
    assert (found.human_error, found.machine_error) == pytest.approx((0.0497418, 0.0659229), abs=5e-8)
    assert found.df == pytest.approx(11.8584, abs=5e-5)
    assert (found.low, found.high) == pytest.approx((0.11465, 0.47500), abs=5e-6)
    assert found.method == T


def test_influence_values_are_near_the_jackknife() -> None:
    def share(people: Floats, called: Floats) -> float:
        tp, fn, fp, tn = people.sum(axis=0)
        s, f = tp / (tp + fn), fp / (fp + tn)
        return float((called[:, 0].sum() / called[:, 1].sum() - f) / (s - f))

    people, called = np.array(PEOPLE, dtype=float), np.array(CALLED, dtype=float)
    by_people = [share(np.delete(people, i, axis=0), called) for i in range(6)]
    by_machine = [share(people, np.delete(called, i, axis=0)) for i in range(8)]
    assert jackknife(0.0, by_people).error == pytest.approx(0.05167, abs=5e-6)
    assert jackknife(0.0, by_machine).error == pytest.approx(0.06575, abs=5e-6)


def test_topics_on_both_sides_are_added_before_they_are_squared() -> None:
    """If all machine topics are the human ones, the error is that of the jackknife over the topics together."""
    called = np.array(CALLED[:6], dtype=float)
    together = rogan_gladen(PEOPLE, called, same=np.arange(6))
    people = np.array(PEOPLE, dtype=float)
    shares = []
    for i in range(6):
        tp, fn, fp, tn = np.delete(people, i, axis=0).sum(axis=0)
        rest = np.delete(called, i, axis=0).sum(axis=0)
        s, f = tp / (tp + fn), fp / (fp + tn)
        shares.append((rest[0] / rest[1] - f) / (s - f))
    assert together.machine_error == 0
    assert together.df == pytest.approx(5)
    assert together.human_error == pytest.approx(jackknife(0.0, shares).error, rel=0.05)
    apart = rogan_gladen(PEOPLE, called)
    assert together.human_error != pytest.approx(np.hypot(apart.human_error, apart.machine_error), rel=0.05)


@pytest.mark.parametrize(
    ("people", "said"),
    [
        ([[2, 2, 20, 20], [3, 3, 15, 15]], "says nothing about the share"),
        ([[0, 0, 2, 20], [0, 0, 5, 15]], "people called no doc relevant"),
        ([[3, 1, 0, 0], [5, 2, 0, 0]], "people called every doc relevant"),
    ],
)
def test_a_judge_that_says_nothing_leaves_the_share_open(people: list[list[int]], said: str) -> None:
    found = rogan_gladen(people, CALLED)
    assert (found.value, found.low, found.high) == (None, 0.0, 1.0)
    assert said in found.why


def test_one_topic_has_no_interval_and_equal_topics_a_wide_one() -> None:
    alone = rogan_gladen(PEOPLE[:1], CALLED)
    assert alone.low is None
    assert "no interval" in alone.why
    perfect = rogan_gladen([[0, 0, 0, 40]] * 5 + [[2, 0, 0, 38]], [(0, 40)] * 8)
    assert perfect.method == BOUNDS
    assert (perfect.value, perfect.low) == (0.0, 0.0)
    assert perfect.high is not None
    assert perfect.high > 0.2


@pytest.mark.parametrize("counts", [([[1, 2, 3]], [(1, 2)]), ([[1, -1, 3, 4]], [(1, 2)]), ([[1, 1, 1, 1]], [(3, 2)])])
def test_rogan_gladen_refuses_counts_that_cannot_be(counts: tuple[list[list[int]], list[tuple[int, int]]]) -> None:
    with pytest.raises(DataError, match=r"counts|a count is|more docs are called"):
        rogan_gladen(*counts)


@pytest.mark.parametrize(("topics", "mean", "strength"), [(5, 0.3, 3.0), (25, 0.1, 3.0), (15, 0.05, 1.0)])
def test_rogan_gladen_covers_with_topics_as_units(topics: int, mean: float, strength: float) -> None:
    """Shares of relevant docs, sensitivity and false positives differ from topic to topic; 40 docs each."""
    rng = RNG(topics)
    hit = 0
    for _ in range(250):
        share = rng.beta(mean * strength, (1 - mean) * strength, topics + 50)
        relevant = rng.binomial(40, share)
        true = rng.binomial(relevant, rng.beta(8, 2, topics + 50))
        false = rng.binomial(40 - relevant, rng.beta(1, 9, topics + 50))
        counts = np.stack([true, relevant - true, false, 40 - relevant - false], axis=1)
        machine = np.stack([true + false, np.full(topics + 50, 40)], axis=1)
        found = rogan_gladen(counts[:topics], machine[topics:])
        hit += found.low is not None and found.high is not None and found.low <= mean <= found.high
    assert hit / 250 >= 0.92


@cache
def real_pairs(year: str) -> Labelled:
    return labelled(*real_labels(year))


@pytest.mark.parametrize("year", ["2019", "2021"])
def test_prevalence_covers_on_held_out_topics_of_real_judges(year: str) -> None:
    """Twenty splits, 15 human topics: docs as units cover less than half of the shares, topics nearly all."""
    pairs = real_pairs(year)
    rng = RNG(0)
    hits, by_docs = np.zeros(7), np.zeros(7)
    for _ in range(20):
        chosen = np.zeros(len(pairs.topics), dtype=bool)
        chosen[rng.choice(len(pairs.topics), 15, replace=False)] = True
        inside = chosen[pairs.topic]
        split = dataclasses.replace(pairs, human=np.where(inside, pairs.human, np.nan))
        found = prevalence_of(split, rel=2)
        assert found.unit == "topic"
        assert all(row.human_topics == 15 for row in found.rows)
        relevant = pairs.human >= 2
        for j, row in enumerate(found.rows):
            rest = pairs.by_machine[j] & ~inside
            truth = relevant[rest].mean()
            share = row.share
            hits[j] += share.low is not None and share.high is not None and share.low <= truth <= share.high
            positive = pairs.machine[j] >= cut_of(pairs, j, 2).of_topic[pairs.topic]
            cells = (relevant & positive, relevant & ~positive, ~relevant & positive, ~relevant & ~positive)
            docs = np.stack(cells, axis=1)[pairs.by_machine[j] & inside]
            old = rogan_gladen(docs, np.stack([positive[rest], np.ones(rest.sum())], axis=1))
            by_docs[j] += old.low is not None and old.high is not None and old.low <= truth <= old.high
    assert (hits / 20 >= 0.9).all()
    assert (by_docs / 20 <= 0.5).all()


def test_what_people_judged_all_has_no_interval() -> None:
    human = {str(t): {f"d{i}": int(i < 3) for i in range(10)} for t in range(4)}
    machine = {t: {d: {"g": int(d < "d5")} for d in docs} for t, docs in human.items()}
    found = prevalence(human, machine)
    share = found.rows[0].share
    assert (share.value, share.low, share.high) == (0.3, None, None)
    assert "people judged all its docs" in " ".join(found.table().notes)
    assert found.table().rows[0][-2:] == (None, None)


def test_docs_drawn_one_by_one_are_units() -> None:
    runs, qrels = collection()
    lists = collected(runs, qrels)
    drawn = sample(lists, "uniform(share=0.3,k=20)", seed=1).qrels(lists, unjudged=0)
    found = prevalence(drawn, labels_of(qrels, ("noisy",)))
    assert found.unit == "doc"
    assert found.record()["unit"] == "doc"
    assert "docs as units" in " ".join(found.table().notes)
    by_topics = prevalence(dataclasses.replace(drawn, probabilities=None), labels_of(qrels, ("noisy",)))
    assert by_topics.unit == "topic"


# Estimates from few human topics ------------------------------------------------------------------------------------


def success(rng: np.random.Generator, topics: int, share: float, error: float) -> tuple[Floats, Floats, Floats]:
    truth = (rng.random(topics + 40) < share).astype(float)
    seen = np.where(rng.random(topics + 40) < error, 1 - truth, truth)
    return truth[None, :topics], seen[None, :topics], seen[None, topics:]


@pytest.mark.parametrize("method", ESTIMATORS.names())
def test_twelve_topics_of_zero_leave_room(method: str) -> None:
    none = np.zeros((1, 12))
    found = estimated(none, none, np.zeros((1, 30)), method, limits=(0, 1))
    low, high = found.interval()
    assert low[0] == 0
    assert high[0] > 0.2
    if method == "classical":
        assert high[0] == pytest.approx(0.265, abs=5e-4)
    unknown = estimated(none, none, np.zeros((1, 30)), method)
    assert np.isnan(unknown.interval()[1][0])
    assert "no interval" in unknown.remarks()[0]


@pytest.mark.parametrize("topics", [6, 10])
def test_cross_fitted_estimates_of_success_cover(topics: int) -> None:
    """By t alone they cover .49 and .63 here."""
    rng = RNG(topics)
    hit = plain = 0
    for _ in range(60):
        y, f, u = success(rng, topics, 0.1, 0.1)
        found = estimated(y, f, u, limits=(0, 1))
        low, high = found.interval()
        hit += low[0] <= 0.1 <= high[0]
        assert high[0] - low[0] > 0.1
        half = 2.7 * found.error[0]
        plain += abs(found.value[0] - 0.1) <= half
    assert hit / 60 >= 0.93
    assert plain / 60 < 0.8


def test_two_topics_both_won_show_little() -> None:
    ones = np.ones((1, 2))
    found = estimated(ones, ones, np.ones((1, 5)), "classical", limits=(-1, 1))
    low, high = found.interval()
    assert low[0] == pytest.approx(2 * np.sqrt(0.025) - 1)
    assert high[0] == 1.0
    assert found.p()[0] == pytest.approx(0.5)


def test_p_and_interval_of_bounds_agree() -> None:
    rng = RNG(3)
    for wins in (3, 6, 9):
        y = np.array([[1.0] * wins + [0.0] * (12 - wins)])
        f = np.where(rng.random((1, 12)) < 0.1, 1 - y, y)
        u = (rng.random((1, 30)) < 0.5).astype(float)
        found = estimated(y, f, u, limits=(-1, 1))
        low, _ = found.interval()
        assert found.little.all()
        assert (found.p()[0] < 0.05) == (low[0] > 0)


def test_what_shows_little_is_counted_on_scores_and_rectifiers() -> None:
    rng = RNG(0)
    y, f = rng.random((4, 12)), rng.random((4, 12))
    y[1] = 0
    f[2] = y[2]
    weight = np.array([0.5, 0.0, 0.5, 0.0])
    assert says_little(y, f, weight).tolist() == [False, True, True, False]


def test_estimates_of_scores_say_why_there_are_bounds() -> None:
    names = [str(t) for t in range(30)]
    people = ScoreMatrix.of(np.zeros((1, 12)), runs=["mine"], topics=names[:12], measure="success@1")
    machine = ScoreMatrix.of(np.zeros((1, 30)), runs=["mine"], topics=names, measure="success@1")
    found = estimate_scores(people, machine)
    row = found.table().rows[0]
    assert row[2] == 0.0
    assert row[3] > 0.2
    notes = " ".join(found.table().notes)
    assert "too few of 12 human topics are unlike the others for a t interval" in notes
    assert found.unit == "topic"


def test_means_of_topics_never_have_a_width_of_0() -> None:
    same = np.full((1, 25), 0.0)
    low, high = mean_ends(same, 0.95, (-1, 1))
    assert low[0] < 0 < high[0]
    assert mean_p(same, (-1, 1))[0] == 1
    assert mean_p(np.ones((1, 2)), (-1, 1))[0] == pytest.approx(0.5)
    assert np.isnan(mean_ends(same, 0.95, None)[0][0])
    constant = np.full((1, 10), 0.3)
    low, high = mean_ends(constant, 0.95, (-1, 1))
    assert low[0] < 0.3 < high[0]


# Judges compared ----------------------------------------------------------------------------------------------------


def five_point(qrels: Qrels) -> Labels:
    """A judge that says 4 or 5 of relevant docs and 0 to 3 of the others, beside a binary one."""
    rng = RNG(0)
    relevant = qrels.grades >= 1
    fine = np.where(relevant, rng.integers(4, 6, len(relevant)), rng.integers(0, 4, len(relevant)))
    wrong = rng.random(len(relevant)) < 0.25
    binary = np.where(wrong, ~relevant, relevant)
    docs, topics = qrels.docs.tolist(), [qrels.topics[t] for t in qrels.topic_of_row().tolist()]
    rows = [(topics[i], docs[i], "five", float(fine[i])) for i in range(len(docs))]
    rows += [(topics[i], docs[i], "binary", float(binary[i])) for i in range(len(docs))]
    return Labels.from_rows(rows)


def test_a_fine_scale_is_cut_where_it_agrees_and_not_in_the_middle() -> None:
    _, qrels = collection()
    pairs = labelled(qrels, five_point(qrels)).compared()
    five = pairs.place("five")
    assert middle(pairs.scales[five]) < 4
    cut = cut_of(pairs, five, 1)
    assert cut.whole == 4
    assert set(cut.of_topic.tolist()) == {4.0}
    audit = judge(qrels, five_point(qrels))
    assert audit.labels.standing.best(("five", "binary")) == "five"
    assert audit.labels.standing.value("five") == 1.0
    assert "five 4 (fitted)" in audit.labels.standing.footing.how


def test_no_topic_chooses_its_own_cut() -> None:
    """On one fold of topics a judge shifts its scale: its cut there is that of the others."""
    human = {str(t): {f"d{i}": int(i >= 5) for i in range(10)} for t in range(20)}
    machine = {t: {d: {"j": int(d[1:]) + (2 if int(t) == 7 else 0)} for d in docs} for t, docs in human.items()}
    pairs = labelled(human, machine)
    assert cut_of(pairs, 0, 1).of_topic[pairs.topics.index("7")] == 5


@pytest.mark.parametrize(
    ("year", "name", "rel", "in_the_middle", "fitted"),
    [
        ("2019", "gpt4-exam-graded-mean", 1, 0.208, 0.422),
        ("2021", "gpt4-exam-graded-mean", 1, 0.356, 0.550),
        ("2021", "gpt4-exam-graded", 2, 0.286, 0.403),
    ],
)
def test_a_judge_cut_at_its_middle_looks_worse_than_it_is(
    year: str, name: str, rel: float, in_the_middle: float, fitted: float
) -> None:
    pairs = real_pairs(year).compared()
    j = pairs.place(name)
    both = pairs.by_machine[j]
    people = pairs.human[both] >= rel
    found = []
    for cuts in (middle(pairs.scales[j]), cut_of(pairs, j, rel).of_topic[pairs.topic]):
        found.append(cohen_kappa_score(people, (pairs.machine[j] >= cuts)[both]))
    assert found == pytest.approx([in_the_middle, fitted], abs=0.0005)


def test_judges_on_unlike_scales_are_compared_by_one_coefficient() -> None:
    """α ordinal of grades made umbrela the winner on DL 2019 by .58 to .55; on one footing the binary ones lead."""
    audit = label_audit(real_pairs("2019"), rel=1)
    standing = audit.standing
    assert standing.footing.coefficient == "α nominal"
    assert audit.value("gpt4-umbrela", "α ordinal") == pytest.approx(0.580, abs=0.001)
    assert standing.best(standing.names) == "gpt4o-binary"
    assert standing.value("gpt4o-binary") == pytest.approx(0.549, abs=0.001)
    assert standing.value("gpt4-umbrela") == pytest.approx(0.500, abs=0.001)
    assert audit.differences is not None
    pair = audit.differences.of("gpt4-umbrela", "gpt4o-binary")
    assert pair.p is not None
    assert pair.p > 0.05
    assert pair.low is not None
    assert pair.high is not None
    assert pair.low < 0 < pair.high
    assert audit.differences.of("gpt4o-binary", "llama3.2-binary").p == pytest.approx(1 / 1001)
    said = " ".join(judge(*real_labels("2019")).sentences())
    assert "gpt4o-binary agrees significantly more than" in said
    assert "It is not shown that gpt4o-binary agrees more than" in said


def test_the_family_is_max_t_on_pseudo_values() -> None:
    rng = RNG(1)
    tables = rng.integers(1, 30, (3, 12, 2, 2)).astype(float)

    def alpha(table: Floats) -> Floats:
        met = table + np.swapaxes(table, -1, -2)
        return alpha_of_coincidences(met, np.array([0.0, 1.0]), level="nominal")

    values = np.array([float(alpha(table.sum(axis=0))) for table in tables])
    loop = np.array([[float(alpha(np.delete(t, i, axis=0).sum(axis=0))) for i in range(12)] for t in tables])
    left_out = np.stack([alpha(leave_topics_out(table)) for table in tables])
    assert left_out == pytest.approx(loop)
    pairs = (np.array([0, 0, 1]), np.array([1, 2, 2]))
    found = compared("abc", values, left_out, pairs, "α")
    pseudo = np.stack([pseudo_values(v, row) for v, row in zip(values, left_out, strict=True)])
    assert pseudo.mean(axis=1) == pytest.approx(values)
    moved = 12 * values[:, None] - 11 * left_out
    assert pseudo - pseudo.mean(axis=1, keepdims=True) == pytest.approx(moved - moved.mean(axis=1, keepdims=True))
    family = flipped_family(pseudo, *pairs)
    assert [row.p for row in found.rows] == pytest.approx(family.p)
    error = jackknife(0.0, left_out[0] - left_out[1]).error
    assert found.rows[0].high == pytest.approx(values[0] - values[1] + family.critical * error)


def test_an_undefined_coefficient_has_no_interval() -> None:
    assert jackknife_ends(0.5, np.array([0.4, np.nan, 0.6]), 0.95) == (None, None)
    values, left_out = np.array([0.5, 0.4]), RNG(0).normal(0.5, 0.1, (2, 12))
    left_out[1, 3] = np.nan
    row = compared("ab", values, left_out, (np.array([0]), np.array([1])), "α").rows[0]
    assert (row.low, row.high, row.p) == (None, None, None)


@pytest.mark.parametrize("topics", [5, 10, 25])
def test_the_difference_of_two_judges_covers(topics: int) -> None:
    """Two judges with the same errors, whose topics differ: the difference is 0."""
    rng = RNG(topics)
    hit = 0
    for _ in range(150):
        share = rng.beta(2, 4, topics)
        relevant = rng.random((topics, 40)) < share[:, None]
        left_out, values = [], []
        for _ in range(2):
            wrong = rng.random((topics, 40)) < rng.beta(2, 6, topics)[:, None]
            called = relevant ^ wrong
            cells = [[~relevant & ~called, ~relevant & called], [relevant & ~called, relevant & called]]
            table = np.array([[cell.sum(axis=1) for cell in row] for row in cells]).transpose(2, 0, 1).astype(float)
            met = table + np.swapaxes(table, -1, -2)
            values.append(float(alpha_of_coincidences(met.sum(axis=0), np.array([0.0, 1.0]), level="nominal")))
            left_out.append(alpha_of_coincidences(leave_topics_out(met), np.array([0.0, 1.0]), level="nominal"))
        low, high = jackknife_ends(values[0] - values[1], left_out[0] - left_out[1], 0.95, (-2.0, 2.0))
        hit += low is not None and high is not None and low <= 0 <= high
    assert hit / 150 >= 0.91


def test_intervals_of_rankings_are_not_too_short() -> None:
    """τ of 40 runs and 10 topics: the error of resampled topics covered .74 of the true τ."""
    from assay.judges.ranking_audit import ranking_audit
    from assay.rankings.row_pairs import kendall_pairs

    rng = RNG(5)
    hit = 0
    for _ in range(60):
        true = rng.normal(0, 0.1, 40)
        by_judge = true + rng.normal(0, 0.03, 40)
        noise = rng.normal(0, 0.1, (40, 10))
        human = ScoreMatrix.of(true[:, None] + noise, measure="AP")
        machine = ScoreMatrix.of(by_judge[:, None] + 0.7 * noise + rng.normal(0, 0.07, (40, 10)), measure="AP")
        row = ranking_audit(human, [machine], ["j"], resamples=0).rows[0]
        truth = float(kendall_pairs(by_judge[None], true[None])[0])
        hit += row.low is not None and row.high is not None and row.low <= truth <= row.high
    assert hit / 60 >= 0.85


def test_every_part_of_an_audit_names_topics() -> None:
    audit = real_audit("2021")
    parts = [audit, audit.labels, audit.rankings, audit.circularity, audit.conclusions, audit.panel, *audit.bias]
    assert all(part is not None and part.unit == "topic" for part in parts)


# Sampled docs -------------------------------------------------------------------------------------------------------


def rare() -> Qrels:
    """The simulated collection with its highest grade alone as relevant: 3 docs a topic."""
    qrels = collection()[1]
    return dataclasses.replace(qrels, grades=np.where(qrels.grades >= 3, 1, 0))


def test_ndcg_of_rare_relevance_is_refused_with_the_labels_that_would_help() -> None:
    """Estimates covered .60 to .77 there, and people alone .18 to .49."""
    runs = collection()[0]
    qrels = rare()
    lists = collected(runs, qrels)
    drawn = sample(lists, "uniform(share=0.2,k=10)", seed=0).qrels(lists, unjudged=0)
    with pytest.raises(DataError, match=r"relevant docs are in the sample per topic, 3 are needed; label .* pooled"):
        estimate_docs(drawn, labels_of(qrels, ("perfect",)), runs, measure="nDCG@10")


def test_ndcg_of_people_alone_is_refused_and_ends_stay_in_the_range() -> None:
    runs, qrels = collection()
    lists = collected(runs, qrels)
    drawn = sample(lists, "uniform(share=0.35,k=10)", seed=0).qrels(lists, unjudged=0)
    found = estimate_docs(drawn, labels_of(qrels, ("kind",)), runs, measure="nDCG@10")
    assert found.unit == "doc"
    assert found.human_only.refused.all()
    assert np.isnan(found.human_only.value).all()
    shown = ~found.found.refused
    assert shown.any()
    assert (found.found.low[shown] >= 0).all()
    assert (found.found.high[shown] <= 1).all()
    assert "human only of all runs is not shown: the number of relevant docs has a relative error" in " ".join(
        found.table().notes
    )


@pytest.mark.parametrize(("measure", "share"), [("DCG@10", 0.2), ("DCG@10", 0.5), ("P@10", 0.5), ("nDCG@10", 0.5)])
@pytest.mark.parametrize("error", [0.05, 0.2])
def test_estimates_from_sampled_docs_cover_where_they_are_shown(measure: str, share: float, error: float) -> None:
    """A judge that seldom errs may have erred outside of the sample: by the sampled errors alone .75 were covered."""
    runs, qrels = collection()
    qrels = dataclasses.replace(qrels, grades=np.where(qrels.grades >= 2, 1, 0))
    lists = collected(runs, qrels)
    truth = assay.evaluate(runs, sample(lists, "uniform(share=1,k=10)").qrels(lists, unjudged=0), measure)[0].averages()
    wrong = RNG(1).random(len(qrels.grades)) < error
    docs, topics = qrels.docs.tolist(), [qrels.topics[t] for t in qrels.topic_of_row().tolist()]
    seen = np.where(wrong, 1 - qrels.grades, qrels.grades)
    labels = Labels.from_rows([(topics[i], docs[i], "j", float(seen[i])) for i in range(len(docs))])
    covered: dict[str, list[npt.NDArray[np.bool_]]] = {"found": [], "human_only": []}
    for seed in range(16):
        drawn = sample(lists, f"uniform(share={share},k=10)", seed=seed).qrels(lists, unjudged=0)
        try:
            found = estimate_docs(drawn, labels, runs, measure=measure)
        except DataError as error_of_draw:
            assert "no estimate of these 11 runs would hold" in str(error_of_draw)  # noqa: PT017
            continue
        for name, ends in (("found", found.found), ("human_only", found.human_only)):
            shown = ~ends.refused
            covered[name].append(((ends.low <= truth) & (truth <= ends.high))[shown])
    for name, of in covered.items():
        rows = np.concatenate([np.zeros(0, dtype=bool), *of])
        assert len(rows) == 0 or rows.mean() >= 0.9, name
