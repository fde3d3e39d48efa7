"""What is odd in a file? Findings with file and line numbers; and reading that drops bad lines and says which."""

from assay.check.finding import SHOWN, Finding, Findings, ties_table
from assay.check.inspection import (
    check,
    check_qrels,
    check_run,
    odd_in_order,
    read_run_leniently,
    read_runs_leniently,
    tie_sensitivity,
)
from assay.check.intent_judgments import check_intents
from assay.core.lazy import callable_module

__all__ = [
    "SHOWN", "Finding", "Findings", "check", "check_intents", "check_qrels", "check_run", "odd_in_order",
    "read_run_leniently", "read_runs_leniently", "tie_sensitivity", "ties_table",
]  # fmt: skip

callable_module(__name__)
