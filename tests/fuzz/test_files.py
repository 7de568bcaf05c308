"""Damaged files of every format: each is read or refused by an error that names a field, and what is read is solved."""

import contextlib
import json
import re
from collections.abc import Callable
from pathlib import Path

import dimod
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tiger
from tests.fuzz.profile import cases
from tiger.circuits.entry.hardware import read_device
from tiger.circuits.entry.reading import read_circuit
from tiger.circuits.entry.scan import CircuitLimits
from tiger.errors import InputError
from tiger.formats.allocation import list_nodes
from tiger.formats.files import read_topology
from tiger.formats.hardware import hosts
from tiger.mapping.entry import problem_of
from tiger.mapping.exchange.sample_file import read_samples
from tiger.topologies.spec import build
from tiger.training.hardware.reading import read_cluster
from tiger.training.models.graphs import read_operators
from tiger.training.models.reading import read_model

EXAMPLES = Path(__file__).parents[2] / "examples"
# Damaged files whose work would be long are read alone.
SMALL, SHORT_S = 40, 0.2
SAMPLE_SET = dimod.SampleSet.from_samples([[1, 0, 1], [0, 1, 1]], energy=[1.0, 2.5], vartype="BINARY")
WRITTEN = {
    "matrix.mtx": "%%MatrixMarket matrix array integer symmetric\n2 2\n1\n2\n3\n",
    "rows.txt": "# reads\n0 1 1\n1,0,1\n",
    "set.json": json.dumps(SAMPLE_SET.to_serializable()),
    "pairs.json": '{"coupling_map": [[0, 1], [1, 2]], "num_qubits": 3}',
    "loop3.qasm": 'OPENQASM 3.0;\ninclude "stdgates.inc";\nqubit[3] q;\nbit[3] c;\ngate mine(x) a, b { rz(x / 2) a; '
    "cx a, b; }\nfor int i in {0, 1} { mine(pi * 0.25) q[0], q[1]; }\nc[0] = measure q[0];\n"
    "if (c[0]) { x q[2]; }\n",
    "data.json": '{"nodes": [{"id": 1, "supportedOnFpga": 1, "cpuLatency": 5, "fpgaLatency": 2, "isBackwardNode": 0,'
    ' "colorClass": 1, "size": 3}, {"id": 2, "supportedOnFpga": 1, "cpuLatency": 5, "fpgaLatency": 1,'
    ' "isBackwardNode": 0, "size": 3}], "edges": [{"sourceId": 1, "destId": 2, "cost": 0.5}],'
    ' "maxSizePerFPGA": 9, "maxFPGAs": 2, "maxCPUs": 1}',
}


def solve_tasks(path: Path) -> None:
    """Map what a file of tasks says greedily, onto its own hardware or a grid."""
    own = path.suffix in (".dat",)
    problem = problem_of(path, None if own else "grid:4x4")
    if problem.tasks.size <= SMALL and problem.topology.size <= SMALL:
        json.dumps(tiger.solve(problem, solver="greedy", time_limit_s=SHORT_S).to_dict(), allow_nan=False)


def solve_topology(path: Path) -> None:
    """Map four ranks onto what a file of hardware says."""
    problem = problem_of(EXAMPLES / "ranks4.csv", path)
    json.dumps(tiger.solve(problem, solver="greedy", time_limit_s=SHORT_S).to_dict(), allow_nan=False)


def solve_model(path: Path) -> None:
    """Place what a file of layers says on two devices."""
    if len(read_model(path).names) <= SMALL:
        report = tiger.place(path, {"devices": [{"name": "a"}, {"name": "b"}], "uniform_bandwidth": 1e9})
        json.dumps(report.to_dict(), allow_nan=False)


def solve_cluster(path: Path) -> None:
    """Place six layers on what a file of devices says."""
    if len(read_cluster(path).names) <= 8:
        report = tiger.place(EXAMPLES / "models" / "layers.csv", path, time_limit_s=SHORT_S)
        json.dumps(report.to_dict(), allow_nan=False)


def read_hosts(path: Path) -> None:
    """Read an allocation of a torus and of switches, and hosts as hardware."""
    list_nodes(path, {*build("torus:4x4x4").names, *read_topology(str(EXAMPLES / "topology.conf")).names})
    hosts.read_hosts(path.read_text(encoding="utf-8"))


def read_text_circuit(path: Path) -> None:
    """Read a circuit of the size that a service takes."""
    read_circuit(path, CircuitLimits(max_bytes=1 << 20))


