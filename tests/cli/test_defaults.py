"""A command and the function behind it have one default each: what is not said means the same in both."""

from __future__ import annotations

import inspect
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any

import click
import pytest

import assay
from assay.cli.inputs import numbers
from tests.conftest import ROOT
from tests.hostile.calls import CALLS, call
from tests.hostile.test_commands import Files

SOURCE = str(ROOT / "src" / "assay")
MORE = [
    "plan power --topics 50 --delta .05 --sigma .2",
    "plan curve --delta .05 --sigma .2",
    "study rbo-and-ap",
    "measures --weights 'RBP P@5' --depth 7",
]
"""Calls without files."""
OTHER_BY_PURPOSE = {
    ("read_docs", "docs"): "--docs of `crowd tasks` are the docs of a task; the reader is told which texts are wanted",
    ("agreement", "per_topic"): "rows that a terminal has no room for",
    ("reference_agreement", "per_topic"): "the same",
    ("hold_out", "search"): "--search of `topics best` is that of the sets; the hold-out searches quickly in both",
    ("hold_out", "repetitions"): "--repetitions of `topics best` are the random sets; the hold-out draws fewer in both",
    ("predict", "combine"): "without a word it is average in both; a model, where earlier collections are given",
    ("predict", "measure"): "without a word it is AP in both, except that a saved model brings its own",
    (
        "predict",
        "mix",
    ): "`predict inject` mixes after the prediction, and shows the plain mixture first, as the thesis does",
    ("collected", "depth"): "the function behind the command cuts the lists as well",
    ("labels_and_empty", "levels"): "--levels of `crowd transform` are those of the coarse scale",
    ("draws", "interval"): "asked with the interval that the command shows",
}
"""Pairs of one name and two meanings: the function, its parameter, and why."""
OF_THE_MACHINE = {"jobs", "format"}


def functions_by_code() -> dict[CodeType, FunctionType]:
    """Every function of the library that is not of the command line, by its code."""
    found = {}
    for name, module in list(sys.modules.items()):
        if name.startswith("assay.") and not name.startswith(("assay.cli", "assay.core")):
            for thing in vars(module).values():
                if inspect.isfunction(thing) and thing.__module__ == name:
                    found[thing.__code__] = thing
    return found


@contextmanager
def seen_by(watch: Callable[[FrameType], None]) -> Iterator[None]:
    """Every call that a file of cli/ makes to the rest of the library is shown to `watch`."""

    def profile(frame: FrameType, event: str, argument: Any) -> None:
        caller = frame.f_back
        if event == "call" and caller is not None and caller.f_code.co_filename.startswith(f"{SOURCE}/cli/"):
            watch(frame)

    sys.setprofile(profile)
    try:
        yield
    finally:
        sys.setprofile(None)


def same(option: Any, parameter: Any) -> bool:
    """Whether two defaults mean the same; the text `2,5,10` of an option is the sequence of those numbers."""
    if option is None or "UNSET" in repr(option):
        return True  # the command leaves it to the function
    if isinstance(option, str) and isinstance(parameter, tuple | list | range):
        return list(numbers(option)) == list(parameter)
    return bool(option == parameter) or str(option).lower() == str(parameter).lower()


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    return Files(tmp_path_factory.mktemp("defaults"))


@pytest.mark.parametrize("template", [*CALLS, *MORE])
def test_options_and_keywords_have_the_same_default(template: str, files: Files) -> None:
    frames: list[tuple[CodeType, click.Context]] = []

    def watch(frame: FrameType) -> None:
        context = click.get_current_context(silent=True)
        if context is not None:
            frames.append((frame.f_code, context))

    files.empty_out()
    with seen_by(watch):
        outcome = call(files.arguments(template) if "{" in template else shlex.split(template))
    assert outcome.code == 0, outcome.err
    functions = functions_by_code()
    differing = []
    for code, context in frames:
        options = {option.name: option for option in context.command.params}
        function = functions.get(code)
        parameters = inspect.signature(function).parameters if function else {}
        for name, parameter in parameters.items():
            purpose = (code.co_name, name) in OTHER_BY_PURPOSE or name in OF_THE_MACHINE
            if name in options and parameter.default is not parameter.empty and not purpose:
                default = options[name].get_default(context)
                if not same(default, parameter.default):
                    differing.append(f"{context.command_path} --{name} {default}: {code.co_name} {parameter.default}")
    assert not differing


def test_the_files_of_the_package_are_those_that_are_watched() -> None:
    assert Path(assay.__file__).parent == Path(SOURCE)
