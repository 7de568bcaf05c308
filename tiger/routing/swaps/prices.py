"""What SWAPs cost: less beside a gate on their pair, with which a later optimization fuses them into one block.

A SWAP and a two-qubit gate right before or after it on the same pair are one gate of the same two qubits, which takes
no more than three CX; MIRAGE (arXiv:2308.03874) and NASSC (arXiv:2205.10596) route by the same observation.
"""

import numpy as np

from tiger.routing.coupling import IndexArray
from tiger.routing.gate_dag import GateDag
from tiger.routing.route import Route
from tiger.solvers.kernel import inner_kernel, kernel

# What was last on a qubit where no SWAP can fuse with it; below that, -2 - b is a SWAP with circuit qubit b.
NOTHING, SWAPPED = -1, -2


def price_route(dag: GateDag, route: Route) -> int:
    """Return the cost of the SWAPs and BRIDGEs of a route in the prices of its gate DAG; O(k + N)."""
    place = route.start.astype(np.int32)
    scratch = np.empty_like(place), np.empty_like(place)
    return int(price_whole(dag.price.copy(), dag.pairs.copy(), route.steps.astype(np.int32), place, scratch))


def bound_price(dag: GateDag, extra_cx: int) -> float:
    """Return what so many extra CX gates cost at least, in those of SWAPs that fuse with nothing.

    That is where each SWAP is beside the gate that suits it best.
    """
    return extra_cx * float(dag.price.min() / dag.price[-1])


@kernel
def price_whole(
    price: IndexArray, pairs: IndexArray, steps: IndexArray, place: IndexArray, scratch: tuple[IndexArray, IndexArray]
) -> int:
    """Call `price_part` from Python."""
    return price_part(price, pairs, steps, place, scratch)


@inner_kernel
def price_part(
    price: IndexArray, pairs: IndexArray, steps: IndexArray, place: IndexArray, scratch: tuple[IndexArray, IndexArray]
) -> int:
    """Return the cost of some steps alone from a mapping `place[N]` on; the scratch is two arrays [N]."""
    holds, last = scratch
    for v in range(len(place)):
        holds[place[v]] = v
        last[v] = NOTHING
    return price_steps(price, pairs, steps, 0, len(steps), holds, last)


@inner_kernel
def price_steps(
    price: IndexArray, pairs: IndexArray, steps: IndexArray, low: int, high: int, holds: IndexArray, last: IndexArray
) -> int:
    """Return the cost of steps `low` to `high`, and update `holds[N]` and the `last[N]` on circuit qubits."""
    total = 0
    for k in range(low, high):
        what, where = steps[k, 0], steps[k, 1]
        if what < 0:
            p = -1 - what
            a, b = holds[p], holds[where]
            holds[p], holds[where] = b, a
            total += price_swap(price, last, a, b)
        elif where >= 0:
            last[holds[where]] = NOTHING
            total += price_bridge(price, last, pairs[what, 0], pairs[what, 1])
        elif pairs[what, 0] >= 0:
            total += price_gate(price, last, pairs[what, 0], pairs[what, 1], what)
    return total


@inner_kernel
def quote_swap(price: IndexArray, last: IndexArray, a: int, b: int) -> int:
    """Return the cost that a SWAP of circuit qubits a and b would have now."""
    v = last[a]
    return int(price[v]) if v >= 0 and v == last[b] else int(price[len(price) - 1])


@inner_kernel
def price_swap(price: IndexArray, last: IndexArray, a: int, b: int) -> int:
    """Return the cost of a SWAP of circuit qubits a and b, and note it."""
    v = last[a]
    if v >= 0 and v == last[b]:
        last[a] = last[b] = NOTHING
        return int(price[v])
    last[a], last[b] = SWAPPED - b, SWAPPED - a
    return int(price[len(price) - 1])


@inner_kernel
def price_gate(price: IndexArray, last: IndexArray, a: int, b: int, v: int) -> int:
    """Return the discount by gate v on circuit qubits a and b for a SWAP right before it, and note the gate."""
    if last[a] == SWAPPED - b and last[b] == SWAPPED - a:
        last[a] = last[b] = NOTHING
        return int(price[v]) - int(price[len(price) - 1])
    last[a] = last[b] = v
    return 0


@inner_kernel
def price_bridge(price: IndexArray, last: IndexArray, a: int, b: int) -> int:
    """Return the cost of a BRIDGE between circuit qubits a and b; nothing fuses with it."""
    last[a] = last[b] = NOTHING
    return int(price[len(price) - 1])
