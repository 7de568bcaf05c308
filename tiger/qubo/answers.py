"""The answers of a sampler in a solve, and the error that ends them.

Answers may have been paid for. So an error after the first of them ends sampling alone: the mapping found so far is
kept, and the report warns. A sampler that never answers is bad input.
"""

from dataclasses import dataclass

from tiger.errors import InputError


@dataclass(slots=True)
class Answers:
    """Count the answers of a sampler, and hold the error after which it is asked no more."""

    count: int = 0
    error: Exception | None = None

    def add(self, count: int, error: Exception | None) -> None:
        """Add answers, and the error that came after them; raise it where there was no answer at all."""
        self.count += count
        if error is not None and not self.count:
            raise error
        self.error = self.error or error

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return what a report is to warn of."""
        if self.error is None:
            return ()
        reason = self.error.reason if isinstance(self.error, InputError) else repr(self.error)
        several = "1 answer" if self.count == 1 else f"{self.count} answers"
        return (f"the sampler failed after {several} and was asked no more: {reason}",)
