"""Requests for placements: answers, errors, and what they may not do."""

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi.testclient import TestClient
from pydantic import ValidationError

from tiger.api.pool.processes import Workers
from tiger.api.routes.entries import PLACE
from tiger.api.routes.examples import PLACEMENTS, TWO_SPEEDS
from tiger.api.schemas.closed import document_requests, refer
from tiger.api.schemas.limits import Limits
from tiger.api.schemas.placement import PlaceRequest
from tiger.api.schemas.reports import model_of
from tiger.errors import InputError
from tiger.placement.entry.report import PlacementReport
from tiger.placement.operators.params import GivenPlacement
from tiger.placement.params import PlaceParams
from tiger.placement.result import PlaceResult
from tiger.training.costs.plan import Plan
from tiger.training.hardware.cluster import Cluster
from tiger.training.hardware.connection import CONNECTION_FIELDS
from tiger.training.hardware.device import DEVICE_FIELDS
from tiger.training.hardware.hosts import HOST_FIELDS
from tiger.training.hardware.machines import INSIDE_FIELDS
from tiger.training.models.columns import COLUMNS
from tiger.training.models.dnnpartitioning import DEVICES, EDGE, NODE
from tiger.training.models.layers import Layers
from tiger.training.models.operatortable import OPTIONAL
from tiger.training.models.shape import Shape

EXAMPLES = Path(__file__).parents[2] / "examples"
Post = Callable[..., httpx.Response]
NAN, INF = float("nan"), float("inf")
LIMITS = Limits(max_tasks=8, max_time_s=5.0)
ROW = {"forward_s": 1, "backward_s": 2, "parameter_bytes": 10, "activation_bytes": 5}
CLUSTER = {"devices": [{"name": "x"}, {"name": "y"}], "uniform_bandwidth": 10}

UNIT = {"supportedOnFpga": 1, "cpuLatency": 0, "fpgaLatency": 2000, "isBackwardNode": 0, "size": 3}
GRAPH: dict[str, Any] = {
    "maxFPGAs": 2,
    "maxSizePerFPGA": 5,
    "maxCPUs": 0,
    "nodes": [{"id": 1, **UNIT}, {"id": 2, **UNIT}],
    "edges": [{"sourceId": 1, "destId": 2, "cost": 500}],
}


def model(**fields: object) -> dict[str, Any]:
    """Return four layers, of which the second has other fields; None leaves one out."""
    rows = [{"name": name, **ROW} for name in "abcd"]
    rows[1] = {name: value for name, value in (rows[1] | fields).items() if value is not None}
    return {"layers": rows}


def ask(**fields: object) -> bytes:
    """Return the bytes of a request for four layers on two devices, but for the fields given."""
    return json.dumps({"model": model(), "cluster": CLUSTER, **fields}).encode()


def read(answer: bytes) -> PlacementReport:
    """Return the report of an answer that is as the OpenAPI document says."""
    document = json.loads(answer)
    model_of(PlacementReport).model_validate(document)
    return PlacementReport.from_dict(document)


