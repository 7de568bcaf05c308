"""The split of vLLM: `VLLM_PP_LAYER_PARTITION`, and the order of its devices."""

import re
from dataclasses import dataclass

import numpy as np

from tiger.errors import InputError
from tiger.formats.values import shown
from tiger.pipeline.emission.deployment import FIELD, Deployment
from tiger.pipeline.emission.reasons import comments

PARTITION, DEVICES = "VLLM_PP_LAYER_PARTITION", "CUDA_VISIBLE_DEVICES"
_LINE = re.compile(rf"\s*(?:export\s+)?({PARTITION}|{DEVICES})=[\"']?([^\"']*?)[\"']?\s*")


@dataclass(frozen=True, slots=True, kw_only=True)
class VllmSplit:
    """Hold the decoder layers of every pipeline rank, and the device indices of the ranks of every replica."""

    partition: tuple[int, ...]
    devices: tuple[tuple[int, ...], ...]


def written(deployment: Deployment) -> str:
    """Return reasons as comments, then lines for a shell; embedding and head are with the first and last rank anyway.

    Devices are numbered in the order of the cluster, within their machine. A replica that spans machines gets its
    devices as comments, since its ranks are not in one process. Raises InputError of `emit` for what vLLM cannot do.
    """
    deployment.check_plain("vLLM")
    plan = deployment.plan
    if any(deployment.cluster.kinds[device] == "cpu" for device in plan.grid.ravel()):
        raise InputError(FIELD, "expected accelerators alone for vLLM, got a stage on a cpu")
    counts, last = deployment.decoder_counts, plan.stages - 1
    astray = [b for b in deployment.blocks if b.kind != "layer" and b.stage != (0 if b.kind == "embedding" else last)]
    if astray:
        reason = f"expected the embedding in the first and the head in the last stage, got {shown(astray[0].module)}"
        raise InputError(FIELD, f"{reason} in stage {astray[0].stage}")
    sizes = f"--pipeline-parallel-size {plan.positions} --tensor-parallel-size {plan.grid.shape[2]}"
    partition = f"export {PARTITION}={','.join(map(str, counts))}"
    lines = [*comments(deployment), f"# vllm serve MODEL {sizes}", partition, *_devices(deployment)]
    return "\n".join(lines) + "\n"


def parsed(text: str) -> VllmSplit:
    """Return what lines of a shell say; raise InputError that names the variable at fault."""
    found = [match.groups() for line in text.splitlines() if (match := _LINE.fullmatch(line))]
    partitions = [_numbers(PARTITION, value) for name, value in found if name == PARTITION]
    if len(partitions) != 1:
        raise InputError(PARTITION, f"expected it once, got it {len(partitions)} times")
    devices = tuple(_numbers(DEVICES, value) for name, value in found if name == DEVICES)
    for replica in devices:
        if len(set(replica)) < len(replica) or len(replica) % len(partitions[0]):
            raise InputError(DEVICES, f"expected different devices, a multiple of {len(partitions[0])} of them")
    return VllmSplit(partition=partitions[0], devices=devices)


def _devices(deployment: Deployment) -> list[str]:
    """Return a line for the devices of every replica."""
    machine, grid = deployment.cluster.machine, deployment.plan.grid
    own = [int((machine[:device] == machine[device]).sum()) for device in range(deployment.cluster.size)]
    lines = []
    for replica in range(grid.shape[1]):
        ranks = grid[:, replica].ravel()
        homes = list(dict.fromkeys(machine[ranks].tolist()))
        if grid.shape[1] > 1:
            lines.append(f"# replica {replica}, on machine {', '.join(map(str, homes))}")
        if len(homes) == 1:
            lines.append(f"export {DEVICES}={','.join(str(own[device]) for device in ranks)}")
            continue
        for home in homes:
            here = np.flatnonzero(machine[ranks] == home)
            listed = ",".join(str(own[ranks[rank]]) for rank in here)
            lines.append(f"# on machine {home}, ranks {','.join(map(str, here))}: {DEVICES}={listed}")
    return lines


def _numbers(field: str, text: str) -> tuple[int, ...]:
    """Return whole numbers that commas separate."""
    words = [word.strip() for word in text.split(",")]
    if not all(word.isascii() and word.isdecimal() and len(word) < 10 for word in words):
        raise InputError(field, f"expected whole numbers separated by commas, got {shown(text)}")
    return tuple(map(int, words))
