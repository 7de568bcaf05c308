"""Schedules of pipelines on equal devices: how long they wait and what they hold, beside closed forms."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import tiger
from benchmarks.dynamic import without_ends
from tiger.training.costs.stages import workloads
from tiger.training.models.layers import Layers
from tiger.training.models.reading import read_model
from tiger.training.schedules.memory import peak_bytes
from tiger.training.schedules.pass_orders import Schedule, wanted_microbatches

CLUSTER, PIPELINE = "dgx:1", 8
EQUAL = "transformer:layers=64,hidden=4096,heads=32,vocabulary=100,sequence=2048"
HEADED = "transformer:layers=62,hidden=1024,heads=16,vocabulary=50257,sequence=2048"
SCHEDULES: tuple[Schedule, ...] = ("1f1b", "interleaved", "zero-bubble", "zb-v", "dualpipe-v", "chimera")
# What a device holds at most of microbatches, in p-th parts of the model: twice that in stages of a V, and interleaved.
HELD = {"1f1b": 8.0, "interleaved": 11.5, "zero-bubble": 8.0, "zb-v": 8.0, "dualpipe-v": 8.5, "chimera": 9.0}


def table(say: Callable[[str], None], _: None) -> Iterator[tuple[str, ...]]:
    """Yield the bubble and the peaks of every schedule with p, 2 p and 8 p microbatches on p = 8 devices.

    64 equal layers with F = B = W are those of the closed forms but for messages; 62 smaller ones have an embedding and
    a head that costs as much as three of them. What is held for microbatches counts in what a p-th of the model holds
    for one of them, at the device that holds most.
    """
    head = ("layers", "schedule", "microbatches", "iteration, ms", "bubble", "closed form", "held", "closed form")
    yield (*head, "memory, GB")
    equal = without_ends(read_model(EQUAL))
    models = {
        "64 equal ones": replace(equal, backward_s=2 * equal.forward_s, weight_s=equal.forward_s),
        "62 and a head": read_model(HEADED),
    }
    for title, layers in models.items():
        for count in (PIPELINE, 2 * PIPELINE, 8 * PIPELINE):
            for schedule in SCHEDULES:
                if wanted_microbatches(schedule, PIPELINE, count) is None:
                    say(f"{title}, {schedule}, {count} microbatches")
                    yield title, schedule, str(count), *measure(layers, schedule, count)


def measure(layers: Layers, schedule: Schedule, count: int) -> tuple[str, ...]:
    """Return the cells of one placement."""
    report = tiger.place(layers, CLUSTER, schedule=schedule, microbatches=count, pipeline=PIPELINE)
    deployment = report.deployment
    load = workloads(deployment.layers, deployment.cluster, deployment.plan)[0]
    peaks = peak_bytes(load, schedule, count)
    still = load.by_position(load.state_bytes).sum(axis=0) + load.working_bytes
    held = (peaks - still).max() / (load.held_bytes.sum() / load.pipelines / PIPELINE)
    waits = bubble_of(schedule, count)
    return (
        f"{1e3 * report.iteration_s:.1f}",
        f"{100 * report.bubble:.1f} %",
        f"{100 * waits / (3 * count + waits):.1f} %",
        f"{held:.1f}",
        f"{min(HELD[schedule], count):.1f}",
        f"{peaks.max() / 1e9:.1f}",
    )


def bubble_of(schedule: Schedule, count: int) -> float:
    """Return for how many forward passes a device waits, with equal stages, F = B = W and free messages."""
    p = PIPELINE
    if schedule == "chimera":
        return (p - 2) * (count / p + 1)
    waits = {"1f1b": 3.0, "interleaved": 1.5, "zero-bubble": 1.0, "zb-v": 0.5, "dualpipe-v": 0.5}
    bubble = (p - 1) * waits[schedule]
    # Few microbatches do not fill a V: their passes come back to a device that has nothing left to do.
    return max(bubble, 2 * p - 1 - count) if schedule == "zb-v" else bubble
