"""Files in and out: every reader says file, line, value and what was expected; nothing is repaired silently.

Names are loaded when they are used: who scores a run does not wait for the readers of tables and labels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.core.lazy import loader

if TYPE_CHECKING:
    from assay.io.brought import labels_of, qrels_of, runs_of, scores_of
    from assay.io.info import read_info
    from assay.io.intents import read_intent_qrels
    from assay.io.labels import read_labels
    from assay.io.labels import write_labels as write_labels
    from assay.io.readers import read_qrels, read_run, write
    from assay.io.readers import write_qrels as write_qrels
    from assay.io.readers import write_run as write_run
    from assay.io.scores import read_scores
    from assay.io.texts import read_texts
    from assay.io.topics import read_topics, topics_of

_HOMES = {
    "labels_of": "brought",
    "qrels_of": "brought",
    "read_info": "info",
    "read_intent_qrels": "intents",
    "read_labels": "labels",
    "read_qrels": "readers",
    "read_run": "readers",
    "read_scores": "scores",
    "read_texts": "texts",
    "read_topics": "topics",
    "runs_of": "brought",
    "scores_of": "brought",
    "topics_of": "topics",
    "write": "readers",
    # What `write` calls, by the type of what is written.
    "write_labels": "labels",
    "write_qrels": "readers",
    "write_run": "readers",
}
__all__ = [
    "labels_of", "qrels_of", "read_info", "read_intent_qrels", "read_labels", "read_qrels", "read_run", "read_scores",
    "read_texts", "read_topics", "runs_of", "scores_of", "topics_of", "write",
]  # fmt: skip
__getattr__ = loader(__name__, _HOMES)
