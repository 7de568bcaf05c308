"""Tests of penalty tuning, with samplers that need no luck."""

import json
import math

import numpy as np
import pytest
import scipy.sparse as sp

from tiger.feasibility.start import launch_order
from tiger.model.metrics import GridMetric
from tiger.model.problem import Problem
from tiger.model.seams import Samples
from tiger.model.tasks import TaskGraph
from tiger.model.topology import Topology
from tiger.model.window import fold, whole
from tiger.objectives.cost import cost_of, violations
from tiger.qubo.encode import encode
from tiger.qubo.penalties import Penalties, safe_penalties
from tiger.qubo.tune import Bisection, Fixed, Trial, TuneParams, tune
from tiger.run.stage import Stage
from tiger.solvers import registry
from tiger.solvers.samplers.ocean import Draw, ask

AIM = Penalties(one_hot=np.ones(1), exclusive=np.ones(1), capacity=np.ones(1), scale=0.2, centred=True)


def penalties_of(aim=None):
    """Return safe penalties of one task and one node."""
    return Penalties(one_hot=np.full(1, 5.0), exclusive=np.full(1, 5.0), capacity=np.full(1, 5.0), aim=aim)


def trial_of(penalties, share, earlier=None, missed=(0.0,), crowded=(0.0,)):
    """Return a trial that only has penalties, a share, and what was violated."""
    return Trial(
        penalties=penalties,
        feasible_share=share,
        missed=np.array(missed),
        crowded=np.array(crowded),
        raw=None,
        repaired=None,
        polished=None,
        earlier=earlier,
    )


def scales(shares, tuner, aim=None):
    """Return the scales a tuner visits when reads are feasible at given shares."""
    penalties, trial, seen = penalties_of(aim), None, []
    for share in shares:
        seen.append(round(penalties.scale, 6))
        trial = trial_of(penalties, share, trial)
        penalties = tuner.next(penalties, trial)
    return seen


def test_bisection_walks_down_while_all_reads_are_feasible():
    """Tests steps of 0.7."""
    assert scales([1, 1, 1], Bisection()) == [1, 0.7, 0.49]


def test_bisection_takes_the_geometric_mean_of_its_bracket():
    """Tests that after too few feasible reads it goes halfway back."""
    assert scales([1, 1, 0, 1], Bisection()) == [1, 0.7, 0.49, round((0.7 * 0.49) ** 0.5, 6)]


@pytest.mark.parametrize("share", [0.25, 0.5, 0.75])
def test_bisection_stays_where_it_is_good(share):
    """Tests that a share within the band, its ends included, keeps the scale."""
    assert scales([1, share, 0.3, 0.7], Bisection()) == [1, 0.7, 0.7, 0.7]


def test_bisection_never_exceeds_the_safe_bound():
    """Tests that a sampler that is never feasible stays at the bound."""
    assert scales([0, 0, 0], Bisection()) == [1, 1, 1]


def test_bisection_survives_contradictory_rounds():
    """Tests that noise that inverts the bracket leads down, not astray."""
    assert all(0 < scale <= 1 for scale in scales([1, 0, 1, 1, 0, 0, 1, 0], Bisection()))


def test_bisection_converges():
    """Tests that a sampler which is feasible above a threshold alone is tracked to within the last step."""
    penalties, trial = penalties_of(AIM), None
    for _ in range(12):
        trial = trial_of(penalties, float(penalties.scale > 0.345), trial)
        penalties = Bisection().next(penalties, trial)
    assert penalties.scale == pytest.approx(0.345, rel=0.01)


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_what_safe_penalties_aim_at_comes_second(share):
    """Tests that the safe round says nothing about the scale, whatever its share."""
    safe = penalties_of(AIM)
    assert Bisection().next(safe, trial_of(safe, share)) is AIM
    assert scales([share, 1, 1], Bisection(), AIM) == [1, 0.2, 0.14]
    assert scales([share, 0, 0, 0], Bisection(), AIM)[1:3] == [0.2, round(0.2 / 0.7, 6)]
    assert scales([share, 0.5, 0.5], Bisection(), AIM) == [1, 0.2, 0.2]


