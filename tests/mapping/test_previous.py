"""Tests of mappings after a change, which keep tasks where they were."""

import itertools
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp

import tiger
from tiger.errors import InputError
from tiger.mapping.entry import problem_of
from tiger.mapping.explanation import explain_mapping
from tiger.mapping.previous import find_homes, place_anew
from tiger.mapping.summary import summary
from tiger.model.arrays import IntArray
from tiger.model.metrics import GridMetric
from tiger.model.problem import Problem
from tiger.model.tasks import TaskGraph
from tiger.model.topology import Topology
from tiger.objectives.cost import cost_of, violations

TASKS, NODES = 5, 5


class Change(NamedTuple):
    """Hold a problem after a change, and the mapping before it."""

    problem: Problem
    previous: dict[str, str]


def change(rule: str, seed: int) -> Change:
    """Return a small problem, of which a node is lost, some tasks are new, and others may not stay."""
    random = np.random.default_rng(seed)
    traffic = np.triu(random.integers(0, 6, (TASKS, TASKS)), 1).astype(float)
    memory = random.integers(1, 5, TASKS) if rule == "capacity" and seed % 2 else None
    slots = np.full(NODES + 1, 2 if rule == "capacity" else 1)
    slots[random.integers(NODES + 1)] = 0
    nodes, tasks = tuple(f"n{k}" for k in range(NODES + 1)), tuple(f"t{k}" for k in range(TASKS))
    problem = Problem(
        tasks=TaskGraph(
            names=tasks, traffic=sp.csr_array(traffic), work=np.ones(TASKS), memory=memory, directed=rule == "levels"
        ),
        topology=Topology(
            names=nodes,
            metric=GridMetric((2, 3), (False, False)),
            slots=slots,
            memory=None if memory is None else np.full(NODES + 1, 6),
        ),
        rule=rule,  # type: ignore[arg-type]  # one of the three
        forbidden=[(tasks[t], nodes[p]) for t, p in random.integers(0, TASKS, (4, 2)).tolist()],
    )
    where = random.permutation(NODES + 1) if rule == "one-to-one" else random.integers(0, NODES + 1, NODES + 1)
    return Change(
        problem, {tasks[k]: nodes[where[k]] for k in range(TASKS - 1)} | {"gone": "n0", tasks[0]: "elsewhere"}
    )


def list_feasible(problem: Problem) -> Iterator[IntArray]:
    """Yield all feasible mappings."""
    for places in itertools.product(problem.topology.hosts.tolist(), repeat=TASKS):
        if not violations(problem, np.array(places)):
            yield np.array(places)


@pytest.mark.parametrize("rule", ["one-to-one", "levels", "capacity"])
@pytest.mark.parametrize("seed", range(6))
def test_moves_are_the_fewest_and_then_the_cheapest_there_are(rule: str, seed: int) -> None:
    """Tests against all mappings: the least moves, then cost, and the least of cost and prices of moves together."""
    problem, previous = change(rule, seed)
    homes = find_homes(problem, previous)
    feasible = [(homes.count_moves(places), cost_of(problem, places).total) for places in list_feasible(problem)]
    report = tiger.solve(problem, previous=previous)
    assert report.feasible == bool(feasible)
    if not feasible:
        return
    moves = [move for move in report.moves if move.why in ("room", "gain")]
    assert (len(moves), report.cost) == min(feasible)
    for price in (0.5, 3.0):
        priced = tiger.solve(problem, previous=previous, move_cost=price, effort=2)
        assert priced.cost is not None
        chosen = sum(move.why in ("room", "gain") for move in priced.moves)
        assert priced.cost + price * chosen == pytest.approx(min(cost + price * count for count, cost in feasible))


