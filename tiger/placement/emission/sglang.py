"""The split of SGLang: `SGLANG_PP_LAYER_PARTITION`, the order of its devices, and the flags that go with it."""

from tiger.placement.emission.deployment import Deployment
from tiger.placement.emission.pipeline_split import comment_training, count_decoders, list_devices
from tiger.placement.emission.reasons import comments

PARTITION = "SGLANG_PP_LAYER_PARTITION"


def write(deployment: Deployment) -> str:
    """Return reasons as comments, then lines for a shell, with the command as a comment.

    Raises InputError of `emit` for what SGLang cannot do.
    """
    counts = count_decoders(deployment, "SGLang")
    command = f"# python -m sglang.launch_server --model-path MODEL {' '.join(_flags(deployment))}"
    remarks = [*comments(deployment), *comment_training(deployment), command]
    partition = f"export {PARTITION}={','.join(map(str, counts))}"
    return "\n".join([*remarks, partition, *list_devices(deployment)]) + "\n"


def _flags(deployment: Deployment) -> list[str]:
    """Return degrees, and of a model that serves the most sequences, their tokens and the type of the cache."""
    plan, served = deployment.plan, deployment.layers.served
    flags = [f"--pp-size {plan.positions}", f"--tp-size {plan.grid.shape[2]}"]
    if served is not None:
        flags += [f"--max-running-requests {served.sequences}", f"--context-length {served.tokens}"]
        flags += ["--kv-cache-dtype fp8_e4m3"] if served.cache_type == "fp8" else []
    return flags
