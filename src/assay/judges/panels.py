"""Do several machine judges help? Panels by majority, median and Dawid-Skene beside the best single judge.

Judges agree with each other more than with people where they share their errors; a panel of copies is one judge.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from assay.agreement.alpha import alpha_of_coincidences
from assay.agreement.kappa import kappas_of_tables
from assay.agreement.ratings import Ratings
from assay.agreement.scales import S2, Scale
from assay.core.arrays import Floats
from assay.core.results import Result
from assay.core.tables import Table
from assay.crowd import aggregation  # noqa: F401  (it registers all of them)
from assay.crowd.shared_errors import SharedErrors, shared_errors
from assay.crowd.uncertain import Uncertain
from assay.crowd.vote import AGGREGATIONS
from assay.judges.label_audit import cut_of, interval
from assay.judges.labelled_pairs import Labelled
from assay.judges.ranking_audit import two_sided
from assay.stats.resampling import topic_counts

METHODS = ("majority", "median(ties=low)", "dawid-skene")


@dataclass(frozen=True)
class PanelRow:
    """A judge, or a panel of all of them, against people."""

    name: str
    kind: str
    alpha: float | None
    low: float | None
    high: float | None
    kappa: float | None
    equal: float
    difference: float | None
    """α less that of the best single judge."""
    p: float | None


@dataclass(frozen=True, eq=False)
class PanelAudit(Result):
    """Judges and panels of them against people, how far judges agree with each other, and whether they err together."""

    unit = "topic"

    rows: tuple[PanelRow, ...]
    compared: str
    level: str
    best: str
    among_judges: float | None
    """Mean κ of two judges."""
    with_people: float | None
    """Mean κ of a judge with people."""
    errors: SharedErrors
    pairs: int
    notes: tuple[str, ...]

    def alpha(self, name: str) -> float | None:
        """α with people of a judge or of a panel."""
        return next(row.alpha for row in self.rows if row.name == name)

    def table(self) -> Table:
        """Judges and panels, the best first."""
        columns = {
            "judge": "", "kind": "", "α": ".4f", "low": ".4f", "high": ".4f", "κ": ".4f", "share equal": ".4f",
            "α less the best judge's": "+.4f", "p": "p",
        }  # fmt: skip
        keys = {"α less the best judge's": "delta_alpha"}
        ordered = sorted(self.rows, key=lambda row: -(row.alpha if row.alpha is not None else -2.0))
        rows = [
            (row.name, row.kind, row.alpha, row.low, row.high, row.kappa, row.equal, row.difference, row.p)
            for row in ordered
        ]
        caption = f"Single judges and panels of all {len(self.errors.workers)} against people"
        return Table.of(columns, rows, caption=caption, notes=self.all_notes(), keys=keys)

    def all_notes(self) -> list[str]:
        """What was compared, how far judges agree among themselves, and a warning where they err together."""
        notes = [f"compared: {self.compared}; α {self.level}; {self.pairs} docs that all judges labelled"]
        if self.among_judges is not None and self.with_people is not None:
            notes.append(
                f"mean κ of two judges {self.among_judges:.3f}, of a judge with people {self.with_people:.3f}; "
                f"effective number of independent judges {self.errors.effective:.2f} of {len(self.errors.workers)}"
            )
        warning = self.errors.warning()
        if warning is not None:
            notes.append(f"warning: {warning}")
        return [*notes, *self.notes]

    def tables(self) -> list[Table]:
        """Judges and panels, and the correlations of errors."""
        return [self.table(), self.errors.table()]


def panel_audit(
    pairs: Labelled, *, rel: float = 1, level: float = 0.95, resamples: int = 1000, seed: int = 0
) -> PanelAudit:
    """All judges of the pairs as a panel; grades where all are on the scale of the people, else relevant or not."""
    compared = pairs.compared()
    complete = np.asarray(compared.by_machine.all(axis=0))
    seen = compared.only(complete) if complete.any() else compared
    human, labels, scale, how = _on_one_scale(seen, rel)
    level_of_alpha = "nominal" if len(scale.levels) == 2 else "ordinal"
    voted, notes = _voted(labels, seen, scale)
    given = {**dict(zip(seen.judges, labels, strict=True)), **voted}
    tables = _tables(human, given, seen, scale)
    values = np.array(scale.levels)
    alphas = {name: _alphas(table.sum(axis=0), values, level_of_alpha) for name, table in tables.items()}
    best = max(seen.judges, key=lambda name: np.nan_to_num(float(alphas[name]), nan=-2.0))
    draws = np.zeros((0, len(seen.topics)))
    if len(seen.topics) > 1 and resamples:
        draws = np.concatenate(list(topic_counts(len(seen.topics), resamples, seed)))
    drawn = {
        name: _alphas(np.tensordot(draws, table, axes=1), values, level_of_alpha) for name, table in tables.items()
    }
    rows = []
    for name, table in tables.items():
        whole = table.sum(axis=0)
        kind = "judge" if name in seen.judges else "panel"
        difference = p = None
        if kind == "panel" and not np.isnan(alphas[name]) and not np.isnan(alphas[best]):
            difference = float(alphas[name] - alphas[best])
            p = two_sided(drawn[name] - drawn[best]) if len(draws) else None
        low, high = interval(drawn[name], level)
        kappa = _number(kappas_of_tables(whole, values))
        equal = float(np.trace(whole) / whole.sum())
        rows.append(PanelRow(name, kind, _number(alphas[name]), low, high, kappa, equal, difference, p))
    return PanelAudit(
        rows=tuple(rows),
        compared=how,
        level=level_of_alpha,
        best=best,
        among_judges=_mean_kappa(labels, labels, values),
        with_people=_mean_kappa(labels, human[None, :], values),
        errors=shared_errors(labels - human, seen.judges),
        pairs=len(seen),
        notes=tuple(notes),
    )


def _number(value: Floats | float) -> float | None:
    return None if np.isnan(value) else float(value)


def _on_one_scale(seen: Labelled, rel: float) -> tuple[Floats, Floats, Scale, str]:
    """Human grades and labels of all judges on one scale: the people's, or relevant or not."""
    others = [j for j in range(len(seen.judges)) if seen.is_other_scale(j)]
    if not others and seen.scale.kind == "categories":
        return seen.human, seen.machine, seen.scale, "grades"
    human = (seen.human >= rel).astype(np.float64)
    labels = np.empty_like(seen.machine)
    for j, given in enumerate(seen.machine):
        labels[j] = np.where(np.isnan(given), np.nan, given >= cut_of(seen, j, rel))
    return human, labels, S2, f"relevant or not, human from {rel:g} on, since the judges have different scales"


