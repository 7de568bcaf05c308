"""The answers of a sampler in all that a use asks it, and the error that ends them.

Answers may have been paid for. So an error after the first of them ends sampling alone: what was found so far is kept,
and the report warns. A sampler that never answers is bad input, unless other searches do without it.
"""

import pickle
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Self, TypeVar, cast

from tiger.errors import InputError
from tiger.run.samples import SampleCount, SamplingReport

Answer = TypeVar("Answer")
Sampler = TypeVar("Sampler")


@dataclass(slots=True)
class Answers:
    """Count the answers of a sampler and what they hold, and hold the error after which it is asked no more.

    Where it is not `needed`, as other searches are beside it, its error never is one of the use. `unkept` says why
    samples could not be kept where that was asked for.
    """

    count: int = 0
    error: Exception | None = None
    needed: bool = True
    unkept: str | None = None
    samples: SampleCount = field(default_factory=SampleCount)
    _sampler: object = None

    def connect(self, make: Callable[[], Sampler]) -> Sampler:
        """Return the sampler that is asked: what `make` returns at first, so that all of a use shares a connection."""
        if self._sampler is None:
            self._sampler = make()
        return cast(Sampler, self._sampler)

    def add(self, count: int, error: Exception | None) -> None:
        """Add answers, and the error that came after them; raise it where there was no answer at all."""
        self.count += count
        if error is not None and self.needed and not self.count:
            raise error
        self.error = self.error or error

    def keep(self, ask: Callable[[], Answer]) -> Answer | None:
        """Return what a sampler answers; None where it fails after answers, or has failed before and is not asked."""
        if self.error is not None:
            return None
        try:
            answer = ask()
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001 (of a sampler of whatever origin)
            self.add(0, error)
            return None
        self.count += 1
        return answer

    @classmethod
    def of(cls, solver: object) -> Self:
        """Return none so far of a solver: `auto` samples beside searches of its own."""
        return cls(needed=solver != "auto")

    def report(self, solver: object, *, estimated: bool = False) -> SamplingReport | None:
        """Return what a sampler has drawn, None of another solver; `estimated` where nothing was submitted."""
        if solver == "auto":
            return None
        # The list of solvers imports the libraries of some of them.
        from tiger.solvers.registry import is_sampler

        return self.samples.report(self.count, estimated=estimated) if is_sampler(solver) else None

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return what a report is to warn of."""
        unkept = () if self.unkept is None else (f"not all samples were kept: {self.unkept}",)
        if self.error is None:
            return unkept
        reason = self.error.reason if isinstance(self.error, InputError) else repr(self.error)
        several = "1 answer" if self.count == 1 else f"{self.count} answers"
        # What an option says, such as a budget that is used up, is no failure.
        asked = isinstance(self.error, InputError) and self.error.field.startswith("ising/")
        ended = (
            f"sampling ended after {several}" if asked else f"the sampler failed after {several} and was asked no more"
        )
        return (f"{ended}: {reason}", *unkept)


def portable(error: Exception) -> Exception:
    """Return an error that can be sent from another process: itself, or one that says the same."""
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 (our own bytes)
    except Exception:  # noqa: BLE001 (of whatever an error holds)
        return RuntimeError(repr(error))
    return error
