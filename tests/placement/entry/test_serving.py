"""Plans for models that serve: what is asked for, what comes of it, and what it is compared with."""

from pathlib import Path

import numpy as np
import pytest

import tiger
from tests.placement.emission.llamacpp_parser import CPU, parse
from tiger.errors import InputError
from tiger.placement.entry.explanation import explain_placement
from tiger.placement.entry.summary import placement_summary

EXAMPLES = Path(__file__).parents[3] / "examples"
DECODE, HOME = EXAMPLES / "models/decode8b.csv", EXAMPLES / "clusters/home.json"
SERVED = "llama-3-8b:weights=q4_k,serve=true,sequence=8192"


def test_one_card_is_quicker_than_two_for_a_single_token() -> None:
    """The bottleneck rule spreads 34 layers over both, which takes a token 7.1 ms where the fast one takes 4.9."""
    spread, alone = (tiger.place(DECODE, HOME, objective=each) for each in ("throughput", "latency"))
    assert sum(stage.compute_s for stage in spread.stages) == pytest.approx(7.07e-3, rel=1e-3)
    assert [stage.device for stage in alone.stages] == ["rtx4090"]
    assert (alone.latency_s, alone.optimal) == (pytest.approx(4.8513e-3, rel=1e-4), True)
    assert alone.serving.split.latency_s == pytest.approx(8.0542e-3, rel=1e-4)
    assert alone.serving.gain == pytest.approx(alone.serving.split.latency_s / alone.latency_s)


def test_as_many_sequences_as_fit() -> None:
    """One more exceeds some device in every split, by hand: each has 2 x 8 heads x 128 x 2 bytes a token and layer."""
    report = tiger.place(SERVED, HOME, objective="cache")
    figures = report.serving
    assert (report.optimal, figures.sequences) == (True, figures.most_sequences)
    cache = 8192 * 2 * 8 * 128 * 2
    layers = tiger.place(SERVED, HOME).deployment.layers
    weights = layers.state_bytes - np.where(np.array(layers.kinds) == "layer", cache, 0)
    decoder = np.arange(1, 33)
    fits = [
        all(weights[part].sum() + count * cache * np.isin(part, decoder).sum() <= room for part, room in parts)
        for count in (figures.sequences, figures.sequences + 1)
        for cut in range(1, 34)
        for a, b in ((24e9, 12e9), (12e9, 24e9))
        for parts in [((np.arange(cut), a), (np.arange(cut, 34), b))]
    ]
    assert (any(fits[:66]), any(fits[66:])) == (True, False)


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"objective": "cache"}, "objective"),
        ({"objective": "latency", "schedule": "1f1b"}, "schedule"),
        ({"objective": "latency", "solver": "neal"}, "solver"),
    ],
)
def test_what_does_not_go_together_is_refused(options: dict[str, str], field: str) -> None:
    """A table of layers does not say what its cache is."""
    with pytest.raises(InputError) as caught:
        tiger.place(DECODE, HOME, **options)
    assert caught.value.field == field


CARDS, MIXTURE = EXAMPLES / "clusters/cards_and_host.json", "gpt-oss-120b:weights=q4_k,serve=true,sequence=4096"


def test_layers_on_the_cpu_count_at_its_speed() -> None:
    """Without experts apart, 17 of 38 layers are there; their time is their own over the speed of the CPU."""
    report = tiger.place(MIXTURE, CARDS, objective="latency")
    stage, layers = report.stages[1], report.deployment.layers
    assert (stage.device, len(stage.ops), report.optimal) == ("host", 17, True)
    begin, speed = len(report.stages[0].ops), report.deployment.cluster.speed
    assert stage.compute_s == pytest.approx(layers.forward_s[begin : begin + 17].sum() / speed[2])
    # Of a step most is read from memory, at 90 GB/s beside 1,008.
    assert speed[2] / speed[0] == pytest.approx(90 / 1008, rel=0.5)


def test_experts_on_the_cpu_are_quicker_than_layers_there() -> None:
    """Attention and caches stay on the GPUs; what each device holds adds up to the model, the host's in its stage."""
    plain, apart = (tiger.place(MIXTURE, CARDS, objective="latency", experts_on_cpu=flag) for flag in (False, True))
    hosted = apart.serving.experts_on_cpu
    assert (apart.latency_s < 0.85 * plain.latency_s, apart.optimal) == (True, True)
    assert (hosted.device, len(hosted.layers)) == ("host", 17)
    held = {stage.device: stage.memory_bytes for stage in apart.stages}
    assert held["host"] > hosted.memory_bytes
    assert sum(held.values()) == pytest.approx(apart.deployment.layers.state_bytes.sum())
    assert all(stage.memory_bytes <= stage.capacity_bytes for stage in apart.stages)
    assert sum(stage.compute_s for stage in apart.stages) == pytest.approx(apart.latency_s, rel=1e-2)


