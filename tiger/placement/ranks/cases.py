"""Lower bounds on the costs of ranks, by the machines that their groups lie on."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Self

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.placement.ranks.cost_model import GridCostModel
from tiger.training.costs.stages import Workload, exposed_s
from tiger.training.hardware.cluster import Cluster
from tiger.training.hardware.link_rows import link_rows, link_types
from tiger.training.hardware.ring_bounds import ring_bound_s

# Seconds `[c + 2, x]` that rings with a link of a type are not below, inside a machine and between two, by the most
# NICs that they have there and the machines that they span.
BoundRows = Callable[[int, int | None], tuple[FloatArray, FloatArray]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LinkSeconds:
    """Hold the fewest seconds over links, for tables of seconds `[c + 2, x]` of types of links and messages.

    `types[M, M]` are the types of links between two machines, `ring_s[M, x]` the seconds of a ring within one, its
    slowest link counting, infinite where there is none, and `most` the most NICs that a ring has anywhere.
    """

    bound_rows: BoundRows
    types: dict[tuple[int, int], IntArray]
    ring_s: FloatArray
    most: int
    known: dict[tuple[frozenset[int], int, int | None], FloatArray] = field(default_factory=dict)
    between: dict[tuple[int, int | None], FloatArray] = field(default_factory=dict)

    @classmethod
    def of(cls, bound_rows: BoundRows, cluster: Cluster, machines: list[IntArray], ranks: int) -> Self:
        """Return the bounds of messages by tables inside a machine and between two, for rings of so many ranks."""
        devices = np.arange(cluster.size)
        link_type = link_types(cluster, devices[:, None], devices)
        inside_s, _ = bound_rows(1, None)
        types = {}
        for a, b in combinations(range(len(machines)), 2):
            used = np.unique(link_type[np.ix_(machines[a], machines[b])])
            # The last type is no link but the device itself.
            types[a, b] = types[b, a] = used[used < len(inside_s) - 1]
        rings = [ring_bound_s(inside_s, link_type[np.ix_(inside, inside)], ranks) for inside in machines]
        # A ring on two machines or more has as many ranks on each.
        most = max(min(ranks // 2, cluster.most_nics), 1)
        return cls(bound_rows=bound_rows, types=types, ring_s=np.array(rings), most=most)

    def bounds_s(self, options: Sequence[int]) -> FloatArray:
        """Return the bounds of rings through groups of these options; two ranks that talk are a ring as well.

        A ring through two machines has a link out of each, and as many NICs as ranks on that with the fewest. A group
        on several machines has a rank outside of each.
        """
        count = len(self.ring_s)
        ranks = Counter(option for option in options if option < count)
        others = len(options) - ranks.total()
        nics = min(self.most, *(most + others for most in ranks.values())) if len(ranks) > 1 else self.most
        key = frozenset(options), nics, None if others or len(ranks) < 2 else len(ranks)
        if key not in self.known:
            self.known[key] = self._bound_s(*key)
        return self.known[key]

    def _bound_s(self, options: frozenset[int], nics: int, spanned: int | None) -> FloatArray:
        """Return the bounds that `bounds_s` keeps."""
        count = len(self.ring_s)
        machines = sorted(option for option in options if option < count)
        others = sorted(set(range(count)) if options & {count, count + 1} else machines)
        between = self._between_s(nics, spanned)
        out = [
            between[machine, [other for other in others if other != machine]].min(axis=0, initial=np.inf)
            for machine in machines
        ]
        if not machines:
            inside = self.ring_s.min(axis=0)
            return np.asarray(np.minimum(inside, self.other_machine_s()))
        if len(machines) > 1 or count in options:
            return np.asarray(np.max(out, axis=0))
        inside = self.ring_s[machines[0]]
        return np.asarray(np.minimum(inside, out[0]) if count + 1 in options else inside)

    def _between_s(self, nics: int, spanned: int | None) -> FloatArray:
        """Return the fewest seconds `[M, M, x]` of a ring with a link between two machines, infinite without one."""
        if (nics, spanned) not in self.between:
            _, rows = self.bound_rows(nics, spanned)
            seconds = np.full((*[len(self.ring_s)] * 2, rows.shape[1]), np.inf)
            for pair, used in self.types.items():
                seconds[pair] = rows[used].min(axis=0, initial=np.inf)
            self.between[nics, spanned] = seconds
        return self.between[nics, spanned]

    def other_machine_s(self) -> FloatArray:
        """Return the fewest seconds of a link between any two machines."""
        return np.asarray(self._between_s(self.most, None).min(axis=(0, 1), initial=np.inf))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cases:
    """Bound the costs of grids by the machine of each tensor-parallel group, its option.

    Options are a machine, M for a group on several machines, and M + 1 for any of these. `sizes[M]` are the devices of
    the machines, `alike[M]` the first machine that each can be exchanged with, `spent_s[M + 2, S]`
    and `slowdown[M + 2]` bound all-reductions and compute for a group of each option.
    """

    cost_model: GridCostModel
    sizes: IntArray
    alike: IntArray
    sent: LinkSeconds
    gradients: tuple[LinkSeconds, ...]
    ties: tuple[LinkSeconds, ...]
    spent_s: FloatArray
    slowdown: FloatArray

    @classmethod
    def of(cls, cost_model: GridCostModel, machine: IntArray) -> Self:
        """Return the cases of a cluster whose devices are on machines `machine[n]`."""
        machines = [np.flatnonzero(machine == one) for one in np.unique(machine)]
        _, d, t = cost_model.degrees.shape
        cluster, ties = cost_model.cluster, cost_model.closing.ties
        fast = [np.sort(cluster.speed[inside])[::-1] for inside in machines]
        every = np.sort(cluster.speed)[::-1]
        tensor = LinkSeconds.of(cost_model.reduced.bound_rows, cluster, machines, t)

        def send(_nics: int, machines: int | None) -> tuple[FloatArray, FloatArray]:
            # All ranks of a group on one machine send at once.
            share = min(cluster.most_nics / t, 1.0) if machines else 1.0
            return (rows := link_rows(cluster, cost_model.sent.size_bytes / share), rows)

        slowest = [speeds[t - 1] if t <= len(speeds) else np.nan for speeds in (*fast, every, every)]
        return cls(
            cost_model=cost_model,
            sizes=np.array([len(inside) for inside in machines]),
            alike=_first_alike(cost_model, machines),
            sent=LinkSeconds.of(send, cluster, machines, 2),
            gradients=tuple(
                LinkSeconds.of(table.bound_rows, cluster, machines, d) for table in cost_model.closing.dense
            ),
            ties=tuple(LinkSeconds.of(table.bound_rows, cluster, machines, table.ranks) for _, table in ties),
            spent_s=_reduction_s(tensor, cost_model),
            slowdown=1 / np.array(slowest),
        )

    @property
    def split(self) -> int:
        """Return the option of a group on several machines."""
        return len(self.sizes)

    @property
    def free(self) -> int:
        """Return the option of a group that may be anywhere."""
        return len(self.sizes) + 1

    def workloads(self, options: IntArray) -> tuple[Workload, ...]:
        """Return workloads of which no part takes longer than in any grid of the options `[p, d]`."""
        closing = self._closing_s(options)
        return tuple(self._workload(options[:, replica], closing) for replica in range(options.shape[1]))

    def _workload(self, options: IntArray, closing: FloatArray) -> Workload:
        """Return the bounds of one replica."""
        stages = options[np.arange(self.cost_model.passes_s.shape[1]) % len(options)].tolist()
        reducing_s = self.spent_s[stages, np.arange(len(stages))]
        forward, backward, weight = self.cost_model.passes_s * self.slowdown[stages]
        sent = [self.sent.bounds_s(stages[j : j + 2])[j] for j in range(len(stages) - 1)]
        return Workload(
            forward_s=forward + reducing_s,
            backward_s=backward + reducing_s,
            weight_s=weight,
            transfer_s=np.array(sent, np.float64),
            held_bytes=self.cost_model.held_bytes,
            state_bytes=self.cost_model.state_bytes,
            closing_s=closing,
            working_bytes=self.cost_model.working_bytes,
        )

    def _closing_s(self, options: IntArray) -> FloatArray:
        """Return the bounds of all-reducing gradients at each position."""
        closing = np.zeros(len(options))
        for gradient in self.gradients:
            rows = [gradient.bounds_s(row) for row in options.tolist()]
            closing += [row[position] for position, row in enumerate(rows)]
        for (places, _), links in zip(self.cost_model.closing.ties, self.ties, strict=True):
            rings = [links.bounds_s(column) for column in options[places].T.tolist()]
            closing[places] += np.max(rings)
        return closing


def _reduction_s(links: LinkSeconds, cost_model: GridCostModel) -> FloatArray:
    """Return the bounds of a pass's all-reductions at each stage, for a group of each option `[M + 2, S]`."""
    count = len(links.ring_s)
    bounds = np.array([*links.ring_s, links.other_machine_s(), links.bounds_s([count + 1])])[:, None]
    # The slowest devices hide most.
    hiding_s, calls = cost_model.hiding_s / cost_model.cluster.speed.min(), cost_model.calls
    bounds = exposed_s(cost_model.layers, bounds, hiding_s)
    wanted = np.broadcast_to(calls, (count + 2, *calls.shape))
    reducing_s = np.multiply(bounds, wanted, out=np.zeros(wanted.shape), where=wanted > 0)
    return np.asarray(reducing_s.sum(axis=2))


def _first_alike(cost_model: GridCostModel, machines: list[IntArray]) -> IntArray:
    """Return, for each machine, the first whose devices can be exchanged for its own, in order, and nothing changes."""
    alike = np.arange(len(machines))
    for one, inside in enumerate(machines):
        for first in range(one):
            if alike[first] == first and _are_exchangeable(cost_model, inside, machines[first]):
                alike[one] = first
                break
    return alike


def _are_exchangeable(cost_model: GridCostModel, a: IntArray, b: IntArray) -> bool:
    """Return whether exchanging two machines' devices, in order, changes no cost."""
    if len(a) != len(b):
        return False
    cluster = cost_model.cluster
    to = np.arange(cluster.size)
    to[a], to[b] = b, a
    traits = np.stack([cluster.speed, cluster.nics, cluster.reduces])
    return bool((cluster.link[np.ix_(to, to)] == cluster.link).all()) and bool((traits[:, to] == traits).all())
