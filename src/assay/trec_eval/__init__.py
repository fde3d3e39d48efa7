"""trec_eval's own output, byte for byte: its names, its order, its formats, and the meanings of its options.

Two programs are followed: 9.0.8 (`trec_eval-9`), whose numbers most publications print, and 10.0 (`trec_eval-10`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.core.lazy import loader

if TYPE_CHECKING:
    from assay.trec_eval.asked import Options
    from assay.trec_eval.judged import read_judgments, read_zscores
    from assay.trec_eval.printing import output

_HOMES = {"Options": "asked", "output": "printing", "read_judgments": "judged", "read_zscores": "judged"}
__all__ = ["Options", "output", "read_judgments", "read_zscores"]
__getattr__ = loader(__name__, _HOMES)
