"""The hardware of a request, as a service takes it: specifications and files as they are, other hardware as a graph."""

from pathlib import Path

from tiger.client.graphs import topology_document
from tiger.formats.files import is_topology_file
from tiger.formats.hardware.composition import HostContents, list_insides
from tiger.mapping.hardware import list_allocation, list_shares, read_network
from tiger.mapping.options import HardwareArguments
from tiger.model.text import FileText, read_text
from tiger.model.topology import Topology

NetworkSource = str | dict[str, object]


def state_hardware(arguments: HardwareArguments, whole: Topology) -> dict[str, object]:
    """Return the fields of a request that state hardware; `whole` is that of the tasks where none is given.

    Raises InputError as `tiger.mapping.hardware.build_hardware` does, and for a table of distances, which no service
    takes.
    """
    insides = [_state_inside(inside) for inside in list_insides(arguments.node_topology)]
    source = arguments.topology
    # Without hardware the tasks have their own.
    network = whole if source is None else read_network(source, arguments.labels, arguments.units).topology({})
    shares = [{"a": share.a, "b": share.b, "share": share.share} for share in list_shares(arguments.running)]
    allocated = list_allocation(network, arguments.allocation)
    return {
        "topology": None if source is None else _state_network(source, network),
        "node_topology": insides or None,
        "levels": arguments.levels,
        "labels": arguments.labels,
        "units": arguments.units,
        "allocation": _list_turns(network) if allocated is None else allocated,
        "running": shares or None,
    }


def _state_network(source: object, network: Topology) -> NetworkSource:
    """Return a specification or a file as it is, and other hardware as a graph."""
    return _state_source("topology", source if isinstance(source, str | Path | FileText) else network)


def _list_turns(network: Topology) -> list[str] | None:
    """Return the nodes in the order in which launchers fill them, where that is not the order of the topology."""
    return [network.names[host] for host in network.launch_hosts] if network.turn.any() else None


def _state_source(field: str, source: "str | Path | FileText | Topology") -> NetworkSource:
    """Return a specification as it is, and a file as its name and text."""
    if isinstance(source, Topology):
        return topology_document(source)
    if isinstance(source, FileText):
        return {"file": source.file, "text": source.text}
    if isinstance(source, Path) or is_topology_file(source):
        return {"file": Path(source).name, "text": read_text(Path(source), field)}
    return source


def _state_inside(inside: HostContents) -> dict[str, object]:
    """Return what is inside some nodes, or inside all."""
    hosts = {} if inside.hosts is None else {"hosts": inside.hosts}
    return {**hosts, "topology": _state_source("node_topology", inside.source)}
