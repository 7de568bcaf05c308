"""Operators on the devices of a cluster: the stages of a report, and the timetable of a microbatch."""

from dataclasses import dataclass

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.placement.entry.stage import PlacedStage
from tiger.placement.operators.loads import held_bytes, loads_s
from tiger.placement.operators.terms import Terms
from tiger.training.hardware.cluster import Cluster
from tiger.training.models.operators import Operators


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Timetable:
    """Hold the device of n operators, and from when to when each runs, in seconds."""

    device: IntArray
    begin_s: FloatArray
    end_s: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Arrangement:
    """Hold the device of every class of operators, `place[C]`, and the order of devices `line` where it counts."""

    operators: Operators
    cluster: Cluster
    place: IntArray
    line: tuple[int, ...] = ()

    def stages(self) -> tuple[PlacedStage, ...]:
        """Return the stage of every device that holds operators, in the order of the line or of the cluster."""
        terms = Terms.from_operators(self.operators, self.cluster, {})
        compute, communication = loads_s(terms, self.place)
        held = held_bytes(terms, self.place)
        at = self.place[terms.group_of]
        members = np.split(np.argsort(at, kind="stable"), np.cumsum(np.bincount(at, minlength=terms.devices))[:-1])
        names = self.operators.names
        order = self.line or range(terms.devices)
        return tuple(
            PlacedStage(
                device=self.cluster.names[device],
                devices=((self.cluster.names[device],),),
                ops=tuple([names[operator] for operator in members[device].tolist()]),
                compute_s=float(compute[device]),
                communication_s=float(communication[device]),
                memory_bytes=float(held[device]),
                capacity_bytes=_finite_or_none(float(terms.capacity[device])),
            )
            for device in order
            if len(members[device])
        )

    def timetable(self) -> Timetable:
        """Return when every operator runs for one microbatch alone, under list scheduling."""
        from tiger.placement.operators.latency.list_scheduling import make_jobs, run_schedule

        terms = Terms.from_operators(self.operators, self.cluster, {})
        end_s = np.empty(terms.operators)
        run_schedule(make_jobs(terms), self.place, end_s, np.empty(terms.devices))
        device = self.place[terms.group_of]
        begin_s = end_s - terms.work[device, np.arange(terms.operators)]
        return Timetable(device=device, begin_s=begin_s, end_s=end_s)


def _finite_or_none(size: float) -> float | None:
    """Return a capacity, None for one without a limit."""
    return size if np.isfinite(size) else None
