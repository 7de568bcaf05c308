"""Tests of the forms of a model, and of its microbatches."""

import json
from pathlib import Path

import pytest

from tiger.errors import InputError
from tiger.training.models.sizes import model_of
from tiger.training.models.transformer import module_names

SPEC = "transformer:layers=4,hidden=64,heads=4,vocabulary=100,sequence=32"
TABLE = [{"name": "a", "forward_s": 1, "backward_s": 2, "parameter_bytes": 1, "activation_bytes": 1}]


@pytest.fixture
def shape() -> dict[str, object]:
    """Return the document of that SPEC."""
    sizes = {"layers": 4, "hidden": 64, "heads": 4, "vocabulary": 100, "sequence": 32}
    return {"transformer": sizes}


def test_a_shape_is_seen_in_every_form(shape: dict[str, object], tmp_path: Path) -> None:
    """A SPEC, a document with one, an object, and a file."""
    path = tmp_path / "m.json"
    path.write_text(json.dumps(shape))
    for source in (SPEC, shape, path, str(path)):
        model = model_of(source)
        assert model.shape is not None
        assert model.given.modules == module_names(4)
    path.write_text(json.dumps(SPEC))
    assert model_of(path).shape is not None


def test_layers_and_tables_have_no_shape(tmp_path: Path) -> None:
    """Their microbatches are as given, and nobody knows their tokens."""
    path = tmp_path / "m.csv"
    path.write_text("name,forward_s,backward_s,parameter_bytes,activation_bytes\na,1,2,1,1\n")
    layers = model_of(TABLE).given
    for source in (layers, TABLE, {"layers": TABLE}, path):
        made = model_of(source)
        assert (made.shape, made.sizes, made.tokens(3)) == (None, (1,), None)
        assert made.layers(1) is made.given


def test_microbatches_of_two_sequences_cost_more(shape: dict[str, object]) -> None:
    """Made once, then kept."""
    model = model_of(shape)
    assert (model.layers(2).forward_s[1:] > model.layers(1).forward_s[1:]).all()
    assert model.layers(2) is model.layers(2)
    assert model.tokens(3) == 96


def test_a_model_that_serves_keeps_its_microbatches() -> None:
    """Its memory is that of all that is answered at once."""
    model = model_of(f"{SPEC},serve=true,batch=3")
    assert model.sizes == (3,)
    assert model.layers(3) is model.given


def test_other_models_are_refused() -> None:
    """By type, and by what a document holds."""
    with pytest.raises(TypeError, match="expected model"):
        model_of(3)  # type: ignore[arg-type] # what is tested
    with pytest.raises(InputError, match="expected an object"):
        model_of({"graphs": 1})
