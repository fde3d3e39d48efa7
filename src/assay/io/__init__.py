"""Files in and out: every reader says file, line, value and what was expected; nothing is repaired silently."""

from assay.io.labels import read_labels, write_labels
from assay.io.readers import read_qrels, read_run, write_qrels, write_run
from assay.io.topics import read_topics

__all__ = ["read_labels", "read_qrels", "read_run", "read_topics", "write_labels", "write_qrels", "write_run"]
