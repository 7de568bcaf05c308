"""Tests of clique embedding, on D-Wave's own mock of its QPUs; no QPU was there to test on."""

import pickle
import time
from concurrent.futures import Future
from functools import cache
from math import isqrt

import dimod
import dimod.testing
import networkx as nx
import numpy as np
import pytest

pytest.importorskip("dwave.system")

import dwave.system
from dwave.cloud import exceptions as cloud
from dwave.preprocessing import SpinReversalTransformComposite
from dwave.samplers import SimulatedAnnealingSampler
from dwave.system.testing import MockDWaveSampler
from minorminer.busclique import busgraph_cache

from tiger.errors import InputError
from tiger.formats.graphs import task_graph_of
from tiger.mapping.mapper import solve
from tiger.model.problem import Problem
from tiger.qubo.params import IsingParams
from tiger.solvers import registry
from tiger.solvers.samplers.dwave import Cliques, QpuSampler, adapt
from tiger.solvers.samplers.ocean import Draw, ask
from tiger.testing import check_sampler
from tiger.topologies.spec import build

SHAPES = {"pegasus": [16], "zephyr": [12, 4]}
ONE_SOON = pytest.mark.parametrize("kind", ["pegasus", pytest.param("zephyr", marks=pytest.mark.long)])
LARGEST = {"pegasus": 180, "zephyr": 184}
WINDOW = {"pegasus": (436, 7), "zephyr": (384, 6)}


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    """Return a folder for the embeddings that busclique writes."""
    return tmp_path_factory.mktemp("busclique")


@pytest.fixture(autouse=True)
def _own_files(monkeypatch, files):
    """Leave the user's own embeddings alone."""
    monkeypatch.setattr(busgraph_cache, "cache_rootdir", lambda: str(files))


@cache
def mock(kind):
    """Return a perfect machine of the size of D-Wave's."""
    return MockDWaveSampler(topology_type=kind, topology_shape=SHAPES[kind])


@cache
def make_annealer():
    """Return a small machine that anneals."""
    return MockDWaveSampler(
        topology_type="zephyr", topology_shape=[3, 4], substitute_sampler=SimulatedAnnealingSampler()
    )


def dense(size, vartype=dimod.BINARY, seed=0):
    """Return a dense model of random biases."""
    return dimod.BinaryQuadraticModel(np.triu(np.random.default_rng(seed).normal(size=(size, size))), vartype)


class Faulty(MockDWaveSampler):
    """Promise an answer that turns out to be an error."""

    def __init__(self, error):
        """Hold the error."""
        super().__init__(topology_type="zephyr", topology_shape=[2, 4])
        self.promise = Future()
        self.promise.set_exception(error)

    def sample(self, bqm, **options):
        """Return the promise."""
        return dimod.SampleSet.from_future(self.promise, lambda promise: promise.result())


@pytest.mark.slow
@ONE_SOON
def test_a_window_of_eight_tasks_embeds_at_once(kind, monkeypatch, tmp_path):
    """Tests 64 dense variables: at most two seconds of work the first time, and next to nothing from the file."""
    monkeypatch.setattr(busgraph_cache, "cache_rootdir", lambda: str(tmp_path))
    graph, seconds = mock(kind).to_networkx_graph(), []
    for _ in range(2):
        start = time.process_time()
        chains = Cliques(graph).find(64)
        seconds.append(time.process_time() - start)
    assert (sum(map(len, chains.values())), max(map(len, chains.values()))) == WINDOW[kind]
    assert seconds[0] <= 2
    assert seconds[1] <= 0.5


@pytest.mark.slow
@ONE_SOON
def test_the_largest_clique_sets_the_width_of_windows(kind):
    """Tests 13 x 13 variables on both."""
    sampler = QpuSampler(mock(kind))
    assert sampler.max_variables == sampler.properties["max_variables"] == LARGEST[kind]
    assert isqrt(sampler.max_variables) == 13