@pytest.fixture(scope="module")
def place(solving: TestClient) -> Post:
    """Return a function that posts a request, but for the fields it is given."""
    # Compiled kernels are kept on disk: a worker that has to compile them first would be too late.
    PLACE.answer(ask(), LIMITS)

    def post(**fields: object) -> httpx.Response:
        found: httpx.Response = solving.post(
            "/place", content=ask(**fields), headers={"Content-Type": "application/json"}
        )
        return found

    return post


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> list[PlaceParams]:
    """Have every placement in this process cut in the middle, and return what each was asked."""
    seen: list[PlaceParams] = []

    def halve(layers: Layers, cluster: Cluster, params: PlaceParams, *rest: object) -> PlaceResult:
        seen.append(params)
        plan = Plan.line((0, layers.size // 2, layers.size), (0, 1))
        return PlaceResult(plan=plan, bottleneck_s=7.0, lower_bound_s=7.0, uniform_bottleneck_s=INF)

    monkeypatch.setattr("tiger.placement.solve.place_layers", halve)
    return seen


@pytest.mark.parametrize(
    ("posed", "devices"),
    [
        (model(), CLUSTER),
        (model()["layers"], "dgx:1"),
        ("transformer:layers=2,hidden=64,heads=2,vocabulary=100,sequence=8", CLUSTER),
        ({"transformer": {"layers": 2, "hidden": 64, "heads": 2, "vocabulary": 100, "sequence": 8}}, CLUSTER),
        ("llama-3-8b:layers=2", CLUSTER),
    ],
)
def test_a_model_is_answered_with_its_report(engine: list[PlaceParams], posed: object, devices: object) -> None:
    """It has the fields that the documentation promises, and no others."""
    report = read(PLACE.answer(ask(model=posed, cluster=devices, seed=4), LIMITS).report)
    assert (report.feasible, report.optimal, report.seed, len(report.stages)) == (True, True, 4, 2)
    assert report.uniform_bottleneck_s is None


def test_a_model_may_serve_over_rest() -> None:
    """Weights of 16 bits, and four sequences of ten tokens of 2 x 1024 numbers in each of two layers."""
    asked = ask(model="llama-3-8b:layers=2", cluster="dgx-h100:1", pipeline=1, serve=4, sequence=10)
    (stage,) = read(PLACE.answer(asked, LIMITS).report).stages
    layer = 2 * 4096**2 + 2 * 4096 * 1024 + 3 * 4096 * 14336 + 2 * 4096
    weights = 2 * 128256 * 4096 + 4096 + 2 * layer
    assert stage.memory_bytes == 2 * weights + 2 * 4 * 10 * 2 * 1024 * 2


def test_a_chain_may_have_other_aims_over_rest() -> None:
    """The fast card alone for a single token; of a mixture, experts on the CPU."""
    cluster = json.loads((EXAMPLES / "clusters/cards_and_host.json").read_text(encoding="utf-8"))
    model = "mixtral-8x22b:layers=6,serve=true,sequence=512"
    asked = ask(model=model, cluster=cluster, objective="latency", experts_on_cpu=True)
    report = read(PLACE.answer(asked, LIMITS).report)
    assert (report.optimal, report.serving.experts_on_cpu.device) == (True, "host")
    many = read(PLACE.answer(ask(model=model, cluster=cluster, objective="cache"), LIMITS).report)
    assert many.serving.sequences == many.serving.most_sequences > 1


def test_every_field_reaches_the_engine(engine: list[PlaceParams]) -> None:
    """As it was given, with the server's time limit where there is none."""
    fields = {"schedule": "interleaved", "microbatches": 4, "virtual": 1, "pipeline": 2, "data": 1, "effort": 2}
    start, read = dict.fromkeys("abcd", "x"), GivenPlacement(dict.fromkeys("abcd", (("x",),)))
    PLACE.answer(ask(**fields, pinned={"a": "x"}, start=start, solver="neal", seed=3), LIMITS)
    PLACE.answer(ask(time_limit_s=1.5), LIMITS)
    first = PlaceParams(**fields, pinned={"a": "x"}, start=read, solver="neal", seed=3, time_limit_s=5.0)  # type: ignore[arg-type]  # of any option
    assert engine == [first, PlaceParams(time_limit_s=1.5)]


def test_a_layout_is_reported_beside_the_plan_found() -> None:
    """By the service as in Python, with the fields that are documented: three layers of 3 s, a second of messages."""
    given = read(PLACE.answer(ask(layout="[0, 3, 4]"), LIMITS).report).given
    assert given is not None
    assert (given.bottleneck_s, given.feasible, given.keep) == (10.0, True, False)
    alone = read(PLACE.answer(ask(layout="[0, 4]"), LIMITS).report)
    assert alone.given is not None
    assert (len(alone.given.stages), len(alone.stages), alone.given.bottleneck_s) == (1, 1, 12.0)


def test_the_route_answers(refusing: TestClient, engine: list[PlaceParams], monkeypatch: pytest.MonkeyPatch) -> None:
    """With the report as strict JSON."""

    async def run(self: Workers, timeout_s: float, function: Callable[..., bytes], *args: object) -> bytes:
        return function(*args)

    monkeypatch.setattr(Workers, "run", run)
    found = refusing.post("/place", json={"model": model(), "cluster": CLUSTER})
    assert (found.status_code, found.json()["schema"]) == (200, "tiger.placement/1")
    assert [stage["ops"] for stage in found.json()["stages"]] == [["a", "b"], ["c", "d"]]


@pytest.mark.long
def test_a_worker_answers(place: Post) -> None:
    """Two layers of three seconds a device, and half a second for a message there and back."""
    found = place()
    assert (found.status_code, found.json()["bottleneck_s"], found.json()["optimal"]) == (200, 7.0, True)


def test_quantities_with_units_are_those_without() -> None:
    """Bytes, bytes/s and seconds: 3 GB a layer, of which 80 GB hold all, over 100 GB/s."""
    texts, numbers = ("3e9B", "1s", "80GB", "800 Gb/s", "25 us"), (3e9, 1, 80e9, 100e9, 25e-6)
    reports = []
    for held, forward, room, rate, delay in (texts, numbers):
        devices = [{"name": name, "memory_bytes": room} for name in "xy"]
        cluster = {"devices": devices, "uniform_bandwidth": rate, "uniform_latency": delay}
        layers = model(parameter_bytes=held, forward_s=forward, activation_bytes=held)
        report = json.loads(PLACE.answer(ask(model=layers, cluster=cluster), LIMITS).report)
        reports.append({key: value for key, value in report.items() if key not in ("seconds", "progress")})
    assert reports[0] == reports[1]
    assert reports[0]["feasible"]


@pytest.mark.slow
def test_bug_the_document_allows_quantities_with_units() -> None:
    """In layers, operators, devices, links and lanes."""
    models: dict[str, Any] = document_requests([PlaceRequest])
    fields = {**models["Layer"]["properties"], **models["Operator"]["properties"], **models["Machine"]["properties"]}
    forms = [{"type": "number"}, {"type": "string"}]
    quantities = {name for name, entry in fields.items() if entry.get("anyOf") == forms}
    assert quantities >= {"forward_s", "state_bytes", "seconds", "memory_bytes", "bandwidth", "latency", "lane_latency"}


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({"schedule": "interleaved", "pipeline": 2, "virtual": 3}, "stages"),
        ({"cluster": CLUSTER | {"devices": [{"name": "x", "memory_bytes": 15}]}}, "memory"),
        ({"cluster": {"devices": CLUSTER["devices"], "links": []}, "pipeline": 2}, "unlinked"),
    ],
)
def test_what_does_not_fit_is_an_answer(place: Post, fields: dict[str, object], kind: str) -> None:
    """It is 200, and says what stands against it."""
    found = place(**fields)
    assert (found.status_code, found.json()["feasible"], found.json()["bottleneck_s"]) == (200, False, None)
    assert found.json()["violations"][0]["kind"] == kind


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"model": model() | {"edges": [["a", "b"], ["b", "a"]]}}, "#/model"),
        ({"model": model() | {"edges": [["a", "z"]]}}, "#/model/edges/0"),
        ({"model": model(forward_s=None)}, "#/model/layers/1/forward_s"),
        ({"model": model(forward_s=NAN)}, "#/model/layers/1/forward_s"),
        ({"model": model(backward_s=10**400)}, "#/model/layers/1/backward_s"),
        ({"model": model(parameter_bytes=-1)}, "#/model/layers/1/parameter_bytes"),
        ({"model": model(activation_bytes="5")}, "#/model/layers/1/activation_bytes"),
        ({"model": model(activation_bytes=True)}, "#/model/layers/1/activation_bytes"),
        ({"model": model(name="a")}, "#/model/layers"),
        ({"model": {"layers": []}}, "#/model/layers"),
        ({"model": {"layers": [[[[]]]]}}, "#/model/layers/0"),
        ({"model": {}}, "#/model"),
        ({"model": []}, "#/model"),
        ({"model": 5}, "#/model"),
        ({"model": None}, "#/model"),
        ({"model": "/etc/passwd"}, "#/model"),
        ({"model": "transformer:layers=100000000,hidden=64,heads=2,vocabulary=100,sequence=8"}, "#/model"),
        ({"cluster": CLUSTER | {"links": [{"a": "x", "b": "z", "bandwidth": 1}]}}, "#/cluster/links/0/b"),
        ({"cluster": CLUSTER | {"links": [{"a": "x", "b": "y", "bandwidth": INF}]}}, "#/cluster/links/0/bandwidth"),
        ({"cluster": {"devices": CLUSTER["devices"]}}, "#/cluster/links"),
        ({"cluster": {"devices": [{"name": "x", "memory_bytes": -1}]}}, "#/cluster/devices/0/memory_bytes"),
        ({"cluster": {"devices": []}}, "#/cluster/devices"),
        ({"cluster": []}, "#/cluster"),
        ({"cluster": "/etc/passwd"}, "#/cluster"),
        ({"cluster": "dgx:100000000"}, "#/cluster"),
        ({"cluster": "torus:4x4"}, "#/cluster"),
        ({"layout": "[0, 5]"}, "#/layout"),
        ({"layout": "/etc/passwd"}, "#/layout"),
        ({"layout": [0, 4]}, "#/layout"),
        ({"mode": "dag"}, "#/mode"),
        ({"schedule": "2f2b"}, "#/schedule"),
        ({"microbatches": 4}, "#/microbatches"),
        ({"microbatches": 10**9, "schedule": "gpipe"}, "#/microbatches"),
        ({"microbatches": 0, "schedule": "gpipe"}, "#/microbatches"),
        ({"virtual": 2}, "#/virtual"),
        ({"pipeline": 3}, "#/pipeline"),
        ({"pipeline": 1.0}, "#/pipeline"),
        ({"tensor": 2}, "#/tensor"),
        ({"tensor": True}, "#/tensor"),
        ({"data": 3}, "#/data"),
        ({"pinned": {"e": "x"}}, "#/pinned/e"),
        ({"pinned": {"a": "z"}}, "#/pinned/a"),
        ({"pinned": {"a": 1}}, "#/pinned/a"),
        ({"solver": "nobody"}, "#/solver"),
        ({"solver": "leap-bqm"}, "#/solver"),
        ({"seed": -1}, "#/seed"),
        ({"effort": 0}, "#/effort"),
        ({"time_limit_s": 6}, "#/time_limit_s"),
        ({"time_limit_s": 0}, "#/time_limit_s"),
        ({"tasks": {}}, "#/tasks"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_bad_input_is_422_and_points_at_the_field(place: Post, fields: dict[str, Any], pointer: str) -> None:
    """Whatever is wrong, the answer is a strict problem document."""
    found = place(**fields)
    problem = json.loads(found.text, parse_constant=pytest.fail)
    assert (found.status_code, found.headers["content-type"]) == (422, "application/problem+json")
    assert problem["errors"][0]["pointer"].startswith(pointer)
    assert "root:" not in found.text


def test_a_model_is_needed() -> None:
    """Nothing stands for it."""
    body = json.loads(ask())
    del body["model"]
    with pytest.raises(ValidationError, match="Field required") as refusal:
        PLACE.check(json.dumps(body).encode(), LIMITS)
    assert refusal.value.errors()[0]["loc"] == ("model",)


def test_a_chain_needs_a_cluster() -> None:
    """Only graphs of operators may state their devices."""
    with pytest.raises(InputError, match="cluster: expected a cluster, got none"):
        PLACE.answer(ask(cluster=None), LIMITS)


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b'{"model":1,"model":2}', b"[" * 1900])
def test_what_is_not_json_is_400(refusing: TestClient, body: bytes) -> None:
    """Nothing is placed."""
    found = refusing.post("/place", content=body, headers={"Content-Type": "application/json"})
    assert (found.status_code, found.json()["errors"][0]["pointer"]) == (400, "#")


