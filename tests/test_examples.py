"""Tests of the worked examples."""

import ast
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import networkx as nx
import pytest

import tiger
from tiger.qubo.params import IsingParams, Sampling
from tiger.testing import check_sampler

pytest.importorskip("openjij")
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))

from openjij_sampler import OpenJij

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


@pytest.mark.slow
def test_openjij_passes_the_conformance_check():
    """Tests what a sampler has to do."""
    check_sampler(OpenJij())


def test_openjij_reads_differ_and_repeat():
    """Tests that every read has a seed of its own, which OpenJij alone does not give, and that seeds decide."""
    import dimod

    bqm = dimod.BinaryQuadraticModel("BINARY")
    bqm.add_variables_from(dict.fromkeys(range(12), 0.0))
    first = OpenJij().sample(bqm, num_reads=8, num_sweeps=1, seed=5)
    again = OpenJij().sample(bqm, num_reads=8, num_sweeps=1, seed=5)
    assert len({read.tobytes() for read in first.record.sample}) > 1
    assert (first.record.sample == again.record.sample).all()


@pytest.mark.long
def test_openjij_solves_through_tiger(monkeypatch):
    """Tests a stencil of nine on its own grid from the model alone, at few reads, and the temperatures it was given."""
    few = IsingParams(whole=Sampling(rounds=3, reads=4, sweeps=200), window=Sampling(rounds=1, reads=2, sweeps=50))
    monkeypatch.setattr("tiger.mapping.portfolio.IsingParams", lambda **_: few)
    report = tiger.assign(nx.gnm_random_graph(9, 20, seed=2), "grid:3x3", solver=OpenJij(), seed=1)
    peer = tiger.assign(nx.gnm_random_graph(9, 20, seed=2), "grid:3x3", solver="exact")
    assert report.solver == "OpenJij"
    assert report.cost == peer.cost
    assert all("beta_range" in row for row in report.stages[2].detail["rounds"])


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.name)
def test_what_an_example_imports_is_there(path):
    """Tests the names of the package, which a slow test, the demo and users run into otherwise."""
    for statement in ast.walk(ast.parse(path.read_text())):
        if isinstance(statement, ast.ImportFrom) and (statement.module or "").partition(".")[0] == "tiger":
            module = import_module(statement.module)
            for name in statement.names:
                assert hasattr(module, name.name) or find_spec(f"{statement.module}.{name.name}")
