"""The fixture `assay_gate` in a pytest session of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import assay
from tests.conftest import ROOT
from tests.gate.test_gates import OLD, scores

pytest_plugins = ["pytester"]

TEST = """
def test_search_quality(assay_gate):
    result = assay_gate("{new}.csv", baseline="old.csv", measures="AP", max_drop=.01{more})
    assert result.outcome == "{outcome}"
"""


def outcomes(
    pytester: pytest.Pytester, shift: float, more: str = "", outcome: str = "pass"
) -> tuple[dict[str, int], str]:
    """What becomes of a test whose new run is `shift` above the baseline, and what the session printed."""
    assay.write(pytester.path / "new.csv", scores(shift))
    assay.write(pytester.path / "old.csv", OLD)
    pytester.makepyfile(TEST.format(new="new", more=more, outcome=outcome))
    # The plugin is loaded by name, and not by its entry point, which an installed assay has.
    done = pytester.runpytest_subprocess("-p", "no:assay", "-p", "assay.gate.fixture", "-rsx")
    return done.parseoutcomes(), "\n".join(done.outlines)


def test_a_pass_goes_on(pytester: pytest.Pytester) -> None:
    assert outcomes(pytester, 0.01)[0] == {"passed": 1}


def test_a_fail_fails_with_the_verdict_and_the_table(pytester: pytest.Pytester) -> None:
    counts, said = outcomes(pytester, -0.05)
    assert counts == {"failed": 1}
    assert "fail: AP of new is .050 lower than that of old" in said
    assert "max drop" in said
    assert "Traceback" not in said


@pytest.mark.parametrize(
    ("undecided", "become"), [("fail", "failed"), ("skip", "skipped"), ("xfail", "xfailed"), ("pass", "passed")]
)
def test_undecided_is_what_the_caller_says(pytester: pytest.Pytester, undecided: str, become: str) -> None:
    counts, said = outcomes(pytester, -0.009, f', undecided="{undecided}"', "undecided")
    assert counts == {become: 1}
    assert undecided == "pass" or "equally good runs pass" in said


def test_undecided_fails_by_default(pytester: pytest.Pytester) -> None:
    assert outcomes(pytester, -0.009)[0] == {"failed": 1}


def test_another_word_is_an_error(pytester: pytest.Pytester) -> None:
    counts, said = outcomes(pytester, 0.01, ', undecided="maybe"')
    assert counts == {"failed": 1}
    assert "undecided='maybe' is not known; take one of fail, skip, xfail, pass" in said


def test_an_alarm_fails_even_where_undecided_is_skipped(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        qrels = {t: {"r": 1, "n": 0} for t in range(9)}
        old = {t: ["r", "n"] for t in range(9)}
        new = {t: ["r", "x"] for t in range(9)}

        def test_search_quality(assay_gate):
            assay_gate({"new": new}, {"old": old}, qrels, max_drop=.01, undecided="skip")
        """
    )
    done = pytester.runpytest_subprocess("-p", "no:assay", "-p", "assay.gate.fixture")
    assert done.parseoutcomes() == {"failed": 1}
    done.stdout.fnmatch_lines(["*50 % of the top 10 of new are judged*"])


def test_the_plugin_imports_next_to_nothing() -> None:
    """It is loaded in every session of pytest where assay is installed."""
    code = "import assay.gate.fixture, sys; print([m for m in sys.modules if m.split('.')[0] in ('assay', 'numpy')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = eval(done.stdout)
    assert sorted(loaded) == [
        "assay",
        "assay.core",
        "assay.core.lazy",
        "assay.gate",
        "assay.gate.fixture",
        "assay.version",
    ]


def test_the_entry_point_names_the_plugin() -> None:
    import tomllib

    project = tomllib.loads(Path(ROOT / "pyproject.toml").read_text())["project"]
    assert project["entry-points"]["pytest11"] == {"assay": "assay.gate.fixture"}
