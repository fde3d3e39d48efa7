"""What did judging cost, all in one: running out of values, time, and what fewer docs or labels would have given."""

from __future__ import annotations

from dataclasses import dataclass

from assay.agreement.scales import Scale, scale_in
from assay.core.engine import Progress, silent
from assay.core.errors import UsageError
from assay.core.results import Result
from assay.core.tables import Table
from assay.crowd.effort import Fewer, RunOut, TimeByPosition, fewer_docs, fewer_judgments, run_out, time_by_position
from assay.data import Labels, Qrels

PARTS = ("values", "time", "experience", "fewer-docs", "fewer-labels")
"""The tables of the effort, by name."""


@dataclass(frozen=True, eq=False)
class Effort(Result):
    """What can be said of the effort; None where the scale, the columns or a missing reference do not allow it."""

    values: RunOut | None
    time: TimeByPosition | None
    fewer_docs: Fewer | None
    fewer_labels: Fewer | None

    def results(self) -> list[Result]:
        """Those that there are, to be drawn."""
        every: list[Result | None] = [self.values, self.time, self.fewer_docs, self.fewer_labels]
        return [part for part in every if part is not None]

    def parts(self) -> dict[str, Table]:
        """The tables by the names of PARTS."""
        parts: dict[str, Table] = {}
        if self.values is not None:
            parts["values"] = self.values.table()
        if self.time is not None:
            parts["time"] = self.time.table()
            parts["experience"] = self.time.learning_table()
        if self.fewer_docs is not None:
            parts["fewer-docs"] = self.fewer_docs.table()
        if self.fewer_labels is not None:
            parts["fewer-labels"] = self.fewer_labels.table()
        return parts

    def tables(self) -> list[Table]:
        """All of them."""
        return list(self.parts().values())


def judging_effort(
    labels: Labels,
    *,
    scale: Scale | None = None,
    reference: Qrels | None = None,
    most: int = 10,
    repeats: int = 100,
    untied: bool = False,
    seed: int = 0,
    progress: Progress = silent,
) -> Effort:
    """Running out of values on a numeric scale, seconds where they are known, and fewer docs or labels per doc.

    most, repeats, untied, seed: of the agreement with the reference when up to `most` labels per doc are drawn.
    """
    chosen = scale or scale_in(labels)
    chosen.checked(labels)
    result = Effort(
        values=run_out(labels, scale=chosen) if chosen.kind == "interval" else None,
        time=time_by_position(labels) if labels.seconds is not None else None,
        fewer_docs=None if reference is None else fewer_docs(labels, reference, untied=untied),
        fewer_labels=None
        if reference is None
        else fewer_judgments(
            labels, reference, most=most, repeats=repeats, untied=untied, seed=seed, progress=progress
        ),
    )
    if not result.results():
        raise UsageError("nothing to show: give --reference, a column of seconds, or a numeric scale")
    return result
