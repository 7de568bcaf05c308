"""How ranks hold and train the layers of a transformer: the optimizer, what is shared out, and what is recomputed."""

from dataclasses import dataclass, fields, replace
from typing import Literal, get_args

from tiger.errors import InputError
from tiger.model.wording import describe
from tiger.training.models.shape import Shape
from tiger.training.precision import Precision

Optimizer = Literal["adam", "adam-bf16", "adam-8bit", "sgd"]
Gradients = Literal["fp16", "bf16", "fp32"]
Sharding = Literal["none", "zero-1", "zero-2", "zero-3"]
Recompute = Literal["none", "selective", "full"]
SHARDINGS: tuple[Sharding, ...] = get_args(Sharding)
RECOMPUTES: tuple[Recompute, ...] = get_args(Recompute)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingSetup:
    """Say how the ranks of a model hold it, and by what groups.

    Of `data` replicas each is `context` x `tensor` devices wide: `context` ranks share the tokens of every sequence. Of
    all these the experts of a layer are dealt out among `expert`. `sharding` says what the ranks with the same
    parameters share out: of ZeRO's stages the first is Megatron's distributed optimizer, the third is FSDP. `recompute`
    leaves out scores of attention (selective) or all of a decoder layer but its input (full), and computes it again in
    the backward pass; full, of the first `recompute_layers` (default: all) of every stage. With `sequence_parallel`
    tensor-parallel ranks share all that is held, and with `overlap_tensor` they send while products run, which lose
    that share of their speed meanwhile; with `overlap_pipeline` messages between stages go on behind passes, which lose
    that share. An `offload` of so many bytes a second keeps what layers hold in the memory of
    the host. `gradients` (default: fp16 for fp16, else fp32) is the type that gradients are added up and sent in.
    `precision` and `sequence` (default: those of the model) are the type that products are computed in, and the number
    of tokens in a sequence.
    """

    tensor: int = 1
    data: int = 1
    context: int = 1
    expert: int = 1
    sharding: Sharding = "none"
    recompute: Recompute = "none"
    recompute_layers: int | None = None
    optimizer: Optimizer = "adam"
    gradients: Gradients | None = None
    sequence_parallel: bool = True
    overlap_tensor: float | None = None
    overlap_pipeline: float | None = None
    offload: float | None = None
    precision: Precision | None = None
    sequence: int | None = None

    @property
    def copies(self) -> int:
        """Return how many ranks hold the same dense layers: context ranks of all replicas."""
        return self.data * self.context

    @property
    def expert_copies(self) -> int:
        """Return how many ranks hold the same experts."""
        return self.copies // self.expert

    def adapt(self, shape: Shape) -> Shape:
        """Return a shape in the precision and with the sequences that it is trained in."""
        return replace(shape, dtype=self.precision or shape.dtype, sequence=self.sequence or shape.sequence)


NO_SETUP = TrainingSetup()
# What a plan chooses of it.
CHOSEN = ("tensor", "data", "context", "expert", "sharding", "recompute", "recompute_layers")
# Sizes of groups that any layers have.
PLAIN = ("tensor", "data")
# What also changes a model that serves: how many tokens its cache has room for.
SERVED = (*PLAIN, "sequence")


def check_setup(setup: TrainingSetup, shape: Shape | None) -> None:
    """Raise InputError that names what a model cannot be trained with; without a shape the rest is as it is by default.

    Layers of a table say what they hold, and nobody knows which part of it is an optimizer's or an expert's.
    """
    if shape is None or shape.serve:
        open_ones = PLAIN if shape is None else SERVED
        reason = "as only the shape of a transformer that learns tells what it changes"
        for each in fields(setup):
            value, usual = getattr(setup, each.name), getattr(NO_SETUP, each.name)
            if each.name not in open_ones and value != usual:
                wanted = "none" if usual is None else describe(usual)
                raise InputError(each.name, f"expected {wanted}, {reason}, got {describe(value)}")
        return
    trained = setup.adapt(shape)
    own = {"fp8": "bf16", "bf16": "bf16", "fp16": "fp16"}.get(trained.dtype)
    if setup.gradients not in (None, "fp32", own):
        known = "fp32" if own is None else f"fp32 or {own}"
        raise InputError("gradients", f"expected {known} with {trained.dtype}, got {describe(setup.gradients)}")
    if setup.recompute_layers is not None and setup.recompute != "full":
        raise InputError("recompute_layers", f"expected none without recompute full, got {setup.recompute_layers}")
    if setup.overlap_tensor is not None and not setup.sequence_parallel:
        reason = "expected none without sequence_parallel, whose gathers and scatters alone go piece by piece"
        raise InputError("overlap_tensor", f"{reason}, got {setup.overlap_tensor:g}")
    # Each of two halves of a sequence is cut, as early tokens have less attention to compute than late ones.
    if setup.context > 1 and trained.sequence % (2 * setup.context):
        reason = f"expected twice it to divide the sequence ({trained.sequence})"
        raise InputError("context", f"{reason}, got {setup.context}")
    if setup.expert > 1 and (shape.experts or 1) % setup.expert:
        what = f"a divisor of {shape.experts} (experts)" if shape.experts else "1, as the model has no experts"
        raise InputError("expert", f"expected {what}, got {setup.expert}")
    if setup.copies % setup.expert:
        raise InputError("expert", f"expected a divisor of data x context ({setup.copies}), got {setup.expert}")
