"""The split of torch: modules of every stage for torchtitan, split points for torch.distributed.pipelining."""

import json
from dataclasses import dataclass

from tiger.errors import InputError
from tiger.formats.jsontext import read_json
from tiger.formats.values import check_positive, check_whole, read_name
from tiger.model.wording import describe
from tiger.pipeline.emission.deployment import Block, Deployment
from tiger.pipeline.emission.reasons import reasons
from tiger.pipeline.models.transformer import is_made_of_shape

# torchtitan took the second name up to version 0.1 and has taken the first since.
CHUNKS = ("module_fqns_per_model_part", "module_names_per_model_chunk")
ENDS = {"embedding": ("tok_embeddings",), "head": ("norm", "output")}
USUAL = "modules of a shape have the names that torchtitan gives those of Llama, which have to match the model's"


@dataclass(frozen=True, slots=True, kw_only=True)
class TorchSplit:
    """Hold the modules of every stage, those that stages but the first begin with, and the device of every rank."""

    chunks: tuple[tuple[str, ...], ...]
    split_points: tuple[str, ...]
    stages_per_rank: int
    devices: tuple[str, ...]


def write(deployment: Deployment) -> str:
    """Return a JSON object; raise InputError of `emit` where a stage would begin within a module.

    Modules named in `split_points` are keys of a `split_spec` with `SplitPoint.BEGINNING`. Stage j runs on rank
    j mod (number of ranks of the pipeline).
    """
    plan, usual = deployment.plan, is_made_of_shape(deployment.layers)
    chunks: list[list[str]] = [[] for _ in range(plan.stages)]
    for block in deployment.blocks:
        chunks[block.stage] += _usual_names(block) if usual else (block.module,)
    document = {
        **dict.fromkeys(CHUNKS, chunks),
        "split_points": [chunk[0] for chunk in chunks[1:]],
        "pipeline_parallel_degree": plan.positions,
        "tensor_parallel_degree": plan.grid.shape[2],
        "data_parallel_degree": plan.grid.shape[1],
        "stages_per_rank": plan.virtual,
        "devices": list(deployment.devices),
        "why": [*reasons(deployment), *deployment.warnings(plan.grid.ravel()), *([USUAL] if usual else [])],
    }
    return json.dumps(document, indent=1) + "\n"


def _usual_names(block: Block) -> tuple[str, ...]:
    """Return the names of torchtitan for the modules of a layer of a shape; it deletes those that no stage names."""
    if block.kind == "layer":
        return (f"layers.{block.module.rpartition('.')[2]}",)
    return ENDS[block.kind]


def parse(text: str) -> TorchSplit:
    """Return the split of a JSON object; raise InputError that names the key at fault."""
    data = read_json(text, "split")
    if not isinstance(data, dict):
        raise InputError("split", f"expected an object, got {describe(data)}")
    stated = [data[name] for name in CHUNKS if name in data]
    if not stated or stated[0] != stated[-1]:
        raise InputError(CHUNKS[0], "expected the modules of every stage, once or alike under both names")
    chunks = tuple(_names(f"{CHUNKS[0]}/{stage}", chunk) for stage, chunk in enumerate(_list(CHUNKS[0], stated[0])))
    if not chunks:
        raise InputError(CHUNKS[0], "expected at least one stage, got none")
    points = _names("split_points", data.get("split_points", [chunk[0] for chunk in chunks[1:]]), least=0)
    if points != tuple(chunk[0] for chunk in chunks[1:]):
        raise InputError("split_points", "expected the first module of every stage but the first, got others")
    virtual = check_whole("stages_per_rank", check_positive("stages_per_rank", data.get("stages_per_rank", 1)))
    if len(chunks) % virtual:
        raise InputError("stages_per_rank", f"expected a divisor of {len(chunks)} stages, got {virtual}")
    devices = _names("devices", data.get("devices", []), least=0)
    return TorchSplit(chunks=chunks, split_points=points, stages_per_rank=virtual, devices=devices)


def _list(field: str, value: object) -> list[object]:
    """Return a list."""
    if not isinstance(value, list):
        raise InputError(field, f"expected a list, got {describe(value)}")
    return value


def _names(field: str, value: object, least: int = 1) -> tuple[str, ...]:
    """Return a list of different names, so many at least."""
    names = tuple(read_name(f"{field}/{k}", name) for k, name in enumerate(_list(field, value)))
    if len(names) < least or len(set(names)) < len(names):
        raise InputError(field, f"expected different names, {least} or more, got {len(names)}")
    return names
