"""What trec_eval reads: judgments in the format that -R names, and the means and deviations of -Z."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from assay.core.errors import DataError
from assay.data import Qrels
from assay.io import read_qrels
from assay.io.judgment_groups import (
    Preferences,
    read_group_qrels,
    read_preferences,
    read_qrels_as_preferences,
)

Judgments = Qrels | Preferences | Mapping[str, Qrels]
"""Plain judgments, preferences by topic and group, or plain judgments of each group."""


def read_judgments(path: str | Path, form: str = "qrels") -> Judgments:
    """The judgments of a file in one of the formats of -R."""
    if form == "prefs":
        return read_preferences(path)
    if form == "qrels_prefs":
        return read_qrels_as_preferences(path)
    if form == "qrels_jg":
        return read_group_qrels(path)
    return read_qrels(path)


def read_zscores(path: str | Path) -> dict[tuple[str, str], tuple[float, float]]:
    """trec_eval's -Z file: `topic measure mean sd` per line."""
    out: dict[tuple[str, str], tuple[float, float]] = {}
    for number, line in enumerate(Path(path).read_text().splitlines(), 1):
        parts = line.split()
        if not parts:
            continue
        try:
            topic, name, mean, sd = parts
            out[topic, name] = float(mean), float(sd)
        except ValueError:
            raise DataError.at(str(path), number, f'{line!r} is not "topic measure mean sd"') from None
    return out
