"""Roitero 2020, chapter 10: from a fine scale to a coarse one."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from math import comb

import numpy as np

from assay.agreement.scales import S100
from assay.crowd.cutgroups import CutGroups, cut_groups
from assay.crowd.cuts import CutSearch, best_cuts
from assay.crowd.cutways import WAYS
from assay.data import Qrels
from reproduction.files import add
from reproduction.items import Line, cannot_be_had, cell, line, missing, reproduces, statement
from reproduction.places import ROITERO
from reproduction.roitero_crowd import CROWD, NO_SORMUNEN, RELEASED, docs, experts, labels

NO_S2_S4 = "the crowd labels on two and on four levels (S2, S4) are not public"
NO_RUNS = "the runs of TREC 8 are not public"

cannot_be_had(ROITERO, "Table 10.3", "α of Sormunen's judgments, cut into two levels, with TREC's", NO_SORMUNEN)
for _place, _title in (
    ("Figure 10.1", "S4 into two levels with TREC's judgments"),
    ("Figure 10.2", "S4 into two levels with S2"),
    ("Figure 10.9", "S100 into four levels with S4"),
):
    cannot_be_had(ROITERO, _place, _title, NO_S2_S4)
for _place, _title in (
    ("Figure 10.7", "S100 into four levels with Sormunen's judgments"),
    ("Figure 10.8", "the same, docs that Sormunen did not judge as not relevant"),
):
    cannot_be_had(ROITERO, _place, _title, NO_SORMUNEN)


@cache
def searched(way: str, scope: str = "mean", levels: int = 2, undefined: str = "skip") -> CutSearch:
    """The best cuts of S100, for each topic or for all."""
    return best_cuts(labels(), way, levels=levels, source=S100, target=experts(), scope=scope, undefined=undefined)


@reproduces(
    ROITERO,
    "Table 10.1",
    "the five data sets",
    command="assay crowd check s100.csv --scale S100 --reference tr2.qrels",
    needs=[CROWD],
)
def table_10_1() -> Iterator[Line]:
    yield line("docs of S100 that TREC judged (TR2), of 4,269", "90.9 %", 100 * len(docs()[0]) / 4269)
    yield line("docs that Sormunen judged, 805 of 4,269", "18.9 %", 100 * 805 / 4269)
    yield missing("So4", "–", NO_SORMUNEN)
    yield missing("S2 and S4", "–", NO_S2_S4)


@reproduces(
    ROITERO,
    "Table 10.2",
    "27 ways of choosing a cut",
    command="assay crowd methods",
)
def table_10_2() -> Iterator[Line]:
    known = WAYS.names()
    ways = {"one data set": ("H_t+a", "H_a+t", "Tw_alpha"), "two data sets": ("H", "D_a+t", "D_t+a")}
    for what, names in ways.items():
        yield statement(
            f"with {what}", ", ".join(names), ", ".join(n for n in names if n in known), set(names) <= set(known)
        )
    yield line("with three pairs of scales, and two targets where there is one", "27", 3 * (3 + 3 * 2))
    yield line("cuts of 4 into 2 levels", "3", comb(3, 1))
    yield line("cuts of 101 into 2 levels", "100", comb(100, 1))
    yield line("cuts of 101 into 4 levels", "161,700", comb(100, 3))


@reproduces(
    ROITERO,
    "Figure 10.3",
    "S100 into two levels: H_t+a, and H and D with TREC's judgments, by topic",
    command="""assay crowd transform s100.csv --scale S100 --way H_t+a --undefined one --figure single.svg
