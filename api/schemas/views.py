"""The request of `POST /views`, and views and files as answers."""

from dataclasses import dataclass, field
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

from tiger.api.previews import CircuitPreview, ClusterView, HardwareView, ModelView, TasksView
from tiger.api.schemas import networks
from tiger.api.schemas.assignment import Hardware, Tasks
from tiger.api.schemas.circuits import Coupling
from tiger.api.schemas.closed import ONE_FIELD, Closed, Documented
from tiger.api.schemas.reports import AsDocument
from tiger.api.seams.files import FileInfo
from tiger.circuits.drawing.routed import CircuitView
from tiger.mapping.drawing.view import MappingView
from tiger.model.options import about
from tiger.placement.drawing.view import PlacementView


def _take(wanted: str, *kinds: type) -> BeforeValidator:
    """Refuse values of other types than some, and say what is wanted; null is as good as left out."""

    def check(value: object) -> object:
        if value is not None and not isinstance(value, kinds):
            raise PydanticCustomError("form", "expected {wanted}", {"wanted": wanted})
        return value

    return BeforeValidator(check)


Device = Annotated[list[object] | dict[str, object], Documented(Coupling)]
Model = Annotated[list[object] | dict[str, object], Documented(networks.Model)]
Cluster = Annotated[dict[str, object], Documented(networks.Cluster)]


@dataclass(frozen=True, kw_only=True)
class ViewRequest(Closed):
    """Ask for the picture of one thing that other requests may state."""

    __pydantic_config__ = ONE_FIELD

    tasks: Annotated[
        str | Tasks | None,
        _take("a specification such as 'halo:8x8', a node-link graph or a file as {file, text}", str, dict),
    ] = field(default=None, metadata=about("Tasks, as `POST /assign` takes them."))
    topology: Annotated[
        str | Hardware | Device | None,
        _take("a specification such as 'torus:4x4', pairs of qubits or an object", str, list, dict),
    ] = field(default=None, metadata=about("Hardware or a device, as `POST /assign` takes them."))
    circuit: Annotated[str | None, _take("the text of a circuit in OpenQASM 2 or 3", str)] = field(
        default=None, metadata=about("A circuit, as `POST /assign` takes it.")
    )
    model: Annotated[
        str | Model | None, _take("a specification such as 'transformer:..', a list or an object", str, list, dict)
    ] = field(
        default=None,
        metadata=about("A model, as `POST /place` takes it; `nodes` and `operators` are shown with their edges."),
    )
    cluster: Annotated[str | Cluster | None, _take("a specification such as 'dgx:2' or an object", str, dict)] = field(
        default=None, metadata=about("A cluster, as `POST /place` takes it.")
    )


class FileBody(BaseModel):
    """Describe a file that a job has left, to be had from `/jobs/{id}/files/{name}`."""

    model_config = ConfigDict(extra="forbid", title="File")

    name: str
    description: str = Field(description="What it holds, or the command that takes it.")
    bytes: int
    media_type: str


class EmissionBody(BaseModel):
    """Describe what the answer of a job can be written for, to be had from `/jobs/{id}/emit/{name}`."""

    model_config = ConfigDict(extra="forbid", title="Emission")

    name: str
    file: str = Field(description="What the file is called.")
    media_type: str


ViewBody = Annotated[
    Annotated[MappingView, AsDocument()]
    | Annotated[CircuitView, AsDocument()]
    | Annotated[PlacementView, AsDocument()],
    Field(discriminator="kind_"),
]
PreviewBody = Annotated[
    Annotated[TasksView, AsDocument()]
    | Annotated[HardwareView, AsDocument()]
    | Annotated[CircuitPreview, AsDocument()]
    | Annotated[ModelView, AsDocument()]
    | Annotated[ClusterView, AsDocument()],
    Field(discriminator="kind_"),
]


def describe_file(file: FileInfo) -> dict[str, object]:
    """Return what is known of a file as JSON."""
    return {"name": file.name, "description": file.description, "bytes": file.size, "media_type": file.media_type}
