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
from tiger.pipeline.hardware.hosts import HOSTS, MACHINE, cluster_of_hosts
from tiger.pipeline.hardware.machines import cluster_of_machines
from tiger.pipeline.hardware.nvidia import DUMP, TOPO, cluster_of_topo

_SPEC = re.compile(r"[A-Za-z][A-Za-z0-9-]*:[^/\\]*")


def read_cluster(source: Path | str | Mapping[str, object]) -> Cluster:
    """Return the cluster of a file, a SPEC such as `dgx:4`, or a document; raise InputError of `cluster` or below.

    Files are those of `read_cluster_document`.
    """
    return cluster_of_document(source if isinstance(source, Mapping) else read_cluster_document(source))


def read_cluster_document(source: Path | str) -> object:
    """Return a SPEC as it is, and what a file holds as a document.

    Files end in `.json` (a document), in `.txt` or `.topo` (what `nvidia-smi topo -m` prints), or in `.xml` (what NCCL
    dumps). A document may name files for `hosts` and `machine`, from its own folder, whose text then stands there.
    """
    path = Path(source)
    suffix = path.suffix.lower()
    if suffix in _PRINTED:
        return {_PRINTED[suffix]: read_text(path, "cluster")}
    if suffix == ".json":
        return _insert_files(read_json(read_text(path, "cluster"), "cluster"), path.parent)
    if isinstance(source, str) and (_SPEC.fullmatch(source) or source in KINDS):
        return source
    known = ", ".join((".json", *_PRINTED))
    got = describe(str(source), 300)
    if suffix in (".conf", ".yaml", ".yml", ".ibnet", ".csv"):
        got += f", a network: put it into a {HOSTS!r} document, with a {MACHINE!r} and networks"
    raise InputError("cluster", f"expected a SPEC such as dgx:4 or a file ending in {known}, got {got}")


def _insert_files(document: object, folder: Path) -> object:
    """Return the document of a file with the texts of the files that it names."""
    if not isinstance(document, dict) or HOSTS not in document:
        return document
    whole = dict(document)
    if isinstance(whole[HOSTS], str):
        whole[HOSTS] = {"file": whole[HOSTS], "text": read_text(folder / whole[HOSTS], f"cluster/{HOSTS}")}
    machine = whole.get(MACHINE)
    if isinstance(machine, str):
        name = _PRINTED.get(Path(machine).suffix.lower())
        if name is None:
            what = f"expected an object or a file ending in {', '.join(_PRINTED)}"
            raise InputError(f"cluster/{MACHINE}", f"{what}, got {describe(machine, 300)}")
        whole[MACHINE] = {name: read_text(folder / machine, f"cluster/{MACHINE}")}
    return whole


def cluster_of_document(document: object, max_devices: int = DEVICE_LIMIT) -> Cluster:
    """Return the cluster that a document describes; text is a SPEC, and never opened as a file.

    An object has `devices` (and links), `machines` (and networks), `hosts` (with what is inside each, and networks),
    `nvidia_smi_topo` or `nccl_topo`. Raises InputError of `cluster` or below, for more than `max_devices` too.
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
    HOSTS: cluster_of_hosts,
    TOPO: cluster_of_topo,
    DUMP: cluster_of_topo,
}
_PRINTED = {".txt": TOPO, ".topo": TOPO, ".xml": DUMP}
