"""From results to what a person reads: figures (result → chart) and the report (everything → one HTML file)."""

from assay.core.lazy import callable_module
from assay.report.figure import Figure
from assay.report.figures import figure, save_figure
from assay.report.write import report

__all__ = ["Figure", "figure", "report", "save_figure"]

callable_module(__name__)
