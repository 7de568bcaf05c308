"""Models and clusters as the documents that a service takes."""

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Generic, TypeVar

import numpy as np

from tiger.client import reports
from tiger.client.errors import Document
from tiger.model.jsontext import read_json
from tiger.model.options import narrow
from tiger.model.text import read_text
from tiger.placement.emission.deployment import Deployment
from tiger.placement.entry import operators
from tiger.placement.entry.arguments import PlaceArguments
from tiger.placement.entry.arrangement import Arrangement
from tiger.placement.entry.report import PlacementReport
from tiger.placement.operators.params import OperatorParams
from tiger.placement.params import PlaceParams
from tiger.planning.arguments import PlanArguments
from tiger.planning.report import PlanReport
from tiger.training.arguments import Hardware, Model
from tiger.training.costs.plan import Plan
from tiger.training.hardware.cluster import NO_LINK, Cluster
from tiger.training.hardware.options import HostArguments
from tiger.training.hardware.reading import NO_ARGUMENTS, read_with_document
from tiger.training.models.csvrows import rows_of_csv
from tiger.training.models.dnnpartitioning import Devices
from tiger.training.models.graphs import operators_of_document
from tiger.training.models.layers import Layers
from tiger.training.models.limits import LAYER_LIMIT
from tiger.training.models.operators import Operators
from tiger.training.models.operatortable import table_of_operators
from tiger.training.models.reading import model_of_document, read_model
from tiger.training.models.sizes import model_of
from tiger.training.models.spec import PREFIX
from tiger.training.sources import require_cluster

Answer = TypeVar("Answer", PlacementReport, PlanReport)


@dataclass(frozen=True, slots=True, eq=False)
class NetworkDocuments(Generic[Answer]):
    """Hold a model and a cluster as documents, and how to read the report on them; no cluster where none is given."""

    model: object
    cluster: object
    read: Callable[[Document], Answer]


def read_network(arguments: PlaceArguments, params: PlaceParams | OperatorParams) -> NetworkDocuments[PlacementReport]:
    """Return a model and a cluster as documents; raise InputError, and TypeError."""
    model, hosts = arguments.model, narrow(HostArguments, arguments)
    if arguments.cluster is None:
        hosts.check_absent("none")
        hardware, devices = None, None
    else:
        hardware, devices = cluster_document(arguments.cluster, hosts)
    if isinstance(params, OperatorParams):
        document, graph = operators_document(model)
        on = operators.pair_with_cluster(*graph, devices)
        line = params.contiguous
        return NetworkDocuments(
            document, hardware, lambda answer: _add_arrangement(reports.read_placement(answer), *on, contiguous=line)
        )
    stated, layers = model_document(model)
    known = require_cluster(devices)

    def read(answer: Document) -> PlacementReport:
        report = reports.read_placement(answer)
        return replace(report, deployment=deployment_of(report, layers, known))

    return NetworkDocuments(stated, hardware, read)


def read_planning(arguments: PlanArguments) -> NetworkDocuments[PlanReport]:
    """Return a model and a cluster as documents; raise InputError, and TypeError."""
    stated, _ = model_document(arguments.model)
    hardware, cluster = cluster_document(arguments.cluster, narrow(HostArguments, arguments))
    model = model_of(arguments.model)

    def read(answer: Document) -> PlanReport:
        """Add the deployment of the best plan, whose layers are those of its microbatch."""
        report = reports.read_plan(answer)
        if report.placement is None or report.degrees is None:
            return report
        size = report.degrees.microbatch
        layers = model.given if size is None else model.layers(size)
        deployment = deployment_of(report.placement, layers, cluster)
        return replace(report, placement=replace(report.placement, deployment=deployment))

    return NetworkDocuments(stated, hardware, read)


def operators_document(source: Model) -> tuple[object, tuple[Operators, Devices | None]]:
    """Return a graph of operators as a document, and what it states; raise InputError of `model`, and TypeError."""
    if isinstance(source, str | Path) and Path(source).suffix.lower() == ".json":
        document = read_json(read_text(Path(source), "model"), "model")
        return document, operators_of_document(document)
    read = operators.read(source)
    return source if isinstance(source, Mapping | list) else table_of_operators(read[0]), read


def model_document(source: Model) -> tuple[object, Layers]:
    """Return a model as a document, and its layers; raise InputError of `model`, and TypeError."""
    if isinstance(source, Layers):
        return {"layers": _rows(source), "tied": _tied_groups(source)}, source
    if not isinstance(source, str | Path | Mapping | list):
        raise TypeError(f"expected model as Layers, a path, a SPEC or a document, got {type(source).__name__}")
    document = _model_of_file(source) if isinstance(source, str | Path) else source
    document = dict(document) if isinstance(document, Mapping) else document
    return document, model_of_document(document)


