"""Whether a change of the map in use pays: what it gains a step, what it moves, and when it has paid."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from tiger.errors import InputError
from tiger.model.arrays import FloatArray, IntArray, lock
from tiger.model.wording import describe
from tiger.pipeline.experts.replicas.balance import balance
from tiger.pipeline.experts.replicas.descent import Point, descend
from tiger.pipeline.experts.replicas.loads import ExpertLoads, check_map, gpu_loads, keep_to_rules
from tiger.pipeline.experts.replicas.moves import align, find_moved
from tiger.pipeline.experts.replicas.pools import Pools

# Halvings of the price of a move until a cap on moves is met.
HALVINGS = 60
# A part of a step that is saved and smaller is an error of rounding.
LEAST = 1e-12
# Numbers up to this, and from its inverse, can be multiplied and divided by each other a few times without overflow.
LIMIT = 1e50
# What cannot be divided by zero.
POSITIVE = ("bandwidth", "step_s", "steps")
WHOLE = ("steps", "most_moves")


@dataclass(frozen=True, slots=True)
class MoveCosts:
    """Hold what decides whether moves pay.

    A GPU receives `expert_bytes` for an expert at `bandwidth`, bytes/s, all GPUs at a time. The experts of a step take
    `step_s` seconds with the map in use, in proportion to the sum over layers of the largest load, and loads stay as
    they are for `steps` steps. At most `most_moves` experts move, any number if None. A gain below `threshold`,
    a part of the step, is not worth a change. Raises InputError that names a field.
    """

    expert_bytes: float
    bandwidth: float
    step_s: float
    steps: int
    most_moves: int | None = None
    threshold: float = 0.02

    def __post_init__(self) -> None:
        """Check that the fields are numbers in their ranges."""
        for name in ("expert_bytes", "bandwidth", "step_s", "steps", "threshold", "most_moves"):
            value = getattr(self, name)
            if name == "most_moves" and value is None:
                continue
            types = int | np.integer if name in WHOLE else int | np.integer | float
            if isinstance(value, bool) or not isinstance(value, types):
                raise InputError(name, f"expected a {'whole ' if name in WHOLE else ''}number, got {describe(value)}")
            least = 1 / LIMIT if name in POSITIVE else 0
            if not least <= value <= LIMIT:
                raise InputError(name, f"expected a number from {least:g} to {LIMIT:g}, got {describe(value)}")


@dataclass(frozen=True, slots=True)
class Verdict:
    """Hold the advice to `keep` the map in use or to `move` to another one, with the reason, and what the change does.

    `phy2log` is the map to use from now on, [layers, slots]. The rest is about the best change that was found, also
    where the advice is to keep: `gain` is the part of a step that it saves, `gain_s` the seconds; GPUs receive `moves`
    experts, which takes `move_s` seconds, paid after `break_even_steps`, infinite without a gain. `largest_before`,
    `largest_after` and `bound`, the least of maps that keep to the rules, are sums of the largest loads over layers.
    """

    advice: Literal["keep", "move"]
    reason: str
    phy2log: IntArray
    gain: float
    gain_s: float
    moves: int
    move_s: float
    break_even_steps: float
    largest_before: float
    largest_after: float
    bound: float


def weigh(loads: ExpertLoads, in_use: ArrayLike, costs: MoveCosts) -> Verdict:
    """Return whether to leave the map in use, [layers, slots], or which map to move to.

    For each layer, maps on the way down from the one in use, and a new one with its GPUs named so that most stays in
    place, are compared by load and moves at a few prices of a move, and the change that saves most over all steps is
    weighed; with a cap, prices are raised to keep to it, and what is left of it goes to the layer that gains most. A
    layer's map that changes keeps to the rules of the loads, also where the one in use does not. Raises InputError of
    `in_use`.
    """
    before = check_map(loads, "in_use", in_use).reshape(loads.layers, loads.num_gpus, loads.size)
    fresh = balance(loads)
    points = _list_points(loads, before, fresh.phy2log, costs)
    old = sum(some[0].largest for some in points)
    prices = _list_prices(loads, costs, old)
    changes = [_make_change(_choose(points, price, costs.most_moves), before, costs, old) for price in prices]
    best = max(changes, key=lambda change: (change.gain >= costs.threshold, change.saved_s))
    gain_s = best.gain * costs.step_s
    paid = best.move_s / gain_s if gain_s > 0 else np.inf
    advice, reason = _advise(best.gain, paid, costs)
    return Verdict(
        advice=advice,
        reason=reason,
        phy2log=lock((best.after if advice == "move" else before).reshape(loads.layers, -1).copy()),
        gain=best.gain,
        gain_s=gain_s,
        moves=best.moves,
        move_s=best.move_s,
        break_even_steps=paid,
        largest_before=old,
        largest_after=best.largest,
        bound=float(fresh.bound.sum()),
    )


class Change(NamedTuple):
    """Hold a map to move to, [layers, GPUs, slots of a GPU], and what it does; `saved_s` is of all steps."""

    after: IntArray
    largest: float
    gain: float
    moves: int
    move_s: float
    saved_s: float


def _make_change(chosen: list[Point], before: IntArray, costs: MoveCosts, old: float) -> Change:
    """Return the change to the points chosen of all layers."""
    after = np.array([point.slots for point in chosen])
    largest = sum(point.largest for point in chosen)
    received = find_moved(before, after).sum(axis=(0, 2))
    gain = (old - largest) / old if old else 0.0
    move_s = float(received.max()) * costs.expert_bytes / costs.bandwidth
    return Change(after, largest, gain, int(received.sum()), move_s, gain * costs.step_s * costs.steps - move_s)


def _advise(gain: float, paid: float, costs: MoveCosts) -> tuple[Literal["keep", "move"], str]:
    """Return the advice and its reason."""
    if gain <= LEAST:
        return "keep", "no change was found that pays for its moves"
    if gain < costs.threshold:
        return "keep", f"a step gains {100 * gain:.2g} %, less than the {100 * costs.threshold:.2g} % that is asked for"
    if paid >= costs.steps:
        return "keep", f"the moves are paid after {paid:.3g} steps, and loads are expected to stay for {costs.steps}"
    return "move", f"a step gains {100 * gain:.2g} %, and the moves are paid after {paid:.3g} of {costs.steps} steps"


def _list_points(loads: ExpertLoads, before: IntArray, fresh: IntArray, costs: MoveCosts) -> list[list[Point]]:
    """Return the maps of each layer that are compared, that in use first."""
    most = loads.layers * loads.num_replicas if costs.most_moves is None else costs.most_moves
    pools = Pools(loads.weight, loads.num_gpus, loads.size, loads.copies_per_gpu)
    points = descend(pools, before, loads.pools, most)
    aligned = np.array(
        [align(old, new.reshape(old.shape), loads.pools) for old, new in zip(before, fresh, strict=True)]
    )
    largest = gpu_loads(loads, aligned.reshape(loads.layers, -1)).max(axis=1)
    moved = find_moved(before, aligned).sum(axis=(1, 2))
    sound = keep_to_rules(loads, before)
    for layer, some in enumerate(points):
        # Steps keep to the rules where the map that they start from does, and may leave a fault of it as it is.
        if not sound[layer]:
            kept = keep_to_rules(loads, np.array([point.slots for point in some]))
            some[1:] = [point for point, keeps in zip(some[1:], kept[1:].tolist(), strict=True) if keeps]
        some.append(Point(aligned[layer], float(largest[layer]), int(moved[layer])))
    return points


def _list_prices(loads: ExpertLoads, costs: MoveCosts, largest: float) -> list[float]:
    """Return prices of a move, each the load of which one less saves as much over all steps as the move takes.

    The first is as if all GPUs received as many experts, the last as if one received all; every price is twice the one
    before, for which GPU receives how many is known only of a change as a whole.
    """
    move_s = costs.expert_bytes / costs.bandwidth / loads.num_gpus
    price = move_s * largest / (costs.step_s * costs.steps)
    return [price * 2**k for k in range(int(loads.num_gpus).bit_length())]


def _choose(points: list[list[Point]], price: float, most: int | None) -> list[Point]:
    """Return the point of each layer whose load and moves cost least, at a price that keeps to the cap on moves."""
    moved = [np.array([point.moved for point in some]) for some in points]
    largest = [np.array([point.largest for point in some]) for some in points]
    chosen = _choose_at(moved, largest, price)
    if most is not None and _count(moved, chosen) > most:
        # At the load of a whole layer for each move, nothing moves.
        low, high = price, max(float(some.max()) for some in largest) + price
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            within = _count(moved, _choose_at(moved, largest, middle)) <= most
            low, high = (low, middle) if within else (middle, high)
        chosen = _choose_at(moved, largest, high)
        costs = [load + price * moves for load, moves in zip(largest, moved, strict=True)]
        _use_up(costs, moved, chosen, most - _count(moved, chosen))
    return [some[k] for some, k in zip(points, chosen, strict=True)]


def _use_up(costs: list[FloatArray], moved: list[IntArray], chosen: list[int], left: int) -> None:
    """Choose points that cost less in one layer after another, the largest gain first, while moves are left.

    One price reaches only points where each further move gains less than those before; a few moves are left over.
    """
    while True:
        gains = [
            np.where(moves - moves[k] <= left, cost[k] - cost, -np.inf)
            for cost, moves, k in zip(costs, moved, chosen, strict=True)
        ]
        layer = int(np.argmax([gain.max() for gain in gains]))
        point = int(gains[layer].argmax())
        if gains[layer][point] <= 0:
            return
        left -= int(moved[layer][point] - moved[layer][chosen[layer]])
        chosen[layer] = point


def _choose_at(moved: list[IntArray], largest: list[FloatArray], price: float) -> list[int]:
    """Return the place of the cheapest point of each layer; of equal ones the first, which moves least."""
    return [int((load + price * moves).argmin()) for load, moves in zip(largest, moved, strict=True)]


def _count(moved: list[IntArray], chosen: list[int]) -> int:
    """Return how many experts the points chosen move."""
    return sum(int(moves[k]) for moves, k in zip(moved, chosen, strict=True))
