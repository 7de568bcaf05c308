"""The terms by groups of classes that move as one, as compiled code reads them."""

from typing import NamedTuple

import numpy as np

from tiger.model.arrays import BoolArray, FloatArray, IntArray
from tiger.pipeline.costs.tolerances import MEMORY
from tiger.pipeline.operators.lines import arcs
from tiger.pipeline.operators.terms import Terms

APART = 1e4


class Tables(NamedTuple):
    """Hold G groups of operators, k devices, and what a group has to do with others.

    `work[g, d]` are seconds of a group on a device, `sent[c, u]` those of an operator over a curve, the last row for
    devices without a link: more than anything that has one. Group g reads operator `read[j]` of another group
    `reads[j]` times for j in `read_start[g]:read_start[g + 1]`, and others read its operator `told[j]`, which has
    `keeps[j]` readers in the group, for j in `told_start[g]:..`. Groups `near` have an edge with g in common.
    Groups `before` may be in no later stage than g, those `after` in no earlier, a stage being `rank[d]`.
    """

    work: FloatArray
    sent: FloatArray
    link: IntArray
    pays: FloatArray
    memory: FloatArray
    capacity: FloatArray
    allowed: BoolArray
    of: IntArray
    read_start: IntArray
    read: IntArray
    reads: IntArray
    told_start: IntArray
    told: IntArray
    keeps: IntArray
    near_start: IntArray
    near: IntArray
    before_start: IntArray
    before: IntArray
    after_start: IntArray
    after: IntArray
    rank: IntArray


def tables_of(terms: Terms, label: IntArray, rank: IntArray) -> Tables:
    """Return the tables of classes in groups `label[C]`; stages are free where `rank` is empty.

    O(k n + e log e).
    """
    size, of = int(label.max()) + 1, label[terms.of]
    producer = np.repeat(np.arange(terms.operators), np.diff(terms.consumer_start))
    reader, writer = of[terms.consumer], of[producer]
    crosses = reader != writer
    pair, reads = np.unique(reader[crosses] * terms.operators + producer[crosses], return_counts=True)
    told = np.unique(producer[crosses])
    told = told[np.argsort(of[told], kind="stable")]
    ahead, behind = (label[side] for side in arcs(terms)) if len(rank) else (label[:0], label[:0])
    return Tables(
        work=_sum_by_group(terms, of, size),
        sent=_sent_s(terms),
        link=terms.link.copy(),
        pays=terms.pays.copy(),
        memory=np.bincount(label, terms.memory, size).astype(np.float64),
        capacity=terms.capacity * (1 + MEMORY),
        allowed=_allowed_devices(terms, label, size),
        of=of,
        read_start=_starts(pair // terms.operators, size),
        read=pair % terms.operators,
        reads=reads.astype(np.int64),
        told_start=_starts(of[told], size),
        told=told,
        keeps=np.bincount(producer[~crosses], minlength=terms.operators)[told].astype(np.int64),
        **_group_by_key("near", np.append(reader, writer), np.append(writer, reader), size),
        **_group_by_key("before", behind, ahead, size),
        **_group_by_key("after", ahead, behind, size),
        rank=rank if len(rank) else np.zeros(terms.devices, np.int64),
    )


def _sum_by_group(terms: Terms, of: IntArray, size: int) -> FloatArray:
    """Return the seconds of every group on every device [G, k]."""
    rows = [np.bincount(of, row, size) for row in terms.work]
    return np.ascontiguousarray(np.array(rows, np.float64).T)


def _sent_s(terms: Terms) -> FloatArray:
    """Return the seconds of what operators send [curves + 1, n], the last row between devices without a link."""
    most = terms.work.max(axis=0).sum() + terms.send.sum()
    return np.vstack([terms.send, np.full(terms.operators, APART * (most or 1.0))])


def _allowed_devices(terms: Terms, label: IntArray, size: int) -> BoolArray:
    """Return where groups may go [G, k]: where all of their classes may."""
    barred = np.array([np.bincount(label, ~column, size) for column in terms.allowed.T])
    return np.ascontiguousarray(barred.T == 0)


def _starts(key: IntArray, size: int) -> IntArray:
    """Return where the entries of every key begin [size + 1], for keys that rise."""
    return np.searchsorted(key, np.arange(size + 1)).astype(np.int64)


def _group_by_key(name: str, key: IntArray, value: IntArray, size: int) -> dict[str, IntArray]:
    """Return the different values of every key, other than itself, and where they begin."""
    both = np.unique(key * size + value)
    both = both[both // size != both % size]
    return {f"{name}_start": _starts(both // size, size), name: both % size}
