"""Webber 2010, chapters 7 and 8: similarity of rankings, and trends over the years."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from assay.rankings import prefix_weight, rbo
from assay.rankings.rank_biased import rank_weight, residual_range
from assay.similarity.overlap import average_overlap, overlap
from assay.studies.swapped_lists import swapped_lists
from reproduction.files import add
from reproduction.items import Line, cannot_be_had, line, missing, reproduces, statement
from reproduction.places import WEBBER
from reproduction.webber_measures import ILLUSTRATION
from reproduction.webber_variance import NO_2003

NO_ENGINES = "the results of the search engines of 2008 were not released"
NO_ZETTAIR = "the runs were made with Zettair 0.9.3 on a licensed corpus and were not released"
NO_SURVEY = "the table of published scores that the survey made is not public"

cannot_be_had(WEBBER, "Table 7.1", "search engines that were compared", "a list of names; there is nothing to compute")
cannot_be_had(WEBBER, "Figure 7.3", "bounds that close as more is seen", ILLUSTRATION)
for _place, _title in (
    ("Table 7.2", "mean RBO between search engines"),
    ("Table 7.3", "mean RBO between localized and global engines"),
    ("Table 7.4", "change of engines over time"),
    ("Table 7.5", "mean Kendall's distance between search engines"),
    ("Figure 7.5", "mean RBO between Google and others, by p"),
    ("Figure 7.6", "mean RBO between engines, day by day"),
):
    cannot_be_had(WEBBER, _place, _title, NO_ENGINES)
cannot_be_had(WEBBER, "Figure 7.7", "pruned and full evaluation, RBO and KD by depth", NO_ZETTAIR)
cannot_be_had(WEBBER, "Figure 7.8", "two values of a parameter, RBO and KD by depth", NO_ZETTAIR)
cannot_be_had(
    WEBBER,
    "Figure 8.1",
    "eight versions of SMART on eight collections",
    "the scores stand in a book, not in the thesis",
)
cannot_be_had(
    WEBBER,
    "Figure 8.2",
    "standardized scores of TREC's runs over the years",
    f"the runs of the 17 reference systems are not public, nor are the scores of most tracks by topic ({NO_2003})",
)
cannot_be_had(WEBBER, "Figure 8.3", "how often papers use each collection", NO_SURVEY)
cannot_be_had(WEBBER, "Figure 8.5", "published scores on TREC 8 Small Web", NO_SURVEY)
cannot_be_had(WEBBER, "Figure 8.6", "papers with TREC collections at SIGIR", NO_SURVEY)
cannot_be_had(
    WEBBER, "Figure 8.7", "papers that speak of the Cranfield paradigm", "counts of a search engine on a day of 2010"
)

FULL = (
    "FBIS4-13392", "FT931-12892", "FT921-11935", "FT933-7566", "FT924-12615", "FBIS4-59400", "FT943-14288",
    "FT941-373", "FT923-12606", "FBIS4-11824",
)  # fmt: skip
PRUNED_B = (
    "FBIS4-13392", "FT931-12892", "FT923-12606", "FBIS4-11824", "FBIS4-38863", "FBIS4-46500", "FBIS4-39925",
    "FBIS4-46560", "FBIS4-61085", "FBIS3-55156",
)  # fmt: skip
PRUNED_C = (
    "FBIS4-13392", "FT931-12892", "FT921-11935", "FT933-7566", "FT943-14288", "FT923-12606", "FBIS4-11824",
    "FBIS4-38863", "FT942-2178", "FBIS4-46500",
)  # fmt: skip


def _run(name: str, docs: tuple[str, ...] | str) -> str:
    lines = [f"1 Q0 {doc} {rank} {100 - rank} {name}" for rank, doc in enumerate(docs, start=1)]
    return "\n".join([*lines, ""])


for _name, _docs, _about in (
    ("full", FULL, "Figure 7.1, full evaluation"),
    ("pruned-b", PRUNED_B, "Figure 7.1, column b"),
    ("pruned-c", PRUNED_C, "Figure 7.1, column c"),
    ("s", "abcdefg", "Figure 7.2, list S"),
    ("t", "zcavwxy", "Figure 7.2, list T"),
    ("abd", "abd", "Figure 7.4, first list"),
    ("cbe", "cbe", "Figure 7.4, second list"),
):
    add(f"{_name}.run", _about, lambda name=_name, docs=_docs: _run(name, docs))  # type: ignore[misc]


@reproduces(
    WEBBER,
    "Figure 7.1",
    "a full and two pruned evaluations",
    command="assay similarity full.run pruned-b.run pruned-c.run --pairs -m average-overlap",
)
def figure_7_1() -> Iterator[Line]:
    b, c = (rbo(list(FULL), list(other), 0.9).ext for other in (PRUNED_B, PRUNED_C))
    yield statement(
        "the column that is pruned more strictly",
        "c (400 accumulators), b having 1,000",
        f"b: RBO with the full evaluation .{round(1000 * b)}, of c .{round(1000 * c)}",
        c < b,
        because="the captions of b and c are exchanged: c, said to be pruned more, is much nearer to the full "
        "evaluation at every depth",
    )


@reproduces(
    WEBBER,
    "Figure 7.2",
    "agreement and average overlap of two lists, depth by depth",
    command="""assay similarity s.run t.run -m overlap --depth 3
