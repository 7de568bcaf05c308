"""Tests of models out of GGUF files, which are written here by the package that others write them with."""

import builtins
import os
import struct
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from gguf import GGMLQuantizationType, GGUFWriter

import tiger
from tiger.errors import InputError
from tiger.training.documents import model_document
from tiger.training.models.reading import model_of_document, read_model
from tiger.training.models.serving import StoredBytes
from tiger.training.models.setup import TrainingSetup
from tiger.training.models.sizes import model_of
from tiger.training.models.transformer import layers_of_shape

LAYERS, HIDDEN, FFN, TOKENS = 2, 256, 512, 100
# Bytes of 256 weights as they are laid out.
Q4_K, Q6_K, F32 = 144, 210, 1024
MATRICES = {
    "attn_q.weight": (HIDDEN, HIDDEN),
    "attn_k.weight": (HIDDEN // 2, HIDDEN),
    "attn_v.weight": (HIDDEN // 2, HIDDEN),
    "attn_output.weight": (HIDDEN, HIDDEN),
    "ffn_gate.weight": (FFN, HIDDEN),
    "ffn_up.weight": (FFN, HIDDEN),
    "ffn_down.weight": (HIDDEN, FFN),
}
# Of a layer: matrices in Q4_K, the norms of attention and block in F32.
LAYER_BYTES = sum(rows * columns for rows, columns in MATRICES.values()) // 256 * Q4_K + 2 * F32
# As llama.cpp keeps the cache: two bytes for each of 128 numbers of keys and of values.
TOKEN_BYTES = 2 * 2 * HIDDEN // 2
Change = Callable[[GGUFWriter], None]


def ignore(_: GGUFWriter) -> None:
    """Change nothing."""


def write(path: Path, change: Change = ignore, *, tied: bool = False, architecture: str = "llama") -> Path:
    """Write a model of two layers with heads of 32, half as many with keys, in Q4_K and a head in Q6_K."""
    writer = GGUFWriter(path, architecture)
    writer.add_block_count(LAYERS)
    writer.add_embedding_length(HIDDEN)
    writer.add_feed_forward_length(FFN)
    writer.add_head_count(8)
    writer.add_head_count_kv(4)
    writer.add_key_length(32)
    writer.add_value_length(32)
    writer.add_context_length(8192)
    writer.add_token_list([f"t{k}" for k in range(TOKENS)])
    change(writer)
    add(writer, "token_embd.weight", (TOKENS, HIDDEN))
    for k in range(LAYERS):
        for name, shape in MATRICES.items():
            add(writer, f"blk.{k}.{name}", shape)
        for name in ("attn_norm.weight", "ffn_norm.weight"):
            writer.add_tensor(f"blk.{k}.{name}", np.zeros(HIDDEN, np.float32))
    writer.add_tensor("output_norm.weight", np.zeros(HIDDEN, np.float32))
    if not tied:
        add(writer, "output.weight", (TOKENS, HIDDEN), GGMLQuantizationType.Q6_K, Q6_K)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def add(
    writer: GGUFWriter,
    name: str,
    shape: tuple[int, int],
    kind: GGMLQuantizationType = GGMLQuantizationType.Q4_K,
    size: int = Q4_K,
) -> None:
    """Add a matrix of some rows and columns as it is laid out."""
    writer.add_tensor(name, np.zeros((shape[0], shape[1] // 256 * size), np.uint8), raw_dtype=kind)


def test_layers_take_the_bytes_of_their_tensors(tmp_path: Path) -> None:
    """And a cache of one sequence of 4,096 tokens, which a warning says; other numbers of both where they are given."""
    path = write(tmp_path / "model.GGUF")
    model = model_of(path)
    assert model.given.state_bytes.tolist() == [
        TOKENS * Q4_K,
        *[LAYER_BYTES + 4096 * TOKEN_BYTES] * LAYERS,
        TOKENS * Q6_K + F32,
    ]
    assert read_model(str(path)).state_bytes.tolist() == model.given.state_bytes.tolist()
    assert not model.given.backward_s.any()
    # Weights and cache are read once a token, at four fifths of the bandwidth of an H100.
    assert model.given.forward_s[1] > (LAYER_BYTES + 4096 * TOKEN_BYTES) / (0.8 * 3350e9)
    more = model.serve(3).layers_for(TrainingSetup(tensor=8, sequence=1000)).state_bytes
    # Four heads with keys and values go to eight devices twice.
    assert more.tolist() == [
        TOKENS * Q4_K,
        *[LAYER_BYTES + 2 * 3 * 1000 * TOKEN_BYTES] * LAYERS,
        TOKENS * Q6_K + F32,
    ]
    report = tiger.place(path, "dgx-h100:1", pipeline=2)
    assert report.warnings == (
        "the file says nothing of how long sequences are: 4,096 tokens are taken, state another as sequence",
    )
    assert tiger.plan(path, "dgx-h100:1", serve=2, batch=2, sequence=512).feasible


def test_a_model_may_lie_in_several_files(tmp_path: Path) -> None:
    """Any of which stands for all."""
    whole = model_of(write(tmp_path / "whole.gguf")).given.state_bytes
    first = write(tmp_path / "m-00001-of-00002.gguf", tied=True)
    writer = GGUFWriter(tmp_path / "m-00002-of-00002.gguf", "llama")
    add(writer, "output.weight", (TOKENS, HIDDEN), GGMLQuantizationType.Q6_K, Q6_K)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    for path in (first, tmp_path / "m-00002-of-00002.gguf"):
        assert model_of(path).given.state_bytes.tolist() == whole.tolist()
    (tmp_path / "m-00002-of-00002.gguf").unlink()
    with pytest.raises(InputError, match=r"^model: cannot read '.*m-00002-of-00002.gguf': expected a regular file"):
        model_of(first)


def test_a_head_without_a_matrix_has_a_copy_of_the_embedding(tmp_path: Path) -> None:
    """Where both are on one device it holds that once."""
    model = model_of(write(tmp_path / "m.gguf", tied=True))
    assert model.given.state_bytes[[0, -1]].tolist() == [TOKENS * Q4_K, TOKENS * Q4_K + F32]
    assert model.given.tied == ((0, 3),)


def test_other_attention_has_another_cache(tmp_path: Path) -> None:
    """Latent vectors of 64 and 16 for the position, and windows of every other layer."""

    def latent(writer: GGUFWriter) -> None:
        writer.add_kv_lora_rank(64)
        writer.add_rope_dimension_count(16)
        writer.add_key_length_mla(48)
        writer.add_value_length_mla(32)

    made = model_of(write(tmp_path / "latent.gguf", latent, architecture="deepseek2")).given
    assert made.state_bytes[1] == LAYER_BYTES + 4096 * 2 * (64 + 16)
    sliding = write(tmp_path / "s.gguf", lambda writer: writer.add_sliding_window(128), architecture="gpt-oss")
    assert (model_of(sliding).given.state_bytes - LAYER_BYTES)[1:3].tolist() == [128 * TOKEN_BYTES, 4096 * TOKEN_BYTES]


def test_mixtures_work_with_some_of_their_experts(tmp_path: Path) -> None:
    """Two of eight, each as wide as the file says, but for a dense layer in front."""

    def mixture(writer: GGUFWriter) -> None:
        writer.add_expert_count(8)
        writer.add_expert_used_count(2)
        writer.add_expert_feed_forward_length(128)
        writer.add_leading_dense_block_count(1)

    model = model_of(write(tmp_path / "m.gguf", mixture, architecture="qwen3moe"))
    assert model.shape is not None
    assert (model.shape.experts, model.shape.top_k, model.shape.width) == (8, 2, 128)
    stated = layers_of_shape(replace(model.shape, flops=1.0))
    flops = stated.forward_s / 2
    assert flops[1] - flops[2] == pytest.approx(3 * HIDDEN * (FFN - 2 * 128) - 8 * HIDDEN)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda writer: writer.add_head_count([8, 4]), r"model/llama.attention.head_count: expected a whole number"),
        (lambda writer: writer.add_block_count(1), r"model: expected layers below 1 \(block_count\), got 'blk.1."),
        (lambda writer: writer.add_context_length(0), "model/llama.context_length: expected a whole number, got none"),
        (lambda writer: writer.add_head_count_kv(3), "model/transformer/kv_heads: expected a divisor of heads"),
    ],
)
def test_a_file_that_says_too_little_is_refused(tmp_path: Path, change: Change, message: str) -> None:
    """By the key of the file."""
    with pytest.raises(InputError, match=message):
        model_of(write(tmp_path / "m.gguf", change))


def test_what_is_no_such_file_is_refused(tmp_path: Path) -> None:
    """Cut off, of another kind, a pipe, nothing, or without tensors of a language model."""
    whole = write(tmp_path / "whole.gguf").read_bytes()
    for content in (b"", b"GGUF", b"no model at all", whole[:1000], whole[:-1000]):
        (tmp_path / "m.gguf").write_bytes(content)
        with pytest.raises(InputError, match=r"^model: cannot read '.*m.gguf': expected a GGUF file"):
            model_of(tmp_path / "m.gguf")
    os.mkfifo(tmp_path / "pipe.gguf")
    for path in (tmp_path / "pipe.gguf", tmp_path / "missing.gguf", tmp_path):
        with pytest.raises(InputError, match=r"^model: "):
            read_model(path)
    writer = GGUFWriter(tmp_path / "e.gguf", "llama")
    writer.add_block_count(1)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    with pytest.raises(InputError, match=r"^model/llama.attention.head_count: expected a whole number, got none"):
        model_of(tmp_path / "e.gguf")


def test_services_take_no_such_file(tmp_path: Path) -> None:
    """It is no text, and large."""
    path = write(tmp_path / "m.gguf")
    for read in (lambda: model_document(path), lambda: model_of_document({"file": "m.gguf", "text": "GGUF"})):
        with pytest.raises(InputError, match=r"^model: expected text, as a GGUF file is read where it lies"):
            read()


def test_a_missing_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With what installs it."""
    path, real = write(tmp_path / "m.gguf"), builtins.__import__

    def refuse(name: str, *rest: object) -> object:
        if name == "gguf":
            raise ImportError(name)
        return real(name, *rest)  # type: ignore[arg-type]  # passed on

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(InputError, match=r"^model: .* pip install 'tiger-mapper\[gguf\]'"):
        model_of(path)


def state_keys(path: Path, value: bytes) -> Path:
    """Write a file with one key, whose value is as bytes have it, and no tensors."""
    name = b"general.alignment"
    path.write_bytes(b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, len(name)) + name + value)
    return path


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (struct.pack("<IIQ", 9, 0, 2**40), "a list of 1,099,511,627,776 values"),
        (struct.pack("<IIQ", 9, 0, 2**20), "its metadata end early"),
        (struct.pack("<IIQ", 9, 8, 2**20), "its metadata end early"),
        (struct.pack("<IIQI", 9, 9, 1, 9) * 2000, "a value of type 9 in a list"),
        (struct.pack("<IQ", 8, 2**60), "its metadata end early"),
        (struct.pack("<I", 99), "a value of type 99"),
    ],
)
def test_bug_lists_longer_than_their_file_were_looped_over(value: bytes, reason: str, tmp_path: Path) -> None:
    """And lists in lists went as deep as Python does."""
    with pytest.raises(InputError, match="expected a GGUF file") as caught:
        read_model(state_keys(tmp_path / "model.gguf", value))
    assert reason in caught.value.reason


def test_bug_layers_without_tensors_were_free(tmp_path: Path) -> None:
    """And as many of them as a file stated were made."""
    for count, reason in ((3, "expected tensors of 3 layers"), (10**9, "expected at most")):
        path = write(tmp_path / f"{count}.gguf", lambda writer, count=count: writer.add_block_count(count))
        with pytest.raises(InputError, match=reason):
            read_model(path)


def test_bug_steps_read_weights_as_they_are_stored(tmp_path: Path) -> None:
    """A layer whose file has a billion bytes more takes as long as these are read, whatever its shape."""
    shape = model_of(write(tmp_path / "model.gguf")).shape
    assert shape is not None
    files = [StoredBytes((10**6, stored, 10**9, 10**6), (0,) * 4) for stored in (10**9, 2 * 10**9)]
    few, many = (layers_of_shape(shape, stored=each).forward_s[1] for each in files)
    norms = 1 + 2 * HIDDEN / sum(rows * columns for rows, columns in MATRICES.values())
    assert many - few == pytest.approx(10**9 / norms / (0.8 * 3350e9), rel=1e-3)


def test_bug_experts_take_the_bytes_of_their_own_tensors(tmp_path: Path) -> None:
    """Where they are of another type than the rest, a share of the layer as counted was not what leaves a GPU."""

    def mixture(writer: GGUFWriter) -> None:
        writer.add_expert_count(8)
        writer.add_expert_used_count(2)
        writer.add_expert_feed_forward_length(128)
        add(writer, "blk.1.ffn_up_exps.weight", (8 * 128, HIDDEN), GGMLQuantizationType.Q6_K, Q6_K)

    made = model_of(write(tmp_path / "m.gguf", mixture, architecture="qwen3moe")).given
    assert made.served is not None
    assert made.served.expert_bytes.tolist() == [0, 0, 8 * 128 * HIDDEN // 256 * Q6_K, 0]
