"""From results to what a person reads: figures (result → chart) and the report (everything → one HTML file)."""

from assay.core.lazy import callable_module
from assay.report.figure import Figure
from assay.report.figures import figure, rendered_figures, save_figure
from assay.report.write import report, write_tables

__all__ = ["Figure", "figure", "rendered_figures", "report", "save_figure", "write_tables"]

callable_module(__name__)
