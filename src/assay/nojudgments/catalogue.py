"""What can be chosen by name? All methods, fusions, models and choices of topics in one table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from assay.core.registry import Registry
from assay.core.results import Result
from assay.core.tables import Table
from assay.nojudgments.combine import FUSIONS
from assay.nojudgments.inject import CHOICES, MIXTURES
from assay.nojudgments.predictors import METHODS
from assay.nojudgments.regressors import MODELS

REGISTRIES: dict[str, Registry[Callable[..., Any]]] = {
    "method": METHODS, "combination": FUSIONS, "model": MODELS, "choice of topics": CHOICES, "mixture": MIXTURES,
}  # fmt: skip


@dataclass(frozen=True)
class Catalogue(Result):
    """Everything that prediction without judgments finds by name."""

    def table(self) -> Table:
        """One row for each name: what kind of thing, its id in the literature, which way is better, what it does."""
        rows = []
        for kind, registry in REGISTRIES.items():
            for entry in registry:
                higher = entry.facts.get("higher")
                better = None if higher is None else "more" if higher else "less"
                short = entry.facts.get("short")
                rows.append((entry.name, kind, short, better, entry.summary, entry.facts.get("paper")))
        formats = {"name": "", "kind": "", "id": "", "better": "", "what": "", "paper": ""}
        return Table.of(formats, rows, caption="Methods, combinations, models and choices of topics")
