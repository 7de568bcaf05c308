"""A deployment: a plan, with the model and the cluster that it is for."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby

from tiger.errors import InputError
from tiger.model.arrays import IntArray
from tiger.placement.emission.ranges import ranges
from tiger.training.costs.plan import Plan
from tiger.training.hardware.cluster import Cluster
from tiger.training.layouts.modules import check_kinds
from tiger.training.models.layers import LayerKind, Layers
from tiger.training.schedules.pass_orders import Schedule

FIELD = "emit"


@dataclass(frozen=True, slots=True)
class StagedModule:
    """Hold the name of a module of the model's code, its kind, and the stage that runs it."""

    module: str
    kind: LayerKind
    stage: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Deployment:
    """Hold a plan for a model on a cluster; `memory_bytes[p]` is the most that a device of each position holds.

    `hosted` are the numbers of layers whose experts are on the CPU `host` beside their device.
    """

    layers: Layers
    cluster: Cluster
    plan: Plan
    schedule: Schedule | None = None
    memory_bytes: tuple[float, ...] = ()
    hosted: tuple[int, ...] = ()
    host: int | None = None

    @property
    def blocks(self) -> tuple[StagedModule, ...]:
        """Return the modules in order, one for neighbouring layers that are parts of the same.

        Raises InputError where stages would share a module.
        """
        blocks: list[StagedModule] = []
        for module, parts in groupby(range(self.layers.size), key=lambda at: self.layers.modules[at]):
            members = list(parts)
            stages = {self.stage_of(at) for at in members}
            if len(stages) > 1:
                raise InputError(FIELD, f"expected stages that begin with a module, got a cut within {module!r}")
            blocks.append(StagedModule(module, self.layers.kinds[members[0]], stages.pop()))
        return tuple(blocks)

    @property
    def decoder_counts(self) -> tuple[int, ...]:
        """Return the number of decoder layers of every stage; raise InputError where it is not known which they are."""
        check_kinds(self.layers, FIELD)
        decoders = Counter(block.stage for block in self.blocks if block.kind == "layer")
        return tuple(decoders[stage] for stage in range(self.plan.stages))

    @property
    def devices(self) -> tuple[str, ...]:
        """Return the device of every rank: tensor-parallel ranks next to each other, then replicas, then positions."""
        return tuple(self.cluster.names[device] for device in self.plan.grid.ravel())

    @property
    def cuda_indices(self) -> dict[int, int]:
        """Return the CUDA index of every accelerator of the cluster: those of a machine are numbered in order."""
        seen: Counter[int] = Counter()
        indices = {}
        for device, (machine, kind) in enumerate(zip(self.cluster.machine.tolist(), self.cluster.kinds, strict=True)):
            if kind == "accelerator":
                indices[device] = seen[machine]
                seen[machine] += 1
        return indices

    def ranks_by_machine(self, devices: IntArray) -> dict[int, list[int]]:
        """Return the ranks of every machine, machines as they come, of the devices of ranks in order."""
        ranks: dict[int, list[int]] = {}
        for rank, machine in enumerate(self.cluster.machine[devices].tolist()):
            ranks.setdefault(machine, []).append(rank)
        return ranks

    def warnings(self, devices: IntArray) -> list[str]:
        """Return a sentence if a machine has ranks that are not consecutive, of the devices of ranks in order."""
        ranks = self.ranks_by_machine(devices)
        apart = [machine for machine, own in ranks.items() if own[-1] - own[0] >= len(own)]
        if not apart:
            return []
        what = f"machine {apart[0]} has ranks {', '.join(ranges(ranks[apart[0]]))}"
        return [f"warning: {what}, and launchers give a machine consecutive ones: start each process by itself"]

    def stage_of(self, layer: int) -> int:
        """Return the stage that holds a layer."""
        return bisect_right(self.plan.cuts, layer) - 1

    def check_plain(self, system: str) -> None:
        """Raise InputError unless every position has one stage."""
        if self.plan.virtual > 1:
            reason = f"expected one stage a device, as {system} has no virtual stages, got {self.plan.virtual}"
            raise InputError(FIELD, reason)

    def check_loop(self, system: str) -> None:
        """Raise InputError where stages go to the last position and back."""
        if self.plan.style == "v":
            reason = f"stages go to the last device and back, which {system} does not have"
            raise InputError(FIELD, f"expected another schedule than {self.schedule}, under which {reason}")

    def check_experts_at_home(self, system: str) -> None:
        """Raise InputError unless the experts of every layer are on its device."""
        if self.hosted:
            reason = f"expected experts on the device of their layer, as {system} has no others"
            raise InputError(FIELD, f"{reason}, got those of {len(self.hosted)} layers on a cpu")


Writer = Callable[[Deployment], str]
