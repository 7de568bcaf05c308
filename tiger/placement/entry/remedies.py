"""What would make a model fit: each option alone that holds less on the devices of a placement, and what it saves."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from tiger.model.document import Document
from tiger.model.options import narrow
from tiger.model.units import bytes_text
from tiger.placement.params import PlaceParams
from tiger.placement.search.problem import ChainProblem, most_positions
from tiger.training.hardware.cluster import Cluster
from tiger.training.models.layers import Layers
from tiger.training.models.setup import RECOMPUTES, SHARDINGS, TrainingSetup
from tiger.training.models.sizes import Model

# A rate for offloading, which what devices hold does not depend on.
ANY_RATE = 1e9


@dataclass(frozen=True, slots=True, kw_only=True)
class Remedy(Document):
    """Hold an option and its value, what it saves on the fullest device in bytes, and whether all devices then `fit`.

    That is for as many layers in every stage, with devices in order.
    """

    option: str
    value: str
    saved_bytes: float
    fits: bool

    def __str__(self) -> str:
        """Return the option, its value, and what comes of it."""
        return f"{self.option} {self.value} saves {bytes_text(self.saved_bytes)} a device" + (
            " and fits" if self.fits else ""
        )


def find_remedies(
    model: Model, cluster: Cluster, params: PlaceParams, size: int, smaller: str = "batch"
) -> tuple[Remedy, ...]:
    """Return the options that save memory with microbatches of so many sequences, those that fit first.

    What makes microbatches `smaller` is the `batch` of a shape, or the `microbatch` of a plan, which then has more.

    None for a model that is not stated by its shape, and without a schedule, as memory is parameters alone then.
    """
    if model.shape is None or not model.resizable or params.schedule is None:
        return ()
    setup = narrow(TrainingSetup, params)
    before, _ = _measure_need(model.layers(size, setup), cluster, params)
    found = []
    options = _list_options(setup, setup.adapt(model.shape).dtype)
    listed = [(option, value, model.layers(size, other), params) for option, value, other in options]
    if size > 1:
        count = params.microbatches if smaller == "batch" or params.microbatches is None else 2 * params.microbatches
        listed.append((smaller, str(size // 2), model.layers(size // 2, setup), replace(params, microbatches=count)))
    for option, value, layers, changed in listed:
        need, fits = _measure_need(layers, cluster, changed)
        if need < before:
            found.append(Remedy(option=option, value=value, saved_bytes=before - need, fits=fits))
    return tuple(sorted(found, key=lambda each: (not each.fits, -each.saved_bytes)))


def _list_options(setup: TrainingSetup, dtype: str) -> Iterator[tuple[str, str, TrainingSetup]]:
    """Yield options with their values and the setup that each alone comes to."""
    for sharding in SHARDINGS[SHARDINGS.index(setup.sharding) + 1 :]:
        yield "sharding", sharding, replace(setup, sharding=sharding)
    for recompute in RECOMPUTES[RECOMPUTES.index(setup.recompute) + 1 :]:
        yield "recompute", recompute, replace(setup, recompute=recompute)
    if setup.recompute_layers is not None:
        more = 2 * setup.recompute_layers
        yield "recompute_layers", str(more), replace(setup, recompute_layers=more)
    if not setup.sequence_parallel:
        yield "sequence_parallel", "true", replace(setup, sequence_parallel=True)
    if setup.gradients is None and dtype in ("fp8", "bf16"):
        yield "gradients", "bf16", replace(setup, gradients="bf16")
    if setup.optimizer == "adam":
        yield "optimizer", "adam-8bit", replace(setup, optimizer="adam-8bit")
    if setup.offload is None:
        yield "offload", "RATE", replace(setup, offload=ANY_RATE)


def _measure_need(layers: Layers, cluster: Cluster, params: PlaceParams) -> tuple[float, bool]:
    """Return the bytes of the fullest device, and whether all fit; those of the deepest pipeline that there may be."""
    if not most_positions(layers, cluster, params):
        return np.inf, False
    problem = ChainProblem.of(layers, cluster, replace(params, pinned={}, start=None, layout=None))
    plan, evaluator = problem.uniform_plan, problem.evaluator
    return float(evaluator.memory_bytes(plan).max()), evaluator.excess_bytes(plan) == 0
