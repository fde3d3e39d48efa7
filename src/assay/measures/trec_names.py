"""trec_eval's names of measures, in the order in which it prints them, and what they are called here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from assay.core.errors import UsageError

CUTOFFS = "5,10,15,20,30,100,200,500,1000"
TENTHS = ",".join(f"{i / 10:.2f}" for i in range(11))
FIFTHS = ",".join(f"{i / 5:.2f}" for i in range(1, 11))


@dataclass(frozen=True)
class Line:
    """One measure as it is printed: its name, how a topic is scored, and how topics become `all`."""

    name: str
    measure: str = ""
    total: str = "mean"
    """mean, sum, geometric, or none where there is no such row."""
    whole: bool = False
    topics: bool = True


@dataclass(frozen=True)
class Root:
    """A measure of trec_eval: the lines that it prints for its parameters."""

    lines: Callable[[str], list[Line]]
    parameters: str = ""


def _one(name: str, measure: str = "", **facts: object) -> Root:
    return Root(lambda _: [Line(name, measure, **facts)])  # type: ignore[arg-type]


def _at_cutoffs(name: str, measure: str) -> Root:
    return Root(lambda p: [Line(f"{name}_{k}", measure.format(k)) for k in _cutoffs(name, p)], CUTOFFS)


def _at_levels(name: str, measure: str, levels: str) -> Root:
    return Root(lambda p: [Line(f"{name}_{x:3.2f}", measure.format(f"{x:g}")) for x in _numbers(name, p)], levels)


def _named(name: str, measure: str, join: str = ",") -> Root:
    """A measure whose parameters are one text that becomes part of its name."""

    def lines(parameters: str) -> list[Line]:
        if not parameters:
            return [Line(name, measure.partition("(")[0])]
        return [Line(f"{name}_{parameters}", measure.format(parameters.replace("=", ":").replace(",", join)))]

    return Root(lines)


def _utility(parameters: str) -> list[Line]:
    values = _numbers("utility", parameters, ordered=False) or [1.0, -1.0, 0.0, 0.0]
    if len(values) != 4:
        raise UsageError(f"utility takes four numbers, not {parameters!r}")
    given = ",".join(f"{k}={v:g}" for k, v in zip("abcd", values, strict=True))
    return [Line(f"utility_{parameters}" if parameters else "utility", f"Utility({given})")]


ROOTS: dict[str, Root] = {
    "runid": _one("runid", topics=False),
    "num_q": _one("num_q", topics=False, whole=True),
    "num_ret": _one("num_ret", "NumRet", total="sum", whole=True),
    "num_rel": _one("num_rel", "NumRel", total="sum", whole=True),
    "num_rel_ret": _one("num_rel_ret", "NumRelRet", total="sum", whole=True),
    "map": _one("map", "AP"),
    "gm_map": _one("gm_map", "AP", total="geometric", topics=False),
    "Rprec": _one("Rprec", "Rprec"),
    "bpref": _one("bpref", "bpref"),
    "recip_rank": _one("recip_rank", "RR"),
    "iprec_at_recall": _at_levels("iprec_at_recall", "IPrec(recall={})", TENTHS),
    "P": _at_cutoffs("P", "P@{}"),
    "relstring": Root(lambda p: [Line(f"relstring_{p}" if p else "relstring", total="none")]),
    "recall": _at_cutoffs("recall", "Recall@{}"),
    "infAP": _one("infAP", "infAP"),
    "gm_bpref": _one("gm_bpref", "bpref", total="geometric", topics=False),
    "Rprec_mult": _at_levels("Rprec_mult", "Rprec(times={})", FIFTHS),
    "utility": Root(_utility),
    "11pt_avg": _named("11pt_avg", "IPrecAvg(levels={})", "/"),
    "binG": _one("binG", "binG"),
    "G": _one("G", "G"),
    "dcg": _named("dcg", "DCG(gain={})", "/"),
    "ideal_dcg": _named("ideal_dcg", "IdealDCG(gain={})", "/"),
    "ndcg": _named("ndcg", "nDCG(gain={})", "/"),
    "ndcg_rel": _one("ndcg_rel", "nDCGrel"),
    "Rndcg": _one("Rndcg", "Rndcg"),
    "ndcg_cut": _at_cutoffs("ndcg_cut", "nDCG@{}"),
    "map_cut": _at_cutoffs("map_cut", "AP@{}"),
    "relative_P": _at_cutoffs("relative_P", "RelativeP@{}"),
    "success": Root(_at_cutoffs("success", "Success@{}").lines, "1,5,10"),
    "set_P": _one("set_P", "P"),
    "set_relative_P": _one("set_relative_P", "RelativeP"),
    "set_recall": _one("set_recall", "Recall"),
    "set_map": _one("set_map", "SetAP"),
    "set_F": _named("set_F", "SetF(x={})"),
    "num_nonrel_judged_ret": _one("num_nonrel_judged_ret", "NumNonrelJudgedRet", total="sum", whole=True),
    "yaap": _one("yaap", "yaap"),
    "rbp": _named("rbp", "RBPTrec({})"),
    "rbp_resid": _named("rbp_resid", "RBPTrecResidual({})"),
    "unj": Root(_at_cutoffs("unj", "Unjudged@{}").lines, "5,10,20"),
}
"""Every measure, in the order in which it is printed."""


def our_name(name: str) -> str | None:
    """Our way to write a measure that trec_eval prints under that name, or takes with `.` for its parameter.

    >>> our_name("ndcg_cut_10"), our_name("P.5"), our_name("map"), our_name("nDCG")
    ('nDCG@10', 'P@5', 'AP', None)
    """
    root, dot, parameters = name.partition(".")
    if dot and root in ROOTS and "," not in parameters:
        lines = ROOTS[root].lines(parameters)
        return lines[0].measure or None
    known = _printed_names().get(name)
    if known is None and "_" in name:
        root, _, cutoff = name.rpartition("_")
        if root in ROOTS and ROOTS[root].parameters and cutoff.isdecimal():
            return ROOTS[root].lines(cutoff)[0].measure
    return known


@cache
def _printed_names() -> dict[str, str]:
    """Every name that trec_eval prints by default."""
    lines = [line for root in ROOTS.values() for line in root.lines(root.parameters)]
    geometric = {line.name: f"geometric({line.measure})" for line in lines if line.total == "geometric"}
    return {line.name: line.measure for line in lines if line.measure} | geometric


def _cutoffs(name: str, parameters: str) -> list[int]:
    cutoffs = [int(x) for x in _numbers(name, parameters)]
    if any(k < 1 for k in cutoffs) or len(set(cutoffs)) < len(cutoffs):
        raise UsageError(f"{name}.{parameters}: cutoffs must be positive and differ")
    return cutoffs


def _numbers(name: str, parameters: str, ordered: bool = True) -> list[float]:
    try:
        values = [float(x) for x in parameters.split(",") if x]
    except ValueError:
        raise UsageError(f"{name}.{parameters}: the parameters must be numbers parted by commas") from None
    return sorted(values) if ordered else values
