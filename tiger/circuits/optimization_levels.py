"""How much every stage of a circuit's mapping does at each of Qiskit's optimisation levels."""

from dataclasses import dataclass, field, replace
from typing import NamedTuple

from tiger.routing.coupling import Coupling
from tiger.routing.gate_dag import GateDag
from tiger.routing.noise.placement import PlacementParams
from tiger.routing.swaps.exact import is_small


class Budget(NamedTuple):
    """Set an amount of work in candidates scored: a base, so much more for every two-qubit gate, and the most."""

    base: int = 0
    gate: int = 0
    most: int = 0

    def work(self, dag: GateDag, effort: int) -> int:
        """Return the work for a circuit at an effort."""
        return min(self.base + self.gate * dag.gates, self.most) * effort


NO_WORK = Budget()


@dataclass(frozen=True, slots=True, kw_only=True)
class OptimizationLevel:
    """Set the work of all stages at a level.

    `embedding_calls` are places tried for a qubit, `bound_calls` those for a lower bound, and `guiding_calls` those
    that suffice to end other stages early: 10,000 gates on 16 qubits need a hundred times the SWAPs of their bound, or
    14 times those of one that a million calls take 3 s to find, of 14. `exact_states` are states of an exact search.
    `anchors` says how many layouts the Ising proposals and the segments may give each, 0 to leave both stages out, and
    `large_anchors` how many on devices of more than `large_qubits`; every such list of layouts is routed with `trial`
    candidates scored. `search` and `windows` are those of the search on whole routes and of the windows. The search
    does at least `passages` routings of the whole circuit where that is not 0, of about `passage_gates` gates in all,
    and no beams. It gets half of its work on devices of `halving_qubits`, a third on twice as many.
    """

    embedding_calls: int
    bound_calls: int = 50_000
    guiding_calls: int = 100_000
    exact_states: int = 0
    anchors: int = 0
    large_anchors: int = 4
    large_qubits: int = 200
    trial: int = 2_000_000
    search: Budget = NO_WORK
    passages: int = 0
    passage_gates: int = 160_000
    halving_qubits: int = 64
    windows: Budget = NO_WORK
    placement: PlacementParams = field(default_factory=PlacementParams)

    def scale(self, share: float) -> "OptimizationLevel":
        """Return the level with a share of its work on whole routes and windows."""
        search, windows = (Budget(*(int(share * each) for each in whole)) for whole in (self.search, self.windows))
        return replace(self, search=search, windows=windows)

    def anchors_on(self, coupling: Coupling) -> int:
        """Return how many layouts the proposals and the segments may give on a device."""
        return self.anchors if coupling.size <= self.large_qubits else min(self.anchors, self.large_anchors)

    def useful_calls(self, dag: GateDag, coupling: Coupling) -> int:
        """Return the calls for a lower bound that is not reported, and only guides other stages.

        None where these are no exact search, nor windows: at level 1 the bound takes 16 ms of the 150 of a program of
        `benchmarks/delivered.py`, in the mean, and ends none of the 75 searches, which take 7 ms.
        """
        if self.exact_states and is_small(dag, coupling):
            return self.bound_calls
        return min(self.bound_calls, self.guiding_calls) if self.windows.most else 0

    def search_work(self, dag: GateDag, coupling: Coupling, effort: int) -> int:
        """Return the work of the search on whole routes; the same work takes longer on devices of many qubits."""
        return int(self.search.work(dag, effort) / (1 + coupling.size / self.halving_qubits))

    def search_passages(self, dag: GateDag, coupling: Coupling, effort: int) -> int:
        """Return how many routings of the whole circuit the search does at least, two where there are any."""
        most = min(self.passages, max(self.passage_gates // max(dag.gates, 1), min(self.passages, 2)))
        return int(most * effort * min(1, self.halving_qubits / coupling.size))


PARAMS_OF_LEVEL = (
    OptimizationLevel(embedding_calls=2_000, placement=PlacementParams(searchers=0)),
    OptimizationLevel(
        embedding_calls=20_000,
        bound_calls=5_000,
        exact_states=20_000,
        search=Budget(50_000, 0, 100_000_000),
        passages=32,
        placement=PlacementParams(drafts=50, searchers=2, scouts=200, finalists=1, trials=500),
    ),
    OptimizationLevel(
        embedding_calls=200_000,
        bound_calls=1_000_000,
        exact_states=200_000,
        anchors=16,
        search=Budget(10_000_000, 20_000, 100_000_000),
        windows=Budget(2_000_000, 1_000, 10_000_000),
    ),
    OptimizationLevel(
        embedding_calls=1_000_000,
        bound_calls=2_000_000,
        exact_states=1_000_000,
        anchors=16,
        search=Budget(40_000_000, 1_000_000, 250_000_000),
        windows=Budget(10_000_000, 10_000, 50_000_000),
    ),
)
