"""Patches of pods, applied as RFC 6902 says."""

from hypothesis import given

from tests.launchers.orders import SWAPPED, hosts_of, orders
from tests.launchers.readers import apply_patches
from tiger.launchers.pods import write_kueue, write_volcano


def test_pods_by_hand() -> None:
    """Kueue's index is the place among all slots that are taken; Volcano's pods choose their host."""
    assert [pod["labels"]["kueue.x-k8s.io/pod-group-pod-index"] for pod in apply_patches(write_kueue(SWAPPED))] == [
        *("2", "0", "3", "1", "4")
    ]
    first = apply_patches(write_volcano(SWAPPED))[0]
    assert first["annotations"] == {"volcano.sh/task-index": "0"}
    assert first["nodeSelector"] == {"kubernetes.io/hostname": "n1"}


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
