"""The report of a solve: the mapping, its true cost, how good it is, and what every stage contributed."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Final, Literal, NamedTuple

from tiger.errors import InputError
from tiger.launchers.formats import LauncherName, find_launcher
from tiger.launchers.order import LaunchNodes, RankOrder, order_ranks
from tiger.model.answer import Answer
from tiger.model.arrays import IntArray
from tiger.model.document import HIDDEN, LATER, Document
from tiger.model.figure import Figure
from tiger.model.problem import Problem
from tiger.model.rounding import compute_gap
from tiger.model.units import number_text
from tiger.model.violation import Violation, unmet_text
from tiger.objectives.cost import cost_of, metrics
from tiger.objectives.multipath import load_links
from tiger.objectives.names import RoutingName
from tiger.objectives.shortest_paths import LinkLoad, LinkLoads
from tiger.run.moves import TaskMove
from tiger.run.samples import SamplingReport
from tiger.run.stage import Stage
from tiger.run.verdict import START, THRESHOLD, Minimized, Verdict, judge, order_text

SCHEMA: Final = "tiger.report/1"
# Links of a report: enough to see the bottleneck and what is next to it, and 20 kB.
LINKS = 256
# The solver of a mapping that samples of another's come to.
SAMPLES = "decode"


@dataclass(frozen=True, slots=True, kw_only=True)
class Objective(Document):
    """Hold a selected objective other than the cost: its value, that of the baseline mapping, and a lower bound.

    `cyclic` is its value in the cyclic order and `start` that of the mapping started from, None where that has not been
    made feasible, or is not given.
    """

    name: str
    value: float
    baseline: float | None
    cyclic: float | None = field(default=None, metadata=LATER)
    start: float | None = field(default=None, metadata=LATER)
    bound: float | None

    @property
    def orders(self) -> dict[str, float | None]:
        """Return the values of the orders that it is compared with, by their names."""
        return {START: self.start, "block": self.baseline, "cyclic": self.cyclic}


@dataclass(frozen=True, slots=True, kw_only=True)
class Baselines(Document):
    """Hold what simple orders cost: tasks filled into the nodes in blocks, dealt out in turns (cyclic), and at random.

    None where an order has not been made feasible. Random is the mean of ten mappings. `start` is what the mapping
    costs that the search was given to start from, None without one.
    """

    start: float | None = field(default=None, metadata=LATER)
    block: float | None = None
    cyclic: float | None = None
    random: float | None = None

    @property
    def best(self) -> tuple[str, float] | None:
        """Return the name and the cost of the cheapest order, the first of equals, None without any."""
        known = [(name, cost) for name, cost in asdict(self).items() if cost is not None]
        return min(known, key=lambda order: order[1], default=None)


class Comparison(NamedTuple):
    """Set what was minimized beside the best simple order: its name, value, and the order's name and value."""

    name: str
    value: float
    order: str
    baseline: float


