"""A decision of the rebalancer: the plan in use stays, or layers move."""

from dataclasses import dataclass, field
from typing import Literal

from tiger.model.document import HIDDEN, Document
from tiger.model.units import bytes_text, seconds_text
from tiger.rebalancing.moving import Move
from tiger.training.costs.plan import Plan

Action = Literal["keep", "move", "stop"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision(Document):
    """Say whether the plan stays, and what the plan of the next interval is: stage j holds layers cuts[j] .. on.

    `iteration_s` is the simulated iteration of that plan by the measured times, `kept_s` that of the plan in use, None
    where that cannot run any more, and `best_s` that of the best plan found. `moving_s` are the seconds of all moves,
    one after another, of a whole optimizer state each; they are paid back after `break_even` iterations, None where
    nothing moves or nothing is compared. `freed` are devices that held layers and hold none. The action "stop" says
    that devices are left that cannot hold the layers: there is no plan then. `seconds` the decision took.
    """

    action: Action
    why: str
    cuts: tuple[int, ...]
    devices: tuple[str, ...]
    iteration_s: float | None
    kept_s: float | None
    best_s: float | None
    lower_bound_s: float | None
    moves: tuple[Move, ...] = ()
    moved_layers: int = 0
    moved_bytes: float = 0.0
    moving_s: float = 0.0
    break_even: float | None = None
    freed: tuple[str, ...] = ()
    seconds: float = 0.0
    plan: Plan | None = field(default=None, compare=False, metadata=HIDDEN)


def explain_kept(kept_s: float, best_s: float, threshold: float) -> str:
    """Return why a plan stays."""
    if kept_s <= best_s:
        return "no plan is known that is better, its moves included"
    gain = f"the best plan found would save {1 - best_s / kept_s:.2%} of an iteration"
    return f"{gain}, which with its moves is no more than the threshold of {threshold:.2%}"


def explain_moves(moves: tuple[Move, ...], kept_s: float | None, iteration_s: float) -> str:
    """Return what moves, and what for."""
    layers, moved = sum(move.layers for move in moves), sum(move.moved_bytes for move in moves)
    what = f"{layers} layer{'' if layers == 1 else 's'} ({bytes_text(moved)}) in {len(moves)} moves"
    if kept_s is None:
        return f"{what}, as the plan in use cannot run any more"
    return f"{what} make an iteration {seconds_text(iteration_s)} instead of {seconds_text(kept_s)}"