def test_bisection_brackets_from_its_aim():
    """Tests too few feasible reads, then too many, then halfway."""
    assert scales([1, 0, 0, 1, 0.5], Bisection(), AIM)[2:] == [
        round(0.2 / 0.7, 6),
        round(0.2 / 0.49, 6),
        round(0.2 / 0.7**1.5, 6),
    ]


def test_constraints_are_weighed_by_how_often_they_are_violated():
    """Tests the factors exp(gain (v - mean v)) of tasks and of nodes, by hand."""
    penalties = Penalties(one_hot=np.ones(2), exclusive=np.full(3, 2.0), capacity=np.full(3, 4.0), scale=0.3)
    trial = trial_of(penalties, 0.5, missed=(0.5, 0.1), crowded=(0.0, 0.0, 0.3))
    weighed = Bisection().next(penalties, trial)
    factors = [math.exp(-0.07), math.exp(-0.07), math.exp(0.14)]
    assert weighed.one_hot == pytest.approx([math.exp(0.14), math.exp(-0.14)])
    assert weighed.exclusive == pytest.approx([2 * factor for factor in factors])
    assert weighed.capacity == pytest.approx([4 * factor for factor in factors])
    assert weighed.scale == 0.3


def test_constraints_violated_alike_keep_their_weights():
    """Tests equal shares, no gain, and no tasks at all."""
    penalties = Penalties(one_hot=np.array([1.0, 3.0]), exclusive=np.ones(1), capacity=np.ones(1))
    alike = Bisection().next(penalties, trial_of(penalties, 0.5, missed=(0.4, 0.4)))
    dull = Bisection(gain=0.0).next(penalties, trial_of(penalties, 0.5, missed=(0.9, 0.1)))
    none = Penalties(one_hot=np.zeros(0), exclusive=np.ones(1), capacity=np.ones(1))
    assert alike.one_hot.tolist() == dull.one_hot.tolist() == [1.0, 3.0]
    assert Bisection().next(none, trial_of(none, 0.5, missed=())).one_hot.shape == (0,)


def test_weights_outlast_a_change_of_scale():
    """Tests that a share out of the band scales what was weighed."""
    penalties = Penalties(one_hot=np.ones(2), exclusive=np.ones(1), capacity=np.ones(1))
    first = trial_of(penalties, 0.5, missed=(0.5, 0.1))
    weighed = Bisection().next(penalties, first)
    lower = Bisection().next(weighed, trial_of(weighed, 1.0, first))
    assert lower.scale == pytest.approx(0.7)
    assert lower.one_hot == pytest.approx(0.7 * weighed.one_hot)


def test_fixed_penalties_stay():
    """Tests the baseline, which does not look at what the penalties aim at."""
    assert scales([1, 0, 1], Fixed(), AIM) == [1, 1, 1]


@pytest.mark.parametrize("bad", [{"rounds": 0}, {"strength": 0.0}, {"strength": -1.5}, {"strength": math.nan}])
def test_bad_parameters_are_refused(bad):
    """Tests the bounds of the parameters."""
    with pytest.raises(ValueError, match="expected"):
        TuneParams(**bad)


def window_of(problem):
    """Return the window of a whole problem."""
    return fold(problem, whole(problem), launch_order(problem))


class Drawing:
    """Draw the same samples again and again, and keep what was asked for."""

    def __init__(self, samples, **figures):
        """Know the samples and figures."""
        self.samples, self.figures, self.asked = samples, figures, []

    def __call__(self, bqm, penalties, seed):
        """Return the samples."""
        self.asked.append((bqm, penalties, seed))
        return Samples(self.samples, self.figures)


def drawing_of(window, *mappings):
    """Return a sampler that always draws the given local mappings."""
    qubo = encode(window)
    return Drawing(np.array([qubo.sample(np.array(mapping)) for mapping in mappings]))


def keep(local):
    """Polish nothing."""
    return local


