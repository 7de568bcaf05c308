"""Models by their names: the shapes of those that many people run, by the figures that were published of them."""

from collections.abc import Mapping

Numbers = Mapping[str, object]
# What most of them have: Llama's kind of layer, and sequences of as many tokens where nobody says how long they are.
GATED: Numbers = {"gated": True, "sequence": 4096}


def _decoder(layers: int, hidden: int, heads: int, kv_heads: int, ffn: int, vocabulary: int) -> Numbers:
    """Return the numbers of a decoder that is built like Llama."""
    sizes = {"layers": layers, "hidden": hidden, "heads": heads, "kv_heads": kv_heads, "ffn": ffn}
    return {**GATED, **sizes, "vocabulary": vocabulary}


def _latent(layers: int, hidden: int, heads: int, ffn: int, vocabulary: int) -> Numbers:
    """Return the numbers of a decoder that is built like DeepSeek-V2, before those of its experts."""
    latent = {"head_dim": 128, "kv_lora_rank": 512, "rope_head_dim": 64, "v_head_dim": 128}
    sizes = {"layers": layers, "hidden": hidden, "heads": heads, "ffn": ffn, "vocabulary": vocabulary}
    return {**GATED, **sizes, **latent}


# Figures of the config.json at huggingface.co under the name in the comment, but where another source is given.
MODELS: Mapping[str, Numbers] = {
    # meta-llama/Llama-2-7b-hf, -13b-hf, -70b-hf
    "llama-2-7b": _decoder(32, 4096, 32, 32, 11008, 32000),
    "llama-2-13b": _decoder(40, 5120, 40, 40, 13824, 32000),
    "llama-2-70b": _decoder(80, 8192, 64, 8, 28672, 32000),
    # meta-llama/Meta-Llama-3-8B, -70B; 3.1 and 3.3 have the same shapes
    "llama-3-8b": _decoder(32, 4096, 32, 8, 14336, 128256),
    "llama-3-70b": _decoder(80, 8192, 64, 8, 28672, 128256),
    "llama-3.1-8b": _decoder(32, 4096, 32, 8, 14336, 128256),
    "llama-3.1-70b": _decoder(80, 8192, 64, 8, 28672, 128256),
    # meta-llama/Llama-3.1-405B; eight heads with keys and values, as in Dubey et al., arXiv:2407.21783, table 3
    "llama-3.1-405b": _decoder(126, 16384, 128, 8, 53248, 128256),
    # meta-llama/Llama-3.2-3B, Llama-3.3-70B-Instruct
    "llama-3.2-3b": {**_decoder(28, 3072, 24, 8, 8192, 128256), "head_dim": 128, "tied": True},
    "llama-3.3-70b": _decoder(80, 8192, 64, 8, 28672, 128256),
    # mistralai/Mistral-7B-v0.1, whose later versions have no window
    "mistral-7b": {**_decoder(32, 4096, 32, 8, 14336, 32000), "window": 4096},
    # mistralai/Mixtral-8x7B-v0.1, Mixtral-8x22B-v0.1
    "mixtral-8x7b": {**_decoder(32, 4096, 32, 8, 14336, 32000), "experts": 8, "top_k": 2},
    "mixtral-8x22b": {**_decoder(56, 6144, 48, 8, 16384, 32000), "experts": 8, "top_k": 2},
    # Qwen/Qwen2.5-7B, Qwen2.5-72B
    "qwen2.5-7b": _decoder(28, 3584, 28, 4, 18944, 152064),
    "qwen2.5-72b": _decoder(80, 8192, 64, 8, 29568, 152064),
    # Qwen/Qwen3-8B, Qwen3-32B, Qwen3-30B-A3B, Qwen3-235B-A22B
    "qwen3-8b": {**_decoder(36, 4096, 32, 8, 12288, 151936), "head_dim": 128},
    "qwen3-32b": {**_decoder(64, 5120, 64, 8, 25600, 151936), "head_dim": 128},
    "qwen3-30b-a3b": {**_decoder(48, 2048, 32, 4, 768, 151936), "head_dim": 128, "experts": 128, "top_k": 8},
    "qwen3-235b-a22b": {**_decoder(94, 4096, 64, 4, 1536, 151936), "head_dim": 128, "experts": 128, "top_k": 8},
    # deepseek-ai/DeepSeek-V2-Lite, DeepSeek-V2, DeepSeek-V3
    "deepseek-v2-lite": {
        **_latent(27, 2048, 16, 1408, 102400),
        "experts": 64,
        "top_k": 6,
        "shared_experts": 2,
        "dense_layers": 1,
        "dense_ffn": 10944,
    },
    "deepseek-v2": {
        **_latent(60, 5120, 128, 1536, 102400),
        "q_lora_rank": 1536,
        "experts": 160,
        "top_k": 6,
        "shared_experts": 2,
        "dense_layers": 1,
        "dense_ffn": 12288,
    },
    "deepseek-v3": {
        **_latent(61, 7168, 128, 2048, 129280),
        "q_lora_rank": 1536,
        "experts": 256,
        "top_k": 8,
        "shared_experts": 1,
        "dense_layers": 3,
        "dense_ffn": 18432,
        "mtp_layers": 1,
    },
    # moonshotai/Kimi-K2-Instruct
    "kimi-k2": {
        **_latent(61, 7168, 64, 2048, 163840),
        "q_lora_rank": 1536,
        "experts": 384,
        "top_k": 8,
        "shared_experts": 1,
        "dense_layers": 1,
        "dense_ffn": 18432,
    },
    # openai/gpt-oss-20b, gpt-oss-120b
    "gpt-oss-20b": {
        **_decoder(24, 2880, 64, 8, 2880, 201088),
        "head_dim": 64,
        "experts": 32,
        "top_k": 4,
        "biases": True,
        "window": 128,
        "full_step": 2,
    },
    "gpt-oss-120b": {
        **_decoder(36, 2880, 64, 8, 2880, 201088),
        "head_dim": 64,
        "experts": 128,
        "top_k": 4,
        "biases": True,
        "window": 128,
        "full_step": 2,
    },
    # google/gemma-7b, gemma-2-9b, gemma-2-27b, gemma-3-1b-pt
    "gemma-7b": {**_decoder(28, 3072, 16, 16, 24576, 256000), "head_dim": 256, "tied": True},
    "gemma-2-9b": {
        **_decoder(42, 3584, 16, 8, 14336, 256000),
        "head_dim": 256,
        "tied": True,
        "window": 4096,
        "full_step": 2,
    },
    "gemma-2-27b": {
        **_decoder(46, 4608, 32, 16, 36864, 256000),
        "head_dim": 128,
        "tied": True,
        "window": 4096,
        "full_step": 2,
    },
    "gemma-3-1b": {
        **_decoder(26, 1152, 4, 1, 6912, 262144),
        "head_dim": 256,
        "tied": True,
        "window": 512,
        "full_step": 6,
    },
    # Brown et al., NeurIPS 2020, arXiv:2005.14165, table 2.1; with the vocabulary of GPT-2
    "gpt-3-175b": {"layers": 96, "hidden": 12288, "heads": 96, "vocabulary": 50257, "sequence": 2048},
}
# What checkpoints have beside bf16, as a configuration states it.
QUANTIZED: Mapping[str, Mapping[str, object]] = {
    "deepseek-v3": {"quant_method": "fp8"},
    "kimi-k2": {"quant_method": "fp8"},
    "gpt-oss-20b": {"quant_method": "mxfp4"},
    "gpt-oss-120b": {"quant_method": "mxfp4"},
}
