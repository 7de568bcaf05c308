"""The request that a change makes of that of a job: other tasks or hardware, and the mapping in use before."""

import json
import math
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from tiger.api.routes.assignment import read_tasks, state_hardware
from tiger.api.routes.document import parse
from tiger.api.routes.entries import ASSIGN
from tiger.api.routes.starts import read_mapping
from tiger.api.schemas.assignment import AssignRequest
from tiger.api.schemas.closed import take
from tiger.api.schemas.limits import Limits
from tiger.api.schemas.replanning import ReplanRequest
from tiger.api.schemas.uploads import put_texts
from tiger.api.seams.upload import NO_UPLOADS, UploadText
from tiger.errors import InputError, pin_field
from tiger.formats.files import TaskFile
from tiger.formats.hardware.units import UnitOptions
from tiger.formats.hostfile import HostSlots
from tiger.mapping.graph_documents import task_document, topology_document
from tiger.mapping.hardware import choose_hardware, list_allocation, read_network
from tiger.mapping.options import HardwareArguments
from tiger.model.topology import Topology
from tiger.model.values import check_amount, read_name
from tiger.model.wording import describe

JOB = "job"
Fields = dict[str, object]
Record = Mapping[str, object]
# Fields of the job that a new mapping takes no account of: another start, samplers, and what a node choice was.
DROPPED = ("start", "previous", "max_moves", "move_cost", "solver", "ising")


@dataclass(frozen=True, slots=True)
class Former:
    """Hold what a job was asked for, as fields and read, what it answered, and its tasks."""

    fields: Fields
    request: AssignRequest
    report: Record
    file: TaskFile


def check(body: bytes, limits: Limits) -> ReplanRequest:
    """Return the change that a body states; raise InputError, or pydantic's ValidationError for a type or a bound."""
    change = ReplanRequest.read(parse(body))
    change.measure(limits)
    return change


def change_former(
    former: bytes, report: bytes, uploads: Mapping[str, UploadText], body: bytes, limits: Limits
) -> bytes:
    """Return what `change_request` does, of what a job was asked for as its file is kept."""
    return change_request(zlib.decompress(former), report, body, limits, uploads)


def change_request(
    former: bytes, report: bytes, body: bytes, limits: Limits, uploads: Mapping[str, UploadText] = NO_UPLOADS
) -> bytes:
    """Return the body of `POST /assign` that asks for the problem of a job after the change that a body states.

    `former` is what the job was asked for; `uploads` are those that it or the change refers to, and references stay
    references. Raises InputError that names a field of the change, or `job` for a job that no change can be applied to.
    """
    before, stated = _read_former(former, report, limits, uploads), cast(Fields, parse(body))
    change = ReplanRequest.read(put_texts(body, stated, uploads))
    change.measure(limits)
    fields = {name: value for name, value in before.fields.items() if name not in DROPPED}
    fields |= {
        name: value
        for name in ("max_moves", "move_cost", "effort", "seed", "time_limit_s")
        if (value := getattr(change, name)) is not None
    }
    fields["previous"] = read_mapping(before.report, JOB)
    tasks = _change_tasks(change, before, fields)
    _change_hardware(change, before, fields)
    _check_pins(change, before, fields)
    _keep_rule(change, before, fields, tasks)
    asked = cast(Fields, parse(former))
    kept = {name: value for name, value in asked.items() if fields.get(name) is before.fields.get(name)}
    if change.topology is not None:
        kept["topology"] = stated["topology"]
    made = json.dumps(fields | {name: kept[name] for name in kept.keys() & fields.keys()}, allow_nan=False).encode()
    ASSIGN.check(made, limits, uploads)
    return made


def _read_former(body: bytes, report: bytes, limits: Limits, uploads: Mapping[str, UploadText]) -> Former:
    """Return what a job was asked for and answered; raise InputError of `job` for one that was no mapping of tasks."""
    try:
        fields, answer = put_texts(body, parse(body), uploads), json.loads(report)
    except InputError as error:
        raise InputError(JOB, f"expected one whose uploads are kept, got one of which {error.field} is not") from None
    if not isinstance(fields, dict) or "tasks" not in fields:
        what = "expected a job that mapped tasks: a circuit is laid out anew"
        raise InputError(JOB, f"{what}, and a rebalancer follows a placement whose devices are lost, got another job")
    given = AssignRequest.read(fields)
    file = read_tasks(given.tasks, limits)
    if file.tasks.hyperedges is not None:
        raise InputError(JOB, "expected one of tasks without hyperedges, got multicasts")
    for field, usual, stated in (
        ("nodes", None, given.nodes),
        ("objective", "cost", given.objective),
        ("contiguous_hosts", None, given.contiguous_hosts or None),
    ):
        if stated != usual:
            raise InputError(JOB, f"expected one without {field}, which no moves are counted beside, got {stated!r}")
    return Former(dict(fields), given, answer, file)


