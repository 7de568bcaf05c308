"""Why no line of stages holds a model: what is missing, and where."""

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.model.units import bytes_text
from tiger.model.violation import Violation
from tiger.placement.chain.cut_dp import sweep
from tiger.placement.chain.dp_states import WORK_LIMIT, device_graph, merge_device_types
from tiger.placement.chain.fitting_runs import fitting_ends
from tiger.placement.chain.params import LineParams, never_stop
from tiger.training.hardware.cluster import NO_LINK, Cluster, Curve
from tiger.training.models.layers import Layers

Cause = Literal["stages", "pinned", "unlinked", "memory"]
ADVICE = "a larger tensor degree, recomputed activations or states offloaded to the host take less"
SERVED_ADVICE = "a larger tensor degree, smaller types of weights and cache, or fewer and shorter sequences take less"
# Messages that take no time: only whether devices are linked counts.
INSTANT = Curve(size_bytes=np.array([0.0, 1.0]), seconds=np.zeros(2))


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortfall:
    """Hold why nothing fits, and the names for the message.

    "stages": there are fewer layers or devices than stages. "pinned": no line keeps all pins, which are those of
    `layers` on `devices`. "unlinked": if all devices, such as these two, were linked, there would be room. "memory":
    there would be room with `missing_bytes` more on every device; `layers` is the first one without a place when the
    devices are filled in order, `oversize` one that is too large for any device, and `advice` says what takes less.
    """

    kind: Cause
    missing_bytes: int = 0
    layers: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()
    oversize: str | None = None
    advice: str = ADVICE

    @property
    def violation(self) -> Violation:
        """Return it as a sentence."""
        layers, devices = (", ".join(map(repr, names)) for names in (self.layers, self.devices))
        sentences = {
            "stages": "there are more stages than layers, or than devices",
            "pinned": f"stages of consecutive layers cannot keep layers {layers} on devices {devices}",
            "unlinked": f"the devices that could hold the model together are not linked, such as {devices}",
            "memory": self._memory(),
        }
        return Violation(kind=self.kind, message=sentences[self.kind])

    def _memory(self) -> str:
        """Return the sentence about memory."""
        parts = [f"every device would need {bytes_text(self.missing_bytes)} more"]
        if self.layers:
            parts.append(f"filled in order, the devices have no room from layer {self.layers[0]!r} on")
        if self.oversize is not None:
            parts.append(f"layer {self.oversize!r} alone is larger than any of them")
        return "; ".join([*parts, self.advice])


def find_shortfall(
    layers: Layers, cluster: Cluster, params: LineParams, stop: Callable[[], bool] = never_stop
) -> Shortfall | None:
    """Return why no line fits, None where one does.

    Exact: `missing_bytes` is the least number. Where the types of devices by memory and links are too many to
    enumerate, similar ones are merged: then it is a lower bound, and None says only that there is no such reason. If
    stopped, so many bytes are enough, but may not be the least.
    """
    if (params.stages or 1) > min(layers.size, cluster.size):
        return Shortfall(kind="stages")
    memory, unlimited = cluster.memory_bytes, np.full(cluster.size, np.inf)
    all_linked = np.zeros_like(cluster.link)
    # Each limit is lifted in turn: memory and links together, links alone, memory alone.
    if has_line(layers, cluster, params, (cluster.link, memory)):
        return None
    if not has_line(layers, cluster, params, (all_linked, unlimited)):
        return _pin_reason(layers, cluster, params)
    if has_line(layers, cluster, params, (all_linked, memory)):
        return Shortfall(kind="unlinked", devices=_unlinked_devices(cluster))
    link = cluster.link if has_line(layers, cluster, params, (cluster.link, unlimited)) else all_linked
    return _missing_memory(layers, cluster, params, (link, stop))


def has_line(
    layers: Layers, cluster: Cluster, params: LineParams, limits: tuple[IntArray, FloatArray], steps: int = WORK_LIMIT
) -> bool:
    """Return whether some line fits with such links and memory, whatever time it takes.

    Exact where types of devices are few enough for so many steps; where they are merged, no says that none does.
    """
    link, memory = limits
    bare = Cluster(
        names=cluster.names,
        speed=np.ones(cluster.size),
        memory_bytes=memory,
        curves=(INSTANT,),
        link=np.minimum(link, 0),
    )
    types = merge_device_types(layers, bare, params, steps)
    return sweep(device_graph(layers, types, params), sys.float_info.max).depth >= 0


def _pin_reason(layers: Layers, cluster: Cluster, params: LineParams) -> Shortfall:
    """Return the pins as the reason."""
    pinned = sorted(params.pinned.items())
    return Shortfall(
        kind="pinned",
        layers=tuple(layers.names[layer] for layer, _ in pinned),
        devices=tuple(cluster.names[device] for _, device in pinned),
    )


def _unlinked_devices(cluster: Cluster) -> tuple[str, ...]:
    """Return two devices without a link, if possible in parts that no links join."""
    part = cluster.parts()
    apart = part[:, None] != part if part.any() else cluster.link == NO_LINK
    first, second = np.argwhere(np.triu(apart, 1))[0]
    return cluster.names[first], cluster.names[second]


def _missing_memory(
    layers: Layers, cluster: Cluster, params: LineParams, search: tuple[IntArray, Callable[[], bool]]
) -> Shortfall:
    """Return how much memory is missing, and where: bisection to one byte, or enough if stopped."""
    link, stop = search
    stages = params.stages or min(cluster.size, layers.size)
    in_flight = [params.in_flight(after) for after in range(stages)]
    low, high = 0, math.ceil(layers.state_bytes.sum() + max(in_flight) * layers.held_bytes.sum())
    while high - low > 1 and not stop():
        middle = (low + high) // 2
        if has_line(layers, cluster, params, (link, cluster.memory_bytes + middle)):
            high = middle
        else:
            low = middle
    need = layers.state_bytes + min(in_flight) * layers.held_bytes
    largest = int(np.argmax(need))
    return Shortfall(
        kind="memory",
        missing_bytes=high,
        layers=_unplaced_layer(layers, cluster, in_flight),
        oversize=layers.names[largest] if need[largest] > cluster.memory_bytes.max() else None,
        advice=ADVICE if layers.served is None else SERVED_ADVICE,
    )


def _unplaced_layer(layers: Layers, cluster: Cluster, in_flight: list[float]) -> tuple[str, ...]:
    """Return the first layer without a place when devices are filled in their order, if there is one."""
    start = 0
    for device, count in enumerate(reversed(in_flight)):
        start = int(fitting_ends(layers, float(cluster.memory_bytes[device]), count)[start])
    return layers.names[start : start + 1]
