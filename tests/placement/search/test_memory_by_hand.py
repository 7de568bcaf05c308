"""No device of a plan for serving holds more than it has, by sums of published numbers done apart from the package."""

from pathlib import Path

import pytest

import tiger

EXAMPLES = Path(__file__).parents[3] / "examples"
CARDS = {"rtx4090": 24e9, "rtx3060": 12e9, "host": 64e9}
# Layers, hidden, heads, heads of keys, width of a head, width of a block, vocabulary, tied, experts.
MODELS = {
    "llama-2-7b": (32, 4096, 32, 32, 128, 11008, 32000, False, 1),
    "llama-2-13b": (40, 5120, 40, 40, 128, 13824, 32000, False, 1),
    "llama-3-8b": (32, 4096, 32, 8, 128, 14336, 128256, False, 1),
    "llama-3-70b": (80, 8192, 64, 8, 128, 28672, 128256, False, 1),
    "llama-3.2-3b": (28, 3072, 24, 8, 128, 8192, 128256, True, 1),
    "mixtral-8x7b": (32, 4096, 32, 8, 128, 14336, 32000, False, 8),
    "qwen2.5-7b": (28, 3584, 28, 4, 128, 18944, 152064, False, 1),
    "qwen3-8b": (36, 4096, 32, 8, 128, 12288, 151936, False, 1),
    "qwen3-32b": (64, 5120, 64, 8, 128, 25600, 151936, False, 1),
    "qwen3-30b-a3b": (48, 2048, 32, 4, 128, 768, 151936, False, 128),
}
# A block of 256 weights takes 144 bytes in q4_k; a number of the cache takes 2.
WEIGHT, NUMBER, TOKENS = 144 / 256, 2, 4096


def parts_of(model: str, sequences: int) -> dict[str, tuple[float, float, float]]:
    """Return the bytes of weights, of experts among them, and of the cache of every layer by its name."""
    count, hidden, heads, kv, head, ffn, vocabulary, _, experts = MODELS[model]
    attention = 2 * hidden * heads * head + 2 * hidden * kv * head
    blocks = experts * 3 * hidden * ffn
    router = hidden * experts if experts > 1 else 0
    cache = 2.0 * kv * head * NUMBER * TOKENS * sequences
    layer = ((attention + blocks + router + 2 * hidden) * WEIGHT, blocks * WEIGHT * (experts > 1), cache)
    ends = {"embedding": (vocabulary * hidden * WEIGHT, 0.0, 0.0)}
    ends |= {"output_layer": ((vocabulary * hidden + hidden) * WEIGHT, 0.0, 0.0)}
    return {**ends, **{f"decoder.layers.{k}": layer for k in range(count)}}


@pytest.mark.parametrize("objective", ["throughput", "latency", "cache"])
@pytest.mark.parametrize("model", MODELS)
def test_no_device_holds_more_than_it_has(model: str, objective: str) -> None:
    """Weights and keys and values, on two cards and a CPU; experts of a mixture may be apart."""
    spec = f"{model}:weights=q4_k,serve=true,sequence={TOKENS},batch=2"
    apart = objective == "latency" and MODELS[model][-1] > 1
    report = tiger.place(spec, EXAMPLES / "clusters/cards_and_host.json", objective=objective, experts_on_cpu=apart)
    parts = parts_of(model, report.serving.sequences if objective == "cache" else 2)
    hosted = () if report.serving.experts_on_cpu is None else report.serving.experts_on_cpu.layers
    held = dict.fromkeys(CARDS, 0.0)
    for stage in report.stages:
        names = set(stage.ops)
        # One matrix serves both ends where they share it.
        shared = MODELS[model][-2] and {"embedding", "output_layer"} <= names
        held[stage.device] -= parts["embedding"][0] if shared else 0.0
        for name in stage.ops:
            weights, experts, cache = parts[name]
            held[stage.device] += weights + cache - (experts if name in hosted else 0.0)
            held["host"] += experts if name in hosted else 0.0
    assert report.feasible
    assert all(size <= CARDS[name] for name, size in held.items())
    total = {stage.device: stage.memory_bytes for stage in report.stages}
    assert {name: held[name] for name in total} == pytest.approx(total, rel=1e-5)
