"""Requests of a service: the arguments of the local entries, read here and stated as documents."""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Generic, TypeVar

import numpy as np

from tiger.circuits.entry.arguments import LayoutArguments
from tiger.circuits.entry.report import CircuitReport
from tiger.circuits.params import LayoutOptions
from tiger.client import reports
from tiger.client.circuits import circuit_text, device_document, layout_list
from tiger.client.errors import Document
from tiger.client.graphs import task_document
from tiger.client.hardware import state_hardware
from tiger.client.networks import cluster_document, read_network, read_planning
from tiger.errors import InputError
from tiger.expert_maps.arguments import ExpertArguments
from tiger.expert_maps.loads_file import read_loads
from tiger.expert_maps.params import ExpertOptions, check_options
from tiger.expert_maps.report import ExpertReport
from tiger.expert_maps.request import read_request
from tiger.expert_maps.traces import read_trace
from tiger.formats.files import is_pattern
from tiger.launchers.formats import check_fit
from tiger.launchers.order import LaunchNodes
from tiger.mapping.entry import state_problem
from tiger.mapping.options import AssignArguments, MappingOptions
from tiger.mapping.request import Request
from tiger.model.arrays import IntArray
from tiger.model.checking import check_values
from tiger.model.options import from_fields, narrow
from tiger.model.problem import Problem
from tiger.model.sharing import SharingOptions
from tiger.model.tasks import TaskGraph
from tiger.model.text import read_text
from tiger.placement.entry.arguments import PlaceArguments
from tiger.placement.entry.report import PlacementReport
from tiger.placement.entry.request import check_request
from tiger.placement.params import Aim, PlaceOptions, PlaceParams
from tiger.planning.arguments import PlanArguments
from tiger.planning.params import PlanOptions
from tiger.planning.report import PlanReport
from tiger.planning.request import check_plan_options
from tiger.qubo.params import IsingParams
from tiger.run.node_choice import keep_hosts, open_slots
from tiger.run.report import Report
from tiger.training.hardware.options import HostArguments

Result = TypeVar("Result")
ISING_FIELDS = ("penalty_scale", "beta_range", "capacity")
REFUSED = "expected it left out, as the service decides that itself"


@dataclass(frozen=True, slots=True, eq=False)
class Asked(Generic[Result]):
    """Hold a request: the path of its route, the JSON of its body, and how to read the report that answers it."""

    path: str
    body: bytes
    read: Callable[[Document], Result]


def request_assignment(arguments: AssignArguments) -> Asked[Report]:
    """State what `tiger.assign` answers for some arguments; files are read and the problem is checked here."""
    if arguments.executor is not None:
        raise InputError("executor", f"{REFUSED}, got one")
    params = arguments.ising or IsingParams()
    options = asdict(narrow(MappingOptions, arguments))
    Request(**options, ising=params)
    problem = open_slots(state_problem(arguments), arguments.nodes)
    if arguments.emit is not None:
        check_fit(arguments.emit, problem.tasks.size, LaunchNodes.of(problem.topology), arguments.nodes)
    remarks = problem.tasks.remarks + problem.topology.remarks
    document = {
        "tasks": _state_tasks(arguments, problem.tasks),
        **state_hardware(arguments, problem.topology),
        **asdict(narrow(SharingOptions, arguments, rule=problem.rule)),
        "pinned": problem.pinned,
        "forbidden": sorted(map(list, problem.forbidden)),
        "solver": _solver_name(arguments.solver),
        **options,
        "ising": _ising_options(params),
    }

    def read(answer: Document) -> Report:
        """Add what documents do not carry: what the readers here found odd, and the problem."""
        report = reports.read_assignment(answer)
        new = [remark for remark in remarks if remark not in report.warnings]
        chosen = arguments.nodes is not None and report.feasible
        on = keep_hosts(problem, _used_nodes(report, problem)) if chosen else problem
        complete = replace(report, warnings=(*new, *report.warnings), problem=on, routing=arguments.routing)
        return complete.emitting(arguments.emit)

    return Asked("assign", body_of(document), read)


def request_layout(arguments: LayoutArguments) -> Asked[CircuitReport]:
    """State what `tiger.layout` answers for some arguments; files are read here, and circuits written as OpenQASM."""
    if arguments.threads != 1:
        raise InputError("threads", f"{REFUSED}, got {arguments.threads}")
    if arguments.executor is not None:
        raise InputError("executor", f"{REFUSED}, got one")
    options = narrow(LayoutOptions, arguments)
    check_values(options)
    document = {
        **asdict(options),
        "solver": _solver_name(options.solver),
        "circuit": circuit_text(arguments.circuit),
        "topology": device_document(arguments.coupling),
        "initial_layout": layout_list(arguments.initial_layout),
    }

    def read(answer: Document) -> CircuitReport:
        """Add what documents do not carry: the device, as it was stated."""
        return replace(reports.read_circuit(answer), device=arguments.coupling)

    return Asked("assign", body_of(document), read)


def request_placement(arguments: PlaceArguments) -> Asked[PlacementReport]:
    """State what `tiger.place` answers for some arguments; files are read here."""
    pinned = {} if arguments.pinned is None else arguments.pinned
    # Which solvers there are is for the service to say.
    params = narrow(PlaceParams, arguments, pinned=pinned, solver="auto")
    stated = read_network(arguments, check_request(params, narrow(Aim, arguments)))
    options = {**asdict(narrow(PlaceOptions, arguments)), "solver": _solver_name(arguments.solver), "pinned": pinned}
    return Asked("place", body_of({**options, "model": stated.model, "cluster": stated.cluster}), stated.read)


