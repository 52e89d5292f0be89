"""Server: the studio on a port of this machine, until it is interrupted."""

import socket
from collections.abc import Callable
from pathlib import Path

import uvicorn

from pointillist.errors import UsageError
from pointillist.reading.scratch import scratch
from pointillist.studio.app import make_app
from pointillist.studio.security import Security
from pointillist.studio.steps.open import opened_at, opened_demo
from pointillist.studio.studio import Studio
from pointillist.studio.workspace import Workspace


def listening(host: str, port: int) -> socket.socket:
    """A socket on a port, any that is free for 0; so the address is known before anyone is told."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
    except (OSError, OverflowError):
        listener.close()
        raise UsageError(f"port {port} of {host} cannot be used. Name another with --port, or 0 for any.") from None
    return listener


def serve(
    folder: Path,
    *,
    place: str | None = None,
    demo: bool = False,
    host: str = "127.0.0.1",
    port: int = 0,
    ledger: Path | None = None,
    demo_rows: int | None = None,
    ready: Callable[[str, Path], None] = lambda url, folder: None,
) -> None:
    """Serve until interrupted; uploads go at the end, and what was made stays in the folder. `ready` is told the address."""
    with scratch() as private, listening(host, port) as listener:
        security = Security(host, listener.getsockname()[1])
        studio = Studio(Workspace.at(folder, private), security, ledger, demo_rows)
        first = opened_demo(studio) if demo else None if place is None else opened_at(studio, place)
        path = "" if first is None else f"p/{first.id}/opened"
        # Its own log would have addresses and tracebacks; messages for the user are on the pages.
        config = uvicorn.Config(make_app(studio), access_log=False, log_level="critical", lifespan="off")
        ready(security.url().replace("/?", f"/{path}?"), studio.workspace.folder)
        try:
            uvicorn.Server(config).run(sockets=[listener])
        finally:
            studio.jobs.close()
