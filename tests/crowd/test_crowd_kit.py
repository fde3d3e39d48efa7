"""Majority, Dawid–Skene, one coin, GLAD and MACE on the released labels, against what crowd-kit 1.4.2 gave for them."""

from __future__ import annotations

from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from assay.agreement.ratings import Ratings
from assay.agreement.scales import S2
from assay.core.arrays import Floats, Ints
from assay.crowd import latent, spammers
from assay.crowd.eases import glad, glad_model, glad_start
from assay.crowd.latent import dawid_skene, dawid_skene_model, fit_from, one_coin, one_coin_model
from assay.crowd.spammers import mace, mace_model
from assay.crowd.squarem import Expected, Fit, Model, fitted
from assay.crowd.vote import majority
from tests.crowd.peers import binary_labels, crowd_kit, crowd_kit_labels, golden_rows
from tests.golden.make_crowd import permutation
from tests.oracles import crowd as oracle

SETS = ("s100", "votes", "others")
SHUFFLED = ("file", "shuffled 1", "shuffled 2", "shuffled 3")
ALIGNED = ("sorted", *(f"{call} renamed" for call in SHUFFLED))
"""Calls in which the names of workers and labels sort in the order in which they come."""
MODELS: dict[str, Any] = {"dawid-skene": dawid_skene, "one-coin": one_coin, "glad": glad, "mace": mace}


@cache
def real(name: str) -> Ratings:
    return Ratings.of_labels(binary_labels(name), scale=S2, repeats="all")


@cache
def ours(name: str, method: str) -> Any:
    """Our judgments with all defaults."""
    return MODELS[method](real(name))


def same(grades: Any, name: str, method: str, call: str = "file") -> float:
    """Share of docs with crowd-kit's label."""
    return float((np.asarray(grades) == crowd_kit_labels(name, method, call)).mean())


@pytest.mark.parametrize(("name", "ties"), [("s100", "high"), ("votes", "low"), ("others", "high")])
def test_majority_up_to_its_tie_rule(name: str, ties: str) -> None:
    # crowd-kit gives ties to the label that its table happens to hold first, which changes with the data.
    assert same(majority(real(name), ties=ties).grade, name, "majority") == 1


def by_gradients(answers: Ratings) -> Model:
    """GLAD with an M-step of at most 25 conjugate gradients, as crowd-kit takes it."""
    from scipy.optimize import minimize

    def maximise(state: Floats, expected: Expected) -> Floats:
        own = expected.seen[answers.item, answers.answer]
        columns = (answers.item, answers.worker, own, 2)
        best = minimize(oracle.glad_loss, state, columns, "CG", jac=True, tol=1e-2, options={"maxiter": 25})
        return np.asarray(best.x)

    return Model(glad_model(answers).expect, maximise)


def plain_steps(name: str, method: str, steps: int) -> Fit:
    """So many plain EM steps, as crowd-kit takes them: the first gives the parameters from which a fit begins."""
    answers = real(name)
    more: dict[str, Any] = {"iterations": steps - 1, "tolerance": -1.0, "plain": True}
    if method == "glad":
        return fitted(by_gradients(answers), glad_start(answers), **more)
    votes = answers.votes()
    shares = votes / votes.sum(axis=1, keepdims=True)
    if method == "one-coin":
        return fit_from(one_coin_model(answers, latent._by_item_and_answer(answers), 0.0), shares, **more)
    return fit_from(dawid_skene_model(answers, latent._by_worker_and_answer(answers), 0.0), shares, **more)


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("method", ["dawid-skene", "one-coin", "glad"])
def test_at_its_own_number_of_iterations(name: str, method: str) -> None:
    row = crowd_kit()[name, method, "file"]
    found = plain_steps(name, method, int(row["iterations"])).posterior.argmax(axis=1)
    assert same(found, name, method) >= 0.99
    assert found.mean() == pytest.approx(float(row["share"]), abs=0.002)


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("method", ["dawid-skene", "glad"])
def test_run_to_the_end(name: str, method: str) -> None:
    judged = ours(name, method)
    assert "converged after" in judged.notes[0]
    assert same(judged.grade, name, method, "long") >= 0.995


def test_glad_stops_early_where_the_expected_density_falls() -> None:
    # crowd-kit stops as soon as the expected log density falls. EM raises another number, the density with the truth
    # summed out, so that it stops after 2 iterations on S100, and on one set 1.4 % of the docs have other labels at its
    # stop than at the end. Not stopped, it gives ours (test_run_to_the_end).
    assert [crowd_kit()[name, "glad", "file"]["iterations"] for name in SETS] == ["2", "25", "13"]


