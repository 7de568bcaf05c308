"""Task graphs in GraphML (`.graphml`)."""

import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from tiger.errors import InputError
from tiger.formats import nodelink
from tiger.formats.attributes import TASK, TRAFFIC, find_misspelt
from tiger.model.tasks import TaskGraph
from tiger.model.text import is_number
from tiger.model.wording import describe

DIRECTIONS = {"directed": True, "undirected": False}
NUMBERS = ("int", "long", "float", "double")
ENDS = {"node": ("id",), "edge": ("source", "target")}
ATTRIBUTES = {"node": TASK, "edge": TRAFFIC}


class GraphmlKey(NamedTuple):
    """Hold a declared attribute: what it belongs to (node, edge, all ..), its name, type, and default if it has one."""

    owner: str
    name: str
    kind: str
    default: str | None


def read_task_graph(text: str) -> TaskGraph:
    """Return the task graph of a GraphML document with one flat graph; attributes are those of node-link JSON.

    Defaults of keys count. Nested graphs, hyperedges, edges against the graph's direction and document types are
    refused. Raises InputError of `tasks`, or with a pointer to the nodes and edges counted from 0.
    """
    # Entities that grow without bound, or name files, can only be declared in a document type.
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise InputError("tasks", "expected GraphML without a document type, got one")
    try:
        root = ElementTree.fromstring(text)  # noqa: S314
    except (ElementTree.ParseError, ValueError) as error:
        raise InputError("tasks", f"expected GraphML, got a fault: {describe(str(error))}") from None
    graphs = _children(root, "graph")
    if _tag(root) != "graphml" or len(graphs) != 1:
        raise InputError("tasks", f"expected a graphml element with one graph, got {_tag(root)} with {len(graphs)}")
    keys = {key.get("id", ""): _key(key) for key in _children(root, "key")}
    return replace(nodelink.read_task_graph(_node_link(graphs[0], keys)), remarks=_remarks(keys))


def _children(element: ElementTree.Element, tag: str) -> list[ElementTree.Element]:
    """Return the children of a tag, whatever their namespace."""
    return [child for child in element if _tag(child) == tag]


def _tag(element: ElementTree.Element) -> str:
    """Return the tag without its namespace."""
    return element.tag.rpartition("}")[2]


def _key(element: ElementTree.Element) -> GraphmlKey:
    """Return a declared attribute."""
    defaults = [child.text or "" for child in _children(element, "default")]
    return GraphmlKey(
        owner=element.get("for", "all"),
        name=element.get("attr.name", ""),
        kind=element.get("attr.type", "string"),
        default=defaults[0] if defaults else None,
    )


def _remarks(keys: Mapping[str, GraphmlKey]) -> tuple[str, ...]:
    """Return remarks on declared attributes that look misspelt."""
    remarks: tuple[str, ...] = ()
    for owner, known in ATTRIBUTES.items():
        names = {key.name: key.kind for key in keys.values() if key.owner in (owner, "all")}
        remarks += find_misspelt(f"tasks/{owner}s", [names], known)
    return remarks


def _node_link(graph: ElementTree.Element, keys: Mapping[str, GraphmlKey]) -> dict[str, object]:
    """Return the node-link form of a graph element."""
    direction = graph.get("edgedefault")
    if direction not in DIRECTIONS:
        raise InputError("tasks", f"expected edgedefault directed or undirected, got {describe(direction)}")
    nodes, edges = _children(graph, "node"), _children(graph, "edge")
    if _children(graph, "hyperedge") or any(_children(node, "graph") for node in nodes):
        raise InputError("tasks", "expected a flat graph, got a hyperedge or a nested graph")
    return {
        "directed": DIRECTIONS[direction],
        "nodes": [_record(node, f"tasks/nodes/{k}", keys) for k, node in enumerate(nodes)],
        "edges": [_edge(edge, f"tasks/edges/{k}", keys, direction) for k, edge in enumerate(edges)],
    }


def _edge(
    element: ElementTree.Element, field: str, keys: Mapping[str, GraphmlKey], direction: str
) -> dict[str, object]:
    """Return an edge, whose own direction must be that of the graph."""
    own = element.get("directed")
    if own is not None and own != str(DIRECTIONS[direction]).lower():
        raise InputError(field, f"expected an edge of a graph that is {direction}, got directed={describe(own)}")
    return _record(element, field, keys)


def _record(element: ElementTree.Element, field: str, keys: Mapping[str, GraphmlKey]) -> dict[str, object]:
    """Return the ids and those attributes of a node or edge that mean something here."""
    owner = _tag(element)
    record: dict[str, object] = {name: element.get(name) for name in ENDS[owner] if name in element.attrib}
    for key in keys.values():
        if key.default is not None and key.owner in (owner, "all") and key.name in ATTRIBUTES[owner]:
            record[key.name] = _value(key, key.default)
    for data in _children(element, "data"):
        given = keys.get(data.get("key", ""))
        if given is None:
            raise InputError(field, f"expected data of a declared key, got {describe(data.get('key'))}")
        if given.name in ATTRIBUTES[owner]:
            record[given.name] = _value(given, data.text or "")
    return record


def _value(key: GraphmlKey, text: str) -> object:
    """Return the number that a text states, or the text itself for the checks behind to refuse."""
    return float(text) if key.kind in NUMBERS and is_number(text.strip()) else text
