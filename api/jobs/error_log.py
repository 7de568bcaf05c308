"""The log of what is tried again and again."""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager

from tiger.api.seams.job import DatabaseDownError

# Seconds between two lines about the same trouble.
QUIET_S = 30.0
LOG = logging.getLogger(__name__)


class ErrorLog:
    """Let attempts fail, and log that, errors of one type at most every half a minute."""

    def __init__(self, event: str) -> None:
        self.event = event
        self._logged_s: dict[type[Exception], float] = {}

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """Contain whatever goes wrong."""
        try:
            yield
        except Exception as error:
            now_s = time.monotonic()
            if now_s - self._logged_s.get(type(error), -QUIET_S) < QUIET_S:
                return
            self._logged_s[type(error)] = now_s
            if isinstance(error, DatabaseDownError):
                LOG.warning("the database cannot be used at the moment")
            else:
                LOG.exception(self.event)
