"""What is near a device of a machine that lstopo describes: its part of the cores, and a network card.

Devices and cores are near each other below the innermost object that has both, as hwloc counts locality.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from tiger.formats.hardware.cpusets import FIELD, THREAD_LIMIT
from tiger.formats.xmltext import Element
from tiger.model.resources import Package, Resources
from tiger.model.wording import describe


def list_cores(elements: Sequence[Element], places: Sequence[int], allowed: int | None) -> tuple[Resources, ...]:
    """Return the cores at some positions, numbered from 0 on, with their packages and those processors allowed.

    Packages count as hwloc does, which leaves out those without a usable core; without a set all processors are
    `allowed`. Raises InputError of `topology` for a processor whose number no machine has.
    """
    cpus: dict[int, list[int]] = {at: [] for at in places}
    for at, element in enumerate(elements):
        cpu = _read_processor(element)
        if cpu is None or (allowed is not None and not allowed >> cpu & 1):
            continue
        for above in _list_above(elements, at):
            if above in cpus:
                cpus[above].append(cpu)
    cores, known = list[Resources](), dict[int, Package]()
    for core, at in enumerate(places):
        around = (above for above in _list_above(elements, at) if elements[above].values.get("type") == "Package")
        package = next(around, None)
        own = None if package is None else known.setdefault(package, Package(len(known), core))
        cores.append(Resources(cores=(core,), cpus=tuple(cpus[at]), package=own))
    return tuple(cores)


def _read_processor(element: Element) -> int | None:
    """Return the number that the operating system gives a processor, None for other elements and without one."""
    index = element.values.get("os_index", "")
    if element.values.get("type") != "PU" or not (index.isascii() and index.isdigit()):
        return None
    if len(index) > len(str(THREAD_LIMIT)) or int(index) >= THREAD_LIMIT:
        raise element.error(FIELD, f"os_index: expected a number below {THREAD_LIMIT}, got {describe(index)}")
    return int(index)


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
