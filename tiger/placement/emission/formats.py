"""The systems that a plan can be written for, by name."""

from collections.abc import Mapping
from types import MappingProxyType

from tiger.errors import InputError
from tiger.model.wording import describe
from tiger.placement.emission import deepspeed, llamacpp, megatron, sglang, torch, vllm
from tiger.placement.emission.deployment import FIELD, Writer

WRITERS: Mapping[str, Writer] = MappingProxyType(
    {
        "megatron": megatron.write,
        "deepspeed": deepspeed.write,
        "vllm": vllm.write,
        "sglang": sglang.write,
        "llama.cpp": llamacpp.write,
        "torch": torch.write,
    }
)
# What a file with the text for a system is called.
FILES: Mapping[str, str] = MappingProxyType(
    {
        "megatron": "megatron.txt",
        "deepspeed": "deepspeed.py",
        "vllm": "vllm.sh",
        "sglang": "sglang.sh",
        "llama.cpp": "llama.cpp.sh",
        "torch": "torch.json",
    }
)


def find_writer(name: str) -> Writer:
    """Return the writer for a system; raise InputError of `emit` for one that is not known."""
    if name not in WRITERS:
        raise InputError(FIELD, f"expected one of {', '.join(WRITERS)}, got {describe(name)}")
    return WRITERS[name]
