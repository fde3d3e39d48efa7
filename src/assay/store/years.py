"""Do improvements add up over the years? Published pairs beside the runs that are stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay.core.results import Result
from assay.core.tables import Table
from assay.store.context import AddsUp, adds_up
from assay.studies.survey import Experiment, Survey

if TYPE_CHECKING:
    from assay.store.store import Store


@dataclass(frozen=True, eq=False)
class OverTheYears(Result):
    """The pairs that papers report on one collection, in the order of their years, and how far each adds up."""

    unit = "topic"

    collection: str
    survey: Survey
    chances: Mapping[Experiment, AddsUp]
    """How probable it is that an improved score is above the best stored run; only where the store has runs."""

    def table(self) -> Table:
        """One row per pair: baseline, improved, gain, whether the baseline is weak, and how probable the gain is."""
        columns = {"paper": "", "year": "d", "query type": "", "measure": "", "baseline": ".4f", "improved": ".4f"}
        columns |= {"gain": "+.4f", "weak baseline": "", "beats the best run": "", "claims significance": ""}
        columns["P(above the best run)"] = ".3f"
        pairs = self.survey.only([self.collection]).pairs().record()["rows"]
        rows = []
        for experiment, pair in zip(self.survey.on(self.collection), pairs, strict=True):
            known = [pair["weak_baseline"], pair["beats_the_best_run"], pair["claims_significance"]]
            chance = self.chances.get(experiment)
            row: list[Any] = [experiment.paper, int(experiment.year), experiment.query_type, experiment.measure]
            row += [experiment.baseline, experiment.improved, experiment.gain, *known]
            rows.append([*row, None if chance is None else chance.probability])
        notes = ["weak baseline: below the median of the original runs"]
        if self.chances:
            some = next(iter(self.chances.values()))
            notes.append(
                f"P: that the improved score is above the best stored run, {some.best}, on topics like these; the sd "
                f"of a difference, {some.sd:.4f}, is that of the stored runs ({some.topics} topics)"
            )
        keys = {"P(above the best run)": "probability"}
        return Table.of(columns, rows, caption=f"Published on {self.collection}", notes=notes, keys=keys)

    def tables(self) -> list[Table]:
        """The pairs of the collection, the summary of all collections, and their use by year."""
        return [self.table(), self.survey.summary(), self.survey.usage()]


def over_the_years(store: Store, collection: str = "") -> OverTheYears:
    """What papers report on a collection, by default the one that most papers use."""
    found = store.published.survey()
    chosen = collection or found.collections[0]
    experiments = found.on(chosen)
    chances: dict[Experiment, AddsUp] = {}
    if chosen in store.collections and store.collections[chosen].qrels:
        runs = store.runs.listed(chosen, seen_by="public")
        if len(runs) > 1:
            for experiment in experiments:
                if experiment.improved is not None and (chosen, experiment.measure) in found.tracks:
                    matrix = store.scores.matrix(chosen, experiment.measure, runs=runs)
                    chances[experiment] = adds_up(matrix, experiment.improved)
    return OverTheYears(chosen, found, chances)
