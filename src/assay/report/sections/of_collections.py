"""The sections that need scores of many collections: the board, the leader's lead, and what each collection decides."""

from __future__ import annotations

from collections.abc import Iterator

from assay.report.material import Material
from assay.report.sections import SECTIONS, Block


@SECTIONS.register("board", title="Over many collections", need="collections")
def board_section(m: Material) -> Iterator[Block]:
    """Ranks that each system may have, the five aggregates, what all of them agree on, and the map of all cells."""
    from assay.report.figures.board import collection_map, rank_intervals

    made = m.over_collections
    shown = made.best(m.top)
    yield f"{made.verdict}."
    yield from m.drawing(rank_intervals, shown)
    yield shown.table()
    yield made.conclusions()
    yield from m.drawing(collection_map, shown)


@SECTIONS.register("effects", title="The lead, collection by collection", need="collections")
def effects_section(m: Material) -> Iterator[Block]:
    """The leader minus the baseline, or the second, on every collection; all systems where there is a baseline."""
    from assay.board.meta_analysis import leader_effects, random_effects
    from assay.report.figures.board import forest

    if m.baseline is not None:
        against_all = random_effects(m.collections, m.baseline, level=1 - m.alpha).best(m.top)
        yield from m.drawing(forest, against_all)
        yield against_all.table()
    lead = leader_effects(m.collections, m.over_collections, m.baseline)
    yield from m.drawing(forest, lead)
    yield lead.table()


@SECTIONS.register("collections", title="Which collections decide", need="collections")
def collections_section(m: Material) -> Iterator[Block]:
    """The order without each collection in turn."""
    from assay.board import leave_one_out
    from assay.report.figures.board import left_out

    without = leave_one_out(m.collections)
    yield from m.drawing(left_out, without)
    yield without.table()
