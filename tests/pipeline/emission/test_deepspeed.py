"""The split of DeepSpeed, there and back."""

import ast
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tiger.errors import InputError
from tiger.pipeline.emission.deepspeed import DeepSpeedSplit, parsed, written
from tiger.pipeline.emission.deployment import Deployment

Deploy = Callable[..., Deployment]


def test_a_plan_is_written(deploy: Deploy) -> None:
    """Parts as PipelineModule has them, tied layers under a key, and Python that can be pasted."""
    text = written(deploy((0, 3, 5)))
    assert 'parts = [0, 3, 5]\ndevices = ["gpu0", "gpu1"]\nlayers = [\n' in text
    assert '    ("TiedLayerSpec", "tok_embeddings", "tied0"),  # stage 0\n' in text
    assert '    ("LayerSpec", "layers.2"),  # stage 1\n' in text
    assert isinstance(ast.parse(text).body[-1], ast.ClassDef)


@settings(max_examples=30)
@given(st.sets(st.integers(1, 19), max_size=7), st.integers(1, 2), st.integers(1, 3))
def test_a_plan_comes_back(deploy: Deploy, inner: set[int], data: int, tensor: int) -> None:
    """Cuts, layers and ranks."""
    cuts = (0, *sorted(inner), 20)
    made = deploy(cuts, np.arange((len(cuts) - 1) * data * tensor).reshape(-1, data, tensor))
    split = parsed(written(made))
    assert (split.parts, split.devices) == (cuts, made.devices)
    assert tuple(spec[1] for spec in split.layers) == made.layers.modules
    assert [spec[0] for spec in split.layers].count("TiedLayerSpec") == 2


@settings(max_examples=30)
@given(st.sets(st.text(st.characters(exclude_categories=["Cs"])), min_size=4, max_size=4))
def test_names_come_back(deploy: Deploy, names: set[str]) -> None:
    """Whatever letters they have."""
    made = deploy((0, 2, 4))
    layers, cluster = replace(made.layers, modules=tuple(names)), replace(made.cluster, names=tuple(names)[:2])
    split = parsed(written(replace(made, layers=layers, cluster=cluster)))
    assert [spec[1] for spec in split.layers] == list(names)
    assert split.devices == cluster.names


def test_the_pasted_class_sets_what_deepspeed_reads(deploy: Deploy) -> None:
    """The parts, and the bounds of the stage of a rank."""
    bounds: dict[str, int] = {}

    class PipelineModule:
        global_rank = 1
        _topo = type("Topology", (), {"get_coord": lambda self, rank: type("Coord", (), {"pipe": rank})})()

        def _set_bounds(self, **given: int) -> None:
            bounds.update(given)

    scope: dict[str, object] = {"PipelineModule": PipelineModule}
    exec(written(deploy((0, 3, 5))).replace("from deepspeed.pipe import PipelineModule", ""), scope)
    module = scope["PlacedPipelineModule"]()  # type: ignore[operator]
    module._partition_layers()
    assert (module.parts, bounds) == ([0, 3, 5], {"start": 3, "stop": 5})


def test_virtual_stages_are_refused(deploy: Deploy) -> None:
    """PipelineModule has none."""
    with pytest.raises(InputError, match="emit: expected one stage a device, as DeepSpeed has no virtual stages"):
        written(deploy((0, 2, 4), [[[0]]]))


def test_parts_are_enough() -> None:
    """Other names are looked at by nobody."""
    assert parsed("parts = [0, 2]\nx = f()") == DeepSpeedSplit(parts=(0, 2), layers=(), devices=())


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("parts = [", "split"),
        ("parts = 5\0", "split"),
        ("", "parts"),
        ("parts = [0]", "parts"),
        ("parts = open('x')", "parts"),
        ("parts = [1, 2]", "parts"),
        ("parts = [0, 2, 2]", "parts"),
        ("parts = [0, -1]", "parts/1"),
        ("parts = [0, True]", "parts/1"),
        ("parts = [0, 1]\nlayers = 5", "layers"),
        ("parts = [0, 2]\nlayers = [('LayerSpec', 'a')]", "layers"),
        ("parts = [0, 1]\nlayers = ['a']", "layers/0"),
        ("parts = [0, 1]\nlayers = [('LayerSpec', 'a', 'b')]", "layers/0"),
        ("parts = [0, 1]\nlayers = [('LayerSpec', 5)]", "layers/0"),
        ("parts = [0, 1, 2]\ndevices = ['a']", "devices"),
        ("parts = [0, 1]\ndevices = [1]", "devices"),
    ],
)
def test_other_texts_are_refused(text: str, field: str) -> None:
    """By the name at fault, and none of them is run."""
    with pytest.raises(InputError, match="expected") as caught:
        parsed(text)
    assert caught.value.field == field
