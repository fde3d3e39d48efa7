"""Grades asked for at the terminal, one doc after the other; what is asked and when it is enough, `Desk` decides."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli.options import Output
from assay.core.errors import UsageError

if TYPE_CHECKING:
    from assay.pooling.desk import Desk
    from assay.pooling.judging import Judging


def resumed(session: Judging, journal: Path, confidence: float | None, out: Output) -> Desk:
    """The session with what the journal holds."""
    from assay.pooling.desk import Desk
    from assay.pooling.journal import Journal

    desk = Desk(session, Journal(journal), confidence)
    for remark in desk.remarks:
        out.say(remark)
    return desk


def ask(desk: Desk, out: Output) -> None:
    """Ask for one grade after the other until the person stops or it is enough."""
    try:
        while (pair := desk.upcoming()) is not None:
            topic, doc = pair
            answer = click.prompt(f"topic {topic}  doc {doc}  grade (a number; s puts it aside, q stops)", err=True)
            if answer in ("q", "quit"):
                break
            if answer in ("s", "skip"):
                desk.aside.add(pair)
                continue
            try:
                desk.record(topic, doc, answer)
            except UsageError as error:
                out.say(str(error))
        else:
            out.say(desk.remarks[-1])
    except click.Abort:
        click.echo(err=True)
    out.text(desk.summary())
