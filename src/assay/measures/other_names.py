"""Names that other tools give to measures, and what they are called here: the tables.

A name is taken over where it gives here the number that it gives there. Where a tool means something else by a name, it
is refused with a sentence that says what to write (REFUSED); where the name is ours as well, ours is meant, and
OTHER_MEANINGS says what is different. trec_eval's names are in `trec_names`; `translation` reads all of these.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from assay.core.registry import parse_call
from assay.measures.trec_names import ROOTS

NUMBER = r"-?\d+(?:\.\d*)?(?:[eE]-?\d+)?"


@dataclass(frozen=True)
class Alias:
    """Another name of a measure: the measure as it is written here, and the tools that call it so."""

    ours: str
    tools: tuple[str, ...] = ()
    aggregate: str = ""
    """How topics become one number there, where it is not as here."""

    def __str__(self) -> str:
        return f"{self.aggregate}({self.ours})" if self.aggregate else self.ours


IRM = ("ir_measures",)
RANX = ("ranx",)
IRM_RANX = ("ir_measures", "ranx")

ALIASES: dict[str, Alias] = {
    "MAP": Alias("AP", IRM_RANX),
    "average_precision": Alias("AP", RANX),
    "MRR": Alias("RR", IRM_RANX),
    "reciprocal_rank": Alias("RR", RANX),
    "R": Alias("Recall", IRM),
    "SetR": Alias("Recall", IRM),
    "Precision": Alias("P", IRM_RANX),
    "SetP": Alias("P", IRM),
    "SetRelP": Alias("RelativeP", IRM),
    "F1": Alias("F", RANX),
    "hit_rate": Alias("Success", RANX),
    "hits": Alias("NumRelRet", RANX, aggregate="mean"),
    "r-precision": Alias("Rprec", RANX),
    "r_precision": Alias("Rprec", RANX),
    "dcg_burges": Alias("DCG(gain=exp)", RANX),
    "ndcg_burges": Alias("nDCG(gain=exp)", RANX),
    "num_q": Alias("NumQ", ("trec_eval",)),
    "alpha_DCG": Alias("alpha-DCG", IRM),
    "α_DCG": Alias("alpha-DCG", IRM),
    "alpha_nDCG": Alias("alpha-nDCG", IRM),
    "α_nDCG": Alias("alpha-nDCG", IRM),
    "ERR_IA": Alias("ndeval-ERR-IA", IRM),
    "nERR_IA": Alias("ndeval-nERR-IA", IRM),
    "AP_IA": Alias("ndeval-MAP-IA", IRM),
    "MAP_IA": Alias("ndeval-MAP-IA", IRM),
    "P_IA": Alias("ndeval-P-IA", IRM),
    "StRecall": Alias("I-rec", IRM),
    "strec": Alias("I-rec", ("ndeval",)),
    "Compatibility": Alias("Compat"),
}
"""Names of which only the spelling is another: parameters and cutoff follow as they do here. Case does not matter."""


RANX_NAMES = (
    "hits", "hit_rate", "precision", "recall", "f1", "r-precision", "mrr", "map", "dcg", "dcg_burges", "ndcg",
    "ndcg_burges", "bpref", "rbp",
)  # fmt: skip
"""All measures of ranx, as it calls them; each may end with a lowest relevant grade, `-l2`."""


@dataclass(frozen=True)
class Shape:
    """A name with parameters in it: an example, the pattern of all such names, and how they are written here."""

    example: str
    pattern: str
    ours: str
    tool: str = "cwl_eval"

    @property
    def shown(self) -> str:
        """How it is written here, with … for every parameter."""
        return re.sub(r"\{\w+\}", "…", self.ours)


def _fields(*keys: str, joined: str = "-") -> str:
    """A pattern of numbers with their names, `T=2-K=10`; a key may be written `K:k` where it is called k here."""
    parts = [key.partition(":") for key in keys]
    return joined.join(f"{theirs}=(?P<{ours or theirs}>{NUMBER})" for theirs, _, ours in parts)


SHAPES: tuple[Shape, ...] = (
    Shape("RBP@0.9", r"RBP@(?P<p>0?\.\d+)", "CWLRBP(p={p})"),
    Shape("NDCG-k@20", r"NDCG-k@(?P<k>\d+)", "SDCG@{k}"),
    Shape("INST-T=2.0", f"INST-{_fields('T')}", "INST(T={T})"),
    Shape("INSQ-T=2.0", f"INSQ-{_fields('T')}", "INSQ(T={T})"),
    Shape("NPV-r@0.1", rf"NPV-r@(?P<rate>{NUMBER})", "NPV(rate={rate})"),
    Shape("SET-k@10-b@0.5", rf"SET-k@(?P<k>\d+)-b@(?P<beta>{NUMBER})", "SET(beta={beta})@{k}"),
    Shape("TBG-H@224", rf"TBG-H@(?P<H>{NUMBER})", "CWLTBG(halflife={H})"),
    Shape("U-L@1000", rf"U-L@(?P<L>{NUMBER})", "U(L={L})"),
    Shape("BPM-Static-T=1-K=10", rf"BPM-Static-{_fields('T')}-K=(?P<k>\d+)", "BPM(T={T})@{k}"),
    Shape(
        "BPM-Dynamic-T=1-K=10-hb=1.0-hc=0.0",
        rf"BPM-Dynamic-{_fields('T')}-K=(?P<k>\d+)-{_fields('hb')}-hc=0(\.0*)?",
        "BPMdynamic(T={T},hb={hb},hc=0)@{k}",
    ),
    Shape("IFT-C1-T=2.0-b1=0.9-R1=1", f"IFT-C1-{_fields('T', 'b1', 'R1')}", "IFT(model=goal,T={T},b1={b1},R1={R1})"),
    Shape("IFT-C2-A=0.2-b2=0.9-R2=1", f"IFT-C2-{_fields('A', 'b2', 'R2')}", "IFT(model=rate,A={A},b2={b2},R2={R2})"),
    Shape(
        "IFT-C1-C2-T=2.0-b1=0.9-R1=1-A=0.2-b2=0.9-R2=1",
        f"IFT-C1-C2-{_fields('T', 'b1', 'R1', 'A', 'b2', 'R2')}",
        "IFT(T={T},b1={b1},R1={R1},A={A},b2={b2},R2={R2})",
    ),
    Shape("NERR-EQ8@k=10", r"NERR-EQ8@k=(?P<k>\d+)", "NERR8@{k}"),
    Shape("NERR-EQ9@k=10", r"NERR-EQ9@k=(?P<k>\d+)", "NERR9@{k}"),
    Shape("NERR-EQ10@phi=0.9", f"NERR-EQ10@{_fields('phi:p')}", "NERR10(p={p})"),
    Shape("NERR-EQ11@T=1.0", f"NERR-EQ11@{_fields('T')}", "NERR11(T={T})"),
)
"""Names of cwl_eval, which have the parameters in them."""


@dataclass(frozen=True)
class Refusal:
    """A name that is not taken over: the tools that have it, the pattern of such names, and what to write instead."""

    example: str
    tool: str
    pattern: str
    instead: str


REFUSED: tuple[Refusal, ...] = (
    Refusal(
        "rbp.95", "ranx", r"rbp[.@](?P<digits>\d+)(-l\d+)?",
        "ranx weights by the grade itself, and scores exceed 1; write RBP(p=0.{digits},rel=1) for relevant or not, or "
        "RBP(p=0.{digits}) for grades over the top grade",
    ),
    Refusal(
        "rank_biased_precision", "ranx", r"rank_biased_precision.*|rbp-l\d+",
        "ranx weights by the grade itself, and scores exceed 1; write RBP(p=0.95,rel=1) for relevant or not, or "
        "RBP(p=0.95) for grades over the top grade",
    ),
    Refusal(
        "ndcg_burges@10-l2", "ranx", r"n?dcg_burges(@\d+)?-l\d+",
        "write the gain of every grade, as in nDCG(gain=1:0/2:3/3:7)@10",
    ),
    Refusal(
        "interpolated_precision_at_recall", "ranx", r"interpolated_precision_at_recall.*",
        "these are eleven numbers; write IPrec(recall=0.5) for one level or IPrecAvg for their mean",
    ),
    Refusal(
        "BPM-Dynamic-T=1-K=10-hb=1.0-hc=1.0", "cwl_eval", rf"BPM-Dynamic-T={NUMBER}-K={NUMBER}-hb={NUMBER}-hc={NUMBER}",
        "cwl_eval leaves hc without effect; write BPMdynamic(T=…,hb=…,hc=0)@K for its number, or with hc=… for that of "
        "the paper",
    ),
    Refusal(
        "NERR", "cwl_eval", r"(?!nERR)(?i:nerr)(\(.*\))?(@.*)?",
        "write nERR for ERR over the ERR of the best list, or NERR8, NERR9, NERR10, NERR11 for the C/W/L measures",
    ),
    Refusal(
        "MAP-IA", "ndeval", r"(?i:map-ia)(\(.*\))?",
        "write ndeval-MAP-IA for ndeval's mean over the intents, or AP-IA for the mean by their probabilities",
    ),
    Refusal("runid", "trec_eval", r"runid", "it is the name of the run; --format trec_eval prints it"),
    Refusal("relstring", "trec_eval", r"relstring([._]\d+)?", "it is a text; --format trec_eval prints it"),
)  # fmt: skip
"""Names that would mislead. What they say after the name and a colon is the whole message."""


@dataclass(frozen=True)
class Meaning:
    """A name that is ours too, and of which another tool makes another number."""

    name: str
    tool: str
    there: str
    ours: str = ""
    """How to write here what the tool means, where that can be had."""


OTHER_MEANINGS: tuple[Meaning, ...] = (
    Meaning("ERR@k", "ir_measures", "asks gdeval, which takes 4 for the top grade of any scale", "ERR(top=4)@k"),
    Meaning(
        "RBP(p=…,rel=1)", "ir_measures", "the weights of 1,000 ranks sum to 1, which shows for p above .98",
        "CWLRBP(p=…,gain=binary)",
    ),
    Meaning("Judged@k", "ir_measures", "a doc with a negative grade is judged"),
    Meaning(
        "Accuracy", "ir_measures", "a list without relevant docs is not in the mean, one of them alone is an error",
    ),
    Meaning("NumQ, NumRel", "ir_measures", "topics that the run lacks do not count; missing=drop leaves them out here"),
    Meaning("ERR_IA@1, alpha_DCG@1", "ir_measures", "ndeval does not divide by the best there could be at rank 1"),
    Meaning("AP", "cwl_eval", "the mean over the relevant docs that were retrieved, on gains", "CWLAP"),
    Meaning("P@k", "cwl_eval", "the mean gain of the first k docs", "CWLP@k"),
    Meaning("RR", "cwl_eval", "the gain of the first doc that has one, over its rank", "CWLRR"),
    Meaning("bpref", "ranx", "no number where no judged doc is without relevance; it is 1 for every relevant doc here"),
)  # fmt: skip
"""What a name stands for elsewhere, where it is a measure here already: ours is meant."""

WORDS: tuple[tuple[str, str], ...] = (
    ("cutoff=10", "@10"),
    ("min_rel=2", "rel=2; of a C/W/L measure, the lowest grade of the scale, which gains nothing"),
    ("max_rel=3", "top=3"),
    ("judged_only=True", "the condensed form: AP(judged_only=True) is AP'"),
    ("gains={1: 3, 2: 9}", "gain=1:3/2:9"),
    ("dcg='exp-log2'", "gain=exp"),
    ("dcg='log2'", "gain=grade, as by default"),
    ("SetF(beta=2)", "SetF(x=2): ir_measures hands it to trec_eval, where it is no square"),
    ("SetP(relative=True)", "RelativeP"),
    ("NumRet(rel=1)", "NumRelRet"),
    ("IPrec@0.4", "IPrec(recall=0.4)"),
    ("map@100-l2", "rel=2; of nDCG and DCG, grades below 2 gain nothing"),
)
"""Parameters as ir_measures and ranx write them, and what they are here."""


def aliases_of(name: str) -> list[str]:
    """The other names of a measure, each with the tools that call it so, and with what it is where that is more.

    >>> aliases_of("RR")
    ['MRR (ir_measures, ranx)', 'reciprocal_rank (ranx)', 'recip_rank (trec_eval)']
    >>> aliases_of("DCG")
    ['dcg_burges = DCG(gain=exp) (ranx)', 'dcg (trec_eval)']
    """
    found = []
    for theirs, ours, tools in _names_of(name):
        meaning = "" if ours == name else f" = {ours}"
        who = f" ({', '.join(tools)})" if tools else ""
        found.append(f"{theirs}{meaning}{who}")
    return found


def _names_of(name: str) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Other names of a measure, how they are written here, and who uses them."""
    for theirs, alias in ALIASES.items():
        if parse_call(alias.ours)[0] == name:
            yield theirs, str(alias), alias.tools
    for shape in SHAPES:
        if _plain_name(shape.ours) == name:
            yield shape.example, shape.shown, (shape.tool,)
    for theirs, ours in trec_eval_names():
        if _plain_name(ours) == name and theirs != name:
            yield theirs, ours, ("trec_eval",)


def _plain_name(ours: str) -> str:
    """The measure without parameters and cutoff."""
    return ours.partition("(")[0].partition("@")[0]


def trec_eval_names() -> Iterator[tuple[str, str]]:
    """A name of each measure of trec_eval that is a measure here, and how it is written here."""
    for root in ROOTS.values():
        line = root.lines(root.parameters)[0]
        if line.measure and line.judgments == "qrels":
            yield line.name, f"geometric({line.measure})" if line.total == "geometric" else line.measure
