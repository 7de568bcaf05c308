"""Problems: rules, groups, names resolved to indices, and what is refused."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from tiger.errors import InputError
from tiger.model.metrics import DenseMetric, GridMetric
from tiger.model.problem import Problem, default_rule
from tiger.model.tasks import TaskGraph
from tiger.model.topology import Links, Topology

PAIR = TaskGraph(names=("a", "b"), traffic=sp.csr_array(np.array([[0.0, 4.0], [0.0, 0.0]])), work=np.array([1.0, 3.0]))
LINE = Topology(names=("x", "y", "z"), metric=GridMetric((3,), (False,)))
RULES = ["one-to-one", "levels", "capacity"]


def test_one_to_one_is_one_group():
    """All tasks exclude each other."""
    problem = Problem(tasks=PAIR, topology=LINE, rule="one-to-one")
    assert [group.tolist() for group in problem.groups] == [[0, 1]]
    assert problem.group_of.tolist() == [0, 0]


def test_levels_is_a_group_for_each_level():
    """A task excludes those of its own level."""
    problem = Problem(tasks=PAIR, topology=LINE, rule="levels")
    assert [group.tolist() for group in problem.groups] == [[0], [1]]
    assert problem.group_of.tolist() == [0, 1]


def test_levels_are_as_wide_as_there_are_hosts(ladder):
    """A switch holds nothing, so three nodes with one switch split the levels as two nodes do."""
    problem = Problem(tasks=ladder, topology=LINE.with_slots([1, 0, 5]), rule="levels")
    assert [group.tolist() for group in problem.groups] == [[0], [1, 2], [3], [4, 6], [5, 7], [8], [9], [10]]


def test_capacity_has_no_groups():
    """Tasks share nodes."""
    problem = Problem(tasks=PAIR, topology=LINE, rule="capacity")
    assert problem.groups == ()
    assert problem.group_of.tolist() == [-1, -1]


def test_pins_and_forbidden_pairs_become_indices():
    """Pins are a vector with -1 for free tasks, forbidden pairs sorted rows."""
    forbidden = frozenset({("b", "y"), ("b", "x"), ("a", "z")})
    problem = Problem(tasks=PAIR, topology=LINE, rule="capacity", pinned={"b": "z"}, forbidden=forbidden)
    assert problem.pins.tolist() == [-1, 2]
    assert problem.free.tolist() == [0]
    assert problem.banned.tolist() == [[0, 2], [1, 0], [1, 1]]


def test_nothing_pinned_and_nothing_forbidden():
    """The arrays keep their shapes."""
    problem = Problem(tasks=PAIR, topology=LINE, rule="capacity")
    assert problem.pins.tolist() == [-1, -1]
    assert problem.banned.shape == (0, 2)


def test_a_pin_may_contradict():
    """Two tasks pinned to one node without a slot are well formed: that is for the solver to report."""
    problem = Problem(tasks=PAIR, topology=LINE.with_slots([0, 1, 1]), rule="one-to-one", pinned={"a": "x", "b": "x"})
    assert problem.pins.tolist() == [0, 0]


def test_inflow_is_the_transposed_traffic():
    """Row v holds what v receives."""
    assert Problem(tasks=PAIR, topology=LINE, rule="capacity").inflow.toarray().tolist() == [[0.0, 0.0], [4.0, 0.0]]


def test_mapping_is_by_name():
    """Node indices become {task: node} in task order."""
    assert Problem(tasks=PAIR, topology=LINE, rule="capacity").mapping(np.array([2, 0])) == {"a": "z", "b": "x"}


def test_default_rule_is_one_to_one_where_it_fits():
    """Switches do not count as nodes."""
    assert default_rule(PAIR, LINE) == "one-to-one"
    assert default_rule(PAIR, LINE.with_slots([0, 1, 1])) == "one-to-one"
    assert default_rule(PAIR, LINE.with_slots([0, 9, 0])) == "capacity"


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"rule": "best"}, "rule"),
        ({"pinned": {"c": "x"}}, "pinned/c"),
        ({"pinned": {"a": "w"}}, "pinned/a"),
        ({"forbidden": frozenset({("c", "x")})}, "forbidden"),
        ({"forbidden": frozenset({("a", "w")})}, "forbidden"),
        ({"forbidden": [("a", "x"), ("c", "x")]}, "forbidden/1/0"),
        ({"forbidden": [("a", "w")]}, "forbidden/0/1"),
    ],
)
def test_refuses_unknown_names(fields, field):
    """The error names the field and what it holds."""
    with pytest.raises(InputError, match="expected") as caught:
        Problem(**{"tasks": PAIR, "topology": LINE, "rule": "capacity", **fields})
    assert caught.value.field == field


def test_bug_pointers_are_escaped():
    """A slash in a task's name is no separator of the pointer."""
    with pytest.raises(InputError) as caught:
        Problem(tasks=PAIR, topology=LINE, rule="capacity", pinned={"a/b~c": "x"})
    assert caught.value.field == "pinned/a~1b~0c"


