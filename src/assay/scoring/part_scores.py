"""score_part: the scores of one part, whole topics of one run with their judgments. Larger work is a map over parts.

Where the flow stands: tables → grades → **scores**, for a piece that fits into memory. A part knows nothing of the
others. What rests on all of them is settled before (the top grade of the scale) or after (which topics count).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from assay.core.arrays import Bools, Floats, sealed
from assay.core.dataframes import FramesOut, polars_frame
from assay.core.errors import DataError, UsageError
from assay.data import Qrels, Run
from assay.data.intents import IntentQrels
from assay.data.topic_rows import counted
from assay.io.arrow_tables import is_arrow, qrels_in_arrow, runs_in_arrow
from assay.io.brought import qrels_of, run_of
from assay.measures import Measure
from assay.measures.ties import EXACT
from assay.scoring.policy import Policy, refuse_unscorable
from assay.scoring.run_scores import RunScores, intent_scores_of, joined_run, ordered_run, parsed, scores_of

NAMES = ("run", "topic", "missing")
"""The first columns of a table of scores of a part; a column for each measure follows."""


@dataclass(frozen=True, eq=False, repr=False)
class PartScores(FramesOut):
    """The scores of a run on the topics of its judgments: measures × topics.

    A table of it has the columns run, topic, missing (whether the run has no docs for the topic) and one for each
    measure. It is handed out by Arrow's own protocol: `pyarrow.table(scores)` and `polars.DataFrame(scores)` take it.

    >>> scores = score_part({"1": {"a": 2.5}}, {"1": {"a": 1}}, "AP")
    >>> scores, scores.values.tolist(), scores.missing.tolist()
    (PartScores('run', AP: 1 topic), [[1.0]], [False])
    """

    run: str
    topics: tuple[str, ...]
    measures: tuple[str, ...]
    signatures: tuple[str, ...]
    """What the scores of each measure rest on."""
    values: Floats
    missing: Bools
    """Of each topic whether the run has no docs for it; its scores are those of an empty list."""

    def __post_init__(self) -> None:
        sealed(self.values)
        sealed(self.missing)

    def __len__(self) -> int:
        return len(self.topics)

    def __repr__(self) -> str:
        return f"PartScores({self.run!r}, {', '.join(self.measures)}: {counted(len(self), 'topic')})"

    def _frame_columns(self) -> dict[str, Any]:
        names = dict(zip(NAMES, ([self.run] * len(self), list(self.topics), self.missing), strict=True))
        return names | dict(zip(self.measures, self.values, strict=True))

    def to_polars(self) -> Any:
        """A polars DataFrame with the columns run, topic, missing and one for each measure."""
        import polars

        kinds = {"run": polars.String, "topic": polars.String, "missing": polars.Boolean}
        kinds |= dict.fromkeys(self.measures, polars.Float64)
        return polars_frame(self._frame_columns()).cast(kinds)  # without a topic no column has a kind of its own

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The table by Arrow's protocol, for everything that speaks it."""
        return self.to_polars().__arrow_c_stream__(requested_schema)


