"""The workflow in the docs: it is YAML, and its command is one that the command line takes."""

from __future__ import annotations

import shlex

import pytest

from assay.cli.gate import command
from tests.conftest import ROOT
from tests.test_docs import blocks


def test_the_workflow_is_yaml_and_its_command_is_understood() -> None:
    yaml = pytest.importorskip("yaml")
    [block] = blocks(ROOT / "docs" / "howto" / "a-gate-for-ci.md", "yaml")
    workflow = yaml.safe_load(block)
    steps = workflow["jobs"]["gate"]["steps"]
    assert {"run": "pip install assay-ir"} in steps
    [gate] = [step["run"] for step in steps if step.get("name") == "Gate"]
    program, name, *words = shlex.split(gate)
    assert (program, name) == ("assay", "gate")
    parsed = command.make_context("gate", list(words)).params
    assert parsed["drops"] == (".01",)
    assert (parsed["measures"], parsed["format"], str(parsed["output"])) == (
        "nDCG@10",
        "markdown",
        "$GITHUB_STEP_SUMMARY",
    )
