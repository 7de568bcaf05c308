"""The request of `POST /experts`."""

from dataclasses import dataclass, field
from typing import Annotated

from tiger.api.schemas.closed import Closed, Documented
from tiger.api.schemas.limits import SMALL_LAYERS, Limits, check_cluster, fault
from tiger.api.schemas.placement import CLUSTER, Needed
from tiger.expert_maps.params import ExpertOptions
from tiger.model.options import about


@dataclass(frozen=True, kw_only=True)
class ExpertRequest(ExpertOptions, Closed):
    """Ask where the experts of a mixture go, and whether a change of the map in use pays."""

    trace: Annotated[list[object], Documented(list[list[int] | list[float] | list[list[int]] | list[list[float]]])] = (
        field(
            metadata=about(
                "The expert of each token in each layer, [tokens, layers], or the k of each, [tokens, layers, k]; with "
                "`kind` loads the tokens of a step that go to each expert, [layers, experts], or those of several "
                "batches, the newest last, [batches, layers, experts]."
            )
        )
    )
    cluster: Needed = field(metadata=about(CLUSTER))
    in_use: Annotated[list[object] | None, Documented(list[list[int]] | None)] = field(
        default=None, metadata=about("The map in use: the expert of every slot of each layer.")
    )

    @property
    def plain(self) -> dict[str, object]:
        """Return numbers as arrays."""
        from tiger.expert_maps.request import array_of_rows  # in a worker alone

        in_use = None if self.in_use is None else array_of_rows("in_use", self.in_use)
        return {"trace": array_of_rows("trace", self.trace), "in_use": in_use}

    def measure(self, limits: Limits) -> None:
        """Raise InputError for more than a service allows: of `trace` for more slots in all layers than edges.

        What is no list of lists is found at fault later, and the cluster is only measured.
        """
        check_cluster(limits, self.cluster)
        first = self.trace[0] if self.trace else None
        columns = len(first) if isinstance(first, list) else 0
        layers, experts = (len(self.trace), columns) if self.kind == "loads" else (columns, self.experts or 0)
        if self.kind == "loads" and isinstance(first, list) and first and isinstance(first[0], list):
            layers, experts = len(self.trace) * columns, len(first[0])
        slots = layers * (experts + self.replicas)
        if slots > limits.max_edges:
            raise fault("trace", limits.max_edges, "slots in all layers", slots)

    @property
    def is_small(self) -> bool:
        """Guess whether these are few loads, which are balanced at once; a search over transitions takes longer."""
        if self.kind != "loads" or self.sharing != "equal" or len(self.trace) > SMALL_LAYERS:
            return False
        # Several batches are searched for longer.
        first = self.trace[0] if self.trace else None
        return not (isinstance(first, list) and first and isinstance(first[0], list))
