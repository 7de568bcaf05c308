"""Packing: the fewest workers that keep an iteration within a time."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from math import inf

from tiger.rebalancing.balancing import Balanced, Interval, balance_exactly
from tiger.rebalancing.layer_times import LayerTimes
from tiger.rebalancing.line_costs import LineCosts, PipelineCosts
from tiger.rebalancing.moving import prices_s

# Lines of fewer devices that are looked at, up to a few milliseconds each: all of eight unlike devices, in any number.
MOST_LINES = 256
# Of more unlike devices so many are tried each time one is to go.
TRIED = 4


def pack_line(line: PipelineCosts, times: LayerTimes, target_s: float) -> PipelineCosts:
    """Return the line with as few of its devices as keep a simulated iteration within a time; microbatches stay.

    All choices of devices that differ are tried, the smallest and quickest first, where there are at most `MOST_LINES`:
    one for each number of equal devices. Of more, one device goes after another, a slow one without which iterations
    are shortest. The line itself where none can go. Memory is respected.
    """
    shorter = list(islice(_shorter_lines(line), MOST_LINES + 1))
    if len(shorter) > MOST_LINES:
        return _drop_slowest(line, times, target_s)
    speed = line.cluster.speed
    shorter.sort(key=lambda one: (one.positions, -float(speed[list(one.devices)].sum())))
    return next((one for one in shorter if _keeps(one, times, target_s)), line)


def _shorter_lines(line: PipelineCosts) -> Iterator[PipelineCosts]:
    """Yield a line for each choice of fewer devices in their order; equal ones are not told apart."""
    label = line.cluster.device_types()[list(line.devices)].tolist()
    for count in range(1, line.positions):
        for places in _choose(label, count, 0):
            yield replace(line, devices=tuple(line.devices[place] for place in places))


def _choose(label: list[int], count: int, start: int) -> Iterator[tuple[int, ...]]:
    """Yield the places of each different sequence of `count` labels from a start on, those that come first."""
    if count == 0:
        yield ()
        return
    seen = set[int]()
    for place in range(start, len(label) - count + 1):
        if label[place] not in seen:
            seen.add(label[place])
            yield from ((place, *rest) for rest in _choose(label, count - 1, place + 1))


def _keeps(line: PipelineCosts, times: LayerTimes, target_s: float) -> bool:
    """Return whether an iteration is within a time, by its lower bound where that is enough to say no."""
    return LineCosts(line=line, times=times).lower_bound_s() <= target_s and _iteration_s(line, times) <= target_s


def _drop_slowest(line: PipelineCosts, times: LayerTimes, target_s: float) -> PipelineCosts:
    """Return the line without one slow device after another, for as long as an iteration is within a time."""
    while line.positions > 1:
        lines = [replace(line, devices=(*line.devices[:k], *line.devices[k + 1 :])) for k in _slowest(line)]
        seconds = [_iteration_s(one, times) for one in lines]
        if min(seconds) > target_s:
            break
        line = lines[seconds.index(min(seconds))]
    return line


def quickest_plan(line: PipelineCosts, times: LayerTimes) -> Balanced | None:
    """Return the plan with the shortest simulated iteration that is found on a line, moves aside; None if none fits."""
    free = prices_s(line, (None,) * line.layers.size)
    return balance_exactly(Interval(LineCosts(line=line, times=times), free, 1), None)


def _iteration_s(line: PipelineCosts, times: LayerTimes) -> float:
    """Return the seconds of the quickest plan, infinite where none fits."""
    found = quickest_plan(line, times)
    return inf if found is None else found.iteration_s


def _slowest(line: PipelineCosts) -> list[int]:
    """Return the positions of some of the slowest devices; of neighbours of one type the first."""
    label = line.cluster.device_types()[list(line.devices)].tolist()
    unlike = [k for k in range(line.positions) if k == 0 or label[k] != label[k - 1]]
    return sorted(unlike, key=lambda k: float(line.cluster.speed[line.devices[k]]))[:TRIED]