def test_the_best_read_of_all_rounds_is_returned(path_problem):
    """Tests raw, repaired and polished figures, by hand: 9, 8 and 7 by which task is in the middle."""
    window = window_of(path_problem)
    sample = drawing_of(window, [0, 2, 1], [1, 0, 2])
    answer = tune(window, sample, keep, TuneParams(rounds=2), seed=0, stop=bool)
    assert answer.cost == 8
    assert answer.local.tolist() == [1, 0, 2]
    assert [trial.raw for trial in answer.trials] == [8, 8]
    assert answer.trials[0].to_dict()["feasible_share"] == 1.0


def test_every_read_is_polished(path_problem):
    """Tests that the polisher sees repaired places and may improve them."""
    window = window_of(path_problem)
    sample = drawing_of(window, [0, 2, 1])
    answer = tune(window, sample, lambda local: np.array([0, 1, 2]), TuneParams(rounds=1), seed=0, stop=bool)
    assert (answer.cost, answer.trials[0].repaired, answer.trials[0].polished) == (7, 9, 7)


def test_equal_reads_are_polished_once(path_problem):
    """Tests that three reads of two mappings are polished twice."""
    window, seen = window_of(path_problem), []
    sample = drawing_of(window, [0, 2, 1], [1, 0, 2], [0, 2, 1])
    tune(window, sample, lambda local: seen.append(local.tolist()) or local, TuneParams(rounds=1), seed=0, stop=bool)
    assert sorted(seen) == [[0, 2, 1], [1, 0, 2]]


def test_infeasible_reads_are_repaired(path_problem):
    """Tests that a sampler that returns nothing but zeros still yields a mapping."""
    window = window_of(path_problem)
    answer = tune(window, Drawing(np.zeros((4, 9), np.int8)), keep, TuneParams(rounds=1), seed=0, stop=bool)
    assert answer.trials[0].raw is None
    assert answer.trials[0].missed.tolist() == [1.0] * 3
    assert sorted(answer.local.tolist()) == [0, 1, 2]


def test_no_reads_give_no_mapping(path_problem):
    """Tests a sampler that answers with nothing."""
    window = window_of(path_problem)
    answer = tune(window, Drawing(np.zeros((0, 9), np.int8)), keep, TuneParams(rounds=2), seed=0, stop=bool)
    assert answer.local is None
    assert answer.cost == np.inf
    assert answer.trials[0].feasible_share == 0.0


def test_reads_that_cannot_be_repaired_give_no_mapping(path_problem, monkeypatch):
    """Tests memory that is too tight for repair."""
    monkeypatch.setattr("tiger.qubo.tune.repair", lambda window, bits: None)
    window = window_of(path_problem)
    answer = tune(window, drawing_of(window, [0, 1, 2]), keep, TuneParams(rounds=1), seed=0, stop=bool)
    assert answer.local is None
    assert (answer.trials[0].repaired, answer.trials[0].polished) == (None, None)


def test_a_known_optimum_ends_the_rounds(path_problem):
    """Tests that sampling ends with the round that reaches the target."""
    window = window_of(path_problem)
    sample = drawing_of(window, [0, 1, 2])
    params = TuneParams(rounds=5, target=7)
    assert len(tune(window, sample, keep, params, seed=0, stop=bool).trials) == 1


class Once:
    """Stop after the first round."""

    def next(self, penalties, trial):
        """Return nothing more to try."""
        return


def test_a_tuner_may_end_the_rounds(path_problem):
    """Tests that None stops, and that time does too, but never before the first round."""
    window = window_of(path_problem)
    sample = drawing_of(window, [0, 1, 2])
    for params, stop in ((TuneParams(rounds=5, tuner=Once()), bool), (TuneParams(rounds=5), lambda: True)):
        assert len(tune(window, sample, keep, params, seed=0, stop=stop).trials) == 1


