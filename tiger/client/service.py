"""The service that a command is sent to, if one is named."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tiger.errors import InputError

if TYPE_CHECKING:
    from tiger.client import Client


@contextmanager
def open_client(
    url: str | None, threads: int = 1, tags: Sequence[str] = (), priority: int = 0
) -> Iterator["Client | None"]:
    """Yield a client of the service at a URL, or None where there is no URL and the command runs here.

    Failures of the service are raised as InputError of `server`, and no client may ask for threads. Jobs have some tags
    and a priority, which are refused without a URL.
    """
    if url is None:
        for name, given in (("tag", tags), ("priority", priority)):
            if given:
                raise InputError(name, "expected --server beside it, as only a service has jobs")
        yield None
        return
    if threads != 1:
        raise InputError("threads", f"expected none beside --server, as the service decides that itself, got {threads}")
    from tiger.client import Client, JobCancelledError, ServiceError

    try:
        with Client(url, tags=tags, priority=priority) as client:
            yield client
    except (ServiceError, JobCancelledError) as error:
        raise InputError("server", str(error)) from None