def test_layers_and_devices_are_bounded_by_the_service() -> None:
    """Before anything is built of them."""
    with pytest.raises(InputError, match="expected at most 3 layers"):
        PLACE.answer(ask(), Limits(max_tasks=3, max_time_s=5.0))
    with pytest.raises(InputError, match="cluster") as caught:
        PLACE.answer(ask(cluster="dgx:2"), LIMITS)
    assert "8" in caught.value.reason


@pytest.mark.parametrize(
    ("model", "what"),
    [
        ({"nodes": [5] * 9, "edges": []}, "operators"),
        ({"operators": [5] * 9, "edges": []}, "operators"),
        ({"nodes": [], "edges": [5] * 9}, "edges"),
    ],
)
def test_operators_and_edges_are_bounded_by_the_service(model: dict[str, Any], what: str) -> None:
    """Before any of them is looked at."""
    limits = Limits(max_tasks=8, max_time_s=5.0, max_edges=8)
    with pytest.raises(InputError, match=f"model: expected at most 8 {what}, got 9"):
        PLACE.check(ask(model=model, mode="dag"), limits)


def test_devices_that_a_model_states_are_bounded_by_the_service() -> None:
    """They are made of two numbers."""
    model = {**GRAPH, "maxFPGAs": 9}
    with pytest.raises(InputError, match="cluster/devices: expected 1 to 8 devices, got 9"):
        PLACE.answer(json.dumps({"model": model, "mode": "dag"}).encode(), LIMITS)


