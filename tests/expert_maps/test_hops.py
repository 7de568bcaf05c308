"""Hop weights of clusters, and their levels."""

import numpy as np
import pytest

from tiger.errors import InputError
from tiger.expert_maps.hops import hop_weights, hosts_of_experts, list_levels, outermost_first
from tiger.training.hardware.cluster import Cluster
from tiger.training.sources import cluster_of


def cluster(document: dict[str, object]) -> Cluster:
    """Return the cluster of a document."""
    made = cluster_of(document)
    assert made is not None
    return made


def test_hops_weigh_by_bandwidth() -> None:
    """Latencies are lost in long messages, and CPUs hold no experts."""
    devices = [{"name": "a"}, {"name": "host", "kind": "cpu"}, {"name": "b"}, {"name": "c"}]
    links = [{"a": "a", "b": "b", "bandwidth": 4e9, "latency": 1e-6}]
    made = cluster({"devices": devices, "uniform_bandwidth": 1e9, "uniform_latency": 0, "links": links})
    hosts = hosts_of_experts(made)
    assert hosts.tolist() == [0, 2, 3]
    assert hop_weights(made, hosts) == pytest.approx(np.array([[0, 1, 4], [1, 0, 4], [4, 4, 0]]), rel=1e-4)


def test_tokens_go_anywhere() -> None:
    """A cluster without some link, or without accelerators, cannot be used."""
    apart = cluster({"devices": [{"name": "a"}, {"name": "b"}], "links": []})
    with pytest.raises(InputError, match="cluster: expected links between all devices, got none from 'a' to 'b'"):
        hop_weights(apart, hosts_of_experts(apart))
    host = cluster({"devices": [{"name": "a", "kind": "cpu"}], "links": []})
    with pytest.raises(InputError, match="cluster: expected an accelerator, got none"):
        hosts_of_experts(host)


def test_levels_are_the_groups_that_stay_apart() -> None:
    """A hop between two groups is at least as far as their level says, and longer hops within them do not count."""
    hops = np.array([[0, 1, 2, 5, 5], [1, 0, 1, 5, 5], [2, 1, 0, 5, 5], [5, 5, 5, 0, 1], [5, 5, 5, 1, 0]], float)
    levels = [(distance, label.tolist()) for distance, label in list_levels(hops)]
    assert levels == [(1.0, [0, 1, 2, 3, 4]), (5.0, [0, 0, 0, 1, 1])]
    assert list_levels(np.zeros((1, 1))) == []


def test_outer_levels_come_first() -> None:
    """A hop of theirs weighs as much as a thousand within."""
    hops = np.array([[0, 1, 3], [1, 0, 3], [3, 3, 0]], float)
    assert outermost_first(hops).tolist() == [[0, 1, 1000], [1, 0, 1000], [1000, 1000, 0]]
