"""What one request may ask for, counted before anything is built from it."""

from collections.abc import Mapping
from dataclasses import dataclass

from tiger.errors import InputError
from tiger.formats.patterns import spec as patterns
from tiger.model.tasks import TaskGraph

EDGES = ("edges", "links")
# Of about a tenth of a second of work on one core each; a wrong guess costs time alone, for the budget bounds it.
# Characters of a circuit at levels 0 and 1 and above, or of a file of tasks, a handful for each edge; and layers.
SMALL_TEXT, SMALL_HARD_TEXT, SMALL_LAYERS = 8192, 600, 64


@dataclass(frozen=True, slots=True)
class Limits:
    """Bound a request to `max_tasks` tasks or `max_qubits` qubits, and `max_time_s` seconds; D-Wave needs `dwave`.

    `max_tasks` also bounds layers, operators and devices, `max_edges` the edges of any graph and the links of any
    hardware, `max_gates` the operations of a circuit, and `max_couplers` the pairs of qubits that a device states.
    """

    max_tasks: int
    max_time_s: float
    max_qubits: int = 1200
    max_edges: int = 200_000
    max_gates: int = 250_000
    max_couplers: int = 100_000
    dwave: bool = False


def check_tasks(limits: Limits, tasks: object) -> None:
    """Raise InputError of `tasks` for too many tasks or edges, or text that is no SPEC of a pattern."""
    if isinstance(tasks, str):
        pattern = patterns.parse(tasks)
        for most, what, count in (
            (limits.max_tasks, "tasks", pattern.ranks),
            (limits.max_edges, "edges", pattern.messages),
        ):
            if count > most:
                raise fault("tasks", most, what, count)
    _check(tasks, "tasks", ("nodes",), limits.max_tasks, "tasks")
    _check(tasks, "tasks", EDGES, limits.max_edges, "edges")
    if isinstance(tasks, dict) and isinstance(tasks.get("hyperedges"), list):
        sets = (found.get("tasks") for found in tasks["hyperedges"] if isinstance(found, dict))
        if (pins := sum(len(found) for found in sets if isinstance(found, list))) > limits.max_edges:
            raise fault("tasks", limits.max_edges, "tasks in all hyperedges", pins)


def check_graph(limits: Limits, tasks: TaskGraph) -> None:
    """Raise InputError of `tasks` for a graph that was read from the text of a file with too many tasks or edges."""
    for most, what, count in (
        (limits.max_tasks, "tasks", tasks.size),
        (limits.max_edges, "edges", tasks.traffic.nnz if tasks.hyperedges is None else len(tasks.hyperedges.pins)),
    ):
        if count > most:
            raise fault("tasks", most, what, count)


def check_hardware(limits: Limits, topology: object) -> None:
    """Raise InputError of `topology` for a node-link graph with too many links; nodes without any are isolated."""
    _check(topology, "topology", ("nodes",), limits.max_edges, "nodes")
    _check(topology, "topology", EDGES, limits.max_edges, "links")


def check_device(limits: Limits, device: object) -> None:
    """Raise InputError of `topology` for a device with too many qubits or couplers, however it states them."""
    if isinstance(device, list) and len(device) > limits.max_couplers:
        raise fault("topology", limits.max_couplers, "couplers", len(device))
    _check(device, "topology", ("nodes", "qubits", "measure"), limits.max_qubits, "qubits")
    # A Target states each gate at each place, and so a handful of them for a coupler.
    _check(device, "topology", ("coupling_map", "gates", *EDGES), limits.max_couplers, "couplers")


def check_network(limits: Limits, model: object) -> None:
    """Raise InputError of `model` for a network with too many layers, operators or edges.

    One that is described has none yet.
    """
    if isinstance(model, list) and len(model) > limits.max_tasks:
        raise fault("model", limits.max_tasks, "layers", len(model))
    _check(model, "model", ("layers",), limits.max_tasks, "layers")
    _check(model, "model", ("operators", "nodes"), limits.max_tasks, "operators")
    _check(model, "model", ("edges", "tied"), limits.max_edges, "edges")


def check_cluster(limits: Limits, cluster: object) -> None:
    """Raise InputError of `cluster` for one with too many devices, machines or links."""
    _check(cluster, "cluster", ("devices", "machines"), limits.max_tasks, "devices")
    _check(cluster, "cluster", ("links",), limits.max_edges, "links")


def _check(document: object, field: str, names: tuple[str, ...], most: int, what: str) -> None:
    """Raise InputError where a list of a document is too long; what is no list is found at fault later."""
    if not isinstance(document, Mapping):
        return
    for name in names:
        listed = document.get(name)
        if isinstance(listed, list) and len(listed) > most:
            raise fault(field, most, what, len(listed))


def fault(field: str, most: int, what: str, count: int) -> InputError:
    """Return the error of a list that is too long."""
    return InputError(field, f"expected at most {most} {what}, got {count}")
