"""Tests of models in files: read back by dimod, and evaluated on known mappings."""

import dimod
import numpy as np
import pytest
from dimod.serialization import coo

from tiger.errors import InputError
from tiger.mapping.exchange import couplers
from tiger.mapping.exchange import export as exchange
from tiger.mapping.exchange.export import EncodedModel, write_model
from tiger.mapping.exchange.options import EncodeOptions
from tiger.model.fingerprint import fingerprint
from tiger.model.problem import Problem
from tiger.model.window import fold, whole
from tiger.objectives.cost import cost_of, violations
from tiger.qubo.encode import encode
from tiger.qubo.params import IsingParams, Sampling
from tiger.qubo.penalties import safe_penalties

RULES = ("one-to-one", "levels", "capacity")


def load(path):
    """Return the model in a file, that of coordinates without its offset."""
    if path.suffix in (".coo", ".ising"):
        with path.open(encoding="utf-8") as file:
            return coo.load(file)
    if path.suffix == ".lp":
        with path.open(encoding="utf-8") as file:
            model = dimod.lp.load(file)
        model.relabel_variables({name: int(str(name).removeprefix("x")) for name in model.variables})
        return model
    if path.suffix == ".qubo":
        lines = [line.split() for line in path.read_text(encoding="utf-8").splitlines() if line[0] != "c"]
        assert lines[0][:3] == ["p", "qubo", "0"]
        biases = {(int(a), int(b)): float(bias) for a, b, bias in lines[1:]}
        model = dimod.BinaryQuadraticModel.from_qubo(biases)
        most, nodes, couplers = map(int, lines[0][3:])
        assert (most, nodes, couplers) == (model.num_variables, model.num_variables, len(biases) - nodes)
        return model
    kind = dimod.ConstrainedQuadraticModel if path.suffix == ".cqm" else dimod.BinaryQuadraticModel
    return kind.from_file(path.read_bytes())


def sample(problem, model, places):
    """Return the bits of a mapping by the names of the variables, slack bits 0."""
    mapping = problem.mapping(places)
    return np.array([task is not None and mapping[task] == node for task, node in model.variables], np.int8)


def fill_bits(problem, places):
    """Return the bits of a mapping, slack bits filled."""
    window = fold(problem, whole(problem), places)
    return encode(window).sample(window.local(places))


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("scale", [None, 0.4, 3.0])
def test_the_energy_of_a_mapping_is_its_cost(rule, scale, random_problem, random_feasible, tmp_path):
    """Tests all formats, at the safe bound, below it and above, with pins, forbidden pairs and memory."""
    for seed in range(4):
        problem = random_problem(rule, seed, pins=True, forbidden=True, memory=seed % 2 == 0)
        known = []
        for turn in range(3):
            places = random_feasible(problem, np.random.default_rng([seed, turn]))
            known.append((fill_bits(problem, places), cost_of(problem, places).total))
        for form in ("bqm", "coo", "qubo", "ising"):
            target = tmp_path / f"model.{form}"
            written, model = write_model(problem, target, IsingParams(penalty_scale=scale)), load(target)
            offset = 0.0 if form == "bqm" else written.offset
            for bits, cost in known:
                values = 2 * bits - 1 if form == "ising" else bits
                energy = model.energy((values, range(model.num_variables))) + offset
                assert energy == pytest.approx(cost, rel=1e-9, abs=1e-9), (seed, form)


@pytest.mark.parametrize("rule", RULES)
def test_variables_are_named_in_order(rule, random_problem, random_feasible, tmp_path):
    """Tests that the names tell the same bits as the encoding, and that slack bits, which have a node, come last."""
    for seed in range(4):
        problem = random_problem(rule, seed, pins=True, forbidden=True)
        written = write_model(problem, tmp_path / "model.bqm")
        places = random_feasible(problem, np.random.default_rng(seed))
        tasks = [task for task, _ in written.variables]
        held = sum(task is not None for task in tasks)
        assert sample(problem, written, places)[:held].tolist() == fill_bits(problem, places)[:held].tolist()
        assert tasks[held:] == [None] * (len(fill_bits(problem, places)) - held)
        assert {node for _, node in written.variables} <= set(problem.topology.names)
        assert load(tmp_path / "model.bqm").num_variables == len(written.variables)


