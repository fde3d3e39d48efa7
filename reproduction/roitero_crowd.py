"""Roitero 2020, chapter 9: relevance on 101 levels by crowd workers."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np

from assay.agreement.left_out import alpha_by_topic
from assay.agreement.ratings import Ratings, single
from assay.agreement.scales import S100
from assay.core.arrays import Floats, Ints
from assay.crowd.effort import fewer_judgments, run_out
from assay.crowd.units import units
from assay.data import Labels, Qrels
from assay.io import read_qrels
from assay.io.labels import read_labels
from reproduction.files import add
from reproduction.items import Line, cannot_be_had, cell, data_folder, line, missing, reproduces, statement
from reproduction.places import ROITERO

CROWD = "crowd-s100-trec8"
RELEASED = (
    "the labels of 388 of the 4,269 docs, those that TREC did not judge, were not released: 52,590 of 56,472 labels "
    "are public, and of the 3,882 others 2,088 must be 0 for the printed row of 0s in Table 9.1"
)
NO_ME = "the labels by magnitude estimation (ME) are not public"
NO_SORMUNEN = "the four-level judgments of Sormunen are not public"
NO_ATTEMPTS = "the attempts of the workers were not released"
NO_TIMES = "the seconds of the workers were not released"


@cache
def labels() -> Labels:
    """S100: labels of TREC 8 docs from 0 to 100."""
    return read_labels(data_folder() / CROWD / "judgments.tsv.xz", times=100)


@cache
def experts() -> Qrels:
    """TREC's judgments of the same docs."""
    return read_qrels(data_folder() / CROWD / "trec8-qrels.txt")


def _labels_text() -> str:
    found = labels()
    columns = (found.topic.tolist(), found.doc.tolist(), found.worker.tolist(), found.label.tolist())
    rows = [
        f"{found.topics[topic]},{found.docs[doc]},{found.workers[worker]},{label:g}"
        for topic, doc, worker, label in zip(*columns, strict=True)
    ]
    return "\n".join(["topic,doc,worker,label", *rows, ""])


add("s100.csv", "crowd labels from 0 to 100 of 3,881 docs of TREC 8", _labels_text)
add("tr2.qrels", "TREC's judgments of those docs", lambda: (data_folder() / CROWD / "trec8-qrels.txt").read_text())

cannot_be_had(ROITERO, "Figure 9.4", "S100 labels by Sormunen's level", NO_SORMUNEN)
cannot_be_had(
    ROITERO, "Figure 9.7", "NDCG@10 of TREC 8's runs by TREC, ME and S100", f"the runs of TREC 8 and {NO_ME[4:]}"
)
S100_ALONE = "`assay crowd effort s100.csv --scale S100 --reference tr2.qrels --show fewer-docs` has the half of S100"
for _place, _title in (
    ("Figure 9.5", "how often the pairwise agreement of a task with TREC exceeds a value, S100 above ME"),
    ("Figure 9.8", "the same of the first 2 to 7 docs of a task"),
):
    cannot_be_had(ROITERO, _place, _title, f"{NO_ME}; {S100_ALONE}")
cannot_be_had(ROITERO, "Figure 9.11", "mean time by position in the task", NO_TIMES)
cannot_be_had(ROITERO, "Figure 9.12", "distributions of judging time", NO_TIMES)


@cache
def docs() -> tuple[Ints, Floats, Ints, list[str]]:
    """For each doc: TREC's grade, its mean label, and topic; for each label the doc."""
    known = experts().to_dict()
    item, pairs = labels().items()
    grades = np.array([known[topic][doc] for topic, doc in pairs])
    means = np.bincount(item, labels().label) / np.bincount(item)
    return grades, means, item, [topic for topic, _ in pairs]


@reproduces(
    ROITERO,
    "Section 9.2",
    "the data set",
    command="assay crowd check s100.csv --scale S100 --reference tr2.qrels",
    needs=[CROWD],
)
def section_9_2() -> Iterator[Line]:
    yield line("docs", "4,269", len(docs()[0]), because=RELEASED)
    yield line("docs that TREC judged (Table 10.3)", "3881", len(docs()[0]))
    yield line("topics", "18", len(labels().topics))
    yield line("tasks", "7,059", int(units(labels()).max()) + 1)
    yield line("labels, 7,059 · 8", "56,472", len(labels()), because=RELEASED)
    yield missing("workers who were done after the first, second and third attempt", "85.3, 11.2, 3.5 %", NO_ATTEMPTS)


