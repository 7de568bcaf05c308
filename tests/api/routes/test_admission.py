"""Which requests are answered at once."""

from typing import Any

import pytest

from tiger.api.routes.admission import is_small
from tiger.api.routes.examples import ELEVEN_TASKS, FOURIER_ON_RING, HEAD_AWARE, STENCIL_ON_TORUS, TWO_SPEEDS
from tiger.api.schemas.assignment import AssignRequest
from tiger.api.schemas.circuits import CircuitRequest
from tiger.api.schemas.placement import PlaceRequest, PlanRequest


def tasks(count: int, **fields: object) -> AssignRequest:
    """Return a request for so many tasks."""
    graph = {"nodes": [{"id": k} for k in range(count)], "edges": []}
    return AssignRequest.read({"tasks": graph, "topology": "grid:9", **fields})


@pytest.mark.parametrize(
    ("count", "fields", "expected"),
    [
        (16, {}, True),
        (128, {}, True),
        (129, {}, False),
        (16, {"effort": 8}, True),
        (16, {"effort": 9}, False),
        (16, {"effort": 10**18, "time_limit_s": 0.2}, True),
        (16, {"effort": 1, "time_limit_s": 50.0}, True),
        (16, {"time_limit_s": 1.0}, False),
        (16, {"solver": "neal"}, True),
        (64, {"solver": "neal"}, False),
        (64, {"rule": "levels"}, False),
        (64, {"objective": "makespan"}, False),
        (1, {"solver": "dwave", "time_limit_s": 0.1}, False),
    ],
)
def test_few_tasks_and_little_effort_are_small(count: int, fields: dict[str, Any], *, expected: bool) -> None:
    """A time limit bounds the work, and without effort the search lasts as long as that."""
    assert is_small(tasks(count, **fields)) is expected


@pytest.mark.parametrize("name", ["edges", "links"])
def test_many_edges_are_not_small(name: str) -> None:
    """By either name."""
    graph = {"nodes": [{"id": 0}], name: [{}] * 2049}
    assert not is_small(AssignRequest.read({"tasks": graph, "topology": "grid:9"}))


@pytest.mark.parametrize(("spec", "expected"), [("ring:128", True), ("ring:129", False), ("alltoall:64", False)])
def test_patterns_count_by_their_size(spec: str, *, expected: bool) -> None:
    """Their ranks and messages are known without a graph."""
    assert is_small(AssignRequest.read({"tasks": spec, "topology": "grid:9"})) is expected


def test_what_is_no_list_counts_nothing() -> None:
    """It is refused soon enough."""
    assert is_small(AssignRequest.read({"tasks": {"nodes": 5}, "topology": "grid:9"}))


def test_short_circuits_are_small() -> None:
    """Less so at the higher levels."""
    long = FOURIER_ON_RING | {"circuit": "x" * 1000}
    for asked, expected in ((FOURIER_ON_RING, True), (long | {"level": 1}, True), (long | {"level": 3}, False)):
        assert is_small(CircuitRequest.read(asked)) is expected


def test_few_layers_are_small() -> None:
    """A model that is described may have any number."""
    assert is_small(PlaceRequest.read(TWO_SPEEDS))
    assert not is_small(PlaceRequest.read(HEAD_AWARE))


def test_plans_are_not_small_without_a_short_time_limit() -> None:
    """Each is many placements."""
    asked = {"model": TWO_SPEEDS["model"], "cluster": TWO_SPEEDS["cluster"]}
    assert not is_small(PlanRequest.read(asked))
    assert is_small(PlanRequest.read({**asked, "time_limit_s": 0.1}))


@pytest.mark.parametrize("name", ["operators", "nodes"])
def test_few_operators_are_small(name: str) -> None:
    """By either name."""
    for count, expected in ((64, True), (65, False)):
        assert is_small(PlaceRequest.read({"model": {name: [{}] * count}, "mode": "dag"})) is expected


@pytest.mark.parametrize("asked", [ELEVEN_TASKS, STENCIL_ON_TORUS])
def test_worked_examples_are_small(asked: dict[str, object]) -> None:
    """They are answered while one looks on."""
    assert is_small(AssignRequest.read(asked))
