"""The options that the commands of `assay topics` share: criterion, scale, search, numbers of topics."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from assay.cli.commands import RegistryOption
from assay.cli.inputs import FILE, decimals, numbers, one_matrix, other_scores, scores_input
from assay.cli.modes import is_given
from assay.cli.options import Output
from assay.cli.run_info import by_option, groups_by
from assay.core.errors import UsageError

if TYPE_CHECKING:
    from assay.topics.problem import Problem

C = TypeVar("C", bound=Callable[..., Any])

criterion_option = click.option(
    "--criterion", cls=RegistryOption, registry="assay.topics.criteria:CRITERIA", default="tau", show_default=True,
    metavar="NAME", help="How similarity of rankings is measured, one of: {names}; with parameters as in 'rbo(p=0.9)'.",
)  # fmt: skip
scale_option = click.option(
    "--scale", cls=RegistryOption, registry="assay.topics.problem:SCALES", default="plain", show_default=True,
    metavar="NAME", help="One of: {names}; with parameters as in 'log(epsilon=0.0001, add=true)'.",
)  # fmt: skip
search_option = click.option(
    "--search", cls=RegistryOption, registry="assay.topics.search:SEARCHES", default="auto", show_default=True,
    metavar="NAME", help="One of: {names}; several joined by +. With parameters as in 'greedy(k=3)'.",
)  # fmt: skip
at_option = click.option("--at", metavar="LIST", help="Only these numbers of topics, e.g. 5,10,20.")
COUNT = click.IntRange(min=1)
repetitions_option = click.option(
    "--repetitions", type=COUNT, default=5000, show_default=True, help="Random subsets per number of topics."
)
splits_option = click.option("--splits", type=COUNT, default=5, show_default=True, help="Splits of the runs.")
groups_option = by_option("Hold out whole groups of runs, by a column of --info, e.g. team.")
top_option = click.option("--top", type=float, default=1.0, show_default=True, help="Share of the runs to keep.")
runs_option = click.option("--runs", type=COUNT, help="Keep this number of the best runs, in place of a share.")


def problem_options(command: C) -> C:
    """--criterion, --scale, --top, --runs; the command gets a Problem named `ready` from its one score matrix."""

    @functools.wraps(command)
    def run(*args: Any, **kwargs: Any) -> Any:
        from assay.topics.problem import problem

        chosen = {name: kwargs.pop(name) for name in ("criterion", "scale", "top", "runs")}
        truth = kwargs.pop("truth", None)  # only some of the commands have it
        if truth is not None:
            chosen["truth"] = one_matrix(other_scores(truth))
        return command(*args, ready=problem(one_matrix(kwargs.pop("matrices")), **chosen), **kwargs)

    wrapped: Any = run
    for option in (runs_option, top_option, scale_option, criterion_option):
        wrapped = option(wrapped)
    return scores_input(wrapped)


def search_options(command: C) -> C:
    """--search, --seconds, --resume; the command gets a function `look(out, …)` that searches, with progress.

    `look(out, best_topics, …)` searches by that function instead.

    A search that Ctrl-C cut short gives the best so far: the command goes on with that, and ends with code 130.
    """

    @functools.wraps(command)
    def run(*args: Any, **kwargs: Any) -> Any:
        from assay.topics import search_subsets

        named = {"search": kwargs.pop("search"), "seconds": kwargs.pop("seconds"), "resume": kwargs.pop("resume")}
        ready, seed, stops = kwargs["ready"], kwargs["seed"], []

        def look(out: Output, by: Callable[..., Any] = search_subsets, **asked: Any) -> Any:
            with out.progress("searching") as progress:
                found = by(ready, seed=seed, progress=progress, **named, **asked)
            stops.append(found.stopped)
            return found

        command(*args, look=look, **kwargs)
        if "interrupt" in stops:
            sys.exit(130)

    wrapped: Any = run
    for option in (
        click.option("--resume", type=FILE, help="Continue from this file, and save the search in it."),
        click.option("--seconds", type=click.FloatRange(min=0), help="Seconds to search; then take the best so far."),
        search_option,
    ):
        wrapped = option(wrapped)
    return wrapped


def held_out_groups(by: str | None) -> dict[str, str] | None:
    """The group of each run, for --by; None without it."""
    return None if by is None else groups_by(by)


def refuse(option: str, *others: str) -> None:
    """An error if one of the others is given, since this option leaves it without effect."""
    for other in others:
        if is_given(other):
            raise UsageError(f"--{other} has no effect with {option}; leave one of them out")


def chosen_sizes(at: str | None, ready: Problem) -> tuple[int, ...]:
    """The numbers of topics to show: those named, else all or about fifty of them."""
    from assay.topics.archive import sizes
    from assay.topics.conclusions import spaced

    return spaced(ready.n) if at is None else sizes(tuple(numbers(at)), ready.n)


def percentages(text: str) -> tuple[float, ...]:
    """The percentages of a list such as '1,5'."""
    return tuple(decimals(text, "write percentages separated by commas, e.g. 1,5"))


def thresholds_of(texts: tuple[str, ...]) -> dict[str, float]:
    """The criteria and their values in texts such as 'tau=0.85'; each criterion may be given once."""
    thresholds: dict[str, float] = {}
    for text in texts:
        name, _, value = text.rpartition("=")
        values = decimals(value, "write a criterion and its value, e.g. tau=0.85")
        if not name or len(values) != 1:
            raise UsageError(f"--good {text!r}: write a criterion and its value, e.g. tau=0.85")
        if name in thresholds:
            raise UsageError(f"--good {text!r}: {name} was given before; give each criterion once")
        thresholds[name] = values[0]
    return thresholds
