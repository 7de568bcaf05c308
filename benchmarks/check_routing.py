"""Check that a routed circuit is the original with SWAPs and BRIDGEs, every gate in its place, by replaying it.

    python benchmarks/check_routing.py ORIGINAL.qasm ROUTED.qasm DEVICE.json

It shares no code with the mapper and needs Python alone. The original, without SWAPs, has one register of OpenQASM 2;
the routed circuit has device qubits `$0`, `$1`, .. of OpenQASM 3, and a comment `// layout: ..` with the device qubit
of every qubit; the device is a list of its pairs of qubits. It prints the numbers of SWAPs and of BRIDGEs.
"""

import json
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

# Angles are short and without powers, so that none takes long to work out.
_AT = r"(?:\$\d+|q\[\d+\])"
_GATE = re.compile(rf"(\w+)\b\s*(?:\(((?!.*\*\*)[\d.e+\-*/ pi,]{{1,200}})\))?\s*({_AT}(?:\s*,\s*{_AT})*)")
_OTHER = re.compile(
    r'OPENQASM\s+[\d.]+|include\s+"(?:qelib1|stdgates)\.inc"|[qc]reg\s+\w+\[\d+\]|bit(?:\[\d+\])?\s+\w+|'
    r"barrier\b[\w\s$\[\],]*|"
)
Gate = tuple[str, tuple[float, ...], tuple[int, ...]]


def read_gates(text: str) -> Iterator[Gate]:
    """Yield name, angles and qubits of every gate; raise ValueError of a statement that is none."""
    for statement in map(str.strip, re.sub(r"//.*", "", text).split(";")):
        if not _OTHER.fullmatch(statement):
            if (found := _GATE.fullmatch(statement)) is None:
                raise ValueError(f"expected a gate on qubits that are named one by one, got {statement!r}")
            try:
                angles = [float(angle) for angle in eval(f"[{found[2] or ''}]", {"pi": 3.141592653589793})]
            except (ArithmeticError, AttributeError, NameError, SyntaxError, TypeError):
                raise ValueError(f"expected angles, got {found[2]!r}") from None
            qubits = tuple(int(number) for number in re.findall(r"\d+", found[3]))
            if len({*qubits}) < len(qubits) or (found[1] in {"cx", "swap"} and (angles or len(qubits) != 2)):
                raise ValueError(f"expected qubits that differ, two and no angle for CX and SWAP, got {statement!r}")
            # A file rounds angles as it likes: ten digits tell any two of a circuit apart.
            yield found[1], tuple(round(angle, 10) for angle in angles), qubits


def take_cx(pair: tuple[int, ...], holds: dict[int, set[int]], left: list[list[Gate]]) -> bool:
    """Put the sum of both into the target of a CX; take off the next CX from a to b, if that has done it, and say so.

    It has if the places held a and b, or in a BRIDGE a + m and b, or a + m and b + m.
    """
    control, target = holds[pair[0]], holds[pair[1]]
    holds[pair[1]] = control ^ target
    for name, _, (a, *rest) in [left[qubit][-1] for qubit in control if left[qubit]]:
        b = rest[0] if name == "cx" else -1
        if a in control and b in target and left[a][-1:] == left[b][-1:] and target - {b} <= control - {a}:
            left[a].pop(), left[b].pop()
            # From here on b stands for the sum of both.
            holds |= {place: held ^ {a} for place, held in holds.items() if b in held}
            return True
    return False


def count_added(original: str, routed: str, edges: Iterable[tuple[int, int]]) -> tuple[int, int]:
    """Return the SWAPs and BRIDGEs of a routed circuit, or raise ValueError that says where it is not the original.

    A BRIDGE is counted for every three CX that the original has not.
    """
    coupled, gates = {frozenset(edge) for edge in edges}, [*read_gates(original)]
    layout = [int(place) for place in "".join(re.findall(r"// layout: ([\d ]+)", routed)[:1]).split()]
    places = dict.fromkeys([*layout, *sorted(frozenset().union(*coupled))])
    if unknown := {*layout}.difference(*coupled):
        raise ValueError(f"expected a layout on qubits of the device, got {min(unknown)}")
    if len({*layout}) < max([len(layout), *(qubit + 1 for gate in gates for qubit in gate[2])]):
        raise ValueError("expected a layout with a place of its own for every qubit")
    # The qubits whose values every place holds the sum of, modulo 2, and what is left of the gates of each, last first.
    holds = {place: {qubit} for qubit, place in enumerate(places)}
    left = [[gate for gate in reversed(gates) if qubit in gate[2]] for qubit in range(len(holds))]
    swaps = added = 0
    for number, (name, angles, at) in enumerate(read_gates(routed)):
        if len(at) > 1 and frozenset(at) not in coupled:
            raise ValueError(f"gate {number}: no coupling between {at}")
        if name == "swap":
            holds[at[0]], holds[at[1]], swaps = holds[at[1]], holds[at[0]], swaps + 1
        elif name == "cx":
            added += not take_cx(at, holds, left)
        else:
            qubits = tuple(qubit for place in at for qubit in holds.get(place, ()))
            # Each place holds the value of a qubit, which is in no other sum.
            alone = len(qubits) == len(at) == sum(len(held.intersection(qubits)) for held in holds.values())
            if not alone or any(left[qubit][-1:] != [(name, angles, qubits)] for qubit in qubits):
                raise ValueError(f"gate {number}: {name} on {at} is not the next gate of its qubits")
            for qubit in qubits:
                left[qubit].pop()
    if any(left) or added % 3 or any(len(held) > 1 for held in holds.values()):
        raise ValueError("gates of the original are missing at the end, or a BRIDGE is not complete")
    return swaps, added // 3


def main() -> int:
    """Check the files that are named, and return the exit status: 1 for another circuit, 2 for files that are none."""
    status, expected = 2, "expected ORIGINAL.qasm ROUTED.qasm DEVICE.json, got "
    try:
        original, routed, device = (Path(name).read_text(encoding="utf-8") for name in sys.argv[1:])
        edges = [(int(a), int(b)) for a, b in json.loads(device)]
        status, expected = 1, ""
        print("{} SWAPs, {} BRIDGEs".format(*count_added(original, routed, edges)))
    except (ArithmeticError, OSError, ValueError, TypeError) as error:
        print(f"check_routing: {expected}{error}", file=sys.stderr)
        return status
    return 0


if __name__ == "__main__":
    sys.exit(main())
