"""Tests of the rule and the slots that follow from what is left open."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from tiger.errors import InputError
from tiger.formats.nodelink import read_topology
from tiger.model.constraints import Constraints, build_problem
from tiger.model.metrics import GridMetric
from tiger.model.tasks import TaskGraph
from tiger.model.topology import Topology


def chain(size: int) -> TaskGraph:
    """Return tasks 0, 1, .. where each sends one unit to the next."""
    ends = np.arange(size - 1)
    traffic = sp.csr_array((np.ones(size - 1), (ends, ends + 1)), shape=(size, size))
    return TaskGraph(names=tuple(map(str, range(size))), traffic=traffic)


def line(*slots: int) -> Topology:
    """Return nodes a, b, .. in a row with these slots."""
    names = tuple(chr(ord("a") + k) for k in range(len(slots)))
    return Topology(names=names, metric=GridMetric((len(slots),), (False,)), slots=np.array(slots))


@pytest.mark.parametrize(("tasks", "rule"), [(1, "one-to-one"), (3, "one-to-one"), (4, "capacity")])
def test_the_rule_follows_from_the_number_of_hosts(tasks: int, rule: str) -> None:
    """Tasks get a node each while the nodes with slots suffice."""
    assert build_problem(chain(tasks), line(1, 1, 0, 1), Constraints()).rule == rule


@pytest.mark.parametrize("terms", [Constraints(slots=2), Constraints(imbalance=0.5)], ids=["slots", "imbalance"])
def test_slots_and_imbalance_ask_for_capacity(terms: Constraints) -> None:
    """Both have a meaning under capacity alone, so they stand for it."""
    assert build_problem(chain(2), line(1, 1), terms).rule == "capacity"


@pytest.mark.parametrize("rule", [None, "one-to-one"])
def test_a_slot_a_node_is_one_to_one(rule: str | None) -> None:
    """Saying so by slots, or by both, is the same."""
    assert build_problem(chain(2), line(1, 1), Constraints(rule=rule, slots=1)).rule == "one-to-one"


@pytest.mark.parametrize("rule", ["one-to-one", "levels"])
@pytest.mark.parametrize("field", ["slots", "imbalance"])
def test_slots_and_imbalance_need_capacity(rule: str, field: str) -> None:
    """Under another rule that was asked for they are bad input."""
    with pytest.raises(InputError) as caught:
        build_problem(chain(2), line(1, 1), Constraints(rule=rule, **{field: 2}))
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("tasks", "slots", "terms", "expected"),
    [
        (7, (1, 1, 0, 1), Constraints(), [3, 3, 0, 3]),
        (7, (1, 1, 0, 1), Constraints(rule="capacity"), [3, 3, 0, 3]),
        (3, (1, 1, 1), Constraints(rule="capacity"), [1, 1, 1]),
        (7, (1, 2, 1), Constraints(), [1, 2, 1]),
        (7, (1, 1, 0), Constraints(slots=2), [2, 2, 0]),
        (7, (0, 0), Constraints(rule="capacity"), [0, 0]),
        (7, (1, 1), Constraints(imbalance=0.5), [6, 6]),
        (3, (10, 100, 0), Constraints(rule="capacity", imbalance=0.15), [11, 115, 0]),
        (3, (1, 1, 1), Constraints(slots=3, imbalance=0.3), [3, 3, 3]),
    ],
)
def test_slots_under_capacity(tasks: int, slots: tuple[int, ...], terms: Constraints, expected: list[int]) -> None:
    """ceil(n / hosts) where hosts with one slot each do not suffice, else what is there or asked for, scaled."""
    assert build_problem(chain(tasks), line(*slots), terms).topology.slots.tolist() == expected


def test_slots_stay_under_the_other_rules() -> None:
    """One-to-one does not touch the hardware."""
    hardware = line(1, 4, 0)
    assert build_problem(chain(2), hardware, Constraints()).topology is hardware


@given(hosts=st.integers(1, 6), extra=st.integers(1, 20))
def test_the_default_slots_always_suffice(hosts: int, extra: int) -> None:
    """There is a slot for every task, and with one slot less on each node there is not."""
    slots = build_problem(chain(hosts + extra), line(*[1] * hosts), Constraints()).topology.slots
    assert (slots - 1).sum() < hosts + extra <= slots.sum()


@pytest.mark.parametrize("slots", [0, -3, 2**53, 10**400])
def test_slots_out_of_bounds(slots: int) -> None:
    """A node has at least one slot, and not more than a float can count."""
    with pytest.raises(InputError, match=r"slots: expected a whole number from 1 to 9007199254740991"):
        Constraints(slots=slots)


@pytest.mark.parametrize("imbalance", [-0.1, float("nan"), float("inf"), 10**400])
def test_imbalance_out_of_bounds(imbalance: float) -> None:
    """Imbalance adds slots and never takes any away."""
    with pytest.raises(InputError, match=r"imbalance: expected a number from 0 to 9007199254740991"):
        Constraints(imbalance=imbalance)


def test_imbalance_beyond_counting() -> None:
    """Slots that cannot be counted are refused under the name of what made them so many."""
    with pytest.raises(InputError, match=r"imbalance: expected at most 9007199254740991 slots"):
        build_problem(chain(2), line(1, 1), Constraints(slots=3, imbalance=2.0**52))


@pytest.mark.parametrize(("field", "value"), [("slots", 2.0), ("slots", True), ("imbalance", "1"), ("imbalance", True)])
def test_numbers_of_another_type(field: str, value: object) -> None:
    """Fractions, flags and texts are no numbers of slots, texts and flags no imbalance."""
    with pytest.raises(TypeError, match=f"expected {field} as a number"):
        Constraints(**{field: value})


def test_numbers_of_numpy_are_numbers() -> None:
    """What an array holds can be given as it is."""
    terms = Constraints(slots=np.int64(2), imbalance=np.float64(0.5))
    assert build_problem(chain(2), line(1, 1), terms).topology.slots.tolist() == [3, 3]


def test_slots_that_a_topology_states_are_kept() -> None:
    """Three tasks on two nodes that say one slot each cannot be mapped; nodes that say nothing share them evenly."""
    for nodes, slots in (([{"id": "x", "slots": 1}, {"id": "y"}], [1, 1]), ([{"id": "x"}, {"id": "y"}], [2, 2])):
        hardware = read_topology({"nodes": nodes, "edges": [{"source": "x", "target": "y"}]})
        tasks = TaskGraph(names=("a", "b", "c"), traffic=sp.csr_array((3, 3)))
        assert build_problem(tasks, hardware, Constraints()).topology.slots.tolist() == slots
