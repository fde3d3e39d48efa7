"""assay serve: the workbench on an address of this machine, or, with tokens, of the network."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

from assay.core.errors import MissingExtra, UsageError
from assay.store import Store
from assay.web.access import is_loopback, own_hosts
from assay.web.app import UPLOAD_BYTES, workbench

HOST, PORT = "127.0.0.1", 8765


def serve(
    store: Store,
    *,
    host: str = HOST,
    port: int = PORT,
    tokens: bool = False,
    upload_bytes: int = UPLOAD_BYTES,
    started: Callable[[str], None] = lambda address: None,
) -> None:
    """Serve a store until it is interrupted; `started` is called with the address as soon as it answers.

    On the loopback nobody logs in, unless `tokens` is asked for, as behind a proxy. Any other host needs people with
    tokens: without an organiser it does not start.
    """
    try:
        import uvicorn
    except ImportError:
        raise MissingExtra("uvicorn", "web") from None
    local = is_loopback(host) and not tokens
    if not local and not store.people.has_organiser():
        what = f"{host} asks for tokens, and no organiser has one yet"
        raise UsageError(f"{what}; make one with: assay store add person NAME --role organiser")
    app = workbench(store, tokens=not local, hosts=own_hosts(host), upload_bytes=upload_bytes)
    with store.served():
        listening = _listening(host, port)
        bound_port = listening.getsockname()[1]
        shown_host = f"[{host}]" if ":" in host else host
        config = uvicorn.Config(app, log_level="warning", access_log=False, server_header=False, date_header=False)
        server = _Server(config, lambda: started(f"http://{shown_host}:{bound_port}/"))
        server.run(sockets=[listening])


def _listening(host: str, port: int) -> socket.socket:
    """A socket that is bound already, so that an address that is taken is one line."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Only a socket that says it is TCP sends the end of an answer at once; others wait 40 ms for the client.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host.strip("[]"), port))
    except OSError as error:
        listening.close()
        raise UsageError(f"{host}:{port}: {error.strerror or error}; choose another --port") from None
    listening.listen(128)
    return listening


def _Server(config: Any, started: Callable[[], None]) -> Any:
    """A uvicorn server that says when it answers."""
    import uvicorn

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            started()

    return Server(config)
