"""ExFlow's placement: a CSV table `Expert,Node` of experts, counted through all layers, and their GPUs.

https://github.com/YJHMITWEB/ExFlow. It has no replicas, and the order of experts within a GPU is that of their numbers.
"""

import numpy as np

from tiger.errors import InputError
from tiger.expert_maps.maps.expert_map import FIELD, ExpertMap, check_divisor, read_number
from tiger.expert_maps.replicas.loads import LAYERS_MAX, SLOTS_MAX
from tiger.model.arrays import IntArray
from tiger.model.wording import describe

HEAD = ["Expert", "Node"]


def write(expert_map: ExpertMap) -> bytes:
    """Return the file of a map; raise InputError of `emit` for one with replicas, which the format can't state."""
    slots = expert_map.phy2log.shape[1]
    if slots != expert_map.experts:
        raise InputError(
            "emit", f"expected a map without replicas for exflow, got {slots} slots for {expert_map.experts}"
        )
    gpu = np.argsort(expert_map.phy2log, axis=1) // (slots // expert_map.gpus)
    lines = [",".join(HEAD), *(f"{expert},{node}" for expert, node in enumerate(gpu.ravel().tolist()))]
    return ("\n".join(lines) + "\n").encode()


def read(content: str, gpus: int, experts: int) -> ExpertMap:
    """Return the map of a file for layers of so many experts on GPUs; raise InputError of `map` or a line of it."""
    if not read_number(experts, "experts"):
        raise InputError("experts", "expected at least one, got 0")
    check_divisor("gpus", gpus, experts)
    nodes = _read_nodes(content, experts)
    layers = nodes.reshape(-1, experts)
    wrong = np.argwhere(np.stack([np.bincount(row, minlength=gpus)[:gpus] for row in layers]) * gpus != experts)
    if len(wrong):
        layer, gpu = wrong[0].tolist()
        raise InputError(
            f"{FIELD}/{layer}", f"expected {experts / gpus:g} experts on each of {gpus} GPUs, got others on {gpu}"
        )
    return ExpertMap(np.argsort(layers, axis=1, kind="stable"), gpus)


def _read_nodes(content: str, experts: int) -> IntArray:
    """Return the GPU of each expert through all layers."""
    rows = [line.split(",") for line in content.splitlines()]
    if not rows or rows[0] != HEAD:
        raise InputError(
            f"{FIELD}/1", f"expected the line {','.join(HEAD)}, got {describe(','.join(rows[0]) if rows else '')}"
        )
    if len(rows) == 1 or (len(rows) - 1) % experts or len(rows) - 1 > LAYERS_MAX * SLOTS_MAX:
        raise InputError(FIELD, f"expected lines for layers of {experts} experts, got {len(rows) - 1}")
    nodes = np.full(len(rows) - 1, -1)
    for line, row in enumerate(rows[1:], 2):
        if len(row) != 2 or not all(cell.isascii() and cell.isdigit() and len(cell) < 10 for cell in row):
            raise InputError(f"{FIELD}/{line}", f"expected two whole numbers, got {describe(','.join(row))}")
        expert, node = int(row[0]), int(row[1])
        if expert >= len(nodes) or nodes[expert] >= 0:
            raise InputError(f"{FIELD}/{line}", f"expected each expert from 0 to {len(nodes) - 1} once, got {expert}")
        if node >= SLOTS_MAX:
            raise InputError(f"{FIELD}/{line}", f"expected a GPU below {SLOTS_MAX}, got {node}")
        nodes[expert] = node
    return nodes
