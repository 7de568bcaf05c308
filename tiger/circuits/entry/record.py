"""A Qiskit Target as JSON: the gates of a device, where they act, and how well.

    {"num_qubits": 2,
     "gates": [{"name": "cx", "qubits": [0, 1], "error": 0.01, "duration": 3e-7}, {"name": "sx", "qubits": [0]}],
     "measure": [{"qubit": 0, "error": 0.02, "duration": 1e-6}],
     "qubits": [{"qubit": 0, "t1": 1e-4, "t2": 8e-5}]}

`error` is in [0, 1], of which 1 marks what is faulty, `duration`, `t1` and `t2` are in seconds; all of them, and the
lists `measure` and `qubits`, may be missing. Two qubits that no gate joins are not coupled; the order of a gate's
qubits is its direction.
"""

from qiskit.circuit import Gate, Measure
from qiskit.circuit.library import get_standard_gate_name_mapping
from qiskit.transpiler import InstructionProperties, QubitProperties, Target

from tiger.errors import InputError
from tiger.model.values import check_amount, check_records, check_whole
from tiger.model.wording import describe

FIELD = "topology"
Record = dict[str, object]
Places = dict[tuple[int, ...], InstructionProperties]


def target_of(data: Record, limit: int) -> Target:
    """Return the Target of a parsed document; raise InputError with a pointer below `topology`."""
    _check_fields(FIELD, data, ("num_qubits", "gates", "measure", "qubits"))
    size = check_whole(f"{FIELD}/num_qubits", data.get("num_qubits"))
    if not 0 < size <= limit:
        raise InputError(f"{FIELD}/num_qubits", f"expected 1 to {limit} qubits, got {size}")
    gates = _gates(check_records(f"{FIELD}/gates", data["gates"]), size)
    if size > 1 and not any(len(qubits) == 2 for places in gates.values() for qubits in places):
        raise InputError(f"{FIELD}/gates", "expected at least one gate on two qubits, got none")
    target = Target(num_qubits=size, qubit_properties=_relaxation(data, size))
    standard = get_standard_gate_name_mapping()
    for name, places in gates.items():
        width = len(next(iter(places)))
        gate = standard.get(name)
        target.add_instruction(gate if gate is not None and gate.num_qubits == width else Gate(name, width, []), places)
    if "measure" in data:
        target.add_instruction(Measure(), _readout(check_records(f"{FIELD}/measure", data["measure"]), size))
    return target


def _gates(records: list[Record], size: int) -> dict[str, Places]:
    """Return what is known of every gate, by its name and its qubits."""
    gates: dict[str, Places] = {}
    for k, record in enumerate(records):
        at = f"{FIELD}/gates/{k}"
        _check_fields(at, record, ("name", "qubits", "error", "duration"))
        name, qubits = record.get("name"), _qubits(f"{at}/qubits", record.get("qubits"), size)
        if not isinstance(name, str) or not name.isidentifier() or name == "measure":
            raise InputError(f"{at}/name", f"expected the name of a gate, such as cx, got {describe(name)}")
        places = gates.setdefault(name, {})
        if qubits in places or any(len(other) != len(qubits) for other in places):
            raise InputError(f"{at}/qubits", f"expected {name} once for the same qubits, and on as many everywhere")
        places[qubits] = _properties(at, record)
    return gates


def _readout(records: list[Record], size: int) -> Places:
    """Return what is known of every measurement, by its qubit."""
    places: Places = {}
    for k, record in enumerate(records):
        at = f"{FIELD}/measure/{k}"
        _check_fields(at, record, ("qubit", "error", "duration"))
        qubit = _check_free(f"{at}/qubit", record.get("qubit"), size, {qubit for (qubit,) in places})
        places[(qubit,)] = _properties(at, record)
    return places


def _relaxation(data: Record, size: int) -> list[QubitProperties] | None:
    """Return the relaxation times of all qubits, None where the document has none."""
    if "qubits" not in data:
        return None
    times: dict[int, QubitProperties] = {}
    for k, record in enumerate(check_records(f"{FIELD}/qubits", data["qubits"])):
        at = f"{FIELD}/qubits/{k}"
        _check_fields(at, record, ("qubit", "t1", "t2"))
        qubit = _check_free(f"{at}/qubit", record.get("qubit"), size, set(times))
        times[qubit] = QubitProperties(t1=_seconds(at, record, "t1"), t2=_seconds(at, record, "t2"))
    return [times.get(qubit, QubitProperties()) for qubit in range(size)]


def _check_fields(field: str, record: Record, names: tuple[str, ...]) -> None:
    """Raise InputError for a field of another name."""
    unknown = next((name for name in record if name not in names), None)
    if unknown is not None:
        raise InputError(f"{field}/{unknown}", f"expected one of {', '.join(names)}, got an unknown field")


def _qubits(field: str, value: object, size: int) -> tuple[int, ...]:
    """Return one or two different qubits."""
    if not isinstance(value, list) or len(value) not in (1, 2):
        raise InputError(field, f"expected a list of one or two qubits, got {describe(value)}")
    qubits: list[int] = []
    for k, qubit in enumerate(value):
        qubits.append(_check_free(f"{field}/{k}", qubit, size, set(qubits)))
    return tuple(qubits)


def _check_free(field: str, value: object, size: int, taken: set[int]) -> int:
    """Return a qubit of the device that has not been named before."""
    qubit = check_whole(field, value)
    if qubit >= size:
        raise InputError(field, f"expected a qubit from 0 to {size - 1}, got {qubit}")
    if qubit in taken:
        raise InputError(field, f"expected different qubits, got {qubit} twice")
    return qubit


def _properties(field: str, record: Record) -> InstructionProperties:
    """Return error and duration of an operation."""
    error = None if record.get("error") is None else check_amount(f"{field}/error", record["error"])
    if error is not None and error > 1:
        raise InputError(f"{field}/error", f"expected a number from 0 to 1, got {error:g}")
    return InstructionProperties(duration=_seconds(field, record, "duration"), error=error)


def _seconds(field: str, record: Record, name: str) -> float | None:
    """Return a number of seconds, None where it is not stated."""
    return None if record.get(name) is None else check_amount(f"{field}/{name}", record[name])
