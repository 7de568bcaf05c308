"""What node-link graphs look like in the documentation of requests, as JSON Schema."""

from pydantic import WithJsonSchema
from pydantic.config import JsonDict


def node_link(node: dict[str, str], edge: dict[str, str]) -> WithJsonSchema:
    """Document a node-link graph by the types of the numbers, all optional and >= 0, on its nodes and its edges."""
    lists = {"nodes": list_records(("id",), node), "edges": list_records(("source", "target"), edge)}
    flags = {"directed": {"type": "boolean"}, "multigraph": {"type": "boolean"}}
    return WithJsonSchema({"type": "object", "required": list(lists), "properties": {**flags, **lists}})


def list_records(ids: tuple[str, ...], numbers: dict[str, str]) -> JsonDict:
    """Document a list of objects with ids, which they must have, and numbers, which they may have."""
    names: JsonDict = {name: {"type": ["string", "number", "array"]} for name in ids}
    amounts: JsonDict = {name: {"type": kind, "minimum": 0} for name, kind in numbers.items()}
    return {
        "type": "array",
        "items": {"type": "object", "required": list(ids), "properties": {**names, **amounts}},
    }


def list_measurements(names: JsonDict, *numbers: str) -> JsonDict:
    """Document a list of objects with fields, which they must have, and numbers, which they may have."""
    amounts: JsonDict = {name: {"type": "number", "minimum": 0} for name in numbers}
    return {
        "type": "array",
        "items": {"type": "object", "required": list(names), "properties": {**names, **amounts}},
    }


def node_graph() -> JsonDict:
    """Document a node-link graph by the ids of its nodes and edges alone."""
    lists: JsonDict = {"nodes": list_records(("id",), {}), "edges": list_records(("source", "target"), {})}
    return {"type": "object", "required": list(lists), "properties": lists}
