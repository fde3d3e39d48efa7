"""assay help: the help of a command, as `assay COMMAND --help` shows it."""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from assay.cli.commands import Command
from assay.core.errors import UsageError
from assay.core.registry import did_you_mean

SCHEMA = "schema"
"""What is no command, and explained as well."""

if TYPE_CHECKING:
    from collections.abc import Sequence


def context_of(root: click.Context, words: Sequence[str]) -> click.Context:
    """The context of the command that the words name, below the root; an error where there is no such command."""
    context = root
    for word in words:
        group = context.command
        if not isinstance(group, click.Group):
            raise UsageError(f"{context.command_path} has no commands below it; leave {word!r} out")
        found = group.get_command(context, word)
        if found is None:
            raise UsageError(f"no command {word!r}{did_you_mean(word, group.list_commands(context))}")
        context = found.context_class(found, parent=context, info_name=word, **found.context_settings)
    return context


def next_words(context: click.Context, argument: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The commands below those that are named already, for the shell."""
    try:
        below = context_of(context.find_root(), context.params.get("words") or ())
    except UsageError:
        return []
    return below.command.shell_complete(below, incomplete) if isinstance(below.command, click.Group) else []


@click.command(cls=Command)
@click.argument("words", nargs=-1, metavar="[COMMAND]...", shell_complete=next_words)
@click.pass_context
def command(context: click.Context, words: tuple[str, ...]) -> None:
    """Show the help of a command; without one, all commands.

    `assay help schema` prints the JSON schema of what --format json prints.

    \b
    assay help
    assay help score
    assay help plan power
    """
    if words == (SCHEMA,):
        click.echo(resources.files("assay.cli").joinpath("schema.json").read_text("utf-8").rstrip())
    else:
        click.echo(context_of(context.find_root(), words).get_help())
