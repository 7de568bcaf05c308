"""What can be asked of a service: the same as of the local doors, read here and stated as a document."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np

from tiger.circuits.entry.report import CircuitReport
from tiger.circuits.params import CircuitObjective
from tiger.client import reports
from tiger.client.circuits import circuit_text, device_document, layout_list
from tiger.client.errors import Document
from tiger.client.graphs import task_document, topology_document
from tiger.client.networks import Hardware, Model, read_network
from tiger.entry import Pins, problem_of
from tiger.errors import InputError
from tiger.model.problem import Problem, Rule
from tiger.model.tasks import TaskGraph
from tiger.model.topology import Topology
from tiger.objectives.selection import ObjectiveName
from tiger.pipeline.entry.report import PlacementReport
from tiger.pipeline.entry.request import Aim, check_request
from tiger.pipeline.operators.params import Objective
from tiger.pipeline.params import PlaceParams
from tiger.pipeline.schedules.orders import Schedule
from tiger.qubo.ising import IsingParams
from tiger.request import Request
from tiger.run.report import Report

if TYPE_CHECKING:
    import networkx as nx
    from dimod.core.sampler import Sampler
    from qiskit.circuit import QuantumCircuit

Found = TypeVar("Found")
Layout = Sequence[int] | Mapping[int, int] | Mapping[str, int]
TOPOLOGY_FILES = (".json", ".arc")
ISING_FIELDS = ("penalty_scale", "beta_range", "capacity")
HERE = "expected it left out, as the service decides that itself"


@dataclass(frozen=True, slots=True, eq=False)
class Asked(Generic[Found]):
    """Hold a request: the path of its route, the JSON of its body, and how to read the report that answers it."""

    path: str
    body: bytes
    read: Callable[[Document], Found]


def assignment(
    tasks: "nx.Graph | TaskGraph | Path | str",
    topology: "nx.Graph | Topology | Path | str | None" = None,
    *,
    rule: Rule | None = None,
    slots: int | None = None,
    imbalance: float = 0.0,
    allocation: Iterable[object] | Path | str | None = None,
    pinned: Pins | None = None,
    forbidden: Iterable[tuple[object, object]] = (),
    solver: "str | Sampler" = "auto",
    objective: ObjectiveName = "cost",
    seed: int = 0,
    effort: int | None = None,
    time_limit_s: float | None = None,
    executor: Executor | str | None = None,
    ising: IsingParams | None = None,
) -> Asked[Report]:
    """Ask what `tiger.assign` answers for the same arguments; files are read and the problem is checked here.

    Raises as `tiger.assign` does, and InputError for what no service takes: an executor, a sampler object, distances
    without links, sizes in `ising`.
    """
    if executor is not None:
        raise InputError("executor", f"{HERE}, got one")
    params = ising or IsingParams()
    Request(objective=objective, seed=seed, effort=effort, time_limit_s=time_limit_s, ising=params)
    problem = problem_of(
        tasks,
        topology,
        rule=rule,
        slots=slots,
        imbalance=imbalance,
        allocation=allocation,
        pinned=pinned,
        forbidden=forbidden,
    )
    if isinstance(topology, str) and Path(topology).suffix.lower() not in TOPOLOGY_FILES:
        hosts = [problem.topology.names[k] for k in problem.topology.hosts]
        hardware: dict[str, object] = {"topology": topology, "slots": slots, "imbalance": imbalance}
        hardware["allocation"] = None if allocation is None else hosts
        remarks = problem.tasks.remarks
    else:
        # The document has the slots of the allocated nodes as they come out of all that was said about them.
        hardware = {"topology": topology_document(problem.topology)}
        remarks = problem.tasks.remarks + problem.topology.remarks
    document = {
        "tasks": task_document(problem.tasks),
        **hardware,
        **_terms(problem),
        "solver": _solver_name(solver),
        "objective": objective,
        "seed": seed,
        "effort": effort,
        "time_limit_s": time_limit_s,
        "ising": _ising(params),
    }
    return Asked("assign", _body(document), lambda said: _add_remarks(reports.read_assignment(said), remarks))


def circuit_layout(
    circuit: "QuantumCircuit | Path | str | bytes",
    coupling: object,
    *,
    level: int = 3,
    effort: int = 1,
    objective: CircuitObjective = "cx",
    solver: str = "auto",
    seed: int = 0,
    initial_layout: Layout | None = None,
    time_limit_s: float | None = None,
    threads: int = 1,
    commute: bool = True,
) -> Asked[CircuitReport]:
    """Ask what `tiger.layout` answers for the same arguments; files are read here, and circuits written as OpenQASM.

    Raises as `tiger.layout` does for what cannot be read, and InputError for what no service takes: several `threads`.
    """
    if threads != 1:
        raise InputError("threads", f"{HERE}, got {threads}")
    Request(seed=seed, effort=effort, time_limit_s=time_limit_s)
    document = {
        "circuit": circuit_text(circuit),
        "topology": device_document(coupling),
        "level": level,
        "effort": effort,
        "objective": objective,
        "solver": _solver_name(solver),
        "seed": seed,
        "initial_layout": layout_list(initial_layout),
        "time_limit_s": time_limit_s,
        "commute": commute,
    }
    return Asked("assign", _body(document), reports.read_circuit)


def placement(
    model: Model,
    cluster: Hardware | None = None,
    *,
    mode: str = "chain",
    objective: Objective = "throughput",
    contiguous: bool = False,
    schedule: Schedule | None = None,
    microbatches: int | None = None,
    virtual: int | None = None,
    pipeline: int | None = None,
    tensor: int = 1,
    data: int = 1,
    pinned: Mapping[str, str] | None = None,
    solver: str = "auto",
    seed: int = 0,
    effort: int = 1,
    time_limit_s: float | None = None,
) -> Asked[PlacementReport]:
    """Ask what `tiger.place` answers for the same arguments; files are read here.

    The report emits and draws plans as a local one does. Raises as `tiger.place` does for what cannot be read.
    """
    params = PlaceParams(
        schedule=schedule,
        microbatches=microbatches,
        virtual=virtual,
        pipeline=pipeline,
        tensor=tensor,
        data=data,
        pinned={} if pinned is None else pinned,
        seed=seed,
        effort=effort,
        time_limit_s=time_limit_s,
    )
    aim = Aim(mode=mode, objective=objective, contiguous=contiguous)
    stated = read_network(model, cluster, check_request(params, aim))
    asked = {**_fields(params), **_fields(aim), "solver": _solver_name(solver)}
    return Asked("place", _body({**asked, "model": stated.model, "cluster": stated.cluster}), stated.read)


def _fields(params: PlaceParams | Aim) -> dict[str, object]:
    """Return the fields of parameters by name."""
    return {field.name: getattr(params, field.name) for field in fields(params)}


def _terms(problem: Problem) -> dict[str, object]:
    """Return what is asked of a mapping beyond graph and hardware."""
    return {"rule": problem.rule, "pinned": problem.pinned, "forbidden": sorted(map(list, problem.forbidden))}


def _solver_name(solver: object) -> str:
    """Return the name of a solver."""
    if not isinstance(solver, str):
        raise InputError("solver", f"expected a name, as a service takes no object, got {type(solver).__name__}")
    return solver


def _ising(params: IsingParams) -> dict[str, object]:
    """Return the options of the Ising path that a service takes; raise InputError for any other that is set."""
    usual = IsingParams()
    for field in fields(params):
        if field.name not in ISING_FIELDS and getattr(params, field.name) != getattr(usual, field.name):
            raise InputError(f"ising/{field.name}", f"{HERE}, got another value than usual")
    return {name: getattr(params, name) for name in ISING_FIELDS}


def _add_remarks(report: Report, remarks: tuple[str, ...]) -> Report:
    """Return a report with what the readers here found odd, which documents do not carry."""
    return replace(report, warnings=(*remarks, *report.warnings))


def _body(document: Mapping[str, object]) -> bytes:
    """Return a document as strict JSON without the fields that are None, which no request has to state."""
    stated = {name: value for name, value in document.items() if value is not None}
    try:
        return json.dumps(stated, allow_nan=False, separators=(",", ":"), default=_plain).encode()
    except ValueError as error:
        raise InputError("body", f"expected what JSON can say, got something else: {error}") from None


def _plain(value: object) -> object:
    """Return what JSON knows of a value: the number that one of numpy is, and any mapping as a dict."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"expected what JSON can say, got a value of type {type(value).__name__}")
