"""Circuits from OpenQASM 2 and 3, from QPY, and as Qiskit holds them, read without opening any other file."""

import contextlib
import io
import re
import struct
from pathlib import Path

from qiskit import qpy
from qiskit.circuit import QuantumCircuit
from qiskit.qpy import formats

from tiger.circuits.entry.decomposition import decompose
from tiger.circuits.entry.finiteness import check_finite
from tiger.circuits.entry.openqasm2 import parse_openqasm2
from tiger.circuits.entry.scan import FIELD, CircuitLimits, Scan, scan
from tiger.circuits.transpiler.panic import PANIC
from tiger.errors import InputError
from tiger.model.text import read_file
from tiger.model.wording import describe

MAGIC = b"QISKIT"
# The oldest version of QPY that is safe to read, and the first with a table of where circuits begin.
OLDEST_QPY, OFFSETS_QPY = 13, 16
_QASM2_PLACE = re.compile(r"<input>:(\d+),\d+: (.*)", re.DOTALL)
_QASM3_PLACE = re.compile(r"(\d+),\d+: (.*)", re.DOTALL)


def read_circuit(source: QuantumCircuit | Path | str | bytes, limits: CircuitLimits | None = None) -> QuantumCircuit:
    """Return the circuit that a source holds, all of its operations on one or two qubits.

    A string is OpenQASM text if it holds a semicolon, else a path, as a Path always is; bytes are QPY or text. Gates
    on three and more qubits are written out (`tiger.circuits.entry.decomposition`). A circuit without qubits or without
    operations, and one that exceeds the limits, is bad input like anything malformed: InputError of `circuit`, which
    names line or gate.
    TypeError for a source of another type.
    """
    bounds = limits or CircuitLimits()
    if isinstance(source, QuantumCircuit):
        return _check_circuit(source)
    if isinstance(source, Path) or (isinstance(source, str) and ";" not in source):
        return _of_bytes(read_file(Path(source), FIELD, bounds.max_bytes), bounds)
    if isinstance(source, str):
        return qasm_circuit(source, bounds)
    if isinstance(source, bytes):
        return _of_bytes(source, bounds)
    raise TypeError(
        f"expected circuit as a QuantumCircuit, OpenQASM text, a path or bytes, got {type(source).__name__}"
    )


def qasm_circuit(text: str, limits: CircuitLimits) -> QuantumCircuit:
    """Return the circuit of an OpenQASM 2 or 3 text; raise InputError of `circuit`."""
    text_scan = scan(text, limits)
    circuit = _parse2(text_scan) if text_scan.language == 2 else _parse3(text)
    return _check_circuit(circuit)


def _of_bytes(content: bytes, limits: CircuitLimits) -> QuantumCircuit:
    """Return the circuit of QPY or of OpenQASM text in UTF-8."""
    if content.startswith(MAGIC):
        return _check_circuit(_unpack(content, limits))
    try:
        return qasm_circuit(content.decode("utf-8-sig"), limits)
    except UnicodeDecodeError as error:
        reason = f"expected OpenQASM text in UTF-8 or QPY, got another byte at {error.start}"
        raise InputError(FIELD, reason) from None


def _parse2(text_scan: Scan) -> QuantumCircuit:
    """Return the circuit of an OpenQASM 2 text, which may include no file."""
    try:
        return parse_openqasm2(text_scan)
    except InputError:
        raise
    except BaseException as error:
        if _is_own(error):
            raise
        raise _parse_error("OpenQASM 2", _QASM2_PLACE, str(getattr(error, "message", error))) from None


def _parse3(text: str) -> QuantumCircuit:
    """Return the circuit of an OpenQASM 3 text; its parser knows no include but the standard one."""
    complaints = io.StringIO()
    try:
        with contextlib.redirect_stderr(complaints):
            from tiger.circuits.entry.openqasm3 import parse_openqasm3

            return parse_openqasm3(text)
    except ImportError:
        reason = "OpenQASM 3 needs a package that is not installed here: pip install qiskit-qasm3-import"
        raise InputError(FIELD, reason) from None
    except (InputError, MemoryError):
        raise
    except RecursionError:
        raise InputError(FIELD, "expected OpenQASM 3, got expressions or blocks nested too deeply") from None
    except Exception as error:  # noqa: BLE001 (whatever the parser stumbles over is the text's fault)
        raise _parse_error("OpenQASM 3", _QASM3_PLACE, _complaint(error, complaints.getvalue())) from None


