"""Training runs that were published: the times that we predict over those that were measured."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.stats import kendalltau

from benchmarks.published import LLAMA_3_8, LLAMA_3_405, NEMO, PTD_P, Run, find_way, gpt, list_runs, state_plan
from tiger.errors import InputError
from tiger.training.hardware.accelerators import ACCELERATORS, TERA
from tiger.training.models.setup import TrainingSetup
from tiger.training.models.transformer import layers_of_shape
from tiger.training.pairing import NO_TABLES
from tiger.training.timings.aiconfigurator import PACKAGE
from tiger.training.timings.sources import read_tables
from tiger.training.timings.tables import TimeTable

# NeMo's configurations compute nothing again and share out the optimizer (launcher_scripts/conf/training of
# NeMo-Framework-Launcher); like Megatron-Bridge it has Transformer Engine send behind products, for which that takes 16
# of 132 multiprocessors.
NEMO_SHARE = 16 / 132


# Korthikanti et al., MLSys 2023, arXiv:2205.05198, table 5: layers, hidden width and heads, positions, stages of each,
# sequences, and seconds of an iteration with all layers computed again, then by sequence parallelism with attention
# alone computed again.
_TABLE_5 = (
    ("22B", (48, 6144, 64), 1, 1, 4, 4, (1.42, 1.10)),
    ("175B", (96, 12288, 96), 8, 3, 64, 1, (18.13, 13.75)),
    ("530B", (105, 20480, 128), 35, 3, 280, 1, (49.05, 37.83)),
    ("1T", (128, 25600, 160), 64, 1, 512, 1, (94.42, 71.49)),
)
SELECTIVE = TrainingSetup(recompute="selective")
# Two more rows of NeMo's page, of shapes in launcher_scripts/conf/training/gpt3.
_GPT = (
    ("NeMo GPT-3 5B", (24, 4096, 32), 1, 2048, 4, 22521),
    ("NeMo GPT-3 20B", (44, 6144, 48), 2, 256, 2, 5851),
)
# Four more of Megatron-Bridge's.
_BLACKWELL = (
    ("Megatron-Bridge Llama 3 8B, B200", LLAMA_3_8, "dgx-b200:1", (1, 1, 8, 1, 1), 1, 128, 2, 30624),
    ("Megatron-Bridge Llama 3.1 405B, B200", LLAMA_3_405, "dgx-b200:16", (8, 4, 2, 2, 1), 8, 64, 1, 661),
    ("Megatron-Bridge Llama 3 8B, GB200", LLAMA_3_8, "gb200-nvl72:1x8", (1, 1, 8, 1, 1), 1, 128, 2, 31508),
    ("Megatron-Bridge Llama 3.1 405B, GB200", LLAMA_3_405, "gb200-nvl72:4x64", (16, 4, 4, 1, 1), 4, 1536, 1, 813),
)
# Types of devices by what SPECs of their machines begin with.
DEVICES = {"dgx-a100": "A100", "dgx:": "H100", "dgx-b200": "B200", "gb200": "GB200"}


class Prediction(NamedTuple):
    """Hold a run with its predicted and its measured seconds, and the FLOP of its model in both, a device."""

    run: Run
    predicted_s: float
    measured_s: float
    flops: float

    @property
    def ratio(self) -> float:
        """Return the predicted time over the measured one."""
        return self.predicted_s / self.measured_s


def table(say: Callable[[str], None], _: None) -> Iterator[tuple[str, ...]]:
    """Yield predicted and measured seconds of an iteration of every run, counted and by measured tables."""
    yield "run", "GPUs", "measured, s", "TFLOP/s", "counted, s", "over measured", "by tables, s", "over measured"
    tables = _read_tables()
    counted, looked_up = [], []
    for run in (*list_runs(), *list_further()):
        say(run.name)
        plain = predict(run)
        row = [
            run.name,
            f"{np.prod(run.degrees[:4]):,}",
            f"{plain.measured_s:.3f}",
            f"{plain.flops / plain.measured_s / TERA:.0f}",
            f"{plain.predicted_s:.3f}",
            f"{plain.ratio:.3f}",
        ]
        counted.append(plain)
        if tables:
            by_tables = predict(run, tables)
            looked_up.append(by_tables)
            row += [f"{by_tables.predicted_s:.3f}", f"{by_tables.ratio:.3f}"]
        yield (*row, *["-"] * (8 - len(row)))
    for begin, device in {"": "all", **DEVICES}.items():
        own, by_tables = (
            [each for each in some if each.run.cluster.startswith(begin)] for some in (counted, looked_up)
        )
        yield (
            device if device == "all" else f"all on {device}",
            "",
            "",
            "",
            "",
            summarize(own),
            "",
            summarize(by_tables) if by_tables else "-",
        )


def list_further() -> Iterator[Run]:
    """Yield the runs that are not in the table of memory: more of the same sources, and of another."""
    for name, dims, positions, virtual, batch, size, seconds in _TABLE_5:
        shape = gpt(*dims, dtype="fp16", attention="full")
        for how, setup, spent in zip(("full", "selective"), (PTD_P, SELECTIVE), seconds, strict=True):
            rate = batch * shape.sequence / (spent * 8 * positions)
            degrees = (positions, 8, 1, 1, 1)
            cluster = f"dgx-a100:{positions}"
            yield Run(f"Korthikanti {name}, {how}", shape, cluster, degrees, virtual, batch, size, setup, True, rate)
    for name, dims, tensor, batch, size, rate in _GPT:
        degrees = (1, tensor, 64 // tensor, 1, 1)
        yield Run(name, gpt(*dims, dtype="fp8"), "dgx:8", degrees, 1, batch, size, NEMO, False, rate)
    for name, shape, cluster, degrees, virtual, batch, size, rate in _BLACKWELL:
        setup = replace(NEMO, sharding="zero-1")
        yield Run(name, shape, cluster, degrees, virtual, batch, size, setup, True, rate)


def predict(run: Run, tables: Mapping[str, TimeTable] = NO_TABLES) -> Prediction:
    """Return the seconds of an iteration of a run, and those that were measured."""
    evaluator, plan = state_plan(run, _state_setup(run), tables)
    devices = int(np.prod(run.degrees[:4]))
    tokens = run.batch * run.shape.sequence
    layers = layers_of_shape(replace(run.shape, flops=1.0, batch=1))
    # Of layers that do one FLOP a second, the seconds of both passes are FLOP.
    flops = run.batch * float(layers.forward_s.sum() + layers.backward_s.sum()) / devices
    return Prediction(run, evaluator.seconds(plan), tokens / (run.token_rate * devices), flops)


def summarize(predictions: list[Prediction]) -> str:
    """Return the geometric mean of ratios, how many are within 15 and 30 %, and Kendall's tau of FLOP a second."""
    ratios = np.array([each.ratio for each in predictions])
    order = kendalltau(
        [each.flops / each.predicted_s for each in predictions], [each.flops / each.measured_s for each in predictions]
    )
    near = [
        f"{(np.abs(ratios - 1) <= limit).sum()} of {len(ratios)} within {100 * limit:.0f} %" for limit in (0.15, 0.3)
    ]
    mean = np.exp(np.log(ratios).mean())
    return f"{mean:.3f} ({ratios.min():.3f} to {ratios.max():.3f}), {', '.join(near)}, tau {order.statistic:.2f}"


def _state_setup(run: Run) -> TrainingSetup:
    """Return how the layers of a run were held and what its messages went behind, as its source has it."""
    if run.name.startswith(("PTD-P", "Korthikanti")):
        return run.setup
    share = NEMO_SHARE if run.degrees[1] > 1 else None
    # Messages between stages of interleaved schedules take the same multiprocessors.
    hidden = NEMO_SHARE if run.virtual > 1 else None
    setup = replace(run.setup, overlap_tensor=share, overlap_pipeline=hidden)
    if not run.name.startswith("NeMo"):
        return find_way(run._replace(setup=setup))
    return replace(setup, sharding="zero-1", recompute="none")


def _read_tables() -> Mapping[str, TimeTable]:
    """Return the measured tables of aiconfigurator-core, none where it is not installed."""
    try:
        return read_tables(PACKAGE, ACCELERATORS)
    except InputError:
        return NO_TABLES
