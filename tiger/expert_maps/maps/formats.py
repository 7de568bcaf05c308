"""The systems that a map of experts can be written for, by name, and files of theirs by what they say."""

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from tiger.errors import InputError
from tiger.expert_maps.maps import ascend, eplb, exflow, sglang, vllm
from tiger.expert_maps.maps.expert_map import FIELD, ExpertMap
from tiger.model.jsontext import read_json
from tiger.model.text import read_file, read_text
from tiger.model.wording import describe

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


def read_map(path: Path, gpus: int, experts: int) -> ExpertMap:
    """Return the map of a file in any of the formats, for layers of so many experts on GPUs.

    `.npz` is EPLB's and `.csv` ExFlow's; what a `.json` says tells vLLM, SGLang and vllm-ascend apart. Raises
    InputError of `map`, or of a place in it.
    """
    match path.suffix.lower():
        case ".npz":
            return eplb.read(read_file(path, FIELD, eplb.BYTES_MAX), gpus)
        case ".csv":
            return exflow.read(read_text(path, FIELD), gpus, experts)
        case ".json":
            return _read_document(read_text(path, FIELD), gpus)
    raise InputError(FIELD, f"expected a file ending in .npz, .csv or .json, got {describe(str(path), 300)}")


def _read_document(content: str, gpus: int) -> ExpertMap:
    """Return the map of a JSON file."""
    document = read_json(content, FIELD)
    if isinstance(document, dict) and sglang.KEY in document:
        return sglang.read(content, gpus)
    return vllm.read(content, gpus) if isinstance(document, list) else ascend.read(content, gpus)
