"""Cuts that cannot be distinguished from the best: errors against a bootstrap, coverage, real labels, the command."""

from __future__ import annotations

import json
import tarfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from assay.agreement.scales import S100
from assay.core.errors import UsageError
from assay.crowd import best_cuts, honest_cuts, transformed
from assay.crowd.cut_rankings import cuts_by_tau, ranking_over_cuts
from assay.crowd.cuts import search_cost
from assay.crowd.cutscores import CutChoice
from assay.crowd.cutsets import _deviations, _error
from assay.crowd.system_ranking import ranking_agreement
from assay.data import Labels, Qrels, Run
from assay.io import read_labels, read_qrels, read_run, write_qrels
from assay.io.labels import write_labels
from tests.conftest import real_data
from tests.hostile.calls import call


@pytest.fixture(scope="module")
def s100() -> Labels:
    return read_labels(real_data("crowd-s100-trec8") / "judgments.tsv.xz", times=100)


@pytest.fixture(scope="module")
def nist() -> Qrels:
    return read_qrels(real_data("crowd-s100-trec8") / "trec8-qrels.txt")


def test_one_cut_of_the_trec8_labels_has_many_equals(s100: Labels, nist: Qrels) -> None:
    found = honest_cuts(s100, "D_a+t", source=S100, target=nist, scope="mean")
    (one,) = found.sets
    single = best_cuts(s100, "D_a+t", source=S100, target=nist, scope="mean").cuts[0]
    assert one.alpha[0] == pytest.approx(single.alpha)
    assert single.low[0] <= one.cuts[0, 0] <= single.high[0]
    points = one.cuts[:, 0]
    # The printed cuts of all ways with a target, 53 to 59, are in the set; the ends of the scale are not.
    assert {53.0, 55.0, 56.0, 58.0, 59.0} <= set(points.tolist())
    assert 20 < points.min() < 50 < 70 < points.max() < 95
    assert (np.diff(one.alpha) <= 0).all()


def test_two_printed_triples_cannot_be_told_apart(s100: Labels) -> None:
    """28,58,82 and 37,63,82 differ by .00006 in α by H_t+a; here on three topics, which takes seconds."""
    some = s100.select(np.isin(s100.topic, np.arange(3)))
    found = honest_cuts(some, "H_t+a", levels=4, source=S100, scope="mean", halves=6, candidates=20_000)
    members = {tuple(cut) for cut in found.sets[0].cuts.tolist()}
    assert {(28.0, 58.0, 82.0), (37.0, 63.0, 82.0)} <= members
    assert len(members) < 20_000
    named = honest_cuts(some, "H_t+a", levels=4, source=S100, scope="mean", halves=4, candidates=10,
                        named=[(28, 58, 82), (1, 2, 3)])  # fmt: skip
    answers = {cut.points: cut.is_member for cut in named.sets[0].named}
    assert answers == {(28.0, 58.0, 82.0): True, (1.0, 2.0, 3.0): False}


def test_errors_are_those_of_a_bootstrap(s100: Labels, nist: Qrels) -> None:
    """Against a target nobody agrees with himself, so that workers can be drawn with replacement."""
    topic = s100.topics.index("403")
    labels = s100.select(s100.topic == topic)
    choice = CutChoice.of(labels, "D_a+t", levels=2, source=S100, target=nist)
    cuts = np.array([[60], [52], [80], [9], [4], [0]])
    rng = np.random.default_rng(0)
    halves = _deviations(labels, labels.worker, cuts, choice, 150, rng)
    errors = np.sqrt((halves**2).sum(axis=0))
    drawn = []
    workers = np.unique(labels.worker)
    rows_of = {worker: np.flatnonzero(labels.worker == worker) for worker in workers.tolist()}
    for _ in range(150):
        chosen = np.concatenate([rows_of[w] for w in rng.choice(workers, len(workers)).tolist()])
        alpha = choice.scorer(labels.select(chosen)).alpha(cuts)
        drawn.append(alpha[0] - alpha)
    bootstrap = np.std(drawn, axis=0)
    assert errors[0] == bootstrap[0] == 0
    assert (np.abs(np.log(errors[1:] / bootstrap[1:])) < np.log(1.6)).all()


