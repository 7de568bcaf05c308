"""Clients that generators of others make of `tiger openapi`: they lack nothing, and a service answers them."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.api.jobs.service import Service

pytestmark = pytest.mark.long
PYTHON = ("openapi-python-client==0.29.1", "datamodel-code-generator==0.89.0", "httpx==0.28.1")
NODE = {"openapi-typescript": "7.13.0", "openapi-fetch": "0.17.0", "typescript": "5.9.3"}
# What each program below prints of four tasks in a row on a square, four layers on two devices, a transformer on a
# machine, a topology that is none, and two seeds of the tasks side by side, whose jobs are found by their tag.
SAID = [3.0, 2, True, "#/topology", [3.0, 3.0, True, 2]]

FUNCTIONS = """
import json, sys
from client import Client
from client.api.default import assign, compare, list_jobs, place, plan, show_comparison
from client.models import *

service = Client(base_url=sys.argv[1], timeout=600, raise_on_unexpected_status=True)
edges = [TaskEdge(source=k, target=k + 1) for k in range(3)]
graph = TaskGraph(nodes=[TaskNode(id=k) for k in range(4)], edges=edges)
mapped = assign.sync(client=service, body=AssignRequest(tasks=graph, topology="grid:2x2", seed=1), prefer="wait=500")
costs = {"forward_s": 0.01, "backward_s": "20ms", "parameter_bytes": "1MB", "activation_bytes": 1000}
layers = LayerTable(layers=[Layer(name=f"layer{k}", **costs) for k in range(4)])
devices = DeviceTable(devices=[Device(name="a"), Device(name="b")], uniform_bandwidth="1GB/s", uniform_latency=0)
placed = place.sync(client=service, body=PlaceRequest(model=layers, cluster=devices), prefer="wait=500")
shape = TransformerShape(layers=8, hidden=512, heads=8, vocabulary=1000, sequence=512)
wanted = PlanRequest(model=Transformer(transformer=shape), cluster="dgx:1", pipeline=2, tensor=2)
planned = plan.sync(client=service, body=wanted, prefer="wait=500")
refused = assign.sync(client=service, body=AssignRequest(tasks="ring:4", topology="moebius:3"))
assert isinstance(refused, Problem), refused
request = AssignRequest(tasks=graph, topology="grid:2x2")
entries = [EntryRequest(kind="assign", request=AssignRequest(tasks=graph, topology="grid:2x2", seed=1))]
changes = VariantRequestChanges.from_dict({"seed": 2})
asked = ComparisonRequest(entries=entries, kind="assign", request=request, variants=[VariantRequest(changes=changes)])
made = compare.sync(client=service, body=asked, tag=["functions"])
table = show_comparison.sync(made.id, client=service, wait=500)
figures = [row.figures["cost"] for row in table.rows]
found = list_jobs.sync(client=service, tag=["functions"])
side = [*figures, table.same_problem, len(found.jobs)]
print(json.dumps([mapped.cost, len(placed.stages), planned.feasible, refused.errors[0].pointer, side]))
"""

MODELS = """
import json, sys
import httpx
from models import *

def ask(path, request):
    body = request.model_dump_json(exclude_unset=True)
    headers = {"Content-Type": "application/json", "Prefer": "wait=500"}
    return httpx.post(sys.argv[1] + path, content=body, headers=headers, timeout=600).content

