"""Tests of models and clusters as documents: they read back as what they were, and plans are emitted alike."""

import json
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

import tiger
from tiger.errors import InputError
from tiger.placement.entry.remote import deployment_of
from tiger.training.documents import cluster_document, model_document
from tiger.training.hardware.cluster import Cluster
from tiger.training.hardware.reading import cluster_of_document, read_cluster
from tiger.training.models.layers import Layers
from tiger.training.models.reading import model_of_document, read_model
from tiger.training.models.setup import TrainingSetup
from tiger.training.models.shape import Shape
from tiger.training.models.transformer import layers_of_shape

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SHAPE = "transformer:layers=4,hidden=64,heads=4,sequence=128,vocabulary=1000"
MODELS = [EXAMPLES / "models" / name for name in ("layers.csv", "skipnet.txt", "branches.json", "gpt2-medium.json")]


def same(one: Layers | Cluster, other: Layers | Cluster) -> bool:
    """Return whether all fields are equal, numbers but for rounding."""
    for field in fields(one):
        ours, theirs = getattr(one, field.name), getattr(other, field.name)
        if field.name == "source_s":
            # Of layers in a table nobody knows where their times come from.
            continue
        if field.name == "curves":
            if [curve.key for curve in ours] != [curve.key for curve in theirs]:
                return False
        elif not (np.allclose(ours, theirs, rtol=1e-12) if isinstance(ours, np.ndarray) else ours == theirs):
            return False
    return True


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.name)
def test_files_of_models_say_what_they_hold(path: Path) -> None:
    """The document is that of the file, whatever its format, and never names it."""
    document, layers = model_document(path)
    text = json.dumps(document)
    assert str(EXAMPLES) not in text
    assert same(model_of_document(json.loads(text)), read_model(path))
    assert same(layers, read_model(path))


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.name)
def test_layers_read_back_as_they_were(path: Path) -> None:
    """Also those that no table was made for."""
    layers = read_model(path)
    read = model_of_document(json.loads(json.dumps(model_document(layers)[0])))
    assert same(read, layers)


def test_layers_that_share_are_described_instead() -> None:
    """A table has no columns for what ranks with the same layers send each other, so that nothing is left out."""
    shape = Shape(layers=2, hidden=64, heads=4, vocabulary=8, sequence=16)
    layers = layers_of_shape(shape, setup=TrainingSetup(data=2, sharding="zero-1"))
    with pytest.raises(InputError, match="describe the model instead"):
        model_document(layers)


@pytest.mark.parametrize("spec", ["mi300x:1", "dgx-1v:2", "l40s:2x3", "dgx-b200:1"])
def test_clusters_keep_wires_nics_and_switches(spec: str) -> None:
    """By their SPEC, and device by device."""
    cluster = read_cluster(spec)
    again = cluster_of_document(json.loads(json.dumps(cluster_document(cluster)[0])))
    assert (again.nics.tolist(), again.reduces.tolist()) == (cluster.nics.tolist(), cluster.reduces.tolist())
    wires = [np.array([*(curve.wire for curve in each.curves), False])[each.link] for each in (cluster, again)]
    assert (wires[0] == wires[1]).all()
    assert np.allclose(again.table_s(1e6), cluster.table_s(1e6))


@pytest.mark.parametrize(
    "name", ["measured2.json", "uneven4.json", "two_networks.json", "workstation4.topo", "racks.json"]
)
def test_files_of_clusters_say_what_they_hold(name: str) -> None:
    """As with models."""
    document, cluster = cluster_document(EXAMPLES / "clusters" / name)
    again = cluster_of_document(json.loads(json.dumps(document)))
    assert same(again, read_cluster(EXAMPLES / "clusters" / name))
    assert same(again, cluster)


@pytest.mark.parametrize("source", ["dgx:2", EXAMPLES / "clusters/uneven4.json", EXAMPLES / "clusters/measured2.json"])
def test_clusters_mean_the_same_when_read_back(source: str | Path) -> None:
    """Messages of any size take as long between any two devices."""
    cluster = read_cluster(source)
    again = cluster_of_document(json.loads(json.dumps(cluster_document(cluster)[0])))
    assert same(replace(again, curves=cluster.curves, link=cluster.link), cluster)
    for size in (0.0, 1.0, 1e6, 1e12):
        assert np.array_equal(again.table_s(size), cluster.table_s(size))


def test_specifications_stay_as_they_are() -> None:
    """The service knows them."""
    document, cluster = cluster_document("dgx:1")
    assert (document, cluster.size) == ("dgx:1", 8)
    model, layers = model_document(SHAPE)
    assert (model, same(layers, read_model(SHAPE))) == (SHAPE, True)


@pytest.mark.parametrize("source", ["nosuch.json", "model", Path("m.onnx")])
def test_models_that_cannot_be_read(source: str | Path) -> None:
    """They are refused here, as by a local run."""
    with pytest.raises(InputError, match=r"^model: "):
        model_document(source)


@pytest.mark.parametrize("source", ["nosuch.json", "machine", Path("c.yaml"), "nosuch:3"])
def test_clusters_that_cannot_be_read(source: str | Path) -> None:
    """As with models."""
    with pytest.raises(InputError, match=r"^cluster: "):
        cluster_document(source)


@pytest.mark.parametrize("read", [model_document, cluster_document])
def test_other_types_are_refused(read: object) -> None:
    """A number is neither."""
    with pytest.raises(TypeError, match="got int"):
        read(3)  # type: ignore[operator]


@pytest.mark.parametrize("schedule", [None, "gpipe", pytest.param("interleaved", marks=pytest.mark.slow)])
def test_a_plan_is_found_again_in_its_report(schedule: str | None) -> None:
    """Cuts, devices and the text that is emitted."""
    layers, cluster = read_model(EXAMPLES / "models/gpt2-medium.json"), read_cluster("dgx:1")
    report = tiger.place(layers, cluster, schedule=schedule, pipeline=4)
    found = deployment_of(report, layers, cluster)
    assert found is not None
    assert report.deployment is not None
    assert (found.plan.cuts, found.devices) == (report.deployment.plan.cuts, report.deployment.devices)
    assert found.memory_bytes == report.deployment.memory_bytes


def test_a_report_of_another_model_has_no_plan_for_this_one() -> None:
    """Nor has one for devices that are not there."""
    layers, cluster = read_model(EXAMPLES / "models/gpt2-medium.json"), read_cluster("dgx:1")
    report = tiger.place(layers, cluster, pipeline=2)
    assert deployment_of(report, read_model(EXAMPLES / "models/layers.csv"), cluster) is None
    assert deployment_of(report, layers, read_cluster(EXAMPLES / "clusters/uneven4.json")) is None
    assert deployment_of(replace(report, stages=()), layers, cluster) is None
