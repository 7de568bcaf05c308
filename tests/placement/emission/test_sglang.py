"""The split of SGLang, there and back."""

import re
import shlex
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiger.errors import InputError
from tiger.placement.emission.deployment import Deployment
from tiger.placement.emission.sglang import write
from tiger.training.models.sizes import model_of

Deploy = Callable[..., Deployment]
SERVED = "transformer:layers=6,hidden=64,heads=4,vocabulary=100,sequence=512,serve=true,batch=3,kv=fp8"


def read(text: str) -> tuple[dict[str, str], dict[str, str]]:
    """Return the variables of lines of a shell, and the flags of the command in a comment."""
    variables = dict(re.findall(r"^export (\w+)=(\S+)$", text, re.MULTILINE))
    words = shlex.split(next(line for line in text.splitlines() if "sglang.launch_server" in line)[1:])
    return variables, dict(pairwise(words))


def gpu_layers(text: str) -> dict[int, range]:
    """Return the decoder layers of every GPU: ranks of a stage take the next `--tp-size` visible ones."""
    variables, flags = read(text)
    counts = [int(count) for count in variables["SGLANG_PP_LAYER_PARTITION"].split(",")]
    visible = [int(gpu) for gpu in variables["CUDA_VISIBLE_DEVICES"].split(",")]
    assert len(counts) == int(flags["--pp-size"])
    begins, tensor = np.cumsum([0, *counts]).tolist(), int(flags["--tp-size"])
    return {gpu: range(begins[k // tensor], begins[k // tensor + 1]) for k, gpu in enumerate(visible)}


@given(st.integers(1, 40), st.integers(1, 3), st.data())
def test_layers_come_back_where_they_were(deploy: Deploy, decoders: int, tensor: int, data: st.DataObject) -> None:
    """On every GPU of every stage, in any order of devices."""
    inner = data.draw(st.sets(st.integers(2, decoders), max_size=4)) if decoders > 1 else set()
    cuts = (0, *sorted(inner), decoders + 2)
    order = data.draw(st.permutations(range((len(cuts) - 1) * tensor)))
    grid = np.array(order).reshape(-1, 1, tensor)
    found = gpu_layers(write(deploy(cuts, grid)))
    for stage, ranks in enumerate(grid[:, 0]):
        own = range(max(cuts[stage] - 1, 0), min(cuts[stage + 1] - 1, decoders))
        assert [found[gpu] for gpu in ranks] == [own] * tensor


def test_a_model_that_serves_states_its_sequences(deploy: Deploy) -> None:
    """As many requests at once, of as many tokens, in the type of the cache."""
    _, flags = read(write(deploy((0, 4, 8), layers=model_of(SERVED).given)))
    asked = ("--max-running-requests", "--context-length", "--kv-cache-dtype")
    assert [flags[flag] for flag in asked] == ["3", "512", "fp8_e4m3"]


def test_what_sglang_cannot_do_is_refused(deploy: Deploy) -> None:
    """Stages on a cpu, and experts on one."""
    made = deploy((0, 2, 4))
    with pytest.raises(InputError, match="emit: expected accelerators alone for SGLang"):
        write(replace(made, cluster=replace(made.cluster, kinds=("cpu", "accelerator"))))
    with pytest.raises(InputError, match=r"emit: expected experts on the device .* SGLang .* got those of 1 layers"):
        write(replace(made, hosted=(1,)))