def test_coordinates_lose_nothing(random_problem, tmp_path):
    """Tests that every bias has all its digits, without an exponent, and that no variable is left out."""
    tiny = random_problem("one-to-one", 3, tasks=4, nodes=6)
    tasks = type(tiny.tasks)(names=tiny.tasks.names, traffic=tiny.tasks.traffic * 1e-9)
    problem = Problem(tasks=tasks, topology=tiny.topology, rule="one-to-one")
    for name in ("model.bqm", "model.coo"):
        written = write_model(problem, tmp_path / name)
    text = (tmp_path / "model.coo").read_text()
    binary, plain = load(tmp_path / "model.bqm"), load(tmp_path / "model.coo")
    assert "e-" not in text.partition("\n0 0 ")[2]
    notes = ["# vartype=BINARY", f"# offset={written.offset!r}", f"# fingerprint={fingerprint(problem)}"]
    assert text.splitlines()[:3] == notes
    assert list(plain.variables) == list(range(len(written.variables)))
    assert dict(plain.linear) == dict(binary.linear)
    assert plain.quadratic == binary.quadratic


def test_penalties_are_safe_unless_a_scale_is_given(path_problem, tmp_path):
    """Tests the bound, a share of it, with centred costs as tuning has them, and a multiple of it."""
    window = fold(path_problem, whole(path_problem), path_problem.pins)
    safe = safe_penalties(window)
    for scale in (None, 0.25, 2.0):
        written = write_model(path_problem, tmp_path / "model.bqm", IsingParams(penalty_scale=scale))
        weights = safe.scaled(1.0) if scale is None else (safe.aim if scale < 1 else safe).scaled(scale)
        model = encode(window).bqm(weights)
        assert load(tmp_path / "model.bqm") == model
        assert (written.scale, written.couplers) == (scale or 1.0, model.num_interactions)
        assert written.penalty == weights.one_hot.mean()
        assert written.offset == model.offset


def test_capacities_may_go_without_slack(random_problem, tmp_path):
    """Tests the number of variables of both encodings."""
    problem = random_problem("capacity", 2)
    sizes = []
    for encoding in ("slack-free", "slack"):
        written = write_model(problem, tmp_path / "model.bqm", IsingParams(capacity=encoding))
        sizes.append((len(written.variables), sum(task is None for task, _ in written.variables)))
    assert sizes[0] == (sizes[1][0] - sizes[1][1], 0)
    assert sizes[1][1] > 0


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("form", ["cqm", "lp"])
def test_a_constrained_model_is_feasible_where_the_mapping_is(rule, form, random_problem, random_places, tmp_path):
    """Tests its objective, which is the cost, and its constraints on mappings most of which break something."""
    seen = set()
    for seed in range(20):
        problem = random_problem(rule, seed, tasks=4, pins=True, forbidden=True, memory=True)
        written = write_model(problem, tmp_path / f"model.{form}")
        model = load(tmp_path / f"model.{form}")
        places = random_places(problem, np.random.default_rng(seed))
        bits = dict(enumerate(sample(problem, written, places).tolist()))
        right = not violations(problem, places)
        assert model.check_feasible(bits) is right
        if right and bits:
            assert model.objective.energy(bits) == pytest.approx(cost_of(problem, places).total, rel=1e-9, abs=1e-9)
        assert (written.constraints, written.penalty, written.scale) == (len(model.constraints), None, None)
        assert written.offset == model.objective.offset
        seen.add(right)
    assert seen == {True, False}


@pytest.mark.parametrize("form", ["bqm", "coo", "ising", "qubo", "cqm", "lp"])
def test_every_model_says_which_problem_it_is_of(form, path_problem, tmp_path):
    """Tests what goes into the file of variables: the same fingerprint whatever the form."""
    written = write_model(path_problem, tmp_path / f"model.{form}")
    assert written.to_dict() == {
        "fingerprint": fingerprint(path_problem),
        "offset": written.offset,
        "variables": [[task, node] for task in "abc" for node in "xyz"],
    }


