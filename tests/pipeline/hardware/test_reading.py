"""Tests of where clusters come from."""

import json
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tiger.errors import InputError
from tiger.pipeline.hardware.reading import cluster_of_document, read_cluster

EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "clusters"
TOPO = "\tGPU0\tGPU1\nGPU0\t X \tNV2\nGPU1\tNV2\t X \n"


def refusal(read, source):
    """Return the error of a source that is bad input."""
    with pytest.raises(InputError) as caught:
        read(source)
    return caught.value


@pytest.mark.parametrize(
    ("name", "size", "parts"),
    [
        ("uneven4.json", 4, 1),
        ("two_networks.json", 16, 1),
        ("slow_network2.json", 16, 1),
        ("pair_and_host.json", 3, 1),
        ("measured2.json", 2, 1),
        ("workstation4.topo", 4, 1),
        ("racks.json", 64, 1),
    ],
)
def test_examples(name, size, parts):
    """Every example is a cluster of one part, as a path and as text."""
    cluster = read_cluster(EXAMPLES / name)
    assert (cluster.size, cluster.parts().max() + 1) == (size, parts)
    assert read_cluster(str(EXAMPLES / name)).names == cluster.names


def test_every_example_is_read():
    """No example is left out above."""
    assert len([path for path in EXAMPLES.iterdir() if path.suffix in {".json", ".topo", ".txt"}]) == 7


def test_specs_and_documents():
    """A SPEC is read by both entries, an object too."""
    assert read_cluster("dgx:1").names == cluster_of_document("dgx:1").names
    assert read_cluster({"nvidia_smi_topo": TOPO}).names == ("GPU0", "GPU1")
    assert cluster_of_document({"machines": [{"devices": 1}]}).names == ("m0.gpu0",)
    assert cluster_of_document({"devices": [{"name": "a"}]}).names == ("a",)


def test_text_files(tmp_path):
    """Endings tell formats apart, in any case; a JSON file may hold a SPEC."""
    (tmp_path / "a.TXT").write_text(TOPO)
    (tmp_path / "b.json").write_text(json.dumps("dgx:1"))
    assert read_cluster(tmp_path / "a.TXT").size == 2
    assert read_cluster(tmp_path / "b.json").size == 8


@pytest.mark.parametrize("source", ["cluster.yaml", "dgx", "torus:4x4", Path("dgx:1"), "", "missing.json", "\0.json"])
def test_unknown_sources(source):
    """Other endings, other SPECs and files that are not there are bad input."""
    assert refusal(read_cluster, source).field == "cluster"


@pytest.mark.parametrize("text", ["{", "[" * 10**5, '{"devices": 1, "devices": 2}', "[]", "5", "null", "1" * 5000, ""])
def test_malformed_json(tmp_path, text):
    """Text that is no JSON, and JSON that is no object, is bad input."""
    (tmp_path / "a.json").write_text(text)
    assert refusal(read_cluster, tmp_path / "a.json").field == "cluster"


@pytest.mark.parametrize("document", [None, [], {}, {"links": []}, {"devices": [], "machines": []}, 5])
def test_documents_of_no_shape(document):
    """A document says in one way what its devices are."""
    assert refusal(cluster_of_document, document).field == "cluster"


def test_text_in_a_document_is_never_opened(tmp_path):
    """The path of a file that exists is no SPEC."""
    path = tmp_path / "a.json"
    path.write_text(json.dumps("dgx:1"))
    assert "such as dgx:4" in refusal(cluster_of_document, str(path)).reason


@pytest.mark.parametrize(
    "document",
    [
        "dgx:1",
        {"machines": [{"devices": 8, "bandwidth": 1}]},
        {"devices": [{"name": k} for k in range(8)], "links": []},
        {"nvidia_smi_topo": TOPO.replace("GPU", "\tGPU", 1).replace("GPU1", "GPU1 GPU2 GPU3 GPU4", 1)},
    ],
)
def test_the_limit_of_the_caller_counts(document):
    """More devices than allowed are refused in any shape."""
    with pytest.raises(InputError, match="1 to 3 devices"):
        cluster_of_document(document, 3)


@settings(max_examples=40)
@given(
    st.dictionaries(
        st.sampled_from(["machines", "nics", "fallback", "devices"]),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(
                    st.sampled_from(["devices", "count", "nic", "bandwidth", "lanes", "name"]), inner, max_size=4
                )
            ),
            max_leaves=12,
        ),
    )
)
def test_hostile_documents(document):
    """Any document is a cluster or bad input of `cluster`."""
    with suppress(InputError):
        assert cluster_of_document(document, 64).size <= 64
