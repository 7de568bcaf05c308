"""Problems of slots at random, all maps of small ones, and their prices token by token."""

from collections.abc import Callable
from itertools import permutations, product

import numpy as np
import pytest

from tiger.expert_maps.replicas.loads import ExpertLoads
from tiger.expert_maps.slots.objective import SlotProblem
from tiger.expert_maps.slots.starts import order_slots


@pytest.fixture(scope="session")
def draw_problem() -> Callable[..., SlotProblem]:
    """Return what draws a problem by its seed: layers, experts, slots, devices in two nodes, and a map in use.

    With `unlike`, every other device has a speed of 0.4, with `room` one slot more, and the others one less.
    """

    def draw(seed: int, size: tuple[int, int, int, int], **rules: int | None) -> SlotProblem:
        layers, experts, slots, devices = size
        rng = np.random.default_rng(seed)
        counts = rng.integers(0, 20, (layers - 1, experts, experts)).astype(np.float64)
        weight = np.vstack([counts.sum(axis=2), counts[-1:].sum(axis=1)])
        groups, nodes = rules.get("groups") or 1, 2 if rules.get("groups") else 1
        speed = np.where(np.arange(devices) % 2, 0.4, 1.0) if rules.get("unlike") else None
        loads = ExpertLoads(weight, slots, groups, nodes, devices, rules.get("copies") or 1, speed)
        if rules.get("room"):
            room = np.tile(slots // devices + np.resize([1, -1], devices), (layers, 1))
            loads = ExpertLoads(
                np.pad(weight, ((0, 0), (0, 1))), devices * int(room.max()), 1, 1, devices, speed=speed, room=room
            )
            counts = np.pad(counts, ((0, 0), (0, 1), (0, 1)))
        node = np.arange(devices) * 2 // devices
        hops = np.where(node[:, None] == node, 0.3, 1.1) * (1 - np.eye(devices))
        in_use = order_slots(loads) if rules.get("in_use", 1) else None
        return SlotProblem(loads, counts, rng.uniform(0.1, 2), hops, 7 * hops, in_use, rules.get("most"))

    return draw


@pytest.fixture(scope="session")
def referee() -> Callable[[SlotProblem, np.ndarray], float]:
    """Return what prices a map by its definition, one pair of replicas after another."""

    def price(problem: SlotProblem, slots: np.ndarray) -> float:
        loads, total = problem.loads, 0.0
        places = [[np.flatnonzero(row == e) // loads.size for e in range(loads.experts)] for row in slots]
        for layer, where in enumerate(places):
            load = np.zeros(loads.num_gpus)
            for expert, devices in enumerate(where):
                for g in devices:
                    load[g] += loads.weight[layer, expert] / len(devices)
            total += problem.token * (load / loads.speeds).max()
            if layer < loads.layers - 1:
                for e, f in product(range(loads.experts), repeat=2):
                    pairs = [problem.hops[g, h] for g in where[e] for h in places[layer + 1][f]]
                    total += problem.counts[layer, e, f] * np.mean(pairs)
            if problem.in_use is not None:
                held = [np.flatnonzero(problem.in_use[layer] == e) // loads.size for e in range(loads.experts)]
                total += sum(
                    min(problem.receipts[h, g] for h in held[e])
                    for e in range(loads.experts)
                    for g in set(where[e].tolist())
                )
        return total

    return price


@pytest.fixture(scope="session")
def list_maps() -> Callable[[SlotProblem], list[np.ndarray]]:
    """Return what lists all maps of a problem, those of a layer without replicas of one expert on a device."""

    def rows(loads: ExpertLoads) -> list[tuple[int, ...]]:
        found = set[tuple[int, ...]]()
        for more in np.ndindex(*(loads.experts,) * (loads.num_replicas - loads.experts)):
            for order in set(permutations([*range(loads.experts), *more])):
                devices = [tuple(sorted(part)) for part in np.array(order).reshape(loads.num_gpus, -1).tolist()]
                if all(len(set(device)) == len(device) for device in devices):
                    found.add(tuple(e for device in devices for e in device))
        return sorted(found)

    def every(problem: SlotProblem) -> list[np.ndarray]:
        return [np.array(layers) for layers in product(rows(problem.loads), repeat=problem.loads.layers)]

    return every
