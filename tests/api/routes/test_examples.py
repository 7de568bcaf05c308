"""The worked requests of the documentation."""

import json
from typing import Any

import pytest
from fastapi.testclient import TestClient

from tiger.api.routes.examples import (
    COMPARISONS,
    ELEVEN_TASKS,
    ENTANGLED_ON_TARGET,
    EXAMPLES,
    EXPERT_MAPS,
    FOURIER_ON_RING,
    PLACEMENTS,
    PLANS,
    RANKS_ON_RACKS,
    REBALANCERS,
    STENCIL_ON_TORUS,
    STEPS,
)

EVERY = {"/assign": EXAMPLES, "/place": PLACEMENTS, "/plan": PLANS, "/experts": EXPERT_MAPS}


@pytest.mark.parametrize(("path", "name"), [(path, name) for path, named in EVERY.items() for name in named])
def test_every_example_of_the_document_has_an_answer(
    solving: TestClient, document: dict[str, Any], path: str, name: str
) -> None:
    """It runs as it stands there, and something feasible comes of it."""
    documented = document["paths"][path]["post"]["requestBody"]["content"]
    examples: dict[str, Any] = documented["application/json"]["examples"]
    assert (set(examples), set(documented)) == (set(EVERY[path]), {"application/json"})
    found = solving.post(
        path,
        json=examples[name]["value"],
    )
    assert (found.status_code, found.json()["feasible"]) == (200, True), json.dumps(found.json())


@pytest.mark.parametrize("name", REBALANCERS)
def test_every_example_of_a_rebalancer_begins_one(solving: TestClient, document: dict[str, Any], name: str) -> None:
    """It has a plan with a figure and a bound."""
    posts = document["paths"]["/rebalancers"]["post"]["requestBody"]["content"]
    assert set(posts["application/json"]["examples"]) == set(REBALANCERS)
    begun = solving.post("/rebalancers", json=posts["application/json"]["examples"][name]["value"])
    assert begun.status_code == 201, begun.text
    assert 0 < begun.json()["lower_bound_s"] <= begun.json()["iteration_s"]


@pytest.mark.parametrize("name", COMPARISONS)
def test_every_example_of_a_comparison_has_a_table(solving: TestClient, document: dict[str, Any], name: str) -> None:
    """All of its jobs are done, and some figure of them has a best one."""
    posts = document["paths"]["/comparisons"]["post"]["requestBody"]["content"]
    assert set(posts["application/json"]["examples"]) == set(COMPARISONS)
    made = solving.post("/comparisons", json=posts["application/json"]["examples"][name]["value"])
    assert made.status_code == 201, made.text
    table = solving.get(made.headers["location"], params={"wait": 600}).json()
    assert {(row["status"], row["feasible"]) for row in table["rows"]} == {("done", True)}
    assert (table["same_problem"], any(row["best"] for row in table["rows"])) == (True, True)


@pytest.mark.slow
@pytest.mark.parametrize("name", STEPS)
def test_every_example_of_a_step_is_decided_upon(solving: TestClient, document: dict[str, Any], name: str) -> None:
    """It is a step of the first example of a rebalancer, and layers move."""
    paths = document["paths"]
    content = paths["/rebalancers/{rebalancer_id}/steps"]["post"]["requestBody"]["content"]["application/json"]
    begun = solving.post("/rebalancers", json=REBALANCERS["frozen"]["value"])
    found = solving.post(f"{begun.headers['location']}/steps", json=content["examples"][name]["value"])
    assert (found.status_code, found.json().get("action")) == (200, "move"), found.text


def test_the_ranks_come_as_a_rankfile(solving: TestClient) -> None:
    """Of eight messages four stay in a node and two in a rack, where the block order keeps none of them in a node."""
    report = solving.post("/assign", json=RANKS_ON_RACKS).json()
    assert report["emitted"].count("rank ") == 8
    assert (report["optimal"], report["cost"] < report["baselines"]["block"]) == (True, True)
    assert sum(report["mapping"][f"{k}"] == report["mapping"][f"{(k + 3) % 8}"] for k in range(8)) == 4


def test_the_eleven_tasks_reach_their_proved_optimum(solving: TestClient) -> None:
    """388 = 348 compute + 40 communication on the mesh of four speeds."""
    report = solving.post("/assign", json=ELEVEN_TASKS).json()
    assert (report["cost"], report["compute_cost"], report["communication_cost"]) == (388, 348, 40)


def test_the_stencil_fits_its_torus(solving: TestClient) -> None:
    """All 24 edges become links, with the corner where it is pinned."""
    report = solving.post("/assign", json=STENCIL_ON_TORUS).json()
    assert report["cost"] == 24
    assert report["mapping"]["0"] == "1,2"


def test_the_fourier_transform_is_routed(solving: TestClient) -> None:
    """Four qubits of which all pairs meet need SWAPs on a ring."""
    report = solving.post("/assign", json=FOURIER_ON_RING).json()
    assert report["feasible"]
    assert 0 < report["extra_cx"] <= report["baseline_extra_cx"]


def test_the_entangled_qubits_fit_without_swaps(solving: TestClient) -> None:
    """Two good edges in a row are enough."""
    report = solving.post("/assign", json=ENTANGLED_ON_TARGET).json()
    assert (report["extra_cx"], report["initial_layout"]["1"] in (1, 2, 3)) == (0, True)
    assert report["success_probability"] > 0.9