@reproduces(
    ROITERO,
    "Figure 9.1",
    "distributions of single and of aggregated labels",
    command="""assay crowd profile s100.csv --scale S100 --reference tr2.qrels --figure labels.svg
assay crowd profile s100.csv --scale S100 --reference tr2.qrels --aggregated --figure aggregated.svg""",
    needs=[CROWD],
)
def figure_9_1() -> Iterator[Line]:
    label = labels().label
    of_ten = label % 10 == 0
    at_end = np.isin(label, (0, 100))
    yield cell("multiples of ten", "60 %", 100 * of_ten.mean(), RELEASED)
    yield cell("0 or 100", "41 %", 100 * at_end.mean(), RELEASED)
    yield cell("multiples of ten of those between", "32 %", 100 * of_ten[~at_end].mean(), RELEASED)
    values, counts = np.unique(label, return_counts=True)
    two = sorted(values[np.argsort(-counts)[:2]].astype(int).tolist())
    yield statement("the two most frequent labels", "0 and 100", " and ".join(map(str, two)), two == [0, 100])
    grades, means, item, _ = docs()
    relevant = grades[item] == 1
    low, high = float((label[~relevant] < 50).mean()), float((label[relevant] > 50).mean())
    yield statement(
        "labels of docs that TREC judged not relevant, and relevant",
        "mostly in the lower part, and in the upper",
        f"{low:.0%} below 50, and {high:.0%} above",
        low > 0.5 and high > 0.5,
    )
    tens = float((np.round(means, 6) % 10 == 0).mean())
    yield statement("multiples of ten after aggregation", "less prominent", f"{tens:.1%}", tens < 0.1)


@reproduces(
    ROITERO,
    "Figure 9.2",
    "cumulative distributions of aggregated labels by topic",
    command="assay crowd check s100.csv --scale S100 --reference tr2.qrels --figure topics.svg",
    needs=[CROWD],
)
def figure_9_2() -> Iterator[Line]:
    _, means, _, topics = docs()
    by_topic = {name: means[np.array(topics) == name] for name in labels().topics}
    below = {name: float((values < 50).mean()) for name, values in by_topic.items()}
    typical = float(np.median(list(below.values())))
    for name in ("448", "442"):
        yield statement(
            f"docs of topic {name} below 50",
            "a curve that grows faster",
            f"{below[name]:.0%}, median of the topics {typical:.0%}",
            below[name] > typical,
        )
    yield statement(
        "docs of topic 403 below 50",
        "a much slower growth",
        f"{below['403']:.0%}, median of the topics {typical:.0%}",
        below["403"] < typical,
        because="403 lies at the median here; the slow ones are "
        + ", ".join(sorted(below, key=lambda name: below[name])[:3])
        + ". Docs that TREC did not judge are missing, most of them with low labels",
    )
    slowest = min(below, key=lambda name: below[name])
    yield statement(
        "the topic that grows towards the end", "421", f"{slowest}, {below[slowest]:.0%} below 50", slowest == "421"
    )


@reproduces(
    ROITERO,
    "Figure 9.3",
    "aggregated labels by TREC's grade and by Sormunen's",
    command="assay crowd profile s100.csv --scale S100 --reference tr2.qrels --aggregated --figure grades.svg",
    needs=[CROWD],
)
def figure_9_3() -> Iterator[Line]:
    grades, means, _, _ = docs()
    medians = [float(np.median(means[grades == grade])) for grade in (0, 1)]
    yield statement(
        "medians of docs not relevant and relevant by TREC", "different", f"{medians[0]:.0f} and {medians[1]:.0f}",
        medians[1] > medians[0] + 20,
    )  # fmt: skip
    ranges = [(float(means[grades == grade].min()), float(means[grades == grade].max())) for grade in (0, 1)]
    yield statement(
        "ranges of both",
        "the entire interval",
        " and ".join(f"{low:.0f} to {high:.0f}" for low, high in ranges),
        all(low <= 5 and high >= 95 for low, high in ranges),
    )
    yield missing("by Sormunen's grades", "–", NO_SORMUNEN)
    yield missing("of docs that TREC did not judge", "–", RELEASED)