def test_missing_qubits_narrow_the_windows():
    """Tests that the working graph counts, not the perfect one."""
    whole = MockDWaveSampler(topology_type="zephyr", topology_shape=[3, 4])
    broken = MockDWaveSampler(topology_type="zephyr", topology_shape=[3, 4], broken_nodes=whole.nodelist[::9])
    assert 2 < QpuSampler(broken).max_variables < QpuSampler(whole).max_variables


@pytest.mark.slow
@pytest.mark.parametrize("kind", SHAPES)
def test_larger_models_are_refused_before_submission(kind, monkeypatch):
    """Tests that the limit is named, and that nothing reaches the machine."""
    monkeypatch.setattr(mock(kind), "sample", pytest.fail)
    with pytest.raises(InputError, match=f"at most {LARGEST[kind]} variables.*got a model of 185") as refusal:
        QpuSampler(mock(kind)).sample(dense(185))
    assert refusal.value.field == "solver"


@pytest.mark.parametrize("vartype", [dimod.BINARY, dimod.SPIN])
def test_samples_belong_to_the_model(vartype):
    """Tests labels, kind of variables and energies, offset included."""
    model = dense(9, vartype)
    model.offset = 3.0
    model.relabel_variables(dict(enumerate("ihgfedcba")))
    samples = QpuSampler(make_annealer()).sample(model, num_reads=20)
    assert samples.vartype is vartype
    assert list(samples.variables) == list("ihgfedcba")
    assert samples.record.num_occurrences.sum() == len(samples) == 20
    dimod.testing.assert_sampleset_energies(samples, model)


def test_the_sampler_conforms():
    """Tests Ocean's check and TIGER's."""
    sampler = QpuSampler(make_annealer())
    dimod.testing.assert_sampler_api(sampler)
    check_sampler(sampler)


@pytest.mark.slow
def test_figures_tell_what_the_embedding_took():
    """Tests all five, and that they reach whoever asks for bits."""
    draw = Draw(reads=5, sweeps=1, seed=0, beta_range=(0.1, 1.0), stop=bool)
    figures = ask(QpuSampler(mock("pegasus")), dense(64), draw).figures
    assert (figures["qubits"], figures["max_chain_length"]) == (436, 7)
    assert 0 < figures["chain_break_fraction"] < 1
    assert figures["qpu_access_time_us"] == 8550.28
    assert "beta_range" not in figures


def test_chains_are_as_strong_as_the_torque_on_them():
    """Tests prefactor x root mean square x root of the degree, in spins, and both ways to set it."""
    model = dense(16)
    spins = model.change_vartype(dimod.SPIN, inplace=False)
    torque = np.sqrt(np.square(list(spins.quadratic.values())).mean() * 15)
    for options, expected in (
        ({}, 1.414 * torque),
        ({"torque": 0.5}, 0.5 * torque),
        ({"chain_strength": 3.5}, 3.5),
    ):
        figures = QpuSampler(make_annealer(), **options).sample(model).info["figures"]
        assert figures["chain_strength"] == pytest.approx(expected)


@pytest.mark.slow
def test_chains_hold_without_couplings():
    """Tests a model whose couplings are all 0, where there is no torque."""
    model = dimod.BinaryQuadraticModel(dict.fromkeys(range(20), -1.0), {(0, 1): 0.0}, dimod.BINARY)
    samples = QpuSampler(make_annealer()).sample(model)
    assert samples.first.energy == -20
    assert samples.info["figures"]["chain_strength"] == 1


@pytest.mark.parametrize("options", [{"chain_strength": 0}, {"chain_strength": -1.0}, {"torque": 0}])
def test_chains_need_strength(options):
    """Tests that nothing is coupled by 0."""
    with pytest.raises(ValueError, match="above 0"):
        QpuSampler(**options)


