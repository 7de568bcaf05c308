"""The schema of a request."""

from typing import Any

import pytest
from pydantic import ValidationError

from tiger.api.schemas.assignment import AssignRequest, IsingBody
from tiger.api.schemas.closed import document_requests, refer

BARE = {"tasks": {"nodes": []}, "topology": "grid:2"}


def test_everything_but_the_graphs_has_a_default() -> None:
    """Tasks and topology suffice."""
    request = AssignRequest.read(BARE)
    assert (request.rule, request.solver, request.seed, request.effort) == (None, "auto", 0, None)


def test_tasks_may_be_a_specification() -> None:
    """It is read, and refused where it is none, by `check_tasks`."""
    assert AssignRequest.read(BARE | {"tasks": "halo:4x4"}).tasks == "halo:4x4"


@pytest.mark.parametrize("topology", ["torus:4x4", {"nodes": []}])
def test_a_topology_is_a_specification_or_a_graph(topology: object) -> None:
    """Both forms pass."""
    assert AssignRequest.read(BARE | {"topology": topology}).topology == topology


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("tasks", [1]),
        ("tasks", None),
        ("topology", 5),
        ("rule", "any"),
        ("slots", 0),
        ("slots", 1.0),
        ("slots", "1"),
        ("imbalance", -0.5),
        ("imbalance", float("nan")),
        ("imbalance", float("inf")),
        ("imbalance", True),
        ("allocation", 0),
        ("allocation", [0]),
        ("allocation", [{"node": "0"}]),
        ("allocation", [{"node": "0", "slots": 0}]),
        ("allocation", {"0": 1}),
        ("pinned", {"a": 1}),
        ("pinned", [["a", "b"]]),
        ("forbidden", [["a"]]),
        ("forbidden", [["a", "b", "c"]]),
        ("forbidden", [["a", 1]]),
        ("forbidden", {"a": "b"}),
        ("solver", None),
        ("objective", None),
        ("objective", "latency"),
        ("threshold", -0.1),
        ("threshold", 1),
        ("threshold", "0.1"),
        ("seed", -1),
        ("seed", 2**63),
        ("seed", 1.5),
        ("seed", True),
        ("effort", 0),
        ("effort", 2**63),
        ("effort", "1"),
        ("effort", True),
        ("time_limit_s", 0),
        ("time_limit_s", float("inf")),
        ("time_limit_s", "1"),
        ("circuit", "x.qasm"),
        ("executor", None),
    ],
)
def test_a_field_of_the_wrong_type_or_bound_is_refused(field: str, value: object) -> None:
    """Every check points at its own field."""
    with pytest.raises(ValidationError) as refusal:
        AssignRequest.read(BARE | {field: value})
    assert {error["loc"][0] for error in refusal.value.errors()} == {field}


@pytest.mark.parametrize(
    "fields",
    [
        {f"x{k}": k for k in range(1000)},
        {"pinned": {f"x{k}": k for k in range(1000)}},
        {"forbidden": [1] * 1000},
        {"forbidden": [["a"] * 1000]},
    ],
)
def test_a_flood_of_errors_is_one(fields: dict[str, object]) -> None:
    """Refusing a large body costs little."""
    with pytest.raises(ValidationError) as refusal:
        AssignRequest.read(BARE | fields)
    assert refusal.value.error_count() == 1


@pytest.mark.parametrize("entry", [{"node": "1", "slots": 2.5}, {"node": "1", "slots": 0}, {"nod": "1", "slots": 1}, 7])
def test_bug_allocations_were_refused_by_the_names_of_types(entry: object) -> None:
    """One error says what is wanted, and where something else is."""
    with pytest.raises(ValidationError) as refusal:
        AssignRequest.read(BARE | {"allocation": ["0", entry]})
    (error,) = refusal.value.errors()
    assert (error["loc"], error["msg"].endswith("from 1 to 2**53 - 1, not as at /1")) == (("allocation",), True)


def test_the_largest_seed_passes() -> None:
    """Seeds reach up to 2**63 - 1."""
    assert AssignRequest.read(BARE | {"seed": 2**63 - 1}).seed == 2**63 - 1


def test_options_of_the_ising_path_have_defaults() -> None:
    """Each may be given alone."""
    assert AssignRequest.read(BARE).ising == IsingBody()
    request = AssignRequest.read(BARE | {"ising": {"beta_range": [0.5, 2]}})
    assert (request.ising.penalty_scale, request.ising.beta_range, request.ising.capacity) == (None, [0.5, 2], "slack")


@pytest.mark.parametrize(
    ("value", "place"),
    [
        (None, ()),
        ([], ()),
        ({"sweeps": 5}, ("sweeps",)),
        ({f"x{k}": k for k in range(1000)}, ("x0",)),
        ({"penalty_scale": 0}, ("penalty_scale",)),
        ({"penalty_scale": "1"}, ("penalty_scale",)),
        ({"penalty_scale": True}, ("penalty_scale",)),
        ({"penalty_scale": float("inf")}, ("penalty_scale",)),
        ({"beta_range": 1}, ("beta_range",)),
        ({"beta_range": [1]}, ("beta_range",)),
        ({"beta_range": [1] * 1000}, ("beta_range",)),
        ({"beta_range": [1, 0]}, ("beta_range", 1)),
        ({"beta_range": ["1"] * 1000}, ("beta_range", 0)),
        ({"beta_range": [1, float("nan")]}, ("beta_range", 1)),
        ({"capacity": "none"}, ("capacity",)),
        ({"capacity": None}, ("capacity",)),
    ],
)
def test_options_of_the_ising_path_are_checked(value: object, place: tuple[object, ...]) -> None:
    """A bad or unknown member is one error, which points at it."""
    with pytest.raises(ValidationError) as refusal:
        AssignRequest.read(BARE | {"ising": value})
    assert [error["loc"] for error in refusal.value.errors()] == [("ising", *place)]


def test_a_request_refers_to_its_parts_by_name() -> None:
    """They stand beside it in an OpenAPI document."""
    models: dict[str, Any] = document_requests([AssignRequest])
    assert models["AssignRequest"]["properties"]["ising"]["$ref"] == "#/components/schemas/IsingBody"
    assert set(models["IsingBody"]["properties"]) == {
        "penalty_scale",
        "beta_range",
        "capacity",
        "control",
        "qpu_time_s",
    }
    tasks = models["AssignRequest"]["properties"]["tasks"]["anyOf"]
    assert tasks == [{"type": "string"}, refer("TaskGraph"), refer("FileText"), refer("UploadReference")]
