"""Circuits from text, bytes, files and objects."""

import io
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from qiskit import QuantumCircuit, qpy
from qiskit.qasm2 import QASM2ParseError
from qiskit.quantum_info import Operator

from tiger.circuits.entry.openqasm2 import parse_openqasm2
from tiger.circuits.entry.reading import read_circuit
from tiger.circuits.entry.scan import CircuitLimits, Scan
from tiger.errors import InputError

TWO, THREE = 'OPENQASM 2.0;\ninclude "qelib1.inc";\n', 'OPENQASM 3.0;\ninclude "stdgates.inc";\n'
EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "circuits"
SECRET = "swordfish-4711"
UNDEFINED = "expected a definition on one and two qubits of every gate on three or more, got"


def refusal(source: object, **limits: int) -> str:
    """Return why a source is refused."""
    with pytest.raises(InputError) as caught:
        read_circuit(source, CircuitLimits(**limits))
    assert caught.value.field == "circuit"
    return caught.value.reason


def pack(circuit: QuantumCircuit, version: int = 17) -> bytes:
    """Return a circuit as QPY."""
    stream = io.BytesIO()
    qpy.dump(circuit, stream, version=version)
    return stream.getvalue()


@pytest.fixture
def bell() -> QuantumCircuit:
    """Return two qubits, entangled, the second one measured and turned."""
    circuit = QuantumCircuit(2, 1)
    circuit.h(0)
    circuit.cx(0, 1)
    circuit.measure(1, 0)
    with circuit.if_test((0, 1)):
        circuit.cx(1, 0)
    return circuit


