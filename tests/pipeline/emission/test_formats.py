"""The systems that a plan can be written for."""

from collections.abc import Callable

import pytest

from tiger.errors import InputError
from tiger.pipeline.emission import deepspeed, megatron, torch, vllm
from tiger.pipeline.emission.deployment import Deployment
from tiger.pipeline.emission.formats import WRITERS, emitted

Deploy = Callable[..., Deployment]


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("megatron", megatron.written),
        ("deepspeed", deepspeed.written),
        ("vllm", vllm.written),
        ("torch", torch.written),
    ],
)
def test_a_system_is_known_by_name(deploy: Deploy, name: str, written: Callable[[Deployment], str]) -> None:
    """Each writes text that ends in a line."""
    made = deploy((0, 2, 4))
    assert emitted(name, made) == written(made)
    assert emitted(name, made).endswith("\n")


def test_others_are_refused(deploy: Deploy) -> None:
    """With the names of those known."""
    assert tuple(WRITERS) == ("megatron", "deepspeed", "vllm", "torch")
    with pytest.raises(InputError, match="emit: expected one of megatron, deepspeed, vllm, torch, got 'jax'"):
        emitted("jax", deploy((0, 2, 4)))