@pytest.mark.parametrize("content", [None, b"", b"garbage"])
def test_embeddings_are_found_without_files(content, monkeypatch, tmp_path, files):
    """Tests a folder that cannot be written to, and files that cannot be read: the same embeddings come out."""
    graph = make_annealer().to_networkx_graph()
    folder = __file__ if content is None else tmp_path
    monkeypatch.setattr(busgraph_cache, "cache_rootdir", lambda: str(folder))
    if content is not None:
        Cliques(graph)
        for path in (tmp_path / "clique").iterdir():
            path.write_bytes(content)
    found = Cliques(graph)
    monkeypatch.setattr(busgraph_cache, "cache_rootdir", lambda: str(files))
    assert found.largest == Cliques(graph).largest
    assert found.find(20) == Cliques(graph).find(20)
    assert found.find(found.largest + 1) == {}


def test_other_graphs_are_refused():
    """Tests a working graph that no QPU has."""

    class Ring(MockDWaveSampler):
        def to_networkx_graph(self):
            return nx.cycle_graph(12)

    with pytest.raises(InputError, match="Chimera, Pegasus or Zephyr"):
        QpuSampler(Ring()).sample(dense(3))


@pytest.mark.parametrize(
    ("error", "advice"),
    [
        (cloud.SolverFailureError("insufficient remaining solver access time"), "used up"),
        (cloud.RequestTimeout(), "check the network"),
        (cloud.SolverOfflineError("offline"), "later"),
    ],
)
def test_what_goes_wrong_after_submission_comes_with_advice(error, advice):
    """Tests errors that wait in the promised answer."""
    with pytest.raises(InputError, match=advice):
        QpuSampler(Faulty(error)).sample(dense(4))


def test_without_a_token_there_is_advice(monkeypatch, tmp_path):
    """Tests the real client, which finds no configuration, up to the report of a solve."""
    for name in ("TOKEN", "ENDPOINT", "SOLVER", "REGION"):
        monkeypatch.delenv(f"DWAVE_API_{name}", raising=False)
    monkeypatch.setenv("DWAVE_CONFIG_FILE", str(tmp_path / "none.conf"))
    (tmp_path / "none.conf").touch()
    with pytest.raises(InputError, match="solver: no API token"):
        solve(stencil(3, "torus:3x3"), solver="dwave")


def test_the_machine_is_connected_to_once_and_released(monkeypatch):
    """Tests the machine of the configuration: made at the first sample, closed when the sampler goes."""
    closed = []

    class Connection(MockDWaveSampler):
        def __init__(self):
            super().__init__(topology_type="zephyr", topology_shape=[2, 4])
            closed.append(False)

        def close(self):
            closed[0] = True

    monkeypatch.setattr(dwave.system, "DWaveSampler", Connection)
    sampler = registry.sampler("dwave")
    assert closed == []
    for _ in range(2):
        sampler.sample(dense(4))
    assert closed == [False]
    del sampler
    deadline = time.monotonic() + 60
    while not closed[0] and time.monotonic() < deadline:
        time.sleep(0.01)
    assert closed == [True]


def test_a_sampler_travels_without_its_connection():
    """Tests what executors need."""
    sampler = pickle.loads(pickle.dumps(QpuSampler(torque=2.0)))
    assert sampler._torque == 2.0
    assert sampler._given is None


def stencil(side, spec):
    """Return a square stencil on a topology."""
    graph = nx.convert_node_labels_to_integers(nx.grid_2d_graph(side, side))
    return Problem(tasks=task_graph_of(nx.DiGraph(graph.edges)), topology=build(spec), rule="one-to-one")


def clique_sampler(machine):
    """Return D-Wave's own sampler of cliques on a mock, which it would connect to."""
    sampler = dwave.system.DWaveCliqueSampler.__new__(dwave.system.DWaveCliqueSampler)
    sampler.child = machine
    return sampler


