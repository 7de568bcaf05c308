"""Tests of the worked examples."""

import ast
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import networkx as nx
import pytest

import tiger
from tiger.errors import InputError
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


@pytest.fixture(scope="module")
def qpu():
    """Return the worked example of a QPU."""
    pytest.importorskip("dwave.system")
    return import_module("qpu")


def spend(qpu, folder, lost_at, seconds=2.0):
    """Run the example with few reads, its connection lost at a submission; return the report and the submissions."""
    machine = qpu.UnsteadyQpu(lost_at, latency_s=0.0)
    return qpu.main(machine, seconds, folder, reads=5), machine.submissions


@pytest.mark.parametrize(
    "step", [pytest.param(12, marks=pytest.mark.slow), pytest.param(1, marks=pytest.mark.long)], ids=["some", "every"]
)
def test_an_afternoon_with_a_qpu_loses_nothing_whenever_the_connection_is_lost(qpu, tmp_path, capsys, step):
    """Tests submissions from the second on: the mapping, the samples and the account of what was before are kept."""
    whole, most = spend(qpu, tmp_path / "whole", None)
    assert most == whole.sampling.calls == len(list((tmp_path / "whole").iterdir())) > 30
    for lost_at in range(2, most + 1, step):
        folder = tmp_path / str(lost_at)
        report, submissions = spend(qpu, folder, lost_at)
        # Of windows that are out at once, those behind the lost one may still have answered.
        assert lost_at - 1 <= report.sampling.calls == len(list(folder.iterdir())) < submissions <= most
        assert report.feasible
        assert any("was asked no more" in warning for warning in report.warnings)
        assert f"kept: {report.sampling.calls} sample sets" in capsys.readouterr().out
    with pytest.raises(InputError, match="the connection is lost"):
        spend(qpu, tmp_path / "none", 1)


def test_an_afternoon_with_a_qpu_keeps_to_its_budget(qpu, tmp_path, capsys):
    """Tests that the estimate is printed first, and that the time of the answers is within the budget."""
    report, submissions = spend(qpu, tmp_path, None, seconds=0.1)
    assert report.sampling.access_time_s <= 0.1
    assert 0 < submissions == report.sampling.calls < 37
    out = capsys.readouterr().out
    assert out.startswith("estimated: ")
    assert "warning: sampling ended after" in out
