"""The sections that need scores alone: summary, leaderboard, comparison, topics, power."""

from __future__ import annotations

from collections.abc import Iterator

from assay.core.tables import Table
from assay.data.lost_grades import lost_grades
from assay.data.topic_rows import counted
from assay.report.material import Material
from assay.report.sections import SECTIONS, Block
from assay.report.summaries import compared, digits_for, summary

SHOWN_TOPICS = 10
"""Topics with the largest differences that are listed where all are too many."""


@SECTIONS.register("summary", title="Summary", need="")
def summary_section(m: Material) -> Iterator[Block]:
    """The findings in sentences."""
    yield from summary(m)
    yield from lost_grades(m.matrices)


@SECTIONS.register("leaderboard", title="Leaderboard", need="scores")
def leaderboard_section(m: Material) -> Iterator[Block]:
    """Means with intervals and letters, and every run against the baseline."""
    from assay.report.figures.stats import leaderboard

    if min(m.main.shape) < 2:
        yield "One run, or one topic, leaves nothing to be tested: means only."
        yield from (matrix.table() for matrix in m.matrices)
        return
    if len(m.main.runs) > 2:
        letters = "Runs that share a letter are not significantly different from each other, by tests of all pairs"
        two = "; the columns against the baseline, and the colours, rest on the fewer tests against the baseline alone"
        yield f"{letters}{'' if m.baseline is None else two}."
    yield (
        "The interval is that of each mean alone: two runs whose intervals overlap may still be different, since they "
        "were run on the same topics."
    )
    for board in m.boards:
        yield from m.drawing(leaderboard, board, top=m.top)
        yield board.table()


@SECTIONS.register("comparison", title="Comparison", need="scores")
def comparison_section(m: Material) -> Iterator[Block]:
    """Two runs topic by topic, all pairs at once, and the measures beside each other."""
    from assay.report.figures.stats import pair_curves
    from assay.report.figures.studies import measure_agreement
    from assay.stats import all_pairs
    from assay.stats.anova import two_way
    from assay.stats.limits import possible_differences
    from assay.stats.two_runs import compare_two, comparisons_table

    first, second = m.pair
    matrix, board = m.main, m.boards[0]
    a, b = matrix.of_run(first), matrix.of_run(second)
    yield compared(board, first, second)
    yield from _differences(m, first, second)
    if matrix.aggregate == "mean":
        limits = possible_differences(matrix)
        alone = compare_two(a, b, names=(first, second), level=1 - m.alpha, limits=limits)
        yield comparisons_table([alone], caption=f"{matrix.measure}: {first} and {second} alone, p not corrected")
    else:
        yield all_pairs(matrix.select(runs=[first, second]), level=1 - m.alpha).table()
    if board.pairs is not None and len(matrix.runs) > 2:
        share = board.pairs.share(board.alpha, board.correction)
        pairs = f"{len(board.pairs.p):,} pairs of runs"
        how = board.pairs.family_named()
        yield f"Of all {pairs} {100 * share:.0f} % are significantly different in {matrix.measure} ({how})."
        yield from m.drawing(
            pair_curves, {b.matrix.measure: b.pairs for b in m.boards if b.pairs is not None}, alpha=m.alpha
        )
        if matrix.aggregate == "mean":
            yield two_way(matrix).table()
    if len(m.matrices) > 1 and len(matrix.runs) > 2:
        from assay.studies.measure_rankings import measure_tau

        found = measure_tau(list(m.matrices))
        if len(m.matrices) > 2:
            yield from m.drawing(measure_agreement, found)
        yield found.table()


