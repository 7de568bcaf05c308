"""What one request may ask for."""

from collections.abc import Callable

import pytest

from tiger.api.factory import limits_of
from tiger.api.schemas import limits
from tiger.api.schemas.limits import Limits
from tiger.api.settings import Settings
from tiger.errors import InputError

FEW = Limits(max_tasks=2, max_time_s=1.0, max_qubits=2, max_edges=3, max_gates=5, max_couplers=4)
Check = Callable[[Limits, object], None]


@pytest.mark.parametrize(
    ("check", "document", "reason"),
    [
        (limits.check_tasks, {"nodes": [0] * 3}, "tasks: expected at most 2 tasks, got 3"),
        (limits.check_tasks, {"edges": [0] * 4}, "tasks: expected at most 3 edges, got 4"),
        (limits.check_tasks, {"links": [0] * 4}, "tasks: expected at most 3 edges, got 4"),
        (limits.check_tasks, "ring:3", "tasks: expected at most 2 tasks, got 3"),
        (limits.check_tasks, "ring:2+ring:2", "tasks: expected at most 3 edges, got 4"),
        (limits.check_hardware, {"edges": [0] * 4}, "topology: expected at most 3 links, got 4"),
        (limits.check_hardware, {"nodes": [0] * 4}, "topology: expected at most 3 nodes, got 4"),
        (limits.check_device, [0] * 5, "topology: expected at most 4 couplers, got 5"),
        (limits.check_device, {"coupling_map": [0] * 5}, "topology: expected at most 4 couplers, got 5"),
        (limits.check_device, {"gates": [0] * 5}, "topology: expected at most 4 couplers, got 5"),
        (limits.check_device, {"edges": [0] * 5}, "topology: expected at most 4 couplers, got 5"),
        (limits.check_device, {"nodes": [0] * 3}, "topology: expected at most 2 qubits, got 3"),
        (limits.check_network, [0] * 3, "model: expected at most 2 layers, got 3"),
        (limits.check_network, {"layers": [0] * 3}, "model: expected at most 2 layers, got 3"),
        (limits.check_network, {"layers": [], "edges": [0] * 4}, "model: expected at most 3 edges, got 4"),
        (limits.check_cluster, {"devices": [0] * 3}, "cluster: expected at most 2 devices, got 3"),
        (limits.check_cluster, {"machines": [0] * 3}, "cluster: expected at most 2 devices, got 3"),
        (limits.check_cluster, {"links": [0] * 4}, "cluster: expected at most 3 links, got 4"),
    ],
)
def test_a_list_that_is_too_long_is_refused(check: Check, document: object, reason: str) -> None:
    """The message has the bound and what came."""
    with pytest.raises(InputError, match=reason):
        check(FEW, document)


@pytest.mark.parametrize(
    "check",
    [
        limits.check_tasks,
        limits.check_hardware,
        limits.check_device,
        limits.check_network,
        limits.check_cluster,
    ],
)
@pytest.mark.parametrize("document", ["ring:2", None, {}, {"nodes": 7, "edges": {}, "links": "xxxxx"}, [0, 0]])
def test_what_is_no_long_list_is_left_to_others(check: Check, document: object) -> None:
    """Malformed documents are found at fault where they are read."""
    check(FEW, document)


def test_an_operator_sets_them() -> None:
    """Each comes from the setting of its name."""
    found = limits_of(Settings(max_tasks=1, max_edges=2, max_qubits=3, max_gates=4, max_couplers=5, max_time_s=6.0))
    assert (found.max_tasks, found.max_edges, found.max_qubits) == (1, 2, 3)
    assert (found.max_gates, found.max_couplers, found.max_time_s) == (4, 5, 6.0)
