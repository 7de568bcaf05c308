"""When the search for a circuit's mapping ends before it has done all of its work."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class StopParams:
    """Set when a search ends that has gained little.

    The search of the level that holds the one below begins with what that does, and goes on in slices, each with a
    share of the work of its level. It ends with the first slice that takes less than `least_gain` off the extra CX
    gates. No slice ends it from the effort `all_work_effort` on: there the level's work is planned as a whole, and
    Ising models propose as many layouts as it says, below no more than `proposals`: the static layout, at four times.

    The programs of `benchmarks/delivered.py` so take 1.4 s in the median at level 3; with slices from an eighth on they
    take 1.8 s for 0.5 % fewer gates on two qubits, and with these and a gain of 2 % 1.6 s for 0.1 % more. Without
    proposals QAOA on 100 qubits of 156 has 1.4 times the gates; with all of them it has as many as with four, and takes
    half as long again.
    """

    slices: tuple[float, ...] = (1 / 16, 1 / 8, 1 / 4, 1 / 2)
    least_gain: float = 0.01
    all_work_effort: int = 4
    proposals: int = 4


STOP = StopParams()
