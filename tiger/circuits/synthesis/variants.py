"""Other ways to write a circuit, each the same on its qubits, for a router to choose from."""

from functools import partial

from qiskit.dagcircuit import DAGCircuit

from tiger.circuits.synthesis import cliffords, linear, paths
from tiger.circuits.synthesis.blocks import collapse_blocks, find_gates, rewrite_blocks, write_blocks
from tiger.circuits.synthesis.ladders import synthesize_stars
from tiger.circuits.synthesis.rotations import finds_rotations, synthesize_rotations

# Most operations of a circuit that is read: Qiskit's collection of blocks takes 0.1 ms for each.
MOST_OPERATIONS = 20_000
# Shares of the stars of a run that move their centres: none for the fewest gates, all for the fewest layers.
MOVING = tuple(k / 16 for k in range(17))


def list_variants(dag: DAGCircuit) -> list[DAGCircuit]:
    """Return circuits that are the same as a given one, with SWAPs where qubits change places, the given one left out.

    Each is written anew in one way: linear functions, Clifford blocks or networks of rotations with fewer CX gates, or
    runs of stars as ladders with more or less depth. None of circuits that are too long.
    """
    if dag.size() > MOST_OPERATIONS:
        return []
    names, found = dag.count_ops(recurse=False).keys(), list[DAGCircuit | None]()
    if linear.NAMES & names:
        found.append(rewrite_blocks(dag, find_gates(linear.NAMES), linear.synthesize_linear))
    if cliffords.ENTANGLING & names:
        found.append(rewrite_blocks(dag, cliffords.find_cliffords(), cliffords.synthesize_clifford))
    found.append(rewrite_blocks(dag, finds_rotations, synthesize_rotations))
    if paths.DIAGONAL & names:
        found += _list_ladders(dag)
    # Circuits that are told apart by no figure count as one: to compare them gate by gate may take seconds.
    return [*{_outline(each): each for each in found if each is not None}.values()]


def _list_ladders(dag: DAGCircuit) -> list[DAGCircuit]:
    """Return a circuit with its runs of stars as ladders, once for each way to do so."""
    found, collapsed = list[DAGCircuit](), collapse_blocks(dag, find_gates(paths.DIAGONAL | paths.SINGLE))
    for share in MOVING:
        made = write_blocks(collapsed, partial(synthesize_stars, moving=share))
        if made is None:
            break
        found.append(made)
    return found


def _outline(dag: DAGCircuit) -> tuple[int, tuple[tuple[str, int], ...]]:
    """Return the depth of a circuit and how many gates of each name it has."""
    return dag.depth(), tuple(sorted(dag.count_ops(recurse=False).items()))
