"""The layout of Megatron-LM, there and back."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.placement.emission.megatron_parser import MegatronSplit, parse, stages_of_layout
from tiger.errors import InputError
from tiger.placement.emission.deployment import Deployment
from tiger.placement.emission.megatron import write
from tiger.training.layouts.megatron import write_layout
from tiger.training.models.setup import TrainingSetup
from tiger.training.models.shape import Shape
from tiger.training.models.transformer import layers_of_shape

Deploy = Callable[..., Deployment]

HEAD_AWARE = """\
# the head costs as much as 3.07 decoder layers, so the last stage holds 1 of 8
# instead of the layout: --decoder-first-pipeline-num-layers 1 --decoder-last-pipeline-num-layers 1
--pipeline-model-parallel-size 4 \\
--tensor-model-parallel-size 1 \\
--num-layers 8 \\
--pipeline-model-parallel-layout "Et|t*3|t*3|tL"
"""


def test_a_plan_is_written_with_its_reasons(deploy: Deploy) -> None:
    """Comments first, then flags for a command line."""
    made = deploy((0, 2, 5, 8, 10), head=3.07)
    assert write(made) == HEAD_AWARE
    assert parse(HEAD_AWARE) == MegatronSplit(stages=("Et", "ttt", "ttt", "tL"), pipeline=4, tensor=1, num_layers=8)


@given(st.data())
def test_a_plan_comes_back(deploy: Deploy, data: st.DataObject) -> None:
    """Whatever its cuts, virtual stages and tensor-parallel ranks."""
    positions, virtual, tensor = (data.draw(st.integers(1, 3)) for _ in range(3))
    inner = st.sets(st.integers(1, 19), min_size=positions * virtual - 1, max_size=positions * virtual - 1)
    cuts = (0, *sorted(data.draw(inner)), 20)
    made = deploy(cuts, np.arange(positions * tensor).reshape(positions, 1, tensor))
    split = parse(write(made))
    assert (split.pipeline, split.tensor, split.num_layers) == (positions, tensor, 18)
    assert tuple(stage.count("t") for stage in split.stages) == made.decoder_counts
    assert "".join(split.stages) == "E" + "t" * 18 + "L"


@pytest.mark.parametrize(
    ("layout", "stages"),
    [
        ("EtL", ("EtL",)),
        ("Ettt|(tt|)*2,m|L", ("Ettt", "tt", "tt", "m", "L")),
        ("E,t*3|t*2,|,t*3,L", ("Ettt", "tt", "tttL")),
        ("Et*2|(t*2|)*3,tL", ("Ett", "tt", "tt", "tt", "tL")),
        ("E|t|*2tL", ("E", "t", "", "tL")),
        ("E(t|t)*2L", ("Et", "tt", "tL")),
        ("(E)*1t*1m*1L*1", ("EtmL",)),
        ("E|(t)*2t*0|L", ("E", "tt", "L")),
    ],
)
def test_the_syntax_is_that_of_megatron(layout: str, stages: tuple[str, ...]) -> None:
    """Commas mean nothing, groups and symbols repeat, a bar ends a stage."""
    assert stages_of_layout(layout) == stages


@pytest.mark.parametrize(
    "layout",
    [
        "",
        "tL",
        "Et",
        "EtLL",
        "EEtL",
        "EtmtL",
        "Ett |tL",
        "E(t|(t|)*2)*2L",
        "Et*xL",
        "EdL",
        "Et*99999999999999L",
        "Et*99999999L",
    ],
)
def test_other_layouts_are_refused(layout: str) -> None:
    """As Megatron-LM does, and before a flood is written out."""
    with pytest.raises(InputError, match="expected") as caught:
        stages_of_layout(layout)
    assert caught.value.field == "layout"


@pytest.mark.parametrize(
    ("stages", "layout"),
    [
        (("Et", "tL"), "Et|tL"),
        (("Ett", "ttt", "ttt", "ttt", "tL"), "Ett|(t*3|)*3,tL"),
        (("E", "tt", "tt", "tt", "tt", "L"), "E|(tt|)*4,L"),
        (("EtttttL",), "Et*5L"),
    ],
)
def test_runs_are_shortened(stages: tuple[str, ...], layout: str) -> None:
    """Three or more of the same."""
    assert write_layout(stages) == layout


@given(st.lists(st.integers(0, 4), min_size=1, max_size=12))
def test_every_layout_is_read_back(counts: list[int]) -> None:
    """In short or not."""
    stages = ["t" * count for count in counts]
    stages[0] = f"E{stages[0]}"
    stages[-1] += "L"
    assert stages_of_layout(write_layout(tuple(stages))) == tuple(stages)


@pytest.mark.parametrize(
    ("cuts", "comment"),
    [
        ((0, 3, 5, 8), "# no flag is needed instead of the layout: all stages hold equally many decoder layers"),
        ((0, 4, 6, 8), "# instead of the layout: --decoder-first-pipeline-num-layers 3 --decoder-last-"),
        ((0, 5, 8), "# instead of the layout: --decoder-first-pipeline-num-layers 4\n"),
    ],
)
def test_flags_that_say_the_same_are_named(deploy: Deploy, cuts: tuple[int, ...], comment: str) -> None:
    """Where only the ends differ."""
    assert comment in write(deploy(cuts))


@pytest.mark.parametrize("cuts", [(0, 8), (0, 1, 4, 8), (0, 2, 4, 7, 8), (0, 2, 3, 6, 8)])
def test_flags_are_not_named_where_they_cannot_say_it(deploy: Deploy, cuts: tuple[int, ...]) -> None:
    """One stage, one without decoder layers, or stages in between that differ."""
    assert "instead" not in write(deploy(cuts))


def test_virtual_stages_are_a_layout_alone(deploy: Deploy) -> None:
    """Their number follows from it."""
    text = write(deploy((0, 2, 4, 6, 8), [[[0]], [[1]]]))
    assert "size 2 \\\n--tensor-model-parallel-size 1 \\\n--num-layers 6 \\\n" in text
    assert text.endswith('"Et|tt|tt|tL"\n')
    assert "# the layout says the virtual stages: no --num-layers-per-virtual-pipeline-stage beside it\n" in text
    assert "instead" not in text


def test_another_order_of_devices_is_a_comment(deploy: Deploy) -> None:
    """Ranks are launched in it."""
    text = write(deploy((0, 2, 4), [[[1]], [[0]]]))
    assert "# node rank 0: machine 0 ('gpu1', 'gpu0'), CUDA_VISIBLE_DEVICES=1,0\n" in text


@pytest.mark.parametrize("schedule", ["gpipe", "zero-bubble"])
def test_a_schedule_that_megatron_does_not_have_is_a_comment(deploy: Deploy, schedule: str) -> None:
    """It runs another."""
    text = write(deploy((0, 2, 4), schedule=schedule))
    assert f"# made for the schedule {schedule}, which Megatron-LM does not have: it runs 1F1B\n" in text
    assert "made for" not in write(deploy((0, 2, 4), schedule="1f1b"))


@pytest.mark.parametrize(("tied", "flags"), [(True, 0), (False, 1)])
def test_ends_of_a_shape_that_are_not_tied_are_a_flag(deploy: Deploy, tied: bool, flags: int) -> None:  # noqa: FBT001 (a case, not a mode)
    """Megatron-LM ties them without."""
    shape = Shape(layers=2, hidden=8, heads=2, vocabulary=9, sequence=4, tied=tied)
    text = write(replace(deploy((0, 2, 4)), layers=layers_of_shape(shape)))
    assert text.count("--untie-embeddings-and-output-weights \\\n") == flags
    assert parse(text).stages == ("Et", "tL")


def test_how_a_model_is_trained_is_written(deploy: Deploy) -> None:
    """As flags, and in a comment; what has no flag is a comment alone."""
    shape = Shape(layers=2, hidden=8, heads=2, vocabulary=9, sequence=8, experts=2)
    first = TrainingSetup(data=2, context=2, expert=2, sharding="zero-1", recompute="full", optimizer="adam-bf16")
    grid = [[[0, 1]] * 1, [[2, 3]] * 1]
    text = write(replace(deploy((0, 2, 4), grid), layers=layers_of_shape(shape, setup=first)))
    flags = [line.removesuffix(" \\") for line in text.splitlines() if line.startswith("--")]
    assert flags[1:10] == [
        "--tensor-model-parallel-size 2",
        "--sequence-parallel",
        "--context-parallel-size 2",
        "--expert-model-parallel-size 2",
        "--use-distributed-optimizer",
        "--recompute-granularity full --recompute-method uniform",
        "--recompute-num-layers 1",
        "--use-precision-aware-optimizer",
        "--exp-avg-dtype bf16",
    ]
    some = layers_of_shape(shape, setup=replace(first, recompute_layers=2))
    text_of_some = write(replace(deploy((0, 2, 4), grid), layers=some))
    assert "--recompute-method block \\\n--recompute-num-layers 2 \\\n" in text_of_some
    what = "context 2, expert 2, sharding zero-1, recompute full, optimizer adam-bf16"
    assert f"# memory and time are those of training with {what}\n" in text
    assert parse(text).stages == ("Et", "tL")
    hiding = replace(layers_of_shape(shape), setup=TrainingSetup(tensor=2, overlap_tensor=0.0))
    wide = replace(deploy((0, 2, 4), np.arange(4).reshape(2, 1, 2)), layers=hiding)
    assert "--sequence-parallel \\\n--tp-comm-overlap" in write(wide)
    third = TrainingSetup(
        data=2, sharding="zero-3", precision="fp8", optimizer="adam-8bit", offload=1e9, sequence_parallel=False
    )
    text = write(replace(deploy((0, 2, 4), grid), layers=layers_of_shape(shape, setup=third)))
    assert "--use-megatron-fsdp --data-parallel-sharding-strategy optim_grads_params" in text
    assert "\n--bf16 \\\n--fp8-format hybrid \\\n" in text
    assert "# moments in 8 bits" in text
    assert "# add --cpu-offloading-num-layers" in text
    assert "--sequence-parallel" not in text


def test_mtp_is_written(deploy: Deploy) -> None:
    """With its flag."""
    made = deploy((0, 2, 6))
    mtp = replace(made.layers, kinds=("embedding", "layer", "layer", "layer", "mtp", "head"))
    text = write(replace(made, layers=mtp))
    assert '--mtp-num-layers 1 \\\n--pipeline-model-parallel-layout "Et|ttmL"\n' in text
    assert parse(text).stages == ("Et", "ttmL")


def test_a_shape_that_predicts_further_tokens_is_written(deploy: Deploy) -> None:
    """With the flags of any shape, sequence parallelism among them."""
    shape = Shape(layers=2, hidden=8, heads=2, vocabulary=9, sequence=4, gated=True, mtp_layers=1)
    layers = layers_of_shape(shape, setup=TrainingSetup(tensor=2))
    text = write(deploy((0, 2, 5), np.arange(4).reshape(2, 1, 2), layers=layers))
    assert "--sequence-parallel" in text
    assert "--untie-embeddings-and-output-weights" in text
    assert "--mtp-num-layers 1 \\\n" in text
    assert text.endswith('--pipeline-model-parallel-layout "Et|tmL"\n')


@pytest.mark.parametrize(
    ("cuts", "kinds", "reason"),
    [
        ((0, 1, 6), "EEtttL", "expected all of the embedding in stage 0, got some in 1"),
        ((0, 5, 6), "EtttLL", "expected all of the head in stage 1, got some in 0"),
        ((0, 2, 6), "EtLttt", "in this order, got another"),
        ((0, 2, 6), "tEtttL", "in this order, got another"),
        ((0, 4, 6), "EttmmL", "expected all MTP layers in one of the last stages"),
    ],
)
def test_what_a_layout_cannot_say_is_refused(deploy: Deploy, cuts: tuple[int, ...], kinds: str, reason: str) -> None:
    """It has one E in front and one L at the end."""
    made = deploy(cuts)
    named = {"E": "embedding", "t": "layer", "m": "mtp", "L": "head"}
    layers = replace(made.layers, kinds=tuple(named[kind] for kind in kinds))
    with pytest.raises(InputError, match=reason) as caught:
        write(replace(made, layers=layers))
    assert caught.value.field == "emit"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "expected one E"),
        (HEAD_AWARE.replace("size 4", "size 3"), "expected a multiple of 3 stages, got 4"),
        (HEAD_AWARE.replace("layers 8", "layers 9"), "expected 9 decoder layers, as --num-layers says, got 8"),
        (HEAD_AWARE.replace("size 4", "size 0"), "expected --pipeline-model-parallel-size with a whole number"),
        (HEAD_AWARE.replace("--num-layers 8 \\\n", ""), "expected --num-layers with a whole number from 1, got ''"),
    ],
)
def test_other_texts_are_refused(text: str, reason: str) -> None:
    """They say what is wrong."""
    with pytest.raises(InputError, match=reason):
        parse(text)
