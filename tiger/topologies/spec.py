"""The SPEC of a topology, a short text such as `torus:8x8x8`: its kinds, and the way from text to Topology."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from tiger.errors import InputError
from tiger.model.topology import Topology
from tiger.model.wording import describe
from tiger.topologies.coordinates import NODE_LIMIT
from tiger.topologies.grids import grid, hypercube, ring, torus
from tiger.topologies.networks import complete, dragonfly, fat_tree
from tiger.topologies.qubits import heavy_hex, heavy_hex_rows
from tiger.topologies.trees import dgx, tree

_DIGITS = re.compile(r"[0-9]+")
_LENGTH = re.compile(r"(?=.{1,32}$)[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """Describe a kind of topology: its `name`, the `syntax` of its SPEC, what it is, and an `example`."""

    name: str
    syntax: str
    description: str
    example: str


KINDS = (
    Kind(name="grid", syntax="grid:AxBx..", description="mesh of the given extents", example="grid:4x4"),
    Kind(
        name="torus", syntax="torus:AxBx..", description="mesh that wraps around on every axis", example="torus:8x8x8"
    ),
    Kind(name="hypercube", syntax="hypercube:d", description="2^d nodes, neighbours in d axes", example="hypercube:10"),
    Kind(name="ring", syntax="ring:m", description="m nodes in a circle", example="ring:8"),
    Kind(name="complete", syntax="complete:m", description="m nodes, all linked", example="complete:8"),
    Kind(
        name="fat-tree",
        syntax="fat-tree:k",
        description="three tiers of k-port switches (k even) over k^3/4 hosts",
        example="fat-tree:4",
    ),
    Kind(
        name="dragonfly",
        syntax="dragonfly:a,h,g",
        description="g groups of a routers, each with h hosts and h global links (g <= a*h + 1)",
        example="dragonfly:4,2,9",
    ),
    Kind(
        name="tree",
        syntax="tree:AxBx..@x,y,..",
        description="leaves of a tree: fan-outs outermost first @ distances innermost first",
        example="tree:4x8x8@1,10,100",
    ),
    Kind(
        name="heavy-hex",
        syntax="heavy-hex:d or heavy-hex:RxW",
        description="heavy-hexagon qubit lattice of odd code distance d, or IBM's of R rows: 7x15, 13x27, 21x43",
        example="heavy-hex:7",
    ),
    Kind(name="dgx", syntax="dgx:n", description="n DGX H100 machines of 8 GPUs", example="dgx:4"),
)


def build(spec: str) -> Topology:
    """Build the topology that a SPEC describes.

    Raises InputError for an unknown kind, a malformed SPEC or more nodes than the kind allows, before any large array
    is made; the message holds the expected syntax and the known kinds.
    """
    kind = find_kind(spec)
    try:
        return _BUILDERS[kind.name](spec.partition(":")[2])
    except InputError as error:
        syntax = f"{kind.syntax} (such as {kind.example}; kinds: {_kind_names()})"
        raise InputError("topology", f"{error.reason} in {describe(spec)}; the syntax is {syntax}") from None


def find_kind(spec: str) -> Kind:
    """Return the kind that a SPEC names, whatever follows it; raise InputError for an unknown one."""
    name = spec.partition(":")[0]
    kind = next((kind for kind in KINDS if kind.name == name), None)
    if kind is None:
        raise InputError(
            "topology",
            f"expected KIND:.. with a kind out of {_kind_names()} (such as torus:8x8x8), got {describe(spec)}",
        )
    return kind


def _kind_names() -> str:
    """Return the names of all kinds."""
    return ", ".join(kind.name for kind in KINDS)


def _build_dragonfly(text: str) -> Topology:
    """Build a dragonfly from `a,h,g`."""
    parts = [_read_number(part) for part in text.split(",", 3)]
    if len(parts) != 3:
        raise InputError("topology", f"expected 3 numbers, got {len(parts)}")
    return dragonfly(*parts)


def _build_tree(text: str) -> Topology:
    """Build a tree from `AxBx..@x,y,..`."""
    fanouts, _, distances = text.partition("@")
    return tree(_read_extents(fanouts), tuple(_read_length(part) for part in distances.split(",")))


def _build_heavy_hex(text: str) -> Topology:
    """Build a heavy-hexagon lattice from a code distance, or from `RxW`."""
    extents = _read_extents(text)
    if len(extents) > 2:
        raise InputError("topology", f"expected a code distance or RxW, got {len(extents)} numbers")
    return heavy_hex(*extents) if len(extents) == 1 else heavy_hex_rows(*extents)


_BUILDERS: dict[str, Callable[[str], Topology]] = {
    "grid": lambda text: grid(_read_extents(text)),
    "torus": lambda text: torus(_read_extents(text)),
    "hypercube": lambda text: hypercube(_read_number(text)),
    "ring": lambda text: ring(_read_number(text)),
    "complete": lambda text: complete(_read_number(text)),
    "fat-tree": lambda text: fat_tree(_read_number(text)),
    "dragonfly": _build_dragonfly,
    "tree": _build_tree,
    "heavy-hex": _build_heavy_hex,
    "dgx": lambda text: dgx(_read_number(text)),
}


def _read_extents(text: str) -> tuple[int, ...]:
    """Read whole numbers separated by `x`."""
    return tuple(_read_number(part) for part in text.split("x"))


def _read_number(text: str) -> int:
    """Read a whole number; one longer than the node limit is refused by its digits, not by its value."""
    if not _DIGITS.fullmatch(text):
        raise InputError("topology", f"expected a whole number, got {describe(text)}")
    if len(text) > len(str(NODE_LIMIT)):
        raise InputError("topology", f"expected a whole number up to {NODE_LIMIT}, got {len(text)} digits")
    return int(text)


def _read_length(text: str) -> float:
    """Read a decimal number."""
    if not _LENGTH.fullmatch(text):
        raise InputError("topology", f"expected a distance such as 10 or 2.5, got {describe(text)}")
    return float(text)
