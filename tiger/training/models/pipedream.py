"""Profiles of PipeDream (`graph.txt`): a line for every operator, a line for every edge."""

import re
from dataclasses import dataclass, field

import numpy as np

from tiger.errors import InputError
from tiger.model.arrays import IntArray
from tiger.model.text import is_number
from tiger.model.units import MILLISECOND
from tiger.model.wording import describe
from tiger.training.models.layers import Layers
from tiger.training.models.limits import LAYER_LIMIT, OPERATOR_LIMIT, check_cost, check_size
from tiger.training.models.operators import Operators
from tiger.training.models.order import CycleError, topological_order

COSTS = ("forward_compute_time", "backward_compute_time", "activation_size", "parameter_size")
# Up to 18 digits are whole numbers of 64 bits.
_NAME = re.compile(r"[A-Za-z_]{0,40}([0-9]{1,18})")
# Lists of activations hold commas in some versions, so that only a key behind it makes a comma a separator.
_NEXT = re.compile(r", *(?=[a-z_]+=)")


@dataclass(slots=True)
class _Graph:
    """Collect the four costs and the number of every node, and the edges with the lines they stand on."""

    costs: dict[str, tuple[float, ...]] = field(default_factory=dict)
    numbers: list[int] = field(default_factory=list)
    edges: list[tuple[int, str, str]] = field(default_factory=list)


def layers_of_graph(text: str, max_layers: int = LAYER_LIMIT) -> Layers:
    """Return the n operators of a profile, of those that could come next the one with the smallest number first.

    A node is `name -- description -- forward_compute_time=, backward_compute_time=, activation_size=,
    parameter_size=` in ms and bytes, where a list `[a; b]` of activations is summed and ` -- stage_id=k` may follow; an
    edge is a tabulator and `name -- name`. Nodes described as `Input` cost and send nothing. An operator holds its own
    output for every microbatch in flight. O((n + edges) log n). Raises InputError.

    Source: Narayanan et al., SOSP 2019, doi:10.1145/3341301.3359646.
    """
    graph = _read(text, max_layers)
    names = list(graph.costs)
    source, target = _ends(graph)
    # As numbers may repeat (a1, b1), ranks are the places of nodes among the sorted numbers.
    rank = np.argsort(np.argsort(graph.numbers, kind="stable"))
    try:
        order = topological_order(rank.tolist(), source, target)
    except CycleError as error:
        reason = f"expected a graph without cycles, got one through {names[error.node]}"
        raise InputError(f"model/nodes/{names[error.node]}", reason) from None
    place = np.argsort(order)
    forward, backward, sent, weights = np.array(list(graph.costs.values()))[order].T
    return Layers(
        names=tuple(names[node] for node in order),
        forward_s=forward * MILLISECOND,
        backward_s=backward * MILLISECOND,
        parameter_bytes=weights,
        crossing_bytes=Layers.crossing(sent, place[source], place[target]),
        held_bytes=sent,
    )


def operators_of_graph(text: str, max_operators: int = OPERATOR_LIMIT) -> Operators:
    """Return the operators of a profile, in its order; a microbatch takes both of their passes.

    An operator sends its activation, and takes the gradient of it back: twice those bytes, on one message. It holds its
    parameters. The text is that of `layers_of_graph`. O(n + edges). Raises InputError.
    """
    graph = _read(text, max_operators)
    source, target = _ends(graph)
    forward, backward, sent, weights = np.array(list(graph.costs.values())).T
    return Operators(
        names=tuple(graph.costs),
        seconds=(forward + backward) * MILLISECOND,
        memory_bytes=weights,
        sent_bytes=2 * sent,
        source=source,
        target=target,
    )


def _read(text: str, max_layers: int) -> _Graph:
    """Collect the nodes and edges of a text, or raise InputError with the first line at fault."""
    graph = _Graph()
    for number, raw in enumerate(text.split("\n"), 1):
        line = raw.rstrip()
        if not line:
            continue
        if line.startswith("\t"):
            graph.edges.append(_edge(number, line))
        else:
            _add_node(graph, number, line)
            # Checked line by line, so that a text far too long is refused early.
            check_size("model/nodes", len(graph.costs), max_layers)
    if not graph.costs:
        raise InputError("model/nodes", "expected at least one node, got none")
    return graph


def _edge(number: int, line: str) -> tuple[int, str, str]:
    """Return the line and both ends of an edge."""
    ends = line.strip().split(" -- ")
    if len(ends) != 2:
        raise InputError("model/edges", f"line {number}: expected an edge such as node1 -- node2, got {describe(line)}")
    return number, ends[0], ends[1]


def _add_node(graph: _Graph, number: int, line: str) -> None:
    """Add the node of a line, or raise InputError that names it."""
    name, _, rest = line.partition(" -- ")
    label = _NAME.fullmatch(name)
    if label is None or not rest:
        what = "expected a node such as node1 -- Linear -- forward_compute_time=.., or an edge after a tabulator"
        raise InputError("model/nodes", f"line {number}: {what}, got {describe(line)}")
    if name in graph.costs:
        raise InputError(f"model/nodes/{name}", f"line {number}: expected different nodes, got {name} twice")
    # A description may hold the same dashes: the costs follow the last of them.
    description, _, costs = rest.partition(" -- stage_id=")[0].rpartition(" -- ")
    values = _costs(f"model/nodes/{name}", costs)
    # A profile times how long data took to arrive, which is no work of a stage.
    if description.startswith("Input"):
        values = (0.0, 0.0, 0.0, values[3])
    graph.costs[name] = values
    graph.numbers.append(int(label[1]))


def _costs(where: str, text: str) -> tuple[float, ...]:
    """Return the four costs of a node."""
    given: dict[str, str] = {}
    for part in _NEXT.split(text):
        key, equals, value = part.partition("=")
        if not equals or key not in COSTS or key in given:
            raise InputError(where, f"expected {', '.join(COSTS)} once each, got {describe(part)}")
        given[key] = value.strip()
    missing = next((key for key in COSTS if key not in given), None)
    if missing is not None:
        raise InputError(f"{where}/{missing}", "expected a number, got none")
    return tuple(_total(f"{where}/{key}", _words(key, given[key])) for key in COSTS)


def _words(key: str, value: str) -> list[str]:
    """Return the numbers of a value as text; activations may be a list of them."""
    listed = key == "activation_size" and value.startswith("[") and value.endswith("]")
    return [word.strip() for word in value[1:-1].split(";")] if listed else [value]


def _total(where: str, words: list[str]) -> float:
    """Return the sum of numbers >= 0."""
    odd = next((word for word in words if not is_number(word)), None)
    if odd is not None:
        raise InputError(where, f"expected a finite number >= 0, got {describe(odd)}")
    return check_cost(where, sum(check_cost(where, float(word)) for word in words))


def _ends(graph: _Graph) -> tuple[IntArray, IntArray]:
    """Return the nodes at both ends of every edge, or raise InputError for one that no line describes."""
    index = {name: node for node, name in enumerate(graph.costs)}
    for k, (number, *ends) in enumerate(graph.edges):
        unknown = next((name for name in ends if name not in index), None)
        if unknown is not None:
            raise InputError(
                f"model/edges/{k}", f"line {number}: expected a node of the graph, got {describe(unknown)}"
            )
    pairs = np.array([(index[a], index[b]) for _, a, b in graph.edges], np.int64).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]
