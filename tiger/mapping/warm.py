"""Compile the kernels of mapping into numba's cache, or load them from there."""

from tiger.bounds import warm as bounds
from tiger.solvers import warm as searches

STAGES = (*searches.STAGES, *((name, bounds.load) for name in bounds.KERNELS))
