"""The search for a plan: what is known of it while stage after stage looks for a better one."""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice

import numpy as np

from tiger.model.arrays import IntArray
from tiger.pipeline.chain.backtrace import Line
from tiger.pipeline.chain.baselines import uniform_cuts
from tiger.pipeline.chain.dp_states import WORK_LIMIT
from tiger.pipeline.chain.islands import island_line
from tiger.pipeline.chain.orders import balance_s, best_line, bound_s, sweep_steps
from tiger.pipeline.chain.params import LineParams
from tiger.pipeline.chain.refinement import refine
from tiger.pipeline.costs.plan import Plan
from tiger.pipeline.costs.stages import position_of
from tiger.pipeline.costs.tolerances import MET, SUMS
from tiger.pipeline.hardware.cluster import Cluster
from tiger.pipeline.models.layers import Layers
from tiger.pipeline.params import PlaceParams
from tiger.pipeline.ranks.bound import Goal, iteration_bound
from tiger.pipeline.ranks.grid import Judges, place_groups
from tiger.pipeline.ranks.prices import Degrees
from tiger.pipeline.ranks.ranks import rank_order
from tiger.pipeline.ranks.search import OrderSearch
from tiger.pipeline.result import Placed
from tiger.pipeline.schedules.best_cuts_bound import Leasts, cut_bounds_s
from tiger.pipeline.schedules.bound import Floors, iteration_bound_s
from tiger.pipeline.schedules.fixed_cuts_bound import CutFloor
from tiger.pipeline.schedules.memory import in_flight
from tiger.pipeline.search.candidates import (
    LineSearch,
    best_cuts,
    candidates,
    chunks_in_flight,
    distinct_orders,
    roomy_grids,
)
from tiger.pipeline.search.evaluator import Judge
from tiger.pipeline.search.reasons import Closest, find_violation
from tiger.run.progress import Progress
from tiger.run.stage import Detail, Stage

MICROBATCHES, VIRTUAL = 4, 2
FINALISTS, PASSES, FEWEST = 3, 200_000, 50
SHORTER, FEW, MANY = 4, 8, 64
ORDERS, CELLS, PROMISING = 200, 40_000, 12


def virtual_stages(params: PlaceParams) -> int:
    """Return how many stages a position has."""
    return params.virtual or (VIRTUAL if params.schedule == "interleaved" else 1)


