"""Tests of the exact cuts: by hand, and compiled against Python."""

from itertools import combinations

import numpy as np
import pytest

from tiger.rebalancing.cut_solver import NO_PRICES, CutProgram, solve_cuts


def drawn_program(seed: int, layers: int = 8, positions: int = 3) -> CutProgram:
    """Return loads of runs on unlike devices with messages, whose memory leaves most runs."""
    rng = np.random.default_rng(seed)
    both = rng.uniform(0, 2, (positions - 1, layers + 1))
    return CutProgram(
        ahead_s=np.pad(np.cumsum(rng.uniform(1, 5, layers)), (1, 0)),
        slowdown=rng.uniform(0.5, 2, positions),
        received_s=np.pad(both, ((1, 0), (0, 0))),
        sent_s=np.pad(both, ((0, 1), (0, 0))),
        last=np.minimum(np.arange(layers + 1) + rng.integers(3, 6, (positions, 1)), layers),
    )


@pytest.mark.parametrize("seed", range(5))
def test_the_least_bottleneck_is_that_of_all_cuts(seed: int) -> None:
    """Of those that fit; it is found below a limit just above it, and not below itself."""
    program = drawn_program(seed)
    fitting = [
        cuts
        for inner in combinations(range(1, 8), 2)
        if (program.last[range(3), (cuts := (0, *inner, 8))[:-1]] >= cuts[1:]).all()
    ]
    found = program.least_bottleneck()
    assert found is not None
    assert found[1] in fitting
    assert found[0] == pytest.approx(min(float(program.loads_s(cuts).max()) for cuts in fitting))
    assert program.least_bottleneck(found[0] * 1.001) == found
    assert program.least_bottleneck(found[0]) is None


def test_moves_are_the_cheapest_within_a_limit() -> None:
    """Three layers of 1 s on two positions: the cheaper of both cuts at 2 s, and none below."""
    zero = np.zeros((2, 4))
    program = CutProgram(np.arange(4.0), np.ones(2), zero, zero, np.full((2, 4), 3))
    prices = np.cumsum([[0.0, 0, 1, 1], [0.0, 1, 0, 0]], axis=1)
    assert program.cheapest_moves(prices, 2.0) == (0.0, (0, 1, 3))
    assert program.cheapest_moves(prices, 1.5) is None


@pytest.mark.parametrize("prices", [NO_PRICES, np.cumsum(np.random.default_rng(1).uniform(0, 1, (3, 9)), axis=1)])
def test_the_kernel_is_the_same_uncompiled(prices: np.ndarray) -> None:
    """Python and numba return the same cuts."""
    plain = getattr(solve_cuts, "py_func", solve_cuts)
    (value, cuts), (same, alike) = (solve(*drawn_program(0), prices, 30.0) for solve in (solve_cuts, plain))
    assert np.isfinite(value)
    assert (value, cuts.tolist()) == (same, alike.tolist())
