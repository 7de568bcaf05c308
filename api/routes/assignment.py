"""The work behind `POST /assign`: from a request to the bytes of its answer."""

from collections.abc import Callable
from concurrent.futures import Executor

from tiger.api.routes.circuits import lay_out
from tiger.api.routes.document import encode
from tiger.api.routes.files import circuit_files, mapping_files
from tiger.api.routes.sharing import share, warn_of_trouble
from tiger.api.schemas import limits as bounds
from tiger.api.schemas.assignment import AssignRequest
from tiger.api.schemas.circuits import CircuitRequest
from tiger.api.schemas.closed import take
from tiger.api.schemas.files import open_document
from tiger.api.schemas.limits import Limits
from tiger.api.seams.files import Solution
from tiger.errors import InputError
from tiger.formats import files, nodelink
from tiger.formats.files import TaskFile
from tiger.formats.hardware.composition import HostContents
from tiger.formats.hardware.units import UnitOptions
from tiger.formats.patterns import spec as patterns
from tiger.mapping.hardware import build_hardware, choose_hardware
from tiger.mapping.options import HardwareArguments, SolveArguments
from tiger.mapping.terms import HostChoice, SharedProblem, check_emission, share_hardware
from tiger.model.constraints import Constraints
from tiger.model.problem import Problem
from tiger.model.text import FileText, find_file
from tiger.model.topology import Topology
from tiger.model.wiring import Wiring
from tiger.run.progress import Progress, ignore
from tiger.topologies import spec

Watch = Callable[[Progress], None]


def read_request(data: object) -> AssignRequest | CircuitRequest:
    """Return the request for tasks or for a circuit that parsed JSON states; it is for exactly one of them."""
    if isinstance(data, dict) and "circuit" in data:
        if "tasks" in data:
            raise InputError("circuit", "expected tasks or a circuit, got both")
        return CircuitRequest.read(data)
    if isinstance(data, dict) and "tasks" not in data:
        raise InputError("tasks", "expected tasks or a circuit, found neither")
    return AssignRequest.read(data)


def answer(
    request: AssignRequest | CircuitRequest, limits: Limits, watch: Watch = ignore, executor: str | None = None, /
) -> Solution:
    """Answer a request for a mapping or a circuit; raise InputError.

    A mapping that takes long, and the islands of a circuit, are shared with the Dask cluster at `executor`.
    """
    if isinstance(request, AssignRequest):
        return _assign(request, limits, watch, executor)
    shared = share(request, executor)
    routed = lay_out(request, limits, watch, shared)
    report = warn_of_trouble(routed.report, shared)
    return Solution(encode(report), circuit_files(report, routed.device))


def _assign(request: AssignRequest, limits: Limits, watch: Watch, executor: str | None) -> Solution:
    """Solve a mapping problem; a warning says where the cluster failed, without which the mapping is the same."""
    from tiger.mapping.mapper import solve_problem

    shared = share(request, executor)
    problem, arguments = pose(request, limits, shared)
    report = solve_problem(problem, arguments, watch)
    report = warn_of_trouble(report.emitting(request.emit), shared)
    return Solution(encode(report), mapping_files(report, problem))


def pose(request: AssignRequest, limits: Limits, executor: Executor | None = None) -> tuple[Problem, SolveArguments]:
    """Return the problem of a request and how it is solved; raise InputError."""
    from tiger.mapping.contiguous import need_contiguity

    posed = share_problem(request, limits)
    bounded = request.time_limit_s is not None
    arguments = take(
        SolveArguments,
        request,
        effort=request.effort if bounded else request.effort or 1,
        time_limit_s=request.time_limit_s if bounded else limits.max_time_s,
        executor=executor,
        nodes=posed.nodes,
        contiguous_hosts=need_contiguity(posed.problem, request, request.emit, _start_of(request)),
    )
    return posed.problem, arguments


def share_problem(request: AssignRequest, limits: Limits) -> SharedProblem:
    """Return the problem that a request states, with the hosts that may be taken; raise InputError of a field."""
    source = read_tasks(request.tasks, limits)
    terms = take(Constraints, request).by_usual(source.rule)
    topology = build_hardware(choose_hardware(source.topology, state_hardware(request)), terms.named)
    choice = HostChoice(request.nodes, request.start, request.previous)
    posed = share_hardware(source.tasks, topology, terms, take(UnitOptions, request), choice)
    check_emission(request.emit, posed)
    return posed


def _start_of(request: AssignRequest) -> dict[str, str] | None:
    """Return the mapping that a request begins with, if it states one."""
    return request.previous if request.start is None else request.start


def read_tasks(stated: str | dict[str, object], limits: Limits) -> TaskFile:
    """Return the tasks of a request, with the topology and the rule that a file brings along; open no file."""
    if isinstance(stated, str):
        return TaskFile(patterns.build(stated))
    document = open_document("tasks", stated)
    bounds.check_tasks(limits, document)
    file = find_file("tasks", document)
    if file is None:
        return TaskFile(nodelink.read_task_graph(document))
    found = files.read_tasks(file)
    bounds.check_graph(limits, found.tasks)
    return found


def state_hardware(request: AssignRequest) -> HardwareArguments:
    """Return the hardware of a request; no text in it is taken for the path of a file."""
    insides = request.node_topology
    return take(
        HardwareArguments,
        request,
        topology=None if request.topology is None else read_network(request.topology),
        node_topology=None
        if insides is None
        else [
            HostContents(inside.hosts, _read_source(f"node_topology/{k}/topology", inside.topology))
            for k, inside in enumerate(insides)
        ],
    )


def read_network(stated: str | dict[str, object]) -> Topology | Wiring | FileText:
    """Return the hardware of a node-link graph or of a specification, or the text of a file; raise InputError."""
    if isinstance(stated, dict) and "text" not in stated:
        return nodelink.read_wiring(stated)
    return _read_source("topology", stated)


def _read_source(field: str, stated: str | dict[str, object]) -> Topology | FileText:
    """Return the hardware of a specification, or the text of a file; raise InputError of a field for another object."""
    if isinstance(stated, str):
        return spec.build(stated)
    file = find_file(field, stated)
    if file is None:
        raise InputError(field, "expected an object of two texts, file and text, got another")
    return file
