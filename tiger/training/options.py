"""The options of how a network is trained, which decide what its devices hold and send."""

from dataclasses import dataclass, field

from tiger.model.options import about
from tiger.model.spelling import Spelling
from tiger.training.models.setup import Gradients, Optimizer
from tiger.training.precision import Precision

# More tokens than any model is trained on at once.
SEQUENCE_LIMIT = 10**9
# How commands spell what one group of devices does, whether it is stated or searched over.
CONTEXT = Spelling("Devices that share the tokens of a sequence.", flags=("--context-parallel",), metavar="C")
EXPERT = Spelling("Devices among which experts are dealt out.", flags=("--expert-parallel",), metavar="E")
SHARDING = Spelling(
    "What replicas share out: optimizer states (zero-1, Megatron's distributed optimizer), gradients too (zero-2), "
    "weights too (zero-3, FSDP)."
)
RECOMPUTE = Spelling("What is not held but computed again: scores of attention, or all but the input of a layer.")
RECOMPUTE_LAYERS = Spelling("The first layers of every stage that are fully recomputed; all without it.", metavar="N")


@dataclass(frozen=True, kw_only=True)
class TrainingOptions:
    """Say in what types products and gradients are, what the optimizer keeps, and where activations are held.

    These change what devices hold and send for a transformer that is stated by its shape. One that is to `serve` some
    sequences at once does not learn, and takes none of the others but `sequence`. `offload` is the rate at which a
    device of speed 1 copies what layers hold to the memory of its host, in bytes per second, where it does.
    """

    precision: Precision | None = field(
        default=None,
        metadata=about(
            "The type that products are computed in; fp8 keeps weights in bf16 beside copies in fp8. As the model "
            "states it without this.",
            Spelling("The type that products are computed in; by default the model's."),
        ),
    )
    optimizer: Optimizer = field(
        default="adam",
        metadata=about(
            "What the optimizer keeps of a parameter: two moments in fp32, in bf16 or in 8 bits, or momentum.",
            Spelling("What is kept of a parameter: two moments in fp32, bf16 or 8 bits, or momentum."),
        ),
    )
    gradients: Gradients | None = field(
        default=None,
        metadata=about(
            "The type in which gradients are added up and sent; fp16 for fp16 without it, else fp32.",
            Spelling("The type that gradients are added up and sent in; fp16 for fp16, else fp32."),
        ),
    )
    sequence_parallel: bool = field(
        default=True,
        metadata=about(
            "Has tensor-parallel devices share all activations, norms and dropout included.",
            Spelling(
                "Tensor-parallel devices share all activations, norms included.",
                flags=("--sequence-parallel/--no-sequence-parallel",),
            ),
        ),
    )
    overlap_tensor: float | None = field(
        default=None,
        metadata=about(
            "Has tensor-parallel devices send while products run, which lose this share of their speed meanwhile; they "
            "wait for messages without it.",
            Spelling("Send tensor-parallel messages behind products, which lose this share of speed.", metavar="SHARE"),
            ge=0,
            le=1,
            allow_inf_nan=False,
            expected="a number from 0 to 1",
        ),
    )
    overlap_pipeline: float | None = field(
        default=None,
        metadata=about(
            "Has messages between stages go on behind passes, which lose this share of their speed meanwhile, as with "
            "Megatron-LM's interleaved schedule; both ends wait for messages without it.",
            Spelling("Send messages between stages behind passes, which lose this share of speed.", metavar="SHARE"),
            gt=0,
            le=1,
            allow_inf_nan=False,
            expected="a number above 0 and up to 1",
        ),
    )
    sequence: int | None = field(
        default=None,
        metadata=about(
            "Tokens of a sequence in training; as the model states it without this, and 4,096 or fewer of a "
            "configuration of Hugging Face.",
            Spelling("Tokens of a sequence; by default the model's, or 4,096 of a config.json.", metavar="N"),
            ge=1,
            most=SEQUENCE_LIMIT,
        ),
    )
    serve: int | None = field(
        default=None,
        metadata=about(
            "Sequences that are answered at once, of a model that serves instead of learning: a device holds its "
            "weights, as its checkpoint has them, and the keys and values of so many sequences.",
            Spelling("Serve so many sequences at once instead of training.", metavar="N"),
            ge=1,
            most=SEQUENCE_LIMIT,
        ),
    )
    offload: float | None = field(
        default=None,
        metadata=about(
            "Bytes per second at which a device of speed 1 copies activations to its host and back; they are not "
            "offloaded without it.",
            Spelling("Copy activations to the host at so many bytes per second.", metavar="RATE"),
            ge=1,
            allow_inf_nan=False,
            expected="a finite number of bytes per second, at least 1",
        ),
    )
