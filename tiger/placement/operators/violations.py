"""Constraints that no placement of operators can meet, as far as they are found without a search."""

from collections.abc import Iterator, Mapping

import numpy as np

from tiger.model.arrays import IntArray
from tiger.model.units import bytes_text
from tiger.model.violation import Violation
from tiger.model.wording import describe
from tiger.placement.operators.linear_orders import components
from tiger.placement.operators.terms import Terms
from tiger.training.costs.tolerances import TOO_LARGE
from tiger.training.hardware.cluster import Cluster
from tiger.training.models.operators import Operators

# How many operators or groups a message names.
NAMED = 2
ADVICE = "recomputed activations or states offloaded to the host take less"


def find_violations(
    operators: Operators, cluster: Cluster, pinned: Mapping[int, int], terms: Terms
) -> tuple[Violation, ...]:
    """Return pins that contradict each other, groups that no device may run or hold, and memory that is too little.

    `pinned` is the device of operators, both by number. O(n + k C).
    """
    nowhere = [*_pulled_apart_pairs(operators, cluster, pinned), *_refused_groups(operators, cluster, pinned, terms)]
    if nowhere:
        return tuple(nowhere)
    return (*_too_large_groups(operators, terms), *_overfull_devices(cluster, terms))


def find_stage_violations(operators: Operators, terms: Terms) -> tuple[Violation, ...]:
    """Return the groups on cycles that fit on no one device, so that no contiguous stages hold them.

    Groups that edges lead around among share a stage, whatever the line, hence a device. The set that lacks the most
    is named. O(k C + e log e).
    """
    part = components(terms)[0]
    held = np.bincount(part, terms.memory)
    barred = np.array([np.bincount(part, ~column) for column in terms.allowed.T])
    room = np.where(barred == 0, terms.capacity[:, None], -np.inf).max(axis=0)
    # Single groups have been looked at one by one.
    short = (held > room * (1 + TOO_LARGE)) & (np.bincount(part) > 1)
    if not short.any():
        return ()
    lack = np.where(short, held - np.maximum(room, 0.0), -np.inf)
    worst = int(np.argmax(lack))
    what = (
        f"{_set_text(operators, np.flatnonzero(part == worst))} have to share a stage, as edges lead from each to all"
    )
    if room[worst] == -np.inf:
        return (Violation(kind="device", message=f"{what}, and no device may run them all"),)
    size, most = size_texts(held[worst], room[worst])
    return (Violation(kind="memory", message=f"{what}: {size}, and no device they may go to has more than {most}"),)


def overall_violation(terms: Terms) -> Violation:
    """Return that groups do not fit into the devices in any way, though all together and each alone would."""
    needed, room = _totals(terms)
    held = f"{bytes_text(needed)} in all, do not fit into the {bytes_text(room)} of the devices"
    what = f"the colocation groups, {held}, however they are shared out; {ADVICE}"
    return Violation(kind="memory", message=what)


def size_texts(held: float, room: float) -> tuple[str, str]:
    """Return bytes and the fewer that there is room for, in units that show the difference."""
    texts = bytes_text(float(held)), bytes_text(float(room))
    return texts if texts[0] != texts[1] else (f"{held:,.0f} bytes", f"{room:,.0f} bytes")


def _set_text(operators: Operators, labels: IntArray) -> str:
    """Return some groups in a few words, the largest in operators first."""
    sizes = np.bincount(operators.colour, minlength=operators.groups)[labels]
    first = labels[np.argsort(-sizes, kind="stable")]
    named = ", ".join(group_text(operators, int(label)) for label in first[:NAMED])
    return named + (f" and {len(labels) - NAMED:,} more colocation groups" if len(labels) > NAMED else "")


def group_text(operators: Operators, label: int) -> str:
    """Return the operators of a group in a few words."""
    members = np.flatnonzero(operators.colour == label)
    named = ", ".join(describe(operators.names[u]) for u in members[:NAMED])
    rest = f" and {len(members) - NAMED} more" if len(members) > NAMED else ""
    return f"operator {named}" if len(members) == 1 else f"the colocation group of {named}{rest}"


def _pulled_apart_pairs(operators: Operators, cluster: Cluster, pinned: Mapping[int, int]) -> Iterator[Violation]:
    """Yield two operators of each group that have to share a device and are pinned to different ones."""
    first: dict[int, int] = {}
    named: set[int] = set()
    for operator, device in pinned.items():
        label = int(operators.colour[operator])
        other = first.setdefault(label, operator)
        if pinned[other] != device and label not in named:
            named.add(label)
            ends = [
                f"{describe(operators.names[u])} to {describe(cluster.names[pinned[u]])}" for u in (other, operator)
            ]
            yield Violation(kind="pinned", message=f"{' and '.join(ends)} are pinned apart, and colocated")


def _refused_groups(
    operators: Operators, cluster: Cluster, pinned: Mapping[int, int], terms: Terms
) -> Iterator[Violation]:
    """Yield the groups that only a cpu runs where there is none, or that are pinned to an accelerator."""
    bound = np.unique(operators.colour[operators.cpu_only]).tolist()
    places: dict[int, set[int]] = {}
    for operator, device in pinned.items():
        places.setdefault(int(operators.colour[operator]), set()).add(device)
    for label in bound:
        if terms.allowed[label].any() or len(places.get(label, ())) > 1:
            continue
        where = "the cluster has none"
        if "cpu" in cluster.kinds:
            where = f"it is pinned to {describe(cluster.names[next(iter(places[label]))])}"
        yield Violation(kind="device", message=f"{group_text(operators, label)}: only a cpu runs it, and {where}")


def _too_large_groups(operators: Operators, terms: Terms) -> Iterator[Violation]:
    """Yield the groups that are larger than every device they may go to."""
    room = np.where(terms.allowed, terms.capacity, -np.inf).max(axis=1)
    for label in np.flatnonzero(terms.memory > room * (1 + TOO_LARGE)).tolist():
        size, most = size_texts(terms.memory[label], room[label])
        held = f"{size}, and no device it may go to has more than {most}"
        yield Violation(kind="memory", message=f"{group_text(operators, label)}: {held}")


def _overfull_devices(cluster: Cluster, terms: Terms) -> Iterator[Violation]:
    """Yield devices with too little memory for what is pinned there, and what all devices together lack."""
    single = terms.allowed.sum(axis=1) == 1
    only: IntArray = terms.allowed.argmax(axis=1)
    pressed = np.bincount(only[single], terms.memory[single], terms.devices)
    for device in np.flatnonzero(pressed > terms.capacity * (1 + TOO_LARGE)).tolist():
        size, most = size_texts(pressed[device], terms.capacity[device])
        held = f"{size} have to go there, and it has {most}"
        yield Violation(kind="memory", message=f"{describe(cluster.names[device])}: {held}")
    needed, room = _totals(terms)
    if needed > room * (1 + TOO_LARGE):
        size, most = size_texts(needed, room)
        yield Violation(kind="memory", message=f"{size} in all, and the devices have {most}; {ADVICE}")


def _totals(terms: Terms) -> tuple[float, float]:
    """Return the bytes of groups that only devices of limited memory may run, and the memory of these devices."""
    end = np.isfinite(terms.capacity)
    bounded = ~(terms.allowed & ~end).any(axis=1)
    return float(terms.memory[bounded].sum()), float(terms.capacity[end].sum())