def _change_tasks(change: ReplanRequest, before: Former, fields: Fields) -> int:
    """Put the tasks after a change into fields, as a graph unless they stay as they are; return how many there are."""
    own = before.file.topology
    # A file with distances of its own goes with no other hardware.
    parted = own is not None and change.topology is not None
    if not (change.lost_tasks or change.added_tasks or change.traffic or parted):
        return before.file.tasks.size
    document = task_document(before.file.tasks)
    nodes, edges = _records(document, "nodes"), _records(document, "edges")
    known = {str(node["id"]) for node in nodes}
    for position, task in enumerate(change.lost_tasks):
        if task not in known:
            raise InputError(f"lost_tasks/{position}", f"expected a task of the job, got {describe(task)}")
    lost = set(change.lost_tasks)
    nodes = [node for node in nodes if node["id"] not in lost]
    if not nodes and change.added_tasks is None:
        raise InputError("lost_tasks", "expected some tasks to be left, got all of them")
    edges = [edge for edge in edges if not lost & {edge["source"], edge["target"]}]
    if change.added_tasks is not None:
        nodes += _name_nodes(change.added_tasks.nodes, known - lost)
    left = {str(node["id"]) for node in nodes}
    edges = _change_traffic(edges, change.traffic, left, directed=before.file.tasks.directed)
    if change.added_tasks is not None:
        edges += _name_edges(change.added_tasks.edges, left, "added_tasks/edges")
    fields["tasks"] = {**document, "nodes": nodes, "edges": edges}
    if own is not None and change.topology is None:
        fields["topology"] = topology_document(own)
    if before.file.rule is not None:
        fields.setdefault("rule", before.file.rule)
    return len(nodes)


def _records(document: Mapping[str, object], name: str) -> list[Fields]:
    """Return the nodes or edges of a graph."""
    found = document[name]
    return [dict(record) for record in found] if isinstance(found, list) else []


def _name_nodes(added: Sequence[Record], known: set[str]) -> list[Fields]:
    """Return new tasks, by names that none has yet; raise InputError of `added_tasks`."""
    named, seen = [], set(known)
    for position, node in enumerate(added):
        at = f"added_tasks/nodes/{position}/id"
        if "id" not in node:
            raise InputError(at, "expected the id of a task, got none")
        name = read_name(at, node["id"])
        if name in seen:
            raise InputError(at, f"expected a task that is not there yet, got {describe(name)}")
        seen.add(name)
        for amount in node.keys() & {"work", "memory"}:
            check_amount(f"added_tasks/nodes/{position}/{amount}", node[amount])
        named.append({**node, "id": name})
    return named


def _name_edges(edges: Sequence[Record], tasks: set[str], field: str) -> list[Fields]:
    """Return edges between tasks, by their names; raise InputError below a field."""
    named = []
    for position, edge in enumerate(edges):
        ends = {}
        for end in ("source", "target"):
            at = f"{field}/{position}/{end}"
            name = read_name(at, edge[end]) if end in edge else None
            if name not in tasks:
                raise InputError(at, f"expected a task of the new graph, got {describe(name)}")
            ends[end] = name
        if "weight" in edge:
            check_amount(f"{field}/{position}/weight", edge["weight"])
        named.append({**edge, **ends})
    return named


def _change_traffic(edges: list[Fields], traffic: Sequence[Record], tasks: set[str], *, directed: bool) -> list[Fields]:
    """Return edges with other weights, and those that are new; raise InputError of `traffic`."""

    def key(edge: Record) -> tuple[str, ...]:
        ends = str(edge["source"]), str(edge["target"])
        return ends if directed else tuple(sorted(ends))

    stated = _name_edges(traffic, tasks, "traffic")
    for position, edge in enumerate(stated):
        if "weight" not in edge:
            raise InputError(f"traffic/{position}/weight", "expected the weight of the edge, got none")
    others = {key(edge) for edge in stated}
    return [edge for edge in edges if key(edge) not in others] + [edge for edge in stated if edge["weight"] != 0]


