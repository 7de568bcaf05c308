r"""A window as a nonlinear model: its tasks' nodes are the decision itself, and costs are looked up in tables.

With node :math:`y_t` of task t, C the linear costs, c the traffic and d the distances, the objective is

.. math::
    c_0 + \sum_t C_{t y_t} + \sum_{ij} c_{ij}\, d_{y_i y_j}

Where all tasks exclude each other, y are the first entries of a permutation of the nodes (a list variable), and no
constraint is needed for that; else y are integers, and constraints count clashes and loads.
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tiger.errors import InputError
from tiger.model.arrays import IntArray
from tiger.model.window import Window
from tiger.solvers.samplers.cloud import translate_errors

if TYPE_CHECKING:
    from dwave.optimization.model import ArraySymbol, Model

# Entries of a table up to which a model is built here, 80 MB each.
CELL_LIMIT = 10_000_000


class Nonlinear(NamedTuple):
    """Hold a window's model and the symbol that is decided on."""

    window: Window
    model: "Model"
    choice: "ArraySymbol"

    def start(self, local: IntArray) -> None:
        """Make local places[k] the first state of the decision; a permutation goes on with the nodes left over."""
        rest = np.setdiff1d(np.arange(self.choice.size()), local) if _permutes(self.window) else local[:0]
        self.model.states.resize(max(self.model.states.size(), 1))
        self.choice.set_state(0, np.concatenate([local, rest]))

    def local_places(self) -> list[IntArray]:
        """Return the local places of every state that has come back."""
        count = self.window.shape[0]
        states = (self.choice.state(number) for number in range(self.model.states.size()))
        return [np.asarray(state, np.int64)[:count] for state in states]


def nonlinear_of(window: Window) -> Nonlinear:
    """Return a window's model; O(edges + k q + q^2), raises InputError above 10 million task-node or clash pairs."""
    with translate_errors():
        from dwave.optimization import Model

    first, second = _clashes(window)
    size = max(window.linear.size, window.distance.size, len(first))
    if size > CELL_LIMIT:
        raise InputError("solver", f"expected at most {CELL_LIMIT} entries in a table of a nonlinear model, got {size}")
    count, nodes = window.shape
    model = Model()
    choice = model.list(nodes) if _permutes(window) else model.integer(count, lower_bound=0, upper_bound=nodes - 1)
    places = choice[:count]
    _minimize(model, window, places)
    if not window.allowed.all():
        kept = model.constant(window.allowed.astype(float))[model.constant(np.arange(count)), places]
        model.add_constraint(kept.sum() >= model.constant(count))
    if len(first):
        clash = places[model.constant(first)] == places[model.constant(second)]
        model.add_constraint(clash.sum() <= model.constant(0))
    for capacity in window.capacities:
        _limit(model, places, capacity.load, capacity.room)
    return Nonlinear(window, model, choice)


def _permutes(window: Window) -> bool:
    """Return whether all tasks of a window exclude each other."""
    return len(window.groups) == 1 and len(window.groups[0]) == window.shape[0]


def _clashes(window: Window) -> tuple[IntArray, IntArray]:
    """Return the pairs of tasks that may not share a node, none where a permutation keeps them apart."""
    pairs = [(np.zeros(0, np.int64), np.zeros(0, np.int64))]
    for group in () if _permutes(window) else window.groups:
        first, second = np.triu_indices(len(group), 1)
        pairs.append((group[first], group[second]))
    first, second = map(np.concatenate, zip(*pairs, strict=True))
    return first, second


def _minimize(model: "Model", window: Window, places: "ArraySymbol") -> None:
    """Set the objective of the nodes `places[k]`."""
    linear = np.where(window.allowed, window.linear, 0.0)
    own = model.constant(linear)[model.constant(np.arange(len(linear))), places]
    cost = own.sum() + model.constant(window.constant)
    edges = window.traffic.tocoo()
    if edges.nnz:
        ends = places[model.constant(edges.row)], places[model.constant(edges.col)]
        cost = cost + (model.constant(edges.data) * model.constant(window.distance)[ends]).sum()
    model.minimize(cost)


def _limit(model: "Model", places: "ArraySymbol", load: IntArray, room: IntArray) -> None:
    """Limit the load[k] on every node to its room[q]."""
    tasks, nodes = np.indices((len(load), len(room))).reshape(2, -1)
    assigned = (places[model.constant(tasks)] == model.constant(nodes)).reshape((len(load), len(room)))
    loads = model.constant(np.broadcast_to(load[:, None], (len(load), len(room))))
    model.add_constraint(((assigned * loads).sum(axis=0) <= model.constant(room)).all())
