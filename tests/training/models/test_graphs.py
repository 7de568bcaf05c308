"""Tests of the forms that graphs of operators come in."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiger.errors import InputError
from tiger.training.models.graphs import operators_of_document, read_operators

MODELS = Path(__file__).resolve().parents[3] / "examples" / "models"
NODE = {"id": 1, "supportedOnFpga": 1, "cpuLatency": 1, "fpgaLatency": 1, "isBackwardNode": 0}
DOCUMENTS = (
    {"nodes": [NODE], "edges": []},
    {"operators": [{"name": "1", "seconds": 1e-3}], "edges": []},
    {"graph": "node1 -- A -- forward_compute_time=1, backward_compute_time=0, activation_size=1, parameter_size=2"},
)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: next(iter(document)))
def test_documents_are_told_apart_by_their_keys(document: dict[str, object], tmp_path: Path) -> None:
    """Also in a file."""
    (tmp_path / "m.json").write_text(json.dumps(document))
    for operators, devices in (operators_of_document(document), read_operators(tmp_path / "m.json")):
        assert (operators.seconds.tolist(), devices) == ([0.001], None)


def test_files_are_told_apart_by_their_endings() -> None:
    """A profile has both passes, sends its activation there and the gradient back, and holds its parameters."""
    table, _ = read_operators(MODELS / "two_towers.csv")
    profile, _ = read_operators(str(MODELS / "skipnet.txt"))
    assert (table.size, table.groups, profile.size) == (11, 6, 11)
    stem = profile.names.index("node2")
    assert profile.seconds[stem] == pytest.approx(0.0181)
    assert profile.sent_bytes[stem] == 2 * 205520896.0
    assert profile.memory_bytes[stem] == 7168.0


@pytest.mark.parametrize(
    "name", ["layers.csv", "gpt2-medium.json", "branches.json", "transformer:layers=2", "no.json", "README.md"]
)
def test_chains_and_other_files_are_refused(name: str) -> None:
    """By name."""
    with pytest.raises(InputError, match="model"):
        read_operators(MODELS / name)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["nodes", "edges", "operators", "graph"]), inner),
)


@pytest.mark.slow
@given(values)
def test_any_document_is_read_or_refused(document: object) -> None:
    """By InputError and nothing else."""
    with pytest.raises(InputError):
        operators_of_document(document)
