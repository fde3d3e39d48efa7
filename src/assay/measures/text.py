"""Measures of answers as text: nuggets found, how early and in how many characters, and overlap with a reference.

They are functions of small records, not of Grades, and have a registry of their own. ROUGE is that of the package
rouge-score, an extra.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from assay.core.errors import DataError, MissingExtra, UsageError
from assay.core.registry import Within
from assay.data.answer_units import Units as Units
from assay.measures import assigned_answers
from assay.measures.text_registry import TEXT_MEASURES as TEXT_MEASURES

FAMILIES = (assigned_answers,)
"""Measures of answers that stand in modules of their own; importing them fills the registry."""

ALLOWANCE = 100
"""Characters other than white space that a matched nugget entitles to."""


@dataclass(frozen=True)
class NuggetMatch:
    """What an assessor found in an answer: vital and okay nuggets matched, vital ones in the key, and its length.

    length counts the characters of all answer strings together, white space left out.

    >>> nugget_recall(NuggetMatch(vital=2, okay=1, vital_in_key=4, length=450))
    0.5
    """

    vital: int
    okay: int
    vital_in_key: int
    length: int


@TEXT_MEASURES.register("NuggetR", takes="matches", paper="Voorhees 2003")
def nugget_recall(match: NuggetMatch) -> float:
    """Share of the vital nuggets that were matched. A key without vital nuggets is an error: leave the question out.

    >>> nugget_recall(NuggetMatch(vital=2, okay=1, vital_in_key=4, length=450))
    0.5
    """
    if match.vital_in_key < 1:
        raise DataError("nugget recall is not defined for a key without vital nuggets; leave the question out")
    return match.vital / match.vital_in_key


@TEXT_MEASURES.register("NuggetP", takes="matches", paper="Voorhees 2003")
def nugget_precision(match: NuggetMatch) -> float:
    """min(1, allowance / length), the allowance 100 characters per matched nugget, vital or okay; 0 for no nugget.

    >>> round(nugget_precision(NuggetMatch(vital=2, okay=1, vital_in_key=4, length=450)), 6)
    0.666667
    """
    return _length_precision(match.vital + match.okay, match.length)


@TEXT_MEASURES.register("NuggetF", takes="matches", paper="Voorhees 2003")
def nugget_f(match: NuggetMatch, *, beta: Annotated[float, Within(0)] = 3.0) -> float:
    """(β² + 1)PR / (β²P + R) of nugget precision and recall; β = 5 in TREC 2003, 3 from 2004 on.

    >>> m = NuggetMatch(vital=2, okay=1, vital_in_key=4, length=450)
    >>> round(nugget_f(m), 6), round(nugget_f(m, beta=5.0), 6)
    (0.512821, 0.504854)
    """
    return _f(nugget_precision(match), nugget_recall(match), beta)


@dataclass(frozen=True)
class PyramidMatch:
    """Per nugget: how many assessors called it vital, and whether the answer has it; and the answer's length."""

    votes: Sequence[float]
    matched: Sequence[bool]
    length: int


@TEXT_MEASURES.register("PyramidF", takes="pyramid", paper="Lin & Demner-Fushman 2006")
def pyramid_f(match: PyramidMatch, *, beta: Annotated[float, Within(0)] = 3.0) -> float:
    """Nugget F with recall Σ matched weights / Σ weights, a nugget's weight its share of votes over the largest.

    No votes at all score 0.

    >>> round(pyramid_f(PyramidMatch(votes=[4, 2, 2], matched=[True, False, True], length=100)), 6)
    0.769231
    """
    if len(match.votes) != len(match.matched):
        raise DataError(f"{len(match.votes)} votes for {len(match.matched)} nuggets; there is one of each per nugget")
    matched_votes = [vote for vote, matched in zip(match.votes, match.matched, strict=True) if matched]
    recall = _share(sum(matched_votes), sum(match.votes))
    precision = _length_precision(sum(match.matched), match.length)
    return _f(precision, recall, beta)


