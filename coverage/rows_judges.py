"""Machine judges: do estimates, shares, agreements and biases hold, with topics as the unit?"""

from __future__ import annotations

import csv
import functools
import io
import lzma
from typing import Any

import numpy as np

from assay.core.arrays import Floats
from assay.data import Qrels, Run
from assay.data.scores import ScoreMatrix
from assay.judges import estimate_docs, prevalence
from assay.judges.calibration import CALIBRATIONS
from assay.judges.circularity import circularity
from assay.judges.label_audit import label_audit
from assay.judges.labelled_pairs import labelled
from assay.judges.listed import listed, one_measure
from assay.judges.panels import panel_audit
from assay.judges.ranking_audit import ranking_audit
from assay.judges.run_bias import run_bias
from assay.judges.topic_estimators import ESTIMATORS, estimated
from assay.pooling import sample
from claims import FEW, SIZES, Wrong, area, outside
from worlds import Case, data_file, real_scores

claim = area("Machine judges: scores of runs")
OTHERS = 50
"""Topics that only the machine judged."""
SCORED = ("smooth scores", "success of a tenth", "success of half")
REAL = ("AP with noise, redrawn",)


def _scored(case: Case) -> tuple[Floats, Floats, Floats, float]:
    """Human and machine scores of n topics, machine scores of OTHERS, and the true mean of the human ones."""
    total = case.n + OTHERS
    if case.world in REAL:
        whole = real_scores("AP")[int(case.rng.integers(0, 20))]
        human, truth = case.rng.choice(whole, total), float(whole.mean())
        machine = (0.6 * human + 0.1 + case.rng.normal(0, 0.1, total)).clip(0, 1)
    elif case.world == "smooth scores":
        human, truth = case.rng.beta(2, 2, total), 0.5
        machine = (0.7 * human + 0.2 + case.rng.normal(0, 0.1, total)).clip(0, 1)
    else:
        truth = 0.1 if case.world == "success of a tenth" else 0.5
        human = (case.rng.random(total) < truth).astype(np.float64)
        machine = np.where(case.rng.random(total) < 0.85, human, 1 - human)
    return human[None, : case.n], machine[None, : case.n], machine[None, case.n :], truth


def _estimate_left_out(method: str) -> Wrong:
    def wrong(case: Case) -> float | None:
        human, machine, others, truth = _scored(case)
        low, high = estimated(human, machine, others, method, limits=(0.0, 1.0)).interval()
        return None if np.isnan(low[0]) else outside(low[0], truth, high[0])

    return wrong


for name in ESTIMATORS.names():
    claim(
        f"a mean score from human and machine topics ({name})",
        kind="interval",
        unit="topic",
        calls=("assay.judges.topic_estimators.estimated",),
        promises="95 % of the intervals contain the mean that people would give",
        nominal=0.05,
        ms=0.4,
        entries=(f"judges.ESTIMATORS:{name}",),
        results=("Estimated", "TopicEstimates"),
        worlds=SCORED,
        sizes=SIZES if name == "cross-fitted" else FEW,
        real=REAL,
    )(_estimate_left_out(name))


def _sampled(case: Case, calibration: str, measure: str) -> float | None:
    """n topics of 25 pooled docs, of which people judge a random 40 %; the mean under all human labels is the truth."""
    relevant = case.rng.random((case.n, 25)) < case.rng.beta(1, 3, (case.n, 1))
    machine = np.where(case.rng.random(relevant.shape) < 0.8, relevant, ~relevant)
    docs = [f"d{i:02d}" for i in range(25)]
    order = np.argsort(case.rng.random(relevant.shape) - 0.4 * relevant, axis=1)
    run = Run.from_lists("r", {f"t{t}": [docs[i] for i in row] for t, row in enumerate(order)})
    drawn = sample([run], "uniform(share=0.4)", seed=case.seed())
    whole = {f"t{t}": dict(zip(docs, row.astype(int).tolist(), strict=True)) for t, row in enumerate(relevant)}
    labels = {
        f"t{t}": {doc: {"m": int(one)} for doc, one in zip(docs, row, strict=True)} for t, row in enumerate(machine)
    }
    sheet = drawn.qrels()
    grades = np.array(
        [
            whole[sheet.topics[t]][doc] if chosen else -1
            for t, doc, chosen in zip(drawn.topic.tolist(), drawn.docs.tolist(), drawn.chosen.tolist(), strict=True)
        ]
    )
    human = Qrels(sheet.topics, sheet.bounds, sheet.docs, grades, sheet.probabilities, name="sample")
    found = estimate_docs(human, labels, [run], measure=measure, calibration=calibration)
    gains = np.take_along_axis(relevant, order, axis=1)[:, :10] / np.log2(np.arange(2, 12))
    truth = gains.sum(axis=1).mean()
    low, high = found.found.low[0], found.found.high[0]
    return None if np.isnan(low) else outside(low, float(truth), high)


