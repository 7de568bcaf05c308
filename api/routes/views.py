"""The work behind `POST /views`: from the bytes of a request to the picture of what it states."""

from collections.abc import Mapping

from tiger.api import previews
from tiger.api.routes.assignment import read_network, read_tasks
from tiger.api.routes.circuits import read_circuit, read_device
from tiger.api.routes.document import encode, parse
from tiger.api.routes.placement import read_cluster, read_model
from tiger.api.schemas import limits as bounds
from tiger.api.schemas.circuits import scan_circuit
from tiger.api.schemas.closed import only_given
from tiger.api.schemas.files import open_document
from tiger.api.schemas.limits import Limits
from tiger.api.schemas.uploads import put_texts
from tiger.api.schemas.views import ViewRequest
from tiger.api.seams.upload import NO_UPLOADS, UploadText
from tiger.errors import InputError
from tiger.formats import nodelink
from tiger.mapping.hardware import build_hardware
from tiger.mapping.options import HardwareArguments
from tiger.model.document import Document
from tiger.model.text import find_file
from tiger.model.topology import Topology
from tiger.model.wording import describe
from tiger.topologies import spec

# What says of an object that it is a device of qubits; no other hardware has links of one direction.
OF_DEVICES = ("coupling_map", "gates")
# What says of a model that it is a graph of operators.
OF_OPERATORS = ("nodes", "operators")


def check(body: bytes, limits: Limits, uploads: Mapping[str, UploadText] = NO_UPLOADS) -> ViewRequest:
    """Return the request that a body states; raise InputError, or pydantic's ValidationError for a type.

    What it states is only measured; it may refer to `uploads`.
    """
    request = ViewRequest.read(put_texts(body, parse(body), uploads))
    only_given(request)
    bounds.check_tasks(limits, request.tasks)
    _check_topology(limits, request.topology)
    if request.circuit is not None:
        scan_circuit(request.circuit, limits)
    bounds.check_network(limits, request.model)
    bounds.check_cluster(limits, request.cluster)
    return request


def preview(body: bytes, limits: Limits, uploads: Mapping[str, UploadText] = NO_UPLOADS) -> bytes:
    """Return the view of what a checked body states as strict JSON; raise InputError that names the field.

    No text in it is taken for the path of a file.
    """
    return encode(_view(check(body, limits, uploads), limits))


def _check_topology(limits: Limits, topology: object) -> None:
    """Raise InputError of `topology` for one with too many nodes, qubits or links, or of an unknown kind."""
    if isinstance(topology, str):
        spec.find_kind(topology)
    elif _is_device(topology):
        bounds.check_device(limits, topology)
    else:
        bounds.check_hardware(limits, topology)


def _is_device(topology: object) -> bool:
    """Return whether hardware is stated as a device of qubits."""
    if isinstance(topology, dict):
        return topology.get("directed") is True or any(name in topology for name in OF_DEVICES)
    return isinstance(topology, list)


def _view(request: ViewRequest, limits: Limits) -> Document:
    """Return the view of what a request states."""
    if request.tasks is not None:
        return previews.preview_tasks(read_tasks(request.tasks, limits).tasks)
    if request.topology is not None:
        return previews.preview_topology(_read_topology(request.topology, limits))
    if request.circuit is not None:
        return previews.preview_circuit(read_circuit(request.circuit, limits))
    if request.model is not None:
        return _view_model(request.model, limits)
    return previews.preview_cluster(read_cluster(request.cluster, limits))


def _read_topology(stated: object, limits: Limits) -> Topology:
    """Return hardware, whose nodes are the qubits of a device where one is stated."""
    document = open_document("topology", stated)
    _check_topology(limits, document)
    if isinstance(document, list) or (isinstance(document, dict) and _is_device(document)):
        from tiger.circuits.transpiler.target import coupling_of

        coupling = coupling_of(read_device(document, limits))
        nodes = [{"id": qubit} for qubit in range(coupling.size)]
        edges = [{"source": a, "target": b} for a, b in coupling.edges.tolist()]
        return nodelink.read_topology({"nodes": nodes, "edges": edges})
    if isinstance(document, str | dict):
        return build_hardware(HardwareArguments(topology=read_network(document)))
    raise InputError("topology", f"expected an object or pairs of qubits, got {describe(document)}")


def _view_model(stated: object, limits: Limits) -> Document:
    """Return the view of layers, or of operators with their edges; a file that is no JSON may hold either."""
    from tiger.training.models.graphs import operators_of_document
    from tiger.training.models.reading import model_of_document

    model = read_model(stated, limits)
    operators = isinstance(model, dict) and any(name in model for name in OF_OPERATORS)
    try:
        layers = None if operators else model_of_document(model, limits.max_tasks)
    except InputError:
        if find_file("model", model) is None:
            raise
        layers = None
    return previews.preview_model(layers or operators_of_document(model, limits.max_tasks)[0])