def test_operators_are_placed(place: Post) -> None:
    """On the devices that the model states, one each, for what they send costs less than waiting."""
    found = place(model=GRAPH, cluster=None, mode="dag")
    report = read(found.content)
    assert (found.status_code, report.mode, report.objective, report.feasible) == (200, "dag", "throughput", True)
    assert sorted(stage.device for stage in report.stages) == ["gpu0", "gpu1"]
    assert (report.bottleneck_s, report.lower_bound_s) == (pytest.approx(2.5), pytest.approx(2.5))


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"mode": "chain"}, "#/model"),
        ({"contiguous": 5}, "#/contiguous"),
        ({"objective": "beauty"}, "#/objective"),
        ({"schedule": "1f1b"}, "#/schedule"),
        ({"model": "transformer:layers=2"}, "#/model"),
        ({"model": {"operators": [], "edges": []}, "cluster": CLUSTER}, "#/model/operators"),
        ({"model": {**GRAPH, "edges": [{"sourceId": 1, "destId": 3, "cost": 1}]}}, "#/model/edges/0/destId"),
    ],
)
def test_bad_requests_for_operators_name_their_field(place: Post, fields: dict[str, Any], pointer: str) -> None:
    """With the pointer to it."""
    found = place(**{"model": GRAPH, "cluster": None, "mode": "dag", **fields})
    assert (found.status_code, found.json()["errors"][0]["pointer"]) == (422, pointer)


