"""How is a file of labels to be read? A profile says it once, in a small TOML file: columns, scale, which rows.

Files of one campaign, or of one platform, are all read the same way, and nobody has to remember how.
"""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from assay.core.errors import DataError
from assay.core.registry import did_you_mean
from assay.data import Labels
from assay.io.files import read_bytes, write_whole

KINDS = {"scale": str, "times": float, "topic": str, "split": str, "drop_empty": bool}
"""What stands at the top of a profile; columns, grades and where are tables of names."""


@dataclass(frozen=True)
class LabelProfile:
    """The scale of labels and how their file is read; what is not said is as `read_labels` has it.

    columns: our name → the file's. grades: word → number. where: only rows whose column has this value.

    >>> profile = LabelProfile(scale="S100", times=100.0, columns={"label": "score"})
    >>> print(profile.text())
    scale = "S100"
    times = 100.0
    <BLANKLINE>
    [columns]
    "label" = "score"
    <BLANKLINE>
    """

    scale: str | None = None
    times: float = 1.0
    topic: str | None = None
    split: str | None = None
    drop_empty: bool = False
    columns: dict[str, str] = field(default_factory=dict)
    grades: dict[str, float] = field(default_factory=dict)
    where: dict[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, path: str | Path) -> LabelProfile:
        """The profile of a TOML file; an entry that it does not know, or of another kind, is an error."""
        try:
            given = tomllib.loads(read_bytes(path).decode())
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise DataError(f'{path}: not a TOML file ({error}); write e.g. scale = "S100"') from None
        known = [entry.name for entry in fields(cls)]
        for name, value in given.items():
            if name not in known:
                raise DataError(f"{path}: there is no entry {name!r}{did_you_mean(name, known)}")
            _refuse_other_kind(path, name, value)
        if "times" in given:
            given["times"] = float(given["times"])
        return cls(**given)

    def text(self) -> str:
        """The profile as TOML, without what is as usual."""
        usual = LabelProfile()
        lines = []
        for name in KINDS:
            value = getattr(self, name)
            if value != getattr(usual, name):
                lines.append(f"{name} = {_toml(value)}")
        for name in ("columns", "grades", "where"):
            table = getattr(self, name)
            if table:
                lines += ["", f"[{name}]"]
                lines += [f"{_toml(key)} = {_toml(value)}" for key, value in table.items()]
        return "\n".join([*lines, ""])

    def write(self, path: str | Path) -> None:
        """Write the profile as a TOML file."""
        write_whole(path, self.text())

    def labels(self, path: str | Path) -> Labels:
        """The labels of a file that is read so."""
        from assay.agreement.scales import scale_of
        from assay.io.labels import read_labels

        words = scale_of(self.scale).words() if self.scale else {}
        return read_labels(
            path,
            columns=self.columns or None,
            levels={**words, **self.grades} or None,
            times=self.times,
            where=self.where,
            topic=self.topic,
            split=self.split,
            empty="drop" if self.drop_empty else "error",
        )


def _refuse_other_kind(path: str | Path, name: str, value: Any) -> None:
    """An error where an entry is not of its kind."""
    if name in KINDS:
        kind = KINDS[name]
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        fits = is_number if kind is float else isinstance(value, kind)
        said = {str: "a text", float: "a number", bool: "true or false"}[kind]
    else:
        wanted = (int, float) if name == "grades" else (str,)
        fits = isinstance(value, dict) and all(isinstance(cell, wanted) for cell in value.values())
        said = f"a table [{name}] of {'numbers' if name == 'grades' else 'texts'}"
    if not fits:
        raise DataError(f"{path}: {name} is {value!r}; it must be {said}")


def _toml(value: str | float | bool) -> str:
    """A value as TOML writes it; texts are quoted as in JSON."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(float(value))
