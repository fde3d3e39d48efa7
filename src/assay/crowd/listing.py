"""Which aggregations are there, and which ways of choosing a cut?"""

from __future__ import annotations

import assay.crowd.aggregation  # noqa: F401  (it registers the models)
from assay.core.tables import Table
from assay.crowd.cutways import WAYS
from assay.crowd.vote import AGGREGATIONS


def known_methods() -> Table:
    """All aggregations and all ways of choosing a cut: what labels they need, their parameters, what they do."""
    rows = []
    for method in AGGREGATIONS:
        parameters = ", ".join(f"{name}={value}" for name, value in method.parameters.items())
        rows.append((method.name, "aggregation", str(method.facts["kind"]), parameters, method.summary))
    for way in WAYS:
        needs = "numbers and a target" if way.facts["target"] else "numbers"
        rows.append((way.name, "way of cutting a scale", needs, "", way.summary))
    columns = {"method": "", "kind": "", "labels": "", "parameters": "", "what": ""}
    return Table.of(columns, rows, caption="Aggregations and ways of choosing a cut")