def test_a_request_has_defaults() -> None:
    """Model and cluster suffice."""
    request = PlaceRequest.read({"model": "transformer:", "cluster": "dgx:1"})
    assert (request.mode, request.schedule, request.tensor, request.data) == ("chain", None, 1, 1)
    assert (request.solver, request.seed, request.effort, request.time_limit_s) == ("auto", 0, 1, None)


def test_a_flood_of_errors_is_one() -> None:
    """Refusing a large body costs little."""
    for fields in ({f"x{k}": k for k in range(1000)}, {"pinned": {f"l{k}": k for k in range(1000)}}):
        with pytest.raises(ValidationError) as refusal:
            PlaceRequest.read({"model": [], "cluster": "dgx:1", **fields})
        assert refusal.value.error_count() == 1


def test_the_document_shows_request_and_report(document: dict[str, Any]) -> None:
    """With worked examples."""
    post = document["paths"]["/place"]["post"]
    content = post["requestBody"]["content"]["application/json"]
    assert (set(content["examples"]), content["schema"]) == (set(PLACEMENTS), refer("PlaceRequest"))
    assert document["components"]["schemas"]["PlaceRequest"]["required"] == ["model"]
    assert {"200", "202", "400", "409", "413", "415", "422", "429", "503"} <= set(post["responses"])


