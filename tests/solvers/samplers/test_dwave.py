"""Tests of clique embedding, on D-Wave's own mock of its QPUs; no QPU was there to test on."""

import pickle
import time
from concurrent.futures import Future
from functools import cache
from math import isqrt
from threading import Lock

import dimod
import dimod.testing
import networkx as nx
import numpy as np
import pytest

pytest.importorskip("dwave.system")

import dwave.system
from dwave.cloud import exceptions as cloud
from dwave.cloud.testing.mocks import qpu_problem_timing_data
from dwave.embedding import EmbeddedStructure
from dwave.preprocessing import SpinReversalTransformComposite
from dwave.samplers import SimulatedAnnealingSampler
from dwave.system.testing import MockDWaveSampler
from minorminer.busclique import busgraph_cache

import tiger
from tiger.errors import InputError
from tiger.formats.graphs import task_graph_of
from tiger.mapping.mapper import solve
from tiger.model.problem import Problem
from tiger.qubo.params import IsingParams
from tiger.solvers import registry
from tiger.solvers.samplers.cliques import CliqueEmbedding, Cliques
from tiger.solvers.samplers.dwave import QpuSampler, adapt
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
    """Tests 64 dense variables: seconds of work the first time, and next to nothing from the file."""
    monkeypatch.setattr(busgraph_cache, "cache_rootdir", lambda: str(tmp_path))
    graph, seconds = mock(kind).to_networkx_graph(), []
    for _ in range(2):
        start = time.process_time()
        chains = Cliques(graph).find(64)
        seconds.append(time.process_time() - start)
    assert (sum(map(len, chains.values())), max(map(len, chains.values()))) == WINDOW[kind]
    assert seconds[0] <= 5
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
@pytest.mark.parametrize("size", [1, 2, 9])
@pytest.mark.parametrize("share", [1.0, 0.5])
def test_models_are_laid_out_as_d_waves_software_does(size, share):
    """Tests dense models and such with half of the couplings: the same biases and couplings on the same qubits."""
    graph = make_annealer().to_networkx_graph()
    structure = EmbeddedStructure(graph.edges, Cliques(graph).find(size))
    rng = np.random.default_rng(size)
    model = dense(size, dimod.SPIN)
    model.remove_interactions_from([edge for edge in model.quadratic if rng.random() > share])
    model.offset = 3.0
    made, known = CliqueEmbedding(structure).embed(model, 2.5), structure.embed_bqm(model, 2.5)
    assert made.is_almost_equal(known, places=9)


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


class Timed(MockDWaveSampler):
    """Notes what it is asked, and says how long a submission takes; publishes the times of an Advantage system."""

    delay_s = 0.05

    def __init__(self, used_us=20_000.0):
        """Hold what is asked, by several threads."""
        timing = {"problem_timing_data": qpu_problem_timing_data()}
        shape = {"topology_type": "zephyr", "topology_shape": [4, 4]}
        # The mock's own sampler cannot be repeated.
        seeded = {"substitute_sampler": SimulatedAnnealingSampler(), "substitute_kwargs": {"seed": 1, "num_sweeps": 20}}
        super().__init__(properties=timing, parameter_warnings=False, **shape, **seeded)
        self.asked, self.out, self.most, self.used_us, self.lock = [], 0, 0, used_us, Lock()

    def sample(self, bqm, **options):
        """Return samples after a delay."""
        with self.lock:
            self.asked.append(options)
            self.out += 1
            self.most = max(self.most, self.out)
        time.sleep(self.delay_s)
        answer = super().sample(bqm, **options)
        answer.info["timing"]["qpu_access_time"] = self.used_us
        with self.lock:
            self.out -= 1
        return answer


def cliques(count):
    """Return groups of seven tasks that send to each other alone, which windows of a small machine hold."""
    rng, graph = np.random.default_rng(0), nx.disjoint_union_all([nx.complete_graph(7)] * count)
    nx.set_edge_attributes(graph, {edge: int(rng.integers(1, 50)) for edge in graph.edges}, "weight")
    return graph


def ask_machine(machine, **ising):
    """Map two groups of tasks by few reads."""
    options = {"passes": 1, "sampler": {"num_reads": 4}, **ising}
    return tiger.assign(cliques(2), "torus:2x7", solver=QpuSampler(machine), seed=1, ising=IsingParams(**options))


def test_options_reach_the_machine():
    """Tests that all but those of chains are passed on, and that strengths follow the factor."""
    machine = Timed()
    options = {"num_reads": 4, "annealing_time": 50, "label": "two groups", "torque": 2.828}
    weak = ask_machine(Timed()).stages[-1].detail["chain_strength"]
    strong = ask_machine(machine, sampler=options).stages[-1].detail["chain_strength"]
    assert {**machine.asked[0]} == {"num_reads": 4, "annealing_time": 50, "label": "two groups", "answer_mode": "raw"}
    assert strong / weak == pytest.approx(2)


