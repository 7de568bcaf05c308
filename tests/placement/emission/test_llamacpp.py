"""The split of llama.cpp, there and back."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.placement.emission.llamacpp_parser import CPU, LlamaSplit, parse
from tiger.errors import InputError
from tiger.placement.emission.deployment import Deployment
from tiger.placement.emission.llamacpp import write
from tiger.training.models.sizes import model_of

Deploy = Callable[..., Deployment]
SERVED = "transformer:layers=6,hidden=64,heads=4,vocabulary=100,sequence=512,experts=4,gated=true,serve=true,batch=3"

SPLIT = """\
# the head costs as much as 3.00 decoder layers, so the last stage holds 1 of 6
export CUDA_VISIBLE_DEVICES=2,0,1
llama-server -m MODEL \\
  -ngl 7 \\
  -ts 2,3,2
"""


def test_a_plan_is_written_with_its_reasons(deploy: Deploy) -> None:
    """The head counts as a layer of the last GPU, the embedding does not."""
    assert write(deploy((0, 3, 6, 8), [[[2]], [[0]], [[1]]], head=3.0)) == SPLIT
    assert parse(SPLIT, 6) == LlamaSplit(
        layers=(2, 2, 0, 0, 0, 1), head=1, experts=(2, 2, 0, 0, 0, 1), context=0, parallel=1
    )


@given(st.integers(1, 90), st.data())
def test_layers_come_back_where_they_were(deploy: Deploy, decoders: int, data: st.DataObject) -> None:
    """For any cuts, on GPUs in any order, with or without a CPU in front, and experts of any layers there."""
    inner = data.draw(st.sets(st.integers(2, decoders + 1), max_size=5))
    cuts = (0, *sorted(inner), decoders + 2)
    order = data.draw(st.permutations(range(len(cuts) - 1)))
    made = deploy(cuts, [[[device]] for device in order])
    kinds = ["accelerator"] * len(order)
    if len(order) > 1 and data.draw(st.booleans()):
        kinds[order[0]] = "cpu"
    hosted = tuple(sorted(data.draw(st.sets(st.integers(1, decoders), max_size=decoders))))
    made = replace(made, cluster=replace(made.cluster, kinds=tuple(kinds)), hosted=hosted)
    split, index = parse(write(made), decoders), made.cuda_indices
    wanted = [index.get(order[made.stage_of(layer)], CPU) for layer in range(1, decoders + 2)]
    assert [*split.layers, split.head] == wanted
    assert list(split.experts) == [CPU if k in hosted else place for k, place in enumerate(wanted[:-1], 1)]


def test_all_layers_may_be_on_the_cpu(deploy: Deploy) -> None:
    """Then no layer is asked for on a GPU."""
    made = deploy((0, 4))
    text = write(replace(made, cluster=replace(made.cluster, kinds=("cpu",))))
    assert "-ngl 0" in text
    assert parse(text, 2).layers == (CPU, CPU)


def test_a_model_that_serves_states_its_sequences(deploy: Deploy) -> None:
    """The context is that of all of them; a cache in 8 bits is named, and one that is rounded up is remarked."""
    served = model_of(SERVED).given
    split = parse(write(deploy((0, 4, 8), layers=served)), 6)
    assert (split.context, split.parallel) == (3 * 512, 3)
    text = write(deploy((0, 4, 8), layers=model_of(f"{SERVED},kv=int8").given))
    assert "-ctk q8_0 -ctv q8_0" in text
    short = model_of(SERVED.replace("512", "500")).given
    assert "rounded up to a multiple of 256 tokens" in write(deploy((0, 4, 8), layers=short))


def test_what_llamacpp_cannot_say_is_refused(deploy: Deploy) -> None:
    """Several devices a stage, machines, a CPU behind a GPU, a GPU with the embedding alone, a cache in fp8."""
    with pytest.raises(InputError, match=r"emit: expected one device a stage for llama.cpp, got 2"):
        write(deploy((0, 4), [[[0, 1]]]))
    made = deploy((0, 2, 4))
    with pytest.raises(InputError, match=r"emit: expected devices of one machine for llama.cpp, got 2"):
        write(replace(made, cluster=replace(made.cluster, machine=[0, 1])))
    with pytest.raises(
        InputError, match=r"emit: expected the first layers on the cpu, .*, got stage 1 there: pin 'op0' to it"
    ):
        write(replace(made, cluster=replace(made.cluster, kinds=("accelerator", "cpu"))))
    with pytest.raises(InputError, match=r"emit: expected a decoder layer or the head .* in stage 0"):
        write(deploy((0, 1, 4)))
    with pytest.raises(InputError, match=r"emit: expected a cache in 16 bits or int8, .*, got fp8"):
        write(deploy((0, 4, 8), layers=model_of(f"{SERVED},kv=fp8").given))
