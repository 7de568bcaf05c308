"""Runs of stars in a block: one qubit after another meets those that are left, as in a Fourier transform."""

from typing import NamedTuple

from tiger.circuits.synthesis.epochs import Epochs

# CX gates that a pair takes where a SWAP is fused with its gate, which is what a run has to take less than.
FUSED = 3
# Leaves of a first star: runs of smaller ones hardly save any.
LEAST_LEAVES = 3
# A qubit and the number of an epoch of its.
At = tuple[int, int]


class StarRun(NamedTuple):
    """Hold the qubits of a run along a line, and whom the first of them meet in turn: `leaves[k]` of `line[k]`."""

    line: list[int]
    leaves: list[list[int]]

    def reach(self, star: int) -> int:
        """Return the last place of the line that a star has a leaf in."""
        leaves = set(self.leaves[star])
        return max(k for k, qubit in enumerate(self.line) if qubit in leaves)


def find_run(epochs: Epochs) -> StarRun | None:
    """Return a run of stars that can come next and takes few CX gates on a line, None where there is none.

    Each centre is the qubit that has the most partners of those that have none but qubits of the run that are no centre
    yet, in their current epochs. O(n^2) for n qubits, times their partners.
    """
    if not any(len(epochs.current(qubit).meets) >= LEAST_LEAVES for qubit in range(len(epochs.now))):
        return None
    centres, leaves = list[int](), list[list[int]]()
    now = dict(enumerate(epochs.now))
    met = set[tuple[At, At]]()
    while True:
        ready = {qubit: _list_partners(epochs, qubit, now, met) for qubit in now}
        centre = max(ready, key=lambda qubit: len(ready[qubit]), default=-1)
        if centre < 0 or len(ready[centre]) < (1 if centres else LEAST_LEAVES):
            break
        centres.append(centre)
        leaves.append([leaf for _, (leaf, _) in ready[centre]])
        met |= {pair for one, other in ready[centre] for pair in ((one, other), (other, one))}
        del now[centre]
    runs = [_build_run(centres[:count], leaves[:count]) for count in range(1, len(centres) + 1)]
    best = max(runs, key=_count_savings, default=None)
    return best if best is not None and _count_savings(best) > 0 else None


def _list_partners(epochs: Epochs, qubit: int, now: dict[int, int], met: set[tuple[At, At]]) -> list[tuple[At, At]]:
    """Return the epoch in which a qubit meets others next, with each of theirs; none where one of them is not ready.

    Between stars it goes on to the first epoch with partners left, where all those of the ones before are met. Two
    qubits may meet in several epochs of either.
    """
    for number in range(now[qubit], len(epochs.of_qubit[qubit])):
        pairs = [((qubit, number), other) for other in epochs.of_qubit[qubit][number].meets]
        left = [pair for pair in pairs if pair not in met]
        if left:
            return left if all(now.get(other) == epoch for _, (other, epoch) in left) else []
    return []


def _build_run(centres: list[int], leaves: list[list[int]]) -> StarRun:
    """Return a run along a line: centres in their order, then the others, those first that later stars have."""
    last = {leaf: k for k, star in enumerate(leaves) for leaf in star}
    others = sorted(last.keys() - set(centres), key=lambda leaf: (-last[leaf], leaf))
    return StarRun([*centres, *others], leaves)


def _count_savings(run: StarRun) -> int:
    """Return how many CX gates a run takes less on a line than gates with SWAPs do."""
    reaches = [run.reach(k) - k for k in range(len(run.leaves))]
    furthest = max(k + reach for k, reach in enumerate(reaches))
    return FUSED * sum(map(len, run.leaves)) - 2 * sum(reaches) - 2 * (furthest - 1)
