"""The sections on crowd labels: are the workers any good, and how far do they agree?"""

from __future__ import annotations

from collections.abc import Iterator

from assay.core.errors import AssayError
from assay.report.material import Material
from assay.report.sections import SECTIONS, Block

MOST = 200
"""Rows of the tables of workers and docs."""


@SECTIONS.register("crowd", title="Quality of the crowd labels", need="labels")
def crowd_section(m: Material) -> Iterator[Block]:
    """Workers, labels, docs, time; and where there are judgments, what each grade is worth in labels."""
    from assay.crowd.findings import findings, findings_table
    from assay.crowd.quality import doc_quality
    from assay.report.figures.crowd import doc_controversy, worker_scatter
    from assay.report.figures.data import label_distribution

    if m.labels is None:
        return
    yield "Nobody is removed: a suspect is a worker to look at, with the reasons given."
    yield from m.drawing(worker_scatter, m.workers)
    yield m.workers.table(most=MOST)
    yield from m.drawing(label_distribution, m.labels)
    docs = doc_quality(m.labels, scale=m.scale)
    yield from m.drawing(doc_controversy, docs)
    yield docs.table(most=MOST)
    yield findings_table(findings(m.labels, scale=m.used_scale))
    yield from _time(m)


def _time(m: Material) -> Iterator[Block]:
    from assay.crowd.effort import time_by_position as timed
    from assay.report.figures.crowd import time_by_position

    if m.labels is not None and m.labels.seconds is not None:
        found = timed(m.labels)
        yield from m.drawing(time_by_position, found)
        yield found.table()


@SECTIONS.register("agreement", title="Agreement of the workers", need="labels")
def agreement_section(m: Material) -> Iterator[Block]:
    """α and κ in all and per topic; with judgments also agreement with them and the gain profile."""
    from assay.report.figures.agreement import agreement_by_topic

    yield from m.drawing(agreement_by_topic, m.agreement)
    yield m.agreement.table()
    yield m.agreement.topic_table()
    if m.labels is None or m.qrels is None:
        return
    try:
        yield from _against_reference(m)
    except AssayError as error:
        yield f"Not compared with {m.qrels.name}: {error}."


def _against_reference(m: Material) -> Iterator[Block]:
    from assay.crowd.profiles import gain_profile
    from assay.crowd.quality import topic_quality
    from assay.report.figures import crowd as workers

    if m.labels is None or m.qrels is None:
        return
    yield f"Against the judgments of {m.qrels.name}, taken as a reference:"
    yield topic_quality(m.labels, scale=m.scale, reference=m.qrels).table()
    profile = gain_profile(m.labels, m.qrels)
    yield from m.drawing(workers.gain_profile, profile)
    yield profile.table()
