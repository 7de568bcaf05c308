"""Transformers described by their shape."""

from dataclasses import fields, replace
from hashlib import sha256
from itertools import product

import pytest

from tiger.errors import InputError
from tiger.training.models.layers import Layers
from tiger.training.models.setup import NO_SETUP, TrainingSetup
from tiger.training.models.shape import Shape
from tiger.training.models.traffic import GroupTraffic
from tiger.training.models.transformer import is_made_of_shape, layers_of_shape

SMALL = {"layers": 2, "hidden": 8, "heads": 4, "vocabulary": 10, "sequence": 3, "batch": 2}
LLAMA = {"gated": True, "kv_heads": 8}


@pytest.mark.parametrize(
    ("shape", "parameters"),
    [
        (Shape(layers=12, hidden=768, heads=12, vocabulary=50257, sequence=1024), 124_439_808),
        (Shape(layers=24, hidden=1024, heads=16, vocabulary=50257, sequence=1024), 354_823_168),
        (Shape(layers=96, hidden=12288, heads=96, vocabulary=50257, sequence=2048), 174_604_259_328),
        (
            Shape(layers=80, hidden=8192, heads=64, vocabulary=128256, sequence=8192, ffn=28672, **LLAMA),
            70_553_706_496,
        ),
        (
            Shape(layers=32, hidden=4096, heads=32, vocabulary=32000, sequence=4096, ffn=14336, experts=8, **LLAMA),
            46_702_792_704,
        ),
    ],
    ids=["gpt2", "gpt2-medium", "gpt3", "llama3-70b", "mixtral-8x7b"],
)
def test_known_models_have_the_parameters_they_are_known_for(shape, parameters):
    """As the models themselves count them, a matrix that both ends share once."""
    shared = shape.vocabulary * shape.hidden if shape.shared else 0
    assert layers_of_shape(shape).parameter_bytes.sum() / 2 - shared == parameters


def test_layers_are_embedding_decoder_and_head():
    """Named as in Megatron, tied at both ends, and cut among ranks."""
    layers = layers_of_shape(Shape(**SMALL))
    assert layers.names == layers.modules == ("embedding", "decoder.layers.0", "decoder.layers.1", "output_layer")
    assert layers.kinds == ("embedding", "layer", "layer", "head")
    assert (layers.tied, layers.slices) == (((0, 3),), 4)
    assert layers.crossing_bytes.tolist() == [0, 96, 96, 96, 0]
    assert layers.reduced_bytes.tolist() == [48, 192, 192, 84]
    assert layers.reductions.tolist() == [1, 2, 2, 2]


def test_untied_ends_are_not_tied():
    """Llama's."""
    assert layers_of_shape(Shape(**SMALL, gated=True)).tied == ()


def test_a_backward_pass_takes_twice_as_long():
    """Products with weights take a third of both passes for the gradients of weights, attention none of it."""
    layers = layers_of_shape(Shape(**SMALL, flops=1e3))
    weights, attention = 2 * 6 * 12 * 64 / 1e3, 2 * 6 * 3 * 8 / 1e3
    assert layers.forward_s[1] == pytest.approx(weights + attention)
    assert layers.backward_s[1] == pytest.approx(2 * (weights + attention))
    assert layers.weight_s[1] == pytest.approx(weights)
    assert layers.forward_s[0] == layers.backward_s[0] == 0


@pytest.mark.parametrize(("attention", "layers_worth"), [("flash", 3.5057), ("full", 3.0674)])
def test_a_head_costs_as_much_as_three_layers(attention, layers_worth):
    """At h = 1024, V = 50257, s = 2048: 50257 / (12 (1 + c/3) 1024), c of the scores being computed, half or all."""
    shape = Shape(layers=24, hidden=1024, heads=16, vocabulary=50257, sequence=2048, attention=attention, flops=1e14)
    layers = layers_of_shape(shape)
    assert layers.forward_s[-1] / layers.forward_s[1] == pytest.approx(layers_worth, abs=1e-4)


@pytest.mark.parametrize(("dtype", "number", "state"), [("bf16", 2, 18), ("fp16", 2, 20), ("fp32", 4, 16)])
def test_state_is_that_of_adam(dtype, number, state):
    """A parameter's weights, and all that training holds of it."""
    layers = layers_of_shape(Shape(**SMALL, dtype=dtype))
    assert layers.parameter_bytes.tolist() == [number * count for count in (104, 872, 872, 96)]
    assert layers.state_bytes.tolist() == [state * count for count in (104, 872, 872, 96)]


