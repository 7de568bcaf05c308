"""Fuzz what comes back from other software: samples of another problem, and files of samples with something changed."""

import json
import os
import tempfile
from pathlib import Path

import dimod
import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.profile import cases
from tiger.errors import InputError
from tiger.mapping.entry import problem_of
from tiger.mapping.exchange.decode_samples import SampleRows, decode_samples
from tiger.mapping.exchange.sample_file import read_samples
from tiger.model.window import fold, whole
from tiger.objectives.cost import cost_of
from tiger.qubo.encode import encode
from tiger.qubo.penalties import safe_penalties

ODD = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3) | st.just([]) | st.just({})


@st.composite
def graphs(draw):
    """Draw a task graph of four tasks with weights from 1e-9 to 1e12."""
    graph = nx.empty_graph(4)
    weights = st.floats(-9, 12).map(lambda power: 10.0**power) | st.integers(1, 9)
    for pair in draw(st.lists(st.sampled_from([(i, j) for i in range(4) for j in range(i)]), min_size=1, unique=True)):
        graph.add_edge(*pair, weight=draw(weights))
    return graph


@pytest.mark.slow
@given(graph=graphs(), seed=st.integers(0, 2**32 - 1), scale=st.sampled_from([1.0, 0.4, 2.0]), lacking=st.booleans())
@cases(quick=12, long=1000)
def test_energies_tell_a_problem_from_another(graph, seed, scale, lacking):
    """Tests that samples of a problem are taken, and that those of one with other costs are refused."""
    own, other = problem_of(graph, "grid:2x3"), problem_of(graph, "grid:3x2")
    window = fold(own, whole(own), own.pins)
    qubo, rng = encode(window), np.random.default_rng(seed)
    model = qubo.bqm(safe_penalties(window).at(scale))
    bits = np.array([qubo.sample(rng.permutation(6)[:4]) for _ in range(4)])
    offset = float(model.offset) if lacking else 0.0
    energies = np.asarray(model.energies((bits, range(qubo.size)))) - offset
    rows = SampleRows(bits, np.ones(4, np.int64), energies, None, float(model.offset))
    assert decode_samples(own, rows).stages[-1].detail["checked"] == ("energies" if energies.any() else "nothing")
    costs = [[cost_of(p, row.reshape(4, 6).argmax(axis=1)).total for row in bits] for p in (own, other)]
    if np.abs(np.subtract(*costs)).max() > 1e-3 * float(safe_penalties(window).one_hot.sum()) and energies.any():
        with pytest.raises(InputError, match="samples: expected samples of this problem"):
            decode_samples(other, rows)


@pytest.mark.slow
@given(data=st.data())
@cases(quick=15, long=5000)
def test_changed_files_are_read_or_refused(data):
    """Tests a sample set in which any value, at any depth, has become another: rows or InputError, nothing else."""
    found = dimod.SampleSet.from_samples(
        np.eye(3, dtype=np.int8), "BINARY", [1.0, 2.0, 3.0], info={"fingerprint": "0a"}
    )
    document = found.to_serializable(pack_samples=data.draw(st.booleans()))
    part = document
    while True:
        key = data.draw(st.sampled_from(sorted(part) if isinstance(part, dict) else range(len(part))))
        if not isinstance(part[key], dict | list) or not part[key] or data.draw(st.booleans()):
            break
        part = part[key]
    part[key] = data.draw(ODD)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "samples.json")
        path.write_text(json.dumps(document))
        try:
            rows = read_samples(os.fspath(path))
        except InputError:
            return
        assert len(rows.bits) == len(rows.counts)
        assert rows.energies is None or len(rows.energies) == len(rows.bits)
        assert rows.fingerprint is None or isinstance(rows.fingerprint, str)
