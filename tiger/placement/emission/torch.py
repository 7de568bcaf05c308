"""The split of torch: modules of every stage for torchtitan, split points for torch.distributed.pipelining."""

import json
from itertools import accumulate

from tiger.placement.emission.deployment import Deployment
from tiger.placement.emission.reasons import reasons
from tiger.placement.emission.schedules import TORCH, replaces
from tiger.training.layouts.modules import CHUNKS, name_modules
from tiger.training.models.transformer import is_made_of_shape

USUAL = "modules of a shape have the names that torchtitan gives those of Llama, which have to match the model's"


def write(deployment: Deployment) -> str:
    """Return a JSON object; raise InputError of `emit` where a stage would begin within a module.

    Modules named in `split_points` are keys of a `split_spec` with `SplitPoint.BEGINNING`. Stage j runs on rank
    `stage_ranks[j]` of the pipeline, by the schedule that `get_schedule_class` knows under that name.
    """
    deployment.check_experts_at_home("torch")
    plan, usual = deployment.plan, is_made_of_shape(deployment.layers)
    chunks: list[list[str]] = [[] for _ in range(plan.stages)]
    modules, last = name_modules(deployment.layers), deployment.blocks[-1].stage
    begins = accumulate((size for _, size in modules), initial=0)
    # torchtitan deletes modules that no stage names, such as the norm that is part of the head here.
    for (name, _), begin in zip(modules, begins, strict=False):
        chunks[min(deployment.stage_of(begin), last)].append(name)
    document = {
        **dict.fromkeys(CHUNKS, chunks),
        "split_points": [chunk[0] for chunk in chunks[1:]],
        "pipeline_parallel_degree": plan.positions,
        "tensor_parallel_degree": plan.grid.shape[2],
        "data_parallel_degree": plan.grid.shape[1],
        "pipeline_parallel_schedule": None if deployment.schedule is None else TORCH.get(deployment.schedule),
        "stages_per_rank": plan.virtual,
        "stage_ranks": plan.stage_positions.tolist(),
        "devices": list(deployment.devices),
        "why": [
            *reasons(deployment),
            *deployment.warnings(plan.grid.ravel()),
            *([USUAL] if usual else []),
            *_missing(deployment),
        ],
    }
    return json.dumps(document, indent=1) + "\n"


def _missing(deployment: Deployment) -> list[str]:
    """Return a sentence for a schedule that torch.distributed.pipelining does not have."""
    if not replaces("torch", deployment.schedule):
        return []
    return [f"made for the schedule {deployment.schedule}, which torch.distributed.pipelining has not: run 1F1B"]
