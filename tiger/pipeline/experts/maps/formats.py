"""The systems that a map of experts can be written for, by name."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from tiger.errors import InputError
from tiger.model.wording import describe
from tiger.pipeline.experts.maps import ascend, eplb, exflow, sglang, vllm
from tiger.pipeline.experts.maps.expert_map import ExpertMap

WRITERS: Mapping[str, Callable[[ExpertMap], bytes]] = MappingProxyType(
    {
        "eplb": eplb.write,
        "vllm": vllm.write,
        "sglang": sglang.write,
        "vllm-ascend": ascend.write,
        "exflow": exflow.write,
    }
)
# What a file for a system is called.
FILES: Mapping[str, str] = MappingProxyType(
    {
        "eplb": "expert_map.npz",
        "vllm": "initial_expert_map.json",
        "sglang": "expert_location.json",
        "vllm-ascend": "expert_map.json",
        "exflow": "solution.csv",
    }
)


def write_map(expert_map: ExpertMap, name: str) -> bytes:
    """Return the file of a map for a system; raise InputError of `emit` where it is not known or has no such maps."""
    if name not in WRITERS:
        raise InputError("emit", f"expected one of {', '.join(WRITERS)}, got {describe(name)}")
    return WRITERS[name](expert_map)
