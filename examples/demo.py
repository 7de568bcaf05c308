"""Start the service, map two problems, a circuit and a network through it, print the gains, and draw the stencil.

Run by `make demo`; exits 0 when both mappings are cheaper than the launcher's order, the circuit takes no more CX gates
than with Qiskit alone, and the network runs faster than with as many layers in every stage.
"""

import json
import os
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http import HTTPStatus
from pathlib import Path

import networkx as nx
from rich.console import Console
from rich.table import Table

from tiger.formats import nodelink
from tiger.formats.files import read_tasks, read_topology
from tiger.model.problem import Problem
from tiger.plotting.picturefile import write
from tiger.run.report import Report
from tiger.topologies.spec import build

HERE = Path(__file__).parent
PICTURE = Path("demo-mapping.png")


def main() -> int:
    """Run the demonstration."""
    console = Console(soft_wrap=True)
    with service() as url:
        console.print(f"The service answers at {url}/assign; its documentation is at {url}/docs")
        console.print("Its page is for browsers: `tiger serve`, then http://127.0.0.1:8000\n")
        original, stencil = original_example(), stencil_example()
        reports = [post(url, original), post(url, stencil)]
        circuit = post(url, {"circuit": (HERE / "circuits/adder10.qasm").read_text(), "topology": "grid:3x4"})
        network = post(url, network_example(), "place")
    show(console, "The original tool's 11 tasks on its heterogeneous 2x2 mesh, levels rule, neal", reports[0])
    show(console, "An 8x8 stencil on a 4x4x4 torus, one task per node, auto", reports[1])
    added, peer = circuit["extra_cx"], circuit["baseline_extra_cx"]
    console.print("[bold]A ripple-carry adder of 10 qubits on a 3x4 grid of qubits[/bold]")
    console.print(f"  extra CX [bold]{added}[/bold], with Qiskit alone {peer}, {circuit['seconds']:.2f} s\n")
    uniform, iteration = network["uniform_iteration_s"], network["iteration_s"]
    console.print("[bold]A transformer of 24 layers on the 8 GPUs of a DGX, 1F1B, 32 microbatches[/bold]")
    console.print(
        f"  iteration {1e3 * uniform:.1f} ms with 3 layers a stage -> [bold]{1e3 * iteration:.1f} ms[/bold]", end=""
    )
    console.print(f", layers {' '.join(str(len(stage['ops'])) for stage in network['stages'])}")
    console.print(f"  {network['seconds']:.2f} s\n")
    problem = Problem(
        tasks=nodelink.read_task_graph(stencil["tasks"]), topology=build("torus:4x4x4"), rule="one-to-one"
    )
    write(replace(Report.from_dict(reports[1]), problem=problem), PICTURE)
    console.print(f"The mapping of the stencil is drawn in {PICTURE}")
    cheaper = all(report["feasible"] and report["cost"] < best_order(report)[1] for report in reports)
    return int(not (cheaper and added <= peer and iteration < uniform))


@contextmanager
def service() -> Iterator[str]:
    """Run `tiger serve` on a free port and yield its address once it is up."""
    command = [sys.executable, "-m", "tiger", "serve", "--port", "0"]
    # Its jobs are gone when it ends, and settings of the user's own have no part in it.
    own = {name: value for name, value in os.environ.items() if not name.startswith("TIGER_")}
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=own | {"TIGER_DATA_DIR": folder},
        ) as server,
    ):
        try:
            line = server.stdout.readline() if server.stdout else ""
            if "http://" not in line:
                raise SystemExit(f"the service did not start: {line.strip() or 'it printed nothing'}")
            yield line[line.index("http://") :].strip()
        finally:
            server.terminate()


def original_example() -> dict[str, object]:
    """Return the request for the original tool's example, its two files turned into node-link graphs."""
    tasks = read_tasks(HERE / "butko11.ram").tasks
    mesh = read_topology(str(HERE / "mesh_2x2_het.arc"))
    edges = tasks.traffic.tocoo()
    graph = nx.DiGraph()
    graph.add_nodes_from((name, {"work": work}) for name, work in zip(tasks.names, tasks.work.tolist(), strict=True))
    for u, v, volume in zip(edges.row, edges.col, edges.data.tolist(), strict=True):
        graph.add_edge(tasks.names[u], tasks.names[v], weight=volume)
    hardware = nx.Graph()
    hardware.add_nodes_from((name, {"cost": cost}) for name, cost in zip(mesh.names, mesh.cost.tolist(), strict=True))
    for u, v, length in zip(mesh.links.u, mesh.links.v, mesh.links.weight.tolist(), strict=True):
        hardware.add_edge(mesh.names[u], mesh.names[v], weight=length)
    data = [nx.node_link_data(part, edges="edges") for part in (graph, hardware)]
    nodelink.read_topology(data[1])
    return {"tasks": data[0], "topology": data[1], "rule": "levels", "solver": "neal"}


def stencil_example() -> dict[str, object]:
    """Return the request for the stencil."""
    tasks = json.loads((HERE / "stencil8x8.json").read_text())
    return {"tasks": tasks, "topology": "torus:4x4x4", "solver": "auto", "effort": 8}


def network_example() -> dict[str, object]:
    """Return the request for a transformer whose head costs as much as three and a half of its layers."""
    model = json.loads((HERE / "models/gpt2-medium.json").read_text())
    return {"model": model, "cluster": "dgx:1", "schedule": "1f1b", "microbatches": 32, "pipeline": 8}


def post(url: str, body: dict[str, object], path: str = "assign") -> dict:
    """Post a request and return the report, which a busy machine may take a while for."""
    headers = {"Content-Type": "application/json", "Prefer": "wait=60"}
    request = urllib.request.Request(f"{url}/{path}", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request) as answer:
        if answer.status != HTTPStatus.OK:
            raise SystemExit("the service has not answered within a minute")
        return json.load(answer)


def best_order(report: dict) -> tuple[str, float]:
    """Return the name and the cost of the cheapest simple order: in blocks, in turns (cyclic) or at random."""
    costs = {name: cost for name, cost in report["baselines"].items() if cost is not None}
    best = min(costs, key=lambda name: costs[name])
    return best, costs[best]


def show(console: Console, title: str, report: dict) -> None:
    """Print the costs and the stages of a report."""
    gap = "unknown, no useful bound" if report["gap"] is None else f"{100 * report['gap']:.1f} %"
    console.print(f"[bold]{title}[/bold]")
    order, before = best_order(report)
    after, bound = report["cost"], report["lower_bound"]
    console.print(f"  {order} order {before:g} -> [bold]{after:g}[/bold], lower bound {bound:g}, gap {gap}, ", end="")
    console.print(f"{'proved optimal, ' if report['optimal'] else ''}{report['seconds']:.2f} s")
    table = Table("stage", "cost after", "seconds")
    for stage in report["stages"]:
        table.add_row(stage["name"], f"{stage['cost']:g}", f"{stage['seconds']:.3f}")
    console.print(table)
    console.print()


if __name__ == "__main__":
    sys.exit(main())
