"""The split of vLLM, there and back."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.placement.emission.vllm_parser import VllmSplit, parse
from tiger.errors import InputError
from tiger.placement.emission.deployment import Deployment
from tiger.placement.emission.vllm import write
from tiger.training.models.shape import Shape
from tiger.training.models.transformer import layers_of_shape

Deploy = Callable[..., Deployment]

SPLIT = """\
# the head costs as much as 3.00 decoder layers, so the last stage holds 1 of 6
# vllm serve MODEL --pipeline-parallel-size 3 --tensor-parallel-size 1
export VLLM_PP_LAYER_PARTITION=2,3,1
export CUDA_VISIBLE_DEVICES=2,0,1
"""


def test_a_plan_is_written_with_its_reasons(deploy: Deploy) -> None:
    """Decoder layers alone count."""
    assert write(deploy((0, 3, 6, 8), [[[2]], [[0]], [[1]]], head=3.0)) == SPLIT
    assert parse(SPLIT) == VllmSplit(partition=(2, 3, 1), devices=((2, 0, 1),))


@pytest.mark.slow
@given(st.sets(st.integers(2, 18), min_size=1, max_size=7), st.integers(1, 2), st.integers(1, 3), st.randoms())
def test_a_plan_comes_back(deploy: Deploy, inner: set[int], data: int, tensor: int, random: object) -> None:
    """With the devices of every replica in the order of its ranks."""
    cuts = (0, *sorted(inner), 20)
    order = list(range((len(cuts) - 1) * data * tensor))
    random.shuffle(order)
    grid = np.array(order).reshape(-1, data, tensor)
    split = parse(write(deploy(cuts, grid)))
    assert sum(split.partition) == 18
    assert split.devices == tuple(tuple(grid[:, replica].ravel().tolist()) for replica in range(data))


def test_devices_are_numbered_within_their_machine(deploy: Deploy) -> None:
    """CUDA knows no others; a replica on two machines has no list of its own."""
    made = deploy((0, 2, 4), [[[1], [0]], [[3], [2]]])
    apart = replace(made.cluster, machine=np.array([0, 1, 0, 1]))
    assert parse(write(replace(made, cluster=apart))).devices == ((0, 1), (0, 1))
    across = write(replace(made, cluster=replace(made.cluster, machine=np.array([0, 0, 1, 1]))))
    assert "# replica 0, on machine 0, 1\n# on machine 0, ranks 0: CUDA_VISIBLE_DEVICES=1\n" in across
    assert parse(across).devices == ()


def test_what_vllm_cannot_do_is_refused(deploy: Deploy) -> None:
    """Virtual stages, stages on a cpu, a head that begins early."""
    with pytest.raises(InputError, match="emit: expected one stage a device, as vLLM has no virtual stages, got 2"):
        write(deploy((0, 2, 4), [[[0]]]))
    made = deploy((0, 2, 4))
    with pytest.raises(InputError, match="emit: expected accelerators alone for vLLM"):
        write(replace(made, cluster=replace(made.cluster, kinds=("cpu", "accelerator"))))
    early = replace(made.layers, kinds=("layer", "head", "layer", "head"))
    with pytest.raises(InputError, match=r"head in the last stage, got 'layers.0' in stage 0"):
        write(replace(made, layers=early))


def test_every_stage_has_a_decoder_layer(deploy: Deploy) -> None:
    """Without one vLLM would fail, as there is nothing to cache."""
    with pytest.raises(
        InputError, match=r"emit: expected a decoder layer in every stage, .*, got none in stage 2: ask"
    ):
        write(deploy((0, 2, 4, 5)))


def test_a_cpu_has_no_number(deploy: Deploy) -> None:
    """CUDA does not see it."""
    made = deploy((0, 2, 4), [[[1]], [[2]]])
    kinds = ("cpu", "accelerator", "accelerator")
    assert parse(write(replace(made, cluster=replace(made.cluster, kinds=kinds)))).devices == ((0, 1),)


def test_ranks_that_alternate_between_machines_are_warned_of(deploy: Deploy) -> None:
    """Launchers number them machine by machine."""
    made = deploy((0, 2, 3, 5))
    text = write(replace(made, cluster=replace(made.cluster, machine=np.array([0, 1, 0]))))
    assert "# warning: machine 0 has ranks 0, 2, and launchers give a machine consecutive ones" in text


def test_a_shape_to_train_is_remarked(deploy: Deploy) -> None:
    """Its memory is not that of serving; the same shape to serve is no remark, nor is a table."""
    shape = {"layers": 2, "hidden": 8, "heads": 2, "vocabulary": 9, "sequence": 4}
    made = deploy((0, 2, 4))
    texts = [write(replace(made, layers=layers_of_shape(Shape(**shape, serve=serve)))) for serve in (False, True)]
    assert ["# the shape is one to train" in text for text in (*texts, write(made))] == [True, False, False]


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("", "VLLM_PP_LAYER_PARTITION"),
        (SPLIT + SPLIT, "VLLM_PP_LAYER_PARTITION"),
        ("VLLM_PP_LAYER_PARTITION=1,x", "VLLM_PP_LAYER_PARTITION"),
        ("VLLM_PP_LAYER_PARTITION=1,-1", "VLLM_PP_LAYER_PARTITION"),
        ("VLLM_PP_LAYER_PARTITION=1,1\nCUDA_VISIBLE_DEVICES=0,0", "CUDA_VISIBLE_DEVICES"),
        ("VLLM_PP_LAYER_PARTITION=1,1\nCUDA_VISIBLE_DEVICES=0,1,2", "CUDA_VISIBLE_DEVICES"),
    ],
)
def test_other_texts_are_refused(text: str, field: str) -> None:
    """By the variable at fault."""
    with pytest.raises(InputError, match="expected") as caught:
        parse(text)
    assert caught.value.field == field


def test_quotes_and_plain_assignments_are_read() -> None:
    """As people write them."""
    assert parse('VLLM_PP_LAYER_PARTITION="4, 5"').partition == (4, 5)


def test_a_model_that_serves_states_its_sequences(deploy: Deploy) -> None:
    """As many at once, of as many tokens; the part of memory is for who knows what else is on the device."""
    shape = Shape(layers=2, hidden=8, heads=2, vocabulary=9, sequence=4, batch=3, serve=True, kv="fp8")
    text = write(deploy((0, 2, 4), layers=layers_of_shape(shape)))
    flags = (
        "--pipeline-parallel-size 2 --tensor-parallel-size 1 --max-num-seqs 3 --max-model-len 4 --kv-cache-dtype fp8"
    )
    assert f"# vllm serve MODEL {flags}\n" in text
