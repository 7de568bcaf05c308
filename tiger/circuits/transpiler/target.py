"""What a Qiskit Target or coupling map says about which device qubits can meet."""

from collections.abc import Callable, Container, Iterator

from qiskit.transpiler import CouplingMap, Target

from tiger.routing.coupling import Coupling

# The error rate of a gate that never works, as IBM reports it.
FAULTY = 1.0
IDLE = ("measure", "reset", "delay")


def coupling_of(device: Target | CouplingMap) -> Coupling:
    """Return the undirected coupling map of a device, without its faulty pairs and those of faulty qubits.

    A pair is faulty when all its gates have error 1; a qubit when a gate on it alone has error 1, or when it
    is without such a gate that others have. A Target that lists no pairs has all of them.
    """
    return _leave_faults(listed_coupling(device), device)


def listed_coupling(device: Target | CouplingMap) -> Coupling:
    """Return the undirected coupling map of a device as Qiskit takes it, with its faulty pairs."""
    if isinstance(device, CouplingMap):
        return Coupling.of(device.size(), device.get_edges())
    size, whole = int(device.num_qubits or 0), device.build_coupling_map()
    pairs = [(a, b) for b in range(size) for a in range(b)] if whole is None else whole.get_edges()
    return Coupling.of(size, pairs)


def list_couplings(device: Target | CouplingMap, operations: Container[str]) -> list[Coupling]:
    """Return the coupling maps that a circuit of some operations is tried on, the most careful first, each once.

    A circuit that measures is first kept off qubits whose readout has error 1. Behind what works comes the same with
    the faulty pairs that join what is not connected without them, so that a circuit that fits the whole device fits
    the last one.
    """
    whole = listed_coupling(device)
    working = _leave_faults(whole, device)
    unread = find_faulty_readouts(device) if "measure" in operations else set[int]()
    careful = _keep(working, lambda a, b: not {a, b} & unread) if unread else working
    joined = working
    if whole is not working:
        part, pairs = working.part.tolist(), {tuple(pair) for pair in working.edges.tolist()}
        joined = _keep(whole, lambda a, b: part[a] != part[b] or (a, b) in pairs)
    return list(dict.fromkeys((careful, working, joined)))


def working_device(device: Target | CouplingMap, coupling: Coupling) -> Target | CouplingMap:
    """Return the device itself if a circuit may use all of it, else a coupling map of what it may use."""
    if len(listed_coupling(device).edges) == len(coupling.edges):
        return device
    return map_of(coupling)


def restrict_pairs(device: Target, coupling: Coupling) -> Target:
    """Return a Target with what is on one qubit, and on the pairs of a coupling map in directions that it has."""
    return restrict(device, lambda qubits: len(qubits) != 2 or coupling.hops[qubits] == 1)


def restrict(device: Target, keeps: Callable[[tuple[int, ...]], bool]) -> Target:
    """Return a Target with the operations on listed qubits that are kept, and those listed nowhere.

    O(operations listed).
    """
    kept = Target(num_qubits=device.num_qubits, qubit_properties=device.qubit_properties, dt=device.dt)
    for name in device.operation_names:
        listed = device[name]
        if listed is None or None in listed:
            kept.add_instruction(device.operation_from_name(name), name=name)
        elif listed := {at: known for at, known in listed.items() if keeps(at)}:
            kept.add_instruction(device.operation_from_name(name), listed, name=name)
    return kept


def map_of(coupling: Coupling) -> CouplingMap:
    """Return a coupling map as Qiskit has it, each edge in one direction."""
    edges = CouplingMap([list(edge) for edge in coupling.edges.tolist()])
    for qubit in set(range(coupling.size)) - set(edges.physical_qubits):
        edges.add_physical_qubit(qubit)
    return edges


def has_errors(device: Target | CouplingMap) -> bool:
    """Return whether a device knows any error rate."""
    return isinstance(device, Target) and any(error is not None for _, error in _list_gates(device))


