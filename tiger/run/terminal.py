"""The terminal that results go to: how wide it is, and what it would not print as itself."""

import os
import sys
from contextlib import suppress


def columns() -> int | None:
    """Return the width of the terminal that results go to, that of COLUMNS first; None where they go elsewhere."""
    if not sys.stdout.isatty():
        return None
    stated = os.environ.get("COLUMNS", "")
    if stated.isdecimal() and int(stated):
        return int(stated)
    with suppress(OSError, ValueError):
        return os.get_terminal_size(sys.stdout.fileno()).columns or None
    return None


def escape(text: str) -> str:
    """Return the text on one line, with everything that a terminal would not print as itself escaped."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
