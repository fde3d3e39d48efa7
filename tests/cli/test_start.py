"""What is imported before a command has something to compute."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("numpy", "scipy", "polars", "altair", "joblib", "jinja2")


@pytest.mark.parametrize(
    "arguments", [["--version"], ["score", "--help"], ["measures"], ["measures", "nDCG@10"]], ids=" ".join
)
def test_names_and_help_are_shown_without_numpy(arguments: list[str]) -> None:
    code = (
        "import sys\n"
        "from assay.cli.main import cli\n"
        f"cli.main({arguments!r}, standalone_mode=False)\n"
        f"print(sorted(set({HEAVY!r}) & set(sys.modules)), file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout
    assert done.stderr.strip() == "[]"


def test_a_late_numpy_is_the_same_numpy() -> None:
    code = (
        "import sys\n"
        "from assay.core.lazy import np\n"
        "assert 'numpy' not in sys.modules\n"
        "import numpy\n"
        "assert np.ndarray is numpy.ndarray and np.linalg is numpy.linalg\n"
        "assert isinstance(np.zeros(1), numpy.ndarray)\n"
        "assert not hasattr(np, 'no_such_name')\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