def test_rounds_go_from_the_safe_bound_to_its_aim(path_problem):
    """Tests the penalties, models and seeds of three rounds whose reads are all feasible."""
    window = window_of(path_problem)
    sample, safe = drawing_of(window, [0, 2, 1]), safe_penalties(window)
    answer = tune(window, sample, keep, TuneParams(rounds=3), seed=4, stop=bool)
    models, penalties, seeds = zip(*sample.asked, strict=True)
    assert [p.scale for p in penalties] == pytest.approx([1.0, safe.aim.scale, 0.7 * safe.aim.scale])
    assert [p.centred for p in penalties] == [False, True, True]
    assert [trial.penalties for trial in answer.trials] == list(penalties)
    assert all(0 <= seed < 2**31 for seed in seeds)
    assert len(set(seeds)) == 3
    assert answer.strength == pytest.approx(0.49)
    assert (answer.variables, answer.couplers) == (9, max(model.num_interactions for model in models))


@pytest.mark.parametrize("strength", [0.5, 1.0, 2.0])
def test_a_strength_starts_at_the_aim(path_problem, strength):
    """Tests that the safe round is left out, and that the strength to go on with comes back."""
    window = window_of(path_problem)
    sample, aim = drawing_of(window, [0, 2, 1]), safe_penalties(window).aim
    answer = tune(window, sample, keep, TuneParams(rounds=1, strength=strength), seed=0, stop=bool)
    penalties = sample.asked[0][1]
    assert penalties.centred
    assert penalties.scale == pytest.approx(strength * aim.scale)
    assert penalties.one_hot == pytest.approx(strength * aim.one_hot)
    assert answer.strength == pytest.approx(0.7 * strength)


@pytest.mark.parametrize(("strength", "expected"), [(None, 1.0), (0.5, 0.5)])
def test_a_tuner_that_ends_leaves_the_strength(path_problem, strength, expected):
    """Tests that what a caller goes on with is what it began with, where there is nothing next."""
    window = window_of(path_problem)
    params = TuneParams(strength=strength, tuner=Once())
    assert tune(window, drawing_of(window, [0, 2, 1]), keep, params, seed=0, stop=bool).strength == expected


def test_a_scale_fixes_the_penalties(path_problem):
    """Tests the safe bound and more, not centred, and less, centred, in every round."""
    window = window_of(path_problem)
    safe = safe_penalties(window)
    for scale, centred in ((1.5, False), (1.0, False), (0.3, True)):
        sample = drawing_of(window, [0, 2, 1])
        tune(window, sample, keep, TuneParams(rounds=3, scale=scale), seed=0, stop=bool)
        weights = [(p.scale, p.centred, round(p.one_hot.mean(), 9)) for _, p, _ in sample.asked]
        assert weights == [(scale, centred, round(scale * safe.one_hot.mean(), 9))] * 3


def test_a_known_mapping_is_not_looked_for(path_problem):
    """Tests that the best other mapping is returned, and none where there is no other."""
    window = window_of(path_problem)
    params = TuneParams(rounds=1, avoid=np.array([0, 1, 2]))
    other = tune(window, drawing_of(window, [0, 1, 2], [1, 0, 2]), keep, params, seed=0, stop=bool)
    none = tune(window, drawing_of(window, [0, 1, 2]), keep, params, seed=0, stop=bool)
    assert (other.local.tolist(), other.cost, other.trials[0].raw) == ([1, 0, 2], 8, 8)
    assert (none.local, none.cost, none.trials[0].repaired) == (None, np.inf, None)


def test_figures_of_a_round_are_plain_values(path_problem):
    """Tests that rounds, with what the sampler says, come through a stage as strict JSON."""
    window = window_of(path_problem)
    sample = drawing_of(window, [0, 2, 1])
    sample.figures = {"beta_range": (0.5, 3.0), "chip": "a", "broken": math.inf}
    answer = tune(window, sample, keep, TuneParams(rounds=2), seed=0, stop=bool)
    rounds = tuple(trial.to_dict() for trial in answer.trials)
    stage = Stage(name="qubo", cost=8.0, seconds=0.1, detail={"rounds": rounds}).to_dict()
    again = json.loads(json.dumps(stage, allow_nan=False))["rounds"]
    assert again[0] == {
        "penalty": pytest.approx(4.000004),
        "penalty_scale": 1.0,
        "centred": False,
        "feasible_share": 1.0,
        "best_raw": 9.0,
        "best_repaired": 9.0,
        "best_polished": 9.0,
        "beta_range": [0.5, 3.0],
        "chip": "a",
        "broken": None,
    }
    assert again[1]["centred"] is True
    assert again[1]["penalty_scale"] == pytest.approx(again[1]["penalty"] / again[0]["penalty"])