def score_part(
    run: Any,
    qrels: Any,
    measures: str | Measure | Sequence[str | Measure],
    policy: Policy | None = None,
    *,
    lengths: Mapping[str, float] | None = None,
) -> PartScores:
    """The scores of one part: whole topics of one run and the judgments of those topics.

    run and qrels are Arrow tables (columns topic, doc, score and perhaps run; topic, doc, grade), or whatever
    `assay.evaluate` takes. Every topic of the judgments is scored; one that the run lacks is scored as an empty list
    and marked as missing, which is an error with Policy(missing="error"). Which topics count where others are dropped
    is settled when the parts are merged.

    The function is pure and can be pickled, and a topic has the same bits whatever else is in its part: any
    engine that maps it over parts gives the scores of `assay.evaluate`. Two things cannot be known from a part. The
    top grade of the scale is that of all judgments: give `policy.on(all_judgments)`, or Policy(top=…). Orders of tied
    docs are not drawn at random: where ties="average" would have to, it is an error.

    >>> run = {"topic": ["1", "1"], "doc": ["a", "b"], "score": [1.5, 2.5]}
    >>> scores = score_part(run, {"1": {"a": 1, "b": 0}, "2": {"c": 1}}, "RR AP")
    >>> scores
    PartScores('run', RR, AP: 2 topics)
    >>> scores.to_polars().rows()
    [('run', '1', False, 0.5, 0.5), ('run', '2', True, 0.0, 0.0)]
    """
    wanted = parsed(measures)
    chosen = policy or Policy()
    judgments = chosen.judgments(_judgments(qrels))
    _refuse_unknown_top(wanted, chosen)
    rules = chosen.on(judgments)
    refuse_unscorable(wanted, rules, judgments)
    ordered = ordered_run(_one_run(run), rules, 1)
    if isinstance(judgments, IntentQrels):
        scored = intent_scores_of(ordered, judgments, wanted, rules)
    else:
        scored = scores_of(joined_run(ordered, judgments, rules, 1), wanted, rules, lengths)
    _refuse_drawn_orders(scored, wanted)
    _refuse_missing(scored, judgments, rules)
    # A part without a tied doc says only that ties are averaged; all parts of a run have one signature.
    ties = EXACT if rules.ties == "average" else rules.ties
    return PartScores(
        ordered.name,
        tuple(judgments.topics),
        tuple(str(measure) for measure in wanted),
        tuple(rules.signature(measure, ties) for measure in wanted),
        scored.values,
        scored.missing,
    )


def _judgments(qrels: Any) -> Qrels | IntentQrels:
    plain = qrels_in_arrow(qrels) if is_arrow(qrels) else None
    return qrels_of(qrels) if plain is None else plain


def _one_run(run: Any) -> Run:
    if isinstance(run, Run | str | Path) or not is_arrow(run):
        return run_of(run)
    runs = runs_in_arrow(run)
    if runs is None:
        return run_of(run)
    if len(runs) > 1:
        names = ", ".join(one.name for one in runs[:5])
        raise UsageError(f"a part is of one run, and the table has {len(runs)} ({names}); give each run its own part")
    return runs[0]


def _refuse_unknown_top(measures: Sequence[Measure], policy: Policy) -> None:
    """An error where the top grade matters and is not given: that of a part may be lower than that of all."""
    if policy.top is not None or policy.binary is not None:
        return
    for measure in measures:
        uses_top = measure.entry.facts.get("uses_top") and dict(measure.parameters).get("top") is None
        if uses_top or policy.unjudged == "top":
            raise UsageError(
                f"{measure} looks at the top grade of all judgments, which a part does not know; "
                "give Policy(top=…) or policy.on(all_judgments)"
            )


def _refuse_drawn_orders(scored: RunScores, measures: Sequence[Measure]) -> None:
    """An error where orders of tied docs were drawn: other parts would draw others."""
    for measure, ties in zip(measures, scored.ties, strict=True):
        if ties.startswith("average(sampled"):
            raise DataError(
                f"{scored.name}: {measure} with ties='average' needs orders of tied docs that are drawn at random, "
                "which would differ from part to part; take ties='docid', or score the run whole"
            )


def _refuse_missing(scored: RunScores, qrels: Qrels | IntentQrels, policy: Policy) -> None:
    if policy.missing == "error" and scored.missing.any():
        topic = qrels.topics[int(np.argmax(scored.missing))]
        raise DataError(f"run {scored.name!r} has no docs for topic {topic!r}; missing='zero' counts it as 0")


def with_top_of(policy: Policy, top: float) -> Policy:
    """The policy with the top grade of all judgments, for the parts of them; a grade that was chosen stays.

    >>> with_top_of(Policy(), 3).top, with_top_of(Policy(top=4), 3).top
    (3, 4)
    """
    if policy.binary is not None or policy.top is not None:
        return policy
    return replace(policy, top=top)