@pytest.mark.parametrize(
    ("method", "call", "shares"),
    [
        ("dawid-skene", "file", [1, 0.9991, 0.9944]),
        ("dawid-skene", "long", [1, 0.9995, 1]),
        ("glad", "file", [0.9959, 0.9838, 1]),
        ("glad", "long", [1, 1, 1]),
        ("mace", "file", [0.9869, 0.9455, 0.9472]),
    ],
)
def test_shares_told_in_the_docs(method: str, call: str, shares: list[float]) -> None:
    found = [same(ours(name, method).grade, name, method, call) for name in SETS]
    assert found == pytest.approx(shares, abs=5e-5)


@pytest.mark.parametrize("name", SETS)
def test_glad_never_lowers_the_density(name: str) -> None:
    answers = real(name)
    fit = fitted(glad_model(answers), glad_start(answers), plain=True)
    assert np.diff(fit.history).min() > -1e-9


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("call", ["file", "long"])
def test_confusion_matrices(name: str, call: str) -> None:
    rows = [r for r in golden_rows("crowd_kit_workers.csv") if (r["set"], r["call"]) == (name, call)]
    assert len(rows) == 20
    answers = real(name)
    # At its own number of iterations; not stopped early, it takes 300, which on one set is not yet the end.
    own = plain_steps(name, "dawid-skene", int(rows[0]["iterations"]))
    matrix = latent._by_worker_and_answer(answers)
    cells = latent._confusion(matrix, own.posterior, latent._used(answers, matrix), 0.0)
    of_workers = latent._confusion_facts(answers, np.zeros(len(cells)), cells)
    for row in rows:
        facts = of_workers[answers.workers[int(row["worker"])]]
        for cell in ("0|0", "1|0", "0|1", "1|1"):
            assert facts[cell] == pytest.approx(float(row[cell]), abs=1e-3)


# Shares of relevant docs quoted for S100 at 50: .3028, .2927, .2698, .2675. That of MACE is of the rows as they come.
@pytest.mark.parametrize(
    ("method", "call", "share"),
    [
        ("majority", "file", 0.3028),
        ("dawid-skene", "file", 0.2927),
        ("glad", "file", 0.2698),
        ("mace", "short", 0.2675),
        ("mace", "file", 0.2672),
        ("mace", "sorted", 0.2801),
    ],
)
def test_shares_quoted_for_s100(method: str, call: str, share: float) -> None:
    assert float(crowd_kit()["s100", method, call]["share"]) == pytest.approx(share, abs=5e-5)


def test_our_shares_on_s100() -> None:
    answers = real("s100")
    assert majority(answers, ties="high").grade.mean() == pytest.approx(0.3028, abs=5e-5)
    assert ours("s100", "dawid-skene").grade.mean() == pytest.approx(0.2927, abs=5e-5)
    assert plain_steps("s100", "glad", 2).posterior.argmax(axis=1).mean() == pytest.approx(0.2698, abs=5e-5)
    assert ours("s100", "glad").grade.mean() == pytest.approx(0.2672, abs=5e-5)
    assert ours("s100", "mace").grade.mean() == pytest.approx(0.2803, abs=5e-5)


# Until a fit ended by the change of its posterior it ended by that of its bound, and lower: here at most so far.
@pytest.mark.parametrize(("name", "bound"), [("s100", -25147.2379), ("votes", -10566.7925), ("others", -22318.3395)])
def test_mace_ends_higher_than_where_its_bound_settles(name: str, bound: float) -> None:
    told = float(ours(name, "mace").notes[0].partition("evidence lower bound ")[2].partition(",")[0])
    assert bound + 0.01 < told < bound + 0.6


# MACE. crowd-kit numbers workers and labels as they come, but its table of spam habits is sorted by name, and it reads
# that table by number. So from the second iteration on each worker gets another worker's habit, unless the names sort
# as they come: in `sorted` rows, or where they were renamed. Each step of that is shown below.


@pytest.mark.parametrize("name", SETS)
def test_mace_is_crowd_kits_where_names_sort_as_they_come(name: str) -> None:
    assert "converged after" in ours(name, "mace").notes[0]
    assert min(same(ours(name, "mace").grade, name, "mace", call) for call in ALIGNED) >= 0.9898


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("call", ALIGNED)
def test_mace_from_crowd_kits_start_is_crowd_kits(name: str, call: str) -> None:
    spam, habit, _, _ = crowd_kit_start(name, call)
    model = mace_model(real(name), 0.5, 10.0)
    start = model.maximise(np.empty(0), spammers._expected(real(name), spam, habit))
    fit = fitted(model, start, iterations=49, tolerance=-1.0, plain=True)
    assert same(fit.posterior.argmax(axis=1), name, "mace", call) == 1


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("call", SHUFFLED)
def test_reading_habits_of_other_workers_gives_crowd_kits_labels(name: str, call: str) -> None:
    posterior, _ = misreading_run(name, call)
    assert same(posterior.argmax(axis=1), name, "mace", call) == 1


