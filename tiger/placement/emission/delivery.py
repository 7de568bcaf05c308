"""What commands do with a plan that a system of training takes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol, cast

from tiger.errors import InputError
from tiger.model.spelling import spelled
from tiger.placement.emission.schedules import SYSTEM_SCHEDULES, System, lacks_stages
from tiger.run.use import Delivery, check_printed
from tiger.training.schedules.pass_orders import Schedule


class Emitting(Protocol):
    """Stand for a report whose plan can be emitted where it is feasible."""

    feasible: bool

    def emit(self, system: str) -> str:
        """Return the plan as a system takes it."""
        ...


@dataclass(frozen=True, kw_only=True)
class PlanForSystem(Delivery[Emitting]):
    """Print the plan as a system takes it."""

    emit: System | None = field(
        default=None,
        metadata=spelled("Print the plan alone, to be pasted into this system.", panel="Output"),
    )

    def check(self, asked: Mapping[str, object], json_file: str | None) -> None:
        """Raise InputError where the report would be printed as well, or a schedule asked for has no text there."""
        check_printed(self.emit, json_file)
        schedule, virtual = cast(Schedule | None, asked.get("schedule")), cast(int | None, asked.get("virtual"))
        if self.emit is not None and schedule is not None and lacks_stages(self.emit, schedule, virtual):
            known = " or ".join(system for system in SYSTEM_SCHEDULES if schedule in SYSTEM_SCHEDULES[system])
            raise InputError("emit", f"expected {known} beside the schedule {schedule}, got {self.emit}")

    def replace_summary(self, report: Emitting) -> str | None:
        """Return the plan, nothing where none is feasible."""
        if self.emit is None:
            return None
        return report.emit(self.emit) if report.feasible else ""
