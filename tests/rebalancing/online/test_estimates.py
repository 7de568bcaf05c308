"""Tests of estimates, on stages that a reader can divide."""

import numpy as np
import pytest

from tiger.rebalancing.online.costs import DeviceCuts
from tiger.rebalancing.online.estimates import EstimateParams, Estimates

FREE = np.zeros(2)


def measure_twice(estimates: Estimates, line: DeviceCuts, *times_s: float) -> None:
    """Take in times, twice, so that they count whatever they are."""
    for _ in range(2):
        estimates.measure(line, np.zeros(len(times_s)), np.array(times_s))


def loads(estimates: Estimates, line: DeviceCuts) -> list[float]:
    """Return what the stages of a line are estimated to take."""
    costs = estimates.costs
    slowdown = costs.slowdown[list(line.devices)]
    return list((np.diff(costs.ahead_s[list(line.cuts)]) * slowdown).tolist())


def test_estimates_are_the_guess_at_first() -> None:
    """Layers, and paces that multiply them."""
    costs = Estimates(np.array([1.0, 2.0]), np.array([1.0, 3.0]), 0.02).costs
    assert costs.ahead_s.tolist() == pytest.approx([0, 1, 3])
    assert costs.slowdown.tolist() == pytest.approx([1, 3])


def test_the_first_measurement_sets_the_scale() -> None:
    """Costs in another unit come to the seconds that were measured, and nothing else is learnt."""
    estimates = Estimates(np.array([1e12, 1e12]), np.ones(2), 0.02)
    measure_twice(estimates, DeviceCuts((0, 1, 2), (0, 1)), 3.0, 3.0)
    assert np.diff(estimates.costs.ahead_s) == pytest.approx([3, 3])
    assert estimates.costs.slowdown == pytest.approx([1, 1])


def test_exchanged_devices_tell_layers_and_paces_apart() -> None:
    """Two layers of 1 and 2 s on devices of pace 1 and 2, in both orders: the ratios are 2 and 2."""
    estimates = Estimates(np.ones(2), np.ones(2), 0.001)
    measure_twice(estimates, DeviceCuts((0, 1, 2), (0, 1)), 1.0, 4.0)
    measure_twice(estimates, DeviceCuts((0, 1, 2), (1, 0)), 2.0, 2.0)
    first, second = np.diff(estimates.costs.ahead_s)
    assert second / first == pytest.approx(2, rel=0.01)
    assert estimates.costs.slowdown[1] / estimates.costs.slowdown[0] == pytest.approx(2, rel=0.01)


def test_messages_are_no_work() -> None:
    """Of 5 s that a stage took, 4 s were messages, so that the layer takes 1 s."""
    estimates = Estimates(np.ones(2), np.ones(2), 0.001)
    for _ in range(3):
        estimates.measure(DeviceCuts((0, 1, 2), (0, 1)), np.array([4.0, 4.0]), np.array([5.0, 5.0]))
    assert loads(estimates, DeviceCuts((0, 1, 2), (0, 1))) == pytest.approx([1, 1], rel=0.02)


def test_draws_agree_on_what_was_measured_and_differ_on_what_was_not() -> None:
    """A stage of two layers is known within the noise, each of the two layers is not."""
    estimates = Estimates(np.ones(4), np.ones(2), 0.02)
    line = DeviceCuts((0, 2, 4), (0, 1))
    for _ in range(8):
        measure_twice(estimates, line, 2.0, 2.0)
    drawn = estimates.draw(400, np.random.default_rng(0))
    stage = drawn.ahead_s[:, 2] * drawn.slowdown[:, 0]
    layer = drawn.ahead_s[:, 1] * drawn.slowdown[:, 0]
    assert stage.mean() == pytest.approx(2, rel=0.01)
    assert stage.std() < 0.02 * 2
    assert layer.std() > 0.1


def test_a_surprise_counts_when_it_comes_twice() -> None:
    """Once it is doubted; then the device has a new pace, and layers keep what was learnt of them."""
    estimates, line = Estimates(np.ones(2), np.ones(2), 0.02), DeviceCuts((0, 1, 2), (0, 1))
    for _ in range(6):
        measure_twice(estimates, line, 1.0, 1.0)
    estimates.measure(line, FREE, np.array([3.0, 1.0]))
    assert estimates.doubtful
    assert loads(estimates, line) == pytest.approx([1, 1], rel=0.01)
    estimates.measure(line, FREE, np.array([3.0, 1.0]))
    assert loads(estimates, line) == pytest.approx([3, 1], rel=0.02)
    assert np.diff(estimates.costs.ahead_s) == pytest.approx([1, 1], rel=0.02)


def test_many_stages_are_forgotten_from_the_oldest_on() -> None:
    """However many cuts are measured, what is kept is bounded."""
    estimates = Estimates(np.ones(20), np.ones(2), 0.02, EstimateParams(kept=32))
    for cut in range(1, 20):
        estimates.measure(DeviceCuts((0, cut, 20), (0, 1)), FREE, np.array([cut, 20.0 - cut]))
    assert len(estimates._readings) == 32
    assert loads(estimates, DeviceCuts((0, 10, 20), (0, 1))) == pytest.approx([10, 10], rel=0.02)


def test_a_stage_that_takes_no_time_tells_nothing_of_its_device() -> None:
    """A layer of 0 s is no surprise, and the pace that ran it stays as guessed."""
    estimates = Estimates(np.array([1.0, 0.0]), np.ones(2), 0.02)
    for seconds in (0.0, 1e-3, 0.0, 1e-4):
        estimates.measure(DeviceCuts((0, 1, 2), (0, 1)), FREE, np.array([1.0, seconds]))
        assert not estimates.doubtful
    assert estimates.costs.slowdown == pytest.approx([1, 1], rel=0.05)
