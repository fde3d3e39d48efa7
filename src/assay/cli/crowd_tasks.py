"""assay crowd tasks and answers: tasks for workers, as a table and as pages, and what comes back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from assay.cli.columns import named_columns, with_columns
from assay.cli.commands import TARGET, KnownWord, Target
from assay.cli.crowd import COUNT, command
from assay.cli.inputs import FILE
from assay.cli.label_files import has_effect, read_reference
from assay.cli.modes import is_given
from assay.cli.options import Output, output_options, seed_option
from assay.core.errors import UsageError
from assay.core.registry import one_of

if TYPE_CHECKING:
    from assay.crowd.protocol import Protocol
    from assay.crowd.task_forms import Form
    from assay.crowd.task_pages import TaskTexts
    from assay.crowd.tasks import Tasks

C = TypeVar("C", bound=Callable[..., Any])
AMOUNT = click.FloatRange(min=0)
OF_PAGES = (
    "form", "scale", "topics", "texts", "questions", "consent", "guidelines", "title", "seconds", "on_docs", "moved",
    "attempts", "post",
)  # fmt: skip
"""Options that say something of the pages alone."""


def price_options(command: C) -> C:
    """--pay, --fee and --pay-failed."""
    options = [
        click.option("--pay", type=AMOUNT, default=0.2, show_default=True, help="Pay of one task."),
        click.option("--fee", type=AMOUNT, default=0.2, show_default=True, help="Share that the platform adds."),
        click.option("--pay-failed", is_flag=True, help="Tasks that fail a check are paid too."),
    ]
    wrapped: Any = command
    for option in reversed(options):
        wrapped = option(wrapped)
    return wrapped


@command.command()
@with_columns(click.argument("pool", type=FILE))
@click.option("--gold", type=FILE, help="Qrels of gold docs; each task gets the lowest and the highest in turn.")
@click.option("--docs", type=COUNT, default=8, show_default=True, help="Docs (or pairs) per task, including gold.")
@click.option("--gold-docs", type=COUNT, default=2, show_default=True, help="Gold docs (or pairs) per task.")
@click.option("--workers", type=COUNT, default=10, show_default=True, help="Workers per doc (or pair).")
@click.option("--to", type=TARGET, required=True, help="Write the tasks here: task, topic, position, doc, gold.")
@click.option("--html", type=Target(file_okay=False, dir_okay=True), help="Write a page for each task here.")
@click.option("--form", type=KnownWord("assay.crowd.task_forms:FORMS"), default="slider", show_default=True,
              help="How workers answer on the pages.")  # fmt: skip
@click.option("--pairs-per-doc", type=click.IntRange(min=2), default=4, show_default=True,
              help="In how many pairs a doc stands, for --form pairs.")  # fmt: skip
@click.option("--scale", help="Scale of the slider, e.g. 0-100, or of radio buttons, e.g. 'not<partly<fully'.")
@click.option("--topics", type=FILE, help="Topics with their texts.")
@click.option("--texts", type=FILE, help="Texts of docs: doc<tab>text lines, corpus.jsonl or a table.")
@click.option("--questions", type=FILE, help="Test questions: topic, question, options (separated by |), answer.")
@click.option("--consent", type=FILE, help="Text of the first screen.")
@click.option("--guidelines", type=FILE, help="Text beside the topic.")
@click.option("--title", help="Title of the pages.")
@click.option("--seconds", type=click.FloatRange(min=0, min_open=True), help="Minimum seconds on --on-docs docs.")
@click.option("--on-docs", type=click.IntRange(min=1), help="Docs that must take --seconds.  [default: all of a task]")
@click.option("--moved", type=COUNT, help="Docs on which the slider must be moved.  [default: half of them]")
@click.option("--attempts", type=click.IntRange(min=1), default=3, show_default=True, help="Maximum attempts.")
@click.option("--post", metavar="URL", help="The pages also send the answers here.")
@price_options
@click.option("--seconds-per-doc", type=click.FloatRange(min=0, min_open=True), default=30, show_default=True,
              help="Time for one doc, for the estimate.")  # fmt: skip
@click.option("--failing", type=click.FloatRange(0, 1, max_open=True), default=0.1, show_default=True,
              help="Share of the tasks that fail a check, for the estimate.")  # fmt: skip
@seed_option
@output_options
def tasks(
    pool: Path, gold: Path | None, docs: int, gold_docs: int, workers: int, to: Path, html: Path | None, form: str,
    pairs_per_doc: int, pay: float, fee: float, pay_failed: bool, seconds_per_doc: float, failing: float, seed: int,
    out: Output, **of_pages: Any,
) -> None:  # fmt: skip
    """Tasks for crowd workers from a pool (topic doc lines, qrels, or a table with topic and doc), and their pages.

    The table of --to says which docs are gold: keep it. The pages of --html do not; they are whole in themselves, for a
    static host or a platform, and give the answers back as JSON, which `assay crowd answers` reads.

    \b
      assay crowd tasks pool.txt --gold gold.qrels --to tasks.csv
      assay crowd tasks pool.txt --gold gold.qrels --to tasks.csv --html pages --topics topics.tsv --texts docs.jsonl
    """
    from assay.crowd.task_costs import Prices, estimated_cost
    from assay.crowd.task_files import read_pool, write_tasks
    from assay.crowd.task_forms import FORMS
    from assay.crowd.tasks import make_pair_tasks, make_tasks

    one_of("form", form, FORMS)
    has_effect("gold_docs", gold is not None, "without --gold")
    for option in OF_PAGES:
        has_effect(option, html is not None or (option == "form" and form == "pairs"), "without --html")
    has_effect("pairs_per_doc", form == "pairs", "without --form pairs")
    if html is not None and html.resolve() in to.resolve().parents:
        raise UsageError(f"--to {to} lies in the folder of the pages, which workers get; it says which docs are gold")
    known = read_reference(gold)
    how: dict[str, Any] = {
        "gold": known.to_dict() if known is not None else None,
        "docs": docs,
        "gold_docs": gold_docs,
        "workers": workers,
        "seed": seed,
    }
    docs_of_topic = read_pool(pool, columns=named_columns())
    if form == "pairs":
        made = make_pair_tasks(docs_of_topic, pairs_per_doc=pairs_per_doc, **how)
    else:
        made = make_tasks(docs_of_topic, **how)
    pages = {} if html is None else _pages(made, form, docs, **of_pages)
    prices = Prices(pay=pay, fee=fee, seconds=seconds_per_doc, failing=failing, pays_failed=pay_failed)
    cost = estimated_cost(made, prices)
    out.write(made.table(), cost.table(), of=[made, cost]) if out.format != "csv" else out.write(made.table())
    write_tasks(to, made)
    out.say(f"{len(made.rows)} rows written to {to}")
    if html is not None:
        _write_pages(html, pages, made)
        out.say(f"{len(pages)} pages written to {html}")


def _pages(
    made: Tasks, form_name: str, docs: int, *, scale: str | None, post: str | None, seconds: float | None,
    on_docs: int | None, moved: int | None, attempts: int, **texts: Any,
) -> dict[str, str]:  # fmt: skip
    """All pages by the names of their files, made before anything is written."""
    from assay.crowd.protocol import Protocol
    from assay.crowd.task_forms import form_of
    from assay.crowd.task_pages import task_pages

    form: Form = form_of(form_name, scale)
    has_effect("moved", form.kind == "slider", f"with the form {form.kind}, which has no slider")
    has_effect("on_docs", seconds is not None, "without --seconds")
    needed = (docs + 1) // 2 if moved is None else moved
    rules: Protocol = Protocol(seconds=seconds, on_docs=on_docs, start=form.start, moved=needed, attempts=attempts)
    return dict(task_pages(made, _texts(made, **texts), form, rules, post=post))


def _texts(
    made: Tasks, *, topics: Path | None, texts: Path | None, questions: Path | None, consent: Path | None,
    guidelines: Path | None, title: str | None,
) -> TaskTexts:  # fmt: skip
    """What the pages say."""
    from assay.crowd.task_forms import read_questions, refuse_topics_without
    from assay.crowd.task_pages import TaskTexts
    from assay.io.docs import read_docs
    from assay.io.topics import read_topics

    if topics is None or texts is None:
        raise UsageError("--html needs --topics and --texts: workers read what is looked for, and the docs")
    wanted = {row.doc for row in made.rows} | {row.other for row in made.rows if row.other}
    needed = list(dict.fromkeys(row.topic for row in made.rows))
    known_topics = read_topics(topics, columns=named_columns()).to_dict()
    refuse_topics_without("text", known_topics, needed, str(topics))
    asked = {} if questions is None else read_questions(questions)
    if questions is not None:
        refuse_topics_without("question", asked, needed, str(questions))
    said: dict[str, Any] = {}
    if consent is not None:
        said["consent"] = _read_text(consent)
    if guidelines is not None:
        said["guidelines"] = _read_text(guidelines)
    if title is not None:
        said["title"] = title
    return TaskTexts(known_topics, read_docs(texts, docs=wanted, columns=named_columns()), asked, **said)


def _read_text(path: Path) -> str:
    from assay.io.files import read_bytes
    from assay.io.sheet import decoded

    return decoded(str(path), read_bytes(path)).strip()


def _write_pages(folder: Path, pages: dict[str, str], made: Tasks) -> None:
    """The pages, and a table of them for the platform: task, topic, page."""
    from assay.io.files import write_whole
    from assay.io.sheet import write_sheet

    folder.mkdir(exist_ok=True)
    for name, page in pages.items():
        write_whole(folder / name, page)
    topics = [rows[0].topic for rows in made.by_task().values()]
    rows = zip(made.by_task(), topics, pages, strict=True)
    write_sheet(folder / "tasks-to-publish.csv", ("task", "topic", "page"), rows)


@command.command()
@click.argument("files", metavar="ANSWERS…", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--tasks", "tasks_path", type=FILE, required=True, help="The tasks, as `assay crowd tasks --to` wrote them."
)
@click.option("--questions", type=FILE, help="The test questions of the tasks, with their answers.")
@click.option("--labels", "labels_path", type=TARGET, help="Write the answers as labels (pairs as preferences) here.")
@click.option(
    "--rejected", type=FILE, help="Answers that failed a check, as `assay crowd check --rejected` wrote them."
)
@click.option(
    "--open", "open_path", type=TARGET, help="Write the tasks that are still to be done, or done again, here."
)
@price_options
@output_options
def answers(
    files: tuple[Path, ...], tasks_path: Path, questions: Path | None, labels_path: Path | None,
    rejected: Path | None, open_path: Path | None, pay: float, fee: float, pay_failed: bool, out: Output,
) -> None:  # fmt: skip
    """What came back from the pages of `assay crowd tasks`: labels, what is open, and what it has cost so far.

    ANSWERS are JSON files or folders of them. Answers that do not fit the plan are left out, with the reason.

    \b
      assay crowd answers answers/ --tasks tasks.csv --questions questions.csv --labels labels.csv
      assay crowd check labels.csv --scale S100 --seconds 20 --test-question --rejected bad.csv --accepted good.csv
      assay crowd answers answers/ --tasks tasks.csv --rejected bad.csv --open again.csv
    """
    from assay.crowd.task_answers import collected, read_answers
    from assay.crowd.task_costs import Prices
    from assay.crowd.task_files import read_tasks, write_tasks
    from assay.crowd.task_forms import read_questions

    known = {} if questions is None else read_questions(questions)
    found = collected(
        read_tasks(tasks_path),
        read_answers(files),
        questions=known,
        rejected=_rejected(rejected),
        prices=Prices(pay=pay, fee=fee, pays_failed=pay_failed),
    )
    shown = found.tables()
    if is_given("format") and out.format == "csv":
        shown = shown[:1]
    out.write(*shown, of=found)
    if labels_path is not None:
        found.write(labels_path)
        out.say(f"{len(found.answers)} answers written to {labels_path}")
    if open_path is not None:
        still_open = found.open_tasks()
        write_tasks(open_path, still_open)
        out.say(f"{len(still_open.by_task())} open tasks written to {open_path}")


def _rejected(path: Path | None) -> list[tuple[str, str]]:
    """(task, worker) of a table of rejected tasks."""
    if path is None:
        return []
    from assay.io.sheet import read_sheet

    sheet = read_sheet(path)
    task = sheet.place("task")
    worker = sheet.place("worker")
    return [(row[task], row[worker]) for row in sheet.rows]
