"""The request of `POST /experts`."""

from dataclasses import dataclass, field
from typing import Annotated

from tiger.api.schemas.closed import Closed, Documented
from tiger.api.schemas.limits import Limits, fault
from tiger.api.schemas.placement import CLUSTER, Needed
from tiger.expert_maps.params import ExpertOptions
from tiger.model.options import about


@dataclass(frozen=True, kw_only=True)
class ExpertRequest(ExpertOptions, Closed):
    """Ask where the experts of a mixture go, and whether a change of the map in use pays."""

    trace: Annotated[list[object], Documented(list[list[int] | list[float] | list[list[int]]])] = field(
        metadata=about(
            "The expert of each token in each layer, [tokens, layers], or the k of each, [tokens, layers, k]; with "
            "`kind` loads the tokens of a step that go to each expert, [layers, experts]."
        )
    )
    cluster: Needed = field(metadata=about(CLUSTER))
    in_use: Annotated[list[object] | None, Documented(list[list[int]] | None)] = field(
        default=None, metadata=about("The map in use: the expert of every slot of each layer.")
    )


def check_experts(limits: Limits, request: ExpertRequest) -> None:
    """Raise InputError of `trace` for more slots in all layers than edges that a graph may have.

    What is no list of lists is found at fault later.
    """
    first = request.trace[0] if request.trace else None
    columns = len(first) if isinstance(first, list) else 0
    layers, experts = (len(request.trace), columns) if request.kind == "loads" else (columns, request.experts or 0)
    slots = layers * (experts + request.replicas)
    if slots > limits.max_edges:
        raise fault("trace", limits.max_edges, "slots in all layers", slots)
