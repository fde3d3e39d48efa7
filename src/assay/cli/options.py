"""What all commands share: output, seed, jobs, progress, and the reading of scores."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from assay.cli.columns import refuse_unused_columns
from assay.cli.commands import TARGET, KnownWord, Target
from assay.cli.modes import is_given
from assay.core.errors import UsageError
from assay.core.results import json_text
from assay.core.tables import FORMATS, Table, render

if TYPE_CHECKING:
    from assay.core.engine import Progress
    from assay.report.paper import Paper

C = TypeVar("C", bound=Callable[..., Any])


@dataclass(frozen=True)
class Output:
    """Where a command's tables go, in which format, and whether it may speak while it works."""

    format: str
    path: Path | None
    quiet: bool
    figure: Path | None = None
    held: list[str] | None = None
    """Remarks that wait for the end of the command: one that fails says what is wrong and nothing else."""
    paper: Paper | None = None
    """What a paper wants of the figure."""

    def write(self, *tables: Table, of: Any = None, drawn: Any = None) -> None:
        """The tables to standard output or the file; with --figure also the chart of the result `of`, or of `drawn`."""
        pictured = of if drawn is None else drawn
        if self.format == "json":
            self.write_text(json_text(tables, of), of=pictured)
        else:
            self.write_text(render(tables, self.format, width=self.width()), of=pictured)

    def write_text(self, text: str, *, of: Any = None) -> None:
        """A text to standard output or the file; with --figure also the chart of the result `of`.

        The chart is drawn first: where it cannot be, nothing is written.
        """
        refuse_unused_columns()
        charts: dict[Path, str | bytes] = {}
        if self.figure is not None:
            from assay.report.figures import rendered_figures

            charts = rendered_figures(of, self.figure, self.paper)
        self.text(text)
        for path, chart in charts.items():
            _write_file(path, chart)
            self.say(f"figure written to {path}")

    def text(self, text: str) -> None:
        """A text to standard output or, whole or not at all, to the file."""
        refuse_unused_columns()
        if self.path is None:
            click.echo(text)
        else:
            _write_file(self.path, text + "\n")

    def width(self) -> int | None:
        """Columns of the terminal that shows the tables; None where a file or another program reads them."""
        if self.path is not None or not sys.stdout.isatty():
            return None
        from shutil import get_terminal_size

        return get_terminal_size().columns

    def say(self, message: str, *, now: bool = False) -> None:
        """A remark on standard error, unless --quiet; at the end of the command, or now in a dialogue."""
        if self.held is not None and not now:
            self.held.append(message)
        elif not self.quiet:
            click.echo(message, err=True)

    def say_held(self) -> None:
        """The remarks that waited."""
        for message in self.held or []:
            self.say(message, now=True)

    @contextmanager
    def progress(self, what: str) -> Iterator[Progress]:
        """A progress bar on standard error when that is a terminal."""
        if self.quiet or not sys.stderr.isatty():
            from assay.core.engine import silent

            yield silent
            return
        from rich.console import Console
        from rich.progress import Progress as Bar

        with Bar(console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(what, total=None)

            def tell(done: int, total: int) -> None:
                bar.update(task, completed=done, total=total)

            yield tell


figure_options = (
    click.option(
        "--figure",
        type=TARGET,
        help="Also draw it: .svg, .png, .pdf or .html; several results are numbered.",
    ),
    click.option("--width", type=float, metavar="CM", help="Width of the figure in cm; a column of a paper has 8.5."),
    click.option("--height", type=float, metavar="CM", help="Height of the figure in cm."),
    click.option("--font-size", type=float, metavar="POINTS", help="Letters of the figure; with a width 8 by default."),
    click.option("--no-title", is_flag=True, help="Draw the figure without its title."),
    click.option("--greyscale", is_flag=True, help="Draw the figure without colours."),
)
"""Where the figure goes, and how a paper wants it."""


def paper_of(target: Path | None, options: dict[str, Any]) -> Paper | None:
    """What a paper wants of the figure, taken out of the options; an error where there is no figure."""
    given = {name: options.pop(name) for name in ("width", "height", "font_size", "no_title", "greyscale")}
    if target is None:
        for name, value in given.items():
            if value not in (None, False):
                option = "--" + name.replace("_", "-")
                raise UsageError(f"{option} says how the figure is drawn; name its file with --figure")
        return None
    from assay.report.paper import Paper

    return Paper(given["width"], given["height"], given["font_size"], not given["no_title"], given["greyscale"])


def _write_file(path: Path, content: str | bytes) -> None:
    """A file that is whole or not there. What writes it is imported here: help and completion do without numpy."""
    from assay.io.files import write_whole

    write_whole(path, content)


def output_options(command: C) -> C:
    """--format, -o, --quiet; the command gets them as one Output named `out`."""
    return with_output(command)


def output_and_figure_options(command: C) -> C:
    """As output_options, and --figure."""
    return with_output(command, figure=True)


def with_output(command: C, *, figure: bool = False, formats: Sequence[str] = FORMATS, folders: str = "") -> C:
    """The options of output, with more formats or with --figure. folders: what -o writes where it is a folder."""

    @functools.wraps(command)
    def run(*args: Any, **kwargs: Any) -> Any:
        target = kwargs.pop("figure", None)
        paper = paper_of(target, kwargs) if figure else None
        out = Output(kwargs.pop("format"), kwargs.pop("output"), kwargs.pop("quiet"), target, [], paper)
        check_figure(out)
        try:
            answer = command(*args, out=out, **kwargs)
        except SystemExit:  # a command may end with a code of its own
            out.say_held()
            raise
        out.say_held()
        return answer

    options: list[Callable[[Any], Any]] = [
        click.option("--format", type=click.Choice(formats), default="text", show_default=True),
        click.option("-o", "--output", type=Target(dir_okay=bool(folders)), help=f"Write here{folders}."),
        click.option("--quiet", is_flag=True, help="No progress, no remarks."),
    ]
    if figure:
        options += figure_options
    wrapped: Any = run
    for option in reversed(options):
        wrapped = option(wrapped)
    return wrapped


def check_figure(out: Output) -> None:
    """An error before any work where a figure could not be written: there is no such kind."""
    if out.figure is not None:
        from assay.report.figure import ending_of, refuse_paper

        if ending_of(out.figure) == "html" and out.paper is not None:
            refuse_paper(out.paper)


seed_option = click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of all randomness."
)


