"""The section on machine judges: may their labels stand in for those of people?"""

from __future__ import annotations

from collections.abc import Iterator

from assay.report.material import Material
from assay.report.sections import SECTIONS, Block

MOST_JUDGES = 4
"""Judges whose bias for every run is drawn and listed, the best ranking ones first."""


@SECTIONS.register("judges", title="Machine judges", need="machine")
def judges_section(m: Material) -> Iterator[Block]:
    """Labels, rankings, bias, conclusions, circularity and panels, in sentences, pictures and tables."""
    from assay.report.figures.judges import agreement_of_judges

    audit = m.judges
    parts = audit.parts()
    yield from audit.sentences()
    yield parts["summary"]
    yield parts["faults"]
    yield from m.drawing(agreement_of_judges, audit.labels)
    for name in ("labels", "agreement", "grades", "cuts", "off-scale"):
        if name in parts:
            yield parts[name]
    yield from _runs(m)
    yield from _panel(m)


def _runs(m: Material) -> Iterator[Block]:
    from assay.report.figures import judges as pictures

    audit = m.judges
    if audit.rankings is None or audit.conclusions is None or audit.circularity is None:
        return
    parts = audit.parts()
    yield from m.drawing(pictures.ranking_audit, audit.rankings)
    yield parts["rankings"]
    taus = {bias.judge: audit.rankings.value(bias.judge) or -1.0 for bias in audit.bias}
    best = sorted(audit.bias, key=lambda bias: -taus[bias.judge])[:MOST_JUDGES]
    for bias in best:
        yield from m.drawing(pictures.run_bias, bias)
        yield bias.table()
    yield parts["parts"]
    yield from m.drawing(pictures.conclusions, audit.conclusions)
    yield parts["conclusions"]
    yield from m.drawing(pictures.circularity, audit.circularity)
    yield parts["circularity"]


def _panel(m: Material) -> Iterator[Block]:
    from assay.report.figures import judges as pictures

    audit = m.judges
    if audit.panel is None:
        return
    yield from m.drawing(pictures.panel, audit.panel)
    yield audit.panel.table()
    yield from m.drawing(pictures.errors_together, audit.panel.errors)
    yield audit.panel.errors.table()
