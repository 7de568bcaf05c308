"""Tests of samples from elsewhere: what is reported of them."""

import dimod
import numpy as np
import pytest
from dwave.samplers import SimulatedAnnealingSampler

from tiger.errors import InputError
from tiger.feasibility.start import launch_order
from tiger.mapping.exchange import decode_samples as recorded
from tiger.mapping.exchange.decode_samples import UNCHECKED, SampleRows, decode_samples
from tiger.mapping.exchange.export import write_model
from tiger.model.constraints import Constraints, build_problem
from tiger.model.fingerprint import fingerprint
from tiger.model.hyperedges import Hyperedges
from tiger.model.problem import Problem
from tiger.model.tasks import TaskGraph
from tiger.model.window import fold, whole
from tiger.objectives.cost import cost_of, violations
from tiger.qubo.encode import encode
from tiger.qubo.params import IsingParams
from tiger.topologies.spec import build

RULES = ("one-to-one", "levels", "capacity")


def rows_of(*bits, counts=None):
    """Return rows of bits, each read once unless counts are given."""
    return SampleRows(np.array(bits, np.int8), np.array(counts or [1] * len(bits), np.int64))


def bits_of(problem, places):
    """Return the bits of a mapping, slack bits filled."""
    window = fold(problem, whole(problem), places)
    return encode(window).sample(window.local(places))


def places_of(problem, mapping):
    """Return the places of a mapping by name."""
    index = {node: number for number, node in enumerate(problem.topology.names)}
    return np.array([index[mapping[task]] for task in problem.tasks.names])


@pytest.mark.long
@pytest.mark.parametrize("rule", RULES)
def test_what_another_program_drew_from_the_file_becomes_a_mapping(rule, random_problem, brute_force, tmp_path):
    """Tests the round trip: write the model, anneal what dimod reads, and decode what comes back."""
    for seed in range(4):
        problem = random_problem(rule, seed, tasks=5, nodes=6, pins=True, forbidden=True)
        write_model(problem, tmp_path / "model.bqm")
        model = dimod.BinaryQuadraticModel.from_file((tmp_path / "model.bqm").read_bytes())
        found = SimulatedAnnealingSampler().sample(model, num_reads=20, seed=seed).record.sample
        report = decode_samples(problem, rows_of(*found))
        places = places_of(problem, report.mapping)
        assert not violations(problem, places)
        assert report.cost == cost_of(problem, places).total
        assert report.cost <= cost_of(problem, launch_order(problem)).total
        assert report.cost >= brute_force(problem)[0] - 1e-9
        assert (report.solver, report.rule, report.feasible) == ("decode", rule, True)


def test_a_good_read_beats_the_launch_order(path_problem):
    """Tests b in the middle, and every figure of the stage."""
    swapped = Problem(
        tasks=path_problem.tasks, topology=path_problem.topology, rule="one-to-one", forbidden=frozenset({("a", "x")})
    )
    start = launch_order(swapped)
    best = np.array([2, 1, 0])
    assert cost_of(swapped, start).total > cost_of(swapped, best).total
    report = decode_samples(swapped, rows_of(bits_of(swapped, best), np.zeros(8), counts=[3, 1]))
    assert [stage.name for stage in report.stages] == ["baseline", "bound", "samples"]
    assert report.mapping == {"a": "z", "b": "y", "c": "x"}
    detail = report.stages[-1].detail
    assert (detail["reads"], detail["distinct"], detail["feasible_share"]) == (4, 2, 0.75)
    assert detail["best_raw"] == detail["best_repaired"] == detail["best_polished"] == report.cost == 7
    assert report.baseline_cost == report.baselines.block == cost_of(swapped, start).total
    assert report.warnings == (UNCHECKED,)


def test_reads_that_break_something_are_repaired_and_polished(path_problem):
    """Tests no bit at all, every bit, and a clash, none of which is feasible as it is."""
    clash = np.array([1, 0, 0, 1, 0, 0, 0, 0, 1])
    report = decode_samples(path_problem, rows_of(np.zeros(9), np.ones(9), clash))
    detail = report.stages[-1].detail
    assert (detail["feasible_share"], detail["best_raw"]) == (0.0, None)
    assert detail["best_polished"] == report.cost == 7
    told = "no read was feasible, of 3"
    assert {told, f"{told}: this mapping is the work of repair and polish"} & set(report.warnings)


