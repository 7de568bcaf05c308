"""The work behind `POST /assign`: from the bytes of a request to the bytes of its answer."""

from collections.abc import Callable

from tiger.api.jobs.files import Solution
from tiger.api.routes.circuits import lay_out, scan_circuit
from tiger.api.routes.document import encode, parse
from tiger.api.routes.files import circuit_files, mapping_files
from tiger.api.routes.sharing import share, warn_of_trouble
from tiger.api.schemas import limits as bounds
from tiger.api.schemas.assignment import AssignRequest, IsingBody
from tiger.api.schemas.circuits import CircuitRequest
from tiger.api.schemas.files import open_document
from tiger.api.schemas.limits import Limits
from tiger.errors import InputError
from tiger.formats import files, nodelink
from tiger.formats.files import TaskFile
from tiger.formats.text import FileText, find_file
from tiger.launchers.formats import check_fit
from tiger.launchers.order import LaunchNodes
from tiger.mapping.hardware import build_hardware, choose_hardware
from tiger.mapping.mapper import solve_problem
from tiger.mapping.options import HardwareArguments, Inside, SolveArguments
from tiger.model.constraints import Terms, build_problem
from tiger.model.options import narrow
from tiger.model.topology import Topology
from tiger.patterns import spec as patterns
from tiger.qubo.params import IsingParams
from tiger.run.node_choice import open_slots
from tiger.run.progress import Progress, ignore
from tiger.solvers import registry
from tiger.topologies import spec

Watch = Callable[[Progress], None]

DWAVE_OFF = "D-Wave solvers are off at this service; its operator can turn them on with TIGER_ENABLE_DWAVE"


def check(body: bytes, limits: Limits) -> AssignRequest | CircuitRequest:
    """Return the request that a body states; raise InputError, or pydantic's ValidationError for a type or a bound.

    The graphs inside it are only measured, and so is a circuit that is short.
    """
    request = _read_request(parse(body))
    check_limits(limits, request.time_limit_s, request.solver)
    if isinstance(request, AssignRequest):
        bounds.check_tasks(limits, request.tasks)
        if request.topology is None and (isinstance(request.tasks, str) or "text" not in request.tasks):
            raise InputError("topology", "expected hardware, as only a file of tasks may have its own, got none")
        if isinstance(request.topology, str):
            spec.find_kind(request.topology)
        else:
            bounds.check_hardware(limits, request.topology)
        for inside in request.node_topology or []:
            if isinstance(inside.topology, str):
                spec.find_kind(inside.topology)
    else:
        bounds.check_device(limits, request.topology)
        scan_circuit(request.circuit, limits)
    return request


def check_limits(limits: Limits, time_limit_s: float | None, solver: str) -> None:
    """Raise InputError for a time limit or a solver that this service does not allow, or a solver that is not known."""
    if time_limit_s is not None and time_limit_s > limits.max_time_s:
        raise InputError("time_limit_s", f"expected at most {limits.max_time_s:g}, got {time_limit_s:g}")
    if solver in registry.DWAVE and not limits.dwave:
        raise InputError("solver", DWAVE_OFF)
    registry.kind_of(solver)


def answer(body: bytes, limits: Limits, watch: Watch = ignore, executor: str | None = None, /) -> Solution:
    """Solve what a checked body asks and return the report and drafts of files; raise InputError that names the field.

    `watch` is called with its progress. A mapping that takes long, and the islands of a circuit, are shared with the
    Dask cluster at `executor`.
    """
    # Read again, because bytes cross to a worker at no cost while a large graph would hold the event loop up.
    request = check(body, limits)
    if isinstance(request, AssignRequest):
        return _assign(request, limits, watch, executor)
    shared = share(request, executor)
    routed = lay_out(request, limits, watch, shared)
    report = warn_of_trouble(routed.report, shared)
    return Solution(encode(report), circuit_files(report, routed.device))


def _read_request(data: object) -> AssignRequest | CircuitRequest:
    """Return the request for tasks or for a circuit that parsed JSON states; it is for exactly one of them."""
    if isinstance(data, dict) and "circuit" in data:
        if "tasks" in data:
            raise InputError("circuit", "expected tasks or a circuit, got both")
        return CircuitRequest.read(data)
    if isinstance(data, dict) and "tasks" not in data:
        raise InputError("tasks", "expected tasks or a circuit, found neither")
    return AssignRequest.read(data)


def _assign(request: AssignRequest, limits: Limits, watch: Watch, executor: str | None) -> Solution:
    """Solve a mapping problem; a warning says where the cluster failed, without which the mapping is the same."""
    shared = share(request, executor)
    source = read_tasks(request.tasks, limits)
    topology = build_hardware(choose_hardware(source.topology, _state_hardware(request)))
    forbidden = [(task, node) for task, node in request.forbidden]
    terms = narrow(Terms, request, rule=request.choose_rule(source.rule), forbidden=forbidden)
    bounded = request.time_limit_s is not None
    problem = open_slots(build_problem(source.tasks, topology, terms), request.nodes)
    if request.emit is not None:
        check_fit(request.emit, problem.tasks.size, LaunchNodes.of(problem.topology), request.nodes)
    arguments = narrow(
        SolveArguments,
        request,
        effort=request.effort if bounded else request.effort or 1,
        time_limit_s=request.time_limit_s if bounded else limits.max_time_s,
        executor=shared,
        ising=_ising_options(request.ising),
    )
    report = solve_problem(problem, arguments, watch)
    report = warn_of_trouble(report.emitting(request.emit), shared)
    return Solution(encode(report), mapping_files(report, problem))


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


def _state_hardware(request: AssignRequest) -> HardwareArguments:
    """Return the hardware of a request; no text in it is taken for the path of a file."""
    insides = request.node_topology
    return HardwareArguments(
        topology=None if request.topology is None else read_network(request.topology),
        node_topology=None
        if insides is None
        else [
            Inside(inside.hosts, _read_source(f"node_topology/{k}/topology", inside.topology))
            for k, inside in enumerate(insides)
        ],
        levels=request.levels,
        labels=request.labels,
        units=request.units,
        allocation=request.allocation,
        running=[(share.a, share.b, share.share) for share in request.running],
    )


def read_network(stated: str | dict[str, object]) -> Topology | FileText:
    """Return the hardware of a node-link graph or of a specification, or the text of a file; raise InputError."""
    if isinstance(stated, dict) and "text" not in stated:
        return nodelink.read_topology(stated)
    return _read_source("topology", stated)


def _read_source(field: str, stated: str | dict[str, object]) -> Topology | FileText:
    """Return the hardware of a specification, or the text of a file; raise InputError of a field for another object."""
    if isinstance(stated, str):
        return spec.build(stated)
    file = find_file(field, stated)
    if file is None:
        raise InputError(field, "expected an object of two texts, file and text, got another")
    return file


def _ising_options(body: IsingBody) -> IsingParams:
    """Return the options of the Ising path."""
    betas = None if body.beta_range is None else (body.beta_range[0], body.beta_range[1])
    return IsingParams(penalty_scale=body.penalty_scale, beta_range=betas, capacity=body.capacity)
