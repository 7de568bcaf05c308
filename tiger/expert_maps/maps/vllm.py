"""vLLM's initial expert map: a JSON list of the expert of each slot for each layer of experts.

`initial_expert_map_path` of `--eplb-config`, https://github.com/vllm-project/vllm/pull/49572. One list for all layers
is read as a map of one layer.
"""

import json

import numpy as np

from tiger.expert_maps.maps.expert_map import FIELD, ExpertMap, read_list, read_rows
from tiger.model.jsontext import read_json


def write(expert_map: ExpertMap) -> bytes:
    """Return the file of a map."""
    return json.dumps(expert_map.phy2log.tolist()).encode() + b"\n"


def read(content: str, gpus: int) -> ExpertMap:
    """Return the map of a file, whose slots `gpus` GPUs share; raise InputError of `map` or a place in it."""
    found = read_list(read_json(content, FIELD), FIELD)
    return ExpertMap(np.array(read_rows(found if isinstance(found[0], list) else [found], FIELD)), gpus)
