"""The orders of schedules whose stages go to the last position and back: ZB-V and DualPipeV."""

from dataclasses import dataclass, field

from tiger.training.schedules.passes import BACKWARD, FORWARD, WEIGHT, WHOLE, Pass


@dataclass(slots=True)
class PassSequence:
    """Write the passes of a position one after another; `waiting` are the weight passes that are put off."""

    order: list[Pass] = field(default_factory=list)
    waiting: list[Pass] = field(default_factory=list)
    counts: dict[tuple[bool, int], int] = field(default_factory=dict)

    def count(self, kind: int, stage: int) -> int:
        """Return how many forward passes a stage has so far, or backward ones of either kind."""
        return self.counts.get((kind == FORWARD, stage), 0)

    def run(self, kind: int, stage: int) -> None:
        """Append the pass of the next microbatch, and put its weight pass off if it has one."""
        microbatch = self.count(kind, stage)
        self.counts[kind == FORWARD, stage] = microbatch + 1
        self.order.append((kind, microbatch, stage))
        if kind == BACKWARD:
            self.waiting.append((WEIGHT, microbatch, stage))

    def run_weights(self, *stages: int) -> None:
        """Append the weight pass of some stages that was put off first."""
        step = next(each for each in self.waiting if each[2] in stages)
        self.waiting.remove(step)
        self.order.append(step)


def zero_bubble_v_order(positions: int, microbatches: int, position: int) -> list[Pass]:
    """Return the passes of one of p positions in the schedule ZB-V of Qi et al. (arXiv:2401.10241), as PyTorch has it.

    Written for 2 p - 1 microbatches or more, and shortened where there are fewer. With F = B = W and free messages no
    position waits between its first pass and its last: an iteration takes 6 m F + (p - 1) F, passes of one stage each.
    """
    first, last, behind = position, 2 * positions - 1 - position, positions - position
    count, passes = max(microbatches, 2 * positions - 1), PassSequence()
    for _ in range(2 * behind - 1):
        passes.run(FORWARD, first)
    for _ in range(position):
        passes.run(FORWARD, last)
        passes.run(FORWARD, first)
    # Weights are put off at the end alone, where gradients are what others wait for.
    for _ in range(behind):
        _run_through(passes, last)
    while passes.count(FORWARD, last) < count:
        if passes.count(FORWARD, first) < count:
            passes.run(FORWARD, first)
        passes.run(BACKWARD, first)
        passes.run_weights(first)
        _run_through(passes, last)
    for _ in range(position):
        passes.run(BACKWARD, first)
        passes.run(BACKWARD, last)
    for _ in range(behind):
        passes.run(BACKWARD, first)
        passes.run_weights(first)
    for stage in (last, first):
        for _ in range(position):
            passes.run_weights(stage)
    return [step for step in passes.order if step[1] < microbatches]


def dual_pipe_v_order(positions: int, microbatches: int, position: int) -> list[Pass]:
    """Return the passes of one of p positions in the schedule DualPipeV, for 2 p microbatches or more.

    The half of DualPipe (DeepSeek-AI, arXiv:2412.19437) that a V of stages leaves, as DeepSeek and PyTorch have it. In
    its main part the forward pass of one stage and the backward pass of the other make pairs, to run side by side; here
    they are one behind the other. With F = B = W and free messages an iteration takes 6 m F + (p - 1) F then.
    """
    first, last, behind = position, 2 * positions - 1 - position, positions - position - 1
    passes = PassSequence()
    for _ in range(2 * behind):
        passes.run(FORWARD, first)
    for _ in range(position + 1):
        passes.run(FORWARD, first)
        passes.run(FORWARD, last)
    for _ in range(behind):
        passes.run(BACKWARD, last)
        passes.run_weights(first, last)
        passes.run(FORWARD, last)
    for turn in range(microbatches - positions):
        if turn < microbatches - positions - behind:
            passes.run(FORWARD, first)
        passes.run(WHOLE, last)
        passes.run(FORWARD, last)
        passes.run(WHOLE, first)
    # Of the last backward passes the second half puts weights off.
    for turn in range(position + 1):
        passes.run(WHOLE if 2 * turn <= position else BACKWARD, last)
        passes.run(WHOLE if 2 * turn < position else BACKWARD, first)
    for _ in range(behind):
        passes.run_weights(first, last)
        passes.run(BACKWARD, first)
    while passes.waiting:
        passes.run_weights(first, last)
    return passes.order


def _run_through(passes: PassSequence, stage: int) -> None:
    """Append a forward pass of a stage, and both parts of a backward one."""
    passes.run(FORWARD, stage)
    passes.run(BACKWARD, stage)
    passes.run_weights(stage)
