"""The best line of stages over all orders and subsets of devices."""

from collections.abc import Callable
from functools import partial

import numpy as np

from tiger.placement.chain.backtrace import ChainResult, trace_line
from tiger.placement.chain.cut_dp import accurate_bottleneck
from tiger.placement.chain.device_types import device_types_of, group_equal_devices
from tiger.placement.chain.dp_states import WORK_LIMIT as WORK_LIMIT
from tiger.placement.chain.dp_states import count_steps, device_graph, merge_device_types
from tiger.placement.chain.params import LineParams, never_stop
from tiger.training.hardware.cluster import Cluster
from tiger.training.models.layers import Layers


def best_line(
    layers: Layers, cluster: Cluster, params: LineParams, stop: Callable[[], bool] = never_stop
) -> ChainResult | None:
    """Return the line with the least bottleneck over all orders and subsets of devices; None where nothing fits.

    Exact, its own certificate. Takes some twenty times `sweep_steps(..)` steps of about 10 ns, and 8 bytes for each;
    above `WORK_LIMIT` orders are better searched for.
    """
    types = device_types_of(layers, cluster, group_equal_devices(cluster, params))
    graph_of = partial(device_graph, layers, types, params)
    bracket = accurate_bottleneck(graph_of, balance_s(layers, cluster, params), stop)
    return None if bracket is None else trace_line(*bracket)


def sweep_steps(layers: Layers, cluster: Cluster, params: LineParams) -> int:
    """Return how many steps a sweep over all orders takes: pairs of neighbours, sets behind them and boundaries."""
    return count_steps([(len(group), 1) for group in group_equal_devices(cluster, params)], layers.size, params.stages)


def bound_s(
    layers: Layers, cluster: Cluster, params: LineParams, limit: int = WORK_LIMIT, stop: Callable[[], bool] = never_stop
) -> float:
    """Return a lower bound on the bottleneck of lines over any devices in any order; infinite where none fits.

    The optimum where a sweep over all orders takes at most `limit` steps; otherwise that of a relaxation, see
    `merge_device_types`, and lower still if stopped. Takes some twenty times `limit` steps at most.
    """
    types = merge_device_types(layers, cluster, params, limit)
    balance = balance_s(layers, cluster, params)
    bracket = accurate_bottleneck(partial(device_graph, layers, types, params), balance, stop)
    return np.inf if bracket is None else max(balance, bracket[1].low_s)


def balance_s(layers: Layers, cluster: Cluster, params: LineParams) -> float:
    """Return the simplest bound: all devices equally busy without messages, or the largest layer on the fastest."""
    work_s = layers.forward_s + layers.backward_s
    count = min(cluster.size, layers.size, params.stages or layers.size)
    fastest = np.sort(cluster.speed)[::-1][:count]
    # The two devices of a mirror that hold a layer share its microbatches.
    shared = 2 if params.style == "mirror" else 1
    return max(float(work_s.sum() / fastest.sum()), float(work_s.max() / fastest[0]) / shared)
