"""What trec_eval reads: judgments in the format that -R names, and the means and deviations of -Z."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from assay.core.errors import DataError
from assay.data import Qrels
from assay.io import read_qrels
from assay.io.column_names import Named
from assay.io.files import read_bytes
from assay.io.judgment_groups import (
    Preferences,
    read_group_qrels,
    read_preferences,
    read_qrels_as_preferences,
)
from assay.io.sheet import LARGEST, decoded

Judgments = Qrels | Preferences | Mapping[str, Qrels]
"""Plain judgments, preferences by topic and group, or plain judgments of each group."""


def read_judgments(path: str | Path, form: str = "qrels", *, columns: Named = None) -> Judgments:
    """The judgments of a file in one of the formats of -R; columns: names of those of a table."""
    if form == "prefs":
        return read_preferences(path)
    if form == "qrels_prefs":
        return read_qrels_as_preferences(path)
    if form == "qrels_jg":
        return read_group_qrels(path)
    return read_qrels(path, columns=columns)


def read_zscores(path: str | Path) -> dict[tuple[str, str], tuple[float, float]]:
    """trec_eval's -Z file: `topic measure mean sd` per line."""
    out: dict[tuple[str, str], tuple[float, float]] = {}
    for number, line in enumerate(decoded(str(path), read_bytes(path)).splitlines(), 1):
        parts = line.split()
        if not parts:
            continue
        try:
            topic, name, mean, sd = parts
            out[topic, name] = _number(mean), _number(sd)
        except ValueError:
            raise DataError.at(str(path), number, f'{line[:80]!r} is not "topic measure mean sd"') from None
    return out


def _number(text: str) -> float:
    """A number that can be squared, or a ValueError. trec_eval writes nan for the mean of what it cannot compute."""
    value = float(text)
    if abs(value) > LARGEST:
        raise ValueError(text)
    return value
