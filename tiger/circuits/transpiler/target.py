"""What a Qiskit Target or coupling map says about which device qubits can meet."""

from collections.abc import Iterator

from qiskit.transpiler import CouplingMap, Target

from tiger.circuits.coupling import Coupling

# The error rate of a gate that never works, as IBM reports it.
FAULTY = 1.0
IDLE = ("measure", "reset", "delay")


def coupling_of(device: Target | CouplingMap) -> Coupling:
    """Return the undirected coupling map of a device, without its faulty edges and those of faulty qubits.

    An edge is faulty when all its gates have error 1; a qubit when a gate on it alone has error 1, or when it
    is without such a gate that others have. A Target that lists no pairs has all of them.
    """
    if isinstance(device, CouplingMap):
        return Coupling.of(device.size(), device.get_edges())
    size, whole = int(device.num_qubits or 0), device.build_coupling_map()
    if whole is None:
        return Coupling.of(size, [(a, b) for b in range(size) for a in range(b)])
    broken, dead = _broken_qubits(device), _dead_pairs(device)
    return Coupling.of(size, [(a, b) for a, b in whole.get_edges() if not {a, b} & broken and {a, b} not in dead])


def listed_coupling(device: Target | CouplingMap) -> Coupling:
    """Return the undirected coupling map of a device as Qiskit takes it, with its faulty edges."""
    whole = device if isinstance(device, CouplingMap) else device.build_coupling_map()
    return coupling_of(device if whole is None else whole)


def working_device(device: Target | CouplingMap, coupling: Coupling) -> Target | CouplingMap:
    """Return the device itself if all of it works, else the coupling map of what does."""
    whole = device if isinstance(device, CouplingMap) else device.build_coupling_map()
    if whole is None or len({frozenset(edge) for edge in whole.get_edges()}) == len(coupling.edges):
        return device
    return map_of(coupling)


def map_of(coupling: Coupling) -> CouplingMap:
    """Return a coupling map as Qiskit has it, each edge in one direction."""
    edges = CouplingMap([list(edge) for edge in coupling.edges.tolist()])
    for qubit in set(range(coupling.size)) - set(edges.physical_qubits):
        edges.add_physical_qubit(qubit)
    return edges


def has_errors(device: Target | CouplingMap) -> bool:
    """Return whether a device knows any error rate."""
    return isinstance(device, Target) and any(error is not None for _, error in _list_gates(device))


def has_readout_errors(target: Target) -> bool:
    """Return whether a device knows the error of any measurement."""
    rows = (target["measure"] or {}).values() if "measure" in target.operation_names else ()
    return any(getattr(row, "error", None) is not None for row in rows)


def _list_gates(target: Target) -> Iterator[tuple[tuple[int, ...], float | None]]:
    """Yield the qubits and the error of every gate that is listed with its qubits."""
    for name in target.operation_names:
        for qubits, properties in ({} if name in IDLE else target[name] or {}).items():
            if qubits is not None:
                yield qubits, getattr(properties, "error", None)


def _broken_qubits(target: Target) -> set[int]:
    """Return the qubits with a gate of error 1, and those without a gate where others have some."""
    errors = [(qubits[0], error) for qubits, error in _list_gates(target) if len(qubits) == 1]
    everywhere = any(
        None in (target[name] or {None}) and getattr(target.operation_from_name(name), "num_qubits", 0) == 1
        for name in set(target.operation_names) - set(IDLE)
    )
    unlisted = set(range(target.num_qubits)) - {qubit for qubit, _ in errors}
    faulty = {qubit for qubit, error in errors if error is not None and error >= FAULTY}
    return faulty if everywhere or not errors else faulty | unlisted


def _dead_pairs(target: Target) -> list[set[int]]:
    """Return the pairs all of whose gates have error 1."""
    errors: dict[frozenset[int], list[float]] = {}
    for qubits, error in _list_gates(target):
        if len(qubits) == 2:
            errors.setdefault(frozenset(qubits), []).append(error or 0.0)
    return [set(pair) for pair, rates in errors.items() if min(rates) >= FAULTY]
