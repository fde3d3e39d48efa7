"""--levels, --way and --target: how a fine scale is cut into a coarse one, on every `assay crowd` command that cuts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from assay.cli.commands import RegistryOption
from assay.cli.inputs import FILE
from assay.cli.label_files import has_effect

C = TypeVar("C", bound=Callable[..., Any])


def cut_options(levels: int, way: str) -> Callable[[C], C]:
    """--levels, --way and --target, with these defaults."""

    def add(command: C) -> C:
        options = [
            click.option("--levels", default=levels, show_default=True, help="Levels of the coarse scale."),
            click.option(
                "--way", default=way, show_default=True, cls=RegistryOption, registry="assay.crowd.cutways:WAYS",
                help="How cuts are chosen: {names}; see `assay crowd methods`.",
            ),
            click.option("--target", type=FILE, help="Qrels on the coarse scale, for H, D_a+t and D_t+a."),
        ]  # fmt: skip
        wrapped: Any = command
        for option in reversed(options):
            wrapped = option(wrapped)
        return wrapped

    return add


def refuse_idle_target(way: str) -> None:
    """An error where --target is given to a way that has no use for it."""
    from assay.crowd.cutways import WAYS

    has_effect("target", WAYS[way].facts["target"], f"with the way {way}, which compares workers with each other")
