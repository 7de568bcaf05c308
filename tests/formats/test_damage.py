"""Damaged texts of every format: bad input may be refused, but nothing else may happen."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiger.errors import InputError
from tiger.formats import csvmatrix, graphml, matrixmarket, metis, nodelink, original, qaplib
from tiger.formats.files import read_tasks
from tiger.formats.jsontext import read_json

SAMPLES = {
    "json tasks": (
        lambda text: nodelink.task_graph(read_json(text)),
        '{"directed": true, "nodes": [{"id": [0, 1], "work": 2, "memory": 5}, {"id": "b"}],'
        ' "edges": [{"source": [0, 1], "target": "b", "weight": 1.5}]}',
    ),
    "json topology": (
        lambda text: nodelink.topology(read_json(text)),
        '{"multigraph": false, "nodes": [{"id": 1, "slots": 2, "cost": 0.5, "memory": 5}, {"id": 2, "memory": 9}],'
        ' "links": [{"source": 1, "target": 2, "weight": 1.5, "bandwidth": 10}]}',
    ),
    "graph": (metis.task_graph, "% x\n3 2 111 1\n1 4 2 5 3 6\n1 4 1 5\n1 4 1 6\n"),
    "mtx": (matrixmarket.task_graph, "%%MatrixMarket matrix coordinate real general\n% x\n3 3 2\n1 2 1.5\n3 1 2e0\n"),
    "mtx array": (matrixmarket.task_graph, "%%MatrixMarket matrix array integer symmetric\n2 2\n1\n2\n3\n"),
    "csv": (csvmatrix.task_graph, 'rank,"a",b\n"a",0,1.5\nb,2,0\n'),
    "graphml": (
        graphml.task_graph,
        '<?xml version="1.0" encoding="UTF-8"?><graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
        '<key id="w" for="edge" attr.name="weight" attr.type="double"><default>2</default></key>'
        '<graph edgedefault="directed"><node id="a"/><node id="b"/>'
        '<edge source="a" target="b"><data key="w">1.5</data></edge></graph></graphml>',
    ),
    "dat": (qaplib.problem, "2\n\n0 1\n1 0\n\n0 5\n5 0\n"),
    "ram": (original.task_graph, "/* x */\nAppName x\n2 1\n0\n0\n0 0 1 1 1\n1 0 1 1 1\n0 0 1 1\n"),
    "arc": (original.mesh, "/* x */\nTotalProcNum 2\nRowNum 1\nColumnNum 2\nProcCost 0-1 1,2\nCommCost 0 1.5\n"),
}
PIECES = st.text(max_size=6) | st.sampled_from(
    [
        "nan",
        "1e999",
        "-1",
        "0x10",
        "9" * 30,
        "9" * 5000,
        "null",
        "true",
        "\n",
        " ",
        "\0",
        "\ud800",
        "[",
        "{",
        "<",
        '"',
        "%",
        "/*",
    ]
)


@st.composite
def damaged(draw, text):
    """Replace up to four slices of a text by something else."""
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        text = text[:start] + draw(PIECES) + text[start + draw(st.integers(0, 4)) :]
    return text


@pytest.mark.parametrize("kind", SAMPLES)
def test_samples_are_sound(kind):
    """Before they are damaged."""
    read, text = SAMPLES[kind]
    read(text)


@pytest.mark.parametrize("kind", SAMPLES)
@given(data=st.data())
def test_only_input_errors_escape(kind, data):
    """A damaged text is read or refused."""
    read, text = SAMPLES[kind]
    with contextlib.suppress(InputError):
        read(data.draw(damaged(text) | st.text()))


@given(content=st.binary(max_size=60), ending=st.sampled_from(["json", "graph", "mtx", "csv", "graphml", "dat", "ram"]))
def test_any_file_is_read_or_refused(tmp_path_factory, content, ending):
    """Whatever the bytes are."""
    path = tmp_path_factory.getbasetemp() / f"any.{ending}"
    path.write_bytes(content)
    with contextlib.suppress(InputError):
        read_tasks(path)
