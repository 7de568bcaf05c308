"""The layout of Megatron-LM: `--pipeline-model-parallel-layout`, and the flags that go with it."""

from typing import get_args

from tiger.errors import InputError
from tiger.placement.emission.deployment import FIELD, Deployment
from tiger.placement.emission.nodes import node_lines
from tiger.placement.emission.reasons import comments
from tiger.placement.emission.schedules import replaces
from tiger.training.layouts.megatron import write_layout
from tiger.training.layouts.modules import count_layers
from tiger.training.models.layers import LayerKind
from tiger.training.models.transformer import is_made_of_shape

# Flags of numbers and optimizers that are not Megatron-LM's default.
PRECISIONS = {"bf16": ("--bf16",), "fp16": ("--fp16",), "fp8": ("--bf16", "--fp8-format hybrid")}
GRADIENTS = {"bf16": ("--grad-reduce-in-bf16",), "fp32": ("--accumulate-allreduce-grads-in-fp32",)}
OPTIMIZERS = {
    "sgd": ("--optimizer sgd",),
    "adam-bf16": ("--use-precision-aware-optimizer", "--exp-avg-dtype bf16", "--exp-avg-sq-dtype bf16"),
}


def write(deployment: Deployment) -> str:
    """Return reasons as comments, then the flags for a command line, the layout last.

    Raises InputError of `emit` for what a layout cannot say.
    """
    deployment.check_experts_at_home("Megatron-LM")
    deployment.check_loop("Megatron-LM")
    stages, plan = stages_of(deployment), deployment.plan
    flags = [
        f"--pipeline-model-parallel-size {plan.positions}",
        f"--tensor-model-parallel-size {plan.grid.shape[2]}",
        *_training_flags(deployment),
        f"--num-layers {sum(stage.count('t') for stage in stages)}",
        *([f"--mtp-num-layers {m}"] if (m := sum(stage.count("m") for stage in stages)) else []),
        *(["--untie-embeddings-and-output-weights"] if _is_untied(deployment) else []),
        f'--pipeline-model-parallel-layout "{write_layout(stages)}"',
    ]
    remarks = [*comments(deployment), *_missing(deployment), *_schedule(deployment), *node_lines(deployment)]
    return "\n".join([*remarks, *_plain_flags(stages, plan.virtual), " \\\n".join(flags)]) + "\n"


def _training_flags(deployment: Deployment) -> list[str]:
    """Return the flags for how ranks hold and train the layers, as far as it is not Megatron-LM's default.

    Of ZeRO's stages the first is its distributed optimizer, the others are its own FSDP.
    """
    setup, tensor = deployment.layers.setup, deployment.plan.grid.shape[2]
    strategies = {"zero-2": "optim_grads", "zero-3": "optim_grads_params"}
    strategy = strategies.get(setup.sharding)
    # Layers of a table say nothing of how activations are shared.
    shared = is_made_of_shape(deployment.layers) and setup.sequence_parallel and tensor > 1
    return [
        *(["--sequence-parallel"] if shared else []),
        *(["--tp-comm-overlap"] if shared and setup.overlap_tensor is not None else []),
        *([f"--context-parallel-size {setup.context}"] if setup.context > 1 else []),
        *([f"--expert-model-parallel-size {setup.expert}"] if setup.expert > 1 else []),
        *(["--use-distributed-optimizer"] if setup.sharding != "none" or setup.optimizer == "adam-bf16" else []),
        *([f"--use-megatron-fsdp --data-parallel-sharding-strategy {strategy}"] if strategy else []),
        *(["--recompute-granularity selective"] if setup.recompute == "selective" else []),
        *(_full_recompute(setup.recompute_layers) if setup.recompute == "full" else []),
        *PRECISIONS.get(setup.precision or "", ()),
        *GRADIENTS.get(setup.gradients or "", ()),
        *OPTIMIZERS.get(setup.optimizer, ()),
    ]


def _full_recompute(layers: int | None) -> list[str]:
    """Return the flags that recompute the first layers of every stage, all for None."""
    method, count = ("uniform", 1) if layers is None else ("block", layers)
    return [f"--recompute-granularity full --recompute-method {method}", f"--recompute-num-layers {count}"]


def stages_of(deployment: Deployment) -> tuple[str, ...]:
    """Return the symbols of every stage, E in front and L at the end whether the model lists them or not."""
    counts, last = deployment.decoder_counts, deployment.plan.stages - 1
    mtp = len(count_layers(deployment.layers, FIELD)["m"])
    at = {kind: {block.stage for block in deployment.blocks if block.kind == kind} for kind in get_args(LayerKind)}
    for kind, stage in (("embedding", 0), ("head", last)):
        misplaced = at[kind] - {stage}
        if misplaced:
            raise InputError(FIELD, f"expected all of the {kind} in stage {stage}, got some in {min(misplaced)}")
    if len(at["mtp"]) > 1 or any(stage < last - deployment.plan.positions + 1 for stage in at["mtp"]):
        raise InputError(FIELD, "expected all MTP layers in one of the last stages, got them elsewhere")
    return tuple(
        "E" * (stage == 0) + "t" * count + "m" * (mtp * (stage in at["mtp"])) + "L" * (stage == last)
        for stage, count in enumerate(counts)
    )


def _is_untied(deployment: Deployment) -> bool:
    """Return whether embedding and head are known to share nothing; a table may have left out that they do."""
    return is_made_of_shape(deployment.layers) and not deployment.layers.tied


def _missing(deployment: Deployment) -> list[str]:
    """Return a comment for each way of training that has no flag of one meaning."""
    setup = deployment.layers.setup
    eight = ["# moments in 8 bits are not among its own optimizers"] if setup.optimizer == "adam-8bit" else []
    alone = setup.optimizer == "adam-bf16" and setup.sharding == "none"
    shared = ["# moments in bf16 go with the distributed optimizer alone, which takes less memory than was counted"]
    many = "# add --cpu-offloading-num-layers with the layers of a device, whose activations go to the host"
    return [*eight, *(shared if alone else []), *([many] if setup.offload is not None else [])]


def _schedule(deployment: Deployment) -> list[str]:
    """Return a comment for a schedule that Megatron-LM does not run, or that the layout brings along."""
    if replaces("megatron", deployment.schedule):
        return [f"# made for the schedule {deployment.schedule}, which Megatron-LM does not have: it runs 1F1B"]
    if deployment.plan.virtual > 1:
        return ["# the layout says the virtual stages: no --num-layers-per-virtual-pipeline-stage beside it"]
    return []


def _plain_flags(stages: tuple[str, ...], virtual: int) -> list[str]:
    """Return a comment with flags that say the same without a layout, if there are such."""
    counts = [stage.count("t") for stage in stages]
    if virtual > 1 or len(counts) < 2 or not all(counts) or any("m" in stage for stage in stages):
        return []
    inner = set(counts[1:-1] or counts[-1:])
    if len(inner) > 1:
        return []
    usual = inner.pop()
    ends = (("first", counts[0]), ("last", counts[-1]))
    flags = [f"--decoder-{end}-pipeline-num-layers {count}" for end, count in ends if count != usual]
    if not flags:
        return ["# no flag is needed instead of the layout: all stages hold equally many decoder layers"]
    return [f"# instead of the layout: {' '.join(flags)}"]
