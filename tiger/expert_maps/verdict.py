"""Whether a change of the map in use pays: what it gains a step, what it moves, and when it has paid."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from tiger.errors import InputError
from tiger.expert_maps.replicas.balance import balance
from tiger.expert_maps.replicas.loads import ExpertLoads, check_map, gpu_loads
from tiger.expert_maps.slots.advice import advise
from tiger.expert_maps.slots.objective import SlotProblem
from tiger.expert_maps.slots.starts import start_with_loads
from tiger.model.arrays import IntArray, lock
from tiger.model.wording import describe

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

    It is `tiger.experts` of loads alone, on GPUs that are all linked alike. A layer's map that changes keeps to the
    rules of the loads, also where the one in use does not. Raises InputError of `in_use`.
    """
    before = check_map(loads, "in_use", in_use)
    old = float(gpu_loads(loads, before).max(axis=1).sum())
    move = costs.expert_bytes / costs.bandwidth / loads.num_gpus / costs.steps
    problem = SlotProblem(
        loads=loads,
        counts=np.zeros((0, loads.experts, loads.experts)),
        token=costs.step_s / old if old else 0.0,
        hops=np.zeros((loads.num_gpus, loads.num_gpus)),
        receipts=move * (1.0 - np.eye(loads.num_gpus)),
        in_use=before,
        most_moves=costs.most_moves,
    )
    fresh = balance(loads)
    after, found = advise(problem, start_with_loads(problem, fresh.phy2log), costs.steps, costs.threshold)
    return Verdict(
        advice=found.advice,
        reason=found.reason,
        phy2log=lock((after if found.advice == "move" else before).copy()),
        gain=found.gain,
        gain_s=found.gain * costs.step_s,
        moves=found.moves,
        move_s=found.move_s or 0.0,
        break_even_steps=found.break_even_steps,
        largest_before=old,
        largest_after=float(gpu_loads(loads, after).max(axis=1).sum()),
        bound=float(fresh.bound.sum()),
    )
