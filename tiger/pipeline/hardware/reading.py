"""The readers of clusters, chosen by the ending of a file, the fields of a document, or a SPEC."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from tiger.errors import InputError
from tiger.formats.jsontext import read_json
from tiger.formats.text import read_text
from tiger.model.wording import describe
from tiger.pipeline.hardware.cluster import DEVICE_LIMIT, Cluster
from tiger.pipeline.hardware.dgx import KINDS, cluster_of_spec
from tiger.pipeline.hardware.document import cluster_of_devices
from tiger.pipeline.hardware.machines import cluster_of_machines
from tiger.pipeline.hardware.nvidia import TOPO, cluster_of_topo

_SPEC = re.compile(r"[A-Za-z][A-Za-z0-9-]*:[^/\\]*")


def read_cluster(source: Path | str | Mapping[str, object]) -> Cluster:
    """Return the cluster of a file, a SPEC such as `dgx:4`, or a document; raise InputError of `cluster` or below.

    Files end in `.json` (a document) or in `.txt` or `.topo` (what `nvidia-smi topo -m` prints).
    """
    if isinstance(source, Mapping):
        return cluster_of_document(source)
    path = Path(source)
    reader = _FILES.get(path.suffix.lower())
    if reader is not None:
        return reader(read_text(path, "cluster"))
    if isinstance(source, str) and (_SPEC.fullmatch(source) or source in KINDS):
        return cluster_of_spec(source)
    known = ", ".join(_FILES)
    raise InputError(
        "cluster", f"expected a SPEC such as dgx:4 or a file ending in {known}, got {describe(str(source), 300)}"
    )


def cluster_of_document(document: object, max_devices: int = DEVICE_LIMIT) -> Cluster:
    """Return the cluster that a document describes; text is a SPEC, and never opened as a file.

    An object has `devices` (and links), `machines` (and networks), or `nvidia_smi_topo`. Raises InputError of `cluster`
    or below, for more than `max_devices` too.
    """
    if isinstance(document, str):
        return cluster_of_spec(document, max_devices)
    if not isinstance(document, Mapping):
        raise InputError("cluster", f"expected an object or a SPEC such as dgx:4, got {describe(document)}")
    shapes = [name for name in _SHAPES if name in document]
    if len(shapes) != 1:
        got = " and ".join(shapes) or "none of them"
        raise InputError("cluster", f"expected one of the fields {', '.join(_SHAPES)}, got {got}")
    return _SHAPES[shapes[0]](document, max_devices)


_SHAPES: dict[str, Callable[[Mapping[str, object], int], Cluster]] = {
    "devices": cluster_of_devices,
    "machines": cluster_of_machines,
    TOPO: cluster_of_topo,
}
_FILES: dict[str, Callable[[str], Cluster]] = {
    ".json": lambda text: cluster_of_document(read_json(text, "cluster")),
    ".txt": lambda text: cluster_of_topo({TOPO: text}),
    ".topo": lambda text: cluster_of_topo({TOPO: text}),
}