def test_a_constrained_model_marks_its_discrete_variables(path_problem, tmp_path):
    """Tests that hybrid solvers are told that every task has one node."""
    write_model(path_problem, tmp_path / "model.cqm")
    assert len(load(tmp_path / "model.cqm").discrete) == 3


@pytest.mark.parametrize("form", ["bqm", "coo", "ising", "qubo", "cqm", "lp"])
def test_a_problem_whose_tasks_are_all_pinned_has_no_variables(form, path_problem, tmp_path):
    """Tests that the offset is the cost."""
    pins = {"a": "x", "b": "y", "c": "z"}
    problem = Problem(tasks=path_problem.tasks, topology=path_problem.topology, rule="one-to-one", pinned=pins)
    written = write_model(problem, tmp_path / f"model.{form}")
    assert (written.variables, written.couplers, written.offset) == ((), 0, 7.0)
    load(tmp_path / f"model.{form}")


def test_a_problem_without_a_solution_has_no_model(path_problem, tmp_path):
    """Tests that what cannot be met comes back and no file appears."""
    pins = {"a": "x", "b": "x"}
    problem = Problem(tasks=path_problem.tasks, topology=path_problem.topology, rule="one-to-one", pinned=pins)
    reasons = write_model(problem, tmp_path / "model.bqm")
    assert not isinstance(reasons, EncodedModel)
    assert [reason.kind for reason in reasons] == ["one-to-one"]
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("target", "options", "field"),
    [
        ("model", {}, "output"),
        ("model.txt", {}, "output"),
        ("no/model.bqm", {}, "output"),
        ("model.cqm", {"penalty_scale": 1.0}, "ising/penalty_scale"),
        ("model.cqm", {"capacity": "slack-free"}, "ising/capacity"),
        ("model.lp", {"penalty_scale": 1.0}, "ising/penalty_scale"),
    ],
)
def test_what_cannot_be_written_is_named(target, options, field, path_problem, tmp_path):
    """Tests endings, a missing folder, and options that a constrained model has no use for."""
    with pytest.raises(InputError) as caught:
        write_model(path_problem, tmp_path / target, IsingParams(**options))
    assert caught.value.field == field
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("form", "limit", "most", "what", "found"),
    [
        ("bqm", "COUPLER_LIMIT", 8, "couplers", "more for 3 tasks on 3 nodes"),
        ("bqm", "COUPLER_LIMIT", 40, "couplers", "45"),
        ("coo", "TEXT_LIMIT", 40, "couplers", "45"),
        ("cqm", "BIAS_LIMIT", 8, "biases", "more for 3 tasks on 3 nodes"),
        ("cqm", "BIAS_LIMIT", 50, "biases", "54"),
    ],
)
def test_problems_too_large_for_one_model_are_refused(
    form, limit, most, what, found, path_problem, monkeypatch, tmp_path
):
    """Tests both limits, before and after the window is known."""
    monkeypatch.setattr(exchange, limit, most)
    with pytest.raises(InputError, match=f"tasks: expected at most {most} {what} in one model.*, got {found}$"):
        write_model(path_problem, tmp_path / f"model.{form}")


@pytest.mark.parametrize("rule", RULES)
def test_penalties_may_be_tuned(rule, random_problem, random_feasible, tmp_path):
    """Tests that reads of another program are feasible in part and cheaper, and that energies are costs still."""
    problem = random_problem(rule, 2, tasks=8, nodes=9, pins=True)
    few = IsingParams(whole=Sampling(rounds=6, reads=16, sweeps=60))
    tuned = write_model(problem, tmp_path / "tuned.bqm", few, "neal")
    safe = write_model(problem, tmp_path / "safe.bqm")
    assert (tuned.tuned_for, safe.tuned_for) == ("neal", None)
    assert tuned.scale < safe.scale == 1
    assert 0.1 <= tuned.feasible_share <= 0.9
    model = dimod.BinaryQuadraticModel.from_file((tmp_path / "tuned.bqm").read_bytes())
    window = fold(problem, whole(problem), problem.pins)
    for seed in range(4):
        places = random_feasible(problem, np.random.default_rng(seed))
        bits = encode(window).sample(window.local(places))
        energy = model.energy(dict(enumerate(bits.tolist())))
        assert energy == pytest.approx(cost_of(problem, places).total, rel=1e-9)


