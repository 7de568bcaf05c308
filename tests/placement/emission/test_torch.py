"""The split of torch, there and back."""

import json
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.placement.emission.torch_parser import TorchSplit, parse
from tiger.errors import InputError
from tiger.placement.emission.deployment import Deployment
from tiger.placement.emission.formats import WRITERS
from tiger.placement.emission.torch import write
from tiger.training.models.shape import Shape
from tiger.training.models.transformer import layers_of_shape
from tiger.training.schedules.pass_orders import Schedule

Deploy = Callable[..., Deployment]


def test_a_plan_is_written(deploy: Deploy) -> None:
    """Modules of every stage under both names of torchtitan, and where stages begin."""
    document = json.loads(write(deploy((0, 2, 4))))
    chunks = [["tok_embeddings", "layers.0"], ["layers.1", "output"]]
    assert document["module_fqns_per_model_part"] == document["module_names_per_model_chunk"] == chunks
    assert (document["split_points"], document["stages_per_rank"]) == (["layers.1"], 1)
    assert (document["pipeline_parallel_schedule"], document["stage_ranks"]) == (None, [0, 1])
    assert document["devices"] == ["gpu0", "gpu1"]
    assert document["why"] == ["the head costs as much as 1.00 decoder layers, and the last stage holds 1 of 2"]


@given(st.sets(st.integers(1, 19), min_size=1, max_size=7), st.booleans())
def test_a_plan_comes_back(deploy: Deploy, inner: set[int], looped: bool) -> None:  # noqa: FBT001 (a case, not a mode)
    """With virtual stages too."""
    cuts = (0, *sorted(inner), 20)
    made = deploy(cuts, [[[0]]] if looped else None)
    split = parse(write(made))
    assert split.chunks == tuple(made.layers.modules[a:b] for a, b in pairwise(cuts))
    assert split.split_points == tuple(made.layers.modules[cut] for cut in cuts[1:-1])
    assert (split.stages_per_rank, split.devices) == (made.plan.virtual, made.devices)


@pytest.mark.parametrize(("schedule", "name"), [("zb-v", "ZBVZeroBubble"), ("dualpipe-v", "DualPipeV")])
def test_stages_that_come_back_are_written(deploy: Deploy, schedule: Schedule, name: str) -> None:
    """With the rank of each stage, and the schedule as PyTorch calls it; Megatron-LM has none."""
    made = deploy((0, 1, 2, 3, 4), [[[0]], [[1]]])
    made = replace(made, plan=replace(made.plan, style="v"), schedule=schedule)
    document = json.loads(write(made))
    assert document["pipeline_parallel_schedule"] == name
    assert (document["stages_per_rank"], document["stage_ranks"]) == (2, [0, 1, 1, 0])
    for system in ("megatron", "deepspeed"):
        with pytest.raises(InputError, match=r"^emit: expected"):
            WRITERS[system](made)


def test_a_schedule_that_torch_does_not_have_is_said(deploy: Deploy) -> None:
    """As a reason beside the split."""
    document = json.loads(write(replace(deploy((0, 2, 4)), schedule="zero-bubble")))
    assert document["pipeline_parallel_schedule"] is None
    assert "zero-bubble, which torch.distributed.pipelining has not: run 1F1B" in document["why"][-1]


@given(st.sets(st.text(st.characters(exclude_categories=["Cs"])), min_size=4, max_size=4))
def test_names_come_back(deploy: Deploy, names: set[str]) -> None:
    """Whatever letters they have."""
    made = deploy((0, 2, 4))
    split = parse(write(replace(made, layers=replace(made.layers, modules=tuple(names)))))
    assert (*split.chunks[0], *split.chunks[1]) == tuple(names)


def test_layers_of_a_shape_are_named_as_in_torchtitan(deploy: Deploy) -> None:
    """It deletes modules that are not named, so that the head is two; and it is said that the names are a guess."""
    shape = Shape(layers=2, hidden=8, heads=2, vocabulary=9, sequence=4)
    document = json.loads(write(deploy((0, 2, 3, 4), layers=layers_of_shape(shape))))
    assert document["module_fqns_per_model_part"] == [["tok_embeddings", "layers.0"], ["layers.1"], ["norm", "output"]]
    assert document["split_points"] == ["layers.1", "norm"]
    assert document["why"][-1].endswith("which have to match the model's")


def test_ranks_that_alternate_between_machines_are_a_reason_for_care(deploy: Deploy) -> None:
    """As torchrun numbers them machine by machine."""
    made = deploy((0, 2, 3, 5))
    apart = replace(made, cluster=replace(made.cluster, machine=np.array([0, 1, 0])))
    assert json.loads(write(apart))["why"][-1].startswith("warning: machine 0 has ranks 0, 2")


def test_the_modules_are_enough() -> None:
    """What follows from them may be left out."""
    made = TorchSplit(chunks=(("a", "b"), ("c",)), split_points=("c",), stages_per_rank=1, devices=())
    assert parse('{"module_fqns_per_model_part": [["a", "b"], ["c"]]}') == made
    assert parse('{"module_names_per_model_chunk": [["a", "b"], ["c"]]}') == made


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("[", "split"),
        ("[]", "split"),
        ("{}", "module_fqns_per_model_part"),
        ('{"module_fqns_per_model_part": 5}', "module_fqns_per_model_part"),
        ('{"module_fqns_per_model_part": []}', "module_fqns_per_model_part"),
        ('{"module_fqns_per_model_part": [[]]}', "module_fqns_per_model_part/0"),
        ('{"module_fqns_per_model_part": [["a", "a"]]}', "module_fqns_per_model_part/0"),
        ('{"module_fqns_per_model_part": [["a"], [{}]]}', "module_fqns_per_model_part/1/0"),
        ('{"module_fqns_per_model_part": [["a"]], "module_names_per_model_chunk": []}', "module_fqns_per_model_part"),
        ('{"module_fqns_per_model_part": [["a"], ["b"]], "split_points": ["a"]}', "split_points"),
        ('{"module_fqns_per_model_part": [["a"], ["b"]], "stages_per_rank": 3}', "stages_per_rank"),
        ('{"module_fqns_per_model_part": [["a"], ["b"]], "stages_per_rank": 0}', "stages_per_rank"),
        ('{"module_fqns_per_model_part": [["a"], ["b"]], "devices": "gpu0"}', "devices"),
    ],
)
def test_other_texts_are_refused(text: str, field: str) -> None:
    """By the key at fault."""
    with pytest.raises(InputError, match="expected") as caught:
        parse(text)
    assert caught.value.field == field


def test_layers_that_predict_further_tokens_have_their_own_names(deploy: Deploy) -> None:
    """As torchtitan has no usual ones for them."""
    layers = layers_of_shape(Shape(layers=2, hidden=8, heads=2, vocabulary=9, sequence=4, mtp_layers=1))
    document = json.loads(write(deploy((0, 2, 5), layers=layers)))
    chunks = [["tok_embeddings", "layers.0"], ["layers.1", "mtp.layers.0", "norm", "output"]]
    assert document["module_fqns_per_model_part"] == chunks
