"""A routed circuit: where its qubits start, and the nodes and SWAPs that follow."""

from dataclasses import dataclass

import numpy as np

from tiger.routing.coupling import IndexArray

# Stands beside a gate that is carried out as it is, without a SWAP or a BRIDGE.
PLAIN = -1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Route:
    """Hold a solution on a device of N qubits.

    `start[N]`: device qubit of every circuit qubit, then of N - n spare ones, a permutation. `steps[k, 2]`, in order:
    (v, -1) carries out node v of the gate DAG where its qubits are; (v, m) carries it out as a BRIDGE over device
    qubit m; (-1 - p, q) swaps device qubits p and q. Every node appears once.
    """

    start: IndexArray
    steps: IndexArray

    @property
    def swaps(self) -> int:
        """Return the number of SWAPs."""
        return int((self.steps[:, 0] < 0).sum())

    @property
    def bridges(self) -> int:
        """Return the number of BRIDGEs."""
        return int(((self.steps[:, 0] >= 0) & (self.steps[:, 1] >= 0)).sum())

    @property
    def extra_cx(self) -> int:
        """Return the CX gates that routing adds: three for each SWAP and each BRIDGE."""
        return 3 * (self.swaps + self.bridges)

    def end(self) -> IndexArray:
        """Return the device qubit of every circuit qubit and spare one after the last step; O(k)."""
        holds = np.empty_like(self.start)
        holds[self.start] = np.arange(len(self.start), dtype=np.int32)
        for step, place in self.steps[self.steps[:, 0] < 0].tolist():
            here, there = -1 - step, place
            holds[[here, there]] = holds[[there, here]]
        place_of = np.empty_like(self.start)
        place_of[holds] = np.arange(len(holds), dtype=np.int32)
        return place_of
