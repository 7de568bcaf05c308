"""The uniform split: as many groups on every device, along a topological order."""

import numpy as np

from tiger.model.arrays import IntArray
from tiger.placement.operators.terms import Terms


def uniform_split(terms: Terms, position: IntArray) -> IntArray:
    """Return the device of every group, those of a device next to each other in the order that `position[C]` gives.

    Only accelerators, in the order of the cluster, unless there are none. Memory and pins play no part.
    """
    devices = np.flatnonzero(terms.pays > 0)
    devices = devices if len(devices) else np.arange(terms.devices)
    share = np.argsort(np.argsort(position, kind="stable")) * len(devices) // terms.groups
    return devices[share]
