"""Workloads by a short text such as `pruning:sparsity=0.9,ramp=0.5`."""

from dataclasses import fields
from typing import cast

from tiger.errors import InputError
from tiger.model.arrays import FloatArray
from tiger.model.text import is_number
from tiger.model.values import suggest_name
from tiger.model.wording import describe
from tiger.rebalancing.workloads.depths import MixtureOfDepths
from tiger.rebalancing.workloads.early_exit import EarlyExit
from tiger.rebalancing.workloads.experts import ExpertSkew
from tiger.rebalancing.workloads.freezing import Freezing
from tiger.rebalancing.workloads.pruning import Pruning
from tiger.rebalancing.workloads.sparse_attention import SparseAttention
from tiger.rebalancing.workloads.trajectory import ChangingModel, WorkloadCourse, decoder_layers
from tiger.training.models.layers import Layers

WORKLOADS: dict[str, type[WorkloadCourse]] = {
    "pruning": Pruning,
    "freezing": Freezing,
    "early-exit": EarlyExit,
    "sparse-attention": SparseAttention,
    "moe": ExpertSkew,
    "mod": MixtureOfDepths,
}
# Longer words are no numbers that anyone means, and could take long to convert.
DIGITS = 32
# Intervals times layers: a few hundred megabytes as arrays.
MOST_NUMBERS = 2**23


def trajectory_of(spec: str, layers: Layers) -> FloatArray:
    """Return the seconds [t, 2, L] of a model's layers, forward and backward, under a workload by its SPEC."""
    workload = workload_of(spec)
    if workload.intervals * layers.size > MOST_NUMBERS:
        raise InputError(
            "workload/intervals", f"expected at most {MOST_NUMBERS // layers.size}, got {workload.intervals}"
        )
    body = decoder_layers(layers)
    if not body:
        raise InputError("workload", "expected a model with decoder layers, which change, got one without any")
    return workload.trajectory(len(body)).times_of(layers)


def workload_of(spec: str) -> ChangingModel:
    """Return the workload that a SPEC states as NAME or NAME:key=value,..; raise InputError of `workload` or below."""
    name, _, rest = spec.partition(":")
    if name not in WORKLOADS:
        known = ", ".join(WORKLOADS)
        raise InputError("workload", f"expected one of {known}, got {describe(name)}")
    kind = WORKLOADS[name]
    keys = {each.name: each.default for each in fields(kind)}
    stated: dict[str, float] = {}
    for part in rest.split(",") if rest else ():
        key, equals, word = (piece.strip() for piece in part.partition("="))
        if not equals or key in stated or key not in keys:
            hint = "" if key in keys else suggest_name(key, keys)
            what = f"KEY=VALUE, each key once, of {', '.join(keys)}"
            raise InputError("workload", f"expected {what}, got {describe(part)}{hint}")
        if len(word) > DIGITS or not is_number(word):
            raise InputError(f"workload/{key}", f"expected a number, got {describe(word)}")
        stated[key] = int(word) if isinstance(keys[key], int) and word.isdecimal() else float(word)
    return cast(ChangingModel, kind(**stated))  # type: ignore[arg-type]  # checked against the fields when it is made
