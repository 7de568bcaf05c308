"""Circuits as OpenQASM text and devices as documents, as a service takes them; Qiskit is only loaded where it must."""

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tiger.circuits.entry.scan import CircuitLimits
from tiger.circuits.entry.spec import is_spec
from tiger.errors import InputError
from tiger.model.jsontext import read_json
from tiger.model.text import read_file, read_text
from tiger.model.values import check_whole
from tiger.model.wording import describe

if TYPE_CHECKING:
    from qiskit.circuit import QuantumCircuit
    from qiskit.transpiler import CouplingMap, Target

CIRCUIT, DEVICE, LAYOUT = "circuit", "topology", "initial_layout"
QPY = b"QISKIT"


def circuit_text(source: "QuantumCircuit | Path | str | bytes") -> str:
    """Return a circuit as OpenQASM: text as it is, QPY and a QuantumCircuit written out.

    Raises InputError of `circuit` for a file that cannot be read or a circuit that OpenQASM cannot state, TypeError for
    another type; the service checks what a text states.
    """
    if isinstance(source, str) and ";" in source:
        return source
    content = read_file(Path(source), CIRCUIT, CircuitLimits().max_bytes) if isinstance(source, str | Path) else source
    if isinstance(content, bytes) and not content.startswith(QPY):
        return _decode(content)
    from tiger.circuits.entry.reading import read_circuit
    from tiger.circuits.entry.writing import qasm_of

    text = qasm_of(read_circuit(content))
    if text is None:
        raise InputError(CIRCUIT, "expected a circuit that OpenQASM can say, as a service takes nothing else")
    return text


def device_document(source: "CouplingMap | Target | Path | str | Iterable[Sequence[int]] | object") -> object:
    """Return a device as a SPEC, as the JSON of a file, or as a document of its pairs of qubits or of its Target.

    Raises InputError of `topology` and TypeError as the local entry does.
    """
    if isinstance(source, str) and is_spec(source):
        return source
    if isinstance(source, str | Path) and str(source).strip():
        text = read_text(Path(source), DEVICE)
        if text.lstrip()[0] in "[{":
            return read_json(text, DEVICE)
    from qiskit.transpiler import Target

    from tiger.circuits.entry.hardware import read_device

    device = read_device(source)
    if isinstance(device, Target):
        return _target_document(device)
    return {"coupling_map": [list(pair) for pair in device.get_edges()], "num_qubits": device.size()}


def layout_list(given: object) -> list[int] | None:
    """Return the device qubit of every circuit qubit in order; raise InputError of `initial_layout` or TypeError."""
    if given is None:
        return None
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise TypeError(f"expected {LAYOUT} as a sequence or a mapping of device qubits, got {type(given).__name__}")
    keyed = {str(virtual): spot for virtual, spot in given.items()} if isinstance(given, Mapping) else None
    if keyed is None:
        return [check_whole(f"{LAYOUT}/{k}", spot) for k, spot in enumerate(given)]
    unknown = next((name for name in map(str, range(len(keyed))) if name not in keyed), None)
    if unknown is not None:
        raise InputError(f"{LAYOUT}/{unknown}", "expected a device qubit for each circuit qubit from 0, got none")
    return [check_whole(f"{LAYOUT}/{k}", keyed[str(k)]) for k in range(len(keyed))]


def _decode(content: bytes) -> str:
    """Return text in UTF-8."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        reason = f"expected OpenQASM text in UTF-8 or QPY, got another byte at {error.start}"
        raise InputError(CIRCUIT, reason) from None


def _target_document(target: "Target") -> dict[str, object]:
    """Return the gates of a Target on one and two qubits, its readout and its relaxation times."""
    from qiskit.circuit import Gate, Measure

    gates: list[dict[str, object]] = []
    measure: list[dict[str, object]] = []
    for operation, places in target.instructions:
        known = {} if places is None else _known_figures(target[operation.name][places], ("error", "duration"))
        if isinstance(operation, Measure) and places is not None:
            measure.append({"qubit": places[0], **known})
        elif isinstance(operation, Gate) and operation.num_qubits == 2 and places is None:
            raise InputError(DEVICE, f"expected gates that say their qubits, got {describe(operation.name)} on all")
        elif isinstance(operation, Gate) and places is not None and len(places) <= 2:
            gates.append({"name": operation.name, "qubits": list(places), **known})
    times = [{"qubit": k, **_known_figures(each, ("t1", "t2"))} for k, each in enumerate(target.qubit_properties or ())]
    parts = {"measure": measure, "qubits": times}
    return {"num_qubits": target.num_qubits, "gates": gates, **{name: part for name, part in parts.items() if part}}


def _known_figures(properties: object, names: Sequence[str]) -> dict[str, object]:
    """Return the figures of an operation or a qubit that are known."""
    figures = ((name, getattr(properties, name, None)) for name in names)
    return {name: float(value) for name, value in figures if value is not None and math.isfinite(value)}