@pytest.fixture(params=["cwd", "absolute"])
def secret(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Return the name of a file, relative or not, whose content must not come out."""
    (tmp_path / "secret.inc").write_text(f"{SECRET};\n")
    before = Path.cwd()
    os.chdir(tmp_path)
    yield "secret.inc" if request.param == "cwd" else str(tmp_path / "secret.inc")
    os.chdir(before)


def test_a_text_is_a_circuit() -> None:
    """Qubits, gates on registers and conditions are those of the text."""
    circuit = read_circuit(TWO + "qreg q[3]; creg c[3]; h q; cx q[0],q[1]; measure q -> c; if(c==3) x q[0];")
    assert (circuit.num_qubits, dict(circuit.count_ops())) == (3, {"h": 3, "measure": 3, "cx": 1, "if_else": 1})


@pytest.mark.parametrize("name", ["qft5.qasm", "adder10.qasm"])
def test_a_path_is_a_file(name: str) -> None:
    """As a Path or as a string."""
    path = EXAMPLES / name
    assert read_circuit(path) == read_circuit(str(path)) == read_circuit(path.read_bytes())


def test_a_circuit_is_itself(bell: QuantumCircuit) -> None:
    """It is not copied."""
    assert read_circuit(bell) is bell


@pytest.mark.parametrize("version", [13, 16, 17])
def test_qpy_is_read(bell: QuantumCircuit, tmp_path: Path, version: int) -> None:
    """From bytes and from files of any name."""
    (tmp_path / "circuit").write_bytes(pack(bell, version))
    assert read_circuit(pack(bell, version)) == read_circuit(tmp_path / "circuit") == bell


def test_openqasm_3_is_read() -> None:
    """Control flow keeps its blocks."""
    pytest.importorskip("qiskit_qasm3_import")
    circuit = read_circuit(EXAMPLES / "branch4.qasm")
    assert dict(circuit.count_ops()) == {"h": 2, "cx": 2, "measure": 4, "if_else": 1}
    assert [block.count_ops()["cx"] for block in circuit.data[4].operation.blocks] == [1, 1]


def test_openqasm_3_says_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its parser is a package of its own."""
    monkeypatch.setitem(sys.modules, "qiskit_qasm3_import", None)
    monkeypatch.delitem(sys.modules, "tiger.circuits.entry.openqasm3", raising=False)
    assert refusal(THREE + "qubit q; x q;").endswith("pip install qiskit-qasm3-import")


def test_gates_of_the_text_on_three_qubits_are_written_out() -> None:
    """The circuit stays the same, in control flow and inside other gates too."""
    body = "gate f a,b,c { cx a,b; rz(pi/3) b; cx b,c; } gate g(t) a,b,c { f c,b,a; p(t) a; }"
    circuit = read_circuit(TWO + body + "qreg q[3]; creg c[1]; g(0.5) q[0],q[2],q[1]; if(c==1) f q[1],q[0],q[2];")
    direct = QuantumCircuit(3)
    direct.cx(1, 2)
    direct.rz(1.0471975511965976, 2)
    direct.cx(2, 0)
    direct.p(0.5, 0)
    assert dict(circuit.count_ops()) == {"cx": 2, "rz": 1, "p": 1, "if_else": 1}
    del circuit.data[4]
    assert Operator(circuit.remove_final_measurements(inplace=False)) == Operator(direct)


def test_gates_of_the_text_on_two_qubits_stay() -> None:
    """They meet once, whatever is inside."""
    circuit = read_circuit(TWO + "gate f a,b { cx a,b; cx b,a; } gate g a,b,c { f a,c; } qreg q[3]; g q[0],q[1],q[2];")
    assert dict(circuit.count_ops()) == {"f": 1}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (TWO + "opaque f a,b,c; qreg q[3]; f q[0],q[1],q[2];", f"{UNDEFINED} 'f' without one"),
        (
            TWO + "opaque f a,b,c; gate g a,b,c { f a,b,c; } qreg q[3]; creg c[1]; if(c==1) g q[0],q[1],q[2];",
            f"{UNDEFINED} 'f' without one",
        ),
        (TWO + "qreg q[3];\n\nfoo q[0];", "line 5: expected OpenQASM 2, got a fault: 'foo' is not defined"),
        (TWO + "qreg q[3];\nh q[0]", "line 4: expected OpenQASM 2, got a fault: unexpected end-of-file"),
        (TWO + "qreg q[2]; cx q[0],q[0];", "line 3: expected OpenQASM 2, got a fault: duplicate qubits"),
        (TWO + "qreg q[3];", "expected a circuit with at least one operation, got none"),
        (TWO + "creg c[3];", "expected a circuit with at least one qubit, got none"),
        ("OPENQASM 2.0; CX q[0],q[1];", "line 1: expected OpenQASM 2, got a fault: 'q' is not defined"),
        (TWO + "qreg q[100000000];", "line 3: expected at most 4096 qubits"),
        ("garbage;", "expected text that begins with OPENQASM"),
        ("/no/such/file.qasm", "cannot read '/no/such/file.qasm': No such file"),
        (Path(), "cannot read '.': Is a directory"),
        ("\0", "cannot read '\\x00': embedded null"),
        (b"\xff\xfe", "expected OpenQASM text in UTF-8 or QPY"),
        (b"QISKIT", "expected a circuit in QPY, got a payload that cannot be read"),
        (b"QISKIT\x0c" + b"\0" * 99, "expected QPY of version 13 or newer"),
        (b"QISKIT\x0d" + b"\0" * 99, "expected one circuit, got 0"),
    ],
)
def test_bad_input_is_named(text: str, reason: str) -> None:
    """Line or gate, and what is expected instead."""
    assert refusal(text).startswith(reason)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("qubit[3] q;\nfoo q[0];", "line 4: expected OpenQASM 3, got a fault: gate 'foo' is not defined."),
        ("qubit[3] q;\nh q[;", "line 4: expected OpenQASM 3, got a fault"),
        ("qubit[3] q;\nh q[0] q[1];", "line 4: expected OpenQASM 3, got a fault: unexpected 'q'"),
        ("qubit[3] q; h q[7];", "expected OpenQASM 3, got a fault: index out of range"),
    ],
)
def test_bad_openqasm_3_is_named(text: str, reason: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The parser prints nothing besides."""
    pytest.importorskip("qiskit_qasm3_import")
    assert refusal(THREE + text).startswith(reason)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("language", ["2.0", "3.0"])
def test_nothing_of_an_included_file_comes_out(language: str, secret: str, capfd: pytest.CaptureFixture[str]) -> None:
    """Neither in the error nor on a stream."""
    reason = refusal(f'OPENQASM {language};\ninclude "{secret}";\n')
    assert reason.startswith("line 2: expected no include but")
    assert SECRET not in f"{reason}{capfd.readouterr()}"


def test_the_parser_itself_finds_no_file(secret: str) -> None:
    """Were an include to slip through, it would still not be opened."""
    text = f'OPENQASM 2.0;\ninclude "{secret}";\nqreg q[1];'
    with pytest.raises(QASM2ParseError, match="unable to find"):
        parse_openqasm2(Scan(2, {}, text))


def test_a_parser_that_panics_is_bad_input(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled parsers end with an error that is no Exception; others of that kind go on."""
    panic = type("PanicException", (BaseException,), {})
    for error in (panic("unwrap"), KeyboardInterrupt()):

        def failing(*_: object, error: BaseException = error, **__: object) -> None:
            raise error

        monkeypatch.setattr("qiskit.qasm2.loads", failing)
        monkeypatch.setattr("qiskit.qpy.load", failing)
        expected = InputError if isinstance(error, panic) else KeyboardInterrupt
        for source in (TWO + "qreg q[1]; x q[0];", pack(QuantumCircuit(1))):
            with pytest.raises(expected):
                read_circuit(source)


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        ({"max_qubits": 1}, "expected at most 1 qubits, got 2"),
        ({"max_gates": 3}, "expected at most 3 operations, got 4"),
        ({"max_gates": 0}, "expected at most 0 classical bits, got 1"),
    ],
)
def test_a_payload_is_bounded_by_its_header(bell: QuantumCircuit, limits: dict[str, int], reason: str) -> None:
    """Nothing is built before."""
    assert refusal(pack(bell), **limits) == reason