def test_bug_later_changes_of_the_pins_do_not_show():
    """The problem keeps a copy of what it was given."""
    pinned = {"a": "x"}
    problem = Problem(tasks=PAIR, topology=LINE, rule="capacity", pinned=pinned)
    pinned["b"] = "y"
    assert problem.pinned == {"a": "x"}


def test_derived_arrays_are_read_only():
    """Nobody changes a problem."""
    problem = Problem(tasks=PAIR, topology=LINE, rule="levels", pinned={"a": "x"})
    arrays = (problem.pins, problem.banned, problem.group_of, *problem.groups, problem.inflow.data)
    assert not any(array.flags.writeable for array in arrays)


def test_connected_hardware_keeps_its_metric():
    """No copy is made where every distance is finite."""
    assert Problem(tasks=PAIR, topology=LINE, rule="capacity").metric is LINE.metric
    dense = Topology(names=("x",), metric=DenseMetric(np.zeros((1, 1))))
    assert Problem(tasks=PAIR, topology=dense, rule="capacity").metric is dense.metric


def test_unreachable_nodes_are_farther_than_any_saving():
    """One broken pair of the least volume costs more than all that a connected mapping can cost."""
    split = Topology.from_links(("x", "y", "z"), Links.unit([(0, 1)]))
    metric = Problem(tasks=PAIR, topology=split, rule="capacity").metric
    assert metric.table[0, 1] == 1.0
    assert 4.0 * metric.table[0, 2] > 4.0 * 1.0


def test_unreachable_nodes_without_traffic():
    """There is a finite distance even where nothing needs it."""
    split = Topology.from_links(("x", "y"), Links.unit([]))
    silent = TaskGraph(names=("a", "b"), traffic=sp.csr_array((2, 2)))
    assert np.isfinite(Problem(tasks=silent, topology=split, rule="capacity").metric.table).all()


@pytest.mark.slow
@given(seed=st.integers(0, 2**32 - 1), rule=st.sampled_from(RULES))
def test_no_broken_mapping_is_cheaper_than_a_connected_one(
    random_problem, random_feasible, random_places, naive_broken, naive_cost, seed, rule
):
    """On split hardware, a mapping with traffic between the parts costs more than any without."""
    problem, rng = random_problem(rule, seed, hardware="split", tasks=5, nodes=6), np.random.default_rng(seed)
    good = naive_cost(problem, random_feasible(problem, rng))
    for _ in range(10):
        other = random_places(problem, rng)
        if "disconnected" in naive_broken(problem, other):
            assert naive_cost(problem, other) > good


def test_refuses_costs_beyond_float64():
    """A cost that could be infinite is no cost."""
    heavy = TaskGraph(names=("a", "b"), traffic=sp.csr_array(np.array([[0.0, 1e200], [0.0, 0.0]])))
    far = Topology(names=("x", "y"), metric=GridMetric((2,), (False,), hop=1e200))
    with pytest.raises(InputError, match="expected costs within the range of float64"):
        Problem(tasks=heavy, topology=far, rule="capacity")
    many = TaskGraph(names=("a", "b"), traffic=sp.csr_array((2, 2)), work=np.array([1e308, 1e308]))
    with pytest.raises(InputError, match="expected costs within the range of float64"):
        Problem(tasks=many, topology=LINE, rule="capacity")


def test_refuses_volumes_too_far_apart_on_split_hardware():
    """No finite distance could outweigh the large volume at the small one."""
    volumes = sp.csr_array(np.array([[0.0, 1e-200], [1e200, 0.0]]))
    tasks = TaskGraph(names=("a", "b"), traffic=volumes)
    split = Topology.from_links(("x", "y"), Links.unit([]))
    with pytest.raises(InputError, match="expected volumes closer to each other") as caught:
        Problem(tasks=tasks, topology=split, rule="capacity")
    assert caught.value.field == "tasks/traffic"


def test_bug_refuses_a_link_too_narrow_for_its_load():
    """A load is traffic over bandwidth, and a figure of every report."""
    narrow = Links(u=np.array([0]), v=np.array([1]), weight=np.ones(1), bandwidth=np.array([1e-320]))
    with pytest.raises(InputError, match="expected loads within the range of float64") as caught:
        Problem(tasks=PAIR, topology=Topology.from_links(("x", "y"), narrow), rule="one-to-one")
    assert caught.value.field == "topology/links/bandwidth"


def test_problems_survive_the_way_to_a_worker(path_problem, naive_cost):
    """Pickling keeps tasks, hardware and everything derived."""
    copy = pickle.loads(pickle.dumps(path_problem))
    assert copy.rule == "one-to-one"
    assert naive_cost(copy, np.array([0, 1, 2])) == 7.0


def test_bug_refuses_figures_that_bounds_could_not_add_up():
    """A volume of 1e308 on distances of 0 and infinity has bounds that are no numbers."""
    tasks = TaskGraph(names=("a", "b"), traffic=sp.csr_array(np.array([[0.0, 1e308], [0.0, 0.0]])))
    with pytest.raises(InputError, match="expected costs within the range of float64"):
        Problem(tasks=tasks, topology=Topology.from_links(("x", "y"), Links.unit([])), rule="capacity")
