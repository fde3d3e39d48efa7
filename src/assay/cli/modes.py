"""Commands that are used in several ways: an option of another way is an error, never silently left aside."""

from __future__ import annotations

from collections.abc import Mapping

import click
from click.core import ParameterSource

from assay.core.errors import UsageError

Modes = Mapping[str, frozenset[str]]
"""What a person calls each way of using a command, and the parameters that it looks at."""


def longest_form(parameter: click.Parameter) -> str:
    """How an option is written in full: --per-topic rather than -q."""
    return max(parameter.opts, key=len)


def is_given(name: str) -> bool:
    """Whether the person wrote this option of the command, rather than left it at its default."""
    return click.get_current_context().get_parameter_source(name) is ParameterSource.COMMANDLINE


def refuse_others(mode: str, modes: Modes) -> None:
    """An error if an option is given that other modes look at, and this one does not."""
    context = click.get_current_context()
    for parameter in context.command.params:
        name = str(parameter.name)
        homes = [m for m, own in modes.items() if name in own]
        if is_given(name) and homes and mode not in homes:
            option = longest_form(parameter)
            if homes == [option]:  # what makes a mode of its own
                raise UsageError(f"{option} does not go with {mode}; give one of them")
            raise UsageError(f"{option} goes with {' or '.join(homes)}, not with {mode}")
