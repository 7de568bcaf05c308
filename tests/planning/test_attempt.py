"""Tests of the few plans that a choice is judged by."""

import numpy as np

from tiger.planning.attempt import Candidate, simulate_choice
from tiger.planning.choices import Choice, Family
from tiger.training.hardware.machines import cluster_of_machines
from tiger.training.models.layers import Layers


def test_bug_pipelines_were_never_inside_machines() -> None:
    """Where stages send more than replicas do, the stages of a pipeline are on one machine."""
    layers = Layers(
        names=("a", "b"),
        forward_s=np.full(2, 1.0),
        backward_s=np.full(2, 2.0),
        parameter_bytes=np.full(2, 1e6),
        crossing_bytes=np.array([0.0, 1e8, 0.0]),
    )
    machines = [{"count": 2, "devices": 2, "bandwidth": 1e11, "nic": "slow"}]
    cluster = cluster_of_machines({"machines": machines, "nics": {"slow": {"bandwidth": 1e8}}})
    choice = Choice(family=Family(tensor=1, data=2, microbatch=1, microbatches=4), pipeline=2, schedule="1f1b")
    found = simulate_choice(layers, cluster, Candidate(choice=choice, bound_s=0.0, bound="work"))
    assert found.plan is not None
    assert found.plan.grid[:, :, 0].tolist() == [[0, 2], [1, 3]]
    # Two stages of 3 s, four microbatches, and one more pass of each kind until the pipeline is full and empty.
    assert 15.0 < found.iteration_s < 15.1
