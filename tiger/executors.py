"""Where independent windows are solved: an executor of the caller's, or a Dask cluster named by its address."""

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager

from tiger.errors import InputError

DASK = "dask://"
CONNECT_S = 10


def check(executor: object) -> None:
    """Raise InputError or TypeError unless this names or is an executor."""
    if isinstance(executor, str):
        host, _, port = executor.removeprefix(DASK).rpartition(":")
        if not executor.startswith(DASK) or not host or not port.isdecimal():
            raise InputError("executor", f"expected dask://HOST:PORT, got {executor!r}")
    elif executor is not None and not isinstance(executor, Executor):
        raise TypeError(f"executor: expected an Executor or dask://HOST:PORT, got {type(executor).__name__}")


@contextmanager
def opened(executor: Executor | str | None) -> Iterator[Executor | None]:
    """Lend an executor, a connection to a Dask scheduler where one is named; raise InputError where it can't be had.

    Dask runs a window again elsewhere when the worker that had it is lost. Workers need tiger at the same version.
    """
    check(executor)
    if not isinstance(executor, str):
        yield executor
        return
    try:
        from dask.distributed import Client
    except ImportError:
        raise InputError("executor", "expected Dask to be installed: pip install 'tiger-mapper[dask]'") from None
    try:
        client = Client(f"tcp://{executor.removeprefix(DASK)}", timeout=CONNECT_S, set_as_default=False)
    except (OSError, TimeoutError) as error:
        raise InputError("executor", f"expected a Dask scheduler at {executor}: {error}") from None
    with client, client.get_executor(pure=False) as lent:
        yield lent
