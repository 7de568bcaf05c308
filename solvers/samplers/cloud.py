"""D-Wave's cloud: connections to it, and its errors, with advice."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Protocol, TypeVar

from tiger.errors import InputError
from tiger.model.seams import Stop

# Pause between two questions whether an answer is there.
POLL_S = 0.05
EXTRA = "pip install 'tiger-mapper[dwave]'"
NO_EXTRA = f"D-Wave's software is not installed: {EXTRA}"
TOKENLESS = "no API token: set DWAVE_API_TOKEN, or run `dwave config create`"
REFUSED = "D-Wave refused the API token: check DWAVE_API_TOKEN, or the profile in `dwave config inspect`"
UNREACHABLE = (
    "D-Wave's service did not answer: check the network, DWAVE_API_REGION or DWAVE_API_ENDPOINT, and DWAVE_API_PROXY"
)
NOT_FOUND = "the account has no such solver: see `dwave solvers`, and set DWAVE_API_REGION or DWAVE_API_SOLVER"
OFFLINE = "the solver is offline: ask again later, or choose another with DWAVE_API_SOLVER"
SPENT = "the account's solver time or its rate of requests is used up: see its dashboard, and ask again later"
BAD_CONFIG = "D-Wave's configuration file cannot be read: run `dwave config create`, or correct DWAVE_CONFIG_FILE"
NO_EMBEDDING = "the model has no embedding on this QPU any more, which may have been recalibrated: ask again"
UNFIT = "D-Wave's software did not accept the model, so nothing was submitted"
FAILED = "D-Wave's service failed: ask again later"
# What messages about limits of an account say, which have no class of their own.
LIMIT_WORDS = ("insufficient remaining", "exceeded", "quota")


class Closable(Protocol):
    """Hold threads and sockets until closed."""

    def close(self) -> None:
        """Wait for what is under way and let go of them."""
        ...


Connection = TypeVar("Connection", bound=Closable)


@contextmanager
def translate_errors() -> Iterator[None]:
    """Turn whatever the way to D-Wave raises into InputError of the field `solver`, with advice."""
    try:
        yield
    except InputError:
        raise
    except ImportError as error:
        raise InputError("solver", f"{NO_EXTRA} ({error})") from error
    except _failures() as error:
        raise InputError("solver", f"{_advice(error)} ({error})") from error


def find_token() -> bool:
    """Return whether D-Wave's software finds an API token, in the environment or in its configuration file.

    Raises InputError of `solver` where the software is not installed, or the file cannot be read.
    """
    with translate_errors():
        from dwave.cloud.config import load_config

        return bool(load_config().get("token"))


@contextmanager
def open_connection(given: Connection | None, connect: Callable[[], Connection]) -> Iterator[Connection]:
    """Yield the given sampler, else a new connection that is released afterwards."""
    if given is not None:
        yield given
        return
    connection = connect()
    try:
        yield connection
    finally:
        release(connection)


def release(sampler: Closable) -> None:
    """Close a sampler in the background, because closing waits for submissions whose answers are no longer read."""
    Thread(target=sampler.close, daemon=True).start()


def await_answer(done: Callable[[], bool], stop: Stop) -> bool:
    """Wait for a submission and return whether it is done; False once `stop()` says True."""
    while not done():
        if stop():
            return False
        time.sleep(POLL_S)
    return True


def _failures() -> tuple[type[Exception], ...]:
    """Return the exceptions of D-Wave's software; its request errors are OSErrors."""
    from dwave.cloud import exceptions as cloud
    from dwave.embedding.exceptions import EmbeddingError

    lost = cloud.PollingTimeout, cloud.CanceledFutureError, cloud.ProblemUploadError, cloud.UseAfterCloseError
    return OSError, ValueError, *lost, cloud.ConfigFileError, EmbeddingError


def _advice(error: Exception) -> str:
    """Return advice about an error."""
    from dwave.cloud import exceptions as cloud
    from dwave.cloud.api import exceptions as api
    from dwave.embedding.exceptions import EmbeddingError

    if isinstance(error, ValueError):
        return TOKENLESS if "token not defined" in str(error) else UNFIT
    if any(word in str(error).lower() for word in LIMIT_WORDS):
        return SPENT
    known = (
        (api.ResourceLimitsExceededError, SPENT),
        (api.ResourceAuthenticationError | api.ResourceAccessForbiddenError, REFUSED),
        (api.ResourceNotFoundError, NOT_FOUND),
        (cloud.SolverOfflineError, OFFLINE),
        (api.RequestTimeout | cloud.PollingTimeout, UNREACHABLE),
        (api.RequestError, FAILED),
        (OSError, UNREACHABLE),
        (cloud.ConfigFileError, BAD_CONFIG),
        (EmbeddingError, NO_EMBEDDING),
    )
    return next((advice for kind, advice in known if isinstance(error, kind)), FAILED)
