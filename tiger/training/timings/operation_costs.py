"""The costs of operations on a type of device: looked up where they were measured, counted elsewhere."""

from dataclasses import dataclass, field

from tiger.training.hardware.accelerators import H100, Accelerator
from tiger.training.timings.costs import NO_FACTORS, Factors
from tiger.training.timings.operations import Attention, Decoding, ExpertBlocks, Operation, Product
from tiger.training.timings.roofline import attention_s, blocks_s, decoding_s, moved_s, product_s
from tiger.training.timings.tables import ATTENTION_BACKWARD, TimeTable
from tiger.training.timings.timed import Timed


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationCosts:
    """Hold what operations take on a type of device, by a table of measured times where there is one.

    `factors` multiply all times. `known` are those that were asked for before.
    """

    device: Accelerator = H100
    table: TimeTable | None = None
    factors: Factors = NO_FACTORS
    known: dict[Operation, Timed] = field(default_factory=dict, compare=False, repr=False)

    def forward(self, operation: Operation) -> Timed:
        """Return the seconds of a forward pass of an operation."""
        if operation not in self.known:
            found = None if self.table is None or not _is_measured(operation) else self.table.find(operation)
            seconds, source = found or Timed(self._count(operation), "counted")
            self.known[operation] = Timed(self._factor(operation) * seconds, source)
        return self.known[operation]

    def backward(self, operation: Product | Attention | ExpertBlocks) -> tuple[Timed, Timed]:
        """Return the seconds of a backward pass: for gradients of inputs, and for those of weights."""
        inputs, weights = self._count_backward(operation)
        found = None if self.table is None or not _is_measured(operation) else self.table.find_backward(operation)
        if found is None:
            return inputs, weights
        # Tables may have both at once; each has the share of it that it has by itself.
        share = weights.seconds / (inputs.seconds + weights.seconds)
        seconds = self._factor(operation) * found.seconds
        return Timed((1 - share) * seconds, found.source), Timed(share * seconds, found.source)

    def _count_backward(self, operation: Product | Attention | ExpertBlocks) -> tuple[Timed, Timed]:
        """Return the seconds of a backward pass by those of forward passes."""
        match operation:
            case Product():
                return self.forward(operation.by_inputs), self.forward(operation.by_weights)
            case Attention():
                seconds, source = self.forward(operation)
                return Timed(ATTENTION_BACKWARD * seconds, source), Timed(0.0, source)
            case ExpertBlocks():
                # Both take as many products of the same sizes.
                return self.forward(operation), self.forward(operation)

    def time_moves(self, size_bytes: float) -> Timed:
        """Return the seconds in which memory moves so many bytes."""
        return Timed(self.factors.memory * moved_s(self.device, size_bytes), "counted")

    def _factor(self, operation: Operation) -> float:
        """Return by what the seconds of an operation are multiplied."""
        return self.factors.attention if isinstance(operation, Attention | Decoding) else self.factors.products

    def _count(self, operation: Operation) -> float:
        """Return the seconds of an operation by the roofline."""
        match operation:
            case Product():
                return product_s(self.device, operation)
            case Attention():
                return attention_s(self.device, operation)
            case Decoding():
                return decoding_s(self.device, operation)
            case ExpertBlocks():
                return blocks_s(self.device, operation)


def _is_measured(operation: Operation) -> bool:
    """Return whether tables have operations of its form: caches in 16 bits, and blocks with a gate."""
    match operation:
        case Decoding():
            return operation.number_bytes == 2
        case ExpertBlocks():
            return operation.matrices == 3
        case _:
            return True


USUAL_COSTS = OperationCosts()
