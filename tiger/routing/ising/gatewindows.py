r"""Windows of gates as tasks, as QUBOs: a few consecutive levels, with everything outside folded into biases.

With :math:`x_{ge} = 1` for gate g on the directed edge e = (e_0, e_1), its first qubit on e_0,

.. math::
    E = \sum_{(g, a, h, b)} \sum_{e f} d_{e_a f_b}\, x_{ge} x_{hf} + \sum_g A_g \Bigl(1 - \sum_e x_{ge}\Bigr)^2
        + \sum_p B_p \sum_{\{g, h\}} x_{g \ni p}\, x_{h \ni p}

over the dataflow, where a qubit leaves gate g by its end a and next enters gate h by its end b, and over gates g, h of
one level that share a device qubit p. On a feasible sample E is the number of hops that qubits travel between gates.

Centred, what either end of a link adds to its hops is moved into the biases, as in tiger.qubo.centring: the same energy
for every feasible sample at far smaller penalties. Source: windows of levels are those of arXiv:2009.10151.
"""

from dataclasses import dataclass, replace

import dimod
import numpy as np

from tiger.model.arrays import BitArray, BoolArray, FloatArray, IntArray
from tiger.qubo.penalties import MARGIN, TYPICAL, Penalties
from tiger.routing.coupling import FAR, IndexArray
from tiger.routing.ising.gatetasks import GateTasks


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GateWindow:
    """Hold w gates of some levels with everything else folded in, as a QUBO that penalties complete.

    `choice[w, r]` are the arcs a gate may take and `index[w, r]` their variables, -1 where there are fewer; `linear[w,
    r]` the hops to gates outside; `links[l, 4]` gates i, j inside and the ends that a qubit has there. `rivals[c, 2]`
    are gates of one level. For choices y[w] cost = constant + sum linear + sum of hops along the links is the cost of
    all gates.
    """

    tasks: GateTasks
    gates: IntArray
    choice: IndexArray
    index: IntArray
    linear: FloatArray
    links: IntArray
    rivals: IntArray
    constant: float

    @property
    def size(self) -> int:
        """Return the number of variables."""
        return int(self.index.max(initial=-1)) + 1

    def cost(self, local: IntArray) -> float:
        """Return the cost of all gates for choices `local[w]`."""
        every = np.arange(len(local))
        at = self.tasks.arcs.ends[self.choice[every, local]]
        i, a, j, b = self.links.T
        return self.constant + float(self.linear[every, local].sum() + self.tasks.arcs.hops[at[i, a], at[j, b]].sum())

    def travel(self) -> FloatArray:
        """Return hops[l, r, r] along every link, by choice."""
        i, a, j, b = self.links.T
        ends = self.tasks.arcs.ends
        here, there = ends[self.choice[i], a[:, None]], ends[self.choice[j], b[:, None]]
        return np.asarray(self.tasks.arcs.hops[here[:, :, None], there[:, None, :]], np.float64)

    def sample(self, local: IntArray) -> BitArray:
        """Return the bits of choices `local[w]`."""
        bits = np.zeros(self.size, np.int8)
        bits[self.index[np.arange(len(local)), local]] = 1
        return bits

    def bqm(self, penalties: Penalties) -> dimod.BinaryQuadraticModel:
        """Return the model; its energy is the cost of all gates on every feasible sample."""
        allowed = self.index >= 0
        constant, linear, travel = self.centre() if penalties.centred else (self.constant, self.linear, self.travel())
        least = np.where(allowed, linear, np.inf).min(axis=1)
        biases = np.zeros(self.size)
        biases[self.index[allowed]] = (linear - (least + penalties.one_hot)[:, None])[allowed]
        # One-hot rows: A (1 - sum x)^2 puts -A on every variable, 2 A on every pair and A into the offset.
        first, second = np.triu_indices(self.choice.shape[1], 1)
        same = np.broadcast_to(2 * penalties.one_hot[:, None], (len(self.gates), len(first)))
        terms = [
            (self.index[:, first], self.index[:, second], same),
            self._cross(self.links[:, [0, 2]], travel),
            self._cross(self.rivals, self.clashes(penalties.exclusive)),
        ]
        row, column, value = (np.concatenate([np.ravel(term[k]) for term in terms]) for k in range(3))
        keep = (row >= 0) & (column >= 0) & (value != 0)
        offset = constant + float(least.sum() + penalties.one_hot.sum())
        pairs = row[keep], column[keep], value[keep]
        return dimod.BinaryQuadraticModel.from_numpy_vectors(biases, pairs, offset, dimod.BINARY)

    def _cross(self, pairs: IntArray, value: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
        """Return variables and values of all choices of pairs of gates."""
        row, column = self.index[pairs[:, 0]][:, :, None], self.index[pairs[:, 1]][:, None, :]
        return np.broadcast_to(row, value.shape), np.broadcast_to(column, value.shape), value

    def clashes(self, weight: FloatArray) -> FloatArray:
        """Return the sum of weight[N] of the device qubits that rivals would share, [c, r, r] by choice."""
        one, two = (self.tasks.arcs.ends[self.choice[self.rivals[:, k]]] for k in (0, 1))
        shared = one[:, :, None, :, None] == two[:, None, :, None, :]
        return np.asarray((shared * weight[one][:, :, None, :, None]).sum(axis=(3, 4)))

    def centre(self) -> tuple[float, FloatArray, FloatArray]:
        """Return constant, linear and travel; what each end adds leaves the couplers as in tiger.qubo.centring."""
        i, _, j, _ = self.links.T
        rows, columns = (self.index >= 0)[i][:, :, None], (self.index >= 0)[j][:, None, :]
        travel, both = self.travel(), rows & columns
        # Double centring: the mean and what either end adds go to the offset and the biases, where one-hot fixes them.
        mean = np.where(both, travel, 0).sum(axis=(1, 2)) / both.sum(axis=(1, 2))
        excess = np.where(both, travel - mean[:, None, None], 0.0)
        source, target = excess.sum(axis=2) / columns.sum(axis=2), excess.sum(axis=1) / rows.sum(axis=1)
        linear = self.linear.copy()
        np.add.at(linear, i, source)
        np.add.at(linear, j, target)
        rest = np.where(both, excess - source[:, :, None] - target[:, None, :], 0.0)
        return self.constant + float(mean.sum()), linear, rest


def build_gate_window(tasks: GateTasks, gates: IntArray, arc: IndexArray, most: int) -> GateWindow:
    """Fold the gates outside at their feasible `arc[k]` into a window of `gates[w]`, of at most `most` variables.

    Every gate keeps its arc, and as many of the others that are cheapest for it by what lies outside as there is room.
    """
    near, ends = tasks.flow.near[gates], tasks.arcs.ends
    at = np.full(len(arc) + 1, -1, np.int64)
    at[gates] = np.arange(len(gates))
    inside = at[near[..., 0]] >= 0
    linear = _pull(tasks, gates, arc, (near[..., 0] >= 0) & ~inside)
    # An arc that a gate outside the window holds on the same level has no variable.
    linear[~_open_arcs(tasks, gates, arc)] = np.inf
    every, width = np.arange(len(gates)), min(max(most // len(gates), 1), len(ends))
    # The present arc is always among the choices, as number 0.
    ranked = linear.copy()
    ranked[every, arc[gates]] = -1.0
    choice = np.argsort(ranked, axis=1, kind="stable")[:, :width].astype(np.int32)
    linear = np.take_along_axis(linear, choice.astype(np.int64), axis=1)
    allowed = np.isfinite(linear)
    index = np.full(choice.shape, -1, np.int64)
    index[allowed] = np.arange(int(allowed.sum()))
    i, a = np.nonzero(inside[:, :, 1])
    links = np.stack([i, a, at[near[i, a, 1, 0]], near[i, a, 1, 1]], axis=1)
    first, second = np.triu_indices(len(gates), 1)
    same = tasks.flow.level[gates][first] == tasks.flow.level[gates][second]
    rivals = np.stack([first[same], second[same]], axis=1)
    window = GateWindow(
        tasks=tasks,
        gates=gates,
        choice=choice,
        index=index,
        linear=np.where(allowed, linear, 0.0),
        links=links,
        rivals=rivals,
        constant=0.0,
    )
    # So the cost of the present choices is that of all gates, and with it that of all others.
    return replace(window, constant=tasks.cost(arc) - window.cost(np.zeros(len(gates), np.int64)))


def _pull(tasks: GateTasks, gates: IntArray, arc: IndexArray, outside: BoolArray) -> FloatArray:
    """Return linear[w, m]: the hops from an arc to where the qubits are outside, or are settled."""
    ends, hops, near = tasks.arcs.ends, tasks.arcs.hops, tasks.flow.near[gates]
    linear = np.zeros((len(gates), len(ends)))
    i, a, side = np.nonzero(outside)
    other = ends[arc[near[i, a, side, 0]], near[i, a, side, 1]]
    np.add.at(linear, i, hops[other[:, None], ends[:, a].T])
    i, a = np.nonzero(tasks.flow.home[gates] >= 0)
    np.add.at(linear, i, hops[tasks.flow.home[gates][i, a][:, None], ends[:, a].T])
    return linear


def _open_arcs(tasks: GateTasks, gates: IntArray, arc: IndexArray) -> BoolArray:
    """Return allowed[w, m]: arcs of the gate's part that share no device qubit with a gate of its level outside."""
    level, ends, size = tasks.flow.level, tasks.arcs.ends, len(tasks.arcs.hops)
    others = np.setdiff1d(np.flatnonzero(np.isin(level, level[gates])), gates)
    visits = (level[others, None].astype(np.int64) * size + ends[arc[others]]).ravel()
    taken = np.isin(level[gates][:, None, None].astype(np.int64) * size + ends[None], visits).any(axis=2)
    reach = tasks.arcs.hops[ends[arc[gates], 0]][:, ends[:, 0]] < FAR
    return np.asarray(reach & ~taken)


def derive_safe_penalties(window: GateWindow) -> Penalties:
    """Return weights at which every ground state is feasible and optimal, and in `aim` those to tune.

    No cost being negative, a sample loses nothing with the second arc of a gate; it gains by dropping one of two gates
    that share a device qubit, as a clash weighs more than a missing gate; and it gains by placing all gates of a level
    again, which can be done, as a missing gate weighs more than all of them can cost.
    """
    allowed = window.index >= 0
    least = np.where(allowed, window.linear, np.inf).min(axis=1)
    worst = np.where(allowed, window.linear - least[:, None], 0.0).max(axis=1)
    # What a gate can add to the cost at worst, by biases and by both ends of its links.
    i, _, j, _ = window.links.T
    far = window.travel().max(axis=(1, 2), initial=0.0)
    np.add.at(worst, i, far)
    np.add.at(worst, j, far)
    _, group = np.unique(window.tasks.flow.level[window.gates], return_inverse=True)
    one_hot = MARGIN * np.maximum(np.bincount(group, worst)[group], 1.0)
    exclusive = np.full(len(window.tasks.arcs.hops), MARGIN * float(one_hot.max(initial=1.0)))
    safe = Penalties(one_hot=one_hot, exclusive=exclusive, capacity=np.zeros(len(exclusive)))
    return replace(safe, aim=_compute_typical(window, safe))


def _compute_typical(window: GateWindow, safe: Penalties) -> Penalties:
    """Return weights about as large as what a gate's cost varies by, as `tiger.qubo.penalties` has them for windows."""
    _, linear, rest = window.centre()
    allowed = window.index >= 0
    count = allowed.sum(axis=1)
    centre = np.where(allowed, linear, 0.0).sum(axis=1) / count
    variance = np.where(allowed, (linear - centre[:, None]) ** 2, 0.0).sum(axis=1) / count
    power = (rest**2).mean(axis=(1, 2))
    np.add.at(variance, window.links[:, 0], power)
    np.add.at(variance, window.links[:, 2], power)
    spread, mean = np.sqrt(variance), float(np.sqrt(variance.mean())) or 1.0
    one_hot = TYPICAL * np.sqrt(np.maximum(spread, 1e-3 * mean) * mean)
    level = float(one_hot.mean())
    exclusive = np.full(len(safe.exclusive), 2 * level)
    scale = level / float(safe.one_hot.mean())
    return Penalties(one_hot=one_hot, exclusive=exclusive, capacity=safe.capacity, scale=scale, centred=True)
