"""What commands on crowd labels read: LABELS, the options that say how to read it, and its scale."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from assay.cli.columns import column_option, named_columns, named_values
from assay.cli.commands import TARGET, RegistryOption
from assay.cli.inputs import FILE, load_qrels
from assay.cli.modes import is_given, longest_form
from assay.core.errors import UsageError

if TYPE_CHECKING:
    from assay.agreement.scales import Scale
    from assay.cli.options import Output
    from assay.core.tables import Table
    from assay.data import Labels, Qrels

C = TypeVar("C", bound=Callable[..., Any])
profile_option = click.option(
    "--profile", type=FILE, expose_value=False, is_eager=True, callback=lambda *given: _taken_from_profile(*given),
    help="How to read the file, as --save-profile wrote it; options that are given count more.",
)  # fmt: skip
READING = ("scale", "grades", "times", "where", "topic", "split", "drop_empty")
"""The parameters that `reading_options` adds."""

reference_option = click.option("--reference", type=FILE, help="Qrels to compare with, e.g. of experts.")
calibration_option = click.option(
    "--calibration", cls=RegistryOption, registry="assay.crowd.recalibration:RECALIBRATIONS", metavar="NAME",
    help="Calibrate probabilities on --reference, from 80 gold docs on, one of: {names}.",
)  # fmt: skip


def gold_options(command: C) -> C:
    """--reference and --calibration for scores from uncertain judgments and gold docs."""
    reference = click.option(
        "--reference", type=FILE,
        help="With uncertain judgments: qrels of gold docs by people, with the probability of being drawn in a fifth "
        "column, as `assay pool sample` writes them.",
    )  # fmt: skip
    wrapped: Any = reference(calibration_option(command))
    return wrapped


scale_option = click.option(
    "--scale", cls=RegistryOption, registry="assay.agreement.scales:NAMES",
    help="Scale of the labels: {names}, 6 (levels), 0-5, or words such as no<maybe<yes.",
)  # fmt: skip


def reading_options(command: C) -> C:
    """--profile, --scale, --grades, --column, --times, --where, --topic, --split, --drop-empty: how to read labels."""
    options: list[Callable[[Any], Any]] = [
        profile_option,
        scale_option,
        click.option("--grades", multiple=True, metavar="WORD=NUMBER", help="Grade of a word, e.g. yes=1; repeatable."),
        column_option,
        click.option("--times", type=float, default=1.0, help="Multiply labels, e.g. 100 for shares of 0–100."),
        click.option("--where", multiple=True, metavar="COLUMN=VALUE", help="Only these rows; repeatable."),
        click.option("--topic", help="The topic of all rows, if the file has no such column."),
        click.option("--split", metavar="SEPARATOR", help="The doc column holds topic and doc, separated by this."),
        click.option("--drop-empty", is_flag=True, help="Leave out rows without a label, and say which."),
    ]
    wrapped: Any = command
    for option in reversed(options):
        wrapped = option(wrapped)
    return wrapped


def labels_input(command: C) -> C:
    """LABELS and how to read it; the command gets `labels` and `scale`. Below output_options."""

    @functools.wraps(command)
    def run(*args: Any, **kwargs: Any) -> Any:
        reading = {name: kwargs.pop(name) for name in READING}
        save_profile = kwargs.pop("save_profile")
        labels, scale = load_labels(kwargs.pop("path"), **reading, say=kwargs["out"].say)
        answer = command(*args, labels=labels, scale=scale, **kwargs)
        if save_profile is not None:
            _write_profile(save_profile, scale, reading)
            kwargs["out"].say(f"profile written to {save_profile}")
        return answer

    save_option = click.option(
        "--save-profile", type=TARGET, help="Write how the file was read here, for --profile of any command."
    )
    wrapped: Any = click.argument("path", metavar="LABELS", type=FILE)(reading_options(save_option(run)))
    return wrapped


def _taken_from_profile(context: click.Context, option: click.Parameter, path: Path | None) -> None:
    """What the profile says becomes the default of the options that read labels."""
    if path is None or context.resilient_parsing:
        return
    from assay.crowd.label_profiles import LabelProfile

    profile = LabelProfile.read(path)
    defaults: dict[str, Any] = {
        "times": profile.times,
        "topic": profile.topic,
        "split": profile.split,
        "drop_empty": profile.drop_empty,
    }
    for name in ("columns", "grades", "where"):
        table = getattr(profile, name)
        defaults[name] = tuple(f"{key}={value}" for key, value in table.items())
    if profile.scale is not None:
        # A command that reads several campaigns has a list of scales.
        defaults["scale"] = profile.scale
        defaults["scales"] = (profile.scale,)
    context.default_map = {name: value for name, value in defaults.items() if value not in (None, ())}


def _write_profile(path: Path, scale: Scale, reading: Mapping[str, Any]) -> None:
    """How the file was read, with the scale that was named or recognised."""
    from assay.crowd.label_profiles import LabelProfile

    profile = LabelProfile(
        scale=reading["scale"] or scale.name,
        times=reading["times"],
        topic=reading["topic"],
        split=reading["split"],
        drop_empty=reading["drop_empty"],
        columns=dict(named_columns() or {}),
        grades=grades_of(reading["grades"]),
        where=named_values(reading["where"], "--where"),
    )
    profile.write(path)


def load_labels(
    path: Path,
    *,
    scale: str | None,
    grades: tuple[str, ...],
    times: float,
    where: tuple[str, ...],
    topic: str | None,
    split: str | None,
    drop_empty: bool,
    say: Callable[[str], None],
) -> tuple[Labels, Scale]:
    """The labels of a file and their scale: the one that is named, or the one that they look like, with a remark."""
    from assay.agreement.scales import scale_in, scale_of

    named = scale_of(scale) if scale else None
    labels = read_named(
        path, named, grades=grades, times=times, where=where, topic=topic, split=split, drop_empty=drop_empty, say=say
    )
    if named is not None:
        return labels, named
    guessed = scale_in(labels)
    say(f"scale taken to be {guessed.name} ({guessed.described()}); --scale says otherwise")
    return labels, guessed


def read_named(
    path: Path,
    scale: Scale | None,
    *,
    grades: tuple[str, ...],
    times: float,
    where: tuple[str, ...],
    topic: str | None,
    split: str | None,
    drop_empty: bool,
    say: Callable[[str], None],
) -> Labels:
    """The labels of a file; words of the scale as numbers, and a remark where rows are left out."""
    from assay.io.labels import labels_and_empty

    labels, left_out = labels_and_empty(
        path,
        columns=named_columns(),
        levels=_levels(scale, grades),
        times=times,
        where=named_values(where, "--where"),
        topic=topic,
        split=split,
        empty="drop" if drop_empty else "error",
    )
    say_left_out(left_out, say)
    return labels


def _levels(scale: Scale | None, grades: tuple[str, ...]) -> dict[str, float] | None:
    """The numbers of words: those of the scale, and those that --grades gives."""
    levels = dict(scale.words()) if scale else {}
    return {**levels, **grades_of(grades)} or None


def grades_of(texts: tuple[str, ...]) -> dict[str, float]:
    """The numbers of words that --grades gives."""
    levels = {}
    for word, text in named_values(texts, "--grades").items():
        try:
            levels[word] = float(text)
        except ValueError:
            raise UsageError(f"--grades {word}={text}: {text!r} is no number; write e.g. {word}=1") from None
    return levels


def say_left_out(lines: Sequence[int], say: Callable[[str], None]) -> None:
    """How many rows without a label were left out, and where they stood."""
    if lines:
        say(f"{len(lines)} rows without label left out: lines {', '.join(map(str, lines[:10]))}")


def read_reference(path: Path | None) -> Qrels | None:
    """The qrels of a path, or None."""
    if path is None:
        return None
    return load_qrels(path)


def say_repeats(labels: Labels, scale: Scale, out: Output, counted: str) -> None:
    """Where workers labelled a doc more than once, say so, on which lines, and what becomes of it."""
    from assay.crowd.findings import repeats_remark

    remark = repeats_remark(labels, scale=scale, counted=counted)
    if remark is not None:
        out.say(remark)


def has_effect(parameter: str, condition: bool, where: str) -> None:
    """An error if an option is given that does nothing, since the condition for it does not hold."""
    if condition or not is_given(parameter):
        return
    option = next(p for p in click.get_current_context().command.params if p.name == parameter)
    raise UsageError(f"{longest_form(option)} has no effect {where}; leave it out")


def shown_parts(parts: Mapping[str, Table], chosen: Sequence[str]) -> list[Table]:
    """The tables that --show names, in their own order; all of them if it is not given."""
    for name in chosen:
        if name not in parts:
            raise UsageError(f"--show {name}: there is no such table here; there are: {', '.join(parts)}")
    shown = {name: table for name, table in parts.items() if not chosen or name in chosen}
    if len(shown) > 1 and click.get_current_context().params.get("format") == "csv":
        raise UsageError(f"CSV holds one table; choose it with --show, one of: {', '.join(shown)}")
    return list(shown.values())


def show_option(parts: str) -> Callable[[C], C]:
    """--show NAME, repeatable: only these tables, so that one of them can be written as CSV; parts: all their names."""
    return click.option(
        "--show", multiple=True, metavar="NAME", cls=RegistryOption, registry=parts,
        help="Only these tables, repeatable: {names}. CSV holds one table.",
    )  # fmt: skip


def machine_labels(order: str, path: Path | None, judge: str | None) -> dict[str, dict[str, float]] | None:
    """{topic: {doc: label}} of one judge, for a judging order that needs them; an error where they are missing."""
    from assay.io.labels import read_labels
    from assay.pooling.judging import ORDERS
    from assay.pooling.label_variance import labels_of_judge

    if path is None:
        if judge is not None:
            raise UsageError("--judge-name names a judge of --labels; give --labels, or leave it out")
        if ORDERS.entry(order).facts.get("needs") == "labels":
            raise UsageError(f"order {order} looks at the labels of a machine judge; give --labels FILE")
        return None
    return labels_of_judge(read_labels(path), judge)
