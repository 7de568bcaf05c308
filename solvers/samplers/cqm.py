r"""A window as a constrained quadratic model: the costs of its QUBO, and constraints in place of penalties.

With :math:`x_{tp} = 1` for task t on node p, C the linear costs, c the traffic and d the distances,

.. math::
    \min\; c_0 + \sum_{tp} C_{tp} x_{tp} + \sum_{ij} \sum_{pq} c_{ij} d_{pq}\, x_{ip} x_{jq}
    \quad\text{with}\quad \sum_p x_{tp} = 1,\quad \sum_{t \in G} x_{tp} \le 1,\quad \sum_t m_t x_{tp} \le K_p

for tasks t, exclusivity groups G, and capacities K with loads m. On every mapping that keeps the constraints the
objective is the cost of the full mapping.
"""

import dimod
import numpy as np

from tiger.errors import InputError
from tiger.model.arrays import IntArray
from tiger.model.window import Window

# Biases up to which a model is built here.
BIAS_LIMIT = 10_000_000


def cqm_of(window: Window) -> dimod.ConstrainedQuadraticModel:
    """Return a window's model on binary variables 0..size-1, numbered by `variables`; O(biases).

    Constraints are labelled by what they limit and the indices of task, or of group and node, in the problem. One that
    no mapping can break is left out. Raises InputError above 10 million biases.
    """
    if bias_count(window) > BIAS_LIMIT:
        raise InputError(
            "solver", f"expected at most {BIAS_LIMIT} biases of a constrained model, got up to {bias_count(window)}"
        )
    index = variables(window)
    model = dimod.ConstrainedQuadraticModel()
    model.set_objective(_costs(window, index))
    for task, row in zip(window.block.tasks.tolist(), index, strict=True):
        model.add_discrete(row[row >= 0].tolist(), label=f"task {task}", check_overlaps=False)
    for number, group in enumerate(window.groups):
        _limit(model, index[group], np.ones(len(group), np.int64), (f"group {number}", window, None))
    for capacity in window.capacities:
        _limit(model, index, capacity.load, (capacity.name, window, capacity.room))
    return model


def variables(window: Window) -> IntArray:
    """Return index[k, q], the variable of a task on a node, -1 where that is not allowed."""
    index = np.full(window.shape, -1, np.int64)
    index[window.allowed] = np.arange(int(window.allowed.sum()))
    return index


def bias_count(window: Window) -> int:
    """Return how many biases the model of a window would have at most, without building it."""
    tasks, nodes = window.shape
    return int(window.traffic.nnz * nodes * nodes + tasks * nodes * (2 + max(len(window.capacities), 1)))


def _costs(window: Window, index: IntArray) -> dimod.BinaryQuadraticModel:
    """Return the objective."""
    edges = window.traffic.tocoo()
    row, col, value = np.broadcast_arrays(
        index[edges.row][:, :, None], index[edges.col][:, None, :], edges.data[:, None, None] * window.distance
    )
    keep = (row >= 0) & (col >= 0) & (value != 0)
    terms = row[keep], col[keep], value[keep]
    return dimod.BinaryQuadraticModel.from_numpy_vectors(
        window.linear[index >= 0], terms, window.constant, dimod.BINARY
    )


def _limit(
    model: dimod.ConstrainedQuadraticModel,
    index: IntArray,
    load: IntArray,
    limit: tuple[str, Window, IntArray | None],
) -> None:
    """Limit the load of the variables in each column of `index` to the room of its node, 1 where there is no room."""
    name, window, room = limit
    room = np.ones(window.shape[1], np.int64) if room is None else room
    for node in np.flatnonzero(load @ (index >= 0) > room).tolist():
        loaded = np.flatnonzero((index[:, node] >= 0) & (load > 0))
        terms = zip(index[loaded, node].tolist(), load[loaded].tolist(), strict=True)
        label = f"{name} node {window.block.nodes[node]}"
        model.add_constraint_from_iterable(terms, "<=", int(room[node]), label=label)
