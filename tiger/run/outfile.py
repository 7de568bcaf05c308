"""A file that a result goes to: refused before the work when it cannot be written, and changed all at once after it."""

import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tiger.errors import InputError


def check(target: str, field: str) -> None:
    """Raise InputError of a field unless the target can be written; leave no trace."""
    with _translate_errors(target, field):
        final, draft = _places(Path(target))
        if draft != final:
            draft.touch(exist_ok=False)
            draft.unlink()


def write(target: str, field: str, content: str | bytes) -> None:
    """Write a text or bytes to the target, or raise InputError of a field.

    A regular file, new or behind links, is written beside its place and then renamed into it; a device or a pipe is
    written as it is.
    """
    write_parts(target, field, [content.encode() if isinstance(content, str) else content])


def write_parts(target: str, field: str, parts: Iterable[bytes]) -> None:
    """Write what comes in parts as `write` does, each as it is made; what making one raises ends it without a file."""
    with _translate_errors(target, field):
        final, draft = _places(Path(target))
        try:
            with draft.open("wb") as file:
                file.writelines(parts)
            if draft != final:
                draft.replace(final)
        finally:
            if draft != final:
                draft.unlink(missing_ok=True)


def _places(path: Path) -> tuple[Path, Path]:
    """Return where the file belongs and where its content goes first, the same for what is no regular file."""
    if path.is_dir():
        raise IsADirectoryError(None, "it is a directory")
    if path.exists() and not path.is_file():
        return path, path
    final = path.resolve()
    if final.is_symlink():
        raise OSError(None, "it is a loop of links")
    if final.exists() and not os.access(final, os.W_OK):
        raise PermissionError(None, "it is read-only")
    return final, final.with_name(f".tiger-{secrets.token_hex(8)}")


@contextmanager
def _translate_errors(target: str, field: str) -> Iterator[None]:
    """Turn a refusal of the system into bad input."""
    try:
        yield
    except (OSError, RuntimeError) as error:
        # Up to Python 3.12 a loop of links ends as a RuntimeError when it is followed.
        reason = getattr(error, "strerror", None) or error
        raise InputError(field, f"expected a file that can be written, got {target!r}: {reason}") from None
