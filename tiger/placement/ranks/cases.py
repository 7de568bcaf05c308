"""Lower bounds on the costs of ranks, by the machines that their groups lie on."""

from dataclasses import dataclass, field
from itertools import combinations_with_replacement
from typing import Self

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.placement.ranks.cost_model import GridCostModel
from tiger.training.costs.stages import Workload
from tiger.training.hardware.ring_bounds import ring_bound_s


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LinkSeconds:
    """Hold the fewest seconds over links, for a table of seconds `[c + 2, x]` of types of links and messages.

    `between_s[M, M, x]` of a link between two machines, or within one; `ring_s[M, x]` of a ring within one, its slowest
    link counting; infinite where there is none.
    """

    between_s: FloatArray
    ring_s: FloatArray
    known: dict[frozenset[int], FloatArray] = field(default_factory=dict)

    @classmethod
    def of(cls, table_s: FloatArray, link_type: IntArray, machines: list[IntArray], ranks: int) -> Self:
        """Return the bounds of messages in `table_s`, for rings of so many ranks."""
        count = len(machines)
        between = np.full((count, count, table_s.shape[1]), np.inf)
        for a, b in combinations_with_replacement(range(count), 2):
            used = np.unique(link_type[np.ix_(machines[a], machines[b])])
            # The last type is no link but the device itself.
            used = used[used < len(table_s) - 1]
            between[a, b] = between[b, a] = table_s[used].min(axis=0, initial=np.inf)
        rings = [ring_bound_s(table_s, link_type[np.ix_(inside, inside)], ranks) for inside in machines]
        return cls(between_s=between, ring_s=np.array(rings))

    def bounds_s(self, options: frozenset[int]) -> FloatArray:
        """Return the bounds of rings through groups of these options; two ranks that talk are a ring as well.

        A ring through two machines has a link out of each. A group on several machines has a rank outside of each.
        """
        if options not in self.known:
            self.known[options] = self._bound_s(options)
        return self.known[options]

    def _bound_s(self, options: frozenset[int]) -> FloatArray:
        """Return the bounds that `bounds_s` keeps."""
        count = len(self.ring_s)
        machines = sorted(option for option in options if option < count)
        others = sorted(set(range(count)) if options & {count, count + 1} else machines)
        out = [self._out_s(machine, others) for machine in machines]
        if not machines:
            inside = self.ring_s.min(axis=0)
            return np.asarray(np.minimum(inside, self.other_machine_s()))
        if len(machines) > 1 or count in options:
            return np.asarray(np.max(out, axis=0))
        inside = self.ring_s[machines[0]]
        return np.asarray(np.minimum(inside, out[0]) if count + 1 in options else inside)

    def other_machine_s(self) -> FloatArray:
        """Return the fewest seconds of a link between any two machines."""
        return np.asarray(self.between_s[np.triu_indices(len(self.ring_s), 1)].min(axis=0, initial=np.inf))

    def _out_s(self, machine: int, others: list[int]) -> FloatArray:
        """Return the fewest seconds of a link from a machine to another one of some."""
        there = [other for other in others if other != machine]
        return np.asarray(self.between_s[machine, there].min(axis=0, initial=np.inf))


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
    gradient: LinkSeconds
    ties: tuple[LinkSeconds, ...]
    spent_s: FloatArray
    slowdown: FloatArray

    @classmethod
    def of(cls, cost_model: GridCostModel, machine: IntArray) -> Self:
        """Return the cases of a cluster whose devices are on machines `machine[n]`."""
        machines = [np.flatnonzero(machine == one) for one in np.unique(machine)]
        _, d, t = cost_model.degrees.shape
        fast = [np.sort(cost_model.speed[inside])[::-1] for inside in machines]
        every = np.sort(cost_model.speed)[::-1]
        links = cost_model.link_type
        tensor = LinkSeconds.of(cost_model.reduce_s, links, machines, t)
        slowest = [speeds[t - 1] if t <= len(speeds) else np.nan for speeds in (*fast, every, every)]
        return cls(
            cost_model=cost_model,
            sizes=np.array([len(inside) for inside in machines]),
            alike=_first_alike(cost_model, machines),
            sent=LinkSeconds.of(cost_model.sent_s, links, machines, 2),
            gradient=LinkSeconds.of(cost_model.gradient_s, links, machines, d),
            ties=tuple(
                LinkSeconds.of(tie.spent_s[:, None], links, machines, len(tie.places)) for tie in cost_model.ties
            ),
            spent_s=_reduction_s(tensor, cost_model.calls),
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
        sent = [self.sent.bounds_s(frozenset(stages[j : j + 2]))[j] for j in range(len(stages) - 1)]
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
        rows = [self.gradient.bounds_s(frozenset(row)) for row in options.tolist()]
        closing = np.array([row[position] for position, row in enumerate(rows)])
        for tie, links in zip(self.cost_model.ties, self.ties, strict=True):
            rings = [links.bounds_s(frozenset(column)) for column in options[tie.places].T.tolist()]
            closing[tie.places] += np.max(rings)
        return closing


def _reduction_s(links: LinkSeconds, calls: FloatArray) -> FloatArray:
    """Return the bounds of a pass's all-reductions at each stage, for a group of each option `[M + 2, S]`."""
    count = len(links.ring_s)
    bounds = np.array([*links.ring_s, links.other_machine_s(), links.bounds_s(frozenset([count + 1]))])[:, None]
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
    to = np.arange(len(cost_model.speed))
    to[a], to[b] = b, a
    same_links = bool((cost_model.link_type[np.ix_(to, to)] == cost_model.link_type).all())
    return same_links and bool((cost_model.speed[to] == cost_model.speed).all())
