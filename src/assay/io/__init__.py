"""Files in and out: every reader says file, line, value and what was expected; nothing is repaired silently."""

from assay.io.readers import read_qrels, read_run, write_qrels, write_run

__all__ = ["read_qrels", "read_run", "write_qrels", "write_run"]
