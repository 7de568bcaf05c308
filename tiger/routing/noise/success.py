"""The probability that a mapped circuit runs without an error."""

import numpy as np

from tiger.routing.coupling import IndexArray
from tiger.routing.error_rates import Errors
from tiger.routing.noise.depth import costs_of, time_operations


def compute_log_success(operations: IndexArray, errors: Errors) -> float:
    r"""Return the natural logarithm of the probability that a routed circuit runs and is read without an error.

    .. math:: P = \prod_{g \in G} (1 - \varepsilon_{p_g q_g}) \prod_q (1 - \varepsilon_q)^{u_q}
        \prod_{q \in M} (1 - r_q) \; e^{-\sum_q \lambda_q t_q}

    over the two-qubit gates G, a BRIDGE being four and a SWAP three (with the better direction twice), u one-qubit
    gates, the measured qubits M, and the seconds t that a qubit waits between its first gate and its last when every
    gate runs as soon as it can. A rate is 1 / (6 T1) + 1 / (3 T2), to first order the mean loss of fidelity of a
    relaxing qubit by the formula of Horodecki, Horodecki and Horodecki 1999 (doi:10.1103/PhysRevA.60.1888). -inf where
    a gate is on a pair or qubit that is faulty. O(k).
    """
    # A finished circuit is on device qubits already: each stands for itself.
    duration = time_operations(operations, np.arange(errors.size, dtype=np.int32), costs_of(errors))
    return -(duration.loss + duration.idle)
