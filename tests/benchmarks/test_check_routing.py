"""Tests of the checker of routed circuits."""

import json
import random
import subprocess
import sys
from itertools import permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import check_routing
from benchmarks.check_routing import count_added
from tiger.model.arrays import IntArray

LINE = ((0, 1), (1, 2), (2, 3))
ORIGINAL = 'OPENQASM 2.0; include "qelib1.inc"; qreg q[3]; cx q[0],q[2]; rz(pi/2) q[2]; cx q[2],q[1];'
ROUTED = "OPENQASM 3.0;\n// layout: 0 1 2\n"


@pytest.mark.parametrize(
    ("gates", "added"),
    [
        ("swap $0,$1; cx $1,$2; rz(1.5707963267948966) $2; swap $0,$1; cx $2,$1;", (2, 0)),
        ("cx $0,$1; cx $1,$2; cx $0,$1; cx $1,$2; rz(pi/2) $2; cx $2,$1;", (0, 1)),
        ("cx $1,$2; cx $0,$1; cx $1,$2; rz(pi/2) $2; cx $0,$1; cx $2,$1;", (0, 1)),
    ],
)
def test_swaps_and_bridges_are_counted(gates: str, added: tuple[int, int]) -> None:
    """A BRIDGE may begin at either end, and what is done with goes on before its last CX."""
    assert count_added(ORIGINAL, ROUTED + gates, LINE) == added


@pytest.mark.parametrize(
    ("gates", "reason"),
    [
        ("cx $0,$2;", "no coupling between"),
        ("swap $0,$1; cx $2,$1;", "gates of the original are missing at the end"),
        ("swap $0,$1; cx $1,$2; rz(pi/3) $2;", "gate 2: rz on"),
        ("swap $0,$1; cx $1,$2; rz(pi/2) $2; cx $2,$1;", "gates of the original are missing at the end"),
        ("cx $0,$1; cx $1,$2; cx $0,$1; rz(pi/2) $2;", "gate 3: rz on"),
        ("cx $0,$1; cx $1,$2; swap $0,$1;", "gates of the original are missing at the end"),
        ("cx $0,$1; cx $2,$1; cx $0,$1; cx $2,$1;", "gates of the original are missing at the end"),
        ("swap $0,$1; cx $1,$2; rz(pi/2) $2; swap $0,$1;", "gates of the original are missing at the end"),
        ("rz(1/0) $2;", "expected angles"),
        ("rz(pi pi) $2;", "expected angles"),
        ("rz(pi.e) $2;", "expected angles"),
        ("rz(9**9**9**9) $2;", "expected a gate"),
        ("b[0] = measure $0;", "expected a gate"),
    ],
)
def test_what_is_not_the_original_is_refused(gates: str, reason: str) -> None:
    """With the gate at fault where there is one."""
    with pytest.raises(ValueError, match=reason.replace("$", "")):
        count_added(ORIGINAL, ROUTED + gates, LINE)


@pytest.mark.parametrize(
    ("gates", "reason"),
    [
        ("cx $1,$2; cx $0,$1; cx $1,$2; x $0; cx $0,$1;", "gate 3: x on"),
        ("cx $0,$1; cx $1,$2; cx $0,$1; x $0; cx $1,$2; cx $0,$1; cx $0,$1;", "a BRIDGE is not complete"),
        ("cx $0,$1; cx $1,$2; cx $0,$1; x $0; cx $1,$2; cx $2,$3; cx $2,$3; cx $2,$3;", "a BRIDGE is not complete"),
    ],
)
def test_a_bridge_is_complete_and_leaves_no_sum(gates: str, reason: str) -> None:
    """A gate waits until its qubit is in no other sum, and no two CX may be added, nor three that leave a sum."""
    with pytest.raises(ValueError, match=reason):
        count_added("cx q[0],q[2]; x q[0];", ROUTED + gates, LINE)


@pytest.mark.long
def test_what_is_accepted_does_the_same_to_every_word() -> None:
    """However gates of a BRIDGE and of the original are mixed up, lost or added."""
    rng, accepted = random.Random(0), 0
    words = np.array(list(product((0, 1), repeat=3)))
    for _ in range(1000):
        pairs = [tuple(rng.sample(range(3), 2)) for _ in range(3)]
        gates = [("cx", a, b) if abs(a - b) == 1 or rng.random() < 0.8 else ("x", a) for a, b in pairs]
        routed = [part for gate in gates for part in _bridge(gate)[:: rng.choice((1, -1))]]
        routed += [rng.choice([("cx", 0, 1), ("cx", 1, 2), ("cx", 1, 0), ("cx", 2, 1)])] * rng.randrange(2)
        for _ in range(rng.randrange(4)):
            k = rng.randrange(len(routed))
            routed.insert(rng.randrange(len(routed)), routed.pop(k))
        original = "".join(f"{name} {','.join(f'q[{q}]' for q in at)};" for name, *at in gates)
        text = "".join(f"{name} {','.join(f'${q}' for q in at)};" for name, *at in routed)
        try:
            count_added(original, "// layout: 0 1 2\n" + text, LINE)
        except ValueError:
            continue
        accepted += 1
        ends = _run(gates, words), _run(routed, words)
        assert any((ends[0] == ends[1][:, list(order)]).all() for order in permutations(range(3))), (gates, routed)
    assert accepted > 100