def test_a_report_with_experts_on_the_cpu_comes_back() -> None:
    """As a document, for a service that answers one."""
    report = tiger.place(MIXTURE, CARDS, objective="latency", experts_on_cpu=True)
    again = tiger.PlacementReport.from_dict(report.to_dict())
    assert (again.serving, again.optimal) == (report.serving, True)
    assert "of 17 layers on host" in placement_summary(report)


def test_llamacpp_is_told_of_experts_on_the_cpu() -> None:
    """The plan read back from its flags is the one of the report; other systems refuse it."""
    report = tiger.place(MIXTURE, CARDS, objective="latency", experts_on_cpu=True)
    split = parse(report.emit("llama.cpp"), 36)
    names = [f"decoder.layers.{k}" for k, place in enumerate(split.experts) if place == CPU]
    assert tuple(names) == report.serving.experts_on_cpu.layers
    own = {op: stage.device for stage in report.stages for op in stage.ops}
    gpus = {"rtx4090": 0, "rtx3060": 1}
    assert list(split.layers) == [gpus[own[f"decoder.layers.{k}"]] for k in range(36)]
    with pytest.raises(InputError, match="emit: expected experts on the device of their layer, as vLLM has no others"):
        report.emit("vllm")


@pytest.mark.parametrize(
    ("model", "cluster", "options", "field"),
    [
        (MIXTURE, HOME, {"objective": "latency"}, "experts_on_cpu"),
        (SERVED, CARDS, {"objective": "latency"}, "experts_on_cpu"),
        (MIXTURE, CARDS, {}, "experts_on_cpu"),
        (MIXTURE, CARDS, {"objective": "latency", "tensor": 2}, "experts_on_cpu"),
    ],
)
def test_experts_need_a_cpu_and_a_mixture(model: str, cluster: Path, options: dict[str, object], field: str) -> None:
    """And single devices, for the least latency."""
    with pytest.raises(InputError) as caught:
        tiger.place(model, cluster, experts_on_cpu=True, **options)
    assert caught.value.field == field


def test_plans_that_serve_are_explained() -> None:
    """With what they are compared with, and no advice on training."""
    apart = explain_placement(tiger.place(MIXTURE, CARDS, objective="latency", experts_on_cpu=True))
    many = explain_placement(tiger.place(SERVED, HOME, objective="cache"))
    assert any("Experts of 17 layers are on host: 30.5 GB" in each for each in apart.found)
    assert any("as llama.cpp cuts layers, it takes" in each for each in apart.quality)
    assert "28 sequences fit at once." in many.found
    assert any("have room for 28." in each for each in many.quality)
    assert not any("--schedule" in each for each in (*many.advice, *apart.advice))


def test_bug_the_step_of_experts_on_the_cpu_ends_at_their_latency() -> None:
    """It was said to leave the time where it was."""
    apart = tiger.place(MIXTURE, CARDS, objective="latency", experts_on_cpu=True)
    assert apart.progress[-1].cost == apart.latency_s


def test_bug_models_that_serve_are_given_advice_of_their_own() -> None:
    """They have no activations to compute again, and no states of an optimizer."""
    report = tiger.place("llama-3-70b", "rtx4090:1", serve=1, sequence=4096)
    assert (
        "smaller types of weights and cache, or fewer and shorter sequences take less" in report.violations[0].message
    )


def test_bug_most_sequences_are_explained_as_such() -> None:
    """Not as speed."""
    report = tiger.place("llama-3-8b:serve=true,weights=q4_k,sequence=4096", HOME, objective="cache")
    told = explain_placement(report)
    assert "No placement of this kind has room for more: it is proved optimal." in told.quality


@pytest.mark.parametrize(("schedule", "sequences"), [("interleaved", 25), ("zb-v", 24), ("chimera", 6)])
def test_bug_stages_of_one_device_that_serve_were_counted_one_by_one(schedule: str, sequences: int) -> None:
    """A device has room for as many sequences as go beside the weights of both its stages."""
    report = tiger.place(f"{SERVED},batch=4", HOME, schedule=schedule, pipeline=2)
    stages = sum(each.stages for each in report.deployment.plan.directions)
    assert (stages, report.serving.sequences) == (4, sequences)


@pytest.mark.parametrize("schedule", ["interleaved", "zb-v", "chimera"])
def test_bug_layers_in_proportion_to_memory_have_one_stage_a_device(schedule: str) -> None:
    """They were to run by schedules that have two, which ended in an error where a CPU has the first layers."""
    report = tiger.place(f"{SERVED},batch=4", CARDS, schedule=schedule, pipeline=2)
    plain = tiger.place(f"{SERVED},batch=4", CARDS, schedule="1f1b", pipeline=2)
    assert report.serving.split == plain.serving.split
