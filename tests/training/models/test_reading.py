"""Models, told apart."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiger.errors import InputError
from tiger.training.models.reading import model_of_document, read_model

EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "models"
SPEC = "transformer:layers=2,hidden=8,heads=4,vocabulary=10,sequence=3"
NODE = "node1 -- x -- forward_compute_time=1, backward_compute_time=1, activation_size=1, parameter_size=1"
LAYER = {"name": "a", "forward_s": 1, "backward_s": 2, "parameter_bytes": 3, "activation_bytes": 4}


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("skipnet.txt", 11),
        ("layers.csv", 8),
        ("branches.json", 4),
        ("gpt2-medium.json", 26),
        ("llama2-13b-serving.json", 42),
    ],
)
def test_examples_are_read_by_their_ending(name, size):
    """As a path or as text, of the path or of the file."""
    assert read_model(EXAMPLES / name).size == read_model(str(EXAMPLES / name)).size == size
    assert model_of_document({"file": name, "text": (EXAMPLES / name).read_text()}).size == size


def test_the_skip_connection_of_the_example_crosses_the_block():
    """Node 4 is held open over nodes 5 to 7."""
    layers = read_model(EXAMPLES / "skipnet.txt")
    assert layers.crossing_bytes[4:8].tolist() == [51380224, 102760448, 102760448, 102760448]


def test_a_tied_branch_of_the_example_is_known():
    """Layers 1 and 3."""
    assert read_model(EXAMPLES / "branches.json").tied == ((1, 3),)


@pytest.mark.parametrize("document", [SPEC, [LAYER], {"layers": [LAYER]}, {"graph": NODE}])
def test_documents_are_told_apart_by_their_keys(document):
    """A SPEC, a list, a table and a profile."""
    assert model_of_document(document).size == (4 if document is SPEC else 1)


def test_a_spec_is_read_where_a_file_is():
    """On the command line both stand in the same place."""
    assert read_model(SPEC).names == model_of_document(SPEC).names


def test_a_json_file_may_hold_any_document(tmp_path):
    """Even a SPEC."""
    path = tmp_path / "MODEL.JSON"
    path.write_text(f'"{SPEC}"')
    assert read_model(path).size == 4


@pytest.mark.parametrize(
    "source", [EXAMPLES / "missing.txt", "missing.csv", "model.onnx", "", "transformer", "grid:4x4"]
)
def test_files_that_cannot_be_read_are_named(source):
    """Missing ones, and those of another format."""
    with pytest.raises(InputError) as caught:
        read_model(source)
    assert caught.value.field == "model"


@pytest.mark.parametrize("text", ['{"layers": [1, 2', '{"graph": "", "graph": ""}', '{"layers": NaN}', "[" * 100_000])
def test_broken_json_is_named(tmp_path, text):
    """Cut off, with a key twice, with what is no JSON, or nested too deeply."""
    path = tmp_path / "model.json"
    path.write_text(text)
    with pytest.raises(InputError, match=r"^model"):
        read_model(path)


@pytest.mark.parametrize(
    ("document", "field"),
    [
        (str(EXAMPLES / "layers.csv"), "model"),
        ("transformer", "model"),
        (None, "model"),
        (3, "model"),
        ({}, "model"),
        ({"model": 1}, "model"),
        ({"graph": NODE, "transformer": {}}, "model"),
        ({"graph": NODE, "layers": [LAYER]}, "model"),
        ({"graph": [NODE]}, "model/graph"),
        ({"graph": ""}, "model/nodes"),
        ({"transformer": SPEC}, "model/transformer"),
    ],
)
def test_documents_of_no_known_kind_are_named(document, field):
    """No string is opened as a file."""
    with pytest.raises(InputError) as caught:
        model_of_document(document)
    assert caught.value.field == field


@pytest.mark.parametrize("document", [SPEC, [LAYER] * 3, {"graph": f"{NODE}\n{NODE.replace('node1', 'node2')}"}])
def test_a_limit_of_layers_holds_for_every_kind(document):
    """One layer at most."""
    with pytest.raises(InputError, match="at most 1 layers"):
        model_of_document(document, max_layers=1)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*LAYER, "layers", "edges"]), inner, max_size=4)
    ),
    max_leaves=8,
)


@pytest.mark.slow
@given(
    document=VALUES | st.fixed_dictionaries({"layers": st.lists(st.fixed_dictionaries(dict.fromkeys(LAYER, VALUES)))})
)
def test_no_document_ends_in_a_traceback(document):
    """Layers or InputError."""
    with pytest.raises(InputError):
        raise InputError("model", str(model_of_document(document).size))


@pytest.mark.parametrize(
    ("document", "meant"),
    [
        (SPEC + ",kvheads=2", "kv_heads"),
        ({"transformer": {"layer": 2}}, "layers"),
        ({"layers": [LAYER], "edge": []}, "edges"),
        ({"layer": [LAYER]}, "layers"),
    ],
)
def test_bug_the_nearest_key_is_named(document, meant):
    """Of shapes, tables, and documents as a whole."""
    with pytest.raises(InputError, match=f"did you mean '{meant}'"):
        model_of_document(document)
