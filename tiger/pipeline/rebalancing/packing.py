"""Packing: the fewest workers that keep an iteration within a time, and lines of devices without some of them."""

from collections.abc import Iterable
from dataclasses import replace
from math import ceil, inf

from tiger.pipeline.costs.tolerances import MET
from tiger.pipeline.rebalancing.balancing import Balanced, Interval, balance_exactly
from tiger.pipeline.rebalancing.layer_times import LayerTimes
from tiger.pipeline.rebalancing.line_costs import Line, LineCosts
from tiger.pipeline.rebalancing.moving import prices_s

# Of unlike devices so many are tried each time one is to go, a few milliseconds each.
TRIED = 4


def pack_line(line: Line, times: LayerTimes, target_s: float) -> Line:
    """Return the line with as few of its devices as keep a simulated iteration within a time; microbatches stay.

    Where all devices are equal, numbers from the least that can do the work are tried. Of unlike ones one goes after
    another, a slow one without which iterations are shortest. The line itself where none can go. Memory is respected.
    """
    if len(set(line.cluster.device_types()[list(line.devices)].tolist())) == 1:
        # No fewer can do all the work in time.
        busy_s = line.microbatches * float(times.total_s.sum() / line.cluster.speed[line.devices[0]])
        first = max(1, ceil(min(busy_s / target_s * (1 - MET), line.positions)))
        shorter = (replace(line, devices=line.devices[:count]) for count in range(first, line.positions))
        return next((one for one in shorter if _iteration_s(one, times) <= target_s), line)
    while line.positions > 1:
        lines = [replace(line, devices=(*line.devices[:k], *line.devices[k + 1 :])) for k in _slowest(line)]
        seconds = [_iteration_s(one, times) for one in lines]
        if min(seconds) > target_s:
            break
        line = lines[seconds.index(min(seconds))]
    return line


def quickest_plan(line: Line, times: LayerTimes) -> Balanced | None:
    """Return the plan with the shortest simulated iteration that is found on a line, moves aside; None if none fits."""
    free = prices_s(line, (None,) * line.layers.size)
    return balance_exactly(Interval(LineCosts(line=line, times=times), free, 1), None)


def _iteration_s(line: Line, times: LayerTimes) -> float:
    """Return the seconds of the quickest plan, infinite where none fits."""
    found = quickest_plan(line, times)
    return inf if found is None else found.iteration_s


def _slowest(line: Line) -> list[int]:
    """Return the positions of some of the slowest devices; of neighbours of one type the first."""
    label = line.cluster.device_types()[list(line.devices)].tolist()
    unlike = [k for k in range(line.positions) if k == 0 or label[k] != label[k - 1]]
    return sorted(unlike, key=lambda k: float(line.cluster.speed[line.devices[k]]))[:TRIED]


def lines_without(line: Line, device: int, spare: Iterable[int]) -> list[Line]:
    """Return the lines without a device: one stage less, and one with each type of spare device in its place."""
    at = line.devices.index(device)
    label = line.cluster.device_types().tolist()
    unlike = {label[other]: other for other in sorted(spare, reverse=True)}
    orders = [(*line.devices[:at], *line.devices[at + 1 :])] if line.positions > 1 else []
    orders += [(*line.devices[:at], other, *line.devices[at + 1 :]) for other in sorted(unlike.values())]
    return [replace(line, devices=order) for order in orders]
