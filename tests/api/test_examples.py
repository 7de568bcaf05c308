"""The worked requests of the documentation."""

from fastapi.testclient import TestClient

from tiger.api.examples import ELEVEN_TASKS, STENCIL_ON_TORUS


def test_the_eleven_tasks_reach_their_proved_optimum(solving: TestClient) -> None:
    """388 = 348 compute + 40 communication on the mesh of four speeds."""
    report = solving.post("/assign", json=ELEVEN_TASKS).json()
    assert (report["cost"], report["compute_cost"], report["communication_cost"]) == (388, 348, 40)


def test_the_stencil_fits_its_torus(solving: TestClient) -> None:
    """All 24 edges become links, with the corner where it is pinned."""
    report = solving.post("/assign", json=STENCIL_ON_TORUS).json()
    assert report["cost"] == 24
    assert report["mapping"]["0"] == "1,2"
