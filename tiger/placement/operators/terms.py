"""The problem of placing operators as plain arrays: colocation groups, devices, work, messages and memory."""

from dataclasses import dataclass, fields
from typing import Self

import numpy as np

from tiger.model.arrays import BoolArray, FloatArray, IntArray, lock
from tiger.training.hardware.cluster import Cluster
from tiger.training.models.operators import Operators


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Terms:
    r"""Hold n operators in C colocation groups, groups for short, and k devices, as compiled code reads them.

    `work[d, u]` are the seconds of operator u on device d, `send[c, u]` those of its output over a link of curve c,
    `link[d, h]` the curve between two devices, -1 within one and where there is none. The load of device d is

    .. math:: \sum_{u \in d} w_{d u} + p_d \sum_{u \in d} \max_{h \in R(u)} s_{d h u}
              + p_d \sum_{u \notin d, d \in R(u)} s_{d(u) d u}

    where R(u) are the devices other than its own that have consumers of u: a producer pays once, however many receive,
    and every receiving device once. `pays[d]` is 1 on accelerators and 0 on a cpu. `memory[c]` is what group c holds
    on an accelerator of `capacity[d]` (infinite on a cpu). `allowed[c, d]` says where a group may go.
    Consumers of u are `consumer[consumer_start[u]:consumer_start[u + 1]]`, producers alike, members of group c
    `member[member_start[c]:member_start[c + 1]]`, and u is in group `group_of[u]`.

    Source: Tarnawski et al., NeurIPS 2020, arXiv:2006.16423.
    """

    work: FloatArray
    send: FloatArray
    link: IntArray
    pays: FloatArray
    memory: FloatArray
    capacity: FloatArray
    allowed: BoolArray
    group_of: IntArray
    member_start: IntArray
    member: IntArray
    consumer_start: IntArray
    consumer: IntArray
    producer_start: IntArray
    producer: IntArray
    backward: BoolArray

    def __post_init__(self) -> None:
        """Make all arrays read-only, so that compiled code meets one type of each wherever the terms come from."""
        for each in fields(self):
            lock(getattr(self, each.name))

    @property
    def operators(self) -> int:
        """Return n."""
        return len(self.group_of)

    @property
    def groups(self) -> int:
        """Return C."""
        return len(self.memory)

    @property
    def devices(self) -> int:
        """Return k."""
        return len(self.capacity)

    @classmethod
    def from_operators(cls, operators: Operators, cluster: Cluster, pinned: dict[int, int]) -> Self:
        """Return the terms of operators on a cluster, with the device of some of them pinned; O(k n + e log e)."""
        size, colour = operators.size, operators.colour
        cpu = np.array([kind == "cpu" for kind in cluster.kinds])
        work = np.where(cpu[:, None], operators.cpu_s, operators.seconds) / cluster.speed[:, None]
        curves = [operators.sent_s + curve.of(operators.sent_bytes) for curve in cluster.curves]
        # A group may go where all of its operators may: to cpus alone where one needs it, and to the device of a pin.
        allowed = np.ones((operators.groups, cluster.size), np.bool_)
        allowed[np.ix_(np.unique(colour[operators.cpu_only]), ~cpu)] = False
        for operator, device in pinned.items():
            allowed[colour[operator]] &= np.arange(cluster.size) == device
        member_start, member = group_by_key(colour, np.arange(size), operators.groups)
        consumer_start, consumer = group_by_key(operators.source, operators.target, size)
        producer_start, producer = group_by_key(operators.target, operators.source, size)
        return cls(
            work=np.ascontiguousarray(work),
            send=np.array(curves).reshape(len(curves), size),
            link=cluster.link,
            pays=np.where(cpu, 0.0, 1.0),
            memory=np.asarray(np.bincount(colour, operators.memory_bytes, operators.groups), np.float64),
            capacity=np.where(cpu, np.inf, cluster.memory_bytes),
            allowed=allowed,
            group_of=colour,
            member_start=member_start,
            member=member,
            consumer_start=consumer_start,
            consumer=consumer,
            producer_start=producer_start,
            producer=producer,
            backward=operators.backward,
        )


def group_by_key(key: IntArray, value: IntArray, size: int) -> tuple[IntArray, IntArray]:
    """Return where the values of every key begin [size + 1], and the values by key."""
    start = np.concatenate([[0], np.cumsum(np.bincount(key, minlength=size))]).astype(np.int64)
    return start, value[np.argsort(key, kind="stable")]
