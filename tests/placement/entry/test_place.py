"""From a model and a cluster, in whatever form, to a report."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import tiger
from tiger.errors import InputError
from tiger.placement.entry.place import place
from tiger.placement.params import PlaceParams
from tiger.placement.result import PlaceResult
from tiger.run.progress import Progress
from tiger.training.hardware.cluster import Cluster
from tiger.training.models.layers import Layers

Engine = list[PlaceParams]

LAYER = {"forward_s": 1, "backward_s": 2, "parameter_bytes": 10, "activation_bytes": 5}
MODEL = {"layers": [{"name": name, **LAYER} for name in "abcd"]}
CLUSTER = {"devices": [{"name": "x"}, {"name": "y"}], "uniform_bandwidth": 10}
SHAPE = "transformer:layers=2,hidden=64,heads=2,vocabulary=100,sequence=8"


def test_a_plan_is_reported(chain: Layers, pair: Cluster, engine: Engine) -> None:
    """With its stages, its figures, and what the search says of itself."""
    report = place(chain, pair, seed=3)
    assert (report.feasible, report.optimal, report.bottleneck_s, report.seed) == (True, True, 7.0, 3)
    assert [stage.ops for stage in report.stages] == [("a", "b"), ("c", "d")]
    assert (report.schedule, report.microbatches, report.virtual, report.links) == (None, None, 1, ())
    assert (report.warnings[-1], report.progress[0].name) == ("even", "uniform")
    assert report.seconds > 0


def test_a_schedule_has_four_microbatches_a_stage(chain: Layers, pair: Cluster, engine: Engine) -> None:
    """Unless told otherwise; its links carry an iteration."""
    report = place(chain, pair, schedule="1f1b")
    assert (report.microbatches, report.optimal, report.links[0].sent_bytes) == (8, False, 80.0)
    assert place(chain, pair, schedule="gpipe", microbatches=3).microbatches == 3


def test_every_argument_reaches_the_engine(chain: Layers, pair: Cluster, engine: Engine) -> None:
    """As it was given."""
    place(chain, pair, tensor=2, pinned={"a": "x"}, solver="neal", seed=5, effort=2, time_limit_s=9.0)
    place(chain, pair, schedule="interleaved", microbatches=4, virtual=2, pipeline=2, data=1)
    first = PlaceParams(tensor=2, pinned={"a": "x"}, solver="neal", seed=5, effort=2, time_limit_s=9.0)
    assert engine == [first, PlaceParams(schedule="interleaved", microbatches=4, virtual=2, pipeline=2)]


@pytest.mark.slow
@pytest.mark.parametrize("model", [MODEL, MODEL["layers"], SHAPE, "m.json", Path("m.json")], ids=str)
@pytest.mark.parametrize("cluster", [CLUSTER, "dgx:1", "c.json", Path("c.json")], ids=str)
def test_models_and_clusters_have_many_forms(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: object, cluster: object
) -> None:
    """Documents, SPECs and files."""
    monkeypatch.chdir(tmp_path)
    Path("m.json").write_text(json.dumps(MODEL))
    Path("c.json").write_text(json.dumps(CLUSTER))
    report = place(model, cluster, pipeline=2)
    assert len(engine) == 1
    assert report.feasible != bool(report.violations)


@pytest.mark.parametrize("wrong", [(), 5, b"x"])
def test_other_types_are_the_callers_fault(chain: Layers, pair: Cluster, wrong: object) -> None:
    """They are no input."""
    with pytest.raises(TypeError, match="expected model as Layers, a path, a SPEC or a document, got"):
        place(wrong, pair)
    with pytest.raises(TypeError, match="expected cluster as a Cluster, a path, a SPEC or a document, got"):
        place(chain, wrong)


def layer(**fields: object) -> dict[str, object]:
    """Return a model of three layers of which the second has other fields."""
    rows = [{"name": name, **LAYER} for name in "abc"]
    rows[1] = {name: value for name, value in (rows[1] | fields).items() if value is not None}
    return {"layers": rows}


@pytest.mark.parametrize(
    ("model", "cluster", "field"),
    [
        (MODEL | {"edges": [["a", "b"], ["b", "c"], ["c", "a"], ["c", "d"]]}, CLUSTER, "model"),
        (MODEL | {"edges": [["a", "z"]]}, CLUSTER, "model/edges/0"),
        (layer(forward_s=None), CLUSTER, "model/layers/1/forward_s"),
        (layer(forward_s=float("nan")), CLUSTER, "model/layers/1/forward_s"),
        (layer(parameter_bytes=-1), CLUSTER, "model/layers/1/parameter_bytes"),
        (layer(activation_bytes=True), CLUSTER, "model/layers/1/activation_bytes"),
        (layer(name="a"), CLUSTER, "model/layers"),
        ({"layers": []}, CLUSTER, "model/layers"),
        ({}, CLUSTER, "model"),
        ("missing.txt", CLUSTER, "model"),
        ("transformer:layers=0", CLUSTER, "model"),
        (MODEL, CLUSTER | {"links": [{"a": "x", "b": "z", "bandwidth": 1}]}, "cluster/links/0/b"),
        (MODEL, CLUSTER | {"links": [{"a": "x", "b": "y", "bandwidth": -1}]}, "cluster/links/0/bandwidth"),
        (MODEL, {"devices": CLUSTER["devices"]}, "cluster/links"),
        (MODEL, {"devices": [{"name": "x", "memory_bytes": -1}]}, "cluster/devices/0/memory_bytes"),
        (MODEL, {"devices": [{"name": "x"}, {"name": "x"}], "uniform_bandwidth": 1}, "cluster/devices"),
        (MODEL, {}, "cluster"),
        (MODEL, "dgx:0", "cluster"),
        (MODEL, "moebius:3", "cluster"),
    ],
)
def test_bad_models_and_clusters_are_named(model: object, cluster: object, field: str) -> None:
    """By the field at fault, before anything is placed."""
    with pytest.raises(InputError, match=r"expected|cannot read") as caught:
        place(model, cluster)
    assert caught.value.field.startswith(field)


def test_what_does_not_fit_is_a_report(chain: Layers, pair: Cluster, engine: Engine) -> None:
    """With what stands against it, and no figures."""
    report = place(chain, pair, pipeline=1)
    assert (report.feasible, report.stages, report.bottleneck_s, report.optimal) == (False, (), None, False)
    assert report.violations[0].message == "10 bytes too many at layer 'd'"


def test_a_chain_is_placed(chain: Layers, pair: Cluster) -> None:
    """Two layers of three seconds on each device, and a message of half a second there and back: proved."""
    report = place(chain, pair)
    assert (report.feasible, report.optimal, report.bottleneck_s) == (True, True, 7.0)
    assert report.lower_bound_s == pytest.approx(7.0, rel=1e-12)
    assert [(stage.device, stage.ops) for stage in report.stages] == [("x", ("a", "b")), ("y", ("c", "d"))]
    assert [stage.compute_s + stage.communication_s for stage in report.stages] == [7.0, 7.0]


def test_memory_that_cannot_suffice_is_a_report(chain: Layers, pair: Cluster) -> None:
    """It says by how much, and at which layer."""
    report = place(chain, replace(pair, memory_bytes=np.array([15.0, 15.0])))
    assert (report.feasible, report.deployment, report.violations[0].kind) == (False, None, "memory")
    assert "5 B more" in report.violations[0].message
    assert "'c'" in report.violations[0].message


def test_devices_without_links_hold_a_stage_each_at_most(chain: Layers) -> None:
    """All layers go to one, and two stages cannot be."""
    apart = {"devices": [{"name": "x"}, {"name": "y"}], "links": []}
    assert [stage.device for stage in place(chain, apart).stages] == ["x"]
    report = place(chain, apart, pipeline=2)
    assert (report.feasible, report.violations[0].kind) == (False, "unlinked")


def test_more_stages_than_layers_are_a_report(chain: Layers, pair: Cluster) -> None:
    """Interleaved stages count."""
    report = place(chain, pair, schedule="interleaved", pipeline=2, virtual=3)
    assert (report.feasible, report.virtual) == (False, 3)
    assert report.violations[0].message == "6 stages need a layer each, and the model has 4"
    assert place(chain, pair, schedule="interleaved", pipeline=2, virtual=2).feasible


def test_the_time_limit_is_mentioned_where_it_may_have_ended_the_search(
    chain: Layers, pair: Cluster, engine: Engine
) -> None:
    """The same seed may end elsewhere then."""
    assert place(chain, pair, time_limit_s=1e-9).warnings[-1].startswith("ended by the time limit of 1e-09 s")
    assert place(chain, pair, time_limit_s=60.0).warnings[-1] == "even"


def test_progress_is_told(chain: Layers, pair: Cluster, engine: Engine) -> None:
    """From the reading on."""
    told: list[Progress] = []
    place(chain, pair, progress=told.append)
    assert told[0].stage == "reading"


def test_a_report_writes_its_plan(engine: Engine, pair: Cluster) -> None:
    """For the systems that take it."""
    kinds = ("embedding", "layer", "layer", "head")
    model = {"layers": [row | {"kind": kind} for row, kind in zip(MODEL["layers"], kinds, strict=True)]}
    report = place(model, pair)
    assert "VLLM_PP_LAYER_PARTITION=1,1\n" in report.emit("vllm")


def test_the_entry_is_public() -> None:
    """By its name in the package."""
    assert tiger.place is place


@pytest.mark.parametrize(("bubble", "reported"), [(None, None), (2.2e-16, 0.0), (-1e-17, 0.0), (0.25, 0.25)])
def test_a_bubble_of_rounding_is_none(
    chain: Layers, pair: Cluster, monkeypatch: pytest.MonkeyPatch, bubble: float | None, reported: float | None
) -> None:
    """A single stage never waits."""
    monkeypatch.setattr(
        "tiger.placement.solve.place_layers", lambda *_: PlaceResult(plan=None, bubble=bubble, uniform_feasible=False)
    )
    report = place(chain, pair)
    assert (report.bubble, report.uniform_feasible) == (reported, False)
