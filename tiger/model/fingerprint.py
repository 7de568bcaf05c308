"""The fingerprint of a problem: a short text by which a model, or samples of it, are known to belong to the problem."""

import json
from hashlib import sha256

import numpy as np
import scipy.sparse as sp

from tiger.model.arrays import FloatArray, IntArray
from tiger.model.problem import Problem

# 128 bits of the hash: no two problems of a user have the same by chance.
DIGITS = 32
# Rows of distances that are hashed together, so that no second matrix is held.
ROWS = 256
# Files state numbers in different ways and distances add up in different orders, so the last 16 bits do not count.
BITS = 36


def fingerprint(problem: Problem) -> str:
    """Return 32 hexadecimal digits that stay the same on every machine and in whatever form the problem was read.

    Tasks and nodes, in their order, count with all that a model of the problem depends on: names, traffic, work,
    memory, slots, costs of nodes, distances, rule, pins and forbidden pairs. Nodes that hold no tasks do not count, nor
    does the direction of traffic where distances are the same both ways. O(m^2 + edges).
    """
    topology, digest = problem.topology, sha256()
    nodes = np.union1d(topology.hosts, problem.pins[problem.pins >= 0])
    at = np.full(topology.size, -1)
    at[nodes] = np.arange(len(nodes))
    banned = problem.banned[at[problem.banned[:, 1]] >= 0]
    pins = np.where(problem.pins >= 0, at[problem.pins], -1)
    names = [list(problem.tasks.names), [topology.names[node] for node in nodes.tolist()]]
    digest.update(json.dumps([problem.rule, *names]).encode())
    for whole in (pins, problem.group_of, banned[:, 0], at[banned[:, 1]], *_limits(problem, nodes)):
        digest.update(_bytes(whole))
    volumes = _volumes(problem)
    for place in (volumes.row, volumes.col):
        digest.update(_bytes(np.asarray(place, np.int64)))
    for figures in (volumes.data, problem.tasks.work, topology.cost[nodes]):
        digest.update(_bytes(_round(figures)))
    for begin in range(0, len(nodes), ROWS):
        some = nodes[begin : begin + ROWS]
        digest.update(_bytes(_round(topology.metric.between(some[:, None], nodes[None, :]))))
    return digest.hexdigest()[:DIGITS]


def _limits(problem: Problem, nodes: IntArray) -> list[IntArray]:
    """Return slots and memory as far as the rule looks at them."""
    need, room = problem.tasks.memory, problem.topology.memory
    slots = [] if problem.groups else [problem.topology.slots[nodes]]
    return slots if need is None or room is None else [*slots, need, room[nodes]]


def _volumes(problem: Problem) -> sp.coo_array:
    """Return the traffic in a fixed order, that of both directions added up where they cost the same."""
    traffic = problem.tasks.traffic.copy()
    if problem.topology.metric.symmetric:
        traffic = sp.csr_array(sp.triu(traffic + traffic.T, format="csr"))
    traffic.sort_indices()
    return traffic.tocoo()


def _round(figures: FloatArray) -> FloatArray:
    """Return figures without their last bits, and 0 without a sign."""
    fraction, exponent = np.frexp(figures)
    return np.asarray(np.ldexp(np.round(np.ldexp(fraction, BITS)), exponent - BITS) + 0.0)


def _bytes(values: IntArray | FloatArray) -> bytes:
    """Return the length of an array and its values, the lowest byte first."""
    return len(values).to_bytes(8, "little") + values.astype(values.dtype.newbyteorder("<")).tobytes()
