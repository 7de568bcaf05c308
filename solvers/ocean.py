"""Any Ocean sampler as a source of bits: what it is asked for, and how its answer is read."""

from dataclasses import dataclass

import dimod
import numpy as np
from dimod.core.sampler import Sampler

from tiger.model.seams import Figure, Samples, Stop


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """Ask a sampler for `reads` samples of `sweeps` sweeps each.

    `beta_range` are the inverse temperatures of simulated annealing, first and last, in 1 / cost; left to itself it
    derives worse ones by a slow loop over all couplers. `seed` is below 2**31. `stop` is asked between reads.
    """

    reads: int
    sweeps: int
    seed: int
    beta_range: tuple[float, float]
    stop: Stop


def tuned(sampler: Sampler) -> bool:
    """Tell whether large penalties trouble a sampler: one that takes temperatures, or says so itself by `tuned`."""
    return "beta_range" in sampler.parameters or bool(getattr(sampler, "tuned", False))


def ask(sampler: Sampler, bqm: dimod.BinaryQuadraticModel, draw: Draw) -> Samples:
    """Return at most `draw.reads` samples of a model on variables 0..size-1, cheapest first.

    Only options that the sampler lists in its `parameters` are passed on. Of what it says of itself, the flat mapping
    `info["figures"]` is kept, and the inverse temperatures where it took some.
    """
    offers = {
        "num_reads": draw.reads,
        "num_sweeps": draw.sweeps,
        "seed": draw.seed,
        "beta_range": list(draw.beta_range),
        "interrupt_function": draw.stop,
        "num_restarts": 0,
        "coefficient_z_first": draw.sweeps,
        "lower_bound_z": 1,
    }
    options: dict[str, object] = {name: offers[name] for name in offers if name in sampler.parameters}
    if "num_restarts" in sampler.parameters and "timeout" in sampler.parameters:
        options["timeout"] = None
    found = sampler.sample(bqm, **options)
    order = np.argsort(np.array(found.variables, dtype=np.int64))
    ranked = np.argsort(found.record.energy, kind="stable")[: draw.reads]
    figures: dict[str, Figure] = {"beta_range": draw.beta_range} if "beta_range" in options else {}
    figures |= found.info.get("figures", {})
    return Samples(np.asarray(found.record.sample[ranked][:, order], np.int8), figures)
