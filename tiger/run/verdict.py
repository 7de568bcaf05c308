"""The verdict on a mapping: what it gains over the best simple order, and whether that is worth a change."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from tiger.model.document import Document

# No metric here is seconds of a job, so that a smaller gain is no reason to change how it is started, unless the user
# knows better.
THRESHOLD = 0.02
# The order in which launchers start ranks unless they are told otherwise.
USUAL = "block"
# The mapping that a search was given to start from, which is what runs now.
START = "start"


def order_text(order: str) -> str:
    """Return a simple order in words."""
    return "the mapping given" if order == START else f"the {order} order"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict(Document):
    """Compare a mapping with the best simple order that a launcher has: in blocks, which is the scheduler's, or cyclic.

    `metric` is what was minimized, `before` its value in the simple `order`, `after` that of the mapping and `bound`
    what no mapping goes below, None where that is not known. `gain` is (before - after) / before, 0 when both are 0,
    and `best_gain` what the bound leaves possible. `keep` says that there is no gain or one below the threshold, so
    that the simple order will do, and `advice` all that in a sentence.
    """

    metric: str
    order: str
    before: float
    after: float
    bound: float | None
    gain: float
    best_gain: float | None
    keep: bool
    advice: str


class Minimized(NamedTuple):
    """State the name of what was minimized, its value and its lower bound, if one is known."""

    metric: str
    value: float
    bound: float | None


def judge(made: Minimized, orders: Mapping[str, float | None], threshold: float = THRESHOLD) -> Verdict | None:
    """Return the verdict on a value beside those of simple orders, the first of equals; None where none is feasible.

    A gain that is a smaller part than `threshold` is no reason to change an order.
    """
    known = [(value, name) for name, value in orders.items() if value is not None]
    if not known:
        return None
    before, order = min(known, key=lambda entry: entry[0])
    gain = _share(before, made.value)
    # A bound of 0 says nothing of a cost above it.
    useful = made.bound is not None and (made.bound > 0 or made.value == 0)
    best = _share(before, made.bound) if useful and made.bound is not None else None
    keep = _is_small(gain, threshold)
    usual = orders.get(USUAL) if orders.get(START) is None else orders[START]
    advice = "use this order"
    if keep:
        settled = usual is None or _is_small(_share(usual, made.value), threshold)
        advice = "keep your order" if settled else f"have ranks started in {order} order"
    return Verdict(
        metric=made.metric,
        order=order,
        before=before,
        after=made.value,
        bound=made.bound,
        gain=gain,
        best_gain=best,
        keep=keep,
        advice=f"{advice}: {_compare(made.metric, order, gain)}{_limit(best)}",
    )


def _is_small(gain: float, threshold: float) -> bool:
    """Return whether a gain is below the threshold, or none."""
    return gain < threshold or gain <= 0


def _share(before: float, after: float) -> float:
    """Return the part of a value that another saves, 0 of nothing."""
    return (before - after) / before if before else 0.0


def _compare(metric: str, order: str, gain: float) -> str:
    """Say how far a value is from that of a simple order."""
    name = f"the {metric.replace('-', ' ')} found is"
    if gain == 0:
        return f"{name} that of {order_text(order)}"
    return f"{name} {abs(gain):.1%} {'below' if gain > 0 else 'above'} that of {order_text(order)}"


def _limit(best: float | None) -> str:
    """Say how far below a simple order anything can be."""
    if best is None:
        return ""
    return f", and none is more than {best:.1%} below" if best > 0 else ", and none is below"
