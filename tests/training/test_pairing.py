"""Tests of models on devices: factors, measured tables, devices of several types, and what is refused."""

from dataclasses import asdict

import numpy as np
import pytest

import tiger
from tiger.errors import InputError
from tiger.training.hardware.cluster import Cluster
from tiger.training.hardware.reading import cluster_of_document, read_cluster
from tiger.training.models.layers import Layers
from tiger.training.models.setup import TrainingSetup
from tiger.training.models.sizes import Model, model_of
from tiger.training.pairing import pair_by_tables, pair_layers, pair_with_devices
from tiger.training.sources import cluster_of, require_cluster
from tiger.training.timings.costs import USUAL_SOURCE, CostSource, Factors

SPEC = "transformer:layers=2,hidden=1024,heads=16,vocabulary=1000,sequence=2048"
PAIR = TrainingSetup(tensor=2)
LLAMA = "transformer:layers=6,hidden=4096,heads=32,kv_heads=8,vocabulary=32000,sequence=2048,gated=true"


def pair(cluster: str = "dgx-h100:2", source: CostSource = USUAL_SOURCE, **changes: float) -> tuple[Layers, Cluster]:
    """Return the layers of a small model on two ranks of some devices, and these, by factors."""
    factors = CostSource(Factors(**changes), source.tables, source.csv) if changes else source
    model, devices = pair_with_devices(model_of(SPEC), read_cluster(cluster), factors)
    return model.layers(1, PAIR), devices


def test_factors_of_operations_add_up_to_all_times_but_launches() -> None:
    """Each lengthens what is its own, and all of them together what they do one by one."""
    usual, kinds = pair()[0].forward_s, ("products", "attention", "memory")
    added = {kind: pair(**{kind: 3.0})[0].forward_s - usual for kind in kinds}
    # Of embedding, two layers and head: only layers have attention, and all but the embedding products.
    assert [(some > 0).tolist() for some in added.values()] == [
        [False, True, True, True],
        [False, True, True, False],
        [True, True, True, True],
    ]
    whole = pair(**dict.fromkeys(kinds, 3.0))[0].forward_s - usual
    np.testing.assert_allclose(whole, sum(added.values()), rtol=1e-9)
    assert (whole <= 2 * usual * (1 + 1e-9)).all()
    assert (whole > usual / 2).all()


def test_factors_of_links_slow_messages_alone() -> None:
    """Those inside machines or those between them, of every size."""
    layers, usual = pair()
    for name, pairs in (("inside", (0, 1)), ("between", (0, 8))):
        slow_layers, slow = pair(**{name: 2.0})
        np.testing.assert_array_equal(slow_layers.backward_s, layers.backward_s)
        for a, b in ((0, 1), (0, 8)):
            factor = 2.0 if (a, b) == pairs else 1.0
            assert slow.seconds(a, b, 1e6) == pytest.approx(factor * usual.seconds(a, b, 1e6))
    assert usual.seconds(0, 0, 1e6) == 0


def test_devices_that_are_not_linked_stay_so() -> None:
    """Whatever the factors."""
    alone = cluster_of_document({"devices": [{"name": "x"}, {"name": "y"}], "links": []})
    _, slow = pair_with_devices(model_of(SPEC), alone, CostSource(Factors(inside=2.0, between=2.0)))
    assert slow.seconds(0, 1, 1.0) == np.inf


def test_times_are_those_of_a_table_of_the_device() -> None:
    """Of one type alone: a product of this size takes a second forward, wherever it is measured."""
    text = "device,operation,dtype,seconds,m,n,k\na100,product,bf16,1,2048,4096,1024\n"
    slow, counted = pair("dgx-a100:1", CostSource(csv=text))[0], pair("dgx-a100:1")[0]
    assert slow.forward_s[1] > 1 > 100 * counted.forward_s[1]
    assert slow.source_s[:3].sum() > 0.99 * slow.source_s.sum()
    other = pair("dgx-h100:1", CostSource(csv=text))[0]
    np.testing.assert_array_equal(other.forward_s, pair("dgx-h100:1")[0].forward_s)
    assert other.source_s[:3].sum() == 0