def test_every_move_has_its_reason() -> None:
    """A node is lost, one task is new, one is forbidden where it was, and two cannot share a node any more."""
    previous = {"0": "0", "1": "1", "2": "2", "3": "9", "4": "0"}
    report = tiger.assign("ring:6", "ring:7", previous=previous, forbidden=[("2", "2")], seed=1)
    assert {move.task: (move.before, move.why) for move in report.moves} in [
        {room: ("0", "room"), "2": ("2", "forbidden"), "3": ("9", "lost"), "5": (None, "new")} for room in "04"
    ]
    assert all(report.mapping[move.task] == move.after != move.before for move in report.moves)
    assert report.moved == 3
    text = "1 whose node is gone, 1 that may not stay, 1 for want of room, 1 that are new"
    assert text in summary(report)
    assert f"Since the change 4 of 6 tasks have another node: {text}." in explain_mapping(report).quality


def test_moves_by_choice_keep_to_a_limit_and_gain() -> None:
    """Three lost nodes of 264: three tasks move, and each further one that is allowed lowers the cost."""
    before = tiger.assign("halo:16x16", "torus:12x22", seed=1)
    nodes = problem_of("halo:16x16", "torus:12x22").topology.names
    lost = [before.mapping[task] for task in ("10", "100", "200")]
    kept = [node for node in nodes if node not in lost]

    def replan(**options: float) -> tiger.Report:
        return tiger.assign("halo:16x16", "torus:12x22", allocation=kept, previous=before, seed=1, **options)  # type: ignore[arg-type]  # options of numbers

    fewest, some = replan(), replan(max_moves=8)
    assert [(move.task, move.before, move.why) for move in fewest.moves] == [
        (task, node, "lost") for task, node in zip(("10", "100", "200"), lost, strict=True)
    ]
    assert some.moved is not None
    assert 3 < some.moved <= 11
    assert fewest.cost is not None
    assert some.cost is not None
    assert some.cost < fewest.cost
    dear, cheap = replan(move_cost=1000), replan(move_cost=1)
    assert dear.mapping == fewest.mapping
    assert cheap.cost is not None
    assert cheap.moved is not None
    assert cheap.cost + cheap.moved < fewest.cost + 3


def test_what_cannot_be_met_is_said() -> None:
    """More tasks than slots, whatever moves."""
    report = tiger.assign("ring:4", "ring:3", rule="one-to-one", previous={"0": "0"})
    assert not report.feasible
    assert report.moves == ()


def test_a_mapping_too_large_to_count_is_brought_near(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the size that is decided, any feasible mapping is, and the search takes tasks home."""
    monkeypatch.setattr("tiger.mapping.previous.PAIRS", 0)
    problem = problem_of("ring:6", "ring:6", forbidden=[("0", "0")])
    previous = {str(k): str(k) for k in range(6)}
    anew = place_anew(problem, find_homes(problem, previous), None)
    assert not isinstance(anew, tuple)
    assert not anew.fewest
    report = tiger.solve(problem, previous=previous)
    assert report.moved is not None
    assert report.moved <= anew.moves + 1
    assert "fewer tasks may have to move" in "".join(report.warnings)


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"previous": {"x": "0"}}, "previous"),
        ({"previous": {"0": "0"}, "nodes": 3}, "previous"),
        ({"previous": {"0": "0"}, "solver": "neal"}, "previous"),
        ({"previous": {"0": "0"}, "objective": "max-link-load"}, "previous"),
        ({"previous": {"0": "0"}, "start": {str(k): str(k) for k in range(4)}}, "start"),
        ({"previous": {"0": "0"}, "contiguous_hosts": True}, "contiguous_hosts"),
        ({"previous": "none.csv"}, "previous"),
        ({"start": "none.csv"}, "start"),
        ({"move_cost": 1.0}, "move_cost"),
        ({"previous": {"0": "0"}, "move_cost": -1.0}, "move_cost"),
    ],
)
def test_options_that_do_not_go_together_are_refused(options: dict[str, object], field: str) -> None:
    """The error names the field."""
    with pytest.raises(InputError) as caught:
        tiger.assign("ring:4", "ring:5", **options)  # type: ignore[arg-type]  # wrong ones among them
    assert caught.value.field == field
