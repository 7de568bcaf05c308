"""Models and the devices that they run on."""

import numpy as np
import pytest

import tiger
from tiger.training.models.sizes import model_of
from tiger.training.pairing import pair_by_tables, pair_layers, pair_with_devices
from tiger.training.sources import cluster_of, require_cluster
from tiger.training.timings.costs import Factors

LLAMA = "transformer:layers=6,hidden=4096,heads=32,kv_heads=8,vocabulary=32000,sequence=2048,gated=true"


@pytest.mark.parametrize("spec", ["dgx-h100:1", "dgx-a100:1", "dgx-a100:1+l40s:1x4@200Gb/s"])
def test_layers_take_as_long_by_either_pairing(spec: str) -> None:
    """On every device, and most devices keep their speeds over that of an H100."""
    model, cluster = model_of(LLAMA), require_cluster(cluster_of(spec))
    (layers, known), (paired, devices) = pair_layers(model, cluster), pair_with_devices(model, cluster)
    for own, other in ((layers.forward_s, paired.given.forward_s), (layers.weight_s, paired.given.weight_s)):
        seconds = other[:, None] / devices.speed
        assert own[:, None] / known.speed == pytest.approx(seconds)
    assert known.speed[:8] == pytest.approx(cluster.speed[:8])


def test_bug_rebalancers_know_the_types_of_devices() -> None:
    """Before anything is measured, a layer on an A100 takes as long as a placement has it there."""
    line = tiger.Rebalancer(LLAMA, "dgx-a100:1").line
    seconds = (line.layers.forward_s + line.layers.backward_s) / line.cluster.speed[0]
    assert seconds.sum() == pytest.approx(tiger.place(LLAMA, "dgx-a100:1", pipeline=1).bottleneck_s)
    assert np.array_equal(line.cluster.speed, require_cluster(cluster_of("dgx-a100:1")).speed)


def test_bug_types_are_compared_as_the_model_is_trained() -> None:
    """In 8 bits, which A100 have not, and with sequences of another length, not as the model states itself."""
    cluster = "dgx-h100:1x2+dgx-a100:1x2@200Gb/s"
    eight, given = tiger.place(LLAMA + ",dtype=fp8", cluster), tiger.place(LLAMA, cluster, precision="fp8")
    assert given.bottleneck_s == eight.bottleneck_s
    long = tiger.place(LLAMA.replace("2048", "65536"), cluster, serve=64)
    assert tiger.place(LLAMA, cluster, serve=64, sequence=65536).bottleneck_s == long.bottleneck_s


def test_bug_slower_networks_made_wires_inside_machines_count_more() -> None:
    """Of the links of MI300X seven are wires, however long messages between machines take."""
    model, cluster = model_of(LLAMA), require_cluster(cluster_of("mi300x:2"))
    _, slow = pair_by_tables(model, cluster, factors=Factors(inside=2.0, between=100.0))
    assert slow.most_wires == cluster.most_wires == 7
    for factor, pair in ((2.0, (0, 1)), (100.0, (0, 8))):
        assert slow.seconds(*pair, 1e6) == pytest.approx(factor * cluster.seconds(*pair, 1e6))
