"""The bytes of a parameter that training holds: weights, gradients, and what the optimizer keeps."""

from typing import NamedTuple

from tiger.training.models.setup import Gradients, Optimizer, TrainingSetup
from tiger.training.precision import Precision

NUMBER_BYTES: dict[str, int] = {"fp8": 2, "bf16": 2, "fp16": 2, "fp32": 4}
# The bytes of a weight that serves in the type of the model: fp8 has no copy in bf16.
WEIGHT_BYTES: dict[str, int] = {**NUMBER_BYTES, "fp8": 1}
# Beside its weights in bf16, a layer in fp8 keeps two copies of a byte each, one of them transposed, as Hopper's
# products take both operands by rows. Source: Transformer Engine's user guide on FP8 primary weights.
COPY_BYTES = {"fp8": 2, "bf16": 0, "fp16": 0, "fp32": 0}
# Both moments of Adam in 4, 2 or 1 bytes (the last: Dettmers et al., ICLR 2022, arXiv:2110.02861), and sgd's momentum.
MOMENT_BYTES: dict[Optimizer, int] = {"adam": 8, "adam-bf16": 4, "adam-8bit": 2, "sgd": 4}
# Weights that are not in fp32 have a copy in it, and so have gradients in fp16, whose loss is scaled; those in bf16 are
# taken as they are.
MASTER_BYTES = 4
USUAL_GRADIENTS: dict[str, Gradients] = {"fp8": "fp32", "bf16": "fp32", "fp16": "fp16", "fp32": "fp32"}


class StateBytes(NamedTuple):
    """Hold the bytes of a parameter: its weight with copies, its gradient, and the optimizer's."""

    weight: float
    gradient: float
    optimizer: float


def state_bytes_of(dtype: Precision, setup: TrainingSetup) -> StateBytes:
    """Return the bytes of a parameter before anything is shared out.

    18 with Adam in bf16, 20 in fp16, 16 in fp32. Source: the table of Megatron Core's distributed optimizer.
    """
    gradients = setup.gradients or USUAL_GRADIENTS[dtype]
    copies = MASTER_BYTES * (NUMBER_BYTES[dtype] < MASTER_BYTES) + MASTER_BYTES * (gradients == "fp16")
    return StateBytes(
        weight=NUMBER_BYTES[dtype] + COPY_BYTES[dtype],
        gradient=NUMBER_BYTES[gradients],
        optimizer=copies + MOMENT_BYTES[setup.optimizer],
    )


def sharded_state_bytes(state: StateBytes, setup: TrainingSetup, copies: int) -> float:
    """Return the bytes of a parameter on each of so many ranks that hold the same, by what they share out.

    Source: Rajbhandari et al., SC 2020, arXiv:1910.02054.
    """
    stage = int(setup.sharding[-1]) if setup.sharding != "none" else 0
    shares = (copies if stage >= least else 1 for least in (3, 2, 1))
    return sum(size / share for size, share in zip(state, shares, strict=True))
