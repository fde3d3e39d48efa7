"""How the process treats memory that arrays give back."""

from __future__ import annotations

import ctypes
import sys


def keep_freed_memory() -> None:
    """Tell the C library to keep the memory that arrays give back, for the arrays to come.

    glibc returns it to the system at once and asks for it again a moment later, which costs a third of the time of
    reading a large run. Elsewhere there is nothing to tell.
    """
    if sys.platform == "linux":
        libc = ctypes.CDLL(None)
        trim_threshold, mmap_threshold, size = -1, -3, 1 << 28
        if hasattr(libc, "mallopt"):
            libc.mallopt(trim_threshold, 2 * size)
            libc.mallopt(mmap_threshold, size)


def release_freed_memory() -> None:
    """Give memory that arrays gave back to the system after all: a worker that waits should hold nothing."""
    if sys.platform == "linux":
        libc = ctypes.CDLL(None)
        if hasattr(libc, "malloc_trim"):
            libc.malloc_trim(0)