def cluster_document(source: Hardware, hosts: HostArguments = NO_ARGUMENTS) -> tuple[object, Cluster]:
    """Return a cluster as a document, and itself; raise InputError of `cluster`, and TypeError."""
    if isinstance(source, Cluster):
        hosts.check_absent("a Cluster")
        return _devices(source), source
    if not isinstance(source, str | Path | Mapping):
        raise TypeError(f"expected cluster as a Cluster, a path, a SPEC or a document, got {type(source).__name__}")
    return read_with_document(source, hosts)


def deployment_of(report: PlacementReport, layers: Layers, cluster: Cluster) -> Deployment | None:
    """Return the plan that a report states, for its model and its cluster; None where it states none of theirs."""
    index = {name: k for k, name in enumerate(cluster.names)}
    cuts = np.cumsum([0, *(len(stage.ops) for stage in report.stages)]).tolist()
    if not report.stages or tuple(op for stage in report.stages for op in stage.ops) != layers.names:
        return None
    positions = report.stages[: len(report.stages) // report.virtual]
    try:
        grid = np.array([[[index[name] for name in row] for row in stage.devices] for stage in positions])
        plan = Plan(cuts=tuple(cuts), grid=grid)
    except (KeyError, ValueError):
        return None
    held = tuple(stage.memory_bytes for stage in positions)
    return Deployment(layers=layers, cluster=cluster, plan=plan, schedule=report.schedule, memory_bytes=held)


def _add_arrangement(
    report: PlacementReport, graph: Operators, cluster: Cluster, *, contiguous: bool
) -> PlacementReport:
    """Return a report with where it has the operators, unless those are others."""
    device = {name: k for k, name in enumerate(cluster.names)}
    at = {name: device.get(stage.device, -1) for stage in report.stages for name in stage.ops}
    places = [at.get(name, -1) for name in graph.names]
    if -1 in places:
        return report
    place = np.zeros(graph.groups, np.int64)
    place[graph.colour] = places
    line = tuple(device[stage.device] for stage in report.stages) if contiguous else ()
    return replace(report, arrangement=Arrangement(operators=graph, cluster=cluster, place=place, line=line))


def _model_of_file(source: str | Path) -> object:
    """Return a SPEC as it is, and what a file holds as a document."""
    if isinstance(source, str) and source.startswith(PREFIX):
        return source
    ending = Path(source).suffix.lower()
    if ending not in (".txt", ".csv", ".json"):
        return read_model(source)
    text = read_text(Path(source), "model")
    if ending == ".csv":
        return {"layers": rows_of_csv(text, LAYER_LIMIT)}
    return {"graph": text} if ending == ".txt" else read_json(text, "model")


def _rows(layers: Layers) -> list[dict[str, object]]:
    """Return layers as a table: a chain in which each sends on what crosses the boundary behind it."""
    columns: dict[str, list[object]] = {
        "name": list(layers.names),
        "kind": list(layers.kinds),
        "module": list(layers.modules),
        "activation_bytes": layers.crossing_bytes[1:].tolist(),
    }
    costs = ("forward_s", "backward_s", "weight_s", "parameter_bytes", "state_bytes", "held_bytes")
    # A table that has these says that its layers can be cut.
    sliced = ("reduced_bytes", "reductions") if layers.slices != 1 else ()
    columns |= {name: getattr(layers, name).tolist() for name in (*costs, *sliced)}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _tied_groups(layers: Layers) -> list[list[str]]:
    """Return groups of layers that share parameters, by name; a group of one says nothing."""
    return [[layers.names[member] for member in group] for group in layers.tied if len(group) > 1]


def _devices(cluster: Cluster) -> dict[str, object]:
    """Return a cluster device by device, the most frequent time of messages as that of all that are not listed."""
    devices: list[dict[str, object]] = []
    for k, name in enumerate(cluster.names):
        memory = float(cluster.memory_bytes[k])
        room = {"memory_bytes": memory} if math.isfinite(memory) else {}
        label = str(int(cluster.machine[k]))
        devices.append(
            {"name": name, "kind": cluster.kinds[k], "speed": float(cluster.speed[k]), "machine": label, **room}
        )
    tables = [list(map(list, zip(c.size_bytes.tolist(), c.seconds.tolist(), strict=True))) for c in cluster.curves]
    low, high = np.triu_indices(cluster.size, 1)
    numbers = cluster.link[low, high].tolist()
    pairs = list(zip(low.tolist(), high.tolist(), numbers, strict=True))
    usual = NO_LINK if NO_LINK in numbers or not numbers else Counter(numbers).most_common(1)[0][0]
    links = [
        {"a": cluster.names[a], "b": cluster.names[b], "table": tables[k]}
        for a, b, k in pairs
        if k not in (NO_LINK, usual)
    ]
    uniform = {} if usual == NO_LINK else {"uniform_table": tables[usual]}
    return {"devices": devices, "links": links, **uniform}
