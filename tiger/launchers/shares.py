"""Hosts that share the ranks of a job equally, as some launchers need them."""

from collections.abc import Sequence

from tiger.errors import InputError
from tiger.launchers.order import FIELD, RankOrder
from tiger.model.wording import describe


def check_equal(order: RankOrder, launcher: str) -> int:
    """Return the number of ranks on every host that has any; raise InputError of `emit` where these differ."""
    counts = order.counts
    size = next(iter(counts.values()))
    for host, count in counts.items():
        if count != size:
            got = f"{size} on {describe(next(iter(counts)))} and {count} on {describe(host)}"
            what = f"expected as many ranks on every host that has any for {launcher}"
            raise InputError(FIELD, f"{what}, got {got}{_advise(len(order.bindings), order, sum(order.free.values()))}")
    return size


def check_shares(ranks: int, order: RankOrder, launcher: str, most: int | None = None) -> None:
    """Raise InputError of `emit` where the hosts of an order, at most `most`, cannot take equal shares of the ranks."""
    even, room = (sorted(slots.values(), reverse=True)[:most] for slots in (order.hosts, order.room))
    # More ranks than slots are no bad input but a problem without a solution.
    if not _list_shares(ranks, even) and sum(even) >= ranks:
        got = f"{ranks} on {len(room)} hosts of up to {room[0]} slots{_advise(ranks, order, sum(room) - ranks)}"
        raise InputError(FIELD, f"expected a number of ranks that hosts can share equally for {launcher}, got {got}")


def _list_shares(ranks: int, slots: Sequence[int]) -> list[int]:
    """Return on how many hosts ranks can be shared equally, of hosts with slots, the most first."""
    counts = range(1, len(slots) + 1)
    return [count for count in counts if ranks % count == 0 and slots[count - 1] >= ranks // count]


def _advise(ranks: int, order: RankOrder, left: int) -> str:
    """Say how most hosts get equal shares, where slots are stated and are those of hosts as a whole."""
    if not order.slots_given:
        return ""
    free = f"; {left} slots are free"
    counts = _list_shares(ranks, sorted(order.room.values(), reverse=True))
    if not counts or any(binding.unit is not None for binding in order.bindings):
        return free
    count = counts[-1]
    if len({*order.room.values()}) > 1:
        # Each host has its own number, which one for all cannot replace.
        return f"{free}, and {ranks // count} slots on {count} of the hosts make shares equal"
    return f"{free}, and --nodes {count} --slots {ranks // count} makes shares equal"
