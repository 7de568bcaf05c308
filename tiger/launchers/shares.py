"""Hosts that share the ranks of a job equally, as some launchers need them."""

from collections.abc import Mapping, Sequence

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
            raise InputError(FIELD, f"{what}, got {got}{_advise(order)}")
    return size


def check_shares(ranks: int, hosts: Mapping[str, int], launcher: str) -> None:
    """Raise InputError of `emit` where no hosts, of which each has some slots, can take equal shares of the ranks."""
    slots = sorted(hosts.values(), reverse=True)
    free = sum(slots) - ranks
    # More ranks than slots are no bad input but a problem without a solution.
    if _find_share(ranks, slots) is None and free >= 0:
        got = f"{ranks} on {len(slots)} hosts of up to {slots[0]} slots; {free} slots are free"
        raise InputError(FIELD, f"expected a number of ranks that hosts can share equally for {launcher}, got {got}")


def _find_share(ranks: int, slots: Sequence[int]) -> int | None:
    """Return the least number of hosts that can share ranks equally, of hosts with slots, the most first."""
    counts = range(1, len(slots) + 1)
    return next((count for count in counts if ranks % count == 0 and slots[count - 1] >= ranks // count), None)


def _advise(order: RankOrder) -> str:
    """Say how hosts get equal shares, where slots are stated and are those of hosts as a whole."""
    if not order.slots_given:
        return ""
    free, ranks = f"; {sum(order.free.values())} slots are free", len(order.bindings)
    count = _find_share(ranks, sorted(order.hosts.values(), reverse=True))
    if count is None or any(binding.unit is not None for binding in order.bindings):
        return free
    if len({*order.hosts.values()}) > 1:
        # Each host has its own number, which one for all cannot replace.
        return f"{free}, and {ranks // count} slots on {count} of the hosts make shares equal"
    return f"{free}, and --nodes {count} --slots {ranks // count} makes shares equal"
