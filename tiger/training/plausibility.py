"""Warnings of figures that no hardware has, with the mistake in units that is likely."""

import numpy as np

from tiger.model.wording import describe
from tiger.training.hardware.cluster import Cluster
from tiger.training.models.layers import Layers

# Less memory than any accelerator has had, by a factor of a thousand: numbers meant as GB or MB are far below.
LEAST_MEMORY_BYTES = 1e6
# Slower than the Ethernet of 1983, of 10 Mb/s: numbers meant as GB/s or Gb/s are far below.
LEAST_BANDWIDTH = 1e6
# More than a signal takes round the earth, by a factor of seven: numbers meant as microseconds are above.
MOST_LATENCY_S = 1.0


def warn_implausible(cluster: Cluster) -> tuple[str, ...]:
    """Return the remarks of its reader, and warnings of numbers that look like ones in another unit, one of each."""
    return (*cluster.remarks, *_warn_memory(cluster), *_warn_links(cluster))


def warn_missing_state(layers: Layers, cluster: Cluster) -> tuple[str, ...]:
    """Return a warning of layers that learn and hold nothing but their weights, where memory has an end."""
    alone = np.array_equal(layers.state_bytes, layers.parameter_bytes) and layers.parameter_bytes.any()
    if not alone or not layers.backward_s.any() or not np.isfinite(cluster.memory_bytes).any():
        return ()
    return (
        "no state_bytes are stated, so that layers hold their weights alone; with gradients and an optimizer it is"
        " 4 to 9 times as much",
    )


def _warn_memory(cluster: Cluster) -> tuple[str, ...]:
    """Return a warning of the first device with too little memory; one with none may hold nothing on purpose."""
    few = np.flatnonzero((cluster.memory_bytes > 0) & (cluster.memory_bytes < LEAST_MEMORY_BYTES))
    if not few.size:
        return ()
    size, more = cluster.memory_bytes[few[0]], f" and {few.size - 1} more" if few.size > 1 else ""
    who = f"device {describe(cluster.names[few[0]])}{more}"
    return (f"{who}: {size:g} bytes of memory; did you mean '{size:g}GB'?",)


def _warn_links(cluster: Cluster) -> tuple[str, ...]:
    """Return a warning of the first link that is too slow, and of the first that takes too long for any message."""
    warnings = []
    for curve in cluster.curves:
        (before, last), (early, late) = curve.size_bytes[-2:].tolist(), curve.seconds[-2:].tolist()
        if late > early and (rate := (last - before) / (late - early)) < LEAST_BANDWIDTH:
            slip = f"did you mean '{rate:.4g}GB/s' or '{rate:.4g}Gb/s'?"
            warnings.append(f"a link of {rate:.4g} bytes/s; {slip}")
        if curve.seconds[0] > MOST_LATENCY_S:
            warnings.append(f"a link of {curve.seconds[0]:.4g} s latency; did you mean '{curve.seconds[0]:.4g}us'?")
    return tuple(warnings[:2])
