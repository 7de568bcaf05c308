"""Tests of moves, against all plans of a small pipeline."""

from collections import Counter
from itertools import combinations, permutations

import pytest

from tiger.rebalancing.online.costs import DeviceCuts
from tiger.rebalancing.online.moves import distance, moves

LINE = DeviceCuts((0, 2, 3, 5), (0, 2, 1))


def lines(size: int, devices: int) -> list[DeviceCuts]:
    """Return all lines of so many layers on some of so many devices."""
    return [
        DeviceCuts((0, *inner, size), order)
        for count in range(1, devices + 1)
        for inner in combinations(range(1, size), count - 1)
        for order in permutations(range(devices), count)
    ]


def is_single(line: DeviceCuts, other: DeviceCuts) -> bool:
    """Return whether one boundary differs, or one pair of devices, and nothing else."""
    boundaries = len(set(line.cuts) ^ set(other.cuts))
    if len(line.cuts) != len(other.cuts):
        shorter, longer = sorted((line.devices, other.devices), key=len)
        left = iter(longer)
        return boundaries == 1 and all(device in left for device in shorter)
    differ = [k for k, pair in enumerate(zip(line.devices, other.devices, strict=True)) if pair[0] != pair[1]]
    if line.cuts != other.cuts:
        return not differ and sum(a != b for a, b in zip(line.cuts, other.cuts, strict=True)) == 1
    swapped = len(differ) == 2 and set(line.devices) == set(other.devices)
    return swapped or (len(differ) == 1 and other.devices[differ[0]] not in line.devices)


@pytest.mark.parametrize(
    "line", [LINE, DeviceCuts((0, 5), (1,)), DeviceCuts((0, 1, 5), (3, 0)), DeviceCuts((0, 1, 2, 3, 5), (3, 1, 0, 2))]
)
def test_moves_are_all_lines_with_one_difference(line: DeviceCuts) -> None:
    """One boundary moved, gone, with one of its devices, or new, beside a device that was spare; or one pair."""
    found = list(moves(line, 4))
    assert Counter(found).most_common(1)[0][1] == 1
    assert {other for other in lines(5, 4) if is_single(line, other) and is_adjacent(line, other)} == set(found)


def is_adjacent(line: DeviceCuts, other: DeviceCuts) -> bool:
    """Return whether a device that came or went is beside the boundary that came or went with it."""
    if len(line.cuts) == len(other.cuts):
        return True
    shorter, longer = sorted((line, other), key=lambda one: len(one.cuts))
    boundary = next(k for k, cut in enumerate(longer.cuts) if cut not in shorter.cuts)
    extra = next(k for k, device in enumerate(longer.devices) if device not in shorter.devices)
    return extra in (boundary - 1, boundary)


@pytest.mark.parametrize(
    "target", [DeviceCuts((0, 1, 2, 5), (1, 0, 2)), DeviceCuts((0, 2, 4, 5), (3, 2, 0)), DeviceCuts((0, 3, 5), (3, 0))]
)
def test_some_move_is_always_nearer_to_a_target(target: DeviceCuts) -> None:
    """Moves that lower the distance lead to a target in as many steps, of as many stages, and otherwise in some."""
    line, steps, first = LINE, 0, distance(LINE, target)
    while line != target:
        line = min(moves(line, 4), key=lambda other: distance(other, target))
        steps += 1
    assert steps <= first
    assert len(target.cuts) != len(LINE.cuts) or steps == first


def test_exchanges_are_counted_by_cycles() -> None:
    """A cycle of three devices takes two exchanges, a spare device that comes in takes one."""
    assert distance(LINE, DeviceCuts(LINE.cuts, (2, 1, 0))) == 2
    assert distance(LINE, DeviceCuts(LINE.cuts, (3, 2, 1))) == 1
    assert distance(LINE, DeviceCuts(LINE.cuts, (3, 0, 1))) == 2
    assert distance(LINE, LINE) == 0
