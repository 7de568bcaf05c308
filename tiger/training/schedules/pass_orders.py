"""In which order every position of a pipeline runs its passes, where that order is fixed beforehand."""

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import Literal

from tiger.errors import InputError
from tiger.model.wording import describe
from tiger.training.costs.stage_positions import StageStyle
from tiger.training.schedules.chimera import chimera_orders
from tiger.training.schedules.passes import BACKWARD, FORWARD, WEIGHT, Pass
from tiger.training.schedules.v_orders import dual_pipe_v_order, zero_bubble_v_order

Schedule = Literal["gpipe", "1f1b", "interleaved", "zero-bubble", "zb-v", "dualpipe-v", "chimera"]
# Schedules whose positions have two stages, one on the way to the last position and one on the way back.
V_ORDERS: Mapping[Schedule | None, Callable[[int, int, int], list[Pass]]] = {
    "zb-v": zero_bubble_v_order,
    "dualpipe-v": dual_pipe_v_order,
}
# Schedules that make gradients of activations first, and those of weights where a position would wait.
SPLIT: frozenset[Schedule] = frozenset({"zero-bubble", "zb-v", "dualpipe-v"})
# Passes that are simulated in seconds; a table of them takes tens of megabytes.
MOST_PASSES = 2**20


def style_of(schedule: Schedule | None) -> StageStyle:
    """Return how a schedule deals the stages of a pipeline to its positions."""
    return "v" if schedule in V_ORDERS else "mirror" if schedule == "chimera" else "loop"


def pipelines_of(schedule: Schedule | None) -> int:
    """Return how many pipelines run side by side over the same positions."""
    return 2 if schedule == "chimera" else 1


def stages_each(schedule: Schedule | None) -> int | None:
    """Return how many stages a position has, None for a schedule that runs any number from two on."""
    return 2 if schedule in V_ORDERS else None if schedule == "interleaved" else 1


def wanted_microbatches(schedule: Schedule | None, positions: int, microbatches: int) -> str | None:
    """Return which microbatches a schedule of p positions wants instead, None where it can run them."""
    if schedule == "interleaved" and microbatches % positions:
        return f"a multiple of {positions}, the devices of an interleaved pipeline"
    if schedule == "dualpipe-v" and microbatches < 2 * positions:
        return f"at least {2 * positions}, twice the devices of a pipeline under dualpipe-v"
    if schedule == "chimera" and positions % 2:
        return f"an even number of devices in a row for chimera beside {positions}"
    if schedule == "chimera" and microbatches % 2:
        return "an even number, half for each direction of chimera"
    return None


def check_schedule(schedule: Schedule, positions: int, virtual: int, microbatches: int) -> None:
    """Raise InputError where a schedule cannot run the microbatches over the stages of a position."""
    if microbatches < 1:
        raise InputError("microbatches", f"expected at least 1, got {describe(microbatches)}")
    if virtual < 1:
        raise InputError("virtual", f"expected at least 1, got {describe(virtual)}")
    # Both pipelines have a stage at every position.
    each = (stages_each(schedule) or virtual) * pipelines_of(schedule)
    if virtual != each:
        raise InputError("virtual", f"expected {each} with {schedule}, got {describe(virtual)}")
    if (wanted := wanted_microbatches(schedule, positions, microbatches)) is not None:
        raise InputError("microbatches", f"expected {wanted}, got {describe(microbatches)}")
    if positions * virtual * microbatches > MOST_PASSES:
        most = f"expected at most {MOST_PASSES // (positions * virtual)} over {positions * virtual} stages"
        raise InputError("microbatches", f"{most}, to be simulated in seconds, got {describe(microbatches)}")


def pass_orders(schedule: Schedule, positions: int, virtual: int, microbatches: int) -> tuple[list[Pass], ...]:
    """Return the passes (kind, microbatch, stage) of each of p positions in order, for v stages a position.

    GPipe (Huang et al., arXiv:1811.06965) runs every forward pass first; 1F1B (Narayanan et al., PipeDream-Flush,
    arXiv:2006.09503) alternates as soon as it can; interleaved 1F1B (Narayanan et al., arXiv:2104.04473) deals
    microbatches to the v stages of a position in groups of p, as Megatron does. For "zero-bubble" this is 1F1B with
    the backward pass split, every weight gradient made at once: the order that its search starts from. ZB-V and
    DualPipeV are those of PyTorch (`v_orders`), Chimera has two pipelines (`chimera`). O(p v m). Raises InputError.
    """
    check_schedule(schedule, positions, virtual, microbatches)
    if schedule == "chimera":
        return chimera_orders(positions, microbatches)
    return tuple(_order(schedule, (positions, virtual, microbatches), position) for position in range(positions))


def warm_up(schedule: Schedule, shape: tuple[int, int, int], position: int) -> int:
    """Return how many forward passes a position of (p, v, m) runs before it alternates."""
    positions, virtual, microbatches = shape
    after = positions - position - 1
    steps = {"gpipe": microbatches, "interleaved": 2 * after + (virtual - 1) * positions}
    return min(steps.get(schedule, after), virtual * microbatches)


def _order(schedule: Schedule, shape: tuple[int, int, int], position: int) -> list[Pass]:
    """Return the passes of one position: warm-up, one forward and one backward in turn, and the rest."""
    if schedule in V_ORDERS:
        return V_ORDERS[schedule](shape[0], shape[2], position)
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
