"""The header of a GGUF file: what it says of a model, and the tensors that it holds.

Needs the extra `tiger-mapper[gguf]`. Source: docs/gguf.md of ggml.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tiger.errors import InputError
from tiger.model.wording import describe
from tiger.training.models.gguf_lists import check_lists

# The name of one of several files of a model, as llama-gguf-split and others call them.
PART = re.compile(r"(?P<name>.*)-(?P<part>[0-9]{5})-of-(?P<parts>[0-9]{5})\.gguf", re.IGNORECASE)
# Lists beyond this are tokens of a vocabulary, of which nobody asks here.
LIST_LIMIT = 10_000


@dataclass(frozen=True, slots=True)
class Tensor:
    """Hold the bytes of a tensor as they are stored, and its sizes, the innermost first."""

    size_bytes: int
    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Header:
    """Hold what a file says of its model by key, and its tensors by name."""

    metadata: Mapping[str, object]
    tensors: Mapping[str, Tensor]


def read_header(path: Path) -> Header:
    """Return the header of a file, with the tensors of all files of a model that is split.

    Raises InputError of `model` for a file that cannot be read, and where the package gguf is missing.
    """
    headers = [_read_part(part) for part in _list_parts(path)]
    tensors = {name: tensor for header in headers for name, tensor in header.tensors.items()}
    return Header(headers[0].metadata, tensors)


def _list_parts(path: Path) -> list[Path]:
    """Return the files of a model, the first in front, which has what is said of the model."""
    match = PART.fullmatch(path.name)
    if match is None:
        return [path]
    count = int(match["parts"])
    return [path.with_name(f"{match['name']}-{k:05}-of-{count:05}.gguf") for k in range(1, count + 1)]


def _read_part(path: Path) -> Header:
    """Return the header of one file."""
    fault = f"cannot read {describe(str(path), 300)}"
    # A pipe would be waited for.
    if not path.is_file():
        raise InputError("model", f"{fault}: expected a regular file, got none")
    try:
        from gguf import GGUFReader
    except ImportError:
        raise InputError("model", f"{fault}: expected gguf, pip install 'tiger-mapper[gguf]'") from None
    try:
        with path.open("rb") as file:
            check_lists(file, path.stat().st_size)
        reader = GGUFReader(path)
        metadata = {name: field.contents() for name, field in reader.fields.items() if len(field.data) <= LIST_LIMIT}
        tensors = {
            tensor.name: Tensor(int(tensor.n_bytes), tuple(int(size) for size in tensor.shape))
            for tensor in reader.tensors
        }
    # The reader indexes what a broken file says, whatever that is.
    except (OSError, ValueError, LookupError, TypeError, OverflowError, MemoryError) as error:
        raise InputError("model", f"{fault}: expected a GGUF file, got another or a part of one: {error}") from None
    return Header(metadata, tensors)
