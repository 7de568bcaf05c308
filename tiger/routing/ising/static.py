r"""The static layout of a circuit as an Ising problem: qubits that meet often go on device qubits that lie close.

Tasks are the circuit qubits that have gates, nodes the device qubits, one to one; with w the interaction, d the hops,

.. math::
    C = \sum_t k_t c_{p(t)} + \sum_{\{u, v\}} w_{uv} (d_{p(u) p(v)} - 1)

where k are operations on one qubit and c what they lose, zero without error rates. As no two qubits share a node, d - 1
in place of d takes off a constant and moves no optimum: it makes the cost, and so the energy, the movement of data
that the layout asks for, and a layout of cost 0 a proved optimum that needs no routing. With error rates d - 1 gives
way to the logarithm of the fidelity lost along the best path, three CX for every SWAP on it.

Source: the quadratic form is that of S. Dury, O. Di Matteo, arXiv:2009.00140.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from dimod.core.sampler import Sampler
from scipy.sparse.csgraph import dijkstra

from tiger.mapping.mapper import solve_problem
from tiger.mapping.options import SolveArguments
from tiger.model.arrays import FloatArray, IntArray, lock
from tiger.model.metrics import DenseMetric
from tiger.model.problem import Problem
from tiger.model.tasks import TaskGraph
from tiger.model.topology import Topology
from tiger.qubo.params import IsingParams
from tiger.routing.coupling import FAR, Coupling, IndexArray
from tiger.routing.error_rates import HOPELESS, Errors
from tiger.routing.gate_dag import GateDag
from tiger.routing.interaction import weigh_interactions
from tiger.run.answers import Answers

# A SWAP is three CX.
CX_PER_SWAP = 3


class Losses(NamedTuple):
    """Hold -log of fidelities: `gate[e]` of a two-qubit gate on a coupling edge, `qubit[N]` of one on a device qubit.

    `uses[n]` says how many operations on one qubit, readout among them, a circuit qubit has.
    """

    gate: FloatArray
    qubit: FloatArray
    uses: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StaticParams:
    """Say what the layout is for: where `half` is given, gates count half as much every `half` levels from `around`.

    `fixed[n]` are device qubits that are settled, -1 where open; `closed` may hold no circuit qubit that has gates.
    """

    half: float | None = None
    around: int = 0
    fixed: IndexArray | None = None
    closed: tuple[int, ...] = ()
    losses: Losses | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StaticLayout:
    """Hold the problem and `active[k]`, the circuit qubits that are its tasks; the others have no gates."""

    problem: Problem
    active: IntArray
    params: StaticParams

    def solve(
        self,
        solver: str | Sampler,
        *,
        seed: int,
        effort: int = 1,
        time_limit_s: float | None = None,
        answers: Answers | None = None,
    ) -> IndexArray | None:
        """Return place[N] as any solver of the core finds it, the spare qubits last; None where nothing is feasible."""
        arguments = SolveArguments(
            solver=solver, seed=seed, effort=effort, time_limit_s=time_limit_s, ising=IsingParams(control=False)
        )
        report = solve_problem(self.problem, arguments, answers=answers)
        if not report.feasible:
            return None
        return self.place(np.array([int(report.mapping[str(task)]) for task in self.active.tolist()], np.int64))

    def place(self, places: IntArray) -> IndexArray:
        """Return place[N] from node indices of the tasks; settled qubits stay, the rest fills what is left in order."""
        size, fixed = self.problem.topology.size, self.params.fixed
        place = np.full(size, -1, np.int32)
        if fixed is not None:
            place[: len(fixed)] = fixed
        place[self.active] = places
        left = np.setdiff1d(np.arange(size), place)
        # Closed device qubits are filled last, by qubits without gates.
        left = np.concatenate([np.setdiff1d(left, self.params.closed), np.intersect1d(left, self.params.closed)])
        place[place < 0] = left
        return place


def build_static_layout(dag: GateDag, coupling: Coupling, params: StaticParams) -> StaticLayout:
    """State the static layout of a circuit; O(g depth + N^2 log N)."""
    weight = weigh_interactions(dag, params.half, params.around)
    met = weight + weight.T
    active = np.flatnonzero(np.diff(met.tocsr().indptr))
    # A problem needs a task: qubit 0 stands for a circuit without gates.
    if not len(active):
        active = np.zeros(1, np.int64)
    names = tuple(map(str, active.tolist()))
    losses = params.losses
    tasks = TaskGraph(
        names=names,
        traffic=weight[active][:, active],
        work=np.ones(len(active)) if losses is None else losses.uses[active],
        directed=False,
    )
    problem = Problem(
        tasks=tasks, topology=_device(coupling, params, active), rule="one-to-one", pinned=_pins(params, active)
    )
    return StaticLayout(problem=problem, active=active, params=params)


def _device(coupling: Coupling, params: StaticParams, active: IntArray) -> Topology:
    """Return the device qubits as nodes, those that are closed or settled for a qubit without gates with no slot."""
    slots = np.ones(coupling.size, np.int64)
    slots[list(params.closed)] = 0
    if params.fixed is not None:
        # Settled qubits without gates are no tasks, but hold their places.
        idle = np.delete(params.fixed, active)
        slots[idle[idle >= 0]] = 0
        kept = params.fixed[active]
        slots[kept[kept >= 0]] = 1
    losses = params.losses
    table = _movement(coupling) if losses is None else compute_gate_losses(coupling, losses.gate)
    return Topology(
        names=tuple(map(str, range(coupling.size))),
        metric=DenseMetric(lock(table)),
        slots=slots,
        cost=np.zeros(coupling.size) if losses is None else losses.qubit,
    )


def _movement(coupling: Coupling) -> FloatArray:
    """Return hops - 1 between device qubits, infinite between parts."""
    hops = coupling.hops.astype(np.float64)
    return np.where(hops >= FAR, np.inf, np.maximum(hops - 1, 0))


def compute_gate_losses(coupling: Coupling, gate: FloatArray) -> FloatArray:
    """Return loss[N, N] of a gate between device qubits: three CX per SWAP on the best path, then the gate; O(N^3).

    The gate is on the last edge, at whichever end loses less.
    """
    ends = coupling.edges
    graph = sp.coo_array((gate, (ends[:, 0], ends[:, 1])), shape=(coupling.size, coupling.size)).tocsr()
    # SWAPs along the path of least loss (Dijkstra 1959) bring one qubit beside the other.
    carried = CX_PER_SWAP * dijkstra(graph, directed=False)
    loss = np.full((coupling.size, coupling.size), np.inf)
    for value, (a, b) in zip(gate.tolist(), ends.tolist(), strict=True):
        for here, there in ((a, b), (b, a)):
            loss[:, there] = np.minimum(loss[:, there], carried[:, here] + value)
    np.fill_diagonal(loss, 0.0)
    return np.asarray(np.minimum(loss, loss.T))


def losses_of(errors: Errors, coupling: Coupling, uses: FloatArray) -> Losses:
    """Return the costs of errors on a device, for circuit qubits with `uses[n]` operations of their own.

    A pair counts in its better direction. Losses on a qubit scale with its uses; readout counts once at mean use.
    """
    pair = np.minimum(errors.pair, errors.pair.T)[coupling.edges[:, 0], coupling.edges[:, 1]]
    gate, single, readout = (-np.log1p(-np.minimum(e, HOPELESS)) for e in (pair, errors.single, errors.readout))
    return Losses(gate=gate, qubit=single + readout / max(float(uses.mean()), 1.0), uses=uses)


def _pins(params: StaticParams, active: IntArray) -> dict[str, str]:
    """Return the settled qubits among the tasks by name."""
    if params.fixed is None:
        return {}
    return {str(q): str(p) for q, p in zip(active.tolist(), params.fixed[active].tolist(), strict=True) if p >= 0}
