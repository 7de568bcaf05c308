"""Tests of Leap's hybrid solvers: real models, and D-Wave's own clients as far as they go without the service.

The solver of binary quadratic models has a mock of D-Wave's. The other two have none: their transport is faked here,
and answers with what dimod and the models themselves find on a problem of three tasks.
"""

import pickle
from concurrent.futures import Future
from dataclasses import replace
from itertools import permutations
from types import SimpleNamespace

import dimod
import dimod.testing
import numpy as np
import pytest
import scipy.sparse as sp

pytest.importorskip("dwave.system")

import dwave.system
from dwave.cloud import exceptions as cloud
from dwave.system.samplers import leap_hybrid_sampler as client
from dwave.system.testing import MockLeapHybridSolver

from tiger.errors import InputError
from tiger.mapping.mapper import solve
from tiger.model.problem import Problem
from tiger.model.tasks import TaskGraph
from tiger.model.window import fold, whole
from tiger.objectives.cost import violations
from tiger.solvers import registry
from tiger.solvers.samplers.leap import CqmSearch, LeapSampler, NlSearch, keeps_constraints
from tiger.testing import check_sampler, check_search
from tiger.topologies.spec import build

CQM_LIMITS = {
    "category": "hybrid",
    "minimum_time_limit_s": 5.0,
    "maximum_time_limit_hrs": 0.005,
    "maximum_number_of_constraints": 100,
    "maximum_number_of_variables": 100,
    "maximum_number_of_biases": 1000,
    "maximum_number_of_quadratic_variables": 100,
}
NL_LIMITS = {
    "category": "hybrid",
    "maximum_number_of_nodes": 1000,
    "maximum_state_size": 100_000,
    "maximum_decision_state_size": 1000,
    "maximum_number_of_states": 1,
}


@pytest.fixture
def problem():
    """Return tasks a, b, c on the path x - y - z; a-c talk 3, b-c 2, a-b 1: 9 in launch order, 7 with c between."""
    traffic = sp.csr_array(np.array([[0.0, 1, 3], [0, 0, 2], [0, 0, 0]]))
    tasks = TaskGraph(names=("a", "b", "c"), traffic=traffic, directed=False)
    return Problem(tasks=tasks, topology=build("grid:3"), rule="one-to-one")


class Transport(MockLeapHybridSolver):
    """Stand for the client of D-Wave's cloud and for its solver at once."""

    def __init__(self, kind, limits, answer):
        """Answer uploads of a kind of model by a function of model and run time."""
        self.properties = limits | {"parameters": {"time_limit": ""}, "supported_problem_types": [kind]}
        self.supported_problem_types = [kind]
        self.answer, self.seconds = answer, []

    def get_solver(self):
        """Return the solver."""
        return self

    def upload_problem(self, file):
        """Take a constrained model."""
        file.seek(0)
        return keep(dimod.ConstrainedQuadraticModel.from_file(file))

    def upload_nlm(self, model, max_num_states):
        """Take a nonlinear model."""
        assert max_num_states == model.states.size() == 1
        return keep(model)

    def sample_cqm(self, model, time_limit):
        """Promise samples."""
        self.seconds.append(time_limit)
        return SimpleNamespace(sampleset=self.answer(model))

    def sample_nlm(self, model, time_limit):
        """Promise states, which is where the client's own code goes on."""
        self.seconds.append(time_limit)
        return self.answer(model)


def keep(value):
    """Return a promise that is kept."""
    future = Future()
    future.set_result(value)
    return future


def solve_exactly(model):
    """Return every state of a small constrained model, as the service returns its best."""
    return dimod.ExactCQMSolver().sample_cqm(model)


@pytest.fixture
def serve(monkeypatch):
    """Return a function that puts a transport under D-Wave's clients."""

    def put(kind, limits, answer):
        transport = Transport(kind, limits, answer)
        monkeypatch.setattr(client.Client, "from_config", lambda **_: transport)
        return transport

    return put


