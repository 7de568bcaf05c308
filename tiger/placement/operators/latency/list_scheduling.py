r"""List scheduling: when one microbatch ends on a placement of operators.

Operators begin in one order everywhere, that of falling upward rank

.. math:: r_u = w_u + \max_{v : u \to v} (s_u + r_v)

where :math:`w_u` are the seconds on the fastest device that u may go to and :math:`s_u` those of its message, the mean
over all links; of equal ranks the first in a topological order is first. An operator begins once its device has ended
what comes before and all that it consumes has arrived; messages do not wait for each other, nor do devices for them.

Source: H. Topcuoglu, S. Hariri, M.-Y. Wu, doi:10.1109/71.993206.
"""

from typing import NamedTuple

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.placement.operators.terms import Terms
from tiger.solvers.kernel import allocating_kernel, inner_kernel, kernel
from tiger.training.hardware.cluster import NO_LINK


class JobList(NamedTuple):
    """Hold n operators as they are listed: `work[n, k]`, the rest as in Terms, `order[n]` as they begin.

    `least[n]` are the seconds on the fastest device, `tail[n]` those of the longest path from an operator on, there
    and without messages.
    """

    work: FloatArray
    send: FloatArray
    link: IntArray
    group_of: IntArray
    producer_start: IntArray
    producer: IntArray
    consumer_start: IntArray
    consumer: IntArray
    order: IntArray
    least: FloatArray
    tail: FloatArray


def make_jobs(terms: Terms) -> JobList:
    """Return operators in the order in which they begin; O(k n + e + n log n)."""
    least = np.min(np.where(terms.allowed[terms.group_of].T, terms.work, np.inf), axis=0)
    least = np.where(np.isfinite(least), least, terms.work.min(axis=0))
    sorted_ = topological_order(terms.consumer_start, terms.consumer, terms.producer_start)
    ends = terms.consumer_start, terms.consumer
    rank = upward_ranks(sorted_, *ends, least, _mean_s(terms))
    tail = upward_ranks(sorted_, *ends, least, np.zeros(terms.operators))
    position = np.empty(terms.operators, np.int64)
    position[sorted_] = np.arange(terms.operators)
    return JobList(
        # A copy even where one device makes the transpose contiguous: a read-only view would be compiled for again.
        work=np.array(terms.work.T, order="C"),
        send=np.ascontiguousarray(terms.send),
        link=terms.link,
        group_of=terms.group_of,
        producer_start=terms.producer_start,
        producer=terms.producer,
        consumer_start=terms.consumer_start,
        consumer=terms.consumer,
        order=np.lexsort((position, -rank)),
        least=least,
        tail=tail,
    )


def renumber_by_list(jobs: JobList) -> JobList:
    """Return the same operators, each by its number in the order in which they begin; O(k n + e).

    Schedules of these read memory from front to back, which takes a third of the time where operators are many.
    """
    order, position = jobs.order, np.empty(len(jobs.order), np.int64)
    position[order] = np.arange(len(order))
    producer_start, producer = _number_neighbours(jobs.producer_start, jobs.producer, order, position)
    consumer_start, consumer = _number_neighbours(jobs.consumer_start, jobs.consumer, order, position)
    return JobList(
        work=jobs.work[order],
        # In C order, as compiled code expects it; `send[:, order]` is not.
        send=np.take(jobs.send, order, axis=1),
        link=jobs.link,
        group_of=jobs.group_of[order],
        producer_start=producer_start,
        producer=producer,
        consumer_start=consumer_start,
        consumer=consumer,
        order=np.arange(len(order)),
        least=jobs.least[order],
        tail=jobs.tail[order],
    )


def _number_neighbours(
    start: IntArray, neighbour: IntArray, order: IntArray, position: IntArray
) -> tuple[IntArray, IntArray]:
    """Return where neighbours of operators in another order begin, and the neighbours by their position there."""
    degree = np.diff(start)[order]
    begins = np.concatenate([[0], np.cumsum(degree)]).astype(np.int64)
    entry = np.repeat(start[order] - begins[:-1], degree) + np.arange(begins[-1])
    return begins, position[neighbour[entry]]


def makespan_s(terms: Terms, place: IntArray) -> float:
    """Return when the last operator ends, for groups on devices `place[C]`; infinite where it has no link."""
    return run_schedule(make_jobs(terms), place, np.empty(terms.operators), np.empty(terms.devices))


def _mean_s(terms: Terms) -> FloatArray:
    """Return the seconds of every operator's message, the mean over all links [n]."""
    used = np.bincount(terms.link[terms.link != NO_LINK], minlength=len(terms.send)).astype(np.float64)
    mean: FloatArray = used @ terms.send / max(used.sum(), 1.0)
    return mean


@allocating_kernel
def topological_order(consumer_start: IntArray, consumer: IntArray, producer_start: IntArray) -> IntArray:
    """Return operators such that producers come before consumers, in the order in which they become free; O(n + e)."""
    size = len(producer_start) - 1
    found, waits, last = np.empty(size, np.int64), np.empty(size, np.int64), 0
    for u in range(size):
        waits[u] = producer_start[u + 1] - producer_start[u]
        # Operators without a producer come first.
        if waits[u] == 0:
            found[last] = u
            last += 1
    # A. B. Kahn, CACM 5 (1962), doi:10.1145/368996.369025: first in, first out.
    for place in range(size):
        u = found[place]
        for e in range(consumer_start[u], consumer_start[u + 1]):
            v = consumer[e]
            waits[v] -= 1
            if waits[v] == 0:
                found[last] = v
                last += 1
    return found


@allocating_kernel
def upward_ranks(
    order: IntArray, consumer_start: IntArray, consumer: IntArray, work: FloatArray, send: FloatArray
) -> FloatArray:
    """Return the length of the longest path from every operator on, itself included; O(n + e)."""
    rank = np.empty(len(order))
    # Equation 8 of Topcuoglu et al., from the last operator to the first.
    for place in range(len(order) - 1, -1, -1):
        u, most = order[place], 0.0
        for e in range(consumer_start[u], consumer_start[u + 1]):
            most = max(most, send[u] + rank[consumer[e]])
        rank[u] = work[u] + most
    return rank


@inner_kernel
def arrival_s(jobs: JobList, place: IntArray, end: FloatArray, u: int, device: int) -> float:
    """Return when all that an operator consumes has arrived at a device."""
    latest = 0.0
    for e in range(jobs.producer_start[u], jobs.producer_start[u + 1]):
        v = jobs.producer[e]
        there, at = place[jobs.group_of[v]], end[v]
        if there != device:
            curve = jobs.link[there, device]
            at = np.inf if curve == NO_LINK else at + jobs.send[curve, v]
        latest = max(latest, at)
    return latest


@kernel
def run_schedule(jobs: JobList, place: IntArray, end: FloatArray, free: FloatArray) -> float:
    """Return the makespan; `end[n]` and `free[k]` are left as when operators end, and devices. O(n + e)."""
    free[:] = 0.0
    last = 0.0
    # In order of upward rank, each as soon as its device is free and its inputs are there (no insertion into gaps).
    for u in jobs.order:
        d = place[jobs.group_of[u]]
        end[u] = max(free[d], arrival_s(jobs, place, end, u, d)) + jobs.work[u, d]
        free[d] = end[u]
        last = max(last, end[u])
    return last