def _is_own(error: BaseException) -> bool:
    """Return whether what a parser raised says nothing of what it read."""
    return isinstance(error, MemoryError) or not (isinstance(error, Exception) or type(error).__name__ == PANIC)


def _complaint(error: Exception, printed: str) -> str:
    """Return what the parser of OpenQASM 3 says, as LINE,COLUMN: REASON if it says where."""
    said = re.search(r"line (\d+:\d+) (.*)", printed)
    if said:
        return f"{said[1].replace(':', ',')}: {said[2]}"
    token = getattr(next(iter(getattr(error.__cause__, "args", ())), None), "offendingToken", None)
    if token is not None:
        return f"{token.line},{token.column}: unexpected {describe(token.text)}"
    return str(getattr(error, "message", error))


def _parse_error(language: str, place: re.Pattern[str], said: str) -> InputError:
    """Return the error for a text that its parser refuses."""
    found = place.fullmatch(said)
    where, reason = (f"line {found[1]}: ", found[2]) if found else ("", said or "something else")
    return InputError(FIELD, f"{where}expected {language}, got a fault: {reason.strip()[:200]}")


def _unpack(content: bytes, limits: CircuitLimits) -> QuantumCircuit:
    """Return the one circuit of a QPY payload.

    Payloads older than version 13 are refused, since reading their expressions needs other packages, which evaluate
    them. What the header states is checked before anything is built.
    """
    try:
        _check_header(content, limits)
        circuits = qpy.load(io.BytesIO(content))
    except InputError:
        raise
    except BaseException as error:
        if _is_own(error):
            raise
        raise InputError(FIELD, "expected a circuit in QPY, got a payload that cannot be read") from None
    return circuits[0]


def _check_header(content: bytes, limits: CircuitLimits) -> None:
    """Raise InputError unless a payload holds one circuit within the limits, in a version that is safe to read."""
    stream = io.BytesIO(content)
    file = formats.FILE_HEADER_V10._make(
        struct.unpack(formats.FILE_HEADER_V10_PACK, stream.read(formats.FILE_HEADER_V10_SIZE))
    )
    if file.qpy_version < OLDEST_QPY:
        wanted = f"expected QPY of version {OLDEST_QPY} or newer, which Qiskit writes since 1.3"
        raise InputError(FIELD, f"{wanted}, got {file.qpy_version}")
    if file.num_programs != 1:
        raise InputError(FIELD, f"expected one circuit, got {file.num_programs}")
    stream.read(1)
    if file.qpy_version >= OFFSETS_QPY:
        stream.seek(struct.unpack(formats.CIRCUIT_TABLE_ENTRY_PACK, stream.read(formats.CIRCUIT_TABLE_ENTRY_SIZE))[0])
    circuit = formats.CIRCUIT_HEADER_V12._make(
        struct.unpack(formats.CIRCUIT_HEADER_V12_PACK, stream.read(formats.CIRCUIT_HEADER_V12_SIZE))
    )
    for what, count, limit in (
        ("qubits", circuit.num_qubits, limits.max_qubits),
        ("classical bits", circuit.num_clbits, limits.max_gates),
        ("operations", circuit.num_instructions, limits.max_gates),
    ):
        if count > limit:
            raise InputError(FIELD, f"expected at most {limit} {what}, got {count}")


def _check_circuit(circuit: QuantumCircuit) -> QuantumCircuit:
    """Return a circuit that has qubits and operations, with those on three qubits written out."""
    if not circuit.num_qubits:
        raise InputError(FIELD, "expected a circuit with at least one qubit, got none")
    if not circuit.data:
        raise InputError(FIELD, "expected a circuit with at least one operation, got none")
    check_finite(circuit)
    return decompose(circuit)