def _bridge(gate: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    """Return a gate of a line of three, or the BRIDGE that does a CX between its ends."""
    _, a, *rest = gate
    return [("cx", a, 1), ("cx", 1, *rest)] * 2 if rest and abs(a - rest[0]) == 2 else [gate]


def _run(gates: list[tuple[Any, ...]], words: IntArray) -> IntArray:
    """Return what CX and X make of words[w, n]."""
    words = words.copy()
    for _, a, *rest in gates:
        words[:, rest[0] if rest else a] ^= words[:, a] if rest else 1
    return words


def test_a_layout_needs_a_place_for_every_qubit() -> None:
    """Otherwise gates of the qubit that is left out would never be asked for."""
    for layout in ("0 1", "0 0 1"):
        with pytest.raises(ValueError, match="expected a layout with a place of its own"):
            count_added(ORIGINAL, f"// layout: {layout}\n", LINE)


def test_bug_a_layout_beside_the_device_was_taken() -> None:
    """A qubit whose gates are all its own may be on no qubit that the device lacks."""
    with pytest.raises(ValueError, match="expected a layout on qubits of the device, got 9"):
        count_added("qreg q[2]; h q[1];", "// layout: 0 9\nh $9;", LINE)


def test_bug_gates_of_several_angles_were_refused() -> None:
    """They are taken with the same angles, and with no others."""
    original = "qreg q[1]; u3(0.1, pi/2,-pi) q[0];"
    assert count_added(original, "// layout: 2\nu3(0.1,1.5707963267948966,-pi) $2;", LINE) == (0, 0)
    with pytest.raises(ValueError, match="gate 0: u3 on"):
        count_added(original, "// layout: 2\nu3(0.1,-pi,pi/2) $2;", LINE)


@pytest.mark.parametrize(
    ("original", "routed"),
    [
        ("h q; x q[0];", "x $0;"),
        ("x q[0];", "x $0; x q;"),
        ("x q[0];", "x $0; bit c = measure $0;"),
        ("x q[0];", 'include "other.inc"; x $0;'),
        ("x q[0];", "bit /*; x $0; bit */ c;"),
        ("x q[0]; x qq[0];", "x $0; x $0;"),
        ("rzz(1) q0[1];", "rzz(1) $0,$1;"),
    ],
)
def test_bug_statements_were_passed_over(original: str, routed: str) -> None:
    """A gate on a whole register, a declaration that measures, a file and a comment that change what follows."""
    with pytest.raises(ValueError, match="expected a gate on qubits that are named one by one"):
        count_added(original, ROUTED + routed, LINE)


@pytest.mark.parametrize(
    ("original", "routed"),
    [
        ("cx q[0],q[1];", "cx(0.5) $0,$1;"),
        ("cx(0.5) q[0],q[1];", "cx $0,$1;"),
        ("cx q[0],q[1];", "cx $0,$1,$1;"),
        ("x q[0];", "cx $0; x $0;"),
        ("x q[0];", "swap $0; x $0;"),
        ("rzz(1) q[0],q[0];", "rzz(1) $0,$0;"),
    ],
)
def test_bug_qubits_and_angles_of_cx_and_swap_were_not_counted(original: str, routed: str) -> None:
    """One that has more or fewer is no CX and no SWAP."""
    with pytest.raises(ValueError, match="expected qubits that differ, two and no angle for CX and SWAP"):
        count_added(original, ROUTED + routed, [*LINE, (0, 0)])


def test_the_command_needs_python_alone(tmp_path: Path) -> None:
    """It runs where nothing is installed, and prints what was added."""
    texts = {"a.qasm": ORIGINAL, "b.qasm": ROUTED + "swap $0,$1; cx $1,$2; rz(pi/2) $2; swap $0,$1; cx $2,$1;"}
    for name, text in (texts | {"c.json": json.dumps(LINE)}).items():
        (tmp_path / name).write_text(text)
    command = [sys.executable, "-I", "-S", check_routing.__file__, "a.qasm", "b.qasm", "c.json"]
    answer = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert answer.stdout == "2 SWAPs, 0 BRIDGEs\n"


@pytest.mark.slow
def test_files_that_are_none_and_circuits_that_differ_have_exit_codes(tmp_path: Path) -> None:
    """And one line each, never a traceback."""
    texts = {"a.qasm": ORIGINAL, "b.qasm": ROUTED, "c.json": json.dumps(LINE), "d.json": "3", "e.json": "[[1e999, 0]]"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    for last, code in (("c.json", 1), ("d.json", 2), ("e.json", 2), ("f.json", 2), ("c.json c.json", 2)):
        names = f"a.qasm b.qasm {last}"
        command = [sys.executable, "-I", "-S", check_routing.__file__, *names.split()]
        answer = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert (answer.returncode, answer.stderr.count("\n")) == (code, 1)
