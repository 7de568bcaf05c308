"""The split of torch: modules of every stage for torchtitan, split points for torch.distributed.pipelining."""

import json

from tiger.placement.emission.deployment import Deployment, StagedModule
from tiger.placement.emission.reasons import reasons
from tiger.training.models.transformer import is_made_of_shape

# torchtitan took the second name up to version 0.1 and has taken the first since.
CHUNKS = ("module_fqns_per_model_part", "module_names_per_model_chunk")
ENDS = {"embedding": ("tok_embeddings",), "head": ("norm", "output")}
USUAL = "modules of a shape have the names that torchtitan gives those of Llama, which have to match the model's"


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


def _usual_names(block: StagedModule) -> tuple[str, ...]:
    """Return the names of torchtitan for the modules of a layer of a shape; it deletes those that no stage names."""
    if block.kind == "layer":
        return (f"layers.{block.module.rpartition('.')[2]}",)
    return ENDS.get(block.kind, (block.module,))
