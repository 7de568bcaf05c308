"""What commands do with a plan that a system of training takes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from tiger.model.spelling import spelled
from tiger.run.use import Delivery, check_printed


class Emitting(Protocol):
    """Stand for a report whose plan can be emitted where it is feasible."""

    feasible: bool

    def emit(self, system: str) -> str:
        """Return the plan as a system takes it."""
        ...


@dataclass(frozen=True, kw_only=True)
class PlanForSystem(Delivery[Emitting]):
    """Print the plan as a system takes it."""

    emit: Literal["megatron", "deepspeed", "vllm", "sglang", "llama.cpp", "torch"] | None = field(
        default=None,
        metadata=spelled("Print the plan alone, to be pasted into this system.", panel="Output"),
    )

    def check(self, asked: Mapping[str, object], json_file: str | None) -> None:  # noqa: ARG002 (of any command)
        """Raise InputError where the report would be printed as well."""
        check_printed(self.emit, json_file)

    def replace_summary(self, report: Emitting) -> str | None:
        """Return the plan, nothing where none is feasible."""
        if self.emit is None:
            return None
        return report.emit(self.emit) if report.feasible else ""
