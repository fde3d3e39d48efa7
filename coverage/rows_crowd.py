"""Crowds: are docs that are called certain right, and do intervals and tests of campaigns hold?"""

from __future__ import annotations

import csv
import functools
import io
import lzma
from dataclasses import replace

import numpy as np

from assay.core.arrays import Ints
from assay.crowd import aggregate
from assay.crowd.allocation import next_labels
from assay.crowd.campaigns import Campaign, compare_campaigns
from assay.crowd.cutgroups import cut_groups
from assay.crowd.cutsets import honest_cuts
from assay.crowd.preference_pairs import Preferences
from assay.crowd.probability_checks import reliability
from assay.crowd.rectified_scores import gold_scores
from assay.crowd.uncertain import Uncertain
from assay.crowd.vote import AGGREGATIONS
from assay.data import Labels, Qrels, Run
from claims import Limit, Wrong, area, outside
from worlds import Case, data_file

claim = area("Crowds: judgments")
DOCS, LABELS = 100, 5
CERTAIN = 0.99
CATEGORIES = [entry.name for entry in AGGREGATIONS if entry.facts.get("kind") in ("categories", "both")]
NUMBERS = [entry.name for entry in AGGREGATIONS if entry.facts.get("kind") == "numbers"]
CATEGORY_MS = {"mace": 130.0, "glad": 75.0, "ordinal": 50.0}
CROWD = ("good workers", "mixed workers", "hard docs")
NIST = "TREC 2011 crowd, NIST grades"


def _labels(case: Case, docs: int = DOCS) -> tuple[Labels, Ints]:
    """Labels of docs by case.n workers who are right with a chance of their own, less often on hard docs."""
    if case.world == NIST:
        return _of_trec(case)
    truth = (case.rng.random(docs) < 0.4).astype(int)
    accuracy = case.rng.uniform(0.85, 0.98, case.n) if case.world == CROWD[0] else case.rng.beta(4, 2, case.n)
    if case.world == CROWD[1]:
        accuracy = np.maximum(accuracy, 0.5)
    hard = case.rng.random(docs) < (0.3 if case.world == CROWD[2] else 0.0)
    rows = []
    for doc in range(docs):
        for worker in case.rng.choice(case.n, min(LABELS, case.n), replace=False).tolist():
            chance = 0.4 if hard[doc] else accuracy[worker]
            label = truth[doc] if case.rng.random() < chance else 1 - truth[doc]
            rows.append((f"t{doc // 20}", f"d{doc}", f"w{worker}", int(label)))
    return Labels.from_rows(rows), truth


@functools.cache
def _trec() -> tuple[dict[str, int], list[tuple[str, str, str, int]]]:
    """NIST's grades by doc, relevant or not, and all labels of these docs."""
    folder = "crowd-trec2011"
    text = lzma.decompress(data_file(f"{folder}/consensus_and_nist.txt.xz").read_bytes()).decode()
    grades = {}
    for line in text.splitlines()[1:]:
        _, topic, doc, grade = line.split("\t")[:4]
        if grade.strip() in ("0", "1", "2"):
            grades[f"{topic}_{doc}"] = int(grade.strip() != "0")
    text = lzma.decompress(data_file(f"{folder}/otherparticipantsvotes.tsv.xz").read_bytes()).decode()
    labels = {}
    for row in csv.DictReader(io.StringIO(text), delimiter="\t"):
        if row["item"] in grades:
            labels[row["item"], row["worker"]] = int(float(row["label"]))
    return grades, [(item.partition("_")[0], item, worker, label) for (item, worker), label in labels.items()]


