"""The server process behind `tiger serve`."""

import contextlib
import errno
import gc
import ipaddress
import os
import signal
import socket
import sys
from contextlib import suppress
from pathlib import Path

import uvicorn

from tiger.api.middleware import log
from tiger.api.middleware.drain import Drain
from tiger.api.middleware.hosts import Local
from tiger.api.pool import processes as workers
from tiger.api.settings import Settings, load
from tiger.errors import InputError

# Seconds for answers under way to be sent when the server ends.
DRAIN_S = 5


def serve(host: str, port: int) -> None:
    """Serve on an address until interrupted or terminated; port 0 is any free one.

    The URL goes to stdout once connections are accepted, the log to stderr. Raises InputError for an address that
    cannot be listened on, for one that others can reach while no keys are set, and for a setting out of bounds.
    """
    settings = load()
    _make_folder(settings.data_dir)
    listener = _listen(host, port, settings)
    log.configure()
    workers.prepare().result()
    # Later than the other imports, as the workers load at the same time.
    from tiger.api.app import create_app
    from tiger.api.middleware.connections import LimitedConnection, make_room

    make_room()
    app = create_app(settings)
    # What is there by now stays; to look through it whenever requests make many objects takes a tenth of a second.
    gc.freeze()
    # The server reraises the signal that ended it; either one is a normal end.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    config = uvicorn.Config(
        Drain(app if settings.keys else Local(app)),
        http=LimitedConnection,
        # There are none here, and whatever library for them happens to be installed would read requests its own way.
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=DRAIN_S,
        proxy_headers=bool(settings.trusted_proxies),
        forwarded_allow_ips=list(settings.trusted_proxies),
    )
    with contextlib.suppress(KeyboardInterrupt):
        _Server(config).run(sockets=[listener])


class _Server(uvicorn.Server):
    """Say where it listens as soon as it does."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and print the URL of each socket."""
        await super().startup(sockets=sockets)
        for listener in sockets or ():
            host, port = listener.getsockname()[:2]
            with suppress(OSError):
                sys.stdout.write(f"TIGER is listening on http://{f'[{host}]' if ':' in host else host}:{port}\n")
                sys.stdout.flush()


def _make_folder(folder: Path) -> None:
    """Make the data folder, which only its user may look into, or raise InputError of its variable."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise InputError("TIGER_DATA_DIR", f"expected a folder that can be made: {error.strerror}") from None
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InputError("TIGER_DATA_DIR", "expected a folder that can be written to, got one that cannot")


def _listen(host: str, port: int, settings: Settings) -> socket.socket:
    """Return a listening socket, or raise InputError of `host` or `port`."""
    if not 0 <= port <= 65535:
        raise InputError("port", f"expected a number from 0 to 65535, got {port}")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except (socket.gaierror, UnicodeError) as error:
        raise InputError("host", f"expected an address of this machine, got {host!r} ({error})") from None
    if not settings.keys and not ipaddress.ip_address(str(address[0]).partition("%")[0]).is_loopback:
        raise InputError("host", f"expected a loopback address while no keys are set, got {host!r}")
    listener = socket.socket(family, kind, protocol)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(address)
        listener.listen()
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRNOTAVAIL:
            raise InputError("host", f"expected an address of this machine, got {host!r}") from None
        raise InputError("port", f"expected a free port on {host}, got {port} ({error.strerror})") from None
    return listener