def _docs_left_out(calibration: str) -> Wrong:
    def wrong(case: Case) -> float | None:
        return _sampled(case, calibration, "DCG@10")

    return wrong


for name in CALIBRATIONS.names():
    claim(
        f"a mean score from sampled docs ({name})",
        kind="interval",
        unit="doc",
        calls=("assay.judges.estimate_docs",),
        promises="95 % of the intervals contain the mean under all human labels of these topics",
        nominal=0.05,
        ms=14.0,
        entries=(f"judges.CALIBRATIONS:{name}", "judges.EXPANSIONS:sum"),
        results=("DocEstimates",),
        worlds=("a quarter relevant",),
        sizes=(5, 10, 25, 50) if name == "isotonic" else FEW,
    )(_docs_left_out(name))


claim = area("Machine judges: labels")
DOCS = 20
JUDGED = ("a third relevant", "a tenth relevant")
DL = "DL 2019 and 2021, topics split"
HUMAN_OF_DL = 15


def _labels(case: Case) -> tuple[dict[str, Any], dict[str, Any], float]:
    """Human labels of n topics, those of a judge of n + OTHERS, and the true share of relevant docs."""
    concentration = 2.0
    mean = 1 / 3 if case.world == JUDGED[0] else 0.1
    share = case.rng.beta(concentration * mean, concentration * (1 - mean), case.n + OTHERS)
    truth = case.rng.random((case.n + OTHERS, DOCS)) < share[:, None]
    hits = case.rng.beta(8, 2, case.n + OTHERS)[:, None]
    misses = case.rng.beta(1, 9, case.n + OTHERS)[:, None]
    machine = case.rng.random(truth.shape) < np.where(truth, hits, misses)
    human = {f"t{t}": {f"d{d}": int(truth[t, d]) for d in range(DOCS)} for t in range(case.n)}
    labels = {f"t{t}": {f"d{d}": {"m": int(one)} for d, one in enumerate(row)} for t, row in enumerate(machine)}
    return human, labels, mean


@claim(
    "the share of relevant docs from a judge's labels",
    kind="interval",
    unit="topic",
    calls=("assay.judges.prevalence",),
    promises="95 % of the intervals contain the share over topics like these",
    nominal=0.05,
    ms=20.0,
    results=("Prevalence",),
    worlds=JUDGED,
    real=(DL,),
    real_sizes=(HUMAN_OF_DL,),
)
def share_left_out(case: Case) -> float | None:
    human, labels, truth = _split_of_dl(case) if case.world == DL else _labels(case)
    share = prevalence(human, labels).rows[0].share
    return None if share.low is None or share.high is None else outside(share.low, truth, share.high)


@functools.cache
def _dl(year: int) -> dict[str, dict[str, tuple[int, dict[str, int]]]]:
    """Of each topic and doc whether people and each binary judge call it relevant."""
    folder = data_file(f"trec-dl-{year}-passage")
    grades: dict[tuple[str, str], int] = {}
    for path in sorted(folder.glob("*qrels*")):
        text = lzma.decompress(path.read_bytes()).decode() if path.suffix == ".xz" else path.read_text()
        for line in text.splitlines():
            topic, _, doc, grade = line.split()
            grades[topic, doc] = int(int(grade) >= 2)
    found: dict[str, dict[str, tuple[int, dict[str, int]]]] = {}
    text = lzma.decompress(data_file(f"machine-judges-dl2019-2021/labels-dl{year}.tsv.xz").read_bytes()).decode()
    for row in csv.DictReader(io.StringIO(text), delimiter="\t"):
        if row["worker"].endswith("-binary") and (row["topic"], row["doc"]) in grades:
            own = found.setdefault(row["topic"], {}).setdefault(row["doc"], (grades[row["topic"], row["doc"]], {}))
            own[1][row["worker"]] = int(float(row["label"]))
    return found