def test_slack_bits_may_be_there_or_not(random_problem, random_feasible):
    """Tests samples of the constrained model, or of the encoding without slack, beside those of the QUBO."""
    problem = random_problem("capacity", 2)
    bits = bits_of(problem, random_feasible(problem, np.random.default_rng(0)))
    held = int(fold(problem, whole(problem), problem.pins).allowed.sum())
    assert held < len(bits)
    full, bare = (decode_samples(problem, rows_of(row)) for row in (bits, bits[:held]))
    assert full.mapping == bare.mapping
    assert full.stages[-1].detail == bare.stages[-1].detail


def test_slack_bits_are_not_known_where_the_qubo_would_be_too_large(random_problem, random_feasible, monkeypatch):
    """Tests that samples of a constrained model need no QUBO."""
    monkeypatch.setattr(recorded, "COUPLER_LIMIT", 1)
    problem = random_problem("capacity", 2)
    bits = bits_of(problem, random_feasible(problem, np.random.default_rng(0)))
    held = int(fold(problem, whole(problem), problem.pins).allowed.sum())
    assert decode_samples(problem, rows_of(bits[:held])).feasible
    with pytest.raises(InputError, match=f"expected {held} values a read, one for each variable, got {len(bits)}"):
        decode_samples(problem, rows_of(bits))


@pytest.mark.parametrize("rule", ["one-to-one", "capacity"])
def test_another_number_of_columns_is_bad_input(rule, random_problem):
    """Tests that the message says what is expected, without slack bits too where there are some."""
    problem = random_problem(rule, 2)
    size = len(bits_of(problem, launch_order(problem)))
    with pytest.raises(InputError, match=rf"samples: expected {size} values a read.*, got {size + 1}") as caught:
        decode_samples(problem, rows_of(np.zeros(size + 1)))
    assert ("without slack bits" in str(caught.value)) is (rule == "capacity")


def test_a_launch_order_that_no_read_beats_stays(random_problem):
    """Tests the warning, with samples whose polish cannot gain on a local optimum."""
    problem = random_problem("one-to-one", 4, tasks=7, nodes=7)
    first = decode_samples(problem, rows_of(np.zeros(49)))
    order = np.argsort(places_of(problem, first.mapping))
    tasks = problem.tasks
    resorted = type(tasks)(
        names=tuple(tasks.names[k] for k in order), traffic=tasks.traffic[order][:, order], work=tasks.work[order]
    )
    again = Problem(tasks=resorted, topology=problem.topology, rule="one-to-one")
    report = decode_samples(again, rows_of(bits_of(again, np.arange(7))))
    assert report.cost == report.baseline_cost == pytest.approx(first.cost)
    assert report.optimal or "no read beat the launch order, which is the mapping that is reported" in report.warnings


def test_reads_beyond_repair_leave_the_launch_order(random_problem, monkeypatch):
    """Tests the warning where memory is too tight for all of them."""
    monkeypatch.setattr(recorded, "repair", lambda window, bits: None)
    problem = random_problem("capacity", 3)
    report = decode_samples(problem, rows_of(np.zeros(len(bits_of(problem, launch_order(problem))))))
    detail = report.stages[-1].detail
    assert (detail["best_raw"], detail["best_repaired"], detail["best_polished"]) == (None, None, None)
    assert "no read could be repaired: the mapping is the launch order" in report.warnings


def test_a_problem_without_a_solution_is_reported(path_problem):
    """Tests that samples of it are not looked at."""
    pins = {"a": "x", "b": "x"}
    problem = Problem(tasks=path_problem.tasks, topology=path_problem.topology, rule="one-to-one", pinned=pins)
    report = decode_samples(problem, rows_of(np.zeros(5)))
    assert (report.feasible, report.cost, report.mapping, report.solver) == (False, None, {}, "decode")
    assert [violation.kind for violation in report.violations] == ["one-to-one"]


def test_where_every_task_is_pinned_there_is_nothing_to_decode(path_problem):
    """Tests a read without values."""
    pins = {"a": "x", "b": "y", "c": "z"}
    problem = Problem(tasks=path_problem.tasks, topology=path_problem.topology, rule="one-to-one", pinned=pins)
    report = decode_samples(problem, rows_of(np.zeros(0)))
    assert (report.mapping, report.cost, report.warnings) == (pins, 7, ())


