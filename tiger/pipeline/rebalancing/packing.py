"""Packing: the fewest workers that keep an iteration within a time."""

from dataclasses import replace
from math import inf

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
        busy_s = line.microbatches * float(times.total_s.sum()) / line.cluster.speed[line.devices[0]]
        counts = (count for count in range(1, line.positions) if busy_s * (1 - MET) <= count * target_s)
        shorter = (replace(line, devices=line.devices[:count]) for count in counts)
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
