"""Other ways to write a circuit, each the same on its qubits, for a router to choose from."""

from functools import partial

from qiskit.dagcircuit import DAGCircuit

from tiger.circuits.synthesis import cliffords, linear, paths
from tiger.circuits.synthesis.blocks import find_gates, rewrite_blocks
from tiger.circuits.synthesis.ladders import synthesize_stars

# Most operations of a circuit that is read: Qiskit's collection of blocks takes 0.1 ms for each.
MOST_OPERATIONS = 20_000
# Shares of the stars of a run that move their centres: none for the fewest gates, all for the fewest layers.
MOVING = tuple(k / 16 for k in range(17))


def list_variants(dag: DAGCircuit) -> list[DAGCircuit]:
    """Return circuits that are the same as a given one, with SWAPs where qubits change places, the given one left out.

    Each is written anew in one way: linear functions or Clifford blocks with fewer CX gates, or runs of stars as
    ladders with more or less depth. None of circuits that are too long.
    """
    if dag.size() > MOST_OPERATIONS:
        return []
    names, found = dag.count_ops(recurse=False).keys(), list[DAGCircuit | None]()
    if linear.NAMES & names:
        found.append(rewrite_blocks(dag, find_gates(linear.NAMES), linear.synthesize_linear))
    if cliffords.ENTANGLING & names:
        found.append(rewrite_blocks(dag, cliffords.find_cliffords(), cliffords.synthesize_clifford))
    if paths.DIAGONAL & names:
        found += _list_ladders(dag)
    return [each for k, each in enumerate(found) if each is not None and each not in found[:k]]


def _list_ladders(dag: DAGCircuit) -> list[DAGCircuit]:
    """Return a circuit with its runs of stars as ladders, once for each way to do so."""
    found, belongs = list[DAGCircuit](), find_gates(paths.DIAGONAL | paths.SINGLE)
    for share in MOVING:
        made = rewrite_blocks(dag, belongs, partial(synthesize_stars, moving=share))
        if made is None:
            break
        if not found or made != found[-1]:
            found.append(made)
    return found
