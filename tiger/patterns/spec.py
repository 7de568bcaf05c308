"""The SPEC of a pattern, a text such as `halo:16x16,wrap=1+alltoall:256*0.01`: its kinds, and the way to TaskGraph."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from tiger.errors import InputError
from tiger.model.tasks import TaskGraph
from tiger.model.wording import describe
from tiger.patterns.messages import AXIS_LIMIT, RANK_LIMIT, Block, Pattern, all_to_all, fft, halo, ring, tree_allreduce

# A sum of more patterns than this is no short text.
PART_LIMIT = 16
# No product or sum of volumes leaves the range of float64.
VOLUME_LIMIT = 1e100
_DIGITS = re.compile(r"[0-9]+")
# Without a + in the exponent, which adds patterns.
_VOLUME = re.compile(r"(?=.{1,32}$)[0-9]+(\.[0-9]+)?([eE]-?[0-9]+)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """Describe a kind of pattern: its `name`, the `syntax` of its SPEC, and an `example`."""

    name: str
    syntax: str
    example: str


KINDS = (
    Kind(name="halo", syntax="halo:AxBx..[,faces=V][,corners=V][,wrap=0|1]", example="halo:16x16,wrap=1"),
    Kind(name="ring", syntax="ring:n", example="ring:64"),
    Kind(name="alltoall", syntax="alltoall:n", example="alltoall:64"),
    Kind(name="fft", syntax="fft:RxC", example="fft:8x8"),
    Kind(name="tree-allreduce", syntax="tree-allreduce:n", example="tree-allreduce:64"),
)


def build(spec: str) -> TaskGraph:
    """Build the task graph that a SPEC describes, with ranks "0", "1", .. as tasks; messages between two add up.

    Raises InputError of `tasks`, as `parse` does.
    """
    pattern = parse(spec)
    rows, columns, volumes = [], [], []
    for source, target, volume in pattern.blocks():
        rows.append(source.astype(np.int32))
        columns.append(target.astype(np.int32))
        volumes.append(np.full(len(source), volume))
    entries = (np.concatenate(volumes), (np.concatenate(rows), np.concatenate(columns))) if rows else None
    shape = (pattern.ranks, pattern.ranks)
    traffic = sp.csr_array(shape) if entries is None else sp.csr_array(entries, shape=shape)
    return TaskGraph(names=tuple(map(str, range(pattern.ranks))), traffic=traffic)


def parse(spec: str) -> Pattern:
    """Return the pattern that a SPEC describes, without its messages.

    Raises InputError of `tasks` for an unknown kind, a malformed SPEC, or more ranks or messages than there may be; the
    message holds the expected syntax and the known kinds.
    """
    texts = spec.split("+", PART_LIMIT)
    if len(texts) > PART_LIMIT:
        raise InputError("tasks", f"expected a sum of at most {PART_LIMIT} patterns, got more")
    parts = [_read_part(text) for text in texts]
    ranks = parts[0].ranks
    for text, part in zip(texts, parts, strict=True):
        if part.ranks != ranks:
            sizes = f"{ranks:,} in {describe(texts[0])} and {part.ranks:,} in {describe(text)}"
            raise InputError("tasks", f"expected patterns of the same number of ranks, got {sizes}")

    def list_blocks() -> Iterator[Block]:
        for part in parts:
            yield from part.blocks()

    return Pattern(ranks, sum(part.messages for part in parts), list_blocks)


def _read_part(text: str) -> Pattern:
    """Return the pattern of one part of a sum, with its factor."""
    name = text.partition(":")[0]
    kind = next((kind for kind in KINDS if kind.name == name), None)
    names = ", ".join(kind.name for kind in KINDS)
    if kind is None:
        raise InputError(
            "tasks", f"expected KIND:.. with a kind out of {names} (such as halo:16x16), got {describe(text)}"
        )
    body, sign, factor = text.partition(":")[2].partition("*")
    try:
        pattern = _READERS[kind.name](body)
        return _scale(pattern, _read_volume(factor)) if sign else pattern
    except InputError as error:
        syntax = f"{kind.syntax}[*FACTOR] (such as {kind.example}; kinds: {names}; + adds patterns)"
        raise InputError("tasks", f"{error.reason} in {describe(text)}; the syntax is {syntax}") from None


def _scale(pattern: Pattern, factor: float) -> Pattern:
    """Return a pattern with all its volumes times a factor."""

    def list_blocks() -> Iterator[Block]:
        for source, target, volume in pattern.blocks():
            yield source, target, volume * factor

    return Pattern(pattern.ranks, pattern.messages, list_blocks)


def _read_halo(text: str) -> Pattern:
    """Read `AxBx..` and options, each of them once at most."""
    body, *options = text.split(",", 4)
    volumes: dict[str, float] = {}
    wraps: list[bool] = []
    for option in options:
        name, _, value = option.partition("=")
        if name in ("faces", "corners") and name not in volumes:
            volumes[name] = _read_volume(value)
        elif name == "wrap" and value in ("0", "1") and not wraps:
            wraps.append(value == "1")
        else:
            raise InputError("tasks", f"expected faces=V, corners=V or wrap=0|1 once each, got {describe(option)}")
    return halo(_read_extents(body), **volumes, wrap=wraps == [True])


def _read_fft(text: str) -> Pattern:
    """Read `RxC`."""
    extents = _read_extents(text)
    if len(extents) != 2:
        raise InputError("tasks", f"expected RxC, got {len(extents)} numbers")
    return fft(*extents)


_READERS: dict[str, Callable[[str], Pattern]] = {
    "halo": _read_halo,
    "ring": lambda text: ring(_read_number(text)),
    "alltoall": lambda text: all_to_all(_read_number(text)),
    "fft": _read_fft,
    "tree-allreduce": lambda text: tree_allreduce(_read_number(text)),
}


def _read_extents(text: str) -> tuple[int, ...]:
    """Read whole numbers separated by `x`."""
    parts = text.split("x", AXIS_LIMIT)
    if len(parts) > AXIS_LIMIT:
        raise InputError("tasks", f"expected 1 to {AXIS_LIMIT} extents, got more")
    return tuple(_read_number(part) for part in parts)


def _read_number(text: str) -> int:
    """Read a whole number >= 1; one longer than the limit of ranks is refused by its digits, not by its value."""
    if not _DIGITS.fullmatch(text):
        raise InputError("tasks", f"expected a whole number, got {describe(text)}")
    if len(text) > len(str(RANK_LIMIT)):
        raise InputError("tasks", f"expected a whole number up to {RANK_LIMIT}, got {len(text)} digits")
    if int(text) < 1:
        raise InputError("tasks", f"expected a whole number >= 1, got {text}")
    return int(text)


def _read_volume(text: str) -> float:
    """Read a decimal number."""
    if not _VOLUME.fullmatch(text):
        raise InputError("tasks", f"expected a number such as 10 or 2.5, got {describe(text)}")
    if float(text) > VOLUME_LIMIT:
        raise InputError("tasks", f"expected a number up to {VOLUME_LIMIT:g}, got {describe(text)}")
    return float(text)
