"""Layouts that the Ising formulations propose, for a router to compare: cheap ones first, the same from the same seed.

Neither formulation knows what a SWAP does to the qubits in its way, so that their costs say little about the best of
several: many different proposals are worth more than a long search for one.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from dimod.core.sampler import Sampler

from tiger.model.arrays import IntArray
from tiger.model.seams import Stop
from tiger.model.seeds import derive
from tiger.qubo.params import IsingParams
from tiger.routing.coupling import Coupling, IndexArray
from tiger.routing.embedding.segments import Anchor
from tiger.routing.gate_dag import GateDag
from tiger.routing.interaction import assign_levels
from tiger.routing.ising.gatetasks import GateTasks, build_gate_tasks, choose_start_arcs
from tiger.routing.ising.movement import DataMovement, count_movement, list_route_visits, list_static_visits
from tiger.routing.ising.static import Losses, StaticParams, build_static_layout
from tiger.routing.route import Route
from tiger.run.answers import Answers
from tiger.solvers import registry

# Devices of more qubits are searched around their middle alone.
LARGE = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposalShapes:
    """Say which layouts are proposed, and how long arcs of gates are searched for.

    Static layouts for the start fade with half-lives of `halves` levels, those at `times`, shares of the depth, with
    one of `near` levels. At a time the gates of `span` levels say where their qubits are. Arcs are annealed in at most
    `sweeps` sweeps and about `moves` moves; after a sampler, which gets at most `windows` windows where it does not say
    itself how many, they descend for `descent` sweeps.
    """

    halves: tuple[float, ...] = (16.0, 4.0)
    times: tuple[float, ...] = (0.25, 0.5, 0.75)
    near: float = 16.0
    span: int = 2
    sweeps: int = 1000
    moves: int = 1_000_000
    windows: int = 128
    descent: int = 16


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ProposalParams:
    """Set who proposes: a solver of the core by name or any Ocean sampler, its seed and effort.

    `fixed[n]` and `closed` are as in StaticParams; with qubits settled, every proposal is for the start. `losses` make
    static layouts avoid what fails often. `time_limit_s` only ends the search for a layout early. `answers` are
    those of the sampler so far.
    """

    solver: str | Sampler = "auto"
    seed: int = 0
    effort: int = 1
    fixed: IndexArray | None = None
    closed: tuple[int, ...] = ()
    losses: Losses | None = None
    time_limit_s: float | None = None
    answers: Answers = field(default_factory=Answers)
    shapes: ProposalShapes = field(default_factory=ProposalShapes)

    @property
    def settled(self) -> bool:
        """Return whether any qubit is settled."""
        return self.fixed is not None and bool((self.fixed >= 0).any())


class Proposal(NamedTuple):
    """Name a layout and the time it is for."""

    name: str
    anchor: Anchor


def propose_layouts(dag: GateDag, coupling: Coupling, params: ProposalParams, stop: Stop = bool) -> Iterator[Proposal]:
    """Yield layouts of both formulations; none where none is feasible, or nothing is left to place.

    First the static layout, for the start and, as it is, for later times, then static layouts that fade from the start
    and around later times, then the levels of gates as tasks at those times. Each is made when it is asked for.
    """
    level, met = assign_levels(dag), _list_paired_qubits(dag)
    if not len(met) or (params.fixed is not None and (params.fixed[met] >= 0).all()):
        return
    closed = params.closed or (_outskirts(dag, coupling) if params.losses is None and not params.settled else ())
    static = StaticParams(fixed=params.fixed, closed=closed, losses=params.losses)
    place = _solve_static(dag, coupling, static, params, 0)
    if place is None:
        return
    yield Proposal("static", Anchor(done=level < 0, place=place))
    times = () if params.settled else tuple(int(share * (level.max() + 1)) for share in params.shapes.times)
    for share, time in zip(params.shapes.times, times, strict=False):
        yield Proposal(f"static at {share:g}", Anchor(done=level < time, place=place))
    fading = [(f"static, half {half:g}", half, 0) for half in params.shapes.halves]
    fading += [
        (f"static around {share:g}", params.shapes.near, time)
        for share, time in zip(params.shapes.times, times, strict=False)
    ]
    for number, (name, half, time) in enumerate(fading, 1):
        faded = replace(static, half=half, around=time)
        near = None if stop() else _solve_static(dag, coupling, faded, params, number)
        if near is not None:
            yield Proposal(name, Anchor(done=level < time, place=near))
    if not stop() and dag.gates:
        yield from _gate_layouts(dag, coupling, params, place, stop)


def _outskirts(dag: GateDag, coupling: Coupling) -> tuple[int, ...]:
    """Return the qubits of a device of one part and over 64 beyond twice as many as are needed around its middle.

    Searches are several times as fast without, and as good.
    """
    needed = 2 * len(_list_paired_qubits(dag))
    if coupling.size <= max(needed, LARGE) or coupling.part.any():
        return ()
    hops = coupling.hops.astype(np.int64)
    # The qubit around which as many as are needed lie closest.
    middle = hops[np.sort(hops, axis=1)[:, :needed].sum(axis=1).argmin()]
    return tuple(np.sort(np.argsort(middle, kind="stable")[needed:]).tolist())


def _list_paired_qubits(dag: GateDag) -> IntArray:
    """Return the circuit qubits that have two-qubit gates."""
    return np.union1d(dag.pairs[dag.pairs[:, 0] >= 0], dag.inner[:, 1:]).astype(np.int64)


def _solve_static(
    dag: GateDag, coupling: Coupling, static: StaticParams, params: ProposalParams, number: int
) -> IndexArray | None:
    """Return a static layout, None where none is feasible."""
    seed = derive(params.seed, number)
    layout, limit_s = build_static_layout(dag, coupling, static), params.time_limit_s
    return layout.solve(params.solver, seed=seed, effort=params.effort, time_limit_s=limit_s, answers=params.answers)


def _gate_layouts(
    dag: GateDag, coupling: Coupling, params: ProposalParams, place: IndexArray, stop: Stop
) -> Iterator[Proposal]:
    """Yield the layouts of gates as tasks at several times."""
    tasks, arc = place_gates(dag, coupling, params, place, stop)
    level = assign_levels(dag)
    for share in (0.0,) if params.settled else (0.0, *params.shapes.times):
        time = int(share * (level.max() + 1))
        found = None if stop() else build_layout_at(dag, coupling, tasks, arc, (time, params))
        if found is not None:
            yield Proposal(f"levels at {share:g}", Anchor(done=level < time, place=found))


def place_gates(
    dag: GateDag, coupling: Coupling, params: ProposalParams, place: IndexArray, stop: Stop = bool
) -> tuple[GateTasks, IndexArray]:
    """Return gates as tasks and the arcs found for them, from a static layout `place[N]` on.

    A sampler gets windows of levels and a descent after them; any other solver stands for annealing all levels at once.
    """
    from tiger.mapping.sampler_policy import ising_of
    from tiger.routing.ising.gateanneal import anneal_arcs, descend
    from tiger.routing.ising.gatesampling import GateSamplingParams, sample_arcs

    tasks = build_gate_tasks(dag, coupling, place, params.fixed if params.settled else None)
    arc, solver = choose_start_arcs(tasks, place), params.solver
    if isinstance(solver, str) and registry.kind_of(solver) != "sampler":
        sweeps = params.effort * min(params.shapes.sweeps, max(params.shapes.moves // max(len(arc), 1), 1))
        return tasks, anneal_arcs(tasks, arc, seed=params.seed, sweeps=sweeps, stop=stop)
    sampler = registry.sampler(solver) if isinstance(solver, str) else solver
    problem = build_static_layout(dag, coupling, StaticParams()).problem
    ising = replace(ising_of(sampler, problem, IsingParams()), answers=params.answers)
    windows = GateSamplingParams(windows=(ising.params.windows or params.shapes.windows) * params.effort)
    arc = sample_arcs(tasks, arc, ising, windows, (params.seed, stop))
    return tasks, descend(tasks, arc, seed=params.seed, sweeps=params.shapes.descent, stop=stop)


def build_layout_at(
    dag: GateDag, coupling: Coupling, tasks: GateTasks, arc: IndexArray, time_and_params: tuple[int, ProposalParams]
) -> IndexArray | None:
    """Return place[N] at a level: qubits that have gates then or on the next level where these are, the others near.

    Where the others go is the static layout around that time, by native search.
    """
    time, params = time_and_params
    fixed = np.full(dag.qubits, -1, np.int32) if params.fixed is None else params.fixed.astype(np.int32)
    used = set(fixed[fixed >= 0].tolist())
    for gate in np.flatnonzero((tasks.gates.level >= time) & (tasks.gates.level < time + params.shapes.span)).tolist():
        for qubit, at in zip(tasks.gates.pairs[gate].tolist(), tasks.arcs.ends[arc[gate]].tolist(), strict=True):
            if fixed[qubit] < 0 and at not in used:
                fixed[qubit] = at
                used.add(at)
    static = StaticParams(half=params.shapes.near, around=time, fixed=fixed, closed=params.closed, losses=params.losses)
    layout = build_static_layout(dag, coupling, static)
    return layout.solve("auto", seed=params.seed, time_limit_s=params.time_limit_s)


def compare_movement(dag: GateDag, coupling: Coupling, route: Route, params: ProposalParams) -> DataMovement:
    """Return how far data moves under the trivial layout, in both formulations, and in a routed circuit.

    The layouts are those of the proposals "static" and "levels" at the same parameters, which are searched for again.
    """
    trivial = np.arange(coupling.size, dtype=np.int32)
    first = next(propose_layouts(dag, coupling, params), None)
    static = levelled = None
    if first is not None:
        static = count_movement(list_static_visits(dag, first.anchor.place), coupling)
        tasks, arc = place_gates(dag, coupling, params, first.anchor.place)
        levelled = count_movement(tasks.visits(arc), coupling)
    return DataMovement(
        trivial=count_movement(list_static_visits(dag, trivial), coupling),
        static_qubo=static,
        levels=levelled,
        routed=count_movement(list_route_visits(dag, route), coupling),
    )
