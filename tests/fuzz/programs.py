"""Random OpenQASM programs with what they mean, worked out from the matrices of a few gates without any parser."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

Matrix = NDArray[np.complex128]
Draw = st.DrawFn

# Names that Qiskit gives a meaning beyond the two libraries, of gates on one and two qubits, and names of no meaning.
TAKEN = {1: ["u0", "u", "p", "sx", "sxdg", "delay", "r"], 2: ["swap", "crx", "cp", "csx", "cu", "rxx", "rzz", "iswap"]}
LIBRARY = {1: ["x", "h", "rz", "id", "u3", "u1"], 2: ["cx", "cz", "crz", "ch", "cu1"]}
IN_STDGATES = {"p", "sx", "swap", "crx", "cp", "cu", "u3", "u1", "id", "ch"}
FREE = {1: ["mine", "turn", "g1", "a_b"], 2: ["ours", "pair", "g2", "magic_"]}


def rotation(axis: str) -> Callable[..., Matrix]:
    """Return the rotation about an axis."""
    pauli = {"x": [[0, 1], [1, 0]], "y": [[0, -1j], [1j, 0]], "z": [[1, 0], [0, -1]]}[axis]
    return lambda t: np.cos(t / 2) * np.eye(2) - 1j * np.sin(t / 2) * np.array(pauli)


def general(theta: float, phi: float, lam: float) -> Matrix:
    """Return U of OpenQASM 2, up to a global phase."""
    return rotation("z")(phi) @ rotation("y")(theta) @ rotation("z")(lam)


def phase(t: float) -> Matrix:
    """Return the phase gate."""
    return np.diag([1, np.exp(1j * t)])


def control(matrix: Matrix) -> Matrix:
    """Return a gate on the second qubit, controlled by the first, which is the fastest index."""
    wide = np.eye(4, dtype=complex)
    wide[np.ix_([1, 3], [1, 3])] = matrix
    return wide


X, Z = np.array([[0, 1], [1, 0]], complex), np.diag([1, -1]).astype(complex)
H = (X + Z) / np.sqrt(2)


@dataclass(frozen=True)
class Known:
    """Hold a gate: its name, its qubits, its number of angles, and its matrix for some."""

    name: str
    qubits: int
    angles: int
    matrix: Callable[..., Matrix]


BARE = [Known("U", 1, 3, general), Known("CX", 2, 0, lambda: control(X))]
BOTH = [
    Known("x", 1, 0, lambda: X),
    Known("h", 1, 0, lambda: H),
    Known("s", 1, 0, lambda: phase(np.pi / 2)),
    Known("tdg", 1, 0, lambda: phase(-np.pi / 4)),
    Known("rx", 1, 1, rotation("x")),
    Known("ry", 1, 1, rotation("y")),
    Known("rz", 1, 1, rotation("z")),
    Known("cx", 2, 0, lambda: control(X)),
    Known("cz", 2, 0, lambda: control(Z)),
    Known("crz", 2, 1, lambda t: control(rotation("z")(t))),
]
ONLY_3 = [Known("p", 1, 1, phase), Known("cp", 2, 1, lambda t: control(phase(t)))]


@dataclass(frozen=True)
class Program:
    """Hold a text, its unitary up to a global phase, the operations it does, and whether it may be refused."""

    text: str
    unitary: Matrix
    operations: int
    refusable: bool


def apply(matrix: Matrix, places: Sequence[int], width: int) -> Matrix:
    """Return a gate on some of the qubits of a register, the first of which is the fastest index."""
    tensor = np.eye(2**width, dtype=complex).reshape([2] * (2 * width))
    gate = np.asarray(matrix, complex).reshape([2] * (2 * len(places)))
    axes = [width - 1 - place for place in reversed(places)]
    tensor = np.tensordot(gate, tensor, axes=(list(range(len(places), 2 * len(places))), axes))
    return np.moveaxis(tensor, list(range(len(places))), axes).reshape(2**width, 2**width)


@st.composite
def programs(draw: Draw, language: int) -> Program:
    """Draw a program on 1 to 3 qubits, with gates of its own under names that may be taken."""
    bare = draw(st.booleans())
    known = BARE[: 2 if language == 2 else 1] if bare else BOTH + (ONLY_3 if language == 3 else [])
    include = "" if bare else f'include "{"stdgates" if language == 3 else "qelib1"}.inc";\n'
    lines, refusable = [f"OPENQASM {language}.0;\n{include}"], False
    for _ in range(draw(st.integers(0, 4))):
        if language == 2 and draw(st.integers(0, 4)) == 0:
            name = draw(st.sampled_from([*TAKEN[1], "magic"]))
            if all(gate.name != name for gate in known):
                lines.append(f"opaque {name} a;")
                refusable |= name != "magic"
                known = [*known, Known(name, 1, -1, lambda: X)]
        else:
            taken = {gate.name for gate in known} | ({"delay"} if language == 3 else set())
            taken |= IN_STDGATES if language == 3 and not bare else set()
            known = [*known, _own(draw, known, lines, taken)]
    width = draw(st.integers(1, 3))
    lines.append(f"qreg q[{width}];" if language == 2 else f"qubit[{width}] q;")
    unitary, operations = np.eye(2**width, dtype=complex), 0
    for _ in range(draw(st.integers(1, 6))):
        gates = [gate for gate in known if gate.qubits <= width and gate.angles >= 0]
        line, matrix, spots = _call(draw, draw(st.sampled_from(gates)), width, language)
        lines.append(line)
        for places in spots:
            unitary, operations = apply(matrix, places, width) @ unitary, operations + 1
    return Program("\n".join(lines), unitary, operations, refusable)


def _own(draw: Draw, known: Sequence[Known], lines: list[str], taken: set[str]) -> Known:
    """Draw the definition of a gate, and write it."""
    qubits = draw(st.integers(1, 2))
    pool = [*FREE[qubits], *TAKEN[qubits], *(LIBRARY[qubits] if "x" not in taken else [])]
    name = draw(st.sampled_from([name for name in pool if name not in taken]))
    names = draw(st.permutations(["b", "a", "z9", "theta"]))[: draw(st.integers(0, 3))]
    wires = ["q1", "q0"][:qubits]
    callable_ = [gate for gate in known if gate.qubits <= qubits and gate.angles >= 0]
    body = list[tuple[Known, list[tuple[float, int]], list[int]]]()
    text = ""
    for _ in range(draw(st.integers(0, 3))):
        gate = draw(st.sampled_from(callable_))
        terms = [(draw(ANGLES), draw(st.integers(-1, len(names) - 1))) for _ in range(gate.angles)]
        places = draw(st.permutations(range(qubits)))[: gate.qubits]
        body.append((gate, terms, list(places)))
        angles = [f"{value}" if k < 0 else f"{value}+{names[k]}" for value, k in terms]
        text += f" {gate.name}{_list(angles)} {','.join(wires[k] for k in places)};"
    lines.append(f"gate {name}{_list(names)} {','.join(wires)} {{{text} }}")

    def matrix(*values: float) -> Matrix:
        whole = np.eye(2**qubits, dtype=complex)
        for gate, terms, places in body:
            angles = [value if k < 0 else value + values[k] for value, k in terms]
            whole = apply(gate.matrix(*angles), places, qubits) @ whole
        return whole

    return Known(name, qubits, len(names), matrix)


def _list(values: Sequence[object]) -> str:
    """Return values in parentheses, nothing for none."""
    return f"({','.join(map(str, values))})" if values else ""


ANGLES = st.sampled_from([0.25, -1.5, 2.0, 3.0, 0.0])


def _call(draw: Draw, gate: Known, width: int, language: int) -> tuple[str, Matrix, list[list[int]]]:
    """Draw a call: its line, its matrix, and the qubits of every gate it makes."""
    values = [draw(ANGLES) for _ in range(gate.angles)]
    matrix, modifier, count = gate.matrix(*values), "", gate.qubits
    if language == 3 and gate.name != "U":
        modifier = draw(st.sampled_from(["", "", "inv @ ", "pow(2) @ "]))
        matrix = {"": matrix, "inv @ ": matrix.conj().T, "pow(2) @ ": matrix @ matrix}[modifier]
    places = list(draw(st.permutations(range(width)))[:count])
    spots, operands = [places], ",".join(f"q[{k}]" for k in places)
    if count == 1 and draw(st.integers(0, 2)) == 0:
        spots, operands = _register(draw, width, language)
    head = f"{modifier}{gate.name}{_list(values)}"
    return f"{head} {operands};", matrix, spots


def _register(draw: Draw, width: int, language: int) -> tuple[list[list[int]], str]:
    """Draw a register, or in OpenQASM 3 a range or a set of it."""
    first, last = sorted(draw(st.integers(0, width - 1)) for _ in range(2))
    inside = list(range(first, last + 1))
    kinds = {
        "q": list(range(width)),
        f"q[{first}:{last}]": inside,
        f"q[{last}:-1:{first}]": inside[::-1],
        f"q[{first - width}:{last - width}]": inside,
        f"q[{{{first}}}]": [first],
        f"q[{first}:]": list(range(first, width)),
    }
    kind = draw(st.sampled_from(list(kinds))) if language == 3 else "q"
    return [[place] for place in kinds[kind]], kind
