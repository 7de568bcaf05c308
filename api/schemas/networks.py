"""What models and clusters look like in the documentation of requests, as JSON Schema."""

from dataclasses import MISSING, fields
from typing import Literal, get_args, get_origin, get_type_hints

from pydantic.config import JsonDict

from tiger.api.schemas.files import FILE
from tiger.pipeline.models.shape import Shape

NUMBER: JsonDict = {"type": "number"}
STRING: JsonDict = {"type": "string"}
# Bytes, bytes/s or seconds as a number, or with a unit as text.
QUANTITY: JsonDict = {"type": ["number", "string"]}
COUNT: JsonDict = {"type": "integer", "minimum": 1}
TYPES: dict[type, JsonDict] = {bool: {"type": "boolean"}, int: COUNT, float: NUMBER}


def _object(required: JsonDict, optional: JsonDict) -> JsonDict:
    """Document an object by the fields that it must have, and those it may have."""
    return {"type": "object", "required": [*required], "properties": required | optional}


def _list(entry: JsonDict) -> JsonDict:
    """Document a list by what it holds."""
    return {"type": "array", "items": entry}


def _shape() -> JsonDict:
    """Document the shape of a transformer by the fields that it has, those without a default first."""
    types = get_type_hints(Shape)
    entries = {field.name: _value(types[field.name]) for field in fields(Shape)}
    needed = {field.name for field in fields(Shape) if field.default is MISSING}
    required: JsonDict = {name: entry for name, entry in entries.items() if name in needed}
    optional: JsonDict = {name: entry for name, entry in entries.items() if name not in needed}
    return _object(required, optional)


def _value(stated: object) -> JsonDict:
    """Document a word out of several, or a number or truth value that may be left out."""
    if get_origin(stated) is Literal:
        return {"enum": [*get_args(stated)]}
    return next(TYPES[kind] for kind in (stated, *get_args(stated)) if kind in TYPES)


NAMES = _list(_list(STRING))
NAMED: JsonDict = {"name": STRING}
COSTS: JsonDict = dict.fromkeys(("forward_s", "backward_s", "parameter_bytes", "activation_bytes"), QUANTITY)
MORE_COSTS: JsonDict = dict.fromkeys(("weight_s", "state_bytes", "held_bytes", "reduced_bytes"), QUANTITY)
MORE_COSTS |= {"reductions": NUMBER}
KIND: JsonDict = {"enum": ["embedding", "layer", "mtp", "head"]}
LAYERS = _list(_object(NAMED | COSTS, MORE_COSTS | {"kind": KIND, "module": STRING}))
FLAG: JsonDict = {"enum": [True, False, 0, 1]}
ID: JsonDict = {"type": ["integer", "string"]}
NODE = _object(
    {"id": ID, "supportedOnFpga": FLAG, "cpuLatency": NUMBER, "fpgaLatency": NUMBER, "isBackwardNode": FLAG},
    {"name": STRING, "colorClass": ID, "size": NUMBER, "layerId": ID},
)
EDGE = _object({"sourceId": ID, "destId": ID, "cost": NUMBER}, {"size": NUMBER})
STATED: JsonDict = {"maxFPGAs": {"type": "integer"}, "maxSizePerFPGA": NUMBER, "maxCPUs": {"type": "integer"}}
AMOUNTS: JsonDict = dict.fromkeys(("cpu_seconds", "memory_bytes", "output_bytes", "output_seconds"), QUANTITY)
OPERATOR = _object(NAMED | {"seconds": QUANTITY}, AMOUNTS | {"colocate": ID, "backward": FLAG, "accelerator": FLAG})
MODELS = (
    _object({"layers": LAYERS}, {"edges": NAMES, "tied": NAMES}),
    _object({"transformer": _shape()}, {}),
    _object({"graph": STRING}, {}),
    LAYERS,
    _object({"nodes": _list(NODE), "edges": _list(EDGE)}, STATED),
    _object({"operators": _list(OPERATOR), "edges": NAMES}, {}),
)

# Pairs of bytes and seconds, or text of a CSV file and what to take of it.
MEASURED: JsonDict = {"anyOf": [_list(_list(QUANTITY)), _object({"csv": STRING}, {"where": {"type": "object"}})]}
CONNECTION: JsonDict = {"bandwidth": QUANTITY, "latency": QUANTITY, "table": MEASURED}
DEVICE: JsonDict = {"kind": {"enum": ["accelerator", "cpu"]}, "memory_bytes": QUANTITY, "speed": NUMBER}
LANES: JsonDict = {"lanes": _list(_list({"type": "integer"})), "lane_bandwidth": QUANTITY, "lane_latency": QUANTITY}
NETWORKS: JsonDict = {"type": "object", "additionalProperties": _object({}, CONNECTION)}
PRINTED: JsonDict = {"nvidia_smi_topo": STRING, "nccl_topo": STRING, "classes": NETWORKS}
MACHINE = _object({}, {"count": COUNT, "devices": COUNT, "nic": STRING} | DEVICE | CONNECTION | LANES | PRINTED)
LISTED = _object(
    {"devices": _list(_object(NAMED, DEVICE | {"machine": STRING}))},
    {f"uniform_{name}": entry for name, entry in CONNECTION.items()}
    | {"links": _list(_object({"a": STRING, "b": STRING}, CONNECTION))},
)
GROUPS = _object({"machines": _list(MACHINE)}, {"nics": NETWORKS, "fallback": STRING})
# What is inside a host, and either that of all, or of those listed.
GROUP = _object({}, {"devices": COUNT} | DEVICE | CONNECTION | LANES | PRINTED)
INSIDE: JsonDict = {"anyOf": [GROUP, STRING, LISTED, GROUPS, FILE]}
INSIDES: JsonDict = {"anyOf": [INSIDE, _list(_object({"hosts": STRING, "machine": INSIDE}, {}))]}
HOSTS = _object(
    {"hosts": FILE, "machine": INSIDES},
    {"networks": {"anyOf": [_list(_object({}, CONNECTION)), NETWORKS]}, "labels": _list(STRING)},
)
CLUSTERS = (
    LISTED,
    GROUPS,
    HOSTS,
    _object({"nvidia_smi_topo": STRING}, DEVICE | {"classes": NETWORKS}),
    _object({"nccl_topo": STRING}, DEVICE | {"classes": NETWORKS}),
)
