"""What a caller asks of a solve, checked."""

import time
from concurrent.futures import Executor
from dataclasses import dataclass, field

from dimod.core.sampler import Sampler

from tiger.errors import InputError
from tiger.solvers import registry

SEED_LIMIT = EFFORT_LIMIT = 1 << 63
TIME_LIMIT_S = 1e9


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """Hold solver, seed in [0, 2**63), effort in [1, 2**63) or None, time limit in (0, 1e9] s or None, and executor.

    `deadline_s` is when time is up by the monotonic clock, counted from construction. Raises InputError for a bad value
    and TypeError for a bad type.
    """

    solver: str | Sampler = "auto"
    seed: int = 0
    effort: int | None = None
    time_limit_s: float | None = None
    executor: Executor | None = None
    deadline_s: float | None = field(init=False)

    def __post_init__(self) -> None:
        """Check every value and set the deadline."""
        if isinstance(self.solver, str):
            registry.kind_of(self.solver)
        elif not callable(getattr(self.solver, "sample", None)):
            raise TypeError(f"solver: expected a name or a dimod sampler, got {type(self.solver).__name__}")
        if type(self.seed) is not int or not 0 <= self.seed < SEED_LIMIT:
            raise InputError("seed", f"expected a whole number from 0 to 2**63 - 1, got {_short(self.seed)}")
        if self.effort is not None and (type(self.effort) is not int or not 1 <= self.effort < EFFORT_LIMIT):
            raise InputError("effort", f"expected a whole number from 1 to 2**63 - 1, got {_short(self.effort)}")
        limit = self.time_limit_s
        if limit is not None and not isinstance(limit, int | float):
            raise TypeError(f"time_limit_s: expected a number of seconds, got {type(limit).__name__}")
        if limit is not None and (isinstance(limit, bool) or not 0 < limit <= TIME_LIMIT_S):
            what = f"expected a finite number of seconds > 0, at most {TIME_LIMIT_S:g}"
            raise InputError("time_limit_s", f"{what}, got {_short(limit)}")
        object.__setattr__(self, "deadline_s", None if limit is None else time.monotonic() + limit)

    @property
    def name(self) -> str:
        """Return the solver's name, for a sampler object that of its class."""
        return self.solver if isinstance(self.solver, str) else type(self.solver).__name__


def _short(value: object) -> str:
    """Return the start of a value as text; a whole number with very many digits has no other."""
    return repr(value)[:40] if not isinstance(value, int) or value.bit_length() < 200 else "a much larger number"
