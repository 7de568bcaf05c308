"""The files that a job leaves beside its report: written and compressed by its worker, kept until it is deleted."""

import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

import structlog

from tiger.errors import InputError

# Bytes of a text, which a server holds whole for a client that takes no compressed answer, and compressed bytes of all
# files of a job. The largest of views, that of 630 tasks with 200,000 volumes of 17 digits, has 15.5 MB and 5 MB; that
# of a halo exchange of 4,096 tasks 136 kB and 22 kB, and all files beside it 100 kB.
TEXT_BYTES, JOB_BYTES = 16 << 20, 8 << 20
LOG = structlog.get_logger()


class Draft(NamedTuple):
    """Say what a file of a job is called and holds; `write` returns its text, or raises InputError for no such file."""

    name: str
    description: str
    media_type: str
    write: Callable[[], str]


class Solution(NamedTuple):
    """Hold the report of a solve as strict JSON, and the files that a job may keep beside it, not yet written."""

    report: bytes
    drafts: Iterable[Draft] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FileInfo:
    """Say what a file of a job is called, what it is for, and how many bytes of what type it has."""

    name: str
    description: str
    media_type: str
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFile(FileInfo):
    """Hold a file of a job, its text in UTF-8 compressed as zlib does (RFC 1950)."""

    packed: bytes

    def unpack(self) -> bytes:
        """Return the text."""
        return zlib.decompress(self.packed)


class JobDelivery(NamedTuple):
    """Hold the report of a job and the files that are kept beside it."""

    report: bytes
    files: tuple[JobFile, ...]


def write_files(drafts: Iterable[Draft]) -> tuple[JobFile, ...]:
    """Return the files that can be written and are small enough; the log says which failed and which are too large."""
    files, left = [], JOB_BYTES
    for draft in drafts:
        file = _write(draft)
        if file is not None and len(file.packed) <= left:
            left -= len(file.packed)
            files.append(file)
        elif file is not None:
            LOG.warning("file too large", file=file.name, bytes=file.size)
    return tuple(files)


def _write(draft: Draft) -> JobFile | None:
    """Return a file, None where it cannot be written or has too long a text."""
    try:
        text = draft.write().encode()
    except InputError:
        # Not every launcher takes every mapping, nor every system every plan.
        return None
    except MemoryError:
        # The worker is to end; its report is with the server already.
        raise
    except Exception:
        LOG.exception("file not written", file=draft.name)
        return None
    if len(text) > TEXT_BYTES:
        LOG.warning("file too large", file=draft.name, bytes=len(text))
        return None
    return JobFile(
        name=draft.name,
        description=draft.description,
        media_type=draft.media_type,
        size=len(text),
        packed=zlib.compress(text),
    )