def annealing(bqm, penalties, seed):
    """Anneal as the Ising path does."""
    level = penalties.one_hot.mean()
    draw = Draw(reads=8, sweeps=200, seed=seed, beta_range=(2 / level, 15 / level), stop=bool)
    return ask(registry.sampler("neal"), bqm, draw)


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["one-to-one", "levels", "capacity"])
def test_tuned_reads_find_optima(rule, random_problem, brute_force):
    """Tests raw reads without polish, against enumeration, and that their share is in the band at last."""
    found = []
    for seed in range(4):
        problem = random_problem(rule, seed, tasks=5, nodes=5, hardware="grid", whole=True)
        answer = tune(window_of(problem), annealing, keep, TuneParams(rounds=8), seed=seed, stop=bool)
        found.append(answer.cost == brute_force(problem)[0])
        assert answer.trials[0].figures["beta_range"] == pytest.approx(
            (2 / answer.trials[0].penalties.one_hot.mean(), 15 / answer.trials[0].penalties.one_hot.mean())
        )
    assert sum(found) >= 3


def full(seed):
    """Return six tasks on three nodes of two slots and ten bytes each, which they fill."""
    rng = np.random.default_rng(seed)
    volumes = np.triu(rng.integers(0, 9, (6, 6)), 1).astype(float)
    tasks = TaskGraph(names=tuple("abcdef"), traffic=sp.csr_array(volumes), memory=np.array([7, 3, 6, 4, 5, 5]))
    line = GridMetric((3,), (False,))
    nodes = Topology(names=("x", "y", "z"), metric=line, slots=np.full(3, 2), memory=np.full(3, 10))
    return Problem(tasks=tasks, topology=nodes, rule="capacity")


@pytest.mark.slow
@pytest.mark.parametrize(("capacity", "variables"), [("slack", 18 + 3 * (2 + 4)), ("slack-free", 18)])
def test_both_encodings_of_capacities_find_optima(capacity, variables, brute_force):
    """Tests nodes that only three pairs of tasks fill, end to end, from models with slack bits and without."""
    found = []
    for seed in range(4):
        params = TuneParams(rounds=8, capacity=capacity)
        answer = tune(window_of(full(seed)), annealing, keep, params, seed=seed, stop=bool)
        assert answer.variables == variables
        found.append(answer.cost == brute_force(full(seed))[0])
    assert sum(found) >= 3


@pytest.mark.slow
def test_slack_free_mappings_fit_and_cost_what_they_cost(random_problem, brute_force):
    """Tests that what draws reads to balance is no part of the cost, where balance is not best."""
    for seed in range(4):
        problem = random_problem("capacity", seed, tasks=5, nodes=3, hardware="grid", memory=True, whole=True)
        window, params = window_of(problem), TuneParams(rounds=4, capacity="slack-free")
        answer = tune(window, annealing, keep, params, seed=seed, stop=bool)
        places = window.place(problem.pins, answer.local)
        assert not violations(problem, places)
        assert brute_force(problem)[0] <= answer.cost == pytest.approx(cost_of(problem, places).total)


def test_the_same_seed_gives_the_same_answer(random_problem):
    """Tests trials and mapping, and that another seed draws other reads."""
    window = window_of(random_problem("one-to-one", 1, tasks=8, nodes=8, hardware="torus"))
    first, again, other = (
        tune(window, annealing, keep, TuneParams(rounds=3), seed=seed, stop=bool) for seed in (0, 0, 1)
    )
    assert first.local.tolist() == again.local.tolist()
    assert [trial.to_dict() for trial in first.trials] == [trial.to_dict() for trial in again.trials]
    assert [trial.to_dict() for trial in first.trials] != [trial.to_dict() for trial in other.trials]
