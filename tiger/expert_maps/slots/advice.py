"""Whether a change of the map in use pays: what it gains a step, what it moves, and when it has paid."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from tiger.expert_maps.slots.objective import SlotProblem, count_moves, price_moves, price_slots
from tiger.model.arrays import IntArray
from tiger.model.document import INFINITE, Document

# A part of a step that is saved and smaller is an error of rounding.
LEAST = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice(Document):
    """Hold the advice to `keep` the map in use or to `move` to another one, with the reason, and what the change does.

    All is about the best change that was found, also where the advice is to keep: `gain` is the part of a step that it
    saves, `gain_s` the seconds. `moves` experts come to a device that did not hold them, in `move_s` seconds, those of
    the device that receives longest, paid after `break_even_steps`, infinite without a gain. Seconds are None where
    prices are not in seconds, and moves cost nothing then.
    """

    advice: Literal["keep", "move"]
    reason: str
    gain: float
    gain_s: float | None
    moves: int
    move_s: float | None
    break_even_steps: float = field(metadata=INFINITE)


def advise(problem: SlotProblem, maps: Sequence[IntArray], steps: int, threshold: float) -> tuple[IntArray, Advice]:
    """Return the change of the map in use to one of the maps that saves most over all steps, and whether it pays.

    Prices are seconds, and stay as they are for `steps` steps, by which those of moves have been divided. A gain below
    `threshold`, a part of the step, is not worth a change.
    """
    if problem.in_use is None:
        raise ValueError("expected a map in use")
    old = price_slots(problem, problem.in_use).step
    weighed = [_weigh(problem, old, after, (steps, threshold)) for after in maps]
    best = max(range(len(maps)), key=lambda k: (weighed[k][1].gain >= threshold, weighed[k][0]))
    return maps[best], weighed[best][1]


def _weigh(problem: SlotProblem, old: float, after: IntArray, limits: tuple[int, float]) -> tuple[float, Advice]:
    """Return what a change saves over all steps, and the advice, from what a step costs before, steps and threshold."""
    steps, _ = limits
    # Prices of moves are means over devices and steps.
    move_s = float(price_moves(problem, after).sum(axis=0).max()) * problem.loads.num_gpus * steps
    gain_s = old - price_slots(problem, after).step
    gain, paid = gain_s / old if old else 0.0, move_s / gain_s if gain_s > 0 else np.inf
    reason = _find_fault(gain, paid, limits)
    return gain_s * steps - move_s, Advice(
        advice="keep" if reason else "move",
        reason=reason or f"a step gains {_percent(gain)}, and the moves are paid after {paid:.3g} of {steps} steps",
        gain=gain,
        gain_s=gain_s,
        moves=count_moves(problem, after),
        move_s=move_s,
        break_even_steps=paid,
    )


def _find_fault(gain: float, paid: float, limits: tuple[int, float]) -> str | None:
    """Return why a change is not worth it, None where it is."""
    steps, threshold = limits
    if gain <= LEAST:
        return "no change was found that pays for its moves"
    if gain < threshold:
        return f"a step gains {_percent(gain)}, less than the {_percent(threshold)} that is asked for"
    if paid >= steps:
        return f"the moves are paid after {paid:.3g} steps, and loads are expected to stay for {steps}"
    return None


def _percent(part: float) -> str:
    """Return a part in percent."""
    return f"{100 * part:.2g} %"
