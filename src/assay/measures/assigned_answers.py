"""How good are answers whose nuggets and citations somebody assigned? Nugget recall, support, and the F1 of reports.

The measures are functions of counts: of one answer, or as arrays of many answers at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from assay.core.arrays import Floats
from assay.core.lazy import np
from assay.core.registry import Within, one_of
from assay.data.assignment_words import CREDIT, FULL, PARTIAL
from assay.measures.text_registry import TEXT_MEASURES

if TYPE_CHECKING:
    import numpy.typing as npt

    Counts = npt.ArrayLike  # a number, or one for each answer

NUGGETS = "Pradeep et al. 2025, The Great Nugget Recall (AutoNuggetizer, TREC RAG 2024)"
SUPPORT = "Thakur et al. 2025, Support Evaluation for the TREC 2024 RAG Track"
ARGUE = "Mayfield et al. 2024, On the Evaluation of Machine-Generated Reports; Walden et al. 2025, Auto-ARGUE"


@dataclass(frozen=True)
class NuggetCounts:
    """How many vital and okay nuggets a topic has, and how many of them an answer supports fully or partially.

    >>> NuggetCounts.of([("vital", "support"), ("vital", "partial_support"), ("okay", "not_support")])
    NuggetCounts(vital=2, vital_full=1, vital_partial=1, okay=1, okay_full=0, okay_partial=0)
    """

    vital: Counts
    vital_full: Counts
    vital_partial: Counts
    okay: Counts
    okay_full: Counts
    okay_partial: Counts

    @classmethod
    def of(cls, nuggets: Sequence[tuple[str, str]]) -> NuggetCounts:
        """The counts of one answer, from the importance and the assignment of each nugget in words."""
        counts = []
        for wanted in ("vital", "okay"):
            credits = [CREDIT[assignment] for importance, assignment in nuggets if importance == wanted]
            counts += [len(credits), credits.count(FULL), credits.count(PARTIAL)]
        return cls(*counts)


@TEXT_MEASURES.register("V_strict", takes="nuggets", paper=NUGGETS)
def vital_strict(counts: NuggetCounts) -> Floats:
    """Share of the vital nuggets that the answer fully supports; 0 if there are none. The score of TREC RAG 2024.

    >>> float(vital_strict(NuggetCounts.of([("vital", "support"), ("vital", "partial_support"), ("okay", "support")])))
    0.5
    """
    return _share(counts.vital_full, counts.vital)


@TEXT_MEASURES.register("V_lenient", takes="nuggets", paper=NUGGETS)
def vital_lenient(counts: NuggetCounts, *, partial: Annotated[float, Within(0, 1)] = 0.5) -> Floats:
    """Nugget recall over vital nuggets, a partially supported one counting ½ (`partial`); 0 if there are none.

    (full + partial · ½) / vital nuggets.

    >>> float(vital_lenient(NuggetCounts.of([("vital", "support"), ("vital", "partial_support")])))
    0.75
    """
    credit = _credit(counts.vital_full, counts.vital_partial, partial)
    return _share(credit, counts.vital)


@TEXT_MEASURES.register("A_strict", takes="nuggets", paper=NUGGETS)
def all_strict(counts: NuggetCounts) -> Floats:
    """Share of all nuggets, vital or okay, that the answer fully supports; 0 if there are none.

    Reports call it nugget coverage, or nugget recall.

    >>> float(all_strict(NuggetCounts.of([("vital", "support"), ("okay", "partial_support")])))
    0.5
    """
    return weighted_strict(counts, okay=1.0)


@TEXT_MEASURES.register("A_lenient", takes="nuggets", paper=NUGGETS)
def all_lenient(counts: NuggetCounts, *, partial: Annotated[float, Within(0, 1)] = 0.5) -> Floats:
    """Nugget recall over all nuggets, a partially supported one counting ½ (`partial`); 0 if there are none.

    (full + partial · ½) / nuggets.

    >>> float(all_lenient(NuggetCounts.of([("vital", "support"), ("okay", "partial_support")])))
    0.75
    """
    return weighted_lenient(counts, okay=1.0, partial=partial)


@TEXT_MEASURES.register("W_strict", takes="nuggets", paper=NUGGETS)
def weighted_strict(counts: NuggetCounts, *, okay: Annotated[float, Within(0, 1)] = 0.5) -> Floats:
    """Share of the weight of all nuggets that the answer fully supports: vital ones weigh 1, okay ones ½ (`okay`).

    (vital supported + ½ · okay supported) / (vital + ½ · okay); 0 if there are none.

    >>> nuggets = [("vital", "support"), ("okay", "not_support"), ("okay", "not_support")]
    >>> float(weighted_strict(NuggetCounts.of(nuggets)))
    0.5
    """
    found = np.add(counts.vital_full, np.multiply(okay, counts.okay_full))
    return _share(found, _weight(counts, okay))


@TEXT_MEASURES.register("W_lenient", takes="nuggets", paper=NUGGETS)
def weighted_lenient(
    counts: NuggetCounts, *, okay: Annotated[float, Within(0, 1)] = 0.5, partial: Annotated[float, Within(0, 1)] = 0.5
) -> Floats:
    """Share of the weight of all nuggets that the answer supports, partial support counting ½ (`partial`).

    Σ weight · credit / Σ weight: vital nuggets weigh 1, okay ones ½ (`okay`); 0 if there are none.

    >>> nuggets = [("vital", "partial_support"), ("okay", "support"), ("okay", "not_support")]
    >>> float(weighted_lenient(NuggetCounts.of(nuggets)))
    0.5
    """
    of_vital = _credit(counts.vital_full, counts.vital_partial, partial)
    of_okay = _credit(counts.okay_full, counts.okay_partial, partial)
    return _share(of_vital + okay * of_okay, _weight(counts, okay))


@dataclass(frozen=True)
class SupportCounts:
    """Sentences of an answer and their citations: how many there are, and how many support fully or partially.

    best: by the best citation of a sentence; every: by the worst, so that each citation supports it. A sentence without
    citations counts among the sentences alone, and one that needs none counts nowhere.

    >>> counts = SupportCounts.of([["full", "none"], ["partial"], []])
    >>> counts.sentences, counts.citations, counts.full, counts.best_full, counts.every_full
    (3, 3, 1, 1, 0)
    """

    sentences: Counts
    citations: Counts
    full: Counts
    partial: Counts
    best_full: Counts
    best_partial: Counts
    every_full: Counts
    every_partial: Counts

    @classmethod
    def of(cls, sentences: Sequence[Sequence[str]]) -> SupportCounts:
        """The counts of one answer, from the support of the citations of each sentence in words."""
        credits = [[CREDIT[word] for word in citations] for citations in sentences]
        every = [credit for citations in credits for credit in citations]
        best = [max(citations) for citations in credits if citations]
        worst = [min(citations) for citations in credits if citations]
        counts = [len(sentences), len(every)]
        for of_kind in (every, best, worst):
            counts += [of_kind.count(FULL), of_kind.count(PARTIAL)]
        return cls(*counts)


@TEXT_MEASURES.register("SupportP", takes="support", paper=SUPPORT)
def support_precision(counts: SupportCounts, *, partial: Annotated[float, Within(0, 1)] = 0.5) -> Floats:
    """Weighted precision of citations: full support counts 1, partial ½ (`partial`), none 0, over all citations.

    (full + ½ · partial) / citations; 0 for an answer without citations. It falls with citations that support nothing.

    >>> float(support_precision(SupportCounts.of([["full", "none"], ["partial"], []])))
    0.5
    """
    credit = _credit(counts.full, counts.partial, partial)
    return _share(credit, counts.citations)


@TEXT_MEASURES.register("SupportR", takes="support", paper=SUPPORT)
def support_recall(counts: SupportCounts, *, partial: Annotated[float, Within(0, 1)] = 0.5) -> Floats:
    """Weighted recall of support over sentences: that of the best citation of each, 1, ½ (`partial`) or 0.

    Σ support of sentences / sentences; 0 for an answer without sentences. A sentence without citations counts 0, one
    that is marked as needing none is left out. In TREC RAG 2024 only the first citation of a sentence was judged.

    >>> float(support_recall(SupportCounts.of([["full", "none"], ["partial"], []])))
    0.5
    """
    credit = _credit(counts.best_full, counts.best_partial, partial)
    return _share(credit, counts.sentences)


@TEXT_MEASURES.register("SupportF1", takes="support", paper=SUPPORT)
def support_f1(counts: SupportCounts, *, partial: Annotated[float, Within(0, 1)] = 0.5) -> Floats:
    """2PR / (P + R) of SupportP and SupportR; 0 if both are 0.

    >>> round(float(support_f1(SupportCounts.of([["full"], []]))), 6)
    0.666667
    """
    return _f1(support_precision(counts, partial=partial), support_recall(counts, partial=partial))


@TEXT_MEASURES.register("SentenceP", takes="support", paper=ARGUE)
def sentence_precision(counts: SupportCounts, *, partial: Annotated[float, Within(0, 1)] = 0.0) -> Floats:
    """Share of the sentences that each of their citations supports, of those that have or need a citation.

    Sentences all of whose citations support them / sentences; 0 for an answer without sentences. Partial support counts
    nothing (`partial`), as ARGUE asks only whether a citation supports a sentence.

    >>> float(sentence_precision(SupportCounts.of([["full", "full"], ["full", "none"], ["partial"], []])))
    0.25
    """
    credit = _credit(counts.every_full, counts.every_partial, partial)
    return _share(credit, counts.sentences)


@dataclass(frozen=True)
class ReportCounts:
    """A report as ARGUE looks at it: the nuggets that it has, and the sentences that its citations support."""

    nuggets: NuggetCounts
    support: SupportCounts


RECALLS = {
    "V_strict": vital_strict, "V_lenient": vital_lenient, "A_strict": all_strict, "A_lenient": all_lenient,
    "W_strict": weighted_strict, "W_lenient": weighted_lenient,
}  # fmt: skip
"""Kinds of nugget recall."""


@TEXT_MEASURES.register("ArgueF1", takes="reports", paper=ARGUE)
def argue_f1(counts: ReportCounts, *, recall: str = "A_strict") -> Floats:
    """2PR / (P + R) of sentence precision (SentenceP) and nugget recall (`recall`); 0 if both are 0.

    recall: A_strict for ARGUE's nugget coverage, W_strict where vital nuggets weigh twice as much as okay ones, or
    another of V_strict, V_lenient, A_lenient, W_lenient.

    >>> nuggets = NuggetCounts.of([("okay", "support")] * 9 + [("okay", "not_support")] * 6)
    >>> support = SupportCounts.of([["full"]] * 14 + [["none"]])
    >>> round(float(argue_f1(ReportCounts(nuggets, support))), 6)
    0.730435
    """
    of_nuggets = RECALLS[one_of("kind of nugget recall", recall, RECALLS)]
    return _f1(sentence_precision(counts.support), of_nuggets(counts.nuggets))


def _credit(full: Counts, partial: Counts, worth: float) -> Floats:
    """full + worth · partial."""
    return np.asarray(np.add(full, np.multiply(worth, partial)))


def _weight(counts: NuggetCounts, okay: float) -> Floats:
    return _credit(counts.vital, counts.okay, okay)


def _share(part: Counts, whole: Counts) -> Floats:
    """part / whole, 0 of nothing."""
    parts = np.asarray(part, dtype=np.float64)
    wholes = np.asarray(whole, dtype=np.float64)
    return np.divide(parts, wholes, out=np.zeros(np.broadcast_shapes(parts.shape, wholes.shape)), where=wholes > 0)


def _f1(precision: Floats, recall: Floats) -> Floats:
    """The harmonic mean, 0 if both are 0."""
    return _share(2 * precision * recall, precision + recall)
