"""Clusters of two parts: the description of a network between hosts, and what is inside each of them."""

from collections.abc import Mapping
from pathlib import Path

from tiger.errors import InputError
from tiger.formats.hardware.nccltests import is_output
from tiger.formats.hardware.nvidia import is_matrix
from tiger.model.jsontext import read_json
from tiger.model.text import FileText, read_text
from tiger.model.wording import describe
from tiger.training.hardware.connection import NCCL_TESTS
from tiger.training.hardware.hosts import HOSTS, LABELS
from tiger.training.hardware.insides import ENDINGS, MACHINE, document_of_file
from tiger.training.hardware.nvidia import DUMP, PRINTED, TOPO
from tiger.training.hardware.options import HostArguments
from tiger.training.hardware.spec import is_spec

INSIDE, BANDWIDTHS = "node_topology", "bandwidths"
NETWORKS = (".conf", ".yaml", ".yml", ".csv", ".arc")
# How options call the parts of the document that is made of them.
OPTIONS = {
    f"cluster/{HOSTS}/text": "cluster",
    f"cluster/{HOSTS}": "cluster",
    f"cluster/{MACHINE}/{TOPO}": INSIDE,
    f"cluster/{MACHINE}/{DUMP}": INSIDE,
    f"cluster/{MACHINE}": INSIDE,
    "cluster/networks": BANDWIDTHS,
    f"cluster/{LABELS}": LABELS,
}


def is_network(file: str, text: str) -> bool:
    """Return whether a file, by its name and its text, describes hosts and the network between them, and no devices."""
    suffix = Path(file).suffix.lower()
    if suffix == ".json":
        return name_network(read_json(text, "cluster")) is not None
    if PRINTED.get(suffix) != TOPO or is_matrix(text) or is_output(text):
        return suffix in NETWORKS
    # For networks alone, as they wait for scipy.
    from tiger.formats import slurm
    from tiger.formats.hardware import hosts, infiniband, pingpong

    known = (infiniband.is_network, slurm.is_network, pingpong.is_output)
    return any(is_known(text) for is_known in known) or hosts.find_other(text) is None


def name_network(document: object) -> str | None:
    """Return the name of the kind of network in JSON, None for other JSON."""
    if not isinstance(document, dict) or document.keys() & {"devices", "machines", HOSTS, TOPO, DUMP, NCCL_TESTS}:
        return None
    from tiger.formats.hardware import instances, kubernetes  # for networks alone, as they wait for scipy

    if kubernetes.is_list(document):
        return "nodes of Kubernetes"
    if instances.is_answer(document):
        return "instances of AWS"
    return "a graph of nodes" if "nodes" in document else None


def compose_document(file: str, text: str, hosts: HostArguments) -> dict[str, object]:
    """Return the document of a network with a machine inside each host; raise InputError of `node_topology`.

    Raises TypeError for arguments of another type.
    """
    from tiger.formats.hardware.composition import list_insides  # for networks alone, as it waits for scipy

    insides = list_insides(hosts.node_topology)
    if not insides:
        what = "expected what is inside each host, such as dgx:1 or a file of `nvidia-smi topo -m`"
        raise InputError(INSIDE, f"{what}, as {describe(file, 300)} describes a network without devices, got none")
    machines = [read_inside(inside.source, INSIDE) for inside in insides]
    document: dict[str, object] = {HOSTS: {"file": file, "text": text}, MACHINE: machines[0]}
    if insides[0].hosts is not None:
        document[MACHINE] = [
            {HOSTS: inside.hosts, MACHINE: machine} for inside, machine in zip(insides, machines, strict=True)
        ]
    if hosts.bandwidths is not None:
        if not isinstance(hosts.bandwidths, Mapping):
            raise TypeError(f"expected bandwidths by level, got {type(hosts.bandwidths).__name__}")
        document["networks"] = {level: {"bandwidth": amount} for level, amount in hosts.bandwidths.items()}
    if hosts.labels is not None:
        if isinstance(hosts.labels, str):
            raise TypeError("expected labels as a list of texts, got a text")
        document[LABELS] = list(hosts.labels)
    return document


def read_inside(source: object, field: str, folder: Path = Path()) -> object:
    """Return a machine as a document by its SPEC or its file, which may be in a folder; raise InputError of a field."""
    if isinstance(source, str | Path):
        if Path(source).suffix.lower() in ENDINGS:
            return document_of_file(FileText(str(source), read_text(folder / source, field)), field)
        if is_spec(source):
            return source
    what = f"expected a SPEC such as dgx:1 or a file ending in {', '.join(ENDINGS)}"
    raise InputError(field, f"{what}, got {describe(str(source), 300)}")
