"""What all tests share: the folder of real data, found through ASSAY_DATA and skipped, with a reason, where absent."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# The same commit passes or fails the same way; ASSAY_EXAMPLES=random looks for new counterexamples.
settings.register_profile("same", derandomize=True)
settings.register_profile("random", derandomize=False)
settings.load_profile(os.environ.get("ASSAY_EXAMPLES", "same"))

ROOT = Path(__file__).resolve().parent.parent

# The folder coverage/ is no package. Where the program of that name is not installed, numba would take it for one.
_found = importlib.util.find_spec("coverage")
if _found is not None and _found.origin is None:
    sys.modules["coverage"] = None  # type: ignore[assignment]


def real_data(name: str) -> Path:
    """The folder or file of that name under ASSAY_DATA; skips the test where it is not there."""
    base = Path(os.environ.get("ASSAY_DATA", ROOT.parent / "shared" / "data"))
    path = base / name
    if not path.exists():
        pytest.skip(f"real data {name!r} is not there; set ASSAY_DATA to its folder")
    return path


@pytest.fixture(scope="session")
def data() -> Callable[[str], Path]:
    """real_data as a fixture: data("trec-score-matrices/named/trec8-adhoc_ap.csv")."""
    return real_data


def reloaded(page: Any) -> None:
    """Load a page of a browser again, a moment after it has kept something: a person needs longer, too.

    What a page keeps is on its way to the browser's own process for some milliseconds, and on a busy machine the page
    that is loaded may ask there before it has come.
    """
    page.wait_for_timeout(500)
    page.reload()
