"""How well do labels, and what was made of them, agree with a reference? Cut where they agree best, and as graded."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from assay.agreement.across_scales import grades_of, reference_of
from assay.agreement.scales import Scale, scale_for
from assay.core.arrays import Bools, Floats, Ints
from assay.core.results import Result
from assay.core.tables import Table
from assay.crowd.aggregation import aggregate
from assay.crowd.uncertain import Uncertain
from assay.crowd.vote import RATIO_STEPS
from assay.data import Labels, Qrels
from assay.rankings import midranks


@dataclass(frozen=True, eq=False)
class AgreementWithReference(Result):
    """One row per aggregation: docs, share relevant, accuracy and κ at a cut; weighted κ, α and AUC of the grades."""

    rows: tuple[tuple[object, ...], ...]
    cut: float
    rel: float
    same_scale: bool = False
    """Whether the reference was taken to be on the scale of the labels, and cut at the same place."""
    is_fitted: bool = False
    """Whether the cut of each row is the one that agrees best with the reference."""

    def table(self) -> Table:
        """Single labels first, then each aggregation; every row says from where on docs count as relevant."""
        formats = {
            "judgments": "", "n": "d", "share relevant": ".4f", "accuracy": ".4f", "κ": ".4f", "weighted κ": ".4f",
            "α": ".4f", "AUC": ".4f", "relevant from": "g", "reference from": "g",
        }  # fmt: skip
        rows = [(*row, self.rel) for row in self.rows]
        notes = [f"relevant: reference grades of at least {self.rel:g}; AUC: a relevant doc has the higher grade"]
        if self.same_scale:
            notes.append(
                "the reference reaches the middle of the scale of the labels, so both are cut at the same place"
            )
        if self.is_fitted:
            notes.append(
                "relevant from: the cut whose κ with this reference is highest, so κ and accuracy are too good; "
                f"{self.cut:g} if that is as high; --cut sets it"
            )
        if any(row[5] is None for row in self.rows):
            notes.append("–: weighted κ and α need the reference to be on the scale of the labels")
        caption = "Agreement with the reference (relevant or not)"
        keys = {"AUC": "auc"}
        return Table.of(formats, rows, caption=caption, notes=notes, keys=keys)


def agreement_with_reference(
    labels: Labels,
    reference: Qrels,
    methods: Iterable[str | Uncertain],
    *,
    scale: Scale | str | None = None,
    cut: float | None = None,
    rel: float | None = None,
) -> AgreementWithReference:
    """How far single labels, and each aggregation of them, say what the reference says.

    A reference grade is relevant from `rel` on: without one from the middle of the labels' scale on where the reference
    reaches it, since it is then on that scale, else from 1 on. A label or grade is relevant from `cut` on; without one
    from where κ with the reference is highest, unless both are on one scale. κ is Cohen's on relevant or not; weighted
    κ (squared distances) and α (interval) are of the grades, if both are on one scale; AUC needs no scale and no cut.
    Docs that the reference has not judged are left out. Methods are names, or judgments that were made already.

    >>> rows = [("1", d, w, v) for d, v in (("a", 10), ("b", 30), ("c", 40)) for w in "uv"]
    >>> reference = Qrels.from_dict({"1": {"a": 0, "b": 1, "c": 1}})
    >>> agreement_with_reference(Labels.from_rows(rows), reference, ["mean"], scale="0-100").table().column("κ")
    [1.0, 1.0]
    """
    chosen = scale_for(labels, scale)
    usual = _middle(chosen) if cut is None else cut
    same_scale = rel is None and 1 < usual <= reference.top_grade()
    least_of_reference = 1.0 if rel is None else rel
    if same_scale:
        least_of_reference = usual
    is_fitted = cut is None and not same_scale
    alike = same_scale or _is_on(chosen, reference)

    def row(name: str, ours: Floats, theirs: Floats) -> tuple[object, ...]:
        known = ~np.isnan(theirs)
        value, grade = ours[known], theirs[known]
        relevant = grade >= least_of_reference
        least = best_cut(value, relevant, usual) if is_fitted else usual
        weighted, alpha = _graded(value, grade) if alike else (None, None)
        return name, *_compared(value >= least, relevant), weighted, alpha, _auc(value, relevant), least

    rows: list[tuple[object, ...]] = []
    if chosen.kind != "ratio":  # magnitudes of one worker say nothing without that worker's other magnitudes
        rows.append(row("single labels", labels.label, reference_of(labels, reference)))
    for method in methods:
        judgments = aggregate(labels, method, scale=chosen) if isinstance(method, str) else method
        name = method if isinstance(method, str) else method.method
        rows.append(row(name, judgments.grade, grades_of(judgments.items, reference, labels.name)))
    return AgreementWithReference(tuple(rows), usual, least_of_reference, same_scale, is_fitted)


def _middle(scale: Scale) -> float:
    """The label from which on a doc is relevant where nobody says."""
    return RATIO_STEPS / 2 if scale.kind == "ratio" else scale.relevant_from


def _is_on(scale: Scale, reference: Qrels) -> bool:
    """Whether the reference reaches from end to end of the scale, and no further."""
    judged = reference.grades[reference.judged()].astype(np.float64)
    return len(judged) > 0 and judged.max() == scale.high and not scale.outside(judged).any()


def best_cut(values: Floats, relevant: Bools, usual: float) -> float:
    """The value from which on docs are relevant so that κ with `relevant` is highest; of equal ones that next to usual.

    >>> best_cut(np.array([10.0, 30.0, 40.0, 60.0]), np.array([False, True, True, True]), 50)
    30.0
    """
    order = np.argsort(values, kind="stable")
    cuts = np.unique(np.append(values, usual))
    below = np.searchsorted(values[order], cuts, side="left")
    relevant_below = np.append(0, np.cumsum(relevant[order]))[below]
    kappa = _kappas(below, relevant_below, len(values), int(relevant.sum()))
    # A cut that calls all docs relevant, or none, says nothing; only the usual one may turn out to be such.
    kappa[((below == 0) | (below == len(values))) & (cuts != usual)] = np.nan
    best = np.flatnonzero(kappa >= np.nanmax(kappa, initial=-2.0) - 1e-12)
    return usual if not len(best) else float(cuts[best[np.argmin(np.abs(cuts[best] - usual))]])


def _kappas(below: Ints, relevant_below: Ints, n: int, relevant: int) -> Floats:
    """Cohen's κ of each cut, from how many docs and how many relevant ones lie below it; NaN where it is undefined."""
    agree = (below - relevant_below) + (relevant - relevant_below)
    by_chance = ((n - below) * relevant + below * (n - relevant)) / n
    return np.divide(agree - by_chance, n - by_chance, out=np.full(len(below), np.nan), where=by_chance < n)


