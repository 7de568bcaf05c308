"""The report of a search for plans."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from tiger.model.units import bytes_text, seconds_text
from tiger.model.violation import Violation
from tiger.placement.entry.place import make_report
from tiger.placement.entry.remedies import Remedy, find_remedies
from tiger.placement.entry.report import PlacementReport
from tiger.placement.entry.request import ChainRequest
from tiger.placement.search.evaluator import Evaluator
from tiger.placement.search.outcome import find_faults, simulate_plan
from tiger.planning.attempt import Attempt, make_evaluator
from tiger.planning.breakdown import Breakdown, breakdown
from tiger.planning.choices import Choice
from tiger.planning.params import PlanParams
from tiger.planning.pruning import Pruned
from tiger.planning.reasons import why_misfit, why_pruned, why_slower
from tiger.planning.report import Degrees, GivenPlan, PlanReport, RankedPlan, RuledOut
from tiger.planning.search import PlanResult
from tiger.training.costs.plan import Plan
from tiger.training.hardware.cluster import Cluster
from tiger.training.models.layers import Layers
from tiger.training.models.sizes import Model
from tiger.training.schedules.traffic import link_traffic
from tiger.training.verdict import weigh_plans


@dataclass(frozen=True, eq=False)
class Account:
    """Make the report of what a search for plans of a model on a cluster has found."""

    model: Model
    cluster: Cluster
    params: PlanParams
    result: PlanResult

    def report(self, top: int) -> PlanReport:
        """Return the report with so many of the best plans; its batch and time are left open."""
        result = self.result
        report = PlanReport(
            feasible=bool(self._fitting),
            batch=0,
            seed=self.params.seed,
            islands=self.params.islands,
            seconds=0.0,
            pruned=tuple(self._describe_pruned(pruned) for pruned in result.pruned),
            choices=result.choices,
            progress=result.stages,
            sampling=result.sampling,
            given=None if result.given is None else self._describe_given(result.given),
        )
        if not self._fitting:
            return replace(report, violations=(self._violation(),), remedies=self._remedies())
        return replace(
            report,
            placement=self._placement(self._fitting[0]),
            ranked=tuple(self._rank(attempt) for attempt in self._fitting[:top]),
            heuristic=None if result.usual is None else self._rank(result.usual),
            lower_bound_s=result.lower_bound_s,
        )

    @cached_property
    def _fitting(self) -> list[Attempt]:
        """Return the attempts that found a plan, the quickest first."""
        return [attempt for attempt in self.result.attempts if attempt.plan is not None]

    @cached_property
    def _best(self) -> tuple[Plan, Breakdown]:
        """Return the best plan, and where its time goes."""
        best = self._fitting[0]
        plan = self._plan(best)
        return plan, breakdown(self._evaluator(best), plan)

    def _rank(self, attempt: Attempt) -> RankedPlan:
        """Return what a plan comes to."""
        evaluator, plan = self._evaluator(attempt), self._plan(attempt)
        spent, family = breakdown(evaluator, plan), attempt.choice.family
        tokens = self.model.tokens(family.data * family.microbatches * family.microbatch, self.params.sequence)
        return RankedPlan(
            degrees=self._degrees(attempt.choice),
            iteration_s=attempt.iteration_s,
            memory_share=float((evaluator.memory_bytes(plan) / np.maximum(evaluator.room(plan), 1.0)).max()),
            bubble=evaluator.bubble(plan) or 0.0,
            breakdown=spent,
            bound_s=attempt.candidate.bound_s,
            searched=attempt.placed is not None,
            tokens_per_s=None if tokens is None or not attempt.iteration_s else tokens / attempt.iteration_s,
            why=self._why(attempt, plan, spent),
        )

    def _describe_given(self, attempt: Attempt) -> GivenPlan:
        """Return what the plan that somebody has comes to, whether it fits, and whether to keep it."""
        evaluator, plan, choice = self._evaluator(attempt), self._plan(attempt), attempt.choice
        faults, given_s = find_faults(evaluator, plan), evaluator.seconds(plan)
        known = given_s if np.isfinite(given_s) else None
        held, family = evaluator.memory_bytes(plan), choice.family
        best = self._fitting[0] if self._fitting else None
        same = best is not None and best.choice == choice
        change = (
            "" if best is None else f"; by {'the same degrees with other cuts' if same else self._degrees(best.choice)}"
        )
        advice = weigh_plans(given_s, None if best is None else best.iteration_s, change, fits=not faults)
        tokens = self.model.tokens(family.data * family.microbatches * family.microbatch, self.params.sequence)
        sent = link_traffic(evaluator.layers, plan, evaluator.microbatches, self.cluster.ring_orders)
        return GivenPlan(
            degrees=self._degrees(choice),
            iteration_s=known,
            memory_bytes=float(held.max()),
            memory_share=float((held / np.maximum(evaluator.room(plan), 1.0)).max()),
            bubble=None if known is None else evaluator.bubble(plan),
            breakdown=None if known is None else breakdown(evaluator, plan),
            sent_bytes=float(sum(sent.values())),
            tokens_per_s=tokens / known if tokens and known else None,
            feasible=not faults,
            violations=faults,
            remedies=self._remedies_of(choice) if faults else (),
            saved=advice.saved,
            keep=advice.keep,
            verdict=advice.verdict,
        )

    def _why(self, attempt: Attempt, plan: Plan, spent: Breakdown) -> str:
        """Return why a plan is where it is."""
        if attempt is not self._fitting[0]:
            return why_slower(self.cluster, self._best, (plan, spent))
        bound = self.result.lower_bound_s
        below = 1 - bound / attempt.iteration_s if attempt.iteration_s else 0.0
        return f"the quickest; no plan by any choice takes less than {seconds_text(bound)}, {below:.1%} below it"

    def _describe_pruned(self, pruned: Pruned) -> RuledOut:
        """Return what a bound ruled out."""
        best = self._fitting[0].iteration_s if self._fitting else float("inf")
        room = float(self.cluster.memory_bytes.max())
        return RuledOut(
            reason=pruned.reason,
            choices=pruned.choices,
            closest=None if pruned.closest is None else self._degrees(pruned.closest),
            bound_s=pruned.least if pruned.reason in ("work", "cuts", "budget") else None,
            need_bytes=pruned.least if pruned.reason == "memory" else None,
            why=why_pruned(pruned, best, room),
        )

    def _violation(self) -> Violation:
        """Return why there is no plan: what the closest attempt lacks, or what a bound says of the closest choice."""
        tried = min(self.result.attempts, key=lambda attempt: attempt.lacking_bytes, default=None)
        if tried is not None:
            proved = next((each for each in tried.violations if each.kind != "undecided"), None)
            kind, message = (proved.kind, proved.message) if proved else ("undecided", why_misfit(tried.lacking_bytes))
            return Violation(kind=kind, message=f"{tried.choice}: {message}")
        known = {pruned.reason: pruned for pruned in self.result.pruned}
        if "budget" in known:
            return Violation(kind="undecided", message="the search ended before any plan was simulated")
        if (close := known.get("memory")) is not None:
            room = float(self.cluster.memory_bytes.max())
            lacking = bytes_text(close.least - room)
            return Violation(kind="memory", message=f"{close.closest}: {why_pruned(close, 0.0, room)}, {lacking} less")
        if "links" in known:
            return Violation(kind="links", message="no links join the devices of any choice")
        return Violation(kind="choices", message="no degrees go with this model, cluster and batch")

    def _remedies(self) -> tuple[Remedy, ...]:
        """Return what would make the closest choice fit."""
        tried = min(self.result.attempts, key=lambda attempt: attempt.lacking_bytes, default=None)
        known = {pruned.reason: pruned.closest for pruned in self.result.pruned}
        choice = known.get("memory") if tried is None else tried.choice
        return () if choice is None else self._remedies_of(choice)

    def _remedies_of(self, choice: Choice) -> tuple[Remedy, ...]:
        """Return what would make a choice fit."""
        params, size = choice.params(self.params), choice.family.microbatch
        return find_remedies(self.model, self.cluster, params, size, "microbatch")

    def _placement(self, attempt: Attempt) -> PlacementReport:
        """Return the report of the placement of a plan."""
        params = attempt.choice.params(self.params)
        layers = self._layers(attempt)
        placed = attempt.placed or simulate_plan(self._evaluator(attempt), self._plan(attempt))
        report = make_report(ChainRequest(layers, self.cluster, params), placed)
        # What was drawn is that of all plans together.
        return replace(report, seconds=sum(stage.seconds for stage in placed.stages), sampling=None)

    def _layers(self, attempt: Attempt) -> Layers:
        """Return the layers of a microbatch of a choice, as its ranks hold them."""
        family = attempt.choice.family
        return self.model.layers(family.microbatch, family.setup(self.params))

    def _degrees(self, choice: Choice) -> Degrees:
        """Return a choice as reports say it."""
        return Degrees(
            pipeline=choice.pipeline,
            tensor=choice.family.tensor,
            data=choice.family.data,
            context=choice.family.context,
            expert=choice.family.expert,
            sharding=choice.family.sharding,
            recompute=choice.family.recompute,
            recompute_layers=choice.family.recomputed,
            schedule=choice.schedule,
            virtual=choice.virtual,
            microbatches=choice.family.microbatches,
            microbatch=None if self.model.shape is None else choice.family.microbatch,
        )

    def _evaluator(self, attempt: Attempt) -> Evaluator:
        """Return the evaluator of plans by the choice of an attempt."""
        return make_evaluator(self._layers(attempt), self.cluster, attempt.choice)

    def _plan(self, attempt: Attempt) -> Plan:
        """Return the plan of an attempt that found one."""
        if attempt.plan is None:
            raise ValueError(f"expected a plan by {attempt.choice}, got none")
        return attempt.plan
