"""The kinds of command: an option given twice is an error, what is written is none of what is read, a group may have a
default, choices come from registries.
"""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from assay.cli.run_info import refuse_idle_info
from assay.core.errors import AssayError, UsageError
from assay.core.files_read import note_read, one_command, refuse_read
from assay.core.registry import Registry

PLACE = re.compile(r"\{(assay\.[\w.]+:\w+)\}")
"""A constant of the library in a help text."""
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]*[a-z0-9]")
"""An option in a message."""
FORCE = "assay.force"
"""Where a context keeps whether --force is given."""
SETTINGS = {"help_option_names": ["-h", "--help"]}


class Target(click.Path):
    """A file or folder that a command writes; a command that has one has --force too."""

    def __init__(self, *, file_okay: bool = True, dir_okay: bool = False, allow_dash: bool = False) -> None:
        super().__init__(file_okay=file_okay, dir_okay=dir_okay, allow_dash=allow_dash, path_type=Path)


TARGET = Target()


def _force_option() -> click.Option:
    def kept(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
        ctx.meta[FORCE] = value

    what = "Replace files of another kind, e.g. judgments by a table."
    return click.Option(["--force", "replaces_other_kinds"], is_flag=True, expose_value=False, callback=kept, help=what)


class Command(click.Command):
    """A command that takes every option once, unless the option collects its values, and destroys nothing it reads."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs["context_settings"] = {**SETTINGS, **(kwargs.get("context_settings") or {})}
        super().__init__(*args, **kwargs)
        if any(isinstance(parameter.type, Target) for parameter in self.params):
            self.params.append(_force_option())

    def make_parser(self, ctx: click.Context) -> Any:
        """A parser that finds options of one letter at once.

        click first looks for `-m` among the long options, and prepares an error with names like it, before it looks
        among the short ones: five milliseconds. Where its parser is made otherwise one day, it is left as it is.
        """
        parser = super().make_parser(ctx)
        long_options, short_options = getattr(parser, "_long_opt", None), getattr(parser, "_short_opt", None)
        if isinstance(long_options, dict) and isinstance(short_options, dict):
            long_options.update(short_options)
        return parser

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            refuse_repeated_options(self, ctx, args)
        except click.UsageError as error:
            error.ctx = error.ctx or ctx  # of an option without its value click does not say whose it is
            raise
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        refuse_idle_info()
        with one_command(force=ctx.meta.get(FORCE, False)):
            _refuse_targets(ctx)
            try:
                return super().invoke(ctx)
            except AssayError as error:
                raise _with_help(_with_way_out(error, ctx), ctx) from None


def _refuse_targets(ctx: click.Context) -> None:
    """An error before any work where a file could not be written: it is one that is read, or it has no folder."""
    targets: list[Path] = []
    for parameter in ctx.command.params:
        paths = _paths_in(ctx.params.get(str(parameter.name)))
        if isinstance(parameter.type, Target):
            targets += [path for path in paths if str(path) != "-"]
        else:
            for path in paths:
                note_read(path)
    for path in targets:
        if not path.parent.is_dir():
            raise UsageError(f"{path}: No such file or directory; make the folder {str(path.parent)!r} first")
        refuse_read(path)
    places = [path.resolve() for path in targets]
    for path, place in zip(targets, places, strict=True):
        if places.count(place) > 1 and path.is_file() is path.exists():
            raise UsageError(f"{path}: two outputs would go to this file; name another one for one of them")


def _paths_in(value: Any) -> list[Path]:
    """The paths among the values of an option, which may be several."""
    if isinstance(value, tuple | list):
        return [path for part in value for path in _paths_in(part)]
    return [value] if isinstance(value, Path) else []


def _with_way_out(error: AssayError, ctx: click.Context) -> AssayError:
    """The error without the end that names an option which the command does not have."""
    known = {option for parameter in ctx.command.params for option in parameter.opts}
    if known.issuperset(OPTION.findall(error.way_out)):
        return error
    return type(error)(str(error).removesuffix(error.way_out))


def _with_help(error: AssayError, ctx: click.Context) -> AssayError:
    """An error of a file of the wrong kind, with the option it was given with and the file that was perhaps meant."""
    from assay.io.recognition import WrongKind

    if not isinstance(error, WrongKind):
        return error
    paths: list[Path] = []
    homes: list[str] = []
    for parameter in ctx.command.params:
        value = ctx.params.get(str(parameter.name))
        given = [path for path in (value if isinstance(value, tuple) else [value]) if isinstance(path, Path)]
        if error.where in map(str, given):
            homes.append(max(parameter.opts, key=len) if isinstance(parameter, click.Option) else "")
        paths += given
    # A file that stands in several places does not say which of them is wrong.
    return error.with_help(paths, homes[0] if len(homes) == 1 else "")


class Group(click.Group):
    """A command with commands in it; with `default=NAME` that one runs where none of them is named."""

    command_class = Command

    def __init__(self, *args: Any, default: str | None = None, **kwargs: Any) -> None:
        kwargs["context_settings"] = {**SETTINGS, **(kwargs.get("context_settings") or {})}
        super().__init__(*args, **kwargs)
        self.default = default

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Names of commands, and what follows where none is named: options of the default, or its files."""
        found = super().shell_complete(ctx, incomplete)
        if self.default is None:
            return found
        if incomplete.startswith("-"):
            return [*found, *self.commands[self.default].shell_complete(ctx, incomplete)]
        return found or [CompletionItem(incomplete, type="file")]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        asks_for_help = bool(args) and args[0] in SETTINGS["help_option_names"]
        if self.default is not None and args and args[0] not in self.commands and not asks_for_help:
            args = [self.default, *args]
        refuse_repeated_options(self, ctx, args)
        return super().parse_args(ctx, args)


def refuse_repeated_options(command: click.Command, ctx: click.Context, args: list[str]) -> None:
    """An error if an option that takes one value is given twice: click would keep the last in silence."""
    if ctx.resilient_parsing:  # a shell asks how the line may go on
        return
    _, _, order = command.make_parser(ctx).parse_args(args=list(args))
    for i, parameter in enumerate(order):
        single = isinstance(parameter, click.Option) and not (parameter.multiple or parameter.count)
        if single and parameter in order[:i]:
            raise UsageError(f"{max(parameter.opts, key=len)} is given twice; give it once")


def home_of(place: str) -> Any:
    """What stands at a place of the library such as "assay.data.policy_names:MISSING"."""
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(module), name)


