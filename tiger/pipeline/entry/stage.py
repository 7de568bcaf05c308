"""A stage of a placement, as reports have it."""

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedStage:
    """Hold a stage: its layers or operators, the devices of its position, and its seconds for one microbatch.

    `devices[d][t]` are the ranks of d replicas cut t ways, `device` is the first of them. `compute_s` are forward and
    backward pass, `communication_s` all messages at both ends of the stage, of the slowest replica. `memory_bytes` is
    the most that a device of the position holds, with all of its stages, `capacity_bytes` what the smallest of them
    has, None without an end.
    """

    device: str
    devices: tuple[tuple[str, ...], ...]
    ops: tuple[str, ...]
    compute_s: float
    communication_s: float
    memory_bytes: float
    capacity_bytes: float | None

    def to_dict(self) -> dict[str, object]:
        """Return the fields by name."""
        return {
            "device": self.device,
            "ops": list(self.ops),
            "compute_s": finite_or_none(self.compute_s),
            "communication_s": finite_or_none(self.communication_s),
            "memory_bytes": finite_or_none(self.memory_bytes),
            "capacity_bytes": self.capacity_bytes,
            "devices": [list(row) for row in self.devices],
        }


def finite_or_none(value: float | None) -> float | None:
    """Return a number as JSON knows it, None for one that is not finite."""
    return value if value is not None and math.isfinite(value) else None
