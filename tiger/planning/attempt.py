"""A choice with its bounds, the best plan by it that is known, and the seconds of that plan."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from tiger.model.arrays import IntArray
from tiger.model.violation import Violation
from tiger.placement.chain.baselines import uniform_cuts
from tiger.placement.chain.params import LineParams, never_stop
from tiger.placement.result import PlaceResult
from tiger.placement.search.candidates import LineSearch, candidate_plans
from tiger.placement.search.evaluator import Evaluator
from tiger.planning.choices import Choice
from tiger.training.costs.plan import Plan, rank_order
from tiger.training.hardware.cluster import Cluster
from tiger.training.models.layers import Layers
from tiger.training.schedules.memory import chunks_in_flight, in_flight
from tiger.training.schedules.pass_orders import pipelines_of, style_of

Bound = Literal["work", "cuts"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """Hold a choice, a lower bound on the seconds of all plans by it, and which bound that is."""

    choice: Choice
    bound_s: float
    bound: Bound


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Attempt:
    """Hold the best plan found for a choice, None where none fits; `lacking_bytes` is what the closest one lacks then.

    `roomy` says that all plans that were simulated fit into memory. `placed` is what a search for that choice alone
    came to, None where only a few plans were simulated, and `violations` say why it found none, and `warnings` what a
    report is to say of that search. `near` is the plan that such a search found for another batch, which
    asked so often (`polls`) whether to stop. Where a better plan was known before, `known_s` are the seconds of those
    simulated.
    """

    candidate: Candidate
    plan: Plan | None
    iteration_s: float
    lacking_bytes: float = 0.0
    placed: PlaceResult | None = None
    roomy: bool = False
    near: Plan | None = None
    polls: int = 0
    known_s: float | None = None
    violations: tuple[Violation, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def simulated_s(self) -> float:
        """Return the seconds of the best of the plans that were simulated."""
        return self.iteration_s if self.known_s is None else self.known_s

    @property
    def choice(self) -> Choice:
        """Return the choice."""
        return self.candidate.choice


@dataclass(slots=True, eq=False)
class KnownCuts:
    """Hold the cuts worth a look for layers on grids of a shape, by what they depend on beside the cluster.

    They are the same for any number of microbatches of which as many are in flight.
    """

    known: dict[tuple[object, ...], tuple[Layers, tuple[Plan, ...]]] = field(default_factory=dict)

    def plans(self, layers: Layers, cluster: Cluster, choice: Choice) -> tuple[Plan, ...]:
        """Return the plans of a choice that are worth a look."""
        flying = _count_in_flight(choice)
        counts = tuple(flying(after) for after in range(choice.pipeline * choice.virtual))
        key = id(layers), choice.shape, choice.virtual, style_of(choice.schedule), counts
        # The layers are kept as well, so that their id stays theirs.
        if key not in self.known:
            self.known[key] = layers, tuple(_plans(layers, cluster, choice))
        return self.known[key][1]


def make_evaluator(layers: Layers, cluster: Cluster, choice: Choice) -> Evaluator:
    """Return the evaluator of plans by a choice."""
    return Evaluator(layers=layers, cluster=cluster, schedule=choice.schedule, microbatches=choice.family.microbatches)


def simulate_choice(
    layers: Layers, cluster: Cluster, candidate: Candidate, known_cuts: KnownCuts | None = None
) -> Attempt:
    """Simulate a few plans by a choice: even and exact cuts, on devices in order, and with the quickest first."""
    evaluator, known = make_evaluator(layers, cluster, candidate.choice), []
    closest, lacking, roomy = None, np.inf, True
    # Searches for cuts add up costs of layers, which are those of even cuts.
    even = layers.between(even_plan(layers, candidate.choice).cuts)
    for plan in (known_cuts or KnownCuts()).plans(even, cluster, candidate.choice):
        value, excess = evaluator.judge(plan)
        excess = 0.0 if value < np.inf else excess
        roomy = roomy and not excess
        if value < np.inf:
            known.append((value, plan))
        elif not known and excess < lacking:
            closest, lacking = plan, excess
    if not known:
        return Attempt(candidate=candidate, plan=None, iteration_s=np.inf, lacking_bytes=lacking if closest else 0.0)
    value, plan = min(known, key=lambda found: found[0])
    return Attempt(candidate=candidate, plan=plan, iteration_s=value, roomy=roomy)


def simulate_even_plan(layers: Layers, cluster: Cluster, choice: Choice) -> Attempt:
    """Simulate as many layers in every stage, on devices in order; its seconds are infinite where that cannot run."""
    evaluator, plan = make_evaluator(layers, cluster, choice), even_plan(layers, choice)
    value = evaluator.value(plan)
    lacking = 0.0 if value < np.inf else evaluator.excess_bytes(plan)
    candidate = Candidate(choice=choice, bound_s=0.0, bound="work")
    return Attempt(candidate=candidate, plan=plan, iteration_s=value, lacking_bytes=lacking)


def even_plan(layers: Layers, choice: Choice) -> Plan:
    """Return the plan of as many layers in every stage, with devices in the order of the cluster."""
    cuts = uniform_cuts(layers, choice.pipeline * choice.virtual)
    return Plan(cuts=cuts, grid=rank_order(choice.shape), style=style_of(choice.schedule))


def _plans(layers: Layers, cluster: Cluster, choice: Choice) -> Iterator[Plan]:
    """Yield plans that are worth a look."""
    limits = LineParams(in_flight=_count_in_flight(choice), style=style_of(choice.schedule))
    search = LineSearch(limits, never_stop)
    for grid in _grids(cluster, choice):
        yield from candidate_plans(layers, cluster, grid, choice.virtual, search)


def _count_in_flight(choice: Choice) -> Callable[[int], float]:
    """Return how many microbatches a stage of a choice holds, by the number of stages behind it."""
    count, virtual, schedule = choice.family.microbatches, choice.virtual, choice.schedule
    each = virtual * pipelines_of(schedule)
    return in_flight(schedule, count) if each == 1 else chunks_in_flight(schedule, choice.pipeline, each, count)


def _grids(cluster: Cluster, choice: Choice) -> list[IntArray]:
    """Return grids of devices in order, replicas or pipelines side by side, and of the quickest first if one is."""
    p, d, t = choice.shape
    grids = [rank_order(choice.shape)]
    if p > 1 and d > 1:
        # Megatron-LM's --use-tp-pp-dp-mapping: many small messages of stages may cost more than gradients do.
        grids.append(np.swapaxes(rank_order((d, p, t)), 0, 1))
    if (cluster.speed == cluster.speed[0]).all():
        return grids
    fastest = np.argsort(-cluster.speed, kind="stable")
    return [*grids, *(fastest[grid] for grid in grids)]