def has_rates(device: Target | CouplingMap) -> bool:
    """Return whether a device knows any error rate, of gates or of measurements."""
    return has_errors(device) or any(error is not None for error in _list_readouts(device).values())


def find_faulty_qubits(device: Target | CouplingMap) -> set[int]:
    """Return the qubits with a gate of error 1, and those without a gate where others have some."""
    if isinstance(device, CouplingMap):
        return set()
    errors = [(qubits[0], error) for qubits, error in _list_gates(device) if len(qubits) == 1]
    everywhere = any(
        None in (device[name] or {None}) and getattr(device.operation_from_name(name), "num_qubits", 0) == 1
        for name in set(device.operation_names) - set(IDLE)
    )
    unlisted = set(range(device.num_qubits or 0)) - {qubit for qubit, _ in errors}
    faulty = {qubit for qubit, error in errors if error is not None and error >= FAULTY}
    return faulty if everywhere or not errors else faulty | unlisted


def find_faulty_pairs(device: Target | CouplingMap) -> set[tuple[int, int]]:
    """Return the pairs all of whose gates have error 1, the lower qubit first."""
    works: dict[tuple[int, int], bool] = {}
    for qubits, error in () if isinstance(device, CouplingMap) else _list_gates(device):
        if len(qubits) == 2:
            # An error that is not known, or no number, is none.
            pair = min(qubits), max(qubits)
            works[pair] = works.get(pair, False) or error is None or not error >= FAULTY
    return {pair for pair, working in works.items() if not working}


def find_faulty_gates(device: Target | CouplingMap) -> set[tuple[str, tuple[int, ...]]]:
    """Return the gates of error 1, by name and qubits in order, on pairs that work by another gate or direction."""
    dead, faulty = find_faulty_pairs(device), set[tuple[str, tuple[int, ...]]]()
    for name in () if isinstance(device, CouplingMap) else set(device.operation_names) - set(IDLE):
        for qubits, known in (device[name] or {}).items():
            error = getattr(known, "error", None)
            if qubits is not None and len(qubits) == 2 and error is not None and error >= FAULTY:
                faulty |= {(name, qubits)} if (min(qubits), max(qubits)) not in dead else set()
    return faulty


def find_faulty_readouts(device: Target | CouplingMap) -> set[int]:
    """Return the qubits whose readout has error 1, and those without one where others have some."""
    errors = _list_readouts(device)
    unlisted = set(range(device.num_qubits or 0)) - errors.keys() if errors else set[int]()
    return unlisted | {qubit for qubit, error in errors.items() if error is not None and error >= FAULTY}


def _list_readouts(device: Target | CouplingMap) -> dict[int, float | None]:
    """Return the error of measuring by qubit, empty where measurements do not name their qubits."""
    if isinstance(device, CouplingMap) or "measure" not in device.operation_names:
        return {}
    rows = {} if None in (device["measure"] or {None}) else device["measure"]
    return {qubits[0]: getattr(known, "error", None) for qubits, known in rows.items()}


def _list_gates(target: Target) -> Iterator[tuple[tuple[int, ...], float | None]]:
    """Yield the qubits and the error of every gate that is listed with its qubits."""
    for name in target.operation_names:
        for qubits, properties in ({} if name in IDLE else target[name] or {}).items():
            if qubits is not None:
                yield qubits, getattr(properties, "error", None)


def _leave_faults(whole: Coupling, device: Target | CouplingMap) -> Coupling:
    """Return the coupling map of a device without its faulty pairs and those of faulty qubits."""
    broken, dead = find_faulty_qubits(device), find_faulty_pairs(device)
    if not (broken or dead):
        return whole
    return _keep(whole, lambda a, b: not {a, b} & broken and (a, b) not in dead)


def _keep(coupling: Coupling, kept: Callable[[int, int], bool]) -> Coupling:
    """Return a coupling map with some of its pairs."""
    return Coupling.of(coupling.size, [(a, b) for a, b in coupling.edges.tolist() if kept(a, b)])