assay similarity s.run t.run -m average-overlap --depth 3
assay similarity s.run t.run -m average-overlap""",
)
def figure_7_2() -> Iterator[Line]:
    agreement = ("0.000", "0.000", "0.667", "0.500", "0.400", "0.333", "0.286")
    average = ("0.000", "0.000", "0.222", "0.292", "0.313", "0.317", "0.312")
    s, t = list("abcdefg"), list("zcavwxy")
    for k, (a, ao) in enumerate(zip(agreement, average, strict=True), start=1):
        yield line(f"agreement at depth {k}", a, overlap(s, t, k=k))
        yield line(f"average overlap at depth {k}", ao, average_overlap(s, t, k=k))


@reproduces(
    WEBBER,
    "Figure 7.4",
    "least and most agreement of abd and cbe",
    command="assay similarity abd.run cbe.run --p 0.9",
)
def figure_7_4() -> Iterator[Line]:
    # The continuations that the figure shows: nothing shared, and the seen docs of the other list first.
    least = (list("abd") + list("123"), list("cbe") + list("456"))
    most = (list("abdcef"), list("cbeadf"))
    for name, lists, printed in (
        ("least", least, ("0/1", "1/2", "1/3", "1/4", "1/5", "1/6")),
        ("most", most, ("0/1", "1/2", "1/3", "3/4", "5/5", "6/6")),
    ):
        for k, fraction in enumerate(printed, start=1):
            ours = overlap(*lists, k=k)
            shared = round(k * ours)
            yield statement(f"{name} agreement at depth {k}", fraction, f"{shared}/{k}", fraction == f"{shared}/{k}")
    found = rbo(list("abd"), list("cbe"), 0.9)
    seen = [rbo(*lists, 0.9) for lists in (least, most)]
    yield statement(
        "bounds of RBO at depth 3, p = .9",
        "hold for any continuation",
        f"[{found.min:.3f}, {found.max:.3f}]; the two continuations give at least {seen[0].min:.3f} and at most "
        f"{seen[1].max:.3f}",
        all(found.min - 1e-12 <= x.min and x.max <= found.max + 1e-12 for x in seen),
    )


@reproduces(
    WEBBER,
    "Section 7.3",
    "bounds and weights of RBO",
    command="""python -m reproduction.page 'Webber 2010, Section 7.3'