def test_reverse_annealing_begins_at_the_mapping():
    """Tests that every qubit of a window is in the state of its variable: one node a task."""
    machine = Timed()
    ask_machine(machine, sampler={"num_reads": 4, "anneal_schedule": [[0, 1], [10, 0.4], [30, 1]]})
    state = machine.asked[0]["initial_state"]
    size = machine.asked[0]["num_reads"]
    assert set(state.values()) == {-1, 1}
    assert size == 4
    up = sum(value > 0 for value in state.values())
    assert up * 7 == len(state)


def test_an_option_of_another_sampler_is_refused_before_anything_is_submitted():
    """Tests that the machine is not asked."""
    machine = Timed()
    with pytest.raises(InputError, match="ising/sampler/num_sweeps: expected one of anneal_offsets"):
        ask_machine(machine, sampler={"num_sweeps": 4})
    assert machine.asked == []


def test_a_dry_run_submits_nothing_and_states_what_it_would():
    """Tests submissions and times by the machine's own figures, each as much as the one of a submission."""
    machine = Timed()
    report = ask_machine(machine, dry_run=True)
    assert machine.asked == []
    assert report.sampling.estimated
    assert report.sampling.calls == report.stages[-1].detail["windows"] > 0
    each_s = report.sampling.access_time_s / report.sampling.calls
    assert 0.015 < each_s < 0.02
    assert any(warning.startswith("nothing was submitted") for warning in report.warnings)


def test_a_budget_of_time_is_held():
    """Tests that what submissions took counts, that the mapping is kept, and that a warning says what ended it."""
    machine = Timed(used_us=50_000.0)
    report = ask_machine(machine, passes=8, qpu_time_s=0.22)
    assert len(machine.asked) == report.sampling.calls == 4
    assert report.sampling.access_time_s == pytest.approx(0.2)
    assert report.feasible
    assert any(
        warning.startswith("sampling ended after 4 answers: the budget of 0.22 s") for warning in report.warnings
    )


def test_a_budget_below_one_submission_is_refused():
    """Tests that nothing is submitted."""
    machine = Timed()
    with pytest.raises(InputError, match=r"ising/qpu_time_s: the budget of 0.01 s"):
        ask_machine(machine, qpu_time_s=0.01)
    assert machine.asked == []


@pytest.mark.parametrize("limit", [{"qpu_time_s": 1.0}, {"dry_run": True}])
def test_other_samplers_have_no_time_on_a_machine(limit):
    """Tests that a limit that would mean nothing is refused."""
    with pytest.raises(InputError, match=r"expected a D-Wave QPU as solver beside it, got SimulatedAnnealingSampler"):
        tiger.assign(cliques(1), "ring:7", solver="neal", ising=IsingParams(**limit))


@pytest.mark.slow
def test_windows_that_do_not_touch_are_out_at_once_with_the_same_answer():
    """Tests 32 groups on as many islands of nodes: eight submissions at a time, and one at a time."""
    islands, answers = nx.disjoint_union_all([nx.path_graph(7)] * 32), []
    islands.add_edges_from(((7 * k, 7 * k + 7) for k in range(31)), weight=100)
    for number in (1, 8):
        machine = Timed()
        # So long that a slow computer submits eight before the first of them is back.
        machine.delay_s = 0.0 if number == 1 else 1.0
        report = tiger.assign(
            cliques(32),
            islands,
            solver=QpuSampler(machine),
            ising=IsingParams(passes=1, in_flight=number, sampler={"num_reads": 4}),
        )
        answers.append((report.mapping, report.sampling, len(machine.asked), machine.most))
    assert answers[0][:3] == answers[1][:3]
    assert [answer[3] for answer in answers] == [1, 8]


def test_a_subclass_stays_itself_and_shares_its_connection():
    """Tests that limits of a use make no other sampler of it."""

    class Mine(QpuSampler):
        """Counts calls."""

        calls_made = 0

        def sample(self, bqm, **options):
            Mine.calls_made += 1
            return super().sample(bqm, **options)

    mine = Mine(Timed())
    report = tiger.assign(cliques(2), "torus:2x7", solver=mine, ising=IsingParams(passes=1, sampler={"num_reads": 4}))
    assert Mine.calls_made == report.sampling.calls > 0
    limited = mine.limit(None, dry=True)
    assert limited._cliques is mine._cliques
    with pytest.raises(TypeError, match="belongs to one process"):
        pickle.dumps(limited)


def test_layers_that_change_the_model_have_no_state_to_begin_with():
    """Tests reverse annealing under a spin reversal transform, which leaves the state as it is."""
    stack = SpinReversalTransformComposite(Timed())
    schedule = {"anneal_schedule": [[0, 1], [10, 0.4], [30, 1]]}
    with pytest.raises(InputError, match="ising/sampler/initial_state: expected none under a composed sampler"):
        tiger.assign(cliques(2), "torus:2x7", solver=stack, ising=IsingParams(passes=1, sampler=schedule))


def test_an_embedding_is_found_once(monkeypatch):
    """Tests that models of one size share it, from call to call of a solve."""
    found, find = [], Cliques.find
    monkeypatch.setattr(Cliques, "find", lambda self, size: found.append(size) or find(self, size))
    machine = Timed()
    ask_machine(machine, passes=4)
    assert len(machine.asked) == 8
    assert sorted(set(found)) == sorted(found)