@pytest.mark.parametrize(
    ("tune", "options", "target", "field"),
    [
        ("greedy", {}, "m.bqm", "tune"),
        ("nothing", {}, "m.bqm", "solver"),
        ("neal", {"penalty_scale": 0.5}, "m.bqm", "ising/penalty_scale"),
        ("neal", {}, "m.cqm", "tune"),
    ],
)
def test_what_cannot_be_tuned_is_refused(tune, options, target, field, path_problem, tmp_path):
    """Tests a search, a name of none, a scale beside it, and a model without penalties."""
    with pytest.raises(InputError) as caught:
        write_model(path_problem, tmp_path / target, IsingParams(**options), tune)
    assert caught.value.field == field


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("scale", [None, 0.3])
@pytest.mark.parametrize("form", ["coo", "qubo"])
def test_text_is_the_same_in_parts(rule, scale, form, random_problem, monkeypatch, tmp_path):
    """Tests models that are sorted by many files of few couplers, where pairs come in several parts."""
    problem = random_problem(rule, 5, tasks=7, nodes=7, pins=True, memory=rule == "capacity")
    target, params = tmp_path / f"model.{form}", IsingParams(penalty_scale=scale)
    written = write_model(problem, target, params)
    whole_text = target.read_bytes()
    for part in (1, 40):
        monkeypatch.setattr(couplers, "PART", part)
        monkeypatch.setattr(exchange, "PART", part)
        monkeypatch.setattr(couplers, "SLICE", part)
        assert write_model(problem, target, params) == written
        assert target.read_bytes() == whole_text
    spins = write_model(problem, tmp_path / "model.ising", params)
    bits = np.random.default_rng(2).integers(0, 2, (4, len(written.variables)))
    energies = load(target).energies((bits, range(bits.shape[1]))) + written.offset
    assert load(tmp_path / "model.ising").energies(
        (2 * bits - 1, range(bits.shape[1]))
    ) + spins.offset == pytest.approx(energies)


def test_a_file_that_cannot_be_sorted_is_named(path_problem, monkeypatch, tmp_path):
    """Tests a disk without room for temporary files: nothing is left behind."""

    def refuse():
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(couplers.tempfile, "TemporaryFile", refuse)
    with pytest.raises(InputError, match="output: expected room for temporary files, got No space left"):
        write_model(path_problem, tmp_path / "model.coo")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("form", ["bqm", "ising", "cqm"])
@pytest.mark.parametrize("rule", RULES)
def test_a_start_is_an_initial_state(rule, form, random_problem, random_feasible, tmp_path):
    """Tests that its energy is the cost of the mapping that was given."""
    problem = random_problem(rule, 3, pins=True)
    places = random_feasible(problem, np.random.default_rng(1))
    written = write_model(problem, tmp_path / f"model.{form}", start=problem.mapping(places))
    values = np.array(written.initial_state)
    assert set(values.tolist()) <= {0, 1}
    model = load(tmp_path / f"model.{form}")
    if form == "cqm":
        assert model.check_feasible(dict(enumerate(values.tolist())))
        energy = model.objective.energy(dict(enumerate(values.tolist())))
    elif form == "ising":
        energy = model.energy((2 * values - 1, range(len(values)))) + written.offset
    else:
        energy = model.energy((values, range(len(values))))
    assert energy == pytest.approx(cost_of(problem, places).total)
    assert written.to_dict()["initial_state"] == values.tolist()


def test_an_initial_state_needs_a_file(path_problem, tmp_path):
    """Tests that a start without a file of variables is refused, and one that is no mapping."""
    start = {"a": "x", "b": "y", "c": "z"}
    with pytest.raises(InputError, match="start: expected --variables beside it"):
        exchange.export(path_problem, EncodeOptions(output=str(tmp_path / "m.bqm"), start=start))
    with pytest.raises(InputError, match="start: expected a node for every task, got none for 'c'"):
        write_model(path_problem, tmp_path / "m.bqm", start={"a": "x", "b": "y"})
    assert not list(tmp_path.iterdir())
