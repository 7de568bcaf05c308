"""What is near a device of a machine that lstopo describes: its part of the cores, and a network card.

Devices and cores are near each other below the innermost object that has both, as hwloc counts locality.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from tiger.formats.xmltext import Element
from tiger.model.resources import Package, Resources


def list_cores(elements: Sequence[Element], places: Sequence[int]) -> tuple[Resources, ...]:
    """Return the cores at some positions, numbered from 0 on, with their processors and packages."""
    packages = [at for at, element in enumerate(elements) if element.values.get("type") == "Package"]
    number, first = {at: k for k, at in enumerate(packages)}, dict[int, int]()
    cpus: dict[int, list[int]] = {at: [] for at in places}
    for at, element in enumerate(elements):
        index = element.values.get("os_index", "")
        if element.values.get("type") != "PU" or not (index.isascii() and index.isdigit()):
            continue
        for above in _list_above(elements, at):
            if above in cpus:
                cpus[above].append(int(index))
    cores = list[Resources]()
    for core, at in enumerate(places):
        package = next((above for above in _list_above(elements, at) if above in number), None)
        own = None if package is None else Package(number[package], first.setdefault(package, core))
        cores.append(Resources(cores=(core,), cpus=tuple(cpus[at]), package=own))
    return tuple(cores)


def share_cores(
    elements: Sequence[Element], places: Sequence[int], cores: Mapping[int, Resources]
) -> list[tuple[Resources, ...]]:
    """Return the cores of every device at some positions: those near it, shared out evenly among devices near them.

    `cores` are those of the machine by their positions. A device that shares fewer cores than there are devices gets
    all of them.
    """
    around = dict[int, list[Resources]]()
    for at, core in cores.items():
        for above in _list_above(elements, at):
            around.setdefault(above, []).append(core)
    near = [next((above for above in _list_above(elements, at) if above in around), None) for at in places]
    counts, turn, shares = Counter(near), Counter[int | None](), list[tuple[Resources, ...]]()
    for part in near:
        own = [] if part is None else around[part]
        size = len(own) // counts[part]
        begin = turn[part] * size
        turn[part] += 1
        shares.append(tuple(own[begin : begin + size] if size else own))
    return shares


def match_cards(elements: Sequence[Element], places: Sequence[int], cards: Mapping[int, str]) -> list[str | None]:
    """Return the nearest network card of every device, of equally near ones that which fewest devices before have."""
    uses, found = Counter[str](), list[str | None]()
    above = {at: set(_list_above(elements, at)) for at in cards}
    for at in places:
        own = set(_list_above(elements, at))
        best = max(cards, key=lambda card: (len(own & above[card]), -uses[cards[card]]), default=None)
        found.append(None if best is None else cards[best])
        if best is not None:
            uses[cards[best]] += 1
    return found


def _list_above(elements: Sequence[Element], at: int) -> list[int]:
    """Return the positions of the objects around an object, innermost first."""
    above = list[int]()
    while (at := elements[at].parent) >= 0:
        above.append(at)
    return above
