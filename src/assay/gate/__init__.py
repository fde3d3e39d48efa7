"""May a new run replace the old one? A gate for continuous integration: pass, fail or undecided.

Where the flow stands: scores → **result**. A test of non-inferiority for each measure, and alarms where the scores
cannot be trusted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.core.lazy import callable_module, loader

if TYPE_CHECKING:
    from assay.gate.alarms import Alarm
    from assay.gate.gated import Gate
    from assay.gate.gates import gate
    from assay.gate.junit import junit_xml
    from assay.gate.margins import Margin

_HOMES = {"Alarm": "alarms", "Gate": "gated", "Margin": "margins", "gate": "gates", "junit_xml": "junit"}
__all__ = ["Alarm", "Gate", "Margin", "gate", "junit_xml"]
__getattr__ = loader(__name__, _HOMES)

callable_module(__name__)
