"""Two programs on one PostgreSQL database, made to meet at the moment that a test wants."""

from __future__ import annotations

import threading
import time
from typing import Any

from assay.store.schema import sa


def stopped_after(engine: sa.Engine, begins: str) -> tuple[threading.Event, threading.Event]:
    """Stop whoever first executes a statement that begins so: an event when they have, and one that lets them go on."""
    is_there, may_go_on = threading.Event(), threading.Event()

    def stop(connection: Any, cursor: Any, text: str, *rest: Any) -> None:
        if text.startswith(begins) and not is_there.is_set():
            is_there.set()
            assert may_go_on.wait(20)

    sa.event.listen(engine, "after_cursor_execute", stop)
    return is_there, may_go_on


def wait_for_a_lock(engine: sa.Engine) -> None:
    """Return when somebody waits for a lock of somebody else."""
    waiting = sa.text("SELECT count(*) FROM pg_locks WHERE NOT granted")
    deadline = time.monotonic() + 20
    while True:
        with engine.connect() as connection:
            if connection.execute(waiting).scalar_one():
                return
        assert time.monotonic() < deadline
        time.sleep(0.005)
