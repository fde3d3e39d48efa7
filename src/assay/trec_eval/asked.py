"""What is asked of trec_eval: its options, and the lines that its -m options name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from assay.core.errors import UsageError
from assay.core.registry import LARGEST, did_you_mean, one_of, refuse_long
from assay.measures.trec_names import ROOTS, Line, parted, printed_as

OFFICIAL = ("runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "map", "gm_map", "Rprec", "bpref", "recip_rank",
            "iprec_at_recall", "P")  # fmt: skip
SET = ("runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "utility", "set_P", "set_recall", "set_relative_P",
       "set_map", "set_F")  # fmt: skip
PREFS = ("runid", "num_q", "prefs_num_prefs_poss", "prefs_num_prefs_ful", "prefs_num_prefs_ful_ret", "prefs_simp",
         "prefs_pair", "prefs_avgjg")  # fmt: skip
NEW_IN_10 = ("rbp", "rbp_resid", "unj")
OUTSIDE = ("yaap", "dcg", "ideal_dcg")

FORMATS = ("qrels", "prefs", "qrels_prefs", "qrels_jg")
"""What -R may be."""
RUN_FORMATS = ("trec_results",)
"""What -T may be."""


@dataclass(frozen=True)
class Options:
    """What stands on the command line of trec_eval."""

    compat: str = "trec_eval-9"
    measures: Sequence[str] = ("official",)
    per_topic: bool = False
    """-q"""
    complete: bool = False
    """-c: average over all topics of the qrels."""
    rel: float = 1
    """-l"""
    depth: int | None = None
    """-M"""
    judged_only: bool = False
    """-J"""
    summary: bool = True
    """False is -n"""
    zscores: Mapping[tuple[str, str], tuple[float, float]] = field(default_factory=dict)
    """-Z: (topic, measure) → mean and standard deviation."""
    judgments: str = "qrels"
    """-R: the format of the judgments."""
    run_format: str = "trec_results"
    """-T: the format of the runs."""
    collection_size: int = 0
    """-N: docs in the collection, with which utility counts the docs that are neither retrieved nor relevant."""

    def __post_init__(self) -> None:
        one_of("format of judgments", self.judgments, FORMATS)
        one_of("format of runs", self.run_format, RUN_FORMATS)
        if self.depth is not None and not (isinstance(self.depth, int) and 1 <= self.depth <= LARGEST):
            raise UsageError(f"depth={self.depth!r} is not a whole number from 1 to {LARGEST:g}")

    @property
    def version(self) -> int:
        """9 or 10."""
        return 9 if self.compat == "trec_eval-9" else 10

    @property
    def scores_missing(self) -> bool:
        """Whether topics that the run lacks are scored: 10.0 does so with -c, and 9 only counts them."""
        return self.complete and self.version == 10


def lines_asked(options: Options) -> list[Line]:
    """The lines that the -m options ask for, in the order in which trec_eval prints them."""
    parameters = _parameters_asked(options)
    out = []
    for root, how in ROOTS.items():
        if root in parameters:
            _fits(root, how.judgments, options.judgments)
            out += how.lines(parameters[root] or how.parameters)
    return out


def _parameters_asked(options: Options) -> dict[str, str]:
    """The measures that are asked for, and the parameters of each; an empty text stands for the usual ones."""
    asked: dict[str, str] = {}
    by_printed_name: set[str] = set()
    for text in options.measures:
        refuse_long(text)
        printed = None if text in ROOTS else printed_as(text)
        if printed is not None:
            root, given = printed
            # P_5 and P_10 ask for two lines of one measure.
            joined = f"{asked[root]},{given}" if root in by_printed_name else given
            asked[root] = joined if root in by_printed_name else asked.get(root) or given
            by_printed_name.add(root)
            continue
        name, given = parted(text)
        for root in _roots(name, options):
            # Parameters that are given first stay; a nickname names a measure without any.
            asked[root] = asked.get(root) or (given if root == name else "")
    return asked


def _roots(name: str, options: Options) -> tuple[str, ...]:
    """The measures that a name or a nickname stands for."""
    plain = [root for root, how in ROOTS.items() if how.judgments in ("qrels", "any")]
    left_out = (*OUTSIDE, *NEW_IN_10) if options.version == 9 else OUTSIDE
    nicknames = {
        "official": OFFICIAL,
        "set": SET,
        "all_trec": tuple(root for root in plain if root not in left_out),
        "prefs": PREFS,
        "all_prefs": tuple(root for root, how in ROOTS.items() if how.judgments in ("prefs", "any")),
        "qrels_jg": tuple(root for root, how in ROOTS.items() if how.judgments in ("qrels_jg", "any")),
    }
    if name in nicknames:
        return nicknames[name]
    if name not in ROOTS:
        raise UsageError(f"trec_eval has no measure {name!r}{did_you_mean(name, [*ROOTS, *nicknames])}")
    return (name,)


def _fits(root: str, needed: str, given: str) -> None:
    """An error if a measure cannot be had from judgments of a format."""
    wanted = {"prefs": ("prefs", "qrels_prefs"), "any": FORMATS}.get(needed, (needed,))
    if given not in wanted:
        usual = {"qrels": "official", "qrels_jg": "qrels_jg"}.get(given, "all_prefs")
        raise UsageError(f"{root} needs -R {' or -R '.join(wanted)}; with -R {given} ask for -m {usual} or parts of it")
