"""Text files: how they are opened, and how the numbers in them are read."""

import os
import re
import stat
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tiger.errors import InputError
from tiger.model.arrays import FloatArray, IntArray
from tiger.model.wording import describe

Line = tuple[int, list[str]]
RawLine = tuple[int, str]
# What no list of edges that fits into 24 GB of memory comes near.
FILE_LIMIT = 1 << 31
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_CHARACTERS = re.compile(r"[0-9+\-.eE]*")


class FileText(NamedTuple):
    """Hold the text of a file and the file's name, whose ending says what the text is; nothing is opened by it."""

    file: str
    text: str


def find_file(field: str, document: object) -> FileText | None:
    """Return the file that a document states as `{"file": name, "text": text}`, None for a document of another form.

    Raises InputError of a field for one that has a text and is not of that form.
    """
    if not isinstance(document, Mapping) or "text" not in document:
        return None
    match document:
        case {"file": str(file), "text": str(text), **rest} if not rest:
            return FileText(file, text)
    raise InputError(field, "expected an object of two texts, file and text, got another")


def text_of(source: FileText | Path | str, field: str) -> str:
    """Return the text of a file by its path, or the one at hand; raise InputError of `field` as `read_text` does."""
    if not isinstance(source, FileText):
        return read_text(Path(source), field)
    if not source.text or source.text.isspace():
        raise InputError(field, f"expected text, got none in {describe(source.file, 300)}")
    return source.text


def read_text(path: Path, field: str) -> str:
    """Return the text of a UTF-8 file, with or without byte order mark; raise InputError of `field` if it has none."""
    content, fault = read_file(path, field), f"cannot read {describe(str(path), 300)}"
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(field, f"{fault}: expected UTF-8 text, got another byte at {error.start}") from None
    if not text or text.isspace():
        raise InputError(field, f"{fault}: expected text, got an empty file")
    return text


def read_file(path: Path, field: str, max_bytes: int = FILE_LIMIT) -> bytes:
    """Return the bytes of a regular file; raise InputError of `field` for anything else or for more than `max_bytes`.

    A pipe is refused and not waited for, a device that never ends is not read.
    """
    fault = f"cannot read {describe(str(path), 300)}"
    try:
        with open(path, "rb", opener=_open_at_once) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise InputError(field, f"{fault}: expected a regular file, got a pipe, a device or a socket")
            content = file.read(max_bytes + 1)
    except OSError as error:
        raise InputError(field, f"{fault}: {error.strerror or error}") from None
    except InputError:
        raise
    except ValueError as error:
        raise InputError(field, f"{fault}: {error}") from None
    if len(content) > max_bytes:
        raise InputError(field, f"expected at most {max_bytes} bytes, got more in {describe(str(path), 300)}")
    return content


def _open_at_once(path: str, flags: int) -> int:
    """Open a file without waiting for the other end of a pipe."""
    return os.open(path, flags | os.O_NONBLOCK)


def is_number(word: str) -> bool:
    """Return whether a word is a decimal number; nan, inf, hexadecimal and 1_000 are none."""
    return _NUMBER.fullmatch(word) is not None


def read_amounts(field: str, where: str, words: Sequence[str]) -> FloatArray:
    """Return words as finite numbers >= 0, or raise InputError that says where they stood."""
    # Without this check numpy would also take nan, 1_000 and digits of other scripts.
    if not _CHARACTERS.fullmatch("".join(words)):
        raise _number_error(field, where, words)
    try:
        values = np.array(words, np.float64)
    except ValueError:
        raise _number_error(field, where, words) from None
    bad = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
    if bad.size:
        raise InputError(field, f"{where}: expected finite numbers >= 0, got {describe(words[bad[0]])}")
    return values


def read_amount_lines(field: str, lines: Sequence[RawLine]) -> FloatArray:
    """Return the words of all lines in one array of finite numbers >= 0, or raise InputError that names the line."""
    with suppress(InputError):
        return read_amounts(field, "lines", " ".join(text for _, text in lines).split())
    return np.concatenate([read_amounts(field, f"line {number}", text.split()) for number, text in lines])


def read_wholes(field: str, where: str, words: Sequence[str]) -> IntArray:
    """Return words as whole numbers >= 0 below 2**53, or raise InputError that says where they stood."""
    values = read_amounts(field, where, words)
    bad = np.flatnonzero((values != np.floor(values)) | (values >= 2.0**53))
    if bad.size:
        raise InputError(field, f"{where}: expected whole numbers below 2**53, got {describe(words[bad[0]])}")
    return values.astype(np.int64)


def _number_error(field: str, where: str, words: Sequence[str]) -> InputError:
    """Return the error for the first word that is no number."""
    word = next(word for word in words if not is_number(word))
    return InputError(field, f"{where}: expected numbers, got {describe(word)}")