def test_the_document_shows_every_field_of_models_and_clusters() -> None:
    """Those that are read, and no others."""
    models: dict[str, Any] = document_requests([PlaceRequest])
    shown = {name: set(model["properties"]) for name, model in models.items()}
    assert shown["Layer"] == set(COLUMNS)
    assert shown["DnnPartitioningNode"] == {key for keys in NODE for key in keys}
    assert shown["DnnPartitioningEdge"] == {key for keys in EDGE for key in keys}
    assert shown["DnnPartitioningGraph"] == {"nodes", "edges", *DEVICES}
    assert shown["Operator"] == {"name", "seconds", *OPTIONAL}
    assert shown["TransformerShape"] == {field.name for field in dataclasses.fields(Shape)}
    assert shown["Device"] == {"name", *DEVICE_FIELDS, "machine"}
    assert shown["DeviceLink"] == {"a", "b", *CONNECTION_FIELDS, "wire"}
    assert shown["Machine"] > {"count", "devices", "nic", "nvidia_smi_topo", *DEVICE_FIELDS}
    assert (shown["MachineInside"], shown["HostTable"]) == (set(INSIDE_FIELDS), set(HOST_FIELDS))


def test_the_shape_in_the_document_needs_what_has_no_default() -> None:
    """As the dataclass that is made of it."""
    shape: dict[str, Any] = document_requests([PlaceRequest])["TransformerShape"]  # type: ignore[assignment]
    needed = [field.name for field in dataclasses.fields(Shape) if field.default is dataclasses.MISSING]
    assert shape["required"] == needed == ["layers", "hidden", "heads", "vocabulary", "sequence"]


@pytest.mark.parametrize("name", PLACEMENTS)
def test_the_worked_requests_are_good(engine: list[PlaceParams], name: str) -> None:
    """Their models and clusters are read, and something is placed."""
    body = json.dumps(PLACEMENTS[name]["value"]).encode()
    assert read(PLACE.answer(body, Limits(max_tasks=100, max_time_s=5.0)).report).feasible


def test_the_fast_device_takes_four_of_six_layers(place: Post) -> None:
    """As the worked request says: 60 ms, and a message of 0.11 ms there and back."""
    report = place(**TWO_SPEEDS).json()
    assert {stage["device"]: len(stage["ops"]) for stage in report["stages"]} == {"fast": 4, "slow": 2}
    assert report["bottleneck_s"] == pytest.approx(0.06022)


def test_a_network_is_a_cluster_with_its_levels(engine: list[PlaceParams]) -> None:
    """As the text of its file, with a machine inside each host; what has none is told so."""
    hosts = {"file": "t.conf", "text": "SwitchName=s0 Nodes=a,b"}
    cluster = {"hosts": hosts, "machine": "dgx:1", "networks": {"node": {"bandwidth": "50GB/s"}}}
    limits = Limits(max_tasks=100, max_time_s=5.0)
    report = read(PLACE.answer(ask(cluster=cluster), limits).report)
    assert [stage.device for stage in report.stages] == ["a.gpu0", "a.gpu1"]
    with pytest.raises(InputError, match="nodes of Kubernetes, a network"):
        PLACE.answer(ask(cluster={"kind": "List", "items": []}), limits)
