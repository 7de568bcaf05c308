"""Where independent parts of a solve are done: an executor of the caller's, or a Dask cluster named by its address."""

import threading
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING

from tiger.errors import InputError
from tiger.run.parallel.dask_pool import FanOut

if TYPE_CHECKING:
    from dask.distributed import Client

DASK = "dask://"
# A scheduler that is there answers within milliseconds; one that starts up, within seconds.
CONNECT_S = 10


def check(executor: object) -> None:
    """Raise InputError or TypeError unless this names or is an executor."""
    if isinstance(executor, str):
        host, _, port = executor.removeprefix(DASK).rpartition(":")
        if not executor.startswith(DASK) or not host or not port.isdecimal():
            raise InputError("executor", f"expected dask://HOST:PORT, got {executor!r}")
        if find_spec("distributed") is None:
            raise InputError("executor", "expected Dask to be installed: pip install 'tiger-mapper[dask]'")
    elif executor is not None and not isinstance(executor, Executor):
        raise TypeError(f"executor: expected an Executor or dask://HOST:PORT, got {type(executor).__name__}")


@contextmanager
def open_executor(executor: Executor | str | None) -> Iterator[Executor | None]:
    """Yield an executor, a connection to a Dask scheduler where one is named; raise InputError where it can't be had.

    What Dask fails to do later is done here. Its scheduler and workers need tiger at the same version.
    """
    check(executor)
    if not isinstance(executor, str):
        yield executor
        return
    connection = DaskConnection(executor)
    connection.begin().join()
    try:
        connection()
    except OSError as error:
        raise InputError("executor", f"expected a Dask scheduler at {executor}: {error}") from None
    try:
        yield FanOut(connection)
    finally:
        connection.close()


def keep_executor(address: str) -> FanOut:
    """Return an executor on a Dask cluster; this process's connection to it is made meanwhile, and kept.

    Without one, everything is done here.
    """
    connection = _connection(address)
    connection.begin()
    return FanOut(connection)


class DaskConnection:
    """Connect this process to a Dask scheduler, in the background, and again where the connection was lost."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._client: Client | None = None
        self._error: OSError | None = None
        self._thread: threading.Thread | None = None

    def __call__(self) -> "Client | None":
        """Return the client, None while there is none yet; raise OSError where there will be none."""
        if self._is_connected:
            return self._client
        if self._thread is not None and self._thread.is_alive():
            return None
        raise self._error or OSError("the connection was lost")

    def begin(self) -> threading.Thread:
        """Connect where there is no connection, and return the thread that does."""
        if self._thread is None or not (self._is_connected or self._thread.is_alive()):
            self._thread = threading.Thread(target=self._connect, daemon=True)
            self._thread.start()
        return self._thread

    def close(self) -> None:
        """End the connection."""
        if self._client is not None:
            self._client.close()

    @property
    def _is_connected(self) -> bool:
        """Return whether the scheduler is there."""
        return self._client is not None and self._client.status == "running"

    def _connect(self) -> None:
        """Connect again."""
        from dask.distributed import Client

        self.close()
        self._client, self._error = None, None
        try:
            there = f"tcp://{self.address.removeprefix(DASK)}"
            self._client = Client(there, timeout=CONNECT_S, set_as_default=False)
        except Exception as error:  # noqa: BLE001 (whatever is wrong, the work can be done here)
            self._error = OSError(str(error))


@cache
def _connection(address: str) -> DaskConnection:
    """Return this process's connection to a scheduler."""
    return DaskConnection(address)
