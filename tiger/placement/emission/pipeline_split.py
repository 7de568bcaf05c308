"""What vLLM and SGLang take alike: decoder layers of every pipeline rank, and the order of devices."""

from tiger.errors import InputError
from tiger.model.wording import describe
from tiger.placement.emission.deployment import FIELD, Deployment
from tiger.placement.emission.nodes import VISIBLE, order_lines
from tiger.placement.emission.ranges import ranges
from tiger.training.models.transformer import is_made_of_shape


def count_decoders(deployment: Deployment, system: str) -> tuple[int, ...]:
    """Return the decoder layers of every pipeline rank; embedding and head are with the first and last rank anyway.

    Raises InputError of `emit` for what a system of that name cannot do.
    """
    deployment.check_plain(system)
    deployment.check_experts_at_home(system)
    plan = deployment.plan
    if any(deployment.cluster.kinds[device] == "cpu" for device in plan.grid.ravel()):
        raise InputError(FIELD, f"expected accelerators alone for {system}, got a stage on a cpu")
    counts, last = deployment.decoder_counts, plan.stages - 1
    if not all(counts):
        reason = f"expected a decoder layer in every stage, as {system} keeps a KV cache in each, got none"
        raise InputError(FIELD, f"{reason} in stage {counts.index(0)}: ask for fewer than {plan.stages} stages")
    wrong = [b for b in deployment.blocks if b.kind != "layer" and b.stage != (0 if b.kind == "embedding" else last)]
    if wrong:
        reason = f"expected the embedding in the first and the head in the last stage, got {describe(wrong[0].module)}"
        raise InputError(FIELD, f"{reason} in stage {wrong[0].stage}")
    return counts


def comment_training(deployment: Deployment) -> list[str]:
    """Return a comment if memory was counted for training a shape."""
    if not is_made_of_shape(deployment.layers) or not deployment.layers.backward_s.any():
        return []
    return ["# the shape is one to train: with serve=true its memory is weights and KV cache"]


def list_devices(deployment: Deployment) -> list[str]:
    """Return a line for the devices of every replica.

    Accelerators are numbered in the order of the cluster, which is that of nvidia-smi, within their machine. A replica
    that spans machines gets its devices as comments, since its ranks are not in one process.
    """
    grid, own = deployment.plan.grid, deployment.cuda_indices
    lines = order_lines(deployment)
    for replica in range(grid.shape[1]):
        ranks = grid[:, replica].ravel()
        homes = deployment.ranks_by_machine(ranks)
        if grid.shape[1] > 1:
            lines.append(f"# replica {replica}, on machine {', '.join(map(str, homes))}")
        lines += [f"# {warning}" for warning in deployment.warnings(ranks)]
        for home, here in homes.items():
            listed = f"{VISIBLE}={','.join(str(own[int(ranks[rank])]) for rank in here)}"
            where = f"# on machine {home}, ranks {','.join(ranges(here))}: "
            lines.append(f"export {listed}" if len(homes) == 1 else where + listed)
    return lines
