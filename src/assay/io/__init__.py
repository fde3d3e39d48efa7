"""Files in and out: every reader says file, line, value and what was expected; nothing is repaired silently.

Names are loaded when they are used: who scores a run does not wait for the readers of tables and labels.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay.io.labels import read_labels, write_labels
    from assay.io.readers import read_qrels, read_run, write_qrels, write_run
    from assay.io.topics import read_topics

_HOMES = {
    "read_labels": "labels", "read_qrels": "readers", "read_run": "readers", "read_topics": "topics",
    "write_labels": "labels", "write_qrels": "readers", "write_run": "readers",
}  # fmt: skip

__all__ = ["read_labels", "read_qrels", "read_run", "read_topics", "write_labels", "write_qrels", "write_run"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"assay.io.{_HOMES[name]}"), name)
