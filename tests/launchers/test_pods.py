"""Patches of pods, applied as RFC 6902 says."""

from dataclasses import replace

import pytest
from hypothesis import given

from tests.launchers.orders import SWAPPED, hosts_of, launch_nodes, orders
from tests.launchers.readers import apply_patches
from tiger.errors import InputError
from tiger.launchers.order import order_ranks
from tiger.launchers.pods import write_kueue, write_volcano


def test_pods_by_hand() -> None:
    """Kueue's index is the place among all slots that are taken; Volcano's pods choose their host."""
    assert [pod["labels"]["kueue.x-k8s.io/pod-group-pod-index"] for pod in apply_patches(write_kueue(SWAPPED))] == [
        *("2", "0", "3", "1", "4")
    ]
    first = apply_patches(write_volcano(SWAPPED))[0]
    assert first == {"labels": {}, "annotations": {}, "nodeSelector": {"kubernetes.io/hostname": "n1"}}


@pytest.mark.parametrize("write", [write_kueue, write_volcano])
def test_bug_machines_without_a_name_are_no_nodes_of_kubernetes(write) -> None:
    """No selector would find them."""
    order = order_ranks({"0": "core0"}, replace(launch_nodes({"core0": 1}), host="localhost"))
    with pytest.raises(InputError, match=r"^emit: expected the names of nodes of Kubernetes, got 'localhost'"):
        write(order)


@given(order=orders())
def test_pods_come_to_the_hosts_of_their_ranks(order) -> None:
    """Kueue gives index k the k-th place, host by host; a selector names the host itself."""
    places = [host for host, count in order.counts.items() for _ in range(count)]
    indices = [
        int(str(pod["labels"]["kueue.x-k8s.io/pod-group-pod-index"])) for pod in apply_patches(write_kueue(order))
    ]
    assert [places[index] for index in indices] == hosts_of(order)
    pods = apply_patches(write_volcano(order))
    assert [pod["nodeSelector"]["kubernetes.io/hostname"] for pod in pods] == hosts_of(order)