@dataclass(frozen=True)
class Nugget:
    """A nugget of the key: its text, and whether it is vital.

    >>> Nugget("founded in 1911").vital
    True
    """

    text: str
    vital: bool = True


@TEXT_MEASURES.register("POURPRE", takes="texts", paper="Lin & Demner-Fushman 2005")
def pourpre(
    nuggets: Sequence[Nugget],
    answers: Sequence[str],
    *,
    beta: Annotated[float, Within(0)] = 3.0,
    idf: Mapping[str, float] | None = None,
) -> float:
    """Nugget F with automatic matching: a nugget is matched as far as its terms are in the best single answer string.

    match = max over answers of Σ_{shared terms} x / Σ_{terms of the nugget} x, x = 1 or the idf given (0 for a term it
    lacks). Recall is the mean match of the vital nuggets; the allowance counts nuggets with a match above 0. Terms are
    distinct lower-cased words, not stemmed.

    >>> round(pourpre([Nugget("A B C D")], ["A", "B C D", "D", "A D"]), 6)
    0.769231
    """
    vital = [nugget for nugget in nuggets if nugget.vital]
    if not vital:
        raise DataError("POURPRE is not defined for a key without vital nuggets; leave the question out")
    match = {nugget: nugget_match(nugget.text, answers, idf=idf) for nugget in nuggets}
    matched = [nugget for nugget in nuggets if match[nugget] > 0]
    without_blanks = ["".join(answer.split()) for answer in answers]
    length = sum(len(text) for text in without_blanks)
    recall = sum(match[nugget] for nugget in vital) / len(vital)
    precision = _length_precision(len(matched), length)
    return _f(precision, recall, beta)


def nugget_match(nugget: str, answers: Sequence[str], *, idf: Mapping[str, float] | None = None) -> float:
    """How far the terms of a nugget are in the best answer string, 0 to 1.

    >>> nugget_match("A B C D", ["A", "B C D", "D", "A D"])
    0.75
    """
    terms = _terms(nugget)
    if idf is None:
        weight = dict.fromkeys(terms, 1.0)
    else:
        weight = {term: idf.get(term, 0.0) for term in terms}
    in_answers = []
    for answer in answers:
        shared = terms & _terms(answer)
        in_answers.append(_total(weight, shared))
    best = max(in_answers, default=0.0)
    return _share(best, _total(weight, terms))


def _total(weight: Mapping[str, float], terms: set[str]) -> float:
    """The weights added in one order: that of a set differs from one start of Python to the next."""
    return sum(weight[term] for term in sorted(terms))


@TEXT_MEASURES.register("S", takes="units", paper="Sakai, Kato & Song 2011")
def s_measure(units: Units, *, L: Annotated[float, Within(0, open=True)]) -> float:
    """How early an output conveys the units, over the shortest output that conveys all.

    Σ_matched w·max(0, L − offset) / Σ_all w·max(0, L − offset*): offset* cumulates vital strings, its own included, by
    weight descending, shorter first. L is the length after which nothing counts: 500 or 1000 characters of Japanese;
    other languages need their own, so it must be given. It can exceed 1. No units score 0.

    >>> u = Units([3, 1, 3], [10, 5, 5], matched={0: 100, 1: 50}, length=500)
    >>> round(s_measure(u, L=500), 6)
    0.482456
    """
    numbers = range(len(units.weights))
    heaviest_first = sorted(numbers, key=lambda i: (-units.weights[i], units.lengths[i]))
    read = 0.0
    most = 0.0
    for i in heaviest_first:
        read += units.lengths[i]
        most += units.weights[i] * max(0.0, L - read)
    gained = [units.weights[i] * max(0.0, L - offset) for i, offset in units.matched.items()]
    return _share(sum(gained), most)


