"""Two hundred thousand operators and a million on 16 devices: load, makespan and memory, beside what is usual."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from benchmarks.peers import is_installed
from tiger.errors import InputError
from tiger.model.arrays import IntArray
from tiger.placement.operators.latency.heft import place_by_heft
from tiger.placement.operators.latency.list_scheduling import JobList, make_jobs, makespan_s
from tiger.placement.operators.latency.search import makespan_bound_s
from tiger.placement.operators.loads import held_bytes, loads_s
from tiger.placement.operators.terms import Terms
from tiger.training.hardware.cluster import Cluster, Curve
from tiger.training.models.graphs import read_operators
from tiger.training.models.operators import Operators

# Devices, and their memory over an even share of all operators'.
DEVICES, ROOM = 16, 1.15
STACKED, PUBLISHED = 200_000, "bert_l-6_training.json"
# From so many operators on the throughput alone is asked for.
MANY = 500_000
# The command line in a process of its own, which says last how much memory it took at most.
COMMAND = """
import sys
from benchmarks.memory import read_peak_mb
from tiger.cli.app import run
status = run(sys.argv[1:])
print(read_peak_mb())
sys.exit(status)
"""
HEAD = ("graph", "method", "largest load / (sum / k)", "makespan / bound", "memory / cap", "seconds", "peak, MB")


class Answer(NamedTuple):
    """Hold the device of every class, the seconds that took, and the peak memory of a process of its own, in MB."""

    place: IntArray
    seconds: float
    peak_mb: float | None = None


def table(say: Callable[[str], None], data: Path | None) -> Iterator[tuple[str, ...]]:
    """Yield what placements come to; the devices together hold 1.15 times what is needed, in equal parts.

    TIGER's are by command, file in and file out, a process each. `data` is a folder with a published graph, which is
    stacked; without it that is a layer of a transformer. Blocks are of equal work along a topological order; HEFT and
    METIS know of classes, but not of memory.
    """
    published = read_published(data) if data else None
    yield HEAD
    # What is compiled, is compiled for these, which are enough for classes to be joined.
    for _ in answers(*_terms(lstm(2, 120)), say):
        pass
    for title, operators in graphs(published):
        _, terms = _terms(operators)
        least, share = makespan_bound_s(terms), terms.work[0].sum() / DEVICES
        say(title)
        for method, answer in answers(operators, terms, say):
            if answer is None:
                yield title, method, "not installed", "", "", "", ""
                continue
            load = float(np.sum(loads_s(terms, answer.place), axis=0).max()) / share
            held = float((held_bytes(terms, answer.place) / terms.capacity).max())
            values = load, makespan_s(terms, answer.place) / least, held, answer.seconds
            peak = "" if answer.peak_mb is None else f"{answer.peak_mb:,.0f}"
            yield title, method, *(f"{value:.2f}" for value in values), peak


def answers(operators: Operators, terms: Terms, say: Callable[[str], None]) -> Iterator[tuple[str, Answer | None]]:
    """Yield the answer of every method, None for one that is not installed."""
    for objective in ("throughput", "latency", "both") if operators.size < MANY else ("throughput",):
        say(objective)
        yield f"TIGER, {objective}", run_place(operators, objective)
    jobs = make_jobs(terms)
    for name, peer in {"blocks": blocks, "HEFT": schedule_list, "METIS": metis}.items():
        say(name)
        begun = time.perf_counter()
        place = peer(terms, jobs)
        yield name, None if place is None else Answer(place, time.perf_counter() - begun)


def graphs(published: Operators | None) -> Iterator[tuple[str, Operators]]:
    """Yield the graphs with their titles."""
    yield "LSTM, 16 layers x 480 steps", lstm(16, 480)
    yield "LSTM, 16 layers x 480 steps, in 1,000 groups, a tenth scattered", colocate(lstm(16, 480), 1000)
    layer = published or transformer_layer()
    times = -(-STACKED // layer.size)
    name = "BERT, 6 layers, training" if published else "transformer layer, training"
    yield f"{name}, x {times}", stack(layer, times)
    yield "LSTM, 16 layers x 2,403 steps", lstm(16, 2403)


def read_published(data: Path) -> Operators:
    """Return the published graph, which lies at any depth of the folder."""
    found = sorted(data.rglob(PUBLISHED))
    if not found:
        raise InputError("graphs", f"expected a folder with {PUBLISHED} at any depth, got {data}")
    return read_operators(found[0])[0]


def _terms(operators: Operators) -> tuple[Operators, Terms]:
    """Return operators with their terms on the devices."""
    return operators, Terms.from_operators(operators, cluster(operators), {})


def cluster(operators: Operators) -> Cluster:
    """Return equal devices; links add nothing to what messages take."""
    link = np.where(np.eye(DEVICES, dtype=bool), -1, 0)
    return Cluster(
        names=tuple(f"gpu{k}" for k in range(DEVICES)),
        speed=np.ones(DEVICES),
        memory_bytes=np.full(DEVICES, ROOM * operators.memory_bytes.sum() / DEVICES),
        curves=(Curve(size_bytes=np.array([0.0, 1.0]), seconds=np.zeros(2)),),
        link=link,
    )


def lstm(layers: int, steps: int) -> Operators:
    """Return the forward and backward pass of an unrolled LSTM, 26 operators a cell and 4 MB each, all apart.

    Forward, four products of gates meet in a chain of nine; backward, a chain of five fans out into eight products. The
    last of the forward chain goes to the next step and layer, and products of the backward pass the other way.
    """
    cell = 26 * np.arange(layers * steps).reshape(layers, steps)
    within = [(gate, 4) for gate in range(4)] + [(k, k + 1) for k in range(4, 17)] + [(17, k) for k in range(18, 26)]
    ends = [(cell + a, cell + b) for a, b in within]
    for gate in range(4):
        ends += [(cell[:, :-1] + 12, cell[:, 1:] + gate), (cell[:-1] + 12, cell[1:] + gate)]
    ends += [(cell[:, 1:] + 25, cell[:, :-1] + 13), (cell[1:] + 24, cell[:-1] + 13)]
    size = 26 * cell.size
    seconds = np.repeat([0.12e-3, 0.01e-3, 0.02e-3, 0.12e-3], [4, 9, 5, 8])
    return Operators(
        names=tuple(map(str, range(size))),
        seconds=np.tile(seconds, cell.size),
        memory_bytes=np.full(size, 4e6),
        sent_s=np.full(size, 0.03e-3),
        source=np.concatenate([a.ravel() for a, _ in ends]),
        target=np.concatenate([b.ravel() for _, b in ends]),
        backward=np.tile(np.arange(26) >= 13, cell.size),
    )


def colocate(operators: Operators, groups: int) -> Operators:
    """Return operators in groups of equal size that share a device: one in ten anywhere, the others of neighbours."""
    size, scattered = operators.size // groups, groups // 10
    mixed = np.random.default_rng(0).permutation(operators.size)[: scattered * size]
    colour = np.empty(operators.size, np.int64)
    rest = np.setdiff1d(np.arange(operators.size), mixed)
    colour[rest] = np.minimum(np.arange(len(rest)) // size, groups - scattered - 1)
    colour[mixed] = groups - 1 - np.arange(len(mixed)) // size
    return replace(operators, colour=colour)


def transformer_layer() -> Operators:
    """Return a layer of a transformer, forward and back; products and what comes before or after share a device.

    Forward: norm, three projections, scores, softmax, context, output, sum, norm, two wide products with an activation
    between, sum. Backward, each has its mirror image, and every product another one, for its weights.
    """
    names = ["norm", "q", "k", "v", "scores", "softmax", "context", "out", "sum", "norm2", "up", "gelu", "down", "sum2"]
    seconds = np.array([0.02, 0.2, 0.2, 0.2, 0.1, 0.05, 0.1, 0.2, 0.02, 0.02, 0.8, 0.05, 0.8, 0.02]) * 1e-3
    size, products = len(names), np.array([1, 2, 3, 7, 10, 12])
    edges = [(0, 1), (0, 2), (0, 3), (1, 4), (2, 4), (4, 5), (5, 6), (3, 6), (6, 7), (7, 8), (0, 8), (8, 9), (9, 10)]
    edges += [(10, 11), (11, 12), (12, 13), (8, 13)]
    back = [(b + size, a + size) for a, b in edges] + [(a, a + size) for a in range(size)]
    weights = [(int(u) + size, 2 * size + k) for k, u in enumerate(products)]
    ends = np.array(edges + back + weights)
    both = np.concatenate([seconds, seconds, seconds[products]])
    held = np.zeros(size)
    held[products] = 4e6 * seconds[products] / seconds[1]
    colour = np.concatenate([np.arange(size), np.arange(size), products])
    return Operators(
        names=(*names, *(f"{name}'" for name in names), *(f"{names[u]}.weight'" for u in products)),
        seconds=both,
        memory_bytes=np.concatenate([held + 1e6, np.zeros(size + len(products))]),
        sent_s=np.full(len(both), 0.05e-3),
        source=ends[:, 0],
        target=ends[:, 1],
        colour=colour,
        backward=np.arange(len(both)) >= size,
    )


def stack(layer: Operators, times: int) -> Operators:
    """Return copies of a graph in a row: the last forward operator of one feeds the first of the next, backward alike.

    First and last are those in topological order that take time.
    """
    jobs = make_jobs(Terms.from_operators(layer, cluster(layer), {}))
    busy = [u for u in jobs.order.tolist() if layer.seconds[u] > 0]
    ahead, back = ([u for u in busy if layer.backward[u] == passed] for passed in (False, True))
    copy = layer.size * np.arange(times)[:, None]
    source = [(layer.source + copy).ravel(), (ahead[-1] + copy[:-1]).ravel()]
    target = [(layer.target + copy).ravel(), (ahead[0] + copy[1:]).ravel()]
    if back:
        source.append((back[-1] + copy[1:]).ravel())
        target.append((back[0] + copy[:-1]).ravel())
    repeated = {
        name: np.tile(getattr(layer, name), times)
        for name in ("seconds", "cpu_s", "memory_bytes", "sent_s", "sent_bytes", "backward", "cpu_only")
    }
    return Operators(
        names=tuple(map(str, range(layer.size * times))),
        source=np.concatenate(source),
        target=np.concatenate(target),
        colour=(layer.colour + layer.groups * np.arange(times)[:, None]).ravel(),
        **repeated,
    )


def run_place(operators: Operators, objective: str) -> Answer:
    """Return the answer of the command."""
    with TemporaryDirectory() as folder:
        model, answer = Path(folder, "model.json"), Path(folder, "answer.json")
        model.write_text(json.dumps(document(operators)), encoding="utf-8")
        words = ["place", str(model), "--mode", "dag", "--objective", objective, "--json", str(answer)]
        begun = time.perf_counter()
        done = subprocess.run([sys.executable, "-c", COMMAND, *words], stdout=subprocess.PIPE, text=True, check=False)
        seconds = time.perf_counter() - begun
        if done.returncode:
            raise SystemExit(f"expected tiger {' '.join(words)} to end well, got status {done.returncode}")
        place = np.full(operators.groups, -1, np.int64)
        for stage in json.loads(answer.read_text(encoding="utf-8"))["stages"]:
            device = int(stage["device"].removeprefix("gpu"))
            classes = operators.colour[np.array(stage["ops"], np.int64)]
            if (place[classes] >= 0).any() and (place[classes] != device).any():
                raise SystemExit("expected the operators of a class on one device")
            place[classes] = device
    return Answer(place, seconds, float(done.stdout.split()[-1]))


def document(operators: Operators) -> dict[str, object]:
    """Return operators in the format of dnn-partitioning, for the devices of `cluster`."""
    columns = zip(
        operators.cpu_s.tolist(),
        operators.seconds.tolist(),
        operators.memory_bytes.tolist(),
        operators.colour.tolist(),
        operators.backward.tolist(),
        strict=True,
    )
    nodes = [
        {
            "id": number,
            "supportedOnFpga": 1,
            "cpuLatency": 1e3 * cpu_s,
            "fpgaLatency": 1e3 * seconds,
            "size": held,
            "colorClass": colour,
            "isBackwardNode": int(backward),
        }
        for number, (cpu_s, seconds, held, colour, backward) in enumerate(columns)
    ]
    ends = zip(operators.source.tolist(), operators.target.tolist(), strict=True)
    sent = (1e3 * operators.sent_s).tolist()
    edges = [{"sourceId": a, "destId": b, "cost": sent[a]} for a, b in ends]
    room = float(cluster(operators).memory_bytes[0])
    return {"maxFPGAs": DEVICES, "maxSizePerFPGA": room, "maxCPUs": 0, "nodes": nodes, "edges": edges}


def blocks(terms: Terms, jobs: JobList) -> IntArray:
    """Return blocks of equal work along the order in which the first operators of classes begin."""
    first = np.full(terms.groups, terms.operators)
    np.minimum.at(first, terms.group_of[jobs.order], np.arange(terms.operators))
    order = np.argsort(first)
    work = np.bincount(terms.group_of, terms.work[0], terms.groups)[order]
    place = np.empty(terms.groups, np.int64)
    place[order] = np.minimum((np.cumsum(work) - work / 2) * terms.devices / work.sum(), terms.devices - 1)
    return place


def schedule_list(terms: Terms, jobs: JobList) -> IntArray:
    """Return the device where the first operator of each class ends the earliest, whatever memory there is."""
    roomy = replace(terms, capacity=np.full(terms.devices, np.inf))
    return place_by_heft(roomy, jobs, np.zeros(terms.groups, np.int64), 0.0)


def metis(terms: Terms, _jobs: JobList) -> IntArray | None:
    """Return the parts of METIS, classes weighed by work and edges by messages, None where it is not installed."""
    if not is_installed("pymetis"):
        return None
    import pymetis
    import scipy.sparse as sp

    producer = np.repeat(np.arange(terms.operators), np.diff(terms.consumer_start))
    ends = terms.group_of[producer], terms.group_of[terms.consumer]
    one_way = sp.coo_array((terms.send[0][producer], ends), shape=(terms.groups, terms.groups)).tocsr()
    both = (one_way + one_way.T).tocsr()
    both.setdiag(0.0)
    both.eliminate_zeros()
    work = np.bincount(terms.group_of, terms.work[0], terms.groups)
    weights = [np.maximum(10 * values / values.mean(), 1).astype(int).tolist() for values in (work, both.data)]
    return np.array(
        pymetis.part_graph(
            terms.devices,
            xadj=both.indptr.tolist(),
            adjncy=both.indices.tolist(),
            vweights=weights[0],
            eweights=weights[1],
        )[1]
    )