assay crowd transform s100.csv --scale S100 --way H --target tr2.qrels --figure task.svg
assay crowd transform s100.csv --scale S100 --way D_a+t --target tr2.qrels --figure doc.svg""",
    needs=[CROWD],
)
def figure_10_3() -> Iterator[Line]:
    extreme = [cut.topic for cut in searched("H_t+a", "topics", undefined="one").cuts if cut.points == (99.0,)]
    yield statement(
        "topics whose best cut is 99 by H_t+a", "402 and 427", " and ".join(extreme), extreme == ["402", "427"]
    )
    found = labels()
    item_topic = np.array(found.topics)[found.topic]
    hundreds = {topic: int((found.label[item_topic == topic] == 100).sum()) for topic in ("402", "427")}
    yield statement(
        "labels of 100 in these topics",
        "none",
        ", ".join(f"{count} of {int((item_topic == topic).sum())} in {topic}" for topic, count in hundreds.items()),
        not any(hundreds.values()),
        because="there are some; but tasks in which nothing varies after the cut count as full agreement in the "
        "printed curves, and at cut 99 most tasks of these topics do not vary. Left out, as is done here by default, "
        "no best cut is above 90",
    )
    by_task = {cut.topic: cut.points[0] for cut in searched("H", "topics").cuts}
    yield statement(
        "best cut of topic 402 by H with TREC's judgments",
        "around 60",
        f"{by_task['402']:.0f}",
        abs(by_task["402"] - 60) <= 8,
    )


@reproduces(
    ROITERO,
    "Figure 10.4",
    "S100 into two levels: Tw_α, and H and D with S2, by topic",
    command="assay crowd transform s100.csv --scale S100 --way Tw_alpha --figure wide.svg",
    needs=[CROWD],
)
def figure_10_4() -> Iterator[Line]:
    single = {cut.topic: cut.points[0] for cut in searched("H_t+a", "topics").cuts}
    wide = {cut.topic: cut.points[0] for cut in searched("Tw_alpha", "topics").cuts}
    apart = [topic for topic in wide if abs(wide[topic] - single[topic]) >= 5]
    yield statement(
        "the way of choosing",
        "has an impact on the best cut of different topics",
        f"Tw_α and H_t+a differ by 5 or more in {len(apart)} of 18 topics",
        len(apart) > 3,
    )
    relevant = int((docs()[1][np.array(docs()[3]) == "421"] > 50).sum())
    yield line("relevant docs of topic 421 by TREC", "34", int(docs()[0][np.array(docs()[3]) == "421"].sum()))
    yield line(
        "relevant docs of topic 421 by the crowd",
        "197",
        relevant,
        because="197 is by S2, which is not public; here docs whose mean S100 label is above 50",
    )
    yield missing("(b) and (c), with S2", "–", NO_S2_S4)


@reproduces(
    ROITERO,
    "Figure 10.5",
    "α by cut, H_t+a, S100 into two levels, one cut for all topics",
    command="assay crowd transform s100.csv --scale S100 --way H_t+a --scope mean --undefined one --figure curve.svg",
    needs=[CROWD],
)
def figure_10_5() -> Iterator[Line]:
    found = searched("H_t+a", undefined="one")
    assert found.curves is not None
    curve = found.curves[0]
    yield line("best cut", "58", found.cuts[0].points[0])
    yield line("α at cut 0", "0.21", float(curve[0]), because=RELEASED)
    yield line("α at cut 99", "0.51", float(curve[99]))


@cache
def experts_on_four_levels() -> Qrels:
    """TREC's judgments with relevant docs at the top of four levels."""
    raised = {topic: {doc: 3 * grade for doc, grade in docs.items()} for topic, docs in experts().to_dict().items()}
    return Qrels.from_dict(raised, name="tr4.qrels")


def _tr4_text() -> str:
    judged = experts_on_four_levels().to_dict()
    return "".join(f"{topic} 0 {doc} {grade:g}\n" for topic, docs in judged.items() for doc, grade in docs.items())


add("tr4.qrels", "TREC's judgments of those docs with relevant docs at the top of four levels, 3", _tr4_text)


@cache
def grouped() -> CutGroups:
    """The 1,000 best, median and worst cuts of S100 into four levels for each topic, by D_a+t."""
    target = experts_on_four_levels()
    return cut_groups(labels(), "D_a+t", levels=4, source=S100, target=target, reference=experts())


NO_SO4 = "printed with Sormunen's judgments as target, which are not public; here with TREC's, relevant docs as level 3"


