"""The schedules that systems run, of those that plans are made for."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from tiger.training.schedules.pass_orders import Schedule, stages_each

System = Literal["megatron", "deepspeed", "vllm", "sglang", "llama.cpp", "torch"]
# What torch.distributed.pipelining calls schedules.
TORCH: Mapping[Schedule, str] = MappingProxyType(
    {
        "gpipe": "GPipe",
        "1f1b": "1F1B",
        "interleaved": "Interleaved1F1B",
        "zb-v": "ZBVZeroBubble",
        "dualpipe-v": "DualPipeV",
    }
)
# Systems that serve have one stage a device, as 1F1B has.
SYSTEM_SCHEDULES: Mapping[str, tuple[Schedule, ...]] = MappingProxyType(
    {
        "megatron": ("1f1b", "interleaved"),
        "deepspeed": ("1f1b",),
        "vllm": ("1f1b",),
        "sglang": ("1f1b",),
        "llama.cpp": ("1f1b",),
        "torch": tuple(TORCH),
    }
)


def replaces(system: str, schedule: Schedule | None) -> bool:
    """Return whether a system runs its own schedule instead of one that it does not have."""
    return schedule is not None and schedule not in SYSTEM_SCHEDULES[system]


def lacks_stages(system: str, schedule: Schedule, virtual: int | None) -> bool:
    """Return whether a system has not as many stages a device as a schedule, which may leave that to `virtual`."""
    return replaces(system, schedule) and (stages_each(schedule) or virtual or 2) > 1
