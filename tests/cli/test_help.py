"""Choices in help texts come from registries: whatever somebody adds stands there at once, and nothing is retyped."""

from __future__ import annotations

import ast
import importlib
from typing import Any

import click
import pytest

from assay.cli.commands import RegistryOption
from assay.core.registry import Registry
from assay.studies.arms import ARMS
from tests.cli.test_options import COMMANDS
from tests.conftest import ROOT

OPTIONS = [p for command in COMMANDS.values() for p in command.params if isinstance(p, RegistryOption)]
PLACES = sorted({place for option in OPTIONS for place in option.registries})


def home(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(module), name)


@pytest.mark.parametrize("place", PLACES)
def test_help_lists_what_is_registered_at_that_moment(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    option = next(option for option in OPTIONS if place in option.registries)
    registry = home(place)
    if not isinstance(registry, Registry):
        assert set(registry) <= set(option.names().split(", "))  # a fixed list of names
        return
    assert set(registry.names()) <= set(option.names().split(", "))
    monkeypatch.setattr(registry, "_entries", {**registry._entries, "just-added": next(iter(registry))})
    assert "just-added" in option.names().split(", ")


def test_help_texts_name_constants_as_they_are_at_that_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    option = next(option for option in OPTIONS if "{assay." in (option.help or ""))
    written = option.help
    command = COMMANDS["agreement"]
    assert "none, linear, quadratic" in " ".join(command.get_help(click.Context(command)).split())
    monkeypatch.setattr("assay.agreement.kappa.WEIGHTS", ("none", "cubic"))
    assert "none, cubic" in " ".join(command.get_help(click.Context(command)).split())
    assert option.help == written


def test_every_option_says_what_it_is() -> None:
    """But for --format, which is explained by its choices."""
    silent = []
    for name, command in COMMANDS.items():
        for option in command.params:
            if isinstance(option, click.Option) and not option.help and option.opts[-1] != "--format":
                silent.append(f"{name} {option.opts[-1]}")
    assert silent == []


def test_every_arm_of_a_study_of_methods_is_in_its_help() -> None:
    explained = COMMANDS["study methods"].help or ""
    assert [name for name in ARMS.names() if f"{name}(" not in explained] == []


@pytest.mark.parametrize("path", sorted((ROOT / "src" / "assay" / "cli").glob("*.py")), ids=lambda path: path.name)
def test_the_names_of_a_registry_are_not_retyped(path: Any) -> None:
    constants = [node.value for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Constant)]
    texts = [text for text in constants if isinstance(text, str)]
    for place in PLACES:
        registry = home(place)
        if isinstance(registry, Registry) and len(registry) > 2:
            first = ", ".join(registry.names()[:3])
            assert not [text for text in texts if first in text], place
