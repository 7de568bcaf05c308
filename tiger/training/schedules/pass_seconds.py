"""The seconds of every kind of pass of every stage, messages included."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from tiger.model.arrays import FloatArray
from tiger.training.costs.stages import Workload
from tiger.training.schedules.pass_orders import SPLIT, Schedule


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PassCosts:
    """Hold the seconds to receive the input of a pass, of the pass, and to send its output, by KINDS x stage + kind."""

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
        """Return the costs of a workload; between stages on one position nothing is sent."""
        nothing, stages, at = [0.0], len(workload.forward_s), workload.stage_positions
        inner = np.where(at[:-1] == at[1:], 0.0, workload.transfer_s)
        # A backward pass receives over the boundary that its forward pass sends over, and the other way round.
        before, after = np.concatenate([nothing, inner]), np.concatenate([inner, nothing])
        weight = workload.weight_s if schedule in SPLIT else np.zeros(stages)
        still = np.zeros(stages)
        return cls(
            received_s=np.stack([before, after, still, after], axis=1).ravel(),
            passing_s=np.stack(
                [workload.forward_s, workload.backward_s - weight, weight, workload.backward_s], axis=1
            ).ravel(),
            sent_s=np.stack([after, before, still, before], axis=1).ravel(),
        )
