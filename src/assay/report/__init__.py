"""From results to what a person reads: figures (result → chart) and the report (everything → one HTML file)."""

from typing import TYPE_CHECKING

from assay.core.lazy import callable_module, loader
from assay.report.figure import Figure
from assay.report.figures import figure, save_figure

if TYPE_CHECKING:
    from assay.report.write import report

__all__ = ["Figure", "figure", "report", "save_figure"]

__getattr__ = loader(__name__, {"report": "write"})
callable_module(__name__)
