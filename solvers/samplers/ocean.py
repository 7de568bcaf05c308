"""Any Ocean sampler as a source of bits: its options, and how its answer is read."""

import math
from dataclasses import dataclass

import dimod
import numpy as np
from dimod.core.sampler import Sampler

from tiger.errors import InputError
from tiger.model.seams import Figure, Samples, Stop
from tiger.model.seeds import derive


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """Ask a sampler for `reads` samples of `sweeps` sweeps each.

    `beta_range` are the inverse temperatures of simulated annealing, first and last, in 1 / cost; left to itself it
    derives worse ones by a slow loop over all couplers. `seed` is below 2**31. `stop` is called between reads where the
    sampler takes an `interrupt_function`, and between those of tabu search.
    """

    reads: int
    sweeps: int
    seed: int
    beta_range: tuple[float, float]
    stop: Stop


def needs_tuning(sampler: Sampler) -> bool:
    """Return whether large penalties trouble a sampler: one that takes temperatures, or says so itself by `tuned`."""
    return "beta_range" in sampler.parameters or bool(getattr(sampler, "tuned", False))


def ask(sampler: Sampler, bqm: dimod.BinaryQuadraticModel, draw: Draw) -> Samples:
    """Return at most `draw.reads` samples of a model on variables 0..size-1, cheapest first.

    Only options that the sampler lists in its `parameters` are passed on. Of what it says of itself, the flat mapping
    `info["figures"]` is kept, and the inverse temperatures where it took some.
    """
    offers = {
        "num_reads": draw.reads,
        "num_sweeps": draw.sweeps,
        "beta_range": list(draw.beta_range),
        "interrupt_function": draw.stop,
        "num_restarts": 0,
        "coefficient_z_first": draw.sweeps,
        "lower_bound_z": 1,
    }
    options: dict[str, object] = {name: offers[name] for name in offers if name in sampler.parameters}
    seeds = [draw.seed]
    if "num_restarts" in options and "timeout" in sampler.parameters:
        # Tabu search can't be interrupted, so every read is a call.
        options |= {"timeout": None, "num_reads": 1}
        seeds = [derive(draw.seed, read) for read in range(draw.reads)]
    sample_set = _call(sampler, bqm, options, seeds[0])
    for seed in seeds[1:]:
        if draw.stop():
            break
        sample_set = dimod.concatenate([sample_set, _call(sampler, bqm, options, seed)])
    order = np.argsort(np.array(sample_set.variables, dtype=np.int64))
    ranked = np.argsort(sample_set.record.energy, kind="stable")[: draw.reads]
    figures: dict[str, Figure] = {"beta_range": draw.beta_range} if "beta_range" in options else {}
    figures |= {
        name: plain
        for name, value in sample_set.info.get("figures", {}).items()
        if (plain := _plain_figure(value)) is not None
    }
    return Samples(np.asarray(sample_set.record.sample[ranked][:, order], np.int8), figures)


def _call(sampler: Sampler, bqm: dimod.BinaryQuadraticModel, options: dict[str, object], seed: int) -> dimod.SampleSet:
    """Return the samples of one call; raise InputError where the sampler can't take the model or answers in part."""
    try:
        sample_set: dimod.SampleSet = sampler.sample(
            bqm, **options, **({"seed": seed} if "seed" in sampler.parameters else {})
        )
    except dimod.exceptions.BinaryQuadraticModelStructureError as error:
        what = "expected a sampler of any couplings, such as tiger.solvers.samplers.dwave.QpuSampler around this one"
        raise InputError("solver", f"{what}: {error}") from None
    if set(sample_set.variables) != set(bqm.variables):
        raise InputError(
            "solver", f"expected samples of {bqm.num_variables} variables, got {len(sample_set.variables)}"
        )
    return sample_set


def _plain_figure(value: object) -> Figure | None:
    """Return a figure as a string, a finite number or a tuple of numbers, None for anything else."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, tuple):
        numbers = tuple(float(part) for part in value if isinstance(part, int | float) and math.isfinite(part))
        return numbers if len(numbers) == len(value) else None
    return value if isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value)) else None
