"""What a QPU can be asked beside a model, checked against what the machine publishes, and the time that it takes."""

import math
import sys
from collections.abc import Mapping
from itertools import pairwise
from types import SimpleNamespace

from tiger.errors import InputError
from tiger.model.wording import describe

# The couplings of chains are this package's, everything else is the machine's.
CHAINS = ("chain_strength", "torque")
SWITCHES = (
    "auto_scale",
    "fast_anneal",
    "flux_drift_compensation",
    "reduce_intersample_correlation",
    "reinitialize_state",
)
THERMALIZATIONS = ("programming_thermalization", "readout_thermalization")
# The value of `initial_state` by which every read of reverse annealing begins at the mapping so far.
FROM_MAPPING = "mapping"
# What changes the form of answers, or has an option of its own.
FIXED = {
    "answer_mode": "expected it left out, as every read has to come back by itself",
    "warnings": "expected it left out",
}


def check_options(
    options: Mapping[str, object], parameters: Mapping[str, object], machine: Mapping[str, object]
) -> None:
    """Raise InputError of `ising/sampler/NAME` for an option that a machine of some properties does not take.

    `parameters` are the names that it knows. Times are in microseconds. Options without a published range, such as
    offsets of single qubits, are left for the machine to check.
    """
    known = sorted({*parameters, *CHAINS} - FIXED.keys())
    for name, value in options.items():
        if name in FIXED:
            raise _refusal(name, FIXED[name], value)
        if name not in known:
            raise _refusal(name, f"expected one of {', '.join(known)}", name)
        if name in CHAINS and not (isinstance(value, int | float) and _is_number(value) and value > 0):
            raise _refusal(name, "expected a number above 0", value)
        if name in SWITCHES and not isinstance(value, bool):
            raise _refusal(name, "expected true or false", value)
        if name in THERMALIZATIONS:
            _check_range(name, value, machine.get(f"{name}_range"))
    reads, range_of_reads = options.get("num_reads"), machine.get("num_reads_range")
    if isinstance(reads, int) and isinstance(range_of_reads, list | tuple) and len(range_of_reads) == 2:
        fewest, most = range_of_reads
        if not fewest <= reads <= most:
            raise _refusal("num_reads", f"expected {fewest} to {most}, as the machine publishes", reads)
    if "label" in options and not isinstance(options["label"], str):
        raise _refusal("label", "expected a text", options["label"])
    _check_anneal(options, machine)
    if "initial_state" in options:
        if options["initial_state"] != FROM_MAPPING:
            raise _refusal("initial_state", f"expected {FROM_MAPPING!r}, the mapping so far", options["initial_state"])
        if not starts_from_mapping({name: options[name] for name in options if name == "anneal_schedule"}):
            raise _refusal("initial_state", "expected a schedule beside it that begins at s = 1", FROM_MAPPING)


def starts_from_mapping(options: Mapping[str, object]) -> bool:
    """Return whether reads begin at the mapping so far: as asked for, or where annealing begins at its end."""
    schedule = options.get("anneal_schedule")
    backward = isinstance(schedule, list | tuple) and bool(schedule) and _is_point(schedule[0]) and schedule[0][1] == 1
    return "initial_state" in options or backward


def estimate_us(machine: Mapping[str, object], qubits: int, options: Mapping[str, object]) -> float | None:
    """Return the microseconds of QPU access time of a submission, by D-Wave's formula and what the machine publishes.

    None where it publishes no times, or times of a kind that the formula does not know.
    """
    if not machine.get("problem_timing_data"):
        return None
    from dwave.cloud.solver import StructuredSolver

    # All that the formula reads of a solver are its properties.
    solver = SimpleNamespace(properties=machine)
    try:
        return float(StructuredSolver.estimate_qpu_access_time(solver, num_qubits=qubits, **options))
    except (KeyError, ValueError):
        return None


def _check_anneal(options: Mapping[str, object], machine: Mapping[str, object]) -> None:
    """Raise InputError for times or schedules of annealing that the machine does not run."""
    range_of_times = machine.get("fast_anneal_time_range" if options.get("fast_anneal") else "annealing_time_range")
    if "annealing_time" in options:
        _check_range("annealing_time", options["annealing_time"], range_of_times)
    if "anneal_schedule" not in options:
        return
    if "annealing_time" in options:
        raise _refusal(
            "annealing_time", "expected none beside a schedule, which has its own", options["annealing_time"]
        )
    points, most = _read_schedule(options["anneal_schedule"]), machine.get("max_anneal_schedule_points")
    if isinstance(most, int) and len(points) > most:
        raise _refusal("anneal_schedule", f"expected at most {most} points", len(points))
    _check_range("anneal_schedule", points[-1][0], range_of_times)


def _read_schedule(schedule: object) -> list[tuple[float, float]]:
    """Return the points (time, s) of a schedule; raise InputError."""
    given = list(schedule) if isinstance(schedule, list | tuple) else []
    points = [(float(point[0]), float(point[1])) for point in given if _is_point(point)]
    times = [time for time, _ in points]
    rising = all(early < late for early, late in pairwise(times))
    if (
        len(points) < max(len(given), 2)
        or times[0] != 0
        or not rising
        or points[0][1] not in (0, 1)
        or points[-1][1] != 1
    ):
        wanted = (
            "expected points [time, s] of rising times from 0, s being 0 or 1 at first, then from 0 to 1, 1 at last"
        )
        raise _refusal("anneal_schedule", wanted, schedule)
    return points


def _is_point(point: object) -> bool:
    """Return whether this is a point of a schedule, with its s from 0 to 1."""
    return isinstance(point, list | tuple) and len(point) == 2 and all(map(_is_number, point)) and 0 <= point[1] <= 1


def _check_range(name: str, value: object, published: object) -> None:
    """Raise InputError for a number outside the range that a machine publishes, any number from 0 up without one."""
    low, high = published if isinstance(published, list | tuple) and len(published) == 2 else (0, math.inf)
    if not isinstance(value, int | float) or not _is_number(value) or not low <= value <= high:
        raise _refusal(name, f"expected microseconds from {low:g} to {high:g}, as the machine publishes", value)


def _is_number(value: object) -> bool:
    """Return whether this is a finite number."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    return -sys.float_info.max <= value <= sys.float_info.max


def _refusal(name: str, wanted: str, got: object) -> InputError:
    """Return the complaint about an option."""
    return InputError(f"ising/sampler/{name}", f"{wanted}, got {describe(got)}")