python -c "from assay.rankings import prefix_weight; print(prefix_weight(0.9, 10), prefix_weight(0.98, 50))\"""",
)
def section_7_3() -> Iterator[Line]:
    smallest, largest = residual_range(0.9, 10)
    yield line("largest residual at depth 10, p = .9", "0.254", largest)
    yield line("smallest residual at depth 10, p = .9", "0.144", smallest)
    yield line("least score of ten docs that all agree", "0.856", 1 - smallest)
    yield line("weight of the first 10 ranks, p = .9", "86 %", 100 * prefix_weight(0.9, 10))
    same = "85.2 %: the text calls it the same, Equation 7.21 gives .8522 and .8556"
    yield line("weight of the first 50 ranks, p = .98", "86 %", 100 * prefix_weight(0.98, 50), because=same)
    seven = rbo(list("abcdefg"), list("abcdefg"), 0.9)
    yield line("base score of two identical lists of seven docs, p = .9", "0.767", seven.min)
    for p, printed in ((0.5, "2"), (0.8, "5"), (0.9, "10"), (0.95, "20"), (0.97, "33.3")):
        yield line(f"expected depth of comparison, p = {p}", printed, 1 / (1 - p))
    total = sum(rank_weight(0.9, d) for d in range(1, 11))
    yield statement(
        "Equation 7.21 is the sum of 7.19",
        "to depth 10, p = .9",
        f"{total:.6f}",
        abs(total - prefix_weight(0.9, 10)) < 1e-9,
    )


@reproduces(
    WEBBER,
    "Section 7.3.6",
    "claims on lists of different lengths",
    command="""python -c "from assay.rankings import rbo; \\
print([rbo([*'abc'], [*s], .9).ext for s in ('b', 'bz')], [rbo([*'abcd'], [*s], .9).ext for s in ('a', 'ac')])\"""",
)
def section_7_3_6() -> Iterator[Line]:
    before, after = (rbo(list("abc"), short, 0.9).ext for short in (["b"], ["b", "z"]))
    yield statement(
        "EXT when the shorter list grows by a doc that the longer one lacks",
        "does not rise",
        f"abc with b .{round(1000 * before)}, with bz .{round(1000 * after)}",
        after <= before,
        because="a counterexample: b is shared at depth 2 and was not at depth 1, and EXT goes on from there",
    )
    before, after = (rbo(list("abcd"), short, 0.9).ext for short in (["a"], ["a", "c"]))
    yield statement(
        "EXT when the shorter list grows by a doc of the longer one",
        "does not fall",
        f"abcd with a {before:.3f}, with ac {after:.3f}",
        after >= before,
        because="a counterexample: c is not shared at depth 2, so that agreement falls from 1 to 1/2, and EXT goes on",
    )


@reproduces(
    WEBBER,
    "Figure 7.9",
    "AP of a degraded ranking against its similarity to the ideal one",
    command="assay study rbo-and-ap --repetitions 100 --figure similarity.svg",
)
def figure_7_9() -> Iterator[Line]:
    found = swapped_lists(seed=1)
    tau = dict(zip(found.names, found.tau, strict=True))
    kd = {k: tau[f"KD@{k}"] for k in (10, 50, 100)}
    rest = {name: value for name, value in tau.items() if not name.startswith("KD")}
    yield statement(
        "best cutoff of Kendall's distance",
        "10",
        ", ".join(f"KD@{k} {value:.2f}" for k, value in kd.items()),
        kd[10] > kd[50] > kd[100],
    )
    yield statement(
        "Kendall's distance to depth 100",
        "correlates poorly",
        f"τ {kd[100]:.2f}; RBO and AO {min(rest.values()):.2f} to {max(rest.values()):.2f}",
        kd[100] < min(rest.values()),
    )


@reproduces(
    WEBBER,
    "Section A.2",
    "weights of average overlap",
    command="""python -c "import numpy; print(numpy.euler_gamma)\"""",
)
def section_a_2() -> Iterator[Line]:
    digits = "digits exchanged: the constant is .57722"
    yield line("Euler's constant γ", "0.52771", np.euler_gamma, because=digits)


@reproduces(
    WEBBER,
    "Figure 8.4",
    "published scores on TREC 7",
    command="python -m reproduction.page 'Webber 2010, Figure 8.4'",
)
def figure_8_4() -> Iterator[Line]:
    yield missing("36 baselines and 36 improved scores of 22 papers", "seen in the points", NO_SURVEY)
    yield statement(
        "mean of the improved scores (text)",
        "lower from 2005 on: “.23 in the latter period, .22 in the former”",
        "lower from 2005 on means .22 in the latter",
        False,
        because="the labels of the two periods are exchanged in the sentence",
    )