def jobs_option(command: C) -> C:
    """--jobs, --engine and --scheduler: who does what is long. The command gets `jobs`; the engine holds around it."""

    @functools.wraps(command)
    def run(*args: Any, engine: str | None, scheduler: str | None, **kwargs: Any) -> Any:
        with _engine_of(engine, scheduler, kwargs["jobs"], kwargs.get("quiet", False)):
            return command(*args, **kwargs)

    options: list[Callable[[Any], Any]] = [
        click.option(
            "--jobs", type=click.IntRange(min=1), default=os.cpu_count() or 1, show_default="all cores",
            help="Processes or workers on this machine.",
        ),
        click.option(
            "--engine", type=KnownWord("assay.core.engines.chosen:ENGINES"),
            help="Who does the work: processes of this machine, Dask or Spark.  [default: ASSAY_ENGINE, or local]",
        ),
        click.option(
            "--scheduler", metavar="ADDRESS",
            help="Dask scheduler (tcp://host:8786) or Spark master; without it workers are started here.",
        ),
    ]  # fmt: skip
    wrapped: Any = run
    for option in reversed(options):
        wrapped = option(wrapped)
    return wrapped


@contextmanager
def _engine_of(name: str | None, scheduler: str | None, jobs: int, quiet: bool) -> Iterator[None]:
    """What is long inside is done by this engine, else by that of the environment."""
    chosen = name or os.environ.get("ASSAY_ENGINE") or "local"
    if scheduler is None and chosen != "local":
        scheduler = os.environ.get("ASSAY_SCHEDULER") or None
    if chosen == "local" and scheduler is None and name is None:
        yield
        return
    from assay.core.engines.chosen import ENGINES, VARIABLE, engine

    if chosen not in ENGINES:
        raise UsageError(f"{VARIABLE}: no engine {chosen!r}; known: {', '.join(ENGINES)}")
    if scheduler is not None and is_given("jobs"):
        raise UsageError("--jobs are workers of this machine, and a scheduler has its own; leave one out")
    with engine(chosen, scheduler=scheduler, jobs=None if scheduler else jobs) as made:
        yield
        if not quiet and not getattr(made, "used", True):
            click.echo(f"nothing was long enough for the engine {chosen}; all was done here", err=True)
