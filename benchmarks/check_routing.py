"""Check that a routed circuit is the original with SWAPs and BRIDGEs, every gate in its place, by replaying it.

    python benchmarks/check_routing.py ORIGINAL.qasm ROUTED.qasm DEVICE.json

It shares no code with the mapper and needs Python alone. The original, without SWAPs, has one register of OpenQASM 2;
the routed circuit has device qubits `$0`, `$1`, .. of OpenQASM 3, and a comment `// layout: ..` with the device qubit
of every qubit; the device is a list of its pairs of qubits. It prints the numbers of SWAPs and of BRIDGEs.
"""

import json
import math
import re
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path

# Angles are short and without powers, so that none takes long to work out.
_GATE = re.compile(
    r"(\w+)\s*(?:\(((?!.*\*\*)[\d.e+\-*/ pi,]{1,200})\))?\s*"
    r"((?:\$|q\[)\d+\]?(?:\s*,\s*(?:\$|q\[)\d+\]?)*)"
)
_OTHER = re.compile(r"\s*(OPENQASM|include|qreg|creg|bit|barrier)\b|\s*$")
Gate = tuple[str, tuple[float, ...], tuple[int, ...]]


def read_gates(text: str) -> Iterator[Gate]:
    """Yield name, angles and qubits of every gate; raise ValueError of a statement that is none."""
    for statement in re.sub(r"//.*", "", text).split(";"):
        if not _OTHER.match(statement):
            found = _GATE.fullmatch(statement.strip())
            if found is None:
                raise ValueError(f"expected a gate, got {statement.strip()!r}")
            try:
                angles = (
                    [float(eval(angle.strip(), {"pi": math.pi})) for angle in found[2].split(",")] if found[2] else []
                )
            except (ArithmeticError, NameError, SyntaxError, TypeError):
                raise ValueError(f"expected angles, got {found[2]!r}") from None
            # A file rounds angles as it likes: ten digits tell any two of a circuit apart.
            numbers = tuple(int(number) for number in re.findall(r"\d+", found[3]))
            yield found[1], tuple(round(angle, 10) for angle in angles), numbers


class Replay:
    """Hold which qubit is where, what is left of the original on each, and the CX that have begun a BRIDGE."""

    def __init__(self, original: str, routed: str, edges: Iterable[tuple[int, int]]) -> None:
        """Read an original and the layout of a routed circuit."""
        stated = re.search(r"// layout: ([\d ]+)", routed)
        layout = [int(place) for place in stated[1].split()] if stated else []
        self.holds: dict[int, int] = {place: qubit for qubit, place in enumerate(layout)}
        self.edges = {frozenset(edge) for edge in edges}
        self.left: dict[int, deque[Gate]] = {qubit: deque() for qubit in self.holds.values()}
        self.begun: dict[int, list[tuple[int, ...]]] = {}
        self.swaps = self.bridges = 0
        if unknown := self.holds.keys() - {place for edge in self.edges for place in edge}:
            raise ValueError(f"expected a layout on qubits of the device, got {min(unknown)}")
        if any(qubit not in self.left for gate in read_gates(original) for qubit in gate[2]):
            raise ValueError("expected a layout with a place of its own for every qubit")
        for gate in read_gates(original):
            for qubit in gate[2]:
                self.left[qubit].append(gate)

    def take(self, gate: Gate) -> None:
        """Follow a gate of the routed circuit, or raise ValueError where it is not of the original."""
        name, angles, places = gate
        if len(places) > 1 and frozenset(places) not in self.edges:
            raise ValueError(f"no coupling between {places}")
        if name == "swap" and not any(place in self.begun for place in places):
            qubits = [self.holds.pop(place, None) for place in places]
            self.holds |= {place: q for place, q in zip(places, reversed(qubits), strict=True) if q is not None}
            self.swaps += 1
        elif any(place in self.begun for place in places) or not self._is_next(name, angles, places):
            self._bridge(gate)

    def _is_next(self, name: str, angles: tuple[float, ...], places: tuple[int, ...]) -> bool:
        """Return whether a gate is the next one on each of its qubits, and if so take it off."""
        qubits = [self.holds.get(place, -1) for place in places]
        due = [self.left[qubit][0] if self.left.get(qubit) else None for qubit in qubits]
        if any(one != (name, angles, tuple(qubits)) for one in due):
            return False
        for qubit in qubits:
            self.left[qubit].popleft()
        return True

    def _bridge(self, gate: Gate) -> None:
        """Take a CX for the next of the four of a BRIDGE: a-m, m-b, a-m, m-b, or m-b first."""
        name, _, pair = gate
        known = [self.begun[place] for place in pair if place in self.begun]
        so_far = known[0] if known else []
        turn = len(so_far)
        if name != "cx" or any(each is not so_far for each in known) or (turn > 1 and pair != so_far[turn - 2]):
            raise ValueError(f"{name} on {pair} is not the next gate of its qubits, and no part of a BRIDGE")
        if turn == 1:
            a, b = (so_far[0][0], pair[1]) if so_far[0][1] == pair[0] else (pair[0], so_far[0][1])
            if a == b or {*so_far[0], *pair} - {a, b} != {*so_far[0]} & {*pair} or not self._is_next("cx", (), (a, b)):
                raise ValueError(f"a CX from {a} to {b} is not the next gate of its qubits")
        so_far.append(pair)
        self.begun |= dict.fromkeys(pair, so_far)
        # After the third CX the end that the fourth does not touch goes on, after the fourth all do.
        for place in {*pair} - {*so_far[1]} if turn == 2 else {*pair} if turn == 3 else ():
            del self.begun[place]
        self.bridges += turn == 3


def count_added(original: str, routed: str, edges: Iterable[tuple[int, int]]) -> tuple[int, int]:
    """Return the SWAPs and BRIDGEs of a routed circuit, or raise ValueError that says where it is not the original."""
    replay = Replay(original, routed, edges)
    for number, gate in enumerate(read_gates(routed)):
        try:
            replay.take(gate)
        except ValueError as error:
            raise ValueError(f"gate {number}: {error}") from None
    if replay.begun or any(replay.left.values()):
        raise ValueError("gates of the original are missing at the end")
    return replay.swaps, replay.bridges


def main() -> int:
    """Check the files that are named, and return the exit status: 1 for another circuit, 2 for files that are none."""
    if len(sys.argv) != 4:
        print("check_routing: expected ORIGINAL.qasm ROUTED.qasm DEVICE.json", file=sys.stderr)
        return 2
    try:
        original, routed, device = (Path(name).read_text(encoding="utf-8") for name in sys.argv[1:])
        edges = [(int(a), int(b)) for a, b in json.loads(device)]
    except (OSError, ValueError, TypeError) as error:
        print(f"check_routing: expected two circuits and pairs of qubits, got {error}", file=sys.stderr)
        return 2
    try:
        print("{} SWAPs, {} BRIDGEs".format(*count_added(original, routed, edges)))
    except ValueError as error:
        print(f"check_routing: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
