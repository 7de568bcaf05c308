"""Tests that the memory of published runs is what a sum by hand says, and that every run fits as it was run."""

from dataclasses import replace

import pytest

from benchmarks.published import MEMORY_BYTES, WAYS, Run, list_memory_bytes, list_runs
from tiger.training.models.setup import TrainingSetup

RUNS = {run.name: run for run in list_runs()}
TEN = [
    "PTD-P 1.7B",
    "PTD-P 7.5B",
    "PTD-P 39.1B",
    "PTD-P 145.6B",
    "PTD-P 1008B",
    "NeMo GPT-3 175B, 128",
    "NeMo Llama 2 7B",
    "NeMo Llama 2 70B",
    "NeMo Llama 3 70B",
    "NeMo Llama 2 13B",
]


def add_up(run: Run, setup: TrainingSetup) -> float:
    """Return the bytes of a device of the first position, by the formulas of the papers."""
    shape, (p, t, d, c, _) = run.shape, run.degrees
    h, f, kv = shape.hidden, shape.width, shape.key
    gpt = not shape.gated
    layer = 12 * h**2 + 13 * h if gpt else 2 * h**2 + 2 * h * kv + 3 * h * f + 2 * h
    ends = (shape.vocabulary + gpt * shape.sequence) * h
    if p == 1:
        ends += 2 * h if gpt else shape.vocabulary * h + h
    once, shared = {"fp16": (4, 16), "fp8": (6, 12) if setup.gradients == "bf16" else (8, 12)}[shape.dtype]
    state = once + shared / (d * c if setup.sharding == "zero-1" else 1)
    # Of every token: with fp8 the inputs of products are a byte; masks of GPT's dropout are one.
    tokens, product = run.microbatch * shape.sequence / c, 1 if shape.dtype == "fp8" else 2
    apart = h * (2 * 2 + 2 * product) + 2 * h * gpt
    blocks = 2 * (h + 2 * kv) + product * h + (2 * (1 if gpt else 2) + product) * f
    scores = 5 * shape.heads * shape.sequence if shape.attention == "full" else 0
    unshared = 1 if setup.sequence_parallel else t
    whole = tokens * (unshared * apart + blocks + scores) / t
    kept = tokens * 2 * h * unshared / t if setup.recompute == "full" else whole
    chunks = min(2 * (p - 1) + (run.virtual - 1) * p + 1, run.microbatches * run.virtual)
    flying = chunks / run.virtual if run.virtual > 1 else min(p, run.microbatches)
    held = flying * shape.layers / p * kept + (whole - kept)
    # A mask of the embedding for every microbatch of the first stage, and logits in 4 bytes behind inputs of 2.
    held += gpt * tokens * h * unshared / t * (min(chunks, run.microbatches, 2 * p - 1) if run.virtual > 1 else flying)
    if p == 1:
        held += tokens * (4 * h * unshared + 4 * shape.vocabulary) / t
    return state * (shape.layers / p * layer + ends) / t + held


@pytest.mark.parametrize("recompute", ["none", "full"])
@pytest.mark.parametrize("sharding", ["none", "zero-1"])
@pytest.mark.parametrize("name", TEN)
def test_memory_is_that_of_a_sum_by_hand(name: str, sharding: str, recompute: str) -> None:
    """Within 1 %, with and without the distributed optimizer and full recomputation."""
    run = RUNS[name]
    setup = replace(run.setup, sharding=sharding, recompute=recompute)  # type: ignore[arg-type]  # words of its choices, as parameters of the test
    assert list_memory_bytes(run, setup)[0] == pytest.approx(add_up(run, setup), rel=0.01)


@pytest.mark.parametrize("name", RUNS)
def test_every_published_run_fits(name: str) -> None:
    """As its source has it, or in one of the ways that people train."""
    run = RUNS[name]
    ways = [run.setup] if run.is_whole else [replace(run.setup, sharding=s, recompute=r) for s, r in WAYS]
    assert min(max(list_memory_bytes(run, setup)) for setup in ways) <= MEMORY_BYTES
