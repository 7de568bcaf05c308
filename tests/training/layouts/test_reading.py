"""Tests of cuts that are read from what frameworks are told."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tiger.errors import InputError
from tiger.training.layouts.reading import read_layout
from tiger.training.layouts.source import open_layout
from tiger.training.models.layers import Layers
from tiger.training.models.sizes import model_of

SHAPE = "transformer:layers=4,hidden=64,heads=4,vocabulary=100,sequence=32"
NAMES = [["tok_embeddings", "layers.0"], ["layers.1", "layers.2", "layers.3"], ["norm", "output"]]
# By hand: the embedding and a decoder layer, three decoder layers, the head.
CUTS = (0, 2, 5, 6)


@pytest.fixture(scope="module")
def layers() -> Layers:
    """Return an embedding, four decoder layers and a head."""
    return model_of(SHAPE).given


@pytest.fixture(scope="module")
def parts() -> Layers:
    """Return two decoder layers, the first in two parts, between an embedding and an MTP layer, a norm and a head."""
    kinds = ("embedding", "layer", "layer", "layer", "mtp", "head", "head")
    modules = ("wte", "h.0", "h.0", "h.1", "mtp", "norm", "head")
    size = len(kinds)
    return Layers(
        names=tuple("abcdefg"),
        forward_s=np.ones(size),
        backward_s=np.ones(size),
        parameter_bytes=np.ones(size),
        crossing_bytes=np.pad(np.ones(size - 1), 1),
        kinds=kinds,
        modules=modules,
    )


@pytest.mark.parametrize(
    "text",
    [
        "Et|t*3|L",
        "  Et,|t*3|,L\n",
        "[0, 2, 5, 6]",
        json.dumps({"module_names_per_model_chunk": NAMES, "why": []}),
        "# --pipeline-model-parallel-layout 'EttttL'\nrun \\\n --pipeline-model-parallel-layout 'Et|ttt|L' \\\n --bf16",
        "--pipeline-model-parallel-layout=Et|ttt|L",
        "import torch\nparts = [0, 2, 5, 6]\n# parts = [0, 6]\n",
    ],
)
def test_texts_of_all_frameworks_say_the_same(layers: Layers, text: str) -> None:
    """Alone, or in a script, in which comments say nothing."""
    assert read_layout(text, layers) == CUTS


def test_decoder_layers_of_stages_bring_the_ends_along(layers: Layers, parts: Layers) -> None:
    """The embedding is in the first stage, MTP and head in the last, whether their layers are one or several."""
    assert read_layout("1,3", layers) == (0, 2, 6)
    assert read_layout("export VLLM_PP_LAYER_PARTITION=0,3,1\nvllm serve M", layers) == (0, 1, 4, 6)
    assert read_layout("1, 1", parts) == (0, 3, 7)
    assert read_layout("Et|t|mL", parts) == (0, 3, 4, 7)
    chunks = [["wte"], ["h.0", "h.1", "mtp"], ["norm", "head"]]
    assert read_layout(json.dumps({"module_fqns_per_model_part": chunks}), parts) == (0, 1, 5, 7)


def test_ends_that_a_model_does_not_list_may_be_said(layers: Layers) -> None:
    """Layouts have both, and tables of layers may have one."""
    bare = replace(layers, kinds=("layer", *layers.kinds[1:]), modules=("x", *layers.modules[1:]), tied=())
    assert read_layout("Ett|tttL", bare) == read_layout("tt|tttL", bare) == (0, 2, 6)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Et|ttL", "expected 4 decoder layers (t), as the model has, got 3"),
        ("t|tttL", "expected 1 embedding (E), as the model has, got 0"),
        ("Et|ttt", "expected 1 head (L), as the model has, got 0"),
        ("EEt|tttL", "expected 1 embedding (E), as the model has, got 2"),
        ("Et|tttmL", "expected 0 layers of MTP (m), as the model has, got 1"),
        ("tE|tttL", "expected E, then t, then m, then L, got 'tEtL'"),
        ("Et||tttL", "expected a layer of the model in every stage, got none in stage 1"),
        ("1,4", "expected 4 decoder layers, as the model has, got 5"),
        ("9999999999", "expected whole numbers of at most 9 digits"),
        ("[0, 5]", "expected rising parts from 0 to 6, as the model has 6 layers, got '[0, 5]'"),
        ("[1, 6]", "expected rising parts"),
        ("[0, 4, 2, 6]", "expected rising parts"),
        ("[0, 2, 2, 6]", "expected a layer of the model in every stage, got none in stage 1"),
        ("[0; 6]", "expected whole numbers such as [0, 4, 9]"),
        ("{}", "expected an object with lists of modules as module_fqns_per_model_part"),
        (json.dumps({"module_fqns_per_model_part": NAMES[:2]}), "'norm' as number 5, got the end"),
        (json.dumps({"module_fqns_per_model_part": NAMES[1:]}), "'tok_embeddings' as number 0, got 'layers.1'"),
        ("{", "layout"),
        ("run\nthis", "in a text of several lines, got none"),
        ("parts = [0, 6]\nparts = [0, 2, 6]", "expected a text that states one layout, got 2 of them"),
        ("hello", "at character 1, got 'hello'"),
    ],
)
def test_what_does_not_cover_the_model_is_refused(layers: Layers, text: str, reason: str) -> None:
    """The error names what was expected and what was found."""
    with pytest.raises(InputError, match=re.escape(reason)) as caught:
        read_layout(text, layers)
    assert caught.value.field == "layout"


def test_a_model_of_unknown_kinds_is_cut_by_parts_alone(layers: Layers) -> None:
    """As nobody knows which of its layers are decoder layers, or in an order of its own."""
    unknown = replace(layers, kinds=("layer",) * 6)
    assert read_layout("[0, 2, 6]", unknown) == (0, 2, 6)
    mixed = replace(layers, kinds=("layer", "embedding", *layers.kinds[2:]), modules=tuple("abcdef"), tied=())
    for model, reason in ((unknown, "its kinds"), (mixed, "in this order, got another")):
        with pytest.raises(InputError, match=reason):
            read_layout("Et|tttL", model)
    with pytest.raises(TypeError, match="layout: expected text, got int"):
        read_layout(5, layers)  # type: ignore[arg-type]  # what callers may give


def test_a_command_line_names_files(tmp_path: Path) -> None:
    """By their endings, which no layout has."""
    path = tmp_path / "run.sh"
    path.write_text("export VLLM_PP_LAYER_PARTITION=1,3\n", encoding="utf-8")
    assert open_layout(str(path)) == path.read_text(encoding="utf-8")
    assert open_layout("Et|tttL") == "Et|tttL"
    with pytest.raises(InputError, match="layout: cannot read"):
        open_layout(str(tmp_path / "no.txt"))
