"""What does a worker see? One self-contained page for each task; it holds nothing that tells gold docs from others.

The pages work from a disk, a static host or a server. They check what needs no secret (seconds, a slider that must be
moved, attempts); gold docs and the test question are checked where the answers arrive (`task_answers`). All texts are
put on the page as text, never as HTML, and a content security policy forbids the page to load anything.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any
from urllib.parse import urlsplit

from assay.core.errors import DataError, UsageError
from assay.crowd.protocol import Protocol
from assay.crowd.task_forms import Form, TestQuestion
from assay.crowd.tasks import TaskRow, Tasks
from assay.data.topics import QUERY

CONSENT = (
    "You will read some documents and say how relevant they are to a topic. Your answers, the time that you take and "
    "your worker id are stored and used for research on search engines.\n\n"
    "You may stop at any time by closing the page."
)
GUIDELINES = "Read each document before you answer. There are no trick questions: say what you think."
USUAL_ATTEMPTS = 3


@dataclass(frozen=True)
class TaskTexts:
    """What the pages say: {topic: {field: text}}, {doc: {field: text}}, {topic: question}, and what all pages say."""

    topics: Mapping[str, Mapping[str, str]]
    docs: Mapping[str, Mapping[str, str]]
    questions: Mapping[str, TestQuestion]
    title: str = "How relevant are these documents?"
    consent: str = CONSENT
    guidelines: str = GUIDELINES


def task_plan(
    rows: Sequence[TaskRow], texts: TaskTexts, form: Form, rules: Protocol, *, post: str | None = None
) -> dict[str, Any]:
    """All that a page of one task needs, as plain data; nothing in it tells which docs are gold."""
    first = rows[0]
    question = texts.questions.get(first.topic)
    asked = None
    if question is not None:
        asked = {"text": question.text, "options": list(question.options)}
    docs = []
    for row in rows:
        doc = _doc(row.doc, texts)
        if row.other:
            doc["other"] = _doc(row.other, texts)
        docs.append(doc)
    return {
        "task": first.task,
        "topic": first.topic,
        "file": file_name(first.task),
        "title": texts.title,
        "description": _described(texts.topics.get(first.topic, {})),
        "consent": texts.consent,
        "guidelines": texts.guidelines,
        "question": asked,
        "form": form.plan(),
        "ask": form.ask,
        "rules": {
            "seconds": rules.seconds,
            "on_docs": rules.on_docs,
            "moved": rules.moved if form.kind == "slider" and rules.start is not None else 0,
            "attempts": rules.attempts or USUAL_ATTEMPTS,
        },
        "docs": docs,
        "post": post,
        "server": None,
    }


def served_plan(
    rows: Sequence[TaskRow], texts: TaskTexts, form: Form, rules: Protocol, *, server: Mapping[str, Any]
) -> dict[str, Any]:
    """The plan of a page that a server gives: docs are called by their positions, so that ids say nothing either.

    server: task (the name of what this worker was given), worker, attempt, codes of earlier tasks, and the address that
    takes the answers.
    """
    hidden_rows = positioned(rows, server["task"])
    called: dict[str, str] = {}
    for row, hidden in zip(rows, hidden_rows, strict=True):
        called |= {hidden.doc: row.doc, hidden.other: row.other}
    shown = {name: texts.docs[doc] for name, doc in called.items() if doc in texts.docs}
    plan = task_plan(hidden_rows, replace(texts, docs=shown), form, rules)
    return {**plan, "server": dict(server)}


def positioned(rows: Sequence[TaskRow], task: str) -> list[TaskRow]:
    """The rows of a task under another name, with positions in the place of doc ids, and without gold.

    >>> positioned([TaskRow("1-0001", "1", 1, "a", 2.0, "b")], "x")
    [TaskRow(task='x', topic='1', position=1, doc='1', gold=None, other='1b')]
    """
    hidden = []
    for row in rows:
        other = f"{row.position}b" if row.other else ""
        hidden.append(TaskRow(task, row.topic, row.position, str(row.position), None, other))
    return hidden


def _described(fields: Mapping[str, str]) -> dict[str, str]:
    """The texts of a topic under names that a worker understands."""
    named = {}
    for name, text in fields.items():
        shown = "Topic" if name in QUERY else name.capitalize()
        if text:
            named[shown] = text
    return named


def _doc(doc: str, texts: TaskTexts) -> dict[str, Any]:
    """A doc as the page shows it."""
    fields = texts.docs.get(doc)
    if fields is None:
        raise DataError(f"no text of doc {doc!r}; every doc of a task needs one")
    title = fields.get("title", "")
    body = "\n\n".join(text for name, text in fields.items() if name != "title" and text)
    return {"doc": doc, "title": title, "text": body}


def task_page(plan: Mapping[str, Any]) -> str:
    """The page of a task, as HTML."""
    from jinja2 import Environment
    from markupsafe import Markup

    template = Environment(autoescape=True).from_string(_file("task.html"))
    script = _file("task.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    connect = "'none'"
    if plan["post"]:
        connect = _origin(plan["post"])
    policy = (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; connect-src {connect}; "
        "base-uri 'none'; form-action 'none'"
    )
    return template.render(
        title=plan["title"],
        served=False,
        policy=policy,
        style=Markup(_file("task.css")),
        script=Markup(script),
        plan=Markup(_safe(plan)),
    )


def served_page(plan: Mapping[str, Any]) -> str:
    """The page of a task that a server gives: style and script come from it, and its headers have the policy."""
    from jinja2 import Environment
    from markupsafe import Markup

    template = Environment(autoescape=True).from_string(_file("task.html"))
    return template.render(title=plan["title"], served=True, plan=Markup(_safe(plan)))


def _safe(plan: Mapping[str, Any]) -> str:
    """The plan as JSON in which no text can end the script element that holds it."""
    data = json.dumps(plan, ensure_ascii=False)
    for character in "<>&\u2028\u2029":
        data = data.replace(character, f"\\u{ord(character):04x}")
    return data


@cache
def _file(name: str) -> str:
    return files("assay.crowd").joinpath("templates", name).read_text(encoding="utf-8")


def _origin(address: str) -> str:
    """The host that answers are posted to, as a policy names it."""
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.netloc or re.search(r"[\s;,'\"]", parts.netloc):
        raise UsageError(f"answers cannot be posted to {address!r}; give an address such as https://host/answers")
    return f"{parts.scheme}://{parts.netloc}"


def file_name(task: str) -> str:
    """A name of a file that says which task it is, whatever characters the task has.

    >>> file_name("402-0001"), file_name("a/b")[:3]
    ('402-0001', 'a_b')
    """
    plain = re.sub(r"[^A-Za-z0-9._-]", "_", task).lstrip(".")
    if plain == task:
        return task
    return f"{plain[:80]}-{hashlib.sha256(task.encode()).hexdigest()[:8]}"


def task_pages(
    tasks: Tasks, texts: TaskTexts, form: Form, rules: Protocol, *, post: str | None = None
) -> Iterator[tuple[str, str]]:
    """The name of the file and the page of each task."""
    if (form.kind == "pairs") != tasks.are_pairs:
        raise UsageError("pairs need tasks that were made as pairs, and other forms need single docs")
    for task, rows in tasks.by_task().items():
        plan = task_plan(rows, texts, form, rules, post=post)
        yield f"{file_name(task)}.html", task_page(plan)
