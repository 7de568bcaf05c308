"""The types that weights and caches of models that serve are kept in."""

from typing import Literal, NamedTuple

Weights = Literal[
    "fp32", "bf16", "fp16", "fp8", "int8", "int4", "mxfp4", "q8_0", "q6_k", "q5_k", "q4_k", "q4_0", "q3_k", "q2_k"
]
CacheType = Literal["bf16", "fp16", "fp8", "int8"]
Covered = Literal["all", "products", "experts"]


class WeightFormat(NamedTuple):
    """Hold the bytes of a parameter, scales included, and which parameters have them; others are as in training.

    Those are all of them, matrices of products in the decoder, or of these the experts' where there are experts.
    """

    number_bytes: float
    covered: Covered


FORMATS: dict[Weights, WeightFormat] = {
    "fp32": WeightFormat(4, "all"),
    "bf16": WeightFormat(2, "all"),
    "fp16": WeightFormat(2, "all"),
    # A scale in fp32 for blocks of 128 x 128, as DeepSeek-V3 has it, arXiv:2412.19437; by rows it is still less.
    "fp8": WeightFormat(1 + 4 / 128**2, "products"),
    # A scale in 16 bits for each row of thousands.
    "int8": WeightFormat(1, "products"),
    # A scale in 16 bits and a zero in 4 for groups of 128, as GPTQ (arXiv:2210.17323) and AWQ (arXiv:2306.00978) do.
    "int4": WeightFormat(0.5 + 2.5 / 128, "products"),
    # A scale in 8 bits for blocks of 32, as OCP Microscaling Formats 1.0 has it; of gpt-oss experts alone are in it.
    "mxfp4": WeightFormat(0.5 + 1 / 32, "experts"),
    # Bytes of blocks of 256, or of 32, as llama.cpp lays them out. Source: the structs of its ggml-common.h.
    "q8_0": WeightFormat(34 / 32, "all"),
    "q6_k": WeightFormat(210 / 256, "all"),
    "q5_k": WeightFormat(176 / 256, "all"),
    "q4_k": WeightFormat(144 / 256, "all"),
    "q4_0": WeightFormat(18 / 32, "all"),
    "q3_k": WeightFormat(110 / 256, "all"),
    "q2_k": WeightFormat(84 / 256, "all"),
}
# Bytes of a number in the cache; scales of those in 8 bits are one for many.
CACHE_BYTES: dict[CacheType, int] = {"bf16": 2, "fp16": 2, "fp8": 1, "int8": 1}
