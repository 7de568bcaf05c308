"""The systems that a plan can be written for."""

from collections.abc import Callable

import pytest

from tiger.errors import InputError
from tiger.placement.emission import deepspeed, llamacpp, megatron, sglang, torch, vllm
from tiger.placement.emission.deployment import Deployment
from tiger.placement.emission.formats import WRITERS, find_writer

Deploy = Callable[..., Deployment]


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("megatron", megatron.write),
        ("deepspeed", deepspeed.write),
        ("vllm", vllm.write),
        ("sglang", sglang.write),
        ("llama.cpp", llamacpp.write),
        ("torch", torch.write),
    ],
)
def test_a_system_is_known_by_name(deploy: Deploy, name: str, written: Callable[[Deployment], str]) -> None:
    """Each writes text that ends in a line."""
    made = deploy((0, 2, 4))
    assert find_writer(name)(made) == written(made)
    assert find_writer(name)(made).endswith("\n")


def test_others_are_refused() -> None:
    """With the names of those known."""
    assert tuple(WRITERS) == ("megatron", "deepspeed", "vllm", "sglang", "llama.cpp", "torch")
    with pytest.raises(
        InputError, match=r"emit: expected one of megatron, deepspeed, vllm, sglang, llama.cpp, torch, got 'jax'"
    ):
        find_writer("jax")
