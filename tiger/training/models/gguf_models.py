"""Models out of GGUF files, which serve: layers take the bytes of their tensors as stored, and a cache beside."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from tiger.errors import InputError
from tiger.model.wording import describe
from tiger.training.models.configs import USUAL_SEQUENCE
from tiger.training.models.gguf_header import Header, read_header
from tiger.training.models.limits import LAYER_LIMIT, check_size
from tiger.training.models.shape import NUMBER_LIMIT, Shape

ENDING = ".gguf"
EMBEDDING, HEAD = "token_embd.weight", "output.weight"
BLOCK = re.compile(r"blk\.([0-9]+)\..*")
# What `-ot` of emitted commands moves: matrices of all experts of a layer, and biases.
EXPERTS = re.compile(r"blk\.([0-9]+)\.ffn_(up|down|gate|gate_up)_exps\..*")
# Architectures whose layers have windows, by the step of those without one; llama.cpp keeps all tokens of others.
WINDOW_STEPS: Mapping[str, int] = {"gemma2": 2, "gemma3": 6, "gpt-oss": 2}


@dataclass(frozen=True, slots=True)
class StoredModel:
    """Hold the shape of a file's model, which serves, and the bytes of each of its L + 2 layers, and of its experts."""

    shape: Shape
    weight_bytes: tuple[int, ...]
    expert_bytes: tuple[int, ...]


def read_stored_model(path: Path) -> StoredModel:
    """Return the model of a file, for one sequence of 4,096 tokens or the most that it takes.

    Raises InputError of `model` or of the key of the file below it.
    """
    header = read_header(path)
    facts = Facts.of(header)
    heads, experts = facts.count("attention.head_count"), facts.find("expert_count")
    latent = facts.find("attention.kv_lora_rank")
    key = facts.find("attention.key_length_mla") or facts.find("attention.key_length")
    value = facts.find("attention.value_length_mla") or facts.find("attention.value_length")
    rope = None if latent is None else facts.count("rope.dimension_count")
    width, wide = facts.find("expert_feed_forward_length"), facts.find("feed_forward_length")
    mixed = experts is not None and width is not None
    dense = facts.find("leading_dense_block_count") or 0 if mixed else 0
    window = facts.find("attention.sliding_window") if facts.architecture in WINDOW_STEPS else None
    shape = Shape(
        layers=facts.count("block_count"),
        hidden=facts.count("embedding_length"),
        heads=heads,
        vocabulary=_count_tokens(header),
        sequence=min(facts.count("context_length"), USUAL_SEQUENCE),
        ffn=width if mixed else facts.count("feed_forward_length"),
        kv_heads=None if latent is not None else facts.find("attention.head_count_kv"),
        head_dim=key if key is None or rope is None else key - rope,
        experts=experts,
        top_k=None if experts is None else facts.count("expert_used_count"),
        shared_experts=facts.find("expert_shared_count") or 0 if mixed else 0,
        dense_layers=dense,
        dense_ffn=wide if dense else None,
        gated=any(".ffn_gate" in name for name in header.tensors),
        tied=HEAD not in header.tensors,
        kv_lora_rank=latent,
        q_lora_rank=None if latent is None else facts.find("attention.q_lora_rank"),
        rope_head_dim=rope,
        v_head_dim=None if latent is None else value,
        window=window,
        full_step=None if window is None else WINDOW_STEPS[facts.architecture],
        dtype="fp16",
        serve=True,
    )
    return StoredModel(shape, _add_up(header, shape.layers), _add_up_experts(header, shape.layers))


@dataclass(frozen=True, slots=True)
class Facts:
    """Hold what a file says of its model, and the name of the architecture that its keys begin with."""

    metadata: Mapping[str, object]
    architecture: str

    @classmethod
    def of(cls, header: Header) -> Self:
        """Return the facts of a header, or raise InputError where it names no architecture."""
        name = header.metadata.get("general.architecture")
        if not isinstance(name, str):
            raise InputError("model/general.architecture", f"expected a name, got {describe(name)}")
        return cls(header.metadata, name)

    def find(self, key: str) -> int | None:
        """Return a whole number of the architecture, None for 0 or where there is none.

        Lists have a number for every layer, and are taken where these are all the same. Raises InputError by the key.
        """
        value = self.metadata.get(f"{self.architecture}.{key}")
        if isinstance(value, list) and len(set(map(str, value))) == 1:
            value = value[0]
        if value is None or (type(value) is int and value == 0):
            return None
        if type(value) is not int or not 1 <= value <= NUMBER_LIMIT:
            reason = f"expected a whole number from 1 to {NUMBER_LIMIT} for all layers, got {describe(value)}"
            raise InputError(f"model/{self.architecture}.{key}", reason)
        return value

    def count(self, key: str) -> int:
        """Return a whole number that there has to be; raise InputError by the key."""
        value = self.find(key)
        if value is None:
            raise InputError(f"model/{self.architecture}.{key}", "expected a whole number, got none")
        return value


def _count_tokens(header: Header) -> int:
    """Return the size of the vocabulary, that of the embedding."""
    tensor = header.tensors.get(EMBEDDING)
    if tensor is None or len(tensor.shape) != 2:
        raise InputError("model", f"expected a matrix {EMBEDDING}, got none")
    return tensor.shape[1]


def _add_up(header: Header, layers: int) -> tuple[int, ...]:
    """Return the bytes of the tensors of embedding, every decoder layer, and head; a head without any has a copy."""
    check_size("model", layers + 2, LAYER_LIMIT)
    sums = [0] * (layers + 2)
    for name, tensor in header.tensors.items():
        block = BLOCK.fullmatch(name)
        if block is not None and int(block[1]) >= layers:
            raise InputError("model", f"expected layers below {layers} (block_count), got {describe(name)}")
        at = int(block[1]) + 1 if block is not None else layers + 1 if name.startswith("output") else 0
        sums[at] += tensor.size_bytes
    if HEAD not in header.tensors:
        sums[-1] += header.tensors[EMBEDDING].size_bytes
    if 0 in sums:
        raise InputError("model", f"expected tensors of {layers} layers (block_count), got none of {sums.index(0) - 1}")
    return tuple(sums)


def _add_up_experts(header: Header, layers: int) -> tuple[int, ...]:
    """Return the bytes of the tensors of experts of embedding, every decoder layer, and head."""
    sums = [0] * (layers + 2)
    for name, tensor in header.tensors.items():
        if (block := EXPERTS.fullmatch(name)) is not None:
            sums[int(block[1]) + 1] += tensor.size_bytes
    return tuple(sums)