def test_the_true_cut_is_in_the_set() -> None:
    """Experts who cut at 50 what workers see with noise: the set holds 50 in nearly all of 40 trials."""
    held = 0
    sizes = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        worth = rng.uniform(0, 100, 60)
        seen = np.clip(np.round(worth[:, None] + rng.normal(0, 20, (60, 6))), 0, 100)
        worker = rng.integers(30, size=(60, 6))
        rows = [("1", f"d{d:02d}", f"w{worker[d, i]:02d}", float(seen[d, i])) for d in range(60) for i in range(6)]
        experts = Qrels.from_dict({"1": {f"d{d:02d}": int(worth[d] > 50) for d in range(60)}})
        found = honest_cuts(Labels.from_rows(rows), "D_a+t", source=S100, target=experts, halves=20, seed=seed)
        held += 50.0 in found.sets[0].cuts[:, 0]
        sizes.append(len(found.sets[0].cuts))
    assert held >= 37
    assert np.median(sizes) < 60


def crowd(seed: int, docs: int, workers: int) -> Labels:
    """Workers with a bias of their own see the worth of docs with noise; six of them label each doc."""
    rng = np.random.default_rng(seed)
    worth = 100 * rng.beta(0.6, 0.9, docs)
    bias = rng.normal(0, 8, workers)
    worker = rng.integers(workers, size=(docs, 6))
    seen = np.clip(np.round(worth[:, None] + bias[worker] + rng.normal(0, 15, (docs, 6))), 0, 100)
    rows = [("1", f"d{d}", f"w{worker[d, i]}", float(seen[d, i])) for d in range(docs) for i in range(6)]
    return Labels.from_rows(rows)


