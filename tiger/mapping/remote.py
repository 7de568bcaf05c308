"""What a service is asked for a mapping: specifications and files as they are, other tasks and hardware as graphs."""

from dataclasses import asdict, fields, replace
from pathlib import Path

from tiger.errors import InputError
from tiger.formats.files import is_pattern, is_topology_file
from tiger.formats.hardware.composition import HostContents, list_insides
from tiger.formats.hardware.units import UnitOptions
from tiger.formats.hostfile import HostSlots
from tiger.mapping.attachment import attach_problem
from tiger.mapping.contiguous import need_contiguity
from tiger.mapping.entry import pose_problem
from tiger.mapping.graph_documents import task_document, topology_document
from tiger.mapping.hardware import list_allocation, list_shares, read_network
from tiger.mapping.options import AssignArguments, HardwareArguments, MappingOptions
from tiger.mapping.previous import FIELD as PREVIOUS
from tiger.mapping.request import Request
from tiger.mapping.start import home_of, name_start
from tiger.model.options import narrow
from tiger.model.problem import Problem
from tiger.model.sharing import SharingOptions
from tiger.model.tasks import TaskGraph
from tiger.model.text import FileText, read_text
from tiger.model.topology import Topology
from tiger.qubo.params import IsingParams
from tiger.run.report import Report
from tiger.run.use import REFUSED, RemoteCall, solver_name

NetworkSource = str | dict[str, object]
ISING_FIELDS = ("penalty_scale", "beta_range", "capacity", "control", "qpu_time_s")


def state_assignment(arguments: AssignArguments) -> RemoteCall[Report]:
    """State what `tiger.assign` answers for some arguments; files are read and the problem is checked here.

    Raises InputError and TypeError as `tiger.assign` does, and InputError for what no service takes: an executor, a
    sampler object, distances without links, sizes in `ising`.
    """
    if arguments.executor is not None:
        raise InputError("executor", f"{REFUSED}, got one")
    params = arguments.ising or IsingParams()
    Request(**asdict(narrow(MappingOptions, arguments)), ising=params)
    posed = pose_problem(arguments)
    problem = posed.problem
    # The launcher, which may need it, is of no concern to a service.
    together = need_contiguity(problem, arguments, arguments.emit, arguments.before)
    options = asdict(narrow(MappingOptions, arguments, contiguous_hosts=together or None))
    remarks = problem.tasks.remarks + problem.topology.remarks
    document = {
        "tasks": _state_tasks(arguments, problem.tasks),
        **_state_hardware(arguments, problem.topology),
        **asdict(narrow(SharingOptions, arguments, rule=problem.rule)),
        "pinned": problem.pinned,
        "forbidden": sorted(map(list, problem.forbidden)),
        "solver": solver_name(arguments.solver),
        "start": _state_start(arguments, problem),
        "previous": None if arguments.previous is None else name_start(arguments.previous, PREVIOUS),
        **options,
        "ising": _ising_options(params),
    }

    def complete(report: Report) -> Report:
        """Add what the readers here found odd, and the problem."""
        new = [remark for remark in remarks if remark not in report.warnings]
        full = attach_problem(report, posed, arguments.routing)
        return replace(full, warnings=(*new, *report.warnings)).emitting(arguments.emit)

    return RemoteCall(document, complete)


def _state_tasks(arguments: AssignArguments, tasks: TaskGraph) -> object:
    """Return a pattern as it is, a file that has hardware of its own as name and text, and other tasks as a graph."""
    source = arguments.tasks
    if is_pattern(source):
        return source
    if arguments.topology is None and isinstance(source, str | Path):
        return {"file": Path(source).name, "text": read_text(Path(source), "tasks")}
    return task_document(tasks)


def _state_start(arguments: AssignArguments, problem: Problem) -> dict[str, str] | None:
    """Return the mapping to start from by names, checked here."""
    home = home_of(problem, arguments)
    return None if home is None else problem.mapping(home)


def _ising_options(params: IsingParams) -> dict[str, object]:
    """Return the options of the Ising path that a service takes; raise InputError for any other that is set."""
    usual = IsingParams()
    for field in fields(params):
        if field.name not in ISING_FIELDS and getattr(params, field.name) != getattr(usual, field.name):
            raise InputError(f"ising/{field.name}", f"{REFUSED}, got another value than usual")
    return {name: getattr(params, name) for name in ISING_FIELDS}


def _state_hardware(arguments: HardwareArguments, whole: Topology) -> dict[str, object]:
    """Return the fields of a request that state hardware; `whole` is that of the tasks where none is given.

    Raises InputError as `tiger.mapping.hardware.build_hardware` does, and for a table of distances, which no service
    takes.
    """
    insides = [_state_inside(inside) for inside in list_insides(arguments.node_topology)]
    source = whole if arguments.topology is None else arguments.topology
    described = read_network(source, arguments.labels, arguments.units)
    # Specifications and files go as they are, and say nothing of the order of hosts.
    stated = source if isinstance(source, str | Path | FileText) else described.topology({})
    shares = [{"a": share.a, "b": share.b, "share": share.share} for share in list_shares(arguments.running)]
    allocated = list_allocation(described.names, arguments.allocation, narrow(UnitOptions, arguments))
    if allocated is None and isinstance(stated, Topology):
        allocated = _list_turns(stated)
    return {
        "topology": None if arguments.topology is None else _state_source("topology", stated),
        "node_topology": insides or None,
        "levels": arguments.levels,
        "labels": arguments.labels,
        **asdict(narrow(UnitOptions, arguments)),
        "allocation": state_allocation(allocated),
        "running": shares or None,
    }


def state_allocation(hosts: HostSlots | None) -> list[object] | None:
    """Return the nodes of an allocation if there is one, with their slots where it has some."""
    if hosts is None:
        return None
    if hosts.slots is None:
        return [*hosts.names]
    return [{"node": name, "slots": slots} for name, slots in zip(hosts.names, hosts.slots.tolist(), strict=True)]


def _list_turns(network: Topology) -> HostSlots | None:
    """Return the nodes in the order in which launchers fill them, where that is not the order of the topology."""
    if not network.turn.any():
        return None
    hosts = network.launch_hosts
    slots = network.slots[hosts] if network.slots_granted else None
    return HostSlots(tuple(network.names[host] for host in hosts.tolist()), slots)


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
