"""Movement of data: what both Ising formulations and the full search save against the trivial layout."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from benchmarks.devices import Case, cases, load_circuits
from tiger.circuits.params import LayoutParams
from tiger.circuits.solve import map_circuit
from tiger.circuits.transpiler.model import model_of
from tiger.model.arrays import FloatArray
from tiger.routing.coupling import IndexArray
from tiger.routing.gate_dag import GateDag
from tiger.routing.ising.movement import count_movement, list_route_visits, list_static_visits
from tiger.routing.ising.proposals import ProposalParams, build_layout_at, place_gates, propose_layouts
from tiger.routing.route import Route
from tiger.routing.swaps.search import SearchOrigins, SearchParams, search

SEEDS = (0,)
WORK, LEVEL, THREADS = 2_000_000, 3, 2
MAPS = "coupling_maps.json"
HEAD = (
    "circuits",
    "movement: static QUBO",
    "movement: levels",
    "movement: full search",
    "extra CX: static QUBO",
    "extra CX: levels",
    "extra CX: full search",
)


def table(say: Callable[[str], None], data: Path | None) -> Iterator[tuple[str, ...]]:
    """Yield mean reductions in per cent against the trivial layout, and mean seconds, family by family.

    Movement is that of `tiger.routing.ising.movement`. Extra CX of the trivial layout and of both formulations are
    what the same router finds, at the same small work, when the circuit starts from that layout. Circuits that the
    trivial layout fits are left out. `data` is a folder of circuits with their coupling maps.
    """
    yield HEAD
    families: dict[str, list[FloatArray]] = defaultdict(list)
    stock = load_circuits(data) if data and (data / MAPS).exists() else ()
    for case in (*cases(SEEDS[0]), *stock):
        say(f"{case.name} on {case.coupling.size} qubits")
        rows = [found for seed in SEEDS if (found := compute_savings(case, seed)) is not None]
        if rows:
            families[case.family].append(np.mean(rows, axis=0))
            families["**all**"].append(families[case.family][-1])
    for family in sorted(families, key=lambda name: name == "**all**"):
        means = np.mean(families[family], axis=0)
        seconds = [f" ({second:.2f} s)" for second in means[6:]] + [""] * 3
        cells = (f"{share:.0f} %{note}" for share, note in zip(means[:6], seconds, strict=True))
        yield f"{family} ({len(families[family])})", *cells


def compute_savings(case: Case, seed: int) -> FloatArray | None:
    """Return six reductions in per cent and three times in seconds, None where there is nothing to save."""
    dag, coupling = model_of(case.circuit).gate_dag, case.coupling
    trivial = np.arange(coupling.size, dtype=np.int32)
    begun = time.perf_counter()
    params = ProposalParams(seed=seed)
    static = next(propose_layouts(dag, coupling, params)).anchor.place
    placed = time.perf_counter()
    tasks, arc = place_gates(dag, coupling, params, static)
    first = build_layout_at(dag, coupling, tasks, arc, (0, params))
    levelled = time.perf_counter()
    full = map_circuit(dag, coupling, LayoutParams(level=LEVEL, seed=seed, threads=THREADS)).route
    searched = time.perf_counter()
    visits = [
        list_static_visits(dag, trivial),
        list_static_visits(dag, static),
        tasks.visits(arc),
        list_route_visits(dag, full),
    ]
    moved = [count_movement(visit, coupling) for visit in visits]
    routes = [from_start(case, dag, place, seed) for place in (trivial, static, static if first is None else first)]
    added = [route.extra_cx for route in (*routes, full)]
    if not moved[0] or not added[0]:
        return None
    shares = [100 * (1 - figures[k] / figures[0]) for figures in (moved, added) for k in (1, 2, 3)]
    return np.array([*shares, placed - begun, levelled - placed, searched - levelled])


def from_start(case: Case, dag: GateDag, place: IndexArray, seed: int) -> Route:
    """Return what little routing finds from a layout."""
    setting = SearchParams(work=WORK, seed=seed)
    return search(dag, case.coupling, SearchOrigins(layouts=(place,), fixed=place), setting)
