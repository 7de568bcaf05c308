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


def find_remedies(model: Model, cluster: Cluster, params: PlaceParams, size: int) -> tuple[Remedy, ...]:
    """Return the options that save memory with microbatches of so many sequences, those that fit first.

    None for a model that is not stated by its shape, and without a schedule, as memory is parameters alone then.
    """
    if not model.resizable or params.schedule is None:
        return ()
    setup = narrow(TrainingSetup, params)
    before, _ = _need(model.layers(size, setup), cluster, params)
    found = []
    for option, value, other, sequences in _list_options(setup, size):
        need, fits = _need(model.layers(sequences, other), cluster, params)
        if need < before:
            found.append(Remedy(option=option, value=value, saved_bytes=before - need, fits=fits))
    return tuple(sorted(found, key=lambda each: (not each.fits, -each.saved_bytes)))


def _list_options(setup: TrainingSetup, size: int) -> Iterator[tuple[str, str, TrainingSetup, int]]:
    """Yield options with their values, the setup, and the size of microbatches that each alone comes to."""
    for sharding in SHARDINGS[SHARDINGS.index(setup.sharding) + 1 :]:
        yield "sharding", sharding, replace(setup, sharding=sharding), size
    for recompute in RECOMPUTES[RECOMPUTES.index(setup.recompute) + 1 :]:
        yield "recompute", recompute, replace(setup, recompute=recompute), size
    if not setup.sequence_parallel:
        yield "sequence_parallel", "true", replace(setup, sequence_parallel=True), size
    if setup.gradients is None:
        yield "gradients", "bf16", replace(setup, gradients="bf16"), size
    if setup.optimizer == "adam":
        yield "optimizer", "adam-8bit", replace(setup, optimizer="adam-8bit"), size
    if setup.offload is None:
        yield "offload", "RATE", replace(setup, offload=ANY_RATE), size
    if size > 1:
        yield "microbatch", str(size // 2), setup, size // 2


def _need(layers: Layers, cluster: Cluster, params: PlaceParams) -> tuple[float, bool]:
    """Return the bytes of the fullest device, and whether all fit; those of the deepest pipeline that there may be."""
    if not most_positions(layers, cluster, params):
        return np.inf, False
    problem = ChainProblem.of(layers, cluster, replace(params, pinned={}, start=None))
    plan, evaluator = problem.uniform_plan, problem.evaluator
    return float(evaluator.memory_bytes(plan).max()), evaluator.excess_bytes(plan) == 0
