"""Tests of models by their names."""

from dataclasses import replace
from pathlib import Path

import pytest

import tiger
from tests.training.models.test_configs import KNOWN, config_of
from tiger.errors import InputError
from tiger.training.documents import model_document
from tiger.training.models.configs import shape_of_config
from tiger.training.models.description import describe_model
from tiger.training.models.named import MODELS
from tiger.training.models.reading import model_of_document, read_model
from tiger.training.models.shape import Shape
from tiger.training.models.sizes import model_of
from tiger.training.models.transformer import layers_of_shape

# Of models that the tests of configurations do not have: their parameters, as the checkpoints have them.
MORE = {
    "llama-2-70b": 68_976_648_192,
    "llama-3.1-8b": 8_030_261_248,
    "llama-3.1-70b": 70_553_706_496,
    "llama-3.3-70b": 70_553_706_496,
    "mixtral-8x22b": 140_620_634_112,
    "qwen2.5-72b": 72_706_203_648,
    "qwen3-8b": 8_190_735_360,
    "qwen3-30b-a3b": 30_532_122_624,
    "gemma-2-27b": 27_227_128_320,
    "gpt-3-175b": 174_604_259_328,
}


def shape_of_name(name: str) -> Shape:
    """Return the shape of a name."""
    described = describe_model(name)
    assert described is not None
    return described.shape


@pytest.mark.parametrize("row", KNOWN, ids=[row[0] for row in KNOWN])
def test_names_are_their_configurations(row: tuple[str, tuple[object, ...], int, int]) -> None:
    """But for what configurations write out that shapes have by default."""
    named, read = shape_of_name(row[0]), shape_of_config(config_of(row[1]))
    known = replace(read, kv_heads=named.kv_heads and read.kv_heads, tied=named.tied, biases=named.biases)
    assert replace(known, head_dim=named.head_dim, window=named.window) == named
    assert (named.shared, named.biased, named.key) == (read.shared, read.biased, read.key)


@pytest.mark.parametrize(("name", "parameters"), MORE.items())
def test_names_have_their_parameters(name: str, parameters: int) -> None:
    """Within a thousandth; with those of the configurations that is every name."""
    shape = shape_of_name(name)
    shared = shape.vocabulary * shape.hidden if shape.shared else 0
    assert layers_of_shape(shape).parameter_bytes.sum() / 2 - shared == pytest.approx(parameters, rel=1e-3)
    assert MODELS.keys() == MORE.keys() | {row[0] for row in KNOWN}


def test_a_name_is_a_model_in_every_form(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of the same name is not opened; a length of sequences that nobody stated is said."""
    monkeypatch.chdir(tmp_path)
    Path("llama-3-8b").write_text("no model", encoding="utf-8")
    assert read_model("llama-3-8b").size == model_of_document("llama-3-8b").size == 34
    assert model_document("llama-3-8b")[0] == "llama-3-8b"
    report = tiger.place("llama-3-8b", "dgx-h100:1", pipeline=8)
    assert report.feasible
    assert report.warnings == (
        "nothing says how long sequences of llama-3-8b are: 4,096 tokens are taken, state another as sequence",
    )
    assert not tiger.place("llama-3-8b", "dgx-h100:1", pipeline=8, sequence=4096).warnings


def test_numbers_may_follow_a_name() -> None:
    """As in a SPEC; then there is nothing to remark."""
    model = model_of("llama-3-8b:sequence=8192,layers=4,serve=true,batch=2")
    assert model.shape == replace(shape_of_name("llama-3-8b"), sequence=8192, layers=4, serve=True, batch=2)
    assert not model.remarks
    with pytest.raises(InputError, match=r"model/transformer: expected keys out of .*; did you mean 'layers'"):
        model_of("llama-3-8b:layer=4")


def test_unknown_names_are_answered_with_known_ones() -> None:
    """The nearest last, in texts that may name a file and in documents."""
    for text in ("llama-3-7b", "llama-3-70", "Mixtral-8x7B", "gpt-oss-120:serve=true"):
        for read in (model_of, model_of_document):
            with pytest.raises(InputError, match=r"^model: expected .* or a name out of llama-2-7b, .*; did you mean"):
                read(text)
    with pytest.raises(InputError, match="did you mean 'llama-3-70b'"):
        tiger.plan("llama-3-70", "dgx:1")
