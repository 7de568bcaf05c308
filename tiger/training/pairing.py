"""A model and the devices that it runs on: its times on most of them, and how quick the others are beside these."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from tiger.errors import InputError
from tiger.model.arrays import FloatArray
from tiger.training.hardware.accelerators import ACCELERATORS, H100, Accelerator
from tiger.training.hardware.cluster import NO_LINK, Cluster, Curve
from tiger.training.models.layers import Layers
from tiger.training.models.setup import TrainingSetup
from tiger.training.models.sizes import Model
from tiger.training.options import TrainingOptions
from tiger.training.timings.costs import FIELD, NO_FACTORS, USUAL_SOURCE, CostSource, Factors
from tiger.training.timings.csvtimes import tables_of_csv
from tiger.training.timings.operation_costs import USUAL_COSTS, OperationCosts
from tiger.training.timings.sources import read_tables
from tiger.training.timings.tables import TimeTable

Tables = Mapping[str, TimeTable]
NO_TABLES: Tables = {}
USUAL_OPTIONS = TrainingOptions()


def pair_with_devices(
    model: Model, cluster: Cluster, source: CostSource = USUAL_SOURCE, options: TrainingOptions = USUAL_OPTIONS
) -> tuple[Model, Cluster]:
    """Return a model with its times on the type that most devices are of, and a cluster with speeds relative to it.

    Each other type has one speed, that of the whole model there in the precision and with the sequences of `options`,
    as its layers gain alike by products and by memory, or nearly so; a stated speed other than that of the type
    multiplies it. Devices of which nobody says what they are count as an H100 of their speed. Models whose layers or
    rates are stated stay as they are; raises InputError where these have a `source` of times beside them, and of
    `costs` or below for what it is.
    """
    if model.described is None or model.described.shape.flops is not None:
        if source != USUAL_SOURCE:
            stated = "a table of layers" if model.described is None else "flops"
            raise InputError(FIELD, f"expected none beside {stated}, which state the times of a model")
        return model, cluster
    return pair_by_tables(model, cluster, tables_of(source), source.factors, options)


def pair_layers(model: Model, cluster: Cluster) -> tuple[Layers, Cluster]:
    """Return the layers of a model and devices, paired by a roofline, with times of a device of speed 1.

    That is an H100, so that most devices keep the speed that they are stated with, by which measured times are read.
    """
    paired, devices = pair_with_devices(model, cluster)
    if paired.costs is model.costs:
        return paired.given, devices
    speed = paired.costs.device.speed
    names = ("forward_s", "backward_s", "weight_s", "hiding_s")
    times = {name: speed * getattr(paired.given, name) for name in names}
    return replace(paired.given, **times), replace(devices, speed=speed * devices.speed)


def pair_by_tables(
    model: Model,
    cluster: Cluster,
    tables: Tables = NO_TABLES,
    factors: Factors = NO_FACTORS,
    options: TrainingOptions = USUAL_OPTIONS,
) -> tuple[Model, Cluster]:
    """Return what `pair_with_devices` does, by tables that are read, and factors; the model has a shape alone."""
    paired, speed = time_on_devices(model, cluster, tables, factors, options)
    return paired, slow_links(replace(cluster, speed=speed), factors)


def time_on_devices(
    model: Model, cluster: Cluster, tables: Tables, factors: Factors, options: TrainingOptions = USUAL_OPTIONS
) -> tuple[Model, FloatArray]:
    """Return a model with its times on the type that most devices are of, and the speeds [n] of all beside these."""
    types = [known or H100 for known in cluster.types]
    counts = Counter(types)
    usual = max(counts, key=lambda known: (counts[known], -types.index(known)))
    paired = model.with_costs(_costs_of(usual, tables, factors))
    if len(counts) == 1:
        rate = {usual: 1.0}
    else:
        setup = TrainingSetup(precision=options.precision, sequence=options.sequence)
        spent = {known: _spend_s(model.with_costs(_costs_of(known, tables, factors)), setup) for known in counts}
        rate = {known: spent[usual] / spent[known] for known in counts}
    speed = [rate[known] * stated / known.speed for known, stated in zip(types, cluster.speed.tolist(), strict=True)]
    return paired, np.array(speed)


def slow_links(cluster: Cluster, factors: Factors) -> Cluster:
    """Return a cluster whose messages take as many times as long, inside machines and between them."""
    if factors.inside == factors.between == 1:
        return cluster
    inside = cluster.machine[:, None] == cluster.machine
    size = len(cluster.curves)
    curves = [
        Curve(size_bytes=curve.size_bytes, seconds=factor * curve.seconds, wire=curve.wire)
        for factor in (factors.inside, factors.between)
        for curve in cluster.curves
    ]
    moved = np.where(cluster.link == NO_LINK, NO_LINK, np.where(inside, cluster.link, cluster.link + size))
    # Bounds count on the slowest of the curves, so that none may stay that joins nothing.
    used = np.unique(moved[moved != NO_LINK])
    link = np.where(moved == NO_LINK, NO_LINK, np.searchsorted(used, moved))
    return replace(cluster, curves=tuple(curves[k] for k in used.tolist()), link=link)


def tables_of(source: CostSource) -> Tables:
    """Return the measured tables of a source, none of them for a roofline."""
    if source.csv is not None:
        return tables_of_csv(source.csv, ACCELERATORS)
    return NO_TABLES if source.tables is None else read_tables(source.tables, ACCELERATORS)


def _costs_of(device: Accelerator, tables: Tables, factors: Factors) -> OperationCosts:
    """Return the costs of operations on a type of device."""
    table = tables.get(device.name)
    if device == H100 and table is None and factors == NO_FACTORS:
        return USUAL_COSTS
    return OperationCosts(device=device, table=table, factors=factors)


def _spend_s(model: Model, setup: TrainingSetup) -> float:
    """Return the seconds that one device computes for a microbatch."""
    layers = model.layers_for(setup)
    return float(layers.forward_s.sum() + layers.backward_s.sum())
