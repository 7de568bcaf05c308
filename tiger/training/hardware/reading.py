"""The readers of clusters, chosen by the ending of a file, the fields of a document, or a SPEC."""

from collections.abc import Callable, Mapping
from pathlib import Path

from tiger.errors import InputError
from tiger.formats.hardware.nccltests import is_output
from tiger.formats.hardware.nvidia import is_matrix
from tiger.model.text import FileText, find_file, read_text, text_of
from tiger.model.wording import describe
from tiger.training.hardware.cluster import DEVICE_LIMIT, Cluster
from tiger.training.hardware.composition import (
    BANDWIDTHS,
    NETWORKS,
    OPTIONS,
    compose_document,
    is_network,
    name_network,
    read_inside,
)
from tiger.training.hardware.connection import NCCL_TESTS
from tiger.training.hardware.document import cluster_of_devices
from tiger.training.hardware.hosts import HOSTS, cluster_of_hosts
from tiger.training.hardware.insides import MACHINE, document_of_file
from tiger.training.hardware.machines import cluster_of_machines
from tiger.training.hardware.measured import cluster_of_run
from tiger.training.hardware.nvidia import DUMP, PRINTED, TOPO, cluster_of_topo
from tiger.training.hardware.options import HostArguments
from tiger.training.hardware.record import name_field
from tiger.training.hardware.spec import cluster_of_spec, is_spec

NO_ARGUMENTS = HostArguments()


def read_cluster(source: Path | str | Mapping[str, object], hosts: HostArguments = NO_ARGUMENTS) -> Cluster:
    """Return the cluster of a file, a SPEC such as `dgx:4`, or a document; raise InputError of `cluster` or below.

    Files are those of `read_cluster_document`.
    """
    return read_with_document(source, hosts)[1]


def read_with_document(
    source: Path | str | Mapping[str, object], hosts: HostArguments = NO_ARGUMENTS
) -> tuple[object, Cluster]:
    """Return a cluster as a document and itself, as `read_cluster` does."""
    if isinstance(source, Mapping):
        hosts.check_absent("a document")
        return dict(source), cluster_of_document(source)
    document = read_cluster_document(source, hosts)
    try:
        return document, cluster_of_document(document)
    except InputError as error:
        raise name_field(error, _name_parts(source, hosts)) from None


def read_cluster_document(source: Path | str, hosts: HostArguments = NO_ARGUMENTS) -> object:
    """Return a SPEC as it is, and what a file holds as a document.

    Files end in `.json` (a document), in `.txt` or `.topo` (what `nvidia-smi topo -m` or nccl-tests print), or in
    `.xml` (what NCCL dumps), or describe a network as those of `tiger assign` do, with `hosts` beside them. A document
    may name files for `hosts` and `machine`, from its own folder, whose text then stands there.
    """
    path = Path(source)
    suffix = path.suffix.lower()
    if suffix not in (".json", *PRINTED, *NETWORKS):
        if is_spec(source):
            hosts.check_absent(describe(source))
            return source
        known = ", ".join((".json", *PRINTED, *NETWORKS))
        got = describe(str(source), 300)
        raise InputError("cluster", f"expected a SPEC such as dgx:4 or a file ending in {known}, got {got}")
    text = read_text(path, "cluster")
    # What neither describes a network nor GPUs is told from both where a network is meant.
    meant = bool(hosts.given) and PRINTED.get(suffix) == TOPO and not (is_matrix(text) or is_output(text))
    if meant or is_network(path.name, text):
        return compose_document(path.name, text, hosts)
    hosts.check_absent(f"devices in {describe(path.name)}")
    return _insert_files(document_of_file(FileText(path.name, text), "cluster"), path.parent)


def _name_parts(source: Path | str, hosts: HostArguments) -> dict[str, str]:
    """Return how the caller calls the fields of a document that has been made of a source."""
    if hosts.given:
        rates = {f"cluster/networks/{level}/bandwidth": f"{BANDWIDTHS}/{level}" for level in hosts.bandwidths or ()}
        return rates | OPTIONS
    return {f"cluster/{name}": "cluster" for name in (TOPO, DUMP, NCCL_TESTS) if Path(source).suffix.lower() in PRINTED}


def _insert_files(document: object, folder: Path) -> object:
    """Return the document of a file with the texts of the files that it names."""
    if not isinstance(document, dict) or HOSTS not in document:
        return document
    whole = dict(document)
    if isinstance(whole[HOSTS], str):
        whole[HOSTS] = {"file": whole[HOSTS], "text": read_text(folder / whole[HOSTS], f"cluster/{HOSTS}")}
    if isinstance(whole.get(MACHINE), str):
        whole[MACHINE] = read_inside(whole[MACHINE], f"cluster/{MACHINE}", folder)
    return whole


def cluster_of_document(document: object, max_devices: int = DEVICE_LIMIT) -> Cluster:
    """Return the cluster that a document describes; text is a SPEC, and never opened as a file.

    An object has `devices` (and links), `machines` (and networks), `hosts` (with what is inside each, and networks),
    `nvidia_smi_topo`, `nccl_topo` or `nccl_tests`, or the name and the text of a file of devices as `file` and `text`.
    Raises InputError of `cluster` or below, for more than `max_devices` too.
    """
    if isinstance(document, str):
        return cluster_of_spec(document, max_devices)
    if not isinstance(document, Mapping):
        raise InputError("cluster", f"expected an object or a SPEC such as dgx:4, got {describe(document)}")
    file = find_file("cluster", document)
    if file is not None:
        return _cluster_of_file(file, max_devices)
    shapes = [name for name in _SHAPES if name in document]
    if len(shapes) != 1:
        got = " and ".join(shapes) or "none of them"
        network = name_network(document)
        if network is not None:
            got = f"{network}, a network: put its text into {HOSTS!r}, beside a {MACHINE!r}"
        raise InputError("cluster", f"expected one of the fields {', '.join(_SHAPES)}, got {got}")
    return _SHAPES[shapes[0]](document, max_devices)


def _cluster_of_file(file: FileText, max_devices: int) -> Cluster:
    """Return the cluster that the text of a file describes."""
    if is_network(file.file, text_of(file, "cluster")):
        what = (
            f"expected devices, as what is inside its hosts is not stated, got a network in {describe(file.file, 300)}"
        )
        raise InputError("cluster", f"{what}: put it into {HOSTS!r}, beside a {MACHINE!r}")
    document = document_of_file(file, "cluster")
    try:
        return cluster_of_document(document, max_devices)
    except InputError as error:
        raise name_field(error, _name_parts(file.file, NO_ARGUMENTS)) from None


_SHAPES: dict[str, Callable[[Mapping[str, object], int], Cluster]] = {
    "devices": cluster_of_devices,
    "machines": cluster_of_machines,
    HOSTS: cluster_of_hosts,
    TOPO: cluster_of_topo,
    DUMP: cluster_of_topo,
    NCCL_TESTS: cluster_of_run,
}