def _change_hardware(change: ReplanRequest, before: Former, fields: Fields) -> None:
    """Put the hardware after a change into fields: other hardware, and the nodes that may hold tasks."""
    from tiger.mapping.remote import state_allocation  # in a worker alone

    if change.topology is not None:
        fields["topology"] = change.topology
        for name in ("allocation", "running"):
            fields.pop(name, None)
    if not (change.lost_nodes or change.added_nodes):
        return
    hardware = _read_hardware(before, fields)
    known = hardware.names
    granted = _list_granted(fields, hardware)
    for name in ("lost_nodes", "added_nodes"):
        listed, open_names = getattr(change, name), set(granted.names)
        for position, node in enumerate(listed):
            if node not in known:
                raise InputError(f"{name}/{position}", f"expected a node of the hardware, got {describe(node)}")
            if (node in open_names) != (name == "lost_nodes"):
                what = "may" if name == "lost_nodes" else "may not yet"
                raise InputError(f"{name}/{position}", f"expected a node that {what} hold tasks, got {describe(node)}")
    if granted.slots is not None and change.added_nodes:
        raise InputError("added_nodes", "expected a job whose allocation states no slots, got one with slots")
    lost = set(change.lost_nodes)
    kept = [k for k, node in enumerate(granted.names) if node not in lost]
    names = (*(granted.names[k] for k in kept), *change.added_nodes)
    if not names:
        raise InputError("lost_nodes", "expected some nodes to be left, got all of them")
    slots = None if granted.slots is None else granted.slots[kept]
    fields["allocation"] = state_allocation(HostSlots(names, slots))


def _read_hardware(before: Former, fields: Fields) -> Topology:
    """Return the nodes of the hardware in fields, whatever is inside them."""
    request = AssignRequest.read(fields)
    arguments = choose_hardware(None if "topology" in fields else before.file.topology, state_hardware(request))
    return read_network(arguments.topology, request.labels, request.units).topology(request.levels or {})


def _list_granted(fields: Fields, hardware: Topology) -> HostSlots:
    """Return the nodes that may hold tasks, in the order in which launchers fill them."""
    request = AssignRequest.read(fields)
    arguments = take(HardwareArguments, request, topology=hardware, node_topology=None)
    found = list_allocation(hardware.names, arguments.allocation, take(UnitOptions, request))
    if found is not None:
        return found
    return HostSlots(tuple(hardware.names[host] for host in hardware.launch_hosts.tolist()), None)


def _check_pins(change: ReplanRequest, before: Former, fields: Fields) -> None:
    """Leave lost tasks out of pins and forbidden pairs; raise InputError for a lost node that a task is pinned to."""
    lost, nodes = set(change.lost_tasks), {node: k for k, node in enumerate(change.lost_nodes)}
    pinned = {task: node for task, node in before.request.pinned.items() if task not in lost}
    for task, node in pinned.items():
        if node in nodes:
            what = f"expected a node that no task is pinned to, as {pin_field(task)} is to it"
            raise InputError(f"lost_nodes/{nodes[node]}", f"{what}, got {describe(node)}")
    for name, kept in (
        ("pinned", pinned),
        ("forbidden", [pair for pair in before.request.forbidden if pair[0] not in lost]),
    ):
        if name in fields:
            fields[name] = kept


def _keep_rule(change: ReplanRequest, before: Former, fields: Fields, tasks: int) -> None:
    """Keep the rule that the job had by default, unless another is stated, and no fewer slots than nodes had so.

    Fewer nodes or tasks would change both.
    """
    given = before.request
    usual = given.rule is None and given.slots is None and given.node_topology is None
    if change.rule is not None:
        fields["rule"] = change.rule
        return
    if not usual or before.file.rule is not None:
        return
    fields["rule"] = before.report.get("rule")
    if fields["rule"] != "capacity":
        return
    hardware = _read_hardware(before, before.fields)
    hosts = len(_list_granted(before.fields, hardware).names)
    if hardware.slots_stated or not hosts or (hardware.slots > 1).any():
        return
    now = _list_granted(fields, _read_hardware(before, fields))
    if now.slots is None:
        fields["slots"] = max(math.ceil(before.file.tasks.size / hosts), math.ceil(tasks / len(now.names)))
