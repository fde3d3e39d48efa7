"""The command line: `assay COMMAND`. Each command lives in the file of its name and is imported only when called."""

from __future__ import annotations

import atexit
import gc
import importlib
import io
import os
import sys

import click
from click.shell_completion import CompletionItem

from assay.core.errors import AssayError
from assay.core.registry import did_you_mean
from assay.version import __version__

# numpy reads this once, when it is imported. Threads of its linear algebra would make the last digits of a sum of
# products depend on how many cores there are; they cost a short command a third of its time; and long work is spread
# over processes, in which they would only be in each other's way.
os.environ.setdefault("OPENBLAS_NUM_THREADS", os.environ.get("OMP_NUM_THREADS", "1"))

COMMANDS = {
    "help": "the help of a command, as COMMAND --help",
    "demo": "make a small collection, score it, compare, write the report",
    "score": "score runs against judgments",
    "split": "runs larger than memory as parts of whole topics",
    "convert": "write a file in another format",
    "check": "what is odd in the files, with line numbers",
    "sessions": "score sessions: several queries for one need",
    "answers": "score answers in words: nuggets, units, overlap with references",
    "fairness": "score the exposure that rankings give to groups of docs",
    "measures": "list the measures, or explain one",
    "compare": "is the difference real: tests, corrections, intervals, effect sizes; tables for papers",
    "board": "who leads over many collections, and which conclusions hold",
    "replicate": "does an improvement replicate, do scores last over collections",
    "interleave": "which of two rankers do users prefer: logs of interleaved lists, and plans made beforehand",
    "gate": "may a new run replace the old one: pass, fail or undecided, for CI",
    "topic": "what happened on one topic: lists side by side, with grades and texts",
    "standardize": "make scores of different topics and collections comparable",
    "plan": "how many topics, how deep",
    "similarity": "how alike are rankings: RBO, τ and their families",
    "agreement": "how far do assessors agree: κ, α",
    "topics": "which topics suffice",
    "predict": "rank runs without judgments",
    "pool": "what to judge next, and what a pool hides",
    "crowd": "from many workers to judgments one can trust",
    "judge": "is a machine judge any good, and honest estimates with one",
    "study": "are measures and methods any good",
    "report": "one HTML file of all of it",
    "store": "collections, runs, scores and judgments that last: add, list, export, check, backup",
    "serve": "the workbench in the browser: leaderboards, runs, topics, judging",
    "site": "the read-only pages of a store as files that open from disk",
}


class Commands(click.Group):
    """Commands by name; a module is imported only when its command runs."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"assay.cli.{cmd_name}")
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-") and not ctx.resilient_parsing:
            raise AssayError(f"no command {args[0]!r}{did_you_mean(args[0], COMMANDS)}")
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Names of commands, without importing the commands; options as usual."""
        commands = [CompletionItem(name, help=says) for name, says in COMMANDS.items() if name.startswith(incomplete)]
        return [*commands, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.command(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="assay")
def cli() -> None:
    """Measure retrieval systems honestly and cheaply."""


def main() -> None:
    """Run the command line: errors are one line on standard error and exit code 2, an interrupt is 130."""
    # What is imported stays; looking through it for garbage, now and at the end, would cost a tenth of a short command.
    gc.set_threshold(100_000, 20, 20)
    atexit.register(gc.freeze)
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show τ or Δ gets a question mark instead of a traceback.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        cli.main(prog_name="assay", standalone_mode=False)
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        sys.exit(2)
    except click.UsageError as error:
        command = error.ctx.command_path if error.ctx else "assay"
        _fail(f"{error.format_message().rstrip('.')}; see '{command} --help'")
    except click.ClickException as error:
        _fail(error.format_message())
    except AssayError as error:
        _fail(str(error))
    except (click.Abort, KeyboardInterrupt):
        click.echo("assay: interrupted", err=True)
        # Threads in the middle of a computation would be waited for.
        os._exit(130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except IsADirectoryError as error:
        _fail(f"{error.filename}: this is a folder where a file is expected; name a file")
    except OSError as error:
        _fail(f"{error.filename or 'file'}: {error.strerror or error}")
    except MemoryError:
        _fail("not enough memory; score fewer runs at a time or lower --jobs")


def _fail(message: str) -> None:
    click.echo("assay: " + " ".join(message.split("\n")), err=True)
    sys.exit(2)


if __name__ == "__main__":
    main()
