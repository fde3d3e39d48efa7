"""Webber 2010, chapter 6: what a pool hides, and scores adjusted for it."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from assay.data.lists import Lists, collected
from assay.io import read_info, read_qrels, read_run
from assay.pooling import from_systems, from_topics
from assay.pooling.adjustment_errors import Accuracy, adjustment_accuracy, best_runs
from reproduction.items import Line, cannot_be_had, cell, data_folder, line, missing, reproduces, statement
from reproduction.places import WEBBER
from reproduction.webber_measures import ILLUSTRATION, RANKS, example_scores

COVID = "trec-covid-round1"
NO_RUNS = "only three of the 110 runs of TREC 2004 Robust are public, and none of TREC 8"
ELSEWHERE = f"{NO_RUNS}; the same study of TREC-COVID's first round (143 runs, 30 topics) stands below"
WIDTHS = (2, 4, 10, 20, 40)
ACCURACY = "assay pool accuracy covid/runs --qrels covid/qrels.txt --widths '2 4 10 20 40' --common '10 20'"
cannot_be_had(WEBBER, "Figure 6.1", "pooled and unpooled runs", ILLUSTRATION)
cannot_be_had(WEBBER, "Figure 6.3", "a run withdrawn from the pool", ILLUSTRATION)


@reproduces(
    WEBBER,
    "Section 6.1.1",
    "weights of tRBP@10, p = 0.8",
    command="assay score --qrels ranks.qrels ranks.run -q -m 'tRBP(p=0.8)@10'",
)
def section_6_1() -> Iterator[Line]:
    weights = ("0.224", "0.179", "0.143", "0.115", "0.092", "0.073", "0.059", "0.047", "0.038", "0.030")
    made = example_scores(RANKS, "tRBP(p=0.8)@10")["tRBP@10"]
    for rank, printed in enumerate(weights, start=1):
        yield line(f"weight of rank {rank}", printed, made[str(rank)])


@cache
def covid_lists(depth: int | None = 100) -> Lists:
    """The first docs, or all, of the 143 runs of TREC-COVID's first round, with its judgments."""
    source = data_folder() / COVID
    with TemporaryDirectory() as folder:
        with tarfile.open(source / "runs.tar.xz") as archive:
            archive.extractall(folder, filter="data")
        files = sorted((Path(folder) / "runs").iterdir())
        runs = [replace(read_run(path), name=path.name) for path in files]
        if depth is not None:
            runs = [run.cut(depth) for run in runs]
    return collected(runs, read_qrels(source / "qrels.txt"))


@cache
def accuracy(unjudged: str = "nonrelevant") -> Accuracy:
    """Algorithm 6.3 on TREC-COVID: 100 draws of runs per width."""
    return adjustment_accuracy(
        covid_lists(), "tRBP@10", widths=WIDTHS, common=(10, 20), samples=100, topic_samples=200, unjudged=unjudged
    )


