"""Random numbers inside compiled code, from a state that the caller holds."""

import numpy as np
from numpy.typing import NDArray

from tiger.model.seeds import derive
from tiger.solvers.kernel import inner_kernel

Generator = NDArray[np.uint64]

# Shifts of xorshift64 (Marsaglia 2003), and of the bits above the 53 of a float64; _UNIT scales to [0, 1).
_UP, _DOWN, _LEFT, _UNUSED = np.uint64(13), np.uint64(7), np.uint64(17), np.uint64(11)
_UNIT = 2.0**-53


def seed_state(seed: int, *path: int) -> Generator:
    """Return the state of a generator that depends on the seed and the path alone."""
    return np.array([derive(seed, *path) * 2654435761 + 88172645463325252], np.uint64)


@inner_kernel
def draw_uniform(generator: Generator) -> float:
    """Return the next number of [0, 1); Marsaglia's xorshift, doi:10.18637/jss.v008.i14."""
    bits = generator[0]
    bits ^= bits << _UP
    bits ^= bits >> _DOWN
    bits ^= bits << _LEFT
    generator[0] = bits
    return float(bits >> _UNUSED) * _UNIT


@inner_kernel
def draw_below(generator: Generator, count: int) -> int:
    """Return the next number of 0 .. count - 1."""
    return int(draw_uniform(generator) * count)


@inner_kernel
def is_accepted(change: float, temperature: float, uniform: float) -> bool:
    """Return whether Metropolis' rule accepts a change by a number of [0, 1): whether it is at most -T log(number).

    Few changes need the logarithm: -log(u) lies between 1 - u and 1 / u - 1.
    """
    if change <= temperature * (1.0 - uniform):
        return True
    if change * uniform > temperature * (1.0 - uniform):
        return False
    return bool(change <= -temperature * np.log(uniform))
