"""What a caller asks of a solve, checked."""

import time
from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from typing import get_args

from dimod.core.sampler import Sampler

from tiger.errors import InputError, shown
from tiger.ising import IsingParams
from tiger.objectives import ObjectiveName
from tiger.solvers import registry

SEED_LIMIT = EFFORT_LIMIT = 1 << 63
TIME_LIMIT_S = 1e9


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """Hold what is asked: solver and objective, how much is to be done, where, and with which QUBOs.

    `seed` is in [0, 2**63), `effort` in [1, 2**63) or None, `time_limit_s` in (0, 1e9] or None. `deadline_s` is when
    time is up by the monotonic clock, counted from construction. Raises InputError for a bad value and TypeError for a
    bad type.
    """

    solver: str | Sampler = "auto"
    objective: ObjectiveName = "cost"
    seed: int = 0
    effort: int | None = None
    time_limit_s: float | None = None
    executor: Executor | None = None
    ising: IsingParams = field(default_factory=IsingParams)
    deadline_s: float | None = field(init=False)

    def __post_init__(self) -> None:
        """Check every value and set the deadline."""
        if isinstance(self.solver, str):
            registry.kind_of(self.solver)
        elif isinstance(self.solver, type) or not callable(getattr(self.solver, "sample", None)):
            raise TypeError(f"solver: expected a name or a dimod sampler, got {shown(self.solver)}")
        elif not isinstance(getattr(self.solver, "parameters", None), Mapping):
            raise TypeError(f"solver: expected a sampler whose `parameters` are a mapping, got {self.name}")
        if self.objective not in get_args(ObjectiveName):
            known = ", ".join(get_args(ObjectiveName))
            raise InputError("objective", f"expected one of {known}, got {shown(self.objective)}")
        if type(self.seed) is not int or not 0 <= self.seed < SEED_LIMIT:
            raise InputError("seed", f"expected a whole number from 0 to 2**63 - 1, got {shown(self.seed)}")
        if self.effort is not None and (type(self.effort) is not int or not 1 <= self.effort < EFFORT_LIMIT):
            raise InputError("effort", f"expected a whole number from 1 to 2**63 - 1, got {shown(self.effort)}")
        limit = self.time_limit_s
        if limit is not None and not isinstance(limit, int | float):
            raise TypeError(f"time_limit_s: expected a number of seconds, got {type(limit).__name__}")
        if limit is not None and (isinstance(limit, bool) or not 0 < limit <= TIME_LIMIT_S):
            what = f"expected a finite number of seconds > 0, at most {TIME_LIMIT_S:g}"
            raise InputError("time_limit_s", f"{what}, got {shown(limit)}")
        if not isinstance(self.ising, IsingParams):
            raise TypeError(f"ising: expected IsingParams, got {type(self.ising).__name__}")
        object.__setattr__(self, "deadline_s", None if limit is None else time.monotonic() + limit)

    def later(self, seconds: float) -> "Request":
        """Return the request with its end put off."""
        other = replace(self)
        if self.deadline_s is not None:
            object.__setattr__(other, "deadline_s", self.deadline_s + seconds)
        return other

    @property
    def cost_deadline_s(self) -> float | None:
        """Return when the search for a low cost has to end: half-way where another objective follows."""
        if self.deadline_s is None or self.time_limit_s is None or self.objective == "cost":
            return self.deadline_s
        return self.deadline_s - self.time_limit_s / 2

    @property
    def name(self) -> str:
        """Return the solver's name, for a sampler object that of its class."""
        return self.solver if isinstance(self.solver, str) else type(self.solver).__name__
