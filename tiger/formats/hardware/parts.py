"""What of a machine a rank gets: groups of cores, a cache's or a memory's or a package's cores, or a device."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from tiger.errors import InputError
from tiger.formats.hardware.levels import Level, LevelHardware
from tiger.formats.hardware.units import RANKS_PER, PartName, UnitName, UnitOptions, parse_ranks_per
from tiger.model.arrays import IntArray
from tiger.model.resources import join_cores
from tiger.model.shares import share_evenly
from tiger.model.wording import LOCALHOST

CORES = "cores_per_rank"
# The units that have several cores, to all of which ranks are bound.
SHARED: Sequence[UnitName] = ("l3", "numa", "socket")


def divide_machine(machine: LevelHardware, options: UnitOptions) -> LevelHardware:
    """Return the units of a machine that ranks run as, with the slots that options state.

    Raises InputError of `units`, `cores_per_rank` and `ranks_per` for what the machine does not have.
    """
    units, size = options.units or "core", options.cores_per_rank
    _check_size(machine, units, size)
    if units in SHARED:
        machine = _join_cores(machine, units)
        _check_parts(machine, size)
    elif units == "host":
        machine = _join_all(machine)
    elif size is not None:
        machine = _group_cores(machine, size) if units == "core" else _limit_cores(machine, size)
    if options.ranks_per is not None:
        return _limit_ranks(machine, parse_ranks_per(options.ranks_per), size)
    if size is not None or units == "host":
        return replace(machine, slots=tuple(_find_room(machine, size).tolist()))
    return machine


def _check_size(machine: LevelHardware, units: UnitName, size: int | None) -> None:
    """Raise InputError of `cores_per_rank` for more cores than a host has."""
    known = len(machine.cores)
    if size is not None and units in ("core", "host") and size > known:
        raise InputError(CORES, f"expected at most {known}, the cores of {_name_host(machine)}, got {size}")


def _check_parts(machine: LevelHardware, size: int | None) -> None:
    """Raise InputError of `cores_per_rank` for more cores than any part that ranks run as has."""
    counts = [len(own.cores) for own in machine.resources]
    if size is not None and size > max(counts):
        largest = machine.names[counts.index(max(counts))]
        raise InputError(CORES, f"expected at most {max(counts)}, the cores of {largest}, got {size}")


def _name_host(machine: LevelHardware) -> str:
    """Return what the host of a machine is called."""
    return "a host" if machine.host in (None, LOCALHOST) else str(machine.host)


def _join_cores(machine: LevelHardware, units: UnitName) -> LevelHardware:
    """Return the caches, memories or packages of a machine as units, each with its cores."""
    count = 1 + [level.name for level in machine.levels].index(units)
    group = nest_levels(machine.levels[:count])[-1]
    if not machine.levels[count - 1].group.all():
        raise InputError("units", f"expected units that all cores of the machine are in, got {units!r}")
    firsts, members = _list_members(group)
    levels = [level._replace(group=level.group[firsts]) for level in machine.levels[: count - 1]]
    return replace(
        machine,
        names=tuple(f"{units}{k}" for k in range(len(firsts))),
        levels=(*levels, machine.levels[count - 1]._replace(group=np.arange(len(firsts)))),
        resources=tuple(join_cores([machine.resources[k] for k in own]) for own in members),
    )


def _join_all(machine: LevelHardware) -> LevelHardware:
    """Return the host as the one unit of a machine; to be bound to all cores of it is not to be bound."""
    levels = (machine.levels[-1]._replace(group=np.zeros(1, np.int64)),)
    return replace(machine, names=("host0",), levels=levels, resources=(join_cores(machine.cores),))


def _group_cores(machine: LevelHardware, size: int) -> LevelHardware:
    """Return groups of as many cores one after another as units.

    They are cut out of the smallest parts that have as many cores, NUMA domains, sockets or the machine: of the L3
    caches in them where that makes no fewer groups.
    """
    nested = nest_levels(machine.levels)
    socket, numa, cache = nested[0], nested[1], nested[2]
    whole = np.zeros_like(socket)
    part = next((each for each in (numa, socket) if np.bincount(each).max() >= size), whole)
    members = list[IntArray]()
    for _, own in zip(*_list_members(part), strict=True):
        inner = [own[each] for each in _list_members(cache[own])[1]]
        inside = sum(len(each) // size for each in inner)
        for each in inner if inside == len(own) // size else [own]:
            members += [each[begin : begin + size] for begin in range(0, len(each) - size + 1, size)]
    firsts = np.array([own[0] for own in members])
    levels = [level._replace(group=level.group[firsts]) for level in machine.levels[:-1]]
    return replace(
        machine,
        names=tuple(_name_cores(machine.names, own) for own in members),
        levels=(*levels, machine.levels[-1]._replace(group=np.arange(len(firsts)))),
        resources=tuple(join_cores([machine.resources[k] for k in own]) for own in members),
    )


def _name_cores(names: Sequence[str], own: IntArray) -> str:
    """Return the name of a group of cores, such as core4-7."""
    first, last = names[own[0]], names[own[-1]]
    return first if len(own) == 1 else f"{first}-{last.removeprefix('core')}"


def _limit_cores(machine: LevelHardware, size: int) -> LevelHardware:
    """Return the devices of a machine with as many of the cores near them, while there are any none of others."""
    for name, own in zip(machine.names, machine.resources, strict=True):
        if len(own.cores) < size:
            what = f"expected at most {len(own.cores)}, the cores of {name} beside other devices"
            raise InputError(CORES, f"{what}, got {size}")
    known, taken = {core.cores[0]: core for core in machine.cores}, set[int]()
    limited = list(machine.resources)
    # Devices that are near fewer cores have less choice.
    for k in sorted(range(len(limited)), key=lambda k: len(limited[k].cores)):
        own = limited[k]
        chosen = sorted(sorted(own.cores, key=lambda core: core in taken)[:size])
        taken.update(chosen)
        limited[k] = join_cores([known[core] for core in chosen])._replace(gpu=own.gpu, nic=own.nic)
    return replace(machine, resources=tuple(limited))


def _find_room(machine: LevelHardware, size: int | None) -> IntArray:
    """Return how many ranks each unit has cores for, one for a group of cores and for a device."""
    shared = machine.names[0].startswith((*SHARED, "host"))
    return np.array([len(own.cores) // (size or 1) if shared else 1 for own in machine.resources], np.int64)


def _limit_ranks(machine: LevelHardware, limits: Mapping[PartName, int], size: int | None) -> LevelHardware:
    """Return a machine with as many slots in every part as limits say, evenly over what is inside the part."""
    room, nested = _find_room(machine, size), nest_levels(machine.levels)
    known = [level.name for level in machine.levels]
    for part, most in sorted(limits.items(), key=lambda limit: _rank(known, limit[0]), reverse=True):
        if part != "node" and part not in known:
            raise InputError(RANKS_PER, f"expected parts that {machine.names[0]}, .. are inside of, got {part!r}")
        depth = 0 if part == "node" else known.index(part) + 1
        group = np.zeros_like(room) if part == "node" else nested[depth - 1]
        for _, own in zip(*_list_members(group), strict=True):
            if room[own].sum() < most:
                what = f"expected at most {room[own].sum()} for each {part} of {_name_host(machine)}"
                raise InputError(RANKS_PER, f"{what}, got {part}={most}")
            room[own] = share_evenly(most, room[own], [each[own] for each in nested[depth:]])
    return replace(machine, slots=tuple(room.tolist()))


def _rank(known: Sequence[str], part: PartName) -> int:
    """Return how far inside a part is, 0 for the host."""
    return known.index(part) + 1 if part in known else 0


def nest_levels(levels: Sequence[Level]) -> list[IntArray]:
    """Return the groups of levels, outermost first, each inside those before and numbered by their first units."""
    key, nested = np.zeros_like(levels[0].group), list[IntArray]()
    for level in levels:
        pairs = key * (level.group.max() + 1) + level.group
        _, first, inverse = np.unique(pairs, return_index=True, return_inverse=True)
        key = np.argsort(np.argsort(first))[inverse]
        nested.append(key)
    return nested


def _list_members(group: IntArray) -> tuple[IntArray, list[IntArray]]:
    """Return the first unit of every group, and all units of it."""
    numbers, firsts = np.unique(group, return_index=True)
    return firsts, [np.flatnonzero(group == number) for number in numbers]
