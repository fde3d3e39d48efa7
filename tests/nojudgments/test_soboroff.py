"""Soboroff: shares of relevant docs by qrels and by Eq. 6.2, units, draws and repetitions."""

from __future__ import annotations

import numpy as np
import pytest

from assay.core.engine import generators
from assay.core.errors import DataError, UsageError
from assay.data import Qrels, Run
from assay.data.lists import Lists
from assay.io import read_qrels
from assay.nojudgments.basis import comparable
from assay.nojudgments.forecast import predict
from assay.nojudgments.predictors import predicted
from assay.nojudgments.soboroff import (
    expected_share,
    judged_share,
    judged_shares,
    soboroff,
    soboroff_trials,
)
from tests.conftest import real_data


def small(runs: int = 6, docs: int = 60, topics: int = 4, seed: int = 1) -> Lists:
    rng = np.random.default_rng(seed)
    names = [f"d{i:03d}" for i in range(docs)]
    return comparable(
        [
            Run.from_lists(f"r{r}", {str(t): list(rng.permutation(names)[: docs // 2]) for t in range(topics)})
            for r in range(runs)
        ]
    )


@pytest.mark.parametrize(
    ("runs", "percent", "sd"),
    [
        # Roitero 2020, Table 6.3, columns of Eq. 6.2: TREC-3, 5, 6, 7, 8.
        (40, 23.15, 0.110), (61, 13.39, 0.074), (74, 10.13, 0.062), (103, 5.82, 0.046), (129, 3.60, 0.038),
        # What the thesis lists for Robust 2004, Terabyte 2006 (61 runs; 80 with manual) and Web 2014 is Eq. 6.2 too.
        (110, 5.12, 0.043), (80, 8.98, 0.057), (30, 32.59, 0.145),
    ],
)  # fmt: skip
def test_share_from_the_number_of_runs(runs: int, percent: float, sd: float) -> None:
    share = expected_share(runs)
    # 8.98215 is printed as 8.98 and so on: two digits for the mean, three for the sd.
    assert (round(100 * share.mean, 2), round(share.sd, 3)) == (percent, sd)


@pytest.mark.parametrize(
    ("first", "last", "judged", "relevant", "percent", "sd"),
    [
        # TREC-8 and TREC-7 judgments are topics 401–450 and 351–400 of Robust 2004. Table 6.3: 5.497 .048; 5.834 .047.
        (401, 450, 86_830, 4_728, 5.4966, 0.0480),
        (351, 400, 80_345, 4_674, 5.8339, 0.0472),
    ],
)
def test_share_from_qrels(first: int, last: int, judged: int, relevant: int, percent: float, sd: float) -> None:
    whole = read_qrels(real_data("trec-robust-2004/qrels.txt.xz")).to_dict()
    part = {t: docs for t, docs in whole.items() if first <= int(t) <= last}
    qrels = Qrels.from_dict(part)
    assert (len(qrels), int((qrels.grades > 0).sum())) == (judged, relevant)
    share = judged_share(qrels)
    assert (round(100 * share.mean, 4), round(share.sd, 4)) == (percent, sd)
    plain = [sum(g > 0 for g in docs.values()) / len(docs) for docs in part.values()]
    assert share.sd == pytest.approx(np.std(plain, ddof=1))
    # With n in place of n − 1 it would print as .0475 and .0467.
    assert np.std(plain) == pytest.approx(share.sd * np.sqrt(49 / 50))


def test_share_from_graded_qrels() -> None:
    covid = read_qrels(real_data("trec-covid-round1/qrels.txt"))
    assert (round(judged_share(covid).mean, 4), round(judged_share(covid).sd, 4)) == (0.2701, 0.1306)
    deep = read_qrels(real_data("trec-dl-2021-passage/qrels.txt"))
    assert judged_share(deep, rel=2).mean < judged_share(deep).mean


def test_edges_of_shares() -> None:
    assert judged_share(Qrels.from_dict({"1": {"a": 1, "b": 0}})).sd == 0
    with pytest.raises(DataError, match="no judged topic"):
        judged_share(Qrels.from_dict({}))
    with pytest.raises(UsageError, match="at least 1"):
        expected_share(0)


def test_sd_is_a_share_not_percentage_points() -> None:
    """mean 5.35 % with sd .048 means 4.8 points: the number of docs drawn must vary by topic and repetition."""
    lists = small(docs=400, topics=30)
    counted = [
        np.bincount(lists.topic_of_item[_drawn_items(lists, 0.0535, sd, seed)], minlength=30)
        for sd in (0.048, 0.00048)
        for seed in range(10)
    ]
    wide, narrow = np.concatenate(counted[:10]), np.concatenate(counted[10:])
    pool = np.diff(lists.item_bounds).mean()
    assert narrow.std() / pool < 0.005
    # Draws below 0 are cut there (a mean of 1.1 sd), so the sd lies a little below .048 and the mean above .0535.
    assert 0.033 < wide.std() / pool < 0.048
    assert wide.min() == 0
    assert 0.0535 < wide.mean() / pool < 0.0635


def _drawn_items(lists: Lists, mean: float, sd: float, seed: int) -> np.ndarray:
    """Which items were drawn: those of which AP with a run of that item alone is not 0."""
    from assay.core.engine import generators
    from assay.nojudgments.soboroff import _drawn

    rng = generators(seed, 1)[0]
    shares = np.clip(rng.normal(mean, sd, len(lists.topics)), 0, 1)
    return np.flatnonzero(_drawn(lists, np.arange(lists.items), lists.item_bounds, shares, rng, False))


def test_wrong_units_are_refused() -> None:
    with pytest.raises(UsageError, match="fractions"):
        soboroff(small(), mean=5.35, sd=0.048)
    with pytest.raises(UsageError, match="fractions"):
        soboroff(small(), mean=0.05, sd=4.8)


def test_whole_pool_relevant_is_ap_of_everything() -> None:
    lists = small()
    everything = soboroff(lists, mean=1.0, sd=0.0, repetitions=1)
    sizes = lists.sizes / np.diff(lists.item_bounds)
    np.testing.assert_allclose(everything, sizes)


def test_exact_fractions_hold_for_each_topic() -> None:
    lists = small()
    shares = {t: i / 4 for i, t in enumerate(lists.topics)}
    found = soboroff(lists, fractions=shares, repetitions=3)
    assert (found[:, 0] == 0).all()
    assert (found[:, 1:] > 0).all()
    with pytest.raises(DataError, match="no fraction for topic '3'"):
        soboroff(lists, fractions={"0": 0.1, "1": 0.1, "2": 0.1})
    qrels = Qrels.from_dict({"1": {"a": 1, "b": 0, "c": 0, "d": 0}, "2": {"a": 0}})
    assert judged_shares(qrels) == {"1": 0.25, "2": 0.0}


def test_no_doc_drawn_scores_zero_or_draws_one() -> None:
    lists = small()
    assert (soboroff(lists, mean=0.0, sd=0.0) == 0).all()
    assert (soboroff(lists, mean=0.0, sd=0.0, empty="one", repetitions=40).sum(axis=1) > 0).all()
    with pytest.raises(UsageError, match="empty"):
        soboroff(lists, empty="maybe")


def test_repetitions_are_averaged_and_seeded() -> None:
    lists = small()
    trials = soboroff_trials(lists, repetitions=5, seed=3)
    np.testing.assert_array_equal(soboroff(lists, repetitions=5, seed=3), trials.mean(axis=0))
    np.testing.assert_array_equal(trials[:2], soboroff_trials(lists, repetitions=2, seed=3))
    assert not np.array_equal(trials, soboroff_trials(lists, repetitions=5, seed=4))
    assert np.array_equal(predicted(lists, "soboroff", seed=3).values, soboroff(lists, seed=3))


def test_with_duplicates_popular_docs_are_drawn_more_often() -> None:
    """One doc in every run, the others in one run each: entries make the popular doc 6 times as likely."""
    runs = [Run.from_lists(f"r{r}", {"1": ["shared", *(f"own{r}-{i}" for i in range(9))]}) for r in range(6)]
    lists = comparable(runs)
    for duplicates, chance in ((False, 6 / 55), (True, 1 - np.prod([1 - 6 / (60 - i) for i in range(6)]))):
        # Every run holds the shared doc first: AP > 0 for all runs only if it was drawn.
        options = {"mean": 0.1, "sd": 0.0, "duplicates": duplicates, "repetitions": 2000}
        trials = soboroff_trials(lists, **options)  # type: ignore[arg-type]
        drawn = float((trials[:, :, 0] > 0).all(axis=1).mean())
        # 55 · .1 = 5.5 is rounded to 6 docs, 60 · .1 to 6 entries; sd of the share over 2,000 draws is about .011.
        assert drawn == pytest.approx(chance, abs=0.05)


def test_pooled_docs_are_not_in_the_share() -> None:
    assert judged_shares(Qrels.from_dict({"1": {"a": 1, "b": 0, "c": -1}, "2": {"a": -1}})) == {"1": 0.5}


def judged_lists(rel_docs: int = 12, docs: int = 40) -> tuple[list[Run], Qrels]:
    """Six runs, and judgments of docs that some of them never retrieve."""
    rng = np.random.default_rng(5)
    names = [f"d{i:03d}" for i in range(docs)]
    runs = [Run.from_lists(f"r{r}", {str(t): rng.permutation(names)[:20].tolist() for t in range(3)}) for r in range(6)]
    names.append("unseen")
    grades = {str(t): {d: int(i < rel_docs + 4 * t) for i, d in enumerate(names)} for t in range(3)}
    return runs, Qrels.from_dict(grades)


def test_judged_docs_are_drawn_as_many_as_are_relevant() -> None:
    """A plain loop: with the exact fraction of the judged docs, each topic draws its number of relevant docs."""
    runs, qrels = judged_lists()
    lists = comparable(runs, qrels=qrels)
    found = soboroff_trials(lists, share="exact", pool="judged", repetitions=3, seed=4)
    for trial, rng in zip(found, generators(4, 3), strict=True):
        for t, topic in enumerate(lists.topics):
            judged = sorted(qrels.to_dict()[topic])
            wanted = sum(qrels.to_dict()[topic].values())
            drawn = {judged[i] for i in rng.choice(len(judged), wanted, replace=False, shuffle=False)}
            for r, run in enumerate(runs):
                ranked = sorted(run.to_dict()[topic].items(), key=lambda pair: -pair[1])
                hits, total = 0, 0.0
                for rank, (doc, _) in enumerate(ranked, start=1):
                    if doc in drawn:
                        hits += 1
                        total += hits / rank
                assert trial[r, t] == pytest.approx(total / wanted)


def test_judged_share_is_that_of_the_qrels() -> None:
    runs, qrels = judged_lists()
    share = judged_share(qrels)
    lists = comparable(runs, qrels=qrels)
    by_name = soboroff(lists, share="judged", repetitions=4)
    by_number = soboroff(lists, mean=share.mean, sd=share.sd, repetitions=4)
    np.testing.assert_array_equal(by_name, by_number)
    per_topic = soboroff(lists, share="exact", repetitions=4)
    np.testing.assert_array_equal(per_topic, soboroff(lists, fractions=judged_shares(qrels), repetitions=4))


def test_judgments_change_nothing_where_they_are_not_asked_for() -> None:
    runs, qrels = judged_lists()
    blind, seeing = comparable(runs), comparable(runs, qrels=qrels)
    for method in ("soboroff", "soboroff(duplicates=true)", "wu-crestani-v3", "nuray-can-borda", "spoerri-single"):
        np.testing.assert_array_equal(predicted(blind, method).values, predicted(seeing, method).values)


def test_judgments_that_are_asked_for_must_be_there() -> None:
    runs, qrels = judged_lists()
    with pytest.raises(DataError, match="need judgments; give qrels"):
        predicted(runs, "soboroff(pool=judged)")
    with pytest.raises(UsageError, match="draws from judgments, and there are none"):
        predict(runs, "soboroff(share=judged)")
    some = comparable(runs, qrels=Qrels.from_dict({"1": qrels.to_dict()["1"]}))
    with pytest.raises(DataError, match="topic '0' has no judged doc"):
        predicted(some, "soboroff(share=exact)")
    lists = comparable(runs, qrels=qrels)
    for wrong, message in (
        ("soboroff(share=half)", "no share 'half'"),
        ("soboroff(pool=half)", "no pool 'half'"),
        ("soboroff(share=judged, mean=0.1)", "leave out mean and sd"),
        ("soboroff(pool=judged, duplicates=true)", "duplicates count the runs"),
    ):
        with pytest.raises(UsageError, match=message):
            predicted(lists, wrong)
