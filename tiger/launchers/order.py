"""The order of ranks on hosts, which every launcher's file is written from."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from tiger.errors import InputError
from tiger.model.resources import UNBOUND, Resources
from tiger.model.wording import INSIDE, describe

if TYPE_CHECKING:
    from tiger.model.arrays import IntArray
    from tiger.model.topology import Topology

FIELD = "emit"
# What resolvers and the readers of all launchers take for one name.
_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?")


class RankBinding(NamedTuple):
    """Say where a rank runs: its task's name, its host, its slot there from 0 on, and the unit, such as core5, if any.

    Slots of a host are counted through its nodes in the order of the topology. `bound` is what of the host it is bound
    to: cores, a GPU, a network card, as far as they are known.
    """

    task: str
    host: str
    slot: int
    unit: str | None
    bound: Resources = UNBOUND

    def number(self, kind: str) -> int | None:
        """Return the number of the unit where it is of a kind, 5 for `core5` and the kind `core`, None for others."""
        found = re.fullmatch(rf"{kind}([0-9]+)", self.unit or "")
        return int(found[1]) if found else None

    @property
    def cores(self) -> tuple[int, ...]:
        """Return the cores of the host that the rank is bound to, as hwloc counts them, nothing where none is known."""
        core = self.number("core")
        return self.bound.cores or (() if core is None else (core,))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LaunchNodes:
    """Hold the `names` of nodes in the order of the topology, and how many ranks each takes at once, 0 for a switch.

    `room` is how many slots each has, where `counts` are the even share of a job.
    Launchers fill the nodes by their `turn`, equal ones in the order of the topology. `slots_given` says whether the
    slots come from the user or a file; otherwise they are what the number of tasks asks for. `host` is the machine that
    all nodes are inside, if they are. `resources` and `cores_per_rank` are those of the topology.
    """

    names: tuple[str, ...]
    counts: "IntArray"
    turn: "IntArray"
    slots_given: bool
    room: "IntArray | None" = None
    host: str | None = None
    resources: tuple[Resources, ...] = ()
    cores_per_rank: int | None = None

    @classmethod
    def of(cls, topology: "Topology") -> "LaunchNodes":
        """Return the nodes of a topology; O(1), as every report has them."""
        return cls(
            names=topology.names,
            counts=topology.slots,
            turn=topology.turn,
            slots_given=topology.slots_stated,
            room=topology.room,
            host=topology.host,
            resources=topology.resources,
            cores_per_rank=topology.cores_per_rank,
        )

    @property
    def slots(self) -> dict[str, int]:
        """Return the slots of the nodes that take ranks, in the order in which launchers fill them; O(m log m)."""
        return self._sort(self.counts)

    def add_room(self, hosts: Mapping[str, int]) -> Mapping[str, int]:
        """Return all slots of the hosts that have any, in the order of launchers, where some hosts take so many."""
        if self.room is None:
            return hosts
        total = Counter[str]()
        for node, slots in self._sort(self.room).items():
            total[self.locate(node)[0]] += slots
        return total

    def _sort(self, counts: "IntArray") -> dict[str, int]:
        """Return the numbers of the nodes that are not 0, in the order in which launchers fill them."""
        numbers, turn = counts.tolist(), self.turn.tolist()
        order = sorted(range(len(turn)), key=turn.__getitem__)
        return {self.names[k]: numbers[k] for k in order if numbers[k]}

    def locate(self, node: str) -> tuple[str, str | None]:
        """Return the host of a node, and what the node is called inside it, None where it is the host itself."""
        if self.host is not None:
            return self.host, node
        host, _, unit = node.partition(INSIDE)
        return host, unit or None

    def share(self, ranks: Mapping[str, int]) -> dict[str, Resources]:
        """Return what the ranks on each node are bound to, whose numbers are given: they share its cores out."""
        if not self.resources:
            return {}
        own = dict(zip(self.names, self.resources, strict=True))
        return {node: _share(own[node], self.cores_per_rank, count) for node, count in ranks.items()}

    def take(self, slot: int) -> Resources:
        """Return what a slot of a host is bound to without known cores: the next `cores_per_rank`, if that is given."""
        size = self.cores_per_rank
        if size is None:
            return UNBOUND
        return Resources(cores=tuple(range(slot * size, (slot + 1) * size)), threads=size)


@dataclass(frozen=True, slots=True, kw_only=True)
class RankOrder:
    """Hold the binding of every rank, and how many every host takes in the order in which launchers fill them.

    `room` are all slots of every host, and `slots_given` as in `LaunchNodes`.
    """

    bindings: tuple[RankBinding, ...]
    hosts: Mapping[str, int]
    room: Mapping[str, int]
    slots_given: bool

    @property
    def counts(self) -> dict[str, int]:
        """Return the number of ranks on every host that has any, in the order in which launchers fill them."""
        ranks = Counter(binding.host for binding in self.bindings)
        return {host: ranks[host] for host in self.hosts if host in ranks}

    @property
    def shares(self) -> str:
        """Return the hosts with their numbers of ranks, as option `--host` of mpirun has them: `n0:2,n1:4`."""
        return ",".join(f"{host}:{count}" for host, count in self.counts.items())

    @property
    def runs(self) -> list[tuple[str, int]]:
        """Return host and length of every run of ranks on one host, in the order of ranks."""
        return [(host, len(list(run))) for host, run in groupby(self.bindings, key=lambda binding: binding.host)]

    @property
    def free(self) -> dict[str, int]:
        """Return the number of slots left on every host that has some, in the order in which launchers fill them."""
        counts = self.counts
        left = {host: slots - counts.get(host, 0) for host, slots in self.room.items()}
        return {host: slots for host, slots in left.items() if slots > 0}

    @property
    def launched(self) -> tuple[int, ...]:
        """Return the ranks in the order in which a launcher fills the hosts: host by host, and slot by slot there."""
        number = {host: k for k, host in enumerate(self.hosts)}
        places = [(number[binding.host], binding.slot, rank) for rank, binding in enumerate(self.bindings)]
        return tuple(rank for _, _, rank in sorted(places))


def order_ranks(mapping: Mapping[str, str], nodes: LaunchNodes) -> RankOrder:
    """Return the order that a mapping {task: node} gives ranks.

    Tasks named 0 to n - 1 are the ranks of these names; tasks with other names are ranks in their order. The host of a
    node is its name up to the first slash, the rest is the unit; nodes inside one machine are units of that. Raises
    InputError of `emit` where the mapping has more tasks on a node than there are slots.
    """
    tasks = sort_ranks(mapping)
    room, hosts, first = nodes.slots, dict[str, int](), dict[str, int]()
    for node, slots in room.items():
        host, _ = nodes.locate(node)
        first[node] = hosts.setdefault(host, 0)
        hosts[host] += slots
    ranks = Counter(mapping[task] for task in tasks)
    for node, count in ranks.items():
        if count > room.get(node, 0):
            raise InputError(
                FIELD, f"expected ranks that run at once, got more tasks on {describe(node)} than it holds"
            )
    shared, filled, bindings = nodes.share(ranks), Counter[str](), []
    for task in tasks:
        node = mapping[task]
        (host, unit), slot = nodes.locate(node), first[node] + filled[node]
        bindings.append(RankBinding(task, host, slot, unit, shared[node] if shared else nodes.take(slot)))
        filled[node] += 1
    return RankOrder(bindings=tuple(bindings), hosts=hosts, room=nodes.add_room(hosts), slots_given=nodes.slots_given)


def _share(own: Resources, size: int | None, ranks: int) -> Resources:
    """Return the resources of a node with the threads that each of its ranks has cores for."""
    if size is None and len(own.cores) > 1:
        size = max(1, len(own.cores) // ranks)
    return own if own.threads == size else own._replace(threads=size)


def sort_ranks(tasks: Iterable[str]) -> list[str]:
    """Return tasks as the ranks that they are: by number where they are named 0 to n - 1, else in their order."""
    names = list(tasks)
    return sorted(names, key=int) if set(names) == set(map(str, range(len(names)))) else names


def check_hosts(order: RankOrder) -> None:
    """Raise InputError of `emit` for a host that a launcher would not take for one name."""
    for host in order.counts:
        if not is_host(host):
            what = "expected hosts named by letters, digits, '.', '-' and '_', as launchers have them"
            raise InputError(FIELD, f"{what}, got {describe(host)}; csv, dot and permutation take any")


def is_host(name: str) -> bool:
    """Return whether a launcher would take a name for that of one host."""
    return bool(_HOST.fullmatch(name))