def test_stages_are_watched(path_problem):
    """Tests that progress is told of each stage as it begins."""
    seen = []
    decode_samples(path_problem, rows_of(np.zeros(9)), seen.append)
    assert [progress.stage for progress in seen] == ["bound", "samples"]


def draw_samples(problem, folder, offset=True, **options):
    """Return what an annealer draws from the model of a problem, with energies that may lack the offset."""
    written = write_model(problem, folder / "model.bqm", IsingParams(**options))
    model = dimod.BinaryQuadraticModel.from_file((folder / "model.bqm").read_bytes())
    found = SimulatedAnnealingSampler().sample(model, num_reads=40, seed=1)
    energies = found.record.energy - (0.0 if offset else written.offset)
    return rows_of(*found.record.sample)._replace(energies=energies), written


@pytest.mark.slow
@pytest.mark.parametrize("offset", [True, False])
@pytest.mark.parametrize("rule", RULES)
def test_energies_of_feasible_reads_are_checked(rule, offset, random_problem, tmp_path):
    """Tests samples with slack bits and without, energies with the offset and without, and wrong ones."""
    checked = 0
    for seed in range(4):
        problem = random_problem(rule, seed, tasks=5, nodes=6, pins=True, forbidden=True)
        rows, _ = draw_samples(problem, tmp_path, offset)
        found = decode_samples(problem, rows).stages[-1].detail["checked"]
        checked += found == "energies"
        if found == "energies":
            wrong = rows.energies * 1.25
            with pytest.raises(InputError, match="samples: expected samples of this problem, got a feasible read"):
                decode_samples(problem, rows._replace(energies=wrong))
    assert checked >= 3


def test_energies_at_another_penalty_are_checked(random_problem, tmp_path):
    """Tests a scale of penalties: with the offset nothing has to be known, without it the model's own is needed."""
    problem = random_problem("one-to-one", 2, tasks=5, nodes=6)
    rows, _ = draw_samples(problem, tmp_path, penalty_scale=0.6)
    assert decode_samples(problem, rows).stages[-1].detail["checked"] == "energies"
    rows, written = draw_samples(problem, tmp_path, offset=False, penalty_scale=0.6)
    assert decode_samples(problem, rows._replace(offset=written.offset)).stages[-1].detail["checked"] == "energies"
    with pytest.raises(InputError, match="expected samples of this problem"):
        decode_samples(problem, rows)


@pytest.mark.parametrize("energy", [0.0, np.nan])
def test_energies_that_say_nothing_are_not_looked_at(energy, path_problem):
    """Tests zeros, which stand for none, and what is no number."""
    rows = rows_of(bits_of(path_problem, np.arange(3)))._replace(energies=np.full(1, energy))
    report = decode_samples(path_problem, rows)
    assert (report.warnings[-1], report.stages[-1].detail["checked"]) == (UNCHECKED, "nothing")


@pytest.mark.slow
def test_energies_without_slack_bits_are_not_looked_at(random_problem, tmp_path):
    """Tests the slack-free encoding, whose energies are costs and a penalty."""
    problem = random_problem("capacity", 2)
    rows, _ = draw_samples(problem, tmp_path, capacity="slack-free")
    assert decode_samples(problem, rows).stages[-1].detail["checked"] == "nothing"


def test_a_fingerprint_is_checked(path_problem):
    """Tests that of the problem and that of another."""
    rows = rows_of(bits_of(path_problem, np.arange(3)))._replace(fingerprint=fingerprint(path_problem))
    assert decode_samples(path_problem, rows).stages[-1].detail["checked"] == "fingerprint"
    with pytest.raises(InputError, match=r"samples: expected samples of this problem, fingerprint .*, got .*'00'"):
        decode_samples(path_problem, rows._replace(fingerprint="00"))


def test_bug_hyperedges_have_no_samples():
    """Their mapping was reported by the cost of the pairs that stand for them."""
    sets = Hyperedges(starts=np.array([0, 2]), pins=np.array([0, 1]), volumes=np.ones(1))
    problem = build_problem(TaskGraph.of_hyperedges(("a", "b"), sets), build("grid:2"), Constraints())
    with pytest.raises(InputError, match="tasks: expected traffic of pairs"):
        decode_samples(problem, SampleRows(np.zeros((1, 4), np.int8), np.ones(1, np.int64)))
