"""The SPEC of a pattern, such as `halo:4x4,wrap=1+alltoall:16*0.01++ring:8`: its kinds, and the way to TaskGraph."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import accumulate

import numpy as np
import scipy.sparse as sp

from tiger.errors import InputError
from tiger.formats.patterns.conjugate_gradient import conjugate_gradient
from tiger.formats.patterns.messages import Block, Pattern, all_to_all, fft, halo, ring, tree_allreduce
from tiger.formats.patterns.numbers import read_extents, read_number, read_volume
from tiger.formats.patterns.training import TrainingPattern, train
from tiger.model.tasks import TaskGraph
from tiger.model.wording import describe

# A SPEC of more patterns than this is no short text.
PART_LIMIT = 16
# Between jobs, whose ranks follow one another as those of the programs of one mpirun do.
JOBS = "++"
# The options of training: how many ranks share the work in which way, the weights of these, and the sizes of the model.
DEGREES = ("tp", "cp", "ep", "dp", "pp")
WEIGHTS = tuple(f"w{degree}" for degree in DEGREES)
SIZES = tuple(field.name for field in fields(TrainingPattern) if field.name not in (*DEGREES, "weights"))


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
    Kind(name="cg", syntax="cg:RxC", example="cg:8x8"),
    Kind(
        name="parallel",
        syntax=f"parallel:{','.join(f'{name}=n' for name in DEGREES)}[,{'][,'.join(f'{name}=n' for name in SIZES)}]"
        f"[,{'][,'.join(f'{name}=V' for name in WEIGHTS)}]",
        example="parallel:tp=8,pp=4,dp=2",
    ),
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

    `+` adds patterns of the same ranks, and `++`, which binds less, lists jobs: the ranks of each follow those of the
    one before. Raises InputError of `tasks` for an unknown kind, a malformed SPEC, or more ranks or messages than there
    may be; the message holds the expected syntax and the known kinds.
    """
    jobs = [job.split("+", PART_LIMIT) for job in spec.split(JOBS, PART_LIMIT)]
    if sum(map(len, jobs)) > PART_LIMIT:
        raise InputError("tasks", f"expected at most {PART_LIMIT} patterns, got more")
    return _line_up([_add(texts) for texts in jobs])


def _add(texts: Sequence[str]) -> Pattern:
    """Return the sum of patterns of the same ranks."""
    parts = [_read_part(text) for text in texts]
    ranks = parts[0].ranks
    for text, part in zip(texts, parts, strict=True):
        if part.ranks != ranks:
            sizes = f"{ranks:,} in {describe(texts[0])} and {part.ranks:,} in {describe(text)}"
            hint = f"{JOBS} lists jobs of different sizes"
            raise InputError("tasks", f"expected patterns of the same number of ranks, got {sizes}; {hint}")

    def list_blocks() -> Iterator[Block]:
        for part in parts:
            yield from part.blocks()

    return Pattern(ranks, sum(part.messages for part in parts), list_blocks)


def _line_up(jobs: Sequence[Pattern]) -> Pattern:
    """Return the pattern of several jobs, whose ranks follow one another."""
    first = [0, *accumulate(job.ranks for job in jobs)]

    def list_blocks() -> Iterator[Block]:
        for offset, job in zip(first, jobs, strict=False):
            for source, target, volume in job.blocks():
                yield source + offset, target + offset, volume

    return Pattern(first[-1], sum(job.messages for job in jobs), list_blocks)


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
        return _scale(pattern, read_volume(factor)) if sign else pattern
    except InputError as error:
        syntax = f"{kind.syntax}[*FACTOR] (such as {kind.example}; kinds: {names}; + adds patterns, {JOBS} lists jobs)"
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
            volumes[name] = read_volume(value)
        elif name == "wrap" and value in ("0", "1") and not wraps:
            wraps.append(value == "1")
        else:
            raise InputError("tasks", f"expected faces=V, corners=V or wrap=0|1 once each, got {describe(option)}")
    return halo(read_extents(body), **volumes, wrap=wraps == [True])


def _read_grid(text: str) -> tuple[int, int]:
    """Read `RxC`."""
    extents = read_extents(text)
    if len(extents) != 2:
        raise InputError("tasks", f"expected RxC, got {len(extents)} numbers")
    return extents[0], extents[1]


def _read_shape(text: str) -> TrainingPattern:
    """Read `name=n` once for each name at most, one of the degrees at least."""
    known = (*DEGREES, *SIZES, *WEIGHTS)
    numbers: dict[str, int] = {}
    weights: dict[str, float] = {}
    for option in text.split(",", len(known)):
        name, _, value = option.partition("=")
        degree = name.removeprefix("w")
        if name not in known or name in numbers or (name in WEIGHTS and degree in weights):
            raise InputError("tasks", f"expected NAME=n out of {', '.join(known)} once each, got {describe(option)}")
        try:
            if name in WEIGHTS:
                weights[degree] = read_volume(value)
            else:
                numbers[name] = read_number(value)
        except InputError as error:
            raise InputError("tasks", f"{name}: {error.reason}") from None
    if not numbers.keys() & set(DEGREES):
        raise InputError("tasks", f"expected one of {', '.join(DEGREES)} at least, got none")
    return TrainingPattern(**numbers, weights=weights)


_READERS: dict[str, Callable[[str], Pattern]] = {
    "halo": _read_halo,
    "ring": lambda text: ring(read_number(text)),
    "alltoall": lambda text: all_to_all(read_number(text)),
    "fft": lambda text: fft(*_read_grid(text)),
    "tree-allreduce": lambda text: tree_allreduce(read_number(text)),
    "cg": lambda text: conjugate_gradient(*_read_grid(text)),
    "parallel": lambda text: train(_read_shape(text)),
}