class Permutations:
    """Fake the nonlinear service: try every permutation, or leave the state as it came."""

    properties = NL_LIMITS

    def __init__(self, *, idle=False, error=None):
        """Work, stay idle, or fail."""
        self.idle, self.error, self.seconds = idle, error, []

    def estimated_min_time_limit(self, model):
        """Return the least run time."""
        return 5.0

    def sample(self, model, time_limit):
        """Promise that the model holds its best state."""
        self.seconds.append(time_limit)
        promise = Future()
        if self.error:
            promise.set_exception(self.error)
            return promise
        choice = next(model.iter_decisions())
        with model.lock():
            ranked = []
            for order in permutations(range(choice.size())) if not self.idle else ():
                choice.set_state(0, order)
                ranked.append((not model.feasible(0), float(model.objective.state(0)), order))
            if ranked:
                choice.set_state(0, min(ranked)[2])
        promise.set_result(model)
        return promise

    def close(self):
        """Do nothing."""


class Never:
    """Fake services that never answer."""

    properties = CQM_LIMITS | NL_LIMITS

    def min_time_limit(self, model):
        """Return the least run time."""
        return 5.0

    estimated_min_time_limit = min_time_limit

    def sample_cqm(self, model, time_limit):
        """Promise samples that never come."""
        return dimod.SampleSet.from_future(Future())

    def sample(self, model, time_limit):
        """Promise states that never come."""
        return Future()

    def close(self):
        """Do nothing."""


def test_constrained_models_pass_through_the_client(serve, problem):
    """Tests a solve from end to end: the optimum comes back, and effort is run time, up to the service's most."""
    transport = serve("cqm", CQM_LIMITS, solve_exactly)
    report = solve(problem, solver="leap-cqm", effort=4)
    assert (report.solver, report.cost) == ("leap-cqm", 7)
    assert [stage.name for stage in report.stages][-1] == "leap-cqm"
    assert transport.seconds[0] == 5.0
    CqmSearch().search(problem, np.arange(3), effort=9, seed=0, stop=bool)
    assert transport.seconds[-1] == 18.0


def test_nonlinear_models_start_from_the_mapping_and_come_back(problem):
    """Tests both on a fake service: one that finds the optimum, and one that leaves the state as it was."""
    found = NlSearch(Permutations()).search(problem, np.arange(3), effort=2, seed=0, stop=bool)
    assert found.places.tolist() in ([0, 2, 1], [2, 0, 1])
    start = np.array([1, 0, 2])
    idle = NlSearch(Permutations(idle=True)).search(problem, start, effort=1, seed=0, stop=bool)
    assert idle.places.tolist() == start.tolist()
    assert idle.places is not start


def test_nonlinear_models_pass_through_the_client(serve, problem):
    """Tests the real client up to the wire, and its run time."""
    written = []

    def answer(model):
        written.append(model.states.size())
        raise cloud.SolverFailureError("insufficient remaining solver access time")

    transport = serve("nl", NL_LIMITS | {"min_time_limit": 5}, answer)
    with pytest.raises(InputError, match="used up"):
        solve(problem, solver="leap-nl", effort=3)
    assert (written, transport.seconds) == ([1], [5])


@pytest.mark.parametrize("rule", ["one-to-one", "levels", "capacity"])
def test_searches_conform(serve, rule, random_problem, random_feasible):
    """Tests feasibility, costs that never rise, and ends when told, with pins and forbidden pairs."""
    for seed in range(2):
        problem = random_problem(rule, seed, tasks=3, nodes=3, pins=True, forbidden=True, memory=True)
        start = random_feasible(problem, np.random.default_rng(seed))
        serve("cqm", CQM_LIMITS, solve_exactly)
        check_search(CqmSearch(), problem, start)
        check_search(NlSearch(Permutations(idle=rule != "one-to-one")), problem, start)


