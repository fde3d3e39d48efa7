"""Is anybody there? An address where nobody listens is an error at once, not after minutes of trying again."""

from __future__ import annotations

import socket

from assay.core.errors import EngineError, UsageError


def refuse_unreachable(where: str, address: str, *, schemes: tuple[str, ...], example: str, seconds: float) -> None:
    """An error where nobody listens at `scheme://host:port`; addresses of other schemes are not looked at.

    >>> refuse_unreachable("the scheduler x", "x", schemes=("tcp",), example="tcp://10.0.0.5:8786", seconds=1)
    Traceback (most recent call last):
    assay.core.errors.UsageError: no address of a scheduler: 'x'; give one such as tcp://10.0.0.5:8786
    """
    scheme, _, rest = address.rpartition("://")
    if scheme and scheme not in schemes:
        return
    host, _, port = rest.partition("/")[0].rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=seconds).close()
    except ValueError:
        raise UsageError(f"no address of a scheduler: {address!r}; give one such as {example}") from None
    except OSError as error:
        raise unreachable(where, error) from None


def unreachable(where: str, error: BaseException) -> EngineError:
    """One line for a cluster that does not answer."""
    reason = getattr(error, "strerror", None) or str(error).partition("\n")[0]
    return EngineError(f"{where} cannot be reached ({reason}); is it running, and is that its address?")
