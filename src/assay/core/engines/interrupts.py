"""Ctrl-C reaches every process of a terminal. It is for the one that the person sees, which ends the others."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

HAS_MASKS = hasattr(signal, "pthread_sigmask")


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Processes that this thread starts inside get no interrupts; what comes meanwhile comes to this one afterwards."""
    if not HAS_MASKS:
        yield
        return
    _start_trackers()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start_trackers() -> None:
    """Start what looks after semaphores: where it does not run yet, starting it would allow interrupts again.

    It clears away in silence what an interrupt leaves: it is started as Python is with this filter of warnings.
    """
    from multiprocessing import resource_tracker

    from joblib.externals.loky.backend import resource_tracker as of_joblib

    before = sys.warnoptions[:]
    sys.warnoptions.append("ignore:resource_tracker:UserWarning")
    try:
        resource_tracker.ensure_running()
        of_joblib.ensure_running()
    finally:
        sys.warnoptions[:] = before
