"""A stage of a placement, and what goes between devices, as reports have them."""

from dataclasses import dataclass, field

from tiger.model.document import INFINITE, KEY, Document


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedStage(Document):
    """Hold a stage: its layers or operators, the devices of its position, and its seconds for one microbatch.

    `devices[d][t]` are the ranks of d replicas cut t ways, `device` is the first of them. `compute_s` are forward and
    backward pass, `communication_s` all messages at both ends of the stage, of the slowest replica. `memory_bytes` is
    the most that a device of the position holds, with all of its stages, `capacity_bytes` what the smallest of them
    has, None without an end.
    """

    device: str
    ops: tuple[str, ...]
    compute_s: float = field(metadata=INFINITE)
    communication_s: float = field(metadata=INFINITE)
    memory_bytes: float = field(metadata=INFINITE)
    capacity_bytes: float | None
    devices: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Link(Document):
    """Hold the bytes that an iteration sends between two devices, both directions together."""

    a: str
    b: str
    sent_bytes: float = field(metadata={KEY: "bytes", **INFINITE})