def test_what_cannot_be_trusted_is_left_out(problem):
    """Tests answers that break constraints, whatever the service says of them."""
    index = np.arange(9).reshape(3, 3)

    def claim(*places):
        rows = np.zeros((len(places), 9))
        for row, place in zip(rows, places, strict=True):
            row[index[np.arange(3), place]] = 1
        rows[-1, 0] = rows[-1, 1] = 1
        return dimod.SampleSet.from_samples(rows, "BINARY", energy=[0.0] * len(rows))

    class Liar(Never):
        def sample_cqm(self, model, time_limit):
            return claim([1, 1, 1], [1, 0, 2], [2, 0, 1])

    found = CqmSearch(Liar()).search(problem, np.arange(3), effort=1, seed=0, stop=bool)
    assert found.places.tolist() == [1, 0, 2]


def test_mappings_are_checked_against_the_window(random_problem, random_places):
    """Tests all rules against the problem's own violations."""
    for rule in ("one-to-one", "levels", "capacity"):
        for seed in range(12):
            problem = random_problem(rule, seed, tasks=4, forbidden=True, memory=True)
            places = random_places(problem, np.random.default_rng(seed))
            window = fold(problem, whole(problem), places)
            assert keeps_constraints(window, window.local(places)) is not bool(violations(problem, places))


@pytest.mark.parametrize("search", [CqmSearch(Never()), NlSearch(Never())], ids=["cqm", "nl"])
def test_a_search_ends_when_told(search, problem):
    """Tests an answer that never comes, before and after submission."""
    start = np.arange(3)
    for last in (0, 3):
        calls = iter(range(10))
        found = search.search(problem, start, effort=1, seed=0, stop=lambda: next(calls) >= last)  # noqa: B023
        assert found.places.tolist() == [0, 1, 2]


@pytest.mark.parametrize("search", [CqmSearch(Never()), NlSearch(Never())], ids=["cqm", "nl"])
def test_nothing_is_submitted_where_nothing_is_free(search, problem):
    """Tests a problem whose tasks are all pinned."""
    pinned = replace(problem, pinned=problem.mapping(np.arange(3)))
    assert search.search(pinned, np.arange(3), effort=1, seed=0, stop=bool).places.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("name", "most", "message"),
    [
        ("maximum_number_of_variables", 8, "must have 8 or fewer variables; given model has 9"),
        ("maximum_number_of_constraints", 5, "must have 5 or fewer constraints; given model has 6"),
        ("maximum_number_of_biases", 10, "must have 10 or fewer biases"),
    ],
)
def test_constrained_models_above_a_limit_are_refused(serve, problem, name, most, message):
    """Tests that the client's own limits are named."""
    transport = serve("cqm", CQM_LIMITS | {name: most}, solve_exactly)
    with pytest.raises(InputError, match=f"solver: .*{message}"):
        CqmSearch().search(problem, np.arange(3), effort=1, seed=0, stop=bool)
    assert transport.seconds == []


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("maximum_number_of_nodes", "symbols"),
        ("maximum_state_size", "bytes of states"),
        ("maximum_decision_state_size", "bytes of decisions"),
    ],
)
def test_nonlinear_models_above_a_limit_are_refused(problem, name, what):
    """Tests that the service's limits are named before submission."""
    service = Permutations()
    service.properties = NL_LIMITS | {name: 3}
    with pytest.raises(InputError, match=f"solver: expected at most 3 {what}, Leap's limit"):
        NlSearch(service).search(problem, np.arange(3), effort=1, seed=0, stop=bool)
    assert service.seconds == []


def test_errors_in_the_answer_come_with_advice(problem):
    """Tests one that waits in the promise."""
    service = Permutations(error=cloud.SolverOfflineError("offline"))
    with pytest.raises(InputError, match="solver: the solver is offline"):
        NlSearch(service).search(problem, np.arange(3), effort=1, seed=0, stop=bool)


@pytest.fixture
def hybrid(monkeypatch):
    """Put D-Wave's own mock under its client of binary quadratic models."""
    solver = MockLeapHybridSolver()
    monkeypatch.setattr(
        client.Client, "from_config", lambda **_: SimpleNamespace(get_solver=lambda: solver, close=lambda: None)
    )
    return solver


