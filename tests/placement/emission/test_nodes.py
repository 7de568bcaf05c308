"""Which devices the ranks of a launch are."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from tiger.placement.emission import deepspeed, llamacpp, megatron, sglang, vllm
from tiger.placement.emission.deployment import Deployment
from tiger.placement.emission.nodes import node_lines, order_lines

Deploy = Callable[..., Deployment]


def on_machines(made: Deployment, *machines: int, **fields: object) -> Deployment:
    """Return a deployment whose devices are on the machines given."""
    return replace(made, cluster=replace(made.cluster, machine=np.array(machines), **fields))


def test_one_machine_in_its_order_needs_no_line(deploy: Deploy) -> None:
    """That is what a launcher does anyway."""
    assert node_lines(deploy((0, 2, 4))) == []


def test_machines_are_numbered_as_ranks_come(deploy: Deploy) -> None:
    """Each with its devices, by name and by what CUDA calls them; both systems are told."""
    made = on_machines(deploy((0, 2, 4), [[[2, 3]], [[1, 0]]]), 0, 0, 1, 1)
    lines = node_lines(made)
    assert lines == [
        "# node rank 0: machine 1 ('gpu2', 'gpu3'), CUDA_VISIBLE_DEVICES=0,1",
        "# node rank 1: machine 0 ('gpu1', 'gpu0'), CUDA_VISIBLE_DEVICES=1,0",
    ]
    for system in (megatron, deepspeed):
        assert "\n".join(lines) in system.write(made)


def test_machines_whose_ranks_alternate_are_warned_of(deploy: Deploy) -> None:
    """There is no node rank then."""
    lines = node_lines(on_machines(deploy((0, 2, 3, 5)), 0, 1, 0))
    assert lines[0].startswith("# warning: machine 0 has ranks 0, 2, and launchers give a machine consecutive ones")
    assert lines[1:] == [
        "# ranks 0, 2: machine 0 ('gpu0', 'gpu2'), CUDA_VISIBLE_DEVICES=0,1",
        "# ranks 1: machine 1 ('gpu1'), CUDA_VISIBLE_DEVICES=0",
    ]


def test_a_cpu_is_not_numbered(deploy: Deploy) -> None:
    """A machine with one that is used has no list, and those behind it do not count it."""
    made = on_machines(deploy((0, 2, 3, 5)), 0, 1, 1, kinds=("cpu", "cpu", "accelerator"))
    assert node_lines(made) == ["# node rank 0: machine 0 ('gpu0')", "# node rank 1: machine 1 ('gpu1', 'gpu2')"]
    others = on_machines(deploy((0, 2, 4), [[[1]], [[2]]]), 0, 0, 0, kinds=("cpu", "accelerator", "accelerator"))
    assert node_lines(others) == ["# node rank 0: machine 0 ('gpu1', 'gpu2'), CUDA_VISIBLE_DEVICES=0,1"]


def test_bug_unlike_devices_are_numbered_by_their_bus(deploy: Deploy) -> None:
    """CUDA numbers the fastest first by itself, so that layers were on other cards than planned."""
    made = deploy((0, 2, 4), [[[1]], [[0]]])
    unlike = replace(made, cluster=replace(made.cluster, speed=np.array([0.4, 1.0])))
    assert (order_lines(made), order_lines(unlike)) == ([], ["export CUDA_DEVICE_ORDER=PCI_BUS_ID"])
    assert order_lines(on_machines(unlike, 0, 1)) == []
    for system in (llamacpp, sglang, vllm):
        shown = system.write(unlike)
        assert "export CUDA_DEVICE_ORDER=PCI_BUS_ID\nexport CUDA_VISIBLE_DEVICES=1,0\n" in shown
