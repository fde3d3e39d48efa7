"""trec_eval's names of measures, in the order in which it prints them, and what they are called here."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from assay.core.errors import UsageError
from assay.core.registry import LARGEST

CUTOFFS = "5,10,15,20,30,100,200,500,1000"
TENTHS = ",".join(f"{i / 10:.2f}" for i in range(11))
FIFTHS = ",".join(f"{i / 5:.2f}" for i in range(1, 11))
NUMBER = r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?"


@dataclass(frozen=True)
class Line:
    """One measure as it is printed: its name, how a topic is scored, and how topics become `all`."""

    name: str
    measure: str = ""
    total: str = "mean"
    """mean, sum, geometric, or none where there is no such row."""
    whole: bool = False
    topics: bool = True
    judgments: str = "qrels"
    """The judgments that it needs: qrels, prefs (preferences), qrels_jg (qrels by group), or any."""


@dataclass(frozen=True)
class Root:
    """A measure of trec_eval: the lines that it prints for its parameters."""

    lines: Callable[[str], list[Line]]
    parameters: str = ""

    @property
    def judgments(self) -> str:
        """The judgments that it needs."""
        return self.lines(self.parameters)[0].judgments


def _one(name: str, measure: str = "", **facts: object) -> Root:
    return Root(lambda _: [Line(name, measure, **facts)])  # type: ignore[arg-type]


def _at_cutoffs(name: str, measure: str, judgments: str = "qrels") -> Root:
    def lines(parameters: str) -> list[Line]:
        cutoffs = _cutoffs(name, parameters)
        return [Line(f"{name}_{k}", measure.format(k), judgments=judgments) for k in cutoffs]

    return Root(lines, CUTOFFS)


def _at_levels(name: str, measure: str, levels: str, judgments: str = "qrels") -> Root:
    def lines(parameters: str) -> list[Line]:
        given = _numbers(name, parameters)
        if len(set(given)) < len(given):
            raise UsageError(f"{name}.{parameters}: the levels must differ")
        return [Line(f"{name}_{x:3.2f}", measure.format(f"{x:g}"), judgments=judgments) for x in given]

    return Root(lines, levels)


def _preferences(name: str, *, whole: bool = False) -> Root:
    """A measure of preferences; its formula stands under the same name in `preferred`."""
    return _one(name, total="sum" if whole else "mean", whole=whole, judgments="prefs")


def _rank_biased(name: str, measure: str) -> Root:
    """A measure whose parameters are `p=0.8` and gains of grades such as `1=0.5`, in one text."""

    def lines(parameters: str) -> list[Line]:
        if not parameters:
            return [Line(name, measure)]
        pairs = [pair.partition("=") for pair in parameters.split(",")]
        if not all(equals for _, equals, _ in pairs):
            raise UsageError(f"{name}.{parameters}: write parameters as in {name}.p=0.8,1=0.5,2=1")
        persistence = [f"p={value}" for key, _, value in pairs if key == "p"]
        gains = "/".join(f"{key}:{value}" for key, _, value in pairs if key != "p")
        given = [*persistence, f"gain={gains}"] if gains and measure == "RBPTrec" else persistence
        return [Line(f"{name}_{parameters}", f"{measure}({','.join(given)})")]

    return Root(lines)


def _named(name: str, measure: str, join: str = ",") -> Root:
    """A measure whose parameters are one text that becomes part of its name."""

    def lines(parameters: str) -> list[Line]:
        if not parameters:
            return [Line(name, measure.partition("(")[0])]
        return [Line(f"{name}_{parameters}", measure.format(parameters.replace("=", ":").replace(",", join)))]

    return Root(lines)


def _with_gains(name: str, measure: str) -> Root:
    """A measure whose parameters are gains of grades, `1=3,2=9`."""

    def lines(parameters: str) -> list[Line]:
        if parameters and not all(re.fullmatch(rf"{NUMBER}={NUMBER}", pair) for pair in parameters.split(",")):
            what = f"{name}.{parameters}: its parameters are gains of grades, as in {name}.1=3,2=9"
            raise UsageError(f"{what}; a cutoff is ndcg_cut" if name == "ndcg" else what)
        return _named(name, measure, "/").lines(parameters)

    return Root(lines)


def _set_f(parameters: str) -> list[Line]:
    if parameters and not re.fullmatch(NUMBER, parameters):
        raise UsageError(f"set_F.{parameters}: its parameter is one number, as in set_F.0.5")
    return _named("set_F", "SetF(x={})").lines(parameters)


def _relstring(parameters: str) -> list[Line]:
    if parameters and not (parameters.isdecimal() and int(parameters) <= LARGEST):
        raise UsageError(f"relstring.{parameters}: its parameter is the number of ranks, as in relstring.20")
    return [Line(f"relstring_{parameters}" if parameters else "relstring", total="none")]


def _utility(parameters: str) -> list[Line]:
    values = _numbers("utility", parameters, ordered=False) or [1.0, -1.0, 0.0, 0.0]
    if len(values) != 4:
        raise UsageError(f"utility takes four numbers, not {parameters!r}")
    given = ",".join(f"{k}={v:g}" for k, v in zip("abcd", values, strict=True))
    return [Line(f"utility_{parameters}" if parameters else "utility", f"Utility({given})")]


ROOTS: dict[str, Root] = {
    "runid": _one("runid", topics=False, judgments="any"),
    "num_q": _one("num_q", topics=False, whole=True, judgments="any"),
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
    "relstring": Root(_relstring),
    "recall": _at_cutoffs("recall", "Recall@{}"),
    "infAP": _one("infAP", "infAP"),
    "gm_bpref": _one("gm_bpref", "bpref", total="geometric", topics=False),
    "Rprec_mult": _at_levels("Rprec_mult", "Rprec(times={})", FIFTHS),
    "utility": Root(_utility),
    "11pt_avg": _named("11pt_avg", "IPrecAvg(levels={})", "/"),
    "binG": _one("binG", "binG"),
    "G": _with_gains("G", "G(gain={})"),
    "dcg": _with_gains("dcg", "DCG(gain={})"),
    "ideal_dcg": _with_gains("ideal_dcg", "IdealDCG(gain={})"),
    "ndcg": _with_gains("ndcg", "nDCG(gain={})"),
    "ndcg_rel": _with_gains("ndcg_rel", "nDCGrel(gain={})"),
    "Rndcg": _with_gains("Rndcg", "Rndcg(gain={})"),
    "ndcg_cut": _at_cutoffs("ndcg_cut", "nDCG@{}"),
    "map_cut": _at_cutoffs("map_cut", "AP@{}"),
    "relative_P": _at_cutoffs("relative_P", "RelativeP@{}"),
    "success": Root(_at_cutoffs("success", "Success@{}").lines, "1,5,10"),
    "set_P": _one("set_P", "P"),
    "set_relative_P": _one("set_relative_P", "RelativeP"),
    "set_recall": _one("set_recall", "Recall"),
    "set_map": _one("set_map", "SetAP"),
    "set_F": Root(_set_f),
    "num_nonrel_judged_ret": _one("num_nonrel_judged_ret", "NumNonrelJudgedRet", total="sum", whole=True),
    "prefs_num_prefs_poss": _preferences("prefs_num_prefs_poss", whole=True),
    "prefs_num_prefs_ful": _preferences("prefs_num_prefs_ful", whole=True),
    "prefs_num_prefs_ful_ret": _preferences("prefs_num_prefs_ful_ret", whole=True),
    "prefs_simp": _preferences("prefs_simp"),
    "prefs_pair": _preferences("prefs_pair"),
    "prefs_avgjg": _preferences("prefs_avgjg"),
    "prefs_avgjg_Rnonrel": _preferences("prefs_avgjg_Rnonrel"),
    "prefs_simp_ret": _preferences("prefs_simp_ret"),
    "prefs_pair_ret": _preferences("prefs_pair_ret"),
    "prefs_avgjg_ret": _preferences("prefs_avgjg_ret"),
    "prefs_avgjg_Rnonrel_ret": _preferences("prefs_avgjg_Rnonrel_ret"),
    "prefs_simp_imp": _preferences("prefs_simp_imp"),
    "prefs_pair_imp": _preferences("prefs_pair_imp"),
    "prefs_avgjg_imp": _preferences("prefs_avgjg_imp"),
    "map_avgjg": _one("map_avgjg", "AP", judgments="qrels_jg"),
    "P_avgjg": _at_cutoffs("P_avgjg", "P@{}", "qrels_jg"),
    "Rprec_mult_avgjg": _at_levels("Rprec_mult_avgjg", "Rprec(times={})", FIFTHS, "qrels_jg"),
    "yaap": _one("yaap", "yaap"),
    "rbp": _rank_biased("rbp", "RBPTrec"),
    "rbp_resid": _rank_biased("rbp_resid", "RBPTrecResidual"),
    "unj": Root(_at_cutoffs("unj", "Unjudged@{}").lines, "5,10,20"),
}
"""Every measure, in the order in which it is printed."""


def our_name(name: str) -> str | None:
    """Our way to write a measure that trec_eval prints under that name, or takes with `.` for its parameter.

    >>> our_name("ndcg_cut_10"), our_name("P.5"), our_name("map"), our_name("nDCG")
    ('nDCG@10', 'P@5', 'AP', None)
    """
    root, parameters = parted(name)
    if parameters and root in ROOTS:
        line, *others = ROOTS[root].lines(parameters)
        if line.name == root:
            raise UsageError(f"{name}: {root} has no parameter; write {root}")
        if others:
            raise UsageError(f"{name}: these are {1 + len(others)} measures; name them one by one")
        return _measure_of(line)
    if name in _lines_by_name():
        return _measure_of(_lines_by_name()[name])
    found = printed_as(name)
    return None if found is None else _measure_of(ROOTS[found[0]].lines(found[1])[0])


def parted(text: str) -> tuple[str, str]:
    """A measure and its parameters, as they stand behind -m; an error where there is a dot and nothing after it.

    >>> parted("P.5,10"), parted("map"), parted("ndcg_cut_10")
    (('P', '5,10'), ('map', ''), ('ndcg_cut_10', ''))
    """
    root, dot, parameters = text.partition(".")
    if dot and root in ROOTS and not parameters.strip(","):
        raise UsageError(f"{text}: no parameter stands after the dot; write {root} for the usual ones")
    return root, parameters


def printed_as(name: str) -> tuple[str, str] | None:
    """The measure and its parameters that make trec_eval print a name: P_5 is P with 5.

    >>> printed_as("P_5"), printed_as("iprec_at_recall_0.10"), printed_as("map_cut_100"), printed_as("P@5")
    (('P', '5'), ('iprec_at_recall', '0.10'), ('map_cut', '100'), None)
    """
    if name.partition(".")[0] in ROOTS:
        return None
    for root in sorted(ROOTS, key=len, reverse=True):
        parameters = name.removeprefix(f"{root}_")
        if parameters == name or not re.match(r"[\d.-]|p=", parameters):
            continue
        try:
            lines = ROOTS[root].lines(parameters)
        except UsageError:
            continue
        if [line.name for line in lines] == [name]:
            return root, parameters
    return None


def _measure_of(line: Line) -> str | None:
    if line.judgments in ("prefs", "qrels_jg"):
        wanted = "prefs or qrels_prefs" if line.judgments == "prefs" else line.judgments
        raise UsageError(f"{line.name} needs judgments by group; give --format trec_eval -R {wanted}")
    return f"geometric({line.measure})" if line.total == "geometric" else line.measure or None


@cache
def _lines_by_name() -> dict[str, Line]:
    """Every line that trec_eval prints by default."""
    return {line.name: line for root in ROOTS.values() for line in root.lines(root.parameters)}


def _cutoffs(name: str, parameters: str) -> list[int]:
    cutoffs = [int(x) for x in _numbers(name, parameters)]
    if any(k < 1 for k in cutoffs) or len(set(cutoffs)) < len(cutoffs):
        raise UsageError(f"{name}.{parameters}: cutoffs must be positive and differ")
    return cutoffs


def _numbers(name: str, parameters: str, ordered: bool = True) -> list[float]:
    given = [x for x in parameters.split(",") if x]
    if not all(re.fullmatch(NUMBER, x) for x in given):
        raise UsageError(f"{name}.{parameters}: the parameters must be numbers separated by commas")
    values = [float(x) for x in given]
    if any(abs(x) > LARGEST for x in values):
        raise UsageError(f"{name}.{parameters}: the parameters are too large; give at most {LARGEST:g}")
    return sorted(values) if ordered else values
