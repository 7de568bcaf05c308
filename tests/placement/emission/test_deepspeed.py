"""The split of DeepSpeed, there and back."""

import ast
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.placement.emission.deepspeed_parser import DeepSpeedSplit, parse
from tiger.errors import InputError
from tiger.placement.emission.deepspeed import write
from tiger.placement.emission.deployment import Deployment
from tiger.training.models.shape import Shape
from tiger.training.models.transformer import layers_of_shape

Deploy = Callable[..., Deployment]


def test_a_plan_is_written(deploy: Deploy) -> None:
    """Parts as PipelineModule has them, tied layers under a key, and Python that can be pasted."""
    text = write(deploy((0, 3, 5)))
    assert 'parts = [0, 3, 5]\ndevices = ["gpu0", "gpu1"]\nlayers = [\n' in text
    assert '    ("TiedLayerSpec", "tok_embeddings", "tied0"),  # stage 0\n' in text
    assert '    ("LayerSpec", "layers.2"),  # stage 1\n' in text
    assert isinstance(ast.parse(text).body[-1], ast.ClassDef)


@given(st.sets(st.integers(1, 19), max_size=7), st.integers(1, 2), st.integers(1, 3))
def test_a_plan_comes_back(deploy: Deploy, inner: set[int], data: int, tensor: int) -> None:
    """Cuts, layers and ranks."""
    cuts = (0, *sorted(inner), 20)
    made = deploy(cuts, np.arange((len(cuts) - 1) * data * tensor).reshape(-1, data, tensor))
    split = parse(write(made))
    assert (split.parts, split.devices) == (cuts, made.devices)
    assert tuple(spec[1] for spec in split.layers) == made.layers.modules
    assert [spec[0] for spec in split.layers].count("TiedLayerSpec") == 2


@pytest.mark.slow
@given(st.sets(st.text(st.characters(exclude_categories=["Cs"])), min_size=4, max_size=4))
def test_names_come_back(deploy: Deploy, names: set[str]) -> None:
    """Whatever letters they have."""
    made = deploy((0, 2, 4))
    layers, cluster = replace(made.layers, modules=tuple(names)), replace(made.cluster, names=tuple(names)[:2])
    split = parse(write(replace(made, layers=layers, cluster=cluster)))
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
    exec(write(deploy((0, 3, 5))).replace("from deepspeed.pipe import PipelineModule", ""), scope)
    module = scope["PlacedPipelineModule"]()
    module._partition_layers()
    assert (module.parts, bounds) == ([0, 3, 5], {"start": 3, "stop": 5})


@pytest.mark.parametrize(
    ("grid", "call"),
    [
        ([[[0], [1]], [[2], [3]]], "num_stages=2"),
        ([[[0, 1]], [[2, 3]]], "topology=PipeModelDataParallelTopology(num_pp=2, num_mp=2, num_dp=1)"),
    ],
)
def test_the_use_of_the_class_is_a_comment(deploy: Deploy, grid: object, call: str) -> None:
    """With the topology where layers are cut, and then its import."""
    text = write(deploy((0, 3, 5), grid))
    assert f"# PlacedPipelineModule(specs, {call}, loss_fn=loss)\n" in text
    assert ("import PipeModelDataParallelTopology\n" in text) == ("topology" in call)


def test_what_deepspeed_does_not_have_or_read_is_a_comment(deploy: Deploy) -> None:
    """Schedules but its own, and names that nobody chose."""
    shape = Shape(layers=3, hidden=8, heads=2, vocabulary=9, sequence=4)
    made = deploy((0, 3, 5), schedule="gpipe", layers=layers_of_shape(shape))
    assert "# made for the schedule gpipe, which DeepSpeed does not have: it runs 1F1B\n" in write(made)
    assert "# names of layers are the usual ones of a shape" in write(made)


def test_virtual_stages_are_refused(deploy: Deploy) -> None:
    """PipelineModule has none."""
    with pytest.raises(InputError, match="emit: expected one stage a device, as DeepSpeed has no virtual stages"):
        write(deploy((0, 2, 4), [[[0]]]))


def test_parts_are_enough() -> None:
    """Other names are looked at by nobody."""
    assert parse("parts = [0, 2]\nx = f()") == DeepSpeedSplit(parts=(0, 2), layers=(), devices=())


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
        parse(text)
    assert caught.value.field == field