def _row(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> str:
    return ", ".join(f"{value:.3f}" for value in values)


@reproduces(
    WEBBER,
    "Figure 6.2",
    "error of the score of a run outside the pool, by width of the pool",
    command=f"{ACCURACY}\n{ACCURACY} --unjudged condensed",
    needs=[COVID],
    slow=True,
)
def figure_6_2() -> Iterator[Line]:
    yield missing("TREC 2004 Robust, quartiles by width", "seen in the lines", ELSEWHERE)
    plain, condensed = accuracy(), accuracy("condensed")
    yield statement(
        "TREC-COVID, unjudged docs not relevant: the error",
        "shrinks with the width of the pool",
        f"widths 2, 4, 10, 20, 40: {_row(plain.raw)}",
        bool((np.diff(plain.raw) < 0).all()),
    )
    halves = [plain.raw[i + 1] / plain.raw[i] for i in (0, 2, 3)]
    yield statement(
        "TREC-COVID: the error when the width doubles",
        "about halves",
        "times {:.2f} (2 to 4), {:.2f} (10 to 20), {:.2f} (20 to 40)".format(*halves),
        max(halves) < 0.65,
        because="another collection, with pools of two and four runs alike bad; from ten runs on it holds",
    )
    yield statement(
        "TREC-COVID, condensed lists",
        "better for narrow pools, worse for wide ones",
        f"widths 2, 4, 10, 20, 40: {_row(condensed.raw)}",
        bool(condensed.raw[0] < plain.raw[0] and condensed.raw[-1] > plain.raw[-1]),
    )


@reproduces(
    WEBBER,
    "Table 6.1",
    "error of scores adjusted from systems",
    command=ACCURACY,
    needs=[COVID],
    slow=True,
)
def table_6_1() -> Iterator[Line]:
    yield missing("TREC 2004 Robust, raw and adjusted", ".127 .041 … .007 .006", ELSEWHERE)
    yield missing("TREC 8, manual runs from automatic pools", ".451 … .177 .159", f"{NO_RUNS}")
    found = accuracy()
    yield statement(
        "TREC-COVID: errors of adjusted scores",
        "below those of raw ones, more so for narrow pools",
        f"raw {_row(found.raw)}; adjusted {_row(found.systems)}",
        bool((found.systems < found.raw).all()) and found.systems[0] / found.raw[0] < found.systems[-1] / found.raw[-1],
    )
    chance = 4 * 1.3 * found.systems / 100**0.5  # an sd is 1.3 mean absolute errors, and there are 100 draws
    yield statement(
        "TREC-COVID: mean signed error of adjusted scores",
        "0",
        f"{_row(found.systems_bias)}: 0 within chance",
        bool((np.abs(found.systems_bias) < chance).all()),
    )


TABLE_6_2 = {
    2: (".127 .122 .117 .107 .076", ".041 .028 .019 .010"),
    4: (".078 .074 .071 .065 .046", ".031 .021 .014 .008"),
    10: (".029 .028 .027 .024 .017", ".016 .012 .008 .004"),
    20: (".013 .013 .012 .011 .008", ".010 .007 .005 .003"),
    40: (".007 .007 .007 .006 .004", ".006 .005 .003 .002"),
}
TABLE_6_3 = {
    2: (".034 .033 .032 .029 .021", ".041 .028 .019 .010"),
    4: (".035 .034 .032 .030 .021", ".031 .022 .015 .008"),
    10: (".024 .023 .022 .020 .014", ".018 .013 .009 .005"),
    20: (".020 .019 .018 .016 .012", ".013 .009 .007 .003"),
    40: (".012 .012 .011 .010 .007", ".009 .007 .005 .003"),
}
TRUE = ".078 .054 .036 .019"
COMMON = (10, 20, 40, 100)
TOPICS = 249


def _follows(table: dict[int, tuple[str, str]], roughly: int) -> Iterator[Line]:
    """How many cells follow from others: unadjusted ones fall with (N − n)/N, adjusted ones by Equation 6.5."""
    of_left = of_variance = 0
    for unadjusted, adjusted in table.values():
        raw, *others = map(float, unadjusted.split())
        of_left += sum(_allowed(raw, (TOPICS - n) / TOPICS, cell) for n, cell in zip(COMMON, others, strict=True))
        first, *rest = map(float, adjusted.split())
        of_variance += sum(
            _allowed(first, _spread(n) / _spread(10), cell) for n, cell in zip(COMMON[1:], rest, strict=True)
        )
    yield statement(
        "printed unadjusted cells against (N − n)/N times the first column",
        "only the topics left count",
        f"{of_left} of 20 within their rounding",
        of_left == 20,
    )
    yield statement(
        "printed adjusted cells against Equation 6.5, from the one with 10 topics",
        "roughly borne out",
        f"{of_variance} of 15 within their rounding",
        of_variance >= roughly,
    )


def _spread(n: int) -> float:
    """What the error of an unbiased estimator from n of the topics is proportional to."""
    return float(((TOPICS - n) / n) ** 0.5)


def _allowed(start: float, ratio: float, printed: float) -> bool:
    """Whether numbers that round to start and to printed can have this ratio."""
    half = 0.0005 * (1 + 1e-9)
    return (start - half) * ratio - half <= printed <= (start + half) * ratio + half


@reproduces(
    WEBBER,
    "Table 6.2",
    "error of scores adjusted from common topics; unjudged docs not relevant",
    command=f"{ACCURACY}\npython -m reproduction.page 'Webber 2010, Table 6.2'",
    needs=[COVID],
    slow=True,
)
def table_6_2() -> Iterator[Line]:
    yield missing("TREC 2004 Robust, from its runs", "all cells", ELSEWHERE)
    first, *others = map(float, TRUE.split())
    fits = sum(_allowed(first, _spread(n) / _spread(10), cell) for n, cell in zip(COMMON[1:], others, strict=True))
    yield statement(
        "printed errors of the common topics alone against Equation 6.7",
        "borne out",
        f"{fits} of 3 within rounding",
        fits == 3,
    )
    yield from _follows(TABLE_6_2, 13)
    yield from _covid_adjusted(accuracy())


def _covid_adjusted(found: Accuracy) -> Iterator[Line]:
    better = (found.adjusted < found.unadjusted).mean()
    yield statement(
        "TREC-COVID: adjusted from 10 and 20 common topics",
        "nearer to the truth, but for few common topics on condensed lists",
        f"nearer in {100 * better:.0f} % of the cells; width 2: {found.raw[0]:.3f} becomes {_row(found.adjusted[0])}",
        bool(better >= 0.5),
    )


@reproduces(
    WEBBER,
    "Table 6.3",
    "error of scores adjusted from common topics; condensed lists",
    command=f"{ACCURACY} --unjudged condensed\npython -m reproduction.page 'Webber 2010, Table 6.3'",
    needs=[COVID],
    slow=True,
)
def table_6_3() -> Iterator[Line]:
    yield missing("TREC 2004 Robust, from its runs", "all cells", ELSEWHERE)
    yield from _follows(TABLE_6_3, 12)
    yield from _covid_adjusted(accuracy("condensed"))


TABLE_6_4 = {
    2: (".451 .361 .316 .271", ".060 .046 .037"),
    4: (".384 .308 .269 .231", ".059 .045 .037"),
    10: (".283 .226 .198 .170", ".054 .041 .033"),
    20: (".231 .185 .162 .139", ".050 .038 .031"),
    40: (".177 .141 .124 .106", ".045 .035 .028"),
}
TABLE_6_5 = {
    2: (".154 .123 .108 .093", ".054 .041 .033"),
    4: (".091 .073 .064 .055", ".046 .035 .028"),
    10: (".033 .027 .023 .020", ".036 .027 .022"),
    20: (".018 .014 .013 .011", ".030 .023 .019"),
    40: (".013 .010 .009 .008", ".026 .020 .016"),
}
MANUAL_COMMON = (10, 15, 20)
MANUAL_ACCURACY = """assay pool accuracy covid/runs --qrels covid/qrels.txt --info covid/leaderboard.csv \\
    --pooled type=automatic --new type=manual --best 11 --widths '2 4 10 20 40' --common '10 15 20'"""


@cache
def manual_accuracy(unjudged: str = "nonrelevant") -> Accuracy:
    """The 11 best manual runs of TREC-COVID, estimated from pools of its automatic runs."""
    lists = covid_lists(None)  # condensed lists reach far down
    info = read_info(data_folder() / COVID / "leaderboard.csv")
    manual = info.matching("type=manual", lists.runs)
    return adjustment_accuracy(
        lists,
        "tRBP@10",
        widths=WIDTHS,
        common=MANUAL_COMMON,
        samples=100,
        topic_samples=200,
        unjudged=unjudged,
        pooled=info.matching("type=automatic", lists.runs),
        new=best_runs(lists, "tRBP@10", 11, among=manual),
    )


def _manual_follows(table: dict[int, tuple[str, str]]) -> Line:
    """How many unadjusted cells fall with the topics that are left, of TREC 8's 50."""
    fits = 0
    for unadjusted, _ in table.values():
        raw, *others = map(float, unadjusted.split())
        fits += sum(_allowed(raw, (50 - n) / 50, cell) for n, cell in zip(MANUAL_COMMON, others, strict=True))
    return statement(
        "printed unadjusted cells against (N − n)/N times the first column, N = 50",
        "only the topics left count",
        f"{fits} of 15 within their rounding",
        fits == 15,
    )


def _beside(found: Accuracy) -> str:
    return f"unadjusted {_row(found.raw)}; adjusted from 10 topics {_row(found.adjusted[:, 0])}"


@reproduces(
    WEBBER,
    "Table 6.4",
    "manual runs adjusted from common topics, pools of automatic runs; unjudged docs not relevant",
    command=MANUAL_ACCURACY,
    needs=[COVID],
    slow=True,
)
def table_6_4() -> Iterator[Line]:
    yield missing("TREC 8, the 11 best manual runs", "all cells", f"{NO_RUNS}; TREC-COVID's stand below")
    yield _manual_follows(TABLE_6_4)
    found = manual_accuracy()
    yield statement(
        "TREC-COVID: adjusting from 10 common topics a run unlike the pooled ones",
        "cuts the error at every width (TREC 8: .451 to .060, …, .177 to .045)",
        f"widths 2, 4, 10, 20, 40: {_beside(found)}",
        bool((found.adjusted[:, 0] < found.raw / 3).all()),
    )
    yield statement(
        "TREC-COVID: adjusted against the common topics alone",
        "nearer at every width, more so for wide pools",
        f"width 2 {found.adjusted[0, 0]:.3f} and {found.sampled[0, 0]:.3f}; "
        f"width 40 {found.adjusted[-1, 0]:.3f} and {found.sampled[-1, 0]:.3f}",
        bool((found.adjusted < found.sampled).all()),
    )
    gain = 1 - found.systems / found.raw
    yield statement(
        "TREC-COVID: adjusting from the systems instead (Table 6.1, right)",
        "takes off at most a third",
        f"{100 * gain.min():.0f} to {100 * gain.max():.0f} %",
        bool(gain.max() <= 0.34),
        because="another collection: on TREC-COVID the systems give back more of the error, but never half of it",
    )


@reproduces(
    WEBBER,
    "Table 6.5",
    "manual runs adjusted from common topics, pools of automatic runs; condensed lists",
    command=f"{MANUAL_ACCURACY} --unjudged condensed",
    needs=[COVID],
    slow=True,
)
def table_6_5() -> Iterator[Line]:
    yield missing("TREC 8, the 11 best manual runs", "all cells", f"{NO_RUNS}; TREC-COVID's stand below")
    yield _manual_follows(TABLE_6_5)
    plain = manual_accuracy()
    found = manual_accuracy("condensed")
    yield statement(
        "TREC-COVID: unadjusted on condensed lists against unjudged docs not relevant",
        "much smaller errors, especially for wide pools",
        f"{_row(found.raw)} against {_row(plain.raw)}",
        bool((found.raw < plain.raw).all()),
    )
    helped = found.adjusted[:, 0] < found.unadjusted[:, 0]
    yield statement(
        "TREC-COVID: adjusting from 10 common topics",
        "helps for narrow pools (2 and 4 runs) and makes it slightly worse for wide ones (10 to 40)",
        f"helps at widths {', '.join(str(w) for w, is_helped in zip(WIDTHS, helped, strict=True) if is_helped)}; "
        f"{_row(found.unadjusted[:, 0])} becomes {_row(found.adjusted[:, 0])}",
        helped.tolist() == [True, True, False, False, False],
        because="another collection: from 10 pooled runs on the unadjusted error hardly falls any more, while that of "
        "TREC 8 falls to .013",
    )


POOLED = [
    [0.26, 0.11, 0.08, 0.12, 0.12, 0.15],
    [0.31, 0.25, 0.09, 0.12, 0.35, 0.27],
    [0.25, 0.35, 0.14, 0.48, 0.42, 0.41],
]
UNPOOLED = [
    [0.23, 0.09, 0.07, 0.08, 0.07, 0.12],
    [0.28, 0.19, 0.08, 0.10, 0.31, 0.24],
    [0.17, 0.22, 0.11, 0.42, 0.38, 0.35],
]
NEW = [0.28, 0.18, 0.15, 0.21, 0.31, 0.37]


@reproduces(
    WEBBER,
    "Figure 6.4",
    "bias inferred from systems, worked",
    command="python -m reproduction.page 'Webber 2010, Figure 6.4'",
)
def figure_6_4() -> Iterator[Line]:
    found = from_systems(POOLED, UNPOOLED, NEW)
    pooled, unpooled = np.mean(POOLED, axis=1), np.mean(UNPOOLED, axis=1)
    columns = zip(pooled, unpooled, found.biases, ("0.14", "0.23", "0.34"), ("0.11", "0.20", "0.28"), strict=True)
    for place, (t, u, bias, printed_t, printed_u) in enumerate(columns, start=1):
        yield line(f"mean pooled score of s{place}", printed_t, float(t))
        yield line(f"mean unpooled score of s{place}", printed_u, float(u))
        printed = ("0.03", "0.03", "0.06")[place - 1]
        yield cell(f"β of s{place}", printed, float(bias), "printed from the rounded means, .34 − .28; exactly .0667")
    yield line("adjustment", "0.04", found.amount)
    yield line("mean unpooled score of r", "0.25", found.unpooled)
    yield line("estimate", "0.29", found.adjusted)


@reproduces(
    WEBBER,
    "Figure 6.5",
    "bias inferred from common topics, worked",
    command="""python -c "from assay.pooling import from_topics; \\
print(from_topics([.28, .18, .15, .21, .31, .37], [.36, .28], common=[0, 1]).table())\"""",
)
def figure_6_5() -> Iterator[Line]:
    found = from_topics(NEW, [0.36, 0.28], common=[0, 1])
    for place, printed in enumerate(("0.08", "0.10")):
        yield line(f"β on topic t{place + 1}", printed, float(found.biases[place]))
    yield line("adjustment", "0.09", found.amount)
    yield line("estimate", "0.34", found.adjusted)
