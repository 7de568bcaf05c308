"""A model and the devices that it runs on: its times on most of them, and how quick the others are beside these."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from tiger.training.hardware.accelerators import H100, Accelerator
from tiger.training.hardware.cluster import Cluster
from tiger.training.models.setup import NO_SETUP
from tiger.training.models.sizes import Model
from tiger.training.timings.operation_costs import USUAL_COSTS, OperationCosts
from tiger.training.timings.tables import TimeTable

NO_TABLES: Mapping[str, TimeTable] = {}


def pair_with_devices(
    model: Model, cluster: Cluster, tables: Mapping[str, TimeTable] = NO_TABLES
) -> tuple[Model, Cluster]:
    """Return a model with its times on the type that most devices are of, and a cluster with speeds relative to it.

    Each other type has one speed, that of the whole model there, as its layers gain alike by products and by memory, or
    nearly so; a stated speed other than that of the type multiplies it. Devices of which nobody says what they are
    count as an H100 of their speed. Models whose layers or rates are stated stay as they are.
    """
    if model.described is None or model.described.shape.flops is not None:
        return model, cluster
    types = [known or H100 for known in cluster.types]
    counts = Counter(types)
    usual = max(counts, key=lambda known: (counts[known], -types.index(known)))
    costs = _costs_of(usual, tables)
    paired = model.with_costs(costs)
    if len(counts) == 1:
        rate = {usual: 1.0}
    else:
        spent = {known: _spend_s(model.with_costs(_costs_of(known, tables))) for known in counts}
        rate = {known: spent[usual] / spent[known] for known in counts}
    speed = [rate[known] * stated / known.speed for known, stated in zip(types, cluster.speed.tolist(), strict=True)]
    return paired, replace(cluster, speed=np.array(speed))


def _costs_of(device: Accelerator, tables: Mapping[str, TimeTable]) -> OperationCosts:
    """Return the costs of operations on a type of device."""
    table = tables.get(device.name)
    return USUAL_COSTS if device == H100 and table is None else OperationCosts(device=device, table=table)


def _spend_s(model: Model) -> float:
    """Return the seconds that one device computes for a microbatch."""
    layers = model.layers_for(NO_SETUP)
    return float(layers.forward_s.sum() + layers.backward_s.sum())
