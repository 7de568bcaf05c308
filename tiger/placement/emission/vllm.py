"""The split of vLLM: `VLLM_PP_LAYER_PARTITION`, the order of its devices, and the flags that go with it."""

from tiger.placement.emission.deployment import Deployment
from tiger.placement.emission.nodes import VISIBLE
from tiger.placement.emission.pipeline_split import comment_training, count_decoders, list_devices
from tiger.placement.emission.reasons import comments

PARTITION, DEVICES = "VLLM_PP_LAYER_PARTITION", VISIBLE


def write(deployment: Deployment) -> str:
    """Return reasons as comments, then lines for a shell, with the command as a comment.

    Raises InputError of `emit` for what vLLM cannot do.
    """
    counts = count_decoders(deployment, "vLLM")
    remarks = [
        *comments(deployment),
        *comment_training(deployment),
        f"# vllm serve MODEL {' '.join(_flags(deployment))}",
    ]
    partition = f"export {PARTITION}={','.join(map(str, counts))}"
    return "\n".join([*remarks, partition, *list_devices(deployment)]) + "\n"


def _flags(deployment: Deployment) -> list[str]:
    """Return degrees, and of a model that serves the most sequences, their tokens and the type of the cache.

    The part of memory that vLLM may take (`--gpu-memory-utilization`) is not known here, nor what its programs take.
    """
    plan, served = deployment.plan, deployment.layers.served
    flags = [f"--pipeline-parallel-size {plan.positions}", f"--tensor-parallel-size {plan.grid.shape[2]}"]
    if served is not None:
        flags += [f"--max-num-seqs {served.sequences}", f"--max-model-len {served.tokens}"]
        flags += ["--kv-cache-dtype fp8"] if served.cache_type == "fp8" else []
    return flags
