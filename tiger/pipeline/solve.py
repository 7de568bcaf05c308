"""The placement of a model on a cluster: order and cuts, groups, and what a schedule makes of them, in that order."""

from collections.abc import Callable

from tiger.model.violation import Violation
from tiger.pipeline.chain.params import never_stop
from tiger.pipeline.chain_search import Hunt, most_positions, virtual_stages
from tiger.pipeline.hardware.cluster import Cluster
from tiger.pipeline.models.layers import Layers
from tiger.pipeline.params import PlaceParams
from tiger.pipeline.result import Placed
from tiger.run.progress import Progress, ignore


def place_layers(
    layers: Layers,
    cluster: Cluster,
    params: PlaceParams,
    stop: Callable[[], bool] = never_stop,
    watch: Callable[[Progress], None] = ignore,
) -> Placed:
    """Place layers on devices; the names in `params` are those of layers and devices.

    Exact in the cuts, and in the order of devices where all orders can be told apart in time; groups, and what a
    schedule asks for, are searched for and judged by simulation. Same arguments, same plan. What cannot be met is in
    `violations`.
    """
    if not most_positions(layers, cluster, params):
        stages = virtual_stages(params) * (params.pipeline or 1)
        message = f"{stages} stages need a layer each, and the model has {layers.size}"
        return Placed(plan=None, violations=(Violation(kind="stages", message=message),))
    hunt = Hunt(layers, cluster, params, stop, watch)
    with hunt.stage("uniform"):
        hunt.offer(hunt.baseline)
    if hunt.single:
        hunt.order()
    else:
        hunt.group()
    if params.schedule is not None:
        hunt.refine()
    hunt.prove()
    return hunt.result()
