"""Compile the kernels of circuit mapping into numba's cache, or load them from there."""

from collections.abc import Callable, Iterable
from functools import cache, partial

import numpy as np

from tiger.circuits.params import LayoutParams
from tiger.circuits.solve import (
    begin,
    bound_extra_cx,
    find_perfect_layout,
    route_proposals,
    route_segments,
    search_exactly,
)
from tiger.circuits.stopping import STOP
from tiger.routing.coupling import Coupling
from tiger.routing.error_rates import Errors, Gate
from tiger.routing.gate_dag import Build, Operation, gate_dag_of
from tiger.routing.noise.depth import count_singles
from tiger.routing.noise.objectives import DepthObjective, SuccessObjective
from tiger.routing.noise.placement import PlacementParams, Placer
from tiger.routing.swaps.shortest import route_shortest_paths
from tiger.routing.swaps.windows import WindowParams, polish
from tiger.solvers import warm as searches

# The smallest circuit that runs every kernel.
QUBITS, GATES = 5, 12
BRIEF = PlacementParams(drafts=2, searchers=2, scouts=2, finalists=1, trials=2)
KERNELS = ("routing", "windows", "placement")


def warm(progress: Callable[[str], None], names: Iterable[str] = KERNELS) -> None:
    """Load what maps circuits, or some stages of it; `progress` is called with the name of each.

    Takes about a minute of compilation the first time after installation, and less than a second from the cache.
    """
    for name in names:
        progress(name)
        load(name)


@cache
def load(name: str) -> None:
    """Run a stage by its name once in a process, with five qubits on a line; all circuits use the same compiled code.

    Routing takes two thirds of the compilation; the other two hardly need its kernels.
    """
    line = Coupling.of(QUBITS + 1, [(k, k + 1) for k in range(QUBITS)])
    steps, build = _circuit()
    if name == "routing":
        # Below the effort that does all work, the last proposals and their kernels are left out.
        task, incumbent = begin(build.gate_dag, line, LayoutParams(effort=STOP.all_work_effort), None)
        search_exactly(task, incumbent, bound_extra_cx(task, incumbent))
        for stage in (find_perfect_layout, route_proposals, route_segments):
            stage(task, incumbent)
        return
    route = route_shortest_paths(build.gate_dag, line, np.arange(line.size, dtype=np.int32))
    if name == "windows":
        polish(build.gate_dag, line, route, WindowParams(work=5_000))
        return
    errors = Errors.of([Gate(a, b, 0.01) for a, b in line.edges.tolist()], [0.001] * line.size, [0.01] * line.size)
    singles = count_singles(QUBITS, steps, build, ["cx"] * len(steps))
    for objective in (
        DepthObjective(build.gate_dag, singles, line),
        SuccessObjective(build.gate_dag, singles, line, errors),
    ):
        Placer(build.gate_dag, line, objective, BRIEF).find_best([route], 0, bool)


def _circuit() -> tuple[list[Operation], Build]:
    """Return CX gates between random qubits."""
    rng = np.random.default_rng(0)
    pairs = [rng.choice(QUBITS, 2, replace=False).tolist() for _ in range(GATES)]
    steps = [Operation((a, b), ("z", "x"), pair=True, bridge=True) for a, b in pairs]
    return steps, gate_dag_of(QUBITS, steps)


_OWN = [(name, partial(load, name)) for name in KERNELS]
# The longest comes first; after it those of searches, one of which often calls kernels of the one before.
STAGES = (_OWN[0], *searches.STAGES, *_OWN[1:])
