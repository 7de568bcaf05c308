"""The terms by vertex, one or more colocation groups that move together, as arrays for compiled code."""

from typing import NamedTuple

import numpy as np

from tiger.model.arrays import BoolArray, FloatArray, IntArray, count_distinct, distinct
from tiger.placement.operators.linear_orders import arcs
from tiger.placement.operators.terms import Terms
from tiger.training.costs.tolerances import MEMORY

# A message between devices without a link takes so many times all work and messages together, so that annealing
# leaves such places but can still tell the better of two of them.
APART = 1e4


class Tables(NamedTuple):
    """Hold V vertices, sets of operators that move together, on k devices, and what they send each other.

    `work[g, d]` are seconds of a vertex on a device, `sent[c, u]` those of an operator over a curve, the last row for
    devices without a link: more than anything that has one. Operator u is in vertex `vertex_of[u]`. For j in
    `input_start[g]:input_start[g + 1]` vertex g has `input_count[j]` consumers of operator `input[j]` of another one.
    For j in `output_start[g]:output_start[g + 1]` operator `output[j]` of g has consumers in other vertices and
    `kept[j]` in g. Vertices `near` have an edge with g in common.
    Vertices `before` may be in no later stage than g, those `after` in no earlier, a stage being `rank[d]`.
    """

    work: FloatArray
    sent: FloatArray
    link: IntArray
    pays: FloatArray
    memory: FloatArray
    capacity: FloatArray
    allowed: BoolArray
    vertex_of: IntArray
    input_start: IntArray
    input: IntArray
    input_count: IntArray
    output_start: IntArray
    output: IntArray
    kept: IntArray
    near_start: IntArray
    near: IntArray
    before_start: IntArray
    before: IntArray
    after_start: IntArray
    after: IntArray
    rank: IntArray


def make_tables(terms: Terms, label: IntArray, rank: IntArray) -> Tables:
    """Return the tables for groups in vertices `label[C]`; stages are free where `rank[k]` is empty.

    O(k n + e log e).
    """
    size, vertex_of = int(label.max()) + 1, label[terms.group_of]
    producer = np.repeat(np.arange(terms.operators), np.diff(terms.consumer_start))
    reader, writer = vertex_of[terms.consumer], vertex_of[producer]
    crosses = reader != writer
    pair, input_count = count_distinct(reader[crosses] * terms.operators + producer[crosses])
    output = distinct(producer[crosses])
    output = output[np.argsort(vertex_of[output], kind="stable")]
    ahead, behind = (label[side] for side in arcs(terms)) if len(rank) else (label[:0], label[:0])
    return Tables(
        work=_sum_by_vertex(terms, vertex_of, size),
        sent=_sent_s(terms),
        link=terms.link.copy(),
        pays=terms.pays.copy(),
        memory=np.bincount(label, terms.memory, size).astype(np.float64),
        capacity=terms.capacity * (1 + MEMORY),
        allowed=_allowed_devices(terms, label, size),
        vertex_of=vertex_of,
        input_start=_starts(pair // terms.operators, size),
        input=pair % terms.operators,
        input_count=input_count,
        output_start=_starts(vertex_of[output], size),
        output=output,
        kept=np.bincount(producer[~crosses], minlength=terms.operators)[output].astype(np.int64),
        **_group_by_key("near", np.append(reader, writer), np.append(writer, reader), size),
        **_group_by_key("before", behind, ahead, size),
        **_group_by_key("after", ahead, behind, size),
        rank=rank if len(rank) else np.zeros(terms.devices, np.int64),
    )


def _sum_by_vertex(terms: Terms, vertex_of: IntArray, size: int) -> FloatArray:
    """Return the seconds of every vertex on every device [V, k]."""
    rows = [np.bincount(vertex_of, row, size) for row in terms.work]
    return np.ascontiguousarray(np.array(rows, np.float64).T)


def _sent_s(terms: Terms) -> FloatArray:
    """Return the seconds of what operators send [curves + 1, n], the last row between devices without a link."""
    most = terms.work.max(axis=0).sum() + terms.send.sum()
    return np.vstack([terms.send, np.full(terms.operators, APART * (most or 1.0))])


def _allowed_devices(terms: Terms, label: IntArray, size: int) -> BoolArray:
    """Return where vertices may go [V, k]: where all of their groups may."""
    barred = np.array([np.bincount(label, ~column, size) for column in terms.allowed.T])
    return np.ascontiguousarray(barred.T == 0)


def _starts(key: IntArray, size: int) -> IntArray:
    """Return where the entries of every key begin [size + 1], for keys that rise."""
    return np.searchsorted(key, np.arange(size + 1)).astype(np.int64)


def _group_by_key(name: str, key: IntArray, value: IntArray, size: int) -> dict[str, IntArray]:
    """Return the different values of every key, other than itself, and where they begin."""
    both = distinct(key * size + value)
    both = both[both // size != both % size]
    return {f"{name}_start": _starts(both // size, size), name: both % size}