def test_a_payload_of_two_circuits_is_refused() -> None:
    """One of them would be left out."""
    stream = io.BytesIO()
    qpy.dump([QuantumCircuit(1), QuantumCircuit(1)], stream)
    assert refusal(stream.getvalue()) == "expected one circuit, got 2"


def test_a_damaged_payload_is_refused(bell: QuantumCircuit) -> None:
    """In one sentence, without the parser's own."""
    assert refusal(pack(bell)[:-20]) == "expected a circuit in QPY, got a payload that cannot be read"


def test_a_large_file_is_not_read(tmp_path: Path) -> None:
    """One byte beyond the limit is enough to tell."""
    (tmp_path / "c.qasm").write_text(TWO)
    assert refusal(tmp_path / "c.qasm", max_bytes=10).startswith("expected at most 10 bytes, got more in")


STATEMENTS = (
    "h q;", "f q[0],q[1],q[2];", "d q;", "cx q[0],r[0];", "measure q -> k;", "if(k==1) d q;", "barrier q,r;",
    "reset r;",
)  # fmt: skip
NOISE = ("", "", "/*", "*/", "//", "\n", "\r", "// \r", "/* \n", "'", '"', "{", "}", ";", "\u2028")


def list_operations(circuit: QuantumCircuit) -> int:
    """Return the operations of a circuit, its own gates written out."""
    count = 0
    for each in circuit.data:
        blocks = each.operation.blocks if each.is_control_flow() else []
        inside = each.operation.definition if each.name in ("d", "f") else None
        count += sum(map(list_operations, [*blocks, inside] if inside else blocks)) if blocks or inside else 1
    return count


@given(
    sizes=st.tuples(st.sampled_from([3, 9, 13]), st.sampled_from([1, 3])),
    parts=st.lists(st.tuples(st.sampled_from(STATEMENTS), st.sampled_from(NOISE)), min_size=1, max_size=12),
)
def test_what_is_accepted_is_within_the_limits(sizes: tuple[int, int], parts: list[tuple[str, str]]) -> None:
    """Whatever comments and strings there are, as a text that hides its size would have to be misread before."""
    gates = "gate d x { h x; h x; } gate f x,y,z { d x; cx x,y; d z; d y; }"
    registers = f"qreg q[{sizes[0]}]; qreg r[{sizes[1]}]; creg k[3];"
    text = TWO + gates + registers + "".join(noise + statement for statement, noise in parts)
    with suppress(InputError):
        circuit = read_circuit(text, CircuitLimits(max_qubits=12, max_gates=60))
        assert (circuit.num_qubits <= 12, list_operations(circuit) <= 60) == (True, True)


def test_other_types_are_refused() -> None:
    """A number is no circuit."""
    with pytest.raises(
        TypeError, match="expected circuit as a QuantumCircuit, OpenQASM text, a path or bytes, got int"
    ):
        read_circuit(5)


def test_a_circuit_without_wide_gates_is_not_written_again() -> None:
    """Barriers are no gates, and blocks on three qubits may hold none."""
    circuit = QuantumCircuit(3, 1)
    circuit.barrier()
    with circuit.if_test((0, 1)):
        circuit.cx(0, 2)
    assert read_circuit(circuit) is circuit


@pytest.mark.parametrize(("name", "text"), [("openqasm2.qasm2.loads", TWO), ("openqasm3.parse", THREE)])
def test_bug_a_full_memory_is_no_fault_of_the_text(monkeypatch: pytest.MonkeyPatch, name: str, text: str) -> None:
    """Whoever bounds the memory has to hear of it."""

    def full(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr(f"tiger.circuits.entry.{name}", full)
    with pytest.raises(MemoryError):
        read_circuit(f"{text} qreg q[1]; h q;")
