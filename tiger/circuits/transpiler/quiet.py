"""Qiskit's log lines, left out where its passes run beside the transpilation that the user asked for."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

LOGGERS = "qiskit"
_quiet: ContextVar[bool] = ContextVar("quiet", default=False)


@contextmanager
def quiet_qiskit() -> Iterator[None]:
    """Keep Qiskit from logging in this thread: what it says of alternatives it says of the circuit itself, too."""
    for name, logger in list(logging.root.manager.loggerDict.items()):
        if name.partition(".")[0] == LOGGERS and isinstance(logger, logging.Logger):
            # Adding a filter again does nothing; it lets everything pass outside of this context.
            logger.addFilter(_is_heard)
    before = _quiet.set(True)
    try:
        yield
    finally:
        _quiet.reset(before)


def _is_heard(_: logging.LogRecord) -> bool:
    """Return whether log lines are wanted."""
    return not _quiet.get()
