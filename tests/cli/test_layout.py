"""Tests of `tiger layout`: what it prints, its exit status, and what bad input gets."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from qiskit import ClassicalRegister, QuantumCircuit, QuantumRegister, qpy

from tests.circuits.brief import shorten_levels
from tiger.circuits.entry.reading import read_circuit
from tiger.cli.app import run

Run = Callable[..., tuple[int, str, str]]

HEAD = 'OPENQASM 2.0;\ninclude "qelib1.inc";\n'
TRIANGLE = HEAD + "qreg q[3]; cx q[0],q[1]; cx q[1],q[2]; cx q[0],q[2];"
SECRET = "swordfish-4711"


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs `tiger layout`, in haste and in a folder of its own, and returns what comes out."""
    monkeypatch.chdir(tmp_path)
    shorten_levels(monkeypatch, 1000)
    (tmp_path / "t.qasm").write_text(TRIANGLE)
    (tmp_path / "line.txt").write_text("0 1\n1 2\n2 3\n")
    (tmp_path / "secret.inc").write_text(f"{SECRET};\n")

    def call(*arguments: str) -> tuple[int, str, str]:
        status = run(("layout", *arguments))
        return status, *capsys.readouterr()

    return call


def is_refused(outcome: tuple[int, str, str], field: str) -> bool:
    """Return whether an outcome is one line that names the field, exit status 2 and nothing else."""
    status, out, err = outcome
    return (status, out, err.count("\n")) == (2, "", 1) and err.startswith(f"tiger: error: {field}: ")


@pytest.mark.slow
def test_the_summary_says_what_routing_added(cli: Run) -> None:
    """A triangle does not fit a line: one SWAP or BRIDGE, as Qiskit finds."""
    status, out, err = cli("t.qasm", "--coupling", "line.txt", "--level", "2")
    assert (status, err) == (0, "")
    assert out.startswith("solved: 3 extra CX, as with Qiskit's own layout and routing\n")
    assert all(
        line in out for line in ("extra CX             3\n", "data movement  extra CX\n", "starts on  ends on\n")
    )


def test_json_on_standard_output_is_all_there_is(cli: Run) -> None:
    """`--json -` prints the report and nothing else, in the schema that is documented."""
    status, out, err = cli("t.qasm", "--coupling", "grid:2x2", "--json", "-", "--seed", "3", "--threads", "2")
    report = json.loads(out, parse_constant=pytest.fail)
    assert (status, err, report["schema"], report["seed"]) == (0, "", "tiger.circuit/1", 3)
    assert set(report["initial_layout"]) == {"0", "1", "2"}


def test_the_circuit_goes_to_a_file(cli: Run, tmp_path: Path) -> None:
    """As the report has it, and the summary is printed as ever."""
    status, out, _ = cli("t.qasm", "--coupling", "line.txt", "-o", "out.qasm", "--json", "out.json", "--effort", "1")
    routed = read_circuit(tmp_path / "out.qasm")
    report = json.loads((tmp_path / "out.json").read_text())
    assert (status, out[:7], routed.num_qubits) == (0, "solved:", 4)
    assert routed == read_circuit(report["qasm"])


def test_options_reach_the_search(cli: Run) -> None:
    """Level, objective and layout are those asked for."""
    options = ["--level", "1", "--objective", "depth", "--initial-layout", "3, 1,0", "--time-limit", "5"]
    report = json.loads(cli("t.qasm", "--coupling", "line.txt", "--json", "-", *options)[1])
    assert (report["level"], report["objective"]) == (1, "depth")
    assert report["initial_layout"] == {"0": 3, "1": 1, "2": 0}


def test_qpy_is_read(cli: Run, tmp_path: Path) -> None:
    """Whatever the file is called."""
    circuit = QuantumCircuit(2)
    circuit.cx(0, 1)
    with (tmp_path / "c.bin").open("wb") as file:
        qpy.dump(circuit, file)
    assert cli("c.bin", "--coupling", "line.txt")[0] == 0


@pytest.mark.parametrize(("device", "kind"), [("ring:2", "qubits"), ("parts.txt", "disconnected")])
def test_what_does_not_fit_is_a_result(cli: Run, tmp_path: Path, device: str, kind: str) -> None:
    """Exit status 1, a reason, and no circuit."""
    (tmp_path / "parts.txt").write_text("0 1\n2 3\n")
    status, out, err = cli("t.qasm", "--coupling", device, "-o", "out.qasm")
    assert (status, err) == (1, "")
    assert out.startswith(f"infeasible: no layout meets\n  {kind}: ")
    assert not (tmp_path / "out.qasm").exists()


