"""The order in which a pipeline runs the nodes of a graph."""

from collections.abc import Sequence
from heapq import heapify, heappop, heappush

from tiger.model.arrays import IntArray


class CycleError(ValueError):
    """Carry a node that lies on a cycle."""

    def __init__(self, node: int) -> None:
        super().__init__(f"node {node} lies on a cycle")
        self.node = node


def topological_order(rank: Sequence[int], source: IntArray, target: IntArray) -> list[int]:
    """Return n nodes with every source before its target; of those that could be next, that of the least rank.

    `rank[n]` are different numbers. O((n + e) log n) for e edges. Raises CycleError.

    Source: Kahn, Commun. ACM 5 (1962) 558, doi:10.1145/368996.369025.
    """
    consumers: list[list[int]] = [[] for _ in rank]
    waiting = [0] * len(rank)
    for a, b in zip(source.tolist(), target.tolist(), strict=True):
        consumers[a].append(b)
        waiting[b] += 1
    ready = [(place, node) for node, place in enumerate(rank) if not waiting[node]]
    heapify(ready)
    order: list[int] = []
    while ready:
        _, node = heappop(ready)
        order.append(node)
        for consumer in consumers[node]:
            waiting[consumer] -= 1
            if not waiting[consumer]:
                heappush(ready, (rank[consumer], consumer))
    if len(order) < len(rank):
        raise CycleError(_on_cycle(waiting, consumers))
    return order


def _on_cycle(waiting: list[int], consumers: list[list[int]]) -> int:
    """Return a node on a cycle: following producers among nodes left over ends in a cycle."""
    # Nodes behind a cycle are left over as well, but none that only feeds one.
    producer = {b: a for a, left in enumerate(waiting) if left for b in consumers[a]}
    node, seen = next(node for node, left in enumerate(waiting) if left), set[int]()
    while node not in seen:
        seen.add(node)
        node = producer[node]
    return node
