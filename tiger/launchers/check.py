"""Where the ranks of a job say that they run, set beside the order that was meant."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from tiger.errors import InputError
from tiger.launchers.order import RankBinding, RankOrder
from tiger.model.wording import describe

FIELD = "check"
# Ranks that are listed before the rest is counted.
LISTED = 8
# Cores of a host, so that a typing error is none of a billion.
MOST_CORES = 1 << 16
_RANGE = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?")


class RankPlace(NamedTuple):
    """Say where a rank runs: its host, and the cores that it may use there, None where it does not tell."""

    host: str
    cores: frozenset[int] | None


def read_places(path: Path) -> dict[int, RankPlace]:
    """Return where a job has printed that its ranks are, a line `RANK HOST [CORES]` each, in any order.

    Cores are counted as hwloc does and listed like `0-3,8`; blank lines and comments from `#` on say nothing. Raises
    InputError of `check` with the line of anything else, and for a rank that comes twice.
    """
    from tiger.model.text import read_text  # so that help does not wait for arrays

    places = dict[int, RankPlace]()
    for number, line in enumerate(read_text(path, FIELD).splitlines(), 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        if len(words) not in (2, 3) or not re.fullmatch(r"[0-9]{1,9}", words[0]):
            raise InputError(FIELD, f"line {number}: expected RANK HOST [CORES], got {describe(line.strip())}")
        rank = int(words[0])
        if rank in places:
            raise InputError(FIELD, f"line {number}: expected each rank once, got {rank} again")
        places[rank] = RankPlace(words[1], _read_cores(words[2], number) if len(words) == 3 else None)
    if not places:
        raise InputError(FIELD, f"expected lines RANK HOST [CORES], got none in {describe(str(path))}")
    return places


def _read_cores(text: str, line: int) -> frozenset[int]:
    """Return the numbers of a list such as `0-3,8`; raise InputError of `check` with the line."""
    cores = set[int]()
    for part in text.split(","):
        found = _RANGE.fullmatch(part)
        first, last = (int(found[1]), int(found[2] or found[1])) if found else (1, 0)
        if not first <= last < MOST_CORES:
            raise InputError(FIELD, f"line {line}: expected cores such as 0-3,8, got {describe(text)}")
        cores.update(range(first, last + 1))
    return frozenset(cores)


def list_differences(order: RankOrder, places: Mapping[int, RankPlace]) -> list[str]:
    """Return a line for every rank that is not where the order says, and for those that it does not have."""
    lines = []
    for rank, binding in enumerate(order.bindings):
        place = places.get(rank)
        if place is None or not _agree(binding, place):
            meant = RankPlace(binding.host, frozenset(binding.cores) or None)
            lines.append(f"rank {rank}: expected {_describe(meant)}, got {_describe(place)}")
    more = sorted(rank for rank in places if rank >= len(order.bindings))
    return lines + [f"rank {rank}: expected none, got {_describe(places[rank])}" for rank in more]


def describe_check(order: RankOrder, places: Mapping[int, RankPlace]) -> str:
    """Say whether a job got the order, and where it did not."""
    lines, size = list_differences(order, places), len(order.bindings)
    wrong = len(lines) - sum(rank >= size for rank in places)
    told = [
        f"{size - wrong} of {size} ranks run where the order says",
        *lines[:LISTED],
        *([f"and {len(lines) - LISTED} more"] if len(lines) > LISTED else []),
        *_describe_exchange(order, places),
        *_describe_silence(order, places),
    ]
    return "".join(f"{line}\n" for line in told)


def _agree(binding: RankBinding, place: RankPlace) -> bool:
    """Return whether a rank is on its host, and on its cores where both are told."""
    return _is_same(binding.host, place.host) and (
        not binding.cores or place.cores is None or place.cores == frozenset(binding.cores)
    )


def _is_same(host: str, other: str) -> bool:
    """Return whether two names of a host are the same, one of which may have a domain behind it."""
    return f"{host}.".startswith(f"{other}.") or f"{other}.".startswith(f"{host}.")


def _describe_exchange(order: RankOrder, places: Mapping[int, RankPlace]) -> list[str]:
    """Say in a line that the ranks of whole hosts have changed places, where that is all that differs of hosts."""
    pairs = {(binding.host, places[k].host) for k, binding in enumerate(order.bindings) if k in places}
    moved = sorted((meant, got) for meant, got in pairs if not _is_same(meant, got))
    alone = len(pairs) == len({meant for meant, _ in pairs}) == len({got for _, got in pairs})
    if not moved or not alone:
        return []
    shown = ", ".join(f"those of {meant} on {got}" for meant, got in moved[:LISTED])
    return [f"ranks that are to share a host do, on another one: {shown}{', ..' if len(moved) > LISTED else ''}"]


def _describe_silence(order: RankOrder, places: Mapping[int, RankPlace]) -> list[str]:
    """Say in a line that cores could not be compared."""
    silent = sum(
        bool(binding.cores) and k in places and places[k].cores is None for k, binding in enumerate(order.bindings)
    )
    return [f"cores were not compared, which {silent} ranks do not tell"] if silent else []


def _describe(place: RankPlace | None) -> str:
    """Return host and cores in words."""
    if place is None or place.cores is None:
        return "nothing" if place is None else place.host
    runs = list[list[int]]()
    for core in sorted(place.cores):
        if runs and core == runs[-1][-1] + 1:
            runs[-1].append(core)
        else:
            runs.append([core])
    listed = ",".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)
    return f"{place.host} core{'s' if len(place.cores) > 1 else ''} {listed}"