def most_positions(layers: Layers, cluster: Cluster, params: PlaceParams) -> int:
    """Return the most positions that a pipeline may have, 0 if there are too few layers or devices."""
    count = params.microbatches
    most = min(cluster.size // (params.tensor * params.data), layers.size // virtual_stages(params))
    if params.pipeline is not None:
        return params.pipeline if params.pipeline <= most else 0
    if params.schedule == "interleaved" and count is not None:
        return max((p for p in range(1, most + 1) if count % p == 0), default=0)
    return most


class Hunt:
    """Hold what is known of plans for a model while stage after stage looks for better ones."""

    def __init__(
        self,
        layers: Layers,
        cluster: Cluster,
        params: PlaceParams,
        stop: Callable[[], bool],
        watch: Callable[[Progress], None],
    ) -> None:
        self.layers, self.cluster, self.params, self.stop, self.watch = layers, cluster, params, stop, watch
        self.single = params.tensor * params.data == 1
        self.virtual = virtual_stages(params)
        self.positions = most_positions(layers, cluster, params)
        self.microbatches = params.microbatches or MICROBATCHES * self.positions
        index = {name: k for k, name in enumerate(cluster.names)}
        at = {name: k for k, name in enumerate(layers.names)}
        pinned = {at[layer]: index[device] for layer, device in params.pinned.items()}
        self.line = LineParams(
            stages=self.positions if self.virtual > 1 else params.pipeline, in_flight=self._in_flight(), pinned=pinned
        )
        self.judge = Judge(
            layers=layers,
            cluster=cluster,
            schedule=params.schedule,
            microbatches=self.microbatches,
            pinned=pinned,
        )
        self.search = OrderSearch(solver=params.solver, seed=params.seed, effort=params.effort, stop=stop)
        self.known: dict[tuple[tuple[int, ...], bytes], tuple[float, Plan]] = {}
        self.misfit: Plan | None = None
        self.lower_bound_s = 0.0
        self.iteration_bound: float | None = None
        self.stages: list[Stage] = []

    @property
    def baseline(self) -> Plan:
        """Return as many layers in every stage, on the devices in the order of the cluster."""
        grid = rank_order((self.positions, self.params.data, self.params.tensor))
        return Plan(cuts=uniform_cuts(self.layers, self.positions * self.virtual), grid=grid)

    @property
    def best(self) -> tuple[float, Plan] | None:
        """Return the plan with the least seconds, and these; None before one fits."""
        return min(self.known.values(), key=lambda found: found[0], default=None)

    def offer(self, plan: Plan) -> None:
        """Keep a plan if it fits."""
        key = plan.cuts, plan.grid.tobytes()
        if key not in self.known and (value := self.judge.value(plan)) < np.inf:
            self.known[key] = value, plan

    def order(self) -> None:
        """Find the order of devices and the cuts with the least bottleneck, and what else a schedule may prefer."""
        if self.params.solver != "auto" and self.virtual == 1:
            with self.stage("assignment"):
                found = self._search_order(self.line)
                if found is not None:
                    self.offer(Plan.line(found.cuts, found.devices))
        with self.stage("order") as detail:
            line, exact = self._line(self.line)
            if line is not None and self.virtual == 1:
                self.offer(Plan.line(line.cuts, line.devices))
            proved = line is not None and exact and self.virtual == 1
            self.lower_bound_s = line.bound_s if line is not None and proved else self._bound_s()
            detail["exact"] = exact
        if (self.params.schedule is not None or self.best is None) and not self.optimal:
            with self.stage("candidates"):
                self._look(self._orders(line))
                if not self.optimal:
                    self._look(self._other_orders())

    def group(self) -> None:
        """Put the ranks of tensor-, data- and pipeline-parallel groups on devices, and cut; fewer if that pays."""
        self.lower_bound_s = self._balance_s()
        for count in filter(self._is_worthwhile, self._position_counts()):
            degrees = Degrees(
                pipeline=count,
                data=self.params.data,
                tensor=self.params.tensor,
                microbatches=self.microbatches,
            )
            with self.stage("groups") as detail:
                detail["positions"] = count
                self._group(degrees)

    def _group(self, degrees: Degrees) -> None:
        """Search for the places of ranks, unless rank order is proved best for its cuts and the groups are many."""
        line, grid = replace(self.line, stages=None), rank_order(degrees.shape)
        cuts = best_cuts(self.layers, self.cluster, grid, line)
        grids = [grid]
        if not (degrees.ranks >= MANY and cuts and self._is_proved(Plan(cuts=cuts, grid=grid))):
            judges = Judges(
                cuts_of=lambda each: best_cuts(self.layers, self.cluster, each, line), iteration_s=self.judge.value
            )
            plan = place_groups(self.layers, self.cluster, degrees, judges, self.search)
            if plan is not None:
                grids.insert(0, plan.grid)
                if self.virtual == 1:
                    self.offer(plan)
        if self.best is None or self.line.pinned:
            grids += roomy_grids(self.layers, self.cluster, degrees.shape, self.line.pinned)
        self._look(grids)

    def _is_proved(self, plan: Plan) -> bool:
        """Return whether no other places of the ranks are better with the same cuts."""
        value = self.judge.value(plan)
        return value < np.inf and self._least_s(plan, value) >= value * (1 - MET)

    def _least_s(self, plan: Plan, value: float) -> float:
        """Return what no places of the ranks of a plan go below; not known where costs set the order of passes."""
        if self.params.schedule == "zero-bubble":
            return 0.0
        goal = Goal(iteration_s=self.judge.replica_s, target_s=value)
        return iteration_bound(self.layers, self.cluster, plan, goal, self.search)

    def refine(self) -> None:
        """Move the cuts of the best plans while that makes the simulated iteration shorter."""
        budget = max(PASSES // (self.microbatches * self.positions * self.virtual), FEWEST) * self.params.effort
        finalists = sorted(self.known.values(), key=lambda found: found[0])[:FINALISTS]
        with self.stage("refinement"):
            if not finalists and self.misfit is not None:
                finalists = [(np.inf, self._squeeze(self.misfit, budget))]
            for _, plan in finalists:
                if not self.optimal and not self.stop():
                    found = refine(plan.cuts, self._promising_judge(plan.grid), budget, self.stop)
                    self.offer(Plan(cuts=found.cuts, grid=plan.grid))

    def prove(self) -> None:
        """Look for a bound on what other places of the same ranks would come to, with the same cuts."""
        value, plan = self.best or (np.inf, self.baseline)
        if self.single or self.params.schedule == "zero-bubble" or value == np.inf or self.optimal:
            return
        with self.stage("ranks") as detail:
            least = self._least_s(plan, value)
            detail["same_cuts_bound_s"], detail["same_cuts_optimal"] = least, value <= least * (1 + MET)

    def result(self) -> Placed:
        """Return the best plan with its figures, or why there is none."""
        base, stages = self.baseline, tuple(self.stages)
        timed = self.params.schedule is not None
        placed = Placed(
            plan=None,
            microbatches=self.microbatches if timed else None,
            lower_bound_s=self.lower_bound_s,
            iteration_bound_s=self._iteration_bound_s() if timed and self.best is not None else None,
            uniform_bottleneck_s=_finite_or_none(self.judge.bottleneck_s(base)),
            uniform_iteration_s=_finite_or_none(self.judge.seconds(base)) if timed else None,
            uniform_feasible=self.judge.value(base) < np.inf,
            stages=stages,
        )
        if self.best is None:
            lacking = None if self.misfit is None else self.judge.excess_bytes(self.misfit)
            closest = Closest(virtual=self.virtual, positions=self.positions, lacking_bytes=lacking)
            why = find_violation(self.layers, self.cluster, self.params, self.line, closest)
            return replace(placed, lower_bound_s=None, violations=(why,))
        value, plan = self.best
        return replace(
            placed,
            plan=plan,
            bottleneck_s=self.judge.bottleneck_s(plan),
            iteration_s=value if timed else None,
            bubble=self.judge.bubble(plan) if timed else None,
            memory_bytes=tuple(self.judge.memory_bytes(plan).tolist()),
        )

    @property
    def optimal(self) -> bool:
        """Return whether the best plan meets the bound."""
        if self.best is None:
            return False
        bound = self.lower_bound_s if self.params.schedule is None else self._iteration_bound_s()
        return self.best[0] <= bound * (1 + MET)

    @contextmanager
    def stage(self, name: str) -> Iterator[dict[str, Detail]]:
        """Time a stage and record what it reached, in seconds."""
        bound = self.lower_bound_s if self.params.schedule is None and self.lower_bound_s > 0 else None
        self.watch(Progress(name, None, None if self.best is None else self.best[0], bound))
        detail: dict[str, Detail] = {}
        begun = time.perf_counter()
        yield detail
        cost = np.inf if self.best is None else self.best[0]
        self.stages.append(Stage(name=name, cost=cost, seconds=time.perf_counter() - begun, detail=detail))

    def _in_flight(self) -> Callable[[int], float]:
        """Return how many microbatches a stage holds, by the stages behind it."""
        schedule = self.params.schedule
        if schedule is None or self.virtual == 1:
            return in_flight(schedule, self.microbatches)
        return chunks_in_flight(schedule, self.positions, self.virtual, self.microbatches)

    def _line(self, params: LineParams) -> tuple[Line | None, bool]:
        """Return a line of devices with a small bottleneck, and whether none has a smaller one."""
        if sweep_steps(self.layers, self.cluster, params) <= WORK_LIMIT:
            line = best_line(self.layers, self.cluster, params, self.stop)
        else:
            line = island_line(self.layers, self.cluster, params, self.stop)
        if line is not None:
            return line, line.bottleneck_s <= line.bound_s * (1 + MET)
        return self._search_order(params), False

    def _search_order(self, params: LineParams) -> Line | None:
        """Return the line that the search for an order of devices finds."""
        # It brings in scipy, and few clusters need it.
        from tiger.pipeline.ranks.order import order_devices

        return order_devices(self.layers, self.cluster, params, self.search)

    def _bound_s(self) -> float:
        """Return what no bottleneck goes below; with several stages a position that of a line does not hold."""
        if self.virtual > 1:
            return balance_s(self.layers, self.cluster, self.line)
        return bound_s(self.layers, self.cluster, self.line, stop=self.stop)

    def _balance_s(self) -> float:
        """Return what no bottleneck of groups goes below: all devices equally busy, or the largest layer."""
        ranks = self.params.tensor * self.params.data * self.positions
        spent = (self.layers.forward_s + self.layers.backward_s) / self.params.tensor
        pace = np.sort(self.cluster.speed)[-ranks:]
        # Every replica runs all microbatches, so that each has its share of the devices.
        return max(float(spent.sum() / (self.positions * pace.max())), float(spent.max() / pace.max()))

    def _position_counts(self) -> list[int]:
        """Return how many positions are tried: as many as asked for, else the most, and fewer."""
        most = self.positions
        if self.params.pipeline is not None:
            return [most]
        if self.single and most <= FEW:
            counts = list(range(most, 0, -1))
        else:
            counts = [most >> k for k in range(most.bit_length())]
        whole = self.params.schedule == "interleaved"
        return [p for p in counts if not (whole and self.microbatches % p)]

    def _is_worthwhile(self, count: int) -> bool:
        """Return whether so many positions, all fastest devices and always busy, could be better than the best."""
        rounds = 1 if self.params.schedule is None else self.microbatches
        spent = float((self.layers.forward_s + self.layers.backward_s).sum()) / self.params.tensor
        return self.best is None or rounds * spent / (count * float(self.cluster.speed.max())) < self.best[0]

    def _orders(self, line: Line | None) -> list[IntArray]:
        """Return grids of one device a position: the line, the cluster's order, the fastest first, and shorter ones."""
        fastest = np.argsort(-self.cluster.speed, kind="stable").tolist()
        orders = [] if line is None else [line.devices]
        for count in filter(self._is_worthwhile, self._position_counts()):
            orders += [tuple(range(count)), tuple(fastest[:count])]
            if sweep_steps(self.layers, self.cluster, replace(self.line, stages=count)) <= WORK_LIMIT // SHORTER:
                shorter = self._line(replace(self.line, stages=count))[0]
                orders += [] if shorter is None else [shorter.devices]
        whole = self.params.schedule == "interleaved"
        orders = [order for order in dict.fromkeys(orders) if not (whole and self.microbatches % len(order))]
        return [np.reshape(order, (-1, 1, 1)) for order in orders]

    def _other_orders(self) -> list[IntArray]:
        """Return the most promising of all other orders by cuts of the least bottleneck, none where these are many."""
        kinds = self.cluster.classes()
        pinned = sorted(set(self.line.pinned.values()))
        kinds[pinned] = kinds.max() + 1 + np.arange(len(pinned))
        counts = filter(self._is_worthwhile, self._position_counts())
        orders = [order for count in counts for order in islice(distinct_orders(kinds, count), ORDERS + 1)]
        if len(orders) > ORDERS or self.layers.size * len(orders) > CELLS:
            return []
        line, found = replace(self.line, stages=None), []
        for order in orders:
            grid = np.reshape(order, (-1, 1, 1))
            cuts = best_cuts(self.layers, self.cluster, grid, line, self.virtual)
            if cuts and not self.stop():
                found.append((self._value(grid, cuts), order))
        return [np.reshape(order, (-1, 1, 1)) for _, order in sorted(found)[:PROMISING]]

    def _look(self, grids: Iterable[IntArray]) -> None:
        """Offer all candidates on grids; remember the one that lacks the least memory if none fits."""
        least = np.inf
        for grid in grids:
            search = LineSearch(replace(self.line, stages=None), self.stop)
            for plan in candidates(self.layers, self.cluster, grid, self.virtual, search):
                self.offer(plan)
                if not self.known and (excess := self.judge.excess_bytes(plan)) < least:
                    least, self.misfit = excess, plan
                if self.stop():
                    return

    def _squeeze(self, plan: Plan, budget: int) -> Plan:
        """Return the cuts moved so that less memory is missing."""

        def excess(cuts: tuple[int, ...]) -> float:
            return self.judge.excess_bytes(Plan(cuts=cuts, grid=plan.grid))

        return Plan(cuts=refine(plan.cuts, excess, budget, self.stop).cuts, grid=plan.grid)

    def _promising_judge(self, grid: IntArray) -> Callable[[tuple[int, ...]], float]:
        """Return who judges cuts on a grid by simulation, or by their floor where that is no better than the best."""
        floor, least = CutFloor.of(self.layers, self.cluster, grid, self.microbatches), np.inf

        def value(cuts: tuple[int, ...]) -> float:
            nonlocal least
            # Rounding must not hide cuts that take as long as their floor.
            short = floor.seconds(cuts) * (1 - MET)
            if short >= least:
                return short
            found = self._value(grid, cuts)
            least = min(least, found)
            return found

        return value

    def _value(self, grid: IntArray, cuts: tuple[int, ...]) -> float:
        """Return the seconds of cuts on a grid."""
        return self.judge.value(Plan(cuts=cuts, grid=grid))

    def _iteration_bound_s(self) -> float:
        """Return what no simulated iteration goes below, of as many positions as may be."""
        schedule, tensor = self.params.schedule, self.params.tensor
        if schedule is None:
            return 0.0
        if self.iteration_bound is None:
            bare = replace(self.layers, reduced_bytes=np.zeros(self.layers.size))
            fastest = np.argsort(-self.cluster.speed, kind="stable")[:tensor].reshape(1, tensor)
            place = position_of(bare, self.cluster, fastest)
            floors = Floors.of(bare, [place], self.lower_bound_s)
            least = np.array(
                [iteration_bound_s(floors, schedule, p + 1, self.microbatches) for p in range(self.positions)]
            )
            if self.virtual == 1:
                leasts = Leasts.of(bare, self.cluster, [place])
                least = np.maximum(least, cut_bounds_s(leasts, schedule, self.positions, self.microbatches))
            lowest = float(least.min() if self.params.pipeline is None else least[-1])
            self.iteration_bound = lowest * (1 - SUMS)
        return self.iteration_bound


def _finite_or_none(seconds: float) -> float | None:
    """Return seconds, None for an infinite number."""
    return seconds if np.isfinite(seconds) else None