def exact(model):
    """Answer with the ground state, where the mock would draw one local minimum, and with the service's times."""
    samples = dimod.ExactSolver().sample(model).truncate(1)
    samples.info.update(run_time=2_990_000, charge_time=3_000_000, qpu_access_time=41_000, problem_id="x")
    return SimpleNamespace(sampleset=samples)


@pytest.mark.usefixtures("hybrid")
def test_the_binary_sampler_solves(problem):
    """Tests a solve from end to end through D-Wave's client and mock."""
    report = solve(problem, solver="leap-bqm")
    assert (report.solver, report.cost) == ("leap-bqm", 7)


def test_the_binary_sampler_conforms(hybrid, monkeypatch):
    """Tests Ocean's check and TIGER's, on the mock with a better draw."""
    monkeypatch.setattr(hybrid, "sample_bqm", lambda model, time_limit: exact(model))
    sampler = LeapSampler()
    dimod.testing.assert_sampler_api(sampler)
    assert sampler.properties["child_properties"]["category"] == "hybrid"
    check_sampler(sampler)


def test_the_times_of_the_service_are_reported(hybrid, monkeypatch, problem):
    """Tests the rounds of a report."""
    monkeypatch.setattr(hybrid, "sample_bqm", lambda model, time_limit: exact(model))
    stages = solve(problem, solver="leap-bqm").to_dict()["stages"]
    first = next(stage for stage in stages if stage["name"] == "qubo")["rounds"][0]
    assert (first["run_time_us"], first["charge_time_us"], first["qpu_access_time_us"]) == (2.99e6, 3e6, 4.1e4)


def test_binary_models_above_the_limit_are_refused(hybrid):
    """Tests that the service's limit is named before submission."""
    hybrid.properties = hybrid.properties | {"maximum_number_of_variables": 50}
    large = dimod.BinaryQuadraticModel(51, dimod.BINARY)
    with pytest.raises(InputError, match="at most 50 variables, Leap's limit for this solver, got 51"):
        LeapSampler().sample(large)


@pytest.mark.parametrize(("told", "figures"), [({"timing": {"run_time": 3}}, {"run_time_us": 3.0}), ({}, {})])
def test_times_are_read_where_they_are_told(told, figures):
    """Tests an answer that nests them, and one that tells none."""
    model = dimod.BinaryQuadraticModel({0: 1.0}, {}, dimod.BINARY)
    samples = dimod.SampleSet.from_samples_bqm([{0: 0}], model)
    samples.info.update(told)
    service = SimpleNamespace(properties={}, sample=lambda model: samples)
    assert LeapSampler(service).sample(model).info["figures"] == figures


@pytest.mark.parametrize("name", ["leap-bqm", "leap-cqm", "leap-nl"])
def test_without_a_token_there_is_advice(name, monkeypatch, tmp_path, problem):
    """Tests the real clients, which find no configuration."""
    for part in ("TOKEN", "ENDPOINT", "SOLVER", "REGION"):
        monkeypatch.delenv(f"DWAVE_API_{part}", raising=False)
    monkeypatch.setenv("DWAVE_CONFIG_FILE", str(tmp_path / "none.conf"))
    (tmp_path / "none.conf").touch()
    with pytest.raises(InputError, match="solver: no API token"):
        solve(problem, solver=name)


def test_solvers_travel_without_their_connection():
    """Tests what executors need."""
    assert pickle.loads(pickle.dumps(registry.search("leap-cqm"))) == CqmSearch()
    assert pickle.loads(pickle.dumps(registry.search("leap-nl"))) == NlSearch()
    assert pickle.loads(pickle.dumps(LeapSampler()))._given is None


def test_clients_have_the_names_that_are_asked_for():
    """Tests D-Wave's classes, which have been renamed before."""
    for name in ("DWaveSampler", "LeapHybridSampler", "LeapHybridCQMSampler", "LeapHybridNLSampler"):
        assert callable(getattr(dwave.system, name))