@reproduces(
    ROITERO,
    "Figure 9.6",
    "Krippendorff's α by topic, all docs, relevant ones and others, S100 and ME",
    command="assay agreement s100.csv --scale S100 --per-topic -m alpha",
    needs=[CROWD],
)
def figure_9_6() -> Iterator[Line]:
    once = single(labels(), "first")
    known = experts().to_dict()
    item, pairs = once.items()
    grade = np.array([known[topic][doc] for topic, doc in pairs])[item]
    parts = {"all": grade >= 0, "relevant": grade == 1, "others": grade == 0}
    by_part = {}
    for name, kept in parts.items():
        ratings = Ratings.of_labels(once.select(kept), scale=S100, repeats="all")
        by_part[name] = alpha_by_topic(ratings)[0]
    means = {name: float(np.mean(values)) for name, values in by_part.items()}
    yield statement(
        "mean α of relevant docs and of others",
        "higher on docs that are not relevant",
        f"{means['relevant']:.3f} and {means['others']:.3f}; others higher in "
        f"{int((by_part['others'] > by_part['relevant']).sum())} of 18 topics",
        means["others"] > means["relevant"],
    )
    yield missing("S100 substantially higher than ME", "–", NO_ME)


@reproduces(
    ROITERO,
    "Figure 9.9",
    "agreement with TREC of 1 to 10 labels per doc, S100 and ME",
    command="assay crowd effort s100.csv --scale S100 --reference tr2.qrels --show fewer-labels --repeats 20",
    needs=[CROWD],
)
def figure_9_9() -> Iterator[Line]:
    found = fewer_judgments(labels(), experts(), repeats=20)
    medians = [float(np.nanmedian(values)) for values in found.agreement]
    yield statement(
        "median of the topics with 1, 2, … 10 labels, S100",
        "decreases with fewer labels",
        " ".join(f"{median:.3f}" for median in medians),
        medians == sorted(medians),
    )
    yield missing("S100 above ME for every number", "–", NO_ME)


LOW = (2355, 803, 694, 689, 736, 786, 641, 355)
HIGH = (3796, 1808, 846, 398, 133, 55, 19, 4)


@reproduces(
    ROITERO,
    "Table 9.1",
    "tasks with exactly k labels of 0 or of 100, and the labels that may have run out of values",
    command="assay crowd effort s100.csv --scale S100 --show values",
    needs=[CROWD],
)
def table_9_1() -> Iterator[Line]:
    found = run_out(labels(), scale=S100)
    for name, printed, ours in (("0", LOW, found.low), ("100", HIGH, found.high)):
        for k, (count, value) in enumerate(zip(printed, ours.tolist(), strict=False)):
            yield cell(f"tasks with {k} labels of {name}", str(count), value, RELEASED)
    possible = [sum((k - 1) * count for k, count in enumerate(row) if k > 1) for row in (LOW, HIGH)]
    yield line("0s*, from the printed row", "12759", possible[0])
    yield line("100s*, from the printed row", "2380", possible[1])
    yield line("labels after the first of a task, 7,059 · 7", "49,413", 7059 * 7)
    yield line("share of labels that may have run out, from the printed rows", "31 %", 100 * sum(possible) / 49413)
    yield line("labels that may have run out", "15,139", sum(found.potential), because=RELEASED)
    yield line("of these, confirmed by the aggregate", "7,523", found.confirmed, because=RELEASED)
    yield line("that is", "50 %", 100 * found.confirmed / sum(found.potential))
    yield missing("confirmed by ME", "4,309, 28 %", NO_ME)


@reproduces(
    ROITERO,
    "Figure 9.10",
    "share of labels that may have been constrained by earlier ones of the task, by value",
    command="assay crowd effort s100.csv --scale S100 --show values",
    needs=[CROWD],
)
def figure_9_10() -> Iterator[Line]:
    found = run_out(labels(), scale=S100)
    order = f"{RELEASED}; the order of the docs in a task is taken to be that of the released lines"
    yield line("labels between two neighbours (Section 9.5.2)", "1,911", found.gaps, because=order)
    share = 100 * found.gaps / (len(labels()) - 2 * found.tasks)
    yield statement("their share of the possible ones", "less than 5 %", f"{share:.1f} %", share < 5)
    yield line("possible ones, 7,059 · 6", "42,354", 7059 * 6)
    near = found.gaps_near_zero / found.gaps
    yield statement(
        "those between 0 and 10",
        "around 1,500 of 1,911, the vast majority",
        f"{found.gaps_near_zero:,} of {found.gaps:,}",
        near > 0.7,
    )
