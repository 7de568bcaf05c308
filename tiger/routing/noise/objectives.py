"""What routes are measured by where errors or time count: the success probability, or depth."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tiger.model.arrays import FloatArray
from tiger.model.seams import Stop
from tiger.routing.coupling import Coupling, IndexArray
from tiger.routing.error_rates import Errors
from tiger.routing.gate_dag import GateDag
from tiger.routing.noise.branching import DeviceCosts
from tiger.routing.noise.depth import (
    ErrorCosts,
    QubitTimes,
    RouteTape,
    Singles,
    build_layer_costs,
    build_tape,
    costs_of,
    expand_route,
    run_operations,
)
from tiger.routing.noise.relabelling import RelabelParams, find_best_places, relabel
from tiger.routing.route import Route
from tiger.solvers.kernel import allocating_kernel

if TYPE_CHECKING:
    from tiger.routing.ising.static import Losses

# What keeps a sum of costs from being 0.
TINY = 1e-12


class LossWeights(NamedTuple):
    """Say what a route loses for every second until it ends, for errors and waiting, and for every SWAP or BRIDGE."""

    end: float
    error: float
    move: float


class Measure(NamedTuple):
    """Hold what a route is measured by: its circuit, the device and the weights; `stay[N]` is the identity."""

    tape: RouteTape
    costs: ErrorCosts
    weights: LossWeights
    stay: IndexArray


class RouteObjective:
    """Measure what a route of a circuit loses, and relabel routes so that they lose less."""

    def __init__(self, measure: Measure) -> None:
        self.measure = measure

    def loss(self, route: Route) -> float:
        """Return the loss of the route; less is better."""
        return measure_route(self.measure, route.steps.copy(), route.start.copy())

    def relocate(self, route: Route, params: RelabelParams, seed: int, stop: Stop) -> Route:  # noqa: ARG002 (an objective that looks at errors uses them)
        """Return the route on the device qubits where it loses least, here as it is."""
        return route

    def lengths(self) -> FloatArray:
        """Return the cost of a SWAP on every edge over the mean, [N, N], here ones."""
        return np.ones_like(self.measure.costs.pair)

    def losses(self) -> "Losses | None":
        """Return the loss of a static layout by errors, None where they do not matter."""
        return None


class DepthObjective(RouteObjective):
    """Measure a route by its depth in layers, plus a millionth for every CX gate that it adds."""

    def __init__(self, dag: GateDag, singles: Singles, coupling: Coupling) -> None:
        costs = build_layer_costs(coupling.size)
        super().__init__(_measure_of(dag, singles, costs, LossWeights(end=1.0, error=0.0, move=3e-6)))


class SuccessObjective(RouteObjective):
    """Measure a route by the negative logarithm of its success probability, infinite on a faulty edge."""

    def __init__(self, dag: GateDag, singles: Singles, coupling: Coupling, errors: Errors) -> None:
        self._device_costs = DeviceCosts.of(coupling, costs_of(errors))
        weights = LossWeights(end=0.0, error=1.0, move=0.0)
        super().__init__(_measure_of(dag, singles, self._device_costs.costs, weights))
        own = np.concatenate([[0], np.cumsum(singles.gates + singles.reads)])[singles.first]
        self._errors, self._coupling, self._uses = errors, coupling, np.diff(own).astype(np.float64)
        self._inner = dag.inner[:, 1:]

    def relocate(self, route: Route, params: RelabelParams, seed: int, stop: Stop) -> Route:
        """Return the best relabelling found, the route as it is where that parts qubits that meet in control flow."""
        operations = expand_route(self.measure.tape, route.steps.copy(), route.start.copy())
        found = relabel(route, find_best_places(operations, self._device_costs, params, seed, stop))
        # Control flow counts as no operation, so that a part of the device may look free for one of them alone.
        part = self._coupling.part[found.start[self._inner]]
        return found if (part[:, 0] == part[:, 1]).all() else route

    def lengths(self) -> FloatArray:
        """Return the cost of a SWAP on every edge over the mean."""
        pair = self.measure.costs.pair
        swap = pair + pair.T + np.minimum(pair, pair.T)
        known = swap[np.isfinite(swap)]
        # Nothing is known where no pair works: zero times an infinite cost is no number.
        return swap * (len(known) / max(float(known.sum()), TINY)) if len(known) else swap

    def losses(self) -> "Losses":
        """Return the errors by edge and qubit."""
        from tiger.routing.ising.static import losses_of  # with Ising models, which other objectives have no use for

        return losses_of(self._errors, self._coupling, self._uses)


def _measure_of(dag: GateDag, singles: Singles, costs: ErrorCosts, weights: LossWeights) -> Measure:
    """Return what the routes of a circuit are measured by."""
    stay = np.arange(len(costs.single), dtype=np.int32)
    return Measure(tape=build_tape(dag, singles), costs=costs, weights=weights, stay=stay)


@allocating_kernel
def measure_route(measure: Measure, steps: IndexArray, start: IndexArray) -> float:
    """Return what a route loses; the layout `start[N]` ends as the final one."""
    operations = expand_route(measure.tape, steps, start)
    size = len(start)
    times = QubitTimes(np.zeros(size), np.zeros(size, np.bool_), np.zeros(size))
    end, loss, idle = run_operations(operations, measure.stay, measure.costs, times)
    moves = 0
    for k in range(len(steps)):
        moves += steps[k, 0] < 0 or steps[k, 1] >= 0
    weights = measure.weights
    return float(weights.end * end + weights.error * (loss + idle) + weights.move * moves)
