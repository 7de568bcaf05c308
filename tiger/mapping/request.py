"""What a caller asks of a solve, checked."""

import time
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tiger.errors import InputError
from tiger.mapping.exchange.sample_folder import SampleFolder
from tiger.mapping.options import MappingOptions
from tiger.mapping.previous import Homes
from tiger.model.arrays import IntArray
from tiger.model.checking import check_values
from tiger.model.wording import describe
from tiger.qubo.params import IsingParams
from tiger.run.answers import Answers
from tiger.run.deadline import Deadline
from tiger.solvers import registry

if TYPE_CHECKING:
    from dimod.core.sampler import Sampler


@dataclass(frozen=True, slots=True, kw_only=True)
class Request(MappingOptions):
    """Hold what is asked: solver and objective, how much is to be done, where, and with which QUBOs.

    `seed` is in [0, 2**63), `effort` in [1, 2**63) or None, `islands` in [1, 256], `time_limit_s` in (0, 1e9] or None.
    `answers` are those of the sampler so far, and `folder` keeps its samples. `home[n]` is the mapping to start
    from, if any, and at most `max_moves` tasks leave it; `homes` are those of a mapping in use before a change.
    `deadline_s` is when time is up by the monotonic clock,
    counted from construction. Raises InputError for a bad value and TypeError for a bad type.
    """

    solver: "str | Sampler" = "auto"
    executor: Executor | None = None
    ising: IsingParams = field(default_factory=IsingParams)
    answers: Answers = field(default_factory=Answers)
    folder: SampleFolder | None = None
    home: IntArray | None = None
    homes: Homes | None = None
    deadline_s: float | None = field(init=False)

    def __post_init__(self) -> None:
        """Check every value and set the deadline."""
        registry.check_solver(self.solver)
        check_values(self)
        if self.islands > 1 and self.solver not in registry.SEEDED:
            known = ", ".join(registry.SEEDED)
            raise InputError("islands", f"expected 1, as only the solvers {known} have more, got {self.islands}")
        for name in ("max_moves", "move_cost"):
            if getattr(self, name) is not None:
                self._check_moves(name)
        if self.homes is not None:
            self._check_moves("previous")
        if not isinstance(self.ising, IsingParams):
            raise TypeError(f"ising: expected IsingParams, got {type(self.ising).__name__}")
        limit = self.time_limit_s
        object.__setattr__(self, "deadline_s", None if limit is None else time.monotonic() + limit)

    def _check_moves(self, field: str) -> None:
        """Raise InputError of a field where no search counts moves."""
        if self.solver not in ("auto", "search"):
            raise InputError(field, f"expected the solver auto or search beside it, got {describe(self.solver)}")
        if self.objective == "multicast":
            raise InputError(field, "expected tasks without hyperedges beside it, got multicasts")
        if self.objective != "cost":
            raise InputError(field, f"expected the objective cost beside it, got {self.objective!r}")

    def check_sampling(self) -> None:
        """Raise InputError for what is asked of a sampler where the solver is none: it would be of no consequence."""
        if self.samples:
            return
        usual = IsingParams()
        for name in ("sampler", "qpu_time_s", "dry_run", "samples"):
            if getattr(self.ising, name) != getattr(usual, name):
                raise InputError(f"ising/{name}", f"expected a sampler as solver beside it, got {self.solver!r}")

    def deadline(self, loading_s: float = 0.0) -> Deadline:
        """Return when the solve has to end, put off by the seconds for which kernels were loaded."""
        return Deadline(None if self.deadline_s is None else self.deadline_s + loading_s)

    @property
    def cost_deadline(self) -> Deadline:
        """Return when the search for a low cost has to end: half-way where another search follows."""
        alone = self.objective == "cost" and not self.contiguous_hosts
        if self.deadline_s is None or self.time_limit_s is None or alone:
            return self.deadline()
        return Deadline(self.deadline_s - self.time_limit_s / 2)

    @property
    def samples(self) -> bool:
        """Return whether the solver is a sampler."""
        return registry.is_sampler(self.solver)

    @property
    def name(self) -> str:
        """Return the solver's name, for a sampler object that of its class."""
        return self.solver if isinstance(self.solver, str) else type(self.solver).__name__
