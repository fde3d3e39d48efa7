"""What is imported before a command has something to compute."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

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


@pytest.mark.parametrize(("given", "threads"), [({}, "1"), ({"OMP_NUM_THREADS": "3"}, "3")])
def test_linear_algebra_has_one_thread_unless_the_person_asks_for_more(given: dict[str, str], threads: str) -> None:
    code = "import os, assay.cli.main; print(os.environ['OPENBLAS_NUM_THREADS'])"
    settings = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=settings | given, check=True
    )
    assert done.stdout.strip() == threads


def test_scoring_does_not_load_what_it_does_not_use(tmp_path: Path) -> None:
    run = tmp_path / "run.txt"
    run.write_text("1 Q0 a 1 2.5 bm25\n1 Q0 b 2 1.5 bm25\n")
    qrels = tmp_path / "qrels.txt"
    qrels.write_text("1 0 a 1\n")
    unused = (
        "numpy.ma", "logging", "socket", "concurrent.futures", "polars", "scipy", "joblib", "difflib", "shutil", "html",
        "assay.measures.other_names", "assay.io.sheet", "assay.io.line_forms", "assay.io.topic_cuts",
    )  # fmt: skip
    code = (
        "import sys\n"
        "from assay.cli.main import cli\n"
        f"cli.main(['score', '--qrels', {str(qrels)!r}, {str(run)!r}, '-m', 'AP'], standalone_mode=False)\n"
        f"print(sorted(set({unused!r}) & set(sys.modules)), file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "bm25" in done.stdout
    assert done.stderr.strip() == "[]"
