"""In which order every position of a pipeline runs its passes, where that order is fixed beforehand."""

from collections.abc import Sequence
from itertools import chain
from typing import Literal

from tiger.errors import InputError
from tiger.model.wording import describe

Schedule = Literal["gpipe", "1f1b", "interleaved", "zero-bubble"]
# The kinds of passes; WEIGHT is the gradient of the weights where a schedule separates it from the backward pass.
FORWARD, BACKWARD, WEIGHT = 0, 1, 2
KINDS = 3
# Passes that are simulated in seconds; a table of them takes tens of megabytes.
MOST_PASSES = 2**20
Pass = tuple[int, int, int]


def check_schedule(schedule: Schedule, positions: int, virtual: int, microbatches: int) -> None:
    """Raise InputError where a schedule cannot run the microbatches over the stages of a position."""
    if microbatches < 1:
        raise InputError("microbatches", f"expected at least 1, got {describe(microbatches)}")
    if virtual < 1:
        raise InputError("virtual", f"expected at least 1, got {describe(virtual)}")
    if schedule != "interleaved" and virtual > 1:
        raise InputError("virtual", f"expected 1 with {schedule}: only interleaved has more, got {describe(virtual)}")
    if schedule == "interleaved" and microbatches % positions:
        reason = (
            f"expected a multiple of {positions}, the devices of an interleaved pipeline, got {describe(microbatches)}"
        )
        raise InputError("microbatches", reason)
    if positions * virtual * microbatches > MOST_PASSES:
        most = f"expected at most {MOST_PASSES // (positions * virtual)} over {positions * virtual} stages"
        raise InputError("microbatches", f"{most}, to be simulated in seconds, got {describe(microbatches)}")


def pass_orders(schedule: Schedule, positions: int, virtual: int, microbatches: int) -> tuple[list[Pass], ...]:
    """Return the passes (kind, microbatch, stage) of each of p positions in order, for v stages a position.

    GPipe (Huang et al., arXiv:1811.06965) runs every forward pass first; 1F1B (Narayanan et al., PipeDream-Flush,
    arXiv:2006.09503) alternates as soon as it can; interleaved 1F1B (Narayanan et al., arXiv:2104.04473) deals
    microbatches to the v stages of a position in groups of p, as Megatron does. For "zero-bubble" this is 1F1B with
    the backward pass split, every weight gradient made at once: the order that its search starts from. O(p v m).
    Raises InputError.
    """
    check_schedule(schedule, positions, virtual, microbatches)
    return tuple(_order(schedule, (positions, virtual, microbatches), position) for position in range(positions))


def warm_up(schedule: Schedule, shape: tuple[int, int, int], position: int) -> int:
    """Return how many forward passes a position of (p, v, m) runs before it alternates."""
    positions, virtual, microbatches = shape
    after = positions - position - 1
    steps = {"gpipe": microbatches, "interleaved": 2 * after + (virtual - 1) * positions}
    return min(steps.get(schedule, after), virtual * microbatches)


def _order(schedule: Schedule, shape: tuple[int, int, int], position: int) -> list[Pass]:
    """Return the passes of one position: warm-up, one forward and one backward in turn, and the rest."""
    forward, backward = _deal(shape, position)
    warm = warm_up(schedule, shape, position)
    turns = list(chain.from_iterable(zip(forward[warm:], backward, strict=False)))
    order = forward[:warm] + turns + backward[len(forward) - warm :]
    return _split(order) if schedule == "zero-bubble" else order


def _deal(shape: tuple[int, int, int], position: int) -> tuple[list[Pass], list[Pass]]:
    """Return the forward and the backward passes of a position, each in its order."""
    positions, virtual, microbatches = shape
    # Without virtual stages no group has to be whole.
    if virtual == 1:
        turns = [(microbatch, 0) for microbatch in range(microbatches)]
    else:
        groups = (range(first, first + positions) for first in range(0, microbatches, positions))
        turns = [(microbatch, chunk) for group in groups for chunk in range(virtual) for microbatch in group]
    forward = [(FORWARD, microbatch, chunk * positions + position) for microbatch, chunk in turns]
    backward = [(BACKWARD, microbatch, (virtual - 1 - chunk) * positions + position) for microbatch, chunk in turns]
    return forward, backward


def _split(order: Sequence[Pass]) -> list[Pass]:
    """Return an order with a weight pass right behind every backward pass."""
    return [part for step in order for part in ([step] if step[0] == FORWARD else [step, (WEIGHT, step[1], step[2])])]