def request_planning(arguments: PlanArguments) -> Asked[PlanReport]:
    """State what `tiger.plan` answers for some arguments; files are read here."""
    if arguments.executor is not None:
        raise InputError("executor", f"{REFUSED}, got one")
    # Which solvers there are is for the service to say.
    check_plan_options(narrow(PlanOptions, arguments, solver="auto"))
    stated = read_planning(arguments)
    options = {**asdict(narrow(PlanOptions, arguments)), "solver": _solver_name(arguments.solver)}
    return Asked("plan", body_of({**options, "model": stated.model, "cluster": stated.cluster}), stated.read)


def request_experts(arguments: ExpertArguments) -> Asked[ExpertReport]:
    """State what `tiger.experts` answers for some arguments; files are read and all is checked here."""
    options = check_options(narrow(ExpertOptions, arguments))
    hardware, cluster = cluster_document(arguments.cluster, narrow(HostArguments, arguments))
    source = (read_loads if options.kind == "loads" else read_trace)(arguments.trace)
    known = replace(arguments, trace=source, cluster=cluster, node_topology=None, bandwidths=None, labels=None)
    asked = read_request(known, options)
    in_use = None if asked.slots.in_use is None else asked.slots.in_use.tolist()
    document = {**asdict(options), "trace": source.tolist(), "cluster": hardware, "in_use": in_use}
    return Asked("experts", body_of(document), reports.read_experts)


@from_fields(AssignArguments)
def assignment(arguments: AssignArguments) -> Asked[Report]:
    """Ask what `tiger.assign` answers for the same arguments; files are read and the problem is checked here.

    Raises as `tiger.assign` does, and InputError for what no service takes: an executor, a sampler object, distances
    without links, sizes in `ising`.
    """
    return request_assignment(arguments)


@from_fields(LayoutArguments)
def circuit_layout(arguments: LayoutArguments) -> Asked[CircuitReport]:
    """Ask what `tiger.layout` answers for the same arguments; files are read here, and circuits written as OpenQASM.

    Raises as `tiger.layout` does for what cannot be read, and InputError for what no service takes: several `threads`.
    """
    return request_layout(arguments)


@from_fields(PlaceArguments)
def placement(arguments: PlaceArguments) -> Asked[PlacementReport]:
    """Ask what `tiger.place` answers for the same arguments; files are read here.

    The report emits and draws plans as a local one does. Raises as `tiger.place` does for what cannot be read.
    """
    return request_placement(arguments)


@from_fields(PlanArguments)
def planning(arguments: PlanArguments) -> Asked[PlanReport]:
    """Ask what `tiger.plan` answers for the same arguments; files are read here.

    The report emits its best plan as a local one does. Raises as `tiger.plan` does for what cannot be read.
    """
    return request_planning(arguments)


@from_fields(ExpertArguments)
def expert_placement(arguments: ExpertArguments) -> Asked[ExpertReport]:
    """Ask what `tiger.experts` answers for the same arguments; files are read here.

    The report has no transitions to draw. Raises as `tiger.experts` does.
    """
    return request_experts(arguments)


def _state_tasks(arguments: AssignArguments, tasks: TaskGraph) -> object:
    """Return a pattern as it is, a file that has hardware of its own as name and text, and other tasks as a graph."""
    source = arguments.tasks
    if is_pattern(source):
        return source
    if arguments.topology is None and isinstance(source, str | Path):
        return {"file": Path(source).name, "text": read_text(Path(source), "tasks")}
    return task_document(tasks)


def _used_nodes(report: Report, problem: Problem) -> IntArray:
    """Return the nodes of a mapping."""
    used = set(report.mapping.values())
    return np.array([k for k, name in enumerate(problem.topology.names) if name in used])


def _solver_name(solver: object) -> str:
    """Return the name of a solver."""
    if not isinstance(solver, str):
        raise InputError("solver", f"expected a name, as a service takes no object, got {type(solver).__name__}")
    return solver


def _ising_options(params: IsingParams) -> dict[str, object]:
    """Return the options of the Ising path that a service takes; raise InputError for any other that is set."""
    usual = IsingParams()
    for field in fields(params):
        if field.name not in ISING_FIELDS and getattr(params, field.name) != getattr(usual, field.name):
            raise InputError(f"ising/{field.name}", f"{REFUSED}, got another value than usual")
    return {name: getattr(params, name) for name in ISING_FIELDS}


def body_of(document: Mapping[str, object]) -> bytes:
    """Return a document as strict JSON without the fields that are None, which no request has to state."""
    stated = {name: value for name, value in document.items() if value is not None}
    try:
        return json.dumps(stated, allow_nan=False, separators=(",", ":"), default=_plain_value).encode()
    except ValueError as error:
        raise InputError("body", f"expected what JSON can say, got something else: {error}") from None


def _plain_value(value: object) -> object:
    """Return what JSON knows of a value: the number that one of numpy is, and any mapping as a dict."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"expected what JSON can say, got a value of type {type(value).__name__}")
