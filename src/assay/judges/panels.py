"""Do several machine judges help? Panels by majority, median and Dawid-Skene beside the best single judge.

Judges agree with each other more than with people where they share their errors; a panel of copies is one judge.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from assay.agreement.kappa import kappas_of_tables
from assay.agreement.ratings import Ratings
from assay.core.arrays import Floats
from assay.core.results import Result
from assay.core.tables import Table
from assay.crowd import aggregation  # noqa: F401  (it registers all of them)
from assay.crowd.shared_errors import SharedErrors, shared_errors
from assay.crowd.uncertain import Uncertain
from assay.crowd.vote import AGGREGATIONS
from assay.judges.labelled_pairs import Labelled
from assay.judges.one_footing import Footing, Standing

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
    """Of that difference; it holds for all panels and whichever judge is the best."""


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
    recipe: str
    """How panels were compared with judges."""

    def alpha(self, name: str) -> float | None:
        """α with people of a judge or of a panel."""
        return next(row.alpha for row in self.rows if row.name == name)

    def table(self) -> Table:
        """Judges and panels, the best first."""
        columns = {
            "judge": "", "kind": "", "α": ".4f", "low": ".4f", "high": ".4f", "κ": ".4f", "share equal": ".4f",
            "α less the best judge's": "+.4f",
            "p corrected": "p",
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
        notes = [
            f"compared: {self.compared}; α {self.level}; {self.pairs} docs that all judges labelled",
            f"p: every panel against every judge, {self.recipe}",
        ]
        if self.among_judges is not None and self.with_people is not None:
            notes.append(
                f"mean κ of two judges {self.among_judges:.3f}, of a judge with people {self.with_people:.3f}; "
                f"effective number of independent judges {self.errors.effective:.2f} of {len(self.errors.workers)}"
            )
        warning = self.errors.warning()
        if warning is not None:
            notes.append(f"warning: {warning}")
        return notes

    def tables(self) -> list[Table]:
        """Judges and panels, and the correlations of errors."""
        return [self.table(), self.errors.table()]


def panel_audit(
    pairs: Labelled, *, rel: float = 1, level: float = 0.95, resamples: int | None = 1000, seed: int = 0
) -> PanelAudit:
    """All judges of the pairs as a panel; grades where all are on the scale of the people, else relevant or not."""
    footing = Footing.of(pairs, rel)
    judges = footing.pairs.judges
    given = {**dict(zip(judges, footing.labels, strict=True)), **_voted(footing)}
    standing = Standing.of(footing, given, level)
    best = standing.best(judges)
    panels = [place for place, name in enumerate(given) if name not in judges]
    places = (np.repeat(panels, len(judges)), np.tile(np.arange(len(judges)), len(panels)))
    differences = standing.differences(places, resamples, seed)
    values = np.array(footing.scale.levels)
    rows = []
    for name, labels in given.items():
        whole = footing.tables(labels).sum(axis=0)
        difference = p = None
        if name not in judges and standing.value(name) is not None and standing.value(best) is not None:
            pair = differences.of(name, best)
            difference, p = pair.difference, pair.p
        kind = "judge" if name in judges else "panel"
        kappa = float(kappas_of_tables(whole, values))
        known_kappa = None if np.isnan(kappa) else kappa
        equal = float(np.trace(whole) / whole.sum())
        value, ends = standing.value(name), standing.ends(name)
        rows.append(PanelRow(name, kind, value, *ends, known_kappa, equal, difference, p))
    return PanelAudit(
        rows=tuple(rows),
        compared=footing.how,
        level=footing.coefficient.removeprefix("α "),
        best=best,
        among_judges=_mean_kappa(footing.labels, footing.labels, values),
        with_people=_mean_kappa(footing.labels, footing.human[None, :], values),
        errors=shared_errors(footing.labels - footing.human, judges),
        pairs=len(footing.pairs),
        recipe=differences.recipe,
    )


def _voted(footing: Footing) -> dict[str, Floats]:
    """What each of METHODS makes of the labels."""
    seen = footing.pairs
    judge, pair = np.nonzero(~np.isnan(footing.labels))
    ratings = Ratings(
        item=pair,
        worker=judge,
        value=footing.labels[judge, pair],
        doc=np.array(seen.docs.tolist(), dtype=object),
        topic=seen.topic,
        topics=seen.topics,
        workers=seen.judges,
        scale=footing.scale,
    )
    voted = {}
    for method in METHODS:
        judgments: Uncertain = AGGREGATIONS.call(method, ratings)
        voted[method.partition("(")[0]] = judgments.grade
    return voted


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