edges = [TaskEdge(source=k, target=k + 1) for k in range(3)]
graph = TaskGraph(nodes=[TaskNode(id=k) for k in range(4)], edges=edges)
mapped = Report.model_validate_json(ask("/assign", AssignRequest(tasks=graph, topology="grid:2x2", seed=1)))
assert set(mapped.mapping) == {"0", "1", "2", "3"}, mapped
costs = {"forward_s": 0.01, "backward_s": "20ms", "parameter_bytes": "1MB", "activation_bytes": 1000}
layers = LayerTable(layers=[Layer(name=f"layer{k}", **costs) for k in range(4)])
devices = DeviceTable(devices=[Device(name="a"), Device(name="b")], uniform_bandwidth="1GB/s", uniform_latency=0)
placed = PlacementReport.model_validate_json(ask("/place", PlaceRequest(model=layers, cluster=devices)))
shape = TransformerShape(layers=8, hidden=512, heads=8, vocabulary=1000, sequence=512)
wanted = PlanRequest(model=Transformer(transformer=shape), cluster="dgx:1", pipeline=2, tensor=2)
planned = PlanReport.model_validate_json(ask("/plan", wanted))
refused = ProblemBody.model_validate_json(ask("/assign", AssignRequest(tasks="ring:4", topology="moebius:3")))
entries = [EntryRequest(kind="assign", request=AssignRequest(tasks=graph, topology="grid:2x2", seed=1))]
request, variants = AssignRequest(tasks=graph, topology="grid:2x2"), [VariantRequest(changes={"seed": 2})]
asked = ComparisonRequest(entries=entries, kind="assign", request=request, variants=variants)
made = ComparisonBody.model_validate_json(ask("/comparisons?tag=models", asked))
shown = httpx.get(f"{sys.argv[1]}/comparisons/{made.id}?wait=500", timeout=600).content
table = ComparisonBody.model_validate_json(shown)
found = JobsBody.model_validate_json(httpx.get(f"{sys.argv[1]}/jobs?tag=models").content)
side = [*(row.figures["cost"] for row in table.rows), table.same_problem, len(found.jobs)]
print(json.dumps([mapped.cost, len(placed.stages), planned.feasible, refused.errors[0].pointer, side]))
"""

TYPES = """
import createClient from "openapi-fetch";
import type { components, paths } from "./service.js";

declare const process: { argv: string[] };
const service = createClient<paths>({ baseUrl: process.argv[2] });
const header = { Prefer: "wait=500" };
const nodes = [0, 1, 2, 3].map((id) => ({ id }));
const edges = [0, 1, 2].map((k) => ({ source: k, target: k + 1 }));
const tasks: components["schemas"]["TaskGraph"] = { nodes, edges };
const mapped = await service.POST("/assign", { params: { header }, body: { tasks, topology: "grid:2x2", seed: 1 } });
const costs = { forward_s: 0.01, backward_s: "20ms", parameter_bytes: "1MB", activation_bytes: 1000 };
const layers = nodes.map(({ id }) => ({ name: `layer${id}`, ...costs }));
const cluster = { devices: [{ name: "a" }, { name: "b" }], uniform_bandwidth: "1GB/s", uniform_latency: 0 };
const placed = await service.POST("/place", { params: { header }, body: { model: { layers }, cluster } });
const transformer = { layers: 8, hidden: 512, heads: 8, vocabulary: 1000, sequence: 512 };
const wanted = { model: { transformer }, cluster: "dgx:1", pipeline: 2, tensor: 2 };
const planned = await service.POST("/plan", { params: { header }, body: wanted });
const refused = await service.POST("/assign", { body: { tasks: "ring:4", topology: "moebius:3" } });
const cost = mapped.data && "cost" in mapped.data ? mapped.data.cost : mapped.error;
const stages = placed.data && "stages" in placed.data ? placed.data.stages?.length : placed.error;
const feasible = planned.data && "feasible" in planned.data ? planned.data.feasible : planned.error;
const variants = [1, 2].map((seed) => ({ changes: { seed } }));
const asked = { kind: "assign" as const, request: { tasks, topology: "grid:2x2" }, variants };
const made = await service.POST("/comparisons", { params: { query: { tag: ["types"] } }, body: asked });
const path = { comparison_id: made.data!.id };
const table = await service.GET("/comparisons/{comparison_id}", { params: { path, query: { wait: 500 } } });
const found = await service.GET("/jobs", { params: { query: { tag: ["types"] } } });
const side = [...table.data!.rows.map((row) => row.figures.cost), table.data!.same_problem, found.data!.jobs.length];
console.log(JSON.stringify([cost, stages, feasible, refused.error?.errors?.[0].pointer, side]));
"""


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the document that `tiger openapi` prints."""
    folder = tmp_path_factory.mktemp("generated")
    (folder / "openapi.json").write_text(run(sys.executable, "-m", "tiger", "openapi"), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def document(work: Path) -> dict[str, Any]:
    """Return the document."""
    found: dict[str, Any] = json.loads((work / "openapi.json").read_text(encoding="utf-8"))
    return found


@pytest.fixture(scope="module")
def python(work: Path) -> str:
    """Return an interpreter that has the generators of Python."""
    run(sys.executable, "-m", "venv", str(work / "venv"))
    command = str(work / "venv" / "bin" / "python")
    try:
        run(command, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PYTHON)
    except subprocess.CalledProcessError:
        pytest.skip("needs a registry that pip can reach")
    return command


@pytest.fixture(scope="module")
def node(work: Path) -> Path:
    """Return a folder that has the generator of TypeScript."""
    if not (shutil.which("node") and shutil.which("npm")):
        pytest.skip("needs Debian's packages nodejs and npm")
    folder = work / "node"
    folder.mkdir()
    (folder / "package.json").write_text(json.dumps({"type": "module", "dependencies": NODE}), encoding="utf-8")
    try:
        run("npm", "install", "--no-audit", "--no-fund", "--silent", "--ignore-scripts", cwd=folder)
    except subprocess.CalledProcessError:
        pytest.skip("needs a registry that npm can reach")
    return folder


@pytest.fixture(scope="module")
def url(work: Path) -> Iterator[str]:
    """Return the address of a service."""
    service = Service(work / "data", TIGER_MAX_WAIT_S="600").ready(600)
    yield str(service.http.base_url).rstrip("/")
    service.end()


def run(*command: str, cwd: Path | None = None) -> str:
    """Return what a command prints, on either stream; raise CalledProcessError where it fails."""
    # Where a generator finds its formatter.
    path = f"{Path(str(shutil.which(command[0]))).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        command, cwd=cwd, env=os.environ | {"PATH": path}, stdout=-1, stderr=subprocess.STDOUT, text=True, check=False
    )
    if done.returncode:
        raise subprocess.CalledProcessError(done.returncode, command, done.stdout)
    return done.stdout


