"""The worked requests of the documentation."""

from fastapi.testclient import TestClient

from tiger.api.routes.examples import ELEVEN_TASKS, ENTANGLED_ON_TARGET, FOURIER_ON_RING, STENCIL_ON_TORUS


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
