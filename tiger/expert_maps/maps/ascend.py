"""vllm-ascend's expert map, `expert_map_path`: a JSON list of layers, each a list of devices with their experts."""

import json

import numpy as np

from tiger.errors import InputError
from tiger.expert_maps.maps.expert_map import FIELD, ExpertMap, read_list, read_number, read_object, read_rows
from tiger.model.jsontext import read_json


def write(expert_map: ExpertMap) -> bytes:
    """Return the file of a map."""
    layers = [
        {
            "layer_id": layer,
            "device_count": expert_map.gpus,
            "device_list": [{"device_id": gpu, "device_expert": held} for gpu, held in enumerate(devices)],
        }
        for layer, devices in enumerate(
            expert_map.phy2log.reshape(len(expert_map.phy2log), expert_map.gpus, -1).tolist()
        )
    ]
    return json.dumps({"moe_layer_count": len(layers), "layer_list": layers}).encode() + b"\n"


def read(content: str, gpus: int | None = None) -> ExpertMap:
    """Return the map of a file, which states its devices; raise InputError of `map` or a place in it.

    `gpus`, if given, has to be what the file says.
    """
    found = read_object(read_json(content, FIELD), FIELD)
    layers = read_list(found.get("layer_list"), f"{FIELD}/layer_list")
    count = read_number(found.get("moe_layer_count"), f"{FIELD}/moe_layer_count")
    if count != len(layers):
        raise InputError(f"{FIELD}/moe_layer_count", f"expected {len(layers)}, the layers of the list, got {count}")
    rows = [_read_layer(layer, k) for k, layer in enumerate(layers)]
    for k, row in enumerate(rows):
        if (len(row), len(row[0])) != (len(rows[0]), len(rows[0][0])):
            where = f"{FIELD}/layer_list/{k}/device_list"
            raise InputError(
                where, f"expected {len(rows[0])} devices of {len(rows[0][0])} experts, as in the first layer"
            )
    if gpus is not None and gpus != len(rows[0]):
        raise InputError("gpus", f"expected {len(rows[0])}, the devices of the map, got {gpus}")
    return ExpertMap(np.array(rows).reshape(len(rows), -1), len(rows[0]))


def _read_layer(value: object, place: int) -> list[list[int]]:
    """Return the experts of each device of a layer."""
    where = f"{FIELD}/layer_list/{place}"
    layer = read_object(value, where)
    _check_place(layer.get("layer_id"), place, f"{where}/layer_id")
    devices = read_list(layer.get("device_list"), f"{where}/device_list")
    _check_place(layer.get("device_count"), len(devices), f"{where}/device_count")
    held: list[object] = []
    for k, item in enumerate(devices):
        device = read_object(item, f"{where}/device_list/{k}")
        _check_place(device.get("device_id"), k, f"{where}/device_list/{k}/device_id")
        held.append(device.get("device_expert"))
    return read_rows(held, f"{where}/device_list")


def _check_place(value: object, expected: int, field: str) -> None:
    """Raise InputError for a number that is not the one of its place in the list."""
    if read_number(value, field) != expected:
        raise InputError(field, f"expected {expected}, got {value}")
