"""The plans that are a move away: one boundary elsewhere, come or gone, or the devices of two stages exchanged."""

from collections.abc import Iterator
from itertools import combinations

from tiger.rebalancing.online.costs import DeviceCuts


def moves(line: DeviceCuts, devices: int) -> Iterator[DeviceCuts]:
    """Yield the lines that are a move away; O((L + p^2) (1 + devices without a stage))."""
    spare = [device for device in range(devices) if device not in line.devices]
    yield from _shift(line)
    yield from (DeviceCuts(line.cuts, order) for order in exchange(line.devices, spare))
    yield from _close(line)
    yield from _open(line, spare)


def exchange(order: tuple[int, ...], spare: list[int]) -> Iterator[tuple[int, ...]]:
    """Yield the orders in which two devices change places, or a spare one takes the place of another."""
    for a, b in combinations(range(len(order)), 2):
        yield (*order[:a], order[b], *order[a + 1 : b], order[a], *order[b + 1 :])
    for at in range(len(order)):
        yield from ((*order[:at], device, *order[at + 1 :]) for device in spare)


def resize(order: tuple[int, ...], spare: list[int], size: int) -> Iterator[tuple[int, ...]]:
    """Yield the orders with one device less, or a spare one more where there are layers for it."""
    if len(order) > 1:
        yield from ((*order[:at], *order[at + 1 :]) for at in range(len(order)))
    if len(order) < size:
        yield from ((*order[:at], device, *order[at:]) for at in range(len(order) + 1) for device in spare)


def distance(line: DeviceCuts, target: DeviceCuts) -> int:
    """Return how many moves lead to a target, memory aside; with another number of stages one that falls on the way."""
    if len(line.devices) != len(target.devices):
        misplaced = len(set(line.devices) ^ set(target.devices))
        return 3 * (len(line.cuts) + len(target.cuts)) * abs(len(line.cuts) - len(target.cuts)) + misplaced
    return _count_exchanges(line.devices, target.devices) + sum(
        a != b for a, b in zip(line.cuts, target.cuts, strict=True)
    )


def _count_exchanges(order: tuple[int, ...], target: tuple[int, ...]) -> int:
    """Return how many exchanges make an order the target: the places that differ, less one for every cycle."""
    place = {device: k for k, device in enumerate(order)}
    count, seen = 0, set[int]()
    for start in range(len(order)):
        at: int | None = start
        while at is not None and at not in seen and order[at] != target[at]:
            seen.add(at)
            count += 1
            at = place.get(target[at])
            count -= at == start
    return count


def _shift(line: DeviceCuts) -> Iterator[DeviceCuts]:
    """Yield the lines with one boundary elsewhere."""
    cuts = line.cuts
    for b in range(1, len(cuts) - 1):
        for cut in range(cuts[b - 1] + 1, cuts[b + 1]):
            if cut != cuts[b]:
                yield DeviceCuts((*cuts[:b], cut, *cuts[b + 1 :]), line.devices)


def _close(line: DeviceCuts) -> Iterator[DeviceCuts]:
    """Yield the lines with one boundary less: a stage goes to a neighbour, and its device is spare."""
    for b in range(1, len(line.cuts) - 1):
        for gone in (b - 1, b):
            yield DeviceCuts((*line.cuts[:b], *line.cuts[b + 1 :]), (*line.devices[:gone], *line.devices[gone + 1 :]))


def _open(line: DeviceCuts, spare: list[int]) -> Iterator[DeviceCuts]:
    """Yield the lines with one boundary more: a spare device takes the first or last layers of a stage."""
    for device in spare:
        for j in range(len(line.devices)):
            for cut in range(line.cuts[j] + 1, line.cuts[j + 1]):
                cuts = (*line.cuts[: j + 1], cut, *line.cuts[j + 1 :])
                for at in (j, j + 1):
                    yield DeviceCuts(cuts, (*line.devices[:at], device, *line.devices[at:]))
