"""What a plan is written from."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from tiger.errors import InputError
from tiger.placement.emission.deployment import Deployment, StagedModule

Deploy = Callable[..., Deployment]


def test_blocks_are_the_modules_in_order(deploy: Deploy) -> None:
    """Each with its stage."""
    blocks = deploy((0, 2, 4)).blocks
    assert blocks[0] == StagedModule("tok_embeddings", "embedding", 0)
    assert [(block.module, block.stage) for block in blocks[1:]] == [("layers.0", 0), ("layers.1", 1), ("output", 1)]


def test_parts_of_a_module_are_one_block(deploy: Deploy) -> None:
    """As attention and feed-forward block of a decoder layer."""
    made = deploy((0, 3, 5))
    parts = replace(made.layers, modules=("e", "layers.0", "layers.0", "layers.1", "h"))
    assert replace(made, layers=parts).decoder_counts == (1, 1)


def test_a_module_in_two_stages_cannot_be_written(deploy: Deploy) -> None:
    """No system here cuts within a module."""
    made = deploy((0, 2, 5))
    parts = replace(made.layers, modules=("e", "layers.0", "layers.0", "layers.1", "h"))
    with pytest.raises(
        InputError, match=r"emit: expected stages that begin with a module, got a cut within 'layers.0'"
    ):
        _ = replace(made, layers=parts).blocks


def test_decoder_layers_are_counted(deploy: Deploy) -> None:
    """Without embedding and head."""
    assert deploy((0, 2, 6, 8)).decoder_counts == (1, 4, 1)


@pytest.mark.parametrize("kinds", [("layer",) * 4, ("embedding", "head", "head", "head")])
def test_a_model_without_kinds_has_no_decoder_layers(deploy: Deploy, kinds: tuple[str, ...]) -> None:
    """Nobody said what its layers are."""
    made = deploy((0, 2, 4))
    with pytest.raises(InputError, match="emit: expected a model that says which layers are decoder layers"):
        _ = replace(made, layers=replace(made.layers, kinds=kinds)).decoder_counts


def test_ranks_are_tensor_then_data_then_pipeline(deploy: Deploy) -> None:
    """Tensor-parallel ranks are next to each other, as the systems have them."""
    made = deploy((0, 2, 4), [[[0, 1], [4, 5]], [[2, 3], [6, 7]]])
    assert made.devices == ("gpu0", "gpu1", "gpu4", "gpu5", "gpu2", "gpu3", "gpu6", "gpu7")
