"""The search for the plan of the least latency where experts of some layers may be on the CPU."""

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from tiger.errors import InputError
from tiger.model.arrays import FloatArray
from tiger.model.violation import Violation
from tiger.placement.chain.device_types import Groups, device_types_of, group_equal_devices
from tiger.placement.chain.fitting_runs import admitted_ends, sum_error
from tiger.placement.chain.hosted_experts import (
    ExpertNeeds,
    HostedLine,
    RunCosts,
    added_seconds,
    expert_bytes_of,
    quickest_hosted_line,
    run_bytes,
)
from tiger.placement.chain.latency_dp import latency_graph
from tiger.placement.chain.layered_graph import LayeredGraph
from tiger.placement.search.problem import ChainProblem
from tiger.placement.search.reasons import UNDECIDED
from tiger.training.costs.plan import Plan
from tiger.training.costs.stages import workloads
from tiger.training.costs.tolerances import MEMORY, SUMS
from tiger.training.hardware.cluster import Cluster
from tiger.training.models.layers import Layers
from tiger.training.models.serving import forward_alone

# Numbers of the table of the dynamic program up to which it is filled: some seconds.
CELLS = 300_000_000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HostedPlan:
    """Hold a plan, the `hosted` layers whose experts are on the device `host`, and a lower bound on all latencies."""

    plan: Plan
    hosted: tuple[int, ...]
    host: int
    bound_s: float

    def stage_seconds(self, layers: Layers, cluster: Cluster) -> FloatArray:
        """Return the seconds of a microbatch in each stage, the work of the host for it included, without messages."""
        alone = forward_alone(layers)
        seconds = workloads(alone, cluster, self.plan)[0].forward_s.copy()
        for stage, (begin, end) in enumerate(pairwise(self.plan.cuts)):
            own = [layer for layer in self.hosted if begin <= layer < end]
            if own:
                seconds[stage] += added_seconds(alone, cluster, int(self.plan.grid[stage, 0, 0]), self.host)[own].sum()
        return seconds

    def latency_s(self, layers: Layers, cluster: Cluster) -> float:
        """Return the seconds of a microbatch forward through all stages."""
        sent = workloads(forward_alone(layers), cluster, self.plan)[0].transfer_s
        return float(self.stage_seconds(layers, cluster).sum() + sent.sum())

    def host_seconds(self, layers: Layers, cluster: Cluster) -> float:
        """Return the seconds that the host computes experts for a microbatch."""
        if layers.served is None:
            return 0.0
        own = list(self.hosted)
        return float((layers.forward_s * layers.served.expert_share)[own].sum() / cluster.speed[self.host])

    def settle(self, layers: Layers) -> Layers:
        """Return layers with the state that their devices hold; a stage of the host has the experts of others, too."""
        state, own = layers.state_bytes.copy(), list(self.hosted)
        state[own] -= expert_bytes_of(layers)[own]
        at_host = np.flatnonzero(self.plan.grid[:, 0, 0] == self.host)
        for stage in at_host.tolist():
            state[self.plan.cuts[stage]] += self.host_bytes(layers)
        return replace(layers, state_bytes=state)

    def host_bytes(self, layers: Layers) -> float:
        """Return the bytes of experts on the host."""
        return float(expert_bytes_of(layers)[list(self.hosted)].sum())


def search_hosting(problem: ChainProblem) -> HostedPlan | Violation:
    """Return the plan of the least latency with experts of any layers on the first CPU of the cluster.

    Exact where layers with experts are alike and devices are few or mostly equal; otherwise each stage has the cheapest
    of its layers there, by a knapsack, and the bound is that of a relaxation. A violation says that nothing fits.
    Raises InputError of `experts_on_cpu` for a cluster without a CPU or a model without experts, and for more devices
    that differ than can be compared.
    """
    cluster, host = problem.cluster, _find_host(problem)
    alone = forward_alone(problem.layers)
    groups = _separate(group_equal_devices(cluster, problem.line), host)
    types = device_types_of(alone, cluster, groups)
    graph = latency_graph(alone, replace(types, memory_bytes=np.full(len(groups), np.inf)), problem.line)
    unit = float(expert_bytes_of(alone).max())
    units = _count_units(alone, cluster, host, unit)
    most = units or 0
    states = sum(len(level.owner) for level in graph.levels)
    if states * (most + 1) * (alone.size + 1) ** 2 > CELLS:
        raise InputError("experts_on_cpu", f"expected fewer devices that differ beside it, got {len(groups)} types")
    costs = [_costs_of(problem, alone, graph, (owner, host, unit, units)) for owner in range(len(groups))]
    line = quickest_hosted_line(graph, tuple(high for high, _ in costs), most)
    least = quickest_hosted_line(graph, tuple(low for _, low in costs), most)
    if line is None and least is None:
        return Violation(kind="memory", message="no line of devices has room, even with experts on the CPU")
    if line is None:
        return Violation(kind="undecided", message=UNDECIDED)
    return _plan_of(problem, graph, (line, least), host)


