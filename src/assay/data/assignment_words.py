"""Words of assignments and what they are worth; names of measures are listed without numpy, so they stand here."""

from __future__ import annotations

FULL, PARTIAL, NONE = 1.0, 0.5, 0.0
CREDIT = {
    "support": FULL, "full_support": FULL, "full": FULL, "fs": FULL, "yes": FULL, "1": FULL, "1.0": FULL,
    "partial_support": PARTIAL, "partial": PARTIAL, "ps": PARTIAL, "0.5": PARTIAL, ".5": PARTIAL,
    "not_support": NONE, "no_support": NONE, "none": NONE, "ns": NONE, "no": NONE, "0": NONE, "0.0": NONE,
    "failed": NONE,
}  # fmt: skip
"""Words for whether an answer has a nugget, or a citation supports a sentence, and their worth on the scale 0, ½, 1."""
IMPORTANCE = {"vital": True, "okay": False, "ok": False, "failed": False, "": False}
"""Words for the importance of a nugget, and whether it is vital."""
NEEDS_NONE = "not_needed"
"""The support of a sentence without citations that needs none, such as a greeting."""
