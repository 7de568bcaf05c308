"""The hardware of a problem: the network between nodes, what is inside them, and what of both a job may use."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tiger.errors import InputError
from tiger.formats.allocation import FIELD, list_nodes
from tiger.formats.files import read_hardware
from tiger.formats.graphs import wiring_of
from tiger.formats.hardware import composition
from tiger.formats.hardware.composition import HostContents, compose, find_insides, list_insides
from tiger.formats.hardware.levels import FIELD as LEVELS
from tiger.formats.hardware.levels import DescribedHardware, LevelHardware, fill_distances
from tiger.formats.hardware.linked import LinkedHardware
from tiger.formats.hardware.parts import CORES, divide_machine
from tiger.formats.hardware.plain import PlainHardware
from tiger.formats.hardware.units import UnitName, UnitOptions
from tiger.formats.hostfile import HostSlots, NodeSlots, add_slots
from tiger.formats.linkshares import read_link_shares
from tiger.mapping.options import HardwareArguments
from tiger.model.arrays import IntArray
from tiger.model.checking import check_values
from tiger.model.metrics import DENSE_LIMIT
from tiger.model.options import narrow
from tiger.model.problem import LARGEST
from tiger.model.text import FileText
from tiger.model.topology import LinkShare, Topology
from tiger.model.values import read_name
from tiger.model.wiring import Wiring, keep_between
from tiger.model.wording import INSIDE, describe

if TYPE_CHECKING:
    import networkx as nx

# How many times as far as the farthest two units of a node two nodes are, where nothing is said: a message takes about
# 0.2 to 0.4 us from socket to socket, and 1 to 2 us to another node.
NODE_STEPS = 5.0


def build_hardware(arguments: HardwareArguments, named: Collection[str] = ()) -> Topology:
    """Return the hardware of a call, whose allocation and running jobs are those of its nodes.

    With an allocation, nodes may be left out that are neither of it nor between those, nor `named` or around such.
    Without a stated distance between nodes, and with an inside, the nearest two are five times as far apart as the
    farthest two units inside one. Raises InputError of `topology`, `node_topology`, `levels`, `units`, `allocation`,
    `running`.
    """
    options = narrow(UnitOptions, arguments)
    check_values(options)
    network = read_network(arguments.topology, arguments.labels, arguments.units)
    known = network.names
    insides = list_insides(arguments.node_topology)
    readings = [_divide(_read_inside(inside, arguments.units), options) for inside in insides]
    network = network if readings else _divide(network, options)
    stated = _check_levels(arguments.levels, [network, *readings])
    parts = [reading.topology(stated) for reading in readings]
    distances = _place_nodes(network.distances, stated, parts) if parts else stated
    hosts = list_allocation(known, arguments.allocation, options)
    shares = list_shares(arguments.running)
    # Links that others use stay, and so do nodes around units that are named.
    needed = {end for share in shares for end in (share.a, share.b)}
    needed |= {part for name in named for part in (name, name.partition(INSIDE)[0])}
    if hosts is not None and not set(known).isdisjoint(hosts.names):
        network = network.cut(needed.union(hosts.names))
    whole = network.topology(distances)
    if arguments.units is not None:
        _check_machines(arguments.units, [whole, *parts])
    nodes = whole if hosts is None else whole.allocated(hosts.names, hosts.slots)
    if shares or isinstance(arguments.running, str | Path):
        # Regular hardware has had no table so far, and gets one by lengths that are no longer regular.
        small = hosts is None or nodes.size <= DENSE_LIMIT
        nodes = (nodes if small else keep_between(nodes, needed) or nodes).shared(shares)
    if not parts:
        return nodes
    which = find_insides(nodes, [inside.hosts for inside in insides], known)
    nodes, which = _divide_granted(nodes, parts, which, options)
    return composition.fill_nodes(nodes, parts, which) if options.units == "host" else compose(nodes, parts, which)


def _divide_granted(
    nodes: Topology, insides: Sequence[Topology], which: IntArray, options: UnitOptions
) -> tuple[Topology, IntArray]:
    """Return nodes whose granted slots are for the cores of each rank, and which inside each that has some is of.

    They are no more than the insides are divided into.
    """
    size = options.cores_per_rank
    if not nodes.slots_granted or (size is None and options.ranks_per is None):
        return nodes, which
    slots = nodes.slots // (size or 1)
    room = np.array([inside.slots.sum() if inside.slots_stated else slots.max() for inside in insides])
    slots[nodes.hosts] = np.minimum(slots[nodes.hosts], room[which])
    if not slots.any():
        raise InputError(CORES, f"expected at most {nodes.slots.max()}, the slots of a host, got {size}")
    return nodes.with_slots(slots), which[slots[nodes.hosts] > 0]


def choose_hardware(own: Topology | None, arguments: HardwareArguments) -> HardwareArguments:
    """Return the hardware given, or that with the topology which came with the tasks; there must be one of them."""
    if own is None:
        return arguments
    if arguments.topology is not None:
        raise InputError("topology", "expected none, as the task file brings its own distances, got another")
    return replace(arguments, topology=own)


def read_network(
    source: "nx.Graph | Topology | Wiring | Path | str | FileText | None",
    labels: Sequence[str] | None = None,
    units: UnitName | None = None,
) -> DescribedHardware:
    """Return the hardware that is given in any form; `labels` make levels of the nodes of Kubernetes.

    `units` are those of a machine that lstopo describes.
    """
    if isinstance(labels, str):
        raise TypeError("expected labels as a list of texts, got a text")
    if source is None:
        raise InputError("topology", "expected a specification such as 'torus:4x4', a file or a graph, got none")
    if isinstance(source, str | Path | FileText):
        return read_hardware(str(source) if isinstance(source, Path) else source, "node", labels, units)
    if labels is not None:
        raise InputError("labels", "expected them with a file of nodes of Kubernetes, got other hardware")
    if isinstance(source, Topology):
        return PlainHardware(source, "node")
    wiring = source if isinstance(source, Wiring) else wiring_of(check_graph("topology", source))
    return LinkedHardware(wiring, "node")


def check_graph(what: str, source: object) -> "nx.Graph":
    """Return a networkx graph; raise TypeError for anything else."""
    import networkx as nx  # so that files and specifications do not wait for it

    if not isinstance(source, nx.Graph):
        raise TypeError(f"expected {what} as a networkx graph, a path or a value type, got {type(source).__name__}")
    return source


def _read_inside(inside: HostContents, units: UnitName | None) -> DescribedHardware:
    """Return the hardware inside a node; errors name the field that it came in."""
    source = inside.source
    if isinstance(source, Topology):
        return PlainHardware(source, "unit")
    try:
        return read_hardware(str(source) if isinstance(source, Path) else source, "unit", units=units)
    except InputError as error:
        raise InputError(error.field.replace("topology", composition.FIELD, 1), error.reason) from None


def _divide(hardware: DescribedHardware, options: UnitOptions) -> DescribedHardware:
    """Return what ranks run as of a machine whose cores are known, and other hardware as it is."""
    if isinstance(hardware, LevelHardware) and hardware.resources:
        return divide_machine(hardware, options)
    return hardware


def _check_levels(stated: Mapping[str, float] | None, parts: Sequence[DescribedHardware]) -> dict[str, float]:
    """Return the distances stated of levels, which some part must have."""
    if not isinstance(stated, Mapping | None):
        raise TypeError(f"expected {LEVELS} as a mapping from level to distance, got {type(stated).__name__}")
    known = list(dict.fromkeys(name for part in reversed(parts) for name in part.distances))
    amounts: Mapping[str, object] = stated or {}
    distances = dict[str, float]()
    for name, distance in amounts.items():
        if name not in known:
            what = f"levels out of {', '.join(known)}" if known else "no levels, as there is no distance to state"
            raise InputError(LEVELS, f"expected {what}, got {describe(name)}")
        if isinstance(distance, bool) or not isinstance(distance, Real):
            raise TypeError(f"expected levels[{name!r}] as a number, got {type(distance).__name__}")
        distances[name] = float(distance)
        if not 0 <= distances[name] <= LARGEST:
            raise InputError(f"{LEVELS}/{name}", f"expected a number from 0 to {LARGEST:g}, got {describe(distance)}")
    return distances


def _place_nodes(
    usual: Mapping[str, float], stated: Mapping[str, float], insides: Sequence[Topology]
) -> Mapping[str, float]:
    """Return the distances of the network around nodes with an inside."""
    farthest = max(inside.metric.farthest for inside in insides)
    nearest = next(iter(usual), None)
    if nearest is None:
        return stated
    distances = fill_distances(usual, {nearest: NODE_STEPS * farthest or usual[nearest], **stated})
    if distances[nearest] < farthest:
        what = f"expected at least {farthest:g}, the farthest distance inside a node"
        raise InputError(f"{LEVELS}/{nearest}", f"{what}, got {distances[nearest]:g}")
    return distances


def _check_machines(units: UnitName, parts: Sequence[Topology]) -> None:
    """Raise InputError of `units` unless some part is a machine, and all machines have units of that name."""
    first = [part.names[0] for part in parts if part.host is not None]
    # A host as a whole needs no description of its inside.
    if not first and units != "host":
        raise InputError("units", "expected them with a machine, such as lstopo describes one, got other hardware")
    for name in first:
        if not name.startswith(units):
            raise InputError("units", f"expected those of a file that has others than {name}, .., got {units!r}")


def list_allocation(known: Sequence[str], allocation: object, options: UnitOptions) -> HostSlots | None:
    """Return the nodes that an allocation lists out of those known, in its order; None where all may hold tasks.

    A set has no order: its names are in that of the topology. Slots are those of a mapping, and as many as a
    name comes often; with cores of each rank given, those for tasks of several cores count their cores. Raises
    TypeError for what is no `Allocation`.
    """
    if allocation is None:
        return None
    if isinstance(allocation, str | Path | FileText):
        hosts = list_nodes(allocation, known)
        return hosts if options.cores_per_rank is None else hosts.by_cores()
    if isinstance(allocation, Mapping):
        return add_slots(FIELD, [_read_granted(node, slots) for node, slots in allocation.items()])
    if not isinstance(allocation, Iterable):
        what = "expected allocation as nodes, a mapping from node to slots, text or a path"
        raise TypeError(f"{what}, got {type(allocation).__name__}")
    nodes = [_read_node(position, node) for position, node in enumerate(allocation)]
    if isinstance(allocation, set | frozenset):
        number = {name: k for k, name in enumerate(known)}
        nodes.sort(key=lambda node: number.get(node.node, len(number)))
    return add_slots(FIELD, nodes)


def _read_node(position: int, node: object) -> NodeSlots:
    """Return a node of a list, which may have its slots beside it."""
    if isinstance(node, NodeSlots):
        return node
    return NodeSlots(read_name(f"{FIELD}/{position}", node))


def _read_granted(node: object, slots: object) -> NodeSlots:
    """Return a node of a mapping with its slots."""
    name = read_name(FIELD, node)
    if isinstance(slots, bool) or not isinstance(slots, Integral):
        raise TypeError(f"expected allocation[{name!r}] as a whole number of slots, got {type(slots).__name__}")
    return NodeSlots(name, int(slots))


def list_shares(running: Iterable[tuple[object, object, float]] | Path | str) -> list[LinkShare]:
    """Return the parts of links that running jobs use, by names."""
    if isinstance(running, str | Path):
        return read_link_shares(Path(running))
    if isinstance(running, Mapping) or not isinstance(running, Iterable):
        raise TypeError(f"expected running as triples (node, node, share) or a path, got {type(running).__name__}")
    return [_read_share(position, share) for position, share in enumerate(running)]


def _read_share(position: int, share: object) -> LinkShare:
    """Return the share of a link by names."""
    if not isinstance(share, tuple | list) or len(share) != 3:
        raise TypeError(f"expected running[{position}] as (node, node, share), got {type(share).__name__}")
    if isinstance(share[2], bool) or not isinstance(share[2], Real):
        raise TypeError(f"expected running[{position}] with a number as share, got {type(share[2]).__name__}")
    a, b = (read_name(f"running/{position}/{end}", share[end]) for end in (0, 1))
    return LinkShare(a, b, float(share[2]))
