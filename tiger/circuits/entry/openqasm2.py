"""Circuits from OpenQASM 2, in which a gate that a text defines is what the text says, whatever its name."""

import re
from collections.abc import Sequence

from qiskit import qasm2
from qiskit.circuit import CircuitInstruction, QuantumCircuit
from qiskit.exceptions import QiskitError
from qiskit.qasm2 import CustomInstruction
from qiskit.quantum_info import Operator

from tiger.circuits.entry.scan import FIELD, Scan
from tiger.errors import InputError
from tiger.model.wording import describe

LIBRARY = {gate.name: gate for gate in qasm2.LEGACY_CUSTOM_INSTRUCTIONS}
DELAY = CustomInstruction("delay", 1, 1, LIBRARY["delay"].constructor, builtin=True)
# Definitions of more operations are not compared: the library's have at most 60, and comparing 200 takes 0.1 s.
COMPARED = 200
# Angles like no others: what agrees at both samples agrees at all angles.
SAMPLES = ((0.3, -1.1, 2.3, 0.7), (-5.9, 0.45, 1.3, -2.9))
_DEFINED = re.compile(r"\b(gate|opaque)\s+(\w+)\s*(?:\(([^(){};]*)\))?([^(){};]*)[;{]")


def parse_openqasm2(scan: Scan) -> QuantumCircuit:
    """Return the circuit of an OpenQASM 2 text as it was scanned, which may include no file.

    The library is qelib1.inc with Qiskit's additions. A gate of a library name that the text defines is the library's
    where both have the same unitary up to a global phase, else the text's own. `opaque` with a library name, after
    which Qiskit's parser takes gates for others, is InputError of `circuit`, except for the delay in `dt` that Qiskit
    writes so. What the parser refuses is its own QASM2ParseError.
    """
    text, own = scan.plain, [each for each in _DEFINED.finditer(scan.plain) if each[2] in LIBRARY]
    library = dict(LIBRARY)
    for each in own:
        if each[1] == "opaque":
            text = _without_opaque_delay(text, each)
            library["delay"] = DELAY
    defined = [each for each in own if each[1] == "gate"]
    for name in {each[2] for each in defined} - _gates_like_library(scan, defined):
        del library[name]
    return qasm2.loads(text, include_path=(), custom_instructions=library.values())


def _without_opaque_delay(text: str, declared: re.Match[str]) -> str:
    """Return the text with blanks for the declaration of a delay; raise InputError for that of another gate."""
    if declared[2] != "delay" or _arity(declared) != (1, 1):
        line = text.count("\n", 0, declared.start()) + 1
        reason = f"expected an opaque gate of another name than the library's {describe(declared[2])}"
        raise InputError(FIELD, f"line {line}: {reason}")
    return text[: declared.start()] + re.sub(r"\S", " ", declared[0]) + text[declared.end() :]


def _arity(declared: re.Match[str]) -> tuple[int, int]:
    """Return the numbers of parameters and of qubits of a gate."""
    return len((declared[3] or "").replace(",", " ").split()), len(declared[4].replace(",", " ").split())


def _gates_like_library(scan: Scan, defined: Sequence[re.Match[str]]) -> set[str]:
    """Return the names of gates that are defined as the library's are."""
    alike = [each[2] for each in defined if _is_comparable(scan, each)]
    if not alike:
        return set()
    try:
        calls = _sample_calls(scan.plain, defined, alike)
    except (QiskitError, ValueError):
        # The parser will say what it does not like about the text.
        return set()
    samples = [(name, sample) for name in alike for sample in SAMPLES]
    other = {name for (name, sample), call in zip(samples, calls, strict=True) if not _is_library(call, sample)}
    return set(alike) - other


def _is_comparable(scan: Scan, declared: re.Match[str]) -> bool:
    """Return whether a definition has the library gate's arity and is short."""
    gate = LIBRARY[declared[2]]
    short = scan.gates.get(gate.name, COMPARED + 1) <= COMPARED
    return short and _arity(declared) == (gate.num_params, gate.num_qubits)


def _sample_calls(text: str, defined: Sequence[re.Match[str]], names: Sequence[str]) -> list[CircuitInstruction]:
    """Return a call at each sample of every gate, as defined by the text."""
    register = "probe"
    while register in text:
        register += "_"
    calls = ""
    for gate in map(LIBRARY.__getitem__, names):
        qubits = ",".join(f"{register}[{k}]" for k in range(gate.num_qubits))
        for sample in SAMPLES:
            angles = ",".join(map(str, sample[: gate.num_params]))
            calls += f"{gate.name}{f'({angles})' if angles else ''} {qubits};"
    head = text[: text.index("}", defined[-1].end()) + 1]
    rest = [gate for gate in LIBRARY.values() if all(gate.name != each[2] for each in defined)]
    width = max(LIBRARY[name].num_qubits for name in names)
    circuit = qasm2.loads(f"{head}qreg {register}[{width}];{calls}", include_path=(), custom_instructions=rest)
    return list(circuit.data[-len(names) * len(SAMPLES) :])


def _is_library(call: CircuitInstruction, sample: Sequence[float]) -> bool:
    """Return whether a gate as defined by a text has the unitary of the library's gate at the same angles."""
    gate = LIBRARY[call.name]
    try:
        library = gate.constructor(*sample[: gate.num_params])
        return bool(Operator(call.operation).equiv(Operator(library)))
    except (QiskitError, ValueError, ArithmeticError):
        return False
