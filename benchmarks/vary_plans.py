"""Measure what a constant of placing chains and operators is worth: plans with several values of it, all else the same.

    python -m benchmarks.vary_plans MODULE:NAME VALUE .. [--only TEXT] [--data FOLDER]

NAME is a constant, or CLASS.FIELD for the parameters of a search, for example `python -m benchmarks.vary_plans
tiger.placement.search.refinement:PlanRefineParams.finalists 3 1 6`. For each value it prints by how many per cent the
seconds that are minimized lie above those of the first value, in the mean over all problems, the worst and the best
problem, and the processor seconds relative to the first. Efforts count iterations, so that the plans are the same on
every machine. `--data` adds PipeDream's profiles to the problems that are built here.
"""

import argparse
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

import tiger
from benchmarks import scale
from benchmarks.chains import cluster
from benchmarks.scale import colocate, lstm, stack, transformer_layer
from benchmarks.vary import change, check_values, constant, number
from tiger.training.hardware.cluster import Cluster, Curve
from tiger.training.hardware.reading import read_cluster
from tiger.training.models.layers import Layers
from tiger.training.models.operators import Operators
from tiger.training.models.reading import read_model

SMALL = "transformer:layers=24,hidden=1024,heads=16,vocabulary=50257,sequence=2048"
CLUSTERS = Path("examples/clusters")
RANDOM = 16  # chains drawn at random
EVERY = ("gpipe", "1f1b", "interleaved", "zero-bubble")
CHAINS = {"uneven4": EVERY, "slow_network2": EVERY, "two_networks": ("1f1b",)}
PROFILES = ("alexnet", "vgg16", "resnet50", "squeezenet1_0", "gnmt", "inception_v3")
Problem = tuple[str, Callable[[], tiger.PlacementReport]]


def main() -> None:
    """Print a line for each value."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.vary_plans", description=__doc__.split("\n")[0])
    parser.add_argument("constant", metavar="MODULE:NAME", type=constant)
    parser.add_argument("values", metavar="VALUE", nargs="+", type=number)
    parser.add_argument("--only", default="")
    parser.add_argument("--data", type=Path)
    given = parser.parse_args()
    try:
        check_values(*given.constant, given.values)
    except ValueError as error:
        parser.error(str(error))
    problems = [problem for problem in instances(given.data) if given.only in problem[0]]
    if not problems:
        parser.error(f"argument --only: expected a part of the name of a problem, got {given.only}")
    first = None
    for value in given.values:
        change(*given.constant, value)
        begun = time.process_time()
        reports = [place() for _, place in problems]
        spent = time.process_time() - begun
        seconds = np.array([report.iteration_s or report.latency_s or report.bottleneck_s for report in reports], float)
        first = (seconds, spent) if first is None else first
        above = 100 * (seconds / first[0] - 1)
        low, high = int(above.argmin()), int(above.argmax())
        print(
            f"{given.constant[1]} = {value}: {above.mean():+.3f} % of {len(problems)} plans "
            f"({above[low]:+.2f} % {problems[low][0]}, {above[high]:+.2f} % {problems[high][0]}), "
            f"{spent / first[1]:.2f} x {first[1]:.1f} s",
            flush=True,
        )


def instances(data: Path | None) -> Iterator[Problem]:
    """Yield chains under each schedule, groups of ranks, and profiles of networks on equal devices.

    Last are graphs of operators, whose makespans have few moves a group.
    """
    gpt = read_model(SMALL)
    for name, schedules in CHAINS.items():
        devices = read_cluster(CLUSTERS / f"{name}.json")
        for schedule in schedules:
            yield f"{schedule} on {name}", partial(tiger.place, gpt, devices, schedule=schedule, microbatches=8)
    for spec, tensor, replicas in (("dgx:2", 2, 2), ("dgx-1v:2", 2, 2), ("dgx-1v:2", 4, 1)):
        groups = partial(tiger.place, gpt, spec, pipeline=4, tensor=tensor, data=replicas)
        yield f"groups {tensor} x {replicas} on {spec}", partial(groups, schedule="1f1b", microbatches=16)
    for seed in range(RANDOM):
        chain = partial(tiger.place, layers_of(seed), devices_of(seed), microbatches=6)
        yield from ((f"{schedule} on random {seed}", partial(chain, schedule=schedule)) for schedule in EVERY[:2])
    for name in PROFILES if data is not None else ():
        layers = read_model(Path(data or "") / f"{name}.txt")
        for schedule in ("gpipe", "1f1b", "zero-bubble"):
            chain = partial(tiger.place, layers, cluster(4, 12e9))
            yield f"{schedule} {name}", partial(chain, schedule=schedule, microbatches=16)
    for name, operators in build_many_operators().items():
        yield name, partial(tiger.place, operators, scale.cluster(operators), mode="dag", objective="latency")


def build_many_operators() -> dict[str, Operators]:
    """Return graphs of ten thousand operators and more, by their titles."""
    grouped = {f"operators of an LSTM in {count} groups": colocate(lstm(4, 400), count) for count in (250, 500, 1000)}
    return grouped | {f"operators of {count} layers": stack(transformer_layer(), count) for count in (100, 300)}


def layers_of(seed: int) -> Layers:
    """Return ten random layers, whose messages take about as long as their passes on a link of bandwidth 1."""
    rng, size = np.random.default_rng(seed), 10
    return Layers(
        names=tuple(f"l{k}" for k in range(size)),
        forward_s=rng.uniform(0.5, 2, size),
        backward_s=rng.uniform(0.5, 4, size),
        parameter_bytes=np.ones(size),
        crossing_bytes=np.pad(rng.uniform(0, 2, size - 1), 1),
    )


def devices_of(seed: int) -> Cluster:
    """Return four or five devices of two speeds, every link of one of three bandwidths."""
    rng, size = np.random.default_rng(seed), 4 + seed % 2
    link = np.triu(rng.integers(0, 3, (size, size)), 1)
    return Cluster(
        names=tuple(f"d{k}" for k in range(size)),
        speed=rng.choice([0.5, 1.0], size),
        memory_bytes=np.full(size, np.inf),
        curves=tuple(Curve.affine(bandwidth, 0.0) for bandwidth in (0.5, 1.0, 4.0)),
        link=link + link.T - np.eye(size, dtype=np.int64),
    )


if __name__ == "__main__":
    main()
