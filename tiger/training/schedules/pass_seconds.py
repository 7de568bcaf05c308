"""The seconds of every kind of pass of every stage, messages included."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from tiger.model.arrays import FloatArray
from tiger.training.costs.stages import Workload
from tiger.training.schedules.pass_orders import Schedule


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PassCosts:
    """Hold the seconds to receive the input of a pass, of the pass, and to send its output, by 3 x stage + kind."""

    received_s: FloatArray
    passing_s: FloatArray
    sent_s: FloatArray

    def __eq__(self, other: object) -> bool:
        """Return whether all seconds are the same."""
        return isinstance(other, PassCosts) and self._content == other._content

    def __hash__(self) -> int:
        """Return a hash of all seconds, by which simulations of equal stages are found again."""
        return hash(self._content)

    @property
    def _content(self) -> tuple[bytes, ...]:
        """Return all seconds as bytes."""
        return self.received_s.tobytes(), self.passing_s.tobytes(), self.sent_s.tobytes()

    @classmethod
    def of(cls, workload: Workload, schedule: Schedule) -> Self:
        """Return the costs of a workload; only a zero-bubble schedule splits its backward passes.

        Between stages on one position nothing is sent, which happens only where there is one position.
        """
        nothing, stages = [0.0], len(workload.forward_s)
        inner = workload.transfer_s if workload.positions > 1 else np.zeros(stages - 1)
        # A backward pass receives over the boundary that its forward pass sends over, and the other way round.
        before, after = np.concatenate([nothing, inner]), np.concatenate([inner, nothing])
        weight = workload.weight_s if schedule == "zero-bubble" else np.zeros(stages)
        still = np.zeros(stages)
        return cls(
            received_s=np.stack([before, after, still], axis=1).ravel(),
            passing_s=np.stack([workload.forward_s, workload.backward_s - weight, weight], axis=1).ravel(),
            sent_s=np.stack([after, before, still], axis=1).ravel(),
        )
