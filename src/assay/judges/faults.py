"""What is wrong with a machine judge, in words? The faults that the parts of an audit show, each with its evidence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from assay.core.tables import Table
from assay.judges.circularity import Circularity
from assay.judges.label_audit import AgreementWithPeople, LabelAudit, tables_of
from assay.judges.pair_conclusions import Conclusions
from assay.judges.panels import PanelAudit
from assay.judges.ranking_audit import RankingAudit
from assay.judges.run_bias import RunBias
from assay.judges.topic_means import mean_ends

LITTLE = 0.4
"""Agreement beyond chance below this is little."""
SMALL = 0.02
"""Of the width of the scale: a mean difference below this is not worth a word."""
MANY_MISSING = 0.05
SHOWN = 5
"""Names of runs in a sentence."""


@dataclass(frozen=True)
class Fault:
    """One fault of one judge, and what shows it."""

    judge: str
    fault: str
    evidence: str


@dataclass(frozen=True, eq=False)
class AuditParts:
    """The parts of an audit; None what the files do not allow."""

    labels: LabelAudit
    rankings: RankingAudit | None = None
    bias: tuple[RunBias, ...] = ()
    conclusions: Conclusions | None = None
    circularity: Circularity | None = None
    panel: PanelAudit | None = None


def faults(parts: AuditParts) -> list[Fault]:
    """The faults of every judge, in the order of the judges; a judge without any has none."""
    found = []
    for j, judge in enumerate(parts.labels.pairs.judges):
        found += list(_of_labels(parts.labels, j, judge))
        found += list(_of_runs(parts, j, judge))
    if parts.panel is not None:
        for first, second, correlation in parts.panel.errors.copies():
            evidence = f"their errors correlate {correlation:.3f}: they count as one judge"
            found.append(Fault(f"{first}, {second}", "copies of one another", evidence))
    return found


def faults_table(found: list[Fault]) -> Table:
    """One row for each fault."""
    rows = [(fault.judge, fault.fault, fault.evidence) for fault in found]
    notes = () if rows else ("No fault was found.",)
    return Table.of(
        {"judge": "", "fault": "", "evidence": ""}, rows, caption="What is wrong with the judges", notes=notes
    )


def _of_labels(audit: LabelAudit, j: int, judge: str) -> Iterator[Fault]:
    pairs = audit.pairs
    labels = pairs.machine[j]
    known = labels[~np.isnan(labels)]
    off = sum(label.judge == judge for label in pairs.off_scale)
    if off:
        yield Fault(judge, "labels off the scale", f"{off} labels are not on the scale {pairs.scales[j].described()}")
    missing = int(np.isnan(labels).sum())
    if missing > MANY_MISSING * len(labels):
        yield Fault(judge, "misses docs", f"{missing} of {len(labels)} docs that people judged have no label")
    if len(known) and (known == known[0]).all():
        yield Fault(judge, "constant", f"every label is {known[0]:g}")
        return
    yield from _agreement(audit, j, judge)
    yield from _rating(audit, j, judge)


def _agreement(audit: LabelAudit, j: int, judge: str) -> Iterator[Fault]:
    """Below chance by κ, which knows how often each side gives a label; little by α, which asks for the same labels."""
    two_levels = audit.pairs.is_other_scale(j) or len(audit.pairs.scale.levels) == 2
    rows = {row.measure: row for row in audit.agreement if row.judge == judge}
    kappa = rows["κ" if two_levels else "weighted κ"]
    alpha = rows["α nominal" if two_levels else "α ordinal"]
    if kappa.high is not None and kappa.high < 0:
        yield Fault(judge, "contradicts people", f"{_said(kappa)}: it agrees less than chance would")
    elif kappa.low is not None and kappa.low <= 0:
        yield Fault(judge, "no better than chance", _said(kappa))
    elif alpha.value is not None and alpha.value < LITTLE:
        yield Fault(judge, "agrees little", _said(alpha))


def _said(row: AgreementWithPeople) -> str:
    interval = "" if row.low is None else f" [{row.low:.3f}, {row.high:.3f}]"
    return f"{row.measure} {row.value:.3f}{interval}"


def _rating(audit: LabelAudit, j: int, judge: str) -> Iterator[Fault]:
    """Whether it rates docs too high or too low on average, over the topics."""
    tables, levels = tables_of(audit.pairs, j, audit.rel)
    n = tables.sum(axis=(1, 2))
    apart = levels[None, :] - levels[:, None]
    of_topic = ((tables * apart).sum(axis=(1, 2)) / np.maximum(n, 1))[n > 0]
    if len(of_topic) < 2:
        return
    width = float(levels[-1] - levels[0])
    ends = mean_ends(of_topic, 0.95, (-width, width))
    low, high = (float(end[0]) for end in ends)
    mean = float(of_topic.mean())
    if (low > 0 or high < 0) and abs(mean) > SMALL * width:
        what = "grades" if width > 1 else "(1 is relevant)"
        name = "rates too high" if mean > 0 else "rates too low"
        yield Fault(judge, name, f"on average {mean:+.3f} {what} [{low:+.3f}, {high:+.3f}] over the topics")


def _of_runs(parts: AuditParts, j: int, judge: str) -> Iterator[Fault]:
    if parts.rankings is not None:
        tau = parts.rankings.value(judge)
        if tau is None:
            yield Fault(judge, "ranks no runs", "all runs have the same mean score under it")
        elif tau < 0:
            yield Fault(judge, "reverses the ranking", f"τ {tau:+.3f} with people")
    if parts.bias:
        yield from _bias(parts.bias[j], judge)
    if parts.conclusions is not None:
        row = parts.conclusions.of(judge)
        if row.opposite:
            yield Fault(judge, "opposite conclusions", f"{row.opposite} pairs of runs significant with the other sign")
    if parts.circularity is not None:
        gain = parts.circularity.of(judge)
        if gain.machine_low > gain.human_high and gain.machine > 0:
            said = f"reranking gains {gain.machine:+.3f} under the judge and {gain.human:+.3f} under people"
            yield Fault(judge, "can be gamed", f"{said}: {gain.places_machine:.0f} places")


def _bias(bias: RunBias, judge: str) -> Iterator[Fault]:
    said = f"mean bias {bias.mean:+.3f} [{bias.mean_low:+.3f}, {bias.mean_high:+.3f}] in {bias.measure}"
    if bias.mean_low > 0:
        yield Fault(judge, "inflates scores", said)
    elif bias.mean_high < 0:
        yield Fault(judge, "deflates scores", said)
    for sign, name in ((1, "favours runs"), (-1, "puts runs down")):
        runs = bias.favoured(sign)
        if runs:
            more = f" and {len(runs) - SHOWN} more" if len(runs) > SHOWN else ""
            yield Fault(judge, name, f"beyond its mean bias: {', '.join(runs[:SHOWN])}{more}")