def test_a_plain_loop_says_the_same() -> None:
    labels, docs = plain("votes"), range(len(real("votes").items))
    for call, wrong in (("sorted", False), ("file renamed", False), ("file", True)):
        spam, habit, worker, level = crowd_kit_start("votes", call)
        begin = [{str(i): row for i, row in enumerate(rows.tolist())} for rows in (spam, habit)]
        misread = ({str(i): str(w) for i, w in enumerate(worker.tolist())}, level.tolist()) if wrong else None
        posterior, _ = oracle.mace(labels, levels=2, spam=begin[0], habit=begin[1], iterations=50, misread=misread)
        assert same([np.argmax(posterior[str(d)]) for d in docs], "votes", "mace", call) == 1


@pytest.mark.parametrize("name", SETS)
def test_crowd_kits_mace_changes_with_names_and_order(name: str) -> None:
    # The same rows in the same order under other names of the workers: nothing that a model may see.
    renamed = [same(crowd_kit_labels(name, "mace", f"{c} renamed"), name, "mace", c) for c in SHUFFLED]
    assert max(renamed) < 0.99
    # Two of its orders agree in so few docs that no labels can agree with both in 99 %; on S100 ours do not either.
    among = [same(crowd_kit_labels(name, "mace", a), name, "mace", b) for a, b in combinations(SHUFFLED, 2)]
    if name == "s100":
        assert max(same(ours(name, "mace").grade, name, "mace", c) for c in SHUFFLED) < 0.99
    else:
        assert min(among) < 0.98


@pytest.mark.parametrize("name", SETS)
def test_ours_explains_the_labels_better(name: str) -> None:
    labels, answers = plain(name), real(name)
    told = float(ours(name, "mace").notes[0].partition("evidence lower bound ")[2].partition(",")[0])
    for call, margin in (("sorted", 0.0), ("file", 90.0)):
        _, honest = misreading_run(name, call)
        theirs = oracle.mace_bound(labels, plain_counts(answers, honest), levels=2)
        assert told > theirs + margin


def test_order_of_rows_plays_no_part_in_ours() -> None:
    labels = binary_labels("votes")
    mixed = Ratings.of_labels(labels.select(permutation(labels, "shuffled 1")), scale=S2, repeats="all")
    for method in MODELS:
        judged = MODELS[method](mixed)
        assert (judged.grade == ours("votes", method).grade).all()


def crowd_kit_start(name: str, call: str) -> tuple[Floats, Floats, Ints, Ints]:
    """The values that crowd-kit begins from in a call, by our workers and levels; and the numbers that it gives them.

    All its restarts begin from the same draws, since each is seeded anew.
    """
    labels = binary_labels(name)
    rows = permutation(labels, call)
    worker, level = coming(labels.worker[rows]), coming(labels.label[rows].astype(np.int64))
    draws = [np.random.RandomState(0).random_sample((len(worker), k)) * 1.5 + 1 for k in (2, len(level))]
    spam, habit = (d / d.sum(axis=1, keepdims=True) for d in draws)
    return spam[worker], habit[worker][:, level], worker, level


def coming(values: Ints) -> Ints:
    """For each value 0, 1, … the place in which it first comes."""
    _, first = np.unique(values, return_index=True)
    return np.argsort(np.argsort(first))


def misreading_run(name: str, call: str) -> tuple[Floats, Floats]:
    """50 iterations in which habits, once counted, are read by the numbers of crowd-kit from a table sorted by name.

    The posterior, and the probability that each label was honest from which the last counts were made.
    """
    answers = real(name)
    spam, habit, worker, level = crowd_kit_start(name, call)
    posterior, _, honest = spammers._expected(answers, spam, habit)
    for _ in range(50):
        last = honest
        spams, habits = spammers._counts(answers, honest)
        spam, habit = spammers._log_mean(spams + 0.5), spammers._log_mean(habits + 10.0)
        posterior, _, honest = spammers._expected(answers, spam, habit[worker][:, level])
    return posterior, last


@cache
def plain(name: str) -> list[oracle.Label]:
    answers = real(name)
    columns = (answers.item.tolist(), answers.worker.tolist(), answers.answer.tolist())
    return [(str(d), str(w), y) for d, w, y in zip(*columns, strict=True)]


def plain_counts(answers: Ratings, honest: Floats) -> oracle.Counts:
    spams, habits = spammers._counts(answers, honest)
    return {str(w): (a, b) for w, (a, b) in enumerate(zip(spams.tolist(), habits.tolist(), strict=True))}