def _voted(labels: Floats, seen: Labelled, scale: Scale) -> tuple[dict[str, Floats], list[str]]:
    """What each of METHODS makes of the labels, and what must be said of it."""
    judge, pair = np.nonzero(~np.isnan(labels))
    ratings = Ratings(
        item=pair,
        worker=judge,
        value=labels[judge, pair],
        doc=np.array(seen.docs.tolist(), dtype=object),
        topic=seen.topic,
        topics=seen.topics,
        workers=seen.judges,
        scale=scale,
    )
    voted = {}
    for method in METHODS:
        judgments: Uncertain = AGGREGATIONS.call(method, ratings)
        voted[method.partition("(")[0]] = judgments.grade
    return voted, []


def _tables(human: Floats, given: dict[str, Floats], seen: Labelled, scale: Scale) -> dict[str, Floats]:
    """Of each judge and panel: topics × human level × machine level of counts."""
    levels = np.array(scale.levels)
    size = len(levels)
    human_at = np.searchsorted(levels, human)
    tables = {}
    for name, labels in given.items():
        both = ~np.isnan(labels)
        cell = human_at[both] * size + np.searchsorted(levels, labels[both])
        at = seen.topic[both] * size**2 + cell
        counts = np.bincount(at, minlength=len(seen.topics) * size**2)
        tables[name] = counts.reshape(len(seen.topics), size, size).astype(np.float64)
    return tables


def _alphas(tables: Floats, values: Floats, level: str) -> Floats:
    met = tables + np.swapaxes(tables, -1, -2)
    return alpha_of_coincidences(met, values, level="nominal" if level == "nominal" else "ordinal")


def _mean_kappa(labels: Floats, others: Floats, values: Floats) -> float | None:
    """Mean Cohen's κ of each of the labels with each of the others, or of every two of the labels."""
    size = len(values)
    if others is labels:
        chosen = list(combinations(range(len(labels)), 2))
    else:
        chosen = [(i, j) for i in range(len(labels)) for j in range(len(others))]
    tables = []
    for i, j in chosen:
        both = ~np.isnan(labels[i]) & ~np.isnan(others[j])
        cell = np.searchsorted(values, labels[i][both]) * size + np.searchsorted(values, others[j][both])
        tables.append(np.bincount(cell, minlength=size**2).reshape(size, size))
    if not tables:
        return None
    kappas = kappas_of_tables(np.array(tables, dtype=np.float64), values)
    defined = kappas[~np.isnan(kappas)]
    return float(defined.mean()) if len(defined) else None