READERS: dict[str, tuple[Callable[[Path], object], tuple[str, ...]]] = {
    "tasks": (
        solve_tasks,
        (
            "butko11.ram",
            "diamond4.graphml",
            "house5.graph",
            "ranks4.csv",
            "ring6.mtx",
            "matrix.mtx",
            "square4.dat",
            "stencil8x8.json",
        ),
    ),
    "topology": (
        solve_topology,
        (
            "mesh_2x2_het.arc",
            "mesh_4x4_homo.arc",
            "two_switches.json",
            "topology.conf",
            "topologies/topology.yaml",
            "topologies/fabric4.ibnet",
            "blocks.conf",
            "scontrol.conf",
            "two_sockets.xml",
            "nvlinks4.xml",
            "nvlinks8.xml",
            "clusters/workstation4.topo",
            "topologies/kube_nodes.json",
            "topologies/instances4.json",
            "topologies/hosts4.txt",
            "topologies/measured4.csv",
            "topologies/osu4.txt",
            "topologies/rocm4.txt",
            "topologies/xgmi4.xml",
            "topologies/rings.conf",
            "topologies/torus.yaml",
            "topologies/racks.tgt",
        ),
    ),
    "allocation": (read_hosts, ("allocation.txt", "hostfile.txt")),
    "samples": (read_samples, ("rows.txt", "set.json")),
    "circuit": (
        read_text_circuit,
        ("circuits/adder10.qasm", "circuits/branch4.qasm", "circuits/qft5.qasm", "loop3.qasm"),
    ),
    "device": (read_device, ("circuits/noisy7.json", "circuits/tee9.txt", "pairs.json")),
    "model": (
        solve_model,
        (
            "models/gpt2-medium.json",
            "models/llama2-13b-serving.json",
            "models/branches.json",
            "models/layers.csv",
            "models/skipnet.txt",
        ),
    ),
    "operators": (read_operators, ("models/two_towers.csv", "models/skipnet.txt", "data.json")),
    "cluster": (
        solve_cluster,
        (
            "clusters/measured2.json",
            "clusters/pair_and_host.json",
            "clusters/slow_network2.json",
            "clusters/two_networks.json",
            "clusters/uneven4.json",
            "clusters/workstation4.topo",
            "nvlinks4.xml",
            "topologies/xgmi4.xml",
        ),
    ),
}
CASES = [(kind, name) for kind, (_, names) in READERS.items() for name in names]
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
NUMBERS = ["nan", "inf", "1e999", "1e308", "-1", "0", "-0.0", "5e-324", "1e-9", "1e12", "0x10", "9" * 30, "9" * 5000]
TOKENS = [
    *NUMBERS,
    "null",
    "true",
    "\n",
    " ",
    "\0",
    "\ud800",
    "é",
    "[",
    "{",
    "(",
    "<",
    '"',
    "%",
    "/*",
    "[" * 9000,
    "(" * 9000,
]
VALUES = st.sampled_from(
    [None, True, "", "x", [], {}, [[]], -1, 0, 1.5, 1e308, 5e-324, 2**63, 10**400, [0] * 9, {"a": 1}]
)


def text_of(name: str) -> str:
    """Return the sound text of a file."""
    return WRITTEN[name] if name in WRITTEN else (EXAMPLES / name).read_text(encoding="utf-8")


def cut(draw: st.DrawFn, text: str) -> str:
    """Replace a slice by something else."""
    start = draw(st.integers(0, len(text)))
    return text[:start] + draw(st.text(max_size=6) | st.sampled_from(TOKENS)) + text[start + draw(st.integers(0, 4)) :]


def count_anew(draw: st.DrawFn, text: str) -> str:
    """Replace a number by another."""
    places = [found.span() for found in NUMBER.finditer(text)]
    if not places:
        return text
    begin, end = draw(st.sampled_from(places))
    return text[:begin] + draw(st.sampled_from(NUMBERS) | st.integers(-2, 70).map(str)) + text[end:]


def move_lines(draw: st.DrawFn, text: str) -> str:
    """Drop, repeat or exchange lines."""
    lines = text.splitlines(keepends=True)
    if not lines:
        return text
    a, b = (draw(st.integers(0, len(lines) - 1)) for _ in range(2))
    return "".join(
        draw(st.sampled_from([lines[:a] + lines[b:], lines[:a] + lines[b:] + lines[a:], lines[b:] + lines[:b]]))
    )


def alter(draw: st.DrawFn, text: str) -> str:
    """Replace, drop or repeat one value of a JSON document."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict | list):
        return cut(draw, text)
    spots = [document]
    for spot in spots:
        spots += [
            part for part in (spot.values() if isinstance(spot, dict) else spot) if isinstance(part, dict | list)
        ][:9]
        if len(spots) > 40:
            break
    spot = draw(st.sampled_from([spot for spot in spots if spot] or [[0]]))
    key = draw(st.sampled_from(list(spot) if isinstance(spot, dict) else range(len(spot))))
    act = draw(st.sampled_from(["put", "drop", "add"]))
    if act == "put":
        spot[key] = draw(VALUES)
    elif act == "drop":
        del spot[key]
    elif isinstance(spot, dict):
        spot[draw(st.sampled_from(["weight", "id", "x", f"{key}s"]))] = spot[key]
    else:
        spot.append(spot[key])
    return json.dumps(document)


@st.composite
def damaged(draw: st.DrawFn, text: str) -> str:
    """Damage a text up to three times."""
    ways = [cut, count_anew, move_lines] + [alter] * text.lstrip().startswith(("{", "["))
    for _ in range(draw(st.integers(1, 3))):
        text = draw(st.sampled_from(ways))(draw, text)
    return text


@pytest.mark.parametrize(("kind", "name"), CASES)
def test_files_are_sound_before_they_are_damaged(kind: str, name: str, tmp_path: Path) -> None:
    """Each is read and solved."""
    path = tmp_path / Path(name).name
    path.write_text(text_of(name), encoding="utf-8")
    READERS[kind][0](path)


@pytest.mark.parametrize(("kind", "name"), CASES)
@cases(quick=2, long=1_500)
@given(data=st.data())
def test_damaged_files_are_read_or_refused(
    kind: str, name: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Nothing but an error that names a field may come of one, and a report is strict JSON."""
    path = tmp_path_factory.getbasetemp() / Path(name).name
    path.write_bytes(data.draw(damaged(text_of(name))).encode("utf-8", "surrogatepass"))
    with contextlib.suppress(InputError):
        READERS[kind][0](path)


@pytest.mark.parametrize("kind", READERS)
@cases(quick=4, long=600)
@given(content=st.binary(max_size=60), data=st.data())
def test_any_bytes_are_read_or_refused(
    kind: str, content: bytes, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Whatever they are, under any name."""
    read, names = READERS[kind]
    path = tmp_path_factory.getbasetemp() / f"any{Path(data.draw(st.sampled_from(names))).suffix}"
    path.write_bytes(content)
    with contextlib.suppress(InputError):
        read(path)