def _find_host(problem: ChainProblem) -> int:
    """Return the first CPU of a cluster; raise InputError without one, and for a model that has no experts."""
    served = problem.layers.served
    if served is None or not served.expert_bytes.any():
        raise InputError("experts_on_cpu", "expected a model that serves and has experts beside it, got another")
    if problem.has_groups:
        raise InputError("experts_on_cpu", "expected single devices beside it, got groups of them")
    if "cpu" not in problem.cluster.kinds:
        raise InputError("experts_on_cpu", "expected a cluster with a device of the kind cpu beside it, got none")
    return problem.cluster.kinds.index("cpu")


def _separate(groups: Groups, host: int) -> Groups:
    """Return groups of devices with one alone, as no other holds what it does."""
    rest = (tuple(device for device in group if device != host) for group in groups)
    return (*(group for group in rest if group), (host,))


def _count_units(layers: Layers, cluster: Cluster, host: int, unit_bytes: float) -> int | None:
    """Return how many layers' experts the host has room for, None where it has room for the whole model."""
    room = float(cluster.memory_bytes[host]) * (1 + MEMORY)
    return None if layers.state_bytes.sum() <= room else int(room // unit_bytes)


def _costs_of(
    problem: ChainProblem, layers: Layers, graph: LayeredGraph, of: tuple[int, int, float, int | None]
) -> tuple[RunCosts, RunCosts]:
    """Return the costs of runs of layers on the devices of an owner, and lower ones."""
    owner, host, unit, units = of
    device, size = graph.members[owner][0], layers.size
    last = admitted_ends(size, problem.line.pinned, set(graph.members[owner]) & set(problem.line.pinned.values()))
    ends = np.arange(size + 1)
    fits = (ends[None, :] > ends[:, None]) & (ends[None, :] <= last[:, None])
    needs = ExpertNeeds.of(layers, problem.cluster, device, host)
    costs = needs.run_costs(graph.ahead_s[owner], fits, unit)
    if units is None:
        nothing = np.zeros((size + 1, size + 1), np.int64)
        return RunCosts(costs[0].seconds, nothing), RunCosts(costs[1].seconds, nothing)
    if device != host:
        return costs
    # A stage of the host itself leaves less room there for experts of others.
    state = run_bytes(layers)
    taken = units - np.floor(np.maximum(needs.room_bytes - state, 0.0) / unit).astype(np.int64)
    experts = expert_bytes_of(layers)
    exact = float(np.ptp(experts[experts > 0])) == 0
    least = taken if exact else np.minimum(np.floor(state / unit).astype(np.int64), units)
    return RunCosts(costs[0].seconds, taken), RunCosts(costs[1].seconds, least)


def _plan_of(
    problem: ChainProblem, graph: LayeredGraph, lines: tuple[HostedLine, HostedLine | None], host: int
) -> HostedPlan:
    """Return the plan of a line, with the experts of each stage that cost the least on the host."""
    line, least = lines
    alone = forward_alone(problem.layers)
    unused = [iter(members) for members in graph.members]
    devices = tuple(next(unused[owner]) for owner in line.owners)
    hosted: tuple[int, ...] = ()
    for device, (begin, end) in zip(devices, pairwise(line.cuts), strict=True):
        hosted += ExpertNeeds.of(alone, problem.cluster, device, host).choose(begin, end)
    error_s = (len(devices) + 1) * sum_error(graph.ahead_s)
    bound = (line.latency_s if least is None else least.latency_s) * (1 - SUMS)
    return HostedPlan(
        plan=Plan.line(line.cuts, devices),
        hosted=hosted,
        host=host,
        bound_s=max(min(bound, line.latency_s) - error_s, 0.0),
    )
