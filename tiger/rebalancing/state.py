"""The state of a rebalancer: what it goes on from in another process, and plans by the names of devices."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tiger.errors import InputError
from tiger.model.document import Document
from tiger.model.wording import describe
from tiger.rebalancing.layer_times import LayerTimes
from tiger.training.costs.plan import Plan
from tiger.training.hardware.limits import COST_LIMIT


@dataclass(frozen=True, slots=True, kw_only=True)
class RebalancerState(Document):
    """Hold the plan in use, the times of layers as last measured, and the devices that are gone.

    Stage j holds layers cuts[j] to cuts[j + 1] - 1 on `devices[j]`. `forward_s` and `backward_s` are the seconds of
    each layer for one microbatch on a device of speed 1.
    """

    cuts: tuple[int, ...]
    devices: tuple[str, ...]
    lost: tuple[str, ...]
    microbatches: int
    forward_s: tuple[float, ...]
    backward_s: tuple[float, ...]

    def times(self, layers: int) -> LayerTimes:
        """Return the times of so many layers; raise InputError of `state/forward_s` or `state/backward_s`."""
        for name in ("forward_s", "backward_s"):
            seconds = np.asarray(getattr(self, name), np.float64)
            if seconds.shape != (layers,) or not ((seconds >= 0) & (seconds <= COST_LIMIT)).all():
                expected = f"expected {layers} numbers from 0 to {COST_LIMIT:g}"
                raise InputError(f"state/{name}", f"{expected}, got others")
        return LayerTimes(forward_s=np.array(self.forward_s), backward_s=np.array(self.backward_s))


def plan_by_names(cuts: Sequence[int], devices: Sequence[str], known: Sequence[str], field: str) -> Plan:
    """Return the plan of cuts on devices in a row that are named; raise InputError below the field."""
    numbers = find_devices(devices, known, f"{field}/devices")
    twice = next((k for k, number in enumerate(numbers) if number in numbers[:k]), None)
    if twice is not None:
        raise InputError(f"{field}/devices/{twice}", f"expected each device once, got {describe(devices[twice])} again")
    if len(cuts) != len(devices) + 1:
        raise InputError(
            f"{field}/cuts", f"expected one more than there are devices, {len(devices) + 1}, got {len(cuts)}"
        )
    falling = next((k for k in range(1, len(cuts)) if cuts[k] <= cuts[k - 1]), None)
    if falling is not None:
        raise InputError(f"{field}/cuts/{falling}", f"expected a number above {cuts[falling - 1]}, got {cuts[falling]}")
    return Plan.line(tuple(cuts), numbers)


def find_devices(devices: Sequence[str], known: Sequence[str], field: str) -> tuple[int, ...]:
    """Return the numbers of devices by their names; raise InputError below the field of one that is not known."""
    index = {name: k for k, name in enumerate(known)}
    unknown = next((k for k, name in enumerate(devices) if name not in index), None)
    if unknown is not None:
        raise InputError(f"{field}/{unknown}", f"expected a device of the cluster, got {describe(devices[unknown])}")
    return tuple(index[name] for name in devices)
