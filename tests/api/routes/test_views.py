"""What a request states, as it is shown before it is solved."""

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from tests.api.routes.test_files import BELL
from tiger.api.routes.examples import DIAMOND, PREVIEWS
from tiger.api.routes.views import check, preview
from tiger.api.schemas.closed import document_requests
from tiger.api.schemas.limits import Limits
from tiger.api.schemas.views import PreviewBody, ViewRequest
from tiger.errors import InputError

LIMITS = Limits(max_tasks=64, max_time_s=2.0, max_edges=300, max_qubits=8, max_couplers=20)
BODY: TypeAdapter[Any] = TypeAdapter(PreviewBody)
SLURM = Path(__file__).resolve().parents[3] / "examples" / "topology.conf"


def show(**stated: object) -> dict[str, Any]:
    """Return the view of what is stated, which its schema knows."""
    found = preview(json.dumps(stated).encode(), LIMITS)
    BODY.validate_json(found)
    document: dict[str, Any] = json.loads(found)
    return document


@pytest.mark.parametrize("name", PREVIEWS)
def test_the_worked_requests_are_shown(name: str) -> None:
    """Each kind under its own name."""
    assert show(**PREVIEWS[name]["value"])["kind"] == name


def test_tasks_are_shown_in_all_their_forms(line: dict[str, Any]) -> None:
    """Patterns and graphs."""
    assert show(tasks="ring:4")["total"] == 4
    assert show(tasks=line)["names"] == ["a", "b", "c"]
    assert show(tasks={"file": "a.csv", "text": "0,1\n1,0\n"})["total"] == 2


def test_hardware_is_shown_in_all_its_forms(line: dict[str, Any]) -> None:
    """Specifications, graphs, files, and devices as circuits have them."""
    assert show(topology="torus:3x3")["total"] == 9
    assert show(topology={**line, "directed": False})["names"] == ["a", "b", "c"]
    assert show(topology=line)["names"] == ["0", "1", "2"]
    assert show(topology={"file": SLURM.name, "text": SLURM.read_text()})["kind"] == "topology"
    assert show(topology=[[0, 1], [1, 2]])["names"] == ["0", "1", "2"]
    assert show(topology={"coupling_map": [[0, 1]], "num_qubits": 3})["total"] == 3
    assert show(topology={"file": "a.json", "text": json.dumps({"coupling_map": [[0, 1]]})})["total"] == 2
    target = {"num_qubits": 2, "gates": [{"name": "cx", "qubits": [0, 1], "error": 0.1}]}
    assert show(topology=target)["total_edges"] == 1


def test_models_are_shown_in_all_their_forms() -> None:
    """Layers by their costs, operators by their edges too."""
    assert show(model=DIAMOND["model"])["graph"]["total"] == 5
    layers = [{"name": "a", "forward_s": 1, "backward_s": 2, "parameter_bytes": 3, "activation_bytes": 4}]
    assert show(model=layers) == show(model={"layers": layers})
    assert show(model=layers)["graph"] is None
    assert show(model={"file": "a.json", "text": json.dumps(DIAMOND["model"])}) == show(model=DIAMOND["model"])
    assert len(show(model="transformer:layers=2,hidden=64,heads=4,vocabulary=100,sequence=16")["layers"]) == 4


@pytest.mark.parametrize(
    ("stated", "field"),
    [
        ({}, ""),
        ({"tasks": None}, ""),
        ({"tasks": "ring:4", "topology": "grid:2"}, "topology"),
        ({"tasks": "ring:65"}, "tasks"),
        ({"tasks": "nothing"}, "tasks"),
        ({"tasks": {"nodes": [{"id": k} for k in range(65)], "edges": []}}, "tasks"),
        ({"topology": "nothing:2"}, "topology"),
        ({"topology": {"nodes": [{"id": k} for k in range(301)], "edges": []}}, "topology"),
        ({"topology": {"coupling_map": [[0, 1]] * 21}}, "topology"),
        ({"topology": {"text": "a"}}, "topology"),
        ({"topology": {"file": "a.json", "text": "3"}}, "topology"),
        ({"topology": [[0, 9]]}, "topology/0"),
        ({"circuit": ""}, "circuit"),
        ({"circuit": BELL.replace("q[3]", "q[9]")}, "circuit"),
        ({"model": [{}] * 65}, "model"),
        ({"model": {}}, "model"),
        ({"cluster": {"devices": [{}] * 65}}, "cluster"),
        ({"cluster": "dgx:9"}, "cluster"),
    ],
)
def test_what_cannot_be_shown_is_bad_input(stated: dict[str, object], field: str) -> None:
    """It names the field, and limits are those of requests for work."""
    with pytest.raises(InputError) as refusal:
        preview(json.dumps(stated).encode(), LIMITS)
    assert refusal.value.field.split("/")[: field.count("/") + 1] == field.split("/")


@pytest.mark.parametrize("stated", [{"tasks": 1}, {"circuit": []}, {"cluster": []}, {"model": 2.5}, {"more": 1}])
def test_what_is_of_another_type_is_refused(stated: dict[str, object]) -> None:
    """Before anything is measured."""
    with pytest.raises(ValidationError):
        check(json.dumps(stated).encode(), LIMITS)


@pytest.mark.slow
def test_exactly_one_thing_is_asked_for() -> None:
    """As the OpenAPI document says of the five fields."""
    model: dict[str, Any] = document_requests([ViewRequest])["ViewRequest"]  # type: ignore[assignment]
    assert sorted(model["properties"]) == ["circuit", "cluster", "model", "tasks", "topology"]
    assert (model["minProperties"], model["maxProperties"]) == (1, 1)
