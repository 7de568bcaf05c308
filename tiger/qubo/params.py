"""The sizes of the Ising path of a mapping, and the options that callers set of it."""

import sys
from dataclasses import dataclass, field
from numbers import Integral
from typing import Literal, get_args

from tiger.errors import InputError
from tiger.model.spelling import spelled
from tiger.model.wording import describe

CapacityEncoding = Literal["slack", "slack-free"]
# Penalties further from the safe bound leave costs, or themselves, few of the digits of float64.
SCALES = 1e9


def parse_betas(text: str) -> tuple[float, float]:
    """Return the two numbers of `--beta-range`."""
    try:
        hot, cold = map(float, text.split(","))
    except ValueError:
        raise InputError("ising/beta_range", f"expected HOT,COLD, two numbers, got {text!r}") from None
    return hot, cold


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """Set how long a window is sampled: `rounds` of `reads` of `sweeps` sweeps."""

    rounds: int
    reads: int
    sweeps: int


@dataclass(frozen=True, slots=True, kw_only=True)
class IsingParams:
    """Set the path: sampling of the whole problem, then of windows.

    Above `whole_variables` only windows are sampled, of at most `window_size` variables each, in `passes` a unit of
    effort; `windows` limits how many of them a pass solves, None for all. `starts` mappings are constructed before the
    first pass. With `control` some reads are set beside coin flips, for the report. `penalty_scale` fixes the penalties
    at that multiple of the safe bound, and `beta_range` the inverse temperatures, first and last, in 1 / cost; both are
    chosen where they are None. Raises InputError for a bad value.
    """

    whole: Sampling = Sampling(rounds=8, reads=48, sweeps=300)
    window: Sampling = Sampling(rounds=1, reads=8, sweeps=100)
    whole_variables: int = 1600
    window_size: int = 144
    passes: int = 4
    windows: int | None = None
    starts: int = 4
    control: bool = True
    penalty_scale: float | None = field(
        default=None,
        metadata=spelled("Penalties of the QUBO as a multiple of their safe bound.", panel="Search", metavar="X"),
    )
    beta_range: tuple[float, float] | None = field(
        default=None,
        metadata=spelled(
            "Inverse temperatures of annealing, in 1 / cost.", panel="Search", metavar="HOT,COLD", parse=parse_betas
        ),
    )
    capacity: CapacityEncoding = field(
        default="slack",
        metadata=spelled("How the QUBO encodes what a node may hold.", panel="Search", name="capacity_encoding"),
    )

    def __post_init__(self) -> None:
        """Check every value."""
        sizes = {"whole_variables": self.whole_variables, "window_size": self.window_size, "passes": self.passes}
        if self.windows is not None:
            sizes["windows"] = self.windows
        for stage, sampling in (("whole", self.whole), ("window", self.window)):
            counts = {"rounds": sampling.rounds, "reads": sampling.reads, "sweeps": sampling.sweeps}
            sizes |= {f"{stage}/{name}": count for name, count in counts.items()}
        for name, size in sizes.items():
            _check_size(name, size, 1)
        _check_size("starts", self.starts, 0)
        scale = self.penalty_scale
        if scale is not None and not (_is_positive(scale) and 1 / SCALES <= scale <= SCALES):
            wanted = f"expected a finite number > 0, from {1 / SCALES:g} to {SCALES:g}"
            raise InputError("ising/penalty_scale", f"{wanted}, got {describe(scale)}")
        if self.beta_range is not None:
            object.__setattr__(self, "beta_range", _betas(self.beta_range))
        if not isinstance(self.control, bool):
            raise InputError("ising/control", f"expected true or false, got {describe(self.control)}")
        if self.capacity not in get_args(CapacityEncoding):
            known = " or ".join(get_args(CapacityEncoding))
            raise InputError("ising/capacity", f"expected {known}, got {describe(self.capacity)}")


def _check_size(name: str, size: object, least: int) -> None:
    """Raise InputError unless a size is a whole number that is large enough."""
    if isinstance(size, bool) or not isinstance(size, Integral) or int(size) < least:
        raise InputError(f"ising/{name}", f"expected a whole number >= {least}, got {describe(size)}")


def _betas(beta_range: object) -> tuple[object, ...]:
    """Return inverse temperatures from hot to cold, or raise InputError."""
    pair = tuple(beta_range) if isinstance(beta_range, tuple | list) else ()
    if len(pair) != 2 or not all(map(_is_positive, pair)) or pair[0] > pair[1]:
        wanted = "expected two finite numbers > 0, the smaller one, which is the hot end, first"
        pairs = " and ".join(map(describe, pair)) if len(pair) == 2 else f"{len(pair)} values"
        got = pairs if isinstance(beta_range, tuple | list) else describe(beta_range)
        raise InputError("ising/beta_range", f"{wanted}, got {got}")
    return pair


def _is_positive(value: object) -> bool:
    """Return whether this is a number above 0 that a float can hold."""
    return type(value) is not bool and isinstance(value, int | float) and 0 < value <= sys.float_info.max
