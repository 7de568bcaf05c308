"""SGLang's initial expert location, `--init-expert-location FILE.json`: an object with `physical_to_logical_map`.

SGLang counts all hidden layers of a model, and its own records of loads have a row for each of them, too.
"""

import json

import numpy as np

from tiger.expert_maps.maps.expert_map import FIELD, ExpertMap, read_object, read_rows
from tiger.model.jsontext import read_json

KEY = "physical_to_logical_map"


def write(expert_map: ExpertMap) -> bytes:
    """Return the file of a map."""
    return json.dumps({KEY: expert_map.phy2log.tolist()}).encode() + b"\n"


def read(content: str, gpus: int) -> ExpertMap:
    """Return the map of a file, whose slots `gpus` GPUs share; raise InputError of `map` or a place in it."""
    found = read_object(read_json(content, FIELD), FIELD)
    return ExpertMap(np.array(read_rows(found.get(KEY), f"{FIELD}/{KEY}")), gpus)