ONE_TO_ONE = {k: (k,) for k in range(3)}
STACKS = {
    "machine": lambda machine: machine,
    "embedding": dwave.system.EmbeddingComposite,
    "auto": dwave.system.AutoEmbeddingComposite,
    "lazy": dwave.system.LazyFixedEmbeddingComposite,
    "fixed": lambda machine: dwave.system.FixedEmbeddingComposite(machine, ONE_TO_ONE),
    "cut off": lambda machine: dwave.system.CutOffComposite(dwave.system.EmbeddingComposite(machine), 0.1),
    "tracked": lambda machine: dimod.TrackingComposite(dwave.system.EmbeddingComposite(machine)),
    "truncated": lambda machine: dimod.TruncateComposite(dimod.TrackingComposite(machine), 5),
    "spin reversal inside": lambda machine: dwave.system.EmbeddingComposite(SpinReversalTransformComposite(machine)),
    "spin reversal": SpinReversalTransformComposite,
    "clique": clique_sampler,
}


@pytest.mark.parametrize("stack", STACKS)
def test_bug_composed_samplers_on_a_machine_get_a_clique_embedding(stack):
    """Tests that D-Wave's composites answer at once, with what the embedding took, also where they are no machine."""
    sampler, begun = adapt(STACKS[stack](make_annealer())), time.process_time()
    found = sampler.sample(dense(20), num_reads=5)
    assert (type(sampler), set(found.variables)) == (QpuSampler, set(range(20)))
    assert "max_chain_length" in found.info["figures"]
    assert time.process_time() - begun < 5


def test_layers_under_an_embedding_are_kept():
    """Tests that a spin reversal transform is asked, and that layers above the embedding are not."""
    inside, outside = (dimod.TrackingComposite(layer) for layer in (make_annealer(), make_annealer()))
    adapt(dwave.system.EmbeddingComposite(inside)).sample(dense(4), num_reads=2)
    above = dimod.TrackingComposite(dwave.system.EmbeddingComposite(outside.child))
    adapt(above).sample(dense(4), num_reads=2)
    assert (len(inside.inputs), len(above.inputs)) == (1, 0)


def test_bug_an_embedding_into_another_structure_is_refused_at_once():
    """Tests composites that would search for minutes, and those that refuse a model by themselves."""
    structure = dimod.StructureComposite(dimod.ExactSolver(), range(30), [(k, k + 1) for k in range(29)])
    with pytest.raises(InputError, match=r"solver: expected a sampler of any couplings, .*got EmbeddingComposite"):
        solve(stencil(3, "torus:3x3"), solver=dwave.system.EmbeddingComposite(structure))
    assert adapt(structure) is structure


@pytest.mark.parametrize("name", ["neal", "tabu", "dwave"])
def test_other_samplers_stay_as_they_are(name):
    """Tests samplers of any couplings, and the one that embeds cliques already."""
    sampler = registry.sampler(name)
    assert adapt(sampler) is sampler
    tracked = dimod.TrackingComposite(sampler)
    assert adapt(tracked) is tracked


@pytest.mark.long
@ONE_SOON
def test_sixty_four_tasks_are_mapped_through_mock_windows(kind):
    """Tests a solve from end to end, without the starts that leave nothing to windows, and what embeddings took."""
    params = IsingParams(starts=0)
    report = solve(stencil(8, "torus:4x4x4"), solver=QpuSampler(mock(kind)), seed=1, ising=params)
    windows = [stage.to_dict() for stage in report.stages if stage.name == "windows"]
    assert (report.solver, report.feasible) == ("QpuSampler", True)
    assert len(set(report.mapping.values())) == 64
    assert report.cost < report.baseline_cost
    assert windows
    for stage in windows:
        assert (stage["qubits"], stage["max_chain_length"]) == WINDOW[kind]
        assert 0 <= stage["chain_break_fraction"] < 1
        assert stage["qpu_access_time_us"] > 0
