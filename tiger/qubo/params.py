"""The sizes of the Ising path of a mapping, and the options that callers set of it."""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral
from os import PathLike
from typing import Literal, cast, get_args

from tiger.errors import InputError
from tiger.model.spelling import spelled
from tiger.model.wording import describe

CapacityEncoding = Literal["slack", "slack-free"]
# Penalties further from the safe bound leave costs, or themselves, few of the digits of float64.
SCALES = 1e9
# Windows that do not touch and are solved from one mapping: the answers do not depend on how many of them are out. The
# work on some hides behind the latency of others, which takes a quarter less time than batches of 8 do.
BATCH, IN_FLIGHT = 32, 8
# Options of samplers that are sizes of the sampling of a window, and the most of each.
MOST = 10**7
SIZES = {"num_reads": "reads", "num_sweeps": "sweeps"}


def parse_betas(text: str) -> tuple[float, float]:
    """Return the two numbers of `--beta-range`."""
    try:
        hot, cold = map(float, text.split(","))
    except ValueError:
        raise InputError("ising/beta_range", f"expected HOT,COLD, two numbers, got {text!r}") from None
    return hot, cold


def parse_options(texts: Sequence[str]) -> dict[str, object]:
    """Return the options of `--sampler NAME=VALUE`, values being JSON where they can be, else text."""
    options: dict[str, object] = {}
    for text in texts:
        name, mark, value = text.partition("=")
        if not name or not mark:
            raise InputError("ising/sampler", f"expected NAME=VALUE, got {describe(text)}")
        try:
            # A label is a text, whatever it looks like.
            options[name] = value if name == "label" else json.loads(value)
        except (RecursionError, ValueError):
            options[name] = value
    return options


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
    chosen where they are None. `sampler` are options of the sampler's own, of which `num_reads` and `num_sweeps` stand
    for those of every window. Of a sampler that says that it may be asked by several threads, `in_flight` windows that
    do not touch are out at once. A D-Wave QPU is asked for at most `qpu_time_s` seconds of access time, and with
    `dry_run` not at all: simulated annealing answers in its place, and the report has the estimates. All samples are
    kept in the folder `samples`. Raises InputError for a bad value.
    """

    whole: Sampling = Sampling(rounds=8, reads=48, sweeps=300)
    window: Sampling = Sampling(rounds=1, reads=8, sweeps=100)
    whole_variables: int = 1600
    window_size: int = 144
    passes: int = 4
    windows: int | None = None
    starts: int = 4
    control: bool = field(
        default=True,
        metadata=spelled(
            "Set some reads beside coin flips, for the report.", panel="Search", flags=("--control/--no-control",)
        ),
    )
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
    sampler: Mapping[str, object] = field(
        default_factory=dict,
        metadata=spelled(
            "Set an option of the sampler, like num_reads=500 or annealing_time=50; lists as JSON.",
            panel="Search",
            name="sampler",
            metavar="NAME=VALUE",
            gather=parse_options,
        ),
    )
    in_flight: int = field(
        default=IN_FLIGHT,
        metadata=spelled(f"Most submissions at once, from 1 to {BATCH}.", panel="Search", metavar="N"),
    )
    qpu_time_s: float | None = field(
        default=None,
        metadata=spelled("Most seconds of QPU access time.", panel="Search", name="qpu_time", metavar="S"),
    )
    dry_run: bool = field(
        default=False,
        metadata=spelled(
            "Submit nothing: estimate submissions and QPU access time.", panel="Search", flags=("--dry-run",)
        ),
    )
    samples: str | PathLike[str] | None = field(
        default=None,
        metadata=spelled(
            "Keep the samples of every call in this folder, for `tiger decode`.", panel="Output", metavar="FOLDER"
        ),
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
        for name, switch in (("control", self.control), ("dry_run", self.dry_run)):
            if not isinstance(switch, bool):
                raise InputError(f"ising/{name}", f"expected true or false, got {describe(switch)}")
        self._check_machine()
        if self.capacity not in get_args(CapacityEncoding):
            known = " or ".join(get_args(CapacityEncoding))
            raise InputError("ising/capacity", f"expected {known}, got {describe(self.capacity)}")

    def _check_machine(self) -> None:
        """Check what is asked of a sampler and a machine."""
        if not isinstance(self.sampler, Mapping) or not all(isinstance(name, str) for name in self.sampler):
            raise InputError("ising/sampler", f"expected options by name, got {describe(self.sampler)}")
        for name in SIZES.keys() & self.sampler.keys():
            _check_size(f"sampler/{name}", self.sampler[name], 1)
            if cast(int, self.sampler[name]) > MOST:
                raise InputError(f"ising/sampler/{name}", f"expected at most {MOST:g}, got more")
        _check_size("in_flight", self.in_flight, 1)
        if self.in_flight > BATCH:
            raise InputError("ising/in_flight", f"expected at most {BATCH}, got {self.in_flight}")
        if self.qpu_time_s is not None and not _is_positive(self.qpu_time_s):
            raise InputError("ising/qpu_time_s", f"expected seconds > 0, got {describe(self.qpu_time_s)}")
        if self.samples is not None and not (isinstance(self.samples, str | PathLike) and str(self.samples)):
            raise InputError("ising/samples", f"expected a folder, got {describe(self.samples)}")


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
