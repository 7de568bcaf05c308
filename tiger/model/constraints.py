"""The constraints on a mapping beside graph and hardware: rule, slots, pins and forbidden pairs."""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from numbers import Integral, Real

import numpy as np

from tiger.errors import InputError
from tiger.model.arrays import IntArray
from tiger.model.problem import Problem, default_rule
from tiger.model.sharing import Rule, SharingOptions
from tiger.model.tasks import TaskGraph
from tiger.model.topology import Topology
from tiger.model.wording import describe

# The largest whole numbers that float64, in which inputs are checked, tells apart.
MOST_SLOTS = 2**53 - 1


@dataclass(frozen=True, kw_only=True)
class Constraints(SharingOptions):
    """Hold the constraints that a caller states, tasks and nodes by name.

    `slots` >= 1 replaces the slots of every node that has any; `imbalance` X >= 0 then scales them by 1 + X, rounded
    down. Both belong to the capacity rule, which is the default once one of them is given, except for slots of 1, which
    may also be said under one-to-one and alone stand for it. Raises InputError for a
    value out of bounds and TypeError for one of another type.
    """

    pinned: Mapping[str, str] = field(default_factory=dict)
    forbidden: Collection[tuple[str, str]] = frozenset()

    @property
    def named(self) -> set[str]:
        """Return the nodes that pins and forbidden pairs name."""
        return {*self.pinned.values(), *(node for _, node in self.forbidden)}

    def __post_init__(self) -> None:
        """Check the bounds of slots and imbalance."""
        if self.slots is not None:
            _check_type("slots", self.slots, Integral)
            if not 1 <= self.slots <= MOST_SLOTS:
                raise InputError("slots", f"expected a whole number from 1 to {MOST_SLOTS}, got {describe(self.slots)}")
        _check_type("imbalance", self.imbalance, Real)
        if not 0 <= self.imbalance <= MOST_SLOTS:
            raise InputError("imbalance", f"expected a number from 0 to {MOST_SLOTS}, got {describe(self.imbalance)}")


def build_problem(tasks: TaskGraph, topology: Topology, terms: Constraints) -> Problem:
    """Choose the rule and the slots that the constraints leave open, and build the problem.

    Raises InputError for more than a slot, or imbalance, under a rule that is not capacity, for other slots than nodes
    are granted, and where `Problem` does.
    """
    check_granted(topology, terms)
    rule = _rule(tasks, topology, terms)
    if rule == "capacity":
        topology = topology.with_slots(_slots(tasks.size, topology, terms))
    if terms.slots is not None:
        topology = replace(topology, slots_stated=True)
    return Problem(tasks=tasks, topology=topology, rule=rule, pinned=terms.pinned, forbidden=terms.forbidden)


def check_granted(topology: Topology, terms: Constraints) -> None:
    """Raise InputError of `slots` for other slots than nodes are granted."""
    if not topology.slots_granted or terms.slots is None:
        return
    other = topology.hosts[topology.slots[topology.hosts] != terms.slots]
    if other.size:
        node, slots = topology.names[other[0]], topology.slots[other[0]]
        what = f"expected none beside hosts that come with their slots, as {describe(node)} with {slots}"
        raise InputError("slots", f"{what}, got {terms.slots}")


def _rule(tasks: TaskGraph, topology: Topology, terms: Constraints) -> Rule:
    """Return the stated rule, or the one that follows from the rest; a slot for each node is one-to-one."""
    alone = terms.slots == 1 and not terms.imbalance
    sharing = "slots" if terms.slots is not None else "imbalance" if terms.imbalance else None
    if alone and terms.rule in (None, "one-to-one"):
        return "one-to-one"
    if terms.rule is None:
        granted = topology.slots_granted and bool((topology.slots > 1).any())
        return "capacity" if sharing or granted else default_rule(tasks, topology)
    if sharing and terms.rule != "capacity":
        raise InputError(sharing, f"expected it under the capacity rule alone, got it under {terms.rule!r}")
    return terms.rule


def _slots(size: int, topology: Topology, terms: Constraints) -> IntArray:
    """Return the slots of every node under the capacity rule; a node without any stays so."""
    slots, hosts = topology.slots, topology.hosts
    if terms.slots is not None:
        slots = np.where(slots > 0, terms.slots, 0)
    elif size > hosts.size > 0 and (slots[hosts] == 1).all() and not topology.slots_stated:
        slots = np.where(slots > 0, math.ceil(size / hosts.size), 0)
    # A hair above, so that 100 slots and 15 % more are 115 although 1.15 is below that in binary.
    scaled = np.floor(slots * (1 + terms.imbalance) + 1e-9)
    if (scaled > MOST_SLOTS).any():
        raise InputError("imbalance", f"expected at most {MOST_SLOTS} slots on a node, got {scaled.max():g}")
    whole: IntArray = scaled.astype(np.int64)
    return whole


def _check_type(what: str, value: object, number: type) -> None:
    """Raise TypeError unless the value is a number of some type."""
    if isinstance(value, bool) or not isinstance(value, number):
        raise TypeError(f"expected {what} as a number of kind {number.__name__}, got {type(value).__name__}")