def _split_of_dl(case: Case) -> tuple[dict[str, Any], dict[str, Any], float]:
    """15 topics with human labels, all with those of one judge, and the share that people found on the other topics."""
    whole = _dl(int(case.rng.choice([2019, 2021])))
    topics = case.rng.permutation(sorted(whole)).tolist()
    judge = str(case.rng.choice(["gpt4-binary", "gpt4o-binary", "llama3.2-binary", "gpt4-exam-binary"]))
    human = {topic: {doc: grade for doc, (grade, _) in whole[topic].items()} for topic in topics[: case.n]}
    labels = {
        topic: {doc: {"m": said[judge]} for doc, (_, said) in whole[topic].items() if judge in said} for topic in topics
    }
    others = [grade for topic in topics[case.n :] for grade, _ in whole[topic].values()]
    return human, labels, float(np.mean(others))


def _audited(case: Case, judges: int = 1, own: float = 0.0) -> Any:
    """Pairs of human and machine labels of n topics: judges who err together, and `own` of the time by themselves."""
    share = case.rng.beta(1, 2, case.n)
    truth = case.rng.random((case.n, DOCS)) < share[:, None]
    human = {f"t{t}": {f"d{d}": int(one) for d, one in enumerate(row)} for t, row in enumerate(truth)}
    ease = np.where(case.rng.random((case.n, 1)) < 0.5, 0.95, 0.75)
    shared = np.where(case.rng.random(truth.shape) < ease, truth, ~truth)
    said = [shared ^ (case.rng.random(truth.shape) < own) for _ in range(judges)]
    labels = {
        f"t{t}": {f"d{d}": {f"j{j}": int(own[t, d]) for j, own in enumerate(said)} for d in range(DOCS)}
        for t in range(case.n)
    }
    return labelled(human, labels)


def _true_kappa() -> float:
    """κ of such a judge over all topics: easy and hard ones, a third of the docs relevant."""
    share, right = 1 / 3, 0.85
    said = share * right + (1 - share) * (1 - right)
    chance = share * said + (1 - share) * (1 - said)
    return (right - chance) / (1 - chance)


@claim(
    "the agreement of a judge with people",
    kind="interval",
    unit="topic",
    calls=("assay.judges.label_audit.label_audit",),
    promises="95 % of the intervals contain κ over topics like these",
    nominal=0.05,
    ms=7.0,
    results=("LabelAudit", "JudgeAudit"),
    worlds=("easy and hard topics",),
)
def kappa_left_out(case: Case) -> float | None:
    found = label_audit(_audited(case), seed=case.seed()).agreement
    rows = [row for row in found if "κ" in row.measure or "kappa" in row.measure]
    if not rows or rows[0].low is None or rows[0].high is None:
        return None
    return outside(rows[0].low, _true_kappa(), rows[0].high)


@claim(
    "a panel agrees with people worse than the best judge",
    kind="p",
    unit="topic",
    calls=("assay.judges.panels.panel_audit",),
    promises="said in at most 5 % if each judge errs 1 % by itself, which a panel mends",
    nominal=0.05,
    ms=30.0,
    results=("PanelAudit",),
    worlds=("shared errors",),
    sizes=FEW,
)
def panel_differs(case: Case) -> float | None:
    found = panel_audit(_audited(case, 3, own=0.01), resamples=199, seed=case.seed())
    said = [
        row.p < 0.05 and (row.difference or 0) < 0 for row in found.rows if row.kind == "panel" and row.p is not None
    ]
    return any(said) if said else None


claim = area("Machine judges: rankings and bias")


def _machine(case: Case, bias: Floats) -> tuple[ScoreMatrix, ScoreMatrix, ScoreMatrix]:
    """Human scores of runs, and those of two judges of one quality that are kind to runs by `bias`."""
    k = len(bias)
    quality = np.linspace(0.35, 0.5, k)[:, None]
    human = quality + case.rng.normal(0, 0.1, case.n) + case.rng.normal(0, 0.06, (k, case.n))
    judged = [human + 0.05 + bias[:, None] + case.rng.normal(0, 0.06, (k, case.n)) for _ in range(2)]
    one, two, three = (ScoreMatrix.of(values.clip(0, 1), measure="nDCG@10") for values in (human, *judged))
    return one, two, three