class Origin(NamedTuple):
    """Say where a report comes from: the solver's name, its seed, the wall seconds of it all, and its islands."""

    solver: str
    seed: int
    seconds: float
    islands: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Report(Answer):
    """Answer a problem.

    `cost` is recomputed in float64 from `mapping`, never read off a sampler's energy; it is None, and the mapping
    empty, where nothing feasible exists, and then `violations` names what cannot be met. `metrics` holds dilation, max
    link load and makespan of the mapping, whatever was minimized. `objective` is None where that was the cost;
    otherwise it has the objective's value and bound, `optimal` says that these meet, while `lower_bound` and `gap`
    remain those of the cost, and are None for multicasts, where the cost is that of a graph that stands for them.
    `gap` is (cost - lower_bound) / cost, 0 when both are 0, None without a cost or a bound above 0. `verdict` compares
    with the best simple order and the mapping started from, None where nothing is feasible; it is to keep that order
    where the gain is a smaller part than `threshold`. `moved` is how many tasks have left the mapping started
    from, None without one, and at most `max_moves` may; with such a limit it is compared with that mapping alone.
    After a change `moved` counts those that have left the mapping in use before it, where each that might have stayed
    costs `move_cost`, if that is given, and `moves` says where every task goes that is elsewhere or new, and why.
    `free_cost` is that of a mapping found without the rule that the ranks of every host are consecutive, where it held.
    `sampling` says what a sampler drew and is worth beside coin flips, None for other solvers.
    `emitted` is the text for a launcher where one was named. Costs are in the problem's own unit, `seconds` is wall
    time. As many `islands` searched side by side. JSON has all of this, by the schema `tiger.report/1`, but for the
    `problem` and its `routing`, which `emit` and pictures need.
    """

    schema: Literal["tiger.report/1"] = field(default=SCHEMA, init=False, repr=False)
    mapping: Mapping[str, str] = field(default_factory=dict)
    cost: float | None = None
    compute_cost: float | None = None
    communication_cost: float | None = None
    baseline_cost: float | None = None
    baselines: Baselines = Baselines()
    baseline_max_link_load: float | None = field(default=None, metadata=LATER)
    lower_bound: float | None = None
    gap: float | None = field(init=False)
    optimal: bool = False
    objective: Objective | None = None
    max_moves: int | None = field(default=None, metadata=LATER)
    moved: int | None = field(default=None, metadata=LATER)
    move_cost: float | None = field(default=None, metadata=LATER)
    moves: tuple[TaskMove, ...] = field(default=(), repr=False, metadata=LATER)
    threshold: float = field(default=THRESHOLD, metadata=LATER)
    free_cost: float | None = field(default=None, metadata=LATER)
    verdict: Verdict | None = field(init=False, metadata=LATER)
    feasible: bool
    violations: tuple[Violation, ...] = ()
    solver: str
    rule: str
    seed: int
    islands: int = field(default=1, metadata=LATER)
    metrics: Mapping[str, float] = field(default_factory=dict)
    links: tuple[LinkLoad, ...] = field(default=(), repr=False, metadata=LATER)
    stages: tuple[Stage, ...] = ()
    warnings: tuple[str, ...] = ()
    sampling: SamplingReport | None = field(default=None, metadata=LATER)
    emitted: str | None = field(default=None, metadata=LATER)
    seconds: float
    problem: Problem | None = field(default=None, repr=False, compare=False, metadata=HIDDEN)
    routing: RoutingName = field(default="single", repr=False, compare=False, metadata=HIDDEN)

    def __post_init__(self) -> None:
        """Work out the gap and the verdict."""
        object.__setattr__(self, "gap", compute_gap(self.cost, self.lower_bound))
        object.__setattr__(self, "verdict", self._judge())

    @classmethod
    def of(
        cls,
        problem: Problem,
        places: IntArray,
        origin: Origin,
        routing: RoutingName = "single",
        before: LinkLoads | None = None,
    ) -> "Report":
        """Report the feasible mapping `places[n]`, costed and measured again; bound, baseline and stages are left open.

        `before` are the loads of links in the block order, by the same routing. Warnings are the remarks of whoever
        read tasks and hardware. O(edges) and the routing.
        """
        cost, loads = cost_of(problem, places), load_links(problem, places, routing)
        return cls(
            mapping=problem.mapping(places),
            cost=cost.total,
            compute_cost=cost.compute,
            communication_cost=cost.communication,
            feasible=True,
            rule=problem.rule,
            baseline_max_link_load=None if before is None else before.worst,
            metrics=metrics(problem, places, loads),
            links=() if loads is None else loads.list_busiest(problem.topology.link_ends, LINKS, before),
            solver=origin.solver,
            seed=origin.seed,
            islands=origin.islands,
            seconds=origin.seconds,
            warnings=(*problem.tasks.remarks, *problem.topology.remarks),
            problem=problem,
            routing=routing,
        )

    @classmethod
    def unmet(cls, problem: Problem, violations: tuple[Violation, ...], origin: Origin) -> "Report":
        """Report what cannot be met."""
        return cls(
            feasible=False,
            violations=violations,
            rule=problem.rule,
            solver=origin.solver,
            seed=origin.seed,
            islands=origin.islands,
            seconds=origin.seconds,
            warnings=(*problem.tasks.remarks, *problem.topology.remarks),
        )

    def emit(self, launcher: str) -> str:
        """Return the order of ranks as text for a launcher, such as openmpi or slurm; raise InputError of `emit`.

        That is for a name that is not known, a mapping that the launcher cannot take, and a report without one.
        """
        return find_launcher(launcher).write(self.rank_order)

    def emitting(self, launcher: LauncherName | None) -> "Report":
        """Return the report with the text for a launcher, and as it is without a launcher or a mapping."""
        return self if launcher is None or not self.feasible else replace(self, emitted=self.emit(launcher))

    @property
    def rank_order(self) -> RankOrder:
        """Return the hosts and slots of ranks in their order; raise InputError of `emit` where there is none."""
        if not self.feasible:
            raise InputError("emit", "expected a mapping that is feasible, got a report without one")
        if self.problem is None:
            raise InputError(
                "emit", "expected its request beside it, as tiger.load_report takes that, got a report alone"
            )
        return order_ranks(self.mapping, LaunchNodes.of(self.problem.topology))

    def _judge(self) -> Verdict | None:
        """Return the verdict on the cost, or on another objective."""
        if self.objective is not None:
            made, orders = self.objective, self.objective.orders
            return judge(Minimized(made.name, made.value, made.bound), orders, self.threshold)
        if self.cost is None:
            return None
        known = self.baselines
        orders = {START: known.start}
        if self.max_moves is None:
            orders |= {"block": known.block, "cyclic": known.cyclic}
        return judge(Minimized("cost", self.cost, self.lower_bound), orders, self.threshold)

    @property
    def headline(self) -> str:
        """Return one sentence on the outcome beside the best simple order, or on what cannot be met."""
        if self.cost is None:
            return unmet_text(self.violations, "mapping")
        made = self.comparison
        if made is None:
            return f"solved: cost {number_text(self.cost)}"
        start = f"solved: {made.name} {number_text(made.value)}"
        if made.value == made.baseline:
            return f"{start}, as in {order_text(made.order)}"
        side = "below" if made.value < made.baseline else "above"
        share = f"{abs(made.baseline - made.value) / made.baseline:.1%} " if made.baseline else ""
        return f"{start}, {share}{side} the {number_text(made.baseline)} of {order_text(made.order)}"

    @property
    def rows(self) -> tuple[Stage, ...]:
        """Return the stages of the solve."""
        return self.stages

    @property
    def figures(self) -> tuple[Figure, ...]:
        """Return the objective, if it is another than the cost, the cost with its parts, the bound, and the metrics."""
        made = self.objective
        selected = {} if made is None else {made.name.replace("-", "_"): made.value, "objective_bound": made.bound}
        known = {
            **selected,
            "cost": self.cost,
            "lower_bound": self.lower_bound,
            "gap": self.gap,
            "communication_cost": self.communication_cost,
            "compute_cost": self.compute_cost,
            **self.metrics,
            "moved": self.moved,
        }
        figures = (Figure(name, value, None if name.endswith("bound") else "less") for name, value in known.items())
        return (*figures, Figure("seconds", self.seconds, unit="s"))

    @property
    def comparison(self) -> Comparison | None:
        """Return the cost beside the best simple order, another objective beside that of two, None without any."""
        if self.verdict is not None and self.objective is not None:
            return Comparison(self.verdict.metric, self.verdict.after, self.verdict.order, self.verdict.before)
        known = self.baselines
        best = known.best if self.max_moves is None or known.start is None else (START, known.start)
        return None if self.cost is None or best is None else Comparison("cost", self.cost, *best)
