"""Are labels fit to be aggregated? What is odd, which tasks fail the protocol; topics, workers and docs."""

from __future__ import annotations

from dataclasses import dataclass

from assay.agreement.scales import Scale, scale_in
from assay.core.results import Result
from assay.core.tables import Table
from assay.crowd.acceptance import BONUS_SHARE, Acceptance, acceptance
from assay.crowd.conduct import Conduct, GoldDocs, conduct, gold_docs
from assay.crowd.findings import Finding, findings, findings_table
from assay.crowd.protocol import Protocol, ProtocolCheck, check_protocol, with_gold
from assay.crowd.quality import (
    DocQuality,
    TopicQuality,
    WorkerQuality,
    doc_quality,
    topic_quality,
    worker_quality,
)
from assay.data import Labels, Qrels

PARTS = ("odd", "protocol", "failures", "conduct", "gold", "topics", "workers", "docs", "accepted")
"""The tables of a checkup, by name."""


@dataclass(frozen=True, eq=False)
class Checkup(Result):
    """All that can be said of labels before they are aggregated."""

    odd: tuple[Finding, ...]
    protocol: ProtocolCheck
    conduct: Conduct
    gold: GoldDocs | None
    topics: TopicQuality
    workers: WorkerQuality
    docs: DocQuality
    accepted: Acceptance
    warnings: tuple[str, ...] = ()

    def parts(self, *, most: int | None = None) -> dict[str, Table]:
        """The tables by the names of PARTS; of failures, workers and docs the first `most` rows, or with 0 none.

        How tasks went, and gold docs, only where the file says something of them.
        """
        parts = {"odd": findings_table(list(self.odd)), "protocol": self.protocol.summary()}
        if most != 0:
            parts["failures"] = self.protocol.table(most=most)
        if self.conduct.rows:
            parts["conduct"] = self.conduct.table()
        if self.gold is not None and most != 0:
            parts["gold"] = self.gold.table(most=most)
        parts["topics"] = self.topics.table()
        if most != 0:
            parts["workers"] = self.workers.table(most=most)
            parts["docs"] = self.docs.table(most=most)
        parts["accepted"] = self.accepted.table()
        return parts

    def drawn(self) -> list[Result]:
        """What there are pictures of."""
        drawn: list[Result] = [self.workers, self.topics, self.docs]
        if self.conduct.rows:
            drawn.append(self.conduct)
        if self.gold is not None:
            drawn.append(self.gold)
        return drawn

    def tables(self) -> list[Table]:
        """All of them."""
        return list(self.parts().values())


def check_labels(
    labels: Labels,
    *,
    scale: Scale | None = None,
    reference: Qrels | None = None,
    gold: Qrels | None = None,
    protocol: Protocol | None = None,
    bonus_share: float = BONUS_SHARE,
) -> Checkup:
    """What is odd in the labels, which tasks fail which check, and how good topics, workers and docs are.

    gold: qrels of gold docs, where the labels do not say which docs are gold. reference: judgments to compare with.
    bonus_share: of the workers who may get a bonus (see `acceptance`).
    Labels outside the scale are odd, and are left out of what is said of topics, workers and docs.
    """
    chosen = scale or scale_in(labels)
    odd = findings(labels, scale=chosen)
    marked = labels if gold is None else with_gold(labels, gold, scale=chosen)
    checked = check_protocol(marked, protocol)
    went = conduct(marked)
    gold_labels = gold_docs(marked)
    everything = marked
    warnings: tuple[str, ...] = ()
    outside = chosen.outside(labels.label)
    if outside.any():
        warnings = (
            f"{int(outside.sum())} labels outside the scale are left out of the tables of topics, workers and docs",
        )
        marked = marked.select(~outside)
    workers = worker_quality(marked, scale=chosen)
    return Checkup(
        odd=tuple(odd),
        protocol=checked,
        conduct=went,
        gold=gold_labels,
        topics=topic_quality(marked, scale=chosen, reference=reference),
        workers=workers,
        docs=doc_quality(marked, scale=chosen),
        accepted=acceptance(everything, checked, workers, share=bonus_share),
        warnings=warnings,
    )
