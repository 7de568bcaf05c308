"""The requests of `POST /place` and `POST /plan`."""

from dataclasses import dataclass, field
from typing import Annotated

from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

from tiger.api.schemas import networks
from tiger.api.schemas.closed import Closed, Documented, Pins
from tiger.api.schemas.limits import SMALL_LAYERS, Limits, check_cluster, check_network
from tiger.api.schemas.starts import StartJob
from tiger.model.options import about
from tiger.placement.params import PlaceOptions
from tiger.planning.params import PlanOptions


def _check_model(value: object) -> object:
    """Refuse what is neither a specification nor a document."""
    if not isinstance(value, str | list | dict):
        raise PydanticCustomError("model", "expected a specification such as 'transformer:..', a list or an object")
    return value


def _check_cluster(value: object) -> object:
    """Refuse what is neither a specification nor a document."""
    return value if value is None else _check_needed(value)


def _check_needed(value: object) -> object:
    """Refuse what is neither a specification nor a document, nothing among it."""
    if not isinstance(value, str | dict):
        raise PydanticCustomError("cluster", "expected a specification such as 'dgx:2' or an object")
    return value


def _check_costs(value: object) -> object:
    """Refuse what is neither a word nor a document, nothing aside."""
    if not isinstance(value, str | dict | None):
        raise PydanticCustomError("costs", "expected the word 'aiconfigurator' or an object")
    return value


Model = Annotated[str | list[object] | dict[str, object], Documented(str | networks.Model)]
Hardware = Annotated[
    str | dict[str, object] | None, BeforeValidator(_check_cluster), Documented(str | networks.Cluster | None)
]
Needed = Annotated[str | dict[str, object], BeforeValidator(_check_needed), Documented(str | networks.Cluster)]
CLUSTER = (
    "Specification such as `dgx:2`, or an object: `devices` with `links` or uniform bandwidth and latency, "
    "`machines` with their networks, `hosts` (a network, as a file that `POST /assign` takes) with a "
    "`machine` inside each and `networks` by level, `nvidia_smi_topo`, `nccl_topo` or `nccl_tests`, or a file of "
    "devices as `{file, text}`, which a `machine` may be too: its name, whose ending says what it is, and its text. "
    "Quantities are bytes, bytes/s and seconds, or text with a unit such as `80GB`, `200Gb/s` or `25us`. A "
    "cluster that is a string is never opened as a file."
)


# Lists of a model of which each entry is a layer or an operator.
LISTS = ("layers", "operators", "nodes")


@dataclass(frozen=True, kw_only=True)
class ModelBody:
    """Hold a model."""

    model: Annotated[Model, BeforeValidator(_check_model)] = field(
        metadata=about(
            "Table of `layers` with optional `edges` and `tied` groups, the shape of a `transformer`, the text of a "
            "PipeDream profile as `graph`, the `config.json` of a model on Hugging Face, a name such as `llama-3-70b` "
            "or `deepseek-v3`, or a specification `transformer:layers=24,..`. Times are seconds of one microbatch; of "
            "a shape, by a roofline of the types of devices (an H100 where no type is stated), or at its `flops` a "
            "second on a device of speed 1. With `serve` it has no backward pass, and memory is weights and KV cache. "
            "In the mode dag, `nodes` and `edges` of dnn-partitioning in ms, a table of `operators` with `edges` in "
            "seconds, or a `graph`. Quantities are bytes and seconds, or text with a unit such as `80GB` or `3ms`; "
            "those of dnn-partitioning and a `graph` are numbers alone. All of these may also be a file, as `{file, "
            "text}`: its name, whose ending says what it is, and its text. A model that is a string is never opened "
            "as a file."
        )
    )


@dataclass(frozen=True, kw_only=True)
class Network(ModelBody):
    """Hold a model and the cluster that is to run it, if it states none itself."""

    cluster: Hardware = field(
        default=None, metadata=about(f"{CLUSTER} Only a graph of operators that states its devices goes without.")
    )


@dataclass(frozen=True, kw_only=True)
class CostsBody:
    """Hold where times come from."""

    costs: Annotated[dict[str, object] | str | None, BeforeValidator(_check_costs)] = field(
        default=None,
        metadata=about(
            "Where the times of a transformer come from: a file of measured operations, `{file, text}` with a name "
            "that ends in `.csv`, an object of `factors`, as `tiger calibrate` writes them, or `aiconfigurator` for "
            "the tables of that package, where the service has it. A roofline of the devices without it."
        ),
    )


@dataclass(frozen=True, kw_only=True)
class PlaceRequest(PlaceOptions, StartJob, CostsBody, Network, Closed):
    """Ask which layers or operators of a model run on which devices of a cluster."""

    pinned: Pins = field(
        default_factory=dict, metadata=about("Device of every layer or operator that must go there, both by name.")
    )

    start: dict[str, object] | None = field(
        default=None,
        metadata=about(
            "Placement to improve, which the answer is never worse than: a report, or another object with its "
            "`stages` of `ops` and `devices`, or the device of every layer or operator by name."
        ),
    )

    def measure(self, limits: Limits) -> None:
        """Raise InputError for more than a service allows; model and cluster are only measured."""
        check_network(limits, self.model)
        check_cluster(limits, self.cluster)

    @property
    def is_small(self) -> bool:
        """Guess whether listed layers or operators, times the effort, are few; a described model's are not counted."""
        listed: object = self.model
        if isinstance(self.model, dict):
            listed = next((self.model[name] for name in LISTS if name in self.model), None)
        return isinstance(listed, list) and len(listed) * self.effort <= SMALL_LAYERS


@dataclass(frozen=True, kw_only=True)
class PlanRequest(PlanOptions, CostsBody, ModelBody, Closed):
    """Ask by which degrees of parallelism, microbatches and schedule a cluster trains a model quickest."""

    cluster: Needed = field(metadata=about(CLUSTER))

    def measure(self, limits: Limits) -> None:
        """Raise InputError for more than a service allows; model and cluster are only measured."""
        check_network(limits, self.model)
        check_cluster(limits, self.cluster)

    @property
    def is_small(self) -> bool:
        """Say no, as a plan is the search of many placements."""
        return False
