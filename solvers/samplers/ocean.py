"""Any Ocean sampler as a source of bits: its options, and how its answer is read."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import dimod
import numpy as np
from dimod.core.sampler import Sampler

from tiger.errors import InputError
from tiger.model.arrays import BitArray
from tiger.model.seams import Figure, Samples, Stop
from tiger.model.seeds import derive
from tiger.model.wording import describe
from tiger.solvers.samplers.qpu_options import starts_from_mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """Ask a sampler for `reads` samples of `sweeps` sweeps each.

    `beta_range` are the inverse temperatures of simulated annealing, first and last, in 1 / cost; left to itself it
    derives worse ones by a slow loop over all couplers. `seed` is below 2**31. `stop` is called between reads where the
    sampler takes an `interrupt_function`, and between those of tabu search. `options` are others of the sampler's own
    (`check_options`), among which `initial_state` stands for the bits of `start()`.
    """

    reads: int
    sweeps: int
    seed: int
    beta_range: tuple[float, float]
    stop: Stop
    options: Mapping[str, object] = field(default_factory=dict)
    start: Callable[[], BitArray] | None = None


# Options of samplers that have a place of their own, or follow from others.
FIXED = {
    "beta_range": "expected ising/beta_range in its place",
    "initial_states": "expected it left out, as models differ from call to call",
    "initial_states_generator": "expected it left out, as models differ from call to call",
    "interrupt_function": "expected time_limit_s in its place",
    "seed": "expected the seed of the solve in its place",
    "timeout": "expected effort in its place, which counts iterations",
}


def needs_tuning(sampler: Sampler) -> bool:
    """Return whether large penalties trouble a sampler: one that takes temperatures, or says so itself by `tuned`."""
    return "beta_range" in sampler.parameters or bool(getattr(sampler, "tuned", False))


def check_options(sampler: Sampler, options: Mapping[str, object]) -> None:
    """Raise InputError of `ising/sampler/NAME` for an option that a sampler does not list, or has no use of."""
    check, known = getattr(sampler, "check_options", None), sampler.parameters if options else {}
    for name in options:
        if name in FIXED:
            raise InputError(f"ising/sampler/{name}", f"{FIXED[name]}, got it")
        if check is None and name not in known:
            wanted = ", ".join(sorted(set(known) - FIXED.keys())) or "none, as this sampler has none"
            raise InputError(f"ising/sampler/{name}", f"expected one of {wanted}, got {describe(name)}")
    if check is not None and options:
        check(options)


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
    known = sampler.parameters
    options: dict[str, object] = {name: offers[name] for name in offers if name in known} | dict(draw.options)
    if draw.start is not None and starts_from_mapping(draw.options):
        options["initial_state"] = dict(enumerate(draw.start().tolist()))
    seeds = [draw.seed]
    if "num_restarts" in options and "timeout" in known:
        # Tabu search can't be interrupted, so every read is a call.
        options |= {"timeout": None, "num_reads": 1}
        seeds = [derive(draw.seed, read) for read in range(draw.reads)]
    try:
        sample_set = _call(sampler, bqm, options, seeds[0])
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        if isinstance(error, InputError) or not draw.options:
            raise
        # Which values its own options take, the sampler alone knows.
        reason = f"expected values that the sampler takes, got {', '.join(draw.options)}: {error}"
        raise InputError("ising/sampler", reason) from error
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
    seeded = {"seed": seed} if "seed" in sampler.parameters else {}
    try:
        sample_set: dimod.SampleSet = sampler.sample(bqm, **options, **seeded)
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