def _of_trec(case: Case) -> tuple[Labels, Ints]:
    """The real labels of some topics."""
    grades, rows = _trec()
    topics = sorted({row[0] for row in rows})
    kept = set(case.rng.choice(topics, max(2, 2 * len(topics) // 3), replace=False).tolist())
    return Labels.from_rows([row for row in rows if row[0] in kept]), np.array([grades[d] for d in sorted(grades)])


def _truth_of(case: Case, doc: str, truth: Ints) -> int:
    return _trec()[0][doc] if case.world == NIST else int(truth[int(doc[1:])])


def _certain_and_wrong(method: str) -> Wrong:
    def wrong(case: Case) -> float | None:
        labels, truth = _labels(case)
        found = aggregate(labels, method)
        if found.probability is None:
            return None
        sure = np.flatnonzero(np.asarray(found.probability) >= CERTAIN)
        if not len(sure):
            return None
        return float(np.mean([found.grade[i] != _truth_of(case, found.items[i][1], truth) for i in sure.tolist()]))

    return wrong


for name in CATEGORIES:
    claim(
        f"docs that are certain (probability ≥ .99) by {name}",
        kind="probability",
        unit="doc",
        calls=("assay.crowd.aggregate",),
        promises="at most 1 % of them have another grade",
        nominal=0.01,
        ms=CATEGORY_MS.get(name, 15.0),
        entries=(f"crowd.AGGREGATIONS:{name}",),
        results=("Uncertain",),
        worlds=CROWD if name not in CATEGORY_MS else (CROWD[0], CROWD[2]),
        sizes=(20,),
        real=(NIST,),
        real_sizes=(20,),
    )(_certain_and_wrong(name))


def _worth_left_out(method: str) -> Wrong:
    def wrong(case: Case) -> float | None:
        truth = case.rng.uniform(20, 80, 30)
        values = truth[:, None] + case.rng.normal(0, 8, (30, case.n))
        rows = [
            ("t", f"d{d:02d}", f"w{w}", float(np.clip(round(values[d, w]), 0, 100)))
            for d in range(30)
            for w in range(case.n)
        ]
        found = aggregate(Labels.from_rows(rows), method, scale="0-100")
        if found.low is None or found.high is None or np.isnan(found.low).all():
            return None
        place = [int(doc[1:]) for _, doc in found.items]
        ends = zip(found.low.tolist(), truth[place].tolist(), found.high.tolist(), strict=True)
        return float(np.mean([outside(*one) for one in ends if not np.isnan(one[0])]))

    return wrong


for name in NUMBERS:
    claim(
        f"the worth of a doc lies in its interval by {name}",
        kind="interval",
        unit="worker",
        calls=("assay.crowd.aggregate",),
        promises="95 % of the intervals contain the worth; n workers label every doc",
        nominal=0.05,
        ms=12.0,
        entries=(f"crowd.AGGREGATIONS:{name}",),
        results=("Uncertain",),
        worlds=("normal noise",),
        sizes=(5, 10, 25),
    )(_worth_left_out(name))


@claim(
    "the strength of a doc by preferences (bradley-terry)",
    kind="interval",
    unit="worker",
    calls=("assay.crowd.aggregate",),
    promises="95 % of the intervals contain the strength up to the prior",
    nominal=0.05,
    ms=3.0,
    entries=("crowd.AGGREGATIONS:bradley-terry",),
    results=("Uncertain",),
    worlds=("n preferences of each pair",),
    sizes=(10, 25),
)
def strength_left_out(case: Case) -> float | None:
    strength = np.linspace(-1, 1, 6)
    rows = []
    for a in range(6):
        for b in range(a):
            chance = 1 / (1 + np.exp(strength[b] - strength[a]))
            for w in range(case.n):
                wins = case.rng.random() < chance
                rows.append(("t", f"d{a}", f"d{b}", f"w{w}", 1 if wins else 0))
    found = aggregate(Preferences.from_rows(rows), "bradley-terry")
    if found.low is None or found.high is None:
        return None
    chances = 100 / (1 + np.exp(-strength))  # of being preferred to the average doc
    truth = chances[[int(doc[1:]) for _, doc in found.items]]
    return float(np.mean([outside(*one) for one in zip(found.low, truth, found.high, strict=True)]))


def _judged_world(case: Case) -> tuple[Run, Uncertain, Qrels]:
    """A run, right posteriors of 20 docs a topic, and 5 gold docs of each that were drawn at random."""
    docs = 20
    lists: dict[str, list[str]] = {}
    items, posterior, grades = [], [], []
    for t in range(case.n):
        p = case.rng.beta(0.6, 0.6, docs).clip(0.02, 0.98)
        truth = case.rng.random(docs) < p
        signal = truth if case.world.startswith("runs") else case.rng.random(docs) < p
        order = np.argsort(-(signal + case.rng.normal(0, 0.5, docs)))
        lists[f"t{t}"] = [f"d{d:02d}" for d in order]
        items += [(f"t{t}", f"d{d:02d}") for d in range(docs)]
        posterior += [[1 - one, one] for one in p.tolist()]
        grades += np.where(case.rng.permutation(docs) < 5, truth, -1).tolist()
    judgments = Uncertain.of_posterior("demo", items, posterior, levels=[0, 1], labels=[5] * len(items))
    plain = judgments.qrels()
    gold = Qrels(plain.topics, plain.bounds, plain.docs, np.array(grades, dtype=np.int64))
    return Run.from_lists("r", lists), judgments, gold


def _run_by_labels(judgments: Uncertain, rng: np.random.Generator) -> Run:
    """A run that knows what the labels know, and no more."""
    assert judgments.posterior is not None
    lists: dict[str, list[str]] = {}
    signal = rng.random(len(judgments.items)) < judgments.posterior[:, 1]
    order = np.argsort(-(signal + rng.normal(0, 0.5, len(signal))))
    for place in order.tolist():
        topic, doc = judgments.items[place]
        lists.setdefault(topic, []).append(doc)
    return Run.from_lists("labels", lists)


GOLD_WORLDS = ("posteriors that are right", "runs know more than the labels")


@claim(
    "scores by gold docs that were drawn with known probability (rectified)",
    kind="interval",
    unit="topic",
    calls=("assay.crowd.rectified_scores.gold_scores",),
    promises="95 % of the intervals contain the mean score under the truth, over topics like these",
    nominal=0.05,
    ms=10.0,
    entries=("crowd.RECALIBRATIONS:platt", "crowd.RECALIBRATIONS:beta", "crowd.RECALIBRATIONS:isotonic"),
    results=("GoldScores",),
    worlds=GOLD_WORLDS,
    sizes=(20, 40),
)
def rectified_left_out(case: Case) -> float:
    run, judgments, gold = _judged_world(case)
    drawn = replace(gold, probabilities=np.full(len(gold), 0.25))
    method = str(case.rng.choice(["platt", "beta", "isotonic"]))
    found = gold_scores([run], judgments, drawn, "P@5", calibration=method)
    return outside(found.low[0], _true_precision(case.world), found.high[0])


@claim(
    "differences by gold docs without a known probability (fitted on ranks)",
    kind="interval",
    unit="topic",
    calls=("assay.crowd.rectified_scores.gold_scores",),
    promises="95 % of the intervals contain the true mean difference, if the model of ranks is right",
    nominal=0.05,
    ms=20.0,
    results=("GoldScores",),
    worlds=GOLD_WORLDS,
    sizes=(20, 40),
    limits=(Limit("intervals hold if the model of ranks does", 0.15, ("runs know more than the labels",)),),
)
def fitted_left_out(case: Case) -> float:
    run, judgments, gold = _judged_world(case)
    found = gold_scores([run, _run_by_labels(judgments, case.rng)], judgments, gold, "P@5", baseline="labels")
    return outside(found.low[0], _true_precision(case.world) - _true_precision(GOLD_WORLDS[0]), found.high[0])


@claim(
    "the share of relevant docs of similar probability",
    kind="interval",
    unit="topic",
    calls=("assay.crowd.probability_checks.reliability",),
    promises="95 % of the intervals contain the true share",
    nominal=0.05,
    ms=55.0,
    results=("Reliability",),
    worlds=GOLD_WORLDS,
    sizes=(20,),
)
def share_of_bin_left_out(case: Case) -> float:
    _, judgments, gold = _judged_world(case)
    bins = [b for b in reliability(judgments, gold).bins if b.probabilities == "raw" and b.low is not None]
    return float(np.mean([outside(b.low or 0.0, b.mean, b.high or 1.0) for b in bins]))


@functools.cache
def _true_precision(world: str) -> float:
    """P@5 of such a run over very many topics."""
    rng = np.random.default_rng(3)
    p = rng.beta(0.6, 0.6, (40_000, 20)).clip(0.02, 0.98)
    truth = rng.random(p.shape) < p
    signal = truth if world.startswith("runs") else rng.random(p.shape) < p
    order = np.argsort(-(signal + rng.normal(0, 0.5, p.shape)), axis=1)[:, :5]
    return float(np.take_along_axis(truth, order, axis=1).mean())


@claim(
    "the order of two runs under the labels so far",
    kind="probability",
    unit="worker",
    calls=("assay.crowd.allocation.next_labels",),
    promises="of the orders whose chance to be wrong is .05 or less, at most 5 % are",
    nominal=0.05,
    ms=20.0,
    results=("Allocation",),
    worlds=("5 labels a doc",),
    sizes=(5, 20),
)
def order_is_wrong(case: Case) -> float | None:
    docs = 12
    worth = case.rng.uniform(0.1, 0.9, (case.n, docs))
    rows = [
        (f"t{t}", f"d{d:02d}", f"w{w}", int(case.rng.random() < worth[t, d]))
        for t in range(case.n)
        for d in range(docs)
        for w in range(LABELS)
    ]
    orders = [case.rng.permuted(np.tile(np.arange(docs), (case.n, 1)), axis=1)[:, :6] for _ in range(4)]
    runs = [
        Run.from_lists(f"r{i}", {f"t{t}": [f"d{d:02d}" for d in row] for t, row in enumerate(order.tolist())})
        for i, order in enumerate(orders)
    ]
    gains = [(np.take_along_axis(worth, order, 1) / np.log2(np.arange(2, 8))).sum(axis=1).mean() for order in orders]
    table = next_labels(Labels.from_rows(rows), runs, measure="DCG").pair_table()
    sure = [row for row in table.record()["rows"] if row["wrong_order"] <= 0.05]
    wrong = [(gains[int(r["run"][1:])] - gains[int(r["other"][1:])]) * r["delta"] < 0 for r in sure]
    return float(np.mean(wrong)) if wrong else None


claim = area("Crowds: campaigns and cuts")


def _campaign(case: Case, name: str, truth: Ints) -> Campaign:
    rows = []
    for doc, grade in enumerate(truth.tolist()):
        for worker in range(5):
            label = int(np.clip(grade + case.rng.integers(-1, 2), 0, 3))
            rows.append((f"t{doc // 10}", f"d{doc}", f"{name}{worker}", label))
    return Campaign.of(name, Labels.from_rows(rows), scale="S4")


@claim(
    "two campaigns differ",
    kind="p",
    unit="doc",
    calls=("assay.crowd.campaigns.compare_campaigns",),
    promises="any corrected p < .05 in at most 5 % if both crowds are alike",
    nominal=0.05,
    ms=45.0,
    results=("CampaignComparison",),
    worlds=("alike",),
    sizes=(20, 50),
)
def campaigns_differ(case: Case) -> float:
    truth = case.rng.integers(0, 4, case.n)
    docs: dict[str, dict[str, int]] = {f"t{t}": {} for t in range((case.n + 9) // 10)}
    for doc, grade in enumerate(truth.tolist()):
        docs[f"t{doc // 10}"][f"d{doc}"] = grade
    pair = [_campaign(case, name, truth) for name in ("a", "b")]
    found = compare_campaigns(
        pair, reference=Qrels.from_dict(docs), most=3, repeats=10, resamples=199, seed=case.seed()
    )
    rows = found.difference_table().record()["rows"]
    return any(row["p_corrected"] is not None and row["p_corrected"] < 0.05 for row in rows)


def _tens(value: float) -> float:
    """The nearest of 0, 10, …, 100."""
    return float(np.clip(round(value / 10) * 10, 0, 100))


def _fine(case: Case, cut: float = 50.0) -> Labels:
    """Labels from 0 to 100 of n docs by 12 workers, relevant docs above the cut."""
    rows = []
    for doc in range(case.n):
        middle = case.rng.choice([cut - 25, cut + 25])
        for worker in range(12):
            rows.append(("t", f"d{doc}", f"w{worker}", _tens(case.rng.normal(middle, 15))))
    return Labels.from_rows(rows)


@claim(
    "cuts that cannot be distinguished from the best",
    kind="set",
    unit="worker",
    calls=("assay.crowd.cutsets.honest_cuts",),
    promises="the best cut over all workers and docs is in the set in 95 %",
    nominal=0.05,
    ms=50.0,
    results=("HonestCuts",),
    worlds=("two levels",),
    sizes=(20, 40),
)
def best_cut_left_out(case: Case) -> float | None:
    found = honest_cuts(_fine(case), "Tw_alpha", source="0-100", scope="pooled", named=[[BEST_CUT]], seed=case.seed())
    members = [one for cuts in found.sets for one in cuts.named]
    return None if not members else not members[0].is_member


BEST_CUT = 45.0
"""Between the two levels of docs, by symmetry; labels are tens."""


@claim(
    "wide cuts and many relevant docs go together",
    kind="p",
    unit="topic",
    calls=("assay.crowd.cutgroups.cut_groups",),
    promises="p < .05 in 5 % if they do not",
    nominal=0.05,
    ms=120.0,
    results=("CutGroups",),
    worlds=("independent",),
    sizes=(8,),
)
def widths_go_together(case: Case) -> float | None:
    rows: list[tuple[str, str, str, float]] = []
    relevant: dict[str, dict[str, int]] = {}
    for topic in range(case.n):
        for doc in range(6):
            relevant.setdefault(f"t{topic}", {})[f"d{doc}"] = int(case.rng.random() < 0.4)
            middle = case.rng.uniform(10, 90)
            for worker in range(4):
                label = _tens(case.rng.normal(middle, 15))
                rows.append((f"t{topic}", f"d{doc}", f"w{worker}", label))
    found = cut_groups(Labels.from_rows(rows), levels=3, source="0-100", reference=Qrels.from_dict(relevant), size=10)
    p = [one.p for one in found.correlations() if not np.isnan(one.p)]
    return float(np.mean([one < 0.05 for one in p])) if p else None