@pytest.mark.parametrize(
    ("text", "field"),
    [
        (HEAD + "opaque three a,b,c; qreg q[3]; three q[0],q[1],q[2];", "circuit"),
        (HEAD + "qreg q[3]; zap q[0];", "circuit"),
        (HEAD + "qreg q[100000000]; h q;", "circuit"),
        (HEAD + "qreg q[3];", "circuit"),
        (HEAD + "qreg q[3]; h q[", "circuit"),
        (HEAD + "creg c[3];", "circuit"),
        ('OPENQASM 2.0; include "secret.inc"; qreg q[1]; x q[0];', "circuit"),
        ('OPENQASM 3.0; include "secret.inc"; qubit q; x q;', "circuit"),
        ("", "circuit"),
        ("plain text", "circuit"),
    ],
)
def test_bad_circuits_are_named(cli: Run, tmp_path: Path, text: str, field: str) -> None:
    """One line, nothing of any file in it, and nothing written."""
    (tmp_path / "bad.qasm").write_text(text)
    outcome = cli("bad.qasm", "--coupling", "line.txt", "-o", "out.qasm", "--json", "out.json")
    assert is_refused(outcome, field)
    assert SECRET not in outcome[2]
    assert not {tmp_path / "out.qasm", tmp_path / "out.json"} & set(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("options", "field"),
    [
        (["--coupling", "missing.txt"], "coupling"),
        (["--coupling", "moebius:3"], "coupling"),
        (["--coupling", "fat-tree:4"], "coupling"),
        (["--coupling", "t.qasm"], "coupling"),
        (["--coupling", "odd.json"], "coupling/gates/0/qubits"),
        (["--level", "4"], "level"),
        (["--level", "high"], "level"),
        (["--effort", "0"], "effort"),
        (["--objective", "swaps"], "objective"),
        (["--objective", "success"], "objective"),
        (["--solver", "nobody"], "solver"),
        (["--seed", "-1"], "seed"),
        (["--time-limit", "0"], "time_limit_s"),
        (["--threads", "0"], "threads"),
        (["--initial-layout", "0,1"], "initial_layout"),
        (["--initial-layout", "0,1,1"], "initial_layout/2"),
        (["--initial-layout", "0,1,9"], "initial_layout/2"),
        (["--initial-layout", "0,1,x"], "initial_layout"),
        (["--initial-layout", "0;1;2"], "initial_layout"),
        (["--output", "no/out.qasm"], "output"),
        (["--json", "no/out.json"], "json"),
        (["--frobnicate"], "frobnicate"),
    ],
    ids=" ".join,
)
def test_bad_options_name_their_field(cli: Run, tmp_path: Path, options: list[str], field: str) -> None:
    """Exit status 2 and one line on standard error."""
    (tmp_path / "odd.json").write_text('{"num_qubits": 2, "gates": [{"name": "cx", "qubits": 5}]}')
    device = [] if "--coupling" in options else ["--coupling", "line.txt"]
    assert is_refused(cli("t.qasm", *device, *options), field)


def test_bug_faults_of_the_device_name_its_option(cli: Run) -> None:
    """They named `topology`, which this command refuses as an option."""
    assert "tiger: error: coupling: expected KIND:" in cli("t.qasm", "--coupling", "line:5")[2]


def test_a_device_is_needed(cli: Run) -> None:
    """Nothing stands for it."""
    assert is_refused(cli("t.qasm"), "coupling")


def test_a_circuit_without_a_text_cannot_be_written(cli: Run, tmp_path: Path) -> None:
    """The report says so by null, a file cannot."""
    bits = ClassicalRegister(2, "c")
    circuit = QuantumCircuit(QuantumRegister(1, "q"), bits, ClassicalRegister(bits=[bits[1]], name="d"))
    circuit.measure(0, 1)
    with (tmp_path / "c.qpy").open("wb") as file:
        qpy.dump(circuit, file)
    assert is_refused(cli("c.qpy", "--coupling", "line.txt", "-o", "out.qasm"), "output")
    assert json.loads(cli("c.qpy", "--coupling", "line.txt", "--json", "-")[1])["qasm"] is None


@pytest.mark.slow
def test_a_circuit_is_drawn_on_its_device(cli: Run, tmp_path: Path) -> None:
    """Beside the summary."""
    assert cli("t.qasm", "--coupling", "line.txt", "--level", "0", "--plot", "p.svg")[0] == 0
    assert "3 qubits on 4: " in (tmp_path / "p.svg").read_text()
    assert is_refused(cli("t.qasm", "--coupling", "line.txt", "--plot", "p.gif"), "plot")
