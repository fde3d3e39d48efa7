"""A trained model: what it learnt, what it was trained on, saved as JSON of plain numbers and used later.

A saved model needs nothing of what trained it, scikit-learn included. Where the flow stands: judged collections →
**trained model** → predicted scores of other runs.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from assay.core.errors import DataError
from assay.io.files import read_bytes, write_whole
from assay.nojudgments.model_forms import Form, form_of, whole

VERSION = 1
"""Of the files that hold models."""


@dataclass(frozen=True)
class TrainingSource:
    """A collection that a model was trained on."""

    name: str
    year: int
    runs: int
    topics: int


@dataclass(frozen=True, eq=False)
class TrainedModel:
    """A model, what it was trained on, and what it learnt."""

    model: str
    methods: tuple[str, ...]
    """The methods whose predictions are its features, in this order."""
    measure: str
    """What it predicts."""
    trained_on: tuple[TrainingSource, ...]
    form: Form
    seed: int = 0

    def save(self, path: str | Path) -> None:
        """Write the model to a JSON file; `predict(runs, saved=path, year=…)` uses it."""
        plain = {
            "assay_model": VERSION,
            "model": self.model,
            "seed": self.seed,
            "measure": self.measure,
            "trained_on": [asdict(source) for source in self.trained_on],
            "methods": list(self.methods),
            **self.form.plain(),
        }
        write_whole(Path(path), json.dumps(plain, ensure_ascii=False) + "\n")


def read_model(path: str | Path) -> TrainedModel:
    """The model of a file that `save` wrote, every number checked; nothing of the file is run."""
    where = str(path)
    try:
        record = json.loads(read_bytes(Path(path)))
    except (ValueError, RecursionError):
        record = None
    if not isinstance(record, dict) or "assay_model" not in record:
        raise DataError(f"{where}: not a saved model; save one with `assay predict learn --save-model`")
    version = record["assay_model"]
    if version != VERSION:
        raise DataError(f"{where}: a saved model of version {version!r}, and version {VERSION} is read; train it again")
    try:
        return _model_of(record)
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError):
        raise DataError(f"{where}: the saved model is damaged; train and save it again") from None


def _model_of(record: dict[str, Any]) -> TrainedModel:
    """The model of a record; an error of Python where something is missing or not what it should be."""
    methods = tuple(_text(method) for method in _list(record["methods"]))
    return TrainedModel(
        model=_text(record["model"]),
        methods=methods,
        measure=_text(record["measure"]),
        trained_on=tuple(_source(source) for source in _list(record["trained_on"])),
        form=form_of(record, len(methods)),
        seed=whole(record["seed"]),
    )


def _source(record: dict[str, Any]) -> TrainingSource:
    return TrainingSource(
        name=_text(record["name"]),
        year=whole(record["year"]),
        runs=whole(record["runs"]),
        topics=whole(record["topics"]),
    )


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list) or not value:
        raise TypeError(value)
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value
