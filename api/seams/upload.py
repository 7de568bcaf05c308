"""A file that an owner has uploaded for requests to refer to, and the interface of what stores such files."""

import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol


class UploadText(NamedTuple):
    """Hold the name of an upload and its text in UTF-8, compressed as zlib does; nothing where only the name counts."""

    name: str
    packed: bytes = b""

    def unpack(self) -> str:
        """Return the text, without a byte order mark; an empty one where there is nothing."""
        return zlib.decompress(self.packed).decode("utf-8-sig") if self.packed else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewUpload:
    """Hold a text for an owner: the SHA-256 of its `size` bytes as its id, its name, and its bytes compressed."""

    id: str
    owner: str
    name: str
    size: int
    packed: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """Say what is known of an upload: its `size` in bytes, those that are kept of it, and how many jobs use it.

    Times are seconds since the epoch; it was last used when it was uploaded, or a job that uses it submitted.
    """

    id: str
    owner: str
    name: str
    size: int
    kept: int
    created_s: float
    used_s: float
    jobs: int = 0


NO_UPLOADS: Mapping[str, UploadText] = {}


class UploadInUseError(Exception):
    """Say that jobs which have not ended use an upload that is to be deleted (409)."""


class Uploads(Protocol):
    """Store uploads. One of another owner is as unknown as one that never was.

    Every call may raise DatabaseDownError.
    """

    async def insert(self, new: NewUpload) -> tuple[Upload, bool]:
        """Keep a text and return its upload, and whether it is new to its owner; raise DiskFullError."""

    async def get(self, upload_id: str, owner: str) -> Upload | None:
        """Return an upload."""

    async def page(self, owner: str, after: str | None, limit: int) -> tuple[tuple[Upload, ...], str | None]:
        """Return uploads, the newest first, those after a cursor, and the cursor of the next page."""

    async def list_names(self, ids: Iterable[str], owner: str) -> Mapping[str, UploadText]:
        """Return the names of those of some uploads that there are, without their texts."""

    async def read(self, ids: Iterable[str], owner: str) -> Mapping[str, UploadText]:
        """Return the texts of those of some uploads that there are."""

    async def delete(self, upload_id: str, owner: str) -> bool:
        """Delete an upload, and return whether there was one; raise UploadInUseError."""
