"""A walk over the metadata of a GGUF file that checks the lengths of its lists, before anybody loops over them.

A file begins with GGUF, its version, and the numbers of tensors and of keys; a key is text, the number of a type, and a
value. Source: docs/gguf.md of ggml.
"""

import struct
from dataclasses import dataclass
from typing import BinaryIO

# Bytes of the numbers of a type; text and lists state their length.
SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
# The numbers of those two types in the format.
TEXT, LIST = 8, 9
# More than any vocabulary has tokens, and still read in seconds.
LENGTH_LIMIT = 1 << 22


def check_lists(file: BinaryIO, size: int) -> None:
    """Raise ValueError for a list that is longer than its file, too long to read, or in another list."""
    magic, version = file.read(4), file.read(4)
    if magic != b"GGUF" or len(version) < 4:
        raise ValueError("no GGUF at its begin")
    # A version whose lower half is 0 has its bytes the other way round.
    walk = _Walk(file, size, ">" if version[:2] == b"\0\0" else "<")
    walk.read("Q")
    for _ in range(walk.read("Q")):
        walk.skip_text()
        walk.skip_value(walk.read("I"), inside=False)


@dataclass(frozen=True, slots=True)
class _Walk:
    """Go over a file of a size, whose bytes have an order."""

    file: BinaryIO
    size: int
    order: str

    def read(self, kind: str) -> int:
        """Return a whole number."""
        data = self.file.read(struct.calcsize(f"={kind}"))
        if len(data) < struct.calcsize(f"={kind}"):
            raise ValueError("its metadata end early")
        return int(struct.unpack(self.order + kind, data)[0])

    def skip_text(self) -> None:
        """Go behind a text."""
        self._skip(self.read("Q"))

    def skip_value(self, kind: int, *, inside: bool) -> None:
        """Go behind a value of a type, which may be inside a list."""
        if kind in SIZES:
            self._skip(SIZES[kind])
        elif kind == TEXT:
            self.skip_text()
        elif kind == LIST and not inside:
            of, length = self.read("I"), self.read("Q")
            if length > LENGTH_LIMIT:
                raise ValueError(f"a list of {length:,} values, {LENGTH_LIMIT:,} at most are read")
            if of in SIZES:
                self._skip(length * SIZES[of])
                return
            for _ in range(length):
                self.skip_value(of, inside=True)
        else:
            raise ValueError(f"a value of type {kind}" + (" in a list" if inside else ""))

    def _skip(self, count: int) -> None:
        """Go forward by so many bytes."""
        if self.file.tell() + count > self.size:
            raise ValueError("its metadata end early")
        self.file.seek(count, 1)
