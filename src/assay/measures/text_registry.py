"""The registry of measures of answers in words; `text` and the families that it imports fill it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from assay.core.registry import Registry

TEXT_MEASURES: Registry[Callable[..., Any]] = Registry("text measure")
"""Every measure of text; the record that each takes is in its signature. Facts: paper; takes, what it is made from:
matches (nuggets that an assessor found), pyramid (the same with votes), units, texts, nuggets (counts of those that are
supported fully, partially or not), support (the same of citations), or reports (nuggets and support)."""
