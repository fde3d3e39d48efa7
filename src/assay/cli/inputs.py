"""What commands read: scores from score files, or made from runs and judgments; and runs by themselves."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.shell_completion import CompletionItem

from assay.cli.columns import column_option, named_columns
from assay.cli.commands import KnownWord
from assay.cli.modes import is_given, longest_form
from assay.cli.run_info import info_options, is_filtered, kept_runs, kept_scores
from assay.cli.score_folders import folder_in_blocks, refuse_many_topics
from assay.core.errors import UsageError

if TYPE_CHECKING:
    from assay.data import Qrels, Run
    from assay.data.intents import IntentQrels
    from assay.data.scores import ScoreMatrix
    from assay.measures import Measure

C = TypeVar("C", bound=Callable[..., Any])

FILE = click.Path(path_type=Path, dir_okay=False, allow_dash=True)

OF_QRELS = "AP nDCG@10"
OF_INTENTS = "I-rec@10 D#-nDCG@10 alpha-nDCG@10"
"""Measures of runs where none is named, by judgments of docs and by judgments by intent."""

qrels_option = click.option("--qrels", "qrels_path", type=FILE, help="Judgments: topic 0 doc grade, or irds:ID.")


intent_options = (
    click.option("--intents", type=FILE, help="Instead of --qrels, judgments by intent: topic intent doc grade."),
    click.option("--intent-info", type=FILE, help="Intents: topic intent probability [inf|nav]."),
)


def one_list(context: click.Context, option: click.Parameter, values: tuple[str, ...]) -> str | None:
    """Values that were given one by one, as one list; None if there are none, an error if they are empty."""
    if values and not " ".join(values).strip():
        raise UsageError(f"{longest_form(option)} is empty, no measure is named; name one, or leave it out")
    return " ".join(values) or None


def known_measures(context: click.Context, option: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The measures that begin as the last word of the list does, for the shell."""
    from assay.measures import MEASURES

    before, blank, last = incomplete.rpartition(" ")
    fitting = [entry for entry in MEASURES if entry.name.startswith(last)]
    return [CompletionItem(f"{before}{blank}{entry.name}", help=entry.summary) for entry in fitting]


measures_option = click.option(
    "--measures", "-m", multiple=True, callback=one_list, metavar="LIST", shell_complete=known_measures,
    help="Measures, e.g. -m 'AP nDCG@10', or -m AP -m nDCG@10; see `assay measures`.",
)  # fmt: skip


rel_option = click.option("--rel", "-l", type=float, default=1, show_default=True, help="Lowest relevant grade.")
binary_option = click.option(
    "--binary", is_flag=True, help="Score grades from --rel on as 1 and those below as 0, whatever the measure."
)


def one_measure(help: str, default: str | None = None) -> Callable[[C], C]:
    """--measures NAME, -m NAME: the one measure of a command."""
    return click.option(
        "--measures",
        "-m",
        "measure",
        metavar="NAME",
        default=default,
        show_default=default is not None,
        help=help,
        shell_complete=known_measures,
    )


def runs_argument(command: C) -> C:
    """RUN… as paths, --info and --where, and --column; a folder stands for the files in it."""
    argument = click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path, allow_dash=True))
    return argument(info_options(column_option(command)))


def policy_options(command: C) -> C:
    """--rel, --binary, --ties, --missing, --compat, --condensed, --depth, --top-grade: the command gets one Policy.

    It is named `policy`. The command also gets `rel`, for its measures where the judgments do not become binary.
    """

    @functools.wraps(command)
    def run(*args: Any, **kwargs: Any) -> Any:
        from assay.scoring import Policy

        names = ("ties", "missing", "compat", "condensed", "depth")
        chosen = {name: kwargs.pop(name) for name in names}
        chosen["top"] = kwargs.pop("top_grade")  # a command may have a --top of its own
        chosen["binary"] = kwargs["rel"] if kwargs.pop("binary") else None
        return command(*args, policy=Policy(**chosen, seed=kwargs.get("seed", 0)), **kwargs)

    options = [
        rel_option,
        binary_option,
        click.option(
            "--ties", type=KnownWord("assay.data.policy_names:TIES"), default="docid", show_default=True,
            help="Order of docs of equal score.",
        ),
        click.option(
            "--missing", type=KnownWord("assay.data.policy_names:MISSING"), default="zero", show_default=True,
            help="Score of a topic that is missing from a run: 0, or leave the topic out, or stop.",
        ),
        click.option("--compat", type=KnownWord("assay.data.policy_names:COMPAT"), help="Score like that program."),
        click.option("--condensed", is_flag=True, help="Remove unjudged docs from the lists before scoring."),
        click.option("--depth", type=click.IntRange(min=1), help="Score only the first N docs of each topic."),
        click.option(
            "--top-grade", type=click.FloatRange(min=0, min_open=True),
            help="Top grade of the scale, for measures that use it.  [default: the largest of the judgments]",
        ),
    ]  # fmt: skip
    wrapped: Any = run
    for option in reversed(options):
        wrapped = option(wrapped)
    return wrapped