@TEXT_MEASURES.register("T", takes="units", paper="Sakai & Kato 2012")
def t_measure(units: Units) -> float:
    """Share of the output that matched vital strings would fill: Σ_matched |vital string| / |output|; 0 if it is empty.

    It can exceed 1.

    >>> t_measure(Units([3, 1, 3], [10, 5, 5], matched={0: 100, 1: 50}, length=500))
    0.03
    """
    matched_length = sum(units.lengths[i] for i in units.matched)
    return _share(matched_length, units.length)


@TEXT_MEASURES.register("S#", takes="units", paper="Sakai & Kato 2012")
def s_sharp(
    units: Units, *, L: Annotated[float, Within(0, open=True)], beta: Annotated[float, Within(0)] = 10.0
) -> float:
    """F_β of min(1, S) and min(1, T): (1 + β²)·T·S / (β²·T + S), 0 if both are 0. β = 1 in NTCIREVAL's program.

    >>> u = Units([3, 1, 3], [10, 5, 5], matched={0: 100, 1: 50}, length=500)
    >>> round(s_sharp(u, L=500), 4), round(s_sharp(u, L=500, beta=1.0), 3)
    (0.4198, 0.056)
    """
    t = min(1.0, t_measure(units))
    s = min(1.0, s_measure(units, L=L))
    return _f(t, s, beta)


@TEXT_MEASURES.register("UnitRecall", takes="units", paper="Sakai, Kato & Song 2011")
def unit_recall(units: Units, *, weighted: bool = False) -> float:
    """Share of the units that were matched, or of their weight; 0 for no units.

    >>> u = Units([3, 1, 3], [10, 5, 5], matched={0: 100, 1: 50}, length=500)
    >>> round(unit_recall(u), 3), round(unit_recall(u, weighted=True), 3)
    (0.667, 0.571)
    """
    weights = list(units.weights)
    if not weighted:
        weights = [1.0] * len(weights)
    matched = sum(weights[i] for i in units.matched)
    return _share(matched, sum(weights))


@TEXT_MEASURES.register("ROUGE", takes="texts", paper="Lin 2004")
def rouge(
    references: Sequence[str], output: str, *, kind: str = "rouge1", value: str = "f", stem: bool = False
) -> float:
    """ROUGE of an output, with the best of the references, by the package rouge-score.

    kind: rouge1 … rouge9 (n-grams), rougeL (longest common subsequence, the text one line) or rougeLsum (of lines, as
    for summaries). value: f, precision or recall. Case is folded; all but ASCII letters and digits is a blank.

    >>> round(rouge(["the cat sat on the mat"], "the cat on a mat"), 6)
    0.727273
    """
    try:
        from rouge_score import rouge_scorer
    except ImportError:
        raise MissingExtra("rouge-score", "text") from None
    if value not in ("f", "precision", "recall") or not re.fullmatch(r"rouge([1-9]|L|Lsum)", kind):
        known = "kinds are rouge1 … rouge9, rougeL, rougeLsum; values are f, precision, recall"
        raise UsageError(f"ROUGE: no kind {kind!r} with value {value!r}; {known}")
    scorer = rouge_scorer.RougeScorer([kind], use_stemmer=stem)
    score = scorer.score_multi(list(references), output)[kind]
    attribute = "fmeasure" if value == "f" else value
    return float(getattr(score, attribute))


def _length_precision(matched: int, length: int) -> float:
    """min(1, allowance / length)."""
    allowed = ALLOWANCE * matched
    if not length:
        return float(allowed > 0)
    return min(1.0, allowed / length)


def _f(precision: float, recall: float, beta: float) -> float:
    """(β² + 1)PR / (β²P + R), 0 if both are 0."""
    weight = beta**2
    return _share((weight + 1) * precision * recall, weight * precision + recall)


def _share(part: float, whole: float) -> float:
    """part / whole, 0 of nothing."""
    if not whole:
        return 0.0
    return part / whole


def _terms(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))