@pytest.mark.parametrize("way", ["Tw_alpha", "H_t+a"])
def test_the_best_cut_of_a_population_is_in_the_set_of_a_sample(way: str) -> None:
    """At 95 % the set holds it in at least 57 of 60 samples, and with five times the labels it is smaller."""
    population = crowd(99, 4_000, 2_000)
    choice = CutChoice.of(population, way, levels=2, source=S100, target=None)
    ((_, labels),) = choice.parts(population)
    best = float(choice.points(choice.all_cuts(labels)[0])[0, 0])
    held = 0
    sizes: dict[int, list[int]] = {80: [], 400: []}
    for docs, trials in ((80, 60), (400, 10)):
        for seed in range(trials):
            found = honest_cuts(crowd(seed, docs, docs // 2), way, source=S100, halves=20, seed=seed)
            held += best in found.sets[0].cuts[:, 0]
            sizes[docs].append(len(found.sets[0].cuts))
    assert held >= 67
    assert np.median(sizes[400]) < 0.75 * np.median(sizes[80]) < 75


@pytest.mark.parametrize("way", ["Tw_alpha", "H_t+a"])
def test_the_error_is_that_of_new_crowds(way: str) -> None:
    """The sd of the difference of two cuts over 80 new samples, estimated from each sample within a third."""
    cuts = np.array([[48], [75], [90], [10]])
    choice = CutChoice.of(crowd(0, 200, 100), way, levels=2, source=S100, target=None)
    differences = []
    errors = []
    for seed in range(80):
        labels = crowd(seed, 200, 100)
        alpha = choice.scorer(labels).alpha(cuts)
        differences.append(alpha[0] - alpha)
        if seed < 6:
            rng = np.random.default_rng(seed)
            units = (labels.worker, labels.items()[0], np.arange(len(labels)))
            errors.append(_error(*(_deviations(labels, unit, cuts, choice, 40, rng) for unit in units)))
    ratio = np.mean(errors, axis=0)[1:] / np.std(differences, axis=0)[1:]
    assert (np.abs(np.log(ratio)) < np.log(4 / 3)).all(), ratio


def test_a_search_says_what_it_costs_and_stays_bounded(s100: Labels) -> None:
    cost = search_cost(s100, "H", levels=6, source=S100)
    assert (cost.cuts, cost.tasks, cost.search) == (75_287_520, 7059, "climb")
    assert "would take about 10" in cost.in_words()
    assert search_cost(s100, "H_t+a", levels=4, source=S100).search == "exact"
    some = s100.select(s100.topic == 0)
    climbed = best_cuts(some, "H_t+a", levels=4, source=S100, search="climb").cuts[0]
    assert best_cuts(some, "H_t+a", levels=4, source=S100, search="auto").cuts[0].alpha >= climbed.alpha


def test_the_command_says_the_cost_of_six_levels_first(nist: Qrels, tmp_path: Path) -> None:
    graded = {topic: {doc: 5 * grade for doc, grade in docs.items()} for topic, docs in nist.to_dict().items()}
    write_qrels(tmp_path / "six", Qrels.from_dict(graded))
    labels = real_data("crowd-s100-trec8") / "judgments.tsv.xz"
    done = call(["crowd", "transform", str(labels), "--scale", "S100", "--times", "100", "--levels", "6", "--way", "H",
                 "--target", f"{tmp_path}/six", "--scope", "mean", "--format", "json"])  # fmt: skip
    assert done.code == 0, done.err
    first, *_ = done.err.splitlines()
    assert first.startswith("75,287,520 cuts × 7,059 tasks would take about")
    assert first.endswith("climbing from 9 starts instead")
    assert "climb search" in done.out


def made(folder: Path) -> tuple[Labels, Qrels, list[Run]]:
    rng = np.random.default_rng(5)
    worth = rng.uniform(0, 100, (4, 40))
    rows = [(f"t{t}", f"d{d:02d}", f"w{w}", float(np.clip(round(worth[t, d] + rng.normal(0, 15)), 0, 100)))
            for t in range(4) for d in range(40) for w in range(7)]  # fmt: skip
    experts = Qrels.from_dict({f"t{t}": {f"d{d:02d}": int(worth[t, d] > 60) for d in range(40)} for t in range(4)})
    runs = []
    for r in range(5):
        lists = {f"t{t}": [f"d{d:02d}" for d in np.argsort(-(worth[t] + rng.normal(0, 15 + 12 * r, 40))).tolist()]
                 for t in range(4)}  # fmt: skip
        runs.append(Run.from_lists(f"r{r}", lists))
    labels = Labels.from_rows(rows)
    write_labels(folder / "labels.csv", labels)
    write_qrels(folder / "experts", experts)
    for run in runs:
        lines = [f"{t} Q0 {d} {i} {-i} {run.name}" for t, docs in zip(run.topics, run.to_dict().values(), strict=True)
                 for i, d in enumerate(docs)]  # fmt: skip
        (folder / f"{run.name}.run").write_text("\n".join(lines) + "\n")
    return labels, experts, runs


def test_sets_are_carried_into_the_ranking_of_runs(tmp_path: Path) -> None:
    labels, experts, runs = made(tmp_path)
    found = honest_cuts(labels, "Tw_alpha", source=S100, halves=10)
    ranked = ranking_over_cuts(runs, labels, found, reference=experts, measure="nDCG@10", draws=12)
    assert ranked.averages.shape == (13, 5)
    ranks = ranked.ranks()
    assert ranks.sum(axis=1) == pytest.approx(np.full(13, 15))
    assert (ranked.averages.max(axis=0) > ranked.averages.min(axis=0)).all()
    again = ranking_over_cuts(runs, labels, found, reference=experts, measure="nDCG@10", draws=12)
    assert np.array_equal(again.averages, ranked.averages)

    asked = ["crowd", "cuts", f"{tmp_path}/labels.csv", "--scale", "S100", "--way", "Tw_alpha", "--halves", "10"]
    ran = [word for r in range(5) for word in ("--run", f"{tmp_path}/r{r}.run")]
    done = call([*asked, *ran, "--reference", f"{tmp_path}/experts", "-m", "nDCG@10", "--draws", "12", "--format",
                 "json", "--figure", f"{tmp_path}/f.svg"])  # fmt: skip
    assert done.code == 0, done.err
    cuts, ranking = json.loads(done.out)
    assert [row["topic"] for row in cuts["rows"]] == ["t0", "t1", "t2", "t3"]
    assert {row["run"] for row in ranking["rows"]} == {f"r{r}" for r in range(5)}
    assert any("τ_b with the reference" in note for note in ranking["notes"])
    assert len(list(tmp_path.glob("f-*.svg"))) == 2
    refused = call([*asked, "--draws", "3"])
    assert (refused.code, "--draws has no effect without --run" in refused.err) == (2, True)


def test_what_makes_no_sense_is_refused(tmp_path: Path) -> None:
    labels, _, _ = made(tmp_path)
    with pytest.raises(UsageError, match="four halves, one candidate"):
        honest_cuts(labels, source=S100, halves=2)
    with pytest.raises(UsageError, match="lies between 0 and 1"):
        honest_cuts(labels, source=S100, level=1.0)
    with pytest.raises(UsageError, match="too many to keep them all"):
        honest_cuts(labels, source=S100, levels=6)
    with pytest.raises(UsageError, match="H needs judgments on the target scale"):
        honest_cuts(labels, "H", source=S100)
    with pytest.raises(UsageError, match="cut '60 40': points are ascending levels of S100 from 0 to 99"):
        honest_cuts(labels, "Tw_alpha", source=S100, levels=3, named=[(60, 40)])
    with pytest.raises(UsageError, match="cut '60': 1 points; 3 levels have 2"):
        honest_cuts(labels, "Tw_alpha", source=S100, levels=3, named=[(60,)])


def test_cuts_by_tau_find_the_cut_that_the_reference_has(tmp_path: Path) -> None:
    labels, experts, runs = made(tmp_path)
    found = cuts_by_tau(runs, labels, experts, "Tw_alpha", source=S100, measure="nDCG@10")
    assert found.cuts.shape == (100, 1)
    # Each τ is that of the runs under judgments made from that cut alone.
    for place in (30, 60):
        search = best_cuts(labels, "Tw_alpha", source=S100, scope="mean")
        cut = replace(search.cuts[0], points=(float(place),))
        judged = transformed(labels, replace(search, cuts=(cut,)))
        agreement = ranking_agreement(runs, judged, experts, measure="nDCG@10")
        assert found.tau[place] == pytest.approx(agreement.tau)
    assert found.tau[found.by_tau] == pytest.approx(np.nanmax(found.tau))
    assert found.by_alpha == int(best_cuts(labels, "Tw_alpha", source=S100, scope="mean").cuts[0].points[0])
    ran = [word for r in range(5) for word in ("--run", f"{tmp_path}/r{r}.run")]
    asked = ["crowd", "cuts-by-tau", f"{tmp_path}/labels.csv", "--scale", "S100", "--way", "Tw_alpha", *ran]
    done = call([*asked, "--reference", f"{tmp_path}/experts", "-m", "nDCG@10", "--format", "json", "--figure",
                 f"{tmp_path}/tau.svg"])  # fmt: skip
    assert done.code == 0, done.err
    record = json.loads(done.out)
    assert record["by_tau"] == found.cuts[found.by_tau].tolist()
    assert len(record["rows"]) == 20


def test_annotators_of_dl19_rank_runs_best_when_cut_low(tmp_path: Path) -> None:
    """37 runs, two annotators: α chooses grade 2 and up, the ranking of the runs with all NIST grades 1 and up."""
    folder = real_data("trec-dl-2019-passage")
    columns = {"worker": "annotator", "doc": "docid", "label": "grade"}
    labels = read_labels(folder / "annotators.tsv", columns=columns, where={"round": "main"})
    with tarfile.open(folder / "runs.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    runs = [read_run(path) for path in sorted((tmp_path / "runs").iterdir())]
    found = cuts_by_tau(runs, labels, read_qrels(folder / "qrels.txt"), "Tw_alpha", source="0-3", measure="nDCG@10")
    assert found.tau.round(4).tolist() == [0.9099, 0.8559, 0.8099]
    assert (found.by_tau, found.by_alpha) == (0, 1)
    assert found.held_out[0] > found.held_out[1]
