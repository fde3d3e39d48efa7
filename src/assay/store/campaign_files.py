"""A campaign as files that the command line reads: labels, judgments, and the log of all that people said."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from assay.core.errors import UsageError
from assay.core.registry import one_of
from assay.core.tables import Table
from assay.io import write

if TYPE_CHECKING:
    from assay.store.judging_campaign import JudgingCampaign

FILES = {"labels": "labels.tsv", "first": "first-labels.tsv", "qrels": "qrels.txt", "history": "history.csv"}
"""What can be taken out of a campaign, and what the file is called."""


def campaign_file(campaign: JudgingCampaign, what: str) -> str:
    """The content of one of FILES: labels for `assay crowd`, judgments for `assay score`, or the whole log.

    Labels are those that count now; `first` are those that people gave before they saw machine labels.
    """
    one_of("file of a campaign", what, tuple(FILES))
    if what == "history":
        return _history(campaign).csv()
    if campaign.plan.compares:
        what_to_do = "take its history, which has who preferred which"
        raise UsageError(f"campaign {campaign.name!r} compares docs, so there are no {what}; {what_to_do}")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / FILES[what]
        write(path, campaign.qrels() if what == "qrels" else campaign.labels(first=what == "first"))
        return path.read_text("utf-8")


def _history(campaign: JudgingCampaign) -> Table:
    columns = {"number": "d", "person": "", "topic": "", "doc": "", "other": "", "kind": "", "label": "g"}
    columns |= {"reason": "", "seconds": ".1f", "counted": "", "takes_back": "", "id": "", "made": "g"}
    columns |= {"second_look": "", "stands": ""}
    rows = [[getattr(one, name) for name in columns] for one in campaign.history()]
    return Table.of(columns, rows, caption=f"{campaign.name}: everything that was said, in order")