def operations(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield path, method and description of every operation."""
    for path, verbs in document["paths"].items():
        for verb, operation in verbs.items():
            yield path, verb, operation


def test_bug_openapi_python_client_leaves_nothing_out(
    python: str, work: Path, document: dict[str, Any], url: str
) -> None:
    """Every operation is a function that knows every answer, and the three of work are answered."""
    command = ("openapi_python_client", "generate", "--path", "openapi.json", "--output-path", "client")
    said = run(python, "-m", *command, "--meta", "none", "--fail-on-warning", cwd=work)
    assert "WARNING" not in said.upper()
    for path, verb, operation in operations(document):
        source = (work / "client" / "api" / "default" / f"{operation['operationId']}.py").read_text(encoding="utf-8")
        assert set(re.findall(r"status_code == (\d+)", source)) == set(operation["responses"]), (path, verb)
        assert source.count("Problem.from_dict") == sum(status >= "400" for status in operation["responses"])
    assert json.loads(run(python, "-c", FUNCTIONS, url, cwd=work)) == SAID


def test_bug_datamodel_codegen_has_a_model_of_every_request(
    python: str, work: Path, document: dict[str, Any], url: str
) -> None:
    """As of every other component, and what they make of themselves is answered."""
    options = (
        "--input-file-type",
        "openapi",
        "--output-model-type",
        "pydantic_v2.BaseModel",
        "--formatters",
        "builtin",
    )
    command = ("datamodel_code_generator", "--input", "openapi.json", "--output", "models.py")
    assert run(python, "-m", *command, *options, cwd=work) == ""
    classes = re.findall(r"^class (\w+)", (work / "models.py").read_text(encoding="utf-8"), re.MULTILINE)
    assert set(document["components"]["schemas"]) - set(classes) == set()
    assert json.loads(run(python, "-c", MODELS, url, cwd=work)) == SAID


def test_openapi_typescript_has_every_answer(node: Path, document: dict[str, Any], url: str) -> None:
    """TypeScript finds the problem document of every error, and no fault in a program, which is answered."""
    options = ("--default-non-nullable=false", "-o", "service.d.ts")
    assert "⚠" not in run("npx", "openapi-typescript", "../openapi.json", *options, cwd=node)
    kinds = [
        f'paths["{path}"]["{verb}"]["responses"][{status}]["content"]["application/problem+json"]'
        for path, verb, operation in operations(document)
        for status in operation["responses"]
        if status >= "400"
    ]
    problem = 'components["schemas"]["ProblemBody"]'
    checks = "".join(f"export const is{k}: {problem} = null! as {kind};\n" for k, kind in enumerate(kinds))
    assert len(kinds) > 150
    (node / "client.ts").write_text(TYPES + checks, encoding="utf-8")
    settings = ("--strict", "--target", "es2022", "--module", "nodenext", "client.ts")
    assert run("npx", "tsc", *settings, cwd=node) == ""
    assert json.loads(run("node", "client.js", url, cwd=node)) == SAID
