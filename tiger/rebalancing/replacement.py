"""Lines of devices to begin with, and to go on with where some are lost: without those, with a spare one, or anew."""

import time
from collections.abc import Set as AbstractSet
from dataclasses import replace

from tiger.placement.params import PlaceParams
from tiger.placement.result import PlaceResult
from tiger.placement.solve import place_layers
from tiger.rebalancing.layer_times import LayerTimes
from tiger.rebalancing.line_costs import Cuts, PipelineCosts
from tiger.training.hardware.cluster import Cluster
from tiger.training.models.layers import Layers

# Seconds after which a search for a placement ends with what it has. 128 layers on 8 devices take a tenth of one; 1,000
# on the 64 of 8 machines would take more than ten minutes for a plan that the first measurements change anyway.
PLACE_S = 10.0
Start = tuple[PipelineCosts, Cuts | None]


def place_in_time(layers: Layers, cluster: Cluster, params: PlaceParams) -> PlaceResult:
    """Return the best placement that is found in ten seconds."""
    end_s = time.monotonic() + PLACE_S
    return place_layers(layers, cluster, params, lambda: time.monotonic() >= end_s)


def lines_without(line: PipelineCosts, lost: AbstractSet[int]) -> list[Start]:
    """Return the lines of the devices that are left, and with each type of spare device in place of the first lost."""
    label = line.cluster.device_types().tolist()
    stay = tuple(device for device in line.devices if device not in lost)
    first = next(k for k, device in enumerate(line.devices) if device in lost)
    spare = [k for k in reversed(range(line.cluster.size)) if k not in line.devices and k not in lost]
    unlike = {label[device]: device for device in spare}
    orders = [stay] if stay else []
    orders += [(*stay[:first], device, *stay[first:]) for device in sorted(unlike.values())]
    return [(replace(line, devices=order), None) for order in orders]


def lines_anew(line: PipelineCosts, lost: AbstractSet[int], times: LayerTimes) -> list[Start]:
    """Return the line and the cuts of the best placement by the present times on what is left, none where none fits."""
    left = [device for device in range(line.cluster.size) if device not in lost]
    if not left:
        return []
    layers = replace(line.layers, forward_s=times.forward_s, backward_s=times.backward_s, weight_s=times.backward_s / 2)
    params = PlaceParams(schedule=line.schedule, microbatches=line.microbatches)
    placed = place_in_time(layers, line.cluster.take(left), params)
    if placed.plan is None or placed.violations:
        return []
    order = tuple(left[k] for k in placed.plan.grid.ravel().tolist())
    return [(replace(line, devices=order), placed.plan.cuts)]
