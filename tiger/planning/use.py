"""The use of planning how a network is trained: what it takes, how it is answered, and what is said of its reports."""

from collections.abc import Mapping
from dataclasses import dataclass

from tiger.placement.emission.delivery import PlanForSystem
from tiger.planning.arguments import PlanCall
from tiger.run.use import Command, Late, Remote, Use


@dataclass(frozen=True, kw_only=True)
class PlanDelivery(PlanForSystem):
    """Search over what the system runs that the plan is printed for."""

    def add_options(self, asked: Mapping[str, object]) -> Mapping[str, object]:
        """Return that system as the framework, unless one is named or a schedule is."""
        named = "framework" in asked or "schedule" in asked
        return {} if self.emit is None or named else {"framework": self.emit}


PLANNING = Use(
    answer=Late("tiger", "plan"),
    report=Late("tiger", "PlanReport"),
    schema="tiger.plan/1",
    summary=Late("tiger.planning.summary", "plan_summary"),
    explanation=Late("tiger.planning.explanation", "explain_plan"),
    pictures=Late("tiger.planning.pictures", "list_pictures"),
    remote=Remote(path="plan", state=Late("tiger.planning.remote", "state_planning")),
    commands=(
        Command(
            name="plan",
            call=PlanCall,
            help="""Find the degrees of parallelism, the microbatches and the schedule that train a network quickest.

            Plans keep to memory and are ranked by their simulated iteration. Exits with 0 when that is done, 1 when no
            plan fits, 2 on bad input. The summary goes to standard output, but to standard error where the plan is
            emitted.
            """,
            examples=("tiger plan examples/models/gpt2-medium.json --cluster dgx:1 --batch 64",),
            delivery=PlanDelivery,
        ),
    ),
)
