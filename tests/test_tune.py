"""Tests of penalty tuning, with samplers that need no luck."""

import numpy as np
import pytest

from tiger.encode import encode
from tiger.feasibility import launch_order
from tiger.model.window import fold, whole
from tiger.penalties import Penalties
from tiger.tune import Bisection, Fixed, Trial, TuneParams, tune


def trial_of(scale, share, earlier=None):
    """Return a trial that only has a scale and a share."""
    return Trial(scale=scale, feasible_share=share, raw=None, repaired=None, polished=None, earlier=earlier)


def scales(shares, tuner):
    """Return the scales a tuner visits when reads are feasible at given shares."""
    penalties, trial, seen = Penalties(one_hot=np.ones(1), exclusive=1.0, capacity=1.0), None, []
    for share in shares:
        seen.append(round(penalties.scale, 6))
        trial = trial_of(penalties.scale, share, trial)
        penalties = tuner.next(penalties, trial)
    return seen


def test_bisection_walks_down_while_all_reads_are_feasible():
    """Tests steps of 0.7."""
    assert scales([1, 1, 1], Bisection()) == [1, 0.7, 0.49]


def test_bisection_takes_the_geometric_mean_of_its_bracket():
    """Tests that after too few feasible reads it goes halfway back."""
    assert scales([1, 1, 0, 1], Bisection()) == [1, 0.7, 0.49, round((0.7 * 0.49) ** 0.5, 6)]


def test_bisection_stays_where_it_is_good():
    """Tests that a share within the band keeps the penalties."""
    assert scales([1, 0.5, 0.3, 0.7], Bisection()) == [1, 0.7, 0.7, 0.7]


def test_bisection_never_exceeds_the_safe_bound():
    """Tests that a sampler that is never feasible stays at the bound."""
    assert scales([0, 0, 0], Bisection()) == [1, 1, 1]


def test_bisection_survives_contradictory_rounds():
    """Tests that noise that inverts the bracket leads down, not astray."""
    assert all(0 < scale <= 1 for scale in scales([1, 0, 1, 1, 0, 0, 1, 0], Bisection()))


def test_fixed_penalties_stay():
    """Tests the baseline."""
    assert scales([1, 0, 1], Fixed()) == [1, 1, 1]


@pytest.mark.parametrize("bad", [{"rounds": 0}, {"scale": 0.0}, {"scale": 1.5}])
def test_bad_parameters_are_refused(bad):
    """Tests the bounds of the parameters."""
    with pytest.raises(ValueError, match="expected"):
        TuneParams(**bad)


def sampler_of(qubo, *mappings):
    """Return a sampler that always draws the given local mappings."""
    samples = np.array([qubo.sample(np.array(mapping)) for mapping in mappings])
    return lambda bqm, penalties, seed: samples


def test_the_best_read_of_all_rounds_is_returned(path_problem):
    """Tests raw, repaired and polished figures, by hand: 9, 8 and 7 by which task is in the middle."""
    window = fold(path_problem, whole(path_problem), launch_order(path_problem))
    qubo = encode(window)
    answer = tune(
        window, sampler_of(qubo, [0, 2, 1], [1, 0, 2]), lambda local: local, TuneParams(rounds=2), seed=0, stop=bool
    )
    assert answer.cost == 8
    assert answer.local.tolist() == [1, 0, 2]
    assert [trial.raw for trial in answer.trials] == [8, 8]
    assert answer.trials[0].to_dict()["feasible_share"] == 1.0


def test_every_read_is_polished(path_problem):
    """Tests that the polisher sees repaired places and may improve them."""
    window = fold(path_problem, whole(path_problem), launch_order(path_problem))
    sample = sampler_of(encode(window), [0, 2, 1])
    answer = tune(window, sample, lambda local: np.array([0, 1, 2]), TuneParams(rounds=1), seed=0, stop=bool)
    assert (answer.cost, answer.trials[0].repaired, answer.trials[0].polished) == (7, 9, 7)


def test_infeasible_reads_are_repaired(path_problem):
    """Tests that a sampler that returns nothing but zeros still yields a mapping."""
    window = fold(path_problem, whole(path_problem), launch_order(path_problem))
    answer = tune(
        window, lambda *_: np.zeros((4, 9), np.int8), lambda local: local, TuneParams(rounds=1), seed=0, stop=bool
    )
    assert answer.trials[0].raw is None
    assert sorted(answer.local.tolist()) == [0, 1, 2]


def test_no_reads_give_no_mapping(path_problem):
    """Tests a sampler that answers with nothing."""
    window = fold(path_problem, whole(path_problem), launch_order(path_problem))
    answer = tune(
        window, lambda *_: np.zeros((0, 9), np.int8), lambda local: local, TuneParams(rounds=2), seed=0, stop=bool
    )
    assert answer.local is None
    assert answer.cost == np.inf


def test_a_known_optimum_ends_the_rounds(path_problem):
    """Tests that sampling ends with the round that reaches the target."""
    window = fold(path_problem, whole(path_problem), launch_order(path_problem))
    sample = sampler_of(encode(window), [0, 1, 2])
    params = TuneParams(rounds=5, target=7)
    assert len(tune(window, sample, lambda local: local, params, seed=0, stop=bool).trials) == 1


class Once:
    """Stop after the first round."""

    def next(self, penalties, trial):
        """Return nothing more to try."""
        return


def test_a_tuner_may_end_the_rounds(path_problem):
    """Tests that None stops, and that time does too, but never before the first round."""
    window = fold(path_problem, whole(path_problem), launch_order(path_problem))
    sample = sampler_of(encode(window), [0, 1, 2])
    for params, stop in ((TuneParams(rounds=5, tuner=Once()), bool), (TuneParams(rounds=5), lambda: True)):
        assert len(tune(window, sample, lambda local: local, params, seed=0, stop=stop).trials) == 1
