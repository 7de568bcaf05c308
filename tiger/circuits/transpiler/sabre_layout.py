"""Layouts for SABRE's routing, compared by the CX gates that it ends with."""

from contextlib import suppress

import numpy as np
from qiskit.dagcircuit import DAGCircuit
from qiskit.transpiler import CouplingMap, Target, TranspilerError

from tiger.circuits.params import LayoutParams
from tiger.circuits.transpiler.emission import Emission
from tiger.circuits.transpiler.exits import NEEDS_SWAPS, keeps_exits
from tiger.circuits.transpiler.flow import count_cx
from tiger.circuits.transpiler.mapping import find_mapping, tell_failures
from tiger.circuits.transpiler.panic import catch_panics
from tiger.circuits.transpiler.relocation import relocate
from tiger.circuits.transpiler.sabre import run_sabre_routing
from tiger.circuits.transpiler.target import working_device
from tiger.errors import InputError

# By level: operations routed in all, which bounds the seconds on large circuits.
GATES = (0, 0, 60_000, 300_000)
# Trials at most, which bounds them on small circuits, and exchanges in each at most.
TRIALS, MOVES = 600, 3


def find_mapping_for_sabre(dag: DAGCircuit, device: Target | CouplingMap, params: LayoutParams) -> Emission:
    """Choose a layout for SABRE's routing, and route with it: never more CX gates than Qiskit at this level and seed.

    Starts are the layout of TIGER's own routing and SabreLayout's, and then whatever routes better after a few
    exchanges: at most 600 trials and `GATES[level]` operations routed in all, times the effort. A heuristic.
    """
    found = tell_failures(find_mapping(dag, device, params))
    router = _SabreRouter(dag, working_device(device, found.coupling), params)
    best = router.route(found.emission.start)
    if found.sabre is not None:
        best = min(best, router.route(found.sabre.start), key=router.cost)
    rng, lone = np.random.default_rng(params.seed), {*np.flatnonzero(found.coupling.neighbours[:, 0] < 0).tolist()}
    for _ in range(params.effort * min(GATES[params.level] // max(dag.size(recurse=True), 1), TRIALS)):
        if router.cost(best) == count_cx(dag):
            break
        # An exchange may leave qubits that meet in parts of the device that are not connected.
        with suppress(TranspilerError), catch_panics():
            start = _exchange(best.start, dag.num_qubits(), rng)
            if not lone & set(start[: dag.num_qubits()]) - set(best.start[: dag.num_qubits()]):
                best = min(router.route(start), best, key=router.cost)
    best = best if found.sabre is None else min(best, found.sabre, key=router.cost)
    if router.cost(best) == np.inf:
        raise InputError("circuit", NEEDS_SWAPS)
    return best


class _SabreRouter:
    """Route from layouts with SABRE, always with the same seed."""

    def __init__(self, dag: DAGCircuit, device: Target | CouplingMap, params: LayoutParams) -> None:
        self._dag, self._device, self._params = dag, device, params

    def route(self, start: list[int]) -> Emission:
        """Return the circuit routed from `start[N]`."""
        placed = relocate(self._dag, start)
        routed = run_sabre_routing(placed, self._device, self._params.level, self._params.seed)
        return Emission(routed.dag, start, [routed.end[place] for place in start])

    def cost(self, emission: Emission) -> float:
        """Return the CX gates of a routed circuit, infinite where SABRE routes in a loop that is left early."""
        return count_cx(emission.dag) if keeps_exits(self._dag, emission.dag) else np.inf


def _exchange(start: list[int], qubits: int, rng: np.random.Generator) -> list[int]:
    """Return a layout after one to three exchanges of a circuit qubit with any other or a spare one."""
    places = list(start)
    for _ in range(int(rng.integers(1, MOVES + 1))):
        a, b = int(rng.integers(qubits)), int(rng.integers(len(places)))
        places[a], places[b] = places[b], places[a]
    return places