@claim(
    "a judge favours a run",
    kind="p",
    unit="topic",
    calls=("assay.judges.run_bias.run_bias",),
    promises="any corrected p < .05 in at most 5 % if it favours none",
    nominal=0.05,
    ms=2.0,
    results=("RunBias",),
    worlds=("normal",),
)
def favoured(case: Case) -> float:
    human, machine, _ = _machine(case, np.zeros(8))
    return bool((np.asarray(run_bias(human, machine, "m").p) < 0.05).any())


@claim(
    "the bias of a judge for a run lies in its interval",
    kind="interval",
    unit="topic",
    calls=("assay.judges.run_bias.run_bias",),
    promises="95 % of the intervals contain it",
    nominal=0.05,
    ms=2.0,
    results=("RunBias",),
    worlds=("normal",),
    sizes=FEW,
)
def bias_left_out(case: Case) -> float:
    bias = np.linspace(-0.03, 0.03, 8)
    human, machine, _ = _machine(case, bias)
    found = run_bias(human, machine, "m")
    ends = zip(found.runs, found.low, found.high, strict=True)
    return float(np.mean([outside(low, 0.05 + bias[int(run[3:]) - 1], high) for run, low, high in ends]))


@claim(
    "τ of the runs by people and by a judge",
    kind="interval",
    unit="topic",
    calls=("assay.judges.ranking_audit.ranking_audit",),
    promises="95 % of the intervals contain τ of the true means",
    nominal=0.05,
    ms=7.0,
    results=("RankingAudit", "JudgeAudit"),
    worlds=("normal",),
    sizes=FEW,
)
def tau_left_out(case: Case) -> float | None:
    bias = 0.05 * np.array([1, -1, 0, 1, -1, 0, 1, -1])
    human, machine, other = _machine(case, bias)
    row = ranking_audit(human, [machine, other], ["m", "o"], resamples=199, seed=case.seed()).rows[0]
    if row.low is None or row.high is None:
        return None
    from assay.rankings import kendall_tau_b

    quality = np.linspace(0.35, 0.5, 8)
    return outside(row.low, kendall_tau_b(quality, quality + bias), row.high)


@claim(
    "two judges rank runs unlike",
    kind="p",
    unit="topic",
    calls=("assay.judges.ranking_audit.ranking_audit",),
    promises="p < .05 in at most 5 % of the measures if both are as good",
    nominal=0.05,
    ms=7.0,
    results=("RankingAudit",),
    worlds=("normal",),
    sizes=FEW,
)
def judges_rank_unlike(case: Case) -> float | None:
    human, machine, other = _machine(case, np.zeros(8))
    found = ranking_audit(human, [machine, other], ["m", "o"], resamples=199, seed=case.seed()).differences
    p = [] if found is None else [row.p for row in found.rows if row.p is not None]
    return float(np.mean([one < 0.05 for one in p])) if p else None


@claim(
    "what runs gain by asking the judge",
    kind="interval",
    unit="topic",
    calls=("assay.judges.circularity.circularity",),
    promises="95 % of the intervals contain the gain over topics like these",
    nominal=0.05,
    ms=7.0,
    results=("Circularity", "JudgeAudit"),
    worlds=("easy and hard topics",),
    sizes=FEW,
)
def gain_left_out(case: Case) -> float:
    def gains(n: int) -> tuple[float, float, float]:
        pairs = _audited(Case(case.world, n, case.rng))
        order = [case.rng.permutation(DOCS) for _ in range(n)]
        run = Run.from_lists("r", {f"t{t}": [f"d{d}" for d in row] for t, row in enumerate(order)})
        lists = listed([run], pairs)
        measure = one_measure("P@5")
        found = circularity(lists, measure, lists.human(measure), (lists.machine(measure, 0),), k=10).gains[0]
        return float(found.human), float(found.human_low), float(found.human_high)

    _, low, high = gains(case.n)
    return outside(low, _true_gain(), high)


@functools.cache
def _true_gain() -> float:
    """The gain in P@5 by people over very many topics."""
    case = Case("easy and hard topics", 40_000, np.random.default_rng(7))
    share = case.rng.beta(1, 2, (case.n, 1))
    truth = case.rng.random((case.n, DOCS)) < share
    ease = np.where(case.rng.random((case.n, 1)) < 0.5, 0.95, 0.75)
    said = np.where(case.rng.random(truth.shape) < ease, truth, ~truth)
    order = np.argsort(~said[:, :10], axis=1, kind="stable")
    after = np.take_along_axis(truth[:, :10], order, axis=1)[:, :5].mean()
    return float(after - truth[:, :5].mean())
