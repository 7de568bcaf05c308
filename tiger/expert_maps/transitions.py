"""Transitions between the experts of consecutive layers."""

import numpy as np

from tiger.errors import InputError
from tiger.expert_maps.traces import ROWS, Numbers, check_choices
from tiger.model.arrays import FloatArray
from tiger.model.wording import describe

# Pairs of experts in all layers: 58 layers of 256 are a tenth, and tables of them take 256 MB each.
PAIR_LIMIT = 2**25


def count_transitions(trace: Numbers, experts: int, first_token: int = 0) -> FloatArray:
    """Return how many tokens [L - 1, E, E] go from an expert to one of the next layer.

    A token that has k experts in each layer counts for each of the k * k pairs, as all its experts' outputs are added
    before the next layer's get them. Raises InputError for an expert that there is not; `first_token` is the number of
    the first token in messages.
    """
    layers, chosen = trace.shape[1:]
    if (layers - 1) * experts**2 > PAIR_LIMIT:
        what = f"expected at most {PAIR_LIMIT:,} pairs of experts in all layers"
        raise InputError("experts", f"{what}, got {describe(experts)}")
    counts = np.zeros((layers - 1, experts**2))
    for start in range(0, len(trace), ROWS):
        part = np.asarray(trace[start : start + ROWS])
        check_choices(part, experts, first_token + start)
        part = part.astype(np.int64)
        for layer in range(layers - 1):
            for choice in range(chosen):
                pairs = part[:, layer, choice, None] * experts + part[:, layer + 1]
                counts[layer] += np.bincount(pairs.ravel(), minlength=experts**2)
    return counts.reshape(layers - 1, experts, experts)
