"""Is the difference real? Tests, corrections, intervals, effect sizes and analyses of variance on a ScoreMatrix."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.core.lazy import loader

if TYPE_CHECKING:
    from assay.stats.anova import friedman, two_way
    from assay.stats.crossed import factorial, read_grid
    from assay.stats.leaderboard import compare
    from assay.stats.pairwise import all_pairs
    from assay.stats.paper_tables import paper_table
    from assay.stats.run_places import places, run_groups
    from assay.stats.shape import runs_normality
    from assay.stats.topic_sets import compare_sets
    from assay.stats.two_runs import compare_two
    from assay.stats.two_sample import compare_topic_sets

_HOMES = {
    "all_pairs": "pairwise",
    "compare": "leaderboard",
    "compare_sets": "topic_sets",
    "compare_topic_sets": "two_sample",
    "compare_two": "two_runs",
    "factorial": "crossed",
    "friedman": "anova",
    "paper_table": "paper_tables",
    "places": "run_places",
    "read_grid": "crossed",
    "run_groups": "run_places",
    "runs_normality": "shape",
    "two_way": "anova",
}
__all__ = [
    "all_pairs",
    "compare",
    "compare_sets",
    "compare_topic_sets",
    "compare_two",
    "factorial",
    "friedman",
    "paper_table",
    "places",
    "read_grid",
    "run_groups",
    "runs_normality",
    "two_way",
]
__getattr__ = loader(__name__, _HOMES)