def test_fp32_takes_twice_as_long():
    """Of products that are large enough; a stated rate holds for all types."""
    large = {"layers": 1, "hidden": 8192, "heads": 64, "vocabulary": 8192, "sequence": 8192}
    slow, fast = (layers_of_shape(Shape(**large, dtype=dtype)) for dtype in ("fp32", "bf16"))
    assert slow.forward_s[1] == pytest.approx(2 * fast.forward_s[1], rel=0.1)
    stated = [layers_of_shape(Shape(**large, dtype=dtype, flops=1e14)).forward_s[1] for dtype in ("fp32", "bf16")]
    assert stated[0] == stated[1]


def test_more_layers_than_allowed_are_refused():
    """Before they are made."""
    with pytest.raises(InputError, match="model/transformer/layers: expected at most 200000"):
        layers_of_shape(Shape(**(SMALL | {"layers": 10**9})))


@pytest.mark.parametrize("dtype", ["bf16", "fp16", "fp32"])
def test_the_largest_shape_is_still_added_up(dtype):
    """Whole numbers beyond 64 bits, without a warning."""
    most = dict.fromkeys(("hidden", "vocabulary", "sequence", "batch", "ffn", "experts", "top_k"), 10**9)
    shape = Shape(layers=2, heads=1, flops=1.0, dtype=dtype, attention="full", **most)
    layers = layers_of_shape(shape)
    # Two matrices of 10^9 x 10^9 for each of 10^9 experts are all that counts.
    assert layers.state_bytes[1] == pytest.approx(2e27 * {"bf16": 18, "fp16": 20, "fp32": 16}[dtype])
    assert layers.forward_s[1] == pytest.approx(4e45)


def test_shapes_whose_layers_are_alike_cost_what_they_did():
    """To the last bit, of GPT, Llama and a mixture, in all types and ways to train and to serve."""
    names = [each.name for each in fields(Layers) if each.name.endswith(("_s", "_bytes", "reductions"))]
    # Nothing hides messages by default.
    columns = [name for name in names if name != "hiding_s"]
    sent = [name.name for name in fields(GroupTraffic) if name.name.endswith("_bytes")]
    sizes = {"layers": 3, "hidden": 96, "heads": 6, "vocabulary": 1001, "sequence": 24, "batch": 2}
    mixture = {"experts": 8, "top_k": 3, "gated": True, "head_dim": 24}
    shared = TrainingSetup(tensor=2, data=4, context=2, sharding="zero-3", recompute="full")
    whole = replace(NO_SETUP, tensor=3, data=4, sequence_parallel=False, recompute="selective", offload=1e9)
    digest = sha256()
    for more in ({}, {"gated": True, "kv_heads": 3, "ffn": 160}, mixture):
        for dtype, attention in product(("bf16", "fp32", "fp8"), ("flash", "full")):
            shape = Shape(**sizes, **more, dtype=dtype, attention=attention, flops=1e14)
            made = [layers_of_shape(shape, setup=setup) for setup in (NO_SETUP, shared, whole)]
            for layers in (*made, layers_of_shape(replace(shape, serve=True))):
                for array in (getattr(layers, name) for name in columns):
                    digest.update(array.tobytes())
                for array in (getattr(layers.traffic, name) for name in sent):
                    digest.update(array.tobytes())
    assert digest.hexdigest() == "bbf07e890708c7a0f1a01b00bd156b580f0b3eaf6739d48630eacbce66755219"


def test_layers_that_predict_further_tokens_stand_before_the_head():
    """They are no part of a model that serves, and send what they were given on with what they made of it."""
    layers = layers_of_shape(Shape(**SMALL, mtp_layers=2))
    assert layers.kinds == ("embedding", "layer", "layer", "mtp", "mtp", "head")
    assert layers.names[3:5] == ("mtp.layers.0", "mtp.layers.1")
    assert layers.tied == ((0, 5),)
    assert layers.crossing_bytes.tolist() == [0, 96, 96, 96, 192, 288, 0]
    assert is_made_of_shape(layers)
    assert layers_of_shape(Shape(**SMALL, mtp_layers=2, serve=True)).kinds == ("embedding", "layer", "layer", "head")


def test_layers_of_a_shape_are_known_by_their_names():
    """As long as nobody has named a module, or called a layer something else."""
    layers = layers_of_shape(Shape(**SMALL))
    assert is_made_of_shape(layers)
    assert not is_made_of_shape(replace(layers, modules=("embedding", "h.0", "h.1", "output_layer")))
    assert not is_made_of_shape(replace(layers, kinds=("layer",) * 4))
    assert not is_made_of_shape(replace(layers, slices=1))