def _differences(m: Material, first: str, second: str) -> Iterator[Block]:
    """The difference of two runs on every topic; of very many topics its distribution and the largest ones."""
    from assay.report.figures.stats import differences, spread
    from assay.stats.losses import topic_losses
    from assay.stats.spread import difference_spread

    matrix = m.main
    if not m.summarised:
        values = matrix.of_run(first) - matrix.of_run(second)
        yield from m.drawing(differences, values, topics=matrix.topics, runs=(first, second), measure=matrix.measure)
        return
    yield (
        f"{counted(len(matrix.topics), 'topic')} are too many for a mark each: this is the distribution of the "
        "differences over all of them, and the topics with the largest ones."
    )
    found = difference_spread(matrix, first, second)
    yield from m.drawing(spread, found)
    yield found.table()
    yield topic_losses(matrix, first, runs=[second], most=SHOWN_TOPICS).table()
    yield topic_losses(matrix, second, runs=[first], most=SHOWN_TOPICS).table()


@SECTIONS.register("topics", title="Topic by topic", need="scores")
def topics_section(m: Material) -> Iterator[Block]:
    """Every run on every topic, raw and standardized; which topics are hard, and which tell runs apart.

    Of very many topics how the scores are spread over them, and the few on which the runs differ most.
    """
    from assay.report.figures.data import distribution, score_map
    from assay.standard import standardize
    from assay.standard.items import item_total

    if m.summarised:
        yield from _summarised_topics(m)
        return
    yield from m.drawing(score_map, m.main)
    if len(m.main.runs) < 3:
        return
    if m.main.aggregate != "mean":
        yield f"Standardized scores and correlations of topics rest on means, and {m.main.measure} is none."
        return
    standard = standardize(m.main, form="z")
    yield (
        "Standardized, each score is compared with the mean and spread of all runs on its topic (Webber, Moffat & "
        "Zobel 2008): hard and easy topics count the same."
    )
    yield from m.drawing(score_map, standard)
    yield from m.drawing(distribution, m.main, standard)
    items = item_total(m.main).table()
    yield Table.of(
        dict(zip(items.columns, items.formats, strict=True)), items.rows, caption=f"{m.main.measure} by topic",
        notes=items.notes,
    )  # fmt: skip


def _summarised_topics(m: Material) -> Iterator[Block]:
    """How the scores of the best runs are spread over all topics, and the topics on which the runs differ most."""
    from assay.report.figures.stats import spread
    from assay.stats.spread import score_spread, widest_topics

    yield (
        f"The {counted(len(m.main.topics), 'topic')} are summarised: quantiles and histograms are of all of them, and "
        f"the {SHOWN_TOPICS} topics on which the runs differ most are listed. The map of runs and topics, the "
        "standardized scores and the correlation of each topic with the others would need a mark or a row for every "
        "topic and are left out. Standardized scores of every topic are written by “assay standardize apply”."
    )
    for matrix in m.matrices:
        found = score_spread(matrix, matrix.runs[: m.top])
        yield from m.drawing(spread, found)
        yield found.table()
    if len(m.main.runs) > 1:
        yield widest_topics(m.main, SHOWN_TOPICS).table()


@SECTIONS.register("power", title="What this collection can find", need="scores")
def power_section(m: Material) -> Iterator[Block]:
    """The detectable difference, the topics needed, and where the variance comes from."""
    from assay.plan.powers import power_curve
    from assay.report.figures.plan import audit_map, power_curves
    from assay.report.figures.standard import components
    from assay.standard.variance import variance_components

    audit = m.audit
    if m.detectable is not None:
        detectable = f"{m.detectable:.{digits_for(audit.n) + 1}f}"
        yield (
            f"With {audit.n:,} topics a true difference of {detectable} in {audit.measure} is found in four of "
            "five experiments, if the differences vary from topic to topic as those of a typical pair of these runs do."
        )
    yield from m.drawing(audit_map, audit)
    yield audit.table()
    if m.detectable is not None:
        sizes = sorted({max(5, round(audit.n * f)) for f in (0.2, 0.35, 0.5, 0.75, 1, 1.5, 2, 3, 4)})
        levels = sorted({s for s in (audit.all.sigma(), audit.all.sigma(0.95)) if s > 0})
        curve = power_curve(sizes, sigmas=[float(f"{s:.3g}") for s in levels], test=audit.test)
        yield from m.drawing(power_curves, curve)
    found = variance_components(m.main)
    yield from m.drawing(components, found)
    yield found.table()
