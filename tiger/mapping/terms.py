"""The terms on which tasks share hosts: slots for several cores each, ranks of each host, even shares."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tiger.errors import InputError
from tiger.formats.hardware.parts import CORES
from tiger.formats.hardware.units import RANKS_PER, UnitOptions, parse_ranks_per
from tiger.launchers.formats import LauncherName, check_fit
from tiger.launchers.order import LaunchNodes
from tiger.mapping.options import Start
from tiger.mapping.start import name_start
from tiger.model.constraints import Constraints, build_problem, check_granted
from tiger.model.problem import Problem
from tiger.model.resources import Resources
from tiger.model.tasks import TaskGraph
from tiger.model.topology import Topology
from tiger.model.wording import describe
from tiger.run.node_choice import FIELD as NODES
from tiger.run.node_choice import open_slots
from tiger.run.spread import limit_hosts, spread_tasks


class HostChoice(NamedTuple):
    """Say how many hosts are taken, all with None, and what mapping a search starts from or was in use, if any."""

    nodes: int | None = None
    start: Start | None = None
    previous: Start | None = None

    def name_nodes(self) -> dict[str, str] | None:
        """Return {task: node} of the mapping, None without one; raise InputError of `start` or `previous`."""
        if self.start is not None:
            return name_start(self.start)
        return None if self.previous is None else name_start(self.previous, "previous")


class SharedProblem(NamedTuple):
    """Hold a problem on the hosts that may be taken, and how many of them are, all with None."""

    problem: Problem
    nodes: int | None


def share_hardware(
    tasks: TaskGraph, hardware: Topology, terms: Constraints, options: UnitOptions, choice: HostChoice
) -> SharedProblem:
    """Return the problem of tasks on hardware whose slots are divided as options say and shared out evenly.

    With ranks of each host given, as many hosts are taken as that fills. The slots of a mapping to start from stay,
    whatever an even share is. Raises InputError of `cores_per_rank` and
    `ranks_per` where hosts cannot be filled so.
    """
    divided = options.cores_per_rank is not None or options.ranks_per is not None or options.units == "host"
    nodes = choice.nodes
    hardware, terms = _divide_slots(hardware, terms, options)
    if (divided or terms.pack) and hardware.slots_stated and (hardware.slots > 1).any():
        terms = terms.by_usual("capacity")
    problem = build_problem(tasks, hardware, terms)
    if options.ranks_per is not None:
        nodes = _count_hosts(problem, nodes)
    problem = open_slots(problem, nodes)
    if not terms.pack:
        # What is no number of nodes is refused where it is used.
        count = nodes if type(nodes) is int and nodes > 0 else None
        spread = spread_tasks(problem, count, terms.imbalance)
        named = choice.name_nodes()
        problem = spread if named is None else _keep_start(problem, spread, named)
    return SharedProblem(problem, nodes)


def _keep_start(problem: Problem, spread: Problem, start: Mapping[str, str]) -> Problem:
    """Return the problem of even shares with those slots open too that a mapping to start from takes."""
    topology, taken = problem.topology, Counter(start.values())
    counts = np.array([taken[name] for name in topology.names], np.int64)
    slots = np.maximum(spread.topology.slots, np.minimum(counts, topology.slots))
    return replace(problem, topology=spread.topology.with_slots(slots))


def check_emission(launcher: LauncherName | None, posed: SharedProblem) -> None:
    """Raise InputError of `emit`, before anything is solved, for what a launcher does not take."""
    if launcher is not None:
        check_fit(launcher, posed.problem.tasks.size, LaunchNodes.of(posed.problem.topology), posed.nodes)


def _divide_slots(hardware: Topology, terms: Constraints, options: UnitOptions) -> tuple[Topology, Constraints]:
    """Return hosts whose slots are for the cores of each rank, and terms that leave these slots as they are.

    Machines have been divided where they were read.
    """
    size = options.cores_per_rank
    divided = any(own.cores for own in hardware.resources)
    grouped = divided and size is not None and options.units in (None, "core")
    if grouped and terms.slots is not None and terms.slots > 1:
        what = "expected none beside cores_per_rank with the inside of hosts, where a rank has each group of cores"
        raise InputError("slots", f"{what}, got {terms.slots}")
    if divided or (size is None and options.ranks_per is None and options.units != "host"):
        return hardware if size is None else replace(hardware, cores_per_rank=size), terms
    most = None if options.ranks_per is None else _read_node(options.ranks_per)
    if hardware.host is not None or len(set(hardware.machines.tolist())) < hardware.size:
        return _limit_units(hardware, size, most), terms
    return _divide_hosts(hardware, terms, options, most)


def _divide_hosts(
    hardware: Topology, terms: Constraints, options: UnitOptions, most: int | None
) -> tuple[Topology, Constraints]:
    """Return hosts, of which slots alone are known, with those for ranks, at most `most` each if that is given."""
    check_granted(hardware, terms)
    size = options.cores_per_rank
    known = terms.slots is not None or hardware.slots_stated
    slots = hardware.slots if terms.slots is None else np.where(hardware.slots > 0, terms.slots, 0)
    if options.units == "host" and known:
        whole = tuple(Resources(cores=tuple(range(count))) for count in slots.tolist())
        hardware = replace(hardware, resources=whole)
    if size is not None and known:
        if slots.max() < size:
            raise InputError(CORES, f"expected at most {slots.max()}, the slots of a host, got {size}")
        slots = slots // size
    elif size is not None and most is None:
        what = "expected the inside of hosts beside it (--node-topology), or their slots (--slots, --ranks-per node=N)"
        raise InputError(CORES, f"{what}, got neither")
    if most is not None:
        if known and slots.max() < most:
            raise InputError(RANKS_PER, f"expected at most {slots.max()} for each node, got node={most}")
        slots = np.minimum(slots, most) if known else np.where(slots > 0, most, 0)
    if not known and most is None:
        return hardware, terms
    return replace(hardware.with_slots(slots), slots_stated=True, cores_per_rank=size), replace(terms, slots=None)


def _read_node(text: str) -> int | None:
    """Return the ranks of each host where its cores are not known; raise InputError for parts of it."""
    limits = parse_ranks_per(text)
    for part in limits:
        if part != "node":
            what = "expected node alone for hosts whose inside lstopo does not describe"
            raise InputError(RANKS_PER, f"{what}, got {part!r}")
    return limits.get("node")


def _limit_units(hardware: Topology, size: int | None, most: int | None) -> Topology:
    """Return units of hosts, without known cores, with a number of slots on each host."""
    if size is not None or most is None:
        what = "expected hosts with slots beside it, or machines that lstopo describes"
        field = "units" if size is None else CORES
        raise InputError(field, f"{what}, got other units such as {describe(hardware.names[0])}")
    return limit_hosts(hardware, most)


def _count_hosts(problem: Problem, nodes: int | None) -> int | None:
    """Return how many hosts the tasks fill, None for all; raise InputError where one would be filled in part."""
    topology, tasks = problem.topology, problem.tasks.size
    machine = np.zeros(topology.size, np.int64) if topology.host is not None else topology.machines
    room = np.bincount(machine, topology.slots).astype(np.int64)
    sizes = np.unique(room[room > 0]).tolist()
    if len(sizes) != 1:
        return nodes
    if tasks % sizes[0]:
        what = f"expected as many ranks as fill hosts of {sizes[0]} each"
        raise InputError(RANKS_PER, f"{what}, got {tasks}, which leave one filled in part")
    filled = tasks // sizes[0]
    if type(nodes) is int and nodes != filled:
        raise InputError(NODES, f"expected {filled}, as {tasks} ranks fill hosts of {sizes[0]} each, got {nodes}")
    return filled if filled < np.count_nonzero(room) else nodes
