"""Rank orders for the tests of the writers: one that can be read at a glance, and any."""

import numpy as np
from hypothesis import strategies as st

from tiger.launchers.order import LaunchNodes, RankOrder, order_ranks


def launch_nodes(slots: dict[str, int], *, slots_given: bool = True) -> LaunchNodes:
    """Return nodes with slots, which are slots_given unless that is denied."""
    counts = np.array(list(slots.values()), dtype=np.int64)
    return LaunchNodes(names=tuple(slots), counts=counts, turn=np.zeros_like(counts), slots_given=slots_given)


# Two ranks change places between two hosts, and a third host has a slot to spare.
NODES = launch_nodes({"n0": 2, "n1": 2, "n2": 2})
SWAPPED = order_ranks({"0": "n1", "1": "n0", "2": "n1", "3": "n0", "4": "n2"}, NODES)
CORES = launch_nodes({f"{host}/core{core}": 1 for host in ("n0", "n1") for core in (0, 1)}, slots_given=False)
BY_CORE = order_ranks({"0": "n1/core1", "1": "n0/core0", "2": "n1/core0"}, CORES)


@st.composite
def orders(draw: st.DrawFn, units: tuple[str, ...] = ("", "core", "gpu")) -> RankOrder:
    """Draw a rank order on up to five hosts of up to four slots, which are nodes themselves or hold nodes of a unit."""
    names = draw(
        st.lists(st.from_regex(r"[a-z][a-z0-9.-]{0,6}[a-z0-9]", fullmatch=True), min_size=1, max_size=5, unique=True)
    )
    unit, sizes = draw(st.sampled_from(units)), [draw(st.integers(1, 4)) for _ in names]
    pairs = list(zip(names, sizes, strict=True))
    slots = {f"{name}/{unit}{k}": 1 for name, size in pairs for k in range(size)} if unit else dict(pairs)
    bindings = draw(st.permutations([node for node, count in slots.items() for _ in range(count)]))
    taken = bindings[: draw(st.integers(1, len(bindings)))]
    return order_ranks({str(rank): node for rank, node in enumerate(taken)}, launch_nodes(slots, slots_given=not unit))


def hosts_of(order: RankOrder) -> list[str]:
    """Return the host of every rank."""
    return [binding.host for binding in order.bindings]