@reproduces(
    ROITERO,
    "Figure 10.10",
    "the 1,000 best, median and worst cuts of S100 into four levels by D_a+t",
    command="assay crowd cut-groups s100.csv --scale S100 --way D_a+t --target tr4.qrels --reference tr2.qrels "
    "--figure groups.svg",
    needs=[CROWD],
)
def figure_10_10() -> Iterator[Line]:
    spread = {}
    for group in ("best", "median"):
        spread[group] = float(np.mean([g.cuts.std(axis=0).mean() for g in grouped().groups if g.group == group]))
    yield statement(
        "variability of the cut points",
        "quite limited for the best cuts; noise increases for the median ones",
        f"mean standard deviation {spread['best']:.1f} of the best, {spread['median']:.1f} of the median ones",
        spread["best"] < spread["median"] / 2,
    )
    medians = np.array([g.cuts.mean(axis=0) for g in grouped().groups if g.group == "median"])
    gaps = np.diff(medians, axis=1)
    shown = ", ".join(f"{point:.0f}" for point in medians.mean(axis=0))
    yield statement(
        "points of the median cuts",
        "uniformly distributed and distinguishable",
        f"{shown} on average, and at least {gaps.min():.0f} apart in every topic",
        bool(gaps.min() > 10),
    )
    worst = [g for g in grouped().groups if g.group == "worst"]
    # Where the middle point lies near an end, so does another one.
    middles = [g.cuts[:, 1] for g in worst]
    at_an_end = [float(np.minimum(middle, 100 - middle).mean()) for middle in middles]
    close = sum(distance < 15 for distance in at_an_end)
    yield statement(
        "points of the worst cuts",
        "very close to scale boundaries",
        f"on average two of the three lie within 15 of an end of the scale, in {close} of 18 topics",
        close >= 12,
    )
    found = {correlation.group: correlation for correlation in grouped().correlations()}
    yield line("Pearson of width and share of relevant docs, median cuts", "0.54", found["median"].r, because=NO_SO4)
    yield line("the same, worst cuts; here too TREC's judgments are the target", "−0.5", found["worst"].r)
    yield statement("p of the worst cuts", "below 0.05", f"{found['worst'].p:.3f}", found["worst"].p < 0.05)


TABLE_10_4 = (
    ("H_t+a", "58", "H_t+a(S100→2)"), ("H_a+t", "58", "H_a+t(S100→2)"), ("Tw_alpha", "52", "Tw_α(S100→2)"),
    ("H", "58", "H(S100→2, TR2)"), ("D_a+t", "59", "D_a+t(S100→2, TR2)"), ("D_t+a", "55", "D_t+a(S100→2, TR2)"),
)  # fmt: skip
FOUR_LEVELS = (
    f"{RELEASED}; the level of measurement of α is not said in the thesis, here interval, and neither is how labels "
    "are aggregated"
)


@reproduces(
    ROITERO,
    "Table 10.4",
    "the cut for all topics, and τ of the runs by transformed and by expert judgments",
    command="""assay crowd transform s100.csv --scale S100 --scope mean --way H_t+a
assay crowd transform s100.csv --scale S100 --scope mean --way D_t+a --target tr2.qrels
assay crowd transform s100.csv --scale S100 --scope mean --way Tw_alpha --levels 4""",
    needs=[CROWD],
)
def table_10_4() -> Iterator[Line]:
    for way, printed, name in TABLE_10_4:
        found = searched(way)
        assert found.curves is not None
        curve = found.curves[0]
        best = found.cuts[0].points[0]
        close = float(curve[int(best)] - curve[int(printed)])
        because = f"α at {printed} is lower by {close:.4f}, the second best; {RELEASED}"
        yield cell(f"cut of {name}", printed, best, because)
    wide = searched("Tw_alpha", levels=4).cuts[0].points
    shown = ", ".join(f"{point:.0f}" for point in wide)
    yield statement("cuts of Tw_α(S100→4)", "24, 63, 82", shown, shown == "24, 63, 82", because=FOUR_LEVELS)
    yield missing("all τ, per topic and for one cut", ".69 to .82", NO_RUNS)
    yield missing("cuts of S4→2 and with S2 or S4 as target", "middle; 52, 53, 56; …", NO_S2_S4)
    yield missing("cuts of S100→4 with Sormunen's judgments", "52, 70, 94; 58, 85, 99; 55, 86, 94", NO_SORMUNEN)


@reproduces(
    ROITERO,
    "Figure 10.6",
    "S100 into four levels by one data set: H and Tw_α, by topic",
    command="""assay crowd transform s100.csv --scale S100 --way H_t+a --levels 4 --undefined one
assay crowd transform s100.csv --scale S100 --way H_t+a --levels 4 --scope mean""",
    needs=[CROWD],
    slow=True,
)
def figure_10_6() -> Iterator[Line]:
    by_topic = {cut.topic: cut.points for cut in searched("H_t+a", "topics", 4, "one").cuts}
    extreme = [topic for topic, points in by_topic.items() if points[0] > 90]
    yield statement("topics with an extreme cut", "427", ", ".join(extreme), extreme == ["427"])
    shown = ", ".join(f"{point:.0f}" for point in searched("H_t+a", levels=4).cuts[0].points)
    yield statement(
        "one cut for all topics by H_t+a (Table 10.4)", "28, 58, 82", shown, shown == "28, 58, 82", because=FOUR_LEVELS
    )
