"""Models and clusters as the documents that a service takes."""

import math
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from tiger.errors import InputError
from tiger.model.jsontext import read_json
from tiger.model.text import read_text
from tiger.model.units import GIGABYTE
from tiger.model.wording import describe
from tiger.training.arguments import Hardware, Model
from tiger.training.hardware.accelerators import TERA, Accelerator
from tiger.training.hardware.cluster import NO_LINK, Cluster
from tiger.training.hardware.options import HostArguments
from tiger.training.hardware.reading import NO_ARGUMENTS, read_with_document
from tiger.training.models.csvrows import rows_of_csv
from tiger.training.models.description import is_description
from tiger.training.models.gguf_models import ENDING
from tiger.training.models.layers import Layers
from tiger.training.models.limits import LAYER_LIMIT
from tiger.training.models.reading import model_of_document, read_model


def model_document(source: Model) -> tuple[object, Layers]:
    """Return a model as a document, and its layers; raise InputError of `model`, and TypeError."""
    document = state_model(source)
    return document, source if isinstance(source, Layers) else model_of_document(document)


def state_model(source: Model) -> object:
    """Return a model as a document; raise InputError of `model` where a file cannot be read, and TypeError."""
    if isinstance(source, Layers):
        if source.group_traffic is not None or source.working_bytes.any():
            reason = "expected layers as they are on one replica, of which nothing is shared out or sent in passes"
            raise InputError("model", f"{reason}, to make a document of them, got others: describe the model instead")
        scattered = {"scattered": True} if source.scattered else {}
        rows = {"layers": _rows(source), "tied": _tied_groups(source), "slices": source.slices}
        return {**rows, **scattered}
    if not isinstance(source, str | Path | Mapping | list):
        raise TypeError(f"expected model as Layers, a path, a SPEC or a document, got {type(source).__name__}")
    document = _model_of_file(source) if isinstance(source, str | Path) else source
    return dict(document) if isinstance(document, Mapping) else document


def cluster_document(source: Hardware, hosts: HostArguments = NO_ARGUMENTS) -> tuple[object, Cluster]:
    """Return a cluster as a document, and itself; raise InputError of `cluster`, and TypeError."""
    if isinstance(source, Cluster):
        hosts.check_absent("a Cluster")
        return _devices(source), source
    if not isinstance(source, str | Path | Mapping):
        raise TypeError(f"expected cluster as a Cluster, a path, a SPEC or a document, got {type(source).__name__}")
    return read_with_document(source, hosts)


def _model_of_file(source: str | Path) -> object:
    """Return a SPEC or a name as it is, and what a file holds as a document."""
    if isinstance(source, str) and is_description(source):
        return source
    ending = Path(source).suffix.lower()
    if ending == ENDING:
        reason = "expected text, as a GGUF file is read where it lies and no service takes it"
        raise InputError("model", f"{reason}, got {describe(str(source), 300)}")
    if ending not in (".txt", ".csv", ".json"):
        return read_model(source)
    text = read_text(Path(source), "model")
    if ending == ".csv":
        return {"layers": rows_of_csv(text, LAYER_LIMIT)}
    return {"graph": text} if ending == ".txt" else read_json(text, "model")


def _rows(layers: Layers) -> list[dict[str, object]]:
    """Return layers as a table: a chain in which each sends on what crosses the boundary behind it."""
    columns: dict[str, list[object]] = {
        "name": list(layers.names),
        "kind": list(layers.kinds),
        "module": list(layers.modules),
        "activation_bytes": layers.crossing_bytes[1:].tolist(),
    }
    costs = ("forward_s", "backward_s", "weight_s", "parameter_bytes", "gradient_bytes", "state_bytes", "held_bytes")
    # A table that has these says that its layers can be cut.
    sliced = ("reduced_bytes", "reductions") if layers.slices != 1 else ()
    columns |= {name: getattr(layers, name).tolist() for name in (*costs, *sliced)}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _tied_groups(layers: Layers) -> list[list[str]]:
    """Return groups of layers that share parameters, by name; a group of one says nothing."""
    return [[layers.names[member] for member in group] for group in layers.tied if len(group) > 1]


def _state_type(known: Accelerator | None) -> dict[str, object]:
    """Return the fields of a device that say what it is known as."""
    if known is None:
        return {}
    if known.name:
        return {"type": known.name}
    return {"flops": known.tflops * TERA, "memory_bandwidth": known.bandwidth_gb * GIGABYTE}


def _devices(cluster: Cluster) -> dict[str, object]:
    """Return a cluster device by device, the most frequent time of messages as that of all that are not listed."""
    devices: list[dict[str, object]] = []
    for k, name in enumerate(cluster.names):
        memory = float(cluster.memory_bytes[k])
        room = {"memory_bytes": memory} if math.isfinite(memory) else {}
        label = str(int(cluster.machine[k]))
        device = {"name": name, "kind": cluster.kinds[k], "speed": float(cluster.speed[k]), "machine": label}
        devices.append({**device, **room, **_state_type(cluster.types[k])})
    machines: dict[str, object] = {}
    if not cluster.own_nics:
        machines["nics"] = {str(cluster.machine[k]): int(cluster.nics[k]) for k in np.flatnonzero(cluster.nics)}
    if cluster.reduces.any():
        adding = np.flatnonzero(cluster.reduces)
        machines["in_switch_reduction"] = {str(cluster.machine[k]): float(cluster.reduces[k]) for k in adding}
    tables = [list(map(list, zip(c.size_bytes.tolist(), c.seconds.tolist(), strict=True))) for c in cluster.curves]
    low, high = np.triu_indices(cluster.size, 1)
    numbers = cluster.link[low, high].tolist()
    pairs = list(zip(low.tolist(), high.tolist(), numbers, strict=True))
    plain = [k for k in numbers if k == NO_LINK or not cluster.curves[k].wire]
    usual = NO_LINK if NO_LINK in plain or not plain else Counter(plain).most_common(1)[0][0]
    links = [
        {
            "a": cluster.names[a],
            "b": cluster.names[b],
            "table": tables[k],
            **({"wire": True} if cluster.curves[k].wire else {}),
        }
        for a, b, k in pairs
        if k not in (NO_LINK, usual)
    ]
    uniform = {} if usual == NO_LINK else {"uniform_table": tables[usual]}
    return {"devices": devices, "links": links, **uniform, **machines}
