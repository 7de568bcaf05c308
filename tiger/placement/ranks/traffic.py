"""The traffic between ranks in an iteration, as a quadratic assignment problem for the core."""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from tiger.model.arrays import FloatArray, IntArray
from tiger.model.problem import Problem
from tiger.placement.ranks.assignment import assignment_problem
from tiger.placement.ranks.cost_model import ParallelDegrees
from tiger.training.hardware.cluster import Cluster
from tiger.training.models.layers import Layers


class Flow(NamedTuple):
    """Hold pairs of ranks, the bytes that each pair sends in an iteration, and those of one message."""

    source: IntArray
    target: IntArray
    volume: FloatArray
    message: FloatArray


def rank_problem(layers: Layers, cluster: Cluster, cuts: tuple[int, ...], degrees: ParallelDegrees) -> Problem:
    """Return the problem of putting all ranks, in the order of the grid, onto devices at the least sum of seconds.

    Ranks talk along tensor-parallel rings in every pass, along pipelines with every microbatch, and along
    data-parallel rings once; devices are as far apart as messages of the middle size by volume take.
    """
    ranks = np.arange(degrees.ranks).reshape(degrees.shape)
    flows = [
        _tensor_flow(layers, cuts, ranks, degrees),
        _pipeline_flow(layers, cuts, ranks, degrees),
        _data_flow(layers, cuts, ranks),
    ]
    source, target, volume, message = (np.concatenate([flow[part].ravel() for flow in flows]) for part in range(4))
    traffic = sp.csr_array((volume, (source, target)), shape=(degrees.ranks, degrees.ranks))
    work_s = np.add.reduceat(layers.forward_s + layers.backward_s, np.array(cuts[:-1]))
    work = _per_position(work_s, degrees.pipeline) * degrees.microbatches / degrees.tensor
    size = max(_middle(message, volume), 1.0)
    distance = cluster.table_s(size) / size
    return assignment_problem(traffic, np.repeat(work, degrees.data * degrees.tensor), distance, 1 / cluster.speed)


def _tensor_flow(layers: Layers, cuts: tuple[int, ...], ranks: IntArray, degrees: ParallelDegrees) -> Flow:
    """Return the flow of tensor-parallel rings: a forward and a backward pass for every microbatch."""
    reduced = _per_position(np.add.reduceat(layers.reduced_bytes, np.array(cuts[:-1])), len(ranks))
    calls = _per_position(np.add.reduceat(np.maximum(layers.reductions, 1), np.array(cuts[:-1])), len(ranks))
    t = degrees.tensor
    volume = reduced * 2 * degrees.microbatches * 2 * (t - 1) / t
    return _ring_flow(ranks, 2, volume, reduced / calls / t)


def _pipeline_flow(layers: Layers, cuts: tuple[int, ...], ranks: IntArray, degrees: ParallelDegrees) -> Flow:
    """Return the flow between stages: a message forward and one back for every microbatch."""
    stages = np.arange(len(cuts) - 1) % len(ranks)
    source, target = ranks[stages[:-1]], ranks[stages[1:]]
    message = np.broadcast_to((layers.crossing_bytes[list(cuts[1:-1])] / degrees.tensor)[:, None, None], source.shape)
    return Flow(source, target, 2 * degrees.microbatches * message, message)


def _data_flow(layers: Layers, cuts: tuple[int, ...], ranks: IntArray) -> Flow:
    """Return the flow of data-parallel rings: the gradients, once."""
    held = _per_position(np.add.reduceat(layers.parameter_bytes, np.array(cuts[:-1])), len(ranks)) / ranks.shape[2]
    d = ranks.shape[1]
    return _ring_flow(ranks, 1, held * 2 * (d - 1) / d, held / d)


def _ring_flow(ranks: IntArray, axis: int, volume: FloatArray, message: FloatArray) -> Flow:
    """Return the flow along rings of an axis, given for each position."""
    shape = (len(ranks), 1, 1)
    sent, size = (np.broadcast_to(each.reshape(shape), ranks.shape) for each in (volume, message))
    return Flow(ranks, np.roll(ranks, -1, axis=axis), sent, size)


def _per_position(values: FloatArray, positions: int) -> FloatArray:
    """Return the sums over the virtual stages of each position."""
    summed: FloatArray = values.reshape(-1, positions).sum(axis=0)
    return summed


def _middle(sizes: FloatArray, volume: FloatArray) -> float:
    """Return the size below which half of the volume is sent, 0 where there is none."""
    order = np.argsort(sizes, kind="stable")
    sent = np.cumsum(volume[order])
    return float(sizes[order][np.searchsorted(sent, sent[-1] / 2)])