name_option = click.option(
    "--measure",
    "name",
    metavar="NAME",
    help="Name of the measure, for score tables that do not say it.  [default: the file's name]",
)
force_option = click.option(
    "--force-measure", "force", metavar="NAME", help="Treat all scores as this measure, whatever the files say."
)
transpose_option = click.option("--transpose", is_flag=True, help="Score matrices have one row per topic.")
join_option = click.option(
    "--join-topics", is_flag=True, help="Score tables of the same runs on different topics of a corpus are one."
)


def scores_input(command: C, *, keep_force: bool = False, in_blocks: bool = False, into_folder: bool = False) -> C:
    """FILES… that are score tables, or with --qrels run files; the command gets `matrices: list[ScoreMatrix]`.

    With --intents the judgments are by intent. Score tables are of the measure that --force-measure names, where it
    does. keep_force: the command gets that name too, as `force`, because it reads other files beside these.
    in_blocks: the command also gets `folder`: scores of millions of topics, which it reads itself, block by block;
    then there are no matrices. into_folder: also where --save names a folder, however few the topics are.
    """

    @functools.wraps(command)
    def run(*args: Any, **kwargs: Any) -> Any:
        names = (
            "files", "qrels_path", "intents", "intent_info", "measures", "transpose", "name", "rel", "binary",
            "join_topics",
        )  # fmt: skip
        how_read = {key: kwargs.pop(key) for key in names}
        for option in ("rel", "binary"):
            if is_given(option) and how_read["qrels_path"] is None and how_read["intents"] is None:
                raise UsageError(f"--{option} goes with runs and --qrels, not with score tables; leave it out")
        force = kwargs["force"] if keep_force else kwargs.pop("force")
        files = how_read.pop("files")
        if not in_blocks:
            return command(*args, matrices=load_scores(files, force=force, **how_read), **kwargs)
        folder = None
        if how_read["qrels_path"] is None and how_read["intents"] is None:
            of_tables = {"--measure": "name", "--transpose": "transpose", "--join-topics": "join_topics"}
            idle = {option: how_read[key] for option, key in of_tables.items()}
            save = kwargs["save"] if into_folder else None
            folder = folder_in_blocks(files, save, named_measures(how_read["measures"]), force, idle)
        matrices = load_scores(files, force=force, **how_read) if folder is None else []
        return command(*args, matrices=matrices, folder=folder, **kwargs)

    options: list[Callable[[Any], Any]] = [
        click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, allow_dash=True)),
        qrels_option,
        *intent_options,
        measures_option,
        rel_option,
        binary_option,
        transpose_option,
        join_option,
        name_option,
        force_option,
        column_option,
        info_options,
    ]
    wrapped: Any = run
    for option in reversed(options):
        wrapped = option(wrapped)
    return wrapped


def asked_to_transpose() -> bool:
    """Whether --transpose is given: it is about every score table that the command reads."""
    return bool(click.get_current_context().params.get("transpose"))


def other_scores(path: Path, measures: str | None = None) -> list[ScoreMatrix]:
    """The scores of another file than the first ones, in the same shape; --where is about the first ones."""
    return load_scores([path], qrels_path=None, measures=measures, transpose=asked_to_transpose(), filtered=False)


def load_scores(
    files: Sequence[Path],
    *,
    qrels_path: Path | None,
    measures: str | None,
    transpose: bool = False,
    name: str | None = None,
    force: str | None = None,
    rel: float = 1,
    binary: bool = False,
    filtered: bool = True,
    intents: Path | None = None,
    intent_info: Path | None = None,
    join_topics: bool = False,
) -> list[ScoreMatrix]:
    """Score matrices from score files, or from runs and judgments (default measures: OF_QRELS or OF_INTENTS).

    Of the runs that --where keeps, unless filtered is False.

    name: the measure of the files that do not name it (--measure). force: the measure that a person says all of
    them are, whatever their files say (--force-measure). rel, binary: --rel and --binary, which go with runs.
    """
    qrels = judgments_of(qrels_path, intents, intent_info)
    if qrels is not None:
        from assay.scoring import evaluate

        of_tables = (
            ("--measure", name), ("--transpose", transpose), ("--force-measure", force), ("--join-topics", join_topics),
        )  # fmt: skip
        for option, given in of_tables:
            if given:
                raise UsageError(f"{option} goes with score tables, not with runs and --qrels; leave it out")
        usual = OF_QRELS if intents is None else OF_INTENTS
        wanted = measures_at(chosen_measures(measures or usual), rel, binary)
        made_binary = rel if binary else None
        columns = named_columns()
        return list(evaluate(run_sources(files), qrels, wanted, columns=columns, jobs=2, binary=made_binary))
    from assay.io.score_files import read_score_files

    matrices = read_score_files(
        files,
        measures=named_measures(measures),
        transpose=transpose,
        name=name,
        force=force,
        columns=named_columns(),
    )
    refuse_many_topics(matrices)
    if join_topics:
        from assay.data.topic_joins import topics_joined

        if len(files) < 2:
            raise UsageError("--join-topics joins the topics of several score tables; give two or leave it out")
        matrices = topics_joined(matrices)
    return kept_scores(matrices) if filtered else matrices