def names_at(place: str) -> tuple[str, ...]:
    """The names of a registry, of a tuple or of a dict of the library, e.g. of "assay.data.policy_names:MISSING"."""
    home = home_of(place)
    return tuple(home.names()) if isinstance(home, Registry) else tuple(home)


class KnownWord(click.Choice[str]):
    """One of the words that a constant of the library lists: the one that the library checks the word against.

    The constant is named by its place, "assay.data.policy_names:MISSING", and imported when somebody asks for the
    words. A default is one of them (a test says so), and is taken without a look.
    """

    def __init__(self, place: str) -> None:
        self.place = place
        self.case_sensitive = True

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if param is not None and value == param.default:
            return str(value)
        return super().convert(value, param, ctx)

    @property
    def choices(self) -> tuple[str, ...]:  # type: ignore[override]
        """The words, as they are at that moment."""
        return names_at(self.place)


class RegistryOption(click.Option):
    """An option that takes a name of a registry; `registry="assay.stats.paired:TESTS"` is imported for help alone.

    `{names}` in its help stands for the names that are registered at that moment, or for those of a tuple;
    `{assay.agreement.kappa:WEIGHTS}` for those of that constant.
    """

    def __init__(self, *args: Any, registry: str | list[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.registries = [registry] if isinstance(registry, str) else registry

    def names(self) -> str:
        """What may be given, in one line."""
        return ", ".join(name for place in self.registries for name in names_at(place))

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The names that begin as typed, each with its first sentence where it has one."""
        items = []
        for place in self.registries:
            home = home_of(place)
            for name in names_at(place):
                summary = home[name].summary if isinstance(home, Registry) else None
                items.append(CompletionItem(name, help=summary))
        return [item for item in items if str(item.value).startswith(incomplete)]

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        written = self.help
        named = (written or "").replace("{names}", self.names())
        self.help = PLACE.sub(lambda place: ", ".join(names_at(place[1])), named)
        try:
            return super().get_help_record(ctx)
        finally:
            self.help = written
