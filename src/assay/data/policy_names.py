"""Names of the policies that every score rests on. What they do is in `runs` (ties) and `scoring.policy` (the rest)."""

from __future__ import annotations

TIES: tuple[str, ...] = ("docid", "docid-asc", "rank", "file", "average")
"""How docs of equal scores are ordered."""
MISSING = ("zero", "drop", "error")
"""What becomes of a topic that is missing from a run."""
COMPAT = ("trec_eval-9", "trec_eval-10")
"""Programs whose way of comparing scores can be followed."""
UNJUDGED_AS = ("0", "top")
"""The grade that unjudged docs get."""