def judgments_of(qrels: Path | None, intents: Path | None, intent_info: Path | None) -> Qrels | IntentQrels | None:
    """The judgments of --qrels, or by intent those of --intents; None where neither is given."""
    if qrels is not None and intents is not None:
        raise UsageError("--qrels and --intents are both judgments of the runs; give one of them")
    if intent_info is not None and intents is None:
        raise UsageError("--intent-info describes the intents of --intents; give that as well")
    if intents is not None:
        from assay.io.intents import read_intent_qrels

        return read_intent_qrels(intents, intents=intent_info)
    return None if qrels is None else load_qrels(qrels)


def one_matrix(matrices: Sequence[ScoreMatrix]) -> ScoreMatrix:
    """The only matrix, for commands that work on one measure; several files of it are joined."""
    from assay.io.score_files import only_measure

    return only_measure(matrices)


def run_files(paths: Sequence[Path]) -> list[Path]:
    """The files named, and the files in the folders named, in order of their names."""
    from assay.io.run_files import run_files as files_of

    return files_of(paths)


def run_sources(paths: Sequence[Path]) -> list[Path] | list[Run]:
    """The run files; with --where the runs themselves, since a file may hold runs that are kept and others."""
    return load_runs(paths) if is_filtered() else run_files(paths)


def kept_files(paths: Sequence[Path]) -> list[Path]:
    """The run files, with --where those of the runs that it keeps; for commands that look at the lines of files."""
    if not is_filtered():
        return run_files(paths)
    files = [run.file for run in load_runs(paths)]
    return [Path(file) for file in dict.fromkeys(files) if file is not None]


def load_runs(paths: Sequence[Path], *, jobs: int = 2, filtered: bool = True) -> list[Run]:
    """The runs that --where keeps, read by threads; runs of one name are told apart by their file names.

    filtered: whether --where is about these runs.
    """
    from assay.io.run_files import read_run_files

    runs = read_run_files(paths, columns=named_columns(), jobs=jobs)
    return kept_runs(runs) if filtered else runs


def load_qrels(path: Path) -> Qrels:
    """Judgments from a file."""
    from assay.io import read_qrels

    return read_qrels(path, columns=named_columns())


def chosen_measures(text: str) -> list[Measure]:
    """The measures of a list, each once; an error if it names none."""
    from assay.measures import parse_many

    found = list(dict.fromkeys(parse_many(text)))
    if not found:
        raise UsageError("no measure is named; try -m 'AP nDCG@10'")
    return found


def measures_at(measures: list[Measure], rel: float, binary: bool) -> list[Measure]:
    """The measures with --rel where it is given; with --binary it is the judgments that it changes."""
    if binary or not is_given("rel"):  # some measures have another lowest relevant grade of their own, or none
        return measures
    if not any("rel" in measure.entry.parameters for measure in measures):
        raise UsageError("--rel has no effect: none of these measures has a lowest relevant grade; leave it out")
    # AP and AP(rel=2) may now be the same
    return list(dict.fromkeys(measure.with_rel(rel) for measure in measures))


def named_measures(text: str | None) -> list[list[str]]:
    """The measures of a list, each by every name that score files may have for it."""
    from assay.measures.translation import spellings

    return [spellings(word) for word in words(text)]


def words(text: str | None) -> list[str]:
    """The words of a list such as 'AP nDCG@10' or 'AP,nDCG@10'; none where there is no list."""
    return (text or "").replace(",", " ").split()


def decimals(text: str, what: str) -> list[float]:
    """The numbers of a list such as '.5 .8 .9'; what: how to write them, for the error."""
    try:
        return [float(part) for part in words(text)]
    except ValueError:
        raise UsageError(f"{text!r}: {what}") from None


def numbers(text: str) -> list[int]:
    """The whole numbers of a list such as '5,10,20'."""
    try:
        return [int(part) for part in words(text)]
    except ValueError:
        raise UsageError(f"{text!r}: write whole numbers separated by commas, e.g. 5,10,20") from None


preferences_option = click.option(
    "--preferences", type=KnownWord("assay.rankings.stated_preferences:PREFERENCES"), default="retrieved",
    show_default=True,
    help="What a run prefers: a doc that it retrieved to every pooled doc that it did not, or only one of two docs "
    "that it retrieved both.",
)  # fmt: skip