def _compared(ours: Bools, theirs: Bools) -> tuple[int, float, float, float | None]:
    """n, share relevant of ours, accuracy, κ (None where both say one and the same throughout)."""
    n = len(ours)
    relevant_below = np.array([(~ours & theirs).sum()])
    kappa = float(_kappas(np.array([(~ours).sum()]), relevant_below, n, int(theirs.sum()))[0])
    return n, float(ours.mean()), float((ours == theirs).mean()), None if np.isnan(kappa) else kappa


def _graded(ours: Floats, theirs: Floats) -> tuple[float | None, float | None]:
    """κ weighted by squared distances and α of numbers; None where nothing varies.

    κ_w = 1 − E(x−y)²/(var x + var y + (x̄−ȳ)²); α = 1 − E(x−y)²/E(a−b)² over all pairs of the 2n values.
    """
    observed = float(((ours - theirs) ** 2).mean())
    by_chance = float(ours.var() + theirs.var() + (ours.mean() - theirs.mean()) ** 2)
    both = np.concatenate([ours, theirs])
    pooled = 2 * float(both.var(ddof=1))
    return 1 - observed / by_chance if by_chance else None, 1 - observed / pooled if pooled else None


def _auc(ours: Floats, relevant: Bools) -> float | None:
    """The chance that a relevant doc has the higher grade, half of it for ties; None where all docs are alike."""
    positive = int(relevant.sum())
    pairs = positive * (len(relevant) - positive)
    if not pairs:
        return None
    above = float(midranks(ours)[relevant].sum()) - positive * (positive + 1) / 2
    return above / pairs
