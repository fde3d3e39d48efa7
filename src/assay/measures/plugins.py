"""Measures of one's own, from a Python file that registers them with `@assay.measure`."""

from __future__ import annotations

from pathlib import Path

from assay.core.errors import UsageError


def load_plugin(path: str | Path) -> None:
    """Run a Python file that registers measures; whatever it raises is an error in one line."""
    import runpy

    try:
        runpy.run_path(str(path))
    except Exception as error:  # a person's own file may raise anything
        raise UsageError(f"{path}: {type(error).__name__}: {error}") from error
