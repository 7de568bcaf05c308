"""Training runs that were published, and what our memory model says that their devices held."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tiger.model.units import GIGABYTE
from tiger.placement.search.evaluator import Evaluator
from tiger.training.costs.plan import Plan, rank_order
from tiger.training.hardware.accelerators import TERA
from tiger.training.hardware.reading import read_cluster
from tiger.training.models.description import Description
from tiger.training.models.setup import Recompute, Sharding, TrainingSetup
from tiger.training.models.shape import Shape
from tiger.training.models.sizes import Model
from tiger.training.models.transformer import layers_of_shape
from tiger.training.pairing import NO_TABLES, pair_by_tables
from tiger.training.timings.tables import TimeTable

# What is tried where a source does not say how layers were held, what takes least time first.
WAYS: tuple[tuple[Sharding, Recompute], ...] = (
    ("none", "none"),
    ("zero-1", "none"),
    ("none", "full"),
    ("zero-1", "full"),
    ("zero-3", "full"),
)
MEMORY_BYTES = 80 * GIGABYTE


class Run(NamedTuple):
    """State a run: its model, devices, degrees (p, t, d, c, e), stages a position, and sequences in all and at once.

    `setup` is what the source says of how layers were held, all of it where `is_whole`. `token_rate` is what was
    measured, in tokens a second and device.
    """

    name: str
    shape: Shape
    cluster: str
    degrees: tuple[int, int, int, int, int]
    virtual: int
    batch: int
    microbatch: int
    setup: TrainingSetup
    is_whole: bool
    token_rate: float

    @property
    def microbatches(self) -> int:
        """Return how many microbatches a replica ran."""
        return self.batch // (self.degrees[2] * self.microbatch)


def gpt(layers: int, hidden: int, heads: int, **others: object) -> Shape:
    """Return a GPT as PTD-P trained them."""
    return Shape(layers=layers, hidden=hidden, heads=heads, vocabulary=51200, sequence=2048, **others)  # type: ignore[arg-type]  # names of its fields, which it checks


def _llama(
    layers: int, hidden: int, heads: int, kv_heads: int, ffn: int, vocabulary: int, sequence: int, **others: object
) -> Shape:
    """Return a Llama."""
    return Shape(
        layers=layers,
        hidden=hidden,
        heads=heads,
        kv_heads=kv_heads,
        ffn=ffn,
        vocabulary=vocabulary,
        sequence=sequence,
        gated=True,
        **others,  # type: ignore[arg-type]  # names of its fields, which it checks
    )


# Narayanan et al., SC 2021, arXiv:2104.04473, table 1, with the microbatches of Megatron-LM's
# examples/academic_paper_scripts/sc21/run_table_1.sh: layers are computed again, scores are held while they are, and
# neither sequences nor optimizer states are shared out. Last is what was measured, in TFLOP/s a device.
PTD_P = TrainingSetup(recompute="full", sequence_parallel=False)
_TABLE_1 = (
    ("1.7B", (24, 2304, 24), (1, 1, 32), 1, 512, 16, 137),
    ("3.6B", (30, 3072, 32), (1, 2, 32), 1, 512, 16, 138),
    ("7.5B", (36, 4096, 32), (1, 4, 32), 1, 512, 16, 142),
    ("18.4B", (40, 6144, 48), (1, 8, 32), 1, 1024, 8, 135),
    ("39.1B", (48, 8192, 64), (2, 8, 32), 1, 1536, 4, 138),
    ("76.1B", (60, 10240, 80), (4, 8, 32), 3, 1792, 2, 140),
    ("145.6B", (80, 12288, 96), (8, 8, 24), 2, 2304, 2, 148),
    ("310.1B", (96, 16384, 128), (16, 8, 15), 2, 2160, 1, 155),
    ("529.6B", (105, 20480, 128), (35, 8, 9), 3, 2520, 1, 163),
    ("1008B", (128, 25600, 160), (64, 8, 6), 1, 3072, 1, 163),
)
# NVIDIA/NeMo, docs/source/performance/performance_summary.md at 070a0bb1, fp8 on DGX H100; gradients go in bf16 in the
# scripts of NVIDIA/NeMo-Framework-Launcher, examples/training/llama/h100. Last is what was measured, in tokens a
# second and device.
NEMO = TrainingSetup(gradients="bf16")
_SEVEN = _llama(32, 4096, 32, 32, 11008, 32000, 4096, dtype="fp8")
_THIRTEEN = _llama(40, 5120, 40, 40, 13824, 32000, 4096, dtype="fp8")
_SEVENTY = _llama(80, 8192, 64, 8, 28672, 32000, 4096, dtype="fp8")
LLAMA_3_8 = _llama(32, 4096, 32, 8, 14336, 128256, 8192, dtype="fp8")
_LLAMA_3_70 = _llama(80, 8192, 64, 8, 28672, 128256, 8192, dtype="fp8")
LLAMA_3_405 = _llama(126, 16384, 128, 8, 53248, 128256, 8192, dtype="fp8")
_NEMOTRON_340 = Shape(
    layers=96,
    hidden=18432,
    heads=96,
    kv_heads=8,
    ffn=73728,
    vocabulary=256000,
    sequence=4096,
    tied=False,
    dtype="fp8",
)
_NEMO = (
    ("GPT-3 175B, 128", gpt(96, 12288, 96, dtype="fp8"), (8, 4, 4, 1), 6, 256, 1, 726),
    ("GPT-3 175B, 512", gpt(96, 12288, 96, dtype="fp8"), (8, 4, 16, 1), 6, 2048, 2, 782),
    ("Llama 2 7B", _SEVEN, (1, 1, 8, 1), 1, 128, 1, 16847),
    ("Llama 2 13B", _THIRTEEN, (4, 1, 4, 1), 10, 128, 1, 8646),
    ("Llama 2 70B", _SEVENTY, (4, 4, 4, 1), 20, 128, 1, 1707),
    ("Nemotron 340B", _NEMOTRON_340, (8, 8, 2, 1), 12, 32, 1, 322),
    ("Llama 3 8B", LLAMA_3_8, (1, 1, 4, 2), 1, 128, 1, 12036),
    ("Llama 3 70B", _LLAMA_3_70, (4, 4, 2, 2), 5, 128, 1, 1533),
    ("Llama 2 7B SFT", _SEVEN, (1, 1, 8, 1), 1, 32, 1, 17120),
    ("Llama 2 13B SFT", _THIRTEEN, (4, 1, 2, 1), 10, 32, 1, 9741),
    ("Llama 2 70B SFT", _SEVENTY, (4, 4, 1, 1), 20, 32, 1, 1833),
)
# NVIDIA-NeMo/Megatron-Bridge, docs/performance-summary.md at 00b7660b, 25.11 on DGX H100, fp8; the first by FSDP.
_BRIDGE = (
    ("Llama 3 8B by FSDP", LLAMA_3_8, (1, 1, 8, 1), 1, 128, 1, 14451, replace(NEMO, sharding="zero-3")),
    ("Llama 3 70B", _LLAMA_3_70, (8, 4, 2, 1), 5, 128, 1, 1602, None),
    ("Llama 3.1 405B", LLAMA_3_405, (8, 8, 8, 2), 8, 512, 1, 292, None),
)


def list_runs() -> Iterator[Run]:
    """Yield the runs of all sources."""
    for name, dims, degrees, virtual, batch, size, teraflops in _TABLE_1:
        cluster = f"dgx-a100:{np.prod(degrees) // 8}"
        shape = gpt(*dims, dtype="fp16", attention="full")
        rate = teraflops * TERA / _count_flops(shape)
        yield Run(f"PTD-P {name}", shape, cluster, (*degrees, 1, 1), virtual, batch, size, PTD_P, True, rate)
    rows = [*((*row, None) for row in _NEMO), *_BRIDGE]
    for number, (name, shape, degrees, virtual, batch, size, rate, setup) in enumerate(rows):
        source = "NeMo" if number < len(_NEMO) else "Megatron-Bridge"
        cluster = f"dgx:{np.prod(degrees) // 8}"
        whole = setup is not None
        yield Run(f"{source} {name}", shape, cluster, (*degrees, 1), virtual, batch, size, setup or NEMO, whole, rate)


def _count_flops(shape: Shape) -> float:
    """Return the FLOP of a token as PTD-P counts them, equation 3: with layers computed again and all of attention."""
    inner = shape.sequence / (6 * shape.hidden) + shape.vocabulary / (16 * shape.layers * shape.hidden)
    return 96.0 * shape.layers * shape.hidden**2 * (1 + inner)


def list_memory_bytes(run: Run, setup: TrainingSetup) -> list[float]:
    """Return the most that a device of each position holds of a run with as many decoder layers in every stage."""
    evaluator, plan = state_plan(run, setup)
    return [float(held) for held in evaluator.memory_bytes(plan)]


def state_plan(run: Run, setup: TrainingSetup, tables: Mapping[str, TimeTable] = NO_TABLES) -> tuple[Evaluator, Plan]:
    """Return a run with as many decoder layers in every stage, ranks in order, and what evaluates it."""
    positions, tensor, data, context, expert = run.degrees
    setup = replace(setup, tensor=tensor, data=data, context=context, expert=expert)
    model = Model(layers_of_shape(run.shape), Description(run.shape))
    model, cluster = pair_by_tables(model, read_cluster(run.cluster), tables)
    layers = model.layers(run.microbatch, setup)
    stages = positions * run.virtual
    # Where decoder layers do not divide, the ends are counted as one each, as in Megatron-Bridge's layout of 405B.
    even = run.shape.layers % stages == 0
    inner = np.arange(1, stages) * (run.shape.layers if even else layers.size) // stages + even
    plan = Plan(cuts=(0, *inner.tolist(), layers.size), grid=rank_order((positions, setup.copies, tensor)))
    schedule = "interleaved" if run.virtual > 1 else "1f1b"
    return Evaluator(layers=layers, cluster=cluster, schedule=schedule, microbatches=run.microbatches), plan


def find_way(run: Run) -> TrainingSetup:
    """Return how layers were held as the source says it, or by the quickest way that fits."""
    if run.is_whole:
        return run.setup
    ways = (replace(run.setup, sharding=sharding, recompute=recompute) for sharding, recompute in WAYS)
    last = run.setup
    for last in ways:
        if max(list_memory_bytes(run, last)) <= MEMORY_BYTES:
            break
    return last


def table(say: Callable[[str], None], _: None) -> Iterator[tuple[str, ...]]:
    """Yield what the fullest device of every run holds as its source has it, or by the quickest way that fits."""
    yield "run", "GPUs", "PP x TP x DP", "CP", "VP", "precision", "sharding", "recomputation", "GB of 80"
    for run in list_runs():
        say(run.name)
        setup = find_way(run)
        held = max(list_memory_bytes(run, setup))
        stated = "" if run.is_whole else " (ours)"
        positions, tensor, data, context, _ = run.degrees
        yield (
            run.name,
            f"{positions * tensor * data * context:,}",
            f"{positions} x {tensor} x {data}",
            str(context),
            str(run.virtual),
            run.shape.dtype,
            f"{setup.sharding}{stated}",
            f"{setup.recompute}{stated}",
            f"{held / GIGABYTE:.1f}",
        )