def test_tables_are_multiplied_by_factors() -> None:
    """Of the kind that they are of."""
    text = "device,operation,dtype,seconds,m,n,k\nh100,product,bf16,1,2048,4096,1024\n"
    whole, usual = (pair("dgx-h100:1", CostSource(csv=text), **more)[0] for more in ({"products": 2.0}, {}))
    assert whole.forward_s[1] == pytest.approx(2 * usual.forward_s[1], rel=1e-3)


def test_devices_of_a_table_are_known() -> None:
    """The error names the column and the line."""
    text = "device,operation,dtype,seconds,m,n,k\nh1000,product,bf16,1,2048,4096,1024\n"
    with pytest.raises(InputError, match=r"^costs/device: line 2: expected .*; did you mean 'h100'\?"):
        pair("dgx-h100:1", CostSource(csv=text))


def test_unlike_types_have_speeds_beside_the_usual_one() -> None:
    """The usual one is that of most devices, at speed 1; a model takes as long on another as it does there alone."""
    model, mixed = pair_with_devices(model_of(SPEC), read_cluster("dgx-h100:1+l40s:1x4"))
    own, slower = (pair_with_devices(model_of(SPEC), read_cluster(one))[0] for one in ("dgx-h100:1", "l40s:1"))
    assert mixed.speed[:8].tolist() == [1.0] * 8
    share = total_s(own) / total_s(slower)
    assert mixed.speed[8:] == pytest.approx(share)
    assert 0.1 < share < 0.6
    assert total_s(model) == total_s(own)


def test_a_tie_is_broken_by_the_first_device() -> None:
    """Whose type is the usual one."""
    assert pair("l40s:1x4+rtx4090:1x4")[1].speed[0] == 1
    assert pair("rtx4090:1x4+l40s:1x4")[1].speed[0] == 1


def total_s(model: Model) -> float:
    """Return the seconds of a microbatch on one device."""
    layers = model.layers_for(TrainingSetup())
    return float((layers.forward_s + layers.backward_s).sum())


def test_a_stated_speed_multiplies_that_of_the_type() -> None:
    """Devices of which nobody says what they are count as an H100."""
    document = {"devices": [{"name": "x"}, {"name": "y", "speed": 0.5}], "uniform_bandwidth": 1e9}
    model, devices = pair_with_devices(model_of(SPEC), cluster_of_document(document))
    assert devices.speed.tolist() == [1.0, 0.5]
    assert total_s(model) == total_s(pair_with_devices(model_of(SPEC), read_cluster("dgx-h100:1"))[0])


@pytest.mark.parametrize("source", [CostSource(Factors(memory=2.0)), CostSource(csv="x"), CostSource(tables="x")])
def test_times_that_are_stated_refuse_others(source: CostSource) -> None:
    """Those of tables of layers, and of a rate; without a source both stay as they are."""
    row = {"name": "a", "forward_s": 1, "backward_s": 1, "parameter_bytes": 1, "activation_bytes": 1}
    rated, table = model_of(f"{SPEC},flops=1e12"), model_of({"layers": [row]})
    cluster = read_cluster("dgx-h100:1")
    for model, what in ((rated, "flops"), (table, "a table of layers")):
        with pytest.raises(InputError, match=f"costs: expected none beside {what}, which state the times of a model"):
            pair_with_devices(model, cluster, source)
        assert pair_with_devices(model, cluster) == (model, cluster)


def test_factors_have_one_field_a_kind() -> None:
    """Of which none changes anything by default."""
    assert asdict(Factors()) == dict.fromkeys(("products", "attention", "memory", "inside", "between"), 1.0)


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
