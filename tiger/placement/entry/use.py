"""The use of placing a network: what it takes, how it is answered, and what is said of its reports."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from tiger.errors import InputError
from tiger.model.spelling import spelled
from tiger.placement.emission.delivery import PlanForSystem
from tiger.placement.entry.arguments import PlaceCall
from tiger.run.use import Command, Kernels, Late, Remote, Use

EXPERT_MODE = "experts"
# The options of the command that the mode experts alone has, and those that it has, too.
OWN = {"experts", "held_out"}
SHARED = {
    *("model", "cluster", "node_topology", "bandwidths", "labels", "mode"),
    *("seed", "effort", "time_limit", "plot", "server", "json_file"),
}


@dataclass(frozen=True, kw_only=True)
class PlaceDelivery(PlanForSystem):
    """Add what is said of experts, which another command places."""

    experts: int | None = field(
        default=None,
        metadata=spelled("In the mode experts, the experts of a layer.", metavar="E"),
    )
    held_out: float = field(
        default=0.1,
        metadata=spelled("In the mode experts, the share of the tokens that only test a placement.", metavar="X"),
    )

    def check(self, asked: Mapping[str, object], json_file: str | None) -> None:
        """Raise InputError where what is placed is no chain as well."""
        super().check(asked, json_file)
        mode = asked["mode"]
        if self.emit is not None and mode != "chain":
            raise InputError("emit", f"expected the mode chain beside it, got the mode {mode}")


def hand_over(given: Mapping[str, object], stated: frozenset[str]) -> tuple[str, Mapping[str, object]] | None:
    """Return what `tiger experts` is given in the mode experts, which is the same with fewer options.

    Raises InputError for an option that another mode alone has.
    """
    mode = given["mode"]
    if mode != EXPERT_MODE:
        for name in sorted(OWN & stated):
            raise InputError(name, f"expected the mode experts beside it, got the mode {mode}")
        return None
    for name in sorted(stated - OWN - SHARED):
        raise InputError(name, "expected the mode chain or dag beside it, got the mode experts")
    if given["experts"] is None:
        raise InputError("experts", "expected the number of experts of a layer beside the mode experts, got none")
    if given["cluster"] is None:
        raise InputError("cluster", "expected a cluster, got none")
    kept = {name: given[name] for name in OWN | SHARED - {"model", "mode"}}
    return EXPERT_MODE, {"source": given["model"], **kept}


PLACEMENT = Use(
    answer=Late("tiger", "place"),
    report=Late("tiger", "PlacementReport"),
    schema="tiger.placement/1",
    summary=Late("tiger.placement.entry.summary", "placement_summary"),
    explanation=Late("tiger.placement.entry.explanation", "explain_placement"),
    pictures=Late("tiger.placement.drawing.pictures", "list_pictures"),
    remote=Remote(path="place", state=Late("tiger.placement.entry.remote", "state_placement")),
    kernels=Kernels(command="place", stages=Late("tiger.placement.warm", "STAGES"), ahead=False),
    commands=(
        Command(
            name="place",
            call=PlaceCall,
            help="""Place the layers of a network on a cluster, as the stages of a pipeline, or with --mode its
            operators or experts.

            Exits with 0 when that is done, 1 when the cluster cannot hold the network, 2 on bad input. The summary goes
            to standard output, but to standard error, as progress and complaints do, where the plan is emitted.
            """,
            examples=(
                "tiger place examples/models/skipnet.txt --cluster dgx:1",
                "tiger place examples/models/gpt2-medium.json --cluster dgx:1 \\\n  --schedule 1f1b --microbatches 32"
                " --emit megatron",
            ),
            delivery=PlaceDelivery,
            other=Late("tiger.placement.entry.use", "hand_over"),
        ),
    ),
)
